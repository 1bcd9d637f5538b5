"""Run every command once on an explored project, and show what it loads and how long it takes.

    python benchmarks/start_up.py [--adult] [--runs 3]

Each run is a new process. Reported are the least CPU seconds (those of its processes included), the least
seconds by the clock, the most memory of one process, and the large packages that the command itself loads.
Without ``--adult`` the table is small, so nearly everything is start-up; with it the project is that of
`sfumato demo`. `tests/cli/test_loaded_packages.py` runs the same commands and compares the packages.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

LARGE = (
    "numpy", "numba", "pyarrow", "pandas", "polars", "scipy", "sklearn", "opendp", "matplotlib", "moocore",
    "msgspec", "tomlkit", "jinja2", "rich", "starlette", "uvicorn", "duckdb", "cryptography", "cloudpickle",
)  # fmt: skip
PROJECT = """
[data]
path = "people.csv"

[attributes]
age = { role = "quasi-identifying", kind = "numeric", hierarchy = { intervals = [10, 20] } }
town = { role = "quasi-identifying" }
illness = { role = "sensitive" }

[[candidates]]
sanitizer = "mondrian"
model = { k-anonymity = { k = [2, 4] } }

[policy]
recipient = "none"
k-anonymity = { at-least = 2 }
"""
# Writes the large packages that are loaded when a command ends.
RUN = """
import json, sys
from sfumato.interfaces.cli import main
large = sys.argv.pop(1).split(",")
try:
    main()
except SystemExit as end:
    print(json.dumps([end.code or 0, [name for name in large if name in sys.modules]]), file=sys.stderr)
"""


class Outcome(NamedTuple):
    """One run of a command: its exit code, the packages it loads, CPU seconds, clock and megabytes."""

    code: int
    loaded: list[str]
    cpu: float
    clock: float
    memory: float


def run(folder: Path, *arguments: str) -> Outcome:
    """Run a command in a folder."""
    command = [sys.executable, "-P", "-c", RUN, ",".join(LARGE), *arguments]
    began = time.perf_counter()
    with open(folder / "out.txt", "wb") as out, open(folder / "err.txt", "w+b") as err:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)  # else Python warns that nobody waited for it
        clock = time.perf_counter() - began
        err.seek(0)
        last = err.read().decode().strip().rpartition("\n")[2]
    code, loaded = json.loads(last)
    return Outcome(code, loaded, usage.ru_utime + usage.ru_stime, clock, usage.ru_maxrss / 1024)


def prepare(folder: Path, *, adult: bool) -> dict[str, tuple[str, ...]]:
    """Make a project, explore it and publish a candidate; return the arguments of every command.

    What a run writes has `{run}` in its name, for its number.

    The demo is left out, which is new, explore and a report, and so is the workbench, which never ends.
    """
    if adult:
        run(folder, "demo", "--folder", ".")
        name, data, known = "adult", "adult.parquet", "age"
    else:
        lines = [
            f"{20 + 3 * (n % 17)},{'abc'[n % 3]}ton,{['flu', 'gout', 'none'][n % 5 % 3]}" for n in range(60)
        ]
        (folder / "people.csv").write_text("age,town,illness\n" + "\n".join(lines) + "\n", encoding="utf-8")
        (folder / "people.toml").write_text(PROJECT, encoding="utf-8")
        name, data, known = "people", "people.csv", "age"
        run(folder, "explore", "people.toml", "--workers", "1")
    project = f"{name}.toml"
    run(folder, "frontier", project, "--json")
    frontier = json.loads((folder / "out.txt").read_text(encoding="utf-8"))
    first, second, *_ = [each["id"] for each in frontier["candidates"] if each["parameters"].get("model")]
    by, targets = ("-P", project), ("--known", known, "--targets", "10")
    mondrian = ("mondrian", "model.k-anonymity.k=3", *by)
    run(folder, "sanitize", "released.csv", *mondrian)
    run(folder, "publish", first, "published", *by)
    run(folder, "challenge", first, "challenge", *targets, *by)
    (folder / "guesses.csv").write_text("target,question,answer\n1,in-the-data,yes\n", encoding="utf-8")
    return {
        "--help": ("--help",),
        "new": ("new", data, "--output", "new{run}.toml"),
        "inspect": ("inspect", project),
        "explore": ("explore", project),
        "frontier": ("frontier", project),
        "show": ("show", first, *by),
        "ask": ("ask", "max k where utility-loss <= 10", *by),
        "compare": ("compare", first, second, *by),
        "sanitize": ("sanitize", "made{run}.csv", *mondrian),
        "measure": ("measure", "released.csv", *by),
        "publish": ("publish", second, "again{run}", *by),
        "verify": ("verify", "published"),
        "query": ("query", "published", f"count where {known} >= 40"),
        "apply": ("apply", first, data, "next{run}", *by),
        "challenge": ("challenge", first, "challenge-again{run}", *targets, *by),
        "score": ("score", "challenge", "guesses.csv", "challenge-answers.json"),
        "methods": ("methods", "mondrian"),
        "shape": ("shape", "frontier"),
        "completion": ("completion", "bash"),
        "doctor": ("doctor",),
    }


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--adult", action="store_true")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="sfumato-start-") as place:
        commands = prepare(Path(place), adult=given.adult)
        print("| command | CPU s | clock s | MB | loads |\n|---|---|---|---|---|")
        for name, words in commands.items():
            runs = [run(Path(place), *(word.format(run=n) for word in words)) for n in range(given.runs)]
            cpu, clock = (min(getattr(each, what) for each in runs) for what in ("cpu", "clock"))
            memory = max(each.memory for each in runs)
            failed = f" (exit code {runs[0].code})" if runs[0].code else ""
            print(
                f"| `{name}`{failed} | {cpu:.2f} | {clock:.2f} | {memory:.0f} | {', '.join(runs[0].loaded)} |"
            )


if __name__ == "__main__":
    main(sys.argv[1:])
