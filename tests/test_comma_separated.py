"""Comma-separated rows: what is written is read back, whatever a value holds."""

from __future__ import annotations

import csv
import io
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato import Hierarchy, Schema, Table, sanitize
from sfumato.interfaces.workbench.state.hierarchy_files import as_csv
from sfumato.reading.base import read_arrow
from sfumato.reading.read_table import read
from sfumato.runtime.files import write_rows
from sfumato.sanitizers import AsIs
from sfumato.workflow.publish.data_files import write_release

# no blanks around a value, which readers take off
TEXTS = st.text(st.sampled_from('ab,;"\r\n\u2028'), min_size=1).filter(lambda text: text == text.strip())


@given(rows=st.lists(st.tuples(TEXTS, TEXTS), min_size=1), separator=st.sampled_from(",;"))
def test_rows_are_read_back_by_the_standard_reader(rows: list[tuple[str, str]], separator: str) -> None:
    file = io.StringIO(newline="")
    write_rows(file, rows, separator=separator)
    again = csv.reader(io.StringIO(file.getvalue(), newline=""), delimiter=separator)
    assert [tuple(row) for row in again] == rows


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_a_line_end_inside_a_value_makes_no_new_record(end: str, tmp_path: Path) -> None:
    towns = [f"a{end}b", "c"] * 6
    table = Table.from_arrow({"town": towns, "age": list(range(12))})
    schema = Schema.of(town="quasi-identifying", age="quasi-identifying")
    (written,) = write_release(sanitize(table, schema, AsIs()), tmp_path / "release.csv")
    assert Counter(read_arrow(written)["town"].to_pylist()) == Counter(towns)
    assert read(written).n_records == 12


def test_a_line_end_inside_a_value_survives_in_a_hierarchy_file(tmp_path: Path) -> None:
    place = tmp_path / "town.csv"
    hierarchy = Hierarchy.of_rows([["a\rb", "north", "*"], ["c\nd", "south", "*"]])
    place.write_text(as_csv(hierarchy), encoding="utf-8", newline="")
    assert Hierarchy.read(place).values == ("a\rb", "c\nd")
