"""Reduce a differentially private release to what its guarantee covers, before anything is written of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sfumato.data.hierarchy import ROOT, Flat, Hierarchy
from sfumato.data.table import Column
from sfumato.measures.disclosure.dp_guarantee import guarantee_of
from sfumato.results.release import Release
from sfumato.results.released_column import Cells, exact_cells
from sfumato.runtime.arrays import sealed
from sfumato.verification.documents import GuaranteeFacts, PublicFacts


def guarantee_facts(release: Release, chosen: str) -> GuaranteeFacts | None:
    """Return the claim of differential privacy of a release, with the public part that it rests on.

    Parameters
    ----------
    release
        What is published.
    chosen
        Whether it was chosen ``before`` any look at the original or ``after`` it.
    """
    guarantee = guarantee_of(release)
    if guarantee is None:
        return None
    schema = release.schema.given or release.schema
    public = {}
    for name in schema.released:
        attribute = schema[name]
        public[name] = PublicFacts(
            kind=attribute.kind or release.schema.kind(name).name,
            whole=attribute.public.whole,
            bounds=None if attribute.public.bounds is None else list(attribute.public.bounds),
            domain=list(attribute.public.domain),
            hierarchy=None if attribute.hierarchy is None else type(attribute.hierarchy).__name__.lower(),
        )
    return GuaranteeFacts(
        epsilon=guarantee.epsilon,
        delta=guarantee.delta,
        unit=guarantee.unit,
        public=public,
        chosen="before" if chosen == "before" else "after",
        people_at_most=schema.people_at_most,
    )


def without_original(release: Release) -> Release:
    """Return a release that knows nothing of its original: neither a record nor a value that did not appear.

    Its domains and hierarchies are built again over the released values, from the schema as it was given.
    """
    given = release.schema.given or release.schema
    attributes, cells = {}, {}
    for attribute in given.attributes:
        attributes[attribute.name] = attribute
        if not attribute.is_released:
            continue
        kind, before = release.schema.kind(attribute.name), release.cells[attribute.name]
        used, codes = np.unique(before.codes, return_inverse=True)
        labels = tuple(before.labels[code] for code in used)
        codes = sealed(codes.astype(np.int32))
        source = attribute.hierarchy or Flat()
        if before.sets is None:
            domain = tuple(before.domain[code] for code in used)
            hierarchy, after = source.build(kind.sorted(domain), kind), Cells(codes, labels, domain)
        elif attribute.lowest_level or labels == (ROOT,):
            hierarchy, after = release.schema.hierarchy(attribute.name), before
        else:
            domain = tuple(before.domain[code] for code in used)
            hierarchy = source.build(kind.sorted(domain), kind)
            column = Column(codes, domain, kind).reordered(hierarchy.values)
            after = exact_cells(column, np.arange(len(codes)))
        assert isinstance(hierarchy, Hierarchy)
        attributes[attribute.name] = replace(attribute, kind=kind.name, hierarchy=hierarchy)
        cells[attribute.name] = after
    return Release(
        schema=replace(
            given, attributes=tuple(attributes.values()), person=None, pseudonym=False, given=given
        ),
        cells=cells,
        weights=release.weights,
        n_original=release.reported_original or release.n_records,
        recipe=release.recipe,
        notes=release.notes,
        type=release.type,
    )
