"""Tests of PRAM: how often values are kept, what becomes of frequencies, and what stays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sfumato import Schema, Table, sanitize
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers import PRAM
from sfumato.sanitizers.perturb.pram import exchanged_once, exchanged_twice

SCHEMA = Schema.of(town="quasi-identifying", sex="quasi-identifying", ill="sensitive")


def drawn_table(n: int = 4_000) -> Table:
    rng = np.random.default_rng(0)
    town = rng.choice(list("ABCD"), n, p=[0.7, 0.2, 0.07, 0.03])
    return Table.from_arrow(
        {
            "town": town.tolist(),
            "sex": rng.choice(["f", "m"], n).tolist(),
            "ill": rng.choice(["x", "y"], n).tolist(),
        }
    )


SHARES = np.array([0.7, 0.2, 0.1])


def one_stage(shares: np.ndarray, retain: float) -> np.ndarray:
    """Return the matrix of the docstring."""
    return retain * np.eye(len(shares)) + (1 - retain) * shares


def two_stages(shares: np.ndarray, retain: float) -> np.ndarray:
    """Return R = P Q as Gouweleeuw et al. define it: P, then back by Bayes' rule."""
    n = len(shares)
    p = retain * np.eye(n) + (1 - retain) / n
    q = np.array([[p[k, j] * shares[k] / (shares @ p[:, j]) for k in range(n)] for j in range(n)])
    assert q.sum(axis=1) == pytest.approx(np.ones(n), abs=1e-12)
    return p @ q


@pytest.mark.parametrize("matrix", [one_stage, two_stages])
@pytest.mark.parametrize("retain", [0.0, 0.35, 0.8, 1.0])
@pytest.mark.parametrize("shares", [SHARES, np.array([0.5, 0.5]), np.array([0.9, 0.06, 0.03, 0.01])])
def test_the_matrix_keeps_every_share_exactly(matrix: Any, retain: float, shares: np.ndarray) -> None:
    assert shares @ matrix(shares, retain) == pytest.approx(shares, abs=1e-12)


@pytest.mark.parametrize(
    ("exchanged", "matrix"), [(exchanged_once, one_stage), (exchanged_twice, two_stages)]
)
@pytest.mark.parametrize("retain", [0.0, 0.6, 1.0])
def test_values_are_drawn_by_the_matrix(exchanged: Any, matrix: Any, retain: float) -> None:
    codes = np.repeat([0, 1, 2], (SHARES * 120_000).astype(int))
    changed = exchanged(codes, np.zeros_like(codes), retain, np.random.default_rng(1))
    found = np.array([np.bincount(changed[codes == i], minlength=3) / (codes == i).sum() for i in range(3)])
    assert found == pytest.approx(matrix(SHARES, retain), abs=0.015)
    assert np.bincount(changed) / len(codes) == pytest.approx(SHARES, abs=0.01)


@pytest.mark.parametrize("exchanged", [exchanged_once, exchanged_twice])
def test_within_strata_each_keeps_its_own_shares(exchanged: Any) -> None:
    rng = np.random.default_rng(2)
    stratum = np.repeat([0, 1], 40_000)
    codes = np.where(stratum == 0, rng.choice([0, 1], 80_000, p=[0.9, 0.1]), rng.choice([1, 4], 80_000))
    changed = exchanged(codes, stratum, 0.3, rng)
    for each in (0, 1):
        true, found = (np.bincount(x[stratum == each], minlength=5) / 40_000 for x in (codes, changed))
        assert found == pytest.approx(true, abs=0.012)
        assert (found[true == 0] == 0).all()


@pytest.mark.parametrize("two_stage", [False, True])
def test_what_values_are_exchanged_within_stays_and_so_do_its_counts(two_stage: bool) -> None:
    table = drawn_table()
    how = PRAM(0.9, within=("ill", "sex"), probabilities={"town": 0.2}, two_stage=two_stage)
    release = sanitize(table, SCHEMA, how, seed=0)
    assert release.cells["sex"].codes.tolist() == table["sex"].codes[release.origin.rows].tolist()
    changed, true = release.to_arrow().to_pandas(), table.to_pandas()
    counts = [frame.groupby(["ill", "sex", "town"]).size() / len(frame) for frame in (changed, true)]
    assert (counts[0] - counts[1]).abs().max() < 0.02
    assert "town (0.2)" in release.notes[0]


def test_what_is_not_named_is_left_alone() -> None:
    table = drawn_table()
    release = sanitize(table, SCHEMA, PRAM(0.5, ("town",)), seed=0)
    assert release.type == "perturbed"
    changed = release.to_arrow().to_pandas()
    true = table.to_pandas()
    pairs = (changed.groupby(["sex", "ill"]).size(), true.groupby(["sex", "ill"]).size())
    assert pairs[0].equals(pairs[1])
    assert (changed["town"].value_counts() - true["town"].value_counts()).abs().max() > 0


@pytest.mark.parametrize(("retain", "kept"), [(1.0, 1.0), (0.0, 0.7**2 + 0.2**2 + 0.07**2 + 0.03**2)])
def test_records_keep_their_values_as_often_as_they_should(retain: float, kept: float) -> None:
    release = sanitize(drawn_table(), SCHEMA, PRAM(retain, ("town",)), seed=0)
    same = release.cells["town"].codes == release.origin.table["town"].codes[release.origin.rows]
    assert (same * release.weights).sum() / release.n_records == pytest.approx(kept, abs=0.03)


def test_parameters_that_mean_nothing_are_refused() -> None:
    with pytest.raises(ParameterError, match="retain"):
        PRAM(1.5)
    with pytest.raises(ParameterError, match=r"probabilities\.town"):
        PRAM(probabilities={"town": -0.1})
    for wrong in (PRAM(attributes=("twon",)), PRAM(within=("twon",)), PRAM(probabilities={"twon": 0.5})):
        with pytest.raises(ParameterError, match="did you mean 'town'"):
            sanitize(drawn_table(10), SCHEMA, wrong)
    with pytest.raises(ParameterError, match="no attribute is left"):
        sanitize(drawn_table(10), SCHEMA, PRAM(within=("town", "sex")))
