"""`sfumato demo`: explore the embedded census example."""

from __future__ import annotations

import os
from pathlib import Path

import click

from sfumato.interfaces.cli.base import cli, json_option, seed_option, workers_option
from sfumato.interfaces.cli.command_context import explored, opened, write_report
from sfumato.interfaces.cli.log import say
from sfumato.interfaces.cli.terminal import echo, print_frontier, print_json
from sfumato.workflow.explore.stored_results import source_now, stored_frontier


@cli.command()
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    default=Path("sfumato-demo"),
    show_default=True,
    help="Where to work.",
)
@workers_option
@seed_option
@json_option
def demo(folder: Path, workers: int | None, seed: int | None, as_json: bool) -> None:
    """Try it on the embedded census example: explore, list the efficient candidates, write a report.

    \b
    Example: sfumato demo
    """
    from sfumato.reading.datasets.demo_project import write_demo

    project_file = write_demo(folder)
    say(f"Exploring releases of 45,222 census records in {folder}{os.sep} (described by {project_file.name})")
    project, store = opened(project_file)
    with store:
        explored(project, store, seed, workers)
        frontier = stored_frontier(project, store, source_now(project, store))
        report = folder / "report.html"
        write_report(project, frontier, report)
        if as_json:
            from sfumato.results.json_schemas import DemoShape

            print_json("demo", DemoShape.of(frontier, report=str(report)))
            return
        print_frontier(project, frontier, frontier.infeasible, everything=False)
    chosen = frontier.knee()
    echo(f"\nThe report lies in {report}")
    if chosen is not None:
        echo(f"Go on with:  sfumato show {chosen.id} -P {project_file}")
        echo(f'             sfumato ask "max k where loss <= 25%" -P {project_file}')
        echo(f"             sfumato publish {chosen.id} {folder / 'published'} -P {project_file}")
