"""Tests of PRAM: how often values are kept, what becomes of frequencies, and what stays."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato import PRAM, Schema, Table, sanitize
from sfumato.errors import ParameterError
from sfumato.sanitizers.pram import randomised

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


def test_the_matrix_is_that_of_the_docstring_and_invariant() -> None:
    shares = np.array([0.7, 0.2, 0.1])
    codes = np.repeat([0, 1, 2], (shares * 60_000).astype(int))
    changed = randomised(codes, 0.6, np.random.default_rng(1))
    found = np.array([np.bincount(changed[codes == i], minlength=3) / (codes == i).sum() for i in range(3)])
    matrix = 0.6 * np.eye(3) + 0.4 * shares
    assert found == pytest.approx(matrix, abs=0.02)
    assert shares @ matrix == pytest.approx(shares)
    assert np.bincount(changed) / len(codes) == pytest.approx(shares, abs=0.01)


def test_what_is_not_named_is_left_alone() -> None:
    table = drawn_table()
    release = sanitize(table, SCHEMA, PRAM(0.5, ("town",)), seed=0)
    assert release.kind == "perturbed"
    changed = release.to_arrow().to_pandas()
    true = table.to_pandas()
    pairs = (changed.groupby(["sex", "ill"]).size(), true.groupby(["sex", "ill"]).size())
    assert pairs[0].equals(pairs[1])
    assert (changed["town"].value_counts() - true["town"].value_counts()).abs().max() > 0


@pytest.mark.parametrize(("retain", "kept"), [(1.0, 1.0), (0.0, 0.7**2 + 0.2**2 + 0.07**2 + 0.03**2)])
def test_records_keep_their_values_as_often_as_they_should(retain: float, kept: float) -> None:
    release = sanitize(drawn_table(), SCHEMA, PRAM(retain, ("town",)), seed=0)
    assert release.original is not None
    same = release.cells["town"].codes == release.original["town"].codes[release.rows]
    assert (same * release.weights).sum() / release.n_records == pytest.approx(kept, abs=0.03)


def test_parameters_that_mean_nothing_are_refused() -> None:
    with pytest.raises(ParameterError, match="retain"):
        PRAM(1.5)
    with pytest.raises(ParameterError, match="did you mean 'town'"):
        sanitize(drawn_table(10), SCHEMA, PRAM(attributes=("twon",)))
