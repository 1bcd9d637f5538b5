"""Apart: what a library in another language reads, in a process of its own.

A few bytes of a damaged file may end the process that reads it, or claim all memory of the machine.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

_COMMAND = "from sfumato.reading.apart import main; main()"
_PATIENCE, _BYTES_IN_A_SECOND = 60, 100_000
"""Seconds of a processor that any file may take, and of how many bytes more each further one is."""


def read_apart(read: Callable[[Path], Any], path: Path, most_memory: int) -> Any:
    """Return what a function reads from a file; nothing where its process ends or would take too much.

    Parameters
    ----------
    read
        A function of a module whose ``PACKAGE`` names the library: that is loaded first.
    path
        The file.
    most_memory
        How many bytes the process may take beside what it takes to start.
    """
    places = os.pathsep.join(place for place in sys.path if place)
    asked = [sys.executable, "-c", _COMMAND, read.__module__, read.__name__, str(path), str(most_memory)]
    with subprocess.Popen(
        asked,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": places},
    ) as process:
        assert process.stdout is not None
        try:
            return pickle.load(process.stdout)
        except (EOFError, pickle.UnpicklingError):
            return None
        finally:
            process.kill()


def main() -> None:
    """Write what the named function reads from the named file, within the memory that is named."""
    module, name, path, most_memory = sys.argv[1:]
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    found = import_module(module)
    import_module(found.PACKAGE)
    _limit(int(most_memory), _PATIENCE + Path(path).stat().st_size // _BYTES_IN_A_SECOND)
    pickle.dump(getattr(found, name)(Path(path)), answers, protocol=pickle.HIGHEST_PROTOCOL)
    answers.flush()


def _limit(most_memory: int, most_seconds: int) -> None:
    try:
        import resource
    except ImportError:  # there is none on Windows
        return
    held = 0
    if (told := Path("/proc/self/statm")).exists():
        held = int(told.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    for kind, most in (
        (resource.RLIMIT_AS, held + most_memory),
        (resource.RLIMIT_CPU, most_seconds),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
