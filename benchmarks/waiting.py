"""Waiting: what a person at the workbench or the command line waits for, in seconds of CPU.

    python benchmarks/waiting.py [RECORDS]

Guessing the attributes of 15 columns with 50,000 different values each; the frontier, its knee and what
beats a candidate among 5,000 candidates; binding a table (by default 500,000 records of Adult, drawn with
replacement, and two more columns) to its schema, and how unique its people are.
"""

from __future__ import annotations

import datetime
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato import Attribute, Intervals, Schema, Table
from sfumato.reading import datasets
from sfumato.reading.role_guess import guess
from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Candidate
from sfumato.results.frontier import Frontier
from sfumato.results.measurement import Measurement
from sfumato.workflow.inspect.inspected_columns import inspect_table

AXES = ("privacy-loss", "general-loss")


def told(what: str, work: Callable[[], Any]) -> Any:
    """Do it three times and print the shortest."""
    durations = []
    for _ in range(3):
        began = time.process_time()
        found = work()
        durations.append(time.process_time() - began)
    print(f"{what:<60} {min(durations):7.3f} s", flush=True)
    return found


def many_values(n: int = 50_000) -> Table:
    times = [str(datetime.datetime(2000, 1, 1) + datetime.timedelta(minutes=row)) for row in range(n)]
    columns: dict[str, list[str]] = {"taken": times, "sent": times}
    columns |= {f"text {i}": [f"{i} {row} and more" for row in range(n)] for i in range(4)}
    columns |= {f"measured {i}": [f"{row}.{row % 7}{i + 1}" for row in range(n)] for i in range(5)}
    columns |= {f"area {i}": [f"{row:05}" for row in range(n)] for i in range(4)}
    return Table.from_arrow(columns)


def many_candidates(*, all_efficient: bool, n: int = 5_000) -> tuple[Candidate, ...]:
    rng = np.random.default_rng(7)
    xs, ys = np.sort(rng.random(n)), rng.random(n)
    ys = np.sort(ys)[::-1] if all_efficient else ys
    return tuple(
        Candidate(
            f"{place:04}",
            Recipe("as-is"),
            (
                Measurement(AXES[0], float(x), "privacy", "lower"),
                Measurement(AXES[1], float(y), "utility", "lower"),
            ),
        )
        for place, (x, y) in enumerate(zip(xs, ys, strict=True))
    )


def looked_at(candidates: tuple[Candidate, ...]) -> int:
    frontier = Frontier(candidates, AXES)
    frontier.knee()
    frontier.dominated_by(candidates[-1])
    return len(frontier.efficient())


def many_records(n: int) -> tuple[Table, Schema]:
    rng = np.random.default_rng(0)
    names = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country", "occupation")
    drawn = datasets.adult_records("complete", names).take(rng.integers(0, 45_222, n))
    drawn = drawn.append_column("visit", pa.array(rng.integers(0, 3_000, n)))
    drawn = drawn.append_column("ward", pa.array(rng.integers(0, 40, n)))
    numbers = {"age": Intervals((5, 10)), "visit": Intervals((30, 90))}
    attributes = [
        Attribute(
            name,
            "sensitive" if name == "occupation" else "quasi-identifying",
            "numeric" if name in numbers else "categorical",
            numbers.get(name),
        )
        for name in drawn.column_names
    ]
    return Table.from_arrow(drawn), Schema(tuple(attributes))


def main() -> None:
    n_records = int(sys.argv[1]) if len(sys.argv) > 1 else 500_000
    table = many_values()
    told("guessing 15 columns of 50,000 different values", lambda: guess(table))
    for all_efficient in (False, True):
        candidates = many_candidates(all_efficient=all_efficient)
        which = "all efficient" if all_efficient else "few efficient"
        told(f"the frontier of 5,000 candidates, {which}", lambda those=candidates: looked_at(those))
    records, schema = many_records(n_records)
    bound = told(f"binding {n_records:,} records of 10 columns", lambda: schema.bind(records))
    told("how unique these people are", lambda: inspect_table(*bound))


if __name__ == "__main__":
    main()
