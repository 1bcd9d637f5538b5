"""Read which candidates a URL asks for, and list them as rows."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import numpy as np
from starlette.datastructures import QueryParams

from sfumato.interfaces.workbench.state.candidate_matrix import CandidateMatrix
from sfumato.results import formatting
from sfumato.results.candidate import Candidate
from sfumato.results.measure_label import MeasureLabel
from sfumato.results.measurement import (
    compares,
)
from sfumato.results.pareto import Limit
from sfumato.results.policy import Policy
from sfumato.runtime.errors import ParameterError, suggestion
from sfumato.workflow.report.charts.plane import TRIVIAL

ROWS = 50
MOST_AXES = 8


@dataclass(frozen=True)
class View:
    """The list that an address asks for.

    Parameters
    ----------
    axes
        The measures to compare by: the first upwards, the second to the right.
    parallel
        Whether they are drawn as parallel coordinates.
    every
        Whether dominated candidates are listed too.
    method
        The sanitizer whose candidates are listed, or an empty text for all.
    met
        Whether only candidates are listed that keep the policy.
    sort, descending
        The order of the list: a label, ``recipe``, or an empty text for the order of the front.
    page
        Which part of a long list, from 1.
    chosen
        The id of the candidate whose details are shown.
    limits
        Limits that are tried out here, by measure; each takes the place of the policy's.
    """

    axes: tuple[str, ...]
    parallel: bool = False
    every: bool = False
    method: str = ""
    met: bool = False
    sort: str = ""
    descending: bool = False
    page: int = 1
    chosen: str = ""
    limits: Mapping[str, Limit] = field(default_factory=dict)

    @classmethod
    def of(cls, query: QueryParams, sheet: CandidateMatrix, usual: tuple[str, ...]) -> View:
        """Read an address; unmeasured axes are refused."""
        axes = tuple(dict.fromkeys(query.getlist("axis")))[:MOST_AXES]
        for axis in axes:
            if sheet.columns and axis not in sheet.labels:
                hint = suggestion(axis, sheet.labels) or f"; measured are {', '.join(sheet.labels)}"
                raise ParameterError(f"{axis!r} was not measured{hint}")
        parallel = query.get("view") == "parallel" or len(axes) > 2
        if len(axes) < 2:
            more = (*axes, *usual_axes(sheet, usual))
            axes = tuple(dict.fromkeys(more))[: 4 if parallel else 2]
        if parallel and sheet.columns:
            axes = tuple(sorted(axes, key=sheet.labels.index))
        page = query.get("page", "1")
        return cls(
            axes,
            parallel,
            query.get("show") == "all",
            query.get("sanitizer", ""),
            query.get("policy") == "met",
            query.get("sort", "") if query.get("sort", "") in (*sheet.labels, "recipe") else "",
            query.get("order") == "descending",
            int(page) if page.isdecimal() and len(page) < 9 else 1,
            query.get("id", ""),
            dict(_limit(written, sheet) for written in query.getlist("limit")),
        )

    def knee_axes(self, sheet: CandidateMatrix, usual: tuple[str, ...]) -> tuple[str, ...]:
        """Return the two measures of the knee: those of the plane; next to several, the project's."""
        return usual_axes(sheet, usual)[:2] if self.parallel else self.axes[:2]

    def query(self, **changes: Any) -> str:
        """Return the query string with some changes, without defaults."""
        new = View(**{**vars(self), "page": 1, **changes})
        pairs = [("view", "parallel")] if new.parallel else []
        pairs += [("axis", axis) for axis in new.axes]
        pairs += [("limit", _written(name, limit)) for name, limit in new.limits.items()]
        pairs += [("show", "all")] if new.every else []
        pairs += [("sanitizer", new.method)] if new.method else []
        pairs += [("policy", "met")] if new.met else []
        pairs += [("sort", new.sort)] if new.sort else []
        pairs += [("order", "descending")] if new.descending else []
        pairs += [("page", str(new.page))] if new.page > 1 else []
        pairs += [("id", new.chosen)] if new.chosen else []
        return "?" + urlencode(pairs)


def usual_axes(sheet: CandidateMatrix, usual: tuple[str, ...]) -> tuple[str, ...]:
    """Return the project's axes, or measured ones of both sides in their place, then the rest."""
    if not sheet.columns:
        return usual
    sides = [[c.label for c in sheet.columns if c.axis == side] for side in ("privacy", "utility")]
    chosen = [
        wanted if wanted in sheet.labels else (side or list(sheet.labels))[0]
        for wanted, side in zip(usual, sides, strict=True)
    ]
    return tuple(dict.fromkeys((*chosen, *(label for side in sides for label in side[:2]), *sheet.labels)))


def worst_axes(
    sheet: CandidateMatrix, usual: tuple[str, ...], by: Iterable[str]
) -> dict[str, tuple[str, ...]]:
    """Return for each attribute the project's axes for the worst-off group, if all were measured."""
    if not sheet.candidates:
        return {}
    labels = {
        compares(measurement): measurement.label
        for c in sheet.candidates[:1]
        for measurement in c.measurements
    }
    return {
        name: tuple(labels[name, axis] for axis in usual)
        for name in by
        if all((name, axis) in labels for axis in usual)
    }


def candidate_rows(
    sheet: CandidateMatrix, view: View, knee_axes: tuple[str, ...]
) -> tuple[list[dict[str, Any]], int]:
    """Return the rows of the requested page, and their total number."""
    efficient = sheet.efficient(view.axes)
    knee = sheet.knee(knee_axes)
    wanted = [
        row
        for row, candidate in enumerate(sheet.candidates)
        if (view.every or efficient[row])
        and view.method in ("", candidate.recipe.sanitizer)
        and not (view.met and candidate.id in sheet.broken)
    ]
    ordered = _ordered(sheet, view, wanted)
    shown = ordered[(view.page - 1) * ROWS : view.page * ROWS]
    return [
        {
            "id": candidate.id,
            "recipe": formatting.plain_name(candidate.recipe),
            "method": candidate.recipe.sanitizer,
            "values": [shown_value(axis, sheet.rows[row].get(axis)) for axis in view.axes],
            "marks": marks(candidate, efficient=bool(efficient[row]), knee=knee, knee_axes=knee_axes),
            "broken": sheet.broken.get(candidate.id, ()),
        }
        for row in shown
        for candidate in [sheet.candidates[row]]
    ], len(ordered)


def knee_words(axes: Iterable[str]) -> str:
    """Name the knee by its two measures."""
    return f"knee of {formatting.joined([formatting.measure_words(axis).title for axis in axes])}"


def marks(
    candidate: Candidate, *, efficient: bool, knee: Candidate | None, knee_axes: tuple[str, ...]
) -> list[str]:
    """Return the marks of a candidate."""
    names = ["efficient"] if efficient else []
    names += [knee_words(knee_axes)] if knee is not None and knee.id == candidate.id else []
    return names + ([TRIVIAL[candidate.recipe.sanitizer]] if candidate.recipe.sanitizer in TRIVIAL else [])


def shown_value(label: str, value: float | None) -> str:
    """Print a value in its unit, or state that there is none."""
    return "not applicable" if value is None else formatting.value_of(label, value)


def limit_words(policy: Policy) -> list[str]:
    """Return every limit of a policy in words, whatever type of release it is for.

    The recipient's limits need no parameters to be told from each other.
    """
    words = []
    for label, limit in policy.limits_by_measure.items():
        named = label if label in policy.limits else MeasureLabel.parse(label).measure
        words.append(f"{formatting.measure_words(named).title} {formatting.limit_of(label, limit)}")
    return words


def _limit(written: str, sheet: CandidateMatrix) -> tuple[str, Limit]:
    """Read a limit from an address; one without a number takes that of the policy away."""
    name, sign, end = (*re.split("(<=|>=)", written, maxsplit=1), "", "")[:3]
    if name not in sheet.labels or not sign:
        raise ParameterError(f"the limit {written!r} cannot be read; write for example general-loss<=0.3")
    try:
        number = float(end or "nan")
    except ValueError:
        raise ParameterError(f"the limit of {name!r} must be a number, not {end!r}") from None
    if not math.isfinite(number):
        return name, Limit()
    return name, Limit(at_most=number) if sign == "<=" else Limit(at_least=number)


def _written(name: str, limit: Limit) -> str:
    if math.isfinite(limit.at_most):
        return f"{name}<={limit.at_most!r}"
    return f"{name}>={limit.at_least!r}" if math.isfinite(limit.at_least) else f"{name}<="


def _ordered(sheet: CandidateMatrix, view: View, rows: list[int]) -> list[int]:
    if view.sort == "recipe":
        return sorted(rows, key=lambda row: sheet.recipes[row], reverse=view.descending)
    values = sheet.points(view.axes) if not view.sort else sheet.values(view.sort)[:, np.newaxis]
    sign = -1 if view.sort and view.descending else 1

    def key(row: int) -> tuple[Any, ...]:
        # what has no value comes last in either order
        return tuple((bool(np.isnan(v)), sign * v if not np.isnan(v) else 0.0) for v in values[row])

    return sorted(rows, key=lambda row: (key(row), sheet.candidates[row].id))
