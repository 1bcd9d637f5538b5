"""Answers against brute force, on tiny sets of candidates with ties, gaps and infinite values."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.measures import Measurement
from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Candidate
from sfumato.results.frontier import Frontier
from sfumato.runtime.errors import ParameterError
from sfumato.workflow.choose.question_answer import Answer, ask

BETTER = {
    "k-anonymity": "higher",
    "total-loss": "lower",
    "suppression-loss": "lower",
    "privacy-loss": "lower",
}
NAMES = list(BETTER)


def candidate(identity: str, *values: float | None, infeasible: str | None = None) -> Candidate:
    """Make a candidate with k, total loss, suppression loss and privacy loss, as far as they are given."""
    measurements = tuple(
        Measurement(name, value, "privacy", BETTER[name])  # type: ignore[arg-type]
        for name, value in zip(NAMES, values, strict=False)
    )
    return Candidate(identity, Recipe("mondrian"), measurements, infeasible)


# What Dewri et al. report for the questions of their introduction (section 7.5).
DEWRI = [
    candidate("a", 5, 0.15, 0.0),
    candidate("b", 14, 0.25, 0.1),
    candidate("c", 36, 0.26, 0.1),
    candidate("d", 40, 0.40, 0.1),
    candidate("e", 30, 0.20, 0.2),
    candidate("f", 200, 0.90, 0.0),
]


class TestThePapersQuestion:
    answer = ask(DEWRI, "max k where loss <= 25% and suppression <= 10%")

    def test_k_14_is_the_answer(self) -> None:
        assert self.answer.candidate == DEWRI[1]
        assert self.answer.figures == {"k-anonymity": 14, "total-loss": 0.25, "suppression-loss": 0.1}
        assert (self.answer.n_compared, self.answer.n_keeping) == (6, 2)

    def test_at_26_percent_k_would_be_36(self) -> None:
        loss, suppression = self.answer.limits
        assert loss.looser is not None
        assert (loss.looser.at, loss.looser.candidate.id, loss.looser.figures) == (
            0.26,
            "c",
            {"k-anonymity": 36},
        )
        assert loss.best_buy is None
        assert suppression.looser is not None
        assert (suppression.looser.at, suppression.looser.candidate.id) == (0.2, "e")

    def test_the_neighbour_on_the_other_side(self) -> None:
        loss = self.answer.limits[0]
        assert loss.tighter is not None
        assert (loss.tighter.at, loss.tighter.figures) == (0.15, {"k-anonymity": 5})
        assert self.answer.runner_up == DEWRI[0]

    def test_in_words(self) -> None:
        text = str(self.answer)
        assert text.startswith("b  Mondrian")
        assert "at 26% you could have k-anonymity 36: Mondrian (c)" in text
        assert "at 15% you would have k-anonymity 5: Mondrian (a)" in text
        assert "6 candidates compared, 2 keep the limits." in text

    def test_as_json(self) -> None:
        facts = json.loads(json.dumps(self.answer.to_dict(), allow_nan=False))
        assert facts["question"] == "max k-anonymity where total-loss <= 25% and suppression-loss <= 10%"
        assert facts["candidate"]["id"] == "b"
        assert facts["limits"][0]["looser"] == {"at": 0.26, "candidate": "c", "figures": {"k-anonymity": 36}}
        assert "seed" not in json.dumps(facts)


def test_the_cliff_farther_off_is_named_when_it_is_the_better_buy() -> None:
    some = [
        candidate("a", 10, 0.1),
        candidate("b", 11, 0.2),
        candidate("c", 900, 0.3),
        candidate("d", 1000, 0.9),
    ]
    (limit,) = ask(some, "max k where loss <= 10%").limits
    assert limit.looser is not None
    assert limit.best_buy is not None
    assert (limit.looser.candidate.id, limit.best_buy.candidate.id) == ("b", "c")
    assert "gains most for its price:  at 30% you could have k-anonymity 900: Mondrian (c)" in str(
        ask(some, "max k where loss <= 10%")
    )


def test_nothing_keeps_the_limits() -> None:
    answer = ask(DEWRI, "max k where loss <= 20% and suppression <= 10% and k >= 30")
    assert answer.candidate is None
    loss, suppression, k = answer.limits
    assert loss.looser is not None
    assert (loss.looser.at, loss.looser.candidate.id) == (0.26, "c")
    assert suppression.looser is not None
    assert (suppression.looser.at, suppression.looser.candidate.id) == (0.2, "e")
    assert k.looser is not None
    assert (k.looser.at, k.looser.candidate.id) == (5, "a")
    assert answer.nearest is not None
    assert answer.nearest.id == "c"
    assert "No candidate keeps all limits" in str(answer)
    assert "total-loss <= 20%: at 26% there is k-anonymity 36: Mondrian (c)" in str(answer)
    assert not answer.to_dict()["answered"]


def test_a_limit_that_alone_does_not_help_says_so() -> None:
    answer = ask(DEWRI, "max k where loss <= 1% and k >= 1000")
    assert [limit.looser for limit in answer.limits] == [None, None]
    assert "by itself it does not help" in str(answer)


def test_of_equals_the_more_careful_one_is_the_answer_and_the_others_are_named() -> None:
    some = [candidate("a", 5, 0.2), candidate("b", 5, 0.1), candidate("c", 5, 0.1), candidate("d", 2, 0.0)]
    answer = ask(some, "max k where loss <= 20%")
    assert answer.candidate == some[1]
    assert [tied.id for tied in answer.ties] == ["c", "a"]
    assert "as good: Mondrian (c); Mondrian (a)" in str(answer)


def test_of_two_goals_the_first_counts_most_and_the_trade_offs_are_told() -> None:
    some = [
        candidate("a", 20, 0.2),
        candidate("b", 22, 0.3),
        candidate("c", 18, 0.1),
        candidate("d", 18, 0.2),
    ]
    answer = ask(some, "max k, min loss")
    assert answer.candidate == some[1]
    assert [other.id for other in answer.trade_offs] == ["a", "c"]
    assert ask(some, "min loss, max k").candidate == some[2]
    assert "Better in one of the goals and worse in another:\n  a  Mondrian: k-anonymity 20" in str(answer)


def test_best_follows_the_measure_and_max_and_min_say_it_outright() -> None:
    assert ask(DEWRI, "best loss").candidate == DEWRI[0]
    assert ask(DEWRI, "best k").candidate == DEWRI[5]
    assert ask(DEWRI, "max loss").candidate == DEWRI[5]
    assert ask(DEWRI, "min k").candidate == DEWRI[0]


def test_candidates_without_a_measure_are_counted_not_compared() -> None:
    some = [
        candidate("a", 5, None),
        candidate("b", 3, 0.1),
        candidate("c", 9),
        candidate("d", infeasible="no"),
    ]
    answer = ask(some, "max k where loss <= 50%")
    assert answer.candidate == some[1]
    assert answer.n_compared == 1
    assert (answer.not_applicable, answer.not_measured) == ({"total-loss": 1}, {"total-loss": 1})
    text = str(answer)
    assert "1 candidate not compared: total-loss does not apply." in text
    assert "1 candidate not compared: total-loss was not measured" in text


def test_where_no_candidate_can_be_compared() -> None:
    answer = ask([candidate("a", 5, None), candidate("b", None, 0.2)], "max k where loss <= 50%")
    assert (answer.candidate, answer.nearest, answer.n_compared) == (None, None, 0)
    assert "No candidate has all the measures" in str(answer)


@pytest.mark.parametrize("nobody", [[], [candidate("a", infeasible="too few records")]])
def test_without_candidates_there_is_an_error(nobody: list[Candidate]) -> None:
    with pytest.raises(ParameterError, match="no candidate to ask about; explore first"):
        ask(nobody, "max k")


def test_infinite_values_are_worst_and_written_as_such() -> None:
    some = [candidate("a", 5, math.inf), candidate("b", 3, 0.2), candidate("c", 2, 0.1)]
    answer = ask(some, "max k where loss <= 20%")
    (limit,) = answer.limits
    assert limit.looser is not None
    assert limit.looser.at == math.inf
    assert "at ∞ you could have k-anonymity 5: Mondrian (a)" in str(answer)
    assert json.dumps(answer.to_dict(), allow_nan=False).count('"Infinity"') == 1
    assert ask(some, "min loss where k >= 4").candidate == some[0]


def test_where_all_values_are_infinite_the_nearest_is_still_told() -> None:
    some = [candidate("a", 5, math.inf), candidate("b", 9, math.inf)]
    answer = ask(some, "max k where loss < ∞")
    assert (answer.candidate, answer.nearest) == (None, some[1])
    assert [limit.looser and limit.looser.at for limit in answer.limits] == [math.inf]


def test_rounding_is_no_better_answer() -> None:
    some = [candidate("a", 5, 0.1 + 0.2), candidate("b", 2, 0.3)]
    answer = ask(some, "min loss where k >= 4")
    assert answer.limits[0].looser is None


def test_one_candidate_is_answer_enough() -> None:
    answer = ask([candidate("a", 5, 0.1)], "max k where loss <= 10%")
    assert answer.candidate is not None
    assert (answer.limits[0].looser, answer.limits[0].tighter, answer.runner_up) == (None, None, None)
    assert "1 candidate compared, 1 keeps the limits." in str(answer)


def test_a_frontier_can_be_asked(hospital: tuple[sf.Table, sf.Schema]) -> None:
    releases = [sf.sanitize(*hospital, sf.sanitizers.Mondrian(sf.models.KAnonymity(k))) for k in (2, 3, 6)]
    made = tuple(
        Candidate(str(place), release.recipe or Recipe(""), tuple(sf.measure(release, NAMES)))
        for place, release in enumerate(releases)
    )
    answer = sf.ask(Frontier(made, ("privacy-loss", "total-loss")), "max k where loss <= 45%")
    assert isinstance(answer, sf.results.Answer)
    assert answer.figures["k-anonymity"] == 3


# Brute force

VALUES = st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.3, 0.5, 1.0])
SOME = st.lists(
    st.tuples(st.sampled_from([1, 2, 5, 5, 20, 400]), VALUES, VALUES | st.just(math.inf), VALUES),
    min_size=1,
    max_size=9,
)
LIMITS = st.lists(
    st.tuples(st.sampled_from(NAMES[1:]), st.sampled_from(["<=", "<", ">=", "="]), VALUES), max_size=3
)
GOALS = st.lists(
    st.tuples(st.sampled_from(["max", "min"]), st.sampled_from(NAMES[:2])),
    min_size=1,
    max_size=2,
    unique=True,
)
HOLDS = {
    "<=": lambda value, number: value <= number,
    "<": lambda value, number: value < number,
    ">=": lambda value, number: value >= number,
    "=": lambda value, number: value == number,
}


def goal_values(goals: Any, row: dict[str, float]) -> list[float]:
    return [-row[name] if aim == "max" else row[name] for aim, name in goals]


def keeps(limits: Any, row: dict[str, float], but: int | None = None) -> bool:
    return all(HOLDS[sign](row[name], n) for i, (name, sign, n) in enumerate(limits) if i != but)


def wrong_by(limit: Any, row: dict[str, float]) -> float:
    name, _, number = limit
    if row[name] == number:
        return 0.0
    return abs(row[name] - number)


@given(SOME, GOALS, LIMITS)
def test_brute_force_agrees(values: Any, goals: Any, limits: Any) -> None:
    some = [candidate(str(place), *row) for place, row in enumerate(values)]
    rows = {c.id: dict(zip(NAMES, row, strict=True)) for c, row in zip(some, values, strict=True)}
    wanted = ", ".join(f"{aim} {name}" for aim, name in goals)
    text = wanted + " where " * bool(limits) + " and ".join(f"{name} {sign} {n}" for name, sign, n in limits)
    answer = ask(some, text)
    keeping = {i: goal_values(goals, row) for i, row in rows.items() if keeps(limits, row)}
    assert answer.n_keeping == len(keeping)
    assert (answer.candidate is None) == (not keeping)
    best = min(keeping.values(), default=None)
    if answer.candidate is not None:
        assert keeping[answer.candidate.id] == best
        as_good = {i for i, reached in keeping.items() if reached == best}
        assert {answer.candidate.id, *(c.id for c in answer.ties)} == as_good
        assert_efficient(answer, keeping)
    for place, (worth, limit) in enumerate(zip(answer.limits, limits, strict=True)):
        freed = {
            i: (wrong_by(limit, row), goal_values(goals, row))
            for i, row in rows.items()
            if i not in keeping and keeps(limits, row, but=place)
        }
        better = {i: pair for i, pair in freed.items() if best is None or pair[1] < best}
        if not better:
            assert worth.looser is None
            continue
        assert worth.looser is not None
        assert better[worth.looser.candidate.id] == min(better.values())
        if worth.best_buy is not None:
            assert better[worth.best_buy.candidate.id][1] < better[worth.looser.candidate.id][1]


def assert_efficient(answer: Answer, keeping: dict[str, list[float]]) -> None:
    """Check that answer and trade-offs are the different efficient points of the goals."""
    found = [keeping[c.id] for c in (answer.candidate, *answer.trade_offs) if c is not None]
    efficient = [
        point
        for point in keeping.values()
        if not any(
            all(a <= b for a, b in zip(o, point, strict=True)) and o != point for o in keeping.values()
        )
    ]
    assert sorted(found) == sorted(map(list, {tuple(point) for point in efficient}))


@given(SOME, st.sampled_from([0.1, 0.25, 0.5]))
def test_a_tighter_limit_leaves_what_the_question_with_it_would_answer(values: Any, number: float) -> None:
    some = [candidate(str(place), *row) for place, row in enumerate(values)]
    answer = ask(some, f"max k where loss <= {number}")
    if answer.candidate is None:
        return
    (limit,) = answer.limits
    rows = [(row[0], row[1]) for row in values if row[1] < answer.figures["total-loss"]]
    if limit.tighter is None:
        assert not rows
    else:
        assert limit.tighter.figures["k-anonymity"] == max(k for k, _ in rows)
        again = ask(some, f"max k where loss <= {limit.tighter.at}")
        assert again.figures["k-anonymity"] == limit.tighter.figures["k-anonymity"]


@given(SOME, st.sampled_from([0.0, 0.1, 0.25]))
def test_asking_again_with_the_looser_limit_gives_what_was_promised(values: Any, number: float) -> None:
    some = [candidate(str(place), *row) for place, row in enumerate(values)]
    (limit,) = ask(some, f"max k where loss <= {number}").limits
    if limit.looser is not None:
        again = ask(some, f"max k where loss <= {limit.looser.at}")
        assert again.figures["k-anonymity"] == limit.looser.figures["k-anonymity"]
