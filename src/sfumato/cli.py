"""The command line: a thin second face of the library. Everything heavy is imported when it is used."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sfumato import __version__
from sfumato.errors import ParameterError, ProjectError, SfumatoError, UserError
from sfumato.terminal import (
    candidate_facts,
    complain,
    frontier_facts,
    guess_facts,
    measurement_facts,
    print_frontier,
    print_json,
    print_measurements,
    print_table,
    progress_shown,
    say,
    warn_of_formulas,
)

if TYPE_CHECKING:
    from sfumato.explore import Progress
    from sfumato.frontier import Candidate, Frontier
    from sfumato.project import Project
    from sfumato.schema import Schema
    from sfumato.store import Store
    from sfumato.table import Table

_INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "--version", prog_name="sfumato")
def cli() -> None:
    """Find, compare, choose and publish a privacy-preserving release of a table about people.

    \b
    A first look:      sfumato demo
    With your table:   sfumato new people.csv        (then confirm the roles in people.toml)
                       sfumato explore people.toml
                       sfumato frontier people.toml
                       sfumato publish ID FOLDER --project people.toml
                       sfumato verify FOLDER

    Exit codes: 0 done, 1 something given cannot be used, 2 policy not met or verification failed,
    3 no release can satisfy what was asked.
    """


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for pipelines.")
seed_option = click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Seed of all randomness; drawn and kept in the store by default.",
)
workers_option = click.option(
    "--workers", type=click.IntRange(min=1), help="Processes at work; by default one for each processor."
)
project_option = click.option(
    "--project",
    "-P",
    "project_file",
    type=click.Path(path_type=Path),
    help="Project file; by default the only one here.",
)
project_argument = click.argument(
    "project_file", required=False, type=click.Path(path_type=Path), metavar="[PROJECT]"
)


def dialect_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how a CSV file is written."""
    for name, what in (("quote", "Quote sign"), ("encoding", "Encoding"), ("separator", "Separator")):
        command = click.option(f"--{name}", help=f"{what} of a CSV file; sniffed by default.")(command)
    return command


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
    """Run the main job on the embedded census example: explore, frontier, report.

    \b
    Example: sfumato demo
    """
    from sfumato.datasets.demo import write_demo

    project_file = write_demo(folder)
    say(f"Exploring releases of 45,222 census records in {folder}{os.sep} (described by {project_file.name})")
    project, store = _opened(project_file)
    with store:
        _explore(project, store, seed, workers)
        table, schema = project.read()
        frontier, infeasible = _frontier(project, store, table, schema)
        report = folder / "report.html"
        _write_report(project, table, schema, frontier, infeasible, report)
        if as_json:
            print_json({**frontier_facts(frontier, infeasible), "report": str(report)})
            return
        print_frontier(project, frontier, infeasible, everything=False)
    allowed = replace(frontier, candidates=frontier.within(project.policy))
    chosen = allowed.knee()
    click.echo(f"\nThe report lies in {report}")
    if chosen is not None:
        click.echo(f"Go on with:  sfumato show {chosen.id} -P {project_file}")
        click.echo(f"             sfumato publish {chosen.id} {folder / 'published'} -P {project_file}")


@cli.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    help="The project file; by default DATA's name with .toml.",
)
@dialect_options
@json_option
def new(data: Path, output: Path | None, as_json: bool, **dialect: str | None) -> None:
    """Guess roles, kinds and hierarchies of DATA and write a commented project file to edit.

    \b
    Example: sfumato new admissions.csv
    """
    from sfumato.guess import decimal_mark, guess, likely_missing_values
    from sfumato.reading import read_arrow
    from sfumato.starting_project import project_text
    from sfumato.table import Table

    target = output or data.with_suffix(".toml")
    if target.exists():
        raise UserError(f"{target.name} exists already; edit it, or name another with --output")
    records = read_arrow(data, **dialect)
    missing = likely_missing_values(Table.from_arrow(records))
    table = Table.from_arrow(records, missing_values=missing)
    guesses = guess(table)
    text = project_text(
        Path(os.path.relpath(str(data), str(target.parent))).as_posix(),
        guesses,
        n_records=table.n_records,
        missing_values=missing,
        decimal=decimal_mark(table),
        dialect={name: value for name, value in dialect.items() if value is not None},
    )
    _write_text(target, text)
    if as_json:
        print_json({"project": str(target), "attributes": [guess_facts(each) for each in guesses]})
        return
    print_table(
        f"{table.n_records:,} records of {data.name}, first guesses",
        ["attribute", "role", "kind", "distinct", "missing", "why"],
        [[g.name, g.role, g.kind, f"{g.n_distinct:,}", f"{g.n_missing:,}", g.reason] for g in guesses],
    )
    click.echo(f"\nConfirm the roles in {target}, then:  sfumato explore {target}")


@cli.command()
@click.argument("file", type=click.Path(path_type=Path))
@dialect_options
@json_option
def inspect(file: Path, as_json: bool, **dialect: str | None) -> None:
    """Show what the data looks like and how risky it is as it stands.

    FILE is a project file, or a data file whose roles are then guessed.

    \b
    Example: sfumato inspect admissions.csv
    """
    from sfumato.inspection import inspect_data, inspect_project

    facts = inspect_project(file) if file.suffix == ".toml" else inspect_data(file, **dialect)
    if as_json:
        print_json(facts)
        return
    print_table(
        f"{facts['records']:,} records, {facts['distinct-rows']:,} different",
        ["attribute", "role", "kind", "distinct", "missing", "levels"],
        [
            [a["name"], a["role"], a["kind"], f"{a['distinct']:,}", f"{a['missing']:,}", str(a["levels"])]
            for a in facts["attributes"]
        ],
    )
    click.echo("")
    for sentence in facts["risk"]["sentences"]:
        click.echo(sentence)


@cli.command()
@click.argument("output", type=click.Path(path_type=Path))
@click.argument("sanitizer")
@click.argument("parameters", nargs=-1)
@project_option
@seed_option
@json_option
def sanitize(
    output: Path,
    sanitizer: str,
    parameters: tuple[str, ...],
    project_file: Path | None,
    seed: int | None,
    as_json: bool,
) -> None:
    """Make one release by one recipe and write it to OUTPUT (.csv, .parquet or .feather).

    PARAMETERS are written as in a project file, with dots for what is nested.

    \b
    Example: sfumato sanitize release.csv mondrian model.k-anonymity.k=10
    """
    import secrets

    from sfumato import registry
    from sfumato.measures import measure
    from sfumato.publish import formula_columns, write_release
    from sfumato.recipe import Recipe
    from sfumato.sanitizers import sanitize as make

    recipe = Recipe(sanitizer, _parsed(parameters), secrets.randbits(63) if seed is None else seed)
    registry.build("sanitizer", recipe.sanitizer, recipe.parameters)
    project = _project(project_file)
    table, schema = project.read()
    release = make(table, schema, recipe)
    measurements = measure(release, project.measures)
    written = write_release(release, output)
    if as_json:
        print_json(
            {
                "output": [str(place) for place in written],
                "recipe": str(release.recipe),
                **measurement_facts(measurements),
            }
        )
        return
    places = " and ".join(str(place) for place in written)
    click.echo(
        f"{release.recipe}: {release.n_records:,} records written to {places}, "
        f"{release.n_suppressed:,} suppressed"
    )
    print_measurements(measurements)
    warn_of_formulas(formula_columns(release))


@cli.command()
@project_argument
@workers_option
@seed_option
@json_option
def explore(project_file: Path | None, workers: int | None, seed: int | None, as_json: bool) -> None:
    """Make and measure all candidates of a project; go on where an earlier run stopped.

    \b
    Example: sfumato explore admissions.toml
    """
    from sfumato.errors import Infeasible

    project, store = _opened(_found(project_file))
    with store:
        state = _explore(project, store, seed, workers)
        table, schema = project.read()
        frontier, infeasible = _frontier(project, store, table, schema)
        if not frontier.candidates:
            raise Infeasible(f"no candidate could be made; the last reason: {infeasible[-1].infeasible}")
        if as_json:
            facts = {
                "made": state.done - state.infeasible,
                "known": state.known,
                "infeasible": len(infeasible),
            }
            print_json({**facts, "store": str(store.path), "efficient": [c.id for c in frontier.efficient()]})
            return
    click.echo(
        f"{state.done:,} candidates tried, {state.known:,} were known, {len(infeasible):,} could not be "
        f"made; {len(frontier.efficient()):,} are efficient"
    )
    click.echo(f"See them:  sfumato frontier {project.path}")


@cli.command()
@project_argument
@click.option(
    "--axis",
    "axes",
    multiple=True,
    help="A measure to compare by; give it twice or more.",
)
@click.option("--all", "everything", is_flag=True, help="Also list candidates that others beat.")
@click.option("--picture", type=click.Path(path_type=Path), help="Write the frontier as a picture (.svg).")
@click.option("--report", type=click.Path(path_type=Path), help="Write a report of the exploration (.html).")
@json_option
def frontier(
    project_file: Path | None,
    axes: tuple[str, ...],
    everything: bool,
    picture: Path | None,
    report: Path | None,
    as_json: bool,
) -> None:
    """List the efficient releases: those that no other beats on every axis.

    \b
    Example: sfumato frontier admissions.toml --picture frontier.svg
    """
    project, store = _opened(_found(project_file), create=False)
    with store:
        table, schema = project.read()
        found, infeasible = _frontier(project, store, table, schema, axes)
    if not found.candidates:
        raise UserError(
            f"nothing was explored yet for this data; run `sfumato explore {project.path.name}` first"
        )
    if picture is not None:
        from sfumato.report.charts import frontier_chart

        _write_text(picture, frontier_chart(found, limits=project.policy))
    if report is not None:
        _write_report(project, table, schema, found, infeasible, report)
    if as_json:
        print_json(frontier_facts(found, infeasible))
    else:
        print_frontier(project, found, infeasible, everything=everything)


@cli.command()
@click.argument("identity", metavar="ID")
@project_option
@json_option
def show(identity: str, project_file: Path | None, as_json: bool) -> None:
    """Show one candidate in detail: recipe, every measurement, and who beats it.

    \b
    Example: sfumato show 3f9a
    """
    from sfumato.frontier import broken_limits

    project, store = _opened(_found(project_file), create=False)
    with store:
        table, schema = project.read()
        candidate = store.find(identity, _source(table, schema))
        found, _ = _frontier(project, store, table, schema)
    beaten_by = found.dominated_by(candidate) if candidate in found.comparable else ()
    broken = broken_limits(candidate, project.policy) if candidate.infeasible is None else []
    if as_json:
        facts = candidate_facts(candidate, efficient=candidate in found.efficient())
        print_json({**facts, "dominated-by": [c.id for c in beaten_by], "policy": {"broken": broken}})
        return
    click.echo(f"{candidate.id}  {candidate.recipe}")
    if candidate.infeasible is not None:
        click.echo(f"could not be made: {candidate.infeasible}")
        return
    print_measurements(candidate.measurements)
    if beaten_by:
        click.echo(f"Beaten on {' and '.join(found.axes)} by {', '.join(c.id for c in beaten_by[:5])}")
    elif candidate in found.comparable:
        click.echo(f"Efficient: no candidate beats it on {' and '.join(found.axes)}")
    for line in broken:
        click.echo(f"Policy not met: {line}")


@cli.command()
@click.argument("identity", metavar="ID")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--why", default="", help="The reason for the choice; it goes into the report.")
@click.option("--by", default="", help="Who decided; it goes into the report.")
@project_option
@json_option
def publish(identity: str, folder: Path, why: str, by: str, project_file: Path | None, as_json: bool) -> None:
    """Write data, report, metadata and manifest of a candidate to a new FOLDER.

    \b
    Example: sfumato publish 3f9a published --by "A. Steward" --why "the knee of the frontier"
    """
    from sfumato.publish import Evidence, formula_columns
    from sfumato.publish import publish as write

    project, store = _opened(_found(project_file), create=False)
    with store:
        table, schema = project.read()
        candidate = store.find(identity, _source(table, schema))
        evidence = Evidence(*_frontier(project, store, table, schema))
        decision, release = write(project, table, schema, candidate, evidence, folder, why=why, by=by)
        store.record(decision, str(folder))
    if as_json:
        print_json({"folder": str(folder), "decision": decision.to_dict(), "records": release.n_records})
        return
    click.echo(
        f"{release.n_records:,} records published in {folder}; every claim was checked on the written cells"
    )
    warn_of_formulas(formula_columns(release))
    click.echo(f"Anybody can check it:  sfumato verify {folder}")


@cli.command()
@click.argument("folder", type=click.Path(path_type=Path))
@json_option
def verify(folder: Path, as_json: bool) -> None:
    """Check a published FOLDER from its files alone: checksums, cells, every claim.

    \b
    Example: sfumato verify published
    """
    from sfumato.errors import VerificationFailed
    from sfumato.verify import verify as check

    checks = check(folder)
    failed = [each for each in checks if not each.holds]
    if as_json:
        listed = [{"what": each.what, "holds": each.holds, "problem": each.problem} for each in checks]
        print_json({"verified": not failed, "checks": listed})
    else:
        for each in checks:
            click.echo(
                f"{'ok  ' if each.holds else 'FAIL'}  {each.what}{': ' * bool(each.problem)}{each.problem}"
            )
    if failed:
        raise VerificationFailed(f"{len(failed)} of {len(checks)} checks of {folder.name} fail")
    if not as_json:
        click.echo(f"{folder.name} is what it says: {len(checks)} checks hold")


@cli.command()
@click.argument("name", required=False)
@json_option
def methods(name: str | None, as_json: bool) -> None:
    """List everything registered, with parameters; NAME shows one in full.

    \b
    Example: sfumato methods mondrian
    """
    from sfumato.catalogue import catalogue, entry

    if name is not None:
        found = entry(name)
        if as_json:
            print_json(found)
        else:
            click.echo(f"{found['name']} ({found['kind']})\n\n{found['documentation']}")
        return
    entries = catalogue()
    if as_json:
        print_json({"methods": entries})
        return
    for kind in dict.fromkeys(each["kind"] for each in entries):
        rows = [
            [
                each["name"],
                ", ".join(f"{p['name']} = {p['default']}" for p in each["parameters"]),
                each["summary"],
                each["paper"],
            ]
            for each in entries
            if each["kind"] == kind
        ]
        print_table(
            "searches" if kind == "search" else f"{kind}s",
            ["name", "parameters", "what it does", "paper"],
            rows,
        )


def main() -> None:
    """Run the command line and turn what goes wrong into one line and an exit code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code."""
    try:
        cli.main(arguments, prog_name="sfumato", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 0
    except click.ClickException as error:
        hint = (
            f" (see `{error.ctx.command_path} --help`)"
            if isinstance(error, click.UsageError) and error.ctx
            else ""
        )
        complain(f"{error.format_message()}{hint}")
        return 1
    except SfumatoError as error:
        complain(" ".join(str(error).split()))
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        complain("stopped; what was stored is kept, the same command goes on from there")
        return _INTERRUPTED
    except BrokenPipeError:
        # the reader of our output went away; that is its right
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _found(given: Path | None) -> Path:
    """Return the project file that was named, or the only one in this folder."""
    if given is not None:
        if given.suffix != ".toml":
            raise ProjectError(
                f"{given.name} is not a project file (.toml); `sfumato new {given.name}` writes one"
            )
        return given
    here = sorted(path for path in Path().glob("*.toml") if "[data]" in path.read_text("utf-8", "replace"))
    if len(here) != 1:
        found = "no project file" if not here else f"{len(here)} project files"
        raise ProjectError(f"{found} in this folder; name one, or write one with `sfumato new DATA`")
    return here[0]


def _project(given: Path | None) -> Project:
    from sfumato.project import Project

    return Project.load(_found(given))


def _opened(project_file: Path, *, create: bool = True) -> tuple[Project, Store]:
    from sfumato.store import Store

    project = _project(project_file)
    if create and not project.data_path.is_file():
        # say so before an empty store lies about
        project.read()
    return project, Store(project.store_path, create=create)


def _explore(project: Project, store: Store, seed: int | None, workers: int | None) -> Progress:
    from sfumato.explore import explore as run_all

    with progress_shown() as show_progress:
        return run_all(project, store, seed=seed, workers=workers, progress=show_progress)


def _source(table: Table, schema: Schema) -> str:
    from sfumato.explore import source_of

    return source_of(table, schema)


def _frontier(
    project: Project, store: Store, table: Table, schema: Schema, axes: Iterable[str] = ()
) -> tuple[Frontier, tuple[Candidate, ...]]:
    from sfumato.frontier import Frontier, only_made

    candidates = store.candidates(_source(table, schema))
    chosen = tuple(axes) or project.axes
    if len(chosen) < 2:
        raise ParameterError("a frontier has two axes or more; give --axis twice")
    made = only_made(candidates)
    return Frontier(made, chosen), tuple(c for c in candidates if c.infeasible is not None)


def _write_report(
    project: Project,
    table: Table,
    schema: Schema,
    found: Frontier,
    infeasible: tuple[Candidate, ...],
    target: Path,
) -> None:
    from sfumato.report.page import report_html

    page = report_html(
        publication=project.publication,
        schema=schema,
        n_records=table.n_records,
        frontier=found,
        infeasible=infeasible,
        policy=project.policy,
    )
    _write_text(target, page)


def _write_text(target: Path, text: str) -> None:
    from sfumato.files import file_beside

    with file_beside(target) as place:
        place.write_text(text, encoding="utf-8")


def _parsed(parameters: tuple[str, ...]) -> dict[str, Any]:
    """Read ``model.k-anonymity.k=10`` as TOML; a value that is not TOML is taken as text."""
    import tomllib

    lines = []
    for given in parameters:
        key, sign, value = given.partition("=")
        if not sign:
            raise ParameterError(f"{given!r} is not KEY=VALUE; write for example model.k-anonymity.k=10")
        try:
            tomllib.loads(f"value = {value}")
            lines.append(given)
        except tomllib.TOMLDecodeError:
            lines.append(f"{key} = {json.dumps(value)}")
    try:
        return tomllib.loads("\n".join(lines))
    except tomllib.TOMLDecodeError as error:
        raise ParameterError(f"cannot read the parameters: {error}") from None
