"""Tests of sampling: how many, whom, and that everybody is as likely to be in it."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato import Schema, Table, measure, sanitize
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers import Sampling

SCHEMA = Schema.of(age="quasi-identifying", ill="sensitive")


def test_everybody_is_as_likely_to_be_drawn() -> None:
    table = Table.from_arrow({"age": list(range(8)), "ill": ["x", "y"] * 4})
    seen = np.zeros(8)
    for seed in range(400):
        release = sanitize(table, SCHEMA, Sampling(0.25), seed=seed)
        assert release.n_records == 2
        seen[release.to_arrow()["age"].to_pylist()] += 1
    assert seen / 400 == pytest.approx(0.25, abs=0.09)


def test_people_are_drawn_with_all_their_records() -> None:
    people_of = [1] * 6 + [2] * 4 + [3, 4]
    table = Table.from_arrow({"who": people_of, "age": list(range(12)), "ill": ["x"] * 12})
    roles = Schema.of(who="identifying", age="quasi-identifying", ill="sensitive")
    schema = Schema(roles.attributes, person="who")
    for seed in range(20):
        ages = sanitize(table, schema, Sampling(0.5), seed=seed).to_arrow()["age"].to_pylist()
        people = {people_of[age] for age in ages}
        assert len(people) == 2
        assert sorted(ages) == [age for age, who in enumerate(people_of) if who in people]


def test_a_reader_scales_the_sample_up(adult: tuple[Table, Schema]) -> None:
    release = sanitize(*adult, Sampling(0.2), seed=0)
    assert release.scale == pytest.approx(5, abs=0.01)
    (taken,) = measure(release, ["query-error"])
    assert taken.value is not None
    assert taken.value < 0.2


@pytest.mark.parametrize("share", [0.0, 1.5])
def test_a_share_of_nothing_or_more_than_all_is_refused(share: float) -> None:
    with pytest.raises(ParameterError, match="share"):
        Sampling(share)
