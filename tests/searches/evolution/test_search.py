"""The evolution as a search: from a project file to recipes that hold what they say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sfumato import Project, Schema, Store, Table, measure, sanitize
from sfumato.models import KAnonymity, ProbabilisticDiversity
from sfumato.registry.methods import build
from sfumato.registry.recipe import Recipe
from sfumato.runtime.errors import ParameterError
from sfumato.runtime.progress import listening
from sfumato.searches import Evolution
from sfumato.workflow.explore.explore_project import Progress, explore

Bound = tuple[Table, Schema]


def proposed(search: Evolution, bound: Bound, seed: int = 0) -> list[Recipe]:
    return list(search.propose(*bound, np.random.default_rng(seed)))


def values(bound: Bound, recipe: Recipe, *names: str) -> list[float]:
    return [float(m.value) for m in measure(sanitize(*bound, recipe), names) if m.value is not None]


def test_every_recipe_is_a_cut_with_the_k_that_it_has(hospital: Bound) -> None:
    recipes = proposed(Evolution("suppression", eta=0.25, population=12, generations=10), hospital)
    points = [values(hospital, recipe, "k-anonymity", "general-loss") for recipe in recipes]
    assert [recipe.build().model for recipe in recipes] == [KAnonymity(int(k)) for k, _ in points]
    assert points == sorted(points, reverse=True)
    assert {recipe.sanitizer for recipe in recipes} == {"cut"}
    assert all(recipe.parameters["suppression"] == 0.25 for recipe in recipes)


def test_a_recipe_in_words_tells_how_many_blocks_there_are(hospital: Bound) -> None:
    recipe = proposed(Evolution("zero-suppression", population=8, generations=2), hospital)[0]
    assert str(recipe) == "cut k=12 cuts={zip:1/7,age:1/8,sex:1/2}"


def test_the_lattice_gives_full_domain_recodings(hospital: Bound) -> None:
    search = Evolution("k-l-safety", eta=0.2, space="lattice", population=12, generations=10)
    recipes = proposed(search, hospital)
    assert {recipe.sanitizer for recipe in recipes} == {"full-domain"}
    for recipe in recipes:
        k, diversity = values(hospital, recipe, "k-anonymity", "probabilistic-diversity")
        assert recipe.build().model == KAnonymity(int(k)) & ProbabilisticDiversity(float(int(diversity)))


def test_objectives_may_be_any_measures_within_limits(hospital: Bound) -> None:
    search = build(
        "search",
        "evolution",
        {
            "objectives": ["privacy-loss", "query-error"],
            "limits": {"k-anonymity": {"at-least": 3}},
            "eta": 0.0,
            "population": 8,
            "generations": 3,
            "most": 4,
        },
    )
    recipes = proposed(search, hospital)
    assert 1 <= len(recipes) <= 4
    assert all(values(hospital, recipe, "k-anonymity")[0] >= 3 for recipe in recipes)


def test_not_more_are_proposed_than_wanted_and_the_seed_decides(hospital: Bound) -> None:
    search = Evolution("zero-suppression", population=12, generations=5, most=4)
    assert len(proposed(search, hospital)) == 4
    assert proposed(search, hospital, 1) == proposed(search, hospital, 1)


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"problem": "supression"}, "no problem 'supression'; did you mean 'suppression'"),
        ({"eta": 1.1}, "eta must be a share"),
        ({"most": 0}, "most must be at least 1"),
        ({"population": 2}, "population must be at least 4"),
        ({"prefer": "t"}, "no prefer 't'"),
        ({"objectives": ["k-anonymity"]}, "at least two measures"),
        ({"objectives": ["k-anonymity", "los"]}, "no measure 'los'"),
        ({"limits": {"k-anonymity": {"at-least": 3}}}, "need objectives"),
        (
            {"objectives": ["k-anonymity", "general-loss"], "limits": {"k-anonymity": {"least": 3}}},
            "give at-most",
        ),
        ({"space": "parameters"}, "need objectives"),
        ({"space": "parameters", "objectives": ["k-anonymity", "general-loss"]}, "give both or none"),
        ({"sanitizer": "mondrian"}, "give both or none"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        build("search", "evolution", wrong)


def test_a_listener_hears_how_far_it_has_come(hospital: Bound) -> None:
    said: list[str] = []
    with listening(said.append):
        proposed(Evolution(population=8, generations=10), hospital)
    assert said[9].startswith("evolution: generation 10 of 10")
    before = len(said)
    proposed(Evolution(population=8, generations=10), hospital)
    assert len(said) == before


def test_a_project_explores_what_it_finds(tmp_path: Path) -> None:
    lines = [f"{20 + n * 7 % 23},{'fm'[n % 2]},{'abc'[n * n % 3]}" for n in range(60)]
    (tmp_path / "people.csv").write_text("age,sex,ill\n" + "\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "people.toml").write_text(
        """
        data.path = "people.csv"
        [attributes.age]
        role = "quasi-identifying"
        kind = "numeric"
        hierarchy = { intervals = [5, 10] }
        [attributes.sex]
        role = "quasi-identifying"
        [attributes.ill]
        role = "sensitive"

        [[candidates]]
        search = "evolution"
        problem = "k-l-safety"
        guarantee = false
        granularity = { age = 2 }
        population = 8
        generations = 10
        most = 5

        [measure]
        privacy = ["k-anonymity", "probabilistic-diversity"]
        utility = ["total-loss"]
        """,
        encoding="utf-8",
    )
    project = Project.load(tmp_path / "people.toml")
    seen: list[Progress] = []
    with Store(project.store_path) as store:
        state = explore(project, store, seed=1, workers=1, progress=seen.append)
        again = explore(project, store, workers=1)
    assert 1 <= state.done <= 5
    assert state.infeasible == 0
    assert (again.done, again.known) == (0, state.done)
    assert seen[0] == Progress(0, 0, 0, 0, seen[0].elapsed, now=seen[0].now)
    assert seen[0].now.startswith("evolution: generation 1 of 10")


def test_moocore_is_imported_only_when_an_evolution_runs() -> None:
    script = "import sfumato.interfaces.cli, sfumato.searches, sys; print('moocore' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]
