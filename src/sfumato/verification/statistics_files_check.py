"""Compare published files of SPSS and Stata with their CSV twins."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from sfumato.runtime.extras import require
from sfumato.verification.documents import FormatFacts
from sfumato.verification.folder import StatisticsFormat, open_file
from sfumato.verification.written_tables import WrittenTable, differs

LIBRARIES = ("pyreadstat",)
# How many bytes of memory reading may take for each byte of a file, and how many any file may take.
_MAX_GROWTH, _SMALL_FILE = 200, 1 << 28


def differs_from_statistics(
    folder: Path, name: str, kind: StatisticsFormat, written: WrittenTable, facts: FormatFacts
) -> str:
    """Return how an SPSS or Stata file differs from its CSV twin or its description; empty if it does not.

    Parameters
    ----------
    folder
        The published folder.
    name, kind
        The table, and the format of its file.
    written
        What the CSV file has.
    facts
        What the manifest says of names, labels and codes.
    """
    from sfumato.runtime.processes import read_in_child

    require("statistics", "to check a file of SPSS or Stata takes")
    place = folder / f"{name}.{kind}"
    with open_file(folder, place.name):
        pass  # a link, or a file elsewhere, is refused
    # a few bytes of a file that was made to do harm may end the process that reads it
    max_memory = _MAX_GROWTH * place.stat().st_size + _SMALL_FILE
    contents = read_in_child(read_metadata, place, max_memory)
    if contents is not None and contents.n_records not in (None, written.n_records):
        return "they have another number of records"
    contents = contents and read_in_child(read_contents, place, max_memory)
    if contents is None:
        return f"{place.name} cannot be read"
    columns = contents.columns
    names_in_file = {name: facts.renamed.get(name, name) for name in written.names}
    if list(columns) != list(names_in_file.values()):
        return "they have other columns"
    titles = {names_in_file[name]: label for name, label in facts.labels.items() if name in names_in_file}
    labels = {
        names_in_file[name]: {float(code): label for label, code in codes.items()}
        for name, codes in facts.codes.items()
        if name in names_in_file
    }
    if contents.titles != titles or contents.labels != labels:
        return f"{place.name} has other labels than the manifest names"
    table = _as_text(dict(zip(written.names, columns.values(), strict=True)), written, facts)
    if table is None:
        return f"{place.name} has values of a type that `publish` does not write"
    return differs(table.to_batches(), table.schema, written)


class FileContents(NamedTuple):
    """The columns of a file (none if only metadata was wanted), and its metadata.

    ``labels`` are those of values by their codes, and ``titles`` those of columns.
    """

    columns: Mapping[str, Any]
    labels: Mapping[str, Mapping[float, str]]
    titles: Mapping[str, str]
    n_records: int | None


def read_contents(path: Path) -> FileContents | None:
    """Read a file; ``None`` if it is damaged."""
    return _read(path, output_format="dict")


def read_metadata(path: Path) -> FileContents | None:
    """Read the metadata of a file alone; ``None`` if it is damaged."""
    return _read(path, metadataonly=True)


def _read(path: Path, **options: Any) -> FileContents | None:
    import pyreadstat

    read = pyreadstat.read_dta if path.suffix == ".dta" else pyreadstat.read_sav
    try:
        columns, metadata = read(str(path), **options)
    except Exception:  # whatever it raises may show a value
        return None
    labels = {name: dict(codes) for name, codes in metadata.variable_value_labels.items()}
    titles = {name: title for name, title in metadata.column_names_to_labels.items() if title}
    cells = dict(columns) if "output_format" in options else {}
    return FileContents(cells, labels, titles, metadata.number_rows)


def _as_text(columns: Mapping[str, Any], written: WrittenTable, facts: FormatFacts) -> Any:
    """Return the columns as in the CSV file, with labels in place of codes if it has labels.

    An empty text is a missing one. ``None`` is returned if a value is neither a number nor a text, such as a
    date.
    """
    import pyarrow as pa

    arrays = {}
    try:
        for name, cells in columns.items():
            codes = facts.codes.get(name, {})
            values = [None if cell is None or cell == "" or cell != cell else cell for cell in cells]
            if codes and all(value is None or value in codes for value in written.columns[name].values):
                label_of = {float(code): label for label, code in codes.items()}
                labels = [None if value is None else label_of.get(value, "") for value in values]
                arrays[name] = pa.array(labels, pa.string())
            else:
                is_text = any(isinstance(value, str) for value in values)
                arrays[name] = pa.array(values, pa.string() if is_text else pa.float64())
        return pa.table(arrays)
    except pa.ArrowException:
        return None
