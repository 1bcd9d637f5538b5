"""Score guesses about the people of a challenge, against guesses about people who were not in the data.

    python score.py guesses.csv answers.json

This file needs only the standard library, because every challenge folder contains a copy of it.
``guesses.csv`` has the columns ``target``, ``question`` and ``answer``; targets with no guess are not
counted.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import sys
from pathlib import Path
from typing import Any

MEMBERSHIP = "in-the-data"
YES, NO = "yes", "no"
UNDEFINED = "the rate of the control group is 100%, and a release can add nothing to that"
_NORMAL_95 = 1.959963984540054


def commitment(salt: str, target: str, question: str, answer: str) -> str:
    """Return the seal of an answer: it does not reveal the answer, and the owner cannot change it later."""
    sealed = json.dumps([salt, target, question, answer], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(sealed.encode()).hexdigest()


def broken_seals(commitments: list[dict[str, str]], answers: list[dict[str, str]]) -> list[str]:
    """Return the targets with an answer that differs from the sealed one, or that has no counterpart."""
    sealed = {(row["target"], row["question"]): row["commitment"] for row in commitments}
    opened = {
        (row["target"], row["question"]): commitment(
            row["salt"], row["target"], row["question"], row["answer"]
        )
        for row in answers
    }
    return sorted({key[0] for key in sealed.keys() | opened.keys() if sealed.get(key) != opened.get(key)})


def scores(guesses: list[dict[str, str]], answers: list[dict[str, str]]) -> list[dict[str, Any]]:
    """Return for each question how often guesses were right about people in the data, and about the others.

    For membership the rate is how often people were said to be in the data. The risk is (r - c) / (1 - c):
    the gain over what is guessed of anybody. It is undefined if c is 1.
    """
    true = {(row["target"], row["question"]): row["answer"] for row in answers}
    unknown = [row for row in guesses if (row["target"], row["question"]) not in true]
    if unknown:
        raise ValueError("a guess names a target or a question that is not in the challenge")
    guessed = {(row["target"], row["question"]): row["answer"] for row in guesses}
    results = []
    for question in dict.fromkeys(row["question"] for row in answers):
        hits: dict[bool, list[bool]] = {True: [], False: []}
        for (target, guessed_question), answer in guessed.items():
            if guessed_question == question:
                expected = YES if question == MEMBERSHIP else true[target, question]
                hits[true[target, MEMBERSHIP] == YES].append(answer == expected)
        results.append({"question": question, **risk(hits[True], hits[False])})
    return results


def risk(hits: list[bool], control: list[bool]) -> dict[str, Any]:
    """Return both rates and the risk (r - c) / (1 - c), with 95% confidence.

    1 - risk is the ratio of two shares of wrong guesses. Its interval combines the Wilson intervals of both
    (A. Donner and G. Zou, "Closed-form confidence intervals for functions of the normal mean and standard
    deviation", 2012). It always contains the risk and never exceeds 1. If there is no risk, ``undefined``
    says why.
    """
    facts: dict[str, Any] = {
        "guesses": len(hits),
        "control-guesses": len(control),
        "rate": None,
        "control-rate": None,
        "risk": None,
        "interval": None,
        "undefined": None,
    }
    if not hits or not control:
        who = "in the data" if not hits else "in the control group"
        return {**facts, "undefined": f"there are no guesses about people {who}"}
    facts |= {"rate": sum(hits) / len(hits), "control-rate": sum(control) / len(control)}
    if all(control):
        return {**facts, "undefined": UNDEFINED}
    n_wrong, n_wrong_control = hits.count(False), control.count(False)
    wrong, wrong_control = n_wrong / len(hits), n_wrong_control / len(control)
    # from whole numbers, so that a risk of -9 does not become -9.000000000000002
    value = (n_wrong_control * len(hits) - n_wrong * len(control)) / (n_wrong_control * len(hits))
    (low, high), (low_control, high_control) = _wilson(wrong, len(hits)), _wilson(wrong_control, len(control))
    product = wrong * wrong_control
    room = low_control * (2 * wrong_control - low_control)
    most = (product + math.sqrt(max(product**2 - high * (2 * wrong - high) * room, 0.0))) / room
    # the same with the other ends and the other root, written without a difference of nearly equal numbers
    room, own = high_control * (2 * wrong_control - high_control), low * (2 * wrong - low)
    least = own / (product + math.sqrt(max(product**2 - own * room, 0.0))) if wrong else 0.0
    return {**facts, "risk": value, "interval": [1 - most, 1 - least]}


def _wilson(share: float, number: int) -> tuple[float, float]:
    z = _NORMAL_95
    middle = (share + z * z / (2 * number)) / (1 + z * z / number)
    radius = z / (1 + z * z / number) * math.sqrt(share * (1 - share) / number + (z / (2 * number)) ** 2)
    return max(middle - radius, 0.0), min(middle + radius, 1.0)


def _require_file(path: Path) -> None:
    # system files such as /proc/kmsg report size 0 and may never end
    if not path.is_file() or not path.stat().st_size:
        raise FileNotFoundError


def _rows(path: Path) -> list[dict[str, str]]:
    _require_file(path)
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


class Unsealed(ValueError):
    """Raised if the answers are not the sealed ones."""


def scored(folder: Path, guesses: Path, answers: Path) -> list[dict[str, Any]]:
    """Check the seals of a challenge and return the scores; a ValueError says in one line what is wrong.

    Parameters
    ----------
    folder
        The folder of the challenge: it holds the commitments.
    guesses
        The guesses.
    answers
        The answers that the owner kept.
    """
    try:
        _require_file(answers)
        opened = json.loads(answers.read_text("utf-8"))["answers"]
        broken = broken_seals(_rows(folder / "commitments.csv"), opened)
    except (OSError, KeyError, TypeError, ValueError):
        raise ValueError("the answers cannot be read; give the file that the owner kept") from None
    if broken:
        raise Unsealed(f"the answers about {len(broken)} targets are not those that were sealed")
    try:
        guessed = _rows(guesses)
        results = scores(guessed, opened) if guessed else []
    except (OSError, KeyError, ValueError):
        results = []
    if not results:
        raise ValueError("no guesses with the columns target, question, answer, as in commitments.csv")
    return results


def main(guesses: str, answers: str) -> int:
    """Check the seals and print the scores as JSON."""
    try:
        results = scored(Path(__file__).parent, Path(guesses), Path(answers))
    except ValueError as problem:
        sys.stderr.write(f"{problem}\n")
        return 2 if isinstance(problem, Unsealed) else 1
    sys.stdout.write(json.dumps(results, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]) if len(sys.argv) == 3 else "usage: score.py guesses.csv answers.json")
