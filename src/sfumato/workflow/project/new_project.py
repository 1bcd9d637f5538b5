"""Write a new project file with guessed roles and the default plan."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato.data.hierarchy import Dates, Intervals, Nested, Prefixes
from sfumato.data.public_part import people_below
from sfumato.data.schema import Attribute, Schema
from sfumato.data.table import Table, text
from sfumato.reading.databases import is_address
from sfumato.reading.role_guess import Guess, decimal_mark, guess, likely_missing_values, thousands_mark
from sfumato.reading.sources import source_at
from sfumato.results.recipients import RECIPIENTS
from sfumato.runtime.errors import UserError
from sfumato.runtime.files import file_beside
from sfumato.workflow.project.default_axes_and_measures import default_measures

_HEADER = """\
# A sfumato project: what to read, what to try, what to measure, and what must hold.
#
# The roles are guesses from names and values. Confirm the roles, then run: sfumato explore FILE
#   identifying        points at one person by itself and is never released
#   withheld           not needed by anybody, so not released either
#   quasi-identifying  others may know it, and together with the rest it may point at one person
#   sensitive          what nobody should learn about one person
#   insensitive        none of these; it is released as it is
"""
_NO_SENSITIVE = """\
# No sensitive attribute was found. Measures of attribute disclosure (privacy-loss, knowledge-gain,
# accuracy-gain) and models such as t-closeness need one: give it role = "sensitive".
"""
_NO_QUASI_IDENTIFIER = """\
# No quasi-identifying attribute was found, so there is nothing to generalize: give one that role.
"""
_PLAN = """\
# What suits the roles above is tried, and planned again whenever they change; `sfumato explore --dry-run`
# shows it. Add [[candidates]] blocks of your own; lists in them are swept, every combination is a candidate:
#   [[candidates]]
#   sanitizer = "mondrian"
#   model = { k-anonymity = { k = [5, 10, 20] }, t-closeness = { t = [0.1, 0.2] } }
[[candidates]]
search = "suited"
# every-type = true                   # noise, averages and synthetic records as well, all judged by attacks
# borders = "tight"                   # narrower intervals, whose ends are the exact values of people

[explore]
budget = "2m"                         # or "none": all that is tried, and nothing else
"""
_ROLE_NOTES = {
    "person": "records with the same value are one person's: people are counted, not records",
    "weight": "a guess: for how many people each record stands",
    "household": "a guess: who lives together",
}
_PUBLIC = """\
# What everyone may know without the records. Methods with differential privacy (mst, aim, laplace) rely on
# it. It was read from the records, so it is your assumption: correct it by what is known in public, here and
# under public = ... of each attribute.
[dp]
people-at-most = {}                # never fewer than the people in the table
"""
_MEASURES = """\
# [measure]                           # what is measured; the first of each side is an axis of the frontier
# privacy = {}
# utility = {}
"""
_POLICY = """\
# Who gets the release decides what it must keep before anything may be published:
{recipients}
#   none               no limits, on purpose
[policy]
{chosen}
# t-closeness = {{ at-most = 0.2 }}     # limits of your own, on any measure
"""


def start_project(
    data: Path | str, target: Path, dialect: Mapping[str, str] | None = None, recipient: str | None = None
) -> tuple[Table, tuple[Guess, ...]]:
    """Guess the roles of a source's columns and write a project file; return the table and the guesses.

    Parameters
    ----------
    data
        The file with the records, a folder, a pattern, a SQLite or DuckDB file, or the address of a
        PostgreSQL database.
    target
        The project file; one that is there already is left alone.
    dialect
        ``separator``, ``encoding`` and ``quote`` where they should not be sniffed; of a database the
        ``table`` or the ``query``.
    recipient
        Who gets the release; see `project_text`.
    """
    if os.path.exists(target):
        raise UserError(f"{target.name} exists already; edit it, or name another")
    records = source_at(data, **(dialect or {})).read()
    table = Table.from_arrow(records)
    missing = likely_missing_values(table)
    if missing:
        table = Table.from_arrow(records, missing_values=missing)
    guesses = guess(table)
    decimal = decimal_mark(table)
    place = str(data)
    if not is_address(place):
        # paths in a project file are relative to its own folder
        place = Path(os.path.relpath(place, target.parent)).as_posix()
    written = project_text(
        place,
        guesses,
        missing_values=missing,
        decimal=decimal,
        thousands=thousands_mark(table, decimal, frozenset()),
        dialect=dialect,
        recipient=recipient,
        people_at_most=people_below(
            next((each.n_distinct for each in guesses if each.tells == "person"), table.n_records)
        ),
    )
    with file_beside(target) as file:
        file.write_text(written, encoding="utf-8")
    return table, guesses


def project_text(
    data_path: str,
    guesses: Iterable[Guess],
    *,
    missing_values: Iterable[str] = (),
    decimal: str = ".",
    thousands: str = "",
    dialect: Mapping[str, str] | None = None,
    recipient: str | None = None,
    people_at_most: int | None = None,
) -> str:
    """Return the text of a commented project file with the guesses and the default plan.

    Parameters
    ----------
    data_path
        The file with the records, as the project file should name it.
    guesses
        One for each column.
    missing_values, decimal, thousands
        How the file spells missing values, and the marks in its numbers.
    dialect
        ``separator``, ``encoding`` and ``quote`` where they should not be sniffed.
    recipient
        Who gets the release. Without it the file says that the public is assumed.
    people_at_most
        A public upper bound of the number of people, if one is proposed.

    Examples
    --------
    >>> from sfumato import Table
    >>> from sfumato.reading.role_guess import guess
    >>> table = Table.from_arrow({"age": ["31", "42", "57"], "diagnosis": ["E11.9", "I10", "E11.9"]})
    >>> written = project_text("patients.csv", guess(table))
    >>> 'role = "sensitive"' in written
    True
    """
    guesses = tuple(guesses)
    roles = {column.role for column in guesses}
    notes = {"quasi-identifying": _NO_QUASI_IDENTIFIER, "sensitive": _NO_SENSITIVE}
    return "\n".join(
        [
            _HEADER,
            _data_section(data_path, tuple(missing_values), (decimal, thousands), dialect or {}, guesses),
            *map(_attribute_section, guesses),
            *(note for role, note in notes.items() if role not in roles),
            *([] if people_at_most is None else [_PUBLIC.format(people_at_most)]),
            _PLAN,
            _measure_section(guesses),
            _policy_section(recipient),
        ]
    )


def _data_section(
    path: str,
    missing_values: Sequence[str],
    marks: tuple[str, str],
    dialect: Mapping[str, str],
    guesses: Sequence[Guess],
) -> str:
    lines = ["[data]", f"path = {_toml(path)}"]
    lines += [f"{key} = {_toml(value)}" for key, value in dialect.items()]
    lines.append('missing = "category"                 # or "drop"')
    if missing_values:
        lines += ["# read as missing in every column:", f"missing-values = {_toml(missing_values)}"]
    for key, mark, usual in zip(("decimal", "thousands"), marks, (".", ""), strict=True):
        if mark != usual:
            lines.append(f"{key} = {_toml(mark)}")
    names = {column.tells: column.name for column in guesses if column.tells}
    lines += [
        f"{key} = {_toml(names[key])}".ljust(36) + f" # {_ROLE_NOTES[key]}"
        for key in _ROLE_NOTES
        if key in names
    ]
    return "\n".join(lines) + "\n"


def _attribute_section(column: Guess) -> str:
    reason = "".join(sign if sign.isprintable() else " " for sign in column.reason)
    lines = [f"# {reason}", f"[attributes.{_key(column.name)}]", f"role = {_toml(column.role)}"]
    if column.declared_kind is not None:
        lines.append(f"kind = {_toml(column.declared_kind)}")
    match column.hierarchy:
        case Intervals(widths):
            lines.append(f"hierarchy = {{ intervals = {_toml(widths)} }}")
        case Prefixes(lengths):
            lines.append(f"hierarchy = {{ prefixes = {_toml(lengths)} }}")
        case Dates(units, format_):
            lines.append(f"hierarchy = {{ dates = {_toml(units)}, format = {_toml(format_)} }}")
        case Nested(groups):
            lines.append(f"hierarchy = {{ tree = {_toml(groups)} }}")
    if column.public.bounds is not None:
        whole, bounds = str(column.public.whole).lower(), _toml(column.public.bounds)
        lines.append(f"public = {{ whole = {whole}, bounds = {bounds} }}  # an assumption: see [dp]")
    return "\n".join(lines) + "\n"


def _measure_section(guesses: Sequence[Guess]) -> str:
    names = {each.tells: each.name for each in guesses}
    attributes = tuple(Attribute(each.name, each.role, each.kind) for each in guesses)
    schema = Schema(
        attributes,
        person=names.get("person"),
        survey_weight=names.get("weight"),
        household=names.get("household"),
    )
    return _MEASURES.format(*map(_toml, default_measures(schema)))


def _policy_section(recipient: str | None) -> str:
    width = max(map(len, RECIPIENTS))
    lines = [f"#   {each.name:<{width}}  {each.title}: {each.meaning}" for each in RECIPIENTS.values()]
    chosen = '# recipient = "public"                # assumed until you say who gets it'
    if recipient is not None:
        chosen = f"recipient = {_toml(recipient)}"
    return _POLICY.format(recipients="\n".join(lines), chosen=chosen)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml(name)


def _toml(value: str | float | Mapping[str, Any] | Sequence[Any]) -> str:
    """Write texts, numbers, lists and tables in TOML, whose escapes equal JSON's except for one."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, (int, float)):
        return text(value) or ""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_toml(item)}" for key, item in value.items()) + " }"
    return "[" + ", ".join(_toml(item) for item in value) + "]"
