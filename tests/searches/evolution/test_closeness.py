"""Problems with t: the whole true front of a table that can be searched entirely, and honest recipes."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from typing import Any, get_args

import numpy as np
import pytest

from sfumato import Attribute, Schema, Table, measure, sanitize
from sfumato.runtime.errors import ParameterError
from sfumato.searches import Evolution
from sfumato.searches.evolution.closeness_problems import ClosenessName, ClosenessProblem, Farness
from sfumato.searches.evolution.cuts import CutSpace
from sfumato.searches.evolution.evolution_run import Settings, evolve, improve

Point = tuple[float, ...]
NAMES = get_args(ClosenessName)
AGES, SEXES, PAYS = (1, 2, 3, 4), ("f", "m"), (1, 2, 4, 8)


def people(seed: int, n: int = 60) -> tuple[Table, Schema]:
    rng = np.random.default_rng(seed)
    columns = {
        "age": [*AGES, *rng.choice(AGES, n - 4).tolist()],
        "sex": [*SEXES, *SEXES, *rng.choice(SEXES, n - 4).tolist()],
        "pay": [*PAYS, *rng.choice(PAYS, n - 4, p=[0.4, 0.3, 0.2, 0.1]).tolist()],
    }
    schema = Schema.of({"age": "quasi-identifying", "sex": "quasi-identifying", "pay": "sensitive"})
    return schema.bind(Table.from_arrow(columns))


def distance(values: list[int], everybody: list[int], kind: Farness) -> float:
    """Return the earth mover's distance by its definition, all values a step apart or along the order."""
    share, prior = Counter(values), Counter(everybody)
    differences = [share[pay] / len(values) - prior[pay] / len(everybody) for pay in PAYS]
    if kind == "equal":
        return sum(map(abs, differences)) / 2
    return sum(map(abs, itertools.accumulate(differences))) / (len(PAYS) - 1)


def points_of(table: Table, bits: tuple[int, ...], together: bool, eta: float, kind: Farness) -> set[Point]:
    """Return (-k, -l, t, loss) of every threshold of k, l and t that suppresses few enough, by hand."""
    rows = table.to_arrow().to_pylist()
    everybody = [row["pay"] for row in rows]
    block = [0, *itertools.accumulate(bits)]
    members: dict[Any, list[int]] = defaultdict(list)
    for row in rows:
        members[block[row["age"] - 1], together or row["sex"]].append(row["pay"])
    classes = [
        (
            len(pays),
            len(pays) // max(Counter(pays).values()),
            distance(pays, everybody, kind),
            ((block.count(place) - 1) / 3 + together) / 2,
        )
        for (place, _), pays in members.items()
    ]
    points: set[Point] = set()
    for k, least, t in itertools.product(*({each[part] for each in classes} for part in range(3))):
        kept = [each for each in classes if each[0] >= k and each[1] >= least and each[2] <= t + 1e-12]
        if kept and len(rows) - sum(each[0] for each in kept) <= eta * len(rows):
            loss = sum(each[0] * each[3] for each in kept) / len(rows)
            points.add(
                (
                    -min(each[0] for each in kept),
                    -min(each[1] for each in kept),
                    max(each[2] for each in kept),
                    loss,
                )
            )
    return points


def front(points: set[Point]) -> set[Point]:
    rounded = {tuple(round(value, 9) for value in point) for point in points}
    return {
        point
        for point in rounded
        if not any(
            other != point and all(a <= b for a, b in zip(other, point, strict=True)) for other in rounded
        )
    }


def problem_of(
    bound: tuple[Table, Schema], name: ClosenessName, eta: float, kind: Farness = "equal"
) -> ClosenessProblem:
    return ClosenessProblem(
        CutSpace.of(*bound), ClosenessProblem.whole_of(*bound, kind), name, eta, distance=kind
    )


@pytest.mark.thorough("its first two", but=2)
@pytest.mark.parametrize("kind", get_args(Farness))
@pytest.mark.parametrize("name", NAMES)
def test_the_search_finds_the_whole_true_front(name: ClosenessName, kind: Farness) -> None:
    bound, eta = people(3), 0.15
    chosen = {"t-closeness": (2, 3), "k-t-safety": (0, 2, 3), "k-l-t-safety": (0, 1, 2, 3)}[name]
    every = {
        tuple(point[place] for place in chosen)
        for bits in itertools.product((0, 1), repeat=3)
        for together in (False, True)
        for point in points_of(bound[0], bits, together, eta, kind)
    }
    problem = problem_of(bound, name, eta, kind)
    judge = evolve(problem.space, problem, Settings(20, 15), seed=1)
    improve(judge)
    found = {tuple(round(value, 9) for value in row) for row in judge.archive.objectives.tolist()}
    assert found == front(every)


@pytest.mark.parametrize("kind", get_args(Farness))
@pytest.mark.parametrize("name", NAMES)
def test_every_recipe_has_the_claimed_k_l_and_t(name: ClosenessName, kind: Farness) -> None:
    for seed, eta in ((1, 0.0), (2, 0.1), (5, 0.4)):
        bound = people(seed)
        problem = problem_of(bound, name, eta, kind)
        genes = problem.space.sample(np.random.default_rng(seed), 4)
        found = problem.evaluate(genes)
        for owner, traits in zip(found.owner, found.traits, strict=True):
            release = sanitize(*bound, problem.recipe(genes[owner], traits))
            reached: list[Any] = ["k-anonymity", "probabilistic-diversity"]
            reached += [{"t-closeness": {"distance": kind}}, "general-loss"]
            k, diversity, t, loss = (m.value for m in measure(release, reached))
            named = dict(zip(problem.traits, traits.tolist(), strict=True))
            assert (k, int(diversity or 0)) == (named["k"], named["l"])
            assert (t, loss) == pytest.approx((named["t"], named["general-loss"]), abs=1e-9)
            assert release.n_suppressed == named["suppressed"] <= eta * 60


def test_the_search_proposes_them_by_name() -> None:
    search = Evolution("k-t-safety", eta=0.2, population=12, generations=4, most=3)
    recipes = list(search.propose(*people(1), np.random.default_rng(0)))
    assert all(set(recipe.parameters["model"]) == {"k-anonymity", "t-closeness"} for recipe in recipes)


def test_t_is_no_objective_where_nothing_is_sensitive_or_people_have_several_records() -> None:
    table = Table.from_arrow({"age": [1, 2, 2], "pay": [1, 2, 3], "who": ["a", "a", "b"]})
    quasi, whose = Attribute("age", "quasi-identifying"), Attribute("who", "withheld")
    plain = Schema((quasi, whose, Attribute("pay", "insensitive")))
    with pytest.raises(ParameterError, match="k-t-safety needs a sensitive attribute"):
        problem_of(plain.bind(table), "k-t-safety", 0.1)
    repeated = Schema((quasi, whose, Attribute("pay", "sensitive")), person="who")
    with pytest.raises(ParameterError, match="people have several records"):
        problem_of(repeated.bind(table), "k-t-safety", 0.1)
