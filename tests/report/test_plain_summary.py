"""The first paragraph of a report says in plain words who looks alike and what could be learned."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.models import KAnonymity, ProbabilisticDiversity
from sfumato.results.linked_release import LinkedRelease
from sfumato.sanitizers import Anatomy, AsIs, Bucketize, Laplace, Mondrian, SuppressQuasiIdentifiers
from sfumato.verification.page_markup import read_page
from sfumato.workflow.report.plain_summary import most_telling, plain_sentences

GENERALIZED = Mondrian(KAnonymity(3))


def released(how: Any, *, train: bool = False) -> LinkedRelease:
    table, schema = sf.datasets.adult("train") if train else sf.datasets.hospital()
    return sf.sanitize(table, schema, how, seed=1)


def by_hand(release: LinkedRelease) -> tuple[float, float]:
    """Return the largest difference of two shares, and the share of all, counted row by row."""
    (name,) = release.schema.sensitive
    rows = release.to_arrow(typed=False).to_pylist()
    names = release.schema.quasi_identifiers
    overall = Counter(row[name] for row in rows)
    groups: dict[tuple[Any, ...], Counter[str]] = {}
    for row in rows:
        groups.setdefault(tuple(row[each] for each in names), Counter())[row[name]] += 1
    return max(
        (count / group.total() - overall[value] / len(rows), overall[value] / len(rows))
        for group in groups.values()
        for value, count in group.items()
    )


@pytest.mark.parametrize("train", [False, True])
def test_the_example_is_the_value_whose_share_grows_most(train: bool) -> None:
    release = released(GENERALIZED, train=train)
    example = most_telling(release)
    assert example is not None
    difference, _ = by_hand(release)
    assert example.share - example.of_all == pytest.approx(difference)


def test_groups_that_are_like_the_whole_table_give_no_example() -> None:
    release = released(SuppressQuasiIdentifiers())
    assert most_telling(release) is None
    (sentence,) = plain_sentences(release, {"smallest": 12, "median": 12})
    assert sentence.endswith("the smallest has 12, and the typical record is in a group of 12.")


def test_an_attribute_with_many_values_gives_no_example() -> None:
    table = sf.Table.from_arrow({"age": [1, 1, 2, 2] * 12, "wage": list(range(48))})
    schema = sf.Schema.of(age="quasi-identifying", wage="sensitive")
    assert most_telling(sf.sanitize(table, schema, AsIs())) is None


def test_where_rows_stand_for_nobody_in_particular_nothing_is_said_of_groups() -> None:
    table = sf.Table.from_arrow({"age": list(range(40)), "ill": ["a", "b"] * 20})
    schema = sf.Schema(
        (sf.Attribute("age", "quasi-identifying", "numeric"), sf.Attribute("ill", "sensitive"))
    )
    public = schema.with_assumed_public_part(table)
    release = sf.sanitize(table, public, Laplace(epsilon=1.0), seed=1)
    assert plain_sentences(release, {"smallest": 1, "median": 1}) == []


MEASURES = ["k-anonymity", "privacy-loss", "utility-loss"]


@pytest.mark.parametrize(
    "how",
    [GENERALIZED, AsIs(), Anatomy(2), Bucketize(ProbabilisticDiversity(2)), SuppressQuasiIdentifiers()],
    ids=str,
)
def test_every_figure_of_the_paragraph_is_verified(how: Any, tmp_path: Path) -> None:
    sf.publish(released(how), tmp_path / "out", MEASURES, policy="none", allow_singling_out=True)
    assert sf.verify(tmp_path / "out").holds
    page = tmp_path / "out" / "report.html"
    marks = [
        element.attributes["data-claim"]
        for element in read_page(page.read_text("utf-8")).inside()
        if element.attributes.get("data-claim", "").startswith("/cells/learned/")
    ]
    expected = () if how == SuppressQuasiIdentifiers() else ("attribute", "share", "of_all")
    assert marks == [f"/cells/learned/{name}" for name in expected]


@pytest.mark.parametrize(
    ("true", "false"), [("/cells/learned/share", "9.5%"), ("/cells/learned/attribute", "zip")]
)
def test_another_example_than_the_cells_give_is_noticed(true: str, false: str, tmp_path: Path) -> None:
    sf.publish(
        released(GENERALIZED),
        tmp_path / "out",
        ["k-anonymity", "privacy-loss"],
        policy="none",
        allow_singling_out=True,
    )
    page = tmp_path / "out" / "report.html"
    written = page.read_text("utf-8")
    forged = re.sub(rf'(data-claim="{true}"[^>]*>)[^<]*', rf"\g<1>{false}", written, count=1)
    assert forged != written
    page.write_text(forged, "utf-8")
    assert not sf.verify(tmp_path / "out").holds
