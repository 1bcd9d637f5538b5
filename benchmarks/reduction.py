"""Reduction: records to distinct rows with counts, beside DuckDB's and Polars' own grouping in the same run.

    python benchmarks/reduction.py [N_RECORDS] [FOLDER]

Made-up people of five attributes, a tenth as many distinct rows as records but a million at most, in 20
Parquet files. Each way runs in a process of its own: seconds, seconds of CPU, and the most memory it held.
Ours does more than grouping: it keeps the order of the first records and encodes every column.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

NAMES = ("age", "zip", "sex", "education", "diagnosis")
N_FILES = 20
REPEATS = 3


def write(folder: Path, n_records: int) -> None:
    """Write people; the column ``id`` is another for everybody, and nobody reads it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    generator = np.random.default_rng(0)
    n_distinct = min(n_records // 10, 1_000_000)
    key = generator.choice(100 * 1_000 * 2 * 16 * 40, n_distinct, replace=False)
    sizes = {"age": 100, "zip": 1_000, "sex": 2, "education": 16, "diagnosis": 40}
    values, codes = {}, {}
    for name, size in sizes.items():
        codes[name], key = key % size, key // size
        values[name] = pa.array([f"{name} {value:03}" for value in range(size)])
    folder.mkdir(parents=True)
    for part in range(N_FILES):
        n = n_records // N_FILES
        rows = generator.integers(0, n_distinct, n)
        columns = {name: values[name].take(pa.array(codes[name][rows])) for name in sizes}
        columns["age"] = pa.array(codes["age"][rows])
        table = pa.table({"id": np.arange(part * n, (part + 1) * n), **columns})
        pq.write_table(table, folder / f"{part:02}.parquet", row_group_size=500_000)


def of_duckdb(folder: Path) -> Callable[[], int]:
    import duckdb

    columns = ", ".join(NAMES)
    query = f"SELECT {columns}, count(*) AS n FROM '{folder}/*.parquet' GROUP BY {columns}"
    return lambda: int(duckdb.sql(query).to_arrow_table().num_rows)


def of_polars(folder: Path) -> Callable[[], int]:
    import polars as pl

    return lambda: pl.scan_parquet(folder).group_by(NAMES).len().collect(engine="streaming").height


def of_engine(name: str) -> Callable[[Path], Callable[[], int]]:
    def prepared(folder: Path) -> Callable[[], int]:
        from sfumato.data.schema import Schema
        from sfumato.reading.sources import source_at
        from sfumato.workflow.engines.base import engine_named

        roles: dict[str, Any] = {**dict.fromkeys(NAMES, "quasi-identifying"), "id": "identifying"}
        return lambda: engine_named(name).reduce(source_at(folder), Schema.of(roles)).n_rows

    return prepared


def in_memory(way: str) -> Callable[[Path], Callable[[], int]]:
    def prepared(folder: Path) -> Callable[[], int]:
        import pyarrow.parquet as pq

        records = pq.read_table(folder, columns=list(NAMES))
        if way == "duckdb":
            import duckdb

            columns = ", ".join(NAMES)
            query = f"SELECT {columns}, count(*) AS n FROM records GROUP BY {columns}"
            connection = duckdb.connect()
            connection.register("records", records)
            return lambda: int(connection.sql(query).to_arrow_table().num_rows)
        if way == "polars":
            import polars as pl

            frame = pl.from_arrow(records)
            assert isinstance(frame, pl.DataFrame)
            return lambda: frame.group_by(NAMES).len().height
        from sfumato.data.table import Table

        table = Table.from_arrow(records)
        expanded = table.to_arrow()
        if way == "codes":
            from sfumato.data.table import Column, compacted

            rows = np.repeat(np.arange(table.n_rows), table.weights)
            every = {name: Column(c.codes[rows], c.domain, c.kind) for name, c in table.columns.items()}
            ones = np.ones(len(rows), dtype=np.int64)
            return lambda: compacted(every, ones).n_rows
        return lambda: Table.from_arrow(expanded).n_rows

    return prepared


WAYS: dict[str, dict[str, Callable[[Path], Callable[[], int]]]] = {
    "from Parquet": {
        "DuckDB's GROUP BY": of_duckdb,
        "Polars' group_by": of_polars,
        'sfumato, engine = "duckdb"': of_engine("duckdb"),
        'sfumato, engine = "memory"': of_engine("memory"),
    },
    "in memory": {
        "DuckDB's GROUP BY": in_memory("duckdb"),
        "Polars' group_by": in_memory("polars"),
        "sfumato, from Arrow": in_memory("arrow"),
        "sfumato, from codes": in_memory("codes"),
    },
}


def timed(folder: Path, where: str, way: str) -> None:
    """Run one way and print what it took."""
    import resource

    run = WAYS[where][way](folder)
    took = []
    for _ in range(REPEATS):
        began, cpu = time.perf_counter(), time.process_time()
        n_rows = run()
        took.append((time.perf_counter() - began, time.process_time() - cpu))
    wall, cpu = min(took)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({"rows": n_rows, "seconds": wall, "cpu": cpu, "GiB": memory}))


def main(n_records: int, folder: Path) -> None:
    if not folder.exists():
        write(folder, n_records)
    for where, ways in WAYS.items():
        print(f"{where}, {n_records:,} records")
        first: dict[str, float] = {}
        for way in ways:
            command = [sys.executable, __file__, "--child", str(folder), where, way]
            done = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
            first = first or done
            print(
                f"  {way:30} {done['rows']:>10,} rows  {done['seconds']:6.2f} s  {done['cpu']:6.2f} s of CPU "
                f"({done['cpu'] / first['cpu']:.2f} of DuckDB's)  {done['GiB']:.2f} GiB"
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        timed(Path(sys.argv[2]), sys.argv[3], sys.argv[4])
    elif len(sys.argv) > 2:
        main(int(sys.argv[1]), Path(sys.argv[2]))
    else:
        with tempfile.TemporaryDirectory() as place:
            main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000, Path(place, "people"))
