"""Parse a page strictly: only the few elements and attributes that a published page needs are allowed.

Browsers repair malformed markup, each in its own way. So a page must be written so that all of them read it
alike: every element is closed and in an allowed place, and attributes are in double quotes. Scripts, forms,
frames, comments, references to other places, inline styles and hidden elements are refused, and so is a style
sheet that no version of sfumato has written.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape

from sfumato.runtime.errors import VerificationFailed
from sfumato.verification.folder import REPORT

STYLE_SHEETS = frozenset(
    {
        "80272a56799695900aeb65cfe4c9da9227551801dfa4803b552b3679e9161598",  # 0.2.0
    }
)
"""The SHA-256 of every style sheet of a published page, ever: a sheet could hide or add what it likes."""
DECLARATION = "<!DOCTYPE html>\n"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"

_TOKEN = re.compile(
    r"<(?P<start>[a-z][a-z0-9]*)(?P<attributes>(?: [A-Za-z-]+=\"[^\"<]*\"| data-explains)*)(?P<empty>/?)>"
    r"|</(?P<end>[a-z][a-z0-9]*)>"
    r"|(?P<text>[^<]+)"
)
_ATTRIBUTE = re.compile(r' ([A-Za-z-]+)(?:="([^"]*)")?')
_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|#34|#39|#x27|#9|#10|#13);")

_INLINE = frozenset({"a", "b", "br", "code", "em", "small", "span", "strong"})
_FLOW = _INLINE.union(
    ("div", "dl", "figure", "h1", "h2", "h3", "header", "nav"), ("ol", "p", "pre", "section", "table", "ul")
)
_DRAWN = frozenset({"g", "path", "rect", "text"})
# Allowed children: so no browser moves an element, or a text, out of the place where it is written.
_CHILDREN: dict[str, frozenset[str]] = {
    "": frozenset({"html"}),
    "html": frozenset({"head", "body"}),
    "head": frozenset({"meta", "title", "style"}),
    "body": frozenset({"main"}),
    **dict.fromkeys(("main", "section", "header", "nav", "div", "dd", "td", "th", "li"), _FLOW),
    **dict.fromkeys(
        ("b", "code", "em", "h1", "h2", "h3", "p", "small", "span", "strong", "dt", "caption"), _INLINE
    ),
    "a": _INLINE - {"a"},
    "figcaption": _INLINE,
    "pre": frozenset({"code"}),
    "ol": frozenset({"li"}),
    "ul": frozenset({"li"}),
    "dl": frozenset({"div"}),
    "table": frozenset({"caption", "thead", "tbody"}),
    "thead": frozenset({"tr"}),
    "tbody": frozenset({"tr"}),
    "tr": frozenset({"th", "td"}),
    "figure": frozenset({"svg", "figcaption"}),
    "svg": _DRAWN,
    "g": _DRAWN,
}
_IN_LIST = _FLOW | {"dt", "dd"}
# Elements with blanks only, which nobody sees, as texts.
_NO_TEXT = frozenset(
    {"", "html", "head", "body", "table", "thead", "tbody", "tr", "dl", "ol", "ul", "svg", "g", "figure"}
)
_VOID = frozenset({"meta", "br"})
_EVERYWHERE = frozenset({"class", "data-claim", "data-value", "data-explains", "data-label"})
_ATTRIBUTES: dict[str, frozenset[str]] = {
    "html": frozenset({"lang"}),
    "meta": frozenset({"charset", "http-equiv", "content", "name"}),
    "a": frozenset({"href"}),
    "h2": frozenset({"id"}),
    "th": frozenset({"scope", "colspan"}),
    "td": frozenset({"colspan"}),
    "div": frozenset({"tabindex", "role", "aria-label"}),
    "nav": frozenset({"aria-label"}),
    **dict.fromkeys(("section", "header", "main"), frozenset({"data-block"})),
    "svg": frozenset({"viewBox", "role", "aria-label", "fill", "stroke-linejoin"})
    | {"font-family", "font-size"},
    "g": frozenset(f"data-{side}-{what}" for side in "xy" for what in ("scale", "domain", "range")),
    "path": frozenset({"d", "fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "data-points"}),
    "rect": frozenset({"x", "y", "width", "height", "fill"}),
    "text": frozenset({"x", "y", "transform", "text-anchor", "fill"}),
}
_LINK = re.compile(rf"(?:{re.escape(REPORT)}|report-[a-z0-9-]+\.html)?(?:#[a-z]+)?")
_METAS = {
    ("charset",): r"utf-8",
    ("http-equiv", "content"): rf"Content-Security-Policy {re.escape(POLICY)}",
    ("name", "content"): r"viewport width=device-width, initial-scale=1|color-scheme light dark"
    r"|referrer no-referrer|generator sfumato \S+",
}


class UnknownStyleSheet(VerificationFailed):
    """A style sheet that no known version of sfumato has written."""


@dataclass
class Element:
    """An element with its contents, texts and elements in their order."""

    tag: str
    attributes: dict[str, str]
    children: list[Element | str] = field(default_factory=list)

    @property
    def elements(self) -> list[Element]:
        """The elements directly inside."""
        return [child for child in self.children if not isinstance(child, str)]

    @property
    def text(self) -> str:
        """All texts inside."""
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def inside(self) -> Iterator[Element]:
        """Yield this element and all its descendants, in the order of the page."""
        yield self
        for element in self.elements:
            yield from element.inside()


def read_page(written: str) -> Element:
    """Return the elements of a page, or report in one line why no version of sfumato wrote it."""
    if not written.startswith(DECLARATION):
        raise VerificationFailed("it does not begin as a page of sfumato does")
    root = Element("", {})
    open_elements, place = [root], len(DECLARATION)
    while place < len(written):
        token = _TOKEN.match(written, place)
        if token is None:
            line = written.count("\n", 0, place) + 1
            raise VerificationFailed(f"it has markup that sfumato does not write, in line {line}")
        place = token.end()
        inner = open_elements[-1]
        if token["text"] is not None:
            _add_text(inner, token["text"])
        elif token["end"] is not None:
            if len(open_elements) == 1 or token["end"] != inner.tag:
                line = written.count("\n", 0, place) + 1
                raise VerificationFailed(f"an element is closed that is not open, in line {line}")
            open_elements.pop()
        else:
            element = _element(token["start"], token["attributes"], open_elements)
            inner.children.append(element)
            if token["empty"] and element.tag not in _DRAWN:
                raise VerificationFailed(f"an element {element.tag} is closed in its own tag")
            if not token["empty"] and element.tag not in _VOID:
                open_elements.append(element)
    if len(open_elements) > 1:
        raise VerificationFailed(f"an element {open_elements[-1].tag} is not closed")
    return root


def _element(tag: str, attributes: str, above: list[Element]) -> Element:
    parent = above[-1].tag
    in_list = parent == "div" and len(above) > 1 and above[-2].tag == "dl"
    allowed = _IN_LIST if in_list else _CHILDREN.get(parent, frozenset())
    if tag not in allowed or (tag == "a" and any(outer.tag == "a" for outer in above)):
        raise VerificationFailed(f"there is an element {tag} where sfumato writes none")
    pairs = [(name, unescape(value or "")) for name, value in _ATTRIBUTE.findall(attributes)]
    element = Element(tag, dict(pairs))
    odd = set(element.attributes) - _EVERYWHERE - _ATTRIBUTES.get(tag, frozenset())
    if odd or len(element.attributes) < len(pairs):
        name = min(odd) if odd else "one twice"
        raise VerificationFailed(f"an element {tag} has an attribute that sfumato does not write: {name}")
    if tag == "a" and not _LINK.fullmatch(element.attributes.get("href", "")):
        raise VerificationFailed("there is a link that leads out of the folder")
    if tag == "meta":
        pattern = _METAS.get(tuple(element.attributes))
        if pattern is None or not re.fullmatch(pattern, " ".join(element.attributes.values())):
            raise VerificationFailed("there is a meta element that sfumato does not write")
    return element


def _add_text(inner: Element, text: str) -> None:
    if inner.tag == "style":
        if hashlib.sha256(text.strip().encode()).hexdigest() not in STYLE_SHEETS:
            raise UnknownStyleSheet("its style sheet is not known")
    elif inner.tag in _NO_TEXT and text.strip(" \n"):
        raise VerificationFailed(f"there is a text between the parts of an element {inner.tag or 'html'}")
    elif "&" in _ENTITY.sub("", text):
        raise VerificationFailed("there is a sign in a text that sfumato writes otherwise")
    inner.children.append(text if inner.tag == "style" else unescape(text))
