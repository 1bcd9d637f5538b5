"""Check that a sanitizer returned a release of the given table that keeps its promise."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.kernels.row_groups import sum_by_group
from sfumato.models.base import PrivacyModel
from sfumato.registry import methods
from sfumato.registry.plugin_errors import failed
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.release import Release
from sfumato.results.released_column import Cells


def check_sound(given: object, method: object, table: Table, schema: Schema) -> LinkedRelease:
    """Return what a method returned if it is a release of the table, or raise `MethodFailed`.

    Parameters
    ----------
    given
        What the method returned.
    method
        The sanitizer.
    table, schema
        The table and schema that it was given.
    """
    if not isinstance(given, LinkedRelease):
        raise failed(type(method), f"returns {type(given).__name__} and no LinkedRelease")
    problem = next(_problems(given, table, schema), None) or _other_type(given, method)
    if problem is not None:
        raise failed(type(method), f"returns a release {problem}")
    return given


def broken_promise(release: Release, model: PrivacyModel | None) -> str | None:
    """Return the part of a model that a release breaks, if any, with the level that it reached."""
    for part in () if model is None else model.parts:
        classes = release.partition(part)
        keeps = part.keeps_limit(classes)
        if np.shape(keeps) != (classes.n_classes,):
            raise failed(type(part), f"returns not one score for each of {classes.n_classes:,} classes")
        if not keeps.all():
            requirement = f"{methods.name_of(type(part))} with {part.parameter} = {part.limit:g}"
            return f"promised {requirement} and reached {part.level(classes):.6g}"
    return None


def unfit_reason(method: object) -> str | None:
    """Return why releases of a method must not be published, if the method declares that."""
    return getattr(method, "unfit", None)


def check_promise(release: LinkedRelease, method: object) -> LinkedRelease:
    """Return a release that keeps its method's promise, or raise `MethodFailed`."""
    broken = broken_promise(release, getattr(method, "model", None))
    if broken is not None:
        raise failed(type(method), broken)
    return release


def _problems(release: LinkedRelease, table: Table, schema: Schema) -> Iterator[str]:
    """Yield the problems of a release; later checks rely on earlier ones."""
    if release.schema is not schema and release.schema.fingerprint != schema.fingerprint:
        yield "with another schema than it was given"
    if release.n_original != table.n_records:
        yield f"of {release.n_original:,} records, where the table has {table.n_records:,}"
    yield from _problems_of_columns(release, schema)
    yield from _problems_of_records(release, table)
    for name, cells in release.cells.items():
        problem = _problem_of_cells(cells, release.n_rows)
        if problem is not None:
            yield f"whose column {name!r} {problem}"


def _other_type(release: Release, method: object) -> str | None:
    declared = getattr(method, "release_type", "people")
    return None if release.type == declared else f"of type {release.type!r}, where it declares {declared!r}"


def _problems_of_columns(release: Release, schema: Schema) -> Iterator[str]:
    for name in release.cells:
        if name not in schema.released:
            roles = [attribute.role for attribute in schema.attributes if attribute.name == name]
            yield f"with the column {name!r}, which is {roles[0] if roles else 'not in the schema'}"
    for name in schema.released:
        if name not in release.cells:
            yield f"without the column {name!r}"


def _problems_of_records(release: LinkedRelease, table: Table) -> Iterator[str]:
    weights, rows = release.weights, release.origin.linked_rows
    if weights.ndim != 1 or not (weights > 0).all():
        yield "with rows that stand for no record"
    if release.type == "synthetic":
        if rows is not None:
            yield "of synthetic records that says which original ones they are"
    elif release.n_records > table.n_records:
        yield f"with {release.n_records:,} records, more than the {table.n_records:,} of the table"
    if release.origin.table.weights is not table.weights:
        yield "of another table than it was given"
    if rows is not None:
        if rows.shape != weights.shape or not _within(rows, table.n_rows):
            yield "with rows that the table does not have"
        if (sum_by_group(rows, table.n_rows, weights) > table.weights).any():
            yield "with more records of a row than the table has"
    groups = release.group_of
    if groups is not None and (groups.shape != weights.shape or not (groups >= 0).all()):
        yield "with rows that are in no group"
    if release.form not in ("one-table", "two-tables") or (release.form == "two-tables" and groups is None):
        yield "in a form that cannot be written"


def _problem_of_cells(cells: object, n_rows: int) -> str | None:
    if not isinstance(cells, Cells):
        return f"is {type(cells).__name__} and no Cells"
    if cells.codes.shape != (n_rows,):
        return f"has not one cell for each of {n_rows:,} rows"
    if not _within(cells.codes, len(cells.labels)):
        return "has codes without a label"
    if not all(label is None or isinstance(label, str) for label in cells.labels):
        return "has labels that are no texts"
    sets = cells.sets
    if sets is None:
        return None
    is_whole = len(sets.starts) == len(sets.sizes) + 1 == len(cells.labels) + 1
    if not is_whole or not sets.within(len(cells.domain)):
        return "does not say which values each label stands for"
    return None


def _within(codes: np.ndarray, end: int) -> bool:
    return not codes.size or (int(codes.min()) >= 0 and int(codes.max()) < end)
