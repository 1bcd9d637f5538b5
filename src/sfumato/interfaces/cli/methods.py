"""`sfumato methods`: list everything that is registered."""

from __future__ import annotations

import click

from sfumato.interfaces.cli import completers
from sfumato.interfaces.cli.base import cli, json_option
from sfumato.interfaces.cli.terminal import echo, print_json, print_table


@cli.command()
@click.argument("name", required=False, shell_complete=completers.methods)
@json_option
def methods(name: str | None, as_json: bool) -> None:
    """List all methods, models, measures and searches with their parameters; NAME shows one in full.

    \b
    Example: sfumato methods mondrian
    """
    from sfumato.interfaces.cli.catalogue import catalogue, entry
    from sfumato.results.json_schemas import MethodsShape

    if name is not None:
        found = entry(name)
        if as_json:
            print_json("method", found)
        else:
            echo(f"{found.name} ({found.kind})\n\n{found.documentation}")
        return
    entries = catalogue()
    if as_json:
        print_json("methods", MethodsShape(methods=entries))
        return
    for kind in dict.fromkeys(method.kind for method in entries):
        rows = [
            [
                method.name,
                ", ".join(f"{p.name} = {p.default}" for p in method.parameters),
                method.summary,
                method.paper,
            ]
            for method in entries
            if method.kind == kind
        ]
        print_table(
            "searches" if kind == "search" else f"{kind}s",
            ["name", "parameters", "what it does", "paper"],
            rows,
        )
