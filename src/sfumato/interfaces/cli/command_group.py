"""The group of all commands: sfumato's own, and those that other packages add by an entry point.

Looking for entry points reads the metadata of everything that is installed, which takes milliseconds. So
the group does it only for a command that is not one of ours, and to list all commands in help and completion.
"""

from __future__ import annotations

from importlib import metadata

import click

from sfumato.interfaces.cli.log import warn
from sfumato.runtime.errors import UserError

_GROUP = "sfumato.commands"
# Commands of packages that come from this repository; somebody who lacks the package learns where to get it.
_PACKAGES = {"reproduce": ("sfumato-papers", "pip install ./papers")}


class CommandGroup(click.Group):
    """Commands by name; a package that does not load loses its own commands and no others."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        added = {entry.name for entry in metadata.entry_points(group=_GROUP)}
        return sorted({*super().list_commands(ctx), *added})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, to run it or to list it; where it does not load, say so in one line."""
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        try:
            return _added(cmd_name)
        except UserError as error:
            # a shell that completes a word shows what is written beside it
            if not ctx.resilient_parsing:
                warn(str(error))
            return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command to run, or say what is wrong with the package that has it."""
        name = args[0]
        is_added = name not in self.commands and not ctx.resilient_parsing
        if is_added and _added(name) is None and name in _PACKAGES:
            package, command = _PACKAGES[name]
            raise UserError(f"no command {name!r}; it comes with {package}: {command}")
        return super().resolve_command(ctx, args)


def _added(name: str) -> click.Command | None:
    """Return the command that another package adds under this name, if one does."""
    entry = next(iter(metadata.entry_points(group=_GROUP, name=name)), None)
    if entry is None:
        return None
    package = f" of {entry.dist.name}" if entry.dist is not None else ""
    try:
        found = entry.load()
    except (Exception, SystemExit) as error:
        # a stranger's message might show a value
        problem = f"it raises {type(error).__name__}"
    else:
        if isinstance(found, click.Command):
            return found
        problem = "it is no click command"
    raise UserError(f"the command {name!r}{package} is skipped: {problem}; repair or uninstall it")
