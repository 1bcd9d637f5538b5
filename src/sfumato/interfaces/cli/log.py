"""Write messages to standard error while a command runs, as text or as one JSON document per line."""

from __future__ import annotations

import json
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Literal

import click

from sfumato.runtime.errors import printable, shortened

Style = Literal["text", "json"]
Level = Literal["info", "warning", "error"]

_STYLE: ContextVar[Style] = ContextVar("style", default="text")


def log_as(style: Style) -> None:
    """Say from now on everything in this way, until the command ends."""
    _STYLE.set(style)


def logs_json() -> bool:
    """Return whether programs read what is said."""
    return _STYLE.get() == "json"


def complain(message: str) -> None:
    """Say what went wrong."""
    _log("error", message, f"sfumato: {message}")


def warn(message: str) -> None:
    """Say what went wrong without ending the command."""
    message = shortened(message)
    _log("warning", message, f"sfumato: {message}")


def beware(message: str) -> None:
    """Say what somebody should look at."""
    message = shortened(message)
    _log("warning", message, f"beware: {message}")


def say(message: str, **facts: Any) -> None:
    """Say something on the way; the facts are for programs."""
    _log("info", message, message, **facts)


def complain_in_json(kind: str, message: str, exit_code: int) -> None:
    """Say what went wrong to a program that asked for JSON."""
    _line("error", {"kind": kind, "message": message, "exit-code": exit_code})


def _log(level: Level, message: str, words: str, **facts: Any) -> None:
    if logs_json():
        when = datetime.now(UTC).isoformat(timespec="milliseconds")
        _line("log", {"time": when, "level": level, "message": message, **facts})
    else:
        click.echo(printable(words, kept="\n"), err=True)


def _line(shape: str, facts: dict[str, Any]) -> None:
    from sfumato.interfaces.cli.json_schemas import form

    click.echo(printable(json.dumps({"format": form(shape), **facts})), err=True)
