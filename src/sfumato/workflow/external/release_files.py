"""Open the files of a release: one table, two tables, or a published folder."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.reading.base import read_arrow
from sfumato.registry.declarations import ReleaseType
from sfumato.registry.recipe import Recipe
from sfumato.results.manifest import (
    recipe_of,
)
from sfumato.results.release import Form
from sfumato.runtime.errors import DataError, VerificationFailed, suggestion
from sfumato.verification.documents import read_manifest
from sfumato.verification.folder import MANIFEST, fingerprint
from sfumato.workflow.publish.folder_layout import PEOPLE, VALUES, WHOLE, joined
from sfumato.workflow.publish.manifest_record import (
    layout_of,
)
from sfumato.workflow.publish.verify import read_written

if TYPE_CHECKING:
    import pyarrow as pa

_GROUPS = frozenset(("group", "groupid"))
_COUNTS = frozenset(("count", "counts", "n", "frequency"))


@dataclass(frozen=True, eq=False)
class Files:
    """One row for each released record, and what the files declare about themselves.

    Parameters
    ----------
    records
        The rows.
    group
        The column that holds the group, if there is one.
    form
        One table or two.
    n_original
        The number of records of the original, if the files tell it.
    recipe
        How the release was made, if the files tell it.
    notes
        What was assumed.
    kind
        What the rows stand for, if the files tell it.
    """

    records: pa.Table = field(repr=False)
    group: str | None = None
    form: Form = "one-table"
    n_original: int | None = None
    recipe: Recipe | None = None
    notes: tuple[str, ...] = ()
    type: ReleaseType | None = None


def open_files(release: Any, sensitive: Any, group: str | None, schema: Schema) -> Files:
    """Read the files of a release."""
    if isinstance(release, (str, Path)) and os.path.isdir(release):
        return _published(Path(release))
    people = _arrow(release)
    if sensitive is not None:
        return _two_tables(people, _arrow(sensitive), group, schema)
    if group is not None:
        if group not in people.column_names:
            raise DataError(f"no column {group!r} in the release{suggestion(group, people.column_names)}")
        return Files(people, group)
    attributes = {attribute.name for attribute in schema.attributes}
    likely = [name for name in people.column_names if bare(name) in _GROUPS and name not in attributes]
    if len(likely) != 1:
        return Files(people)
    note = (
        f"{likely[0]!r} is taken for the group within which sensitive values were exchanged; if it is not, "
        "call the column something else."
    )
    return Files(people, likely[0], notes=(note,))


def bare(name: str) -> str:
    """Return a name without case and punctuation: R writes ``marital.status`` for ``marital-status``."""
    return "".join(sign for sign in name.casefold() if sign.isalnum())


def _arrow(source: Any) -> pa.Table:
    import pyarrow as pa

    if isinstance(source, (str, Path)):
        return read_arrow(source)
    if isinstance(source, pa.Table) and len(set(source.column_names)) == source.num_columns:
        return source
    return Table.from_arrow(source).to_arrow()


def _published(folder: Path) -> Files:
    if not (folder / MANIFEST).is_file():
        raise DataError(
            f"{folder.name} has no {MANIFEST}; give a file, or a folder that `sfumato publish` wrote"
        )
    manifest = read_manifest(folder)
    layout = layout_of(manifest)
    for name in (f"{table}.csv" for table in layout.tables):
        if name not in manifest.files or fingerprint(folder, name)[0] != manifest.files[name].sha256:
            raise DataError(f"{MANIFEST} belongs to another {name}; see what else with `sfumato verify`")
    tables = {
        name: table.drop_columns([layout.person] if layout.person in table.column_names else [])
        for name, table in read_written(folder, layout.tables).items()
    }
    if layout.form == "one-table":
        files = Files(tables[WHOLE], layout.group)
    else:
        files = _two_tables(tables[PEOPLE], tables[VALUES], layout.group, layout.schema)
    return replace(files, n_original=layout.n_original, recipe=recipe_of(manifest), type=layout.type)


def _two_tables(people: pa.Table, values: pa.Table, group: str | None, schema: Schema) -> Files:
    shared = [name for name in people.column_names if name in values.column_names]
    if group is None:
        # an attribute may be called as the counts are
        likely = [name for name in shared if name not in schema.released] or shared
        group = likely[0] if len(likely) == 1 else None
    if group is None or group not in shared:
        found = f"share {', '.join(map(repr, shared))}" if shared else "share no column"
        raise DataError(f"the two tables {found}; name the group's column alike in both and give it as group")
    sensitive = [name for name in values.column_names if name in schema.sensitive and name != group]
    if not sensitive or {*sensitive} & {*people.column_names}:
        raise DataError(
            "the second table must have the sensitive attributes, and the first must not; give the "
            "quasi-identifiers with their groups first, then the sensitive values of each group"
        )
    values, count, notes = _counted(values, [group, *sensitive])
    try:
        records = joined(people, values.select([group, *sensitive, count]), group, count)
    except VerificationFailed as error:
        raise DataError(f"{error}; give the two tables of one release") from None
    return Files(records, group, "two-tables", notes=notes)


def _counted(values: pa.Table, known: list[str]) -> tuple[pa.Table, str, tuple[str, ...]]:
    """Find the column with the counts, or count every row as one record."""
    others = [name for name in values.column_names if name not in known]
    counts = [name for name in others if bare(name) in _COUNTS] or others
    if len(counts) == 1:
        return values, counts[0], ()
    if counts:
        raise DataError("the second table has more than one column for the counts; call one of them count")
    name = "count"
    while name in values.column_names:
        name += "_"
    ones = np.ones(values.num_rows, dtype=np.int64)
    note = "The second table has no counts: each of its rows counts as one record."
    return values.append_column(name, [ones]), name, (note,)
