"""Draw with matplotlib and return one clean SVG element, with the same bytes for the same drawing.

Figures are built directly (never through pyplot or a display). Text stays text, so it can be selected and
searched.
"""

from __future__ import annotations

import io
import re
import threading
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, FAINT, RULE = "#1b2733", "#5c6b7a", "#d5dbe1"
"""The colours of what is written, of axes and of the grid."""
SIZE = 9.5
"""The height of letters in points, which are pixels here."""
_FONTS = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif"
_WIDTH = 7.2
_DIGITS = re.compile(r"(\.\d\d)\d+")

# matplotlib keeps its settings in one place for all threads
_one_at_a_time = threading.Lock()

_LOOK: dict[str, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # a column may be called $x$
    "axes.formatter.use_mathtext": False,
    "figure.dpi": 72,
    "font.size": SIZE,
    "legend.fontsize": SIZE,
    "axes.labelsize": SIZE,
    "axes.labelpad": 6,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "lines.linewidth": 1.2,
    "legend.handlelength": 1.6,
    "grid.color": RULE,
    "grid.linewidth": 0.5,
    "text.color": INK,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "path.simplify": True,
}


def draw_svg(name: str, description: str, height: float, draw: Callable[[Axes], None]) -> str:
    """Draw on fresh axes with our own settings and return the SVG element."""
    return draw_panels(name, description, height, lambda plate: draw(plate.add_subplot()))


def draw_panels(name: str, description: str, height: float, draw: Callable[[Figure], None]) -> str:
    """Draw on a fresh figure with our own settings and return the SVG element."""
    import matplotlib
    from matplotlib.figure import Figure

    written = io.StringIO()
    with _one_at_a_time, matplotlib.rc_context(), warnings.catch_warnings():
        # the reader's browser has the letters that matplotlib's own font lacks
        warnings.filterwarnings("ignore", message="Glyph")
        settings: Any = _LOOK | {"svg.hashsalt": f"sfumato {name}"}
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(settings)
        plate = Figure(figsize=(_WIDTH, height), layout="constrained")
        draw(plate)
        no_metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        plate.savefig(written, format="svg", metadata=no_metadata)
    return _inlined(written.getvalue(), description)


def _inlined(svg: str, description: str) -> str:
    """Turn matplotlib's file into an element of a page: no prolog, no style sheet, no clashing ids."""
    root = ElementTree.fromstring(svg)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        element.tail = None
        if element.tag != "text":
            element.text = None
        if element.tag == "g":
            element.attrib.pop("id", None)
        _tidy(element.attrib)
    root.remove(root[0])  # the style sheet, which would reach beyond the picture
    root.attrib = {
        "xmlns": "http://www.w3.org/2000/svg",
        "viewBox": root.attrib["viewBox"],
        "role": "img",
        "aria-label": description,
        "stroke-linejoin": "round",
    }
    return ElementTree.tostring(root, encoding="unicode")


def _tidy(attributes: dict[str, str]) -> None:
    for name, value in [*attributes.items()]:
        if name == "{http://www.w3.org/1999/xlink}href":
            attributes["href"] = attributes.pop(name)
        elif name == "transform" and value.startswith("rotate(-0 "):
            del attributes[name]
        elif name == "style":
            attributes.update(_presentation(attributes.pop(name)))
        elif name == "d":
            attributes[name] = _DIGITS.sub(r"\1", " ".join(value.split()))
        elif name in ("x", "y"):
            attributes[name] = _DIGITS.sub(r"\1", value)


def _presentation(style: str) -> dict[str, str]:
    """Write a style as attributes, because pages forbid inline styles."""
    written = (part.partition(":") for part in style.split(";") if part.strip())
    named = {name.strip(): value.strip() for name, _, value in written}
    return named | ({"font-family": _FONTS} if "font-family" in named else {})
