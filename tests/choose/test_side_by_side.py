"""Side by side: every measure of all releases, the best marked, every pair compared."""

from __future__ import annotations

import pytest

from sfumato import Schema, Table, compare, sanitize
from sfumato.measures import measure
from sfumato.models import KAnonymity
from sfumato.results.candidate import Candidate
from sfumato.results.linked_release import LinkedRelease
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers import Anatomy, AsIs, Mondrian, Sanitizer
from sfumato.workflow.choose.side_by_side import side_by_side

Bound = tuple[Table, Schema]
MEASURES = ["k-anonymity", "general-loss", "privacy-loss", "suppression-loss"]


def made(hospital: Bound, *ways: Sanitizer) -> tuple[list[Candidate], list[LinkedRelease]]:
    releases = [sanitize(*hospital, way) for way in ways]
    candidates = [
        Candidate(f"c{place}", release.recipe, tuple(measure(release, MEASURES)))
        for place, release in enumerate(releases)
    ]
    return candidates, releases


def test_two_are_compared_as_compare_does(hospital: Bound) -> None:
    candidates, releases = made(hospital, Mondrian(KAnonymity(2)), Mondrian(KAnonymity(6)))
    found = side_by_side(candidates, releases)
    expected = compare(releases[0], releases[1], MEASURES, names=("c0", "c1"))
    assert found.pairs == (expected,)
    assert [line.values for line in found.lines] == [(f.first, f.second) for f in expected.figures]
    assert found.class_sizes == expected.class_sizes
    assert found.losses == expected.losses


def test_of_three_every_pair_is_compared_and_the_best_marked(hospital: Bound) -> None:
    ways = (AsIs(), Mondrian(KAnonymity(2)), Mondrian(KAnonymity(6)))
    found = side_by_side(*made(hospital, *ways))
    assert [pair.names for pair in found.pairs] == [("c0", "c1"), ("c0", "c2"), ("c1", "c2")]
    best = {line.label: line.best for line in found.lines}
    assert best == {"k-anonymity": (2,), "general-loss": (0,), "privacy-loss": (2,), "suppression-loss": ()}
    assert [sizes.smallest for sizes in found.class_sizes] == [1, 2, 6]


def test_a_measure_that_does_not_apply_is_not_the_best(hospital: Bound) -> None:
    found = side_by_side(*made(hospital, Anatomy(2), Mondrian(KAnonymity(2)), AsIs()))
    loss = next(line for line in found.lines if line.label == "general-loss")
    assert loss.values[0] is None
    assert loss.best == (2,)


def test_one_alone_cannot_be_compared(hospital: Bound) -> None:
    with pytest.raises(ParameterError, match="two releases"):
        side_by_side(*made(hospital, AsIs()))
