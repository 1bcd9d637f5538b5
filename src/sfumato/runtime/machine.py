"""How much memory and how many processors there are for this process."""

from __future__ import annotations

import os
from pathlib import Path

_PROCESSES = Path("/proc")
_GROUPS = Path("/sys/fs/cgroup")
_LIMITS = {"": "memory.max", "memory": "memory/memory.limit_in_bytes"}
"""Where the limit of all is told in a group of each kind: one for everything, or one for memory alone."""
SHARE = 0.8
"""The share of the machine's memory that all workers together may use."""


def processors() -> int:
    """Return how many processors this process may use: fewer than there are where it is bound to some.

    Examples
    --------
    >>> 1 <= processors() <= os.cpu_count()
    True
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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


def memory() -> int:
    """Return how many bytes of memory the machine has, or what this process may use of them.

    That may be less in a container, in a control group and where the shell set a limit (``ulimit -v``).
    """
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([whole, *_limits_of_shell(), *_limits_of_groups()])


def _limits_of_shell() -> list[int]:
    try:
        import resource
    except ImportError:  # there is none on Windows
        return []
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    return [] if most == resource.RLIM_INFINITY else [most]


def _limits_of_groups() -> list[int]:
    """Return the limits of the control groups that this process is in, and of those around them."""
    limits = []
    for kind, own in [("", Path("/")), *_own_groups()]:
        top, name = (_GROUPS / _LIMITS[kind]).parent, Path(_LIMITS[kind]).name
        for group in (own, *own.parents):
            try:
                limits.append(int((top / group.relative_to("/") / name).read_text()))
            except (OSError, ValueError):  # it is not seen from here, or has no limit
                continue
    return limits


def _own_groups() -> list[tuple[str, Path]]:
    """Return of which kind the groups of this process are that may limit memory, and where they are."""
    try:
        lines = (_PROCESSES / "self" / "cgroup").read_text().splitlines()
    except OSError:
        return []
    named = (line.split(":", 2)[1:] for line in lines if line.count(":") >= 2)
    return [(kind, Path(place)) for kind, place in named if kind in _LIMITS and place.startswith("/")]
