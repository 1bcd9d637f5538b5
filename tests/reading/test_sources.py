"""Many files are read as one; what cannot be read together is refused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from sfumato.reading.base import Source
from sfumato.reading.read_table import read
from sfumato.reading.sources import source_at, state_of
from sfumato.runtime.errors import DataError

Write = Callable[[str, dict[str, list[object]]], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(name: str, columns: dict[str, list[object]]) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        table = pa.table(columns)
        if name.endswith(".parquet"):
            pq.write_table(table, path)
        elif name.endswith(".feather"):
            feather.write_feather(table, str(path))
        else:
            lines = [
                ",".join(columns),
                *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True)),
            ]
            path.write_text("\n".join(lines) + "\n")
        return path

    return written


def ages(source: Source) -> list[str]:
    whole = [str(value) for value in source.read().column("age").to_pylist()]
    parts = [str(value) for batch in source.batches(["age"]) for value in batch.column(0).to_pylist()]
    assert whole == parts
    assert source.schema.names == source.read().column_names
    return whole


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".feather"])
class TestManyFiles:
    def test_of_a_folder_are_read_in_the_order_of_their_names(
        self, tmp_path: Path, write: Write, ending: str
    ) -> None:
        write(f"all/b{ending}", {"age": [3, 4], "sex": ["f", "m"]})
        write(f"all/a{ending}", {"age": [1, 2], "sex": ["f", "m"]})
        write(f"all/_hidden{ending}", {"age": [9], "sex": ["f"]})
        write(f"all/.hidden{ending}", {"age": [9], "sex": ["f"]})
        write(f"all/deeper/a{ending}", {"age": [9], "sex": ["f"]})
        (tmp_path / "all" / "about.md").write_text("what this is")
        assert ages(source_at(tmp_path / "all")) == ["1", "2", "3", "4"]
        assert read(tmp_path / "all").n_records == 4

    def test_of_a_pattern(self, tmp_path: Path, write: Write, ending: str) -> None:
        write(f"2023/a{ending}", {"age": [1]})
        write(f"2024/a{ending}", {"age": [2]})
        write(f"2024/b{ending}", {"age": [3]})
        assert ages(source_at(tmp_path / "2024" / f"*{ending}")) == ["2", "3"]
        assert ages(source_at(tmp_path / "**" / f"a{ending}")) == ["1", "2"]

    def test_may_have_their_columns_in_another_order(self, tmp_path: Path, write: Write, ending: str) -> None:
        write(f"all/a{ending}", {"age": [1], "sex": ["f"]})
        write(f"all/b{ending}", {"sex": ["m"], "age": [2]})
        assert ages(source_at(tmp_path / "all")) == ["1", "2"]

    def test_of_other_columns_are_refused(self, tmp_path: Path, write: Write, ending: str) -> None:
        write(f"all/a{ending}", {"age": [1], "sex": ["f"]})
        write(f"all/b{ending}", {"age": [1], "town": ["f"]})
        source = source_at(tmp_path / "all")
        said = rf"b{ending} has other columns than a{ending} \('sex' is in one of them only\)"
        with pytest.raises(DataError, match=said):
            source.read()
        with pytest.raises(DataError, match=said):
            source_at(tmp_path / "all").schema  # noqa: B018


def test_of_several_csv_files_some_may_have_a_header_alone(tmp_path: Path, write: Write) -> None:
    write("all/a.csv", {"age": [], "sex": []})
    write("all/b.csv", {"age": [1, 2], "sex": ["f", "m"]})
    write("all/c.csv", {"age": [], "sex": []})
    (tmp_path / "all" / "d.csv").write_text("age,sex")
    assert ages(source_at(tmp_path / "all")) == ["1", "2"]
    # their columns are compared, too
    write("all/c.csv", {"age": [], "town": []})
    for reading in (lambda source: source.read(), lambda source: list(source.batches(["age"]))):
        with pytest.raises(DataError, match="columns"):
            reading(source_at(tmp_path / "all"))


def test_csv_files_with_headers_alone_have_no_records(tmp_path: Path, write: Write) -> None:
    write("all/a.csv", {"age": []})
    write("all/b.csv", {"age": []})
    for reading in (lambda source: source.read(), lambda source: list(source.batches(["age"]))):
        with pytest.raises(DataError, match="has a header but no records"):
            reading(source_at(tmp_path / "all"))


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path, write: Write) -> None:
    write("a[1].csv", {"age": [1]})
    write("a1.csv", {"age": [2]})
    assert ages(source_at(tmp_path / "a[1].csv")) == ["1"]


def test_text_that_is_stored_in_different_ways_is_one_column(tmp_path: Path) -> None:
    words = pa.array(["x", "y"]).dictionary_encode()
    for name, values in (
        ("a", words),
        ("b", pa.array(["y", "z"])),
        ("c", pa.array(["z"], pa.large_string())),
    ):
        pq.write_table(pa.table({"age": values}), tmp_path / f"{name}.parquet")
    assert ages(source_at(tmp_path / "*.parquet")) == ["x", "y", "y", "z", "z"]


def test_a_column_of_two_types_is_refused(tmp_path: Path, write: Write) -> None:
    write("all/a.parquet", {"age": [1]})
    write("all/b.parquet", {"age": ["one"]})
    with pytest.raises(DataError, match=r"column 'age' has the type string in b\.parquet and int64 in a"):
        source_at(tmp_path / "all").read()


def test_files_of_two_formats_are_refused(tmp_path: Path, write: Write) -> None:
    write("all/a.parquet", {"age": [1]})
    write("all/b.csv", {"age": [1]})
    with pytest.raises(DataError, match=r"all holds files of more than one format \(csv, parquet\)"):
        source_at(tmp_path / "all")


@pytest.mark.parametrize("name", ["nothing", "none*.csv"])
def test_a_folder_or_pattern_without_files_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "nothing").mkdir()
    with pytest.raises(DataError, match="holds no file that can be read"):
        source_at(tmp_path / name)


@pytest.mark.parametrize("path", ["s3://bucket/people.parquet", "https://host/people.csv"])
def test_what_lies_behind_the_network_is_refused(path: str) -> None:
    with pytest.raises(DataError, match=r"are not read: nothing here opens the network"):
        read(path)


def test_the_state_changes_with_any_file(tmp_path: Path, write: Write) -> None:
    files = (write("a.csv", {"age": [1]}), write("b.csv", {"age": [2]}))
    before, written = state_of(files)
    assert written == max(file.stat().st_mtime for file in files)
    assert state_of(files) == (before, written)
    write("b.csv", {"age": [33]})
    assert state_of(files)[0] != before
    files[1].unlink()
    assert state_of(files) == ("", 0.0)


class TestStandardInput:
    def run(self, given: bytes, *, engine: str = "memory") -> subprocess.CompletedProcess[bytes]:
        """Read standard input twice, as commands do, and print what was read."""
        program = (
            "from sfumato.workflow.engines.base import engine_named\n"
            "from sfumato.reading.sources import source_at\n"
            f"tables = [engine_named({engine!r}).reduce(source_at('-')) for _ in range(2)]\n"
            "print(len({table.fingerprint for table in tables}), *tables[0]['age'].domain)"
        )
        return subprocess.run([sys.executable, "-c", program], input=given, capture_output=True, check=False)

    def stream(self) -> bytes:
        sink = pa.BufferOutputStream()
        table = pa.table({"age": [42, 31, 42]})
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=2)
        return bytes(sink.getvalue())

    @pytest.mark.parametrize("engine", ["memory", "duckdb"])
    def test_an_arrow_stream_is_read(self, engine: str) -> None:
        assert self.run(self.stream(), engine=engine).stdout.split() == [b"1", b"31", b"42"]

    @pytest.mark.parametrize("given", [b"", b"age\n31\n"])
    def test_anything_else_is_refused(self, given: bytes) -> None:
        done = self.run(given)
        assert b"standard input is no Arrow stream" in done.stderr
        assert b"ArrowInvalid" not in done.stderr

    def test_a_stream_that_is_cut_is_refused(self) -> None:
        assert b"standard input is no Arrow stream, or ends too early" in self.run(self.stream()[:-60]).stderr
