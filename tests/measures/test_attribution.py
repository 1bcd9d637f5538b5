"""Attribution: parts add up to the whole; the worst groups and populations are those of brute force."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from sfumato import Hierarchy, Schema, Table, sanitize
from sfumato.measures import UtilityLoss, measure
from sfumato.measures.disclosure import loss_attribution
from sfumato.measures.disclosure.loss_attribution import group_origins, population_origins, value_origins
from sfumato.models import KAnonymity
from sfumato.models.distances import jensen_shannon
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.people_groups import groups_of, records_of_group
from sfumato.sanitizers import Anatomy, AsIs, FullDomain, Mondrian, Sanitizer, SuppressQuasiIdentifiers

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


# ten people: in the town b half have the rarer illness, in the town c nobody
TEN = {"town": list("aaaabbcccc"), "ill": list("xxyyxyxxxx")}


def ten(way: Sanitizer | None = None) -> LinkedRelease:
    schema = Schema.of(town="quasi-identifying", ill="sensitive")
    return sanitize(Table.from_arrow(TEN), schema, way or AsIs(), seed=1)


def divergence(p: float, q: float) -> list[float]:
    """Return the summands of the Jensen-Shannon divergence of two shares of y, for x and for y."""
    pairs = ((1 - p, 1 - q), (p, q))
    return [sum(x * math.log(2 * x / (one + other)) for x in (one, other) if x) / 2 for one, other in pairs]


def test_groups_and_values_of_ten_people_by_hand() -> None:
    """Of ten three have y: half in a and in b, nobody in c."""
    half, nobody = divergence(0.5, 0.3), divergence(0.0, 0.3)
    total = 6 * sum(half) + 4 * sum(nobody)
    worst, second, third = group_origins(ten(), "ill")
    assert (worst.cells, worst.n_records, worst.likelier) == ({"town": "c"}, 4, ("x", 1.0, 0.7))
    assert (worst.loss, worst.share) == pytest.approx((sum(nobody), 4 * sum(nobody) / total))
    assert (second.cells, second.likelier) == ({"town": "a"}, ("y", 0.5, 0.3))
    assert third.n_records == 2
    assert third.share == pytest.approx(2 * sum(half) / total)
    x, y = value_origins(ten(), "ill")[::-1]
    assert (x.value, x.prior, x.highest, x.n_records) == ("x", 0.7, 1.0, 4)
    assert (y.value, y.prior, y.highest, y.n_records) == ("y", 0.3, 0.5, 6)
    assert y.share == pytest.approx((6 * half[1] + 4 * nobody[1]) / total)


def test_a_value_as_common_in_a_group_as_everywhere_is_not_likelier_there() -> None:
    table = Table.from_arrow({"town": list("aabb"), "ill": list("xyxy")})
    found = value_origins(
        sanitize(table, Schema.of(town="quasi-identifying", ill="sensitive"), AsIs()), "ill"
    )
    assert [(each.n_records, each.highest) for each in found] == [(0, 0.5), (0, 0.5)]


def test_values_that_nobody_has_are_left_out_and_those_of_suppressed_records_are_not() -> None:
    kept = ten(FullDomain({}, KAnonymity(3), suppression=0.5))
    in_c = records_of_group(ten(), next(each for each in groups_of(ten(), "town", 1) if each.name == "c"))
    assert [each.value for each in value_origins(in_c, "ill")] == ["x"]
    table = Table.from_arrow({"town": list("aab"), "ill": list("xxy")})
    schema = Schema.of(town="quasi-identifying", ill="sensitive")
    gone = sanitize(table, schema, FullDomain({}, KAnonymity(2), suppression=0.5))
    x, y = divergence(0.0, 1 / 3)
    told = value_origins(gone, "ill")
    assert {each.value: each.highest for each in told} == {"x": 1.0, "y": 0.0}
    assert {each.value: each.share for each in told} == {
        "x": pytest.approx(x / (x + y)),
        "y": pytest.approx(y / (x + y)),
    }
    assert {each.value for each in value_origins(kept, "ill")} == {"x", "y"}


def test_the_eight_worst_are_told_and_equal_ones_in_their_order() -> None:
    """One in four has what the others have not, and loses most; of equal losses the first come first."""
    table = Table.from_arrow({"age": list(range(100)), "ill": ["x", "x", "y", "x"] * 25})
    release = sanitize(table, Schema.of(age="quasi-identifying", ill="sensitive"), AsIs())
    assert [each.group for each in group_origins(release, "ill")] == list(range(2, 33, 4))
    assert len(group_origins(release, "ill", most=3)) == 3


def test_equal_values_and_populations_come_in_their_order(hospital: Bound) -> None:
    """Every third of sixty illnesses is that of two people."""
    ills = [f"i{place:02}" for place in range(60)] + [f"i{place:02}" for place in range(0, 60, 3)]
    table = Table.from_arrow({"age": list(range(80)), "ill": ills})
    release = sanitize(table, Schema.of(age="quasi-identifying", ill="sensitive"), AsIs())
    found = [str(each.value) for each in value_origins(release, "ill")]
    twice = [f"i{place:02}" for place in range(0, 60, 3)]
    assert found == [*twice, *sorted(set(ills) - set(twice))]
    withheld = sanitize(*hospital, SuppressQuasiIdentifiers())
    populations, (losses,), _ = UtilityLoss(0.05).by_population(withheld, hospital[0], ("diagnosis",))
    places = sorted(np.flatnonzero(losses), key=lambda place: -losses[place])
    told, _ = population_origins(withheld, "diagnosis", most=10_000)
    assert [each.n_records for each in told] == [populations.supports[place] for place in places]


def test_a_bucket_names_everything_that_all_share(hospital: Bound) -> None:
    release = sanitize(*hospital, Anatomy(2))
    for found in group_origins(release, "diagnosis", most=99):
        rows = np.flatnonzero(release.groups.class_of == found.group)
        labels = {
            name: {release.cells[name].labels[release.cells[name].codes[row]] for row in rows}
            for name in release.schema.quasi_identifiers
        }
        assert found.cells == {name: each.copy().pop() for name, each in labels.items() if len(each) == 1}


def test_nothing_is_no_surprise() -> None:
    found = loss_attribution._surprise(np.array([0.0, 0.5]), np.array([0.25, 0.25]))
    assert found.tolist() == pytest.approx([0.0, 0.5 * math.log(2)])


@pytest.mark.parametrize(
    ("codes", "label"),
    [([0], "France"), ([0, 1], "Europe"), ([2], "Japan"), ([0, 1, 2], "*")],
)
def test_values_are_named_by_the_lowest_node_that_has_just_them(codes: list[int], label: str) -> None:
    rows = [["France", "Europe", "*"], ["Italy", "Europe", "*"], ["Japan", "Asia", "*"]]
    assert loss_attribution._label(Hierarchy.of_rows(rows), np.array(codes)) == label


def test_populations_are_told_by_their_attributes_in_order(hospital: Bound) -> None:
    release = sanitize(*hospital, SuppressQuasiIdentifiers())
    found, n_populations = population_origins(release, "diagnosis")
    (taken,) = measure(release, [UtilityLoss(0.05)])
    assert (len(found), n_populations) == (8, taken.detail["populations"])
    every, _ = population_origins(release, "diagnosis", most=10_000)
    names = list(release.schema.quasi_identifiers)
    assert max(len(each.population) for each in every) == len(names)
    assert all(list(each.population) == [name for name in names if name in each.population] for each in every)
    assert min(each.loss for each in every) > 0
    assert len({tuple(each.population.items()) for each in every}) == len(every)


def test_where_nothing_is_lost_no_population_is_told(hospital: Bound) -> None:
    found, n_populations = population_origins(sanitize(*hospital, AsIs()), "diagnosis")
    assert (found, n_populations > 0) == ([], True)


def test_what_cannot_be_read_has_no_populations(hospital: Bound) -> None:
    release = sanitize(*hospital, AsIs()).unlinked()
    with pytest.raises(NotApplicable, match="original"):
        population_origins(release, "diagnosis")
