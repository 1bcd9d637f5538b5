"""Memory: how much of it a process uses, and how much the machine has."""

from __future__ import annotations

import os
from pathlib import Path

_PROCESSES = Path("/proc")
_CONTAINER = Path("/sys/fs/cgroup/memory.max")
SHARE = 0.8
"""The share of the machine's memory that all workers together may use."""


def can_be_watched() -> bool:
    """Return whether this system tells how much memory another process uses."""
    return (_PROCESSES / str(os.getpid()) / "statm").exists()


def used_by(process: int) -> int:
    """Return how many bytes of memory a process and its children hold, 0 once it has ended."""
    place = _PROCESSES / str(process)
    try:
        resident = int((place / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        children = (place / "task" / str(process) / "children").read_text().split()
    except (OSError, IndexError, ValueError):
        return 0
    return resident + sum(used_by(int(child)) for child in children)


def of_machine() -> int:
    """Return how many bytes of memory the machine has, or the container that this runs in."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        return min(whole, int(_CONTAINER.read_text()))
    except (OSError, ValueError):
        return whole
