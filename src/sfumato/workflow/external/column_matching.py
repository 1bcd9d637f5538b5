"""Match the columns of a release to attributes, and report columns that match none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sfumato.data.schema import Schema
from sfumato.runtime.errors import DataError
from sfumato.workflow.external.release_files import Files, bare

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class ReleaseColumns:
    """The columns of a release.

    Parameters
    ----------
    attributes
        Those that are released attributes.
    read
        These, the group and what matches records.
    notes
        What is wrong with the others, and what is missing.
    """

    attributes: tuple[str, ...]
    read: tuple[str, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, files: Files, schema: Schema, match: str | None) -> ReleaseColumns:
        """Sort the columns by what they are."""
        names = files.records.column_names
        attributes = tuple(name for name in schema.released if name in names)
        if not attributes:
            raise DataError(
                f"no column of the release is an attribute of the original; it has {', '.join(names)}"
            )
        read = tuple(dict.fromkeys([*attributes, *(name for name in (files.group, match) if name)]))
        lacking = [name for name in read if name not in names]
        if lacking:
            raise DataError(f"no column {lacking[0]!r} in the release; it has {', '.join(names)}")
        return cls(attributes, read, tuple(_notes(files, schema, read)))


def named_as_in(schema: Schema, files: Files, match: str | None) -> Files:
    """Rename columns to attributes from which they differ only in case and punctuation."""
    described = [attribute.name for attribute in schema.attributes]
    taken = {*described, files.group, match}
    free = [name for name in files.records.column_names if name not in taken]
    lacking = [name for name in described if name not in files.records.column_names]
    once = {key for key, times in Counter(map(bare, [*free, *lacking])).items() if times == 2}
    attribute_of = {bare(name): name for name in lacking if bare(name) in once}
    new = {name: attribute_of[bare(name)] for name in free if bare(name) in attribute_of}
    if not new:
        return files
    records = files.records.rename_columns([new.get(name, name) for name in files.records.column_names])
    notes = [f"Column {name!r} is taken for {attribute!r}." for name, attribute in new.items()]
    return replace(files, records=records, notes=(*files.notes, *notes))


def _notes(files: Files, schema: Schema, read: tuple[str, ...]) -> Iterable[str]:
    names = files.records.column_names
    identifying = [name for name in names if name in schema.identifying]
    if identifying:
        yield (
            f"Warning: the release has {_listed(identifying)}, which points at people by itself. It is not "
            "judged here and must not be published."
        )
    withheld = [name for name in names if name in schema.withheld]
    if withheld:
        yield f"The release has {_listed(withheld)}, which the project withholds. It is not judged here."
    absent = [name for name in schema.released if name not in names]
    unknown = [name for name in names if name not in read and name not in (*identifying, *withheld)]
    numbering = [name for name in unknown if _only_counts(files.records[name])]
    if numbering:
        yield f"{_listed(numbering)} only counts the rows, and is not judged."
        unknown = [name for name in unknown if name not in numbering]
    if unknown:
        remedy = " If one of them is an attribute, give it the attribute's name." if absent else ""
        yield f"Not described by the project, and so not judged: {_listed(unknown)}.{remedy}"
    for name in unknown:
        if 1 < files.records.num_rows == len(files.records[name].unique()):
            yield f"Warning: {name!r} has another value in every record and may tell who it is."
    for attributes, what in (
        (schema.quasi_identifiers, ", and so suppressed in every record"),
        (schema.sensitive, ", and so withheld for every record"),
        (schema.insensitive, ""),
    ):
        lacking = [name for name in absent if name in attributes]
        if lacking:
            yield f"Not in the release{what}: {_listed(lacking)}."


def _only_counts(column: pa.ChunkedArray) -> bool:
    """Return whether a column is the row number, from 0 or from 1: pandas and R write one by default."""
    import pyarrow as pa

    if not len(column) or not pa.types.is_integer(column.type) or column.null_count:
        return False
    numbers = column.to_numpy()
    return int(numbers[0]) in (0, 1) and bool((np.diff(numbers) == 1).all())


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names))
