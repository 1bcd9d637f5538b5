"""The published files as a reader sees them, in parts of any size."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.runtime.errors import VerificationFailed
from sfumato.verification import written_tables
from sfumato.verification.written_tables import (
    FileColumn,
    WrittenTable,
    differs_from_parquet,
    first_rows,
    number_rows,
    parquet_types,
    read_csv,
    sum_counts,
)


def read(folder: Path, text: str | bytes) -> WrittenTable:
    (folder / "data.csv").write_bytes(text.encode() if isinstance(text, str) else text)
    return read_csv(folder, "data")


def table(**columns: str) -> WrittenTable:
    """Return a table with one letter for each cell; a blank is a missing one."""
    return written_table(
        {name: [None if cell == " " else cell for cell in column] for name, column in columns.items()}
    )


def written_table(cells: Mapping[str, Sequence[str | None]]) -> WrittenTable:
    columns = {name: FileColumn.of(column) for name, column in cells.items()}
    return WrittenTable(columns, np.ones(len(next(iter(cells.values()))), dtype=np.int64))


def cells(found: WrittenTable) -> dict[str, list[str | None]]:
    """Return the cells of each row."""
    return {name: [column.values[code] for code in column.codes] for name, column in found.columns.items()}


def rows(found: WrittenTable) -> list[tuple[tuple[str | None, ...], int]]:
    """Return the rows with their numbers of records."""
    return list(zip(zip(*cells(found).values(), strict=True), found.counts.tolist(), strict=True))


class TestNumbering:
    @pytest.mark.parametrize(
        "columns",
        [
            [[3, 1, 3, 0, 3, 0], [0, 2, 0, 0, 1, 1]],
            [[0, 0, 0]],
            # in 64 bits the first two rows would be told by the same number
            [[0, 1 << 32, 0, 1], [5, 5, (1 << 32) - 1, 0]],
            [[1, 0, 1, 1], *([[9_999, 0, 9_999, 9_998]] * 12), [0, 1, 0, 0]],
            # so are the first two by a number that is not whole
            [[1 << 31, 1 << 31, 0], [0, 1, (1 << 30) - 1]],
        ],
    )
    def test_equal_rows_have_equal_numbers_in_the_order_in_which_they_occur(
        self, columns: list[list[int]]
    ) -> None:
        number: dict[tuple[int, ...], int] = {}
        expected = [number.setdefault(row, len(number)) for row in zip(*columns, strict=True)]
        found, n_different = number_rows([np.array(column) for column in columns], len(columns[0]))
        assert (found.tolist(), n_different) == (expected, len(number))
        first = [expected.index(each) for each in range(n_different)]
        assert first_rows(found, n_different).tolist() == first

    @pytest.mark.parametrize("n_values", [1, 7, 5_000, 1 << 40])
    def test_many_rows_are_numbered_as_few_are(self, monkeypatch: pytest.MonkeyPatch, n_values: int) -> None:
        keys = np.random.default_rng(n_values).integers(0, n_values, 3_000)
        number: dict[int, int] = {}
        expected = [number.setdefault(key, len(number)) for key in keys.tolist()]
        monkeypatch.setattr(written_tables, "_FEW_ROWS", 10)
        found, n_different = number_rows([keys], len(keys))
        assert (found.tolist(), n_different) == (expected, len(number))

    def test_rows_without_columns_are_equal_and_no_rows_are_none(self) -> None:
        assert number_rows([], 3)[0].tolist() == [0, 0, 0]
        assert number_rows([np.array([], dtype=np.int64)], 0)[1] == 0

    def test_counts_are_added_up_for_every_place(self) -> None:
        for counts, sums in (([1, 1, 1], [2, 0, 1, 0]), ([2, 2, 2], [4, 0, 2, 0]), ([3, 1, 4], [4, 0, 4, 0])):
            assert sum_counts(np.array([0, 0, 2]), np.array(counts), 4).tolist() == sums


class TestCSV:
    def test_cells_are_texts_and_empty_ones_are_missing(self, tmp_path: Path) -> None:
        found = read(tmp_path, 'a,b\r\n1,"x, ""y""\nz"\r\n,""\r\n 2,ü\r\n')
        assert (found.names, found.n_records) == (("a", "b"), 3)
        assert cells(found) == {"a": ["1", None, " 2"], "b": ['x, "y"\nz', None, "ü"]}

    def test_an_empty_line_is_a_record_of_one_missing_cell(self, tmp_path: Path) -> None:
        assert cells(read(tmp_path, "a\nx\n\ny\n")) == {"a": ["x", None, "y"]}
        with pytest.raises(VerificationFailed, match="more or fewer cells"):
            read(tmp_path, "a,b\n1,2\n\n")

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("", "no header"),
            ("\n1\n", "no header"),
            ("a,a\n1,2\n", "no header of different names"),
            ("a,b\n", "no record"),
            ("a,b\n1\n", "more or fewer cells"),
            ("a,b\n1,2,3\n", "more or fewer cells"),
            ("a,b\n1,2,3\n4\n", "more or fewer cells"),
            ('a\n"x" y\n', "not the CSV"),
            ('a\n"x\n', "not the CSV"),
            ('a\n1\n"x\n', "not the CSV"),
            ("a,b\n1,2\n3", "more or fewer cells"),
            (b"a\n\xff\n", "not the CSV"),
        ],
    )
    def test_what_publish_does_not_write_is_refused(
        self, tmp_path: Path, text: str | bytes, problem: str
    ) -> None:
        with pytest.raises(VerificationFailed, match=rf"^data\.csv .*{problem}"):
            read(tmp_path, text)

    def test_a_last_record_without_a_line_end_counts(self, tmp_path: Path) -> None:
        assert rows(read(tmp_path, "a,b\n1,x\n2,y")) == [(("1", "x"), 1), (("2", "y"), 1)]

    def test_a_cell_may_be_long(self, tmp_path: Path) -> None:
        # longer than the csv module allows by itself
        assert cells(read(tmp_path, "a\n" + "x" * 200_000 + "\n"))["a"] == ["x" * 200_000]

    def test_equal_rows_of_different_parts_are_put_together(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(written_tables, "_PART_BYTES", 8)
        monkeypatch.setattr(written_tables, "_FEW_ROWS", 2)
        found = read(tmp_path, "a,b\n" + "1,x\n2,y\n1,x\n" * 20)
        assert rows(found) == [(("1", "x"), 40), (("2", "y"), 20)]
        assert (found.n_rows, found.n_records) == (2, 60)
        assert list(found.occurrences("a").values()) == [40, 20]

    def test_nobody_can_change_the_cells_of_what_was_read(self, tmp_path: Path) -> None:
        found = read(tmp_path, "a\nx\ny\n")
        with pytest.raises(ValueError, match="read-only"):
            found.columns["a"].codes[0] = 1

    def test_a_few_rows_are_as_they_are_written(self, tmp_path: Path) -> None:
        found = read(tmp_path, "a\nx\ny\nx\n")
        assert rows(found) == [(("x",), 1), (("y",), 1), (("x",), 1)]
        assert found.counts.dtype == FileColumn.of([]).codes.dtype == np.int64

    def test_what_others_allow_as_a_cell_is_left_as_it_was(self, tmp_path: Path) -> None:
        before = csv.field_size_limit(1234)
        read(tmp_path, "a\nx\n")
        assert csv.field_size_limit() == 1234
        with pytest.raises(VerificationFailed):
            read(tmp_path, "")
        assert csv.field_size_limit(before) == 1234

    def test_a_record_may_be_longer_than_a_part(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(written_tables, "_PART_BYTES", 4)
        long = "x,\n" * 50
        assert rows(read(tmp_path, f'a\n1\n"{long}"\n2\n')) == [(("1",), 1), ((long,), 1), (("2",), 1)]


class TestParquet:
    def differs(self, folder: Path, written: WrittenTable, **columns: Any) -> str:
        pq.write_table(pa.table(columns), folder / "data.parquet")
        return differs_from_parquet(folder, "data", written)

    def test_the_order_of_records_does_not_matter(self, tmp_path: Path) -> None:
        written = table(a="12 ", b="xyz")
        assert self.differs(tmp_path, written, a=[None, 2, 1], b=["z", "y", "x"]) == ""
        assert self.differs(tmp_path, written, a=[None, 1, 2], b=["z", "y", "x"]) == "they hold other records"

    def test_numbers_are_compared_as_numbers(self, tmp_path: Path) -> None:
        assert self.differs(tmp_path, table(a="12"), a=[1.0, 2.0]) == ""
        assert self.differs(tmp_path, table(a="12"), a=["1", "2"]) == ""
        assert self.differs(tmp_path, table(a="1x"), a=[1, 2]) == "they hold other records"
        assert self.differs(tmp_path, table(a="  "), a=pa.array([None, None], pa.string())) == ""
        # as often as it is there
        assert self.differs(tmp_path, table(a="112"), a=[1, 2, 2]) == "they hold other records"

    @pytest.mark.parametrize("same", ["07", "+7", " 7", "7 ", "0_7"])
    def test_a_number_that_is_written_in_two_ways_does_not_count_twice(
        self, tmp_path: Path, same: str
    ) -> None:
        written = written_table({"a": ["7", same, "8"]})
        for numbers in ([7, 7, 8], [7.0, 7.0, 8.0]):
            assert self.differs(tmp_path, written, a=numbers) == "they hold other records"
        assert self.differs(tmp_path, written, a=["7", same, "8"]) == ""

    def test_zero_has_two_signs(self, tmp_path: Path) -> None:
        written = written_table({"a": ["0.0", "-0.0"]})
        assert self.differs(tmp_path, written, a=[-0.0, 0.0]) == ""

    def test_a_value_that_the_csv_file_has_not_is_no_other_one(self, tmp_path: Path) -> None:
        assert self.differs(tmp_path, table(a="12"), a=[1, 3]) == "they hold other records"
        # nor is a row with such a value the row before or after it
        written = table(a="xyx", b="pqq")
        for other in (["p", "q", "r"], ["p", "r", "q"], ["r", "q", "q"]):
            for order in (["x", "y", "y"], ["x", "y", "x"], ["y", "x", "x"]):
                assert self.differs(tmp_path, written, a=order, b=other) == "they hold other records"

    def test_parts_of_any_size_are_compared(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(written_tables, "_BATCH_RECORDS", 3)
        monkeypatch.setattr(written_tables, "_FEW_ROWS", 4)
        texts, numbers = list("xyzx" * 10), [1, 2, 3, 1] * 10
        written = written_table({"a": texts, "b": [str(each) for each in numbers]})
        assert self.differs(tmp_path, written, a=texts[::-1], b=numbers[::-1]) == ""
        assert self.differs(tmp_path, written, a=texts, b=numbers[::-1]) == "they hold other records"
        assert self.differs(tmp_path, written, a=texts, b=[*numbers[:-1], 9]) == "they hold other records"

    def test_numbers_beyond_those_of_parquet_are_other_records(self, tmp_path: Path) -> None:
        assert self.differs(tmp_path, written_table({"a": [str(2**70)]}), a=[1]) == "they hold other records"

    def test_a_type_that_publish_does_not_write(self, tmp_path: Path) -> None:
        said = self.differs(tmp_path, table(a="12"), a=[True, False])
        assert said == "the column 'a' is of a type that `publish` does not write"

    def test_columns_and_their_order_must_be_the_same(self, tmp_path: Path) -> None:
        written = table(a="1", b="x")
        assert self.differs(tmp_path, written, b=["x"], a=[1]) == "they have other columns"
        assert self.differs(tmp_path, written, a=[1]) == "they have other columns"
        assert (
            self.differs(tmp_path, written, a=[1, 2], b=["x", "y"]) == "they have another number of records"
        )

    def test_a_file_that_is_none(self, tmp_path: Path) -> None:
        (tmp_path / "data.parquet").write_bytes(b"PAR1")
        assert differs_from_parquet(tmp_path, "data", table(a="1")) == "the Parquet file cannot be read"
        with pytest.raises(VerificationFailed, match=r"^data\.parquet cannot be read$"):
            parquet_types(tmp_path, "data.parquet")

    def test_a_file_that_would_unpack_to_far_more_is_not(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        n_rows = 100_000
        written = written_table({"a": ["x"] * n_rows})
        place = tmp_path / "data.parquet"
        pq.write_table(pa.table({"a": ["x"] * n_rows}), place, use_dictionary=False, compression="zstd")
        grown = sum(
            pq.ParquetFile(place).metadata.row_group(n).total_byte_size
            for n in range(pq.ParquetFile(place).metadata.num_row_groups)
        )
        monkeypatch.setattr(written_tables, "_MAX_GROWTH", 2)
        size = place.stat().st_size
        assert grown > 3 * size
        monkeypatch.setattr(written_tables, "_SMALL_FILE", grown - 2 * size)
        assert differs_from_parquet(tmp_path, "data", written) == ""
        monkeypatch.setattr(written_tables, "_SMALL_FILE", grown - 2 * size - 1)
        assert "far more than its size" in differs_from_parquet(tmp_path, "data", written)

    def test_every_group_of_rows_counts(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        place = tmp_path / "data.parquet"
        pq.write_table(pa.table({"a": ["x"] * 1000}), place, row_group_size=10)
        written = written_table({"a": ["x"] * 1000})
        monkeypatch.setattr(written_tables, "_MAX_GROWTH", 0)
        one = pq.ParquetFile(place).metadata.row_group(0).total_byte_size
        monkeypatch.setattr(written_tables, "_SMALL_FILE", 99 * one)
        assert "far more than its size" in differs_from_parquet(tmp_path, "data", written)
        monkeypatch.setattr(written_tables, "_SMALL_FILE", 100 * one)
        assert differs_from_parquet(tmp_path, "data", written) == ""

    def test_types_are_named_as_a_data_package_names_them(self, tmp_path: Path) -> None:
        columns = {"n": pa.array([1], pa.int8()), "x": pa.array([0.5], pa.float32()), "s": pa.array(["a"])}
        pq.write_table(pa.table(columns), tmp_path / "data.parquet")
        assert parquet_types(tmp_path, "data.parquet") == [("n", "integer"), ("x", "number"), ("s", "string")]


def part_by_part(written: bytes, size: int) -> WrittenTable | None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(written_tables, "_PART_BYTES", size)
        patch.setattr(written_tables, "_BLOCK_BYTES", max(size // 2, 1))
        patch.setattr(written_tables, "_FEW_ROWS", 0)
        return written_tables._read_parts(io.BytesIO(written))


def line_by_line(written: bytes) -> WrittenTable:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(written_tables, "_FEW_ROWS", 0)
        return written_tables._read_lines(io.BytesIO(written), "data")


@pytest.mark.parametrize("size", range(1, 14))
def test_parts_may_be_cut_anywhere(size: int) -> None:
    found = part_by_part(b'a,b\n1,2\n3,"4,"\n', size)
    assert found is not None
    assert rows(found) == [(("1", "2"), 1), (("3", "4,"), 1)]


def test_read_lines_the_line_ends_of_a_cell_stay_and_an_empty_line_is_a_missing_cell() -> None:
    assert rows(line_by_line(b'a,b\n"x\r\ny",1\n')) == [(("x\r\ny", "1"), 1)]
    assert rows(line_by_line(b"a\nx\n\n")) == [(("x",), 1), ((None,), 1)]


def counted(written: bytes) -> list[tuple[tuple[str | None, ...], int]]:
    """Return the rows with their numbers of records as the standard library reads and counts them."""
    records = list(csv.reader(io.StringIO(written.decode(), newline="")))[1:]
    return list(Counter(tuple(cell or None for cell in record) for record in records).items())


def test_a_parquet_bomb_is_a_matter_of_megabytes() -> None:
    """What a small file may unpack to, and how often its own size a large one may."""
    assert 1 << 20 <= written_tables._SMALL_FILE <= 1 << 28
    assert 8 <= written_tables._MAX_GROWTH <= 1000


@given(
    lines=st.lists(st.lists(st.text(st.sampled_from('ab", \n\rü'), max_size=3), min_size=2, max_size=2)),
    end=st.sampled_from(["\n", "\r\n"]),
    size=st.integers(1, 40),
)
def test_a_file_is_read_in_parts_as_read_lines(lines: list[list[str]], end: str, size: int) -> None:
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator=end).writerows([["a", "b"], *lines])
    written = file.getvalue().encode()
    in_parts = part_by_part(written, size)
    if lines and end == "\n" and "\r" not in written.decode().replace('"', ""):
        assert in_parts is not None
    if in_parts is not None:
        assert rows(in_parts) == rows(line_by_line(written)) == counted(written)


@given(
    text=st.lists(st.sampled_from(['"', ",", "\n", "a", "\r", "\xff"]), max_size=12).map("".join),
    size=st.integers(1, 20),
)
def test_a_file_that_is_read_in_parts_is_one_that_can_be_read_read_lines(text: str, size: int) -> None:
    written = b"a,b\n" + text.encode("latin-1")
    try:
        in_parts = part_by_part(written, size)
    except UnicodeDecodeError:
        with pytest.raises((UnicodeDecodeError, csv.Error, VerificationFailed)):
            line_by_line(written)
        return
    if in_parts is not None:
        assert rows(in_parts) == rows(line_by_line(written))
