"""Minimality: the paper's reasoning by example, and every world of small classes by brute force."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import (
    AlphaKAnonymity,
    Attribute,
    FullDomain,
    Hierarchy,
    KAnonymity,
    LocalRecoding,
    Measurement,
    Mondrian,
    ProbabilisticDiversity,
    Schema,
    SuppressQuasiIdentifiers,
    Table,
    TCloseness,
    measure,
    publish,
    sanitize,
)
from sfumato.columns import Limit
from sfumato.errors import Infeasible, ParameterError, PolicyNotMet
from sfumato.measures.aware.minimality import Counts, MinimalityRisk, _Divided, _Kept, dealt_out, multinomial
from sfumato.models.base import PrivacyModel

SCHEMA = Schema((Attribute("group", "quasi-identifying"), Attribute("illness", "sensitive")))
HALF = AlphaKAnonymity(1.0, k=1, alphas={"HIV": 0.5})


def taken(table: Table, model: PrivacyModel, schema: Schema = SCHEMA, **how: object) -> Measurement:
    release = sanitize(table, schema, FullDomain({"group": 1}, model, **how))  # type: ignore[arg-type]
    return measure(release, ["minimality-risk"])[0]


def people(**illnesses: list[str]) -> Table:
    groups = [group for group, each in illnesses.items() for _ in each]
    return Table.from_arrow({"group": groups, "illness": [each for of in illnesses.values() for each in of]})


def test_two_of_seven_who_can_only_be_those_of_the_smaller_group() -> None:
    # no more than half of a group may have HIV: two of the five never break that, only both of the two do
    found = taken(people(q1=["HIV", "HIV"], q2=["flu"] * 5), HALF)
    assert found.baseline == pytest.approx(5 / 7)
    assert found.value == 1
    assert found.detail["m-confidentiality"] == 1
    assert found.detail["share-enumerated"] == 1


def test_a_policy_keeps_back_a_release_that_tells_by_what_was_refused(tmp_path: Path) -> None:
    policy = {"minimality-risk": Limit(at_most=0.75)}
    told, silent = (
        sanitize(table, SCHEMA, FullDomain({"group": 1}, HALF))
        for table in (
            people(q1=["HIV", "HIV"], q2=["flu"] * 5),
            people(q1=["HIV", "flu"], q2=["HIV", "flu", "flu", "flu"]),
        )
    )
    with pytest.raises(PolicyNotMet):
        publish(told, tmp_path / "told", ["minimality-risk"], policy=policy)
    publish(silent, tmp_path / "silent", ["minimality-risk"], policy=policy)
    page = (tmp_path / "silent" / "report.html").read_text(encoding="utf-8")
    assert "What was refused." in page
    assert "was not measured (<code>minimality-risk</code>)" not in page


def test_a_finer_release_that_would_do_tells_nothing() -> None:
    found = taken(people(q1=["HIV", "flu"], q2=["HIV", "flu", "flu", "flu"]), HALF)
    assert found.value == found.baseline
    assert found.detail["share-surer"] == 0


def test_a_part_that_is_too_small_by_itself_tells_nothing() -> None:
    model = KAnonymity(3) & AlphaKAnonymity(0.9, k=1)
    found = taken(people(q1=["HIV", "flu"], q2=["HIV", "flu", "flu", "flu"]), model)
    assert found.value == pytest.approx(found.baseline)


def test_classes_that_are_too_large_to_enumerate_are_said_and_tell_nothing() -> None:
    table = people(q1=["HIV", "HIV"], q2=["flu"] * 5)
    release = sanitize(table, SCHEMA, FullDomain({"group": 1}, HALF))
    (found,) = measure(release, [{"minimality-risk": {"ways": 5}}])
    assert found.value == found.baseline
    assert found.detail["share-enumerated"] == 0


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        (Mondrian(KAnonymity(2)), "asks nothing of the sensitive"),
        (LocalRecoding(KAnonymity(2)), "only full-domain and mondrian"),
        (Mondrian(HALF, variant="relaxed"), "strict variant"),
        (FullDomain({"group": 1}, KAnonymity(2)), "asks nothing of the sensitive"),
        (FullDomain({"group": 1}, HALF, suppression=0.5), "suppressed"),
    ],
)
def test_it_says_where_it_does_not_apply(how: object, reason: str) -> None:
    release = sanitize(people(q1=["HIV", "HIV"], q2=["flu"] * 5), SCHEMA, how)  # type: ignore[arg-type]
    (found,) = measure(release, ["minimality-risk"])
    assert found.value is None
    assert reason in found.detail["reason"]


TWO = Hierarchy.nested({"a": ["a1", "a2"], "b": ["b1", "b2"]})
ILLNESSES = st.sampled_from(["x", "y", "z"])


@settings(max_examples=40)
@given(
    st.lists(ILLNESSES, min_size=1, max_size=2),
    st.lists(ILLNESSES, min_size=2, max_size=3),
    st.lists(ILLNESSES, min_size=1, max_size=2),
    st.lists(ILLNESSES, min_size=1, max_size=2),
    st.sampled_from([ProbabilisticDiversity(1.4), TCloseness(0.45)]),
)
def test_the_risk_is_that_of_all_worlds_in_which_the_finer_release_fails(
    a1: list[str], a2: list[str], b1: list[str], b2: list[str], model: PrivacyModel
) -> None:
    table = people(a1=a1, a2=a2, b1=b1, b2=b2)
    schema = Schema((Attribute("group", "quasi-identifying", hierarchy=TWO), SCHEMA["illness"]))
    coarse, fine = (sanitize(table, schema, FullDomain({"group": n}, KAnonymity(1))) for n in (1, 0))
    if not model.satisfied(coarse.classes).all() or model.satisfied(fine.classes).all():
        return
    chances: dict[tuple[str, str], int] = {}
    n_worlds = 0
    for first in set(itertools.permutations(a1 + a2)):
        for second in set(itertools.permutations(b1 + b2)):
            parts = {
                "a1": first[: len(a1)],
                "a2": first[len(a1) :],
                "b1": second[: len(b1)],
                "b2": second[len(b1) :],
            }
            world = people(**{group: list(each) for group, each in parts.items()})
            release = sanitize(world, schema, FullDomain({"group": 0}, KAnonymity(1)))
            if not model.satisfied(release.classes).all():
                n_worlds += 1
                for group, each in parts.items():
                    chances[group, each[0]] = chances.get((group, each[0]), 0) + 1
    found = taken(table, model, schema)
    assert found.baseline is not None
    assert found.value == pytest.approx(max(found.baseline, max(chances.values()) / n_worlds))


@given(st.lists(st.integers(1, 3), min_size=1, max_size=3), st.integers(0, 5), st.integers(0, 2))
def test_ways_are_counted_as_by_listing_them(sizes: list[int], first: int, limit: int) -> None:
    n_records = sum(sizes)
    counts = (min(first, n_records), n_records - min(first, n_records))

    def keeps(part: Counts) -> bool:
        return part[0] <= limit

    starts = list(itertools.accumulate(sizes, initial=0))
    n_ways = 0
    for chosen in itertools.combinations(range(n_records), counts[0]):
        of_parts = [sum(a <= place < b for place in chosen) for a, b in itertools.pairwise(starts)]
        n_ways += all(each <= limit for each in of_parts)
    total, shares = dealt_out(tuple(sizes), counts, keeps)
    assert total == n_ways
    assert multinomial(counts) >= n_ways
    if n_ways:
        of_first = sum(size * each[0] for size, each in zip(sizes, shares, strict=True))
        assert of_first == pytest.approx(counts[0])


class TestClasses:
    DIVIDED = _Divided((1, 3), (0, 2), (3, 1))

    def test_a_class_knows_its_size_and_its_commonest_value(self) -> None:
        assert (self.DIVIDED.n_records, self.DIVIDED.commonest) == (4, 0.75)

    def test_what_is_believed_is_what_is_left_when_some_part_failed(self) -> None:
        # half of the ways keep the model, and in those the part of one never has the second value
        kept = _Kept(0.5, [[1.0, 0.0], [2 / 3, 1 / 3]])
        believed = kept.believed(self.DIVIDED, 1.0)
        assert believed[0] == pytest.approx([(0.75 - 0.5) / 0.5, 0.25 / 0.5])
        assert believed[1] == pytest.approx([(0.75 - 0.5 * 2 / 3) / 0.5, (0.25 - 0.5 / 3) / 0.5])
        # the less likely the others keep it, the less is told of this one
        weaker = kept.believed(self.DIVIDED, 0.5)
        assert weaker[0] == pytest.approx([(0.75 - 0.25) / 0.75, 0.25 / 0.75])
        assert _Kept(1.0, [[1.0, 0.0], [0.0, 1.0]]).believed(self.DIVIDED, 1.0) == [[0.75, 0.25]] * 2

    @pytest.mark.parametrize(("limit", "is_counted"), [(16, True), (15, False)])
    def test_so_many_ways_are_counted(self, limit: int, is_counted: bool) -> None:
        class Judge:
            def keeps(self, values: Counts, part: Counts) -> bool:
                assert values == (0, 2)
                # nobody may be alone with the second value
                return part != (0, 1)

        found = self.DIVIDED.dealt_out(Judge(), limit)  # type: ignore[arg-type]
        assert (found is not None) == is_counted
        if found is not None:
            # in three of four ways the second value is among the three
            assert found.chance == 0.75
            assert found.shares == [pytest.approx([1, 0]), pytest.approx([2 / 3, 1 / 3])]

    def test_a_class_in_one_part_has_nothing_to_deal_out(self) -> None:
        found = _Divided((4,), (0, 2), (3, 1)).dealt_out(None, 0)
        assert found == _Kept(1.0, [[0.75, 0.25]])


def test_two_classes_that_may_both_have_failed_tell_less_of_each() -> None:
    """Below each of two levels lie two groups: brute force over all worlds in which one group fails."""
    tree = Hierarchy.nested({"x": ["q1", "q2"], "y": ["q3", "q4"]})
    schema = Schema((Attribute("group", "quasi-identifying", hierarchy=tree), SCHEMA["illness"]))
    table = people(q1=["HIV", "HIV"], q2=["flu"] * 3, q3=["HIV"], q4=["flu"] * 3)
    found = taken(table, HALF, schema)
    # two of five have HIV, the first two of them in one group, and one of four, the first in one by itself
    with_hiv = [0] * 9
    n_worlds = 0
    for first in itertools.combinations(range(5), 2):
        for second in range(5, 9):
            fails = first == (0, 1) or first[0] > 1 or second == 5
            n_worlds += fails
            for person in (*first, second):
                with_hiv[person] += fails
    shares = [n / n_worlds for n in with_hiv]
    assert found.value == pytest.approx(max(*shares, *(1 - share for share in shares)))
    assert found.detail["attribute"] == "group"
    assert found.detail["share-enumerated"] == 1


def test_ways_are_at_least_one() -> None:
    assert MinimalityRisk() == MinimalityRisk(ways=20_000)
    assert MinimalityRisk(ways=1).ways == 1
    with pytest.raises(ParameterError, match="ways must be at least 1, not 0"):
        MinimalityRisk(ways=0)


AGES = Schema((Attribute("age", "quasi-identifying", "numeric"), SCHEMA["illness"]))


def aged(illnesses: list[str]) -> Table:
    return Table.from_arrow({"age": list(range(20, 20 + len(illnesses))), "illness": illnesses})


def test_a_cut_that_was_refused_tells_on_which_side_the_model_failed() -> None:
    # two of five have HIV and no more than half of a part may; the cut leaves two on one side, three on the
    # other. It fails in four of ten ways: both are the two, or both are among the three (three ways). So the
    # two have flu with a chance of three in four, where three in five of the class have it.
    release = sanitize(aged(["HIV", "HIV", "flu", "flu", "flu"]), AGES, Mondrian(HALF))
    (found,) = measure(release, ["minimality-risk"])
    assert release.classes.n_classes == 1
    assert found.detail["attribute"] == "age"
    assert found.value == pytest.approx(0.75)
    assert found.baseline == 0.6
    (withheld,) = measure(
        sanitize(aged(["HIV", "HIV", "flu", "flu", "flu"]), AGES, SuppressQuasiIdentifiers()),
        ["minimality-risk"],
    )
    assert withheld.value is None


@settings(max_examples=30)
@given(
    st.lists(ILLNESSES, min_size=4, max_size=6),
    st.sampled_from([ProbabilisticDiversity(1.4), TCloseness(0.35)]),
)
def test_the_risk_of_mondrian_is_that_of_all_worlds_that_it_releases_alike(
    illnesses: list[str], model: PrivacyModel
) -> None:
    try:
        release = sanitize(aged(illnesses), AGES, Mondrian(model))
    except Infeasible:
        return
    if release.classes.n_classes > 1:
        return
    chances: dict[tuple[int, str], int] = {}
    n_worlds = 0
    for world in itertools.permutations(illnesses):
        if sanitize(aged(list(world)), AGES, Mondrian(model)).classes.n_classes == 1:
            n_worlds += 1
            for place, illness in enumerate(world):
                chances[place, illness] = chances.get((place, illness), 0) + 1
    (found,) = measure(release, ["minimality-risk"])
    assert found.baseline is not None
    assert found.value == pytest.approx(max(found.baseline, max(chances.values()) / n_worlds))
