"""Spark on this machine alone, and a cluster of one master and two workers; `make spark` runs these tests.

Without pyspark, which is large, nothing here is collected.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

collect_ignore_glob = [] if find_spec("pyspark") else ["test_*.py"]

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "4",
}
OF_CLUSTER = {
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    # a record group is one task, so that a worker is lost in the middle of many
    "spark.sql.files.maxPartitionBytes": "1m",
}


@pytest.fixture(scope="module")
def alone() -> Iterator[Any]:
    """Give a session on this machine."""
    yield from _session("local[2]", {})


def _session(master: str, more: dict[str, str]) -> Iterator[Any]:
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master(master).config(map={**SETTINGS, **more}).getOrCreate()
    yield session
    session.stop()


@dataclass(frozen=True)
class Cluster:
    """A master and its workers, each in a process group of its own."""

    session: Any
    workers: list[subprocess.Popen[bytes]]

    def kill_one(self) -> None:
        """Kill a worker and what it runs, without a warning."""
        os.killpg(self.workers.pop().pid, signal.SIGKILL)

    @property
    def n_executors(self) -> int:
        """How many workers hold a part of the work; one more is the driver."""
        return int(self.session.sparkContext._jsc.sc().getExecutorMemoryStatus().size()) - 1

    def is_at_work(self) -> bool:
        """Return whether tasks are running and more of them wait."""
        tracker = self.session.sparkContext.statusTracker()
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        return any(each and each.numCompletedTasks > 1 and each.numActiveTasks > 1 for each in stages)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Start a cluster on ports of this machine alone."""
    place = tmp_path_factory.mktemp("cluster")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    running = []
    try:
        master = ["master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
        running.append(_started(place, "master", master))
        _wait_for(lambda: _listens(port))
        for name in ("one", "two"):
            worker = ["worker.Worker", "--host", "127.0.0.1", "--webui-port", "0", "--cores", "1"]
            worker += ["--memory", "600m", "--work-dir", str(place / name), f"spark://127.0.0.1:{port}"]
            running.append(_started(place, name, worker))
        for name in ("one", "two"):
            log = place / f"{name}.log"
            _wait_for(lambda log=log: "Successfully registered" in log.read_text())  # type: ignore[misc]
        for session in _session(f"spark://127.0.0.1:{port}", OF_CLUSTER):
            yield Cluster(session, running[1:])
    finally:
        for process in running:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _started(place: Path, name: str, arguments: list[str]) -> subprocess.Popen[bytes]:
    import pyspark

    home = Path(pyspark.__file__).parent
    what, *rest = arguments
    with (place / f"{name}.log").open("wb") as log:
        return subprocess.Popen(
            [home / "bin" / "spark-class", f"org.apache.spark.deploy.{what}", *rest],
            env={
                **os.environ,
                "SPARK_HOME": str(home),
                "SPARK_LOCAL_IP": "127.0.0.1",
                "SPARK_NO_DAEMONIZE": "1",
            },
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _wait_for(happens: Callable[[], bool], seconds: float = 300) -> None:
    until = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < until, "this takes too long"
        time.sleep(0.1)
