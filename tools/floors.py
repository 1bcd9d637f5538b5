"""Install the lowest versions that pyproject.toml allows, extras and all, and run tests with them.

Everything goes into an environment of its own; the network is needed. It is removed afterwards unless
``--keep`` names a folder for it: a kept one is used again while pyproject.toml and the Python stay as they
are.

    python tools/floors.py [--keep FOLDER] [TEST ...]
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parents[1]


def lowest(requirement: str) -> str:
    """Return a requirement that allows nothing but its lowest version: ``click>=8.2`` is ``click==8.2``."""
    name, _, version = requirement.partition(">=")
    return f"{name}=={version}"


def install(folder: Path) -> None:
    """Make an environment with the lowest versions, or keep the one that is there if it holds these."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    held = hashlib.sha256(f"{sys.version} {text}".encode()).hexdigest()
    stamp = folder / "installed"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == held:
        return
    shutil.rmtree(folder, ignore_errors=True)
    facts = tomllib.loads(text)
    extras = facts["project"]["optional-dependencies"].items()
    asked = (each for name, each in extras if name not in facts["tool"]["sfumato"]["apart"])
    floors = [lowest(each) for each in chain(facts["project"]["dependencies"], *asked)]
    venv.create(folder, with_pip=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    # the workbench's tests speak through httpx to an old starlette, through httpx2 to a new one
    tools = [*facts["dependency-groups"]["test"], "httpx"]
    subprocess.run([*pip, "--only-binary", ":all:", *floors, *tools], check=True)
    subprocess.run([*pip, "--no-deps", str(ROOT)], check=True)
    print(" ".join(floors), flush=True)
    stamp.write_text(held, encoding="utf-8")


def run(folder: Path, tests: list[str]) -> int:
    """Run tests with an environment, upon the library as it is here."""
    # kernels that were compiled by another numba must not be taken
    known = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(folder / "kernels"),
        "PYTHONPATH": str(ROOT / "src"),
    }
    # what an old package says of a new one is none of our faults
    command = [str(folder / "bin" / "python"), "-m", "pytest", "-W", "default", *tests]
    return subprocess.run(command, cwd=ROOT, env=known).returncode


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--keep"]:
        folder = Path(arguments[1]).absolute()
        install(folder)
        return run(folder, arguments[2:])
    with tempfile.TemporaryDirectory(prefix="sfumato-floors-") as place:
        install(Path(place, "environment"))
        return run(Path(place, "environment"), arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
