from xml.etree import ElementTree

import pytest

from sfumato_papers.exhibits import AlternativeFigure, Cell, Chart, Claim, Exhibit, Series, Trial
from sfumato_papers.interpretations import Ambiguity, Interpretation
from sfumato_papers.page import printed, reproduction_html
from sfumato_papers.paper import Paper
from sfumato_papers.pictures import chart_svg
from sfumato_papers.published import published
from sfumato_papers.quotations import Quotation

EVIL = "<script>alert(1)</script>"


def chart(shape: str, **more: object) -> Chart:
    return Chart(
        "Loss by k",
        "k",
        "loss",
        (
            Series("ours", (2, 10, 100), (0.1, 0.2, None)),
            Series("ours", (2, 10, 100), (0.12, 0.2, 0.3), published=True),
            Series("empty", (2,), (None,)),
        ),
        shape,  # type: ignore[arg-type]
        **more,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("shape", ["lines", "bars", "points"])
def test_every_shape_is_drawn_with_its_legend(shape):
    drawn = ElementTree.fromstring(chart_svg(chart(shape)))
    texts = [element.text for element in drawn.iter() if element.text]
    assert {"k", "loss", "ours", "ours (published)"} <= set(texts)
    assert "empty" not in texts


def test_words_on_the_x_axis_stand_in_the_order_given():
    drawn = chart_svg(Chart("c", "release", "gain", (Series("tree", ("intact", "k = 10"), (0.3, 0.1)),)))
    assert drawn.index("intact") < drawn.index("k = 10")


def test_a_chart_without_figures_says_so():
    empty = Chart("c", "k", "loss", (Series("ours", (2,), (None,)),))
    assert "not computed in this run" in chart_svg(empty)


def test_axes_end_where_the_papers_do_unless_our_points_lie_beyond():
    def last_numbers(y: float) -> list[str]:
        curve = Series("ours", (0.1, 0.2), (0.01, y))
        ends = published("li", "figure-2a").ends
        drawn = ElementTree.fromstring(chart_svg(Chart("c", "loss", "error", (curve,), ends=ends)))
        return [element.text for element in drawn.iter() if element.text]

    assert {"0.6", "0.05"} <= set(last_numbers(0.02))
    assert "0.3" in last_numbers(0.31)


def page(*exhibits: Exhibit, quick: bool = False) -> str:
    return reproduction_html(
        {Paper("li", "Li and Li 2009", "cited", (), lambda _: ()): exhibits}, quick=quick
    )


def test_the_page_shows_figure_published_figure_difference_and_verdict():
    cell = Cell("k = 5", "loss", 0.25, "0.20", 0.1)
    narrow = page(Exhibit("t", "Losses", "page 3", (cell,), (Claim("So it is.", True, "0.25"),)))
    wide = page(Exhibit("t", "Losses", "page 3", (cell, Cell("k = 5", "risk", 0.5))))
    assert '<td class="figure">0.20</td><td class="figure"><span class="ours">0.250</span>' in narrow
    assert '<td class="figure">+0.050</td>' in narrow
    assert "published 0.20 (+0.050)" in wide
    for shown in (narrow, wide):
        assert '<span class="tag within-tolerance">within tolerance</span>' in shown
    assert "holds" in narrow


def test_the_page_shows_the_spread_other_interpretations_and_the_control():
    cell = Cell(
        "k = 5",
        "loss",
        0.25,
        "0.20",
        spread=(0.21, 0.25, 0.3),
        interpretations=(AlternativeFigure("l=distinct", 0.2, "same"),),
    )
    claim = Claim(
        "So it is.",
        True,
        "0.25",
        interpretations=(Trial("l=distinct", False, "0.2"),),
        control=Trial("control", True, "0.24"),
    )
    passage = Ambiguity(
        "l", "What is it?", "well <represented>", "page 4", (Interpretation("one", "1"),), "Because."
    )
    paper = Paper("li", "Li", "cited", (), lambda _: (), "10.1/2", (passage,))
    shown = reproduction_html(
        {paper: (Exhibit("t", "Losses", "page 3", (cell,), (claim,)),)}, quick=False, n_seeds=3
    )
    for words in (
        "0.210 to 0.300",
        "0.200 with l=distinct (same)",
        "depends on the interpretation",
        "With l=distinct it does not hold: 0.2",
        "On the control it holds: 0.24",
        'DOI <a href="https://doi.org/10.1/2">10.1/2</a>',
        "<code>l=one</code> (ours): 1",
        "well &lt;represented&gt;",
        "medians over 3 seeds",
        "1 of them under another interpretation than ours",
    ):
        assert words in shown


@pytest.mark.parametrize(
    ("published", "tolerance", "ours", "shown"),
    [
        ("74.8618", 0.5, 75.012345, "75.01"),
        ("0.1034", 0.01, 0.102345, "0.1023"),
        ("25", 2, 23.84, "23.8"),
        ("2528", 250, 1241.3, "1,241"),
        ("0.692", 0, 0.69244, "0.6924"),
        ("598.67", 0, 530.8333, "530.83"),
        ("29/7", 0, 4.142857142, "4.1429"),
        (None, 0, 0.25, "0.25"),
    ],
)
def test_no_digit_is_shown_that_the_tolerance_drowns(published, tolerance, ours, shown):
    assert printed(Cell("a", "x", ours, published, tolerance), ours) == shown


def test_only_a_quick_run_is_called_quick():
    assert "quick look" in page(quick=True)
    assert "quick look" not in page()


def test_the_page_says_what_the_run_left_out():
    exhibits = {Paper("li", "Li and Li 2009", "cited", (), lambda _: ()): ()}
    short = reproduction_html(exhibits, quick=False, has_interpretations=False, has_control=False)
    left_out = (
        "Other interpretations of the papers than ours were not computed",
        "Nothing was put to a control",
    )
    assert all(words in short for words in left_out)
    assert not any(words in page() for words in left_out)


def test_the_page_quotes_the_paper_and_marks_tests_of_ours():
    claims = (
        Claim("It falls.", True, "by 3", Quotation("it <falls>", "section 2", repeated=True)),
        Claim("It rises.", False, "by 4"),
    )
    shown = page(Exhibit("t", "Losses", "page 3", claims=claims))
    assert "<q>it &lt;falls&gt;</q> (section 2; counted elsewhere)" in shown
    assert shown.count("<em>A test of ours.</em>") == 1
    assert '<span class="tag does-not-hold">does not hold 1</span>' in shown


def test_the_page_lists_figures_by_how_they_are_reached():
    cells = (
        Cell("k = 2", "loss", 0.9, "0.1", interpretations=(AlternativeFigure("l=distinct", 0.1, "same"),)),
        Cell("k = 3", "loss", 0.8, "0.2"),
    )
    shown = page(Exhibit("t", "Table 1: losses", "page 3", cells))
    assert "Figures reproduced under another interpretation than ours: 1" in shown
    assert "Figures not reproduced under any interpretation of this run: 1" in shown


def test_nothing_on_the_page_is_taken_for_markup():
    shown = page(
        Exhibit(
            "t",
            EVIL,
            EVIL,
            (Cell(EVIL, EVIL, 1.0, "2"),),
            (Claim(EVIL, False, EVIL),),
            (chart("lines"),),
            notes=(EVIL,),
        )
    )
    assert "<script" not in shown


def test_rows_without_a_published_figure_are_folded_where_a_chart_shows_them():
    cells = (Cell("k = 2", "loss", 0.11, "0.1"), Cell("k = 3", "loss", 0.2), Cell("k = 3", "gain", 0.3))
    drawn = Exhibit("f", "Figure 1: loss", "page 2", cells, charts=(chart("lines"),))
    before, _, folded = page(drawn).partition("<details>")
    assert "k = 2" in before.partition("</figure>")[2]
    assert "k = 3" not in before
    assert "k = 3" in folded.partition("</details>")[0]
    plain = Exhibit("t", "Table 1: loss", "page 2", cells)
    assert "<details>" not in page(plain)
