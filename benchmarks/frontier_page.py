"""The explore page with many candidates: how long until it is drawn, and how long a hover and a zoom take.

    python benchmarks/frontier_page.py [CANDIDATES]

Writes candidates straight into a store, serves the workbench and drives the system's Chromium.
"""

from __future__ import annotations

import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Candidate
from sfumato.results.measurement import Measurement
from sfumato.workflow.project.project_file import Project
from sfumato.workflow.store.provenance import source_of
from sfumato.workflow.store.store import Store

METHODS = (
    "mondrian",
    "clustering",
    "full-domain",
    "bucketize",
    "anatomy",
    "cell-suppression",
    "local-recoding",
)
MEASURES = {
    "privacy": (
        "privacy-loss",
        "knowledge-gain",
        "accuracy-gain",
        "reidentification-risk",
        "information-gain",
        "t-closeness",
    ),
    "utility": (
        "general-loss",
        "suppression-loss",
        "total-loss",
        "query-error",
        "utility-loss",
        "kl-divergence",
    ),
}
PROJECT = """
[data]
path = "people.csv"
[attributes.age]
role = "quasi-identifying"
[attributes.diagnosis]
role = "sensitive"
[measure]
privacy = ["privacy-loss"]
utility = ["general-loss"]
[policy]
recipient = "public"
"""
DRAW = """(async ({ turns, how }) => {
  const chart = window.sfumatoChart, times = [];
  for (let i = 0; i < turns; i++) {
    await new Promise(requestAnimationFrame);
    const began = performance.now();
    if (how === "zoom") chart.zoom(i % 2 ? 1 / 1.2 : 1.2, 300, 200);
    else chart.brush(1, 80 + 3 * i, 260);
    chart.draw();
    chart.canvas.getContext("2d").getImageData(0, 0, 1, 1);
    times.push(performance.now() - began);
  }
  return times;
})"""
HOVER = """(async (turns) => {
  const place = document.getElementById("chart"), box = place.getBoundingClientRect(), times = [];
  const chart = window.sfumatoChart;
  for (let i = 0; i < turns; i++) {
    const [x, y] = chart.place(chart.drawn[(i * 37) % chart.drawn.length]);
    const began = performance.now();
    const where = { clientX: box.x + x, clientY: box.y + y, pointerType: "mouse", bubbles: true };
    place.dispatchEvent(new PointerEvent("pointermove", where));
    document.getElementById("tip").getBoundingClientRect();
    times.push(performance.now() - began);
  }
  return times;
})"""


def fill(folder: Path, n: int) -> None:
    (folder / "people.csv").write_text(
        "age,diagnosis\n" + "".join(f"{20 + i % 50},{'abc'[i % 3]}\n" for i in range(200))
    )
    (folder / "people.toml").write_text(PROJECT)
    project, chance = Project.load(folder / "people.toml"), random.Random(1)
    source = source_of(*project.read())
    with Store(project.store_path) as store:
        store._connection.execute("pragma synchronous = off")
        for i in range(n):
            along, away = chance.random(), chance.random() ** 2
            sides = {"privacy": along**2 + 0.3 * away, "utility": (1 - along) ** 2 + 0.3 * away}
            measured = [
                Measurement(name, sides[side] * (1 + 0.1 * chance.random()), side, "lower")  # type: ignore[arg-type]
                for side, names in MEASURES.items()
                for name in names
            ]
            recipe = Recipe(METHODS[i % len(METHODS)], {"model": {"k-anonymity": {"k": 2 + i}}})
            store.save(Candidate(f"c{i:09}", recipe, tuple(measured), None, 0.1), source, {"all": measured})


def opened(page: Page, address: str) -> float:
    """Load the page and return the milliseconds from asking for it until the candidates are drawn."""
    page.goto(address)
    page.locator("#chart:not([hidden])").wait_for()
    while not (
        marks := page.evaluate("performance.getEntriesByName('sfumato-drawn').map(mark => mark.startTime)")
    ):
        time.sleep(0.01)
    return float(marks[0])


def said(what: str, times: list[float]) -> None:
    worst = sorted(times)[int(0.95 * len(times))]
    print(f"{what:<48} median {statistics.median(times):7.1f} ms, 95th percentile {worst:7.1f} ms")


def main(n: int) -> None:
    with tempfile.TemporaryDirectory() as place, sync_playwright() as driver:
        fill(Path(place), n)
        program = "from sfumato.interfaces.cli import main; main()"
        server = subprocess.Popen(
            [sys.executable, "-c", program, "workbench", place, "--no-browser"],
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert server.stderr
            address = next(found[0] for line in server.stderr if (found := re.search(r"http://\S+", line)))
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(address)
            explore = address.partition("?")[0] + "projects/people/explore"
            began = time.perf_counter()
            page.goto(explore)
            page.locator("#chart:not([hidden])").wait_for()
            print(f"{n:,} candidates, {sum(map(len, MEASURES.values()))} measures")
            print(f"first visit, store and data read: {time.perf_counter() - began:.2f} s")
            said("asked for until drawn, later visits", [opened(page, explore) for _ in range(5)])
            said("hover: pointer moved until the words are laid out", page.evaluate(f"{HOVER}(60)"))
            said("zoom: one frame", page.evaluate(f"{DRAW}({{turns: 40, how: 'zoom'}})"))
            said(
                "parallel: asked for until drawn",
                [opened(page, explore + "?view=parallel") for _ in range(3)],
            )
            said("parallel: one frame of a brush", page.evaluate(f"{DRAW}({{turns: 20, how: 'brush'}})"))
            browser.close()
        finally:
            server.kill()
            server.communicate()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000)
