"""The page's own script finds the same front and knee as the library."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import sfumato.interfaces.workbench
from sfumato.registry.declarations import Better
from sfumato.results.pareto import Columns

SCRIPT = Path(sfumato.interfaces.workbench.__file__).parent / "static" / "chart.js"
RUN = """
import { readFileSync } from "node:fs";
import { efficientOf, kneeOf } from "./chart.mjs";
const number = (value) => (value === null ? NaN : value === "Infinity" ? Infinity : value);
const found = JSON.parse(readFileSync(0, "utf8")).map(({ measures, n }) => {
  const read = measures.map((m) => ({ better: m.better, values: m.values.map(number) }));
  const front = efficientOf(read, n);
  return [front, kneeOf(front, read)];
});
console.log(JSON.stringify(found));
"""
Case = tuple[list[np.ndarray[tuple[int], np.dtype[np.float64]]], Sequence[Better]]


def cases() -> list[Case]:
    """Draw points of every kind: few, many, with ties, missing and infinite values, all on one line."""
    generator = np.random.default_rng(12)
    drawn: list[Case] = []
    for n in (0, 1, 2, 3, 5, 20, 60, 60, 150, 400):
        for width in (2, 2, 3, 4):
            columns = generator.random((width, n)).round(int(generator.integers(1, 17)))
            columns[generator.random((width, n)) < 0.05] = math.nan
            columns[generator.random((width, n)) < 0.05] = math.inf
            drawn.append((list(columns), generator.choice(["lower", "higher"], width).tolist()))
    line = np.linspace(0, 1, 9)
    return [*drawn, ([line, 1 - line], ("lower", "lower")), ([line, line], ("lower", "higher"))]


def written(case: Case) -> dict[str, object]:
    columns, better = case
    plain = [
        [None if math.isnan(v) else "Infinity" if math.isinf(v) else v for v in column.tolist()]
        for column in columns
    ]
    measures = [{"better": b, "values": values} for b, values in zip(better, plain, strict=True)]
    return {"measures": measures, "n": len(columns[0])}


@pytest.fixture(scope="module")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[list[int], int]]:
    """What the script finds, run by Node; a test in the browser compares some hundred candidates more."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed")
    folder = tmp_path_factory.mktemp("script")
    shutil.copy(SCRIPT, folder / "chart.mjs")
    (folder / "run.mjs").write_text(RUN)
    given = json.dumps([written(case) for case in cases()])
    done = subprocess.run([node, folder / "run.mjs"], input=given, capture_output=True, text=True, check=True)
    return [(front, knee) for front, knee in json.loads(done.stdout)]


def test_the_script_finds_the_front_and_the_knee_of_the_library(
    scripted: list[tuple[list[int], int]],
) -> None:
    for (values, better), (front, knee) in zip(cases(), scripted, strict=True):
        axes = [str(place) for place in range(len(values))]
        columns = Columns(dict(zip(axes, values, strict=True)), dict(zip(axes, better, strict=True)))
        assert front == columns.front(axes).tolist()
        assert knee == (-1 if columns.knee(axes) is None else columns.knee(axes))


def test_the_cases_have_knees_and_fronts_without() -> None:
    found = [
        Columns({"x": values[0], "y": values[1]}, {"x": better[0], "y": better[1]}).knee(["x", "y"])
        for values, better in cases()
    ]
    assert found.count(None) >= 5
    assert len([knee for knee in found if knee is not None]) >= 5
