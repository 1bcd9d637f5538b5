"""Attribution: parts add up to the whole; the worst groups and populations are those of brute force."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from sfumato import KAnonymity, Mondrian, Schema, Table, sanitize
from sfumato.measures import UtilityLoss, measure
from sfumato.measures.attribution import group_origins, population_origins, value_origins
from sfumato.measures.reasons import NotApplicable
from sfumato.models.distances import jensen_shannon
from sfumato.sanitizers import Anatomy, AsIs, Sanitizer, SuppressQuasiIdentifiers

Bound = tuple[Table, Schema]
WAYS: tuple[Sanitizer, ...] = (AsIs(), Mondrian(KAnonymity(2)), Mondrian(KAnonymity(3)), Anatomy(2))


@pytest.mark.parametrize("way", WAYS)
def test_parts_of_groups_and_of_values_add_up(hospital: Bound, way: Sanitizer) -> None:
    release = sanitize(*hospital, way)
    groups = group_origins(release, "diagnosis", most=1_000)
    assert sum(each.share for each in groups) == pytest.approx(1)
    assert [each.share for each in groups] == sorted((each.share for each in groups), reverse=True)
    assert sum(each.share for each in value_origins(release, "diagnosis")) == pytest.approx(1)


def test_groups_are_those_that_brute_force_finds(hospital: Bound) -> None:
    release = sanitize(*hospital, Mondrian(KAnonymity(3)))
    sensitive = release.groups.sensitive["diagnosis"]
    losses = jensen_shannon(sensitive)
    worst = group_origins(release, "diagnosis")[0]
    assert worst.loss * worst.n_records == pytest.approx(float((losses * sensitive.sizes).max()))
    assert set(worst.cells) == set(release.schema.quasi_identifiers)
    rows = [
        row
        for row in release.to_arrow(typed=False).to_pylist()
        if all(row[name] == label for name, label in worst.cells.items())
    ]
    assert len(rows) == worst.n_records
    counted = Counter(row["diagnosis"] for row in rows)
    label, share, prior = worst.likelier
    assert counted[label] / len(rows) == pytest.approx(share)
    assert share > prior


def test_values_are_summed_as_the_divergence_is(hospital: Bound) -> None:
    """Σ over values of the summand, over all records, is Σ of the groups' divergences."""
    release = sanitize(*hospital, Mondrian(KAnonymity(2)))
    sensitive = release.groups.sensitive["diagnosis"]
    total = float((jensen_shannon(sensitive) * sensitive.sizes).sum())
    labels = list(sensitive.domain.labels)
    rows = release.to_arrow(typed=False).to_pylist()
    names = release.schema.quasi_identifiers
    prior = dict(zip(labels, sensitive.prior, strict=True))
    for found in value_origins(release, "diagnosis"):
        part = 0.0
        for _, members in itertools.groupby(
            sorted(rows, key=lambda row: [row[name] for name in names]),
            key=lambda row: [row[name] for name in names],
        ):
            group = [row["diagnosis"] for row in members]
            p, q = group.count(found.value) / len(group), float(prior[found.value])
            middle = (p + q) / 2
            part += len(group) * sum(x * math.log(x / middle) for x in (p, q) if x > 0) / 2
        assert found.share == pytest.approx(part / total)


def test_a_group_of_a_bucketization_names_only_what_all_share(hospital: Bound) -> None:
    release = sanitize(*hospital, Anatomy(2))
    for found in group_origins(release, "diagnosis"):
        rows = np.flatnonzero(release.groups.class_of == found.group)
        for name, label in found.cells.items():
            cells = release.cells[name]
            assert {cells.labels[code] for code in cells.codes[rows]} == {label}


def test_nothing_is_found_where_nothing_is_told(hospital: Bound) -> None:
    release = sanitize(*hospital, SuppressQuasiIdentifiers())
    assert group_origins(release, "diagnosis") == []
    assert {each.share for each in value_origins(release, "diagnosis")} == {0.0}


def test_populations_are_described_and_counted(hospital: Bound) -> None:
    table, schema = hospital
    release = sanitize(table, schema, Mondrian(KAnonymity(3)))
    worst, n_populations = population_origins(release, "diagnosis", minimum_support=0.25)
    (taken,) = measure(release, [UtilityLoss(0.25)])
    assert n_populations == taken.detail["populations"]
    assert worst[0].loss == pytest.approx(taken.detail["worst"])
    for each in worst:
        members = np.ones(table.n_rows, dtype=bool)
        for name, label in each.population.items():
            hierarchy = schema.hierarchy(name)
            nodes = [
                (level, list(labels).index(label))
                for level, labels in enumerate(hierarchy.labels)
                if label in labels
            ]
            level, node = nodes[0]
            members &= hierarchy.node_of[level][table[name].codes] == node
        assert int(table.weights[members].sum()) == each.n_records


def test_without_large_populations_it_does_not_apply(hospital: Bound) -> None:
    release = sanitize(*hospital, AsIs())
    with pytest.raises(NotApplicable, match="no population holds"):
        population_origins(release, "diagnosis", minimum_support=1.0)
