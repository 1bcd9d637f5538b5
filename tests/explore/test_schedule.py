"""The order of candidates: the ends first, one middle of every method, then every try by turns."""

from __future__ import annotations

from itertools import pairwise

from sfumato.registry.recipe import Recipe
from sfumato.sanitizers import CellSuppression, LocalRecoding
from sfumato.workflow.explore.candidate_workers import Task
from sfumato.workflow.explore.schedule import MethodCosts, in_order, spread


def tasks(sanitizer: str, *ks: int) -> list[Task]:
    if not ks:
        return [Task(sanitizer, Recipe(sanitizer), ())]
    return [Task(f"{sanitizer} {k}", Recipe(sanitizer, {"model": {"k-anonymity": {"k": k}}}), ()) for k in ks]


def ordered(entries: list[list[Task]], costs: MethodCosts | None = None) -> list[str]:
    return [task.id for task in in_order(entries, costs or MethodCosts())]


def test_what_is_spread_is_everything_once_the_middle_and_both_ends_first() -> None:
    for n in range(40):
        assert sorted(spread(n)) == list(range(n))
    assert [spread(n) for n in (1, 2, 3)] == [[0], [1, 0], [1, 0, 2]]
    assert spread(17)[:5] == [8, 0, 16, 4, 12]


def test_after_any_few_of_a_spread_no_gap_is_more_than_twice_the_smallest_that_is_possible() -> None:
    for given in range(3, 33):
        places = sorted(spread(33)[:given])
        widest = max(high - low for low, high in pairwise(places))
        assert widest <= 2 * -(-32 // (given - 1))


def test_the_ends_come_first_wherever_they_stand() -> None:
    entries = [tasks("mondrian", 2, 5, 10), tasks("as-is"), tasks("suppress-quasi-identifiers")]
    assert ordered(entries)[:3] == ["as-is", "suppress-quasi-identifiers", "mondrian 5"]


def test_every_method_has_a_turn_before_any_has_a_second() -> None:
    entries = [tasks("mondrian", 2, 5, 10), tasks("mondrian", 20, 30), tasks("clustering", 2, 5, 10)]
    assert ordered(entries)[:3] == ["mondrian 5", "clustering 5", "mondrian 30"]


def test_what_costs_little_comes_before_what_costs_much() -> None:
    costs = MethodCosts({"clustering": [1.0], "mondrian": [10.0]})
    entries = [tasks("mondrian", 2, 5, 10, 20), tasks("clustering", 2, 5, 10, 20)]
    found = ordered(entries, costs)
    assert found[:2] == ["clustering 10", "mondrian 10"]
    assert [name.split()[0] for name in found[2:]] == ["clustering"] * 3 + ["mondrian"] * 3


def test_costs_that_become_known_on_the_way_count_at_once() -> None:
    costs = MethodCosts()
    order = in_order([tasks("mondrian", 2, 5, 10, 20), tasks("clustering", 2, 5, 10, 20)], costs)
    assert [next(order).recipe.sanitizer for _ in range(2)] == ["mondrian", "clustering"]
    costs.add("mondrian", 9.0)
    costs.add("clustering", 1.0)
    assert [next(order).recipe.sanitizer for _ in range(3)] == ["clustering"] * 3


def test_what_a_search_proposes_is_parted_by_method_models_and_words() -> None:
    def beside(k: int, t: float) -> Task:
        given = {"model": {"k-anonymity": {"k": k}, "t-closeness": {"t": t}}}
        return Task(f"beside {k} {t}", Recipe("mondrian", given), ())

    proposed = [
        *tasks("mondrian", 2, 5, 10),
        *(beside(5, t) for t in (0.1, 0.2, 0.3)),
        *tasks("clustering", 5),
    ]
    assert ordered([proposed])[:3] == ["mondrian 5", "clustering 5", "beside 5 0.2"]


def test_loading_code_does_not_count_as_the_cost_of_a_method() -> None:
    costs = MethodCosts()
    for seconds in (5.0, 1.0):
        costs.add("mondrian", seconds)
    assert costs.of("mondrian") == 1.0


def test_a_method_that_was_never_timed_costs_what_the_others_do() -> None:
    assert MethodCosts({"mondrian": [2.0], "clustering": [4.0]}).of("anatomy") == 3.0


def test_a_method_that_takes_more_effort_costs_more() -> None:
    assert MethodCosts().of("local-recoding") > MethodCosts().of("mondrian") > MethodCosts().of("top-coding")
    costs = MethodCosts({"mondrian": [2.0]})
    assert costs.of("local-recoding") == 2.0 * LocalRecoding.times_mondrian
    costs.add("cell-suppression", 6.0 * CellSuppression.times_mondrian)
    assert costs.of("local-recoding") == 4.0 * LocalRecoding.times_mondrian, "halfway between both"


def test_a_method_without_parameters_says_nothing_about_the_others() -> None:
    costs = MethodCosts({"as-is": [50.0]})
    costs.add("mondrian", 1.0)
    assert costs.of("anatomy") == 1.0


def test_cheap_methods_come_before_expensive_ones_that_were_never_timed() -> None:
    entries = [tasks("local-recoding", 2, 5), tasks("cell-suppression", 2, 5), tasks("mondrian", 2, 5)]
    assert [name.split()[0] for name in ordered(entries)[:3]] == [
        "mondrian",
        "cell-suppression",
        "local-recoding",
    ]
