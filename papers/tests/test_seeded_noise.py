"""Noise that comes again is good for experiments, and can leave the house by no door."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sfumato import Attribute, PublicValues, Recipe, Release, Schema, Table, publish, sanitize
from sfumato.interfaces.cli.catalogue import catalogue
from sfumato.models import KAnonymity
from sfumato.registry import methods
from sfumato.runtime.errors import PolicyNotMet
from sfumato.sanitizers import Laplace, Mondrian
from sfumato.workflow.publish.data_files import write_release
from sfumato_papers.seeded_noise import SeededLaplace

Bound = tuple[Table, Schema]
RECIPE = Recipe("seeded-laplace", {"epsilon": 0.5, "ranges": {"age": 80}}, seed=7)


def ages(release: Release) -> list[object]:
    cells = release.cells["age"]
    return [cells.domain[code] for code in cells.codes]


def test_the_same_seed_gives_the_same_noise_and_another_one_does_not(hospital: Bound) -> None:
    once, again = (ages(sanitize(*hospital, RECIPE)) for _ in range(2))
    other = ages(sanitize(*hospital, Recipe(RECIPE.sanitizer, RECIPE.parameters, seed=8)))
    assert once == again
    assert once != other


def test_the_noise_is_as_large_as_that_of_laplace() -> None:
    """The mean distance of Laplace noise from 0 is its scale; 20,000 draws tell it to three per cent."""
    table = Table.from_arrow({"age": [40] * 20_000, "sex": ["f", "m"] * 10_000})
    ages_in_public = PublicValues(whole=True, bounds=(40, 50))
    schema = Schema(
        (
            Attribute("age", "quasi-identifying", "numeric", public=ages_in_public),
            Attribute("sex", "sensitive", "categorical"),
        )
    )
    for how in (SeededLaplace(0.5, rounded=False, ranges={"age": 10}), Laplace(0.5, rounded=False)):
        release = sanitize(table, schema, how, seed=3)
        drawn = np.array(ages(release), dtype=np.float64) - 40
        assert np.abs(drawn).mean() == pytest.approx(20, rel=0.04)
        assert abs(drawn.mean()) < 1


def test_it_can_neither_be_published_nor_written(hospital: Bound, tmp_path: Path) -> None:
    release = sanitize(*hospital, RECIPE)
    with pytest.raises(PolicyNotMet, match=r"seeded-laplace is not fit for publication: .*; use laplace"):
        publish(release, tmp_path / "out", why="a test", policy="none", allow_singling_out=True)
    with pytest.raises(PolicyNotMet, match="not fit for publication"):
        write_release(release, tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []
    assert "Do not publish" in " ".join(release.notes)
    write_release(sanitize(*hospital, Laplace(0.5)), tmp_path / "noisy.csv")
    write_release(sanitize(*hospital, Mondrian(KAnonymity(3))), tmp_path / "classes.csv")


def test_nobody_is_offered_it() -> None:
    assert "seeded-laplace" not in methods.registered("sanitizer")
    assert "seeded-laplace" not in [entry.name for entry in catalogue()]


def test_a_worker_finds_it_by_its_name() -> None:
    code = (
        "from sfumato.registry.recipe import Recipe\n"
        "recipe = Recipe('seeded-laplace', {'epsilon': 0.5})\n"
        "print(type(recipe.build()).__name__, recipe.key == recipe.normalized().key)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["SeededLaplace", "True"]
