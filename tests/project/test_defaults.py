"""What is measured where a project names no measures."""

from __future__ import annotations

from sfumato import Schema, Table, explore
from sfumato.models import KAnonymity
from sfumato.reading import datasets
from sfumato.sanitizers import CartSynthesis, Laplace, Mondrian
from sfumato.searches import Suited
from sfumato.workflow.project.default_axes_and_measures import default_measures


def test_attack_risk_is_the_first_axis_where_not_all_rows_stand_for_people() -> None:
    _, schema = datasets.hospital()
    privacy, _ = default_measures(schema, tried=["mondrian", "laplace"])
    assert privacy[0] == "attack-risk"
    assert privacy[1:] == default_measures(schema)[0]


def test_epsilon_is_told_where_a_method_promises_one() -> None:
    _, schema = datasets.hospital()
    assert default_measures(schema, tried=["mondrian", "mst"])[0][-1] == "epsilon"
    assert "epsilon" not in default_measures(schema, tried=["laplace"])[0]


def test_people_alone_are_judged_by_their_classes() -> None:
    _, schema = datasets.hospital()
    assert default_measures(schema, tried=["mondrian"]) == default_measures(schema)


def test_a_frontier_of_mixed_kinds_has_attack_risk_on_its_first_axis() -> None:
    frontier = explore(*datasets.hospital(), [Mondrian(KAnonymity(3)), Laplace()], seed=0, policy="none")
    assert frontier.axes[0] == "attack-risk"
    assert all(candidate.value("attack-risk") is not None for candidate in frontier.candidates)


def test_without_a_sensitive_attribute_counts_compare_all_kinds() -> None:
    table = Table.from_arrow({"age": list(range(20, 44)), "sex": list("fm") * 12})
    schema = Schema.of(age="quasi-identifying", sex="quasi-identifying")
    frontier = explore(table, schema, [Mondrian(KAnonymity(3)), CartSynthesis()], seed=0, policy="none")
    assert frontier.axes == ("attack-risk", "k-marginal attributes=2")
    assert all(
        candidate.value(axis) is not None for candidate in frontier.candidates for axis in frontier.axes
    )


def test_a_search_for_every_type_places_all_of_them_on_one_frontier() -> None:
    table, schema = datasets.hospital()
    frontier = explore(table, schema, [Suited(every_type=True)], seed=0, policy="none")
    assert frontier.axes == ("attack-risk", "utility-loss")
    made = {candidate.recipe.sanitizer for candidate in frontier.candidates}
    assert {"mondrian", "pram", "rank-swapping"} <= made
    assert all(candidate.value("utility-loss") is not None for candidate in frontier.candidates)
