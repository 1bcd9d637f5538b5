"""At scale: CPU seconds and peak memory of every step from a file to a verified publication.

    python benchmarks/at_scale.py [RECORDS] [--json FILE]

A made-up table of 3,000,000 records (or RECORDS), all of them different: six quasi-identifiers, of which
three are numbers and three are categories, and a diagnosis of 60 values. Each step runs in a process of its
own that is forked when everything before it is done, and its peak counts all that the process holds, the
table included. The columns are CPU seconds, seconds on the clock, the peak in MB, and by how much the peak is
above what the process held when the step began. Compilation is not counted: a small table goes the same way
first.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from sfumato import (
    Attribute,
    Hierarchy,
    Intervals,
    Prefixes,
    Release,
    Schema,
    Table,
    measure,
    publish,
    sanitize,
    verify,
)
from sfumato.models import KAnonymity
from sfumato.reading import datasets
from sfumato.reading.read_table import read
from sfumato.sanitizers import Mondrian
from sfumato.sanitizers.generalize.mondrian import partition
from sfumato.workflow.project.default_axes_and_measures import default_measures
from sfumato.workflow.publish.data_files import write_release

HOW = Mondrian(KAnonymity(5))
SMALL = 20_000


def made_up(n_records: int, path: Path) -> None:
    """Write the table as CSV."""
    rng = np.random.default_rng(16)
    education = [row[0] for row in Hierarchy.read(_hierarchy("education")).rows()]
    areas = np.array([f"{area:05}" for area in rng.choice(100_000, 2_000, replace=False)])
    columns: dict[str, Any] = {
        "age": rng.integers(18, 100, n_records),
        "area": areas[rng.integers(0, len(areas), n_records)],
        "day": rng.integers(1, 366, n_records),
        "income": rng.integers(0, 1_000, n_records) * 100,
        "education": np.array(education)[rng.integers(0, len(education), n_records)],
        "sex": np.array(["female", "male"])[rng.integers(0, 2, n_records)],
        "diagnosis": np.array([f"ICD-{i:02}" for i in range(60)])[rng.integers(0, 60, n_records)],
    }
    pyarrow.csv.write_csv(
        pa.table(columns), path, pyarrow.csv.WriteOptions(quoting_style="needed", batch_size=100_000)
    )


def schema() -> Schema:
    return Schema(
        (
            Attribute("age", "quasi-identifying", "numeric", Intervals((5, 10, 20))),
            Attribute("area", "quasi-identifying", hierarchy=Prefixes((4, 3, 2, 1))),
            Attribute("day", "quasi-identifying", "numeric"),
            Attribute("income", "quasi-identifying", "numeric", Intervals((1_000, 10_000))),
            Attribute("education", "quasi-identifying", hierarchy=Hierarchy.read(_hierarchy("education"))),
            Attribute("sex", "quasi-identifying"),
            Attribute("diagnosis", "sensitive"),
        )
    )


def _hierarchy(name: str) -> Path:
    return datasets.FOLDER / "hierarchies" / "adult" / f"{name}.csv"


@dataclass
class Steps:
    """What was measured so far."""

    rows: list[dict[str, Any]] = field(default_factory=list)

    def alone(self, name: str, work: Callable[[], Any]) -> None:
        """Do it in a process of its own, and note what that took."""
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            with self.noted(name):
                work()
            os.write(write, json.dumps(self.rows[-1]).encode())
            os._exit(0)
        os.close(write)
        with open(read) as told:
            written = told.read()
        _, status = os.waitpid(child, 0)
        if status or not written:
            raise SystemExit(f"{name} ended with {status}")
        self.add(json.loads(written))

    @contextmanager
    def noted(self, name: str) -> Iterator[None]:
        """Note what is done inside."""
        held, began, clock = _held(), _cpu(), time.perf_counter()
        _forget_peak()
        yield
        cpu, clock = _cpu() - began, time.perf_counter() - clock
        self.rows.append(
            {"step": name, "cpu": cpu, "clock": clock, "peak-mb": _peak(), "added-mb": _peak() - held}
        )

    def add(self, row: dict[str, Any]) -> None:
        self.rows.append(row)
        print(
            f"{row['step']:<44} {row['cpu']:8.2f} {row['clock']:8.2f} {row['peak-mb']:9,.0f} "
            f"{row['added-mb']:9,.0f}",
            flush=True,
        )


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _of_status(name: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024


def _held() -> float:
    return _of_status("VmRSS")


def _peak() -> float:
    return _of_status("VmHWM")


def candidate(table: Table, described: Schema) -> Release:
    """Make one candidate with its usual measures."""
    release = sanitize(table, described, HOW, seed=0)
    measure(release, _usual(release))
    return release


def _usual(release: Release) -> list[Any]:
    return [each for side in default_measures(release.schema) for each in side]


def measured(steps: Steps, source: Path, folder: Path) -> None:
    """Go all the way from a file to a verified publication, every step alone."""
    steps.alone("read the file", lambda: read(source))
    table, described = read(source), schema()
    steps.alone("bind: types, hierarchies, equal rows", lambda: described.bind(table))
    table, described = described.bind(table)
    rng = np.random.default_rng(0)
    steps.alone("partition", lambda: partition(table, described, HOW.model, "strict", rng))
    steps.alone(
        "sanitize: partition, covers, labels, classes", lambda: sanitize(table, described, HOW, seed=0)
    )
    steps.alone("one candidate: sanitize and measure", lambda: candidate(table, described))
    release = sanitize(table, described, HOW, seed=0)
    for each in _usual(release):
        steps.alone(f"  measure {each}", lambda one=each: measure(release, [one]))
    steps.alone("write CSV", lambda: write_release(release, folder / "written.csv"))
    steps.alone("write Parquet", lambda: write_release(release, folder / "written.parquet"))
    steps.alone(
        "publish: measure, write, report, verify",
        lambda: publish(release, folder / "out", policy="none", allow_singling_out=True),
    )
    steps.alone("verify", lambda: _verified(folder / "out"))


def _verified(folder: Path) -> None:
    if not verify(folder):
        raise SystemExit("what was published does not verify")


def warm(folder: Path) -> None:
    """Compile everything that is used below."""
    made_up(SMALL, folder / "small.csv")
    release = candidate(read(folder / "small.csv"), schema())
    publish(release, folder / "small", policy="none", allow_singling_out=True)
    _verified(folder / "small")


def main(arguments: list[str]) -> None:
    given = [each for each in arguments if each.isdecimal()]
    n_records = int(given[0]) if given else 3_000_000
    steps = Steps()
    with tempfile.TemporaryDirectory() as here:
        warm(Path(here))
        made_up(n_records, Path(here) / "table.csv")
        print(f"{n_records:,} records{'':<30} {'CPU s':>8} {'clock s':>8} {'peak MB':>9} {'added MB':>9}")
        measured(steps, Path(here) / "table.csv", Path(here))
    if "--json" in arguments:
        found = {"records": n_records, "steps": steps.rows}
        Path(arguments[arguments.index("--json") + 1]).write_text(json.dumps(found, indent=2))


if __name__ == "__main__":
    main(sys.argv[1:])
