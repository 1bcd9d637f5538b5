"""Define the group that all commands belong to, and the options that several of them share."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from sfumato import __version__
from sfumato.interfaces.cli.command_group import CommandGroup
from sfumato.interfaces.cli.log import Style, log_as
from sfumato.runtime.errors import ParameterError


@click.group(
    cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, "--version", prog_name="sfumato")
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    envvar="SFUMATO_LOG_FORMAT",
    show_envvar=True,
    help="How messages are written to standard error: as text, or as one JSON document a line.",
)
def cli(log_format: Style) -> None:
    """Find, compare, choose and publish a privacy-preserving release of a table about people.

    \b
    A first look:      sfumato demo
    With your table:   sfumato new people.csv        (then confirm the roles in people.toml)
                       sfumato explore people.toml
                       sfumato frontier people.toml
                       sfumato ask "max k where loss <= 25%" --project people.toml
                       sfumato publish ID FOLDER --project people.toml
                       sfumato verify FOLDER
    Anybody's release: sfumato measure RELEASE --project people.toml

    A candidate is a release that might be published. One is efficient if no other beats it in both privacy
    and utility; the frontier is all that are.

    Exit codes: 0 done, 1 something that was given cannot be used, 2 policy not met or verification failed,
    3 no release can satisfy what was asked, 4 cannot tell: a later version wrote a published folder.
    """
    log_as(log_format)


def size(written: str) -> int:
    """Read a size: ``2GB`` is 2,000,000,000 bytes."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([kKMGT])B?", written.strip())
    if found is None:
        raise ParameterError(f"{written!r} is no size; write for example 2GB or 500MB")
    return int(float(found[1]) * 1000 ** (" KMGT".index(found[2].upper())))


def share(written: str) -> float:
    """Read a share: ``5%`` is 0.05."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?(%?)", written.strip())
    value = float(found[1]) / (100 if found[2] else 1) if found else -1.0
    if not 0 <= value <= 1:
        raise ParameterError(f"{written!r} is no share; write for example 5% or 0.05")
    return value


def duration(written: str) -> float:
    """Read a time: ``2m`` is 120 seconds."""
    from sfumato.workflow.project.budget import seconds_of

    return seconds_of(written)


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for other programs to read.")
seed_option = click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="The number that all random choices start from: the same number gives the same releases. By default "
    "one is drawn and kept in the store.",
)
workers_option = click.option(
    "--workers",
    type=click.IntRange(min=1),
    help="How many processes work at once; by default one for each processor.",
)
project_option = click.option(
    "--project",
    "-P",
    "project_file",
    type=click.Path(path_type=Path),
    help="The project file; by default the only one in this folder.",
)
project_argument = click.argument(
    "project_file", required=False, type=click.Path(path_type=Path), metavar="[PROJECT]"
)

table_option = click.option("--table", help="The table to read, if the data is a database.")
query_option = click.option("--query", help="The query whose result is read, if the data is a database.")


def dialect_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that describe how a CSV file is written."""
    for name, what in (("quote", "Quote sign"), ("encoding", "Encoding"), ("separator", "Separator")):
        said = f"{what} of a CSV file; by default recognised from the file."
        command = click.option(f"--{name}", help=said)(command)
    return command
