"""Read and write files safely: a file is replaced whole or not at all."""

from __future__ import annotations

import csv
import errno
import io
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

from sfumato.runtime.errors import UserError

if TYPE_CHECKING:
    import pyarrow as pa

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


_ROWS_AT_ONCE = 200_000
_ENDLESS = "is a pipe or a device, which need not end; write what it gives to a file and name that"
_OWNER_ONLY = stat.S_IRUSR | stat.S_IWUSR


def why_unreadable(path: Path) -> str:
    """Say why this is no file that can be read, and what to do; nothing if it can be.

    Only a plain file is opened: a pipe could wait for ever, and a device need not end.

    Examples
    --------
    >>> why_unreadable(Path("nowhere.csv"))
    'does not exist; check the path'
    """
    try:
        str(path).encode()
        facts = os.stat(path)
        if stat.S_ISDIR(facts.st_mode):
            return "is a folder; give a file inside it"
        if not stat.S_ISREG(facts.st_mode):
            return _ENDLESS
        # a pipe may have taken its place meanwhile, and would be waited for
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            # files of the system, as /proc/kmsg, call themselves empty and give more and more
            if not facts.st_size and os.read(handle, 1):
                return _ENDLESS
        finally:
            os.close(handle)
    except BlockingIOError:
        return _ENDLESS
    except UnicodeEncodeError:
        return "is not named in UTF-8; rename it"
    except FileNotFoundError:
        return "does not exist; check the path"
    except PermissionError:
        return "may not be read; ask for permission to read it"
    except OSError as error:
        return f"cannot be opened: {error.strerror}; check the path"
    except ValueError:
        return "has a NUL character in its path; check the path"
    return ""


def create_private(place: Path) -> None:
    """Make an empty file that only its owner can read, from its first moment on.

    If something is there already, even a link that leads nowhere, it raises ``FileExistsError``.
    """
    os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _OWNER_ONLY))


@contextmanager
def file_beside(target: Path, *, private: bool = False) -> Iterator[Path]:
    """Give a temporary file beside the target, and move it there when all went well.

    Only the owner can read it until it is complete. Then it gets the mode of the file that it replaces, or
    the one that the user's new files have.

    Parameters
    ----------
    private
        Whether nobody but the owner may read it afterwards, either.
    """
    with files_beside([target], private=private) as (place,):
        yield place


@contextmanager
def files_beside(targets: Sequence[Path], *, private: bool = False) -> Iterator[list[Path]]:
    """Give a temporary file beside each target, and move all of them there when all went well.

    Everything is on the disk before the first one is moved, so that what usually fails, fails before.
    """
    with ExitStack() as stack:
        places = [stack.enter_context(_temporary_file(target)) for target in targets]
        yield places
        for place, target in zip(places, targets, strict=True):
            with _refusals(target):
                if target.is_dir():
                    raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
                _onto_disk(place)
                if not private:
                    place.chmod(_mode_of_a_file(target))
        for place, target in zip(places, targets, strict=True):
            with _refusals(target):
                os.replace(place, target)
                _onto_disk(target.parent)


@contextmanager
def _temporary_file(target: Path) -> Iterator[Path]:
    with _refusals(target):
        _clear_leftovers(target)
        place = _beside(target)
        create_private(place)
        try:
            with _held(place):
                yield place
        finally:
            place.unlink(missing_ok=True)


@contextmanager
def folder_beside(target: Path) -> Iterator[Path]:
    """Give a temporary folder beside the target, and move it there when all went well."""
    with _refusals(target):
        _clear_leftovers(target)
        place = _beside(target)
        place.mkdir()
        mode = stat.S_IMODE(place.stat().st_mode)
        place.chmod(mode & stat.S_IRWXU)
        try:
            with _held(place):
                yield place
            place.chmod(mode)
            for path in (*sorted(place.rglob("*")), place):
                _onto_disk(path)
            os.rename(place, target)
            _onto_disk(target.parent)
        finally:
            shutil.rmtree(place, ignore_errors=True)


@contextmanager
def locked(place: Path) -> Iterator[BinaryIO]:
    """Open a file to read and to append, alone: whoever else opens it so has to wait. It is created."""
    with _refusals(place):
        file = open(place, "a+b")  # noqa: SIM115 - closed below, where other errors are not refusals
    with file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        yield file


def write_rows(file: TextIO, rows: Iterable[Iterable[Any]], *, separator: str = ",") -> None:
    r"""Write rows, each ended by ``\n``, with quotes only where they are needed.

    Parameters
    ----------
    file
        What to write to, opened with ``newline=""``.

    Examples
    --------
    >>> import io
    >>> file = io.StringIO(newline="")
    >>> write_rows(file, [["Ada", "a\rb"]])
    >>> file.getvalue()
    'Ada,"a\rb"\n'
    """
    csv.writer(_Lines(file), delimiter=separator, lineterminator="\r\n").writerows(rows)


def write_records(file: BinaryIO, table: pa.Table, *, header: bool = True) -> None:
    r"""Write a table of texts and whole numbers as CSV in UTF-8, the same bytes as `write_rows` does.

    Parameters
    ----------
    file
        What to write to, opened for bytes.
    header
        Whether the names of the columns come first.

    Examples
    --------
    >>> import io, pyarrow
    >>> file = io.BytesIO()
    >>> write_records(file, pyarrow.table({"name": ["Ada", "a\rb"], "born": [1815, None]}))
    >>> file.getvalue()
    b'name,born\nAda,1815\n"a\rb",\n'
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if header:
        head = io.StringIO(newline="")
        write_rows(head, [table.column_names])
        file.write(head.getvalue().encode())
    nothing = pa.scalar("", pa.large_string())
    ends = [","] * (table.num_columns - 1) + ["\n"]
    are_encoded = all(map(pa.types.is_dictionary, table.schema.types))
    # what is encoded already has its different fields once for all rows, and few of them
    for part in table.to_batches(max_chunksize=None if are_encoded else _ROWS_AT_ONCE):
        columns = [
            _fields(column, end, alone=table.num_columns == 1)
            for column, end in zip(part.columns, ends, strict=True)
        ]
        for first in range(0, part.num_rows, _ROWS_AT_ONCE):
            fields = (different.take(places[first : first + _ROWS_AT_ONCE]) for different, places in columns)
            lines = pc.binary_join_element_wise(*fields, nothing)
            bounds = np.frombuffer(lines.buffers()[1], dtype=np.int64)[lines.offset :]
            file.write(lines.buffers()[2][bounds[0] : bounds[len(lines)]])


def _fields(column: pa.Array, end: str, *, alone: bool) -> tuple[pa.Array, pa.Array]:
    """Return the different fields of a column as they stand in a CSV file, and which of them each row has.

    Each has the sign that ends it.

    A missing value that is alone in its row is quoted: the row would be empty.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    texts = pc.fill_null(encoded.dictionary.cast(pa.large_string()), "")
    quote, sign, nothing = (pa.scalar(character, pa.large_string()) for character in ('"', end, ""))
    quoted = pc.binary_join_element_wise(quote, pc.replace_substring(texts, '"', '""'), quote, nothing)
    needs_quotes = pc.match_substring_regex(texts, '^$|[",\r\n]' if alone else '[",\r\n]')
    fields = pc.binary_join_element_wise(pc.if_else(needs_quotes, quoted, texts), sign, nothing)
    missing = pa.array([('""' if alone else "") + end], pa.large_string())
    return pa.concat_arrays([fields, missing]), pc.fill_null(encoded.indices.cast(pa.int32()), len(fields))


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


def _clear_leftovers(target: Path) -> None:
    """Remove what a run that was killed left half written beside the target; what is held is at work."""
    name = re.compile(rf"\.{re.escape(target.name)}-[0-9a-f]{{8}}")
    with suppress(OSError):
        for place in [path for path in target.parent.iterdir() if name.fullmatch(path.name)]:
            if _is_left(place):
                shutil.rmtree(place) if place.is_dir() else place.unlink()


@contextmanager
def _held(place: Path) -> Iterator[None]:
    """Hold a temporary file or folder while it is written; the system lets go however the process ends."""
    if fcntl is None:
        yield
        return
    handle = os.open(place, os.O_RDONLY)
    try:
        # some network disks know no such locks
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


def _is_left(place: Path) -> bool:
    """Return whether nobody holds a temporary file or folder, where the system can tell."""
    if fcntl is None:
        return False
    # a pipe would be waited for
    handle = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def _mode_of_a_file(target: Path) -> int:
    """Return the mode of the file that is there, or the mode that a new one would get."""
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        # an empty file tells it: the process has one mask for all its threads, which is read by changing it
        probe = _beside(target)
        probe.touch(exist_ok=False)
        try:
            return stat.S_IMODE(probe.stat().st_mode)
        finally:
            probe.unlink()


@contextmanager
def _refusals(target: Path) -> Iterator[None]:
    if "\0" in str(target):
        raise UserError("cannot write a file with a NUL character in its path; name another")
    try:
        yield
    except OSError as error:
        reason = error.strerror or "the system refused"
        raise UserError(f"cannot write {target.name}: {reason}; nothing was left behind") from None


@dataclass(frozen=True)
class _Lines:
    """A file whose rows end in a line feed alone.

    The writer quotes what holds a sign of its line end, and before Python 3.13 no other: with a line feed
    as the line end a carriage return would stay bare, and readers would see another row there.
    """

    file: TextIO

    def write(self, row: str) -> int:
        return self.file.write(row[:-2] + "\n")
