"""Install the lowest versions that pyproject.toml allows, extras and all, and run tests with them.

Everything goes into an environment of its own that is removed afterwards; the network is needed.

    python tools/floors.py [TEST ...]
"""

from __future__ import annotations

import os
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


def main(tests: list[str]) -> int:
    facts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = facts["project"]["optional-dependencies"].items()
    asked = (each for name, each in extras if name not in facts["tool"]["sfumato"]["apart"])
    floors = [lowest(each) for each in chain(facts["project"]["dependencies"], *asked)]
    with tempfile.TemporaryDirectory(prefix="sfumato-floors-") as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder, "bin", "python"))
        pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
        # the workbench's tests speak through httpx to an old starlette, through httpx2 to a new one
        tools = [*facts["dependency-groups"]["test"], "httpx"]
        subprocess.run([*pip, "--only-binary", ":all:", *floors, *tools], check=True)
        subprocess.run([*pip, "--no-deps", str(ROOT)], check=True)
        print(" ".join(floors), flush=True)
        # kernels that were compiled by another numba must not be taken
        known = {**os.environ, "NUMBA_CACHE_DIR": str(Path(folder, "kernels"))}
        # what an old package says of a new one is none of our faults
        command = [python, "-m", "pytest", "-W", "default", *tests]
        return subprocess.run(command, cwd=ROOT, env=known).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
