"""What is measured where a project names no measures."""

from __future__ import annotations

from sfumato import KAnonymity, Laplace, Mondrian, datasets, explore
from sfumato.project.defaults import default_measures


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
    frontier = explore(*datasets.hospital(), [Mondrian(KAnonymity(3)), Laplace()], seed=0)
    assert frontier.axes[0] == "attack-risk"
    assert all(candidate.value("attack-risk") is not None for candidate in frontier.candidates)
