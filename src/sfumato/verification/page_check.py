"""Compare a report page with the manifest and the cells, whichever version of sfumato wrote the page.

Three things are checked. Every figure and every claim on the page carries a mark that names what it shows,
and each block has exactly the marks of `Statements`, in that order. The visible text of a mark shows its
value. No numeral is outside of a mark, so every figure has one. The wording itself is not compared.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sfumato.runtime.errors import VerificationFailed
from sfumato.verification.check import Check
from sfumato.verification.documents import Manifest, read_scalar
from sfumato.verification.folder import README, REPORT, page_of, read_bytes
from sfumato.verification.page_markup import Element, UnknownStyleSheet, read_page
from sfumato.verification.page_pictures import picture_problem
from sfumato.verification.page_statements import (
    CLASS_SIZES,
    GAPS,
    LABEL,
    RECIPE,
    AnyOf,
    Expected,
    Statements,
    look_up,
)
from sfumato.verification.readme_check import readme_problem
from sfumato.verification.renderings import (
    UNVERIFIED_CLAIM,
    has_numerals,
    leaves,
    same_value,
    shows,
    shows_limit,
    shows_recipe,
    shows_time,
)

LARGEST_PAGE = 256 << 20
# Numerals that belong to the wording, with the words that they belong to.
_CONSTANTS = (
    "95% confidence",
    "95% interval",
    "SHA-256",
    "Ed25519",
    "fewer than 3, 5, 11 and 20 records",
    "0.09 (9%)",
    "one in eleven, 0.0909, which 0.09 stands for; a little above 0.09 by its digits",
    "policy 0070",
    "EMA/90915/2016",
    "45 CFR 164.514(b)(1)",
    "section 164.514(b)(2)(i)",
    "ISO/IEC 27559:2022",
    "ISO/IEC 27559",
    "NIST SP 800-188",
    "SP 800-188",
    "SP 800-226",
    "Opinion 05/2014",
    "WP216",
    "Article 29 Working Party",
)
_PLAIN = re.compile(r"[\n -/:-~]*")
_CLAUSE = re.compile(r"\([0-9]\.[0-9](?:\.[0-9])?\)")
_NUMERAL = re.compile(r"[0-9][0-9,]*(?:\.[0-9]+)?(?:e-[0-9]+)?")
_SECTION = re.compile(r"[0-9]{1,2}(?:\.[0-9])?")
EXPLAINING_NUMERALS = frozenset(
    (
        *("0", "1", "2", "3", "4", "5", "6", "10", "11", "17", "19", "20", "25", "30", "40", "43", "49"),
        *("50", "75", "90", "95", "99", "100", "226", "256", "800", "934", "1,000", "1000", "15,081"),
        *("0.69", "0.693", "1e-15", "9.09", "18.5"),
    )
)
"""The numerals in explanations of a measure or a word, where a page states no figure."""
_LABEL_ATTRIBUTES = {"class": "unverified", "data-claim": LABEL}
_COMMANDS = (
    *("sfumato verify", "sfumato verify FOLDER", "sfumato verify FOLDER --key KEY"),
    *("certificate.json", "minimality-risk", "wp216"),
)
_ROLES = {
    "identifying": {"identifying", "direct identifier"},
    "withheld": {"withheld", "not released"},
    "quasi-identifying": {"quasi-identifying", "quasi-identifier", "indirect identifier (quasi-identifier)"},
    "sensitive": {"sensitive", "no identifier (sensitive)"},
    "insensitive": {"insensitive", "no identifier (insensitive)"},
}
_EFFICIENT = {True: "efficient", False: "not efficient", None: "cannot be compared"}
_MISSING = {"drop": "dropped", "category": "a category of its own"}
_USUAL = {
    True: {"at most 0.09", "one in eleven, 0.0909, which 0.09 stands for; a little above 0.09 by its digits"},
    False: {"more than 0.09"},
}
# Marks that may stand anywhere: the recipe in words, and what tells a measure from others of its name.
_ANYWHERE = re.compile(r"^/recipe$|/parameters(/|$)|^/cells/levels/")


def page_names(manifest: Manifest) -> tuple[str, ...]:
    """Return the pages of a published folder: the report, the README, and one page for each profile."""
    return (REPORT, README, *map(page_of, manifest.profiles))


def compared_words(name: str) -> str:
    """Return the statement that every byte of a page was compared."""
    return f"{name} says what the manifest and the published cells say, and nothing else"


def stated_words(name: str) -> str:
    """Return the statement that the figures and claims of a page were compared, but not its wording."""
    return f"{name} states what the manifest and the published cells give, and no other figure"


def wording_words(manifest: Manifest) -> str:
    """Return the statement that the wording of another version was not compared."""
    return f"sfumato {manifest.sfumato} wrote the wording around the claims, which was not compared"


def page_check(folder: Path, name: str, statements: Statements) -> Check:
    """Compare the statements of a page, whichever version of sfumato wrote it."""
    what = stated_words(name)
    try:
        return Check(what, page_problem(name, read_bytes(folder, name, at_most=LARGEST_PAGE), statements))
    except UnknownStyleSheet as unknown:
        return Check(what, str(unknown), undecided=statements.is_from_later_version)
    except VerificationFailed as error:
        return Check(what, str(error))


def page_problem(name: str, written: bytes, statements: Statements) -> str:
    """Return the first difference between a page and manifest and cells; empty if there is none.

    Raises
    ------
    UnknownStyleSheet
        If the page looks as no version that is known here made it look.
    """
    try:
        text = written.decode("utf-8")
        if name == README:
            return readme_problem(text, statements.manifest, statements.view.n_records)
        page = name.removeprefix("report-").removesuffix(".html")
        _PageReader(page, statements).read(read_page(text))
    except UnknownStyleSheet:
        raise
    except UnicodeDecodeError:
        return "it is not text in UTF-8"
    except VerificationFailed as error:
        return str(error)
    return ""


@dataclass
class _PageReader:
    """Reads one page and collects the marks of each block."""

    page: str
    statements: Statements
    marks: dict[str, list[str]] = field(default_factory=dict)
    block: str = ""
    n_gaps: int = 0

    def read(self, root: Element) -> None:
        """Compare the page, and raise `VerificationFailed` with the difference."""
        self._names = {text for text in leaves(self.statements.document) if isinstance(text, str)}
        self._names.update(_COMMANDS)
        # the strict parser allows no other element than html here
        html = root.elements
        if len(html) != 1 or [element.tag for element in html[0].elements] != ["head", "body"]:
            raise VerificationFailed("it has no head, or no body")
        head, body = html[0].elements
        self._read_head(head)
        self.n_gaps = sum(element.attributes.get("class") == "gap" for element in body.inside())
        self._read_element(body, explains=False)
        expected = self.statements.blocks(self.page)
        if set(self.marks) != set(expected):
            odd = sorted(set(self.marks) ^ set(expected))[0]
            raise VerificationFailed(f"it has no section {odd!r}, or another one")
        for block, statements in expected.items():
            _compare(block, self.marks[block], statements)

    def _read_head(self, head: Element) -> None:
        metas = [element.attributes for element in head.elements if element.tag == "meta"]
        tags = sorted(element.tag for element in head.elements)
        if tags != ["meta"] * 6 + ["style", "title"] or len({tuple(meta.items()) for meta in metas}) != 6:
            raise VerificationFailed("its head is not one that sfumato writes")
        versions = [meta["content"] for meta in metas if meta.get("name") == "generator"]
        if versions != [f"sfumato {self.statements.manifest.sfumato}"]:
            raise VerificationFailed("it is not of the version that the manifest names")
        title = next(element.text for element in head.elements if element.tag == "title")
        start = self.statements.manifest.unverified.title or "A table about people"
        if not title.startswith(f"{start}: "):
            raise VerificationFailed("its title is another one")
        self._check_wording(title.removeprefix(start), explains=False)

    def _read_element(self, element: Element, *, explains: bool) -> None:
        if "data-block" in element.attributes:
            if self.block or element.attributes["data-block"] in self.marks:
                raise VerificationFailed("a section is there twice, or within another one")
            self.block = element.attributes["data-block"]
            self.marks[self.block] = []
        for name in ("aria-label", "data-label"):
            self._check_wording(element.attributes.get(name, ""), explains=False)
        if element.tag == "svg":
            self._read_picture(element)
        elif "data-claim" in element.attributes:
            self._read_mark(element)
        elif "data-value" in element.attributes:
            raise VerificationFailed("a value is marked that is no claim")
        else:
            self._read_children(element, explains=explains or "data-explains" in element.attributes)
        if "data-block" in element.attributes:
            self.block = ""

    def _read_children(self, element: Element, *, explains: bool) -> None:
        is_number = element.tag == "span" and element.attributes.get("class") == "number"
        for child in element.children:
            if not isinstance(child, str):
                self._read_element(child, explains=explains)
            elif element.tag == "code" and not explains:
                if child.strip() and element.text.strip() not in self._names:
                    raise VerificationFailed(f"it names {_short(element.text)}, which the manifest does not")
            elif not (is_number and _SECTION.fullmatch(child)):
                self._check_wording(child, explains=explains)

    def _check_wording(self, text: str, *, explains: bool) -> None:
        if _PLAIN.fullmatch(text):
            return
        for known in _CONSTANTS:
            text = text.replace(known, "")
        if self.page == "iso-27559":
            text = _CLAUSE.sub("", text)
        if explains:
            text = _NUMERAL.sub(
                lambda number: "" if number[0].rstrip(",") in EXPLAINING_NUMERALS else number[0], text
            )
        if has_numerals(text):
            raise VerificationFailed(f"a figure has no mark: {_short(text)}")
        # such a character could hide, reverse or strike through the text next to it
        hidden = (sign for sign in text if sign != "\n" and unicodedata.category(sign)[0] in "MC")
        odd = next(hidden, None)
        if odd is not None:
            raise VerificationFailed(f"there is a sign in its wording that nobody sees: U+{ord(odd):04X}")

    # Marks

    def _read_mark(self, element: Element) -> None:
        place = element.attributes["data-claim"]
        if not self.block:
            raise VerificationFailed("a figure stands outside of all sections")
        if any(not isinstance(child, str) for child in element.children):
            raise VerificationFailed(f"there are elements within the figure {_short(place)}")
        if place == LABEL:
            if element.text != UNVERIFIED_CLAIM or dict(element.attributes) != _LABEL_ATTRIBUTES:
                raise VerificationFailed("the label of an unverified claim says something else")
        elif place == GAPS:
            self._compare_value(element, self.n_gaps, place)
            if not shows(element.text, self.n_gaps):
                raise VerificationFailed("the number of places to be filled in is another one")
        elif place == RECIPE:
            try:
                is_same = json.loads(element.text) == self.statements.document["recipe"]
            except (ValueError, RecursionError):
                is_same = False
            if not is_same:
                raise VerificationFailed("its recipe is another one")
        else:
            self._read_claim(element, place)
        self.marks[self.block].append(place)

    def _read_claim(self, element: Element, place: str) -> None:
        try:
            value = look_up(self.statements.document, place)
        except (LookupError, ValueError):
            raise VerificationFailed(f"it states {_short(place)}, which the manifest does not") from None
        self._compare_value(element, value, place)
        if not _is_shown(element.text, value, place):
            raise VerificationFailed(f"it shows {_short(element.text)} where {_short(place)} is meant")
        style = element.attributes.get("class", "")
        if "verdict" in style.split() and style != f"verdict {'met' if value else 'broken'}":
            raise VerificationFailed("a verdict looks like the other one")

    @staticmethod
    def _compare_value(element: Element, value: Any, place: str) -> None:
        """Compare the value next to the text; texts, lists and objects have none, as the text states them."""
        marked = element.attributes.get("data-value")
        if isinstance(value, (str, Mapping, list)):
            # infinity is a text in the manifest, and on the page a number with its value next to it
            is_number = value in ("Infinity", "-Infinity") and element.text != value
            is_same = marked == (json.dumps(value) if is_number else None)
        else:
            try:
                is_same = marked is not None and same_value(read_scalar(marked), value)
            except ValueError:
                is_same = False
        if not is_same:
            raise VerificationFailed(f"{_short(place)} is said to be {_short(marked or 'nothing')}")

    def _read_picture(self, svg: Element) -> None:
        if not self.block:
            raise VerificationFailed("a picture stands outside of all sections")
        problem = picture_problem(svg, self.statements.class_steps)
        if problem:
            raise VerificationFailed(problem)
        self.marks[self.block].append(CLASS_SIZES)


def _is_shown(text: str, value: Any, place: str) -> bool:
    """Return whether the text of a mark shows its value, in the wording of such a place."""
    last = place.rpartition("/")[2]
    if place == "/decision/when":
        return shows_time(text, value)
    if place == "/unverified/efficient":
        return text == _EFFICIENT[value]
    if place == "/unverified/missing":
        return text == _MISSING[value]
    if place == "/cells/usual":
        return value is not None and text in _USUAL[value]
    if last == "role":
        return text in _ROLES[value]
    if last == "better":
        return text == f"{value} is better"
    if place.startswith("/policy/") and last in ("at_least", "at_most"):
        return shows_limit(text, value) == last.replace("_", " ")
    if place.startswith("/requirements/") and last == "limit":
        return shows_limit(text, value) is not None
    if place == "/recipe":
        return text.casefold().startswith(value["sanitizer"].casefold()) and shows_recipe(text, value)
    if last == "model":
        return text.startswith(next(iter(value))) and shows_recipe(text, value)
    return shows(text, value)


def _compare(block: str, stated: Sequence[str], expected: Iterable[Expected]) -> None:
    """Compare the marks of a block with the expected ones, in their order."""
    marks = [place for place in stated if not _ANYWHERE.search(place)]
    at = 0
    for statement in expected:
        if isinstance(statement, AnyOf):
            at = _skip_rows(block, marks, at, statement)
        elif marks[at : at + 1] == [statement]:
            at += 1
        else:
            mark = marks[at] if at < len(marks) else "nothing"
            raise VerificationFailed(
                f"section {block!r} states {_short(mark)} where {_short(statement)} belongs"
            )
    if at < len(marks):
        raise VerificationFailed(f"section {block!r} states {_short(marks[at])} where nothing more belongs")


def _skip_rows(block: str, marks: Sequence[str], at: int, any_of: AnyOf) -> int:
    """Return the position after the rows that a block states at this one."""
    n_rows, rows = 0, list(any_of.rows)
    while n_rows != any_of.most:
        matching = (number for number, row in enumerate(rows) if tuple(marks[at : at + len(row)]) == row)
        number = next(matching, None)
        if number is None:
            break
        at, n_rows = at + len(rows[number]), n_rows + 1
        # each row once; in their order, if they have one
        rows = rows[number + 1 :] if any_of.ordered else [*rows[:number], *rows[number + 1 :]]
    if n_rows < any_of.least:
        raise VerificationFailed(f"section {block!r} lacks a figure")
    return at


def _short(text: str) -> str:
    printable = text if text.isprintable() else text.encode("unicode_escape").decode()
    return repr(printable if len(printable) <= 60 else f"{printable[:59]}…")
