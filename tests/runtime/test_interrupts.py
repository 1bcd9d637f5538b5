"""The first Ctrl-C ends a command that would never end, and all its processes, whenever it comes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sfumato

from .test_nothing_planted_runs import PEOPLE, PROJECT

WITHOUT_END = {
    # compiled steps in this process, and in a worker
    "effort": """
[[try]]
sanitizer = "local-recoding"
effort = 99999999999
model = { k-anonymity = { k = 4 } }
""",
    # a fit in a process of its own, of a library that hears nothing
    "trees": "",
}
FOREST = ', { workload-utility = { target = "diagnosis", miners = ["random-forest trees=99999999"] } }'


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(sfumato.__file__).parents[1])}


def processes_of(session: int) -> list[int]:
    """Return the processes of a session that have not ended."""
    found = []
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, own = place.read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(own) == session and state != "Z":
            found.append(int(place.parent.name))
    return found


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at processes through /proc")
@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("what", WITHOUT_END)
def test_the_first_interrupt_ends_what_would_never_end(
    tmp_path: Path, what: str, workers: str, patience: float
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "people.csv").write_text(PEOPLE)
    (tmp_path / "project").mkdir()
    place = tmp_path / "project" / "people.toml"
    place.write_text(PROJECT % (FOREST if what == "trees" else "") + WITHOUT_END[what])
    command = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    command += "from sfumato.cli import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", command, "explore", str(place), "--workers", workers],
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as explored:
        deadline = time.monotonic() + patience
        while not place.with_suffix(".sqlite").exists():
            assert explored.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        # as a terminal does: every process of the group gets it
        os.killpg(explored.pid, signal.SIGINT)
        _, said = explored.communicate(timeout=patience)
    assert explored.returncode == 130
    assert "Traceback" not in said
    assert said.splitlines()[-1].startswith("sfumato: stopped; ")
    while processes_of(explored.pid):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_command_in_a_folder_that_was_removed_says_so_in_one_line(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = "import os; os.rmdir(os.getcwd()); from sfumato.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", command, "explore", str(tmp_path / "people.toml")],
        cwd=gone,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("sfumato: the current folder has been removed")
    assert len(done.stderr.splitlines()) == 1
