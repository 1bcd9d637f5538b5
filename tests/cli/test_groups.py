"""Measures by group from the project file to the command line: every figure is counted here by hand."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.runtime.errors import ProjectError
from sfumato.workflow.project.project_file import Project

Run = Callable[..., tuple[int, str, str]]
Person = tuple[int, str, str]

K = 3
PROJECT = f"""
policy.recipient = "none"
[data]
path = "people.csv"
[attributes.salary]
role = "quasi-identifying"
kind = "numeric"
hierarchy = {{ intervals = [5, 10, 20] }}
[attributes.town]
role = "quasi-identifying"
[attributes.illness]
role = "sensitive"
[[candidates]]
sanitizer = "full-domain"
levels = {{ salary = [1, 2, 3] }}
suppression = 1.0
model = {{ k-anonymity = {{ k = {K} }} }}
[measure]
privacy = ["k-anonymity"]
utility = ["suppression-loss"]
by = ["town"]
"""
WIDTHS = {1: 5, 2: 10, 3: 20}
TOWNS = {"Ulm": 120, "Bonn": 110, "Jena": 12}


def drawn() -> list[Person]:
    """Return people of three towns: those of Bonn earn all kinds of sums, those of Jena are few."""
    rng = random.Random(1)
    spread = {"Ulm": (30, 50), "Bonn": (0, 799), "Jena": (0, 799)}
    return [
        (rng.randint(*spread[town]), town, rng.choice("abc")) for town, n in TOWNS.items() for _ in range(n)
    ]


PEOPLE = drawn()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = ["salary,town,illness", *(f"{salary},{town},{illness}" for salary, town, illness in PEOPLE)]
    (tmp_path / "people.csv").write_text("\n".join(rows) + "\n", "utf-8")
    place = tmp_path / "people.toml"
    place.write_text(PROJECT, "utf-8")
    monkeypatch.chdir(tmp_path)
    return place


def by_town(width: int) -> dict[str, tuple[int, float]]:
    """Return for each town the smallest class of its kept people, and the share of those who are not."""
    sizes = Counter((salary // width, town) for salary, town, _ in PEOPLE)
    found = {}
    for town, n in TOWNS.items():
        kept = [sizes[salary // width, town] for salary, place, _ in PEOPLE if place == town]
        found[town] = min((size for size in kept if size >= K), default=0), sum(size < K for size in kept) / n
    return found


def worst(width: int) -> tuple[int, float]:
    """Return the worst figures of the towns that are large enough."""
    large = [by_town(width)[town] for town, n in TOWNS.items() if n >= 100]
    return min(size for size, _ in large), max(lost for _, lost in large)


def level(candidate: dict[str, Any]) -> int:
    return int(candidate["parameters"]["levels"]["salary"])


def value(candidate: dict[str, Any], axis: str) -> float:
    return float(
        next(each["value"] for each in candidate["measurements"] if each["measure"] == axis.split()[0])
    )


def test_the_towns_do_not_all_do_the_same() -> None:
    """What follows would say little of figures that are those of everybody."""
    assert all(worst(width)[1] == by_town(width)["Bonn"][1] > 0 for width in WIDTHS.values())
    assert all(by_town(width)["Ulm"][1] < by_town(width)["Bonn"][1] for width in WIDTHS.values())


def test_by_in_a_project_file_asks_for_the_worst_group_of_every_measure(project: Path) -> None:
    loaded = Project.load(project)
    assert loaded.by == ("town",)
    assert loaded.measures == (
        "k-anonymity",
        "suppression-loss",
        {"worst-group-risk": {"attribute": "town", "of": "k-anonymity"}},
        {"worst-group-loss": {"attribute": "town", "of": "suppression-loss"}},
    )


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('["twon"]', r"measure.by: no attribute 'twon' that is released.*did you mean 'town'"),
        (
            '["nothing"]',
            r"measure.by: no attribute 'nothing' that is released; there are salary, town, illness",
        ),
        ('"town"', "measure.by"),
    ],
)
def test_groups_that_there_are_not_are_refused(project: Path, written: str, said: str) -> None:
    text = project.read_text("utf-8").replace('by = ["town"]', f"by = {written}")
    with pytest.raises(ProjectError, match=said):
        Project.parse(text, project)


def test_the_frontier_of_the_worst_off_has_their_figures(sfumato: Run, project: Path) -> None:
    assert sfumato("explore", project, "--workers", 1)[0] == 0
    code, out, err = sfumato("frontier", project, "--worst-of", "town", "--json")
    assert (code, err) == (0, "")
    facts = json.loads(out)
    risk, loss = facts["axes"]
    assert (risk, loss) == (
        "worst-group-risk attribute=town of=k-anonymity",
        "worst-group-loss attribute=town of=suppression-loss",
    )
    found = {level(each): (value(each, risk), value(each, loss)) for each in facts["candidates"]}
    assert found == {each: pytest.approx(worst(width)) for each, width in WIDTHS.items()}
    efficient = {level(each) for each in facts["candidates"] if each["efficient"]}
    assert efficient == not_beaten({each: worst(width) for each, width in WIDTHS.items()})

    code, out, err = sfumato("frontier", project, "--worst-of", "town")
    assert code == 0, err
    assert "worst-group-risk" in out
    code, _, err = sfumato("frontier", project, "--worst-of", "salary")
    assert code == 1
    assert "'k-anonymity' was not measured by 'salary'" in err
    assert "by = ['salary'] and explore again" in err


def not_beaten(figures: dict[int, tuple[int, float]]) -> set[int]:
    """Return the levels for which no other has larger classes and loses less."""
    return {
        one
        for one, (k, loss) in figures.items()
        if not any(
            other_k >= k and other_loss <= loss and (other_k, other_loss) != (k, loss)
            for other_k, other_loss in figures.values()
        )
    }


@pytest.fixture
def foreign(project: Path) -> Path:
    """A release with salaries by tens, of nobody suppressed, as another program wrote it."""
    rows = [f"[{salary // 10 * 10}-{salary // 10 * 10 + 10}[;{town};{ill}" for salary, town, ill in PEOPLE]
    place = project.with_name("foreign.csv")
    place.write_text("\n".join(["salary;town;illness", *rows]) + "\n", "utf-8")
    return place


def smallest_classes() -> dict[str, int]:
    sizes = Counter((salary // 10, town) for salary, town, _ in PEOPLE)
    return {town: min(size for (_, of), size in sizes.items() if of == town) for town in TOWNS}


def test_a_file_is_measured_for_each_group(sfumato: Run, foreign: Path) -> None:
    asked = ("measure", foreign, "--measure", "k-anonymity", "--by", "town")
    code, out, err = sfumato(*asked, "--smallest", 1, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)["by"]
    expected = smallest_classes()
    assert {each["group"]: each["values"]["k-anonymity"] for each in found["groups"]} == expected
    assert {each["group"]: each["records"] for each in found["groups"]} == TOWNS
    assert (found["attribute"], found["left-out"]) == ("town", 0)
    assert expected[found["worst"]["k-anonymity"]] == min(expected.values())

    code, out, _ = sfumato(*asked, "--picture", "groups.svg")
    assert code == 0
    assert "* does worst" in out
    assert "12 records are in groups that are too small" in out
    assert "Jena" not in out
    assert "Bonn" in Path("groups.svg").read_text("utf-8")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--by", "twon"), "did you mean 'town'"),
        (("--by", "illness", "--smallest", 1000), "no value of 'illness' has 1,000 records"),
        (("--picture", "groups.svg"), "say which with --by"),
    ],
)
def test_groups_that_cannot_be_told_are_one_line(
    sfumato: Run, foreign: Path, options: tuple[object, ...], said: str
) -> None:
    code, out, err = sfumato("measure", foreign, "--measure", "k-anonymity", *options)
    assert (code, out) == (1, "")
    assert said in err
    assert err.count("\n") == 1
