"""Refinement: parameters between two neighbours on the front, the largest gap first."""

from __future__ import annotations

from typing import Any

import pytest

from sfumato.reading import datasets
from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Alias, Candidate
from sfumato.results.frontier import Frontier
from sfumato.results.measurement import Measurement
from sfumato.searches import Sweep
from sfumato.workflow.explore.gap_filling import between_neighbours, gaps, middle
from sfumato.workflow.explore.library import explore

AXES = ("privacy-loss", "general-loss")


def recipe(k: int, sanitizer: str = "mondrian", **more: Any) -> Recipe:
    return Recipe(sanitizer, {"model": {"k-anonymity": {"k": k}}, **more})


def candidate(privacy: float, loss: float, made_by: Recipe, *also: Recipe) -> Candidate:
    measured = (
        Measurement("privacy-loss", privacy, "privacy", "lower"),
        Measurement("general-loss", loss, "utility", "lower"),
    )
    aliases = tuple(Alias(f"also {place}", each) for place, each in enumerate(also))
    return Candidate(f"{privacy} {loss}", made_by, measured, also=aliases)


def proposed(*candidates: Candidate, known: tuple[Recipe, ...] = ()) -> list[Recipe]:
    taken = {each.key for each in known}
    return list(between_neighbours(Frontier(candidates, AXES), lambda each: each.key in taken))


class TestMiddle:
    @pytest.mark.parametrize(
        ("one", "other", "expected"), [(2, 200, 20), (5, 20, 10), (20, 5, 10), (2, 4, 3), (10, 13, 11)]
    )
    def test_of_whole_numbers_is_that_of_their_ratio_and_whole(
        self, one: int, other: int, expected: int
    ) -> None:
        found = middle(recipe(one), recipe(other))
        assert found == recipe(expected)

    @pytest.mark.parametrize(
        ("one", "other", "expected"),
        [(0.1, 0.2, 0.15), (0.0, 0.05, 0.025), (1.5, 6.0, 3.0), (0.2, 0.21, 0.205)],
    )
    def test_of_shares_is_that_of_their_difference_in_few_digits(
        self, one: float, other: float, expected: float
    ) -> None:
        def close(t: float) -> Recipe:
            return Recipe("mondrian", {"model": {"t-closeness": {"t": t}}})

        assert middle(close(one), close(other)) == close(expected)

    def test_of_several_parameters_moves_them_all(self) -> None:
        first = Recipe("cell-suppression", {"model": {"k-anonymity": {"k": 2}}, "suppression": 0.0})
        second = Recipe("cell-suppression", {"model": {"k-anonymity": {"k": 8}}, "suppression": 0.1})
        found = middle(first, second)
        assert found is not None
        assert found.parameters == {"model": {"k-anonymity": {"k": 4}}, "suppression": 0.05}

    def test_is_nothing_where_nothing_lies_in_between(self) -> None:
        assert middle(recipe(2), recipe(3)) is None
        assert middle(recipe(5), recipe(5)) is None
        assert middle(recipe(2), recipe(20, "clustering")) is None
        assert middle(recipe(2), recipe(20, variant="relaxed")) is None
        assert middle(recipe(2, variant="strict"), recipe(20, variant="relaxed")) is None


class TestGaps:
    def test_are_sorted_by_what_a_release_in_them_would_add(self) -> None:
        front = [
            candidate(0.0, 1.0, recipe(90)),
            candidate(0.1, 0.5, recipe(20)),
            candidate(1.0, 0.0, recipe(2)),
        ]
        found = gaps(Frontier((*front, candidate(1.0, 1.0, recipe(7))), AXES))
        assert [gap.share for gap in found] == [pytest.approx(0.9 * 0.5), pytest.approx(0.1 * 0.5)]
        assert [gap.first for gap in found] == [front[1], front[0]]

    def test_that_could_add_next_to_nothing_are_left_open(self) -> None:
        front = [
            candidate(0.0, 1.0, recipe(9)),
            candidate(0.001, 0.999, recipe(8)),
            candidate(1.0, 0.0, recipe(2)),
        ]
        assert [gap.first for gap in gaps(Frontier(tuple(front), AXES))] == [front[1]]

    def test_need_two_efficient_candidates(self) -> None:
        assert gaps(Frontier((candidate(0.0, 0.0, recipe(2)), candidate(1.0, 1.0, recipe(3))), AXES)) == []


class TestProposed:
    def test_is_the_middle_of_two_neighbours_of_one_method(self) -> None:
        found = proposed(candidate(0.1, 0.9, recipe(50)), candidate(0.9, 0.1, recipe(2)))
        assert found[0] == recipe(10)

    def test_goes_on_in_the_halves_where_the_middle_is_known(self) -> None:
        pair = candidate(0.1, 0.9, recipe(50)), candidate(0.9, 0.1, recipe(2))
        found = proposed(*pair, known=(recipe(10),))
        assert found[:2] == [recipe(22), recipe(4)]

    def test_of_neighbours_of_two_methods_looks_for_the_next_of_each_beyond_the_gap(self) -> None:
        found = proposed(
            candidate(0.1, 0.9, recipe(50)),
            candidate(0.9, 0.1, recipe(2, "clustering")),
            candidate(0.95, 0.3, recipe(2)),
            candidate(0.05, 0.95, recipe(32, "clustering")),
        )
        assert recipe(10) in found
        assert recipe(8, "clustering") in found

    def test_takes_the_other_recipes_of_an_equal_release_too(self) -> None:
        found = proposed(
            candidate(0.1, 0.9, recipe(50, "clustering"), recipe(32)), candidate(0.9, 0.1, recipe(2))
        )
        assert found[0] == recipe(8)


def test_a_budget_that_is_left_finds_a_better_front_than_the_plan_alone() -> None:
    table, schema = datasets.adult("train", quasi_identifiers=("age", "sex", "race"))
    plan = [Sweep("mondrian", {"model": {"k-anonymity": {"k": [2, 400]}}})]
    measures = ["privacy-loss", "general-loss"]
    alone = explore(table, schema, plan, measures, seed=1, policy="none")
    refined = explore(table, schema, plan, measures, seed=1, budget=3600.0, policy="none")
    worst = refined.hypervolume()[1]
    assert len(alone.efficient()) == 2
    assert len(refined.efficient()) > 5
    assert refined.hypervolume(worst)[0] > 1.05 * alone.hypervolume(worst)[0]
