"""The commands ask and compare, from the question to the exit code, and the pictures of frontier."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from sfumato.interfaces.cli import cli, run
from sfumato.results.measure_lookup import (
    SHORT_NAMES,
)

Run = Callable[..., tuple[int, str, str]]
SECRET = "SECRETVALUE"

PROJECT = """
[data]
path = "people.csv"
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
sanitizer = "as-is"
[[candidates]]
sanitizer = "mondrian"
model = { k-anonymity = { k = [2, 5, 10, 50] } }
[[candidates]]
sanitizer = "mondrian"
variant = "relaxed"
model = { k-anonymity = { k = [4, 8] } }
[[candidates]]
sanitizer = "anatomy"
l = 2
[[candidates]]
sanitizer = "mondrian"
model = { k-anonymity = { k = 500 } }
[policy]
recipient = "none"
reidentification-risk = { at-most = 0.15 }
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An explored project."""
    folder = tmp_path_factory.mktemp("people")
    rng = random.Random(1)
    rows = ["name,age,town,illness"]
    for number in range(200):
        town, illness = rng.choice(["Ulm", "Köln", "Bonn"]), rng.choice("abcd")
        rows.append(f"{SECRET}{number},{rng.randint(20, 60)},{town},{illness}")
    (folder / "people.csv").write_text("\n".join(rows), encoding="utf-8")
    place = folder / "people.toml"
    place.write_text(PROJECT, encoding="utf-8")
    assert run(["explore", str(place), "--workers", "1", "--seed", "123456789"]) == 0
    return place


def ids(sfumato: Run, project: Path) -> dict[str, str]:
    """Return the ids of the candidates by their recipes."""
    facts = json.loads(sfumato("frontier", project, "--json")[1])
    shown = {c["id"]: c for c in facts["candidates"]}
    return {
        f"{c['sanitizer']} {c['parameters'].get('variant', '')} "
        f"{c['parameters'].get('model', {}).get('k-anonymity', {}).get('k', '')}".strip(): identity
        for identity, c in shown.items()
    }


class TestAsk:
    def test_answers_in_words(self, sfumato: Run, project: Path) -> None:
        code, out, err = sfumato("ask", "max k where loss <= 30% and suppression <= 10%", "-P", project)
        assert code == 0, err
        assert "Mondrian k=8, variant=relaxed" in out
        assert "looser:  at " in out
        assert "1 candidate not compared: total-loss does not apply." in out
        assert "sfumato show" in out

    def test_answers_as_json_without_the_seed(self, sfumato: Run, project: Path) -> None:
        code, out, _ = sfumato("ask", "max k where loss <= 30%", "-P", project, "--json")
        facts = json.loads(out)
        assert (code, facts["answered"], facts["policy"]) == (0, True, {"broken": []})
        assert facts["figures"]["k-anonymity"] >= 10
        assert "123456789" not in out

    def test_says_when_the_policy_forbids_the_answer(self, sfumato: Run, project: Path) -> None:
        code, out, _ = sfumato("ask", "min loss", "-P", project)
        assert code == 0
        assert out.startswith("No candidate that keeps the policy keeps these limits.") is False
        code, out, _ = sfumato("ask", "min loss where k <= 2", "-P", project)
        assert out.startswith("No candidate that keeps the policy keeps these limits.")
        assert "against the policy: reidentification-risk is" in out

    def test_nothing_keeps_the_limits(self, sfumato: Run, project: Path) -> None:
        code, out, err = sfumato("ask", "max k where loss <= 1% and k >= 20", "-P", project)
        assert (code, err.count("\n")) == (3, 1)
        assert "No candidate keeps all limits" in out
        assert "Nearest to all of them" in out
        code, out, _ = sfumato("ask", "max k where loss <= 1% and k >= 20", "-P", project, "--json")
        assert (code, json.loads(out)["candidate"]) == (3, None)

    @pytest.mark.parametrize(
        ("question", "words"),
        [
            ("how are you", ["expected max, min or best", "max k where"]),
            ("max lss", ["no measure 'lss'", "did you mean 'loss'", "measured are"]),
            ("max k where loss <= 30", ["share", "30%"]),
            ("best precision", ["precision was not measured", "--measure"]),
        ],
    )
    def test_a_wrong_question_is_a_user_error(
        self, sfumato: Run, project: Path, question: str, words: list[str]
    ) -> None:
        code, out, err = sfumato("ask", question, "-P", project)
        assert (code, out, err.count("\n")) == (1, "", 1)
        for word in words:
            assert word in err

    def test_what_was_not_measured_is_measured_on_demand(self, sfumato: Run, project: Path) -> None:
        question = "best entropy-diversity where k >= 5"
        assert sfumato("ask", question, "-P", project)[0] == 1
        code, out, err = sfumato("ask", question, "--measure", "--workers", 1, "-P", project)
        assert code == 0, err
        assert "entropy-diversity" in out
        assert sfumato("ask", question, "-P", project)[0] == 0

    def test_before_anything_was_explored(self, sfumato: Run, project: Path, tmp_path: Path) -> None:
        empty = tmp_path / "people.toml"
        empty.write_text(PROJECT, "utf-8")
        (tmp_path / "people.csv").write_bytes((project.parent / "people.csv").read_bytes())
        for command in (["ask", "max k"], ["compare", "a", "b"]):
            code, _, err = sfumato(*command, "-P", empty)
            assert (code, "nothing was explored yet" in err) == (1, True)
        sfumato("explore", empty, "--workers", 1)
        with (tmp_path / "people.csv").open("a") as file:
            file.write("\nx,20,Ulm,a")
        code, _, err = sfumato("ask", "max k", "-P", empty)
        assert (code, "has changed since it was explored" in err) == (1, True)

    def test_a_project_with_one_candidate_and_no_policy(
        self, sfumato: Run, project: Path, tmp_path: Path
    ) -> None:
        text = PROJECT[: PROJECT.index("[[candidates]]")] + '[[candidates]]\nsanitizer = "as-is"\n'
        text += '[policy]\nrecipient = "none"\n'
        (tmp_path / "one.toml").write_text(text, "utf-8")
        (tmp_path / "people.csv").write_bytes((project.parent / "people.csv").read_bytes())
        sfumato("explore", tmp_path / "one.toml", "--workers", 1)
        code, out, err = sfumato("ask", "max k where loss <= 10%", "-P", tmp_path / "one.toml")
        assert code == 0, err
        assert out.startswith("Only the original as it is keeps these limits; it protects nobody.")

    def test_help_and_documentation_list_every_short_name(self) -> None:
        text = cli.commands["ask"].help or ""
        page = (Path(__file__).parents[2] / "docs" / "ask.md").read_text("utf-8")
        for short, name in SHORT_NAMES.items():
            assert {short, name} <= {*re.split(r"\s{2,}|,\s*|\n", text)}
            assert any(f"`{short}`" in line and f"`{name}`" in line for line in page.splitlines())


class TestCompare:
    def test_sets_two_candidates_side_by_side(self, sfumato: Run, project: Path, tmp_path: Path) -> None:
        known = ids(sfumato, project)
        first, second = known["mondrian strict 2"], known["mondrian strict 50"]
        picture = tmp_path / "classes.svg"
        code, out, err = sfumato("compare", first, second, "-P", project, "--picture", picture)
        assert code == 0, err
        for words in ("k-anonymity", "smallest class", "age", f"are worse off in {first}", "illness"):
            assert words in out
        assert picture.read_text("utf-8").startswith("<svg")
        assert SECRET not in out + picture.read_text("utf-8")

    def test_as_json(self, sfumato: Run, project: Path) -> None:
        known = ids(sfumato, project)
        pair = known["as-is"], known["mondrian strict 10"]
        code, out, _ = sfumato("compare", *pair, "-P", project, "--json")
        facts = json.loads(out)
        assert (code, facts["releases"]) == (0, list(pair))
        assert facts["worse-off"][0]["second"] == 0
        assert facts["released"] == {"both": 200, "only-first": 0, "only-second": 0, "neither": 0}
        assert "123456789" not in out

    def test_split_records_give_expected_counts(self, sfumato: Run, project: Path) -> None:
        known = ids(sfumato, project)
        pair = known["mondrian relaxed 4"], known["mondrian relaxed 8"]
        facts = json.loads(sfumato("compare", *pair, "-P", project, "--json")[1])
        for each in facts["worse-off"]:
            assert each["first"] + each["second"] + each["alike"] == pytest.approx(200)

    def test_what_cannot_be_compared(self, sfumato: Run, project: Path) -> None:
        known = ids(sfumato, project)
        first = known["as-is"]
        code, _, err = sfumato("compare", first, first[:6], "-P", project)
        assert (code, "two different" in err) == (1, True)
        code, _, err = sfumato("compare", first, "zzz", "-P", project)
        assert (code, "frontier --all" in err) == (1, True)
        facts = json.loads(sfumato("frontier", project, "--json")[1])
        impossible = facts["infeasible"][0]["id"]
        code, _, err = sfumato("compare", first, impossible, "-P", project)
        assert (code, f"{impossible} could not be made" in err) == (1, True)


class TestFrontier:
    def test_three_axes_with_short_names_are_drawn_as_a_matrix(
        self, sfumato: Run, project: Path, tmp_path: Path
    ) -> None:
        picture = tmp_path / "matrix.svg"
        axes = ("--axis", "k", "--axis", "loss", "--axis", "privacy loss")
        code, out, err = sfumato("frontier", project, *axes, "--picture", picture, "--json")
        assert code == 0, err
        assert json.loads(out)["axes"] == ["k-anonymity", "total-loss", "privacy-loss"]
        assert "over every pair of k-anonymity, total loss, privacy loss" in picture.read_text("utf-8")
