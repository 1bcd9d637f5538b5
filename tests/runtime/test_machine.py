"""How much memory and how many processors this process may use."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sfumato.runtime import machine

OF_ALL = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where control groups lie; this process is in /house/room of both kinds."""
    own = tmp_path / "proc" / "self" / "cgroup"
    own.parent.mkdir(parents=True)
    own.write_text("9:cpu,cpuacct:/\n4:memory:/house/room\n1:name=systemd:/\n0::/house/room\n")
    monkeypatch.setattr(machine, "_PROCESSES", tmp_path / "proc")
    monkeypatch.setattr(machine, "_GROUPS", tmp_path / "groups")
    monkeypatch.setattr(machine, "_limits_of_shell", list)
    return tmp_path / "groups"


def limit(place: Path, said: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"{said}\n")


def test_without_a_limit_it_is_that_of_the_machine(groups: Path) -> None:
    assert machine.memory() == OF_ALL
    limit(groups / "memory.max", "max")
    limit(groups / "memory" / "memory.limit_in_bytes", "9223372036854771712")
    assert machine.memory() == OF_ALL


@pytest.mark.parametrize(
    "place",
    [
        "memory.max",
        "house/memory.max",
        "house/room/memory.max",
        "memory/memory.limit_in_bytes",
        "memory/house/room/memory.limit_in_bytes",
    ],
)
def test_a_control_group_or_one_around_it_limits_it(groups: Path, place: str) -> None:
    limit(groups / place, "5000")
    limit(groups / "house" / "kitchen" / "memory.max", "7")
    assert machine.memory() == 5000


def test_the_smallest_of_several_limits_counts(groups: Path) -> None:
    limit(groups / "house" / "memory.max", "3000")
    limit(groups / "house" / "room" / "memory.max", "4000")
    assert machine.memory() == 3000


def test_where_nothing_is_told_of_groups_there_is_no_limit(
    groups: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "_PROCESSES", tmp_path / "nowhere")
    limit(groups / "house" / "memory.max", "3000")
    assert machine.memory() == OF_ALL


def test_the_shell_limits_it() -> None:
    program = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)); "
        "from sfumato.runtime import machine; print(machine.memory())"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(said.stdout) == min(1 << 30, OF_ALL)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="looks at processes through /proc")
def test_a_process_that_is_bound_to_a_processor_has_one() -> None:
    program = (
        "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]); "
        "from sfumato.runtime import machine; print(machine.processors())"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert said.stdout == "1\n"
