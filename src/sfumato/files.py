"""Write a file or a folder whole or not at all: beside its place first, then moved there."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

from sfumato.errors import UserError


@contextmanager
def file_beside(target: Path, *, private: bool = False) -> Iterator[Path]:
    """Give a temporary file beside the target, and move it there when all went well.

    Parameters
    ----------
    private
        Whether nobody but the owner may read it afterwards.
    """
    with _refusals(target):
        place = _beside(target)
        place.touch(exist_ok=False)
        try:
            with _closed_to_others(place):
                yield place
            if private:
                place.chmod(stat.S_IRUSR | stat.S_IWUSR)
            _onto_disk(place)
            os.replace(place, target)
            _onto_disk(target.parent)
        finally:
            place.unlink(missing_ok=True)


@contextmanager
def folder_beside(target: Path) -> Iterator[Path]:
    """Give a temporary folder beside the target, and move it there when all went well."""
    with _refusals(target):
        place = _beside(target)
        place.mkdir()
        try:
            with _closed_to_others(place):
                yield place
            for each in (*sorted(place.rglob("*")), place):
                _onto_disk(each)
            os.rename(place, target)
            _onto_disk(target.parent)
        finally:
            shutil.rmtree(place, ignore_errors=True)


def _onto_disk(place: Path) -> None:
    """Wait until a file, or the list of a folder's files, would survive a power cut."""
    is_folder = place.is_dir()
    # not every system can open a folder, nor every disk wait for one
    with suppress(OSError) if is_folder else nullcontext():
        handle = os.open(place, os.O_RDONLY if is_folder else os.O_RDWR)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _beside(target: Path) -> Path:
    return target.parent / f".{target.name}-{secrets.token_hex(4)}"


@contextmanager
def _closed_to_others(place: Path) -> Iterator[None]:
    """Let nobody else read what is not complete; then it gets the mode that the user's files have."""
    mode = stat.S_IMODE(place.stat().st_mode)
    place.chmod(mode & stat.S_IRWXU)
    yield
    place.chmod(mode)


@contextmanager
def _refusals(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or "the system refused"
        raise UserError(f"cannot write {target.name}: {reason}; nothing was left behind") from None
