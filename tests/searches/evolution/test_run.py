"""The run: an archive that only grows, equal seeds, nothing judged twice, nothing one step from better."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sfumato import Attribute, Hierarchy, Intervals, Schema, Table
from sfumato.runtime.errors import ParameterError
from sfumato.searches.evolution import evolution_run
from sfumato.searches.evolution.cuts import CutSpace
from sfumato.searches.evolution.evolution_run import Judge, Settings, evolve, improve
from sfumato.searches.evolution.grids import LatticeSpace
from sfumato.searches.evolution.nondominated_archive import Archive
from sfumato.searches.evolution.problems import PublisherProblem

Bound = tuple[Table, Schema]

LANDS = Hierarchy.nested({"Europe": ["Norway", "France", "Spain"], "Asia": ["Japan", "Korea"]})
PROBLEM: Any = pytest.mark.parametrize(
    "name", ["zero-suppression", "suppression", "any-suppression", "k-l-safety"]
)


def people(n: int = 400) -> Bound:
    rng = np.random.default_rng(8)
    table = Table.from_arrow(
        {
            "age": rng.binomial(60, 0.4, n).tolist(),
            "land": rng.choice(LANDS.values, n, p=[0.1, 0.4, 0.2, 0.2, 0.1]).tolist(),
            "job": rng.choice(list("abcdefgh"), n).tolist(),
            "ill": rng.choice(list("pqrs"), n).tolist(),
        }
    )
    schema = Schema(
        (
            Attribute("age", "quasi-identifying", "numeric", Intervals((2, 10))),
            Attribute("land", "quasi-identifying", hierarchy=LANDS),
            Attribute("job", "quasi-identifying"),
            Attribute("ill", "sensitive"),
        )
    )
    return schema.bind(table)


def reference(archive: Archive) -> Any:
    return np.array([0.0, 1.0] if archive.objectives.shape[1] == 2 else [0.0, 1.0, 1.0])


@PROBLEM
def test_a_longer_run_never_has_a_smaller_front(name: Any) -> None:
    space = CutSpace.of(*people())
    problem = PublisherProblem(space, name)
    volumes = []
    for generations in (1, 2, 5, 10, 25):
        archive = evolve(space, problem, Settings(20, generations), seed=4).archive
        volumes.append(archive.hypervolume(reference(archive)))
    assert volumes == sorted(volumes)
    assert volumes[-1] > volumes[0]


@PROBLEM
def test_equal_seeds_give_equal_fronts(name: Any) -> None:
    space = CutSpace.of(*people())
    problem = PublisherProblem(space, name)
    fronts = [improve(evolve(space, problem, Settings(20, 8), seed=seed), 10) for seed in (3, 3, 4)]
    np.testing.assert_array_equal(fronts[0].genes, fronts[1].genes)
    np.testing.assert_array_equal(fronts[0].traits, fronts[1].traits)
    assert fronts[0].genes.shape != fronts[2].genes.shape or (fronts[0].genes != fronts[2].genes).any()


@PROBLEM
@pytest.mark.parametrize("size", [1, 40])
def test_batches_that_are_judged_at_once_give_what_one_batch_gives(
    name: Any, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = CutSpace.of(*people())
    genes = space.sample(np.random.default_rng(2), 150)
    judges = [Judge(space, PublisherProblem(space, name)) for _ in range(2)]
    judges[0].explore(genes)
    monkeypatch.setattr(evolution_run, "_BATCH", size)
    judges[1].explore(genes)
    for kind in ("genes", "objectives", "traits"):
        np.testing.assert_array_equal(*(getattr(judge.archive, kind) for judge in judges))
    for known in zip(*(judge.judge(genes) for judge in judges), strict=True):
        np.testing.assert_array_equal(*known)


def beats(one: Any, other: Any) -> bool:
    return bool((one <= other + 1e-12).all() and (one < other - 1e-12).any())


@PROBLEM
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("kind", [CutSpace, LatticeSpace])
def test_no_reported_solution_is_one_step_from_one_that_dominates_it(kind: Any, name: Any, seed: int) -> None:
    space = kind.of(*people())
    problem = PublisherProblem(space, name)
    front = improve(evolve(space, problem, Settings(12, 4), seed=seed), 12)
    assert 1 < len(front) <= 12
    for genes, objectives in zip(front.genes, front.objectives, strict=True):
        around = problem.evaluate(space.neighbours(genes))
        assert not any(beats(other, objectives) for other in around.objectives)
    for one in front.objectives:
        assert not any(beats(other, one) for other in front.objectives)


@given(data=st.data())
@settings(max_examples=25)
def test_nor_in_any_table(data: st.DataObject, tiny_tables: Any) -> None:
    bound = data.draw(tiny_tables)
    try:
        space = CutSpace.of(*bound)
    except ParameterError:
        assume(False)
    name: Any = data.draw(
        st.sampled_from(["zero-suppression", "suppression", "any-suppression", "k-l-safety"])
    )
    problem = PublisherProblem(space, name, eta=data.draw(st.sampled_from([0.0, 0.3])))
    front = improve(evolve(space, problem, Settings(4, 1)))
    for genes, objectives in zip(front.genes, front.objectives, strict=True):
        around = space.neighbours(genes)
        found = problem.evaluate(around).objectives if len(around) else np.zeros((0, problem.n_objectives))
        assert not any(beats(other, objectives) for other in found)


class _Counting:
    """A problem that notes every individual it is asked about."""

    is_counted = False

    def __init__(self, problem: PublisherProblem) -> None:
        self.problem = problem
        self.n_objectives = problem.n_objectives
        self.traits = problem.traits
        self.recipe = problem.recipe
        self.asked: list[bytes] = []

    def evaluate(self, genes: Any) -> Any:
        self.asked += [row.tobytes() for row in np.ascontiguousarray(genes, dtype=np.int64)]
        return self.problem.evaluate(genes)


def test_nothing_is_evaluated_twice() -> None:
    space = CutSpace.of(*people(50))
    counting = _Counting(PublisherProblem(space, "suppression"))
    judge = evolve(space, counting, Settings(20, 30))
    improve(judge, 5, budget=200)
    assert len(counting.asked) == len(set(counting.asked)) == judge.n_evaluated
    assert judge.n_asked > judge.n_evaluated


def test_the_archive_has_all_that_is_efficient_among_everything_seen() -> None:
    space = CutSpace.of(*people())
    problem = PublisherProblem(space, "zero-suppression")
    judge = Judge(space, problem)
    genes = space.sample(np.random.default_rng(0), 300)
    for some in np.split(genes, 6):
        judge.explore(some)
    every = problem.evaluate(genes).objectives.round(12)
    wanted = {tuple(one) for one in every if not any(beats(other, one) for other in every)}
    assert {tuple(one) for one in judge.archive.objectives} == wanted
    assert len(judge.archive) == len(wanted)


def test_solutions_far_apart_are_chosen_with_both_ends() -> None:
    points = np.stack([-np.arange(50.0), np.arange(50.0) ** 2], axis=1)
    archive = Archive(np.arange(50)[:, np.newaxis], points, points)
    chosen = archive.spread(6).tolist()
    assert {0, 49} < set(chosen)
    assert min(np.diff(chosen)) >= 5
    assert archive.spread(50).tolist() == list(range(50))
    assert len(archive.spread(1)) == 1


def test_the_run_tells_how_far_it_has_come() -> None:
    said: list[str] = []
    space = CutSpace.of(*people(50))
    judge = evolve(space, PublisherProblem(space), Settings(8, 20), tell=said.append)
    assert len(said) == 10
    assert said[-1].startswith("generation 20 of 20, ")
    improve(judge, 3, tell=said.append)
    assert said[-1].startswith("improving ")


def test_an_interruption_comes_through() -> None:
    def stop(words: str) -> None:
        raise KeyboardInterrupt

    space = CutSpace.of(*people(50))
    with pytest.raises(KeyboardInterrupt):
        evolve(space, PublisherProblem(space), Settings(8, 20), tell=stop)


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"population": 3}, "population must be at least 4"),
        ({"generations": 0}, "generations must be at least 1"),
        ({"crossover": 1.1}, "crossover must be a probability"),
        ({"mutation": -0.1}, "mutation must be a probability"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong: Any, complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        Settings(**wrong)


def test_a_table_that_cannot_be_cut_has_one_solution() -> None:
    bound = Schema.of(q="quasi-identifying").bind(Table.from_arrow({"q": ["x", "x"]}))
    space = CutSpace.of(*bound)
    front = improve(evolve(space, PublisherProblem(space)))
    assert front.traits[:, 0].tolist() == [2]
