"""List the leaves below each branch of a hierarchy that a release publishes.

``[20, 30)`` and ``130*`` explain themselves; ``Europe`` does not. So readers get all leaves that the owner's
hierarchy has below such a branch, whether they occur in the data or not: which of them occur would be a fact
about the data. If all leaves of a hierarchy occur, it was written from the data, as `sfumato new` does, and
listing a leaf would reveal that someone has it. Then leaves that no released record has are omitted. A
hierarchy that sfumato derives from the values of the data, by widths, prefixes or dates, is never listed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sfumato.data.hierarchy import ROOT, Hierarchy, HierarchySource, Label, Nested
from sfumato.data.ordered_ranges import OR_MISSING
from sfumato.data.table import text
from sfumato.results.label_parsing import interval_ends, set_parts
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.release import Release


def published_branches(release: Release, name: str) -> dict[str, list[str]]:
    """Return the published branches of an attribute, each with the leaves below it.

    Parameters
    ----------
    release
        What would be published.
    name
        The attribute.

    Examples
    --------
    >>> import pyarrow
    >>> from sfumato import Attribute, Hierarchy, Schema, sanitize
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import FullDomain
    >>> tree = Hierarchy.nested({"Europe": ["France", "Italy"], "Asia": ["Japan", "China"]})
    >>> schema = Schema((Attribute("country", "quasi-identifying", hierarchy=tree),))
    >>> table = pyarrow.table({"country": ["France", "France"]})
    >>> release = sanitize(table, schema, FullDomain({"country": 1}, KAnonymity(2)))
    >>> published_branches(release, "country")
    {'Europe': ['France', 'Italy']}
    """
    given = release.schema.given
    source = None if given is None else given[name].hierarchy
    hierarchy = _written_hierarchy(source)
    if hierarchy is None:
        return {}
    cells = release.cells[name]
    labels = [cells.labels[code] for code in np.unique(cells.codes)]
    parts = dict.fromkeys(part for label in labels for part in _label_parts(label))
    secret = _unreleased_leaves(release, name, hierarchy)
    below = {
        part: [leaf for leaf in _leaves_below(hierarchy, part) if leaf not in secret]
        for part in sorted(parts)
    }
    return {part: leaves for part, leaves in below.items() if leaves not in ([], [part])}


def _unreleased_leaves(release: Release, name: str, hierarchy: Hierarchy) -> frozenset[str]:
    """Return the leaves that no released record has, if the hierarchy has only leaves from the data."""
    if not isinstance(release, LinkedRelease):
        return frozenset()
    table, rows = release.origin.table, release.origin.linked_rows
    occurring = {text(table[name].domain[code]) or "" for code in np.unique(table[name].codes)}
    leaves = {label or "" for label in hierarchy.labels[0]}
    if not leaves <= occurring:
        return frozenset()
    if rows is None:
        return frozenset(leaves - {label or "" for label in release.cells[name].labels})
    kept = {text(table[name].domain[code]) or "" for code in np.unique(table[name].codes[rows])}
    return frozenset(leaves - kept)


def _written_hierarchy(source: HierarchySource | None) -> Hierarchy | None:
    """Return the hierarchy if its owner wrote it value by value."""
    if isinstance(source, Nested):
        return Hierarchy.nested(source.groups)
    return source if isinstance(source, Hierarchy) else None


def _leaves_below(hierarchy: Hierarchy, label: str) -> list[str]:
    """Return the leaves below a branch, or a range of branches; none if the label explains itself."""
    if label == ROOT or interval_ends(label) is not None:
        return []
    places = list(hierarchy.nodes_named.get(label, ()))
    nodes = None if places else hierarchy.range_named(label)
    if nodes is not None:
        level, first, last = nodes
        places = [(level, node) for node in range(first, last + 1)]
    is_below = np.zeros(len(hierarchy.values), dtype=np.bool_)
    for level, node in places:
        is_below |= hierarchy.node_of[level] == node
    return [hierarchy.labels[0][value] or "" for value in np.flatnonzero(is_below)]


def _label_parts(label: Label) -> Iterator[str]:
    if label is None:
        return
    plain = label.removesuffix(OR_MISSING)
    yield from dict.fromkeys([label, plain])
    if plain.startswith("{") and plain.endswith("}"):
        for part in set_parts(plain[1:-1]):
            yield from _label_parts(part)
