"""Where compiled kernels are kept, and who finds them.

numba keeps compiled code in the first folder that it may write to: next to the sources, else in the user's
own cache. It does not look into a folder that it may not write to. So if an administrator has installed
sfumato, or if it is in a read-only container image, every user would compile every kernel again; without a
home folder, at every command.

Here a kernel that the writable folder lacks is also looked for next to the sources. This is as safe as
importing the sources: whoever may write compiled code there may change the sources, too.

Compiled code is used only while no kernel has changed, judged by content. numba itself checks one file at a
time, although kernels call kernels of other files, and it fails on cached code for a named tuple that has
been renamed. It goes by the version in front of a cache file, so the content is part of that.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    _CacheLocator,
)
from numba.core.registry import cpu_target

_FOLDER = Path(__file__).parent


class _NextToSources(_CacheLocator):
    """The folder next to the sources, even if it is read-only."""

    def __init__(self, function: Callable[..., Any], source: str) -> None:
        self._py_file, self._line = source, function.__code__.co_firstlineno

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _NextToSources:
        return cls(py_func, py_file)

    def ensure_cache_path(self) -> None:
        """Take the folder as it is: what cannot be written lasts as long as the process."""

    def get_cache_path(self) -> str:
        return str(Path(self._py_file).parent / "__pycache__")

    def get_source_stamp(self) -> None:
        """Return nothing: the version tells the contents."""

    def get_disambiguator(self) -> str:
        return str(self._line)


class _Places(CompileResultCacheImpl):
    _locator_classes = [*CompileResultCacheImpl._locator_classes, _NextToSources]  # noqa: RUF012


class KernelCache(FunctionCache):
    """The compiled versions of one kernel: those of the writable folder, then those next to the sources."""

    _impl_class = _Places

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        source = function.__code__.co_filename
        place = _NextToSources(function, source).get_cache_path()
        self._next_to_sources = IndexDataCacheFile(place, self._impl.filename_base, None)
        for file in (self._cache_file, self._next_to_sources):
            file._version, file._source_stamp = f"{file._version} {_digest(source)}", None

    def _load_overload(self, signature: Any, context: Any) -> Any:
        kept = super()._load_overload(signature, context)
        if kept is None and self._enabled:
            kept = self._next_to_sources.load(self._index_key(signature, context.codegen()))
            return None if kept is None else self._impl.rebuild(context, kept)
        return kept

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a compiled version, if that is possible."""
        with suppress(OSError):
            super().save_overload(signature, compiled)

    @property
    def is_filled(self) -> bool:
        """Whether a version for this machine is kept."""
        machine = cpu_target.target_context.codegen().magic_tuple()
        files = (self._cache_file, self._next_to_sources)
        return any(key[1] == machine for file in files for key in file._load_index())


@functools.cache
def _digest(source: str) -> str:
    """Return a hash of all kernels and of the file that defines a kernel."""
    digest = hashlib.sha256()
    for path in sorted({*_FOLDER.glob("*.py"), Path(source)}):
        digest.update(path.read_bytes() if path.is_file() else b"")
    return digest.hexdigest()
