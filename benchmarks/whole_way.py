"""The whole way from a folder of Parquet files to a verified publication, on the command line.

    python benchmarks/whole_way.py [--records N] [--distinct N | --all-different] [--k K] [--engine NAME]
                                   [--folder DIR] [--json FILE]

A hundred million made-up people, a million of them different, or as many as is said; with `--all-different`
no two are alike. `sfumato explore` makes one candidate of Mondrian (k = 50) and measures it; `sfumato
publish` writes and verifies it; `sfumato verify` reads it once more. Of each command: seconds of CPU, seconds
on the clock, the peak of its largest process, and that of all its processes together, where what they share
counts for each. The folder is made where it is said, or in the place of temporary files, and removed in the
end.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

N_FILES = 20
SIZES = {"age": 100, "area": 2_000, "day": 365, "sex": 2, "education": 16, "diagnosis": 40}
NUMBERS = ("age", "day")
SPACE = math.prod(SIZES.values())
PROJECT = """
policy.recipient = "none"
[data]
path = "people"
engine = "{engine}"

[attributes]
age = {{ role = "quasi-identifying", kind = "numeric", hierarchy = {{ intervals = [5, 10, 20] }} }}
area = {{ role = "quasi-identifying" }}
day = {{ role = "quasi-identifying", kind = "numeric" }}
sex = {{ role = "quasi-identifying" }}
education = {{ role = "quasi-identifying" }}
diagnosis = {{ role = "sensitive" }}

[[candidates]]
sanitizer = "mondrian"
model = {{ k-anonymity = {{ k = {k} }} }}
"""


def write(folder: Path, n_records: int, n_distinct: int) -> None:
    """Write people file by file; those that differ are drawn first."""
    generator = np.random.default_rng(16)
    pool = None if n_distinct >= n_records else generator.integers(0, SPACE, n_distinct)
    n = n_records // N_FILES
    folder.mkdir()
    for part in range(N_FILES):
        if pool is None:
            key = _different(generator, np.arange(part * n, part * n + n), n * N_FILES)
        else:
            key = pool[generator.integers(0, n_distinct, n)]
        pq.write_table(_people(key), folder / f"{part:02}.parquet", row_group_size=500_000)


def _different(generator: np.random.Generator, places: np.ndarray, n_records: int) -> np.ndarray:
    """Return a key for each of these places: all keys differ, for each is drawn from a stretch of its own."""
    width = SPACE // n_records
    # steps that have no divisor in common with their number go once through all of them
    step = next(each for each in range(int(0.618 * n_records), n_records) if math.gcd(each, n_records) == 1)
    return places * step % n_records * width + generator.integers(0, width, len(places))


def _people(key: np.ndarray) -> pa.Table:
    columns: dict[str, Any] = {}
    for name, size in SIZES.items():
        key, code = np.divmod(key, size)
        values = pa.array([f"{name} {value:04}" for value in range(size)])
        columns[name] = (
            code if name in NUMBERS else pa.DictionaryArray.from_arrays(code.astype(np.int32), values)
        )
    return pa.table(columns)


def run(*arguments: str, folder: Path) -> dict[str, Any]:
    """Run a command of sfumato, and return what it wrote and what that took."""
    began = time.perf_counter()
    with (folder / "said.json").open("wb") as said:
        child = subprocess.Popen(
            [sys.executable, "-m", "sfumato", *arguments, "--json"], cwd=folder, stdout=said
        )
        together = 0
        while os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            together = max(together, sum(_resident(each) for each in _family(child.pid)))
            time.sleep(0.5)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if status:
        raise SystemExit(f"sfumato {arguments[0]} ended with {child.returncode}")
    return {
        "command": arguments[0],
        "cpu": used.ru_utime + used.ru_stime,
        "clock": time.perf_counter() - began,
        "largest-mb": used.ru_maxrss / 1024,
        "together-mb": together / 1024,
        "said": json.loads((folder / "said.json").read_text()),
    }


def _family(pid: int) -> list[int]:
    """Return a process and all that came of it."""
    found = [pid]
    for each in found:
        for children in Path(f"/proc/{each}/task").glob("*/children"):
            found += [int(child) for child in _text(children).split()]
    return found


def _resident(pid: int) -> int:
    lines = _text(Path(f"/proc/{pid}/status")).splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS")), 0)


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # it ended meanwhile
        return ""


def measured(folder: Path, n_records: int, n_distinct: int, engine: str, k: int) -> list[dict[str, Any]]:
    """Explore and publish, and print what each took."""
    write(folder / "people", n_records, n_distinct)
    (folder / "people.toml").write_text(PROJECT.format(engine=engine, k=k))
    print(f"{n_records:,} records  {'CPU s':>8} {'clock s':>8} {'largest MB':>11} {'together MB':>12}")
    explored = _shown(run("explore", "people.toml", "--workers", "1", "--seed", "0", folder=folder))
    (chosen,) = explored["said"]["efficient"]
    rows = [
        explored,
        _shown(run("publish", chosen, "published", folder=folder)),
        _shown(run("verify", "published", folder=folder)),
    ]
    return [{**row, "said": None} for row in rows]


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    print(
        f"{row['command']:<20} {row['cpu']:8.1f} {row['clock']:8.1f} {row['largest-mb']:11,.0f} "
        f"{row['together-mb']:12,.0f}",
        flush=True,
    )
    return row


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000_000)
    parser.add_argument("--distinct", type=int, default=1_000_000)
    parser.add_argument("--all-different", action="store_true")
    parser.add_argument("--k", type=int, default=50)
    parser.add_argument("--engine", default="duckdb")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    is_new = given.folder is not None and not given.folder.exists()
    for folder in filter(None, (given.folder, given.json and given.json.parent)):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            parser.error(f"{folder} cannot be made ({error.strerror}); name another folder")
    with tempfile.TemporaryDirectory(dir=given.folder) as place:
        n_distinct = given.records if given.all_different else given.distinct
        rows = measured(Path(place), given.records, n_distinct, given.engine, given.k)
    if is_new:
        given.folder.rmdir()
    if given.json:
        given.json.write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main(sys.argv[1:])
