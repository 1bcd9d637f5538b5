"""The commands before anything is made: demo, new, inspect, methods."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from sfumato.interfaces.cli import completion
from sfumato.interfaces.cli.base import cli, dialect_options, json_option, seed_option, workers_option
from sfumato.interfaces.cli.command_context import explored, opened, write_report
from sfumato.interfaces.cli.log import beware, say
from sfumato.interfaces.cli.terminal import (
    echo,
    frontier_facts,
    guess_facts,
    print_frontier,
    print_json,
    print_singling_out,
    print_table,
    words_shown,
)
from sfumato.runtime.errors import UserError
from sfumato.workflow.explore.stored_results import source_now, stored_frontier

if TYPE_CHECKING:
    pass


table_option = click.option("--table", help="The table to read, if the data is a database.")
query_option = click.option("--query", help="The query whose result is read, if the data is a database.")


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
            print_json("demo", {**frontier_facts(frontier, frontier.infeasible), "report": str(report)})
            return
        print_frontier(project, frontier, frontier.infeasible, everything=False)
    allowed = replace(frontier, candidates=frontier.within(project.policy))
    chosen = allowed.knee()
    echo(f"\nThe report lies in {report}")
    if chosen is not None:
        echo(f"Go on with:  sfumato show {chosen.id} -P {project_file}")
        echo(f'             sfumato ask "max k where loss <= 25%" -P {project_file}')
        echo(f"             sfumato publish {chosen.id} {folder / 'published'} -P {project_file}")


@cli.command()
@click.argument("data", type=click.Path())
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    help="The project file; by default DATA's name with .toml.",
)
@dialect_options
@table_option
@query_option
@json_option
def new(data: str, output: Path | None, as_json: bool, **dialect: str | None) -> None:
    """Look at DATA, guess the role of each column, and write a project file to read and to correct.

    DATA is a file, a folder of files, a pattern such as 'admissions/2024-*.csv', or a database: its file, or
    the address of a PostgreSQL server.

    \b
    Example: sfumato new admissions.csv
    """
    from sfumato.reading.databases import is_address
    from sfumato.reading.sources import source_at
    from sfumato.workflow.project.new_project import start_project

    source_at(data, **dialect)
    # the project of a database on a server lies here, and is called as the database is
    named = Path(Path(urlsplit(data).path).name or "project") if is_address(data) else Path(data)
    target = output or named.with_suffix(".toml")
    if os.path.exists(target):
        raise UserError(f"{target.name} exists already; edit it, or name another with --output")
    given = {name: value for name, value in dialect.items() if value is not None}
    with words_shown():
        table, guesses = start_project(data, target, given)
    if as_json:
        print_json("new", {"project": str(target), "attributes": [guess_facts(each) for each in guesses]})
        return
    print_table(
        f"{table.n_records:,} records of {named.name}, first guesses",
        ["attribute", "role", "kind", "distinct", "missing", "why"],
        [[g.name, g.role, g.kind, f"{g.n_distinct:,}", f"{g.n_missing:,}", g.reason] for g in guesses],
    )
    echo(f"\nConfirm the roles in {target}, then:  sfumato explore {target}")


@cli.command()
@click.argument("file", type=click.Path(path_type=Path))
@dialect_options
@table_option
@query_option
@json_option
def inspect(file: Path, as_json: bool, **given: str | None) -> None:
    """Show what the data looks like and how risky it is as it stands.

    FILE is a project file, or a data file whose roles are then guessed.

    \b
    Example: sfumato inspect admissions.csv
    """
    from sfumato.workflow.explore.inspection import inspect as look_at

    with words_shown():
        facts = look_at(file, None, **given).to_dict()
    if as_json:
        print_json("inspect", facts)
        return
    print_table(
        f"{facts['records']:,} records, {facts['distinct-rows']:,} different",
        ["attribute", "role", "kind", "distinct", "missing", "levels"],
        [
            [a["name"], a["role"], a["kind"], f"{a['distinct']:,}", f"{a['missing']:,}", str(a["levels"])]
            for a in facts["attributes"]
        ],
    )
    echo()
    for sentence in facts["risk"]["sentences"]:
        echo(sentence)
    if facts["singling-out"]["columns"]:
        print_singling_out(facts["singling-out"])
    for warning in facts["warnings"]:
        beware(warning)


@cli.command()
@click.argument("name", required=False, shell_complete=completion.methods)
@json_option
def methods(name: str | None, as_json: bool) -> None:
    """List all methods, models, measures and searches with their parameters; NAME shows one in full.

    \b
    Example: sfumato methods mondrian
    """
    from sfumato.interfaces.cli.catalogue import catalogue, entry

    if name is not None:
        found = entry(name)
        if as_json:
            print_json("method", found)
        else:
            echo(f"{found['name']} ({found['kind']})\n\n{found['documentation']}")
        return
    entries = catalogue()
    if as_json:
        print_json("methods", {"methods": entries})
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
