"""The control group: what is learned about everybody is not counted as a breach of somebody."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unknown_rows import with_unknown_rows

from sfumato import Attribute, Intervals, Schema, Table, measure, read_release, sanitize
from sfumato.measures import Adversary, AntiUtility, Measurement, Scenario
from sfumato.measures.scenarios import control
from sfumato.measures.scenarios.control import Control, control_group
from sfumato.miners.base import Predictions
from sfumato.miners.cross_validation import predict_from_all
from sfumato.models import KAnonymity, ProbabilisticDiversity
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import LinkedRelease, without_rows
from sfumato.results.released_column import Cells, ValueSets
from sfumato.runtime.errors import Infeasible, ParameterError
from sfumato.sanitizers import (
    Anatomy,
    AsIs,
    Bucketize,
    CellSuppression,
    Clustering,
    FullDomain,
    Laplace,
    LocalRecoding,
    Mondrian,
)

Bound = tuple[Table, Schema]
HALF = Scenario(control=0.5)


def people(n_records: int, *, learnable: bool) -> Bound:
    """Make people with a secret that follows from their numbers, or one that is drawn for each of them."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 40, n_records), rng.integers(0, 30, n_records)
    secret = (a // 10 + b // 10) % 3 if learnable else rng.integers(0, 3, n_records)
    numbers = (
        Attribute("a", "quasi-identifying", "numeric", Intervals((10,))),
        Attribute("b", "quasi-identifying", "numeric", Intervals((10,))),
    )
    table = Table.from_arrow({"a": a, "b": b, "secret": [str(value) for value in secret]})
    schema = Schema((*numbers, Attribute("secret", "sensitive")))
    return schema.with_assumed_public_part(table).bind(table)


def attacked(release: LinkedRelease, **facts: Any) -> Measurement:
    adversary = Adversary(("secret",), miners=("decision-tree", "random-forest", "one-rule"))
    (taken,) = measure(release, [AntiUtility(Scenario(adversary=adversary, folds=3, **facts))])
    return taken


@pytest.mark.parametrize(
    "sanitizer",
    [
        AsIs(),
        Mondrian(KAnonymity(20), borders="tight"),
        FullDomain({"a": 1, "b": 1}, KAnonymity(5)),
        Laplace(3000),
    ],
)
def test_what_follows_for_everybody_is_no_breach_of_somebody(sanitizer: Any) -> None:
    taken = attacked(sanitize(*people(2000, learnable=True), sanitizer))
    assert taken.value is not None
    assert taken.value > 0.85
    assert taken.detail["control"] > 0.85
    assert taken.detail["beyond-control-low"] <= 0.02
    assert abs(taken.detail["beyond-control"]) < 0.05


@pytest.mark.parametrize("sanitizer", [AsIs(), Mondrian(KAnonymity(2)), Laplace(3000)])
def test_what_only_the_own_record_tells_is_beyond_the_control(sanitizer: Any) -> None:
    taken = attacked(sanitize(*people(2000, learnable=False), sanitizer))
    assert taken.value == pytest.approx(1 / 3, abs=0.06)
    assert taken.detail["control"] == pytest.approx(1 / 3, abs=0.09)
    assert taken.detail["beyond-control"] > 0.2
    assert taken.detail["beyond-control-low"] > 0.15
    assert taken.detail["control-miner"] == "random-forest"


def test_the_breach_is_smaller_the_larger_the_classes_are() -> None:
    bound = people(2000, learnable=False)
    found = [
        attacked(sanitize(*bound, Mondrian(KAnonymity(k)))).detail["beyond-control"] for k in (2, 8, 200)
    ]
    assert found[0] > found[1] > found[2]
    assert found[2] < 0.1


def test_the_difference_has_the_interval_of_two_shares() -> None:
    detail = attacked(sanitize(*people(1000, learnable=False), AsIs()), control=0.25).detail
    shares = {750: detail["members"], 250: detail["control"]}
    radius = 1.959964 * np.sqrt(sum(share * (1 - share) / n for n, share in shares.items()))
    assert detail["beyond-control"] == pytest.approx(detail["members"] - detail["control"])
    assert detail["beyond-control-high"] - detail["beyond-control"] == pytest.approx(radius)
    assert detail["beyond-control"] - detail["beyond-control-low"] == pytest.approx(radius)


def test_there_is_none_where_none_is_wanted_or_possible(hospital: Bound) -> None:
    release = sanitize(*people(60, learnable=True), AsIs())
    assert not [name for name in attacked(release, control=0.0).detail if "control" in name]
    foreign = replace(release, recipe=None)
    assert "not made by a recipe" in attacked(foreign).detail["no-control"]
    single = sanitize(*people(60, learnable=True), Mondrian(KAnonymity(60)))
    assert "without the control group" in attacked(single).detail["no-control"]
    scenario = Scenario(adversary=Adversary(("sex",), miners=("one-rule",)), folds=3)
    (taken,) = measure(sanitize(*hospital, AsIs()), [AntiUtility(scenario)])
    assert "how they are written" in taken.detail["no-control"]
    assert taken.value is not None
    by_label = Scenario(adversary=Adversary(("sex",), miners=("naive-bayes",)), folds=3, cells="labels")
    (taken,) = measure(sanitize(*hospital, AsIs()), [AntiUtility(by_label)])
    assert "how they are written" in taken.detail["no-control"]


def test_a_release_from_a_file_has_none() -> None:
    table, schema = people(60, learnable=True)
    records = table.to_arrow()
    numbered = records.append_column("key", [list(range(60))])
    judged = read_release(
        numbered,
        Table.from_arrow(numbered),
        Schema((*schema.attributes, Attribute("key", "identifying"))),
        match="key",
    )
    assert "not made by a recipe" in attacked(judged).detail["no-control"]


def test_only_those_who_matter_are_compared() -> None:
    table, schema = people(400, learnable=False)
    release = sanitize(table, schema, AsIs())
    adversary = Adversary(("secret",), "a < 0", miners=("random-forest",))
    (nobody,) = measure(release, [AntiUtility(Scenario(adversary=adversary, folds=3))])
    assert nobody.value is None
    one = {name: table[name].domain[table[name].codes[0]] for name in ("a", "b")}
    some = replace(adversary, weights=f"a = {one['a']} and b = {one['b']}")
    (few,) = measure(release, [AntiUtility(Scenario(adversary=some, folds=3, control=0.01))])
    assert "nobody in the control group matters" in few.detail["no-control"]


def test_both_shares_are_sums_over_people() -> None:
    release = sanitize(*people(300, learnable=False), Mondrian(KAnonymity(3)))
    adversary = Adversary(("secret",), "if(a < 20, 2, 1)", miners=("random-forest",))
    scenario = Scenario(adversary=adversary, folds=3, control=0.3)
    (taken,) = measure(release, [AntiUtility(scenario)])
    found = control_group(release, scenario)
    guesses = predict_from_all(found.both, "secret", "random-forest", found.members)
    table = release.origin.table
    assert table is not None
    right, everybody = [0, 0], [0, 0]
    weight_of = [2 if table["a"].domain[code] in range(20) else 1 for code in table["a"].codes]
    for entry, row in enumerate(found.both.origin.rows):
        hit = guesses.predicted[entry] == table["secret"].codes[row]
        for group, counts in enumerate((found.members, found.outsiders)):
            right[group] += int(weight_of[row] * counts[entry] * hit)
    for row, weight in enumerate(weight_of):
        everybody[0] += int(weight * found.staying[row])
        everybody[1] += int(weight * found.leaving[row])
    assert taken.detail["members"] == pytest.approx(right[0] / everybody[0])
    assert taken.detail["control"] == pytest.approx(right[1] / everybody[1])


# The two releases behind it

SANITIZERS: list[Any] = [
    AsIs(),
    Mondrian(KAnonymity(2)),
    Mondrian(KAnonymity(2), variant="relaxed"),
    Clustering(KAnonymity(2)),
    LocalRecoding(KAnonymity(2)),
    CellSuppression(KAnonymity(2)),
    Bucketize(ProbabilisticDiversity(1.5)),
    Anatomy(2),
]


@pytest.mark.parametrize("sanitizer", SANITIZERS, ids=lambda each: type(each).__name__)
@given(data=st.data())
@settings(max_examples=15)
def test_every_person_stays_or_leaves(
    sanitizer: Any, tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
) -> None:
    table, schema = data.draw(tiny_tables)
    try:
        release = sanitize(table, schema, sanitizer)
    except (Infeasible, ParameterError):
        return
    reason = ""
    try:
        found = control_group(release, HALF)
    except NotApplicable as given:
        reason = str(given)
    assert "cannot be made again" not in reason
    if reason:
        return
    assert (found.staying + found.leaving).tolist() == table.weights.tolist()
    assert int(found.leaving.sum()) == round(table.n_records / 2)
    n_second = int((found.members > 0).sum())
    assert (found.outsiders[:n_second] == 0).all()
    assert (found.members[n_second:] == 0).all()
    check_cells(found, release, n_second)
    check_people(found, table)


def check_people(found: Control, table: Table) -> None:
    """No more people of a row are shown than there are; who is not shown is suppressed."""
    for counts, limit in ((found.members, found.staying), (found.outsiders, found.leaving)):
        shown = np.bincount(found.both.origin.rows, counts, table.n_rows)
        assert (shown <= limit).all()


def check_cells(found: Control, release: LinkedRelease, n_second: int) -> None:
    """Every set holds the true value, of members and of outsiders."""
    both, table = found.both, release.origin.table
    assert table is not None
    for name, cells in both.cells.items():
        if cells.sets is not None and not (both.group_of is not None and name in both.schema.sensitive):
            assert cells.sets.contain(cells.codes, table[name].codes[both.origin.rows]).all()
    assert both.n_rows >= n_second


@given(data=st.data(), k=st.integers(1, 4))
@settings(max_examples=30)
def test_an_outsider_is_written_like_the_smallest_class_around(
    tiny_tables: st.SearchStrategy[Bound], data: st.DataObject, k: int
) -> None:
    table, schema = data.draw(tiny_tables)
    try:
        found = control_group(sanitize(table, schema, Mondrian(KAnonymity(min(k, table.n_records)))), HALF)
    except NotApplicable:
        return
    check_outsiders(found, table, schema)


def check_outsiders(found: Control, table: Table, schema: Schema) -> int:
    """Every outsider has the cells of the smallest class around, if there is one; return how many have."""
    both, n_second = found.both, int((found.members > 0).sum())
    names = schema.quasi_identifiers

    def written(row: int) -> list[frozenset[int]]:
        every = []
        for name in names:
            sets = both.cells[name].sets
            assert sets is not None
            code = both.cells[name].codes[row]
            every.append(frozenset(sets.members[sets.starts[code] : sets.starts[code + 1]].tolist()))
        return every

    def volume(sets: list[frozenset[int]]) -> int:
        return int(np.prod([len(each) for each in sets]))

    n_covered, classes = 0, [written(row) for row in range(n_second)]
    for row in range(n_second, both.n_rows):
        values = [int(table[name].codes[both.origin.rows[row]]) for name in names]
        around = [c for c in classes if all(value in s for value, s in zip(values, c, strict=True))]
        if around:
            assert written(row) in around
            assert volume(written(row)) == min(map(volume, around))
            n_covered += 1
    return n_covered


def test_noise_is_fresh_for_those_who_stay_and_as_released_for_those_who_leave(hospital: Bound) -> None:
    release = sanitize(*hospital, Laplace(1.0, ("age",), rounded=False))
    found = control_group(release, HALF)
    cells = found.both.cells["age"]
    assert cells.sets is None
    numbers = np.array(cells.domain, dtype=float)[cells.codes]
    released = set(release.cells["age"].domain)
    n_second = int((found.members > 0).sum())
    assert not released & set(numbers[:n_second].tolist())
    assert set(numbers[n_second:].tolist()) <= released


def test_of_a_large_table_only_so_many_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "MOST_OUTSIDERS", 50)
    found = control_group(sanitize(*people(2000, learnable=True), AsIs()), Scenario())
    assert int(found.leaving.sum()) == 50


def few(n_people: int, how: Any = None, seed: int = 4) -> LinkedRelease:
    """Return a release of people each of whom has an age of their own."""
    ages = list(range(20, 20 + n_people))
    table = Table.from_arrow({"age": ages, "ill": ["abcd"[age % 4] for age in ages]})
    age = Attribute("age", "quasi-identifying", "numeric", Intervals((10,)))
    schema = Schema((age, Attribute("ill", "sensitive"))).with_assumed_public_part(table)
    return sanitize(table, schema, how or AsIs(), seed=seed)


class TestByHand:
    @pytest.mark.parametrize(("n_people", "share", "n_left_out"), [(3, 0.4, 1), (4, 0.5, 2), (12, 0.2, 2)])
    def test_so_many_are_left_out(self, n_people: int, share: float, n_left_out: int) -> None:
        release = few(n_people)
        found = control_group(release, Scenario(control=share))
        assert (found.staying.sum(), found.leaving.sum()) == (n_people - n_left_out, n_left_out)
        assert (found.members.sum(), found.outsiders.sum()) == (n_people - n_left_out, n_left_out)
        assert found.members.dtype == found.outsiders.dtype == np.int64
        assert found.both.origin.table is release.origin.table
        # each row of the second release and each outsider has the cells of the original row
        for row, code in zip(found.both.origin.rows, found.both.cells["age"].codes, strict=True):
            assert found.both.cells["age"].labels[code] == str(20 + row)
        assert found.both.weights.tolist() == [1] * n_people
        assert found.both.recipe is None

    @pytest.mark.parametrize(("n_people", "share"), [(12, 0.04), (2, 0.5), (1, 0.5)])
    def test_of_few_none_can_be_left_out(self, n_people: int, share: float) -> None:
        with pytest.raises(NotApplicable, match="too few people for a control group"):
            control_group(few(n_people), Scenario(control=share))

    def test_so_many_tell_enough(self, monkeypatch: pytest.MonkeyPatch) -> None:
        # as the pages of the attacks say
        assert control.MOST_OUTSIDERS == 10_000
        monkeypatch.setattr(control, "MOST_OUTSIDERS", 3)
        assert control_group(few(20), HALF).leaving.sum() == 3

    def test_an_outsider_is_written_like_one_of_several_classes_around(self) -> None:
        rng = np.random.default_rng(0)
        people = {name: rng.integers(0, 30, 40).tolist() for name in ("age", "size")}
        table, schema = Schema.of(age="quasi-identifying", size="quasi-identifying").bind(
            Table.from_arrow(people)
        )
        release = sanitize(table, schema, Clustering(KAnonymity(4)), seed=1)
        assert check_outsiders(control_group(release, Scenario(control=0.4)), table, schema) > 5

    def test_every_class_may_be_around_an_outsider(self) -> None:
        four = few(4)
        assert control._covering_rows(four, four)["age"].tolist() == [0, 1, 2, 3]
        last = without_rows(four, np.array([True, True, True, False]))
        assert control._covering_rows(last, four)["age"].tolist() == [-1, -1, -1, 0]
        # of numbers with noise there are no classes to be in
        noisy = few(4, Laplace(1.0))
        assert control._covering_rows(noisy, noisy) == {}

    def test_another_seed_leaves_out_others(self) -> None:
        found = [control_group(few(20), replace(HALF, seed=seed)).leaving.tolist() for seed in (0, 0, 1)]
        assert found[0] == found[1] != found[2]

    def test_the_recipe_and_the_records_must_be_known(self) -> None:
        for lacking in (replace(few(8), recipe=None), with_unknown_rows(few(8))):
            with pytest.raises(NotApplicable, match="not made by a recipe that could be run again"):
                control_group(lacking, HALF)
        with pytest.raises(NotApplicable, match="the original is needed"):
            control_group(few(8).unlinked(), HALF)

    def test_two_records_must_be_left(self, monkeypatch: pytest.MonkeyPatch) -> None:
        four = few(8).origin.table
        second = control.made_again(few(8), four.part(np.arange(4), np.ones(4, dtype=np.int64)))
        for lacking in (replace(second, weights=np.array([1, 0, 0, 0])), with_unknown_rows(second)):
            monkeypatch.setattr(control, "made_again", lambda *facts, lacking=lacking: lacking)
            with pytest.raises(NotApplicable, match="too few records are left"):
                control_group(few(8), HALF)
        monkeypatch.setattr(
            control, "made_again", lambda *facts: replace(second, weights=np.array([1, 1, 0, 0]))
        )
        assert control_group(few(8), HALF).members.sum() == 2

    def test_suppressed_people_stay_or_leave_unseen(self) -> None:
        # ages 20 to 31: two of them are in a class of their own and suppressed
        release = few(12, FullDomain({"age": 1}, KAnonymity(3), suppression=1.0))
        assert release.n_suppressed == 2
        found = control_group(release, HALF)
        assert found.leaving.sum() == found.staying.sum() == 6
        assert found.outsiders.sum() == found.leaving[:10].sum()

    def test_of_a_group_all_records_are_shown(self) -> None:
        release = few(16, Anatomy(2))
        found = control_group(release, Scenario(control=0.25))
        n_second = found.both.n_rows - release.n_rows
        assert found.both.group_of is not None
        assert found.outsiders[n_second:].sum() == 4
        assert set(found.outsiders[n_second:].tolist()) == {0, 1}
        # the groups of the two releases are different ones
        assert not set(found.both.group_of[:n_second]) & set(found.both.group_of[n_second:])
        assert release.group_of is not None
        apart = found.both.group_of[n_second:] - release.group_of
        assert set(apart.tolist()) == {int(found.both.group_of[:n_second].max()) + 1}

    @pytest.mark.parametrize(("seed", "next_seed"), [(4, 5), (0, 1)])
    def test_it_is_made_by_the_same_recipe_with_the_next_seed(
        self, seed: int, next_seed: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        release = few(8, seed=seed)
        assert release.recipe is not None
        asked: list[Any] = []

        def made(*facts: Any) -> LinkedRelease:
            asked.append(facts)
            return release

        monkeypatch.setattr(control, "make_release", made)
        assert control.made_again(release, release.origin.table) is release
        assert asked == [(release.origin.table, release.schema, replace(release.recipe, seed=next_seed))]
        unseeded = replace(release, recipe=replace(release.recipe, seed=None))
        control.made_again(unseeded, release.origin.table)
        assert asked[1][2].seed == 1

    @pytest.mark.parametrize(
        ("trouble", "words"),
        [
            (Infeasible("k is too large", 1), "without the control group the release cannot be made: k is"),
            (ParameterError("no such level"), "the release cannot be made again: no such level"),
        ],
    )
    def test_why_it_cannot_be_made_is_told(
        self, trouble: Exception, words: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fails(*facts: Any) -> LinkedRelease:
            raise trouble

        monkeypatch.setattr(control, "make_release", fails)
        release = few(8)
        with pytest.raises(NotApplicable, match=words):
            control.made_again(release, release.origin.table)

    def test_miners_see_the_members_alone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[Any] = []

        def predicted(*facts: Any, **limits: Any) -> Any:
            asked.append((*facts, limits))
            none = np.zeros(0, dtype=np.int64)
            return Predictions("ill", facts[2], "category", (), none, none, none, 2, 0.0)

        monkeypatch.setattr(control, "predict_from_all", predicted)
        found = control_group(few(8), HALF)
        scenario = Scenario(seed=3, time_limit=9.0, cells="labels")
        done, lacking = found.mine(found.both, "ill", ["majority", "one-rule"], scenario)
        assert [each.miner for each in done] == ["majority", "one-rule"]
        assert lacking == []
        limits = {"seed": 3, "time_limit": 9.0, "cells": "labels"}
        assert asked == [
            (found.both, "ill", each, found.members, limits) for each in ("majority", "one-rule")
        ]


class TestCells:
    def sets(self, labels: tuple[str, ...], *members: list[int]) -> Cells:
        """Return cells of one row for each label."""
        starts = np.cumsum([0, *map(len, members)])
        sizes = np.array([len(each) for each in members])
        sets = ValueSets(starts, np.concatenate(members), sizes, 3)
        return Cells(np.arange(len(labels)), labels, (1, 2, 3), sets)

    def shown(self, cells: Cells) -> list[Any]:
        return [cells.labels[code] for code in cells.codes]

    def test_equal_labels_are_one_and_every_label_keeps_its_set(self) -> None:
        one, other = self.sets(("1", "2-3"), [0], [1, 2]), self.sets(("1-2", "1"), [0, 1], [0])
        found = control._joined(one, other, None)
        assert self.shown(found) == ["1", "2-3", "1-2", "1"]
        assert found.sets is not None
        assert sorted(found.labels) == ["1", "1-2", "2-3"]
        members = {
            label: found.sets.members[found.sets.starts[code] : found.sets.starts[code + 1]].tolist()
            for code, label in enumerate(found.labels)
        }
        assert members == {"1": [0], "2-3": [1, 2], "1-2": [0, 1]}
        assert found.sets.n_leaves == 3

    def test_an_outsider_gets_the_cell_of_the_row_that_is_named(self) -> None:
        one, other = self.sets(("1", "2-3"), [0], [1, 2]), self.sets(("1-2", "1"), [0, 1], [0])
        assert self.shown(control._joined(one, other, np.array([1, -1]))) == ["1", "2-3", "2-3", "1"]
        assert self.shown(control._joined(one, other, np.array([0, -1]))) == ["1", "2-3", "1", "1"]

    def test_noisy_numbers_are_put_together(self) -> None:
        one, other = (
            Cells(np.array([0, 1]), ("5", "7"), (5, 7)),
            Cells(np.array([1, 0]), ("7", "9"), (7, 9)),
        )
        found = control._joined(one, other, None)
        assert (self.shown(found), found.labels, found.domain) == (
            ["5", "7", "9", "7"],
            ("5", "7", "9"),
            (5, 7, 9),
        )
        assert found.sets is None

    def test_what_differs_in_kind_cannot_be_put_together(self) -> None:
        sets, numbers = self.sets(("1",), [0]), Cells(np.array([0]), ("5",), (5,))
        words = Cells(np.array([0]), ("5",))
        elsewhere = replace(sets, domain=(1, 2, 4))
        for one, other in (
            (sets, numbers),
            (numbers, sets),
            (numbers, words),
            (words, numbers),
            (sets, elsewhere),
        ):
            with pytest.raises(NotApplicable, match="stand for differs when the release is made again"):
                control._joined(one, other, None)
