"""The estimating kernels against plain sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.kernels.weight_estimates import add_up, even_runs, label_totals, shares_by_node

N_CODES = 5


@st.composite
def labels(draw: st.DrawFn) -> list[dict[int, float]]:
    """Draw what each label puts on which codes."""
    masses = st.sampled_from([0.1, 0.3, 1.0, 2.0])
    return draw(st.lists(st.dictionaries(st.integers(0, N_CODES - 1), masses, min_size=1), min_size=1))


@given(
    spread=labels(),
    nodes=st.lists(st.frozensets(st.integers(0, N_CODES - 1), min_size=1), min_size=1, max_size=4),
)
def test_the_share_of_a_label_in_a_node(spread: list[dict[int, float]], nodes: Any) -> None:
    starts = np.cumsum([0] + [len(each) for each in spread])
    codes = np.array([code for each in spread for code in each], dtype=np.int32)
    masses = np.array([mass for each in spread for mass in each.values()])
    of_code = [[number for number, node in enumerate(nodes) if code in node] for code in range(N_CODES)]
    node_starts = np.cumsum([0] + [len(each) for each in of_code])
    nodes_of_code = np.array([node for each in of_code for node in each], dtype=np.int32)
    totals = label_totals(starts, masses)
    assert totals == pytest.approx([sum(each.values()) for each in spread])
    found_starts, found_labels, shares = shares_by_node(
        starts, codes, masses, totals, node_starts, nodes_of_code, len(nodes)
    )
    for number, node in enumerate(nodes):
        part = slice(found_starts[number], found_starts[number + 1])
        found = dict(zip(found_labels[part].tolist(), shares[part].tolist(), strict=True))
        expected = {
            label: sum(mass for code, mass in each.items() if code in node) / sum(each.values())
            for label, each in enumerate(spread)
            if node & each.keys()
        }
        assert found == pytest.approx(expected)
        for label, each in enumerate(spread):
            if each.keys() <= node:
                assert found[label] == 1.0


def test_amounts_are_added_up_by_place() -> None:
    assert add_up(np.array([2, 0, 2]), np.array([0.5, 1.0, 0.25]), 4).tolist() == [1.0, 0.0, 0.75, 0.0]


def test_even_runs_are_neighbours_with_equal_masses() -> None:
    starts = np.array([0, 1, 3, 5, 7])
    codes = np.array([3, 1, 2, 1, 3, 2, 3], dtype=np.int32)
    masses = np.array([0.5, 1, 1, 1, 1, 1, 2])
    assert even_runs(starts, codes, masses).tolist() == [True, True, False, False]
