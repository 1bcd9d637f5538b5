"""The report: complete, honest, safe to open, and the same bytes for the same facts."""

from __future__ import annotations

import datetime
import math
import re
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from typing import Any

import pytest

import sfumato
from sfumato import Attribute, Intervals, Schema, Table
from sfumato.measures import Measurement, measure
from sfumato.measures.scenarios.scenario import Adversary, Scenario
from sfumato.models import KAnonymity, TCloseness
from sfumato.reading import datasets
from sfumato.registry.recipe import Recipe
from sfumato.results import formatting
from sfumato.results.candidate import Candidate
from sfumato.results.decision import Decision
from sfumato.results.frontier import Frontier
from sfumato.results.linked_release import released
from sfumato.results.pareto import Limit
from sfumato.results.policy import Policy
from sfumato.results.recipients import NOBODY
from sfumato.results.release import Release
from sfumato.runtime.errors import Infeasible
from sfumato.sanitizers import AsIs, FullDomain, Mondrian, SuppressQuasiIdentifiers, sanitize
from sfumato.workflow.project.project_file import Publication
from sfumato.workflow.report.glossary import TERMS
from sfumato.workflow.report.owner_report import report_html

SEED = 918273645564738291
MEASURES = ["privacy-loss", "accuracy-gain", "reidentification-risk", "k-anonymity", "t-closeness"]
LOSSES = ["general-loss", "suppression-loss", "discernibility"]
AXES = ("privacy-loss", "general-loss")
VOID = {"meta", "br", "img", "link", "input", "hr"}
NASTY = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=y>',
    r"$\frac{a}{b}$",
    "under_score",
    "../../etc/passwd",
    '=HYPERLINK("x")',
    "{{ 7 * 7 }}",
    "O'Brien & Söhne",
)
EXPLORATION = [
    "Purpose, recipients and context",
    "The data",
    "Attributes and roles",
    "Adversaries considered",
    "Candidates tried and the frontier",
    "Limits of the claim",
    "Recipe, version and verification",
    "Words used in this report",
    "Appendix: every candidate",
]
PUBLICATION = [
    *EXPLORATION[:5],
    "The choice",
    "Privacy measurements",
    "Attacks tried",
    "Utility measurements",
    "What was changed in each attribute",
    "Class sizes",
    "Claims checked on the published cells",
    *EXPLORATION[5:-1],
    "Signature and review",
    EXPLORATION[-1],
]


class Page(HTMLParser):
    """A page as a browser would take it: balanced elements, their attributes, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.headings: list[str] = []
        self.cells: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "h2":
            self.headings.append("")
        if tag in {"td", "th"}:
            self.cells.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, f"</{tag}> closes another element"

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if "h2" in self.open:
            self.headings[-1] += data
        if {"td", "th"} & set(self.open):
            self.cells[-1] += data

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    @property
    def titles(self) -> list[str]:
        return [re.sub(r"^\d+\s*", "", heading.strip()) for heading in self.headings]


@dataclass(frozen=True)
class Example:
    """A small table with everything that a report needs."""

    table: Table
    schema: Schema
    frontier: Frontier
    infeasible: tuple[Candidate, ...]

    @property
    def common(self) -> dict[str, Any]:
        return {
            "publication": Publication("Admissions 2026", "Research on falls.", "Anybody."),
            "schema": self.schema,
            "n_records": self.table.n_records,
            "frontier": limited_to(self.frontier, {"reidentification-risk": Limit(at_most=0.5)}),
            "infeasible": self.infeasible,
        }

    def published(self, position: int = 2, **others: Any) -> str:
        chosen = self.frontier.candidates[position]
        release = sanitize(self.table, self.schema, chosen.recipe)
        facts: dict[str, Any] = {
            "chosen": chosen,
            "release": release,
            "decision": Decision(chosen.id, "Small & safe.", "A. Example", "2026-11-15T09:30:00+00:00"),
            "claims": measure(release, [*MEASURES, "suppression-loss"]),
            "files": {"data.csv": "a1" * 32, "data.parquet": "b2" * 32},
        }
        given = {**self.common, **facts, **others}
        if "policy" in given:
            given["frontier"] = limited_to(given["frontier"], given.pop("policy"))
        return report_html(**given)


def limited_to(frontier: Frontier, limits: dict[str, Limit]) -> Frontier:
    return replace(frontier, policy=Policy(NOBODY, limits))


def explored(table: Table, schema: Schema, names: list[str], axes: tuple[str, ...] = AXES) -> Example:
    bound_table, bound_schema = schema.bind(table)
    quasi_identifiers = bound_schema.quasi_identifiers
    tried = [
        AsIs(),
        SuppressQuasiIdentifiers(),
        Mondrian(KAnonymity(2)),
        Mondrian(KAnonymity(3)),
        Mondrian(KAnonymity(4)),
        FullDomain(dict.fromkeys(quasi_identifiers, 1), KAnonymity(2), suppression=0.9),
        Mondrian(KAnonymity(1000)),
    ]
    made, infeasible = [], []
    for position, sanitizer in enumerate(tried):
        recipe, identity = Recipe.of(sanitizer, SEED), f"candidate{position}"
        try:
            release = sanitize(bound_table, bound_schema, recipe)
            made.append(Candidate(identity, recipe, tuple(measure(release, names))))
        except Infeasible as reason:
            infeasible.append(Candidate(identity, recipe, (), str(reason)))
    return Example(bound_table, bound_schema, Frontier(tuple(made), axes), tuple(infeasible))


@pytest.fixture(scope="module")
def hospital() -> Example:
    return explored(*datasets.hospital(), [*MEASURES, *LOSSES])


@pytest.fixture(scope="module")
def published(hospital: Example) -> str:
    return hospital.published()


@pytest.fixture(scope="module")
def nasty() -> Example:
    """A table whose columns have the worst of names."""
    numbers = [[20 + (7 * row + 3 * place) % 11 for row in range(12)] for place in range(len(NASTY) - 1)]
    columns: dict[str, Any] = dict(zip(NASTY, numbers, strict=False))
    columns[NASTY[-1]] = [f"confidential-{row % 3}" for row in range(12)]
    attributes = [Attribute(name, "quasi-identifying", "numeric", Intervals((5,))) for name in NASTY[:-2]]
    attributes += [Attribute(NASTY[-2], "insensitive"), Attribute(NASTY[-1], "sensitive")]
    return explored(Table.from_arrow(columns), Schema(tuple(attributes)), [*MEASURES, *LOSSES])


# Form


def test_a_publication_has_all_sections_in_order(published: str) -> None:
    assert Page(published).titles == PUBLICATION


def test_an_exploration_has_its_sections_and_no_choice(hospital: Example) -> None:
    page = Page(report_html(**hospital.common))
    assert page.titles == EXPLORATION
    assert "Nothing has been chosen yet." in page.text
    assert "Signature" not in page.text


@pytest.mark.parametrize("variant", ["publication", "exploration"])
def test_the_page_is_well_formed_and_sealed(hospital: Example, published: str, variant: str) -> None:
    html = published if variant == "publication" else report_html(**hospital.common)
    page = Page(html)
    assert page.open == []
    assert html.startswith("<!DOCTYPE html>\n<html lang=")
    assert "<script" not in html
    assert re.findall(r"https?:|//|javascript:|@import|url\((?!#)", html) == []
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"script", "iframe", "object", "embed", "form", "link", "img", "base"}
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    policy = next(a["content"] for t, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:")
    assert ("meta", {"charset": "utf-8"}) in page.elements


def test_ids_are_unique_and_links_lead_somewhere(published: str) -> None:
    page = Page(published)
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(set(ids)) == len(ids)
    links = [str(attributes["href"]) for _, attributes in page.elements if "href" in attributes]
    assert links
    assert {link.removeprefix("#") for link in links} <= set(map(str, ids))


def test_every_table_has_a_caption_and_every_figure_a_description(published: str) -> None:
    tags = [tag for tag, _ in Page(published).elements]
    assert tags.count("table") == tags.count("caption") > 5
    assert tags.count("figure") == tags.count("figcaption") == tags.count("svg") == 3
    assert all(
        a.get("aria-label") and a.get("role") == "img" for t, a in Page(published).elements if t == "svg"
    )


def test_equal_facts_give_equal_bytes(hospital: Example, published: str) -> None:
    assert hospital.published() == published


def test_a_report_of_forty_candidates_stays_small(hospital: Example) -> None:
    many = tuple(
        replace(candidate, id=f"{candidate.id}-{copy}")
        for copy in range(7)
        for candidate in hospital.frontier.candidates
    )[:40]
    html = hospital.published(frontier=replace(hospital.frontier, candidates=many))
    assert len(html.encode()) < 400_000


# Safety


def test_odd_names_are_shown_as_text_in_tables_and_pictures(nasty: Example) -> None:
    html = nasty.published()
    page = Page(html)
    assert page.titles == PUBLICATION
    assert "<script" not in html
    assert "<img" not in html
    for name in NASTY:
        assert name in page.cells, "as the head of its row"
    drawn = Page("".join(re.findall(r"<svg.*?</svg>", html, re.DOTALL)))
    for name in NASTY[:-2]:
        assert name in drawn.texts
    assert "{{ 7 * 7 }}" in page.text
    assert "49" not in [text.strip() for text in page.texts]


def test_what_people_wrote_is_shown_as_text(hospital: Example) -> None:
    bad = '</title><script>x</script><b onclick="y">'
    html = hospital.published(
        publication=Publication(bad, bad, bad),
        decision=Decision("candidate2", bad, bad, bad),
        files={bad: bad},
        infeasible=(Candidate(bad, Recipe(bad, {bad: {bad: [bad]}}), (), bad),),
    )
    page = Page(html)
    assert page.titles == PUBLICATION
    assert "<script" not in html
    assert page.text.count(bad) >= 8


def test_neither_the_seed_nor_a_value_of_a_record_is_shown(nasty: Example, hospital: Example) -> None:
    for example in (nasty, hospital):
        for html in (example.published(), report_html(**example.common)):
            assert str(SEED) not in html
            assert '"seed"' not in html
    assert "confidential-" not in nasty.published()
    text = Page(hospital.published()).text
    sensitive = {str(value) for value in hospital.schema.hierarchy("diagnosis").values}
    places = {str(value) for value in hospital.schema.hierarchy("zip").values}
    assert [value for value in sensitive | places if value in text] == []


# Content


def test_the_choice_says_who_why_when_and_whether_the_policy_is_met(published: str) -> None:
    text = Page(published).text
    assert "Small & safe." in text
    assert "A. Example" in text
    assert "2026-11-15 09:30 UTC" in text
    assert "re-identification risk at most 50% (no class of fewer than 2 records) 50% met" in text
    assert "k-anonymity (k = 2) at least 2" in text


@pytest.mark.parametrize(("lowest", "words"), [(1, "4, the lowest never"), (2, "4, the lowest 2 never")])
def test_levels_that_are_ruled_out_are_said(lowest: int, words: str) -> None:
    table, schema = datasets.hospital()
    attributes = [replace(a, lowest_level=lowest) if a.name == "age" else a for a in schema.attributes]
    text = Page(explored(table, Schema(tuple(attributes)), [*MEASURES, *LOSSES]).published()).text
    assert f"age quasi-identifying numeric {words} released" in text
    assert "the steward ruled out the lowest ones beforehand" in text


def test_levels_are_only_ruled_out_where_somebody_did(published: str) -> None:
    assert "ruled out" not in Page(published).text
    assert "never released" not in Page(published).text


def test_a_policy_that_is_not_met_is_said_so(hospital: Example) -> None:
    html = hospital.published(
        policy={"reidentification-risk": Limit(at_most=0.09), "weighted-k": Limit(at_least=3)}
    )
    text = Page(html).text
    assert "policy is not met" in text
    assert "re-identification risk at most 9% (no class of fewer than 12 records) 50% not met" in text
    assert "weighted k at least 3 not applicable not met" in text


def test_a_dominated_choice_is_said_so(hospital: Example) -> None:
    dominated = next(
        place
        for place, candidate in enumerate(hospital.frontier.candidates)
        if hospital.frontier.dominated_by(candidate)
    )
    assert "It is not efficient" in Page(hospital.published(dominated)).text
    assert "It is efficient" in Page(hospital.published(0)).text


def test_measurements_stand_beside_the_trivial_releases(hospital: Example, published: str) -> None:
    chosen, as_is, withheld = (hospital.frontier.candidates[place] for place in (2, 0, 1))
    cells = Page(published).cells
    place = next(
        i
        for i, cell in enumerate(cells)
        if cell.startswith("privacy loss of diagnosis (lower is better)\nHow")
    )
    values = [formatting.number(c.value("privacy-loss") or 0.0) for c in (chosen, as_is, withheld)]
    assert cells[place + 1 : place + 5] == [values[0], "\u2013", *values[1:]]


def test_infinite_and_not_applicable_values_are_printed_as_such(hospital: Example) -> None:
    chosen = hospital.frontier.candidates[2]
    more = (
        Measurement("disclosure-quotient", math.inf, "privacy", "lower", attribute="diagnosis"),
        Measurement("precision", None, "utility", "higher", detail={"reason": "not a full-domain recoding"}),
        Measurement("query-error", 0.125, "utility", "lower", interval=(0.11, 0.142), baseline=0.8),
    )
    html = hospital.published(chosen=replace(chosen, measurements=(*chosen.measurements, *more)))
    page = Page(html)
    assert "∞" in page.cells
    assert "not applicable (not a full-domain recoding)" in page.cells
    assert "12.5% 11% to 14.2%" in page.cells
    assert "80% with quasi-identifiers withheld" in page.cells
    assert not {"inf", "nan", "None"} & set(page.cells)


def test_changes_count_exact_generalised_and_withheld_cells(hospital: Example) -> None:
    cells = Page(hospital.published(1)).cells
    place = cells.index("sex", cells.index("Withheld"))
    assert cells[place : place + 8] == ["sex", "quasi-identifying", "2", "1", "0%", "0%", "100%", "100%"]
    cells = Page(hospital.published(0)).cells
    place = cells.index("sex", cells.index("Withheld"))
    assert cells[place + 2 : place + 8] == ["2", "2", "100%", "0%", "0%", "0%"]


def test_records_that_are_left_out_count_as_withheld(hospital: Example) -> None:
    release = sanitize(hospital.table, hospital.schema, hospital.frontier.candidates[5].recipe)
    assert release.n_suppressed > 0
    text = Page(hospital.published(5)).text
    assert f"the cells of the {release.n_suppressed} records that are left out count as withheld" in text
    assert f"it contains {release.n_records} of the 12 records" in text


def test_claims_stand_beside_what_the_recipe_asked_for(hospital: Example) -> None:
    """A distance of another kind than the recipe's is not set beside the recipe's limit."""
    recipe = Recipe.of(Mondrian(KAnonymity(2) & TCloseness(0.4, distance="js")), SEED)
    release = sanitize(hospital.table, hospital.schema, recipe)
    chosen = Candidate("js", recipe, tuple(measure(release, [*MEASURES, *LOSSES])))
    claims = measure(release, ["k-anonymity", "t-closeness", {"t-closeness": {"distance": "js"}}])
    cells = Page(hospital.published(chosen=chosen, release=release, claims=claims)).cells
    rows = cells[cells.index("Asked for by the recipe") + 1 :][:9]
    assert rows[2::3] == ["at least 2", "\u2013", "at most 0.4"]


def test_files_version_and_verification_are_told(published: str) -> None:
    text = Page(published).text
    assert "a1" * 32 in text
    assert f"Made with sfumato {sfumato.__version__}" in text
    assert "sfumato verify FOLDER" in text
    assert '"sanitizer": "mondrian"' in text


def test_limits_warn_of_what_the_recipe_does_not_ask_for(hospital: Example) -> None:
    assert "no model against attribute disclosure" in Page(hospital.published(2)).text
    assert "no privacy model at all" in Page(hospital.published(0)).text
    recipe = Recipe.of(Mondrian(TCloseness(0.9)), SEED)
    chosen = replace(hospital.frontier.candidates[2], recipe=recipe)
    assert "Homogeneity" not in Page(hospital.published(chosen=chosen)).text


def test_insensitive_attributes_are_named_as_unprotected(nasty: Example) -> None:
    assert "{{ 7 * 7 }} is named as insensitive and not protected" in Page(nasty.published()).text


def test_missing_values_are_told(hospital: Example) -> None:
    assert "category of its own" in Page(report_html(**hospital.common)).text
    dropped = {**hospital.common, "schema": replace(hospital.schema, missing="drop")}
    assert "Records with a missing value were dropped" in Page(report_html(**dropped)).text


def test_infeasible_candidates_stand_with_their_reasons(hospital: Example) -> None:
    assert hospital.infeasible
    assert str(hospital.infeasible[0].infeasible) in Page(report_html(**hospital.common)).text


def test_noise_and_groups_are_told_from_generalisation(hospital: Example) -> None:
    table, schema = hospital.table, hospital.schema
    plain = released(table, schema, {})
    noisy = replace(
        plain, cells={**plain.cells, "age": replace(plain.cells["age"], sets=None)}, notes=("A <b>note</b>.",)
    )
    text = Page(hospital.published(0, release=noisy)).text
    assert "replaced by values that stand for no set of original values" in text
    assert "A <b>note</b>." in text
    assert "a released value that looks exact is true" not in text
    grouped: Release = replace(plain, group_of=plain.classes.class_of % 2)
    text = Page(hospital.published(0, release=grouped)).text
    assert "2 groups in all" in text
    assert "Sensitive values were exchanged within groups" in text


def test_steward_safeguards_and_review_are_told(hospital: Example) -> None:
    told = Publication(
        "Admissions", "Falls.", "Anybody.", "A contract.", "S. Teward", datetime.date(2028, 1, 31)
    )
    text = Page(hospital.published(publication=told)).text
    assert "Safeguards A contract." in text
    assert "data steward S. Teward; to be reviewed by 2028-01-31" in text
    assert text.count("2028-01-31") == 4, "in the head, the context, the limits and beside the signature"
    silent = Page(hospital.published(publication=Publication())).text
    assert "Data steward Not stated." in silent
    assert "To be reviewed by No date is stated." in silent


def test_people_who_are_unique_as_the_table_stands_are_counted(hospital: Example) -> None:
    release = sanitize(hospital.table, hospital.schema, hospital.frontier.candidates[0].recipe)
    uniques = int((release.classes.sizes == 1).sum())
    assert f"{uniques} of the records would be the only one" in Page(hospital.published()).text


def test_missing_values_are_counted_where_the_table_is_known(hospital: Example) -> None:
    assert "Missing" in Page(hospital.published()).cells
    assert "Missing" not in Page(report_html(**hospital.common)).cells
    assert "Missing" in Page(report_html(**hospital.common, table=hospital.table)).cells


def test_every_measurement_has_baseline_and_interval_where_there_is_one(hospital: Example) -> None:
    release = sanitize(hospital.table, hospital.schema, hospital.frontier.candidates[2].recipe)
    taken = tuple(measure(release, ["accuracy-gain", "query-error"]))
    chosen = replace(hospital.frontier.candidates[2], measurements=taken)
    cells = Page(hospital.published(chosen=chosen, policy={})).cells
    error = taken[1]
    assert error.interval is not None
    interval = " to ".join(formatting.share(end) for end in error.interval)
    assert f"{formatting.share(error.value or 0)} {interval}" in cells
    assert f"{formatting.share(error.baseline or 0)} with quasi-identifiers withheld" in cells
    assert f"{formatting.share(taken[0].baseline or 0)} right guesses without the release" in cells


def test_a_named_policy_is_named(hospital: Example) -> None:
    text = Page(hospital.published(policy={"reidentification-risk": Limit(at_most=1 / 11)})).text
    assert "usual for the public; no class of fewer than 11 records" in text


def test_data_miners_are_told_with_their_scenario(hospital: Example) -> None:
    scenario = Scenario("burglary", adversary=Adversary(("age",), reduction="nearer", c=50))
    given = {"scenario": scenario.to_dict()}
    mined = Measurement("anti-utility", 0.2, "privacy", "lower", baseline=0.1, parameters=given)
    chosen = replace(hospital.frontier.candidates[2], measurements=(mined,))
    text = Page(hospital.published(chosen=chosen, policy={})).text
    assert "The data miner Trains prediction programs" in text
    assert "Scenario burglary : attacks age by naive-bayes" in text
    assert "nearer to the truth than the released value by at least 50%" in text
    assert "20% 10% the same said of everybody" in text


def test_words_that_may_be_new_are_explained(published: str) -> None:
    text = Page(published).text
    # too few of the candidates keep the policy for a knee
    for term in TERMS.keys() - {"knee"}:
        assert f"{term} {TERMS[term]}" in text


# Extremes


def test_a_choice_without_its_release_is_reported_as_far_as_it_is_known(hospital: Example) -> None:
    html = report_html(**hospital.common, chosen=hospital.frontier.candidates[2])
    page = Page(html)
    assert page.titles == PUBLICATION
    assert page.text.count("was not at hand") == 2
    assert "Nobody has decided for this release yet." in page.text
    assert "No claim was recomputed" in page.text


def test_one_candidate_needs_no_knee(hospital: Example) -> None:
    alone = replace(hospital.frontier, candidates=hospital.frontier.candidates[2:3])
    page = Page(report_html(**{**hospital.common, "frontier": alone, "infeasible": ()}))
    assert "1 way to release" in page.text
    assert "knee" not in page.text
    Page(hospital.published(chosen=alone.candidates[0], frontier=alone))


def test_everything_infeasible_is_a_report_too(hospital: Example) -> None:
    nothing = Frontier((), AXES)
    page = Page(report_html(**{**hospital.common, "frontier": nothing}))
    assert "none of the releases could be made" in page.text
    assert page.titles == EXPLORATION


def test_a_candidate_that_cannot_be_compared_is_counted_apart(hospital: Example) -> None:
    odd = Candidate("noisy", Recipe("laplace"), (Measurement("general-loss", None, "utility", "lower"),))
    frontier = replace(hospital.frontier, candidates=(*hospital.frontier.candidates, odd))
    assert (
        "1 of them cannot be compared" in Page(report_html(**{**hospital.common, "frontier": frontier})).text
    )
    assert (
        "It cannot be compared with the others"
        in Page(hospital.published(chosen=odd, frontier=frontier)).text
    )


def test_without_a_sensitive_attribute_nothing_is_claimed_about_learning() -> None:
    table, schema = datasets.hospital()
    plain = Schema(
        tuple(replace(a, role="insensitive") if a.role == "sensitive" else a for a in schema.attributes)
    )
    names = ["k-anonymity", "reidentification-risk", "privacy-loss", *LOSSES]
    example = explored(table, plain, names, ("k-anonymity", "general-loss"))
    text = Page(example.published(claims=())).text
    assert "no attribute is named as sensitive" in text
    assert "Homogeneity" not in text
    assert "the release has no sensitive attribute" in text
    assert "k-anonymity (higher is better" in text


def test_withholding_the_sensitive_attribute_is_put_into_perspective(hospital: Example) -> None:
    recipe = Recipe("suppress-sensitive", {}, SEED)
    release = sanitize(hospital.table, hospital.schema, recipe)
    trivial = Candidate("withheld", recipe, tuple(measure(release, [*MEASURES, *LOSSES])))
    frontier = replace(hospital.frontier, candidates=(*hospital.frontier.candidates, trivial))
    warned = trivial in frontier.efficient()
    text = Page(report_html(**{**hospital.common, "frontier": frontier})).text
    assert ("no use to anybody who wants to study them" in text) == warned


def test_three_axes_are_drawn_as_a_matrix(hospital: Example) -> None:
    frontier = Frontier(hospital.frontier.candidates, (*AXES, "suppression-loss"))
    text = Page(report_html(**{**hospital.common, "frontier": frontier})).text
    assert "The 3 axes are" in text
    assert "suppression loss (lower is better)" in text


def test_of_very_many_axes_the_first_two_are_drawn(hospital: Example) -> None:
    frontier = Frontier(hospital.frontier.candidates, AXES * 3)
    text = Page(report_html(**{**hospital.common, "frontier": frontier})).text
    assert "The 6 axes (the picture shows the first two)" in text
