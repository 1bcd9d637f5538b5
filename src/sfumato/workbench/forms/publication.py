"""Publication: the form that says what a reviewer should know: title, purpose, recipients and so on."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple

from sfumato.errors import ProjectError

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

_MOST_LETTERS = 20_000


class PublicationField(NamedTuple):
    """What one field is called, what it asks, and its kind: ``line``, ``lines`` or ``date``."""

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
}
"""The keys of ``[publication]`` and what they ask."""


def typed(form: Mapping[str, Any]) -> dict[str, str]:
    """Return what was typed into each field."""
    written = {key: str(form.get(key, "")).replace("\r\n", "\n").strip() for key in FIELDS}
    return {key: text[:_MOST_LETTERS] for key, text in written.items()}


def plain(given: Mapping[str, str]) -> dict[str, str | date]:
    """Return what was typed as values of the project file; an empty field has none."""
    return {key: _day(text) if key == "review-by" else text for key, text in given.items() if text}


def put_publication(document: TOMLDocument, values: Mapping[str, str | date]) -> None:
    """Write what a reviewer should know into the project file; what is left empty is taken away."""
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
