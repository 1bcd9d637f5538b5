"""Read the files of a publication, and nothing outside its folder."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Literal, get_args

from sfumato.runtime.errors import VerificationFailed

MANIFEST, REPORT, DATAPACKAGE, README = "manifest.json", "report.html", "datapackage.json", "README.md"
SIGNATURE, CERTIFICATE = "signature.json", "certificate.json"
Profile = Literal["ema", "hipaa", "iso-27559", "nist", "wp216"]
PROFILES: tuple[Profile, ...] = get_args(Profile)
"""The reviewers' templates that a report can be arranged by, in the order in which they are named."""
StatisticsFormat = Literal["dta", "sav"]
FORMATS: tuple[StatisticsFormat, ...] = get_args(StatisticsFormat)
"""The formats of statistics programs that the data can be written in as well: Stata's and SPSS's."""
PROGRAMS: dict[StatisticsFormat, str] = {"dta": "Stata", "sav": "SPSS"}
"""The program that each of them is for."""
UNLISTED = (MANIFEST, SIGNATURE, CERTIFICATE)
"""The files that the manifest cannot list: itself, and those that are written about it afterwards."""


def page_of(profile: str) -> str:
    """Return the file with the report in the form of a reviewer's template.

    Examples
    --------
    >>> page_of("ema")
    'report-ema.html'
    """
    return f"report-{profile}.html"


def file_names(folder: Path) -> list[str]:
    """Return the names of everything in a folder, including hidden files.

    A file within a subfolder is named with it, such as ``data/part-0.parquet``; an empty subfolder by itself.
    """
    names, pending = [], [""]
    try:
        while pending:
            subfolder = pending.pop()
            entries = list(os.scandir(folder / subfolder))
            names += [subfolder] if subfolder and not entries else []
            for entry in entries:
                name = f"{subfolder}/{entry.name}" if subfolder else entry.name
                (pending if entry.is_dir(follow_symlinks=False) else names).append(name)
    except OSError as error:
        raise VerificationFailed(f"cannot read {folder.name}: {error.strerror}") from None
    return sorted(names)


@contextmanager
def open_file(folder: Path, name: str) -> Iterator[BufferedReader]:
    """Open a plain file of the folder, and refuse links and anything that is not a plain file."""
    *folders, _ = parts = name.split("/")
    if any(
        part in ("", ".", "..") or Path(part).name != part or "\0" in part or "\\" in part for part in parts
    ):
        raise VerificationFailed("a file is named that could not lie in the folder")
    for depth in range(len(folders)):
        if os.path.islink(folder.joinpath(*folders[: depth + 1])):
            raise VerificationFailed(f"{name} lies behind a link")
    flags = (
        os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    )
    try:
        descriptor = os.open(folder / name, flags)
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError)
        problem = "is missing" if is_missing else f"cannot be read: {error.strerror}"
        raise VerificationFailed(f"{name} {problem}") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise VerificationFailed(f"{name} is no plain file")
    with open(descriptor, "rb") as file:
        yield file


def read_bytes(folder: Path, name: str, at_most: int) -> bytes:
    """Read a file of at most this many bytes."""
    with open_file(folder, name) as file:
        size = os.fstat(file.fileno()).st_size
        if size > at_most:
            raise VerificationFailed(f"{name} is larger than any that `publish` writes")
        return file.read(size)  # takes as much memory as the file is long, not as much as is allowed


def fingerprint(folder: Path, name: str) -> tuple[str, int]:
    """Return the SHA-256 and the length of a file."""
    with open_file(folder, name) as file:
        return hashlib.file_digest(file, "sha256").hexdigest(), os.fstat(file.fileno()).st_size
