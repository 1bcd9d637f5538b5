"""What a format of files declares: how it is recognized, read and written.

Each format is declared next to its reader, a plug-in's in the plug-in. Everything else asks here: which files
of a folder hold records, what an upload may be called, whether somebody must say how a file is written, and
which files a release can be written to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol

from sfumato.data.table import Records, as_arrow
from sfumato.reading.dialect import StatedDialect, most_unpacked, require_file
from sfumato.registry import methods
from sfumato.runtime.errors import DataError, UserError
from sfumato.runtime.messages import Packed
from sfumato.runtime.processes import read_in_child

if TYPE_CHECKING:
    import pyarrow as pa

LIBRARIES = ("pyarrow", "pandas")
"""The libraries that a child process loads before its memory is limited; Arrow loads pandas on first use."""


class Source(Protocol):
    """Records that can be read at once or in batches."""

    @property
    def label(self) -> str:
        """The name of the source in messages."""

    @property
    def schema(self) -> pa.Schema:
        """The columns and their types."""

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of the source, in their order."""

    @property
    def parquet(self) -> tuple[Path, ...]:
        """The files, if all are Parquet and an engine may read them directly."""

    def read(self) -> pa.Table:
        """Return all records."""

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the records with these columns in batches."""


@dataclass(frozen=True)
class Codebook:
    """The labels of a file of SPSS, Stata or SAS, for a release that keeps them.

    Parameters
    ----------
    columns
        The label of each column that has one.
    values
        For each column with labelled numbers, the label of each.

    Examples
    --------
    >>> book = Codebook({"sex": "Sex of the patient"}, {"sex": {1.0: "male", 2.0: "female"}})
    >>> book.values["sex"][2.0]
    'female'
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[float, str]] = field(default_factory=dict)


NO_CODEBOOK = Codebook()
"""The labels of a file that has none."""


@dataclass(frozen=True)
class Format:
    """A format of files: how it is recognized, read and, where sfumato can, written.

    Parameters
    ----------
    name
        Its name.
    suffixes
        How the names of such files end, in small letters. A file that is written ends in the first of them.
    read
        Returns the records of a file as an Arrow table, a data frame or a mapping of columns. It runs in a
        process of its own with limits on memory and time, so that a damaged or malicious file harms nothing;
        libraries have one thread there.
        A `DataError` that it raises is shown, so it must not repeat a value.
    write
        Writes an Arrow table to a file.
    has_dialect
        Whether it is text without types, whose separator, encoding and quote somebody may state.
    source
        Returns several files of the same columns as one source, for formats that can be read in batches.
        Without it each file is read as a whole.
    codebook
        Returns the labels of columns and values that a file holds.
    reads_safely
        Whether ``read`` copes with every damaged or malicious file by itself, so that no further process is
        needed.

    Examples
    --------
    >>> import json
    >>> def read_lines(path):
    ...     records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    ...     return {name: [record[name] for record in records] for name in records[0]}
    >>> Format("json-lines", (".jsonl", ".ndjson"), read_lines).names
    ('json-lines', '.jsonl', '.ndjson')
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[Path], Records]
    write: Callable[[pa.Table, Path], None] | None = None
    has_dialect: bool = False
    source: Callable[[tuple[Path, ...], StatedDialect], Source] | None = None
    codebook: Callable[[Path], Codebook] | None = None
    reads_safely: bool = False

    homes: ClassVar[tuple[str, ...]] = (
        "sfumato.reading.csv_files",
        "sfumato.reading.parquet_files",
        "sfumato.reading.arrow_files",
        "sfumato.reading.excel",
        "sfumato.reading.statistics_files",
    )

    @property
    def names(self) -> tuple[str, ...]:
        """Its name and its suffixes, none of which another format may have."""
        return (self.name, *self.suffixes)

    @property
    def module(self) -> str:
        """The module that reads it."""
        return self.read.__module__

    def records(self, path: Path) -> pa.Table:
        """Return the records of one file, or refuse it in a line that shows no value."""
        require_file(path)
        if self.reads_safely:
            table = as_arrow(self.read(path))
        else:
            answer = read_in_child(answer_with_records, path, most_unpacked(path), Packed.of(self.read))
            if isinstance(answer, str):
                raise DataError(answer)
            if answer is None:
                raise damaged(path)
            # Arrow must not look beyond the end of what a damaged process sends
            answer.validate(full=True)
            table = answer
        return with_records(path, table)


def answer_with_records(path: Path, read: Callable[[Path], Records]) -> pa.Table | str:
    """Read a file in a child process: return its records, or what to say instead of them."""
    try:
        contents = read(path)
    except DataError as error:
        return str(error)
    except Exception as error:  # whatever it says may show a value
        kind = type(error).__name__
        return f"{path.name} is damaged or not what its suffix says ({kind}); write the file again"
    try:
        return as_arrow(contents).combine_chunks()
    except DataError as error:
        return f"{path.name}: {error}"


def format_of(path: Path) -> Format:
    """Return the format that the name of a file indicates."""
    known = find_format(path)
    if known is None:
        raise DataError(
            f"{path.name} has no suffix that tells its format; use one of {' '.join(every_suffix())}"
        )
    return known


def find_format(path: Path) -> Format | None:
    """Return the format that the name of a file indicates, if it does."""
    suffix = suffix_of(path.name)
    return None if suffix is None else methods.instance_named(Format, suffix)


def suffix_of(name: str) -> str | None:
    """Return the longest ending of a file's name that a format declares; plug-ins are asked last.

    Examples
    --------
    >>> suffix_of("2024.People.CSV.gz"), suffix_of("people.html")
    ('.csv.gz', None)
    """
    lowered = name.lower()
    endings = (lowered[place:] for place, sign in enumerate(lowered) if sign == ".")
    return next((ending for ending in endings if methods.instance_named(Format, ending) is not None), None)


def format_to_write(path: Path) -> Format:
    """Return the format in which records are written to a file of this name."""
    writable = {known.suffixes[0]: known for known in methods.instances(Format) if known.write}
    if path.suffix not in writable:
        *others, last = sorted(writable)
        raise UserError(f"cannot write {path.name}; name it {', '.join(others)} or {last}")
    return writable[path.suffix]


def every_suffix() -> tuple[str, ...]:
    """Return how the names of files end that can be read."""
    return tuple(suffix for known in methods.instances(Format) for suffix in known.suffixes)


def read_arrow(
    path: Path | str,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    quote: str | None = None,
) -> pa.Table:
    r"""Read a file, by the format that its suffix indicates, as an Arrow table.

    The columns of a CSV file hold text without surrounding blanks; an empty field is missing. Its
    first line must be the header. A workbook may have one non-empty sheet, which is likewise read as text.

    Parameters
    ----------
    path
        The file. A CSV file may be compressed (``.csv.gz``).
    separator, encoding, quote
        How a CSV file is written, if :func:`sniff` would not detect it.

    Returns
    -------
    pyarrow.Table
        At least one column and one record; every column has a distinct name.

    Raises
    ------
    DataError
        When the file cannot be used. The message never shows what a field holds.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.csv")
    ...     _ = path.write_text("postcode;age\n01307; 31\n")
    ...     table = read_arrow(path)
    >>> table.column("postcode").to_pylist(), table.column("age").to_pylist()
    (['01307'], ['31'])
    """
    place = Path(path)
    require_file(place)
    known = format_of(place)
    if known.source is None:
        return known.records(place)
    return known.source((place,), StatedDialect(separator, encoding, quote)).read()


# Refusals that formats share


def check_columns(path: Path, schema: pa.Schema) -> None:
    """Refuse columns that have no name, share one, or hold lists and the like."""
    from pyarrow.types import is_nested

    if not schema.names:
        raise DataError(f"{path.name} has no columns; give a file with columns and records")
    check_names(path, schema.names)
    nested = [field.name for field in schema if is_nested(field.type)]
    if nested:
        listed = ", ".join(map(repr, nested))
        raise DataError(f"{path.name} has nested values in column {listed}; flatten them into plain columns")


def with_records(path: Path, table: pa.Table) -> pa.Table:
    """Return the table of a file, or refuse its columns or that it has no records."""
    check_columns(path, table.schema)
    if table.num_rows == 0:
        raise no_records(path)
    return table


def check_names(path: Path, names: Sequence[str]) -> None:
    """Refuse columns that have no name or share one."""
    for position, name in enumerate(names, start=1):
        if not name.strip():
            raise DataError(f"{path.name}: column {position} has no name; name it or remove the column")
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        listed = ", ".join(map(repr, repeated))
        raise DataError(f"{path.name} has more than one column named {listed}; give each column its own name")


def damaged(path: Path) -> DataError:
    """Refuse a file that cannot be read."""
    return DataError(f"{path.name} is damaged or not what its suffix says; write the file again")


def too_large(path: Path) -> DataError:
    """Refuse a file that does not fit into memory."""
    return DataError(
        f"{path.name} does not fit into the memory of this machine; give fewer records or columns"
    )


class NoRecords(DataError):
    """Raised for a file that has only a header."""


def no_records(path: Path) -> NoRecords:
    """Refuse a file that has only a header."""
    return NoRecords(f"{path.name} has a header but no records; give a file with records")
