"""A store on a medium that cannot be written: it is read, and nothing is promised that cannot be kept."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Candidate
from sfumato.runtime.errors import StoreError
from sfumato.workflow.store.store import Store

Run = Callable[..., tuple[int, str, str]]
NOBODY = 65534

PROJECT = """
policy.recipient = "none"
[data]
path = "people.csv"
[attributes.age]
role = "quasi-identifying"
kind = "numeric"
[attributes.town]
role = "quasi-identifying"
[attributes.illness]
role = "sensitive"
[[candidates]]
sanitizer = "mondrian"
model = { k-anonymity = { k = [2, 5] } }
[measure]
privacy = ["privacy-loss"]
utility = ["general-loss"]
"""


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Let this process read a folder and write nothing; the superuser must become somebody else for that."""
    is_superuser = os.geteuid() == 0
    for place in (*folder.iterdir(), folder):
        if is_superuser:
            os.chown(place, NOBODY, NOBODY)
        place.chmod(0o500 if place.is_dir() else 0o400)
    if is_superuser:
        os.seteuid(NOBODY)
    try:
        with pytest.raises(PermissionError):
            (folder / "new").touch()
        yield
    finally:
        if is_superuser:
            os.seteuid(0)
        folder.chmod(0o700)


@pytest.fixture
def folder() -> Iterator[Path]:
    # the folders of pytest are closed to other users
    place = Path(tempfile.mkdtemp(prefix="sfumato-read-only-"))
    place.chmod(0o755)
    yield place
    shutil.rmtree(place)


@pytest.fixture
def ids(folder: Path, sfumato: Run, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Explore a project in the folder; return the ids of its two candidates."""
    monkeypatch.chdir(folder)
    rows = [f"{20 + n % 40},{'UKB'[n % 3]},{'abcde'[n * n % 5]}" for n in range(100)]
    Path("people.csv").write_text("\n".join(["age,town,illness", *rows]) + "\n")
    Path("people.toml").write_text(PROJECT)
    assert sfumato("explore", "people.toml", "--workers", "1")[0] == 0
    with closing(sqlite3.connect("people.sqlite")) as base:
        return [identity for (identity,) in base.execute("select id from candidate")]


def test_it_is_read_by_every_command_that_only_looks(folder: Path, ids: list[str], sfumato: Run) -> None:
    commands = [["frontier", "people.toml"], ["show", ids[0]], ["ask", "min privacy-loss"], ["compare", *ids]]
    expected = [sfumato(*command)[:2] for command in commands]
    assert [code for code, _ in expected] == [0] * 4
    Path(".people.sqlite.lock").unlink()
    with read_only(folder):
        for command, (code, out) in zip(commands, expected, strict=True):
            assert sfumato(*command) == (code, out, ""), command
    assert not [place for place in os.listdir(folder) if place.startswith("people.sqlite-")]


@pytest.mark.parametrize(
    "command", [["explore", "people.toml"], ["publish", "ID", "FOLDER"], ["ask", "max k", "--measure"]]
)
def test_what_must_write_says_so_before_it_begins(
    folder: Path, ids: list[str], sfumato: Run, command: list[str]
) -> None:
    with tempfile.TemporaryDirectory() as elsewhere:
        Path(elsewhere).chmod(0o777)
        target = f"{elsewhere}/published"
        with read_only(folder):
            code, out, err = sfumato(*({"ID": ids[0], "FOLDER": target}.get(each, each) for each in command))
        assert os.listdir(elsewhere) == []
    assert (code, out) == (1, "")
    assert err.startswith("sfumato: cannot ")
    assert err.count("\n") == 1
    assert "let the file and its folder be written" in err


def test_it_may_be_read_only_itself(folder: Path, ids: list[str], sfumato: Run) -> None:
    with read_only(folder):
        pass
    (folder / "people.sqlite").chmod(0o400)
    if os.geteuid() == 0:
        os.seteuid(NOBODY)
    try:
        assert sfumato("show", ids[0])[0] == 0
        code, _, err = sfumato("publish", ids[0], "published")
    finally:
        if os.getuid() == 0:
            os.seteuid(0)
    assert code == 1
    assert "cannot write the store people.sqlite: it is read-only" in err
    assert not (folder / "published").exists()


def test_changes_that_are_only_in_the_log_are_not_passed_over(folder: Path, ids: list[str]) -> None:
    """As after a power cut, when the disk is then mounted to be read."""
    copy = folder / "copy"
    copy.mkdir()
    with Store(folder / "people.sqlite") as store:
        recipe = Recipe("mondrian", {"model": {"k-anonymity": {"k": 9}}}, seed=1)
        store.save(Candidate("f" * 10, recipe), "source", {})
        for place in folder.glob("people.sqlite*"):
            if not place.name.endswith("-shm"):
                shutil.copy(place, copy)
    assert (copy / "people.sqlite-wal").stat().st_size
    with read_only(copy):
        with pytest.raises(StoreError) as refused:
            Store(copy / "people.sqlite", create=False)
        assert str(refused.value) == (
            "cannot read the store people.sqlite: its latest changes are still in people.sqlite-wal, and the "
            "folder cannot be written; copy both files to one that can"
        )
    with Store(copy / "people.sqlite", create=False) as store:
        assert [each.id for each in store.candidates("source")] == ["f" * 10]
