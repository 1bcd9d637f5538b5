"""Line up the measures of two or more releases, and compare every pair of releases."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sfumato.registry.declarations import Better
from sfumato.results.candidate import Candidate
from sfumato.results.measurement import Measurement
from sfumato.results.release import Release
from sfumato.runtime.errors import ParameterError
from sfumato.workflow.choose.comparison import ClassSizes, Comparison, compare, figures_of

# Two figures this near are the same, computed in another order.
_TIE = 1e-12


@dataclass(frozen=True)
class Line:
    """One measure of all releases.

    Parameters
    ----------
    label, attribute
        The measure, and the sensitive attribute that it speaks of, if one.
    better
        Whether lower or higher is better.
    values
        The value of each release; ``None`` where the measure does not apply.
    best
        The places of the best ones; none where all are alike or fewer than two have a value.
    """

    label: str
    attribute: str | None
    better: Better
    values: tuple[float | None, ...]
    best: tuple[int, ...]


@dataclass(frozen=True)
class SideBySide:
    """Several releases of one table.

    Parameters
    ----------
    names
        What they are called.
    lines
        Every measure of each.
    class_sizes
        How each spreads the records over classes.
    losses
        For each quasi-identifier the share of its information that each release loses.
    pairs
        Every two of them compared.
    """

    names: tuple[str, ...]
    lines: tuple[Line, ...]
    class_sizes: tuple[ClassSizes, ...]
    losses: Mapping[str, tuple[float | None, ...]]
    pairs: tuple[Comparison, ...]


def side_by_side(candidates: Sequence[Candidate], releases: Sequence[Release]) -> SideBySide:
    """Compare the releases of two or more candidates.

    Parameters
    ----------
    candidates
        What was measured.
    releases
        What was made of each.

    Examples
    --------
    >>> from sfumato import Candidate, datasets, measure, sanitize
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import Mondrian
    >>> releases = [sanitize(*datasets.hospital(), Mondrian(KAnonymity(k))) for k in (2, 3, 6)]
    >>> taken = [Candidate(f"{r.n_rows}", r.recipe, tuple(measure(r, ["k-anonymity"]))) for r in releases]
    >>> found = side_by_side(taken, releases)
    >>> found.lines[0].values, found.lines[0].best, len(found.pairs)
    ((2.0, 3.0, 6.0), (2,), 3)
    """
    if len(candidates) < 2:
        raise ParameterError("give two releases or more")
    together = list(zip(candidates, releases, strict=True))
    compared = {
        (i, j): replace(
            compare(a[1], b[1], (), names=(a[0].id, b[0].id)),
            figures=figures_of(a[0].measurements, b[0].measurements),
        )
        for (i, a), (j, b) in itertools.combinations(enumerate(together), 2)
    }
    with_first = [compared[0, place] for place in range(1, len(together))]
    return SideBySide(
        names=tuple(candidate.id for candidate in candidates),
        lines=_lines([candidate.measurements for candidate in candidates]),
        class_sizes=(with_first[0].class_sizes[0], *(each.class_sizes[1] for each in with_first)),
        losses={
            name: (loss, *(each.losses[name][1] for each in with_first))
            for name, (loss, _) in with_first[0].losses.items()
        },
        pairs=tuple(compared.values()),
    )


def _lines(taken: Sequence[Sequence[Measurement]]) -> tuple[Line, ...]:
    """Line up the measurements of several releases; those of one measure and attribute keep their order."""
    found: dict[tuple[str, str | None, int], list[Measurement | None]] = {}
    for place, measurements in enumerate(taken):
        seen: dict[tuple[str, str | None], int] = {}
        for one in measurements:
            about = one.label, one.attribute
            seen[about] = seen.get(about, -1) + 1
            found.setdefault((*about, seen[about]), [None] * len(taken))[place] = one
    return tuple(
        _line(label, attribute, [None if one is None else one.value for one in those], those)
        for (label, attribute, _), those in found.items()
    )


def _line(
    label: str, attribute: str | None, values: list[float | None], those: Sequence[Measurement | None]
) -> Line:
    better = next(one.better for one in those if one is not None)
    known = [value for value in values if value is not None]
    best: tuple[int, ...] = ()
    if len(known) > 1 and not _same(min(known), max(known)):
        goal = min(known) if better == "lower" else max(known)
        best = tuple(place for place, value in enumerate(values) if value is not None and _same(value, goal))
    return Line(label, attribute, better, tuple(values), best)


def _same(one: float, other: float) -> bool:
    return one == other or math.isclose(one, other, rel_tol=_TIE, abs_tol=_TIE)
