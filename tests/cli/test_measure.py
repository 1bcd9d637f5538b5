"""`sfumato measure`: any program's release is judged, and every wrong turn is one line."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

SECRET = "SECRETVALUE"
Run = Callable[..., tuple[int, str, str]]

PROJECT = """
policy.recipient = "none"
[data]
path = "people.csv"
missing-values = ["-9"]
[attributes.name]
role = "identifying"
[attributes.age]
role = "quasi-identifying"
kind = "numeric"
hierarchy = { intervals = [5, 10, 20, 40] }
[attributes.town]
role = "quasi-identifying"
[attributes.illness]
role = "sensitive"
[[candidates]]
sanitizer = "mondrian"
model = { k-anonymity = { k = 5 } }
[[candidates]]
sanitizer = "bucketize"
form = "two-tables"
model = { probabilistic-diversity = { l = 2 } }
[measure]
privacy = ["privacy-loss", "accuracy-gain", "k-anonymity"]
utility = ["general-loss", "suppression-loss"]
"""
POLICY = "[policy.k-anonymity]\nat-least = 5\n"


@pytest.fixture
def people() -> list[list[str]]:
    rng = random.Random(1)
    towns = ["Ulm", "Köln", "Bonn"]
    return [
        [f"{SECRET}{number}", str(rng.randint(20, 60)), rng.choice(towns), rng.choice("abcd")]
        for number in range(200)
    ]


@pytest.fixture
def project(tmp_path: Path, people: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path / "people.csv", ["name", "age", "town", "illness"], people)
    place = tmp_path / "people.toml"
    place.write_text(PROJECT, "utf-8")
    monkeypatch.chdir(tmp_path)
    return place


def write(place: Path, names: list[str], rows: list[list[str]], separator: str = ",") -> Path:
    place.write_text("\n".join(separator.join(row) for row in [names, *rows]) + "\n", "utf-8")
    return place


def decade(age: str) -> str:
    return f"[{age[0]}0, {int(age[0]) + 1}0["


@pytest.fixture
def foreign(project: Path, people: list[list[str]]) -> Path:
    """A release as ARX writes it, with the first three records suppressed."""
    rows = [[decade(age), town, illness] for _, age, town, illness in people]
    rows[:3] = [["*", "*", illness] for *_, illness in rows[:3]]
    place = project.parent / "arx.csv"
    # its intervals hold commas, so the file must be split at semicolons
    return write(place, ["age", "town", "illness"], rows, ";")


def values(out: str) -> dict[str, float | None]:
    return {taken["measure"]: taken["value"] for taken in json.loads(out)["measurements"]}


class TestJudging:
    def test_a_foreign_file_is_judged_by_the_projects_measures(self, sfumato: Run, foreign: Path) -> None:
        code, out, err = sfumato("measure", foreign)
        assert (code, err) == (0, "")
        for word in (
            "privacy-loss",
            "general-loss",
            "baseline",
            "quasi-identifier: 3.",
            "200 of 200 records",
        ):
            assert word in out
        assert out.index("quasi-identifier: 3.") < out.index("privacy-loss") < out.index("general-loss")

    def test_json_has_the_shape_of_the_other_commands(self, sfumato: Run, foreign: Path) -> None:
        code, out, _ = sfumato("measure", foreign, "--json")
        facts = json.loads(out)
        assert code == 0
        assert (facts["records"], facts["original-records"], facts["suppressed"]) == (200, 200, 0)
        assert len(facts["notes"]) == 1
        assert facts["untrue-cells"] is None
        assert facts["policy"] == {"broken": []}
        assert set(facts["measurements"][0]) >= {
            "measure",
            "attribute",
            "value",
            "axis",
            "better",
            "baseline",
        }

    def test_suppressed_records_are_left_out_on_demand(self, sfumato: Run, foreign: Path) -> None:
        _, out, _ = sfumato("measure", foreign, "--suppressed", "count", "--json")
        assert json.loads(out)["suppressed"] == 3
        assert values(out)["suppression-loss"] == 0.015

    def test_other_measures_can_be_asked_for(self, sfumato: Run, foreign: Path) -> None:
        names = ("--measure", "weighted-k", "--measure", "t-closeness.distance=js")
        code, out, err = sfumato("measure", foreign, *names, "--json")
        assert code == 0, err
        assert list(values(out)) == ["weighted-k", "t-closeness"]
        assert json.loads(out)["measurements"][1]["detail"]["distance"] == "js"

    def test_the_original_may_be_named(self, sfumato: Run, project: Path, foreign: Path) -> None:
        first = sfumato("measure", foreign, "--json")[1]
        other = project.with_name("elsewhere.csv")
        (project.parent / "people.csv").rename(other)
        assert sfumato("measure", foreign)[0] == 1
        assert sfumato("measure", other, foreign, "-P", project, "--json")[1] == first

    @pytest.mark.parametrize("suffix", [".csv", ".parquet", ".feather"])
    def test_what_sanitize_writes_is_measured_alike(self, sfumato: Run, project: Path, suffix: str) -> None:
        target = project.parent / f"release{suffix}"
        made = sfumato("sanitize", target, "mondrian", "model.k-anonymity.k=7", "--seed", 3, "--json")[1]
        read = sfumato("measure", target, "--json")[1]
        assert values(read) == pytest.approx(values(made))
        assert json.loads(read)["notes"] == []

    def test_two_tables(self, sfumato: Run, project: Path) -> None:
        made = sfumato("sanitize", "a.csv", "bucketize", "form=two-tables", "--json")[1]
        tables = ("a-quasi-identifiers.csv", "a-sensitive.csv")
        code, read, err = sfumato("measure", "people.csv", *tables, "--json")
        assert code == 0, err
        assert values(read) == values(made)
        assert sfumato("measure", "people.csv", *tables, "--group", "group", "--json")[1] == read

    def test_a_published_folder(self, sfumato: Run, project: Path) -> None:
        sfumato("explore", project, "--workers", 1)
        candidates = json.loads(sfumato("frontier", "--all", "--json")[1])["candidates"]
        for candidate in candidates:
            assert sfumato("publish", candidate["id"], candidate["sanitizer"], "--allow-singling-out")[0] == 0
            code, out, err = sfumato("measure", candidate["sanitizer"], "--json")
            assert code == 0, err
            expected = {taken["measure"]: taken["value"] for taken in candidate["measurements"]}
            assert values(out) == pytest.approx(expected)
        (project.parent / "people.csv").write_text("name,age,town,illness\nx,20,Ulm,a\n", "utf-8")
        code, _, err = sfumato("measure", "mondrian")
        assert (code, "published from 200 records" in err) == (1, True)

    def test_the_policy_decides_the_exit_code(self, sfumato: Run, project: Path, foreign: Path) -> None:
        project.write_text(PROJECT + POLICY, "utf-8")
        code, out, err = sfumato("measure", foreign, "--json")
        assert code == 2
        assert "k-anonymity is 1, must be at least 5" in err
        assert json.loads(out)["policy"]["broken"]
        assert sfumato("measure", foreign, "--measure", "weighted-k")[0] == 0
        assert sfumato("sanitize", "good.csv", "mondrian", "model.k-anonymity.k=5")[0] == 0
        assert sfumato("measure", "good.csv")[0] == 0


class TestMatching:
    def test_untrue_values_are_counted(self, sfumato: Run, project: Path, people: list[list[str]]) -> None:
        rows = [[name, "[20, 40)", town, illness] for name, _, town, illness in people]
        write(project.parent / "r.csv", ["name", "age", "town", "illness"], rows, ";")
        expected = sum(int(age) >= 40 for _, age, _, _ in people)
        code, out, err = sfumato("measure", "r.csv", "--match", "name")
        assert code == 0, err
        assert f"{expected} in 'age'" in out
        assert "Warning: the release has 'name'" in out
        assert SECRET not in out
        facts = json.loads(sfumato("measure", "r.csv", "--match", "name", "--json")[1])
        assert facts["untrue-cells"] == {"age": expected, "town": 0, "illness": 0}

    def test_truth_is_said_too(self, sfumato: Run, project: Path) -> None:
        assert "Every released value stands" in sfumato("measure", "people.csv", "--match", "name")[1]


class TestWrongTurns:
    @pytest.mark.parametrize(
        ("text", "words"),
        [
            (None, ["release.csv", "exist"]),
            ("", ["release.csv", "empty"]),
            ("age,town,illness\n", ["release.csv", "no records"]),
            ("age,town,town,illness\n20,Ulm,Ulm,a\n", ["release.csv", "town"]),
            (f"age,town,illness\n{SECRET},Ulm,a\n", ["in 1 of 1 records", "'age'", "[20, 30)"]),
            (f"age,town,illness\n*,{SECRET},a\n*,{SECRET},a\n", ["in 2 of 2 records", "'town'", "hierarchy"]),
            (f"age,town,illness\n*,Ulm,{SECRET}\n", ["in 1 of 1 records", "'illness'"]),
            ("x,y\n1,2\n", ["no column of the release", "x, y"]),
            ("age,town,illness\n" + "*,Ulm,a\n" * 201, ["201 records", "only 200"]),
        ],
        ids=["absent", "empty", "header", "twice", "age", "town", "illness", "other", "more"],
    )
    def test_of_the_release(self, sfumato: Run, project: Path, text: str | None, words: list[str]) -> None:
        if text is not None:
            (project.parent / "release.csv").write_text(text, "utf-8")
        self.is_one_line(*sfumato("measure", "release.csv"), words)

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["arx.csv", "--measure", "privacy-lost"], ["privacy-loss"]),
            (["arx.csv", "--group", "twon"], ["'twon'", "'town'"]),
            (["arx.csv", "--match", "name"], ["'name'", "release"]),
            (["arx.csv", "--suppressed", "drop"], ["count"]),
            (["people.csv", "people.csv", "arx.csv"], ["share"]),
            (["a", "b", "c", "d"], ["4 files"]),
            (["."], ["manifest.json"]),
            (["arx.csv", "-P", "none.toml"], ["none.toml"]),
            (["people.toml", "arx.csv"], ["people.toml"]),
        ],
    )
    def test_of_the_command(
        self, sfumato: Run, foreign: Path, arguments: list[str], words: list[str]
    ) -> None:
        self.is_one_line(*sfumato("measure", *arguments), words)

    def test_without_a_file_the_usage_is_said(self, sfumato: Run) -> None:
        code, _, err = sfumato("measure")
        assert (code, "RELEASE" in err) == (1, True)

    def test_names_of_columns_cannot_steer_the_terminal(self, sfumato: Run, project: Path) -> None:
        odd = "\x1b[31m<b>"
        write(project.parent / "r.csv", ["age", "town", "illness", odd], [["20-60", "*", "a", "1"]])
        code, out, err = sfumato("measure", "r.csv")
        assert code == 0, err
        assert "\x1b[31m" not in out
        assert "<b>" in out

    @staticmethod
    def is_one_line(code: int, out: str, err: str, words: list[str]) -> None:
        assert code == 1, err
        assert out == ""
        assert err.count("\n") == 1, err
        assert "Traceback" not in err
        assert SECRET not in err
        for word in words:
            assert word in err, err
