"""`sfumato workbench`: open the workbench in the browser."""

from __future__ import annotations

import os
from pathlib import Path

import click

from sfumato.interfaces.cli.base import cli, json_option
from sfumato.interfaces.cli.log import say
from sfumato.interfaces.cli.terminal import print_json
from sfumato.runtime.errors import UserError


@cli.command()
@click.argument("project", required=False, type=click.Path(path_type=Path), metavar="[PROJECT]")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Port to listen on; a free one by default."
)
@click.option("--no-browser", is_flag=True, help="Only print the address, do not open it.")
@click.option(
    "--address",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on. Any other than this machine's own lets others in who have the token.",
)
@json_option
def workbench(project: Path | None, port: int, no_browser: bool, address: str, as_json: bool) -> None:
    """Open the workbench in the browser: load, explore, compare, decide and publish on a page.

    PROJECT is a project file, or a folder with projects or data; this folder by default.

    \b
    Example: sfumato workbench admissions.toml
    """
    from sfumato.interfaces.workbench.server import serve

    place = project or Path()
    is_folder = os.path.isdir(place)
    if not is_folder and (place.suffix != ".toml" or not os.path.isfile(place)):
        raise UserError(f"{place.name} is neither a folder nor a project file (.toml); name one that is")

    def tell(start: str) -> None:
        if as_json:
            from sfumato.results.json_schemas import WorkbenchShape

            print_json("workbench", WorkbenchShape(address=start))
        else:
            say(f"The workbench is open: {start}\nStop it with Ctrl-C; everything stored is kept.")

    serve(
        place if is_folder else place.parent,
        None if is_folder else place.stem,
        say=say,
        tell=tell,
        address=address,
        port=port,
        browser=not no_browser,
    )
