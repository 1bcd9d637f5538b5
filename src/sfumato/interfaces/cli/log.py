"""Write messages to standard error while a command runs, as text or as one JSON document per line."""

from __future__ import annotations

import json
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

import click

from sfumato.runtime.errors import printable, shortened

if TYPE_CHECKING:
    from sfumato.results.json_schemas import Shape

Style = Literal["text", "json"]
Level = Literal["info", "warning", "error"]

_STYLE: ContextVar[Style] = ContextVar("style", default="text")


def log_as(style: Style) -> None:
    """Use this format for all messages until the command ends."""
    _STYLE.set(style)


def logs_json() -> bool:
    """Return whether messages are JSON."""
    return _STYLE.get() == "json"


def report_error(message: str) -> None:
    """Report an error."""
    _log("error", message, f"sfumato: {message}")


def pass_on(message: str) -> None:
    """Print a warning of the library."""
    message = shortened(message)
    _log("warning", message, f"sfumato: {message}")


def warn(message: str) -> None:
    """Warn of something that the user should look at."""
    message = shortened(message)
    _log("warning", message, f"warning: {message}")


def say(message: str, **facts: Any) -> None:
    """Report progress; ``facts`` are for programs."""
    _log("info", message, message, **facts)


def report_error_in_json(kind: str, message: str, exit_code: int) -> None:
    """Report an error to a program that asked for JSON."""
    from sfumato.results.json_schemas import ErrorShape

    _line("error", ErrorShape(kind=kind, message=message, exit_code=exit_code))


def _log(level: Level, message: str, words: str, **facts: Any) -> None:
    if logs_json():
        from sfumato.results.json_schemas import LogShape

        when = datetime.now(UTC).isoformat(timespec="milliseconds")
        _line("log", LogShape(time=when, level=level, message=message, **facts))
    else:
        click.echo(printable(words, kept="\n"), err=True)


def _line(name: str, document: Shape) -> None:
    from sfumato.results.json_schemas import form

    click.echo(printable(json.dumps({"format": form(name), **document.to_dict()})), err=True)
