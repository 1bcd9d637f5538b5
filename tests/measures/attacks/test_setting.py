"""Who is attacked, and who serves as the control group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest

import sfumato as sf
from sfumato.measures.attacks import attack_setting
from sfumato.measures.attacks.attack_setting import drawn_people, read_people, setting_of
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.people_groups import Group, groups_of
from sfumato.runtime.errors import DataError

SCHEMA = sf.Schema.of(age="quasi-identifying", town="quasi-identifying")


def people(ages: Sequence[int]) -> pa.Table:
    return pa.table({"age": ages, "town": [("A", "B", None)[age % 3] for age in ages]})


def release(n: int = 30) -> sf.Release:
    return sf.sanitize(people(range(n)), SCHEMA, sf.sanitizers.AsIs())


def ages_of(table: sf.Table, rows: np.ndarray) -> list[int]:
    return [int(table["age"].domain[code] or 0) for code in table["age"].codes[rows]]


def test_the_control_group_may_be_a_file(tmp_path: Path) -> None:
    csv.write_csv(people(range(100, 140)), tmp_path / "others.csv")
    made = release(4)
    found = setting_of(made, str(tmp_path / "others.csv"), 10, 0)
    assert found.release is made
    assert found.told == "people in others.csv"
    assert found.group is None
    assert found.outside is not None
    assert found.reference is not None
    # of four people all are attacked, one of them to choose by; of forty fifteen, five to choose by
    assert (len(found.inside.rows), found.inside.n_trial) == (4, 1)
    assert (len(found.outside.rows), found.outside.n_trial) == (15, 5)
    attacked = ages_of(found.outside.table, found.outside.rows)
    others = ages_of(found.reference, np.arange(found.reference.n_rows))
    assert sorted([*attacked, *others]) == list(range(100, 140))
    csv.write_csv(people(range(100, 110)), tmp_path / "few.csv")
    # nobody is left to learn from
    assert setting_of(made, str(tmp_path / "few.csv"), 10, 0).reference is None


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    place = tmp_path / "others.csv"
    csv.write_csv(people(range(8)), place)
    assert read_people(str(place)) is read_people(str(place))
    first = setting_of(release(4), str(place), 10, 0)
    csv.write_csv(people(range(12)), place)
    again = setting_of(release(4), str(place), 10, 0)
    assert first.outside is not None
    assert again.outside is not None
    assert (first.outside.table.n_records, again.outside.table.n_records) == (8, 12)
    with pytest.raises(DataError, match=r"the control group nobody\.csv"):
        setting_of(release(4), str(tmp_path / "nobody.csv"), 10, 0)


def test_without_the_original_nobody_can_be_attacked() -> None:
    with pytest.raises(NotApplicable, match="the original is needed"):
        setting_of(release().unlinked(), None, 10, 0)
    assert setting_of(replace(release(), recipe=None), None, 10, 0).told == (
        "none: the release was not made by a recipe that could be run again"
    )


@pytest.mark.parametrize(("n_people", "n_left_out"), [(3, 1), (7, 1), (8, 2), (30, 6)])
def test_a_fifth_is_left_out_of_a_second_release(n_people: int, n_left_out: int) -> None:
    made = release(n_people)
    found = setting_of(made, None, 1000, 0)
    assert found.outside is not None
    outsiders = ages_of(found.outside.table, np.arange(found.outside.table.n_rows))
    stayed = ages_of(found.release.origin.table, np.arange(found.release.origin.table.n_rows))
    assert len(outsiders) == n_left_out
    assert sorted([*outsiders, *stayed]) == list(range(n_people))
    assert found.told.startswith(f"{n_left_out} people, left out")
    assert found.release.origin.earlier == ()


def test_of_many_people_so_many_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attack_setting, "MOST_OUTSIDERS", 3)
    assert setting_of(release(31), None, 1000, 0).told.startswith("3 people")


def test_another_seed_leaves_out_and_draws_others() -> None:
    made = release(60)
    drawn = [
        (ages_of(each.outside.table, each.outside.rows), ages_of(each.inside.table, each.inside.rows))
        for seed in (0, 1)
        if (each := setting_of(made, None, 4, seed)).outside is not None
    ]
    assert drawn[0] != drawn[1]


def test_nothing_that_was_made_anew_is_no_release(monkeypatch: pytest.MonkeyPatch) -> None:
    made = release()
    nothing = replace(made, weights=np.zeros(made.n_rows, dtype=np.int64))
    monkeypatch.setattr(attack_setting, "made_again", lambda *facts: nothing)
    assert setting_of(made, None, 10, 0).told == "none: no record is left when the release is made again"
    one = replace(made, weights=np.arange(made.n_rows) == 0)
    monkeypatch.setattr(attack_setting, "made_again", lambda *facts: one)
    assert setting_of(made, None, 10, 1).told.startswith("6 people")


def test_of_equal_people_some_stay_and_some_leave() -> None:
    made = sf.sanitize(pa.table({"age": [1] * 20, "town": ["A"] * 20}), SCHEMA, sf.sanitizers.AsIs())
    found = setting_of(made, None, 1000, 0)
    assert found.outside is not None
    assert (found.release.n_records, found.outside.table.n_records) == (16, 4)


class TestGroups:
    def group(self, made: sf.Release, place: int) -> Group:
        return list(groups_of(made, "town", 1))[place]

    @pytest.mark.parametrize(("place", "rest"), [(0, 0), (1, 1), (2, 2)])
    def test_all_who_are_attacked_are_of_the_group(self, tmp_path: Path, place: int, rest: int) -> None:
        csv.write_csv(people(range(100, 160)), tmp_path / "others.csv")
        made = release(60)
        group = self.group(made, place)
        found = setting_of(made, str(tmp_path / "others.csv"), 8, 0, group)
        assert found.group is group
        assert found.outside is not None
        assert found.reference is not None
        for each in (found.inside, found.outside):
            assert (len(each.rows), each.n_trial) == (12, 4)
            assert {age % 3 for age in ages_of(each.table, each.rows)} == {rest}
        # all others may be learned from, those of other groups as well
        assert found.reference.n_records == 60 - 12

    def test_somebody_of_the_control_group_must_be_of_it(self, tmp_path: Path) -> None:
        made = release(60)
        csv.write_csv(people([0, 3, 6]), tmp_path / "others.csv")
        with pytest.raises(NotApplicable, match="nobody in the control group is of this group"):
            setting_of(made, str(tmp_path / "others.csv"), 8, 0, self.group(made, 1))
        csv.write_csv(pa.table({"age": [1, 2]}), tmp_path / "ages.csv")
        with pytest.raises(NotApplicable, match="the control group has no column 'town'"):
            setting_of(made, str(tmp_path / "ages.csv"), 8, 0, self.group(made, 1))


def test_people_with_several_records_are_drawn_with_all_of_them() -> None:
    schema = sf.Schema(
        (sf.Attribute("age", "quasi-identifying", "numeric"), sf.Attribute("who", "identifying")),
        person="who",
    )
    who = [0, 0, 0, 1, 1, 2]
    table, _ = schema.bind(sf.Table.from_arrow({"age": [1, 2, 3, 4, 5, 6], "who": who}))
    seen = set()
    for seed in range(20):
        rows, left = drawn_people(table, 2, np.random.default_rng(seed))
        drawn = {who[row] for row in rows}
        assert len(rows) == len(drawn) == 2
        assert left.tolist() == [0 if person in drawn else 1 for person in who]
        seen |= set(rows.tolist())
    # any of their records may be the one that is known
    assert seen == set(range(6))
