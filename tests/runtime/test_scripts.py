"""A user's own script may lie next to its data: what it defines reaches the workers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import sfumato

SCRIPT = """
import sys
from dataclasses import dataclass
from pathlib import Path

import sfumato as sf
import next_to_it
from sfumato.results.linked_release import released


@sf.register
@dataclass(frozen=True)
class Mine:
    level: int = 1

    def sanitize(self, table, schema, rng):
        print("noise on standard output")
        return released(table, schema, {})


def main():
    table, schema = sf.datasets.hospital()
    candidates = [Mine(1), Mine(2), next_to_it.Other(1)]
    workers = int(sys.argv[1])
    limits = {"workers": workers, "time_limit": 600}  # so that none is made in this process
    frontier = sf.explore(table, schema, candidates, ["k-anonymity", "general-loss"], **limits)
    print(len(frontier.candidates), "made", len(frontier.infeasible), "failed")


GUARD
"""
NEXT_TO_IT = """
from dataclasses import dataclass

import sfumato as sf
from sfumato.results.linked_release import released


@sf.register
@dataclass(frozen=True)
class Other:
    level: int = 1

    def sanitize(self, table, schema, rng):
        return released(table, schema, {})
"""
MADE = "1 made 0 failed\n"
"""All of them make one and the same release."""
GUARDED = 'if __name__ == "__main__":\n    main()'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "experiment.py").write_text(SCRIPT.replace("GUARD", GUARDED))
    (tmp_path / "next_to_it.py").write_text(NEXT_TO_IT)
    return tmp_path


def run(folder: Path, *command: str, path: str = "") -> subprocess.CompletedProcess[str]:
    places = [str(Path(sfumato.__file__).parents[1]), *([path] if path else [])]
    found = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
    return subprocess.run(
        [sys.executable, *command], cwd=folder, env=found, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("where", ["in its folder", "from elsewhere"])
def test_methods_of_a_script_and_of_a_module_next_to_it_reach_the_workers(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, where: str
) -> None:
    if where == "in its folder":
        done = run(folder, "experiment.py", "2")
    else:
        done = run(tmp_path_factory.mktemp("elsewhere"), str(folder / "experiment.py"), "2")
    assert (done.stdout, done.returncode) == (MADE, 0), done.stderr


def test_a_script_whose_work_is_not_under_its_guard_is_told_so_and_starts_no_endless_row(
    folder: Path,
) -> None:
    (folder / "experiment.py").write_text(SCRIPT.replace("GUARD", "main()"))
    done = run(folder, "experiment.py", "2")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith('begin its work under `if __name__ == "__main__":`')


def test_a_module_that_only_the_current_folder_has_does_not_reach_the_workers(folder: Path) -> None:
    """Python looks for it there with ``-m``; a worker does not. Where its folder is named, it does."""
    done = run(folder, "-m", "experiment", "2")
    assert done.returncode == 1
    assert "a worker cannot import the module 'experiment'" in done.stderr.splitlines()[-1]
    assert "PYTHONPATH" in done.stderr.splitlines()[-1]
    done = run(folder, "-m", "experiment", "2", path=str(folder))
    assert (done.stdout, done.returncode) == (MADE, 0), done.stderr
