"""Bench: sfumato beside its peers and beside itself, all in one run, as JSON and as a page with ratios.

    python benchmarks/bench.py [--only peers,checks,reduction,growth,distinct] [--arx JAR] [--largest 6]
                               [--distinct 3000000] [--cache FOLDER] [--out FOLDER]

- *peers*: one k-anonymous release of ARX's copy of Adult (30,162 records, six quasi-identifiers, k = 10)
  by anonypy, anonypyx and anjana, each in an environment of its own made in the cache folder, by ARX if its
  jar is given, and by sfumato. Reading and writing the file are part of the work. Classes, the smallest class
  and the discernibility are counted in the file that each wrote.
- *checks*: k, l and t of one table by pyCANON and by sfumato.
- *reduction*: distinct rows with their counts, from Parquet and in memory, by Polars, DuckDB and sfumato.
- *growth*: one Mondrian release of a made-up table, all of whose records differ, from 10^4 to 10^LARGEST
  records, 4 to 20 attributes and k = 2 to 1,000.
- *distinct*: where ARX's jar is given, one 5-anonymous release of the table of `at_scale.py` (3,000,000
  records, or as many as is said, all different; six quasi-identifiers) by ARX and by sfumato.

CPU seconds of one process, first call (cold) and second (warm), and its peak memory. The machine may be busy:
ratios within one run mean more than seconds.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import operator
import os
import platform
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ADULT = HERE.parent / "tests" / "vectors" / "arx-adult"
QUASI = ("age", "education", "marital-status", "race", "sex", "workclass")
SENSITIVE = "occupation"
K = 10
SMALL_K = 5
QUASI_AT_SCALE, SENSITIVE_AT_SCALE = ("age", "area", "day", "income", "education", "sex"), "diagnosis"
ARX = "ARX, best full-domain"
OURS = {"sfumato, mondrian": "sfumato_mondrian", "sfumato, best full-domain": "sfumato_optimum"}
PEERS = {"anonypy": ("pandas",), "anonypyx": (), "anjana": (), "pycanon": ()}
"""Each peer, and what it forgets to require."""


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--arx", type=Path)
    parser.add_argument("--largest", type=int, default=6)
    parser.add_argument("--distinct", type=int, default=3_000_000)
    parser.add_argument("--cache", type=Path, default=HERE.parent / "build" / "bench-cache")
    parser.add_argument("--out", type=Path, default=HERE.parent / "build" / "bench")
    given = parser.parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {"machine": {**machine(), "distinct": f"{given.distinct:,}"}}
    for part in given.only.split(","):
        print(f"{part} …", file=sys.stderr)
        found[part] = PARTS[part](given)
        (given.out / "results.json").write_text(json.dumps(found, indent=1), encoding="utf-8")
    page = written(found)
    (given.out / "results.md").write_text(page, encoding="utf-8")
    print(page)


def machine() -> dict[str, str]:
    import sfumato

    return {
        "python": platform.python_version(),
        "sfumato": sfumato.__version__,
        "system": platform.system(),
        "processors": str(os.cpu_count()),
        "when": time.strftime("%Y-%m-%d"),
    }


def measured(command: list[object], **options: Any) -> dict[str, Any]:
    """Run a program that prints JSON; add its whole CPU seconds and its peak memory in MB."""
    process = subprocess.Popen(
        [str(each) for each in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )
    assert process.stdout is not None
    assert process.stderr is not None
    said, errors = process.stdout.read(), process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        return {"failed": errors.strip().splitlines()[-1:] or [f"exit {process.returncode}"]}
    return {
        **json.loads(said.splitlines()[-1]),
        "whole": used.ru_utime + used.ru_stime,
        "peak": used.ru_maxrss / 1000,
    }


def environment(peer: str, cache: Path) -> Path:
    """Return the Python of an environment where only this peer is installed; make it if it is not there."""
    place = cache / peer
    if not (place / "installed").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(place)], check=True)
        pip = [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", peer, *PEERS[peer]]
        subprocess.run(pip, check=True, stderr=subprocess.DEVNULL)
        (place / "installed").touch()
    return place / "bin" / "python"


def adult(folder: Path) -> tuple[Path, Path]:
    """Write Adult with its hierarchies as comma-separated files that all peers read."""
    table, hierarchies = folder / "adult.csv", folder / "hierarchies"
    hierarchies.mkdir(parents=True, exist_ok=True)
    with gzip.open(ADULT / "adult.csv.gz", "rt", encoding="utf-8") as source:
        rows = list(csv.DictReader(source, delimiter=";"))
    with table.open("w", encoding="utf-8", newline="") as target:
        lines = csv.DictWriter(target, [*QUASI, SENSITIVE], extrasaction="ignore", lineterminator="\n")
        lines.writeheader()
        lines.writerows(rows)
    for name in QUASI:
        levels = (ADULT / f"adult_hierarchy_{name}.csv").read_text(encoding="utf-8")
        with (hierarchies / f"{name}.csv").open("w", encoding="utf-8", newline="") as target:
            csv.writer(target, lineterminator="\n").writerows(
                line.split(";") for line in levels.splitlines() if line
            )
    return table, hierarchies


def judged(place: Path, names: Sequence[str] = QUASI) -> dict[str, Any]:
    """Count the classes of a released file; records that are * everywhere were suppressed."""
    with place.open(encoding="utf-8", newline="") as source:
        rows = csv.reader(source)
        header = next(rows)
        own = operator.itemgetter(*map(header.index, names))
        sizes = Counter(map(own, rows))
    sizes.pop(("*",) * len(names), None)
    return {
        "records": sum(sizes.values()),
        "classes": len(sizes),
        "smallest": min(sizes.values(), default=0),
        "discernibility": sum(size * size for size in sizes.values()),
    }


def peers(given: argparse.Namespace) -> dict[str, Any]:
    """Let each make a release of Adult."""
    table, hierarchies = adult(given.out / "adult")
    facts = (",".join(QUASI), SENSITIVE, K, hierarchies)
    theirs = {
        "anonypy, mondrian": "anonypy",
        "anonypyx, mondrian": "anonypyx",
        "anjana, full-domain": "anjana",
    }
    return releases({**theirs, **OURS}, given, table, facts)


def distinct(given: argparse.Namespace) -> dict[str, Any]:
    """Let ARX and us make a release of many records that all differ; nothing where there is no ARX."""
    if not given.arx:
        return {}
    folder = given.out / "distinct"
    subprocess.run(
        [sys.executable, str(HERE / "bench_child.py"), "distinct", str(given.distinct), str(folder)],
        check=True,
    )
    facts = (",".join(QUASI_AT_SCALE), SENSITIVE_AT_SCALE, SMALL_K, folder / "hierarchies")
    try:
        return releases(OURS, given, folder / "table.csv", facts)
    finally:
        shutil.rmtree(folder)


def releases(
    who: Mapping[str, str], given: argparse.Namespace, table: Path, facts: tuple[object, ...]
) -> dict[str, Any]:
    """Let each make a release, and ARX where it is given.

    The facts are the quasi-identifiers, the sensitive attribute, k, and where the hierarchies are.
    """
    found: dict[str, Any] = {}
    out = given.out / "released.csv"
    commands: dict[str, list[object]] = {}
    for name, module in who.items():
        python = environment(module, given.cache) if module in PEERS else sys.executable
        commands[name] = [python, HERE / "peers" / "driver.py", f"peer_{module}"]
    if given.arx:
        commands[ARX] = ["java", "-cp", given.arx, HERE / "peers" / "Arx.java"]
    for name, command in commands.items():
        found[name] = measured([*command, table, out, *facts])
        if "failed" not in found[name]:
            found[name] |= judged(out, str(facts[0]).split(","))
    return found


def checks(given: argparse.Namespace) -> dict[str, Any]:
    """Let pyCANON and us compute k, l and t of Adult as it is."""
    table, hierarchies = adult(given.out / "adult")
    facts = (table, given.out / "nothing.csv", ",".join(QUASI), SENSITIVE, K, hierarchies)
    driver = HERE / "peers" / "driver.py"
    return {
        "pyCANON": measured([environment("pycanon", given.cache), driver, "peer_pycanon", *facts]),
        "sfumato": measured([sys.executable, driver, "peer_sfumato_checks", *facts]),
    }


def reduction(given: argparse.Namespace) -> dict[str, Any]:
    """Find the distinct rows of a million records with a thousandth as many different ones."""
    place = given.out / "repeated.parquet"
    # a child's peak is at least what its parent holds when it begins, so that the parent stays small
    subprocess.run(
        [sys.executable, str(HERE / "bench_child.py"), "write", str(10 ** min(given.largest, 7)), str(place)],
        check=True,
    )
    return {
        name: measured([sys.executable, HERE / "bench_child.py", "reduce", name, place])
        for name in ("polars", "duckdb", "sfumato")
    }


def growth(given: argparse.Namespace) -> dict[str, Any]:
    """Make one release of ever larger tables."""
    child = HERE / "bench_child.py"
    records = [10**power for power in range(4, given.largest + 1)]
    return {
        "records": {n: measured([sys.executable, child, "release", n, 8, K]) for n in records},
        "attributes": {
            d: measured([sys.executable, child, "release", 10**5, d, K]) for d in (4, 8, 12, 16, 20)
        },
        "k": {k: measured([sys.executable, child, "release", 10**5, 8, k]) for k in (2, 10, 50, 200, 1000)},
    }


PARTS: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "peers": peers,
    "checks": checks,
    "reduction": reduction,
    "growth": growth,
    "distinct": distinct,
}


def written(found: dict[str, Any]) -> str:
    """Return the page."""
    facts = found["machine"]
    parts = [
        "# Bench",
        f"sfumato {facts['sfumato']}, Python {facts['python']}, {facts['system']}, {facts['processors']} "
        f"processors, {facts['when']}. CPU seconds of one process: first call (cold) and second (warm).",
    ]
    if "peers" in found:
        head = ["who", "cold", "warm", "times ours", "peak MB", "classes", "smallest", "discernibility"]
        parts += [f"## One release of Adult, k = {K}", table(head, _peer_rows(found["peers"]))]
    if found.get("distinct"):
        head = ["who", "cold", "warm", "times ours", "peak MB", "classes", "smallest", "discernibility"]
        title = f"## One release of {facts['distinct']} records that all differ, k = {SMALL_K}"
        parts += [title, table(head, _peer_rows(found["distinct"]))]
    if "checks" in found:
        ours = found["checks"]["sfumato"].get("warm", 1)
        rows = [_row(name, each, ours, each.get("found")) for name, each in found["checks"].items()]
        head = ["who", "cold", "warm", "times ours", "peak MB", "found"]
        parts += ["## k, l and t of Adult as it is", table(head, rows)]
    if "reduction" in found:
        ours = found["reduction"]["sfumato"].get("warm", 1)
        rows = [
            _row(name, each, ours, f"{each.get('found', {}).get('memory', 0):.3f}")
            for name, each in found["reduction"].items()
        ]
        head = ["who", "cold", "warm", "times ours", "peak MB", "in memory, s"]
        parts += ["## Distinct rows with their counts, from Parquet", table(head, rows)]
    for name, each in found.get("growth", {}).items():
        rows = [[f"{int(value):,}", *_seconds(one)] for value, one in each.items()]
        parts += [f"## Growth with {name}", table([name, "cold", "warm", "peak MB"], rows)]
    return "\n\n".join(parts) + "\n"


def _peer_rows(found: dict[str, Any]) -> list[list[str]]:
    rows = []
    for name, each in found.items():
        ours = found["sfumato, best full-domain" if "full-domain" in name else "sfumato, mondrian"]
        counted = (
            f"{each[key]:,}" if key in each else "" for key in ("classes", "smallest", "discernibility")
        )
        rows.append(_row(name, each, ours.get("warm", 1), *counted))
    return rows


def _row(name: str, each: dict[str, Any], ours: float, *more: object) -> list[str]:
    if "failed" in each:
        return [name, f"failed: {each['failed']}", *([""] * (3 + len(more)))]
    cold, warm, peak = _seconds(each)
    return [name, cold, warm, f"{each['warm'] / ours:.1f}", peak, *map(str, more)]


def _seconds(each: dict[str, Any]) -> list[str]:
    if "failed" in each:
        return ["failed", "", ""]
    return [f"{each['cold']:.2f}", f"{each['warm']:.2f}", f"{each['peak']:,.0f}"]


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    shutil.rmtree(HERE.parent / "build" / "bench" / "adult", ignore_errors=True)
    main(sys.argv[1:])
