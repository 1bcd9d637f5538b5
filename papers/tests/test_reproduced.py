"""Which published figures are reproduced, under which interpretation, and the nearest of ours elsewhere."""

from sfumato_papers.exhibits import AlternativeFigure, Cell, Exhibit, Verdict
from sfumato_papers.reproduced import best_matches, not_reproduced, reproduced_otherwise


def other(switch: str, ours: float | None, verdict: Verdict) -> AlternativeFigure:
    return AlternativeFigure(switch, ours, verdict)


SAME = Cell("k = 2", "loss", 0.10, "0.10")
BY_ANOTHER = Cell(
    "k = 3",
    "loss",
    0.95,
    "0.20",
    interpretations=(other("l=distinct", 0.20, "same"), other("ages=years", None, "differs")),
)
FAR = Cell(
    "k = 4",
    "loss",
    0.90,
    "0.30",
    interpretations=(other("l=distinct", 0.45, "differs"), other("ages=years", 1.2, "differs")),
)
TABLE = Exhibit(
    "table-1",
    "Table 1: losses",
    "page 1",
    (
        SAME,
        BY_ANOTHER,
        FAR,
        Cell("k = 5", "loss", 0.7),
        Cell("k = 2", "again", 9.0, "0.10", is_repeated=True),
    ),
)


def test_each_published_figure_is_looked_at_once() -> None:
    assert [each.cell.row for each in best_matches([TABLE])] == ["k = 2", "k = 3", "k = 4"]


def test_a_figure_that_another_interpretation_reaches_says_which() -> None:
    (found,) = reproduced_otherwise([TABLE])
    assert (found.cell, found.verdict, found.interpretation) == (BY_ANOTHER, "same", "l=distinct")
    assert found.nearest == (0.20, "l=distinct")
    assert found.tried == ("l=distinct", "ages=years")


def test_a_figure_that_no_interpretation_reaches_says_what_came_nearest() -> None:
    (found,) = not_reproduced([TABLE])
    assert (found.cell, found.verdict, found.nearest) == (FAR, "differs", (0.45, "l=distinct"))
    assert found.to_dict()["nearest-interpretation"] == "l=distinct"
    assert found.to_dict()["tried"] == ["l=distinct", "ages=years"]


def test_a_trend_alone_does_not_reach_a_figure() -> None:
    cells = tuple(Cell(str(n), "loss", 10.0 * n, f"{n}.0") for n in range(1, 5))
    rising = Exhibit("figure-1", "Figure 1", "page 2", cells)
    assert {each.verdict for each in not_reproduced([rising])} == {"same trend"}


def test_a_better_figure_is_reached() -> None:
    better = Exhibit("t", "", "", (Cell("a", "k", 18.0, "14", better="larger"),))
    assert not not_reproduced([better])


def test_where_nothing_was_computed_nothing_is_near() -> None:
    (found,) = not_reproduced([Exhibit("t", "", "", (Cell("a", "k", None, "14"),))])
    assert found.nearest == (None, "")
