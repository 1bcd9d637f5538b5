"""`sfumato shape`: print the JSON Schemas of what commands print with `--json`."""

from __future__ import annotations

import json

import click

from sfumato.interfaces.cli.base import cli, json_option
from sfumato.interfaces.cli.terminal import echo, print_json


@cli.command()
@click.argument("name", required=False)
@json_option
def shape(name: str | None, as_json: bool) -> None:
    """Print the JSON Schema of what a command prints with --json; without NAME, the names.

    `error` and `log` are what stands on standard error.

    \b
    Example: sfumato shape frontier > frontier.schema.json
    """
    from sfumato.results.json_schemas import NamedShape, ShapesShape, form, names_of_shapes, schema, shape_of

    if name is not None:
        echo(json.dumps(schema(name), indent=2))
    elif as_json:
        listed = [NamedShape(name=shape_name, is_=form(shape_name)) for shape_name in names_of_shapes()]
        print_json("shapes", ShapesShape(shapes=listed))
    else:
        for shape_name in names_of_shapes():
            summary = (getattr(shape_of(shape_name), "__doc__", "") or "").partition("\n")[0]
            echo(f"{form(shape_name):24} {summary}")
