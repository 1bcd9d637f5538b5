"""What sfumato computes without its extras: the same figures, and a refusal by name for the rest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.miners import original_view, predict
from sfumato.models import KAnonymity
from sfumato.registry import methods
from sfumato.registry.method_extras import missing_extra
from sfumato.runtime.errors import UserError
from sfumato.runtime.extras import EXTRAS
from sfumato.sanitizers import CartSynthesis, Mondrian
from sfumato.searches import Sweep

PYPROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
OPTIONAL = PYPROJECT["project"]["optional-dependencies"]
AXES = ["privacy-loss", "general-loss"]
BLOCK = """
from importlib.machinery import PathFinder

looked_up = PathFinder.find_spec


def find_spec(name, path=None, target=None):
    return None if name.partition(".")[0] in {packages!r} else looked_up(name, path, target)


PathFinder.find_spec = find_spec
"""

# Everything that needs no extra, with its defaults; the default plan, and every method by itself.
FRONTIER = """
import json, sys, warnings
import numpy as np
import sfumato as sf
from sfumato.registry import methods
from sfumato.searches import Suited

table, schema = sf.datasets.adult()
table, schema = schema.bind(table.take(np.arange(0, table.n_rows, 600)))
names = [name for name in methods.registered("measure") if "scenario" not in methods.parameters_of(
    methods.look_up("measure", name))]
repeatable = [cls() for name, cls in methods.registered("sanitizer").items()
    if name != "aim" and not methods.parameters_of(cls).keys() & {"levels", "cuts", "cells", "limits", "top"}
    and getattr(cls, "repeatable", True)]
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    frontier = sf.explore(table, schema, [Suited(), *repeatable],
        ["privacy-loss", "utility-loss", *names], seed=1, policy="none")
json.dump({
    "figures": {str(c.recipe): {str(m.attribute_label): m.to_dict() for m in c.measurements}
        for c in frontier.candidates},
    "infeasible": {str(c.recipe): c.infeasible for c in frontier.infeasible},
    "warnings": [str(each.message) for each in caught],
}, sys.stdout)
"""


def without_extras(folder: Path) -> dict[str, str]:
    """Return an environment in which this process and all that it starts find no package of an extra."""
    packages = sorted({module for modules in EXTRAS.values() for module in modules} | {"scipy", "joblib"})
    (folder / "sitecustomize.py").write_text(BLOCK.format(packages=packages))
    places = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(places)}


def outcome(environment: dict[str, str] | None = None) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", FRONTIER], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_figure_is_the_same_with_and_without_extras(tmp_path: Path) -> None:
    rich, plain = outcome(), outcome(without_extras(tmp_path))
    assert rich["warnings"] == []
    (line,) = plain["warnings"]
    learning = [
        "attack-risk", "cart-synthesis", "inference", "propensity", "transfer-loss", "workload-utility",
    ]  # fmt: skip
    assert line == (
        "left out, because packages are not installed: "
        f"{', '.join(learning)} (pip install 'sfumato[learning]')"
    )
    left_out = {name for name in rich["figures"] if name.startswith("cart-synthesis")}
    assert left_out
    expected = {
        recipe: {label: m for label, m in figures.items() if m["measure"] not in learning}
        for recipe, figures in rich["figures"].items()
        if recipe not in left_out
    }
    assert plain["figures"] == expected
    assert len(expected) > 20
    assert plain["infeasible"] == rich["infeasible"]


@pytest.mark.thorough("test_every_figure_is_the_same_with_and_without_extras")
def test_the_demo_works_without_extras(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sfumato", "demo", "--folder", str(tmp_path / "demo")],
        env=without_extras(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "left out" not in done.stderr
    assert (tmp_path / "demo" / "report.html").exists()


def test_the_extras_are_those_of_pyproject() -> None:
    def packages(names: list[str]) -> set[str]:
        return {name.partition(">")[0].partition("[")[0] for name in names}

    assert {*OPTIONAL} == {*EXTRAS, "all"}
    for extra, modules in EXTRAS.items():
        assert packages(OPTIONAL[extra]) <= {*modules.values()}
    apart = {*PYPROJECT["tool"]["sfumato"]["apart"]}
    assert OPTIONAL["all"] == [f"sfumato[{','.join(sorted({*OPTIONAL} - apart))}]"]
    assert apart == {"aim", "all", "spark"}
    together = {name for extra, names in OPTIONAL.items() if extra not in apart for name in names}
    assert {*PYPROJECT["dependency-groups"]["extras"]} == together


def test_every_method_names_an_extra_that_there_is() -> None:
    kinds: tuple[methods.Kind, ...] = ("sanitizer", "measure", "miner", "search", "model")
    named = {getattr(cls, "needs_extra", None) for kind in kinds for cls in methods.registered(kind).values()}
    assert named == {None, "aim", "dp", "learning"}


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (*EXTRAS["dp"], *EXTRAS["learning"]):
        monkeypatch.setitem(sys.modules, module, None)


@pytest.mark.usefixtures("plain")
class TestRefusals:
    """Each names the method and the command that helps."""

    RELEASE = sf.sanitize(*sf.datasets.hospital(), Mondrian(KAnonymity(3)))

    def test_a_sanitizer(self) -> None:
        with pytest.raises(
            UserError, match=r"^cart-synthesis needs .* scikit-learn: pip install 'sfumato\[learning\]'$"
        ):
            sf.sanitize(*sf.datasets.hospital(), CartSynthesis())
        with pytest.raises(UserError, match=r"^laplace needs .* opendp: pip install 'sfumato\[dp\]'$"):
            sf.sanitize(*sf.datasets.hospital(), sf.sanitizers.Laplace())

    @pytest.mark.parametrize("measure", ["transfer-loss", "inference", "worst-group-loss of=transfer-loss"])
    def test_a_measure(self, measure: str) -> None:
        with pytest.raises(UserError, match=rf"^{measure.split()[0]} needs .*learning"):
            sf.measure(self.RELEASE, [measure])

    def test_an_attack_without_miners_needs_none(self) -> None:
        (taken,) = sf.measure(self.RELEASE, [{"inference": {"miners": []}}])
        assert taken.applicable

    def test_a_miner(self) -> None:
        with pytest.raises(UserError, match=r"^decision-tree needs .*learning"):
            predict(original_view(*sf.datasets.hospital()), "diagnosis", "decision-tree")

    def test_a_measure_of_an_axis(self) -> None:
        with pytest.raises(UserError, match=r"^transfer-loss needs"):
            sf.explore(
                *sf.datasets.hospital(), [Mondrian()], ["privacy-loss", "transfer-loss"], policy="none"
            )

    def test_where_nothing_else_is_to_try(self) -> None:
        with pytest.raises(UserError, match=r"nothing is left to try: .*: cart-synthesis \(pip"):
            sf.explore(*sf.datasets.hospital(), [CartSynthesis()], AXES, policy="none")

    def test_a_class_is_judged_by_its_defaults(self) -> None:
        assert missing_extra(sf.measures.Inference) == "learning"
        assert missing_extra(sf.measures.Inference(miners=())) is None


def test_a_sweep_over_a_method_without_defaults_needs_what_the_method_needs(gate: Any) -> None:
    assert missing_extra(Sweep("gated", {"gate": [str(gate.folder)], "k": [2]})) is None
