"""Run the command line. Modules that take long to import are imported when a command needs them."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
import warnings
from collections.abc import Callable, Sequence
from contextvars import copy_context
from typing import Any

import click

from sfumato.interfaces.cli import (
    apply,
    ask,
    challenge,
    compare,
    completion,
    demo,
    doctor,
    explore,
    frontier,
    inspect,
    measure,
    methods,
    new,
    publish,
    query,
    sanitize,
    score,
    shape,
    show,
    verify,
    workbench,
)
from sfumato.interfaces.cli.base import cli
from sfumato.interfaces.cli.log import pass_on, report_error, report_error_in_json
from sfumato.runtime.errors import ParameterError, SfumatoError, shortened
from sfumato.runtime.import_path import leave_current_folder

# importing a module adds its commands to the group
__all__ = [
    "apply",
    "ask",
    "challenge",
    "cli",
    "compare",
    "completion",
    "demo",
    "doctor",
    "explore",
    "frontier",
    "inspect",
    "main",
    "measure",
    "methods",
    "new",
    "publish",
    "query",
    "sanitize",
    "score",
    "shape",
    "show",
    "verify",
    "workbench",
]

_INTERRUPTED = 130


def main() -> None:
    """Run the command line, and turn errors into one line and an exit code."""
    leave_current_folder()
    signal.signal(signal.SIGTERM, _terminate)
    # what is imported stays: looking for garbage in it takes an eighth of the time until a first release
    gc.set_threshold(50_000, 20, 20)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # a terminal of another time cannot show every letter of a column's name
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        sys.exit(run(sys.argv[1:]))
    except _Terminated:
        sys.exit(128 + signal.SIGTERM)


class _Terminated(BaseException):
    """Raised when the system asks to terminate. A method's own ``exit`` is different and is survived."""


def _terminate(number: int, _: object) -> None:
    """Exit through an exception, so that half-written files are removed on the way out."""
    raise _Terminated


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code."""
    with warnings.catch_warnings():
        warnings.showwarning = _warning_shower(warnings.showwarning)
        # how a command logs is forgotten with it
        return copy_context().run(_run, arguments)


def _warning_shower(otherwise: Callable[..., None]) -> Callable[..., None]:
    """Return a function that shows sfumato's own warnings in one line, and any other as usual."""

    def show(message: Warning | str, category: type[Warning], *where: Any) -> None:
        from sfumato.reading.mixed_writing import MixedWriting
        from sfumato.registry.method_extras import LeftOut
        from sfumato.registry.methods import PlugInSkipped
        from sfumato.registry.plugin_errors import MethodFails
        from sfumato.sanitizers.base import RareValues
        from sfumato.workflow.store.store import ChangedRows

        passed_on = (PlugInSkipped, MethodFails, LeftOut, MixedWriting, ChangedRows, RareValues)
        if issubclass(category, passed_on):
            pass_on(str(message))
        else:
            otherwise(message, category, *where)

    return show


def _problem_of_place(arguments: Sequence[str] = ()) -> str:
    """Describe what is wrong with the arguments or the current folder; empty if all is well.

    Project files, manifests and the store hold names in UTF-8, and no other names.
    """
    if any("\0" in argument for argument in arguments):
        return "an argument holds a NUL character, which no path and no name can; leave it out"
    for argument in arguments:
        if not _is_utf8(argument):
            return (
                f"{argument!r} is not valid UTF-8; rename the file or folder, or write the text in UTF-8 "
                "(a terminal in another encoding: set LC_ALL=C.UTF-8)"
            )
    try:
        place = os.getcwd()
    except OSError:
        return "the current folder was removed, or cannot be read; change to another one"
    return "" if _is_utf8(place) else f"the current folder {place!r} is not named in UTF-8; rename it"


def _is_utf8(text: str) -> bool:
    """Return whether a text of the system was UTF-8: Python keeps other bytes as surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _run(arguments: list[str]) -> int:
    def failed(error: BaseException, message: str, exit_code: int) -> int:
        message = shortened(message, (*arguments, *map(os.path.basename, arguments)))
        if "--json" in arguments:
            report_error_in_json(type(error).__name__, message, exit_code)
        else:
            report_error(message)
        return exit_code

    if problem := _problem_of_place(arguments):
        return failed(ParameterError(problem), problem, 1)
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
        return failed(error, f"{error.format_message()}{hint}", 1)
    except SfumatoError as error:
        return failed(error, " ".join(str(error).split()), error.exit_code)
    except (KeyboardInterrupt, click.Abort) as error:
        said = "stopped; what was stored is kept, the same command goes on from there"
        return failed(error, said, _INTERRUPTED)
    except FileNotFoundError as error:
        # Python asks for the current folder in many places, and it can be removed at any moment
        if problem := _problem_of_place():
            return failed(error, problem, 1)
        raise
    except BrokenPipeError:
        # the reader of our output went away; that is its right
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
