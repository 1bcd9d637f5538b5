"""Statistics: published files of SPSS and Stata as a reader sees them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from sfumato.runtime.errors import UserError
from sfumato.verification.documents import FormatFacts
from sfumato.verification.folder import Format, opened
from sfumato.verification.written_tables import WrittenTable, differs

PACKAGE = "pyreadstat"
_MOST_GROWTH, _SMALL = 200, 1 << 28
"""How many bytes of memory reading may take for each byte of a file, and how many any file may take."""


def differs_from_statistics(
    folder: Path, name: str, kind: Format, written: WrittenTable, facts: FormatFacts
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

    _require_pyreadstat()
    place = folder / f"{name}.{kind}"
    with opened(folder, place.name):
        pass  # a link, or what lies elsewhere, is refused
    # a few bytes of a file that was made to do harm may end the process that reads it
    most_memory = _MOST_GROWTH * place.stat().st_size + _SMALL
    told = read_in_child(about, place, most_memory)
    if told is not None and told.n_records not in (None, written.n_records):
        return "they have another number of records"
    told = told and read_in_child(contents_of, place, most_memory)
    if told is None:
        return f"{place.name} cannot be read"
    columns = told.columns
    if list(columns) != [facts.renamed.get(each, each) for each in written.names]:
        return "they have other columns"
    if _labels(told) != _expected_labels(written, facts):
        return f"{place.name} has other labels than the manifest names"
    table = _as_text(dict(zip(written.names, columns.values(), strict=True)), written, facts)
    if table is None:
        return f"{place.name} has values of a type that `publish` does not write"
    return differs(table.to_batches(), table.schema, written)


class Held(NamedTuple):
    """The columns of a file (none if only metadata was wanted) and its metadata."""

    columns: Mapping[str, Any]
    labels: Mapping[str, Mapping[float, str]]
    titles: Mapping[str, str | None]
    n_records: int | None


def contents_of(path: Path) -> Held | None:
    """Return the contents of a file; ``None`` if it is damaged."""
    return _contents(path, output_format="dict")


def about(path: Path) -> Held | None:
    """Return the metadata of a file alone."""
    return _contents(path, metadataonly=True)


def _contents(path: Path, **options: Any) -> Held | None:
    import pyreadstat

    read = pyreadstat.read_dta if path.suffix == ".dta" else pyreadstat.read_sav
    try:
        columns, told = read(str(path), **options)
    except Exception:  # whatever it raises may show a value
        return None
    held = dict(columns) if "output_format" in options else {}
    return Held(held, told.variable_value_labels, told.column_names_to_labels, told.number_rows)


def _labels(told: Held) -> tuple[dict[str, str], dict[str, dict[float, str]]]:
    """Return the labels of columns and of values in a file."""
    columns = {name: label for name, label in told.titles.items() if label}
    return columns, {name: dict(own) for name, own in told.labels.items()}


def _expected_labels(
    written: WrittenTable, facts: FormatFacts
) -> tuple[dict[str, str], dict[str, dict[float, str]]]:
    """Return the labels that a file should have, by the columns' names in it."""
    own = {name: facts.renamed.get(name, name) for name in written.names}
    columns = {own[name]: label for name, label in facts.labels.items() if name in own}
    values = {
        own[name]: {float(code): label for label, code in codes.items()}
        for name, codes in facts.codes.items()
        if name in own
    }
    return columns, values


def _as_text(columns: Mapping[str, Any], written: WrittenTable, facts: FormatFacts) -> Any:
    """Return the columns as in the CSV file, with labels in place of codes where it has labels.

    No text is a missing one. ``None`` is returned where a value is neither a number nor a text, as a date is.
    """
    import pyarrow as pa

    def cells(name: str) -> Any:
        codes = facts.codes.get(name, {})
        values = [None if _is_missing(value) else value for value in columns[name]]
        if codes and all(value is None or value in codes for value in written.columns[name].values):
            label_of = {float(code): label for label, code in codes.items()}
            return pa.array(
                [None if value is None else label_of.get(value, "") for value in values], pa.string()
            )
        is_text = any(isinstance(value, str) for value in values)
        return pa.array(values, pa.string() if is_text else pa.float64())

    try:
        return pa.table({name: cells(name) for name in columns})
    except pa.ArrowException:
        return None


def _is_missing(value: Any) -> bool:
    return value is None or value == "" or value != value


def _require_pyreadstat() -> None:
    try:
        import pyreadstat  # noqa: F401
    except ImportError:
        raise UserError(
            "to check a file of SPSS or Stata takes the package pyreadstat: pip install 'sfumato[statistics]'"
        ) from None
