"""Answer a query from the published cells of a release alone."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import numpy as np

from sfumato.data.hierarchy import Label
from sfumato.data.kinds import CATEGORICAL, NUMERIC, Kind, find_kind
from sfumato.measures.utility.estimation.reconstruction import Reconstruction
from sfumato.results.json_schemas import QueryShape
from sfumato.results.release import Release
from sfumato.runtime.arrays import Booleans, Floats
from sfumato.runtime.errors import ParameterError, suggestion
from sfumato.verification.documents import read_manifest
from sfumato.workflow.publish.folder_layout import Layout, read_back
from sfumato.workflow.publish.manifest_record import layout_of
from sfumato.workflow.publish.verify import read_written
from sfumato.workflow.query.bounds import Bounds, count_bounds, group_bounds, number_bounds
from sfumato.workflow.query.cell_counts import AnswerCells
from sfumato.workflow.query.domain_pieces import UNNAMED
from sfumato.workflow.query.estimates import Moments, exchanged, moments
from sfumato.workflow.query.published_labels import PublishedLabels
from sfumato.workflow.query.published_records import QueriedRecords
from sfumato.workflow.query.query_language import Query, parse_query
from sfumato.workflow.query.query_regions import TOO_MANY_VALUES, check_names, regions_of, truth

_MOST_NUMBERS = 50_000_000
_NO_BOUNDS_NOTES = {
    "perturbed": "Values were changed: nothing is certain about a record, so there are no bounds.",
    "synthetic": "The records are synthetic and represent no person: there are no bounds.",
}
_UNKNOWN = Kind("unknown", lambda _: None)
"""Stands for a kind of a plug-in that is not installed: it parses no value, so an interval may hold any."""


@dataclass(frozen=True)
class AnswerRow:
    """One figure of an answer.

    Parameters
    ----------
    by
        The value of each attribute after ``by``; ``None`` is the missing value.
    value
        The estimate; ``None`` for the mean of no records.
    deviation
        The standard deviation if the interpretation is right.
    least, most
        The certain bounds: no table that the released records may represent gives less, or more.
    """

    by: Mapping[str, Label]
    value: float | None
    deviation: float | None = None
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True)
class QueryAnswer:
    """The answer of a release to a query.

    Parameters
    ----------
    query
        The query as it was understood.
    reading
        How the release was interpreted.
    rows
        The figures.
    records, suppressed
        How many records are released, and how many of the original are suppressed; these are in no figure.
    notes
        What a reader should know, in sentences.
    """

    query: str
    reading: Reconstruction
    rows: tuple[AnswerRow, ...]
    records: int
    suppressed: int
    notes: tuple[str, ...] = field(default=(), repr=False)

    @property
    def value(self) -> float | None:
        """The only figure of the answer; an answer with several is refused."""
        if len(self.rows) != 1:
            raise ParameterError(f"the answer has {len(self.rows)} figures; look at its rows")
        return self.rows[0].value

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return QueryShape.of(self).to_dict()


def query(
    release: Release | str | Path, question: str, *, reading: Reconstruction = "maximum-entropy"
) -> QueryAnswer:
    """Answer a query from the published cells alone, without the original or the project.

    Parameters
    ----------
    release
        A release, or a folder that `publish` wrote.
    question
        For example ``count where age >= 40 and sex = Female by occupation`` or ``mean age by sex``; see
        `sfumato.workflow.query.query_language`.
    reading
        How to interpret sets of values: by ``maximum-entropy``, as the rest of the release suggests, or
        ``uniform``, with all values of a set equally likely.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import Mondrian
    >>> release = sanitize(*datasets.hospital(), Mondrian(KAnonymity(3)))
    >>> answer = query(release, "count where age < 40")
    >>> row = answer.rows[0]
    >>> row.least <= row.value <= row.most
    True
    """
    readings = get_args(Reconstruction)
    if reading not in readings:
        near = suggestion(reading, readings)
        raise ParameterError(f"reading: cannot be {reading!r}{near} ({', '.join(readings)})")
    parsed = parse_query(question)
    if isinstance(release, Release):
        published, layout = release.published(), Layout.of(release)
    else:
        layout = layout_of(read_manifest(Path(release)))
        published = read_back(read_written(Path(release), layout.tables), layout)
    labels = {name: _labels(published, name, facts) for name, facts in layout.attributes.items()}
    check_names(parsed, labels)
    regions = [regions_of(parsed, name, labels[name]) for name in parsed.attributes]
    return _answer(parsed, QueriedRecords(published, regions), truth(parsed, regions), reading)


def _labels(release: Release, name: str, facts: Mapping[str, Any]) -> PublishedLabels:
    branches = {
        label: [leaf or None for leaf in leaves] for label, leaves in (facts.get("branches") or {}).items()
    }
    kind = None
    if facts.get("kind") not in (None, NUMERIC.name, CATEGORICAL.name):
        kind = find_kind(facts["kind"]) or _UNKNOWN
    return PublishedLabels(release.cells[name].labels, branches, bool(facts.get("whole")), kind)


def _answer(query: Query, records: QueriedRecords, holds: Booleans, reading: Reconstruction) -> QueryAnswer:
    release, regions = records.release, records.regions
    if holds.size * release.n_rows > _MOST_NUMBERS * 100:
        raise ParameterError(TOO_MANY_VALUES)
    axis = {region.name: place for place, region in enumerate(regions)}
    axes = tuple(axis[name] for name in query.by)
    # a figure for each region with a name
    names = [np.array(regions[place].values or (), dtype=np.object_) for place in axes]
    cells = AnswerCells(axes, tuple(np.flatnonzero(own != UNNAMED) for own in names))
    summed = None if query.of is None else axis[query.of]
    estimate = spread = moments(holds, records.estimate(reading), cells, summed)
    has_bounds = release.type == "people" and not release.sampled
    if has_bounds and records.needs_groups:
        even = records.lookup([region.even for region in regions])
        spread = exchanged(holds, even, cells, summed) or estimate
    values, deviations = _figures(query, estimate, spread, release)
    figures = [values]
    if has_bounds:
        bounds = _bounds(query, records, holds, cells, summed)
        figures += [deviations, bounds.least, bounds.most]
    rows = []
    combinations = itertools.product(*(own[at] for own, at in zip(names, cells.regions, strict=True)))
    for place, combination in enumerate(combinations):
        # with `by`, a cell that has no record for certain is not shown
        if not query.by or np.nan_to_num([figures[0][place], figures[-1][place]]).any():
            row = (_rounded(figure[place]) for figure in figures)
            rows.append(AnswerRow(dict(zip(query.by, combination, strict=True)), *row))
    return QueryAnswer(
        str(query),
        reading,
        tuple(rows),
        release.n_records,
        release.n_suppressed,
        tuple(_notes(query, records)),
    )


def _figures(query: Query, estimate: Moments, spread: Moments, release: Release) -> tuple[Floats, Floats]:
    """Return the value of each cell and its standard deviation."""
    number, total = estimate.totals[:2]
    deviation = np.sqrt(np.maximum(spread.covariances[0], 0.0))
    match query.what:
        case "count":
            return number * release.scale, deviation
        case "share":
            n_records = max(release.n_records, 1)
            return number / n_records, deviation / n_records
        case "sum":
            return total * release.scale, np.sqrt(spread.variance(np.zeros_like(number)))
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.asarray(total / number)
        return mean, np.asarray(np.sqrt(spread.variance(mean)) / number)


def _bounds(
    query: Query, records: QueriedRecords, holds: Booleans, cells: AnswerCells, summed: int | None
) -> Bounds:
    possible = records.lookup([region.possible for region in records.regions])
    if summed is not None:
        return number_bounds(holds, possible.loosened(), cells, summed, averaged=query.what == "mean")
    bounds = None
    if records.needs_groups:
        sensitive = [
            place for place, region in enumerate(records.regions) if region.name in records.sensitive
        ]
        bounds = group_bounds(holds, possible, cells, sensitive)
    bounds = bounds or count_bounds(holds, possible.loosened(), cells)
    n_all = max(records.release.n_records, 1) if query.what == "share" else 1
    return Bounds(bounds.least / n_all, bounds.most / n_all)


def _rounded(figure: float) -> float | None:
    # a sum of nothing is 0, not -0
    return None if math.isnan(figure) else round(float(figure), 9) + 0.0


def _notes(query: Query, records: QueriedRecords) -> Iterator[str]:
    release = records.release
    if release.type != "people":
        yield _NO_BOUNDS_NOTES[release.type]
    if release.sampled:
        yield "The records are a sample: figures are scaled to all records, and there are no bounds."
    elif release.scale != 1 and query.what in ("count", "sum"):
        yield f"Figures are scaled from {release.n_records:,} synthetic records to {release.n_original:,}."
    elif release.n_suppressed > 0:
        yield (
            f"{release.n_suppressed:,} records of the original are suppressed, and are in no figure; a count "
            "in the original may be higher by as many."
        )
    if records.needs_groups and query.of is not None:
        yield (
            "The bounds let every record of a group have any of its sensitive values; they may be too wide."
        )
