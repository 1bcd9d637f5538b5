"""The setting of an attack: its targets, its control group and the release under attack."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

from sfumato.data.table import Table, text
from sfumato.measures.scenarios.control import MOST_OUTSIDERS, made_again
from sfumato.miners.cross_validation import fingerprint
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import LinkedRelease, linked
from sfumato.results.people_groups import Group
from sfumato.results.release import Release
from sfumato.runtime.arrays import Integers
from sfumato.runtime.caching import remembered
from sfumato.runtime.errors import DataError
from sfumato.runtime.files import why_unreadable
from sfumato.runtime.progress import speaking_of

LEFT_OUT = 0.2
"""The share of the people that is left out of a release that is made anew, for the control group."""


@dataclass(frozen=True, eq=False)
class Listed:
    """Some people of a table, with one of their rows each.

    Parameters
    ----------
    table
        All people who could have been drawn.
    rows
        A row of the table for each person.
    n_trial
        The number of people at the beginning who select the best attacker; the others evaluate it.
    """

    table: Table
    rows: Integers = field(repr=False)
    n_trial: int = 0


@dataclass(frozen=True, eq=False)
class Setting:
    """Everything that the attacks on one release share.

    Parameters
    ----------
    release
        The release under attack: the original one, or one that was made again without the control group.
    inside
        People in the data of that release.
    outside
        The control group: people outside that data; ``None`` if there are none.
    reference
        More people outside, from whom an attacker may learn about the population.
    told
        Where the control group comes from, in a sentence.
    group
        The group to which all of them belong, if any.
    """

    release: LinkedRelease
    inside: Listed
    outside: Listed | None
    reference: Table | None
    told: str
    group: Group | None = None


def setting_of(
    attacked: Release, control: str | None, people: int, seed: int, group: Group | None = None
) -> Setting:
    """Return the setting of a release, the same for all attacks on it.

    Parameters
    ----------
    made
        What would be published.
    control
        A file with people who are not in the data. Without one the release is made anew without some of its
        people, where its recipe is known.
    people
        How many people are attacked at most, inside and outside; half as many more serve to choose.
    seed
        Decides who is drawn.
    group
        Whom alone to attack, and to take for the control group.
    """
    release = linked(attacked)
    recipe = None if release.recipe is None else release.recipe.to_json()
    cells = fingerprint(release, tuple(release.cells))
    key = ("attacks", cells, recipe, control and _version(Path(control)), seed)
    whole, outsiders, told = remembered(key, lambda: _sides(release, control, seed))
    return _drawn(whole, outsiders, told, people, seed, group)


def _sides(release: LinkedRelease, control: str | None, seed: int) -> tuple[LinkedRelease, Table | None, str]:
    """Return the release under attack, the people who are not in it, and where these come from."""
    if control is not None:
        return release, read_people(control), f"people in {Path(control).name}"
    try:
        with speaking_of("control group"):
            second, leaving = _made_anew(release, seed)
    except NotApplicable as reason:
        return release, None, f"none: {reason}"
    source = f"{leaving.n_people:,} people, left out of a release that was made anew and is attacked"
    return second, leaving, source


def _drawn(
    release: LinkedRelease, outsiders: Table | None, told: str, people: int, seed: int, group: Group | None
) -> Setting:
    rng = np.random.default_rng([seed, people])
    inside, _ = _some_of(release.origin.table, people, rng, group)
    if outsiders is None:
        return Setting(release, inside, None, None, told, group)
    outside, remaining = _some_of(outsiders, people, rng, group)
    others = np.flatnonzero(remaining)
    reference = outsiders.part(others, remaining[others]) if len(others) else None
    return Setting(release, inside, outside, reference, told, group)


def _some_of(
    table: Table, people: int, rng: np.random.Generator, group: Group | None
) -> tuple[Listed, Integers]:
    """Draw people to attack and half as many to select by; also return how many records per row remain."""
    n_drawn = people + people // 2
    if group is None:
        rows, remaining = drawn_people(table, n_drawn, rng)
        return Listed(table, rows, len(rows) // 3), remaining
    own = _rows_of(table, group)
    rows, remaining = drawn_people(table.part(own, table.weights[own]), n_drawn, rng)
    every = table.weights.copy()
    every[own] = remaining
    return Listed(table, own[rows], len(rows) // 3), every


def _rows_of(table: Table, group: Group) -> Integers:
    """Return the rows of people with the value of a group; there must be some."""
    if group.attribute not in table.columns:
        raise NotApplicable(f"the control group has no column {group.attribute!r}")
    column = table[group.attribute]
    is_theirs = np.array([(text(value) or "missing") == group.name for value in column.domain])
    rows = np.flatnonzero(is_theirs[column.codes])
    if not len(rows):
        raise NotApplicable("nobody in the control group is of this group")
    return rows


def drawn_people(table: Table, n_people: int, rng: np.random.Generator) -> tuple[Integers, Integers]:
    """Draw people with equal probability, one row each; return also how many other records each row has."""
    if table.person_of is None:
        n_drawn = min(n_people, table.n_records)
        counts = rng.multivariate_hypergeometric(table.weights, n_drawn, method="marginals")
        return rng.permutation(np.repeat(np.arange(table.n_rows), counts)), table.weights - counts
    order = rng.permutation(table.n_rows)
    everybody, first = np.unique(table.person_of[order], return_index=True)
    drawn = rng.permutation(len(everybody))[:n_people]
    others = ~np.isin(table.person_of, everybody[drawn])
    return order[first[drawn]], np.where(others, table.weights, 0)


def _made_anew(release: LinkedRelease, seed: int) -> tuple[LinkedRelease, Table]:
    """Hold people out and make the release again from the others; return it and the people held out."""
    table = release.origin.table
    if release.recipe is None:
        raise NotApplicable("the release was not made by a recipe that could be run again")
    n_outsiders = min(round(LEFT_OUT * table.n_people), MOST_OUTSIDERS)
    if n_outsiders < 1:
        raise NotApplicable("there are too few people to leave some out")
    rng = np.random.default_rng([seed, n_outsiders])
    _, staying = drawn_people(table, n_outsiders, rng)
    leaving, stay = np.flatnonzero(table.weights - staying), np.flatnonzero(staying)
    second = made_again(release, table.part(stay, staying[stay]))
    if second.n_records < 1:
        raise NotApplicable("no record is left when the release is made again")
    outsiders = table.part(leaving, (table.weights - staying)[leaving])
    return second, outsiders


def read_people(path: str) -> Table:
    """Read a file with people, once for all releases of an exploration."""
    place = Path(path).absolute()
    trouble = why_unreadable(place)
    if trouble:
        raise DataError(f"the control group {place.name} {trouble}")
    return _read_once(*_version(place))


def _version(place: Path) -> tuple[Path, int, int]:
    place = place.absolute()
    facts = os.stat(place) if place.is_file() else None
    return place, 0 if facts is None else facts.st_mtime_ns, 0 if facts is None else facts.st_size


@lru_cache(maxsize=2)
def _read_once(path: Path, changed: int, size: int) -> Table:
    from sfumato.reading.base import read_arrow

    return Table.from_arrow(read_arrow(path))
