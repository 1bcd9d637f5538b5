"""What holds against a reader who tries every original there can be, and sees which give the release.

On tiny tables all originals are enumerated; those of which the recipe makes the release are what its reader
knows. The recipe itself is run on each, so that nothing is taken for granted of how it works.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from sfumato import Attribute, Intervals, Schema, Table, sanitize
from sfumato.models import AlphaKAnonymity, KAnonymity
from sfumato.runtime.errors import Infeasible, ParameterError
from sfumato.sanitizers import Mondrian
from sfumato.sanitizers.generalize.interval_bounds import Borders

BORDERS: tuple[Borders, ...] = ("tight", "grid")
Person = tuple[int, str]
World = tuple[Person, ...]
Classes = dict[Any, Counter[Person]]
SCHEMA = Schema(
    (Attribute("age", "quasi-identifying", "numeric", Intervals((5, 10))), Attribute("ill", "sensitive"))
)


def classes_of(world: World, how: Mondrian) -> Classes:
    """Return for each released age who is released so."""
    table = Table.from_arrow({"age": [age for age, _ in world], "ill": [ill for _, ill in world]})
    release = sanitize(table, SCHEMA, how, seed=1)
    original, rows, cells = release.origin.table, release.origin.rows, release.cells["age"]
    assert original is not None
    assert rows is not None
    found: Classes = defaultdict(Counter)
    for place, row in enumerate(rows.tolist()):
        person = tuple(original[name].domain[original[name].codes[row]] for name in ("age", "ill"))
        found[cells.labels[cells.codes[place]]][person] += int(release.weights[place])
    return found


def by_release(
    how: Mondrian, ages: tuple[int, ...], ills: str, *, knows_ages: bool = False
) -> list[list[tuple[int, Classes]]]:
    """Return all originals of four people, those with the same release together, each with its orders.

    A reader who knows the ages, from a register, tells apart by them, too.
    """
    found: dict[Any, list[tuple[int, Classes]]] = defaultdict(list)
    for world in itertools.combinations_with_replacement(itertools.product(ages, ills), 4):
        n_orders = math.factorial(4) // math.prod(map(math.factorial, Counter(world).values()))
        try:
            classes = classes_of(world, how)
        except (Infeasible, ParameterError):  # the model cannot hold, or nobody has what it speaks of
            continue
        seen = {(cell, ill): n for cell, people in classes.items() for (_, ill), n in _by_ill(people)}
        ages_told = tuple(age for age, _ in world) if knows_ages else ()
        found[frozenset(seen.items()), ages_told].append((n_orders, classes))
    return list(found.values())


def _by_ill(people: Counter[Person]) -> Iterator[tuple[tuple[None, str], int]]:
    counts: Counter[str] = Counter()
    for (_, ill), n in people.items():
        counts[ill] += n
    return (((None, ill), n) for ill, n in counts.items())


def surer(worlds: list[tuple[int, Classes]]) -> Fraction:
    """Return by how much somebody of known age is more surely ill of something than the class says."""
    together: Counter[Any] = Counter()
    alone: Counter[Any] = Counter()
    for n_orders, classes in worlds:
        for cell, people in classes.items():
            for (age, ill), n in people.items():
                together[cell, age, ill] += n_orders * n
                alone[cell, age] += n_orders * n
    gains = []
    for cell, people in worlds[0][1].items():
        share = {ill: Fraction(n, people.total()) for (_, ill), n in _by_ill(people)}
        known = [age for of, age in alone if of == cell]
        gains += [
            Fraction(together[cell, age, ill], alone[cell, age]) - share[ill]
            for age in known
            for ill in share
        ]
    return max(gains)


@pytest.mark.parametrize("borders", BORDERS)
@pytest.mark.parametrize("knows_ages", [False, True])
def test_a_model_of_sizes_tells_nothing_of_illnesses_but_the_class(
    borders: Borders, knows_ages: bool
) -> None:
    how = Mondrian(KAnonymity(2), borders=borders)
    assert all(surer(each) == 0 for each in by_release(how, (1, 3, 7), "xy", knows_ages=knows_ages))


@pytest.mark.parametrize("borders", BORDERS)
def test_a_model_of_illnesses_tells_of_them_by_what_it_refused_on_a_grid_too(borders: Borders) -> None:
    how = Mondrian(AlphaKAnonymity(1.0, k=1, alphas={"x": 0.5}), borders=borders)
    # one of four has x, and one is of another age than three: the cut was refused, so it is that one
    assert max(surer(each) for each in by_release(how, (1, 3), "xy", knows_ages=True)) == Fraction(3, 4)


def certain(worlds: list[tuple[int, Classes]]) -> Iterator[tuple[Any, set[int], set[int]]]:
    """Yield of each class the ages that somebody may have, and those that somebody has for certain."""
    for cell in worlds[0][1]:
        ages = [{age for age, _ in classes[cell]} for _, classes in worlds]
        yield cell, set.union(*ages), set.intersection(*ages)


AGES = (0, 2, 4, 5, 7, 9)


def test_the_ends_of_tight_intervals_are_certain() -> None:
    for worlds in by_release(Mondrian(KAnonymity(2), borders="tight"), AGES, "x"):
        for cell, possible, sure in certain(worlds):
            assert {min(possible), max(possible)} <= sure or cell == "*"


def test_on_a_grid_ages_are_certain_less_often() -> None:
    releases = by_release(Mondrian(KAnonymity(2), borders="grid"), AGES, "x")
    told = [(possible, sure) for each in releases for cell, possible, sure in certain(each) if cell != "*"]
    wide = [bool(sure) for possible, sure in told if len(possible) > 1]
    assert wide
    assert 0 < sum(wide) / len(wide) < 0.6, (sum(wide), len(wide))
