"""The commands that make and look at candidates: explore, frontier, show."""

from __future__ import annotations

import math
from pathlib import Path

import click

from sfumato.interfaces.cli.base import (
    cli,
    duration,
    json_option,
    project_argument,
    project_option,
    seed_option,
    size,
    workers_option,
)
from sfumato.interfaces.cli.command_context import (
    explored,
    foreseen,
    found_project,
    loaded,
    opened,
    opened_store,
    read_ahead,
    require_candidates,
    require_comparable,
    source_shown,
    without,
    write_private,
    write_report,
)
from sfumato.interfaces.cli.completion import candidates, measures
from sfumato.interfaces.cli.terminal import (
    candidate_facts,
    course_facts,
    echo,
    forecast_facts,
    frontier_facts,
    name_of,
    print_course,
    print_forecast,
    print_frontier,
    print_json,
    print_measurements,
    print_reasons,
)
from sfumato.workflow.explore.stored_results import source_now, stored_frontier


@cli.command()
@project_argument
@workers_option
@click.option(
    "--memory",
    type=size,
    metavar="SIZE",
    help="Memory that one process may use, as in 2GB or 500MB; a candidate that needs more is given up. By "
    "default all processes share most of the machine's memory.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="How long one candidate may take; one that takes longer is given up.",
)
@click.option(
    "--budget",
    type=duration,
    metavar="TIME",
    help="Stop after this time, as in 90s, 5m or 1h. Time that is left when everything in the project has "
    "been tried goes into candidates between the efficient ones. `none`: try everything in the project, "
    "however long it takes. By default the budget of the project file.",
)
@click.option(
    "--without",
    "left_out",
    multiple=True,
    shell_complete=measures,
    metavar="MEASURE",
    help="Leave a slow measure out of this run; a later run without this option measures it.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Only say how many candidates, how long and how much memory; write nothing.",
)
@seed_option
@json_option
def explore(
    project_file: Path | None,
    workers: int | None,
    memory: int | None,
    time_limit: float | None,
    budget: float | None,
    left_out: tuple[str, ...],
    dry_run: bool,
    seed: int | None,
    as_json: bool,
) -> None:
    """Make and measure all candidates of a project; go on where an earlier run stopped.

    A candidate is a release that might be published. The two extremes (everything released as it is, and
    nothing released that others may know) and one candidate of every method come first; then the methods
    take turns. A candidate whose method fails, or which is given up, is tried again by the next run. With a
    budget, one candidate may use a third of it, unless --time-limit says otherwise.

    \b
    Example: sfumato explore admissions.toml --budget 5m
    """
    from sfumato.runtime.errors import Infeasible, MethodFailed
    from sfumato.workflow.explore.convergence import growth_of

    project = without(loaded(found_project(project_file)), left_out)
    limit = _limit(project.budget if budget is None else budget)
    if dry_run:
        found = foreseen(project, workers, limit)
        if as_json:
            print_json("forecast", forecast_facts(found, limit))
        else:
            print_forecast(found, limit)
        return
    read = read_ahead(project)
    with opened_store(project) as store:
        state = explored(project, store, seed, workers, memory, time_limit, limit, read)
        source = source_now(project, store)
        frontier = stored_frontier(project, store, source)
        growth = growth_of(frontier, store.explored_after(source))
        infeasible = frontier.infeasible
        if state.is_spent and not frontier.candidates and not infeasible:
            raise Infeasible("no candidate was finished within the budget; give it more time with --budget")
        if not infeasible:
            # the data may have changed while it was explored
            require_candidates(project, store, source, frontier.candidates)
        if not frontier.candidates:
            kind = MethodFailed if all(each.failed for each in infeasible) else Infeasible
            raise kind(f"no candidate could be made; the last reason: {infeasible[-1].infeasible}")
        if as_json:
            facts = {
                "made": state.done - state.infeasible,
                "known": state.known,
                "infeasible": len(infeasible),
                "failed": sum(each.failed for each in infeasible),
                **course_facts(state, growth),
            }
            print_json(
                "explore",
                {**facts, "store": str(store.path), "efficient": [c.id for c in frontier.efficient()]},
            )
            require_comparable(project, frontier)
            return
    echo(
        f"{state.done:,} candidates tried, {state.known:,} were known, {len(infeasible):,} could not be "
        f"made; {len(frontier.efficient()):,} are efficient"
    )
    print_reasons(frontier.candidates)
    print_course(state, growth, limit)
    require_comparable(project, frontier)
    echo(f"See them:  sfumato frontier {project.path}")


def _limit(budget: float | None) -> float | None:
    return None if budget == math.inf else budget


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
@click.option("--picture", type=click.Path(path_type=Path), help="Write the frontier as a picture (.svg).")
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
        from sfumato.workflow.report.scatter_matrix import frontier_picture

        write_private(picture, frontier_picture(found, limits=project.policy))
    if report is not None:
        write_report(project, found, report)
    if as_json:
        print_json("frontier", frontier_facts(found, found.infeasible))
    else:
        print_frontier(project, found, found.infeasible, everything=everything)
    require_comparable(project, found)


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
    from sfumato.results.frontier import broken_limits

    project, store = opened(found_project(project_file), create=False)
    with store:
        source = source_shown(project, store)
        candidate = store.find(identity, source)
        found = stored_frontier(project, store, source)
    if report is not None:
        write_report(project, found, report, candidate)
    beaten_by = found.dominated_by(candidate) if candidate in found.comparable else ()
    broken = broken_limits(candidate, project.policy) if candidate.infeasible is None else []
    if as_json:
        facts = candidate_facts(candidate, efficient=candidate in found.efficient())
        print_json("show", {**facts, "dominated-by": [c.id for c in beaten_by], "policy": {"broken": broken}})
        return
    echo(f"{candidate.id}  {name_of(candidate.recipe)}")
    if candidate.also:
        also = ", ".join(f"{name_of(each.recipe)} ({each.id})" for each in candidate.also)
        echo(f"The same release is also made by {also}")
    if candidate.infeasible is not None:
        echo(f"could not be made: {candidate.infeasible}")
        return
    print_measurements(candidate.measurements)
    if beaten_by:
        echo(f"Beaten on {' and '.join(found.axes)} by {', '.join(c.id for c in beaten_by[:5])}")
    elif candidate in found.comparable:
        echo(f"Efficient: no candidate beats it on {' and '.join(found.axes)}")
    for line in broken:
        echo(f"Policy not met: {line}")
