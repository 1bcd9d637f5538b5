"""Write a file or a folder whole or not at all: beside its place first, then moved there."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sfumato.errors import UserError


@contextmanager
def file_beside(target: Path) -> Iterator[Path]:
    """Give a temporary file beside the target, and move it there when all went well."""
    with _refusals(target):
        handle, name = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
        os.close(handle)
        try:
            yield Path(name)
            Path(name).chmod(0o644)
            os.replace(name, target)
        finally:
            Path(name).unlink(missing_ok=True)


@contextmanager
def folder_beside(target: Path) -> Iterator[Path]:
    """Give a temporary folder beside the target, and move it there when all went well."""
    with _refusals(target):
        place = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        try:
            yield place
            place.chmod(0o755)
            os.rename(place, target)
        finally:
            shutil.rmtree(place, ignore_errors=True)


@contextmanager
def _refusals(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UserError(f"cannot write {target.name}: {error.strerror}; nothing was left behind") from None
