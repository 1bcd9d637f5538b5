"""Killed at random: a dozen kills here, hundreds by ``python tools/kills.py 300``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import sfumato

TOOL = Path(__file__).parents[1] / "tools" / "kills.py"


@pytest.mark.thorough("tests/explore/test_run.py")
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="looks at groups of processes")
def test_a_dozen_kills_lose_nothing_and_leave_nothing() -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(sfumato.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, str(TOOL), "12"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "0 faults"
    n_kills = sum(int(line.split()[1]) for line in done.stdout.splitlines() if " kills, " in line)
    assert n_kills > 0, "how many come too late is chance, and so is how fast the machine then is"
