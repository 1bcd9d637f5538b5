"""Hold people out of a second release, to separate general knowledge from knowledge about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sfumato.data.hierarchy import Label
from sfumato.data.table import Table
from sfumato.kernels.first_box import first_box_around
from sfumato.kernels.row_groups import first_row_of_group, sum_by_group
from sfumato.measures.scenarios.nearness import true_column
from sfumato.measures.scenarios.predictions import ended
from sfumato.measures.scenarios.scenario import Scenario
from sfumato.miners.base import Predictions
from sfumato.miners.cross_validation import predict_from_all
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import LinkedRelease, linked, without_rows
from sfumato.results.origin import Origin
from sfumato.results.release import Release
from sfumato.results.released_column import Cells, ValueSets, merged_cells
from sfumato.runtime.arrays import Integers
from sfumato.runtime.errors import Infeasible, SfumatoError
from sfumato.sanitizers.base import make_release

MOST_OUTSIDERS = 10_000
"""So many people tell a share to within one per cent."""


@dataclass(frozen=True, eq=False)
class Control:
    """A second release without some of the people, and how it would represent them.

    Parameters
    ----------
    both
        The rows of the second release, then one for each row of the first that holds the control group.
    members, outsiders
        For each of these rows how many of its records count as people of the second release, on which
        miners are trained, and how many in the control group.
    staying, leaving
        For each row of the original how many of its people stay and how many are left out, suppressed
        ones among them.
    """

    both: LinkedRelease
    members: Integers = field(repr=False)
    outsiders: Integers = field(repr=False)
    staying: Integers = field(repr=False)
    leaving: Integers = field(repr=False)

    def mine(
        self, view: Release, name: str, miners: Sequence[str], scenario: Scenario
    ) -> tuple[list[Predictions], list[str]]:
        """Let miners that have seen the whole second release predict its people and the control group."""
        limits = {"seed": scenario.seed, "time_limit": scenario.time_limit, "cells": scenario.cells}
        return ended(
            [predict_from_all(view, name, miner, self.members, **limits) for miner in miners]  # type: ignore[arg-type]
        )


def control_group(made: Release, scenario: Scenario) -> Control:
    """Hold people out at random and make the release again, by its own recipe with another seed.

    The control group is shown to the miners as the second release would write them: with the cells of the
    smallest of its classes that covers the person's quasi-identifiers. If none does, or numbers have noise,
    the person has the cells of the first release, whose recipe is the same.
    """
    release = linked(made)
    table, rows = release.origin.table, release.origin.linked_rows
    if release.recipe is None or rows is None:
        raise NotApplicable("the release was not made by a recipe that could be run again")
    n_outsiders = min(round(scenario.control * table.n_records), MOST_OUTSIDERS)
    if n_outsiders < 1 or table.n_records - n_outsiders < 2:
        raise NotApplicable("there are too few people for a control group")
    rng = np.random.default_rng([scenario.seed, n_outsiders])
    everybody = np.concatenate([release.weights, table.weights - release.kept])
    drawn = rng.multivariate_hypergeometric(everybody, n_outsiders, method="marginals")
    shown, hidden = drawn[: release.n_rows], drawn[release.n_rows :]
    leaving = sum_by_group(rows, table.n_rows, shown) + hidden
    staying = table.weights - leaving
    kept_rows = np.flatnonzero(staying)
    second = made_again(release, table.part(kept_rows, staying[kept_rows]))
    if second.origin.linked_rows is None or second.n_records < 2:
        raise NotApplicable("too few records are left when the release is made again")
    second = replace(second, origin=Origin(table, kept_rows[second.origin.rows]))
    # a group speaks of all its records, so all of them are needed to show what it tells about one
    first = release if release.group_of is not None else without_rows(release, shown == 0)
    outsiders = shown if release.group_of is not None else shown[shown > 0]
    return Control(
        both=_stacked(second, first),
        members=np.concatenate([second.weights, np.zeros(first.n_rows, dtype=np.int64)]),
        outsiders=np.concatenate([np.zeros(second.n_rows, dtype=np.int64), outsiders]),
        staying=staying,
        leaving=leaving,
    )


def made_again(release: Release, table: Table) -> LinkedRelease:
    """Make a release of another table by the same recipe, with another seed."""
    assert release.recipe is not None
    recipe = replace(release.recipe, seed=(release.recipe.seed or 0) + 1)
    try:
        second = make_release(table, release.schema, recipe)
    except Infeasible as reason:
        raise NotApplicable(f"without the control group the release cannot be made: {reason}") from None
    except SfumatoError as reason:
        raise NotApplicable(f"the release cannot be made again: {reason}") from None
    return second


def _stacked(second: LinkedRelease, first: LinkedRelease) -> LinkedRelease:
    """Combine both releases, with the records of the first written as in the second where possible."""
    like = _covering_rows(second, first)
    cells = {name: _joined(second.cells[name], first.cells[name], like.get(name)) for name in first.cells}
    group_of = None
    if second.group_of is not None and first.group_of is not None:
        group_of = np.concatenate([second.group_of, first.group_of + int(second.group_of.max()) + 1])
    return replace(
        first,
        cells=cells,
        weights=np.concatenate([second.weights, first.weights]),
        origin=replace(first.origin, linked_rows=np.concatenate([second.origin.rows, first.origin.rows])),
        group_of=group_of,
        recipe=None,
    )


def _covering_rows(second: Release, first: Release) -> dict[str, Integers]:
    """Return for each quasi-identifier without noise a row of the smallest class around each record.

    The classes are those of the second release, the records those of the first; -1 where none holds it.
    """
    names = [name for name in first.schema.quasi_identifiers if second.cells[name].sets is not None]
    if not names:
        return {}
    sets = [values for name in names if (values := second.cells[name].sets) is not None]
    row_of = first_row_of_group(second.classes.class_of, second.classes.n_classes)
    boxes = np.stack([second.cells[name].codes[row_of] for name in names], axis=1)
    sizes = [np.diff(values.starts)[boxes[:, place]] for place, values in enumerate(sets)]
    row_of, boxes = (part[np.argsort(np.log(sizes).sum(axis=0), kind="stable")] for part in (row_of, boxes))
    around = first_box_around(
        np.stack([true_column(first, name).codes for name in names]),
        np.ascontiguousarray(boxes),
        np.cumsum([0, *(len(values.sizes) for values in sets[:-1])]),
        np.cumsum([0, *(size for values in sets for size in np.diff(values.starts))]),
        np.concatenate([values.members for values in sets]),
        max(len(second.cells[name].domain) for name in names),
    )
    return dict.fromkeys(names, np.where(around < 0, -1, row_of[around]))


def _joined(one: Cells, other: Cells, like: Integers | None) -> Cells:
    """Concatenate the cells of two releases; values with the same label get one code.

    Parameters
    ----------
    like
        For each row of the other release the row of the one whose cell it gets, or -1 to keep its own.
    """
    own = other.codes + np.int32(len(one.labels))
    codes = np.concatenate([one.codes, own if like is None else np.where(like < 0, own, one.codes[like])])
    labels = (*one.labels, *other.labels)
    if one.sets is not None and other.sets is not None and one.domain == other.domain:
        sets = ValueSets(
            np.concatenate([one.sets.starts, other.sets.starts[1:] + one.sets.starts[-1]]),
            np.concatenate([one.sets.members, other.sets.members]),
            np.concatenate([one.sets.sizes, other.sets.sizes]),
            one.sets.n_leaves,
        )
        return merged_cells(codes, labels, one.domain, sets)
    if one.sets is not None or other.sets is not None or not (one.domain and other.domain):
        raise NotApplicable("what the released values stand for differs when the release is made again")
    place: dict[Label, int] = {}
    code_of = np.array([place.setdefault(label, len(place)) for label in labels], dtype=np.int32)
    value_of = dict(zip(labels, (*one.domain, *other.domain), strict=True))
    return Cells(code_of[codes], tuple(place), tuple(value_of[label] for label in place))
