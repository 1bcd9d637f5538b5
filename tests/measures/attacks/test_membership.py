"""Who is told to be in the data, worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.measures import Membership
from sfumato.measures.attacks import membership
from sfumato.measures.attacks.attack_setting import Listed, Setting
from sfumato.measures.attacks.membership import _as_table, _attempts, _density, _fits, _ratios, best_threshold
from sfumato.measures.attacks.record_distances import sight
from sfumato.results.inapplicable import NotApplicable

SCHEMA = sf.Schema((sf.Attribute("age", "quasi-identifying", "numeric", sf.Intervals((10,))),))


def release(ages: list[int], level: int = 0) -> sf.results.LinkedRelease:
    return sf.sanitize(
        pa.table({"age": ages}), SCHEMA, sf.sanitizers.FullDomain({"age": level}, sf.models.KAnonymity(1))
    )


def listed(ages: list[float], n_trial: int = 0) -> Listed:
    table = sf.Table.from_arrow({"age": ages})
    place = {value: code for code, value in enumerate(table["age"].domain)}
    row_of = {int(code): row for row, code in enumerate(table["age"].codes)}
    return Listed(table, np.array([row_of[place[age]] for age in ages]), n_trial)


def test_a_record_at_a_tenth_of_the_width_counts_one_in_e() -> None:
    seen = sight(release([0, 100]), ("age",))
    found = _density(seen, listed([0.0, 10.0, 50.0]))
    # each of the two records counts one half
    expected = [1 + math.exp(-10), math.exp(-1) + math.exp(-9), 2 * math.exp(-5)]
    assert found.tolist() == pytest.approx([each / 2 for each in expected], rel=1e-4)


def test_a_set_is_thinned_out_over_its_values() -> None:
    # three records may be 0 or 1 each, and one is 90
    seen = sight(release([0, 1, 1, 90], 1), ("age",))
    found = _density(seen, listed([0.0, 90.0]))
    assert found.tolist() == pytest.approx([3 / 4 / 2, 1 / 4], rel=1e-3)


def test_a_record_fits_if_it_is_not_off_by_a_hundred_thousandth() -> None:
    seen = sight(release([0, 1_000_000]), ("age",))
    # numbers are compared to some seven digits of the width
    found = _fits(seen, listed([0.0, 5.0, 20.0, 999_995.0]))
    assert found.dtype == np.bool_
    assert found.tolist() == [True, True, False, True]


def test_those_of_the_trial_stand_for_people_in_general_where_nobody_else_does() -> None:
    table = _as_table(listed([5.0, 5.0, 7.0, 9.0], n_trial=3))
    assert [table["age"].domain[code] for code in table["age"].codes] == [5, 7]
    assert table.weights.tolist() == [2, 1]
    assert _as_table(listed([5.0, 5.0, 7.0, 9.0])).n_records == 4


def where(inside: list[int], outside: list[float], reference: list[int] | None, n_trial: int = 0) -> Setting:
    made = release(inside)
    others = None if reference is None else sf.Table.from_arrow({"age": reference})
    drawn = Listed(made.origin.table, np.arange(made.origin.table.n_rows), n_trial)
    return Setting(made, drawn, listed(outside, n_trial), others, "by hand")


def test_the_ratio_compares_released_records_with_people_in_general() -> None:
    setting = where([0, 100], [0.0, 50.0], [0, 0, 0, 100])
    assert setting.outside is not None
    inside, outside = _ratios(setting, setting.outside, sight(setting.release, ("age",)))
    assert inside.tolist() == pytest.approx([0.5 / 0.75, 0.5 / 0.25], rel=1e-3)
    assert outside.tolist() == pytest.approx([0.5 / 0.75, 1], rel=1e-3)
    # where people in general are not, a released record says all
    lonely = where([0, 1000], [0.0], [0, 1])
    assert lonely.outside is not None
    inside, _ = _ratios(lonely, lonely.outside, sight(lonely.release, ("age",)))
    assert inside[1] > 1e3


def test_the_threshold_is_found_in_the_trial_and_used_for_all() -> None:
    # people in general are young: whoever is old and as a released record is must be in the data
    setting = where([0, 100, 90, 80], [0.0, 1.0, 2.0, 3.0], [0, 1, 2, 3, 50], n_trial=2)
    assert setting.outside is not None
    fits, density = _attempts(setting, setting.outside, sight(setting.release, ("age",)))
    assert (fits.attacker, density.attacker) == ("some record fits", "density of records")
    assert fits.trial.attacked.value == fits.judged.attacked.value == 1
    assert fits.trial.control is not None
    assert fits.trial.control.value == 0.5
    # said of one outsider in four without the release
    assert fits.judged.guessing.value == 0.25
    assert density.judged.attacked.value == 1
    assert density.judged.control is not None
    assert density.judged.control.value == 0
    assert (density.trial.n_tries, density.judged.n_tries) == (2, 2)
    # nobody is told who is just at the threshold
    assert density.trial.control is not None
    assert (density.trial.attacked.value, density.trial.control.value) == (0.5, 0)


def test_who_judges_does_not_find_the_threshold(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def threshold(*parts: np.ndarray) -> float:
        asked.extend(len(each) for each in parts)
        return 0.0

    monkeypatch.setattr(membership, "best_threshold", threshold)
    setting = where([0, 100, 90, 80], [0.0, 1.0, 2.0, 3.0, 4.0], None, n_trial=2)
    assert setting.outside is not None
    list(_attempts(setting, setting.outside, sight(setting.release, ("age",))))
    assert asked == [2, 2]


def test_where_nobody_in_general_is_a_released_record_says_all() -> None:
    names = ("a", "b", "c", "d")
    made = sf.sanitize(
        pa.table({name: ["x", "y"] for name in names}),
        sf.Schema.of(dict.fromkeys(names, "quasi-identifying")),
        sf.sanitizers.AsIs(),
    )
    everybody = Listed(made.origin.table, np.arange(2))
    others = sf.Table.from_arrow({name: ["x"] for name in names})
    setting = Setting(made, everybody, Listed(others, np.arange(1)), others, "by hand")
    inside, _ = _ratios(setting, Listed(others, np.arange(1)), sight(made, names))
    # a person who differs in four attributes is too far away to count at all
    assert inside[1] > 1e9
    (told,) = Membership().tried(setting)
    assert told.detail["known"] == "a, b, c, d"


def test_somebody_must_be_known_who_is_not_in_the_data() -> None:
    setting: Any = where([0, 1], [0.0], None)
    alone = Setting(setting.release, setting.inside, None, None, "none: by hand")
    with pytest.raises(NotApplicable, match=r"not in the data \(none: by hand\); give control"):
        list(Membership().tried(alone))


@pytest.mark.parametrize(
    ("inside", "outside", "expected"),
    [
        ([3.0, 4.0], [1.0, 2.0], 2.0),
        # equally good are 0, 1.5 and 2.5
        ([1.0, 2.0, 3.0], [0.0, 1.5, 2.5], 2.5),
        # above 2 are half of those inside and none outside
        ([1.0, 1.0, 3.0, 3.0], [1.0, 2.0], 2.0),
        # one of three inside against none is less than two of three against one of four
        ([1.0, 5.0, 7.0], [1.0, 1.0, 1.0, 6.0], 1.0),
        # of one person inside, or outside, it is said or not
        ([2.0], [1.0, 3.0], 1.0),
        ([1.0, 2.0, 2.0, 2.0, 5.0], [3.0], 3.0),
        ([1.0, 2.0], [], 1.0),
        ([], [1.0], 1.0),
        ([], [], 1.0),
    ],
)
def test_the_best_threshold_says_it_of_most_inside_and_fewest_outside(
    inside: list[float], outside: list[float], expected: float
) -> None:
    assert best_threshold(np.array(inside), np.array(outside)) == expected
