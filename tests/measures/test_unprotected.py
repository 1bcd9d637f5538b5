"""Attributes that are released as they are, and whom they single out."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tests.report.marks_reader import without_marks

import sfumato as sf
from sfumato.data.schema import Role
from sfumato.interfaces.cli import cli
from sfumato.measures.identity.uniqueness import (
    MOST,
    NEAR_UNIQUE,
    Alone,
    alone_by_insensitive,
    warnings_of,
)
from sfumato.results.linked_release import released
from sfumato.workflow.publish.cautions import cautions

ROLES: dict[str, Role] = {
    "age": "quasi-identifying",
    "visit": "insensitive",
    "ward": "insensitive",
    "ill": "sensitive",
}


def people(n_alone: int) -> dict[str, list[str]]:
    """Return 100 people, of whom so many have a visit of their own; the others share one."""
    return {
        "age": [str(20 + row // 10) for row in range(100)],
        "visit": [f"v{row}" if row < n_alone else "usual" for row in range(100)],
        "ward": ["a" if row % 2 else "b" for row in range(100)],
        "ill": ["yes" if row // 2 % 2 else "no" for row in range(100)],
    }


def as_it_is(columns: dict[str, list[str]]) -> sf.Release:
    schema = sf.Schema.of(**{name: ROLES[name] for name in columns})
    return released(*schema.bind(sf.Table.from_arrow(columns)), {})


def test_each_alone_all_together_and_each_sensitive_one_are_counted() -> None:
    found = alone_by_insensitive(as_it_is(people(8)))
    assert [(each.attributes, each.sensitive, each.n_alone) for each in found] == [
        (("visit",), None, 8),
        (("ward",), None, 0),
        (("visit", "ward"), None, 8),
        (("visit", "ward"), "ill", 8),
    ]
    assert {each.n_records for each in found} == {100}


def test_the_counts_are_those_of_counting_every_combination() -> None:
    drawn = np.random.default_rng(3)
    columns = {
        "age": [str(value) for value in drawn.integers(0, 5, 200)],
        "visit": [str(value) for value in drawn.integers(0, 90, 200)],
        "ward": [str(value) for value in drawn.integers(0, 6, 200)],
        "ill": [str(value) for value in drawn.integers(0, 4, 200)],
    }
    for found in alone_by_insensitive(as_it_is(columns)):
        names = [*found.attributes, *([found.sensitive] if found.sensitive else [])]
        counts = Counter(zip(*(columns[name] for name in names), strict=True))
        assert found.n_alone == sum(count == 1 for count in counts.values())


def test_one_record_in_ten_is_the_threshold() -> None:
    assert NEAR_UNIQUE == 0.1
    assert not warnings_of(alone_by_insensitive(as_it_is(people(9))))
    (warning,) = warnings_of(alone_by_insensitive(as_it_is(people(10))))
    assert warning.startswith("visit is named insensitive and released as it is: 10 of 100 records (10%)")


def test_with_a_sensitive_value_more_than_half_is_the_threshold() -> None:
    assert MOST == 0.5
    columns = {"visit": [str(row // 2) for row in range(100)], "ill": ["yes", "yes"] * 50}
    for n_apart, n_warnings in ((25, 0), (26, 1)):
        columns["ill"] = [
            "no" if row % 2 and row // 2 < n_apart else "yes" for row in range(100)
        ]  # each pair of a visit that is told apart leaves two records alone
        found = alone_by_insensitive(as_it_is(columns))
        assert [each.n_alone for each in found] == [0, 2 * n_apart]
        assert len(warnings_of(found)) == n_warnings


def test_several_that_are_harmless_alone_are_warned_of_together() -> None:
    columns = {
        "visit": [str(row // 10) for row in range(100)],
        "ward": [str(row % 10) for row in range(100)],
        "ill": ["yes"] * 100,
    }
    (warning,) = warnings_of(alone_by_insensitive(as_it_is(columns)))
    assert warning.startswith("visit and ward are named insensitive")
    assert "100 of 100 records (100%) are the only ones with their values together" in warning


def test_no_insensitive_attribute_no_figure() -> None:
    assert alone_by_insensitive(released(*sf.datasets.hospital(), {})) == ()


def test_values_that_are_published_per_group_belong_to_no_record() -> None:
    columns = people(8)
    table = sf.Table.from_arrow(columns)
    release = sf.sanitize(table, sf.Schema.of(**ROLES), sf.sanitizers.Anatomy(2))
    assert [each.sensitive for each in alone_by_insensitive(release)] == [None, None, None]


def test_what_is_not_released_is_not_counted() -> None:
    release = as_it_is(people(8))
    cells = {name: release.cells[name] for name in ("age", "visit")}
    (found,) = alone_by_insensitive(replace(release, cells=cells))
    assert (found.attributes, found.sensitive) == (("visit",), None)


def test_of_no_records_none_is_alone() -> None:
    assert Alone(("visit",), None, 0, 0).share == 0
    assert Alone(("visit",), None, 3, 12).figure == "3 of 12 records (25%)"


def test_what_follows_from_an_earlier_sentence_is_not_said_again() -> None:
    """With another column, or with the illness besides, the same records are alone; or more, or others."""
    visit, ward = Alone(("visit",), None, 60, 100), Alone(("ward",), None, 60, 100)
    both, with_ill = Alone(("visit", "ward"), None, 60, 100), Alone(("visit",), "ill", 60, 100)
    assert len(warnings_of([visit, both, with_ill])) == 1
    assert len(warnings_of([visit, ward])) == 2
    assert len(warnings_of([visit, replace(both, n_alone=61), replace(with_ill, n_alone=62)])) == 3


def test_one_column_has_a_value_and_with_a_sensitive_one_records_can_be_linked() -> None:
    (alone,) = warnings_of([Alone(("visit",), None, 60, 100)])
    assert "are the only ones with their value, whatever protects the others" in alone
    (linked,) = warnings_of([Alone(("visit", "ward"), "ill", 60, 100)])
    assert linked.startswith("visit and ward are named insensitive and released as they are: with ill, 60 of")
    assert "can link them" in linked


@pytest.fixture
def project(tmp_path: Path) -> Path:
    columns = people(30)
    lines = [",".join(columns), *(",".join(row) for row in zip(*columns.values(), strict=True))]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n", "utf-8")
    roles = "".join(f'[attributes.{name}]\nrole = "{role}"\n' for name, role in ROLES.items())
    search = '[[candidates]]\nsanitizer = "mondrian"\nmodel = { k-anonymity = { k = 10 } }\n'
    place = tmp_path / "people.toml"
    place.write_text(f'policy.recipient = "none"\n[data]\npath = "people.csv"\n{roles}{search}', "utf-8")
    return place


class TestWhereItIsSaid:
    def test_by_inspect(self, project: Path) -> None:
        run = CliRunner().invoke(cli, ["inspect", str(project)])
        assert "warning: visit is named insensitive" in run.stderr
        assert "30 of 100 records (30%)" in run.stderr
        facts = json.loads(CliRunner().invoke(cli, ["inspect", str(project), "--json"]).stdout)
        assert facts["insensitive"][0] == {
            "attributes": ["visit"],
            "sensitive": None,
            "alone": 30,
            "share": 0.3,
        }
        assert len(facts["warnings"]) == 1

    def test_by_publish_and_in_the_report(self, project: Path) -> None:
        CliRunner().invoke(cli, ["explore", str(project)], catch_exceptions=False)
        listed = json.loads(CliRunner().invoke(cli, ["frontier", str(project), "--json"]).stdout)
        identity = listed["candidates"][0]["id"]
        out = project.parent / "out"
        run = CliRunner().invoke(cli, ["publish", identity, str(out), "-P", str(project)])
        assert run.exit_code == 0
        assert "warning: visit is named insensitive" in run.stderr
        page = without_marks((out / "report.html").read_text("utf-8"))
        assert '<p class="caution"><code>visit</code> is named insensitive and released without' in page
        assert "by <code>visit</code> 30 of 100 records (30%)" in page
        assert sf.verify(out).holds

    def test_in_a_notebook(self, project: Path) -> None:
        assert "visit is named insensitive" in sf.inspect(project)._repr_html_()

    def test_before_deciding(self) -> None:
        assert cautions(sf.Recipe("mondrian"), 0, ["look at visit"]) == ("look at visit",)
        assert cautions(sf.Recipe("mst"), 0, ["look at visit"], chosen_before=True) == ()
        (reason,) = cautions(sf.Recipe("mst"), 0, ["look at visit"])
        assert "covers the records that are drawn, not the choice" in reason


def test_nothing_of_synthetic_records_is_released_as_it_is() -> None:
    table = sf.Table.from_arrow({"age": [1, 2] * 200, "visit": list(range(400)), "ill": ["a", "b"] * 200})
    schema = sf.Schema.of(age="quasi-identifying", visit="insensitive", ill="sensitive")
    assumed = schema.with_assumed_public_part(table)
    assert alone_by_insensitive(sf.sanitize(table, assumed, sf.sanitizers.MST(epsilon=5.0))) == ()
