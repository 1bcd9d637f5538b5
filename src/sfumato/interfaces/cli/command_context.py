"""Prepare and finish commands: find the project, open the store, write private files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.interfaces.cli.log import say
from sfumato.interfaces.cli.terminal import progress_shown
from sfumato.runtime.errors import Infeasible, ParameterError, ProjectError, UserError, suggestion
from sfumato.runtime.files import why_unreadable
from sfumato.runtime.machine import processors

if TYPE_CHECKING:
    from sfumato.results.candidate import Candidate
    from sfumato.results.frontier import Frontier
    from sfumato.results.measurement import Measurement
    from sfumato.results.release import Release
    from sfumato.workflow.explore.dry_run import DryRun
    from sfumato.workflow.explore.explore_project import Progress
    from sfumato.workflow.explore.stored_results import DataRead
    from sfumato.workflow.project.project_file import Project
    from sfumato.workflow.store.store import Store


def found_project(given: Path | None) -> Path:
    """Return the project file that was named, or the only one in this folder."""
    if given is not None:
        if given.suffix != ".toml":
            raise ProjectError(
                f"{given.name} is not a project file (.toml); `sfumato new {given.name}` writes one"
            )
        return given
    here = sorted(filter(_is_project, Path().glob("*.toml")))
    if len(here) != 1:
        found = "no project file" if not here else f"{len(here)} project files"
        raise ProjectError(f"{found} in this folder; name one, or write one with `sfumato new DATA`")
    return here[0]


def _is_project(path: Path) -> bool:
    try:
        return not why_unreadable(path) and "[data]" in path.read_text("utf-8", "replace")
    except OSError:
        return False


def loaded(given: Path | None) -> Project:
    """Read the project file that was named, or the only one in this folder."""
    from sfumato.workflow.project.project_file import Project

    return Project.load(found_project(given))


def opened(project_file: Path, *, create: bool = True) -> tuple[Project, Store]:
    """Read a project file and open its store."""
    project = loaded(project_file)
    return project, opened_store(project, create=create)


def opened_store(project: Project, *, create: bool = True) -> Store:
    """Open the store of a project."""
    from sfumato.workflow.store.store import Store

    return Store(project.store_path, create=create)


def read_ahead(project: Project) -> DataRead | None:
    """Read the data of a project without a store, so that errors appear before an empty store is created."""
    from sfumato.workflow.explore.stored_results import DataRead

    return None if os.path.exists(project.store_path) else DataRead.of(project)


def explored(
    project: Project,
    store: Store,
    seed: int | None,
    workers: int | None,
    memory: int | None = None,
    time_limit: float | None = None,
    budget: float | None = None,
    read: DataRead | None = None,
) -> Progress:
    """Make and measure what the store lacks, with progress on standard error."""
    from sfumato.runtime.pool import Limits
    from sfumato.workflow.explore.explore_project import explore as run_all

    limits = Limits(memory, time_limit)
    with progress_shown() as show_progress:
        return run_all(
            project,
            store,
            seed=seed,
            workers=workers,
            limits=limits,
            budget=budget,
            progress=show_progress,
            read=read,
        )


def counted(project: Project, workers: int | None) -> DryRun:
    """Return what an exploration would do, without creating a store."""
    from sfumato.workflow.explore.dry_run import dry_run
    from sfumato.workflow.store.store import IN_MEMORY, Store

    place = project.store_path if os.path.exists(project.store_path) else IN_MEMORY
    with Store(place) as store:
        return dry_run(project, store, workers or processors())


def without(project: Project, names: Iterable[str]) -> Project:
    """Remove measures from a project, except those that its frontier or policy needs."""
    from dataclasses import replace

    from sfumato.results.measurement import build_measure

    skipped = set(names)
    labels = {build_measure(written).label for written in project.measures}
    for name in skipped:
        if name not in labels:
            raise ParameterError(f"{name!r} is not measured{suggestion(name, labels)}")
        if name in (*project.axes, *project.policy.limits):
            raise ParameterError(f"{name!r} cannot be skipped: the frontier or the policy needs it")
    sides = [
        tuple(written for written in side if build_measure(written).label not in skipped)
        for side in (project.privacy, project.utility)
    ]
    return replace(project, privacy=sides[0], utility=sides[1])


def require_candidates(project: Project, store: Store, source: str, made: tuple[Candidate, ...]) -> None:
    """Raise an error with the reason if no candidate was made from this source."""
    if made:
        return
    sources = store.sources()
    if source in sources:
        happened = "no candidate of this data could be made; try something else"
    elif sources:
        names = f"{project.data_path.name}, or what {project.path.name} says of it,"
        happened = f"{names} has changed since it was explored"
    else:
        happened = "nothing was explored yet for this data"
    raise UserError(f"{happened}; run `sfumato explore {project.path.name}` first")


def require_comparable(project: Project, frontier: Frontier) -> None:
    """Raise an error with the reason if no candidate has a figure on every axis."""
    if frontier.comparable:
        return
    every = [m for candidate in frontier.candidates for m in candidate.measurements]
    reasons = {
        m.label: m.detail.get("reason", "") for m in every if m.label in frontier.axes and not m.applicable
    }
    why = "".join(f"; {label}: {reason}" for label, reason in reasons.items())
    sides = [[m.label for m in every if m.axis == side and m.applicable] for side in ("privacy", "utility")]
    axes = " ".join(f"--axis '{labels[0]}'" for labels in sides if labels)
    remedy = f"`sfumato frontier {project.path.name} {axes}`" if all(sides) else "name others in [measure]"
    raise Infeasible(
        f"the frontier is empty: no candidate has a figure on {' and '.join(frontier.axes)}{why}; "
        f"compare by other measures: {remedy}"
    )


def source_shown(project: Project, store: Store) -> str:
    """Return the source of the project's current data, and report outdated candidates."""
    from sfumato.workflow.explore.stored_results import source_now

    source = source_now(project, store)
    outdated = store.n_outdated(source)
    if outdated:
        n_candidates = len(store.candidates(source))
        say(
            f"{outdated:,} of {n_candidates:,} candidates: something was computed by an earlier version of "
            "sfumato, or from a file that has changed since; `sfumato explore` computes it again"
        )
    return source


def broken_in(project: Project, release: Release, measurements: Iterable[Measurement]) -> tuple[str, ...]:
    """Describe what a measured release breaks of the policy; it is judged by what its rows stand for."""
    from sfumato.registry.recipe import Recipe
    from sfumato.results.candidate import Candidate
    from sfumato.results.linked_release import LinkedRelease, released
    from sfumato.results.measurement import measure
    from sfumato.results.policy import evidence_of_type

    evidence, original = evidence_of_type(release.type), None
    attacks = project.policy.measures("attacks")
    if evidence == "attacks" and attacks and isinstance(release, LinkedRelease):
        as_is = released(release.origin.table, release.schema, {})
        original = Candidate("", Recipe("as-is"), tuple(measure(as_is, attacks)))
    return project.policy.broken(Candidate("", Recipe(""), tuple(measurements)), original, evidence)


def write_report(project: Project, found: Frontier, target: Path, chosen: Candidate | None = None) -> None:
    """Write the owner's report of an exploration, or of one of its candidates."""
    from sfumato.runtime.files import file_beside
    from sfumato.workflow.explore.stored_results import remade
    from sfumato.workflow.report.owner_report import report_html

    table, schema = project.read()
    page = report_html(
        publication=project.publication,
        schema=schema,
        n_records=table.n_records,
        frontier=found,
        table=table,
        infeasible=found.infeasible,
        chosen=chosen,
        release=None if chosen is None else remade(chosen, table, schema),
    )
    # only the owner may read it, because it is about the original
    with file_beside(target, private=True) as place:
        place.write_text(page, encoding="utf-8")


def parsed(parameters: tuple[str, ...], texts: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Read ``model.k-anonymity.k=10`` as TOML; a value that is not TOML is a text.

    So is a number where a text belongs, as the bits of a cut do.
    """
    import tomllib

    lines = []
    for given in parameters:
        key, sign, value = given.partition("=")
        if not sign:
            raise ParameterError(f"{given!r} is not KEY=VALUE; write for example model.k-anonymity.k=10")
        try:
            read = tomllib.loads(f"value = {value}")["value"]
            is_text = isinstance(read, (int, float)) and key.partition(".")[0].strip() in texts
        except ValueError:  # also of a number with more digits than Python reads
            is_text = True
        lines.append(f"{key} = {json.dumps(value)}" if is_text else given)
    try:
        return tomllib.loads("\n".join(lines))
    except ValueError as error:
        raise ParameterError(f"cannot read the parameters: {error}") from None
