"""Compile kernels on their first call, and import numba no earlier than that.

Most commands only read what is stored and call no kernel, and importing numba takes longer than they do.
Compiled code is kept on disk: `kernel_cache` says where.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, TypeVar

# Options of a kernel that makes no array: it need not count references to the arrays that it is given, and
# counting takes longer than a small kernel itself.
UNCOUNTED: dict[str, Any] = {"_nrt": False}
# Options of such a kernel that is called in an inner loop: it is inlined, because passing arrays would take
# longer than its work.
INLINED: dict[str, Any] = {**UNCOUNTED, "forceinline": True}

_Function = TypeVar("_Function", bound=Callable[..., Any])

_pending: list[_Kernel] = []
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
            _compile_pending()
        assert self.compiled is not None
        return self.compiled(*arguments)


def njit(**options: Any) -> Callable[[_Function], _Function]:
    """Decorate a kernel as `numba.njit` does, but import numba only when some kernel is called."""

    def decorate(function: _Function) -> _Function:
        kernel = _Kernel(function, options)
        with _lock:
            _pending.append(kernel)
        return kernel  # type: ignore[return-value]

    return decorate


def notify_when_compiling(listener: Callable[[bool], None]) -> None:
    """Call a listener whenever compilation begins (True) and ends (False) in this process.

    Kernels that are read from the cache on disk are not compiled, so they cause no call.
    """
    _listeners.append(listener)


@functools.cache
def _listen_to_numba() -> None:
    """Forward numba's compilation events; kernels called by others are compiled within these."""
    from numba.core import event

    depth = 0

    class CompilationListener(event.Listener):
        def on_start(self, _: object) -> None:
            nonlocal depth
            depth += 1
            if depth == 1:
                self.report(True)

        def on_end(self, _: object) -> None:
            nonlocal depth
            depth -= 1
            if depth == 0:
                self.report(False)

        def report(self, begins: bool) -> None:
            for listener in _listeners:
                listener(begins)

    event.register("numba:compile", CompilationListener())


def _compile_pending() -> None:
    """Pass all pending kernels to numba, and let them call each other's compiled versions."""
    with _lock:
        if _listeners:
            _listen_to_numba()
        compiled_kernels = {kernel: _compiled(kernel) for kernel in _pending}
        for kernel in _pending:
            namespace = kernel.function.__globals__
            kernels = {name: value for name, value in namespace.items() if isinstance(value, _Kernel)}
            namespace.update(
                {name: compiled_kernels.get(value, value.compiled) for name, value in kernels.items()}
            )
        # only now: another thread that finds one of them earlier would compile it before it sees the others
        for kernel in _pending:
            kernel.compiled = compiled_kernels[kernel]
        _pending.clear()


def _compiled(kernel: _Kernel) -> Callable[..., Any]:
    from numba import njit as numba_njit

    from sfumato.kernels.kernel_cache import KernelCache

    compiled = numba_njit(**{**kernel.options, "cache": False})(kernel.function)
    if kernel.options.get("cache"):
        compiled._cache = KernelCache(kernel.function)
    return compiled
