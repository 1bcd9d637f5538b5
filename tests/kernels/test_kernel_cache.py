"""Compiled kernels of an installation that nobody may write to are used by everyone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import sfumato

PACKAGE = Path(sfumato.__file__).parent
# Prints the outcome of a command, and whether it compiled anything.
COMMAND = """
import sys
from sfumato.kernels.compilation import notify_when_compiling
begun = []
notify_when_compiling(begun.append)
from sfumato.interfaces.cli import run
code = run(sys.argv[1:])
import sfumato
print(sfumato.__file__, code, len(begun))
"""


def without_rights() -> list[str]:
    """Return what to put before a command so that the system's permissions bind it, even as root."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("as root, this needs setpriv")
    return ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]


def without_network() -> list[str]:
    command = ["unshare", "--net"]
    can = shutil.which("unshare") and subprocess.run([*command, "true"], capture_output=True).returncode == 0
    return command if can else []


@pytest.fixture
def installed(tmp_path: Path) -> Iterator[Path]:
    """Copy the package, with its compiled kernels, and make a home folder that is read-only."""
    folder, home = tmp_path / "installed", tmp_path / "home"
    shutil.copytree(PACKAGE, folder / "sfumato")
    home.mkdir(0o555)
    yield folder
    for place in (home, *(each for each in folder.rglob("*") if each.is_dir())):
        place.chmod(0o755)


def run_command(installed: Path, *arguments: str, before: list[str]) -> tuple[str, int, int]:
    home = installed.parent / "home"
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(installed)}
    command = [*before, sys.executable, "-P", "-c", COMMAND, *arguments]
    done = subprocess.run(
        command, env=environment, cwd=installed.parent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    place, code, n_begun = done.stdout.splitlines()[-1].split()
    return place, int(code), int(n_begun)


def make_read_only(folder: Path) -> None:
    for place in (folder, *folder.rglob("*")):
        place.chmod(0o555 if place.is_dir() else 0o444)


@pytest.mark.skipif(os.name != "posix", reason="only POSIX has these permissions")
def test_no_user_of_a_read_only_installation_compiles(installed: Path, tmp_path: Path) -> None:
    shutil.copy(PACKAGE / "reading" / "datasets" / "hospital.csv", tmp_path / "hospital.csv")
    before = without_rights()
    assert run_command(installed, "new", "hospital.csv", before=[])[1] == 0
    inspect = ("inspect", "hospital.toml")
    # whatever the tests have not compiled yet is compiled by the administrator
    assert run_command(installed, *inspect, before=[])[1] == 0
    make_read_only(installed)
    place = str(installed / "sfumato" / "__init__.py")
    assert run_command(installed, *inspect, before=[*without_network(), *before]) == (place, 0, 0)
    # and without compiled kernels it works as well
    kernels = installed / "sfumato" / "kernels" / "__pycache__"
    kernels.chmod(0o755)
    for kernel in kernels.glob("*.nb?"):
        kernel.unlink()
    kernels.chmod(0o555)
    _, code, n_begun = run_command(installed, *inspect, before=before)
    assert code == 0
    assert n_begun > 0
