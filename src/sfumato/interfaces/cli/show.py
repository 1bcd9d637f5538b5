"""`sfumato show`: show one candidate in detail."""

from __future__ import annotations

from pathlib import Path

import click

from sfumato.interfaces.cli.base import cli, json_option, project_option
from sfumato.interfaces.cli.command_context import found_project, opened, source_shown, write_report
from sfumato.interfaces.cli.completers import candidates
from sfumato.interfaces.cli.terminal import echo, name_of, print_json, print_measurements
from sfumato.workflow.explore.stored_results import stored_frontier


@cli.command()
@click.argument("identity", metavar="ID", shell_complete=candidates)
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    help="Write the owner's report on it (.html), with figures that a published report leaves out.",
)
@project_option
@json_option
def show(identity: str, report: Path | None, project_file: Path | None, as_json: bool) -> None:
    """Show one candidate in detail: how it is made, every measurement, and which others beat it.

    \b
    Example: sfumato show 3f9a --report owner.html
    """
    project, store = opened(found_project(project_file), create=False)
    with store:
        source = source_shown(project, store)
        candidate = store.find(identity, source)
        frontier = stored_frontier(project, store, source)
    if report is not None:
        write_report(project, frontier, report, candidate)
    beaten_by = frontier.dominated_by(candidate) if candidate in frontier.comparable else ()
    broken = [*frontier.broken.get(candidate.id, ())]
    if as_json:
        from sfumato.results.json_schemas import PolicyShape, ShowShape

        document = ShowShape.of(
            candidate,
            efficient=candidate in frontier.efficient(),
            knee=False,
            dominated_by=[c.id for c in beaten_by],
            policy=PolicyShape(broken=broken),
        )
        print_json("show", document)
        return
    echo(f"{candidate.id}  {name_of(candidate.recipe)}")
    if candidate.also:
        also = ", ".join(f"{name_of(alias.recipe)} ({alias.id})" for alias in candidate.also)
        echo(f"The same release is also made by {also}")
    if candidate.infeasible is not None:
        echo(f"could not be made: {candidate.infeasible}")
        return
    print_measurements(candidate.measurements)
    if beaten_by:
        echo(f"Beaten on {' and '.join(frontier.axes)} by {', '.join(c.id for c in beaten_by[:5])}")
    elif candidate in frontier.comparable:
        echo(f"Efficient: no candidate beats it on {' and '.join(frontier.axes)}")
    for line in broken:
        echo(f"Policy not met: {line}")
