"""Write lock/: every package of the development environment, with its version and the hashes of its files.

    python tools/lock.py

The newest versions that pyproject.toml allows, for Python 3.11 and newer on every platform, as PyPI has them
now. uv resolves them, in an environment of its own that is removed afterwards; the network is needed.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
HEADER = "# Written by `make lock`; installed by `make test LOCKED=1`.\n"


def oracles() -> str:
    """Return the names of the programs that judge in tests, as the Makefile has them."""
    (names,) = re.findall(r"^ORACLES := (.*)$", MAKEFILE, re.MULTILINE)
    return "\n".join(names.split())


def extras() -> list[str]:
    """Return how uv is asked for every extra but those apart."""
    facts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    apart = facts["tool"]["sfumato"]["apart"]
    names = [name for name in facts["project"]["optional-dependencies"] if name not in apart]
    return [part for name in names for part in ("--extra", name)]


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="sfumato-lock-") as folder:
        venv.create(folder, with_pip=True)
        pip = [str(Path(folder, "bin", "python")), "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "uv"], check=True)
        asked = Path(folder, "oracles.in")
        asked.write_text(oracles(), encoding="utf-8")
        uv = str(Path(folder, "bin", "uv"))
        write(uv, "development.txt", ["pyproject.toml", *extras(), "--group", "dev"])
        write(uv, "oracles.txt", [str(asked), "--no-deps"])


def write(uv: str, name: str, asked: list[str]) -> None:
    """Resolve what is asked and write it, with no word of where the files were found."""
    # how this machine reaches PyPI is its own affair
    known = {name: value for name, value in os.environ.items() if not name.startswith(("UV_", "PIP_"))}
    told = ["--universal", "--python-version", "3.11", "--generate-hashes", "--no-header", "--no-annotate"]
    command = [uv, "--quiet", "--no-config", "pip", "compile", *asked, *told]
    done = subprocess.run(command, cwd=ROOT, env=known, check=True, stdout=subprocess.PIPE, text=True)
    place = ROOT / "lock" / name
    place.parent.mkdir(exist_ok=True)
    place.write_text(HEADER + done.stdout, encoding="utf-8")


if __name__ == "__main__":
    main()
