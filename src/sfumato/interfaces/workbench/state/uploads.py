"""Receive an uploaded file in pieces, and store it in the project folder under a clean, unused name."""

from __future__ import annotations

import os
import re
import secrets
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request

from sfumato.interfaces.workbench.state.state import state_of
from sfumato.reading.base import every_suffix, suffix_of
from sfumato.runtime.errors import UserError
from sfumato.runtime.files import create_private

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

_MOST_FIELD_BYTES = 10_000
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)


@dataclass(frozen=True)
class Uploaded:
    """The file that was written, and the other fields of the form."""

    path: Path
    fields: dict[str, str]


async def received(request: Request, folder: Path) -> Uploaded:
    """Write the one file of a multipart form into a folder as it arrives; nothing is kept in memory.

    A file of that name that is there already stays as it is: the new one gets a number. A file that did not
    arrive whole leaves nothing behind.
    """
    import python_multipart
    from python_multipart.exceptions import FormParserError

    arriving = _Arriving()
    boundary = _boundary(request.headers.get("content-type", ""))
    with _temporary(folder) as place:
        with place.open("wb") as file:
            arriving.file = file
            parser = python_multipart.MultipartParser(boundary, arriving.callbacks())
            try:
                async for piece in request.stream():
                    parser.write(piece)
            except FormParserError:
                arriving.is_whole = False
        if not arriving.is_whole:
            raise HTTPException(400, "The form arrived incomplete; send it again.")
        if not arriving.name:
            raise UserError("no file was chosen; choose one and send the form again")
        if arriving.size == 0:
            raise UserError("the file is empty; give one with records")
        name = clean_name(arriving.name)
        if name.lower().endswith(".gz"):
            await run_in_threadpool(_require_unpacked, place, state_of(request).upload_bytes)
        target = _claimed(folder, name)
        os.replace(place, target)
    return Uploaded(target, arriving.fields)


def _require_unpacked(place: Path, most: int) -> None:
    """Refuse a compressed file with more content than a plain one may have; reading reports damage."""
    import gzip
    import zlib

    unpacked = 0
    with gzip.open(place) as stream, suppress(EOFError, zlib.error, gzip.BadGzipFile):
        while piece := stream.read(2**20):
            unpacked += len(piece)
            if unpacked > most:
                message = f"Unpacked, this is larger than the limit of {most / 2**20:,.0f} MiB."
                raise HTTPException(413, message)


@contextmanager
def _temporary(folder: Path) -> Iterator[Path]:
    """Yield a file that only the owner can read and that is removed afterwards unless it was moved."""
    place = folder / f".upload-{secrets.token_hex(8)}"
    try:
        create_private(place)
        yield place
    except OSError as error:
        reason = error.strerror or "the system refused"
        raise UserError(f"cannot write into the folder: {reason}; nothing was left behind") from None
    finally:
        place.unlink(missing_ok=True)


def clean_name(given: str) -> str:
    r"""Return a name without folders, control characters and bad signs; its suffix must be known.

    Examples
    --------
    >>> clean_name("../../etc/pass wd.csv"), clean_name("C:\\temp\\people.parquet")
    ('pass wd.csv', 'people.parquet')
    """
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", given))[-1]
    plain = "".join(sign if sign.isalnum() or sign in " ._-()+," else "_" for sign in last)
    # a command line would take a dash for an option
    plain = plain.strip(" .").lstrip(" .-")
    suffix = suffix_of(plain)
    if suffix is None:
        raise UserError(f"this kind of file cannot be used; give one of {' '.join(every_suffix())}")
    ending = plain[-len(suffix) :]
    stem = plain[: -len(suffix)].strip(" .").encode()[:120].decode("utf-8", "ignore")
    return ("data" if not stem or _DEVICES.fullmatch(stem.partition(".")[0]) else stem) + ending


def free_place(folder: Path, name: str) -> Path:
    """Return a path with this name in the folder, with a number if the name is taken."""
    stem, dot, ending = name.partition(".") if not name.startswith(".") else (name, "", "")
    for number in range(1, 10_000):
        place = folder / (name if number == 1 else f"{stem}-{number}{dot}{ending}")
        if not place.exists() and not place.is_symlink():
            return place
    raise UserError("there are too many files with this name; move some away")


def _claimed(folder: Path, name: str) -> Path:
    """Reserve a free path so that no other upload takes it."""
    while True:
        place = free_place(folder, name)
        try:
            create_private(place)
        except FileExistsError:
            continue
        return place


def _boundary(content_type: str) -> bytes:
    from python_multipart.multipart import parse_options_header

    kind, options = parse_options_header(content_type)
    if kind != b"multipart/form-data" or b"boundary" not in options:
        raise HTTPException(400, "A file is sent with the form on the first page; choose one there.")
    return options[b"boundary"]


@dataclass
class _Arriving:
    """What the parser has reported so far."""

    file: BinaryIO | None = None
    name: str = ""
    size: int = 0
    is_whole: bool = False
    fields: dict[str, str] = field(default_factory=dict)
    _header: bytearray = field(default_factory=bytearray)
    _value: bytearray = field(default_factory=bytearray)
    _disposition: bytes = b""
    _field: str = ""
    _is_file: bool = False

    def callbacks(self) -> MultipartCallbacks:
        return {
            "on_part_begin": self._begin,
            "on_header_begin": self._header_begin,
            "on_header_field": self._header_field,
            "on_header_value": self._header_value,
            "on_header_end": self._header_end,
            "on_headers_finished": self._headers_finished,
            "on_part_data": self._part_data,
            "on_part_end": self._part_end,
            "on_end": self._end,
        }

    def _begin(self) -> None:
        self._disposition, self._field, self._is_file = b"", "", False
        self._value.clear()

    def _header_begin(self) -> None:
        self._header.clear()
        self._value.clear()

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_end(self) -> None:
        if self._header.lower() == b"content-disposition":
            self._disposition = bytes(self._value)

    def _headers_finished(self) -> None:
        from python_multipart.multipart import parse_options_header

        _, options = parse_options_header(self._disposition)
        self._value.clear()
        self._field = options.get(b"name", b"").decode("utf-8", "replace")
        self._is_file = b"filename" in options
        if self._is_file and options[b"filename"]:
            if self.name:
                raise UserError("one file at a time; send the others afterwards")
            self.name = options[b"filename"].decode("utf-8", "replace")
            # a file that cannot be used is refused before it is written
            clean_name(self.name)

    def _part_data(self, data: bytes, start: int, end: int) -> None:
        if self._is_file and self.file is not None:
            self.size += self.file.write(data[start:end])
        elif len(self._value) + end - start <= _MOST_FIELD_BYTES:
            self._value += data[start:end]

    def _end(self) -> None:
        self.is_whole = True

    def _part_end(self) -> None:
        if not self._is_file and self._field:
            self.fields[self._field] = self._value.decode("utf-8", "replace")
