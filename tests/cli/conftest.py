"""A command as a user gives it, in this process."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sfumato.interfaces.cli import run

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def sfumato(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command; return its exit code, standard output and standard error."""

    def call(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call
