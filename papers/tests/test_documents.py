"""The figures of the documents are those of a run: of the digest that is kept of it, and of no other."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from papers.tools import digest as digests
from papers.tools import reproduction
from papers.tools.digest import digest_of, read_digest, written
from papers.tools.reproduction import BLOCKS, DOCS, DOCUMENTS, documents, filled

from sfumato_papers.exhibits import AlternativeFigure, Cell, Claim, Exhibit, Trial, concluded, counted
from sfumato_papers.quotations import Quotation
from sfumato_papers.reproduced import not_reproduced, reproduced_otherwise

MARKED = re.compile(r"<!-- from the run: (.+?) -->.*?<!-- end of \1 -->", re.DOTALL)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_say_what_the_run_gave(name: str) -> None:
    stale = "run python -m papers.tools.reproduction"
    assert (DOCS / name).read_text("utf-8") == documents(read_digest())[name], f"{name} is stale; {stale}"


def test_every_mark_is_known_and_closed() -> None:
    for name in DOCUMENTS:
        text = (DOCS / name).read_text("utf-8")
        marks = re.findall(r"<!-- from the run: (.+?) -->", text)
        assert marks == MARKED.findall(text)
        assert set(marks) <= set(BLOCKS)


def test_no_figure_of_a_run_stands_outside_the_marks() -> None:
    text = MARKED.sub("", (DOCS / "reproduction.md").read_text("utf-8"))
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    assert set(re.findall(r"\d[\d,]*\.\d+|\d+ ?%|\d,\d{3}", prose)) <= {"95 %"}


def test_every_paper_of_the_digest_says_how_far_it_was_rerun() -> None:
    for found in read_digest().values():
        assert set(found["run"]) >= {"version", "quick", "seeds", "every-interpretation", "control", "data"}


# A small run


QUOTED = Quotation("it is so", "section 1")
FIGURES = (
    Cell("(20, 4)", "loss by the formula in per cent", 18.61234567, "20", better="smaller"),
    Cell(
        "(20, 4)",
        "loss with the guarantee in per cent",
        48.4,
        interpretations=(AlternativeFigure("diversity=distinct", 19.8, "no figure published"),),
    ),
    Cell("k = 9", "loss", 5.0, "2.0", interpretations=(AlternativeFigure("ages=years", 2.04, "same"),)),
    Cell("k = 8", "loss", 9.0, "1.0", interpretations=(AlternativeFigure("ages=years", 3.0, "differs"),)),
    Cell("k = 7", "loss", 8.0, "0.5"),
)
CLAIMS = (
    Claim(
        "A solution (d1, d2) is.", False, "of 7 0 are", QUOTED, interpretations=(Trial("l=d", True, "7 are"),)
    ),
    Claim("Ours | theirs.", True, "1 of 1.", control=Trial("control", True, "2 of 2")),
)


def results(*exhibits: Exhibit) -> dict[str, Any]:
    found = {
        "verdicts": counted(exhibits),
        "verdicts-by-any-interpretation": counted(exhibits, by_any_interpretation=True),
        "conclusions": concluded(exhibits),
        "tests-of-ours": concluded(exhibits, ours=True),
        "reproduced-otherwise": [each.to_dict() for each in reproduced_otherwise(exhibits)],
        "not-reproduced": [each.to_dict() for each in not_reproduced(exhibits)],
        "exhibits": [each.to_dict() for each in exhibits],
    }
    run = {
        "version": "1",
        "quick": False,
        "seeds": [2009, 2010],
        "every-interpretation": True,
        "control": False,
    }
    return {**run, "provenance": {"python": "3", "data": {}, "seconds": {}}, "papers": {"dewri": found}}


@pytest.fixture
def small() -> dict[str, Any]:
    return digest_of(results(Exhibit("figure-11", "Figure 11: pairs", "page 1", FIGURES, CLAIMS)), {})


def block(name: str, digest: dict[str, Any]) -> str:
    return filled(f"a\n<!-- from the run: {name} -->\nold\n<!-- end of {name} -->\nb", digest)


def test_a_block_is_written_anew_and_the_rest_is_left(small: dict[str, Any]) -> None:
    document = block("summary", small)
    assert document.startswith("a\n<!-- from the run: summary -->\n\n| paper |")
    assert document.endswith("|\n\n<!-- end of summary -->\nb")
    assert "old" not in document
    assert filled(document, small) == document


def test_the_summary_counts_what_the_paper_says_apart_from_tests_of_ours(small: dict[str, Any]) -> None:
    line = block("summary", small).splitlines()[-4]
    assert line == (
        "| Dewri, Ray, Ray and Whitley 2011 | 2 seeds, every interpretation, no control | "
        "same 1, better 1, differs 2 | depends on the interpretation 1 | says nothing 1 |"
    )


def test_conclusions_say_whose_they_are_and_under_which_interpretation_they_come_out_otherwise(
    small: dict[str, Any],
) -> None:
    shown = block("conclusions of dewri", small)
    row = "| figure 11 | depends on the interpretation | A solution (d1, d2) is. (section 1) | of 7 0 are; "
    assert f"{row}with `l=d`: 7 are |" in shown
    assert "| figure 11 | says nothing | Ours \\| theirs. (ours) | 1 of 1; on the control: 2 of 2 |" in shown


def test_figures_that_are_not_reached_are_listed_with_what_was_tried(small: dict[str, Any]) -> None:
    shown = block("not reproduced in dewri", small)
    assert (
        "| figure 11, loss: k = 8, k = 7 | 1.0; 0.5 | 9.00; 8.00 | 3.00 (`ages=years`); 8.00 | differs | "
        "`ages=years` |" in shown
    )
    other = block("reproduced otherwise in dewri", small)
    assert "| figure 11: k = 9, loss | 2.0 | 5.00 | 2.04 with `ages=years` |" in other


def test_safety_is_shown_by_the_formula_and_in_truth(small: dict[str, Any]) -> None:
    shown = block("safety", small)
    assert "| (20, 4) | 20 % | 18.6 % | 48.4 %; 19.8 % with `diversity=distinct` |" in shown
    assert (
        "d2-diverse: of 7 0 are; with `l=d`: 7 are. (Rerun with 2 seeds, every interpretation, no control.)"
        in shown
    )


def test_a_paper_that_was_not_rerun_says_so(small: dict[str, Any]) -> None:
    assert "No run is kept: `sfumato reproduce li`." in block("conclusions of li", small)


def test_a_digest_keeps_the_papers_that_a_run_lacks_and_the_digits_that_mean_something(
    small: dict[str, Any],
) -> None:
    before = {"li": {"run": {}}, "dewri": {"run": {"version": "0"}}}
    after = digest_of(results(Exhibit("figure-11", "", "", FIGURES)), before)
    assert list(after) == ["li", "dewri"]
    assert after["dewri"]["run"]["version"] == "1"
    assert after["dewri"]["figures"][0]["ours"] == 18.6123


def test_a_digest_is_json_with_a_line_for_each_figure(small: dict[str, Any]) -> None:
    text = written(small)
    assert json.loads(text) == small
    assert sum('"published"' in line and '"interval"' in line for line in text.splitlines()) == len(FIGURES)


def test_a_run_is_taken_with_its_pictures(
    small: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    (run / "pictures").mkdir(parents=True)
    found = results(Exhibit("figure-11", "", "", FIGURES, CLAIMS))
    (run / "results.json").write_text(json.dumps(found))
    (run / "pictures" / "all-papers-losses.svg").write_text("<svg/>")
    monkeypatch.setattr(digests, "PLACE", tmp_path / "digest.json")
    monkeypatch.setattr(reproduction, "PLACE", tmp_path / "digest.json")
    monkeypatch.setattr(reproduction, "DOCS", tmp_path)
    reproduction.take(run)
    assert read_digest() == small
    assert (tmp_path / "all-papers-losses.svg").read_text() == "<svg/>"
    assert not (tmp_path / "all-papers-gains.svg").exists()
