"""Summarize a release for someone who does not know the measures: who looks alike, what could be learned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from sfumato.results import formatting
from sfumato.results.release import Release
from sfumato.verification.page_statements import MOST_EXAMPLE_VALUES, pointer

_ALIKE = Markup(
    "Records that look alike form groups: the smallest has {}, and the typical record is in a group of {}."
)
_LEARNED = Markup(
    "Someone who finds the group of a person learns how common each sensitive value is there. The largest "
    "difference: a value of {} has a share of {} in one group, and of {} among all released records."
)
_TIE = 1e-12

Show = Callable[[str, Any, str], str]
"""Prints a figure, given the pointer to it, its value and its text."""


@dataclass(frozen=True)
class Example:
    """The sensitive value that the group of a person reveals most about; pages do not name it.

    Parameters
    ----------
    attribute
        The sensitive attribute.
    share, of_all
        The share of the value in that group, and among all released records.
    """

    attribute: str
    share: float
    of_all: float


def most_telling(release: Release) -> Example | None:
    """Return the value whose share in a group exceeds its share of all records most; none if none does."""
    best, example = (_TIE, 0.0), None
    for name in release.schema.sensitive:
        cells, groups, weights = release.cells[name], release.groups, release.weights
        if len(cells.occurring) > MOST_EXAMPLE_VALUES:
            continue
        n_values = len(cells.labels)
        counts = np.bincount(groups.class_of * n_values + cells.codes, weights, groups.n_classes * n_values)
        shares = counts.reshape(groups.n_classes, -1) / groups.sizes[:, np.newaxis]
        overall = np.bincount(cells.codes, weights, n_values) / release.n_records
        for code in cells.occurring.tolist():
            share, of_all = float(shares[:, code].max()), float(overall[code])
            # rounded, so that a tie is one in any order of computing
            order = round(share - of_all, 9), round(share, 9)
            if order > best:
                best, example = order, Example(name, share, of_all)
    return example


def plain_sentences(
    release: Release, sizes: Mapping[str, Any], show: Show = lambda _, __, text: text
) -> list[Markup]:
    """Say how many records look alike, and what the group of a person reveals, where rows stand for people.

    Parameters
    ----------
    release
        The release.
    sizes
        The ``smallest`` and the ``median`` size of its classes.
    show
        How a figure is printed.
    """
    if release.type != "people" or not release.n_records:
        return []
    figures = (
        show(pointer("cells", "classes", name), sizes[name], f"{sizes[name]:,}")
        for name in ("smallest", "median")
    )
    sentences = [_ALIKE.format(*figures)]
    example = most_telling(release)
    if example is not None:
        parts = {
            "attribute": example.attribute,
            "share": formatting.share(example.share),
            "of_all": formatting.share(example.of_all),
        }
        shown = (
            show(pointer("cells", "learned", name), getattr(example, name), text)
            for name, text in parts.items()
        )
        sentences.append(_LEARNED.format(*shown))
    return sentences
