"""`sfumato explore`: make and measure the candidates of a project."""

from __future__ import annotations

import math
from pathlib import Path

import click

from sfumato.interfaces.cli.base import (
    cli,
    duration,
    json_option,
    project_argument,
    seed_option,
    size,
    workers_option,
)
from sfumato.interfaces.cli.command_context import (
    counted,
    explored,
    found_project,
    loaded,
    opened_store,
    read_ahead,
    require_candidates,
    require_comparable,
    without,
)
from sfumato.interfaces.cli.completers import measures
from sfumato.interfaces.cli.terminal import (
    echo,
    print_course,
    print_dry_run,
    print_json,
    print_policy,
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
    "skipped",
    multiple=True,
    shell_complete=measures,
    metavar="MEASURE",
    help="Skip a slow measure in this run; a later run without this option measures it.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Only say how many candidates and how much memory; write nothing.",
)
@seed_option
@json_option
def explore(
    project_file: Path | None,
    workers: int | None,
    memory: int | None,
    time_limit: float | None,
    budget: float | None,
    skipped: tuple[str, ...],
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
    from sfumato.results.json_schemas import DryRunShape, ExploreShape, GrownShape
    from sfumato.runtime.errors import Infeasible, MethodFailed
    from sfumato.workflow.choose.table_size import size_warning
    from sfumato.workflow.explore.convergence import growth_of

    project = without(loaded(found_project(project_file)), skipped)
    limit = project.budget if budget is None else budget
    limit = None if limit == math.inf else limit
    if dry_run:
        found = counted(project, workers)
        if as_json:
            document = DryRunShape.of(found, candidates=found.n_open, budget=limit)
            print_json("dry-run", document)
        else:
            print_dry_run(found, limit)
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
        warning = size_warning(project, frontier)
        if as_json:
            outcome = ExploreShape.of(
                state,
                made=state.done - state.infeasible,
                infeasible=len(infeasible),
                failed=sum(each.failed for each in infeasible),
                left=state.total - state.done,
                budget_spent=state.is_spent,
                seconds=state.elapsed,
                hypervolume=[GrownShape(seconds=when, value=volume) for when, volume in growth.steps],
                store=str(store.path),
                notes=[*frontier.policy_notes()],
                efficient=[c.id for c in frontier.efficient()],
                too_small=warning,
            )
            print_json("explore", outcome)
            require_comparable(project, frontier)
            return
    print_policy(frontier)
    if warning:
        echo(warning)
    echo(
        f"{state.done:,} candidates tried, {state.known:,} were known, {len(infeasible):,} could not be "
        f"made; {len(frontier.efficient()):,} are efficient"
    )
    print_reasons(frontier.candidates)
    print_course(state, growth, limit)
    require_comparable(project, frontier)
    echo(f"See them:  sfumato frontier {project.path}")
