"""What every command prints with --json, against its declared shape and against the JSON Schema of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from sfumato.interfaces.cli import cli
from sfumato.results.json_schemas import SHAPES, form, schema

Run = Callable[..., tuple[int, str, str]]
Printed = Callable[[str, str], dict[str, Any]]
Lines = Callable[[str], Iterator[dict[str, Any]]]

PROJECT = """
[data]
path = "people.csv"

[attributes]
age = { role = "quasi-identifying", kind = "numeric", hierarchy = { intervals = [10, 20] } }
town = { role = "quasi-identifying" }
illness = { role = "sensitive" }
badge = { role = "insensitive" }

[[candidates]]
sanitizer = "mondrian"
model = { k-anonymity = { k = [2, 4, 900] } }

[[candidates]]
sanitizer = "as-is"

[[candidates]]
sanitizer = "suppress-quasi-identifiers"

[measure]
privacy = ["privacy-loss", "k-anonymity", { t-closeness = { distance = "js" } }]
utility = ["utility-loss", "general-loss"]

[policy]
recipient = "none"
k-anonymity = { at-least = 3 }
"""


@pytest.fixture
def project(tmp_path: Path, sfumato: Run) -> Path:
    lines = [
        f"{20 + 3 * (n % 17)},{'abc'[n % 3]}ton,{['flu', 'gout', 'none'][n % 5 % 3]},{n}" for n in range(60)
    ]
    (tmp_path / "people.csv").write_text(
        "age,town,illness,badge\n" + "\n".join(lines) + "\n", encoding="utf-8"
    )
    place = tmp_path / "people.toml"
    place.write_text(PROJECT, encoding="utf-8")
    assert sfumato("explore", place, "--workers", 1)[0] == 0
    return place


def ids(sfumato: Run, project: Path, printed: Printed) -> dict[str, str]:
    facts = printed("frontier", sfumato("frontier", project, "--json")[1])
    return {f"{c['sanitizer']} {c['parameters'].get('model', '')}": c["id"] for c in facts["candidates"]}


def test_choosing(sfumato: Run, printed: Printed, project: Path) -> None:
    assert printed("explore", sfumato("explore", project, "--json")[1])["known"] == 5
    assert printed("dry-run", sfumato("explore", project, "--dry-run", "--json")[1])["candidates"] == 0
    facts = printed("frontier", sfumato("frontier", project, "--json")[1])
    assert len(facts["candidates"]) == 4
    assert len(facts["infeasible"]) == 1
    first, second, *_ = ids(sfumato, project, printed).values()
    assert printed("show", sfumato("show", first, "-P", project, "--json")[1])["id"] == first
    assert (
        len(printed("compare", sfumato("compare", first, second, "-P", project, "--json")[1])["releases"])
        == 2
    )


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("max k", 0),
        ("max k where general-loss <= 60%", 0),
        ("min privacy-loss, min general-loss", 0),
        ("max k where k >= 50 and general-loss <= 1%", 3),
    ],
)
def test_answers(sfumato: Run, printed: Printed, project: Path, question: str, code: int) -> None:
    answered, out, _ = sfumato("ask", question, "-P", project, "--json")
    assert answered == code
    assert printed("ask", out)["answered"] == (code == 0)


def test_beginning(sfumato: Run, printed: Printed, project: Path, tmp_path: Path) -> None:
    made = sfumato("new", tmp_path / "people.csv", "-o", tmp_path / "new.toml", "--json")[1]
    assert len(printed("new", made)["attributes"]) == 4
    facts = printed("inspect", sfumato("inspect", project, "--json")[1])
    assert facts["singling-out"]["counted"] == "records"
    assert facts["insensitive"][0]["attributes"] == ["badge"]
    printed("inspect", sfumato("inspect", tmp_path / "people.csv", "--json")[1])
    assert len(printed("methods", sfumato("methods", "--json")[1])["methods"]) > 20
    assert printed("method", sfumato("methods", "mondrian", "--json")[1])["kind"] == "sanitizer"


def test_publishing(sfumato: Run, printed: Printed, project: Path, tmp_path: Path) -> None:
    chosen = next(id for name, id in ids(sfumato, project, printed).items() if "4" in name)
    out = tmp_path / "out"
    assert printed("publish", sfumato("publish", chosen, out, "-P", project, "--json")[1])["records"] == 60
    assert printed("verify", sfumato("verify", out, "--json")[1])["verified"]
    posed = sfumato("challenge", chosen, out.with_name("posed"), "--targets", "10", "-P", project, "--json")
    facts = printed("challenge", posed[1])
    assert (facts["targets"], facts["control"], facts["records"]) == (10, 5, 55)
    guesses = tmp_path / "guesses.csv"
    guesses.write_text(
        "target,question,answer\n" + "".join(f"{number},in-the-data,yes\n" for number in range(1, 11))
    )
    scoring = (
        "score",
        out.with_name("posed"),
        guesses,
        out.with_name("posed-answers.json"),
    )
    found = printed("score", sfumato(*scoring, "--json")[1])["scores"][0]
    assert (found["guesses"], found["rate"], found["risk"], found["control-rate"]) == (5, 1.0, None, 1.0)
    assert "no risk, because the rate of the control group is 100%" in sfumato(*scoring)[1]
    code, _, failed = sfumato(*scoring[:3], out / "manifest.json", "--json")
    assert (code, printed("error", failed)["exit-code"]) == (1, 1)
    asked = printed("query", sfumato("query", out, "count by illness", "--json")[1])
    assert sum(row["value"] for row in asked["rows"]) == asked["records"] == 60
    (out / "data.csv").write_text("age\n1\n", encoding="utf-8")
    code, told, failed = sfumato("verify", out, "--json")
    assert (code, printed("verify", told)["verified"]) == (2, False)
    assert printed("error", failed)["exit-code"] == 2


def test_making(sfumato: Run, printed: Printed, project: Path, tmp_path: Path) -> None:
    target = tmp_path / "made.csv"
    made = sfumato("sanitize", target, "mondrian", "model.k-anonymity.k=3", "-P", project, "--json")
    assert printed("sanitize", made[1])["output"] == [str(target)]
    assert printed("measure", sfumato("measure", target, "-P", project, "--json")[1])["records"] == 60
    by_sex = (
        "--measure",
        "general-loss",
        "--by",
        "town",
        "--smallest",
        "1",
        "--picture",
        tmp_path / "by.svg",
    )
    judged = printed("measure", sfumato("measure", target, "-P", project, *by_sex, "--json")[1])["by"]
    assert sum(group["records"] for group in judged["groups"]) == 60
    assert (tmp_path / "by.svg").read_text("utf-8").startswith("<svg")


def test_every_command_prints_a_shape_of_its_name() -> None:
    apart = {"dry-run", "error", "log", "method", "shapes"}
    assert {*SHAPES} - apart == {*cli.commands} - {"shape"}


def test_the_shapes_themselves(sfumato: Run, printed: Printed) -> None:
    listed = [each["name"] for each in printed("shapes", sfumato("shape", "--json")[1])["shapes"]]
    assert listed[: len(SHAPES)] == [*SHAPES]  # those of other packages come last
    assert json.loads(sfumato("shape", "frontier")[1]) == schema("frontier")
    assert sfumato("shape")[1].splitlines()[0].startswith("sfumato/apply/1")
    code, _, err = sfumato("shape", "frontire")
    assert (code, err) == (
        1,
        "sfumato: nothing of the name 'frontire' is printed; did you mean 'frontier'?\n",
    )


class TestErrors:
    @pytest.mark.parametrize(
        ("arguments", "kind", "code"),
        [
            (["frontier", "nothing.toml"], "ProjectError", 1),
            (["show", "0000000000"], "StoreError", 1),
            (["show"], "MissingParameter", 1),
            (["frontier", "--axes"], "NoSuchOption", 1),
            (["methods", "mondriaan"], "ParameterError", 1),
            (["methods", "a\0b"], "ParameterError", 1),
        ],
    )
    def test_are_one_line_of_json(
        self,
        sfumato: Run,
        printed: Printed,
        project: Path,
        monkeypatch: pytest.MonkeyPatch,
        arguments: list[str],
        kind: str,
        code: int,
    ) -> None:
        monkeypatch.chdir(project.parent)
        ended, out, err = sfumato(*arguments, "--json")
        assert (ended, out, err.count("\n")) == (code, "", 1)
        assert printed("error", err) == {
            "format": "sfumato/error/1",
            "kind": kind,
            "message": json.loads(err)["message"],
            "exit-code": code,
        }

    def test_are_text_without_json(self, sfumato: Run) -> None:
        assert sfumato("methods", "mondriaan")[2].startswith("sfumato: nothing is called 'mondriaan'")


class TestLog:
    @pytest.fixture
    def lines(self, printed: Printed) -> Lines:
        return lambda err: (printed("log", line) for line in err.splitlines())

    def test_is_one_document_a_line(self, sfumato: Run, lines: Lines, project: Path) -> None:
        (project.parent / "people.sqlite").unlink()
        code, _, err = sfumato("--log-format", "json", "explore", project, "--workers", 1)
        assert code == 0
        told = [line for line in lines(err) if "done" in line]
        assert told[-1]["done"] == told[-1]["total"] == 5
        assert {line["level"] for line in told} == {"info"}

    def test_may_be_asked_for_in_the_environment(
        self, sfumato: Run, lines: Lines, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SFUMATO_LOG_FORMAT", "json")
        code, _, err = sfumato("methods", "mondriaan")
        assert code == 1
        (line,) = lines(err)
        assert (line["level"], line["message"][:25]) == ("error", "nothing is called 'mondri")

    def test_tells_warnings(self, sfumato: Run, lines: Lines, project: Path) -> None:
        _, _, err = sfumato("--log-format", "json", "inspect", project)
        assert "warning" in {line["level"] for line in lines(err)}

    def test_is_forgotten_with_the_command(self, sfumato: Run) -> None:
        sfumato("--log-format", "json", "methods", "mondriaan")
        assert sfumato("methods", "mondriaan")[2].startswith("sfumato: ")


def test_a_schema_lets_keys_be_added_and_none_be_missing() -> None:
    written = {"format": form("workbench"), "address": "here", "more": 1}
    jsonschema.validate(written, schema("workbench"))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"format": form("workbench")}, schema("workbench"))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**written, "format": "sfumato/workbench/0"}, schema("workbench"))


@pytest.mark.parametrize("name", SHAPES)
def test_every_schema_is_one(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name))


@pytest.mark.parametrize("name", SHAPES)
def test_every_key_is_documented(name: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "json.md").read_text(encoding="utf-8")
    section = page.partition(f"## `{form(name)}`\n")[2].partition("\n## ")[0]
    documented = set(
        re.findall(r"`([a-z-]+)`", "".join(re.findall(r"^\| (`[^|]*) \|", section, re.MULTILINE)))
    )
    assert documented == {*schema(name)["properties"]} - {"format"}
