"""Read the column and value labels of SPSS, Stata and SAS files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from sfumato.reading.base import NO_CODEBOOK, Codebook, Format, find_format
from sfumato.reading.dialect import require_file
from sfumato.registry import methods
from sfumato.runtime.errors import DataError

T = TypeVar("T")


def read_codebook(path: str | Path) -> Codebook:
    """Read the labels of a file of SPSS (.sav, .zsav, .por), Stata (.dta) or SAS (.sas7bdat, .xpt).

    No records are read. Labels of texts and of declared missing values are omitted.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    Codebook
        Pass it to `publish` to write the labels of unchanged values.
    """
    place = Path(path)
    require_file(place)
    known = find_format(place)
    if known is None or known.codebook is None:
        labelled = [known for known in methods.instances(Format) if known.codebook]
        suffixes = ", ".join(suffix for known in labelled for suffix in known.suffixes)
        raise DataError(f"{place.name} has no labels to read; name a file that ends in {suffixes}")
    return known.codebook(place)


def codebook_of(files: Iterable[Path]) -> Codebook:
    """Return the labels that all files share; files of other formats have none."""
    every = list(files)
    formats = [find_format(file) for file in every]
    if not every or not all(known is not None and known.codebook for known in formats):
        return NO_CODEBOOK
    first, *others = map(read_codebook, every)
    return Codebook(
        _shared(first.columns, [book.columns for book in others]),
        _shared(first.values, [book.values for book in others]),
    )


def _shared(first: Mapping[str, T], others: Iterable[Mapping[str, T]]) -> dict[str, T]:
    return {
        name: label for name, label in first.items() if all(labels.get(name) == label for labels in others)
    }
