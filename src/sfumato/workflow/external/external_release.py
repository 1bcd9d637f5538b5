"""Read files as a release of a table, and check that its cells contain the original values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Records, Table
from sfumato.registry.declarations import ReleaseType
from sfumato.results.label_parsing import Spellings
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.origin import Origin
from sfumato.results.released_column import Cells
from sfumato.runtime.arrays import Integers
from sfumato.runtime.errors import DataError
from sfumato.workflow.external.column_matching import ReleaseColumns, named_as_in
from sfumato.workflow.external.foreign_labels import WrittenColumn, withheld_cells
from sfumato.workflow.external.record_matching import matched_rows
from sfumato.workflow.external.release_files import open_files

Suppressed = Literal["judge", "count"]


def read_release(
    release: str | Path | Records,
    table: Records,
    schema: Schema,
    *,
    sensitive: str | Path | Records | None = None,
    group: str | None = None,
    match: str | None = None,
    suppressed: Suppressed = "judge",
    missing_values: Iterable[str] = (),
    release_type: ReleaseType | None = None,
) -> LinkedRelease:
    """Read files that any program wrote as a release of a table.

    Every released value is read as the set of original values that it may stand for. Rows and columns may
    be in any order. The notes of the release name the assumptions.

    Parameters
    ----------
    release
        A CSV, Parquet or Feather file, a folder that `sfumato publish` wrote, or anything that
        `Table.from_arrow` takes.
    table, schema
        The original, as `sanitize` takes them.
    sensitive
        The second of Anatomy's two tables: the sensitive values of each group with their counts.
    group
        The column that holds the group of a record; by default one called ``group`` or, of two tables,
        the one that both have.
    match
        A column of both files that tells which record is which.
    suppressed
        Whether rows whose quasi-identifiers are all ``*`` are judged as the class that they are, or
        count as suppressed records, as ARX counts them.
    missing_values
        Spellings of a missing value beside the empty field.
    release_type
        What the rows stand for: ``people`` one by one, people with changed values (``perturbed``), or nobody
        (``synthetic``); a synthetic file may have any number of rows. By default what a published folder
        says; else changed values are assumed where a number is none of the original's, and people
        elsewhere.

    Examples
    --------
    >>> from sfumato import datasets, measure
    >>> table, schema = datasets.hospital()
    >>> file = {"zip": ["0213*"] * 4, "age": ["20-39"] * 4, "diagnosis": ["Flu", "Diabetes", "Flu", "Flu"]}
    >>> release = read_release(file, table, schema)
    >>> [taken.value for taken in measure(release, ["k-anonymity", "suppression-loss"])]
    [4.0, 0.6666666666666666]
    >>> release.notes
    ("Not in the release, and so suppressed in every record: 'sex'.",)
    """
    original = table if isinstance(table, Table) else Table.from_arrow(table)
    bound, bound_schema = schema.bind(original)
    files = named_as_in(bound_schema, open_files(release, sensitive, group, bound_schema), match)
    columns = ReleaseColumns.of(files, bound_schema, match)
    records = Table.from_arrow(files.records.select(columns.read), missing_values=missing_values)
    stated = release_type or files.type
    _check_number(records.n_records, files.n_original, bound.n_records, schema, stated)
    if match is not None and stated == "synthetic":
        raise DataError(
            "synthetic records match no original record; give another type of release or no match"
        )
    rows = None if match is None else matched_rows(records, original, bound, schema, match)
    written = {
        name: _written_columns(records, name, bound, bound_schema, stated) for name in columns.attributes
    }
    keep, told = _kept_rows(written, bound_schema, records.weights, suppressed)
    cells, more = _cells(written, bound, bound_schema, records.weights, keep)
    assumed, why = (
        (stated, ())
        if stated
        else _assumed_type(cells, bound_schema, is_doubtful=rows is None and files.group is None)
    )
    return LinkedRelease(
        schema=bound_schema,
        cells=cells,
        weights=records.weights[keep],
        n_original=bound.n_records,
        origin=Origin(bound, None if rows is None else rows[keep]),
        group_of=None if files.group is None else records[files.group].codes[keep],
        form=files.form,
        recipe=files.recipe,
        notes=(*columns.notes, *files.notes, *told, *more, *_people_note(bound, rows, assumed), *why),
        type=assumed,
    )


def _assumed_type(
    cells: Mapping[str, Cells], schema: Schema, *, is_doubtful: bool
) -> tuple[ReleaseType, tuple[str, ...]]:
    """Return what rows stand for where nobody says it, and what was assumed."""
    judged = {name: cells[name].sets for name in (*schema.quasi_identifiers, *schema.sensitive)}
    changed = [name for name, sets in judged.items() if sets is None]
    if changed:
        return "perturbed", (
            f"Rows are taken for people with changed values, since {', '.join(map(repr, changed))} has "
            "numbers that the original does not have; --type synthetic says that they are made up.",
        )
    if is_doubtful and all(sets is not None and sets.exact for sets in judged.values()):
        return "people", (
            "Every value is exact, and rows are taken for people one by one; if values were changed or "
            "records made up, --type perturbed or --type synthetic says so, and classes are not judged.",
        )
    return "people", ()


def untrue_cells(release: LinkedRelease) -> dict[str, int]:
    """Return for each attribute the number of released cells that exclude the original value.

    Parameters
    ----------
    release
        One that knows which record is which. Attributes that are not released as sets, and sensitive
        values that are exchanged within groups, are not counted.
    """
    table, rows = release.origin.table, release.origin.rows
    untrue = {}
    for name, cells in release.cells.items():
        exchanged = release.group_of is not None and name in release.schema.sensitive
        if cells.sets is not None and not exchanged:
            true = cells.sets.contain(cells.codes, table[name].codes[rows])
            untrue[name] = int(release.weights[~true].sum())
    return untrue


def _people_note(bound: Table, rows: Integers | None, release_type: ReleaseType) -> tuple[str, ...]:
    """Say that people cannot be counted, where somebody has several records and nobody knows which."""
    if bound.person_of is None or rows is not None or release_type == "synthetic":
        return ()
    return (
        "Some people have several records, and the file does not tell which: classes count records here, and "
        "hold fewer people than that. With a column of both files that tells which record is which (match), "
        "people are counted.",
    )


def _check_number(
    n_released: int,
    n_published_of: int | None,
    n_original: int,
    schema: Schema,
    release_type: ReleaseType | None,
) -> None:
    if n_published_of not in (None, n_original) and release_type != "synthetic":
        raise DataError(
            f"the folder was published from {n_published_of:,} records, and the original has {n_original:,}; "
            "give the original that it was made from"
        )
    if n_released > n_original and release_type != "synthetic":
        dropped = ' after those with missing values were dropped (missing = "category" keeps them)'
        raise DataError(
            f"the release has {n_released:,} records, and the original only {n_original:,}"
            f"{dropped if schema.missing == 'drop' else ''}; give the original that it was made from, or say "
            "that the records are synthetic: --type synthetic"
        )


def _written_columns(
    records: Table, name: str, bound: Table, schema: Schema, release_type: ReleaseType | None
) -> WrittenColumn:
    spellings = Spellings(bound[name], schema.hierarchy(name), schema.decimal, schema.thousands)
    # made-up and changed records may be missing more often than the original's
    may_grow = release_type in ("perturbed", "synthetic") and bound[name].has_missing
    weights = None if may_grow else bound.weights
    return WrittenColumn.of(name, records[name], records.weights, spellings, weights)


def _kept_rows(
    written: Mapping[str, WrittenColumn], schema: Schema, weights: Integers, suppressed: Suppressed
) -> tuple[Integers, list[str]]:
    """Return the rows that are published records, and a note on those assumed to be suppressed."""
    columns = [written[name] for name in schema.quasi_identifiers if name in written]
    starred = np.full(len(weights), bool(columns))
    for column in columns:
        starred &= column.withheld[column.codes]
    count = f"Records that are * in every quasi-identifier: {weights[starred].sum():,}."
    if suppressed == "count" and starred.any():
        if starred.all():
            raise DataError("the release has suppressed records only; nothing is left to judge")
        note = f"{count} They count as suppressed, although what else they tell is published."
        return np.flatnonzero(~starred), [note]
    if starred.all() or not starred.any():
        return np.arange(len(weights)), []
    note = (
        f"{count} They are judged as one class; if they are suppressed records, as in ARX's files, "
        "--suppressed count counts them so."
    )
    return np.arange(len(weights)), [note]


def _cells(
    written: Mapping[str, WrittenColumn], bound: Table, schema: Schema, weights: Integers, keep: Integers
) -> tuple[dict[str, Cells], list[str]]:
    cells, notes = {}, []
    for name in schema.released:
        if name in written:
            column = written[name].taken(keep)
            cells[name], told = column.cells(weights[keep], schema[name].role)
            notes += [*column.notes, *told]
            sets = cells[name].sets
            if name in schema.sensitive and (sets is None or sets.overlap):
                notes.append(
                    f"The values of {name!r} are no partition of the original ones: what an adversary knew "
                    "before is taken from the released records."
                )
        else:
            cells[name] = withheld_cells(bound[name], schema.hierarchy(name), len(keep))
    return cells, notes
