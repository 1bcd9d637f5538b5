"""The ask page: answers with links, errors that point at the place, the question in the address."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from sfumato.interfaces.workbench.routes.ask import STANDING
from sfumato.workflow.choose.question import parse

from ..exploring import Seen, candidates, explored, harmless, patients

Ready = Callable[..., Any]


@pytest.fixture
def project(folder: Path) -> Path:
    return patients(folder)


def asked(ready: Ready, question: str) -> Any:
    return ready(f"/projects/patients/ask?q={quote(question)}")


def test_the_answer_is_told_with_links_and_with_what_the_limits_cost(project: Path, ready: Ready) -> None:
    page = harmless(asked(ready, "max k where loss <= 70% and suppression <= 10%").text)
    best = candidates(project)["mondrian-3"].id
    assert f"/projects/patients/releases/{best}" in page.links
    assert "Mondrian k=3" in page.text
    assert "What the limits cost, each by itself" in page.text
    assert "Loosened to 100%, you could have k-anonymity 12" in page.text
    assert [each["value"] for each in page.all("input") if each.get("id") == "q"] == [
        "max k where loss <= 70% and suppression <= 10%"
    ]


def test_when_nothing_keeps_the_limits_the_nearest_is_named(project: Path, ready: Ready) -> None:
    page = Seen(asked(ready, "max k where loss <= 0% and k >= 3").text)
    assert "No release meets all limits" in page.text
    assert "Nearest to all of them" in page.text
    assert "How far each limit, by itself, would have to be loosened" in page.text


def test_an_answer_that_breaks_the_policy_says_so(project: Path, ready: Ready) -> None:
    page = Seen(asked(ready, "min loss where k <= 1").text)
    assert "This one is against it and may not be published: reidentification-risk is 1" in page.text
    assert "is against it" not in Seen(asked(ready, "min loss").text).text


@pytest.mark.parametrize(
    ("question", "marked"),
    [
        ("max k where loss !! 3", "!!"),
        ("maximal k", "maximal"),
        ("max k where loss <=", "…"),
        ("max k where loss <= 10% or k > 3", "or"),
        ("max kk", "kk"),
        ("max k where lost <= 10%", "lost"),
        ("max k where loss <= 25", "loss"),
        ("max beta-likeness", "beta-likeness"),
    ],
)
def test_an_error_stands_under_the_box_and_points_at_the_place(
    project: Path, ready: Ready, question: str, marked: str
) -> None:
    response = asked(ready, question)
    assert response.status_code == 422
    assert f"<mark>{marked}</mark>" in response.text
    page = Seen(response.text)
    box = next(each for each in page.all("input") if each.get("id") == "q")
    assert box["aria-invalid"] == "true"
    assert "wrong" in box["aria-describedby"].split()


def test_evil_questions_are_shown_as_text(project: Path, ready: Ready) -> None:
    for question in (
        "<script>alert(1)</script>",
        '" onfocus="x',
        "max k where <img src=x> <= 3",
        "{{ 7 * 7 }}",
    ):
        page = harmless(asked(ready, question).text)
        assert question in next(each for each in page.all("input") if each.get("id") == "q")["value"]


def test_the_four_standing_questions_are_buttons(project: Path, ready: Ready) -> None:
    page = Seen(ready("/projects/patients/ask").text)
    assert len(STANDING) == 4
    for question in STANDING:
        parse(question)
        assert f"/projects/patients/ask?q={quote(question, safe='/')}" in page.links
        assert ready(f"/projects/patients/ask?q={quote(question)}").status_code in (200, 422)
    assert "needs probabilistic-diversity, not measured yet" in page.text


def test_completions_come_from_the_grammar_and_from_what_was_measured(project: Path, ready: Ready) -> None:
    page = Seen(ready("/projects/patients/ask").text)
    words = {(each["data-kind"], each["data-word"]) for each in page.all("li") if "data-word" in each}
    assert {("aim", "max"), ("aim", "min"), ("link", "where"), ("link", "and")} <= words
    assert {
        ("measure", "k"),
        ("measure", "k-anonymity"),
        ("measure", "loss"),
        ("measure", "total-loss"),
    } <= words
    assert ("measure", "t") not in words, "it was not measured"


def test_with_nothing_explored_there_is_nothing_to_ask(folder: Path, ready: Ready) -> None:
    page = ready("/projects/people/ask?q=max+k")
    assert page.status_code == 200
    assert "nothing has been explored yet" in Seen(page.text).text


def test_where_nothing_is_sensitive_the_page_says_so_instead_of_asking_for_a_measure(
    project: Path, ready: Ready
) -> None:
    header = (
        project.read_text()
        .partition("[[candidates]]")[0]
        .replace('role = "sensitive"', 'role = "insensitive"')
    )
    candidates = '[[candidates]]\nsanitizer = "mondrian"\nmodel = { k-anonymity = { k = [2, 3] } }\n'
    explored(
        project, header + candidates + '[measure]\nprivacy = ["k-anonymity"]\nutility = ["total-loss"]\n'
    )
    said = "speaks of a sensitive attribute, and no column of this table is one"
    standing = Seen(ready("/projects/patients/ask").text).text.count(said)
    assert standing == 2, "two of the four questions speak of l"
    page = asked(ready, "max l where loss <= 70%")
    assert page.status_code == 422
    assert Seen(page.text).text.count(said) == standing + 1
