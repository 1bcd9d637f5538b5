"""Define the form that tells reviewers about a publication: title, purpose, recipients and so on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from sfumato.runtime.errors import ProjectError, suggestion
from sfumato.verification.folder import FORMATS, PROFILES

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

    from sfumato.workflow.project.project_file import Publication

_MOST_LETTERS = 20_000

Value = str | date | list[str]


class PublicationField(NamedTuple):
    """The name, the question and the kind of a field: ``line``, ``lines``, ``date`` or a list."""

    title: str
    asks: str
    kind: str


FIELDS = {
    "title": PublicationField("Title", "What the table is called.", "line"),
    "purpose": PublicationField("Purpose", "What the released table is for.", "lines"),
    "recipients": PublicationField("Recipients", "Who will get it.", "lines"),
    "safeguards": PublicationField(
        "Safeguards",
        "What protects it besides the release itself: contracts, access control and so on.",
        "lines",
    ),
    "steward": PublicationField("Data steward", "Who answers for it: name and position.", "line"),
    "review-by": PublicationField("Review date", "When the assessment must be repeated.", "date"),
    "profiles": PublicationField(
        "Reviewers' templates",
        f"Arrange the report by these, too, one page each: any of {', '.join(PROFILES)}.",
        "names",
    ),
    "formats": PublicationField(
        "More formats",
        "Write the data for these statistics programs, too: dta (Stata), sav (SPSS).",
        "formats",
    ),
    "partition-by": PublicationField(
        "Folders by",
        "A released attribute: the Parquet files then lie in one folder for each of its values.",
        "line",
    ),
}
REVIEWED = ("title", "purpose", "recipients", "safeguards", "steward", "review-by")
"""What a reviewer looks for; the others are choices."""
"""The keys of ``[publication]`` and what they ask."""


def stated(publication: Publication) -> dict[str, str]:
    """Return the value of each field in the project file, as a person would type it."""
    values = {key: getattr(publication, key.replace("-", "_")) for key in FIELDS}
    return {
        key: ", ".join(values[key]) if FIELDS[key].kind in _LISTS else str(values[key] or "")
        for key in FIELDS
    }


def typed(form: Mapping[str, Any]) -> dict[str, str]:
    """Return what was typed into each field."""
    written = {key: str(form.get(key, "")).replace("\r\n", "\n").strip() for key in FIELDS}
    return {key: text[:_MOST_LETTERS] for key, text in written.items()}


def plain(given: Mapping[str, str]) -> dict[str, Value]:
    """Return the typed values for the project file; an empty field has none."""
    return {key: _READ.get(FIELDS[key].kind, str)(text) for key, text in given.items() if text}


def put_publication(document: TOMLDocument, values: Mapping[str, Value]) -> None:
    """Write the facts for reviewers into the project file; empty fields are removed."""
    import tomlkit

    if "publication" not in document:
        if not values:
            return
        document["publication"] = tomlkit.table()
    section: Any = document["publication"]
    for key in FIELDS:
        if key in values:
            section[key] = values[key]
        else:
            section.pop(key, None)


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ProjectError("the date of the review is not a date; write it like 2028-01-31") from None


def _names(allowed: Sequence[str], what: str, text: str) -> list[str]:
    names = [name for name in text.replace(",", " ").split() if name]
    for name in names:
        if name not in allowed:
            hint = suggestion(name, allowed) or f"; there are {', '.join(allowed)}"
            raise ProjectError(f"no {what} {name!r}{hint}")
    return names


_LISTS: dict[str, Callable[[str], Value]] = {
    "names": partial(_names, PROFILES, "reviewers' template"),
    "formats": partial(_names, FORMATS, "format"),
}
_READ: dict[str, Callable[[str], Value]] = {"date": _day, **_LISTS}
