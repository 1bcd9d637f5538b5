"""The papers use public names of sfumato; a list here names the exceptions, and may only get shorter."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import sfumato

HERE = Path(__file__).parents[1]
PLACES = ("src/sfumato_papers", "tools", "benchmarks")

# What a command needs: options that all commands share, what it prints, and the shape of that.
OF_COMMANDS = {
    "interfaces.cli.base.json_option",
    "interfaces.cli.base.workers_option",
    "results.json_schemas.Shape",
    "interfaces.cli.log.say",
    "interfaces.cli.terminal.echo",
    "interfaces.cli.terminal.print_json",
    "interfaces.cli.terminal.print_table",
    "interfaces.cli.terminal.progress_shown",
}
# What the page and its charts need.
OF_PAGES = {
    "results.formatting",
    "workflow.report.markup.html_templates",
    "workflow.report.markup.inline_picture",
    "workflow.report.charts.drawing.Drawing",
    "workflow.report.charts.panels.Axis",
    "workflow.report.charts.panels.Panel",
    "workflow.report.charts.plane.TRIVIAL",
    "workflow.report.charts.scales.Scale",
    "workflow.report.charts.svg.COLOURS",
    "workflow.report.charts.svg.INK",
    "workflow.report.charts.svg.MARKERS",
    "workflow.report.charts.svg.Marker",
    "workflow.report.charts.svg.PAPER",
    "workflow.report.charts.svg.Point",
    "workflow.report.charts.svg.Style",
    "workflow.report.charts.svg.text_width",
}
# What an exploration of a project file needs: `sfumato.explore` takes a table.
OF_EXPLORATIONS = {
    "registry.methods",
    "results.frontier.one_for_each_recipe",
    "results.measurement.json_value",
    "runtime.files.file_beside",
    "runtime.files.why_unreadable",
    "workflow.explore.explore_project.Progress",
    "workflow.explore.explore_project.explore",
    "workflow.store.provenance.source_of",
}
# What the studies of open questions need: the problems that `Evolution` solves, to solve them by themselves.
OF_STUDIES = {
    "searches.evolution.closeness_problems.ClosenessProblem",
    "searches.evolution.cuts.CutSpace",
    "searches.evolution.evolution_run.Settings",
    "searches.evolution.evolution_run.evolve",
    "searches.evolution.evolution_run.improve",
    "searches.evolution.problems.Problem",
    "searches.evolution.problems.PublisherProblem",
}
LISTED = OF_STUDIES | OF_COMMANDS | OF_PAGES | OF_EXPLORATIONS


def namespaces() -> dict[str, ModuleType]:
    """Return sfumato and its public namespaces, by the name of their modules."""
    found = [getattr(sfumato, name) for name in sfumato.__all__]
    return {each.__name__: each for each in (sfumato, *found) if isinstance(each, ModuleType)}


PUBLIC = namespaces()


def imported(source: str) -> Iterator[str]:
    """Yield what a module imports of sfumato, also inside functions."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.partition(".")[0] == "sfumato")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "sfumato":
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_public(name: str) -> bool:
    """Return whether a name is sfumato's, or stands in the list of names of a namespace."""
    home, _, last = name.rpartition(".")
    return name in ("sfumato", *PUBLIC) or (home in PUBLIC and last in getattr(PUBLIC[home], "__all__", ()))


def private(source: str) -> set[str]:
    """Return what a module imports that is not public, without the name of the package."""
    return {name.removeprefix("sfumato.") for name in imported(source) if not is_public(name)}


def test_only_what_is_listed_is_imported_beside_public_names() -> None:
    modules = [path for place in PLACES for path in (HERE / place).rglob("*.py")]
    found = {name for path in modules for name in private(path.read_text("utf-8"))}
    assert found - LISTED == set(), "use a public name of sfumato, or ask for one"
    assert LISTED - found == set(), "nothing needs these any more; take them from the list"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import sfumato as sf\nfrom sfumato import Table, errors", set()),
        ("from sfumato.models import KAnonymity", set()),
        ("from sfumato.results import Measurement, formatting", {"results.formatting"}),
        ("from sfumato.models.anonymity import KAnonymity", {"models.anonymity.KAnonymity"}),
        ("def f():\n    import sfumato.kernels", {"kernels"}),
        ("from sfumato_papers.run import PAPERS", set()),
    ],
)
def test_an_import_that_is_not_public_is_noticed(source: str, found: set[str]) -> None:
    assert private(source) == found


def test_every_listed_name_is_there() -> None:
    for name in LISTED:
        home, _, last = f"sfumato.{name}".rpartition(".")
        assert hasattr(import_module(home), last) or import_module(f"{home}.{last}")
