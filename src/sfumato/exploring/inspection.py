"""Inspection: what a table looks like, and how risky it is as it stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sfumato.measures import ReidentificationRisk
from sfumato.project.file import Project
from sfumato.reading.arrow import read_arrow
from sfumato.reading.guess import decimal_mark, guess, likely_missing_values
from sfumato.release import Release, released
from sfumato.schema import Attribute, Schema
from sfumato.table import Table


def inspect_project(path: Path) -> dict[str, Any]:
    """Return the facts of a project's data, with the roles of the project."""
    return inspect_table(*Project.load(path).read())


def inspect_data(
    path: Path, *, separator: str | None = None, encoding: str | None = None, quote: str | None = None
) -> dict[str, Any]:
    """Return the facts of a data file, with guessed roles."""
    records = read_arrow(path, separator=separator, encoding=encoding, quote=quote)
    missing = likely_missing_values(Table.from_arrow(records))
    table = Table.from_arrow(records, missing_values=missing)
    guesses = guess(table)
    attributes = tuple(Attribute(g.name, g.role, g.kind, g.hierarchy) for g in guesses)
    return inspect_table(*Schema(attributes, decimal=decimal_mark(table)).bind(table))


def inspect_table(table: Table, schema: Schema) -> dict[str, Any]:
    """Return the facts of a table and the schema that is bound to it."""
    return {
        "records": table.n_records,
        "distinct-rows": table.n_rows,
        "attributes": [_attribute(table, schema, attribute) for attribute in schema.attributes],
        "risk": _risk(table, schema),
    }


def _attribute(table: Table, schema: Schema, attribute: Attribute) -> dict[str, Any]:
    facts: dict[str, Any] = {"name": attribute.name, "role": attribute.role}
    if attribute.role == "identifying":
        return {**facts, "kind": "dropped", "distinct": 0, "missing": 0, "levels": 0}
    column = table[attribute.name]
    missing = column.count_missing(table.weights)
    distinct = len(column.domain) - column.has_missing
    levels = schema.hierarchy(attribute.name).height + 1
    return {**facts, "kind": column.kind, "distinct": distinct, "missing": missing, "levels": levels}


def _risk(table: Table, schema: Schema) -> dict[str, Any]:
    """Return how well people could be found if the table were published as it is."""
    if not schema.quasi_identifiers:
        sentence = "No attribute is quasi-identifying, so nobody could be recognised by the attributes named."
        return {"sentences": [sentence]}
    release = released(table, schema, {})
    (risk,) = ReidentificationRisk().measure(release)
    uniques = int(risk.detail["uniques"])
    sentences = [
        f"Published as it is, {uniques:,} of {table.n_records:,} records "
        f"({uniques / table.n_records:.1%}) would be unique in {', '.join(schema.quasi_identifiers)}.",
        f"Half of the records would share these with at most {_median_class(release) - 1:,} others; an "
        f"adversary would find a record with a chance of {risk.detail['average']:.1%} on average, "
        f"{risk.value:.0%} at worst.",
    ]
    return {
        "unique-records": uniques,
        "smallest-class": int(release.classes.sizes.min()),
        "average-risk": risk.detail["average"],
        "share-at-risk": risk.detail["share-at-risk"],
        "sentences": sentences,
    }


def _median_class(release: Release) -> int:
    sizes = np.sort(release.classes.sizes)
    return int(sizes[np.searchsorted(np.cumsum(sizes), release.n_records / 2)])
