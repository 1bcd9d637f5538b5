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
from sfumato.workflow.publish.manifest_record import (
    layout_of,
)
from sfumato.workflow.publish.verify import read_written
from sfumato.workflow.query.bounds import Bounds, of_counts, of_groups, of_numbers
from sfumato.workflow.query.cell_counts import AnswerCells
from sfumato.workflow.query.domain_pieces import UNNAMED
from sfumato.workflow.query.estimates import Moments, exchanged, moments
from sfumato.workflow.query.published_labels import Wording
from sfumato.workflow.query.published_records import AskedRecords
from sfumato.workflow.query.query_language import Query, parse_query
from sfumato.workflow.query.query_regions import check_names, regions_of, truth

_MOST_NUMBERS = 50_000_000
_WHY_NO_BOUNDS = {
    "perturbed": "Values were changed: nothing is certain of a record, and no bounds can be given.",
    "synthetic": "The records are made up and stand for nobody: no bounds can be given.",
}


@dataclass(frozen=True)
class AnswerRow:
    """One figure of an answer.

    Parameters
    ----------
    by
        The value of each attribute that the answer is told apart by; ``None`` is the missing value.
    value
        What is estimated; ``None`` for the mean of no records.
    deviation
        The standard deviation under the reading.
    least, most
        What is certain: no table that the released records may stand for gives less, or more.
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
        How the release was read.
    rows
        The figures.
    records, left_out
        How many records are released, and how many of the original are not; these are in no figure.
    notes
        What a reader should know, in sentences.
    """

    query: str
    reading: Reconstruction
    rows: tuple[AnswerRow, ...]
    records: int
    left_out: int
    notes: tuple[str, ...] = field(default=(), repr=False)

    @property
    def value(self) -> float | None:
        """The figure of an answer with only one."""
        if len(self.rows) != 1:
            raise ParameterError(f"the answer has {len(self.rows)} figures; look at its rows")
        return self.rows[0].value

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return QueryShape.of(self).to_dict()


def query(
    release: Release | str | Path, asked: str, *, reading: Reconstruction = "maximum-entropy"
) -> QueryAnswer:
    """Answer a query from the published cells alone, without the original or the project.

    Parameters
    ----------
    release
        A release, or a folder that `publish` wrote.
    asked
        For example ``count where age >= 40 and sex = Female by occupation`` or ``mean age by sex``; see
        `sfumato.workflow.query.query_language`.
    reading
        How sets of values are read: by ``maximum-entropy``, each as the rest of the release suggests, or
        ``uniform``, all values of a set as equally likely.

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
    _check_reading(reading)
    question = parse_query(asked)
    seen, layout = _as_reader_sees(release) if isinstance(release, Release) else _open_folder(Path(release))
    wordings = {name: _wording(seen, name, facts) for name, facts in layout.attributes.items()}
    check_names(question, wordings)
    regions = [regions_of(question, name, wordings[name]) for name in question.attributes]
    return _answered(question, AskedRecords(seen, regions), truth(question, regions), reading)


def _check_reading(reading: str) -> None:
    known = get_args(Reconstruction)
    if reading not in known:
        raise ParameterError(
            f"reading: cannot be {reading!r}{suggestion(reading, known)} ({', '.join(known)})"
        )


def _open_folder(folder: Path) -> tuple[Release, Layout]:
    """Read a published folder as a reader does."""
    layout = layout_of(read_manifest(folder))
    return read_back(read_written(folder, layout.tables), layout), layout


def _as_reader_sees(release: Release) -> tuple[Release, Layout]:
    """Return what a reader sees of a release: labels that occur, and no original."""
    return release.published(), Layout.of(release)


def _wording(release: Release, name: str, facts: Mapping[str, Any]) -> Wording:
    told = facts.get("branches") or {}
    branches = {label: [leaf or None for leaf in leaves] for label, leaves in told.items()}
    return Wording(release.cells[name].labels, branches, bool(facts.get("whole")), _line(facts.get("kind")))


_UNKNOWN = Kind("unknown", lambda _: None)
"""A kind that no plug-in brings here: it reads no value, so that an interval may hold any."""


def _line(name: str | None) -> Kind | None:
    """Return the kind of values that are no numbers and no categories."""
    if name in (None, NUMERIC.name, CATEGORICAL.name):
        return None
    return find_kind(name) or _UNKNOWN


def _answered(question: Query, asked: AskedRecords, holds: Booleans, reading: Reconstruction) -> QueryAnswer:
    release, axis = asked.release, {each.name: place for place, each in enumerate(asked.regions)}
    cells = _cells(question, asked)
    summed = None if question.of is None else axis[question.of]
    _check_size(asked, holds)
    found = moments(holds, asked.read(reading), cells, summed)
    spread = _group_moments(asked, holds, cells, summed) or found
    value = _value(question, found, release)
    deviation = (
        _deviation(question, found, spread, release) if _is_true(release) else np.full(value.shape, np.nan)
    )
    bounds = _bounds(question, asked, holds, cells, summed) if _is_true(release) else None
    rows = _rows(question, asked, cells, value, deviation, bounds)
    return QueryAnswer(
        str(question),
        reading,
        tuple(rows),
        release.n_records,
        release.n_suppressed,
        tuple(_notes(question, asked)),
    )


def _cells(question: Query, asked: AskedRecords) -> AnswerCells:
    """Return the cells of the answer, one for each named region."""
    axis = {each.name: place for place, each in enumerate(asked.regions)}
    axes = tuple(axis[name] for name in question.by)
    names = [asked.regions[place].values or () for place in axes]
    told = [
        np.array([at for at, name in enumerate(each) if name != UNNAMED], dtype=np.int64) for each in names
    ]
    return AnswerCells(axes, tuple(told))


def _is_true(release: Release) -> bool:
    """Return whether the records speak for themselves and for nobody else."""
    return release.type == "people" and not release.sampled


def _check_size(asked: AskedRecords, holds: Booleans) -> None:
    if holds.size * asked.release.n_rows > _MOST_NUMBERS * 100:
        raise ParameterError("the query tells too many values apart at once; ask with fewer attributes")


def _group_moments(
    asked: AskedRecords, holds: Booleans, cells: AnswerCells, summed: int | None
) -> Moments | None:
    """Return how records vary together if the values of groups are exchanged."""
    if not asked.is_of_groups:
        return None
    return exchanged(holds, asked.seen([each.even for each in asked.regions]), cells, summed)


def _value(question: Query, found: Moments, release: Release) -> Floats:
    number, total = found.totals[:2]
    match question.what:
        case "count":
            return number * release.scale
        case "share":
            return number / max(release.n_records, 1)
        case "sum":
            return total * release.scale
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(total / number)


def _deviation(question: Query, found: Moments, spread: Moments, release: Release) -> Floats:
    number, total = found.totals[:2]
    of_number = np.sqrt(np.maximum(spread.covariances[0], 0.0))
    match question.what:
        case "count":
            return of_number
        case "share":
            return of_number / max(release.n_records, 1)
        case "sum":
            return np.sqrt(spread.variance(np.zeros_like(number)))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.sqrt(spread.variance(total / number)) / number)


def _bounds(
    question: Query, asked: AskedRecords, holds: Booleans, cells: AnswerCells, summed: int | None
) -> Bounds:
    sight = asked.seen([each.possible for each in asked.regions])
    if summed is not None:
        return of_numbers(holds, sight.loosened(), cells, summed, averaged=question.what == "mean")
    inside = [place for place, each in enumerate(asked.regions) if each.name in asked.sensitive]
    grouped = of_groups(holds, sight, cells, inside) if asked.is_of_groups else None
    found = grouped or of_counts(holds, sight.loosened(), cells)
    n_all = max(asked.release.n_records, 1) if question.what == "share" else 1
    return Bounds(found.least / n_all, found.most / n_all)


def _rows(
    question: Query,
    asked: AskedRecords,
    cells: AnswerCells,
    value: Floats,
    deviation: Floats,
    bounds: Bounds | None,
) -> Iterator[AnswerRow]:
    """Yield the figures of all cells that may contain a record."""
    values = [asked.regions[axis].values or () for axis in cells.axes]
    names = ([each[at] for at in told] for each, told in zip(values, cells.regions, strict=True))
    for place, named in enumerate(itertools.product(*names)):
        least, most = (None, None) if bounds is None else (bounds.least[place], bounds.most[place])
        is_empty = _is_nothing(value[place]) and (most is None or _is_nothing(most))
        if not question.by or not is_empty:
            figures = (_figure(each) for each in (value[place], deviation[place], least, most))
            yield AnswerRow(dict(zip(question.by, named, strict=True)), *figures)


def _is_nothing(figure: float) -> bool:
    return math.isnan(figure) or figure == 0


def _figure(figure: float | None) -> float | None:
    # a sum of nothing is 0, not -0
    return None if figure is None or math.isnan(figure) else round(float(figure), 9) + 0.0


def _notes(question: Query, asked: AskedRecords) -> Iterator[str]:
    release = asked.release
    if release.type != "people":
        yield _WHY_NO_BOUNDS[release.type]
    if release.sampled:
        yield "The records are a sample: they are counted up to all, and no bounds can be given."
    elif release.scale != 1 and question.what in ("count", "sum"):
        yield f"{release.n_records:,} made-up records are counted up to {release.n_original:,}."
    elif release.n_suppressed > 0:
        yield (
            f"{release.n_suppressed:,} records of the original were left out, and are in no figure; in the "
            "original a count may be so much higher."
        )
    if asked.is_of_groups and question.of is not None:
        yield "The bounds let every record of a group have any sensitive value of it; they may be too wide."
