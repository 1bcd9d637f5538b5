"""The command line from a table to a verified release, and every wrong turn on the way."""

from __future__ import annotations

import json
import os
import random
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.interfaces.cli import cli
from sfumato.reading import datasets
from sfumato.reading.datasets import demo_project
from sfumato.workflow.project.project_file import Project

SECRET = "SECRETVALUE"
Run = Callable[..., tuple[int, str, str]]


def messy_rows(n_records: int) -> list[str]:
    """Identifiers, dates, ZIP codes with leading zeros, missing values, unicode."""
    rng = random.Random(4)
    rows = ["Patienten-ID;Name;Geburtsdatum;PLZ;Größe;Geschlecht;Diagnose"]
    for number in range(n_records):
        born = f"{rng.randint(1, 28):02}.{rng.randint(1, 12):02}.{rng.randint(1940, 2005)}"
        code = f"0{rng.randint(1060, 1099)}" if rng.random() > 0.05 else "NA"
        height = f"{rng.randint(150, 199)},{rng.randint(0, 9)}" if rng.random() > 0.1 else ""
        illness = rng.choice(["Grippe", "Asthma", "Diabetes", "Käfer-Allergie", "Gicht"])
        name = f"Jürgen Ä{number}"
        rows.append(f"P{number:05};{name};{born};{code};{height};{rng.choice(['m', 'w', 'd'])};{illness}")
    return rows


@pytest.fixture
def messy(tmp_path: Path) -> Path:
    place = tmp_path / "patienten.csv"
    place.write_text("\n".join(messy_rows(400)) + "\n", encoding="utf-8")
    return place


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
model = { k-anonymity = { k = [2, 5, 10] } }
[[candidates]]
sanitizer = "bucketize"
form = "two-tables"
model = { probabilistic-diversity = { l = 2 } }
[policy]
recipient = "none"
reidentification-risk = { at-most = 0.2 }
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    rng = random.Random(1)
    rows = ["name,age,town,illness"]
    for number in range(200):
        town, illness = rng.choice(["Ulm", "Köln", "Bonn"]), rng.choice("abcd")
        rows.append(f"{SECRET}{number},{rng.randint(20, 60)},{town},{illness}")
    (tmp_path / "people.csv").write_text("\n".join(rows), encoding="utf-8")
    place = tmp_path / "people.toml"
    place.write_text(PROJECT, encoding="utf-8")
    return place


class TestStraightLine:
    def test_a_messy_file_becomes_a_verified_release(self, sfumato: Run, messy: Path, tmp_path: Path) -> None:
        code, out, _ = sfumato("new", messy)
        assert code == 0
        assert "identifying" in out
        described = messy.with_suffix(".toml")
        assert "Jürgen" not in described.read_text("utf-8")
        code, out, err = sfumato("explore", described, "--workers", 1)
        assert (code, "efficient" in out) == (0, True), err
        code, out, _ = sfumato("frontier", described, "--json")
        facts = json.loads(out)
        methods = ("mondrian", "local-recoding", "clustering")
        chosen = next(c for c in facts["candidates"] if c["sanitizer"] in methods and c["efficient"])
        target = tmp_path / "published"
        code, out, err = sfumato(
            "publish", chosen["id"], target, "-P", described, "--by", "me", "--why", "knee"
        )
        assert code == 0, err
        header = (target / "data.csv").read_text("utf-8").splitlines()[0]
        assert "Name" not in header
        assert "Patienten-ID" not in header
        assert sfumato("verify", target)[0] == 0

    def test_leading_zeros_survive_into_the_release(self, sfumato: Run, messy: Path, tmp_path: Path) -> None:
        sfumato("new", messy)
        target = tmp_path / "out.csv"
        code, _, err = sfumato("sanitize", target, "as-is", "-P", messy.with_suffix(".toml"))
        assert code == 0, err
        codes = {line.split(",")[1] for line in target.read_text("utf-8").splitlines()[1:]}
        assert codes - {""} <= {f"0{number}" for number in range(1060, 1100)}

    def test_inspect_says_how_unique_people_are(self, sfumato: Run, messy: Path) -> None:
        code, out, _ = sfumato("inspect", messy)
        assert code == 0
        assert "would be unique" in out
        code, out, _ = sfumato("inspect", messy, "--json")
        facts = json.loads(out)
        assert facts["records"] == 400
        assert facts["risk"]["unique-records"] > 300

    def test_exploring_for_the_first_time_reads_the_data_once(
        self, sfumato: Run, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        data, reading, read = project.parent / "people.csv", Project.read, list[str]()

        def noted(self: Project) -> Any:
            read.append(self.path.name)
            return reading(self)

        # what was written just now may be written again, and is not taken for known
        os.utime(data, (data.stat().st_atime - 60, data.stat().st_mtime - 60))
        monkeypatch.setattr(Project, "read", noted)
        assert sfumato("explore", project, "--workers", 1)[0] == 0
        assert read == [project.name]

    def test_exploring_what_cannot_be_read_leaves_no_store(self, sfumato: Run, project: Path) -> None:
        (project.parent / "people.csv").write_text("name\nJohn\n")
        assert sfumato("explore", project, "--workers", 1)[0] == 1
        assert not Project.load(project).store_path.exists()

    def test_exploring_again_makes_nothing(self, sfumato: Run, project: Path) -> None:
        assert sfumato("explore", project, "--workers", 1)[0] == 0
        _, out, _ = sfumato("explore", project, "--json")
        assert json.loads(out)["made"] == 0
        assert json.loads(out)["known"] == 5

    def test_the_project_file_of_the_folder_is_found(
        self, sfumato: Run, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(project.parent)
        assert sfumato("explore", "--workers", 1)[0] == 0
        assert sfumato("frontier")[0] == 0

    def test_frontier_writes_picture_and_report(self, sfumato: Run, project: Path, tmp_path: Path) -> None:
        sfumato("explore", project, "--workers", 1)
        picture, report = tmp_path / "f.svg", tmp_path / "r.html"
        assert sfumato("frontier", project, "--picture", picture, "--report", report, "--all")[0] == 0
        assert picture.read_text("utf-8").startswith("<svg")
        assert "<script" not in report.read_text("utf-8")

    def test_frontier_takes_other_axes(self, sfumato: Run, project: Path) -> None:
        sfumato("explore", project, "--workers", 1)
        _, out, _ = sfumato("frontier", project, "--axis", "k-anonymity", "--axis", "total-loss", "--json")
        assert json.loads(out)["axes"] == ["k-anonymity", "total-loss"]
        code, _, err = sfumato("frontier", project, "--axis", "privacy-lost", "--axis", "total-loss")
        assert code == 1
        assert "did you mean 'privacy-loss'" in err

    def test_show_tells_all_of_one_candidate(self, sfumato: Run, project: Path) -> None:
        sfumato("explore", project, "--workers", 1)
        _, out, _ = sfumato("frontier", project, "--json")
        identity = json.loads(out)["candidates"][0]["id"]
        code, out, _ = sfumato("show", identity, "-P", project)
        assert code == 0
        assert "privacy-loss" in out
        assert "Policy not met" in out
        code, out, _ = sfumato("show", identity, "-P", project, "--json")
        assert json.loads(out)["id"] == identity
        assert "seed" not in out

    def test_show_writes_the_owner_s_report_for_the_owner_alone(self, sfumato: Run, project: Path) -> None:
        sfumato("explore", project, "--workers", 1)
        _, out, _ = sfumato("frontier", project, "--json")
        identity = json.loads(out)["candidates"][0]["id"]
        target = project.parent / "owner.html"
        assert sfumato("show", identity, "-P", project, "--report", target)[0] == 0
        assert "For the owner's eyes" in target.read_text("utf-8")
        assert stat.S_IMODE(target.stat().st_mode) == 0o600
        assert sfumato("frontier", project, "--report", target)[0] == 0
        assert stat.S_IMODE(target.stat().st_mode) == 0o600

    def test_two_tables_are_published_and_verified(self, sfumato: Run, project: Path, tmp_path: Path) -> None:
        text = project.read_text("utf-8").replace("reidentification-risk = { at-most = 0.2 }", "")
        project.write_text(text, "utf-8")
        sfumato("explore", project, "--workers", 1)
        _, out, _ = sfumato("frontier", project, "--json")
        chosen = next(c for c in json.loads(out)["candidates"] if c["sanitizer"] == "bucketize")
        target = tmp_path / "anatomy"
        assert sfumato("publish", chosen["id"], target, "-P", project, "--allow-singling-out")[0] == 0
        assert {place.name for place in target.glob("*.csv")} == {"quasi-identifiers.csv", "sensitive.csv"}
        code, out, _ = sfumato("verify", target, "--json")
        assert (code, json.loads(out)["verified"]) == (0, True)

    def test_sanitize_takes_the_bits_of_a_cut_for_text(
        self, sfumato: Run, project: Path, tmp_path: Path
    ) -> None:
        target = tmp_path / "out.csv"
        how = ("cuts.town=11", "model.k-anonymity.k=1")
        code, _, err = sfumato("sanitize", target, "cut", *how, "-P", project)
        assert (code, err) == (0, "")
        assert target.exists()

    def test_sanitize_takes_nested_parameters(self, sfumato: Run, project: Path, tmp_path: Path) -> None:
        target = tmp_path / "release.parquet"
        model = ("model.k-anonymity.k=4", "model.t-closeness.t=0.5", "model.t-closeness.distance=js")
        code, out, err = sfumato("sanitize", target, "mondrian", *model, "-P", project, "--seed", 3, "--json")
        assert code == 0, err
        assert json.loads(out)["recipe"] == "mondrian k=4 t=0.5 distance=js"
        assert target.is_file()

    def test_demo_needs_no_argument_and_runs_twice(
        self,
        sfumato: Run,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        printed: Callable[[str, str], dict[str, Any]],
    ) -> None:
        # every eighth record is enough for its classes of 5,000, and how long all take is not asked here
        every = datasets.adult_records("complete", (*datasets.QUASI_IDENTIFIERS, "occupation"))
        monkeypatch.setattr(
            demo_project, "adult_records", lambda *_: every.take(list(range(0, len(every), 8)))
        )
        monkeypatch.chdir(tmp_path)
        code, out, err = sfumato("demo", "--seed", 1)
        assert code == 0, err
        assert "efficient of" in out
        assert (tmp_path / "sfumato-demo" / "report.html").is_file()
        code, out, _ = sfumato("demo", "--json")
        assert code == 0
        assert printed("demo", out)["report"].endswith("report.html")

    def test_methods_lists_everything_and_shows_one(self, sfumato: Run) -> None:
        code, out, _ = sfumato("methods")
        assert code == 0
        for name in ("mondrian", "t-closeness", "privacy-loss", "sweep"):
            assert name in out
        assert "LeFevre" in sfumato("methods", "mondrian")[1]
        assert len(json.loads(sfumato("methods", "--json")[1])["methods"]) > 20
        code, _, err = sfumato("methods", "mondrain")
        assert (code, "did you mean 'mondrian'" in err) == (1, True)


class TestExploringInTime:
    def test_a_dry_run_counts_and_writes_nothing(self, sfumato: Run, project: Path) -> None:
        before = {path: path.read_bytes() for path in project.parent.iterdir()}
        code, out, _ = sfumato("explore", project, "--dry-run")
        assert code == 0
        assert out.startswith("5 candidates to make, 0 are known\n")
        code, out, _ = sfumato("explore", project, "--dry-run", "--json", "--budget", "2m")
        facts = json.loads(out)
        assert (facts["candidates"], facts["budget"]) == (5, 120.0)
        assert facts["memory"] > 0
        assert {path: path.read_bytes() for path in project.parent.iterdir()} == before

    def test_a_dry_run_after_the_first_run_counts_what_is_new(self, sfumato: Run, project: Path) -> None:
        sfumato("explore", project, "--workers", 1)
        text = project.read_text("utf-8")
        project.write_text(text.replace("k = [2, 5, 10]", "k = [2, 5, 10, 20]"), "utf-8")
        facts = json.loads(sfumato("explore", project, "--dry-run", "--json")[1])
        assert (facts["candidates"], facts["known"]) == (1, 5)

    def test_without_a_budget_the_plan_and_nothing_else_is_made(self, sfumato: Run, project: Path) -> None:
        facts = json.loads(sfumato("explore", project, "--workers", 1, "--json")[1])
        assert (facts["made"], facts["refined"], facts["left"], facts["budget-spent"]) == (5, 0, 0, False)
        assert facts["hypervolume"]
        assert all(step["value"] > 0 for step in facts["hypervolume"])

    def test_a_budget_of_the_file_gives_way_to_that_of_the_command_line(
        self, sfumato: Run, project: Path
    ) -> None:
        with project.open("a", encoding="utf-8") as file:
            file.write('[explore]\nbudget = "7m"\n')
        shown = [
            json.loads(sfumato("explore", project, "--dry-run", "--json", *given)[1])["budget"]
            for given in ((), ("--budget", "1h"), ("--budget", "none"))
        ]
        assert shown == [420.0, 3600.0, None]

    @pytest.mark.parametrize("wrong", ["soon", "5", "0s", "-1m", "5 parsecs"])
    def test_a_budget_that_is_no_time_is_refused(self, sfumato: Run, project: Path, wrong: str) -> None:
        code, _, err = sfumato("explore", project, f"--budget={wrong}")
        assert code == 1
        assert f"'{wrong}' is no time; write for example 90s, 5m or 1h" in err
        with project.open("a", encoding="utf-8") as file:
            file.write(f'[explore]\nbudget = "{wrong}"\n')
        code, _, err = sfumato("explore", project)
        assert code == 1
        assert err.startswith(f"sfumato: people.toml: explore.budget: '{wrong}' is no time")

    def test_a_measure_that_is_left_out_is_taken_later(self, sfumato: Run, project: Path) -> None:
        sfumato("explore", project, "--workers", 1, "--without", "discernibility")
        _, out, _ = sfumato("frontier", project, "--all", "--json")
        assert "discernibility" not in out
        assert sfumato("explore", project, "--workers", 1)[0] == 0
        assert "discernibility" in sfumato("frontier", project, "--all", "--json")[1]

    def test_an_axis_or_what_is_not_measured_cannot_be_left_out(self, sfumato: Run, project: Path) -> None:
        code, _, err = sfumato("explore", project, "--without", "privacy-loss")
        assert (code, "'privacy-loss' cannot be skipped" in err) == (1, True)
        code, _, err = sfumato("explore", project, "--without", "discernability")
        assert (code, "is not measured; did you mean 'discernibility'?" in err) == (1, True)

    def test_equal_releases_are_shown_as_one_with_all_its_recipes(
        self, sfumato: Run, project: Path, tmp_path: Path
    ) -> None:
        text = project.read_text("utf-8")
        twice = '[[candidates]]\nsanitizer = "full-domain"\nmodel = { k-anonymity = { k = [1, 1] } }\n'
        levels = "levels = { age = 0, town = 0 }\n"
        project.write_text(text.replace("[policy]", twice + levels + "[policy]"), "utf-8")
        _, out, _ = sfumato("explore", project, "--workers", 1)
        assert "1 made the same release as another, see `sfumato show`" in out
        facts = json.loads(sfumato("frontier", project, "--json")[1])
        (one,) = [each for each in facts["candidates"] if each["also"]]
        assert (one["sanitizer"], one["also"][0]["sanitizer"]) == ("as-is", "full-domain")
        assert "The table as it is (+1 equal)" in sfumato("frontier", project, "--all")[1]
        other = one["also"][0]["id"]
        first, second, *_ = sfumato("show", other, "-P", project)[1].splitlines()
        assert first == f"{one['id']}  The table as it is"
        assert second.startswith("The same release is also made by Classes of at least 1: Full domain")
        assert second.endswith(f"({other})")


class TestPolicy:
    def test_a_release_against_the_policy_is_refused(
        self, sfumato: Run, project: Path, tmp_path: Path
    ) -> None:
        sfumato("explore", project, "--workers", 1)
        _, out, _ = sfumato("frontier", project, "--json")
        open_table = next(c for c in json.loads(out)["candidates"] if c["sanitizer"] == "as-is")
        code, _, err = sfumato("publish", open_table["id"], tmp_path / "no", "-P", project)
        assert code == 2
        assert "reidentification-risk is 1, must be at most 0.2" in err
        assert not (tmp_path / "no").exists()

    def test_warns_of_a_release_that_protects_nobody_and_of_a_second_one(
        self, sfumato: Run, project: Path, tmp_path: Path
    ) -> None:
        text = project.read_text("utf-8").replace("reidentification-risk = { at-most = 0.2 }", "")
        project.write_text(text, "utf-8")
        sfumato("explore", project, "--workers", 1)
        made = {
            c["sanitizer"]: c["id"]
            for c in json.loads(sfumato("frontier", project, "--json")[1])["candidates"]
        }
        options = ["--json", "--allow-singling-out"]
        said = [
            sfumato("publish", made[name], tmp_path / f"{place}", "-P", project, *options)[2]
            for place, name in enumerate(("mondrian", "as-is", "mondrian"))
        ]
        assert said[0] == ""
        assert "warning: This release protects nobody" in said[1]
        assert "warning: A release of this project was published before" in said[1]
        assert said[2].startswith("warning: 2 releases of this project were published before")

    def test_nothing_is_ever_overwritten(self, sfumato: Run, project: Path, tmp_path: Path) -> None:
        sfumato("explore", project, "--workers", 1)
        _, out, _ = sfumato("frontier", project, "--json")
        good = next(
            c
            for c in json.loads(out)["candidates"]
            if "k" in str(c["parameters"]) and c["sanitizer"] == "mondrian"
        )
        (tmp_path / "here").mkdir()
        code, _, err = sfumato("publish", good["id"], tmp_path / "here", "-P", project)
        assert (code, "exists already" in err) == (1, True)


def _bad(tmp_path: Path, content: bytes | None, name: str = "people.csv") -> None:
    place = tmp_path / name
    place.unlink(missing_ok=True)
    if content is not None:
        place.write_bytes(content)


HEAD = b"name,age,town,illness\n"
ROW = f"{SECRET},30,Ulm,a\n".encode()


class TestBadInput:
    """One line that names the column or key and the remedy, the right exit code, nothing written."""

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (None, ["people.csv", "no"]),
            (b"", ["people.csv", "empty"]),
            (HEAD, ["people.csv", "no records"]),
            (HEAD + ROW + f"{SECRET},1\n".encode() + ROW, ["people.csv", "row 3", "2 fields"]),
            (HEAD + ROW + b"\x81\x8d\x8f\x90,31,Ulm,b\n", ["people.csv", "encoding"]),
            (b"name,age,age,illness\n" + ROW, ["people.csv", "age"]),
            (b"name,age,town,illness,extra\n" + ROW.replace(b",a", b",a,1"), ["extra", "role"]),
            (b"name,age,illness\n" + f"{SECRET},30,a\n".encode(), ["town"]),
            (HEAD + f"x,{SECRET},Ulm,a\n".encode(), ["age", "not numbers"]),
        ],
        ids=[
            "missing",
            "empty",
            "header-only",
            "ragged",
            "encoding",
            "twice",
            "forgotten",
            "unknown",
            "not-numbers",
        ],
    )
    def test_of_the_data(
        self, sfumato: Run, project: Path, tmp_path: Path, content: bytes | None, words: list[str]
    ) -> None:
        _bad(tmp_path, content)
        before = sorted(place.name for place in tmp_path.iterdir())
        for command in (
            ["explore", project],
            ["inspect", project],
            ["sanitize", tmp_path / "o.csv", "as-is", "-P", project],
        ):
            code, _, err = sfumato(*command)
            self.is_one_line(code, err, words)
        left = {place.name for place in tmp_path.iterdir()} - {".people.sqlite.lock", "people.sqlite"}
        assert sorted(left) == before

    @pytest.mark.parametrize(
        ("old", "new", "words"),
        [
            ('path = "people.csv"', 'path = "people.csv"\nmising = "drop"', ["data.mising", "missing"]),
            ('role = "sensitive"', 'role = "sensitiv"', ["illness", "sensitive"]),
            ("[attributes.town]", "[attributes.twon]", ["twon", "town"]),
            ('sanitizer = "as-is"', 'sanitizer = "asis"', ["asis", "as-is"]),
            ("k = [2, 5, 10]", "kk = 3", ["kk", "k"]),
            ("k = [2, 5, 10]", "k = 0", ["k must be at least 1"]),
            ("intervals = [5, 10, 20, 40]", "intervals = [5, 12]", ["age", "multiple"]),
            ("{ intervals = [5, 10, 20, 40] }", '{ csv = "none.csv" }', ["age", "none.csv"]),
            ("{ at-most = 0.2 }", "{}", ["policy.reidentification-risk", "at-most"]),
            ("[policy]", "[polici]", ["polici", "policy"]),
            ('path = "people.csv"', 'path = "people.csv', ["TOML"]),
        ],
    )
    def test_of_the_project_file(
        self, sfumato: Run, project: Path, tmp_path: Path, old: str, new: str, words: list[str]
    ) -> None:
        assert old in PROJECT
        project.write_text(PROJECT.replace(old, new), "utf-8")
        code, _, err = sfumato("explore", project)
        self.is_one_line(code, err, words)
        assert not (tmp_path / "people.sqlite").exists() or "town" in words

    @pytest.mark.parametrize(
        ("hierarchy", "words"),
        [
            ("Ulm;South;*\nBonn;West;*\n", ["town", "1 of its 3 values", "not in the hierarchy"]),
            ("Ulm;South;*\nBonn;West;*\nKöln;West;North\n", ["town", "not a tree"]),
            ("Ulm;South;*\nBonn;*\nKöln;West;*\n", ["town", "row 2"]),
            ("", ["town", "empty"]),
        ],
        ids=["lacks-values", "not-a-tree", "ragged", "empty"],
    )
    def test_of_a_hierarchy(
        self, sfumato: Run, project: Path, tmp_path: Path, hierarchy: str, words: list[str]
    ) -> None:
        (tmp_path / "town.csv").write_text(hierarchy, "utf-8")
        text = PROJECT.replace("[attributes.town]\n", '[attributes.town]\nhierarchy = { csv = "town.csv" }\n')
        project.write_text(text, "utf-8")
        code, _, err = sfumato("explore", project)
        self.is_one_line(code, err, words)

    def test_a_model_without_a_sensitive_attribute(self, sfumato: Run, project: Path, tmp_path: Path) -> None:
        project.write_text(PROJECT.replace('role = "sensitive"', 'role = "insensitive"'), "utf-8")
        arguments = (tmp_path / "o.csv", "mondrian", "model.t-closeness.t=0.2", "-P", project)
        code, _, err = sfumato("sanitize", *arguments)
        self.is_one_line(code, err, ["t-closeness", "sensitive"])

    def test_k_larger_than_the_table_is_infeasible(self, sfumato: Run, project: Path, tmp_path: Path) -> None:
        target = tmp_path / "o.csv"
        code, _, err = sfumato("sanitize", target, "mondrian", "model.k-anonymity.k=201", "-P", project)
        assert code == 3
        assert "200" in err
        assert "largest" in err
        assert not target.exists()
        project.write_text(PROJECT.replace("k = [2, 5, 10]", "k = 201").replace("as-is", "mondrian"), "utf-8")
        text = project.read_text("utf-8")
        start, end = text.index('[[candidates]]\nsanitizer = "bucketize"'), text.index("[policy]")
        project.write_text(text[:start] + text[end:], "utf-8")
        text = project.read_text("utf-8").replace(
            '[[candidates]]\nsanitizer = "mondrian"\n[[candidates]]', "[[candidates]]"
        )
        project.write_text(text, "utf-8")
        code, _, err = sfumato("explore", project, "--workers", 1)
        assert code == 3
        assert "largest possible" in err

    def test_ids_that_nothing_has(self, sfumato: Run, project: Path) -> None:
        assert sfumato("show", "abc", "-P", project)[0] == 1
        sfumato("explore", project, "--workers", 1)
        code, _, err = sfumato("show", "zzz", "-P", project)
        self.is_one_line(code, err, ["zzz", "frontier --all"])

    def test_wrong_usage_is_a_user_error(self, sfumato: Run) -> None:
        for arguments in ([], ["publish"], ["explor"], ["explore", "--workers", "0"], ["new"]):
            code, _, err = sfumato(*arguments)
            assert code == (0 if not arguments else 1), err
            assert err.count("\n") <= 1 or not arguments

    def test_a_data_file_is_no_project_file(self, sfumato: Run, project: Path) -> None:
        code, _, err = sfumato("explore", project.with_suffix(".csv"))
        self.is_one_line(code, err, ["people.csv", "sfumato new"])

    def test_new_overwrites_nothing(self, sfumato: Run, project: Path) -> None:
        code, _, err = sfumato("new", project.with_suffix(".csv"))
        self.is_one_line(code, err, ["people.toml", "--output"])

    @staticmethod
    def is_one_line(code: int, err: str, words: list[str]) -> None:
        assert code == 1, err
        assert err.count("\n") == 1, err
        assert "Traceback" not in err
        assert SECRET not in err
        for word in words:
            assert word in err, err


class TestHabits:
    def test_help_is_cheap(self) -> None:
        code = (
            "import resource, sys; from sfumato.interfaces.cli import run; run(['--help']);"
            "heavy = {'numpy', 'numba', 'pyarrow', 'matplotlib', 'msgspec', 'rich'} & set(sys.modules);"
            "assert not heavy, heavy"
        )
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)

    def test_every_command_has_an_example_and_json_where_it_prints(self) -> None:
        for name, command in cli.commands.items():
            assert "Example: sfumato" in (command.help or ""), name
            assert any(parameter.name == "as_json" for parameter in command.params), name

    def test_a_closed_pipe_is_no_error(self, project: Path) -> None:
        call = f"{sys.executable} -c 'from sfumato.interfaces.cli import main; main()' methods | head -1"
        done = subprocess.run(call, shell=True, capture_output=True, text=True, check=False)
        assert "Traceback" not in done.stderr

    def test_a_command_that_is_told_to_end_removes_what_is_half_written(
        self, project: Path, tmp_path: Path
    ) -> None:
        script = (
            "import sys\nfrom sfumato.reading import csv_files\n"
            "def slow(*_):\n    print('writing', flush=True)\n    sys.stdin.read()\n"
            "csv_files.write_records = slow\nfrom sfumato.interfaces.cli import main\nmain()"
        )
        words = ["sanitize", str(tmp_path / "o.csv"), "as-is", "-P", str(project)]
        before = sorted(tmp_path.iterdir())
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen([sys.executable, "-c", script, *words], **pipes) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"writing\n"
            assert len(list(tmp_path.iterdir())) == len(before) + 2, "the data and its manifest"
            process.terminate()
        assert process.returncode == 143
        assert sorted(tmp_path.iterdir()) == before

    def test_column_names_cannot_steer_the_terminal(self, sfumato: Run, tmp_path: Path) -> None:
        place = tmp_path / "odd.csv"
        place.write_text("\x1b[31mred,[bold]b[/bold]\n1,2\n3,4\n", "utf-8")
        _, out, _ = sfumato("inspect", place)
        assert "\x1b[31m" not in out
        assert "[bold]b[/bold]" in out

    @pytest.mark.parametrize("sign", ["\x1b", "\x7f", "\x9b", "\u202e"])
    def test_no_command_prints_a_sign_that_steers_the_terminal(
        self, sfumato: Run, tmp_path: Path, sign: str
    ) -> None:
        place, target = tmp_path / "odd.csv", tmp_path / "odd.toml"
        place.write_text(f"a{sign}ge,ill\n" + "1,x\n2,y\n3,x\n4,y\n" * 3, "utf-8")
        printed = [*sfumato("inspect", place)[1:], *sfumato("inspect", place, "--json")[1:]]
        printed += sfumato("new", place)[1:]
        target.write_text(target.read_text("utf-8").replace("quasi-identifying", "sensitive"), "utf-8")
        printed += [*sfumato("inspect", target)[1:], *sfumato("explore", target)[1:]]
        printed += sfumato("sanitize", tmp_path / "o.csv", "as-is", f"a{sign}=1", "-P", target)[1:]
        printed += sfumato("show", f"a{sign}", "-P", target)[1:]
        assert all(printed[n] for n in (0, 2)), "something was printed"
        assert not any(sign in text for text in printed)

    def test_json_says_the_sign_that_it_does_not_print(self, sfumato: Run, tmp_path: Path) -> None:
        place = tmp_path / "odd.csv"
        place.write_text("a\x7fge,ill\n1,x\n2,y\n", "utf-8")
        names = {each["name"] for each in json.loads(sfumato("inspect", place, "--json")[1])["attributes"]}
        assert names == {"a\x7fge", "ill"}

    def test_formulas_are_published_as_they_are_with_a_warning(
        self, sfumato: Run, project: Path, tmp_path: Path
    ) -> None:
        data = tmp_path / "people.csv"
        data.write_text(data.read_text("utf-8").replace(",a\n", ",=1+1\n"), "utf-8")
        code, _, err = sfumato("sanitize", tmp_path / "o.csv", "as-is", "-P", project)
        assert code == 0
        assert "'illness'" in err
        assert "=1+1" not in err
        assert "=1+1" in (tmp_path / "o.csv").read_text("utf-8")

    def test_a_full_disk_leaves_nothing_behind(
        self, sfumato: Run, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("sfumato.reading.csv_files.write_records", full)
        before = sorted(place.name for place in tmp_path.iterdir())
        code, _, err = sfumato("sanitize", tmp_path / "o.csv", "as-is", "-P", project)
        assert (code, "No space left" in err) == (1, True)
        assert sorted(place.name for place in tmp_path.iterdir()) == before

    @pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
    def test_no_seed_is_ever_published(self, sfumato: Run, project: Path, tmp_path: Path) -> None:
        seed = 918273645546372819
        sfumato("explore", project, "--workers", 1, "--seed", seed)
        _, out, _ = sfumato("frontier", project, "--json")
        assert str(seed) not in out
        chosen = [c for c in json.loads(out)["candidates"] if c["sanitizer"] == "mondrian"][-1]
        target = tmp_path / "published"
        assert sfumato("publish", chosen["id"], target, "-P", project)[0] == 0
        for place in target.iterdir():
            assert str(seed).encode() not in place.read_bytes()
            assert SECRET.encode() not in place.read_bytes()
