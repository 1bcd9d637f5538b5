"""The attribute page: its distribution, and its hierarchy as a tree that can be edited."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sfumato.arrays import Integers
from sfumato.errors import HierarchyError, SfumatoError
from sfumato.hierarchy import Dates, DateUnit, Flat, Hierarchy, HierarchySource, Intervals, Prefixes
from sfumato.schema import Attribute
from sfumato.table import Column, text
from sfumato.workbench.addresses import link, named
from sfumato.workbench.pages import back, page, posted
from sfumato.workbench.state import branches, hierarchy_files
from sfumato.workbench.state.branches import Node
from sfumato.workbench.state.editing import edit, require_version, set_attribute, version_of
from sfumato.workbench.state.opened import Look, look_of, shelf_of
from sfumato.workbench.views.pictures import counts_of, distribution
from sfumato.workbench.views.trees import MOST_CHILDREN, tree_of

_UNITS: tuple[str, ...] = get_args(DateUnit)
_SEPARATORS = {"semicolon": ";", "comma": ",", "tab": "\t"}
_MOST_TARGETS = 500


@dataclass(frozen=True)
class _Subject:
    """The attribute that a request speaks of, its column and its whole hierarchy."""

    look: Look
    attribute: Attribute
    column: Column
    counts: Integers
    hierarchy: Hierarchy | None
    hindrance: str

    @property
    def version(self) -> str:
        """A digest of the hierarchy, by which a change made elsewhere is noticed."""
        if self.hierarchy is None:
            return ""
        return version_of(repr(self.hierarchy.labels).encode() + self.hierarchy.node_of.tobytes())


def attribute(request: Request) -> Response:
    """Show one attribute."""
    look = look_of(request)
    name = named(request.path_params["attribute"], look.records.table.names, "attribute")
    guess = next(guess for guess in look.records.guesses if guess.name == name)
    facts: dict[str, Any] = {"name": name, "guess": guess, "digest": look.version, "subject": None}
    described = _described(look, name)
    if described is None or described.role == "identifying":
        return page(request, "attribute.html.j2", role=described.role if described else None, **facts)
    subject = _subject(look, described)
    return page(
        request,
        "attribute.html.j2",
        role=described.role,
        **facts
        | {
            "subject": subject,
            "picture": distribution(look.opened.table if look.opened else look.records.table, subject.column),
            "source": _source_facts(described.hierarchy),
            "written": _written(look, name),
            "files": hierarchy_files.listed(look.project.path.parent),
            "units": _UNITS,
            "separators": _SEPARATORS,
            "levels": _levels(subject) if described.role == "quasi-identifying" else [],
            **_tree_facts(request, subject),
        },
    )


def export(request: Request) -> Response:
    """Give the hierarchy in ARX's format."""
    subject = _subject_of(request)
    return Response(
        hierarchy_files.as_csv(_hierarchy(subject)),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": 'attachment; filename="hierarchy.csv"'},
    )


def generalize(request: Request, form: FormData) -> Response:
    """Set how the values generalize: intervals, prefixes, dates, a file of the folder, or not at all."""
    subject = _subject_of(request)
    chosen = _chosen(form, hierarchy_files.listed(subject.look.project.path.parent))
    return _saved(request, form, subject, lambda: chosen, "The hierarchy is written in the project file.")


def keep_above(request: Request, form: FormData) -> Response:
    """Set the lowest level on which the attribute may be released."""
    subject = _subject_of(request)
    level = _whole(str(form.get("lowest")), "a level is a whole number; choose one of the list")
    return _edited_file(
        request, form, subject, lambda: {"lowest-level": level or None}, "The lowest level is written."
    )


def rearrange(request: Request, form: FormData) -> Response:
    """Merge, group, rename, move or dissolve nodes of the tree."""
    subject = _subject_of(request)
    require_version(subject.look.project.path, subject.version, str(form.get("tree")))
    edited = _edited(_hierarchy(subject), form)
    edited.build(subject.column.domain, subject.column.kind)
    folder, name = subject.look.project.path.parent, subject.attribute.name
    return _saved(
        request,
        form,
        subject,
        lambda: {"csv": hierarchy_files.write_edited(folder, name, edited)},
        "The tree is changed.",
    )


def import_csv(request: Request, form: FormData) -> Response:
    """Take a hierarchy in ARX's format."""
    subject = _subject_of(request)
    given = form.get("file")
    if not isinstance(given, UploadFile) or not given.size:
        raise HierarchyError(
            "no file was chosen; choose a CSV file with one row 'value;level1;…;*' per value"
        )
    read = _read(given.file.read(), _SEPARATORS.get(str(form.get("separator")), ";"))
    read.build(subject.column.domain, subject.column.kind)
    folder, name = subject.look.project.path.parent, subject.attribute.name
    return _saved(
        request,
        form,
        subject,
        lambda: {"csv": hierarchy_files.write_imported(folder, name, read)},
        "The hierarchy is imported.",
    )


# What the page shows


def _subject_of(request: Request) -> _Subject:
    look = look_of(request)
    name = named(request.path_params["attribute"], look.records.table.names, "attribute")
    described = _described(look, name)
    if described is None or described.role == "identifying":
        raise HTTPException(404, "An identifying attribute is never released and has no hierarchy.")
    return _subject(look, described)


def _described(look: Look, name: str) -> Attribute | None:
    return next((each for each in look.project.schema.attributes if each.name == name), None)


def _subject(look: Look, described: Attribute) -> _Subject:
    """Take the hierarchy over the values, with those that a file holds beyond the data."""
    name, opened = described.name, look.opened
    table = opened.table if opened else look.records.table
    column = table[name]
    counts = counts_of(table, column)
    source = described.hierarchy or Flat()
    try:
        built = opened.schema.hierarchy(name) if opened else source.build(column.domain, column.kind)
    except SfumatoError as error:
        return _Subject(look, described, column, counts, None, str(error))
    if not isinstance(source, Hierarchy):
        return _Subject(look, described, column, _reordered(column, counts, built), built, "")
    return _Subject(look, described, column, _reordered(column, counts, source), source, "")


def _reordered(column: Column, counts: Integers, hierarchy: Hierarchy) -> Integers:
    """Return how many records have each value of the hierarchy."""
    if hierarchy.values == column.domain:
        return counts
    records = dict(zip(map(text, column.domain), counts.tolist(), strict=True))
    return np.array([records.get(text(value), 0) for value in hierarchy.values], dtype=np.int64)


def _hierarchy(subject: _Subject) -> Hierarchy:
    if subject.hierarchy is None:
        raise HierarchyError("there is no tree yet; first say how the values generalize")
    return subject.hierarchy


def _tree_facts(request: Request, subject: _Subject) -> dict[str, Any]:
    if subject.hierarchy is None:
        return {"tree": None}
    hierarchy = subject.hierarchy
    counts = subject.counts
    asked, first = request.query_params.get("node"), request.query_params.get("from", "0")
    top = Node.parse(asked, hierarchy) if asked else None
    inner = [
        (Node(level, number), label)
        for level in range(hierarchy.height - 1, 0, -1)
        for number, label in enumerate(hierarchy.labels[level][: _MOST_TARGETS + 1])
    ]
    lowest = {label: node for node, label in inner}
    return {
        "tree": tree_of(hierarchy, counts, top, int(first) if first.isdecimal() and len(first) < 10 else 0),
        "targets": [(node, label) for label, node in lowest.items()][:_MOST_TARGETS],
        "most_children": MOST_CHILDREN,
        "n_absent": int((counts == 0).sum()),
        "has_missing_apart": subject.column.has_missing and None not in hierarchy.values,
    }


def _levels(subject: _Subject) -> list[tuple[int, str]]:
    """Return every level with the label of its largest node; the root only where it is chosen."""
    hierarchy = subject.hierarchy
    if hierarchy is None or not len(subject.counts):
        return []
    n_levels = max(hierarchy.height, subject.attribute.lowest_level + 1)
    largest = [np.bincount(nodes, subject.counts).argmax() for nodes in hierarchy.node_of[:n_levels]]
    return [(level, hierarchy.labels[level][node] or "missing") for level, node in enumerate(largest)]


def _source_facts(source: HierarchySource | None) -> dict[str, str]:
    """Return how the values generalize now, as the form writes it."""
    facts = {"how": "file", "intervals": "", "prefixes": "", "units": "", "format": "%Y-%m-%d"}
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


def _written(look: Look, name: str) -> str:
    """Return the file that the project names for the hierarchy, if it does."""
    import tomllib

    block = tomllib.loads(look.project.path.read_text(encoding="utf-8-sig"))["attributes"].get(name, {})
    return str((block.get("hierarchy") or {}).get("csv", ""))


# What the forms say


def _chosen(form: FormData, files: list[str]) -> dict[str, Any] | None:
    match form.get("how"):
        case "intervals":
            return {"intervals": [_number(word) for word in _words(form, "intervals", "widths", "5, 10, 20")]}
        case "prefixes":
            wrong = "prefix lengths are whole numbers; give for example 4, 3, 2"
            lengths = _words(form, "prefixes", "lengths", "4, 3, 2")
            return {"prefixes": [_whole(word, wrong) for word in lengths]}
        case "dates":
            units = [unit for unit in _UNITS if unit in form.getlist("units")]
            return {"dates": units, "format": str(form.get("format") or "%Y-%m-%d")}
        case "file":
            if form.get("csv") not in files:
                raise HierarchyError("choose one of the files in the list")
            return {"csv": str(form["csv"])}
    return None


def _words(form: FormData, key: str, what: str, example: str) -> list[str]:
    words = re.split(r"[\s,;]+", str(form.get(key, "")).strip(" ,;[]"))
    if words == [""]:
        raise HierarchyError(f"no {what} are given; give for example {example}")
    return words


def _number(word: str) -> int | float:
    try:
        value = float(word)
    except ValueError:
        raise HierarchyError("interval widths are numbers; give for example 5, 10, 20") from None
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _whole(word: str, otherwise: str) -> int:
    if not word.isdecimal() or len(word) > 6:
        raise HierarchyError(otherwise)
    return int(word)


def _edited(hierarchy: Hierarchy, form: FormData) -> Hierarchy:
    nodes = [Node.parse(str(written), hierarchy) for written in form.getlist("node")]
    label = str(form.get("label", ""))
    if not nodes:
        raise HierarchyError("no node is chosen; mark some in the tree first")
    match form.get("action"):
        case "merge":
            return branches.merge(hierarchy, nodes, label)
        case "group":
            return branches.group(hierarchy, nodes, label)
        case "rename" if len(nodes) == 1:
            return branches.rename(hierarchy, nodes[0], label)
        case "rename":
            raise HierarchyError("one node is renamed at a time; choose only one, or merge them")
        case "move":
            return branches.move(hierarchy, nodes, Node.parse(str(form.get("target")), hierarchy))
        case "dissolve":
            return branches.dissolve(hierarchy, nodes)
    raise HierarchyError("say what to do with the chosen nodes: merge, group, rename, move or dissolve")


def _read(raw: bytes, separator: str) -> Hierarchy:
    try:
        rows = [row for row in csv.reader(io.StringIO(raw.decode("utf-8-sig")), delimiter=separator) if row]
    except UnicodeDecodeError:
        raise HierarchyError("the hierarchy is not UTF-8; save it as UTF-8") from None
    except csv.Error:
        raise HierarchyError("the hierarchy is not a CSV file; save it as one") from None
    return Hierarchy.of_rows(rows)


def _saved(
    request: Request,
    form: FormData,
    subject: _Subject,
    chosen: Callable[[], Mapping[str, Any] | None],
    said: str,
) -> Response:
    """Write the hierarchy into the project file unless the data contradicts it."""

    def keys() -> dict[str, Any]:
        given = chosen()
        return {"hierarchy": None if given is None else dict(given)}

    return _edited_file(request, form, subject, keys, said)


def _edited_file(
    request: Request,
    form: FormData,
    subject: _Subject,
    keys: Callable[[], Mapping[str, Any]],
    said: str,
) -> Response:
    """Write keys of the attribute into the project file unless the data contradicts them."""
    look, name = subject.look, subject.attribute.name

    def change(document: Any) -> None:
        for key, value in keys().items():
            set_attribute(document, name, key, value)

    edit(look.project.path, str(form.get("version")), change, shelf_of(request).bound)
    return back(request, link(request, "attribute", attribute=name), said)


_HERE = "/projects/{project}/data/{attribute}"
routes = [
    Route(_HERE, attribute, name="attribute"),
    Route(f"{_HERE}/hierarchy.csv", export, name="export"),
    Route(f"{_HERE}/hierarchy", posted(generalize), methods=["POST"], name="generalize"),
    Route(f"{_HERE}/lowest", posted(keep_above), methods=["POST"], name="keep_above"),
    Route(f"{_HERE}/tree", posted(rearrange), methods=["POST"], name="rearrange"),
    Route(f"{_HERE}/import", posted(import_csv), methods=["POST"], name="import"),
]
