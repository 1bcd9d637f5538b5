import json
import math

import pytest

from sfumato_papers.exhibits import Cell, Chart, Claim, Exhibit, Series, counted


def exhibit(*cells: Cell) -> Exhibit:
    return Exhibit("table-1", "A table", "A paper, table 1", cells)


def verdict(*cells: Cell) -> str:
    return exhibit(*cells).verdict(cells[0])


def test_figures_that_round_to_the_printed_digits_are_the_same():
    assert verdict(Cell("a", "x", 0.10344, "0.1034")) == "same"
    assert verdict(Cell("a", "x", 0.10346, "0.1034")) == "differs"
    assert verdict(Cell("a", "x", 36_172.4, "36,172")) == "same"


def test_a_figure_inside_the_tolerance_is_not_called_the_same():
    assert verdict(Cell("a", "x", 75.2, "74.86", tolerance=1.0)) == "within tolerance"
    assert verdict(Cell("a", "x", 75.9, "74.86", tolerance=1.0)) == "differs"


def test_a_figure_at_the_very_end_of_the_tolerance_is_inside():
    assert verdict(Cell("a", "x", 0.3, "0.1", tolerance=0.2)) == "within tolerance"


def test_figures_in_the_papers_order_have_the_same_trend():
    rising = [Cell(str(i), "x", 10.0 * i, f"{i}.0") for i in range(1, 5)]
    assert verdict(*rising) == "same trend"
    assert verdict(*(Cell(c.row, "x", -(c.ours or 0), c.published) for c in rising)) == "differs"


def test_two_figures_are_no_trend():
    assert verdict(Cell("1", "x", 10.0, "1.0"), Cell("2", "x", 20.0, "2.0")) == "differs"


def test_a_trend_is_looked_for_inside_its_series():
    cells = [
        Cell(str(i), column, 10.0 * i * sign, f"{i}.0")
        for column, sign in (("x", 1), ("y", -1))
        for i in range(1, 5)
    ]
    table = exhibit(*cells)
    assert [table.verdict(cell) for cell in cells] == ["same trend"] * 4 + ["differs"] * 4
    joined = exhibit(*(Cell(c.row, c.column, c.ours, c.published, series="one") for c in cells))
    assert joined.verdict(joined.cells[0]) == "differs"


def test_a_figure_that_is_missing_here_differs_and_one_that_was_not_published_has_no_verdict():
    assert verdict(Cell("a", "x", None, "0.1")) == "differs"
    assert verdict(Cell("a", "x", 0.1)) == "no figure published"


def test_verdicts_are_counted():
    table = exhibit(Cell("a", "x", 0.1, "0.1"), Cell("b", "x", 0.2, "0.1"), Cell("c", "x", 0.3))
    assert counted([table]) == {
        "same": 1, "within tolerance": 0, "better": 0, "same trend": 0, "differs": 1, "no figure published": 1
    }  # fmt: skip


@pytest.mark.parametrize("ours", [math.inf, -math.inf, math.nan])
def test_results_are_valid_json_whatever_came_out(ours):
    found = Exhibit(
        "figure-1",
        "A figure",
        "A paper, figure 1",
        (Cell("a", "x", ours, "1.0"),),
        (Claim("It rises.", None, "nothing"),),
        (Chart("Rising", "k", "loss", (Series("ours", (1.0,), (ours,)),)),),
    )
    read = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert read["cells"][0]["ours"] == ("NaN" if math.isnan(ours) else f"{'-' * (ours < 0)}Infinity")
    assert read["cells"][0]["verdict"] == "differs"
