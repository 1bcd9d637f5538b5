"""The random order in which the records of a release are written, so that the order reveals nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from sfumato.runtime.arrays import Integers, secret_order


@dataclass(frozen=True, eq=False)
class Order:
    """The order of the written records, from a cryptographic source and never from a seed.

    Two releases of the same people, or two copies of one release, have unrelated orders.

    Parameters
    ----------
    rows
        The released row of each written record.
    givers
        The released row whose sensitive values are written next to it: its own, or, if sensitive values are
        published for groups, that of some record of its group.
    groups
        The number of its group, if there are groups.
    people
        The pseudonym of its person, if the schema asks for pseudonyms.
    """

    rows: Integers = field(repr=False)
    givers: Integers = field(repr=False)
    groups: Integers | None = field(default=None, repr=False)
    people: Integers | None = field(default=None, repr=False)


def drawn_orders(
    weights: Integers, group_of: Integers | None, person_of: Integers | None, n_at_once: int
) -> Iterator[Order]:
    """Draw the order in which a release is written, part by part.

    Every order of all records is equally likely, as if all were drawn at once: each record draws one of
    several parts, and each part is shuffled. This takes one byte of memory per record. If sensitive values
    are published for groups, all records are one part.

    Parameters
    ----------
    weights
        The number of records of each released row.
    group_of
        The group of each row, if sensitive values are published for groups.
    person_of
        The person of each row, if people get pseudonyms.
    n_at_once
        The approximate number of records of a part.
    """
    n_records = int(weights.sum())
    if group_of is not None or n_records <= n_at_once:
        yield _drawn_at_once(weights, group_of, person_of)
        return
    n_parts = 1 << min((n_records // n_at_once).bit_length(), 8)
    part_of = np.frombuffer(os.urandom(n_records), dtype=np.uint8) & np.uint8(n_parts - 1)
    ends = np.cumsum(weights)
    pseudonym_of = _pseudonyms(person_of, np.arange(len(weights)))
    for part in range(n_parts):
        records = np.flatnonzero(part_of == part)
        rows = np.searchsorted(ends, records, side="right")[secret_order(len(records))]
        yield Order(rows, rows, people=None if pseudonym_of is None else pseudonym_of[rows])


def _drawn_at_once(weights: Integers, group_of: Integers | None, person_of: Integers | None) -> Order:
    rows = np.repeat(np.arange(len(weights)), weights)[secret_order(int(weights.sum()))]
    people = _pseudonyms(person_of, rows)
    if group_of is None:
        return Order(rows, rows, people=people)
    group_of = group_of[rows]
    # two lists of all records, group by group: one as they are written, one in another order
    own = np.argsort(group_of, kind="stable")
    other = secret_order(len(rows))
    other = other[np.argsort(group_of[other], kind="stable")]
    givers = np.empty_like(rows)
    givers[own] = rows[other]
    numbers, number_of = np.unique(group_of, return_inverse=True)
    return Order(rows, givers, secret_order(len(numbers))[number_of], people)


def _pseudonyms(person_of: Integers | None, rows: Integers) -> Integers | None:
    """Draw a number for each person, unrelated to everything else."""
    if person_of is None:
        return None
    people, pseudonym_of = np.unique(person_of[rows], return_inverse=True)
    return secret_order(len(people))[pseudonym_of] + 1
