"""A challenge: who is in it, what is sealed, and how guesses score."""

from __future__ import annotations

import csv
import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from scipy.stats import binomtest

import sfumato as sf
from sfumato.runtime.errors import ParameterError, UserError
from sfumato.workflow.query.challenge import Challenge, challenge
from sfumato.workflow.query.score import UNDEFINED, commitment, risk, scores

N = 400


FREE: dict[str, Any] = {"policy": "none", "allow_singling_out": True}


def numbered() -> tuple[sf.Table, sf.Schema]:
    """Everybody has another badge, so that it is known who is in a release."""
    columns = {
        "badge": list(range(N)),
        "town": [f"town {n % 5}" for n in range(N)],
        "illness": [f"ill {n % 7}" for n in range(N)],
    }
    schema = sf.Schema.of(badge="quasi-identifying", town="quasi-identifying", illness="sensitive")
    return sf.Table.from_arrow(pa.table(columns)), schema


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def answers(made: Challenge) -> dict[tuple[str, str], dict[str, str]]:
    opened = json.loads(made.answers.read_text("utf-8"))["answers"]
    return {(each["target"], each["question"]): each for each in opened}


@pytest.fixture
def made(tmp_path: Path) -> Challenge:
    return challenge(
        *numbered(),
        sf.sanitizers.AsIs(),
        tmp_path / "out",
        tmp_path / "answers.json",
        targets=40,
        policy="none",
        allow_singling_out=True,
    )


def test_half_were_in_the_data_and_the_others_were_not(made: Challenge) -> None:
    released = {row["badge"] for row in rows(made.folder / "release" / "data.csv")}
    assert len(released) == N - 20
    opened, targets = answers(made), rows(made.folder / "targets.csv")
    assert len({row["badge"] for row in targets}) == 40
    for row in targets:
        said = opened[row["target"], "in-the-data"]["answer"]
        assert (said == "yes") == (row["badge"] in released)
        assert opened[row["target"], "illness"]["answer"] == f"ill {int(row['badge']) % 7}"
    assert sf.verify(made.folder / "release").holds


def test_the_folder_has_seals_and_no_answer(made: Challenge) -> None:
    opened = answers(made)
    sealed = rows(made.folder / "commitments.csv")
    assert {(row["target"], row["question"]) for row in sealed} == opened.keys()
    for row in sealed:
        assert row["commitment"] == commitment(**opened[row["target"], row["question"]])
    content = b"".join(p.read_bytes() for p in made.folder.rglob("*") if p.is_file())
    assert not any(each["salt"].encode() in content for each in opened.values())
    assert len({each["salt"] for each in opened.values()}) == len(opened)
    assert stat.S_IMODE(made.answers.stat().st_mode) == 0o600
    # targets are told by what is known of them, and not in the order of who was in the data
    (first, *_) = targets = rows(made.folder / "targets.csv")
    assert [*first] == ["target", *made.known]
    assert "illness" not in made.known
    was_in = [opened[row["target"], "in-the-data"]["answer"] == "yes" for row in targets]
    assert was_in not in (sorted(was_in), sorted(was_in, reverse=True))
    assert not {"answer", "salt"} & {*sealed[0]}


def scored(made: Challenge, guesses: list[tuple[str, str, str]]) -> subprocess.CompletedProcess[str]:
    place = made.folder.parent / "guesses.csv"
    lines = ["target,question,answer", *(",".join(each) for each in guesses)]
    place.write_text("\n".join(lines) + "\n", "utf-8")
    command = [sys.executable, "-I", str(made.folder / "score.py"), str(place), str(made.answers)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_who_looks_into_an_open_release_is_found_to_have_won(made: Challenge) -> None:
    released = {row["badge"]: row["illness"] for row in rows(made.folder / "release" / "data.csv")}
    guesses = []
    for row in rows(made.folder / "targets.csv"):
        guesses.append((row["target"], "in-the-data", "yes" if row["badge"] in released else "no"))
        guesses.append((row["target"], "illness", released.get(row["badge"], "ill 0")))
    found: list[dict[str, Any]] = json.loads(scored(made, guesses).stdout)
    membership, illness = found
    assert (membership["rate"], membership["control-rate"]) == (1.0, 0.0)
    assert illness["rate"] == 1.0
    assert all(each["interval"][0] > 0.4 for each in found)


def test_who_says_the_same_of_everybody_gets_nothing(made: Challenge) -> None:
    guesses = [(row["target"], "in-the-data", "yes") for row in rows(made.folder / "targets.csv")]
    (membership, illness) = json.loads(scored(made, guesses).stdout)
    assert (membership["rate"], membership["control-rate"], membership["risk"]) == (1.0, 1.0, None)
    assert membership["undefined"] == UNDEFINED
    assert (illness["risk"], illness["undefined"]) == (None, "there are no guesses about people in the data")


def test_answers_that_were_changed_are_noticed(made: Challenge) -> None:
    facts = json.loads(made.answers.read_text("utf-8"))
    facts["answers"][0]["answer"] = "no" if facts["answers"][0]["answer"] == "yes" else "yes"
    made.answers.write_text(json.dumps(facts), "utf-8")
    done = scored(made, [("1", "in-the-data", "yes")])
    assert (done.returncode, done.stderr) == (
        2,
        "the answers about 1 targets are not those that were sealed\n",
    )


def test_guesses_about_nobody_are_refused(made: Challenge) -> None:
    assert scored(made, [("4000", "in-the-data", "yes")]).returncode == 1


def test_guesses_without_a_line_and_answers_that_are_none_are_one_line(made: Challenge) -> None:
    for guesses, spoil in (([], False), ([("1", "in-the-data", "yes")], True)):
        if spoil:
            made.answers.write_text("[]", "utf-8")
        done = scored(made, guesses)
        assert done.returncode == 1
        assert len(done.stderr.splitlines()) == 1


def test_the_risk_is_the_formula_and_its_interval_rests_on_wilsons_as_scipy_computes_them() -> None:
    found = risk([True] * 30 + [False] * 10, [True] * 12 + [False] * 38)
    assert (found["rate"], found["control-rate"]) == (0.75, 0.24)
    assert found["risk"] == pytest.approx((0.75 - 0.24) / (1 - 0.24), rel=1e-15)
    # 1 - risk is the ratio of the wrong guesses, 0.25 / 0.76: its ends solve Fieller's equation with the
    # variances that Wilson's ends stand for (Donner and Zou 2012)
    (low, high), (low_control, high_control) = (
        binomtest(wrong, of).proportion_ci(method="wilson") for wrong, of in ((10, 40), (38, 50))
    )
    least, most = (1 - end for end in reversed(found["interval"]))
    assert least < 0.25 / 0.76 < most
    assert (0.25 - most * 0.76) ** 2 == pytest.approx(
        (high - 0.25) ** 2 + most**2 * (0.76 - low_control) ** 2
    )
    assert (0.25 - least * 0.76) ** 2 == pytest.approx(
        (0.25 - low) ** 2 + least**2 * (high_control - 0.76) ** 2
    )


def test_only_what_is_guessed_counts() -> None:
    true = [
        {"target": t, "question": "in-the-data", "answer": a, "salt": ""}
        for t, a in (("1", "yes"), ("2", "no"), ("3", "yes"))
    ]
    said = [{"target": t, "question": "in-the-data", "answer": "yes"} for t in ("1", "2")]
    (found,) = scores(said, true)
    assert (found["guesses"], found["control-guesses"]) == (1, 1)


def test_all_records_of_a_person_are_taken_out(tmp_path: Path) -> None:
    columns = {
        "who": [n // 2 for n in range(N)],
        "badge": list(range(N)),
        "illness": [f"ill {n % 7}" for n in range(N)],
    }
    schema = sf.Schema(
        (
            sf.Attribute("who", "identifying"),
            sf.Attribute("badge", "quasi-identifying"),
            sf.Attribute("illness", "sensitive"),
        ),
        person="who",
    )
    table = sf.Table.from_arrow(pa.table(columns))
    made = challenge(
        table,
        schema,
        sf.sanitizers.AsIs(),
        tmp_path / "out",
        tmp_path / "a.json",
        targets=20,
        policy="none",
        allow_singling_out=True,
    )
    released = {int(row["badge"]) for row in rows(made.folder / "release" / "data.csv")}
    assert len(released) == N - 20
    assert {badge ^ 1 for badge in released} == released


def test_what_is_known_can_be_chosen(tmp_path: Path) -> None:
    made = challenge(
        *numbered(),
        sf.sanitizers.AsIs(),
        tmp_path / "out",
        tmp_path / "a.json",
        targets=10,
        known=["town", "illness"],
        policy="none",
        allow_singling_out=True,
    )
    assert made.questions == ("in-the-data",)
    assert list(rows(made.folder / "targets.csv")[0]) == ["target", "town", "illness"]


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    table, schema = numbered()
    out, private = tmp_path / "out", tmp_path / "a.json"
    with pytest.raises(ParameterError, match="'twon' that is released; did you mean 'town'"):
        challenge(
            table,
            schema,
            sf.sanitizers.AsIs(),
            out,
            private,
            known=["twon"],
            policy="none",
            allow_singling_out=True,
        )
    with pytest.raises(ParameterError, match="even number"):
        challenge(
            table,
            schema,
            sf.sanitizers.AsIs(),
            out,
            private,
            targets=11,
            policy="none",
            allow_singling_out=True,
        )
    with pytest.raises(ParameterError, match="more than half"):
        challenge(
            table,
            schema,
            sf.sanitizers.AsIs(),
            out,
            private,
            targets=300,
            policy="none",
            allow_singling_out=True,
        )
    with pytest.raises(UserError, match="for all to read"):
        challenge(table, schema, sf.sanitizers.AsIs(), out, out / "a.json", **FREE)
    private.touch()
    with pytest.raises(UserError, match="exists already"):
        challenge(table, schema, sf.sanitizers.AsIs(), out, private, **FREE)
    assert not out.exists()


def with_people(n_records_each: int) -> tuple[sf.Table, sf.Schema]:
    table, schema = numbered()
    badge, town, illness = schema.attributes
    people = [f"p{n // n_records_each}" for n in range(N)]
    columns = {name: [table[name].domain[code] for code in table[name].codes] for name in table.names}
    named = sf.Schema((sf.Attribute("pid", "identifying"), badge, town, illness), person="pid")
    return sf.Table.from_arrow({"pid": people, **columns}), named


@pytest.mark.parametrize("n_records_each", [1, 2])
@pytest.mark.parametrize("is_bound", [False, True])
def test_a_person_column_may_name_everybody_once(tmp_path: Path, n_records_each: int, is_bound: bool) -> None:
    table, schema = with_people(n_records_each)
    if is_bound:
        table, schema = schema.bind(table)
    made = challenge(
        table,
        schema,
        sf.sanitizers.AsIs(),
        tmp_path / "out",
        tmp_path / "a.json",
        targets=40,
        policy="none",
        allow_singling_out=True,
    )
    assert made.release.n_records == N - 20 * n_records_each
    assert made.release.schema.given is not None
    assert made.release.schema.given.person == "pid"
    assert "pid" not in (made.folder / "targets.csv").read_text("utf-8")
    assert sf.verify(made.folder / "release").holds
