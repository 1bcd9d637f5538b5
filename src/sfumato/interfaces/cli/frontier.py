"""`sfumato frontier`: list the efficient candidates of a project."""

from __future__ import annotations

from pathlib import Path

import click

from sfumato.interfaces.cli.base import cli, json_option, project_argument
from sfumato.interfaces.cli.command_context import (
    found_project,
    opened,
    require_candidates,
    require_comparable,
    source_shown,
    write_report,
)
from sfumato.interfaces.cli.completers import measures
from sfumato.interfaces.cli.terminal import echo, print_frontier, print_json
from sfumato.workflow.explore.stored_results import stored_frontier


@cli.command()
@project_argument
@click.option(
    "--axis",
    "axes",
    multiple=True,
    shell_complete=measures,
    help="A measure to compare by, instead of the project's two; give this twice or more. Names as in "
    "`sfumato ask --help`.",
)
@click.option(
    "--worst-of",
    metavar="ATTRIBUTE",
    help="Compare by the group of people, of all values of this attribute, that does worst on each axis. It "
    "must stand in `by` under [measure] in the project file.",
)
@click.option("--all", "everything", is_flag=True, help="Also list the candidates that another one beats.")
@click.option(
    "--picture", type=click.Path(path_type=Path), help="Write the frontier as a picture (.svg or .png)."
)
@click.option("--report", type=click.Path(path_type=Path), help="Write a report of the exploration (.html).")
@json_option
def frontier(
    project_file: Path | None,
    axes: tuple[str, ...],
    worst_of: str | None,
    everything: bool,
    picture: Path | None,
    report: Path | None,
    as_json: bool,
) -> None:
    """List the efficient candidates: those that no other beats in both privacy and utility.

    \b
    Example: sfumato frontier admissions.toml --picture frontier.svg
             sfumato frontier admissions.toml --worst-of race
    """
    project, store = opened(found_project(project_file), create=False)
    with store:
        source = source_shown(project, store)
        found = stored_frontier(project, store, source, axes)
        require_candidates(project, store, source, found.candidates)
    if worst_of is not None:
        found = found.worst_of(worst_of)
    if picture is not None:
        found.plot().save(picture)
    if report is not None:
        write_report(project, found, report)
    from sfumato.workflow.choose.table_size import size_warning

    warning = size_warning(project, found)
    if as_json:
        from sfumato.results.json_schemas import FrontierShape

        print_json("frontier", FrontierShape.of(found, too_small=warning))
    else:
        if warning:
            echo(warning)
        print_frontier(project, found, found.infeasible, everything=everything)
    require_comparable(project, found)
