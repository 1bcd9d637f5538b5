"""Writing beside the target: whole or not at all, whatever happens in between."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.runtime.errors import DataError, UserError
from sfumato.runtime.files import file_beside, folder_beside, write_records, write_rows

NOBODY = 65534


@contextmanager
def without_permission(folder: Path) -> Iterator[None]:
    """Let this process write to a folder no more; the superuser must become somebody else for that."""
    folder.chmod(0o500)
    superuser = os.geteuid() == 0
    if superuser:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if superuser:
            os.seteuid(0)
        folder.chmod(0o700)


def write_file(target: Path, trouble: BaseException | None = None) -> None:
    with file_beside(target) as place:
        place.write_text("new")
        if trouble is not None:
            raise trouble


def write_folder(target: Path, trouble: BaseException | None = None) -> None:
    with folder_beside(target) as place:
        (place / "inner").mkdir()
        (place / "inner" / "file").write_text("new")
        if trouble is not None:
            raise trouble


BOTH = pytest.mark.parametrize("write", [write_file, write_folder])
Write = Callable[..., None]


def content(target: Path) -> str:
    return (target / "inner" / "file" if target.is_dir() else target).read_text()


@pytest.fixture
def umask() -> Iterator[Callable[[int], int]]:
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


class TestWhenAllGoesWell:
    @BOTH
    def test_the_target_is_all_there_is(self, tmp_path: Path, write: Write) -> None:
        write(tmp_path / "target")
        assert content(tmp_path / "target") == "new"
        assert os.listdir(tmp_path) == ["target"]

    @BOTH
    def test_a_relative_target_lands_in_this_folder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Write
    ) -> None:
        monkeypatch.chdir(tmp_path)
        write(Path("target"))
        assert content(tmp_path / "target") == "new"

    def test_an_existing_file_is_replaced(self, tmp_path: Path) -> None:
        (tmp_path / "target").write_text("old and longer")
        write_file(tmp_path / "target")
        assert content(tmp_path / "target") == "new"

    def test_the_target_is_not_there_before_the_end(self, tmp_path: Path) -> None:
        target = tmp_path / "target"
        with file_beside(target) as place:
            assert place.parent == target.parent
            assert not target.exists()
        with folder_beside(tmp_path / "folder"):
            assert not (tmp_path / "folder").exists()

    def test_nobody_else_can_read_what_is_not_complete(self, tmp_path: Path) -> None:
        for beside in (file_beside, folder_beside):
            with beside(tmp_path / f"{beside.__name__}-target") as place:
                assert stat.S_IMODE(place.stat().st_mode) & 0o077 == 0

    @pytest.mark.parametrize(("mask", "file", "folder"), [(0o022, 0o644, 0o755), (0o077, 0o600, 0o700)])
    def test_the_mode_is_that_of_the_users_other_files(
        self, tmp_path: Path, umask: Any, mask: int, file: int, folder: int
    ) -> None:
        umask(mask)
        write_file(tmp_path / "file")
        write_folder(tmp_path / "folder")
        modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("file", "folder")]
        assert modes == [file, folder]


class TestPowerCut:
    """What has the target's name is on the disk: all of it before the name, and the name at the end."""

    @pytest.fixture
    def told(self, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
        done: list[tuple[str, str]] = []

        def noted(what: str, system: Callable[..., Any]) -> Callable[..., Any]:
            def call(first: Any, *rest: Any) -> Any:
                place = os.readlink(f"/proc/self/fd/{first}") if what == "sync" else str(rest[0])
                done.append((what, Path(place).name))
                return system(first, *rest)

            return call

        for what, name in (("sync", "fsync"), ("move", "replace"), ("move", "rename")):
            monkeypatch.setattr(os, name, noted(what, getattr(os, name)))
        return done

    @pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="this system does not tell open files")
    def test_a_file_is_on_the_disk_before_it_is_moved_and_the_move_after(
        self, tmp_path: Path, told: list[tuple[str, str]]
    ) -> None:
        write_file(tmp_path / "target")
        (first, beside), *then = told
        assert (first, beside.startswith(".target-")) == ("sync", True)
        assert then == [("move", "target"), ("sync", tmp_path.name)]

    @pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="this system does not tell open files")
    def test_everything_in_a_folder_is_on_the_disk_before_it_is_moved(
        self, tmp_path: Path, told: list[tuple[str, str]]
    ) -> None:
        write_folder(tmp_path / "target")
        names = [name for _, name in told]
        assert [what for what, _ in told] == ["sync"] * 3 + ["move", "sync"]
        assert names[:2] == ["inner", "file"]
        assert names[2].startswith(".target-")
        assert names[3:] == ["target", tmp_path.name]


class TestWhenSomethingGoesWrong:
    @BOTH
    @pytest.mark.parametrize(
        "trouble",
        [
            ValueError("wrong"),
            KeyboardInterrupt(),
            SystemExit(3),
            DataError("no such column"),
            GeneratorExit(),
        ],
    )
    def test_nothing_is_left_behind_and_the_trouble_goes_on(
        self, tmp_path: Path, write: Write, trouble: BaseException
    ) -> None:
        with pytest.raises(type(trouble)):
            write(tmp_path / "target", trouble)
        assert os.listdir(tmp_path) == []

    @pytest.mark.parametrize(
        "trouble", [ValueError("wrong"), KeyboardInterrupt(), OSError(28, "No space left on device")]
    )
    def test_an_existing_file_stays_as_it_was(self, tmp_path: Path, trouble: BaseException) -> None:
        (tmp_path / "target").write_text("old")
        with pytest.raises((type(trouble), UserError)):
            write_file(tmp_path / "target", trouble)
        assert content(tmp_path / "target") == "old"
        assert os.listdir(tmp_path) == ["target"]

    @BOTH
    def test_a_full_disk_is_said_in_one_line(self, tmp_path: Path, write: Write) -> None:
        with pytest.raises(UserError) as caught:
            write(tmp_path / "target", OSError(28, "No space left on device"))
        assert str(caught.value) == "cannot write target: No space left on device; nothing was left behind"
        assert os.listdir(tmp_path) == []

    @BOTH
    def test_an_error_without_a_system_reason_is_said_too(self, tmp_path: Path, write: Write) -> None:
        with pytest.raises(UserError) as caught:
            write(tmp_path / "target", OSError("SECRETVALUE"))
        assert str(caught.value) == "cannot write target: the system refused; nothing was left behind"

    def test_a_folder_that_is_not_empty_stays_as_it_was(self, tmp_path: Path) -> None:
        (tmp_path / "target").mkdir()
        (tmp_path / "target" / "old").write_text("old")
        with pytest.raises(UserError, match="cannot write target"):
            write_folder(tmp_path / "target")
        assert os.listdir(tmp_path / "target") == ["old"]
        assert os.listdir(tmp_path) == ["target"]

    def test_a_file_takes_no_folders_place_and_a_folder_no_files(self, tmp_path: Path) -> None:
        (tmp_path / "folder").mkdir()
        (tmp_path / "file").write_text("old")
        for write, name in ((write_file, "folder"), (write_folder, "file")):
            with pytest.raises(UserError, match=f"cannot write {name}"):
                write(tmp_path / name)
        assert sorted(os.listdir(tmp_path)) == ["file", "folder"]
        assert content(tmp_path / "file") == "old"


class TestWhereNothingCanBeWritten:
    @BOTH
    def test_a_missing_folder_is_said_in_one_line(self, tmp_path: Path, write: Write) -> None:
        with pytest.raises(UserError) as caught:
            write(tmp_path / "missing" / "target")
        assert str(caught.value) == (
            "cannot write target: No such file or directory; nothing was left behind"
        )
        assert os.listdir(tmp_path) == []

    @BOTH
    def test_no_permission_is_said_in_one_line(self, tmp_path: Path, write: Write) -> None:
        with without_permission(tmp_path), pytest.raises(UserError) as caught:
            write(tmp_path / "target")
        assert str(caught.value) == "cannot write target: Permission denied; nothing was left behind"
        assert os.listdir(tmp_path) == []

    @BOTH
    def test_a_file_in_the_place_of_the_folder_is_said_in_one_line(
        self, tmp_path: Path, write: Write
    ) -> None:
        (tmp_path / "file").write_text("old")
        with pytest.raises(UserError, match="cannot write target: Not a directory"):
            write(tmp_path / "file" / "target")

    @BOTH
    def test_a_name_that_is_too_long_is_said_in_one_line(self, tmp_path: Path, write: Write) -> None:
        with pytest.raises(UserError, match="File name too long"):
            write(tmp_path / ("x" * 300))


@BOTH
def test_what_a_killed_run_left_is_cleared_by_the_next_and_what_is_at_work_is_not(
    tmp_path: Path, write: Write
) -> None:
    target = tmp_path / "out"
    left, other = tmp_path / ".out-0123abcd", tmp_path / ".out-of-others"
    for place in (left, other):
        place.mkdir()
        (place / "half").write_text("half")
    with folder_beside(target) as at_work:
        with file_beside(tmp_path / "out2") as elsewhere:
            write(tmp_path / "out")
            assert not left.exists()
            assert other.exists()
            assert at_work.exists()
            assert elsewhere.exists()
        (tmp_path / "out").rename(tmp_path / "first")
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(["first", "out", "out2", other.name])


@given(
    rows=st.lists(
        st.tuples(st.none() | st.text(st.sampled_from('ab", =\n\r\tü'), max_size=3), st.integers(-9, 9))
    ),
    n_columns=st.integers(1, 2),
    encoded=st.booleans(),
)
def test_records_are_written_as_rows_are(
    rows: list[tuple[str | None, int]], n_columns: int, encoded: bool
) -> None:
    columns = {"a, b": pa.array([text for text, _ in rows], pa.string()), "n": [number for _, number in rows]}
    table = pa.table(dict(list(columns.items())[:n_columns]))
    if encoded:
        table = table.set_column(0, "a, b", table.column(0).dictionary_encode())
    expected, written = io.StringIO(newline=""), io.BytesIO()
    write_rows(expected, [table.column_names, *(row[:n_columns] for row in rows)])
    write_records(written, table)
    assert written.getvalue() == expected.getvalue().encode()


def test_very_many_encoded_records_are_written_as_the_standard_library_writes_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sfumato.runtime.files._ROWS_AT_ONCE", 7)
    names = ["Ada", None, 'a "b"', "c,d", "", "e\rf"] * 4
    encoded = pa.chunked_array([names[:10], names[10:]], pa.string()).dictionary_encode()
    narrow = pa.DictionaryArray.from_arrays(pa.array([0, None] * 12, pa.int8()), pa.array([1815]))
    table = pa.table({"name": encoded, "born": narrow})
    written, expected = io.BytesIO(), io.StringIO(newline="")
    write_records(written, table)
    write_rows(expected, [["name", "born"], *zip(names, [1815, None] * 12, strict=True)])
    assert written.getvalue().decode() == expected.getvalue()
