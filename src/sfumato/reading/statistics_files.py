"""Read SPSS, Stata and SAS files, with labels in place of coded values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sfumato.reading.base import Codebook, Format
from sfumato.reading.dialect import most_unpacked
from sfumato.registry.methods import register
from sfumato.runtime.errors import DataError
from sfumato.runtime.extras import require
from sfumato.runtime.processes import read_in_child

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

LIBRARIES = ("pyreadstat",)

_READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}


def read_statistics(path: Path) -> pa.Table:
    """Read a file of SPSS (.sav, .zsav, .por), Stata (.dta) or SAS (.sas7bdat, .xpt).

    If every value that occurs has a label, the labels become the values: ``female``, not ``2``. If only some
    values have one, as on a scale whose ends are named, the numbers stay. Values that the file declares as
    missing are missing.

    Raises
    ------
    DataError
        When the file cannot be used. The message never shows what a cell holds.
    """
    import pyarrow as pa

    contents = contents_in_child(path)
    try:
        arrays = [_column(values, contents.labels.get(name, {})) for name, values in contents.columns.items()]
        return pa.Table.from_arrays(arrays, list(contents.columns))
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        pass
    # raised out here: what Arrow says may show a value
    raise _unreadable(path)


class Contents(NamedTuple):
    """The columns of a file (none if only metadata was wanted) and its metadata."""

    columns: Mapping[str, Sequence[Any]]
    labels: Mapping[str, Mapping[Any, str]]
    titles: Mapping[str, str | None]
    n_records: int | None


def contents_in_child(path: Path, *, records: bool = True) -> Contents:
    """Return the contents of a file, read in a child process, or only its metadata.

    Raises
    ------
    DataError
        When the file cannot be read; a malicious file may have crashed its reader.
    """
    reader_of(path)
    pyreadstat()
    contents: Contents | None = read_in_child(contents_of if records else about, path, most_unpacked(path))
    if contents is None:
        raise _unreadable(path)
    return contents


def _unreadable(path: Path) -> DataError:
    return DataError(f"{path.name} is not a file of SPSS, Stata or SAS that can be read; save it again there")


def contents_of(path: Path) -> Contents | None:
    """Return the contents of a file, read in this process; ``None`` if it is damaged."""
    return _contents(path, records=True)


def about(path: Path) -> Contents | None:
    """Return the metadata of a file alone."""
    return _contents(path, records=False)


def _contents(path: Path, *, records: bool) -> Contents | None:
    try:
        read = getattr(pyreadstat(), reader_of(path))
        columns, facts = read(str(path), output_format="dict", metadataonly=not records)
        return Contents(
            dict(columns) if records else {},
            facts.variable_value_labels,
            facts.column_names_to_labels,
            facts.number_rows,
        )
    except Exception:  # whatever it raises may show a value
        return None


def reader_of(path: Path) -> str:
    """Return the name of the pyreadstat function that reads a file, by its suffix."""
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise DataError(
            f"{path.name} is no file of SPSS, Stata or SAS; name one that ends in {', '.join(_READERS)}"
        )
    return reader


def pyreadstat() -> Any:
    """Return the package that reads and writes these files, or say how to install it."""
    require("statistics", "files of SPSS, Stata and SAS need")
    import pyreadstat as package

    return package


def _column(values: Sequence[Any], labels: Mapping[Any, str]) -> pa.Array:
    """Return a column, as labels if every value has one."""
    import pyarrow as pa

    present = {value for value in values if not _is_missing(value)}
    if present and present <= labels.keys():
        return pa.array([None if _is_missing(value) else labels[value] for value in values], pa.string())
    return pa.array([None if _is_missing(value) else value for value in values])


def _is_missing(value: Any) -> bool:
    # a number that is none is not even equal to itself
    return value is None or value == "" or value != value


def _codebook(path: Path) -> Codebook:
    """Read the labels of columns and numbers, and no records."""
    contents = contents_in_child(path, records=False)
    named = {name: label for name, label in contents.titles.items() if label}
    numbered = {
        name: {float(code): label for code, label in labels.items() if isinstance(code, (int, float))}
        for name, labels in contents.labels.items()
    }
    return Codebook(named, {name: labels for name, labels in numbered.items() if labels})


STATISTICS = register(
    Format("statistics", tuple(_READERS), read_statistics, codebook=_codebook, reads_safely=True)
)
