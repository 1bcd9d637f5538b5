"""The plug-in is a distribution of its own: it is installed into a folder, and only there imported."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import sfumato

# importing it here would register its classes for all other tests
collect_ignore = ["package"]

Run = Callable[..., "subprocess.CompletedProcess[str]"]

MAIN = "from sfumato.interfaces.cli import main; main()"


def install(package: Path, target: Path) -> Path:
    """Install a distribution into a folder, without the network."""
    quietly = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--no-index"]
    command = [sys.executable, "-m", "pip", "install", *quietly, "--target", str(target), str(package)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the plug-in of this folder is installed into."""
    return install(Path(__file__).parent / "package", tmp_path_factory.mktemp("installed"))


def environment(plugged: Path) -> dict[str, str]:
    """Return the environment of a process that finds what is installed in a folder."""
    places = [str(plugged), str(Path(sfumato.__file__).parents[1])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(places), "PYTHONWARNINGS": ""}


def python(*arguments: str, plugged: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own that finds what is installed in a folder."""
    words = [sys.executable, *arguments]
    return subprocess.run(
        words, cwd=cwd, env=environment(plugged), capture_output=True, text=True, check=False
    )


def command(*arguments: str, plugged: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of sfumato in a process of its own."""
    return python("-c", MAIN, *arguments, plugged=plugged, cwd=cwd)


def begin(*arguments: str, plugged: Path, cwd: Path) -> subprocess.Popen[str]:
    """Begin a command of sfumato in a group of processes of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", MAIN, *arguments],
        cwd=cwd,
        env=environment(plugged),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
