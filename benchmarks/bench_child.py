"""One piece of work of `bench.py` in a process of its own, so that its peak memory is its own.

python benchmarks/bench_child.py release RECORDS ATTRIBUTES K
python benchmarks/bench_child.py write RECORDS FILE.parquet
python benchmarks/bench_child.py distinct RECORDS FOLDER
python benchmarks/bench_child.py reduce polars|duckdb|sfumato FILE.parquet
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any


def release(n_records: str, n_attributes: str, k: str) -> Callable[[], Any]:
    """Return what makes one Mondrian release of a table all of whose records differ."""
    import numpy as np

    import sfumato as sf
    from sfumato.data.kinds import NUMERIC
    from sfumato.data.table import Column

    rng = np.random.default_rng(0)
    n, d = int(n_records), int(n_attributes)
    columns = {
        f"q{i}": Column(rng.integers(0, 100, n).astype(np.int32), tuple(range(100)), NUMERIC)
        for i in range(d)
    }
    columns["s"] = Column(rng.integers(0, 20, n).astype(np.int32), tuple(str(value) for value in range(20)))
    roles = {**{f"q{i}": "quasi-identifying" for i in range(d)}, "s": "sensitive"}
    records, schema = sf.Schema.of(roles).bind(sf.Table(columns, np.ones(n, dtype=np.int64)))
    return lambda: (
        sf.sanitize(records, schema, sf.sanitizers.Mondrian(sf.models.KAnonymity(int(k))), seed=1).n_records
    )


def reduce(who: str, place: str) -> Callable[[], Any]:
    """Return what finds the distinct rows of a file, each with how many there are."""
    if who == "polars":
        import polars as pl

        return lambda: len(pl.read_parquet(place).group_by(pl.all()).len())
    if who == "duckdb":
        import duckdb

        query = f"select count(*) from (select *, count(*) from read_parquet('{place}') group by all)"
        return lambda: duckdb.execute(query).fetchall()
    import sfumato as sf

    return lambda: sf.read(place).n_rows


def in_memory(who: str, place: str) -> float:
    """Return the CPU seconds of the same on what is in memory already, in each one's own form."""
    if who == "polars":
        import polars as pl

        frame = pl.read_parquet(place)
        return _seconds(lambda: frame.group_by(pl.all()).len())
    if who == "duckdb":
        import duckdb

        duckdb.execute(f"create table here as select * from read_parquet('{place}')")
        query = "select count(*) from (select *, count(*) from here group by all)"
        return _seconds(lambda: duckdb.execute(query).fetchall())
    import numpy as np
    import pyarrow.parquet as pq

    from sfumato.data.table import encode
    from sfumato.kernels.row_groups import number_rows

    read = pq.read_table(place)
    weights = np.ones(read.num_rows, dtype=np.int64)
    columns = [encode(name, read.column(name), frozenset(), weights) for name in read.column_names]
    codes, spans = [each.codes for each in columns], [len(each.domain) for each in columns]
    return _seconds(lambda: number_rows(codes, spans, read.num_rows))


def write(n_records: str, place: str) -> None:
    """Write seven columns of text and numbers, about 1,000 records for each different row."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng, n = np.random.default_rng(1), int(n_records)
    different = rng.integers(0, n // 1000, n)
    columns = {f"c{i}": (different * (7919 + 2 * i) % (50 + 30 * i)).astype(np.int64) for i in range(6)}
    words = np.array([f"town {number}" for number in range(40)])
    columns["town"] = words[different % 40]
    pq.write_table(pa.table(columns), place, row_group_size=1 << 20)


def distinct(n_records: str, folder: str) -> None:
    """Write the table of `at_scale.py`, all of whose records differ, and the hierarchies of its columns."""
    import csv
    from pathlib import Path

    from at_scale import made_up, schema

    import sfumato as sf

    place, hierarchies = Path(folder) / "table.csv", Path(folder) / "hierarchies"
    hierarchies.mkdir(parents=True, exist_ok=True)
    made_up(int(n_records), place)
    _, bound = schema().bind(sf.read(place))
    for name in bound.quasi_identifiers:
        with (hierarchies / f"{name}.csv").open("w", encoding="utf-8", newline="") as target:
            csv.writer(target, lineterminator="\n").writerows(bound.hierarchy(name).rows())


def _seconds(work: Callable[[], Any]) -> float:
    work()
    began = time.process_time()
    work()
    return time.process_time() - began


def main(what: str, *given: str) -> None:
    if what in ("write", "distinct"):
        {"write": write, "distinct": distinct}[what](*given)
        return
    work = {"release": release, "reduce": reduce}[what](*given)
    seconds = []
    found: Any = None
    for _ in range(2):
        began = time.process_time()
        found = work()
        seconds.append(time.process_time() - began)
    facts = {"rows": found, "memory": in_memory(*given)} if what == "reduce" else {"records": found}
    print(json.dumps({"cold": seconds[0], "warm": seconds[1], "found": facts}))


if __name__ == "__main__":
    main(*sys.argv[1:])
