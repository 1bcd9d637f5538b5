"""The report says which attacks were tried, what they got, and which were not; digits only to the owner."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.report.marks_reader import without_marks

from sfumato import measure, publish, sanitize, verify
from sfumato.measures import Measurement
from sfumato.models import KAnonymity
from sfumato.reading import datasets
from sfumato.results.candidate import Candidate
from sfumato.sanitizers import Mondrian
from sfumato.verification.documents import read_manifest
from sfumato.workflow.publish.folder_layout import read_back
from sfumato.workflow.publish.manifest_record import (
    layout_of,
)
from sfumato.workflow.publish.verify import read_written
from sfumato.workflow.report.attack_rows import attack_rows, attacks_not_tried, attacks_tried
from sfumato.workflow.report.published_report import published_facts

KNOWN = (
    "attack-risk",
    "auxiliary-gain",
    "border-gain",
    "composition-k",
    "composition-loss",
    "de-finetti-gain",
    "downcoding",
    "downcoding-gain",
    "inference",
    "linkability",
    "membership",
    "minimality-risk",
    "singling-out",
)
RISK = Measurement(
    "inference",
    0.25,
    "privacy",
    "lower",
    attribute="disease",
    interval=(0.2, 0.3),
    detail={"attacker": "nearest record", "attacked": 0.4, "control": 0.2, "guessing": 0.1},
)


def names(taken: tuple[str, ...], **given: str) -> list[str]:
    return [row["name"] for row in attacks_not_tried(taken, **given)]  # type: ignore[arg-type]


def test_an_attack_is_told_with_its_attacker_interval_control_group_and_guessing() -> None:
    (row,) = attack_rows([RISK, Measurement("privacy-loss", 0.1, "privacy", "lower")])
    assert (row["attacker"], row["attribute"]) == ("The guesser", "disease")
    assert (row["value"], row["interval"]) == ("25%", "20% to 30%")
    assert row["rates"] == {"attacked": "40%", "control": "20%", "guessing": "10%"}


def test_a_baseline_stands_for_guessing_and_a_reason_for_a_figure() -> None:
    sure = Measurement("minimality-risk", 1.0, "privacy", "lower", baseline=0.5)
    none = Measurement("border-gain", None, "privacy", "lower", detail={"reason": "there is no interval"})
    told, untold = attack_rows([sure, none])
    assert told["rates"] == {"attacked": "", "control": "", "guessing": "50%"}
    assert (untold["value"], untold["reason"]) == ("not applicable", "there is no interval")


def test_every_attack_is_listed_until_it_is_tried() -> None:
    assert tuple(sorted(names(()))) == KNOWN
    assert names(KNOWN[1:]) == ["attack-risk"]
    assert names(KNOWN) == []


def test_the_worst_of_four_attacks_has_tried_all_four() -> None:
    assert {"singling-out", "linkability", "inference", "membership"} < attacks_tried(["attack-risk"])
    assert "linkability" not in names(("attack-risk",))


def test_what_would_not_apply_says_why() -> None:
    reasons = {row["name"]: row["reason"] for row in attacks_not_tried((), "synthetic")}
    assert "made up" in reasons["border-gain"]
    assert reasons["inference"] == ""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    release = sanitize(*datasets.adult("train"), Mondrian(KAnonymity(20)), seed=1)
    place = tmp_path_factory.mktemp("attacks") / "published"
    publish(
        release,
        place,
        ["k-anonymity", "inference", "border-gain", "de-finetti-gain"],
        policy="none",
        allow_singling_out=True,
    )
    return place


def test_a_published_report_tells_attacks_as_bands_and_no_rate(folder: Path) -> None:
    manifest = read_manifest(folder)
    layout = layout_of(manifest)
    told = published_facts(manifest, read_back(read_written(folder, layout.tables), layout))
    assert [row["words"].title for row in told["attacks"]] == ["inference", "border gain", "deFinetti gain"]
    for row in told["attacks"]:
        assert re.match(r"between|0%|not applicable", without_marks(row["value"])), row["value"]
        assert row["rates"] == {}
        assert row["interval"] == ""
        assert row["notes"] == []
    assert "downcoding" in [row["name"] for row in told["attacks_not_tried"]]


def test_the_published_page_says_it_and_can_be_written_again(folder: Path) -> None:
    page = without_marks((folder / "report.html").read_text("utf-8"))
    section = page[page.index('<h2 id="attacks">') : page.index('<h2 id="utility">')]
    assert "unverified claim by the publisher" in section
    assert "Of a control group" not in section
    assert "<code>singling-out</code>" in section
    assert verify(folder).holds


def test_the_owner_is_told_the_rates() -> None:
    from sfumato.registry.recipe import Recipe

    release = sanitize(*datasets.adult("train"), Mondrian(KAnonymity(20)), seed=1)
    chosen = Candidate("one", Recipe("mondrian"), tuple(measure(release, ["membership"])))
    (row,) = attack_rows(chosen.measurements)
    found = chosen.measurements[0]
    assert row["rates"]["control"] == f"{100 * found.detail['control']:.3g}%"
