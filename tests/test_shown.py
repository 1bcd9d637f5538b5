"""What the nouns tell of themselves: one line, a piece of HTML, a picture, a frame, and no record's value."""

from __future__ import annotations

import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest

import sfumato as sf
from sfumato.results.policy import Policy
from sfumato.runtime.errors import UserError

SECRET = "s3cr3t"
MEASURES = ["privacy-loss", "k-anonymity", "reidentification-risk", "total-loss"]
AXES = ("privacy-loss", "total-loss")


def people() -> tuple[sf.Table, sf.Schema]:
    """Eight people whose every value can be recognised."""
    columns = {
        "name": [f"{SECRET}-name-{i}" for i in range(8)],
        "town": [f"{SECRET}-town-{i % 4}" for i in range(8)],
        "born": [77_001 + i // 2 for i in range(8)],
        "ill <b>": [f"{SECRET}-ill-{i % 3}" for i in range(8)],
    }
    roles: Any = dict(zip(columns, ("identifying", *["quasi-identifying"] * 2, "sensitive"), strict=True))
    return sf.read(columns), sf.Schema.of(roles)


@pytest.fixture(scope="module")
def releases() -> list[sf.Release]:
    ways: list[Any] = [
        sf.sanitizers.AsIs(),
        sf.sanitizers.SuppressQuasiIdentifiers(),
        *(sf.sanitizers.Mondrian(sf.models.KAnonymity(k)) for k in (2, 4)),
    ]
    return [sf.sanitize(*people(), how, seed=1) for how in ways]


@pytest.fixture(scope="module")
def frontier(releases: list[sf.Release]) -> sf.Frontier:
    made = (sf.Candidate(f"c{i}", r.recipe, tuple(sf.measure(r, MEASURES))) for i, r in enumerate(releases))
    return sf.Frontier(tuple(made), AXES)


@pytest.fixture(scope="module")
def nouns(
    releases: list[sf.Release], frontier: sf.Frontier, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """One of each kind that shows itself."""
    table, schema = people()
    folder = tmp_path_factory.mktemp("published") / "out"
    decision = sf.publish(
        releases[2],
        folder,
        why="a <test>",
        by="A. Steward",
        evidence=frontier,
        policy="none",
        allow_singling_out=True,
    )
    return {
        "Table": table,
        "Schema": schema,
        "Inspection": sf.inspect(table, schema),
        "Release": releases[2],
        "Measurement": frontier.candidates[2].measurements[0],
        "Candidate": frontier.candidates[2],
        "Frontier": frontier,
        "Comparison": sf.compare(releases[2], releases[3], MEASURES),
        "Answer": sf.ask(frontier, "max k where loss <= 90%"),
        "Decision": decision,
        "Verification": sf.verify(folder),
    }


NAMES = [
    "Table",
    "Schema",
    "Inspection",
    "Release",
    "Measurement",
    "Candidate",
    "Frontier",
    "Comparison",
    "Answer",
    "Decision",
    "Verification",
]


class Balanced(HTMLParser):
    """Read HTML and fail where an element is not closed in its place."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)
        self.seen.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", NAMES)
class TestEveryNoun:
    def test_has_a_short_line_that_names_it(self, nouns: dict[str, Any], name: str) -> None:
        line = repr(nouns[name])
        assert name in line
        assert "\n" not in line
        assert len(line) < 250

    def test_shows_no_value_of_a_record(self, nouns: dict[str, Any], name: str) -> None:
        for shown in (repr(nouns[name]), str(nouns[name]), nouns[name]._repr_html_()):
            assert SECRET not in shown
            assert "7700" not in shown

    def test_shows_itself_in_a_small_piece_of_html(self, nouns: dict[str, Any], name: str) -> None:
        html = nouns[name]._repr_html_()
        reader = Balanced()
        reader.feed(html)
        assert reader.open == []
        assert not {"script", "style", "link", "img", "b>"} & set(reader.seen)
        # of what a column or a person is called nothing becomes markup
        assert reader.seen.count("b") == 1
        assert html.count(f"<b>{name}</b>") == 1
        assert len(html) < 60_000


def test_the_line_of_each_noun_says_what_matters(nouns: dict[str, Any]) -> None:
    assert repr(nouns["Table"]) == "<Table of 8 records, 8 of them different: name, town, born, ill <b>>"
    assert "sensitive: ill <b>" in repr(nouns["Schema"])
    assert repr(nouns["Release"]) == "<LinkedRelease mondrian k=2: 8 of 8 records, town, born, ill <b>>"
    assert repr(nouns["Frontier"]).startswith("<Frontier: 4 efficient of 4 candidates on privacy-loss and")
    assert "lower is better" in repr(nouns["Measurement"])
    assert repr(nouns["Verification"]).endswith("statements are unverified claims>")


def test_a_table_with_many_columns_names_the_first_ones() -> None:
    table = sf.read({f"x{i}": [i] for i in range(30)})
    assert "x7 and 22 more" in repr(table)


def test_a_candidate_that_could_not_be_made_says_why() -> None:
    candidate = sf.Candidate("c0", sf.Recipe("as-is"), infeasible="too few records")
    assert "too few records" in repr(candidate)
    assert "too few records" in candidate._repr_html_()


def test_a_frontier_of_many_candidates_is_not_drawn_unasked(frontier: sf.Frontier) -> None:
    many = [replace(frontier.candidates[2], id=f"m{i}") for i in range(1001)]
    html = sf.Frontier((*frontier.candidates, *many), AXES)._repr_html_()
    assert "<svg" not in html
    assert "frontier.plot() draws them" in html
    assert "more" in html
    assert "<svg" in frontier._repr_html_()


def test_an_empty_frontier_shows_itself() -> None:
    assert "0 efficient of 0 candidates" in repr(sf.Frontier((), AXES))
    assert "0 efficient of 0 candidates" in sf.Frontier((), AXES)._repr_html_()


class TestPictures:
    def test_a_frontier_and_a_release_are_drawn(
        self, frontier: sf.Frontier, releases: list[sf.Release]
    ) -> None:
        for picture in (frontier.plot(), frontier.plot(chosen=frontier.candidates[2]), releases[2].plot()):
            assert isinstance(picture, sf.results.Picture)
            assert ElementTree.fromstring(picture._repr_svg_()).tag == "{http://www.w3.org/2000/svg}svg"
            assert SECRET not in picture.svg
        assert "4 candidate releases, 4 of them efficient" in repr(frontier.plot())
        assert releases[2].plot().description == "Cumulative class sizes"

    def test_what_is_chosen_and_what_a_policy_forbids_is_drawn(self, frontier: sf.Frontier) -> None:
        plain = frontier.plot()
        assert "chosen: c2" in frontier.plot(chosen=frontier.candidates[2]).svg
        limited = replace(frontier, policy=Policy("none", {"total-loss": sf.Limit(at_most=0.5)}))
        assert limited.plot() != plain
        assert frontier.plot() == plain

    def test_a_picture_is_saved_whole_as_svg(self, frontier: sf.Frontier, tmp_path: Path) -> None:
        picture = frontier.plot()
        assert picture.save(tmp_path / "frontier.svg").read_text("utf-8") == picture.svg
        with pytest.raises(UserError, match=r"frontier\.pdf.*name it \.svg or \.png"):
            picture.save(tmp_path / "frontier.pdf")
        assert [each.name for each in tmp_path.iterdir()] == ["frontier.svg"]

    def test_a_picture_in_dots_needs_an_extra(
        self, frontier: sf.Frontier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "resvg_py", None)
        with pytest.raises(UserError, match=r"^a \.png picture needs .* pip install 'sfumato\[png\]'; .*$"):
            frontier.plot().save(tmp_path / "frontier.png")
        assert not [*tmp_path.iterdir()]

    def test_a_picture_in_dots_has_its_text(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("resvg_py")
        texts = "", "what it shows"
        svgs = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 80 20" font-family="x"><text y="15">{text}'
            "</text></svg>"
            for text in texts
        ]
        empty, full = (
            sf.results.Picture(svg).save(tmp_path / f"{place}.png").read_bytes()
            for place, svg in enumerate(svgs)
        )
        assert full.startswith(b"\x89PNG")
        assert int.from_bytes(full[16:20]) == 160, "twice as wide as the SVG element"
        assert empty != full
        monkeypatch.setattr("sfumato.registry.display._FONTS", ("no font of this name",))
        with pytest.raises(UserError, match="needs a font"):
            sf.results.Picture(svgs[1]).save(tmp_path / "unwritten.png")
        assert not (tmp_path / "unwritten.png").exists()


class TestPandas:
    def test_tables_releases_and_frontiers_become_frames(
        self, frontier: sf.Frontier, releases: list[sf.Release]
    ) -> None:
        table, _ = people()
        pd.testing.assert_frame_equal(table.to_pandas(), table.to_arrow().to_pandas())
        released = releases[2].to_pandas()
        assert list(released.columns) == ["town", "born", "ill <b>"]
        assert len(released) == 8
        found = frontier.to_pandas()
        assert found["id"].tolist() == ["c0", "c1", "c2", "c3"]
        assert found["efficient"].tolist() == [c in frontier.efficient() for c in frontier.candidates]

    def test_without_pandas_one_line_says_so(
        self, frontier: sf.Frontier, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(UserError, match="needs pandas, which is not installed; `pip install pandas`"):
            frontier.to_pandas()
