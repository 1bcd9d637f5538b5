"""Spark's own Python workers import nothing that is planted in the current folder, nor does the engine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import sfumato

from ..runtime.test_nothing_planted_runs import COMMAND, PROJECT, Trap

# what we ask for needs no Python there: so a function in Python is asked for, in the session that we make
WORK = """
from sfumato.workflow.engines import spark
{changed}
if __name__ == "__main__":
    with spark._session() as session:
        numbers = session.sparkContext.parallelize(range(4), 2).map(lambda number: number + 1)
        print(sorted(numbers.collect()))
"""
UNPROTECTED = 'spark._SAFE = "NOTHING"'


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    """The current folder with planted modules, and another one with a script."""
    trap = Trap(tmp_path)
    for folder in (trap.current, trap.data, trap.project, trap.markers, trap.place / "bin"):
        folder.mkdir()
    trap.plant(trap.current)
    return trap


def run(trap: Trap, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    place = trap.place / "bin" / "program"
    place.write_text(program)
    places = [str(Path(sfumato.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    return subprocess.run(
        [sys.executable, str(place), *arguments],
        cwd=trap.current,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, places)),
            "SPARK_LOCAL_IP": "127.0.0.1",
        },
        capture_output=True,
        text=True,
        check=False,
    )


def test_nothing_planted_runs_in_sparks_own_workers(trap: Trap) -> None:
    done = run(trap, WORK.format(changed=""))
    assert done.stdout == "[1, 2, 3, 4]\n", done.stderr
    assert trap.ran == set()


def test_without_the_setting_it_would(trap: Trap) -> None:
    run(trap, WORK.format(changed=UNPROTECTED))
    assert trap.ran != set()


def test_nothing_planted_runs_in_a_command_with_the_engine(trap: Trap) -> None:
    (trap.data / "people.csv").write_text("age,zip,diagnosis\n" + "31,01307,flu\n42,01309,gout\n" * 5)
    pq.write_table(pyarrow.csv.read_csv(trap.data / "people.csv"), trap.data / "people.parquet")
    project = (PROJECT % "").replace('people.csv"', 'people.parquet"\nengine = "spark"')
    (trap.project / "people.toml").write_text(project)
    done = run(trap, COMMAND.format(changed=""), "explore", "../project/people.toml", "--workers", "2")
    assert done.returncode == 0, done.stderr
    assert trap.ran == set()
