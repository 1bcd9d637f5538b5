"""A cluster of two workers makes the same table as memory does, also when one of them is lost."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.data.table import Table
from sfumato.reading.sources import source_at
from sfumato.workflow.engines.base import engine_named

N_RECORDS, N_FILES = 300_000, 12


def test_a_worker_that_is_killed_changes_nothing(tmp_path: Path, cluster: Any) -> None:
    generator = np.random.default_rng(1)
    for part in range(N_FILES):
        table = pa.table(
            {"age": generator.integers(0, 90, N_RECORDS), "zip": generator.integers(0, 900, N_RECORDS)}
        )
        pq.write_table(table, tmp_path / f"{part:02}.parquet", row_group_size=20_000, use_dictionary=False)
    expected = engine_named("memory").reduce(source_at(tmp_path))
    found: list[Table] = []
    working = threading.Thread(target=lambda: found.append(engine_named("spark").reduce(source_at(tmp_path))))
    working.start()
    while not cluster.is_at_work():
        assert working.is_alive(), "the work was done before a worker could be killed"
        time.sleep(0.01)
    assert cluster.n_executors == 2
    cluster.kill_one()
    assert working.is_alive()
    working.join()
    assert found[0].fingerprint == expected.fingerprint
    assert cluster.n_executors == 1
