"""Statistics: published files of SPSS and Stata as a stranger reads them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.errors import UserError
from sfumato.verifying.documents import FormatFacts
from sfumato.verifying.folder import Format, opened
from sfumato.verifying.tables import WrittenTable, differs

_READERS: dict[Format, str] = {"dta": "read_dta", "sav": "read_sav"}


def differs_from_statistics(
    folder: Path, name: str, kind: Format, written: WrittenTable, facts: FormatFacts
) -> str:
    """Say how a file of SPSS or Stata differs from its CSV twin, or from what is said of it; or nothing.

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
    package = _pyreadstat()
    place = folder / f"{name}.{kind}"
    with opened(folder, place.name):
        read = getattr(package, _READERS[kind])
    try:
        _, told = read(str(place), metadataonly=True)
        if told.number_rows is not None and told.number_rows != written.n_records:
            return "they have another number of records"
        columns, told = read(str(place), output_format="dict")
    except Exception:  # whatever it raises may show a value
        return f"{place.name} cannot be read"
    if list(columns) != [facts.renamed.get(each, each) for each in written.names]:
        return "they have other columns"
    if _labels(told) != _expected_labels(written, facts):
        return f"{place.name} has other labels than the manifest names"
    table = _as_text(dict(zip(written.names, columns.values(), strict=True)), written, facts)
    if table is None:
        return f"{place.name} has values of a type that `publish` does not write"
    return differs(table.to_batches(), table.schema, written)


def _labels(told: Any) -> tuple[dict[str, str], dict[str, dict[float, str]]]:
    """Return the labels of columns and of values that a file has."""
    columns = {name: label for name, label in told.column_names_to_labels.items() if label}
    return columns, {name: dict(own) for name, own in told.variable_value_labels.items()}


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
    """Return the columns as the CSV file tells them: codes by their labels where it has these.

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


def _pyreadstat() -> Any:
    try:
        import pyreadstat
    except ImportError:
        raise UserError(
            "to check a file of SPSS or Stata takes the package pyreadstat: pip install 'sfumato[statistics]'"
        ) from None
    return pyreadstat
