"""The attribute page: its distribution, and its hierarchy as a tree that can be edited."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sfumato.data.hierarchy import Flat, Hierarchy
from sfumato.data.schema import Attribute
from sfumato.data.table import Column, text
from sfumato.interfaces.workbench.addresses import link, named
from sfumato.interfaces.workbench.forms.hierarchy_form import (
    SEPARATORS,
    UNITS,
    chosen_source,
    date_examples,
    edited,
    read_csv,
    source_facts,
    whole,
)
from sfumato.interfaces.workbench.pages import back, page, posted
from sfumato.interfaces.workbench.state import hierarchy_files
from sfumato.interfaces.workbench.state.hierarchy_edits import TreeNode
from sfumato.interfaces.workbench.state.project_edits import edit, require_version, set_attribute, version_of
from sfumato.interfaces.workbench.state.projects import Look
from sfumato.interfaces.workbench.state.route_lookup import look_of
from sfumato.interfaces.workbench.state.state import state_of
from sfumato.interfaces.workbench.views.distribution_bars import counts_of, distribution
from sfumato.interfaces.workbench.views.trees import MOST_CHILDREN, tree_of
from sfumato.runtime.arrays import Integers
from sfumato.runtime.errors import HierarchyError, SfumatoError

_MOST_TARGETS = 500


@dataclass(frozen=True)
class _Subject:
    """The attribute in a request, its column and its whole hierarchy."""

    look: Look
    attribute: Attribute
    column: Column
    counts: Integers
    hierarchy: Hierarchy | None
    problem: str

    @property
    def version(self) -> str:
        """A digest of the hierarchy, which reveals a change made elsewhere."""
        if self.hierarchy is None:
            return ""
        return version_of(repr(self.hierarchy.labels).encode() + self.hierarchy.node_of.tobytes())


def attribute(request: Request) -> Response:
    """Show one attribute."""
    look = look_of(request)
    name = named(request.path_params["attribute"], look.records.table.names, "attribute")
    guess = look.guess(name)
    assert guess is not None
    facts: dict[str, Any] = {"name": name, "guess": guess, "digest": look.version, "subject": None}
    described = look.attribute(name)
    if described is None or not described.is_released:
        return page(request, "attribute.html.j2", role=described.role if described else None, **facts)
    subject = _subject(look, described)
    source = source_facts(described.hierarchy, guess.hierarchy)
    return page(
        request,
        "attribute.html.j2",
        role=described.role,
        **facts
        | {
            "subject": subject,
            "picture": distribution(look.opened.table if look.opened else look.records.table, subject.column),
            "source": source,
            "written": _written(look, name),
            "files": hierarchy_files.listed(look.project.path.parent),
            "units": UNITS,
            "formats": date_examples(source["format"]),
            "separators": SEPARATORS,
            "levels": _levels(subject) if described.role == "quasi-identifying" else [],
            **_tree_facts(request, subject),
        },
    )


def export(request: Request) -> Response:
    """Send the hierarchy in ARX's format."""
    subject = _subject_of(request)
    return Response(
        hierarchy_files.as_csv(_hierarchy(subject)),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": 'attachment; filename="hierarchy.csv"'},
    )


def generalize(request: Request, form: FormData) -> Response:
    """Set the hierarchy: intervals, prefixes, dates, a file in the folder, or none."""
    subject = _subject_of(request)
    chosen = chosen_source(form, hierarchy_files.listed(subject.look.project.path.parent))
    return _saved(request, form, subject, lambda: chosen, "The hierarchy is saved in the project file.")


def keep_above(request: Request, form: FormData) -> Response:
    """Set the lowest level that may be released."""
    subject = _subject_of(request)
    level = whole(str(form.get("lowest")), "a level is a whole number; choose one of the list")
    return _edited_file(
        request,
        form,
        subject,
        lambda: {"lowest-level": level or None},
        "The lowest level is saved in the project file.",
    )


def rearrange(request: Request, form: FormData) -> Response:
    """Merge, group, rename, move or dissolve nodes of the tree."""
    subject = _subject_of(request)
    require_version(subject.look.project.path, subject.version, str(form.get("tree")))
    rearranged = edited(_hierarchy(subject), form)
    rearranged.build(subject.column.domain, subject.column.kind)
    folder, name = subject.look.project.path.parent, subject.attribute.name
    return _saved(
        request,
        form,
        subject,
        lambda: {"csv": hierarchy_files.write_edited(folder, name, rearranged)},
        "The changed tree is saved.",
    )


def import_csv(request: Request, form: FormData) -> Response:
    """Receive a hierarchy in ARX's format."""
    subject = _subject_of(request)
    given = form.get("file")
    if not isinstance(given, UploadFile) or not given.size:
        raise HierarchyError(
            "no file was chosen; choose a CSV file with one row 'value;level1;…;*' per value"
        )
    read = read_csv(given.file.read(), SEPARATORS.get(str(form.get("separator")), ";"))
    read.build(subject.column.domain, subject.column.kind)
    folder, name = subject.look.project.path.parent, subject.attribute.name
    return _saved(
        request,
        form,
        subject,
        lambda: {"csv": hierarchy_files.write_imported(folder, name, read)},
        "The hierarchy has been imported.",
    )


def _subject_of(request: Request) -> _Subject:
    look = look_of(request)
    name = named(request.path_params["attribute"], look.records.table.names, "attribute")
    described = look.attribute(name)
    if described is None or not described.is_released:
        raise HTTPException(404, "This attribute is not released and has no hierarchy.")
    return _subject(look, described)


def _subject(look: Look, described: Attribute) -> _Subject:
    """Build the hierarchy over the values of the column, including those only in its file."""
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
    """Return the number of records with each value, in the order of the hierarchy."""
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
    node, first = request.query_params.get("node"), request.query_params.get("from", "0")
    top = TreeNode.parse(node, hierarchy) if node else None
    inner = [
        (TreeNode(level, number), label)
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
    """Return every level with the label of its largest node; the root only if it is chosen."""
    hierarchy = subject.hierarchy
    if hierarchy is None or not len(subject.counts):
        return []
    n_levels = max(hierarchy.height, subject.attribute.lowest_level + 1)
    largest = [np.bincount(nodes, subject.counts).argmax() for nodes in hierarchy.node_of[:n_levels]]
    return [(level, hierarchy.labels[level][node] or "missing") for level, node in enumerate(largest)]


def _written(look: Look, name: str) -> str:
    """Return the hierarchy file that the project names, if it does."""
    import tomllib

    block = tomllib.loads(look.project.path.read_text(encoding="utf-8-sig"))["attributes"].get(name, {})
    return str((block.get("hierarchy") or {}).get("csv", ""))


def _saved(
    request: Request,
    form: FormData,
    subject: _Subject,
    chosen: Callable[[], Mapping[str, Any] | None],
    message: str,
) -> Response:
    """Write the hierarchy into the project file unless the data contradicts it."""

    def keys() -> dict[str, Any]:
        given = chosen()
        return {"hierarchy": None if given is None else dict(given)}

    return _edited_file(request, form, subject, keys, message)


def _edited_file(
    request: Request,
    form: FormData,
    subject: _Subject,
    keys: Callable[[], Mapping[str, Any]],
    message: str,
) -> Response:
    """Write keys of the attribute into the project file unless the data contradicts them."""
    look, name = subject.look, subject.attribute.name

    def change(document: Any) -> None:
        for key, value in keys().items():
            set_attribute(document, name, key, value)

    edit(look.project.path, str(form.get("version")), change, state_of(request).projects.bound)
    return back(request, link(request, "attribute", attribute=name), message)


_HERE = "/projects/{project}/data/{attribute}"
routes = [
    Route(_HERE, attribute, name="attribute"),
    Route(f"{_HERE}/hierarchy.csv", export, name="export"),
    Route(f"{_HERE}/hierarchy", posted(generalize), methods=["POST"], name="generalize"),
    Route(f"{_HERE}/lowest", posted(keep_above), methods=["POST"], name="keep_above"),
    Route(f"{_HERE}/tree", posted(rearrange), methods=["POST"], name="rearrange"),
    Route(f"{_HERE}/import", posted(import_csv), methods=["POST"], name="import"),
]
