"""Kill commands at random moments, and look whether anything was lost or left: how faults are searched for.

python tools/kills.py 300              300 kills of explore, publish and apply, on tiny tables
python tools/kills.py 12 --seed 4      fewer, with other moments

After every kill: the store opens and is whole, no candidate lacks a measurement, no published folder is there
unless it verifies, no worker lives on. After every few kills the command is let finish: it has the candidates
that a run without kills has, and nothing temporary is left.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import sfumato as sf
from sfumato.runtime.errors import SfumatoError
from sfumato.workflow.project.project_file import Project

_NURSERY = multiprocessing.get_context("forkserver")
_IMPORTED = [
    "sfumato.interfaces.cli",
    "sfumato.workflow.explore.explore_project",
    "sfumato.workflow.apply.parent_publication",
    "sfumato.workflow.publish.publish",
    "sfumato.workflow.report.published_report",
]
_KILLS_BEFORE_FINISH = 4
_BATCH = 36
_PATIENCE = 60.0

PROJECT = """
policy.recipient = "none"
[data]
path = "people.csv"

[attributes.name]
role = "identifying"

[attributes.age]
role = "quasi-identifying"
kind = "numeric"
hierarchy = { intervals = [10, 20, 40] }

[attributes.zip]
role = "quasi-identifying"
hierarchy = { prefixes = [3, 2] }

[attributes.diagnosis]
role = "sensitive"

[measure]
privacy = ["k-anonymity"]
utility = ["general-loss"]

[[candidates]]
sanitizer = "mondrian"
model = { k-anonymity = { k = [2, 3, 4, 5, 6, 7, 8, 9] } }

[[candidates]]
search = "lattice"
model = { k-anonymity = { k = 3 } }
"""


@dataclass
class Tally:
    """What was tried and found."""

    kills: Counter[str] = field(default_factory=Counter)
    too_late: Counter[str] = field(default_factory=Counter)
    finished: Counter[str] = field(default_factory=Counter)
    cleared: int = 0
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [
            f"{name}: {self.kills[name]} kills, {self.too_late[name]} came too late, "
            f"{self.finished[name]} runs finished afterwards"
            for name in sorted(self.kills | self.too_late | self.finished)
        ]
        return "\n".join(
            [*lines, f"{self.cleared} half-written files or folders were cleared by a later run"]
            + [f"FAULT: {fault}" for fault in self.faults]
            + [f"{len(self.faults)} faults"]
        )


def begun(folder: Path) -> Path:
    """Write a tiny project."""
    chance = random.Random(1)
    rows = [
        f"person-{n},{chance.randint(20, 80)},0{chance.randint(1300, 1330)},ill-{chance.randint(0, 4)}"
        for n in range(120)
    ]
    (folder / "people.csv").write_text("name,age,zip,diagnosis\n" + "\n".join(rows) + "\n", encoding="utf-8")
    (folder / "people.toml").write_text(PROJECT, encoding="utf-8")
    return folder / "people.toml"


def started(arguments: list[str], folder: Path) -> ForkServerProcess:
    """Start a command in a process where everything is imported already, so that kills hit the work."""
    process = _NURSERY.Process(target=_command, args=(arguments, str(folder), str(_said(folder))))
    process.start()
    return process


def _said(folder: Path) -> Path:
    return folder.parent / "said.txt"


def _command(arguments: list[str], folder: str, said: str) -> None:
    """Run a command in a group of its own."""
    from sfumato.interfaces.cli import run

    os.setsid()
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    sys.exit(run(arguments))


def killed(arguments: list[str], folder: Path, after: float) -> bool:
    """Kill a command after so many seconds, itself alone; return whether it was still at work."""
    process = started(arguments, folder)
    process.join(after)
    # it may end by itself between the question and the kill
    if process.is_alive() and process.pid is not None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
    process.join()
    _wait(lambda: not _alive(process.pid or 0))
    return process.exitcode == -signal.SIGKILL


def _alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except OSError:
        return False
    return True


def _wait(holds: Callable[[], bool]) -> None:
    """Wait until something holds: whoever was started must end with its parent."""
    until = time.monotonic() + _PATIENCE
    while not holds():
        if time.monotonic() > until:
            raise TimeoutError("a worker outlives the command that was killed")
        time.sleep(0.02)


def finished(arguments: list[str], folder: Path) -> tuple[float, str]:
    """Let a command finish; return its seconds and, if it failed, what it said."""
    began = time.monotonic()
    process = started(arguments, folder)
    process.join()
    return time.monotonic() - began, _said(folder).read_text("utf-8") if process.exitcode else ""


def problems_of_store(place: Path) -> Iterator[str]:
    """Yield what is wrong with a store after a kill."""
    if not place.exists():
        return
    try:
        with sf.Store(place) as store:
            pass
        with closing(sqlite3.connect(place)) as store:
            if store.execute("pragma integrity_check").fetchone() != ("ok",):
                yield "the store is damaged"
            halves = store.execute(
                "select count(*) from candidate where infeasible is null and "
                "(select count(distinct asked) from measurement where candidate = candidate.id) < 1"
            ).fetchone()[0]
            if halves:
                yield f"{halves} candidates are stored without a measurement"
    except (SfumatoError, sqlite3.Error) as error:
        yield f"the store does not open: {error}"


def candidates(project: Path) -> set[tuple[str, tuple[tuple[str, float | None], ...]]]:
    """Return what was found, without names that are drawn."""
    opened = Project.load(project)
    with sf.Store(opened.store_path) as store:
        found = {c for source in store.sources() for c in store.candidates(source)}
    return {
        (str(c.recipe), tuple((m.label, m.value) for m in sorted(c.measurements, key=lambda m: m.label)))
        for c in found
    }


def leftovers(folder: Path) -> list[Path]:
    """Return what is temporary in a folder."""
    return [place for place in folder.rglob(".*") if ".lock" not in place.suffixes]


def kill_explore(folder: Path, n_kills: int, chance: random.Random, tally: Tally) -> None:
    """Kill `explore` again and again on one store, let it finish, and compare."""
    whole = folder / "whole"
    whole.mkdir()
    alone, said = finished(["explore", str(begun(whole)), "--seed", "5", "--workers", "1"], whole)
    _fault(tally, said, "explore fails by itself")
    expected, left = candidates(whole / "people.toml"), n_kills
    for round_ in range(-(-n_kills // _KILLS_BEFORE_FINISH)):
        place = folder / f"explore-{round_}"
        place.mkdir()
        project = begun(place)
        seconds = alone * (3 if round_ % 4 == 3 else 1)
        # with two workers there is more to go wrong, and longer to wait
        arguments = ["explore", str(project), "--seed", "5", "--workers", "2" if round_ % 4 == 3 else "1"]
        for _ in range(min(_KILLS_BEFORE_FINISH, left)):
            left -= 1
            at_work = killed(arguments, place, chance.uniform(0.0, 0.8) * seconds)
            (tally.kills if at_work else tally.too_late)["explore"] += 1
            tally.faults += [f"explore: {each}" for each in problems_of_store(place / "people.sqlite")]
        _, said = finished(arguments, place)
        tally.finished["explore"] += 1
        _fault(tally, said, "explore does not go on")
        if not said and candidates(project) != expected:
            tally.faults.append("explore: other candidates than without kills")
        tally.faults += [f"explore: {each.name} is left" for each in leftovers(place)]


def kill_publish(folder: Path, n_kills: int, chance: random.Random, tally: Tally) -> None:
    """Kill `publish`, then `apply`: the folder is there and verifies, or it is not there."""
    place = folder / "publishing"
    place.mkdir()
    project = begun(place)
    _, said = finished(["explore", str(project), "--seed", "5", "--workers", "1"], place)
    _fault(tally, said, "explore fails by itself")
    with sf.Store(place / "people.sqlite") as store:
        (source,) = store.sources()
        chosen = next(c.id for c in store.candidates(source) if c.infeasible is None)
    # next month the same people come again, so that no class is too small
    (place / "next.csv").write_bytes((place / "people.csv").read_bytes())
    _kill_writing(["publish", chosen], project, n_kills - n_kills // 2, chance, tally)
    _kill_writing(["apply", chosen, "next.csv"], project, n_kills // 2, chance, tally)


def _kill_writing(words: list[str], project: Path, n_kills: int, chance: random.Random, tally: Tally) -> None:
    """Kill a command that writes a folder."""
    place, name = project.parent, words[0]

    def arguments(target: str) -> list[str]:
        return [*words, target, "-P", str(project)]

    seconds, said = finished(arguments(f"{name}-trial"), place)
    _fault(tally, said, f"{name} fails by itself")
    for number in range(n_kills):
        target = place / f"{name}-{number // _KILLS_BEFORE_FINISH}"
        if target.exists():
            continue
        at_work = killed(arguments(target.name), place, chance.uniform(0.0, 1.0) * seconds)
        (tally.kills if at_work else tally.too_late)[name] += 1
        tally.faults += [f"{name}: {each}" for each in problems_of_store(place / "people.sqlite")]
        if (number + 1) % _KILLS_BEFORE_FINISH == 0 and not target.exists():
            n_left = len(leftovers(place))
            _, said = finished(arguments(target.name), place)
            _fault(tally, said, f"{name} does not go on")
            tally.finished[name] += 1
            tally.cleared += n_left
            tally.faults += [
                f"{name}: {each.name} is left" for each in leftovers(place) if target.name in each.name
            ]
        if target.exists() and not all(check.holds for check in sf.verify(target)):
            tally.faults.append(f"{name}: {target.name} does not verify")


def kill_reproduce(folder: Path, n_kills: int, chance: random.Random, tally: Tally) -> None:
    """Kill `reproduce --quick`: its stores open, and what it writes once is whole."""
    place = folder / "reproducing"
    place.mkdir()
    arguments = ["reproduce", "li", "--quick", "--folder", "results", "--workers", "2"]
    for _ in range(n_kills):
        at_work = killed(arguments, place, chance.uniform(1.0, 15.0))
        (tally.kills if at_work else tally.too_late)["reproduce"] += 1
        for store in place.rglob("*.sqlite"):
            tally.faults += [f"reproduce: {each}" for each in problems_of_store(store)]
        for project in place.rglob("*.toml"):
            try:
                Project.load(project)
            except SfumatoError as error:
                tally.faults.append(f"reproduce: {project.name} is not whole: {error}")


def _fault(tally: Tally, said: str, what: str) -> None:
    if said:
        tally.faults.append(f"{what}: {' '.join(said.split()[-40:])}")


def main(arguments: list[str]) -> int:
    """Kill, look and tell."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("kills", type=int, help="how many kills")
    parser.add_argument("--seed", type=int, default=1, help="decides the moments")
    parser.add_argument("--reproduce", type=int, default=0, help="how many more kills of reproduce --quick")
    given = parser.parse_args(arguments)
    chance, tally = random.Random(given.seed), Tally()
    _NURSERY.set_forkserver_preload(_IMPORTED)
    with suppress(KeyboardInterrupt):
        _kill_all(given.kills, given.reproduce, chance, tally)
    print(tally)
    return 1 if tally.faults else 0


def _kill_all(kills: int, reproduce: int, chance: random.Random, tally: Tally) -> None:
    for begin in range(0, kills, _BATCH):
        n_kills = min(_BATCH, kills - begin)
        with tempfile.TemporaryDirectory() as folder:
            kill_explore(Path(folder), n_kills - n_kills // 2, chance, tally)
            kill_publish(Path(folder), n_kills // 2, chance, tally)
        print(f"{begin + n_kills} kills, {len(tally.faults)} faults", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        kill_reproduce(Path(folder), reproduce, chance, tally)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
