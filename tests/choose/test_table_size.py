"""A table with too few records for its quasi-identifiers is called so, with what would help."""

from __future__ import annotations

import pytest

from sfumato.workflow.choose.table_size import too_small


@pytest.mark.parametrize(
    ("n_records", "n_names", "k", "is_small"),
    [
        # 0.75 halvings for each of four quasi-identifiers: 11 x 2^3 records
        (87, 4, 11, True),
        (88, 4, 11, False),
        (39, 4, 5, True),
        (40, 4, 5, False),
        (5, 1, 11, True),
        (45_222, 6, 11, False),
        (12, 0, 11, False),
        (12, 3, 1, False),
    ],
)
def test_a_table_is_small_if_it_can_be_halved_too_seldom(
    n_records: int, n_names: int, k: int, is_small: bool
) -> None:
    assert bool(too_small(n_records, n_names, k)) == is_small


def test_what_would_help_is_enough() -> None:
    said = too_small(87, 8, 11)
    assert "withhold all but 3 of these attributes" in said
    assert "have about 700 records" in said
    assert not too_small(87, 3, 11)
    assert not too_small(710, 8, 11)


def test_where_no_attribute_can_stay_only_records_help() -> None:
    assert "withhold" not in too_small(12, 2, 11)
