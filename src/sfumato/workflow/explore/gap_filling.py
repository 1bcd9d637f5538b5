"""Propose recipes for gaps of the frontier, with parameters halfway between two neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Candidate
from sfumato.results.frontier import Frontier, one_for_each_recipe
from sfumato.runtime.errors import ParameterError

SMALL = 0.001
"""A gap that takes no larger share of the box around the front is left open."""
_MAX_HALVINGS = 3
"""How often the distance between two recipes is halved if the middle was tried already."""
_LEAST_RELATIVE_STEP = 1e-3
"""Between numbers that differ by no larger share there is no other number to try."""


@dataclass(frozen=True)
class Gap:
    """A gap between two neighbours on the frontier.

    Parameters
    ----------
    first, second
        The neighbours.
    share
        What a release in the gap would add to the front's hypervolume at most, as a share of the box around
        the front.
    """

    first: Candidate
    second: Candidate
    share: float


def gaps(frontier: Frontier) -> list[Gap]:
    """Return the large gaps of a frontier with two axes, the largest first."""
    front = [c for c in frontier.efficient() if all(map(math.isfinite, _place(c, frontier.axes)))]
    whole = _area(front[0], front[-1], frontier.axes) if front else 0.0
    if not whole:
        return []
    every = [Gap(one, other, _area(one, other, frontier.axes) / whole) for one, other in pairwise(front)]
    return sorted((gap for gap in every if gap.share > SMALL), key=lambda gap: -gap.share)


def between_neighbours(frontier: Frontier, is_known: Callable[[Recipe], bool]) -> Iterator[Recipe]:
    """Yield new recipes that may fill a gap, the largest gap first.

    They are between the two neighbours, and between each neighbour and the next release of its own method
    on the other side of the gap.
    """
    every = one_for_each_recipe(frontier.comparable)
    for gap in gaps(frontier):
        for one, other in ((gap.first, gap.second), (gap.second, gap.first)):
            beyond = _beyond(one, other, every, frontier.axes[0])
            for recipe in (way.recipe for way in one.ways):
                same_method = (c.recipe for c in beyond if middle(recipe, c.recipe) is not None)
                yield from _middles(recipe, next(same_method, None), is_known, _MAX_HALVINGS)


def _place(candidate: Candidate, axes: Sequence[str]) -> list[float]:
    return [math.nan if value is None else value for value in map(candidate.value, axes)]


def _area(one: Candidate, other: Candidate, axes: Sequence[str]) -> float:
    return math.prod(abs(a - b) for a, b in zip(_place(one, axes), _place(other, axes), strict=True))


def _beyond(one: Candidate, other: Candidate, every: Sequence[Candidate], axis: str) -> list[Candidate]:
    """Return the candidates at least as far from ``one`` as ``other`` is, on its side, the nearest first."""
    (start,), (end,) = _place(one, [axis]), _place(other, [axis])
    direction = math.copysign(1.0, end - start)
    steps = [(direction * (_place(candidate, [axis])[0] - start), candidate) for candidate in every]
    ordered = sorted(steps, key=lambda pair: pair[0])
    return [candidate for step, candidate in ordered if step >= abs(end - start)]


def _middles(
    one: Recipe, other: Recipe | None, is_known: Callable[[Recipe], bool], depth: int
) -> Iterator[Recipe]:
    between = None if other is None or not depth else middle(one, other)
    if between is None:
        return
    if not is_known(between):
        yield between
        return
    yield from _middles(one, between, is_known, depth - 1)
    yield from _middles(between, other, is_known, depth - 1)


def middle(one: Recipe, other: Recipe) -> Recipe | None:
    """Return the recipe halfway between two of one method, if they differ in numbers only.

    Numbers above 1, such as k, are halved by their ratio, and shares, such as t, by their difference; whole
    numbers stay whole.

    Examples
    --------
    >>> mondrian = [Recipe("mondrian", {"model": {"k-anonymity": {"k": k}}}) for k in (5, 20, 6)]
    >>> middle(mondrian[0], mondrian[1]).parameters
    {'model': {'k-anonymity': {'k': 10}}}
    >>> middle(mondrian[0], mondrian[2]) is None
    True
    """
    if one.sanitizer != other.sanitizer:
        return None
    try:
        between = Recipe(one.sanitizer, _halfway(one.parameters, other.parameters), one.seed)
        between.build()
    except (_NoMiddle, ParameterError):
        return None
    return None if between.parameters in (one.parameters, other.parameters) else between


class _NoMiddle(Exception):
    """Raised if two recipes differ in a parameter that has no middle."""


def _halfway(one: Any, other: Any) -> Any:
    if one == other and type(one) is type(other):
        return one
    if isinstance(one, Mapping) and isinstance(other, Mapping) and one.keys() == other.keys():
        return {key: _halfway(value, other[key]) for key, value in one.items()}
    if _is_number(one) and _is_number(other):
        return _number_between(one, other)
    raise _NoMiddle


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _number_between(one: float, other: float) -> float:
    """Return the middle of two numbers with few digits; the first one if nothing is in between."""
    low, high = sorted((one, other))
    half = math.sqrt(low * high) if low > 0 and high > 1 else (low + high) / 2
    if isinstance(one, int) and isinstance(other, int):
        return round(half) if low < round(half) < high else one
    if high - low <= _LEAST_RELATIVE_STEP * max(abs(low), abs(high)):
        return one
    written = (float(f"{half:.{digits}g}") for digits in (2, 3, 4))
    return next((short for short in written if low < short < high), half)
