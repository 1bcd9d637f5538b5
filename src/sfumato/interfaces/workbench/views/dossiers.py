"""Describe one release in detail. It is made again from its recipe in a thread."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from starlette.requests import Request

from sfumato.interfaces.workbench.state.projects import Opened
from sfumato.interfaces.workbench.state.releases import release_key, release_now
from sfumato.interfaces.workbench.state.state import state_of
from sfumato.results.formatting import cell_words

if TYPE_CHECKING:
    from sfumato.data.table import Table
    from sfumato.measures.disclosure.loss_attribution import GroupOrigin, PopulationOrigin, ValueOrigin
    from sfumato.registry.declarations import ReleaseType
    from sfumato.results.candidate import Candidate
    from sfumato.results.measurement import Measurement
    from sfumato.results.release import Release

_SAMPLE = 8
_SMALL = 320
"""The width of the chart of class sizes next to the frontier."""
_MOST_SUBSETS = 5e7
"""More classes times subsets of quasi-identifiers than these would keep the page waiting for minutes."""

Rows = list[list[str]]


@dataclass(frozen=True)
class Origins:
    """The sources of the losses about one sensitive attribute."""

    attribute: str
    groups: list[GroupOrigin]
    values: list[ValueOrigin]
    populations: list[PopulationOrigin]
    n_populations: int
    no_populations: str


@dataclass(frozen=True)
class Sample:
    """The head and a few rows of one table that would be published."""

    name: str
    columns: list[str]
    rows: Rows
    n_rows: int


@dataclass(frozen=True)
class Dossier:
    """The page's facts about a release in addition to its measurements."""

    type: ReleaseType
    n_records: int
    n_original: int
    n_groups: int | None
    notes: tuple[str, ...]
    requirements: list[dict[str, str]]
    changes: list[dict[str, Any]]
    classes: dict[str, Any]
    classes_chart: Markup
    small_chart: Markup
    origins: tuple[Origins, ...]
    contribution: Measurement | None
    samples: tuple[Sample, ...]
    formulas: tuple[str, ...]


def dossier_of(request: Request, opened: Opened, candidate: Candidate) -> Future[Dossier]:
    """Return a future of a candidate's dossier."""
    tasks = state_of(request).tasks
    key = ("dossier", *release_key(opened, candidate)[1:])
    return tasks.begin(key, lambda: describe(release_now(tasks, opened, candidate), candidate))


def describe(release: Release, candidate: Candidate) -> Dossier:
    """Compute the dossier of a release."""
    from sfumato.interfaces.workbench.views.before_after import before_and_after
    from sfumato.workflow.publish.data_files import formula_columns
    from sfumato.workflow.report.charts.class_size_curves import class_sizes_chart
    from sfumato.workflow.report.markup import inline_picture
    from sfumato.workflow.report.owner_report import class_facts, losses_of
    from sfumato.workflow.report.table_rows import change_rows, requirement_rows

    changes = change_rows(release, losses_of(release))
    return Dossier(
        type=release.type,
        n_records=release.n_records,
        n_original=release.n_original,
        n_groups=release.groups.n_classes if release.group_of is not None else None,
        notes=release.notes,
        requirements=requirement_rows(release, candidate),
        changes=[{**row, "picture": before_and_after(release, row["name"])} for row in changes],
        classes=class_facts(release),
        classes_chart=inline_picture(class_sizes_chart(release.classes.sizes)),
        small_chart=inline_picture(class_sizes_chart(release.classes.sizes, width=_SMALL)),
        origins=tuple(_origins(release, name) for name in release.groups.sensitive),
        contribution=_contribution(release, candidate),
        samples=_samples(release),
        formulas=formula_columns(release),
    )


def rows_before_and_after(release: Release, table: Table) -> Sample:
    """Return a few records as they are and as they would be released, newly drawn each time.

    Where nobody knows which record a released row comes from, records of the original alone.
    """
    import numpy as np

    from sfumato.results.linked_release import LinkedRelease

    names = release.schema.released
    if not isinstance(release, LinkedRelease) or release.origin.linked_rows is None or not release.n_rows:
        return original_records(table, names)
    rng = np.random.default_rng(secrets.randbits(64))
    drawn = rng.choice(
        release.n_rows,
        size=min(_SAMPLE, release.n_rows),
        replace=False,
        p=release.weights / release.weights.sum(),
    )
    original = release.origin.table
    rows = []
    for row in drawn:
        linked = release.origin.rows[row]
        rows.append(["before", *(_shown(original[n].domain[original[n].codes[linked]]) for n in names)])
        rows.append(["after", *(_released(release, name, row) for name in names)])
    return Sample("before and after", ["", *names], rows, release.n_records)


def _released(release: Release, name: str, row: int) -> str:
    if release.group_of is not None and name in release.schema.sensitive:
        return "shuffled in its group"
    return _shown(release.cells[name].labels[release.cells[name].codes[row]])


def original_records(table: Table, columns: Sequence[str]) -> Sample:
    """Return a few records of the original in these columns, newly drawn each time."""
    import numpy as np

    rng = np.random.default_rng(secrets.randbits(64))
    shares = table.weights / table.weights.sum()
    rows = rng.choice(table.n_rows, size=min(_SAMPLE, table.n_rows), replace=False, p=shares)
    shown = [[_shown(table[name].domain[table[name].codes[row]]) for name in columns] for row in rows]
    return Sample("original", [*columns], shown, table.n_records)


def _origins(release: Release, name: str) -> Origins:
    from sfumato.measures.disclosure.loss_attribution import group_origins, population_origins, value_origins
    from sfumato.results.inapplicable import NotApplicable

    populations: list[PopulationOrigin] = []
    n_populations, reason = 0, ""
    try:
        populations, n_populations = population_origins(release, name)
    except NotApplicable as why:
        reason = str(why)
    return Origins(
        name, group_origins(release, name), value_origins(release, name), populations, n_populations, reason
    )


def _contribution(release: Release, candidate: Candidate) -> Measurement | None:
    """Return each quasi-identifier's contribution to the risk, as measured before or right now."""
    from sfumato.results.measurement import measure, named

    known = named(candidate.measurements, "quasi-identifier-contribution")
    if known:
        return known[0]
    n_names = len(release.schema.quasi_identifiers)
    if not n_names or release.classes.n_classes * 2.0 ** min(n_names, 8) > _MOST_SUBSETS:
        return None
    return measure(release, ["quasi-identifier-contribution"])[0]


def _samples(release: Release) -> tuple[Sample, ...]:
    """Return the first rows of what would be published: their order is random already."""
    from sfumato.workflow.publish.folder_layout import tables_of

    return tuple(
        Sample(
            name,
            list(table.column_names),
            [
                [cell_words(_shown(cell)) for cell in row.values()]
                for row in table.slice(0, _SAMPLE).to_pylist()
            ],
            table.num_rows,
        )
        for name, table in tables_of(release, typed=False).items()
    )


def _shown(cell: object) -> str:
    return "" if cell is None else str(cell)
