"""The published cells as a stranger reads them: files, layouts, groups, hierarchies."""

from __future__ import annotations

import csv
import io
import itertools
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

from sfumato.errors import VerificationFailed
from sfumato.verifying import records
from sfumato.verifying.documents import AttributeFacts, LayoutFacts
from sfumato.verifying.records import (
    FileColumn,
    PublicView,
    SensitiveValues,
    WrittenTable,
    differs_from_parquet,
    parquet_types,
    published,
    read_csv,
    table_names,
)

QUASI = AttributeFacts(role="quasi-identifying")
TOLD = AttributeFacts(role="sensitive")
ASIDE = AttributeFacts(role="insensitive")


def read(folder: Path, text: str | bytes) -> WrittenTable:
    (folder / "data.csv").write_bytes(text.encode() if isinstance(text, str) else text)
    return read_csv(folder, "data")


def table(**columns: str) -> WrittenTable:
    """Return a table with one letter for each cell; a blank is a missing one."""
    cells: dict[str, list[str | None]] = {
        name: [None if cell == " " else cell for cell in column] for name, column in columns.items()
    }
    return written_table(cells)


def written_table(cells: Mapping[str, Sequence[str | None]]) -> WrittenTable:
    columns = {name: FileColumn.of(column) for name, column in cells.items()}
    return WrittenTable(columns, len(next(iter(cells.values()))))


def cells(found: WrittenTable) -> dict[str, list[str | None]]:
    return {name: [column.values[code] for code in column.codes] for name, column in found.columns.items()}


def classes(seen: PublicView, people: WrittenTable) -> dict[tuple[str | None, ...], int]:
    """Return the classes by their released values."""
    values = [
        [people.columns[name].values[code] for code in codes]
        for name, codes in zip(seen.names, seen.classes, strict=True)
    ]
    return dict(zip(zip(*values, strict=True), seen.sizes.tolist(), strict=True))


def told_of(name: str, groups: Sequence[Sequence[str | None]], facts: AttributeFacts) -> SensitiveValues:
    group_of = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    return SensitiveValues.of(name, FileColumn.of(itertools.chain(*groups)), group_of, facts)


def groups(attribute: SensitiveValues) -> tuple[Counter[str | None], ...]:
    """Return how often each value occurs in each group."""
    found: list[Counter[str | None]] = [Counter() for _ in attribute.sizes]
    for group, value, count in zip(attribute.group_of, attribute.value_of, attribute.counts, strict=True):
        found[group][attribute.values[value]] = int(count)
    return tuple(found)


def layout(
    form: Any = "one-table", group: str | None = None, n_original: int = 9, **attributes: AttributeFacts
) -> LayoutFacts:
    return LayoutFacts(attributes=attributes, n_original=n_original, form=form, group=group)


class TestCSV:
    def test_cells_are_texts_and_empty_ones_are_missing(self, tmp_path: Path) -> None:
        found = read(tmp_path, 'a,b\r\n1,"x, ""y""\nz"\r\n,""\r\n 2,ü\r\n')
        assert (found.names, found.n_rows) == (("a", "b"), 3)
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
            ('a\n"x" y\n', "not the CSV"),
            ('a\n"x\n', "not the CSV"),
            (b"a\n\xff\n", "not the CSV"),
        ],
    )
    def test_what_publish_does_not_write_is_refused(
        self, tmp_path: Path, text: str | bytes, problem: str
    ) -> None:
        with pytest.raises(VerificationFailed, match=rf"^data\.csv .*{problem}"):
            read(tmp_path, text)

    def test_a_cell_may_be_long(self, tmp_path: Path) -> None:
        # longer than the csv module allows by itself
        assert cells(read(tmp_path, "a\n" + "x" * 200_000 + "\n"))["a"] == ["x" * 200_000]


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
            parquet_types(tmp_path, "data")

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
        monkeypatch.setattr(records, "_MOST_GROWTH", 2)
        size = place.stat().st_size
        assert grown > 3 * size
        monkeypatch.setattr(records, "_SMALL", grown - 2 * size)
        assert differs_from_parquet(tmp_path, "data", written) == ""
        monkeypatch.setattr(records, "_SMALL", grown - 2 * size - 1)
        assert "far more than its size" in differs_from_parquet(tmp_path, "data", written)

    def test_every_group_of_rows_counts(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        place = tmp_path / "data.parquet"
        pq.write_table(pa.table({"a": ["x"] * 1000}), place, row_group_size=10)
        written = written_table({"a": ["x"] * 1000})
        monkeypatch.setattr(records, "_MOST_GROWTH", 0)
        one = pq.ParquetFile(place).metadata.row_group(0).total_byte_size
        monkeypatch.setattr(records, "_SMALL", 99 * one)
        assert "far more than its size" in differs_from_parquet(tmp_path, "data", written)
        monkeypatch.setattr(records, "_SMALL", 100 * one)
        assert differs_from_parquet(tmp_path, "data", written) == ""

    def test_types_are_named_as_a_data_package_names_them(self, tmp_path: Path) -> None:
        columns = {"n": pa.array([1], pa.int8()), "x": pa.array([0.5], pa.float32()), "s": pa.array(["a"])}
        pq.write_table(pa.table(columns), tmp_path / "data.parquet")
        assert parquet_types(tmp_path, "data") == [("n", "integer"), ("x", "number"), ("s", "string")]


class TestOneTable:
    def test_classes_and_what_they_tell(self) -> None:
        people = table(age="aab", sex="mmf", ill="xyx", job="uuv", note="123")
        told = layout(age=QUASI, sex=QUASI, ill=TOLD, job=TOLD, note=ASIDE)
        seen = published({"data": people}, told)
        assert table_names(told) == ("data",)
        assert seen.names == ("age", "sex")
        assert classes(seen, people) == {("a", "m"): 2, ("b", "f"): 1}
        assert (seen.n_original, seen.n_records, seen.n_suppressed) == (9, 3, 6)
        assert [each.name for each in seen.sensitive] == ["ill", "job"]
        assert [groups(each) for each in seen.sensitive] == [
            (Counter("xy"), Counter("x")),
            (Counter("uu"), Counter("v")),
        ]
        assert not seen.has_groups

    def test_groups_are_counted_by_their_column(self) -> None:
        people = table(age="abc", ill="xyx", group="112")
        seen = published({"data": people}, layout(group="group", age=QUASI, ill=TOLD))
        assert seen.has_groups
        assert groups(seen.sensitive[0]) == (Counter("xy"), Counter("x"))
        assert len(seen.sizes) == 3

    def test_columns_must_be_those_of_the_manifest(self) -> None:
        for columns in ({"age": "a"}, {"age": "a", "ill": "x", "more": "y"}, {"age": "a", "job": "x"}):
            with pytest.raises(VerificationFailed, match="not those that the manifest names"):
                published({"data": table(**columns)}, layout(age=QUASI, ill=TOLD))
        with pytest.raises(VerificationFailed, match="not those that the manifest names"):
            published({"data": table(age="a", ill="x")}, layout(group="group", age=QUASI, ill=TOLD))

    def test_no_more_records_than_the_original_has(self) -> None:
        people = table(age="aab")
        assert published({"data": people}, layout(n_original=3, age=QUASI)).n_suppressed == 0
        with pytest.raises(VerificationFailed, match="more records than"):
            published({"data": people}, layout(n_original=2, age=QUASI))


class TestTwoTables:
    FORM = layout("two-tables", "group", age=QUASI, ill=TOLD)

    def seen(self, values: WrittenTable, facts: LayoutFacts | None = None) -> Any:
        people = table(age="abc", group="112")
        return published({"quasi-identifiers": people, "sensitive": values}, facts or self.FORM)

    def test_the_second_table_tells_the_values_of_each_group(self) -> None:
        assert table_names(self.FORM) == ("quasi-identifiers", "sensitive")
        seen = self.seen(table(group="112", ill="xyx", count="111"))
        assert groups(seen.sensitive[0]) == (Counter("xy"), Counter("x"))
        assert seen.sizes.tolist() == [1, 1, 1]
        seen = self.seen(table(group="12", ill="xx", count="21"))
        assert groups(seen.sensitive[0]) == (Counter("xx"), Counter("x"))
        # lines of one group and value are added
        assert groups(self.seen(table(group="112", ill="xxx", count="111")).sensitive[0])[0] == Counter("xx")

    def test_a_sensitive_attribute_may_be_called_count(self) -> None:
        facts = layout("two-tables", "group", age=QUASI, count=TOLD)
        values = table(group="12", count="xy")
        values = written_table({**cells(values), "count_": ["2", "1"]})
        assert groups(self.seen(values, facts).sensitive[0]) == (Counter("xx"), Counter("y"))

    def test_every_group_has_as_many_values_as_people(self) -> None:
        for values in (
            table(group="12", ill="xy", count="11"),
            table(group="12", ill="xy", count="12"),
            table(group="1", ill="x", count="2"),
            table(group="123", ill="xyx", count="211"),
        ):
            with pytest.raises(VerificationFailed, match="same number of records in every group"):
                self.seen(values)

    def test_the_second_table_has_these_columns(self) -> None:
        for values in (table(group="12", ill="xy"), table(group="12", ill="xy", count="21", more="ab")):
            with pytest.raises(VerificationFailed, match="do not have the columns"):
                self.seen(values)

    @pytest.mark.parametrize("count", ["0", "-1", "1.5", "x", "٢", "+2", None, "4", "9" * 30, "²"])
    def test_a_count_is_a_number_of_records(self, count: str | None) -> None:
        values = written_table({"group": ["1", "2"], "ill": ["x", "y"], "count": [count, "1"]})
        with pytest.raises(VerificationFailed, match="is not a number of records"):
            self.seen(values)

    def test_one_group_may_hold_everybody(self) -> None:
        people, values = table(age="abc", group="111"), table(group="1", ill="x", count="3")
        seen = published({"quasi-identifiers": people, "sensitive": values}, self.FORM)
        assert groups(seen.sensitive[0]) == (Counter("xxx"),)


def told(hierarchy: list[list[str]] | None, kind: Any = None) -> AttributeFacts:
    return AttributeFacts(role="sensitive", kind=kind, hierarchy=hierarchy)


class TestLayout:
    def refused(self, problem: str, facts: LayoutFacts, **columns: str) -> None:
        with pytest.raises(VerificationFailed, match=problem):
            published({name: table(**columns) for name in table_names(facts)}, facts)

    def test_two_tables_need_a_group_that_joins_them(self) -> None:
        self.refused("without a group", layout("two-tables", age=QUASI, ill=TOLD), age="a")

    def test_the_group_is_no_attribute(self) -> None:
        self.refused("is named as an attribute", layout(group="age", age=QUASI, ill=TOLD), age="a", ill="x")

    @pytest.mark.parametrize("facts", [{"kind": "numeric"}, {"hierarchy": [["a", "*"]]}])
    @pytest.mark.parametrize("role", ["quasi-identifying", "insensitive"])
    def test_only_of_sensitive_attributes_more_is_said(self, role: Any, facts: dict[str, Any]) -> None:
        self.refused("of sensitive attributes only", layout(age=AttributeFacts(role=role, **facts)), age="a")

    @pytest.mark.parametrize(
        ("rows", "problem"),
        [
            ([["x", "*"], ["y"]], "one row for each value"),
            ([["x", "*"], ["x", "*"]], "one row for each value"),
            ([[], []], "one row for each value"),
            ([], "no tree"),
            ([["x", "1"], ["y", "2"]], "no tree"),
            ([["x", "1", "*"], ["y", "1", "+"]], "no tree"),
            ([["x", "1", "p", "*"], ["y", "1", "q", "*"]], "no tree"),
            ([["x", "*"]], "not over the published values"),
            ([["x", "*"], ["y", "*"], ["z", "*"]], "not over the published values"),
        ],
    )
    def test_a_hierarchy_is_a_tree_over_the_published_values(
        self, rows: list[list[str]], problem: str
    ) -> None:
        self.refused(problem, layout(age=QUASI, ill=told(rows)), age="ab", ill="xy")

    @pytest.mark.parametrize(
        "rows",
        [
            [["x"], ["y"]],
            [["x", "*"], ["y", "*"]],
            [["x", "1", "*"], ["y", "2", "*"]],
            [["y", "1", "*"], ["x", "1", "*"]],
            # the same word on two levels is two nodes
            [["x", "y", "*"], ["y", "x", "*"]],
        ],
    )
    def test_a_tree_is_believed(self, rows: list[list[str]]) -> None:
        seen = published({"data": table(age="ab", ill="xy")}, layout(age=QUASI, ill=told(rows)))
        assert seen.sensitive[0].facts.hierarchy == rows

    def test_a_missing_value_is_an_empty_leaf(self) -> None:
        rows = [["x", "*"], ["", "*"]]
        seen = published({"data": table(age="ab", ill="x ")}, layout(age=QUASI, ill=told(rows)))
        assert seen.sensitive[0].ordered == ["x", None]


class TestSensitiveValues:
    def values(self, *groups: str, facts: AttributeFacts = TOLD) -> SensitiveValues:
        return told_of("ill", [[None if sign == " " else sign for sign in group] for group in groups], facts)

    def test_the_prior_is_that_of_the_released_records(self) -> None:
        values = self.values("xxy", "y")
        assert (values.n_records, values.values, values.prior.tolist()) == (4, ("x", "y"), [0.5, 0.5])

    def test_numbers_are_in_their_order_and_a_missing_one_is_last(self) -> None:
        values = told_of("pay", [["10", "9", "-1", None, "0.5"]], TOLD)
        assert values.ordered == ["-1", "0.5", "9", "10", None]

    def test_the_levels_of_a_tree_below_its_root(self) -> None:
        rows = [["x", "1", "*"], ["y", "1", "*"], ["", "2", "*"]]
        assert self.values("xy ", facts=told(rows)).levels == [
            {"x": "x", "y": "y", None: ""},
            {"x": "1", "y": "1", None: "2"},
        ]
        assert self.values("xy").levels == [{"x": "x", "y": "y"}]
        assert self.values("xy", facts=told([["x"], ["y"]])).levels == [{"x": "x", "y": "y"}]

    @pytest.mark.parametrize(("cells", "withheld"), [("***", True), ("**x", False), ("xy", False)])
    def test_what_is_withheld_everywhere(self, cells: str, withheld: bool) -> None:
        assert self.values(cells).is_withheld is withheld


def test_a_parquet_bomb_is_a_matter_of_megabytes() -> None:
    """What a small file may unpack to, and how often its own size a large one may."""
    assert 1 << 20 <= records._SMALL <= 1 << 28
    assert 8 <= records._MOST_GROWTH <= 1000


@given(
    rows=st.lists(st.lists(st.text(st.sampled_from('ab", \n\rü'), max_size=3), min_size=2, max_size=2)),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_whole_files_are_read_as_line_by_line(rows: list[list[str]], end: str) -> None:
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator=end).writerows([["a", "b"], *rows])
    written = file.getvalue().encode()
    at_once = records._all_at_once(written)
    if rows and end == "\n" and "\r" not in written.decode().replace('"', ""):
        assert at_once is not None
    if at_once is not None:
        assert cells(at_once) == cells(records._line_by_line(written, "data"))


@given(text=st.lists(st.sampled_from(['"', ",", "\n", "a", "\r", "\xff"]), max_size=12).map("".join))
def test_a_file_that_is_taken_at_once_is_one_that_can_be_read_line_by_line(text: str) -> None:
    written = b"a,b\n" + text.encode("latin-1")
    try:
        at_once = records._all_at_once(written)
    except UnicodeDecodeError:
        with pytest.raises((UnicodeDecodeError, csv.Error, VerificationFailed)):
            records._line_by_line(written, "data")
        return
    if at_once is not None:
        assert cells(at_once) == cells(records._line_by_line(written, "data"))
