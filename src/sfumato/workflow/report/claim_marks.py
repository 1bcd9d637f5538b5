"""Mark figures of a published page so that a program of any version can read them.

A mark is a JSON pointer to the place in the manifest, or to the figure of the cells, that an element shows.
`verify` compares it with the manifest and the cells, and the visible text with its value. See
`sfumato.verification.page_check` for the comparison.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from markupsafe import Markup, escape

from sfumato.registry.declarations import Words
from sfumato.results import formatting
from sfumato.results.measure_label import MeasureLabel
from sfumato.verification.page_check import EXPLAINING_NUMERALS
from sfumato.verification.page_statements import pointer
from sfumato.verification.renderings import has_numerals


def mark(place: str, value: Any, text: str) -> Markup:
    """Wrap a text in an element that names its source; texts and objects need no separate value.

    Examples
    --------
    >>> print(mark("/claims/0/value", 8, "8"))
    <span data-claim="/claims/0/value" data-value="8">8</span>
    """
    said = "" if _is_said_by_text(value, text) else f' data-value="{escape(json.dumps(value))}"'
    return Markup('<span data-claim="{}"{}>{}</span>').format(place, Markup(said), text)


def _is_said_by_text(value: Any, text: str) -> bool:
    # infinity is a text in the manifest, but no page prints it as one
    if isinstance(value, str) and value in ("Infinity", "-Infinity"):
        return text == value
    return isinstance(value, (str, Mapping, list))


def marked_text(place: str, value: str | None) -> Markup:
    """Return a text by the publisher with its mark; an empty text has none."""
    return mark(place, value, value) if value else Markup()


class MarkedCount(int):
    """A count with its mark; the template filter ``count`` prints it."""

    place: str

    def __new__(cls, count: int, *place: str | int) -> MarkedCount:
        """Take a count, and the parts of the pointer to it."""
        made = super().__new__(cls, count)
        made.place = pointer(*place)
        return made


class MarkedVerdict(int):
    """Whether a requirement is met, with its mark."""

    place: str

    def __new__(cls, met: bool, *place: str | int) -> MarkedVerdict:
        """Take a verdict, and the parts of the pointer to it."""
        made = super().__new__(cls, met)
        made.place = pointer(*place)
        return made


def counted(value: int) -> str:
    """Print a count with separators, and with its mark if it has one."""
    shown = f"{value:,}"
    return mark(value.place, int(value), shown) if isinstance(value, MarkedCount) else shown


def explained(text: str) -> str:
    """Return an explanation for a page: its numerals are marked as part of an explanation.

    A text with other numerals, which only a plug-in has, is left out: a reader of another version could not
    tell them from a figure.
    """
    if not has_numerals(text):
        return text
    rest = re.sub(r"\d[\d,]*(?:\.\d+)?(?:e-\d+)?", _known_numeral, text)
    return "" if has_numerals(rest) else Markup("<span data-explains>{}</span>").format(text)


def _known_numeral(found: re.Match[str]) -> str:
    return "" if found[0].rstrip(",") in EXPLAINING_NUMERALS else found[0]


def marked_words(label: MeasureLabel, parameters: Any, *here: str | int) -> Words:
    """Return the words of a measurement for a published page, its parameters marked.

    Parameters
    ----------
    label
        The measure with its parameters in one word each.
    parameters
        The parameters as the manifest has them.
    here
        The parts of the pointer to the measurement.
    """
    words = formatting.measure_words(label)
    title = explained(formatting.measure_words(label.measure).title) or label.measure.replace("-", " ")
    if label.parameters:
        title = Markup("{} ({})").format(
            title, mark(pointer(*here, "parameters"), parameters, label.parameters)
        )
    return replace(
        words,
        title=title,
        meaning=explained(words.meaning),
        reading=explained(words.reading),
        range=explained(words.range),
        baseline=explained(words.baseline) or "baseline",
    )
