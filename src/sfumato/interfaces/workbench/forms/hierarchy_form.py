"""Define the forms that describe how the values of an attribute generalize."""

from __future__ import annotations

import csv
import datetime
import io
import re
from typing import Any, get_args

from starlette.datastructures import FormData

from sfumato.data.hierarchy import Dates, DateUnit, Hierarchy, HierarchySource, Intervals, Nested, Prefixes
from sfumato.data.table import text
from sfumato.interfaces.workbench.state import hierarchy_edits
from sfumato.interfaces.workbench.state.hierarchy_edits import TreeNode
from sfumato.runtime.errors import HierarchyError

UNITS: tuple[str, ...] = get_args(DateUnit)
_FORMATS = (
    "%d.%m.%Y",
    "%d.%m.%y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y%m%d",
    "%d.%m.%Y %H:%M",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%d %H:%M:%S",
)
_EXAMPLE = datetime.datetime(2024, 12, 31, 18, 30, tzinfo=datetime.UTC)
SEPARATORS = {"semicolon": ";", "comma": ",", "tab": "\t"}


def source_facts(source: HierarchySource | None, guessed: HierarchySource | None = None) -> dict[str, str]:
    """Return the current hierarchy as the form writes it; dates as guessed if nothing is given."""
    format_ = guessed.format if isinstance(guessed, Dates) else Dates().format
    facts = {"how": "file", "intervals": "", "prefixes": "", "units": "", "format": format_}
    match source:
        case None:
            facts["how"] = "none"
        case Intervals(widths):
            facts |= {"how": "intervals", "intervals": ", ".join(text(width) or "" for width in widths)}
        case Prefixes(lengths):
            facts |= {"how": "prefixes", "prefixes": ", ".join(map(str, lengths))}
        case Dates(units, format_):
            facts |= {"how": "dates", "units": " ".join(units), "format": format_}
    return facts


def written_source(source: HierarchySource | None) -> dict[str, Any] | None:
    """Return a hierarchy as the project file writes it, except for a tree in a file."""
    match source:
        case Intervals(widths):
            return {"intervals": [_number(str(width)) for width in widths]}
        case Prefixes(lengths):
            return {"prefixes": [*lengths]}
        case Dates(units, format_):
            return {"dates": [*units], "format": format_}
        case Nested(groups):
            return {"tree": groups}
    return None


def date_examples(own: str = "") -> dict[str, str]:
    """Return the formats to offer, each with the last day of 2024 as an example.

    Examples
    --------
    >>> date_examples()["%d.%m.%Y"], date_examples("%d %m %Y")["%d %m %Y"]
    ('31.12.2024', '31 12 2024')
    """
    return {format_: _EXAMPLE.strftime(format_) for format_ in dict.fromkeys((*_FORMATS, own)) if format_}


def chosen_source(form: FormData, files: list[str]) -> dict[str, Any] | None:
    """Return the chosen hierarchy as the project file writes it."""
    match form.get("how"):
        case "intervals":
            return {"intervals": [_number(word) for word in _words(form, "intervals", "widths", "5, 10, 20")]}
        case "prefixes":
            wrong = "prefix lengths are whole numbers; give, for example, 4, 3, 2"
            lengths = _words(form, "prefixes", "lengths", "4, 3, 2")
            return {"prefixes": [whole(word, wrong) for word in lengths]}
        case "dates":
            units = [unit for unit in UNITS if unit in form.getlist("units")]
            return {"dates": units, "format": str(form.get("format") or "%Y-%m-%d")}
        case "file":
            if form.get("csv") not in files:
                raise HierarchyError("choose one of the files in the list")
            return {"csv": str(form["csv"])}
    return None


def _words(form: FormData, key: str, what: str, example: str) -> list[str]:
    words = re.split(r"[\s,;]+", str(form.get(key, "")).strip(" ,;[]"))
    if words == [""]:
        raise HierarchyError(f"no {what} are given; give, for example, {example}")
    return words


def _number(word: str) -> int | float:
    try:
        value = float(word)
    except ValueError:
        raise HierarchyError("interval widths are numbers; give, for example, 5, 10, 20") from None
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def whole(word: str, otherwise: str) -> int:
    """Return a whole number that was typed, or raise an error with this message."""
    if not word.isdecimal() or len(word) > 6:
        raise HierarchyError(otherwise)
    return int(word)


def edited(hierarchy: Hierarchy, form: FormData) -> Hierarchy:
    """Return the hierarchy after the edit of the marked nodes."""
    nodes = [TreeNode.parse(str(written), hierarchy) for written in form.getlist("node")]
    label = str(form.get("label", ""))
    if not nodes:
        raise HierarchyError("no node is chosen; mark some in the tree first")
    match form.get("action"):
        case "merge":
            return hierarchy_edits.merge(hierarchy, nodes, label)
        case "group":
            return hierarchy_edits.group(hierarchy, nodes, label)
        case "rename" if len(nodes) == 1:
            return hierarchy_edits.rename(hierarchy, nodes[0], label)
        case "rename":
            raise HierarchyError("only one node can be renamed at a time; choose one, or merge them")
        case "move":
            return hierarchy_edits.move(hierarchy, nodes, TreeNode.parse(str(form.get("target")), hierarchy))
        case "dissolve":
            return hierarchy_edits.dissolve(hierarchy, nodes)
    raise HierarchyError("say what to do with the chosen nodes: merge, group, rename, move or dissolve")


def read_csv(raw: bytes, separator: str) -> Hierarchy:
    """Read a hierarchy in ARX's format."""
    try:
        rows = [row for row in csv.reader(io.StringIO(raw.decode("utf-8-sig")), delimiter=separator) if row]
    except UnicodeDecodeError:
        raise HierarchyError("the hierarchy is not UTF-8; save it as UTF-8") from None
    except csv.Error:
        raise HierarchyError("the hierarchy is not a CSV file; save it as one") from None
    return Hierarchy.of_rows(rows)
