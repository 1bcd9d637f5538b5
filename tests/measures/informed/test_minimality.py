"""Minimality: the paper's reasoning by example, and every world of small classes by brute force."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unknown_rows import with_unknown_rows

from sfumato import Attribute, Hierarchy, Schema, Table, measure, publish, sanitize
from sfumato.measures import Measurement
from sfumato.measures.informed.minimality import (
    Counts,
    MinimalityRisk,
    _Combinations,
    _Divided,
    _divided,
    _Kept,
    dealt_out,
    multinomial,
)
from sfumato.models import AlphaKAnonymity, DistinctDiversity, KAnonymity, ProbabilisticDiversity, TCloseness
from sfumato.models.base import PrivacyModel
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.pareto import Limit
from sfumato.results.release import holds
from sfumato.runtime.errors import Infeasible, ParameterError, PolicyNotMet
from sfumato.sanitizers import (
    AsIs,
    CellSuppression,
    FullDomain,
    LocalRecoding,
    Mondrian,
    Sanitizer,
    SuppressQuasiIdentifiers,
)

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
    assert found.attribute == "illness"
    assert found.baseline == pytest.approx(5 / 7)
    assert found.value == 1
    assert found.detail["m-confidentiality"] == 1
    assert found.detail["share-enumerated"] == 1


def test_a_part_with_one_value_does_not_have_two() -> None:
    # two with x and three with y in parts of two and three: in four of ten ways the two are alike, and in
    # three of these four they have y
    found = taken(people(q1=["x", "x"], q2=["y", "y", "y"]), DistinctDiversity(2))
    assert found.value == pytest.approx(0.75)
    assert found.baseline == 0.6


def test_classes_have_their_own_values_in_their_own_parts() -> None:
    # the first class has no HIV, and the second, of seven people, nothing but HIV and flu
    tree = Hierarchy.nested({"x": ["q1", "q2"], "y": ["q3", "q4"]})
    schema = Schema((Attribute("group", "quasi-identifying", hierarchy=tree), SCHEMA["illness"]))
    table = people(q1=["gout"], q2=["gout", "mumps"], q3=["HIV", "HIV"], q4=["flu"] * 5)
    release = sanitize(table, schema, FullDomain({"group": 1}, HALF))
    fine = sanitize(table, schema, FullDomain({"group": 0}, KAnonymity(1)))
    gout, mumps, hiv, flu = (
        release.origin.table["illness"].domain.index(n) for n in ("gout", "mumps", "HIV", "flu")
    )
    dealt = _Combinations.of(release)
    first, second = _divided(release, dealt, fine.classes.class_of)
    assert (first.sizes, second.sizes) == ((1, 2), (2, 5))
    assert dict(zip(dealt.codes["illness"][list(first.values)], first.counts, strict=True)) == {
        gout: 2,
        mumps: 1,
    }
    assert dict(zip(dealt.codes["illness"][list(second.values)], second.counts, strict=True)) == {
        hiv: 2,
        flu: 5,
    }
    assert MinimalityRisk().measure(release)[0].value == 1


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
    assert (found.detail["share-surer"], found.detail["share-enumerated"]) == (0, 0)
    assert found.detail["attribute"] == ""


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
        (LocalRecoding(KAnonymity(2)), "does not say which finer releases"),
        (Mondrian(HALF, variant="relaxed"), "strict variant"),
        (Mondrian(KAnonymity(2), variant="relaxed"), "strict variant"),
        (Mondrian(HALF, target="illness"), "strict variant"),
        (Mondrian(HALF, free=("group",)), "strict variant"),
        (FullDomain({"group": 1}, HALF, suppression=0.5), "suppressed"),
    ],
)
def test_it_says_where_it_does_not_apply(how: object, reason: str) -> None:
    release = sanitize(people(q1=["HIV", "HIV"], q2=["flu"] * 5), SCHEMA, how)  # type: ignore[arg-type]
    (found,) = measure(release, ["minimality-risk"])
    assert found.value is None
    assert reason in found.detail["reason"]


@pytest.mark.parametrize(
    "how",
    [
        AsIs(),
        SuppressQuasiIdentifiers(),
        Mondrian(KAnonymity(2)),
        CellSuppression(KAnonymity(2)),
        FullDomain({"group": 1}, KAnonymity(2)),
        FullDomain({"group": 0}, KAnonymity(3), suppression=0.5),
    ],
    ids=str,
)
def test_where_no_value_decides_on_anything_the_class_tells_all(how: Sanitizer) -> None:
    release = sanitize(people(q1=["HIV", "HIV"], q2=["HIV", "flu", "flu", "flu", "flu"]), SCHEMA, how)
    groups = {"q1": 1.0, "q2": 0.8} if release.classes.n_classes > 1 else {"*": 4 / 7}
    if release.n_suppressed:
        groups = {"q2": 0.8}
    (found,) = measure(release, ["minimality-risk"])
    assert found.value == found.baseline == pytest.approx(max(groups.values()))
    assert (found.detail["share-surer"], found.detail["share-enumerated"]) == (0, 1)


def test_it_says_what_it_would_have_to_know() -> None:
    table = people(q1=["HIV", "HIV"], q2=["flu"] * 5)
    release = sanitize(table, SCHEMA, FullDomain({"group": 1}, HALF))
    for lacking in (replace(release, recipe=None), with_unknown_rows(release)):
        with pytest.raises(NotApplicable, match="does not say which finer releases"):
            MinimalityRisk().measure(lacking)
    with pytest.raises(NotApplicable, match="the original is needed"):
        MinimalityRisk().measure(release.unlinked())
    with pytest.raises(NotApplicable, match="may be suppressed"):
        MinimalityRisk().measure(replace(release, n_original=8))
    several = Schema((Attribute("name", "identifying"), *SCHEMA.attributes), person="name")
    records = {
        "name": list("aabcdef"),
        "group": ["q1"] * 2 + ["q2"] * 5,
        "illness": ["HIV"] * 2 + ["flu"] * 5,
    }
    with pytest.raises(NotApplicable, match="somebody has several records"):
        MinimalityRisk().measure(
            sanitize(Table.from_arrow(records), several, FullDomain({"group": 1}, KAnonymity(1) & HALF))
        )


def test_a_recipe_of_mondrian_that_does_not_lead_to_the_classes_tells_nothing_of_its_cuts() -> None:
    table = aged(["HIV", "flu", "HIV", "flu"])
    two, one = (sanitize(table, AGES, Mondrian(HALF & KAnonymity(k))) for k in (2, 4))
    assert (two.classes.n_classes, one.classes.n_classes) == (2, 1)
    with pytest.raises(NotApplicable, match="the recipe does not lead to these classes"):
        MinimalityRisk().measure(replace(two, recipe=one.recipe))


@pytest.mark.parametrize("names", [("group", "town"), ("town", "group")])
def test_the_attribute_that_tells_most_is_named(names: tuple[str, str]) -> None:
    # of two who can only be those of the smaller group everything is known; of the towns of three each the
    # one or the other has both, so that everybody stays as likely as before
    table = Table.from_arrow(
        {
            "group": ["q1"] * 2 + ["q2"] * 4,
            "town": ["t1", "t1", "t1", "t2", "t2", "t2"],
            "illness": ["HIV", "HIV", "flu", "flu", "flu", "flu"],
        }
    )
    schema = Schema((*(Attribute(name, "quasi-identifying") for name in names), SCHEMA["illness"]))
    release = sanitize(table, schema, FullDomain({"group": 1, "town": 1}, HALF))
    (found,) = measure(release, ["minimality-risk"])
    assert (found.value, found.detail["attribute"]) == (1, "group")
    assert (found.detail["share-surer"], found.detail["share-enumerated"]) == (1, 1)
    assert release.recipe is not None
    only = replace(release.recipe, parameters={**release.recipe.parameters, "levels": {"town": 1}})
    towns = replace(release, recipe=only)
    (less,) = MinimalityRisk().measure(towns)
    assert less.value == pytest.approx(4 / 6)
    assert less.detail["attribute"] == "town"
    assert less.detail["share-surer"] == 0


CHAIN = Hierarchy.nested({"x": ["q1", "q2"], "y": ["q3"]})
OF_CHAIN = Schema((Attribute("group", "quasi-identifying", hierarchy=CHAIN), SCHEMA["illness"]))


def test_only_people_of_classes_that_would_be_divided_are_told_of() -> None:
    # x is divided as before; y is the same one level finer
    table = people(q1=["HIV", "HIV"], q2=["flu"] * 5, q3=["HIV", "flu", "flu"])
    found = taken(table, HALF, OF_CHAIN)
    assert (found.value, found.detail["share-surer"], found.detail["share-enumerated"]) == (1, 0.7, 1)
    # x has 3 x 6 counts of values in parts of two sizes
    release = sanitize(table, OF_CHAIN, FullDomain({"group": 1}, HALF))
    for ways, value, enumerated in ((36, 1, 1), (35, 5 / 7, 0.3)):
        (limited,) = MinimalityRisk(ways=ways).measure(release)
        assert limited.value == pytest.approx(value)
        assert limited.detail["share-enumerated"] == pytest.approx(enumerated)


@pytest.mark.parametrize("other", [["flu"], ["flu"] * 9])
def test_a_class_that_may_be_where_the_model_failed_leaves_the_others_alone(other: list[str]) -> None:
    # the two of y, each in a part alone, fail however they are dealt out; ten are too many to look at
    tree = Hierarchy.nested({"x": ["q1", "q2"], "y": ["q3", "q4"]})
    schema = Schema((Attribute("group", "quasi-identifying", hierarchy=tree), SCHEMA["illness"]))
    table = people(q1=["HIV", "HIV"], q2=["flu"] * 5, q3=["HIV"], q4=other)
    release = sanitize(table, schema, FullDomain({"group": 1}, HALF))
    (found,) = MinimalityRisk(ways=36).measure(release)
    assert found.value == pytest.approx(found.baseline)
    assert found.detail["share-surer"] == 0
    assert found.detail["share-enumerated"] == pytest.approx(1 if len(other) == 1 else 7 / 17)


def test_the_next_finer_release_is_one_level_below() -> None:
    # at the level of a and b the two with HIV can only be those of a; one by one nobody could be anything
    tree = Hierarchy.nested({"a": ["a1", "a2"], "b": ["b1", "b2"]})
    attributes = (
        Attribute("sex", "quasi-identifying"),
        Attribute("group", "quasi-identifying", hierarchy=tree),
        SCHEMA["illness"],
    )
    table = Table.from_arrow(
        {
            "sex": ["f"] * 7,
            "group": ["a1", "a2"] + ["b1"] * 2 + ["b2"] * 3,
            "illness": ["HIV"] * 2 + ["flu"] * 5,
        }
    )
    how = FullDomain({"sex": 0, "group": 2}, HALF)
    (found,) = measure(sanitize(table, Schema(attributes), how), ["minimality-risk"])
    assert (found.value, found.detail["attribute"]) == (1, "group")
    # nothing below the lowest level that is allowed was tried
    lowest = replace(attributes[1], lowest_level=2)
    schema = Schema((attributes[0], lowest, attributes[2]))
    (none,) = measure(sanitize(table, schema, how), ["minimality-risk"])
    assert none.value == pytest.approx(5 / 7)
    assert none.detail["attribute"] == ""


TWO = Hierarchy.nested({"a": ["a1", "a2"], "b": ["b1", "b2"]})
ILLNESSES = st.sampled_from(["x", "y", "z"])


@settings(max_examples=40)
@given(
    st.lists(ILLNESSES, min_size=1, max_size=2),
    st.lists(ILLNESSES, min_size=2, max_size=3),
    st.lists(ILLNESSES, min_size=1, max_size=2),
    st.lists(ILLNESSES, min_size=1, max_size=2),
    st.sampled_from([ProbabilisticDiversity(1.4), TCloseness(0.45), DistinctDiversity(2)]),
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


ANYTHING = KAnonymity(1)
PAIRS = st.sampled_from([("x", "u"), ("x", "v"), ("y", "u"), ("y", "v"), ("y", "w")])


@settings(max_examples=40)
@given(
    st.lists(PAIRS, min_size=2, max_size=2),
    st.lists(PAIRS, min_size=2, max_size=4),
    st.sampled_from([ProbabilisticDiversity(1.3), DistinctDiversity(2)]),
)
def test_of_two_sensitive_attributes_it_is_not_known_which_failed(
    q1: list[tuple[str, str]], q2: list[tuple[str, str]], model: PrivacyModel
) -> None:
    schema = Schema((*SCHEMA.attributes, Attribute("job", "sensitive")))

    def released(
        world: tuple[tuple[str, str], ...], level: int, asked: PrivacyModel = ANYTHING
    ) -> LinkedRelease:
        illnesses, jobs = zip(*world, strict=True)
        groups = ["q1"] * len(q1) + ["q2"] * len(q2)
        table = Table.from_arrow({"group": groups, "illness": illnesses, "job": jobs})
        return sanitize(table, schema, FullDomain({"group": level}, asked))

    own = (*q1, *q2)
    if not holds(released(own, 1), model) or holds(released(own, 0), model):
        return

    @functools.cache
    def fails(first: tuple[tuple[str, str], ...], second: tuple[tuple[str, str], ...]) -> bool:
        return not holds(released((*first, *second), 0), model)

    worlds = itertools.permutations(own)
    failing = [each for each in worlds if fails(*(tuple(sorted(part)) for part in (each[:2], each[2:])))]
    for place, found in enumerate(MinimalityRisk().measure(released(own, 1, model))):
        chances = [
            Counter(world[person][place] for world in failing).most_common(1)[0][1] / len(failing)
            for person in range(len(own))
        ]
        assert found.baseline is not None
        assert found.value == pytest.approx(max(found.baseline, *chances))
        surer = [chance > found.baseline + 1e-9 for chance in chances]
        assert found.detail["share-surer"] == pytest.approx(sum(surer) / len(own))


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


def test_where_no_way_keeps_the_model_no_share_is_told() -> None:
    assert dealt_out((1, 2), (2, 1), lambda part: False) == (0, [[0.0, 0.0], [0.0, 0.0]])


class TestClasses:
    DIVIDED = _Divided((1, 3), (0, 2), (3, 1))

    def test_what_is_believed_is_what_is_left_when_some_part_failed(self) -> None:
        # half of the ways keep the model, and in those the part of one never has the second value
        kept = _Kept(0.5, [[1.0, 0.0], [2 / 3, 1 / 3]])
        believed = kept.believed(self.DIVIDED, 0.5)
        assert believed[0] == pytest.approx([(0.75 - 0.5) / 0.5, 0.25 / 0.5])
        assert believed[1] == pytest.approx([(0.75 - 0.5 * 2 / 3) / 0.5, (0.25 - 0.5 / 3) / 0.5])
        # the less likely the others keep it, the less is told of this one
        weaker = kept.believed(self.DIVIDED, 0.25)
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
    assert found.detail["m-confidentiality"] == pytest.approx(4 / 3)
    assert found.baseline == 0.6
    (withheld,) = measure(
        sanitize(aged(["HIV", "HIV", "flu", "flu", "flu"]), AGES, SuppressQuasiIdentifiers()),
        ["minimality-risk"],
    )
    assert withheld.value == withheld.baseline == 0.6


def test_each_class_of_mondrian_was_refused_a_cut_by_itself() -> None:
    # twice the five of the test before, far apart: what one tells is no weaker for the other
    illnesses = ["HIV", "HIV", "flu", "flu", "flu"]
    table = Table.from_arrow({"age": [*range(20, 25), *range(60, 65)], "illness": illnesses * 2})
    release = sanitize(table, AGES, Mondrian(HALF))
    assert release.classes.n_classes == 2
    (found,) = measure(release, ["minimality-risk"])
    assert found.value == pytest.approx(0.75)
    # the two of each class, not the three
    assert found.detail["share-surer"] == pytest.approx(4 / 10)
    assert found.detail["share-enumerated"] == 1


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
