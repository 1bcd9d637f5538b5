"""Files are opened in the folder alone, and only plain ones."""

from __future__ import annotations

import ast
import hashlib
import os
import sys
from pathlib import Path

import pytest

from sfumato.runtime.errors import VerificationFailed
from sfumato.verification import folder as folder_module
from sfumato.verification.folder import (
    FORMATS,
    PROFILES,
    PROGRAMS,
    file_names,
    fingerprint,
    open_file,
    page_of,
    read_bytes,
)

PATHS_OPEN_BY = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "memory_map", "OSFile"}
"""Methods of paths, and functions of libraries, that open a file by its name."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "out"
    place.mkdir()
    (place / "data.csv").write_bytes(b"a,b\r\n1,2\r\n")
    (tmp_path / "outside.csv").write_bytes(b"secret")
    return place


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../outside.csv", "/etc/hostname", "sub//data.csv", "data.csv\0", "..\\outside.csv"],
)
def test_a_name_that_leads_elsewhere_is_refused(folder: Path, name: str) -> None:
    with pytest.raises(VerificationFailed, match="could not lie in the folder"), open_file(folder, name):
        pass


def test_a_file_is_read_as_it_is(folder: Path) -> None:
    with open_file(folder, "data.csv") as file:
        assert file.read() == b"a,b\r\n1,2\r\n"
    assert fingerprint(folder, "data.csv") == (hashlib.sha256(b"a,b\r\n1,2\r\n").hexdigest(), 10)


def test_what_is_not_there_is_missing(folder: Path) -> None:
    with pytest.raises(VerificationFailed, match=r"^other\.csv is missing$"), open_file(folder, "other.csv"):
        pass


def test_a_link_is_not_followed(folder: Path) -> None:
    (folder / "link.csv").symlink_to(folder.parent / "outside.csv")
    with (
        pytest.raises(VerificationFailed, match=r"^link\.csv cannot be read: "),
        open_file(folder, "link.csv"),
    ):
        pass


def free_descriptor() -> int:
    """Return the number that the next open file gets."""
    descriptor = os.open(os.devnull, os.O_RDONLY)
    os.close(descriptor)
    return descriptor


def test_a_folder_is_no_plain_file(folder: Path) -> None:
    (folder / "sub").mkdir()
    before = free_descriptor()
    with pytest.raises(VerificationFailed, match=r"^sub is no plain file$"), open_file(folder, "sub"):
        pass
    # and it is not left open
    assert free_descriptor() == before


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes in folders")
def test_a_pipe_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "pipe.csv")
    with pytest.raises(VerificationFailed, match="is no plain file"), open_file(folder, "pipe.csv"):
        pass


def test_a_file_may_be_as_large_as_is_said_and_no_larger(folder: Path) -> None:
    assert read_bytes(folder, "data.csv", at_most=10) == b"a,b\r\n1,2\r\n"
    with pytest.raises(VerificationFailed, match="larger than any"):
        read_bytes(folder, "data.csv", at_most=9)


def test_everything_in_the_folder_is_named(folder: Path) -> None:
    (folder / ".hidden").touch()
    (folder / "zz").mkdir()
    (folder / "B").touch()
    assert file_names(folder) == [".hidden", "B", "data.csv", "zz"]
    with pytest.raises(VerificationFailed, match=r"^cannot read nowhere: "):
        file_names(folder / "nowhere")


def test_what_lies_in_a_folder_of_the_folder_is_named_with_it(folder: Path) -> None:
    (folder / "data" / "sex=f").mkdir(parents=True)
    (folder / "data" / "empty").mkdir()
    (folder / "data" / "sex=f" / "part-0.parquet").write_bytes(b"x")
    (folder / "elsewhere").symlink_to(folder.parent)
    found = file_names(folder)
    assert found == ["data.csv", "data/empty", "data/sex=f/part-0.parquet", "elsewhere"]
    assert read_bytes(folder, "data/sex=f/part-0.parquet", at_most=1) == b"x"


def test_no_more_memory_is_taken_than_the_file_needs(folder: Path) -> None:
    # a bytes object of this length could be made nowhere
    assert read_bytes(folder, "data.csv", at_most=1 << 60) == b"a,b\r\n1,2\r\n"


@pytest.mark.parametrize("name", ["link/one/part", "data/link/part", "data/link/.."])
def test_nothing_behind_a_link_is_read(folder: Path, name: str) -> None:
    outside = folder.parent / "outside" / "one"
    outside.mkdir(parents=True)
    (outside / "part").touch()
    (outside.parent / "part").touch()
    (folder / "data").mkdir()
    for link in (folder / "link", folder / "data" / "link"):
        link.symlink_to(outside.parent)
    problem = "could not lie in the folder" if name.endswith("..") else f"^{name} lies behind a link$"
    with pytest.raises(VerificationFailed, match=problem), open_file(folder, name):
        pass


def test_only_this_module_opens_files_of_the_folder() -> None:
    """Every other one is handed an open file, or its content; the one more opens the key that is given."""
    openers = {"open", "os.open", "io.open", "codecs.open", "gzip.open"}
    found = {
        (module.name, ast.unparse(node.func))
        for module in Path(folder_module.__file__).parent.glob("*.py")
        for node in ast.walk(ast.parse(module.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and (
            ast.unparse(node.func) in openers
            or (isinstance(node.func, ast.Attribute) and node.func.attr in PATHS_OPEN_BY)
        )
    }
    assert found == {("folder.py", "os.open"), ("folder.py", "open"), ("signature.py", "path.open")}


def test_every_format_is_a_program_s() -> None:
    assert PROGRAMS == {"dta": "Stata", "sav": "SPSS"}
    assert FORMATS == ("dta", "sav")


def test_every_profile_has_a_page() -> None:
    assert [page_of(name) for name in PROFILES] == [
        "report-ema.html",
        "report-hipaa.html",
        "report-iso-27559.html",
        "report-nist.html",
        "report-wp216.html",
    ]
