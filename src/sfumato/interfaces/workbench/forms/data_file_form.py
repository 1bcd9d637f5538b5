"""Define the form that describes a data file: separator, quote, encoding, missing values and dates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sfumato.data.hierarchy import Dates
from sfumato.interfaces.workbench.addresses import slug
from sfumato.interfaces.workbench.forms.csv_dialects import ENCODINGS, SEPARATORS
from sfumato.interfaces.workbench.forms.hierarchy_form import date_examples, written_source
from sfumato.interfaces.workbench.state.project_edits import inline, set_attribute
from sfumato.reading.column_shapes import decimal_mark_without, likely_missing_values, thousands_mark

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

    from sfumato.data.schema import Attribute
    from sfumato.data.table import Table
    from sfumato.interfaces.workbench.state.projects import Look
    from sfumato.reading.role_guess import Guess
    from sfumato.workflow.project.project_file import Data

DECIMALS = {".": "point: 3.75", ",": "comma: 3,75"}
THOUSANDS = {
    "": "none: 1234567",
    ".": "point: 1.234.567",
    ",": "comma: 1,234,567",
    "'": "apostrophe: 1'234'567",
    " ": "blank: 1 234 567",
    "\u00a0": "blank that does not break: 1\u00a0234\u00a0567",
    "\u202f": "narrow blank that does not break: 1\u202f234\u202f567",
}
_DEFAULTS = {"separator": "", "encoding": "", "decimal": ".", "thousands": "", "missing-values": ""}
_MOST_MARKS, _LONGEST_MARK = 100, 100


def stated(data: Data) -> dict[str, str]:
    """Return the value of each field in the project file, as the form writes it."""
    return {
        "separator": data.separator or "",
        "encoding": data.encoding or "",
        "decimal": data.decimal,
        "thousands": data.thousands,
        "missing-values": "\n".join(data.missing_values),
    }


def typed(form: Mapping[str, Any], before: Mapping[str, str]) -> dict[str, str]:
    """Return what was typed into each field; a field missing from the page keeps its value."""
    given = {key: str(form.get(key, value)).replace("\r\n", "\n") for key, value in before.items()}
    marks = [line.strip() for line in given["missing-values"].split("\n")]
    return given | {"missing-values": "\n".join(dict.fromkeys(filter(None, marks)))}


def complaints(given: Mapping[str, str]) -> dict[str, str]:
    """Return what is wrong, by field."""
    marks, errors = given["missing-values"].split("\n"), {}
    if given["decimal"] not in DECIMALS:
        errors["decimal"] = "Choose one of the list."
    if given["thousands"] not in THOUSANDS:
        errors["thousands"] = "Choose one of the list."
    elif given["thousands"] == given["decimal"]:
        errors["thousands"] = "This is the decimal mark already; choose another mark, or none."
    if len(marks) > _MOST_MARKS or any(len(mark) > _LONGEST_MARK for mark in marks):
        errors["missing-values"] = (
            f"Give at most {_MOST_MARKS} marks, none longer than {_LONGEST_MARK} characters."
        )
    return errors


def put_data(document: TOMLDocument, given: Mapping[str, str]) -> None:
    """Write the description of the file into the project file; defaults are removed."""
    section: Any = document["data"]
    for key, usual in _DEFAULTS.items():
        if given[key] == usual:
            section.pop(key, None)
            continue
        value = given[key].split("\n") if key == "missing-values" else given[key]
        if section.get(key) != value:
            section[key] = value


def with_guessed_marks(given: Mapping[str, str], table: Table) -> dict[str, str]:
    """Guess the codes for missing values and the decimal mark that the form leaves at their defaults."""
    guessed = dict(given)
    missing = frozenset(given["missing-values"].split("\n")) - {""}
    if not missing:
        likely = likely_missing_values(table)
        missing, guessed["missing-values"] = frozenset(likely), "\n".join(likely)
    if (given["decimal"], given["thousands"]) == (".", ""):
        guessed["decimal"] = decimal_mark_without(table, missing)
        guessed["thousands"] = thousands_mark(table, guessed["decimal"], missing)
    return guessed


def choices(data: Data) -> dict[str, dict[str, str]]:
    """Return the options of the form's lists, as value and words, including the file's own value."""
    separators = {"": "recognised by itself"} | {sign: name for name, sign in SEPARATORS.items()}
    encodings = {"": "recognised by itself"} | {name: name for name in ENCODINGS}
    return {
        "separator": _with_own(separators, data.separator),
        "encoding": _with_own(encodings, data.encoding),
        "decimal": DECIMALS,
        "thousands": THOUSANDS,
    }


def _with_own(offered: dict[str, str], own: str | None) -> dict[str, str]:
    return offered if own is None or own in offered else offered | {own: own}


# Dates


def date_fields(look: Look) -> dict[str, tuple[str, str, dict[str, str]]]:
    """Return a field for each date column: the column, its format, and formats with examples."""
    guesses = {guess.name: guess for guess in look.records.guesses}
    fields = {}
    for attribute in look.project.schema.attributes:
        guess = guesses.get(attribute.name)
        if guess is None or not attribute.is_released:
            continue
        if isinstance(attribute.hierarchy, Dates):
            format_ = attribute.hierarchy.format
            fields[_field(attribute.name)] = (attribute.name, format_, date_examples(format_))
        elif isinstance(guess.hierarchy, Dates):
            offered = {"": "not generalised as dates"} | date_examples(guess.hierarchy.format)
            fields[_field(attribute.name)] = (attribute.name, "", offered)
    return fields


def put_dates(
    document: TOMLDocument,
    fields: Mapping[str, tuple[str, str, dict[str, str]]],
    given: Mapping[str, str],
    known: Mapping[str, Attribute],
) -> None:
    """Write the chosen formats into the project file; the levels of each column stay."""
    for key, (name, before, offered) in fields.items():
        if given[key] == before or given[key] not in offered:
            continue
        source = known[name].hierarchy
        units = source.units if isinstance(source, Dates) else Dates().units
        set_attribute(document, name, "hierarchy", written_source(Dates(units, given[key])))


def _field(name: str) -> str:
    return f"date-{slug(name)}"


# What changes with the reading


def guess_again(document: TOMLDocument, look: Look | None, guesses: tuple[Guess, ...]) -> None:
    """Adapt the attributes to a file that is now read differently; every given role stays.

    Kind and hierarchy that were only guessed are guessed again. A column that is new is described like the
    one at its place if there are as many columns as before, and as it is guessed otherwise; columns that
    are gone are taken out.
    """
    attributes: Any = document["attributes"]
    before = look.records.guesses if look else ()
    places = dict(zip((g.name for g in guesses), before, strict=True)) if len(before) == len(guesses) else {}
    for guess in guesses:
        if guess.name not in attributes:
            was = places.get(guess.name)
            known = was is not None and was.name in attributes
            attributes[guess.name] = attributes[was.name] if known and was else _described(guess)
        elif look is not None and _was_guessed(look, guess.name):
            set_attribute(document, guess.name, "kind", guess.declared_kind)
            set_attribute(document, guess.name, "hierarchy", written_source(guess.hierarchy))
    for name in {guess.name for guess in before} - {guess.name for guess in guesses}:
        attributes.pop(name, None)


def _was_guessed(look: Look, name: str) -> bool:
    """Return whether an attribute's kind and hierarchy are the guessed ones, so that nobody chose them."""
    attribute, guess = look.attribute(name), look.guess(name)
    if attribute is None or guess is None or attribute.lowest_level:
        return False
    return attribute.hierarchy == guess.hierarchy and attribute.kind in (None, guess.kind)


def _described(guess: Guess) -> dict[str, Any]:
    import tomlkit

    block = tomlkit.table()
    block["role"] = guess.role
    if guess.declared_kind is not None:
        block["kind"] = guess.declared_kind
    source = written_source(guess.hierarchy)
    if source is not None:
        block["hierarchy"] = inline(source)
    return block
