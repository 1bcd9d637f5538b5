"""Tests of the label next to every statement that no reader can check."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from tests.report.marks_reader import without_marks

import sfumato as sf
from sfumato.results.candidate import Candidate
from sfumato.results.frontier import Frontier
from sfumato.results.measurement import measure
from sfumato.sanitizers.base import Sanitizer
from sfumato.verification.renderings import UNVERIFIED_CLAIM
from sfumato.workflow.project.project_file import Publication
from sfumato.workflow.report.owner_report import report_html

LABEL = f'<span class="unverified">{UNVERIFIED_CLAIM}</span>'
STATED = Publication(
    title="Patients",
    purpose="to teach",
    recipients="students of the course",
    safeguards="a contract",
    steward="B. Keeper",
    review_by=date(2030, 5, 1),
)
ELEMENT = re.compile(r"<(p|li|dd|caption|th|td|small)\b[^>]*>(?:(?!<\1\b).)*?</\1>", re.DOTALL)


def pages(folder: Path) -> dict[str, str]:
    return {place.name: without_marks(place.read_text("utf-8")) for place in folder.glob("report*.html")}


def unlabelled(page: str, statement: str) -> list[str]:
    """Return the smallest elements that make a statement and have no label."""
    return [
        found[0]
        for found in ELEMENT.finditer(page)
        if re.search(statement, found[0]) and LABEL not in found[0]
    ]


def labelled(page: str, statement: str) -> bool:
    """Return whether a statement is made, and each time with a label."""
    return re.search(statement, page) is not None and not unlabelled(page, statement)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("published")
    table, schema = sf.datasets.hospital()
    methods: dict[str, Sanitizer] = {
        "generalized": sf.sanitizers.FullDomain(
            {"zip": 2, "age": 1}, sf.models.KAnonymity(2), suppression=0.9
        ),
        "private": sf.sanitizers.MST(epsilon=5.0),
        "perturbed": sf.sanitizers.PRAM(0.5),
    }
    for name, method in methods.items():
        sf.publish(
            sf.sanitize(table, schema, method, seed=1),
            place / name,
            ["privacy-loss", "general-loss", "epsilon"],
            policy={"general-loss": sf.Limit(at_most=0.99)} if name == "generalized" else {},
            allow_singling_out=True,
            why="it is enough",
            by="A. Steward",
            publication=STATED,
            profiles=["ema", "hipaa", "iso-27559", "nist", "wp216"],
        )
    people = {"who": list("aabbcc"), "age": [1] * 6, "ill": list("xyxyxy")}
    roles = sf.Schema.of(who="identifying", age="quasi-identifying", ill="sensitive")
    several = sf.sanitize(
        sf.Table.from_arrow(people),
        replace(roles, person="who"),
        sf.sanitizers.Mondrian(sf.models.KAnonymity(3)),
    )
    sf.publish(several, place / "people", profiles=["nist"], policy="none", allow_singling_out=True)
    return {each.name: each for each in place.iterdir()}


class TestInTheReport:
    @pytest.mark.parametrize(
        "statement",
        [
            "to teach",
            "students of the course",
            "a contract",
            r"<dd>B\. Keeper",
            "2030-05-01 ",
            "it is enough",
            r"<dd>A\. Steward",
            "Decided by A",
            r"The original has .*<strong>12</strong> records",
            "A missing value is treated as a category of its own",
            "Attributes, their roles, and how they may be generalised",
            "was tried; those that could be made",
            "Methods tried",
            "full-domain with k-anonymity",
            "By the owner's figures it is efficient",
            r"<td[^>]*>between [\d.]+% and [\d.]+%",
            r"released value that looks exact is true",
            "Made with sfumato",
            ">Exact ",
            ">Generalised ",
        ],
    )
    def test_a_statement_is_labelled_where_it_is_made(self, folders: dict[str, Path], statement: str) -> None:
        assert labelled(pages(folders["generalized"])["report.html"], statement)

    @pytest.mark.parametrize(
        "statement",
        [
            "<p>The records are made up",
            "No record is a person.s",
            "Differential privacy is promised",
            "The records are synthetic and",
            "about <str",
        ],
    )
    def test_of_synthetic_records_and_what_their_method_promises(
        self, folders: dict[str, Path], statement: str
    ) -> None:
        assert labelled(pages(folders["private"])["report.html"], statement)

    def test_of_changed_values(self, folders: dict[str, Path]) -> None:
        page = pages(folders["perturbed"])["report.html"]
        assert labelled(page, "Values were changed")
        assert labelled(page, "Records stand for people, but their values were changed")

    def test_of_people_whom_no_reader_can_count(self, folders: dict[str, Path]) -> None:
        page = pages(folders["people"])["report.html"]
        assert labelled(page, "counting people")
        assert labelled(page, "Some people have several records")
        assert labelled(page, "of 3 people, some with several")
        assert f"3 of 3; {LABEL}" in page

    def test_the_summary_says_which_of_its_figures_cannot_be_checked(self, folders: dict[str, Path]) -> None:
        page = pages(folders["generalized"])["report.html"]
        named = r"\(<code>general-loss</code>\)"
        assert re.search(rf"between [\d.]+% and [\d.]+% of their information {named} {LABEL}", page)
        assert f"lower is better; {LABEL}" in page
        assert f"of 12; {LABEL}" in page

    def test_what_a_reader_can_compute_has_no_label(self, folders: dict[str, Path]) -> None:
        page = pages(folders["generalized"])["report.html"]
        claims = page[page.index('id="claims"') : page.index('id="limits"')]
        assert LABEL not in claims
        requirements = page[
            page.index("What the recipe asks for") : page.index("The publisher's policy: what")
        ]
        assert LABEL not in requirements
        assert "k-anonymity (k = 2)" in requirements

    def test_what_is_not_stated_has_no_label(self, folders: dict[str, Path]) -> None:
        page = pages(folders["people"])["report.html"]
        assert unlabelled(page, "Not stated") == ["<dd>Not stated.</dd>"] * 3


class TestInProfiles:
    @pytest.mark.parametrize("name", ["ema", "hipaa", "iso-27559", "nist", "wp216"])
    def test_a_statement_is_labelled_where_it_is_made(self, folders: dict[str, Path], name: str) -> None:
        page = pages(folders["generalized"])[f"report-{name}.html"]
        for statement in ("to teach", "students of the course", "Made with sfumato", "Decided by"):
            assert labelled(page, statement), statement
        assert labelled(page, r"<caption>[^<]*what was done to each")

    @pytest.mark.parametrize(
        ("name", "statement"),
        [
            ("ema", "<small>.as a band"),
            ("hipaa", "on average, as bands"),
            ("iso-27559", "at worst, as a band"),
            ("wp216", "in the original it was"),
        ],
    )
    def test_of_the_risk_in_the_original(self, folders: dict[str, Path], name: str, statement: str) -> None:
        assert labelled(pages(folders["generalized"])[f"report-{name}.html"], statement)

    def test_differential_privacy_is_always_one(self, folders: dict[str, Path]) -> None:
        assert labelled(pages(folders["private"])["report-nist.html"], "to be taken on trust")
        assert labelled(pages(folders["generalized"])["report-nist.html"], "There is no epsilon")


def test_the_readme_labels_what_nobody_can_check(folders: dict[str, Path]) -> None:
    text = (folders["generalized"] / "README.md").read_text("utf-8")
    assert f"what was left out is in no file. *({UNVERIFIED_CLAIM})*" in text
    assert f"All numbers of `age` are whole. *({UNVERIFIED_CLAIM})*" in text
    assert "but those that are marked as an unverified claim" in text


def test_the_owner_s_copy_has_no_label() -> None:
    table, schema = sf.datasets.hospital()
    release = sf.sanitize(table, schema, sf.sanitizers.Mondrian(sf.models.KAnonymity(3)), seed=1)
    assert release.recipe is not None
    chosen = Candidate("a", release.recipe, tuple(measure(release, ["privacy-loss", "general-loss"])))
    page = report_html(
        publication=STATED,
        schema=release.schema,
        n_records=12,
        frontier=Frontier((chosen,), ("privacy-loss", "general-loss")),
        chosen=chosen,
        release=release,
    )
    assert "to teach" in page
    assert LABEL not in page
