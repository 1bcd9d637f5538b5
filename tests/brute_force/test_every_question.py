"""Questions about every small set of candidates, answered by looking at each candidate."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

import sfumato as sf
from sfumato.measures import Measurement
from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Candidate
from sfumato.workflow.choose.question_answer import ask

K: list[float | None] = [2, 5, None]
LOSS: list[float | None] = [0.1, 0.3, math.inf]
HOLDS = {
    "<=": lambda value, number: value <= number + 1e-12,
    "<": lambda value, number: value < number - 1e-12,
    ">=": lambda value, number: value >= number - 1e-12,
    "=": lambda value, number: abs(value - number) <= 1e-12,
}
GOALS = [[("max", "k")], [("min", "loss")], [("max", "k"), ("min", "loss")], [("min", "loss"), ("min", "k")]]
LIMITS: list[list[tuple[str, str, float]]] = [
    [],
    [("loss", "<=", 0.3)],
    [("loss", "<", 0.3)],
    [("k", ">=", 5)],
    [("k", "=", 2), ("loss", "<=", 0.1)],
    [("k", ">=", 5), ("loss", "<=", 0.1)],
]


def candidate(identity: str, values: tuple[float | None, float | None]) -> Candidate:
    k, loss = values
    return Candidate(
        identity,
        Recipe("mondrian"),
        (
            Measurement("k-anonymity", k, "privacy", "higher"),
            Measurement("total-loss", loss, "utility", "lower"),
        ),
    )


def worth(goals: list[tuple[str, str]], row: dict[str, float]) -> tuple[float, ...]:
    return tuple(-row[name] if aim == "max" else row[name] for aim, name in goals)


def check(
    values: tuple[Any, ...], goals: list[tuple[str, str]], limits: list[tuple[str, str, float]]
) -> None:
    some = [candidate(str(place), each) for place, each in enumerate(values)]
    text = ", ".join(f"{aim} {name}" for aim, name in goals)
    text += " where " * bool(limits) + " and ".join(
        f"{name} {sign} {number}" for name, sign, number in limits
    )
    asked = {name for _, name in goals} | {name for name, _, _ in limits}
    rows = {
        str(place): {"k": k, "loss": loss}
        for place, (k, loss) in enumerate(values)
        if not ("k" in asked and k is None)
    }

    def keeps(row: dict[str, Any], but: int | None = None) -> bool:
        kept = (HOLDS[sign](row[name], n) for at, (name, sign, n) in enumerate(limits) if at != but)
        return all(kept)

    answer = ask(some, text)
    keeping = {identity: worth(goals, row) for identity, row in rows.items() if keeps(row)}
    assert (answer.n_compared, answer.n_keeping) == (len(rows), len(keeping))
    best = min(keeping.values(), default=None)
    chosen = [] if answer.candidate is None else [answer.candidate, *answer.ties]
    assert {each.id for each in chosen} == {identity for identity, each in keeping.items() if each == best}
    runner_up = min((each for each in keeping.values() if each != best), default=None)
    assert (None if answer.runner_up is None else keeping[answer.runner_up.id]) == runner_up
    points = set(keeping.values())
    efficient = {p for p in points if not any(o != p and all(map(float.__le__, o, p)) for o in points)}
    found = [keeping[each.id] for each in (answer.candidate, *answer.trade_offs) if each is not None]
    assert sorted(found) == sorted(efficient)
    for at, (name, _, number) in enumerate(limits):
        freed = {
            identity: (abs(row[name] - number), worth(goals, row))
            for identity, row in rows.items()
            if identity not in keeping and keeps(row, but=at)
        }
        better = {i: each for i, each in freed.items() if best is None or each[1] < best}
        looser = answer.limits[at].looser
        assert (None if looser is None else better[looser.candidate.id]) == min(better.values(), default=None)
        if looser is not None:
            assert looser.at == rows[looser.candidate.id][name]


@pytest.mark.parametrize("size", [3, 1, 2, 4])
@pytest.mark.thorough("all sets of three candidates", but=1)
def test_the_answer_is_the_best_of_all_candidates(size: int) -> None:
    pairs = [(None if k is None else float(k), loss) for k, loss in itertools.product(K, LOSS)]
    n_asked = 0
    for values in itertools.combinations_with_replacement(pairs, size):
        for goals, limits in itertools.product(GOALS, LIMITS):
            try:
                check(values, goals, limits)
            except AssertionError as problem:
                raise AssertionError(f"{goals} where {limits} of {values}") from problem
            n_asked += 1
    assert n_asked == math.comb(len(pairs) + size - 1, size) * len(GOALS) * len(LIMITS)
    assert sf.ask is ask
