"""`sfumato doctor`: say what is installed, what is missing, and where caches and stores are."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sfumato import __version__
from sfumato.interfaces.cli.base import cli, json_option
from sfumato.interfaces.cli.log import say
from sfumato.interfaces.cli.terminal import echo, print_json, print_table
from sfumato.runtime.extras import EXTRAS, install_command

if TYPE_CHECKING:
    from sfumato.results.json_schemas import PackageShape


@cli.command()
@click.option(
    "--compile",
    "compiles",
    is_flag=True,
    help="Compile all kernels now, which takes about a minute. After an administrator has done it, no user "
    "of this installation waits for it.",
)
@json_option
def doctor(compiles: bool, as_json: bool) -> None:
    """Show what is installed, what is missing and how to get it, and where caches and stores are.

    \b
    Example: sfumato doctor
             sfumato doctor --compile
    """
    from sfumato.results.json_schemas import DoctorShape, KernelsShape
    from sfumato.workflow.explore.warm_up import KernelState, compile_kernels

    if compiles:
        say("Compiling all kernels")
        compile_kernels()
    kernels = KernelState.now()
    packages = list(_packages())
    stores = sorted(path.name for path in Path().glob("*.sqlite") if path.with_suffix(".toml").exists())
    folder = str(Path(__file__).parents[2])
    if as_json:
        document = DoctorShape(
            version=__version__,
            python=platform.python_version(),
            folder=folder,
            packages=packages,
            kernels=KernelsShape.of(kernels),
            stores=stores,
        )
        print_json("doctor", document)
        return
    echo(f"sfumato {__version__} with Python {platform.python_version()}, in {folder}")
    rows = [[each.name, each.version or f"missing: {each.install}", each.extra or ""] for each in packages]
    print_table("", ["package", "version", "extra"], rows)
    echo(
        f"Kernels: {kernels.compiled} of {kernels.total} are compiled for this machine; `sfumato doctor "
        "--compile` compiles those that common work needs"
    )
    echo(
        f"         new ones are kept in {kernels.folder}"
        if kernels.folder
        else "         no folder is writable"
    )
    echo(f"Stores:  next to their project files; in this folder: {', '.join(stores) or 'none'}")


def _packages() -> Iterator[PackageShape]:
    """Yield the packages that sfumato always needs, then those of each extra."""
    from sfumato.results.json_schemas import PackageShape

    for requirement in metadata.requires("sfumato") or ():
        if "extra ==" not in requirement:
            name = re.split(r"[<>=!~;\[ ]", requirement, maxsplit=1)[0]
            yield PackageShape(name=name, version=_version(name), extra=None, install=f"pip install {name}")
    for extra, modules in EXTRAS.items():
        for name in modules.values():
            yield PackageShape(name=name, version=_version(name), extra=extra, install=install_command(extra))


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
