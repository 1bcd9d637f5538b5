"""The deFinetti attack: it works where groups teach, and gets nothing where they do not."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato import (
    Anatomy,
    Attribute,
    KAnonymity,
    Mondrian,
    ProbabilisticDiversity,
    Schema,
    SuppressQuasiIdentifiers,
    Table,
    datasets,
    measure,
    sanitize,
)
from sfumato.measures.aware.de_finetti import _Dealt

SMOKES = Schema((Attribute("smokes", "quasi-identifying"), Attribute("illness", "sensitive")))


def gain(table: Table, schema: Schema, how: object) -> float:
    (taken,) = measure(sanitize(table, schema, how, seed=2), ["de-finetti-gain"])  # type: ignore[arg-type]
    assert taken.value is not None
    return taken.value


def smokers(share: float) -> Table:
    """Return people of whom so many with lung illnesses smoke, and so many with others do not."""
    smokes, illnesses = [], []
    for kind, n_people in enumerate((130, 120, 90, 70, 50)):
        of_lung = kind % 2 == 0
        likely = round(n_people * share)
        smokes += ["yes" if of_lung else "no"] * likely + ["no" if of_lung else "yes"] * (n_people - likely)
        illnesses += [f"illness {kind}"] * n_people
    return Table.from_arrow({"smokes": smokes, "illness": illnesses})


def test_groups_that_are_correlated_give_their_members_away() -> None:
    # a group with one illness of the lung has one smoker: all groups together tell whose it is
    assert gain(smokers(0.9), SMOKES, Anatomy(2)) > 0.15


def test_nothing_is_learned_where_nothing_goes_together() -> None:
    assert gain(smokers(0.5), SMOKES, Anatomy(2)) < 0.1


def test_the_gain_falls_with_what_goes_together() -> None:
    gains = [gain(smokers(share), SMOKES, Anatomy(2)) for share in (0.98, 0.85, 0.6)]
    assert gains == sorted(gains, reverse=True)


@pytest.mark.parametrize(
    "how", [SuppressQuasiIdentifiers(), Mondrian(KAnonymity(4)), Mondrian(ProbabilisticDiversity(1.5))]
)
def test_members_that_look_alike_cannot_be_told_apart(how: object) -> None:
    assert gain(*datasets.hospital(), how) == 0


def test_the_baseline_is_the_commonest_value_of_each_group() -> None:
    release = sanitize(*datasets.adult("train"), Anatomy(3), seed=1)
    (taken,) = measure(release, ["de-finetti-gain"])
    assert taken.baseline == pytest.approx(1 / 3, abs=0.001)
    assert taken.value is not None
    assert taken.value > 0.2


def test_expected_matchings_keep_the_counts_of_rows_and_values() -> None:
    release = sanitize(*datasets.hospital(), Anatomy(3), seed=1)
    dealt = _Dealt.of(release, release.own_values("diagnosis"), len(release.original["diagnosis"].domain))
    rng = np.random.default_rng(0)
    shares = dealt.balanced(rng.random(len(dealt.row_of)) + 0.1)
    assert np.bincount(dealt.row_of, shares) == pytest.approx(release.weights)
    assert np.bincount(dealt.entry_of, shares) == pytest.approx(dealt.counts, abs=1e-3)
