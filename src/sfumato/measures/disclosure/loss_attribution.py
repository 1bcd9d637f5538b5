"""Attribute the losses of a release to groups, sensitive values and subpopulations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sfumato.data.equivalence_classes import SensitiveCounts
from sfumato.data.hierarchy import Hierarchy, Label
from sfumato.data.schema import Schema
from sfumato.kernels.row_groups import first_row_of_group
from sfumato.measures.utility.estimation.reconstruction import Unreadable
from sfumato.measures.utility.estimation.subpopulations import Populations
from sfumato.measures.utility.query_utility import UtilityLoss
from sfumato.models.distances import jensen_shannon
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import origin_of
from sfumato.results.release import Release
from sfumato.runtime.arrays import Floats, Integers


@dataclass(frozen=True)
class GroupOrigin:
    """One group of records and its contribution to the privacy loss.

    Parameters
    ----------
    group
        Its number.
    cells
        The released quasi-identifiers that all its records share, by attribute.
    n_records
        How many records it has.
    loss
        Its privacy loss: the distance of its sensitive distribution from that of the whole table.
    share
        Its part of the privacy losses of all records together.
    likelier
        The sensitive value whose share increases most, with its shares in the group and in the whole table.
    """

    group: int
    cells: Mapping[str, Label]
    n_records: int
    loss: float
    share: float
    likelier: tuple[Label, float, float]


@dataclass(frozen=True)
class ValueOrigin:
    """One sensitive value and its contribution to the privacy loss.

    Parameters
    ----------
    value
        The value.
    prior
        Its share in the whole table.
    highest
        Its largest share in a group.
    n_records
        How many records are in groups in which it is likelier than in the whole table.
    share
        Its part of the losses.
    """

    value: Label
    prior: float
    highest: float
    n_records: int
    share: float


@dataclass(frozen=True)
class PopulationOrigin:
    """One large population and the loss of a researcher who studies it.

    Parameters
    ----------
    population
        What its people have in common, by attribute.
    n_records
        How many records it has.
    loss
        The distance of the estimated sensitive distribution from the true one.
    """

    population: Mapping[str, Label]
    n_records: int
    loss: float


def group_origins(release: Release, attribute: str, most: int = 8) -> list[GroupOrigin]:
    """Return the groups with the largest share of the privacy loss of a sensitive attribute.

    The part of a group is its privacy loss times its records, of the sum over all groups.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import Mondrian
    >>> release = sanitize(*datasets.hospital(), Mondrian(KAnonymity(3)))
    >>> worst = group_origins(release, "diagnosis")[0]
    >>> worst.n_records, round(worst.loss, 3), round(worst.share, 2)
    (3, 0.38, 0.33)
    """
    sensitive = release.groups.sensitive[attribute]
    losses = jensen_shannon(sensitive)
    parts = losses * sensitive.sizes
    total = float(parts.sum())
    groups = [int(group) for group in np.argsort(-parts, kind="stable")[:most] if parts[group] > 0]
    shared = _shared_cells(release, groups)
    return [
        GroupOrigin(
            group,
            shared[place],
            int(sensitive.sizes[group]),
            float(losses[group]),
            float(parts[group]) / total,
            _likelier(sensitive, group),
        )
        for place, group in enumerate(groups)
    ]


def value_origins(release: Release, attribute: str) -> list[ValueOrigin]:
    """Return the sensitive values, those with the largest share of the privacy loss first.

    Jensen-Shannon divergence is a sum over the values; the part of a value is its summand, added up over
    all records.
    """
    sensitive = release.groups.sensitive[attribute]
    n_values = len(sensitive.prior)
    sizes = np.repeat(sensitive.sizes, np.diff(sensitive.starts))
    middle = (sensitive.shares + sensitive.priors) / 2
    present = sizes * (_surprise(sensitive.shares, middle) + _surprise(sensitive.priors, middle)) / 2
    found_in = np.bincount(sensitive.values, weights=sizes, minlength=n_values)
    absent = (sensitive.sizes.sum() - found_in) * sensitive.prior * math.log(2) / 2
    parts = np.bincount(sensitive.values, weights=present, minlength=n_values) + absent
    likelier = sensitive.shares > sensitive.priors
    crowds = np.bincount(sensitive.values, weights=sizes * likelier, minlength=n_values)
    highest = np.zeros(n_values)
    np.maximum.at(highest, sensitive.values, sensitive.shares)
    total = float(parts.sum())
    labels = sensitive.domain.labels
    return [
        ValueOrigin(
            labels[value],
            float(sensitive.prior[value]),
            float(highest[value]),
            int(crowds[value]),
            float(parts[value]) / total if total > 0 else 0.0,
        )
        for value in np.argsort(-parts, kind="stable").tolist()
        if sensitive.prior[value] > 0 or found_in[value]
    ]


def population_origins(
    release: Release, attribute: str, most: int = 8, minimum_support: float = 0.05
) -> tuple[list[PopulationOrigin], int]:
    """Return the large populations with the largest losses, and how many large ones there are.

    Raises
    ------
    NotApplicable
        When the release gives no estimate of the original, or no population is large.
    """
    measure = UtilityLoss(minimum_support)
    try:
        populations, (losses,), _ = measure.by_population(release, origin_of(release).table, (attribute,))
    except Unreadable as reason:
        raise NotApplicable(str(reason)) from None
    worst = [int(place) for place in np.argsort(-losses, kind="stable")[:most] if losses[place] > 0]
    return [
        PopulationOrigin(
            _in_words(populations, place, release.schema),
            int(populations.supports[place]),
            float(losses[place]),
        )
        for place in worst
    ], len(populations)


def _shared_cells(release: Release, groups: list[int]) -> list[dict[str, Label]]:
    """Return for each group the released quasi-identifiers that are the same for all its records."""
    first = first_row_of_group(release.groups.class_of, release.groups.n_classes)
    shared: list[dict[str, Label]] = [{} for _ in groups]
    for name in release.schema.quasi_identifiers:
        cells = release.cells[name]
        for place, group in enumerate(groups):
            code = cells.codes[first[group]]
            # only groups that publish values of their own hold records that differ
            if release.group_of is None or (cells.codes[release.groups.class_of == group] == code).all():
                shared[place][name] = cells.labels[code]
    return shared


def _likelier(sensitive: SensitiveCounts, group: int) -> tuple[Label, float, float]:
    entries = slice(int(sensitive.starts[group]), int(sensitive.starts[group + 1]))
    gain = sensitive.shares[entries] - sensitive.priors[entries]
    entry = entries.start + int(gain.argmax())
    label = sensitive.domain.labels[sensitive.values[entry]]
    return label, float(sensitive.shares[entry]), float(sensitive.priors[entry])


def _surprise(p: Floats, middle: Floats) -> Floats:
    return p * np.log(np.divide(p, middle, out=np.ones_like(p), where=p > 0))


def _in_words(populations: Populations, place: int, schema: Schema) -> dict[str, Label]:
    described = {}
    for node in populations.conjunction(place):
        name = schema.quasi_identifiers[int(populations.nodes.attribute_of[node])]
        described[name] = _label(schema.hierarchy(name), populations.nodes.codes(node))
    return described


def _label(hierarchy: Hierarchy, codes: Integers) -> Label:
    """Return the label of the lowest node with exactly these values."""
    for level in range(hierarchy.height + 1):
        nodes = hierarchy.node_of[level]
        node = int(nodes[codes[0]])
        if np.count_nonzero(nodes == node) == len(codes):
            return hierarchy.labels[level][node]
    return None
