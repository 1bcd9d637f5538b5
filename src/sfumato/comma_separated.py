"""Comma-separated rows that every reader takes apart where they were put together."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TextIO


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


@dataclass(frozen=True)
class _Lines:
    """A file whose rows end in a line feed alone.

    The writer quotes what holds a sign of its line end, and before Python 3.13 no other: with a line feed
    as the line end a carriage return would stay bare, and readers would see another row there.
    """

    file: TextIO

    def write(self, row: str) -> int:
        return self.file.write(row[:-2] + "\n")
