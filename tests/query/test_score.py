"""What guesses score, by hand: who is counted, which seals are broken, and what the program says of it."""

from __future__ import annotations

import csv
import itertools
import json
from fractions import Fraction
from math import comb
from pathlib import Path

import pytest

from sfumato.workflow.query import score
from sfumato.workflow.query.score import MEMBERSHIP, UNDEFINED, broken_seals, commitment, main, risk, scores

Rows = list[dict[str, str]]

# Ann and Ben were in the data, Cem and Dia were not.
ILLNESSES = {"ann": "flu", "ben": "gout", "cem": "flu", "dia": "gout"}
MEMBERS = {"ann": "yes", "ben": "yes", "cem": "no", "dia": "no"}
ANSWERS: Rows = [
    {"salt": f"{target}-{question}", "target": target, "question": question, "answer": answer}
    for question, told in ((MEMBERSHIP, MEMBERS), ("illness", ILLNESSES))
    for target, answer in told.items()
]
SEALS: Rows = [
    {"target": each["target"], "question": each["question"], "commitment": commitment(**each)}
    for each in ANSWERS
]


def guessed(question: str, **said: str) -> Rows:
    return [{"target": target, "question": question, "answer": answer} for target, answer in said.items()]


class TestSeals:
    def test_a_seal_is_the_digest_of_salt_target_question_and_answer(self) -> None:
        # printf '["s","1","q","ü"]' | sha256sum
        expected = "f3bbe39ca79165591f4bcafb3bfd245f8d02de7f3f3bc8980f42064e7d807430"
        assert commitment("s", "1", "q", "ü") == expected

    def test_whose_answers_are_not_those_that_were_sealed(self) -> None:
        assert broken_seals(SEALS, ANSWERS) == []
        changed = [{**each, "answer": "no"} if each["answer"] == "yes" else each for each in ANSWERS]
        assert broken_seals(SEALS, changed) == ["ann", "ben"]
        assert broken_seals(SEALS, ANSWERS[1:]) == ["ann"]
        assert broken_seals(SEALS[:-1], ANSWERS) == ["dia"]


class TestScores:
    def test_of_membership_it_is_counted_who_was_said_to_be_in_the_data(self) -> None:
        found = scores(guessed(MEMBERSHIP, ann="yes", ben="no", cem="no", dia="no"), ANSWERS)[0]
        assert found["question"] == MEMBERSHIP
        assert (found["guesses"], found["control-guesses"]) == (2, 2)
        assert (found["rate"], found["control-rate"]) == (0.5, 0.0)

    def test_of_an_attribute_it_is_counted_who_was_guessed_right(self) -> None:
        found = scores(guessed("illness", ann="flu", ben="flu", cem="flu", dia="gout"), ANSWERS)
        assert [each["question"] for each in found] == [MEMBERSHIP, "illness"]
        assert (found[1]["rate"], found[1]["control-rate"]) == (0.5, 1.0)
        assert found[0]["guesses"] == 0
        assert (
            found[0]["risk"] is found[0]["interval"] is found[0]["rate"] is found[0]["control-rate"] is None
        )

    def test_without_a_control_there_is_no_risk(self) -> None:
        found = scores(guessed("illness", ann="flu"), ANSWERS)[1]
        assert (found["guesses"], found["control-guesses"], found["risk"]) == (1, 0, None)

    def test_a_target_or_question_that_nobody_set_is_refused(self) -> None:
        for guesses in (guessed("illness", eve="flu"), guessed("town", ann="Rome")):
            with pytest.raises(ValueError, match="not in the challenge"):
                scores(guesses, ANSWERS)


def some(n_right: int, number: int) -> list[bool]:
    return [True] * n_right + [False] * (number - n_right)


class TestRisk:
    @pytest.mark.parametrize(
        ("hits", "control", "expected"),
        [((10, 10), (5, 10), 1.0), ((0, 10), (9, 10), -9.0), ((3, 4), (1, 2), 0.5), ((1, 3), (1, 3), 0.0)],
    )
    def test_it_is_the_formula(
        self, hits: tuple[int, int], control: tuple[int, int], expected: float
    ) -> None:
        assert risk(some(*hits), some(*control))["risk"] == expected

    def test_it_lies_in_its_interval_for_every_small_number_of_guesses(self) -> None:
        for n, m in itertools.product(range(1, 9), repeat=2):
            for right, control in itertools.product(range(n + 1), range(m)):
                found = risk(some(right, n), some(control, m))
                r, c = Fraction(right, n), Fraction(control, m)
                assert found["risk"] == pytest.approx(float((r - c) / (1 - c)), abs=1e-12)
                low, high = found["interval"]
                assert low < found["risk"] <= high <= 1
                assert (found["risk"] == high) == (right == n)
                assert found["undefined"] is None

    def test_of_a_control_group_that_is_always_right_it_is_undefined(self) -> None:
        for right in range(4):
            found = risk(some(right, 3), some(2, 2))
            assert (found["rate"], found["control-rate"]) == (right / 3, 1.0)
            assert (found["risk"], found["interval"], found["undefined"]) == (None, None, UNDEFINED)

    def test_without_guesses_on_a_side_it_is_undefined(self) -> None:
        assert risk([], [True])["undefined"] == "there are no guesses about people in the data"
        assert risk([True], [])["undefined"] == "there are no guesses about people in the control group"

    def test_the_interval_holds_the_true_risk_about_95_times_in_100(self) -> None:
        """Exactly, over all outcomes of 30 and 20 guesses, weighed by how often they come."""
        for r, c in ((0.5, 0.2), (0.9, 0.5), (0.3, 0.3), (0.2, 0.6)):
            chances = [
                [comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)] for n, p in ((30, r), (20, c))
            ]
            held = total = 0.0
            for right, control in itertools.product(range(31), range(20)):
                low, high = risk(some(right, 30), some(control, 20))["interval"]
                chance = chances[0][right] * chances[1][control]
                total += chance
                held += chance * (low <= (r - c) / (1 - c) <= high)
            assert 0.93 < held / total < 0.98


class TestProgram:
    @pytest.fixture
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A challenge as outsiders have it, with the program in it, and the owner's answers."""
        monkeypatch.setattr(score, "__file__", str(tmp_path / "score.py"))
        self.write(tmp_path / "commitments.csv", SEALS)
        (tmp_path / "answers.json").write_text(json.dumps({"answers": ANSWERS}), "utf-8")
        return tmp_path

    def write(self, place: Path, rows: Rows) -> None:
        with place.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)

    def run(self, folder: Path, guesses: Rows) -> int:
        self.write(folder / "guesses.csv", guesses)
        return main(str(folder / "guesses.csv"), str(folder / "answers.json"))

    def test_it_prints_the_scores(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        guesses = guessed("illness", ann="flu", cem="gout")
        assert self.run(folder, guesses) == 0
        assert capsys.readouterr().out == json.dumps(scores(guesses, ANSWERS), indent=2) + "\n"

    def test_a_guess_may_have_line_ends_of_any_kind(self, folder: Path) -> None:
        guesses = guessed("illness", ann="a\r\nb", cem="a\nb")
        self.write(folder / "guesses.csv", guesses)
        assert score._rows(folder / "guesses.csv") == guesses

    def test_broken_seals_are_told_before_any_score(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (folder / "answers.json").write_text(json.dumps({"answers": ANSWERS[2:]}), "utf-8")
        assert self.run(folder, guessed("illness", ann="flu")) == 2
        said = capsys.readouterr()
        assert (said.out, said.err) == ("", "the answers about 2 targets are not those that were sealed\n")

    @pytest.mark.parametrize("written", ["[]", "{}", "", '{"answers": [{}]}', '{"answers": 1}'])
    def test_answers_that_cannot_be_read_are_one_line(
        self, folder: Path, capsys: pytest.CaptureFixture[str], written: str
    ) -> None:
        (folder / "answers.json").write_text(written, "utf-8")
        assert self.run(folder, guessed("illness", ann="flu")) == 1
        assert capsys.readouterr().err.startswith("the answers cannot be read")

    def test_guesses_that_cannot_be_read_are_one_line(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        for guesses in ([{"target": "ann", "answer": "flu"}], guessed("illness", eve="flu")):
            assert self.run(folder, guesses) == 1
            assert capsys.readouterr().err.startswith("no guesses with the columns")
        (folder / "guesses.csv").unlink()
        assert main(str(folder / "guesses.csv"), str(folder / "answers.json")) == 1
