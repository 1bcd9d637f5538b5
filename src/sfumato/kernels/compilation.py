"""Compiling: kernels that wait for their first call before numba is even imported.

Most commands look at what is stored and call no kernel; numba alone takes longer to import than they take.

What numba compiled is kept beside the sources. It is used again only if no kernel has changed since: numba
itself looks at one file at a time, though kernels call those of other files, and it stumbles over what was
kept for a named tuple that has another name today.
"""

from __future__ import annotations

import functools
import hashlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

# Options of a kernel that makes no array: it needs to count no references to those that it is given, which
# takes longer than a small kernel itself.
UNCOUNTED: dict[str, Any] = {"_nrt": False}
# Options of such a kernel that is called in an inner loop: it becomes part of those that call it, where
# handing arrays over would take longer than its work.
INLINED: dict[str, Any] = {**UNCOUNTED, "forceinline": True}

_Function = TypeVar("_Function", bound=Callable[..., Any])

_ROOM = Path(__file__).parent

_waiting: list[_Kernel] = []
_listeners: list[Callable[[bool], None]] = []
_lock = threading.RLock()


class _Kernel:
    """A function that is compiled when it is first called."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.function, self.options = function, options
        self.compiled: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        if self.compiled is None:
            _prepare()
        assert self.compiled is not None
        return self.compiled(*arguments)


def njit(**options: Any) -> Callable[[_Function], _Function]:
    """Decorate a kernel as `numba.njit` does, but import numba only when some kernel is called."""

    def decorate(function: _Function) -> _Function:
        kernel = _Kernel(function, options)
        with _lock:
            _waiting.append(kernel)
        return kernel  # type: ignore[return-value]

    return decorate


def tell_of_compiling(listener: Callable[[bool], None]) -> None:
    """Tell from now on when kernels begin (True) and cease (False) to be compiled, in this process.

    What was kept on disk is read and not compiled.
    """
    _listeners.append(listener)


@functools.cache
def _hear_numba() -> None:
    """Tell of what numba compiles; kernels that others call are compiled within these. Once is enough."""
    from numba.core import event

    depth = 0

    class Ears(event.Listener):
        def on_start(self, _: object) -> None:
            nonlocal depth
            depth += 1
            if depth == 1:
                self.tell(True)

        def on_end(self, _: object) -> None:
            nonlocal depth
            depth -= 1
            if depth == 0:
                self.tell(False)

        def tell(self, begins: bool) -> None:
            for listener in _listeners:
                listener(begins)

    event.register("numba:compile", Ears())  # type: ignore[no-untyped-call]


def _prepare() -> None:
    """Hand all kernels over to numba, and let them see each other as numba's own."""
    with _lock:
        if _listeners:
            _hear_numba()
        made = {kernel: _handed_over(kernel) for kernel in _waiting}
        for kernel, compiled in made.items():
            _stamp(compiled, kernel.function.__code__.co_filename)
        for kernel in _waiting:
            seen = kernel.function.__globals__
            found = {name: each for name, each in seen.items() if isinstance(each, _Kernel)}
            seen.update({name: made.get(each, each.compiled) for name, each in found.items()})
        # only now: another thread that found one of them would compile it before it sees the others
        for kernel in _waiting:
            kernel.compiled = made[kernel]
        _waiting.clear()


def _stamp(compiled: Any, source: str) -> None:
    """Let what was kept on disk name the sources that it was compiled from, where numba names its version.

    What was kept by another version is not even read.
    """
    on_disk = getattr(compiled._cache, "_cache_file", None)
    if on_disk is not None:
        on_disk._version = f"{on_disk._version} {_digest(source)}"


@functools.cache
def _digest(source: str) -> str:
    """Return a hash of all kernels and of the file that a kernel stands in."""
    digest = hashlib.sha256()
    for place in sorted({*_ROOM.glob("*.py"), Path(source)}):
        digest.update(place.read_bytes() if place.is_file() else b"")
    return digest.hexdigest()


def _handed_over(kernel: _Kernel) -> Callable[..., Any]:
    from numba import njit as numba_njit

    try:
        return numba_njit(**kernel.options)(kernel.function)
    except RuntimeError:
        # numba finds no folder that it may write to: what is compiled then lasts as long as the process
        return numba_njit(**{**kernel.options, "cache": False})(kernel.function)
