"""Modules planted in the current folder, next to the data and next to the project: none of them runs.

One test for each way of starting a process, by the command that a user types or by the part of the workbench
that starts it. Each is repeated with the protection taken away: then something planted runs, so the test
would notice. The test of Spark's own workers is in ``tests/spark``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from tools.fuzzed import KEPT

import sfumato
from sfumato.interfaces.workbench.server import application
from sfumato.interfaces.workbench.state.jobs import Jobs
from sfumato.miners import original_view, predict
from sfumato.miners.cross_validation import forget
from sfumato.reading.base import Format
from sfumato.reading.csv_files import read_csv
from sfumato.reading.statistics_files import STATISTICS, read_statistics
from sfumato.runtime import processes
from sfumato.runtime.errors import SfumatoError

from ..reading.test_statistics import write
from ..workbench.conftest import TOKEN, visitor
from ..workbench.routes.test_folder import dropped

PLANTED = (
    "sfumato",
    "numpy",
    "pyreadstat",
    "pandas",
    "pyarrow",
    "python_calamine",
    "sklearn",
    "cloudpickle",
    "threadpoolctl",
    "json",
    "pickle",
    "queue",
    "signal",
    "socket",
    "sitecustomize",
    "a_plugin",
)
"""What a child imports: the package, what the package needs, what Python needs, and what Python looks for."""

# it writes down that it ran, and in which process; then it is in the way, as any other module of that name
MODULE = """
import os
with open(os.path.join({markers!r}, "{name}-" + str(os.getpid())), "w"):
    pass
"""

PEOPLE = "age,zip,diagnosis\n" + "".join(
    f"{20 + n},0{1300 + n % 5},{'flu' if n % 3 else 'asthma'}\n" for n in range(40)
)
PROJECT = """\
policy.recipient = "none"
[data]
path = "../data/people.csv"

[attributes.age]
role = "quasi-identifying"
kind = "numeric"
hierarchy = { intervals = [5, 10, 20] }

[attributes.zip]
role = "quasi-identifying"
hierarchy = { prefixes = [3, 2] }

[attributes.diagnosis]
role = "sensitive"

[measure]
privacy = ["k-anonymity"]
utility = ["general-loss"%s]

[[candidates]]
sanitizer = "mondrian"
model = { k-anonymity = { k = [2, 3, 4] } }
"""
MINED = ', { workload-utility = { target = "diagnosis", miners = ["naive-bayes"] } }'

# as an installer writes the command, with something changed beforehand
COMMAND = """
import os, sys
from sfumato.runtime import processes
{changed}
from sfumato.interfaces.cli import main
if __name__ == "__main__":
    sys.exit(main())
"""
UNPROTECTED = """
usual = processes._command
processes._command = lambda *given: [part for part in usual(*given) if part != "-P"]
processes.environment_of_children = lambda: dict(os.environ)
"""
WITH_A_FORMAT = """
from sfumato import register
from sfumato.reading.csv_files import read_csv
from sfumato.reading.base import Format
register(Format("lines", (".lines",), read_csv))
"""
WITHOUT_FORK = "processes._CAN_FORK = False"


@dataclass(frozen=True)
class Trap:
    """Folders with planted modules, and what ran of them."""

    place: Path

    @property
    def current(self) -> Path:
        """Where commands are typed."""
        return self.place / "current"

    @property
    def data(self) -> Path:
        return self.place / "data"

    @property
    def project(self) -> Path:
        return self.place / "project"

    @property
    def markers(self) -> Path:
        return self.place / "markers"

    @property
    def ran(self) -> set[str]:
        """What ran: the name of the module and the number of the process."""
        return {marker.name for marker in self.markers.iterdir()}

    def plant(self, folder: Path) -> None:
        """Plant every module, and a plug-in that asks to be loaded."""
        for name in PLANTED:
            (folder / f"{name}.py").write_text(MODULE.format(markers=str(self.markers), name=name))
        facts = folder / "a_plugin-1.0.dist-info"
        facts.mkdir()
        (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: a-plugin\nVersion: 1.0\n")
        (facts / "entry_points.txt").write_text("[sfumato.plugins]\na = a_plugin\n")

    def command(self, *arguments: str, changed: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command in the current folder: the installed one, or the same with something changed."""
        program = Path(sysconfig.get_path("scripts")) / "sfumato"
        if changed or not program.exists():
            (self.place / "bin").mkdir(exist_ok=True)
            program = self.place / "bin" / "sfumato"
            program.write_text(COMMAND.format(changed=changed))
        found = {**os.environ, "PYTHONPATH": str(Path(sfumato.__file__).parents[1])}
        return subprocess.run(
            [sys.executable, str(program), *arguments],
            cwd=self.current,
            env=found,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    """The current folder, the folder of the data and that of the project, each with every planted module."""
    trap = Trap(tmp_path)
    for folder in (trap.current, trap.data, trap.project, trap.markers):
        folder.mkdir()
    for folder in (trap.current, trap.data, trap.project):
        trap.plant(folder)
    (trap.data / "people.csv").write_text(PEOPLE)
    return trap


@pytest.mark.parametrize("name", PLANTED)
def test_the_trap_works(trap: Trap, name: str) -> None:
    """A plain Python in the same folder runs what is planted there."""
    if name == "sitecustomize":
        # Python looks for it before it puts the current folder on the path, unless PYTHONPATH has done so
        command, path = ["-c", "pass"], os.pathsep
    else:
        command, path = ["-c", f"import sys; sys.modules.pop({name!r}, None); import {name}"], ""
    for folder in (trap.current, trap.data, trap.project):
        shutil.rmtree(trap.markers)
        trap.markers.mkdir()
        subprocess.run(
            [sys.executable, *command], cwd=folder, env={**os.environ, "PYTHONPATH": path}, check=False
        )
        assert [each.rpartition("-")[0] for each in trap.ran if each.startswith(name)] == [name]


def reads(suffix: str) -> Callable[[Trap], list[str]]:
    def prepared(trap: Trap) -> list[str]:
        place = trap.data / f"patients{suffix}"
        if suffix in (".xls", ".XLSX"):
            shutil.copy(KEPT / "seeds" / "xls", place)
        else:
            write(place)
        return ["new", f"../data/{place.name}", "--output", "new.toml"]

    return prepared


def reads_next_to_it(suffix: str) -> Callable[[Trap], list[str]]:
    def prepared(trap: Trap) -> list[str]:
        place = write(trap.current / f"patients{suffix}")
        return ["new", place.name]

    return prepared


def reads_a_plug_in_s_format(trap: Trap) -> list[str]:
    (trap.data / "people.lines").write_text(PEOPLE)
    return ["new", "../data/people.lines", "--output", "new.toml"]


def explores(*options: str, mined: str = "") -> Callable[[Trap], list[str]]:
    def prepared(trap: Trap) -> list[str]:
        (trap.project / "people.toml").write_text(PROJECT % mined)
        return ["explore", "../project/people.toml", *options]

    return prepared


COMMANDS: dict[str, tuple[Callable[[Trap], list[str]], str]] = {
    "spss": (reads(".sav"), ""),
    "spss-in-the-current-folder": (reads_next_to_it(".sav"), ""),
    "stata": (reads(".dta"), ""),
    "sas": (reads(".xpt"), ""),
    "old-excel": (reads(".xls"), ""),
    "mislabelled-excel": (reads(".XLSX"), ""),
    "format-of-a-plug-in": (reads_a_plug_in_s_format, WITH_A_FORMAT),
    "miners": (explores("--workers", "1", mined=MINED), ""),
    "workers-forked": (explores("--workers", "2"), ""),
    "workers-started": (explores("--workers", "2"), WITHOUT_FORK),
    "workers-with-miners": (explores("--workers", "2", mined=MINED), ""),
}


@pytest.mark.parametrize("way", COMMANDS)
def test_nothing_planted_runs_in_a_command(trap: Trap, way: str) -> None:
    prepared, changed = COMMANDS[way]
    done = trap.command(*prepared(trap), changed=changed)
    assert done.returncode == 0, done.stderr
    assert trap.ran == set()


@pytest.mark.parametrize("way", COMMANDS)
def test_without_the_protection_it_would(trap: Trap, way: str) -> None:
    prepared, changed = COMMANDS[way]
    trap.command(*prepared(trap), changed=f"{UNPROTECTED}\n{changed}")
    assert trap.ran != set()


def test_nothing_planted_runs_in_the_command_itself(trap: Trap) -> None:
    """The plug-in is not even asked for, where every method is listed."""
    done = trap.command("methods")
    assert (done.returncode, trap.ran) == (0, set())
    assert "is skipped" not in done.stderr


def as_module(trap: Trap, *arguments: str, safe: bool) -> subprocess.CompletedProcess[str]:
    found = {**os.environ, "PYTHONPATH": str(Path(sfumato.__file__).parents[1])}
    command = [sys.executable, *(["-P"] if safe else []), "-m", "sfumato", *arguments]
    return subprocess.run(command, cwd=trap.current, env=found, capture_output=True, text=True, check=False)


def test_python_m_runs_what_is_planted_unless_it_is_told_to_be_safe(trap: Trap) -> None:
    """What the threat model says of it."""
    assert as_module(trap, "methods", safe=True).returncode == 0
    assert trap.ran == set()
    as_module(trap, "methods", safe=False)
    assert {each.rpartition("-")[0] for each in trap.ran} >= {"sfumato"}


def test_python_m_imports_nothing_more_from_the_current_folder_once_it_has_begun(trap: Trap) -> None:
    for name in ("sfumato", "signal", "socket", "queue", "pickle", "json"):
        (trap.current / f"{name}.py").unlink()
    prepared, _ = COMMANDS["spss"]
    done = as_module(trap, *prepared(trap), safe=False)
    assert done.returncode == 0, done.stderr
    assert trap.ran == set()


# --- parts of the workbench and the library, started in this process ---


def reading(trap: Trap) -> None:
    read_statistics(write(trap.data / "patients.sav"))


def every_other_reader(trap: Trap) -> None:
    for suffix in STATISTICS.suffixes:
        if suffix not in (".sas7bdat", ".sav"):  # nothing writes the first
            read_statistics(write(trap.data / f"patients{suffix}"))


def reading_a_plug_in_s_format(trap: Trap) -> None:
    (trap.data / "people.lines").write_text(PEOPLE)
    Format("lines", (".lines",), read_csv).records(trap.data / "people.lines")


def mining(trap: Trap) -> None:
    forget()
    assert predict(
        original_view(*sfumato.reading.datasets.hospital()), "diagnosis", "majority", folds=2
    ).finished


def exploring(trap: Trap) -> None:
    (trap.project / "people.toml").write_text(PROJECT % "")
    jobs = Jobs()
    try:
        jobs.start(trap.project / "people.toml", workers=2).wait(600)
    finally:
        jobs.end()


def uploading(trap: Trap) -> None:
    content = write(trap.place / "patients.sav").read_bytes()
    guest = visitor(application(trap.project, token=TOKEN))
    guest.get("/", params={"token": TOKEN})
    page = dropped(guest, "patients.sav", content)
    for _ in range(3000):
        if (trap.project / "patients.toml").exists() or page.status_code == 422:
            break
        time.sleep(0.1)
        page = guest.get(page.headers.get("location", page.url))
    assert (trap.project / "patients.toml").exists()


HERE = {
    each.__name__: each
    for each in (
        reading,
        every_other_reader,
        reading_a_plug_in_s_format,
        mining,
        exploring,
        uploading,
    )
}


@pytest.fixture
def no_processes_yet() -> None:
    """Let every process be started here, and none be left from another test."""
    processes.end_idle()
    processes.stop_template()


@pytest.mark.usefixtures("no_processes_yet")
@pytest.mark.parametrize("way", HERE)
def test_nothing_planted_runs_where_the_library_starts_a_process(
    trap: Trap, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor where the current folder is on the path by mistake, as by ``PYTHONPATH=$PYTHONPATH:/opt``."""
    monkeypatch.chdir(trap.current)
    places = ["", ".", str(Path(sfumato.__file__).parents[1])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(places))
    HERE[way](trap)
    assert trap.ran == set()


@pytest.mark.usefixtures("no_processes_yet")
@pytest.mark.parametrize("way", HERE)
def test_without_the_protection_it_would_there_too(
    trap: Trap, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(trap.current)
    usual = processes._command
    monkeypatch.setattr(
        processes, "_command", lambda *given: [part for part in usual(*given) if part != "-P"]
    )
    monkeypatch.setattr(processes, "environment_of_children", lambda: dict(os.environ))
    with suppress(AssertionError, SfumatoError):  # what is planted is in the way
        HERE[way](trap)
    assert trap.ran != set()


def test_the_readers_that_are_tried_are_all_that_can_be_tried() -> None:
    """Nothing writes a file of SAS's own format; it is read in the same way."""
    assert {*STATISTICS.suffixes} - {".sas7bdat"} == {".sav", ".zsav", ".por", ".dta", ".xpt"}
