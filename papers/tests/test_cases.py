"""Seeds, interpretations and controls merged: intervals, conclusions, and comparison with another run."""

import json
from dataclasses import replace
from math import comb
from pathlib import Path

import numpy as np
import pytest

from sfumato.runtime.errors import ParameterError, UserError
from sfumato_papers.archive import deviations, read_results
from sfumato_papers.cases import Cases
from sfumato_papers.exhibits import (
    Cell,
    Chart,
    Claim,
    Conclusion,
    Exhibit,
    Series,
    Trial,
    concluded,
    median_interval,
)
from sfumato_papers.interpretations import Ambiguity, Interpretation, chosen, others
from sfumato_papers.quotations import Quotation

DIVERSITY = Ambiguity(
    "diversity",
    "What is l?",
    "diverse",
    "page 1",
    (
        Interpretation("probabilistic", "one over the largest share"),
        Interpretation("distinct", "how many values"),
    ),
    "The definition says so.",
)
COLUMNS = Ambiguity(
    "columns",
    "How many?",
    "the attributes",
    "page 2",
    (Interpretation("nine", "9"), Interpretation("eight", "8")),
    "So.",
)


QUOTED = Quotation("it holds", "section 1")


def exhibit(ours: float, holds: bool | None = True) -> Exhibit:
    curve = Series("loss", (1.0, 2.0), (ours, 2 * ours))
    return Exhibit(
        "t",
        "A table",
        "page 1",
        (Cell("a", "x", ours, "1.0", 0.2), Cell("b", "x", 7.0)),
        (Claim("It holds.", holds, f"{ours}", QUOTED),),
        (Chart("c", "k", "loss", (curve, Series("loss", (1.0,), (1.0,), published=True))),),
    )


@pytest.mark.parametrize("n", range(2, 40))
def test_the_interval_of_a_median_covers_it_by_the_binomial_distribution(n: int) -> None:
    low, high = (int(each) for each in median_interval(list(range(1, n + 1))))
    assert low + high == n + 1

    def covered(rank: int) -> float:
        return 1 - 2 * sum(comb(n, heads) for heads in range(rank)) / 2**n

    assert covered(low) >= 0.95 or low == 1
    assert low + 1 > n // 2 or covered(low + 1) < 0.95


def test_the_interval_covers_the_median_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    drawn = [median_interval(list(rng.exponential(size=10))) for _ in range(2000)]
    assert np.mean([low <= np.log(2) <= high for low, high in drawn]) == pytest.approx(0.979, abs=0.015)


def test_a_figure_is_the_median_over_the_seeds_and_judged_by_its_interval() -> None:
    (found,) = Cases({seed: (exhibit(ours),) for seed, ours in enumerate((1.5, 1.1, 1.4))}).merged()
    cell = found.cells[0]
    assert (cell.ours, cell.spread, cell.interval) == (1.4, (1.5, 1.1, 1.4), (1.1, 1.5))
    assert found.verdict(cell) == "within tolerance"
    assert exhibit(1.4).verdict(exhibit(1.4).cells[0]) == "differs"
    ours, printed = found.charts[0].series
    assert (ours.y, ours.spread) == ((1.4, 2.8), ((1.1, 1.5), (2.2, 3.0)))
    assert (printed.y, printed.spread) == ((1.0,), ())


def test_curves_whose_points_lie_elsewhere_are_not_mixed() -> None:
    moved = Exhibit("t", "", "", charts=(Chart("c", "", "", (Series("loss", (1.5, 2.0), (9.0, 9.0)),)),))
    (found,) = Cases({1: (exhibit(1.0),), 2: (moved,)}).merged()
    assert found.charts[0].series[0] == exhibit(1.0).charts[0].series[0]


def test_a_figure_that_another_interpretation_reaches_says_which() -> None:
    (found,) = Cases({1: (exhibit(3.0),)}, {"diversity=distinct": (exhibit(1.0),)}).merged()
    assert found.verdict(found.cells[0]) == "differs"
    assert found.best(found.cells[0]) == ("same", "diversity=distinct")
    assert not found.cells[1].interpretations


@pytest.mark.parametrize(
    ("seeds", "interpretations", "control", "conclusion"),
    [
        ([True], [], None, "holds"),
        ([True, True], [True, None], False, "holds"),
        ([True], [], True, "says nothing"),
        ([True], [False], True, "depends on the interpretation"),
        ([False], [True], True, "depends on the interpretation"),
        ([True, False], [], False, "depends on chance"),
        ([False, False], [False], True, "does not hold"),
        ([None], [None], True, "open"),
        ([None], [True], False, "holds"),
    ],
)
def test_a_conclusion_is_what_all_conditions_say(
    seeds: list[bool | None], interpretations: list[bool | None], control: bool | None, conclusion: Conclusion
) -> None:
    (found,) = Cases(
        {seed: (exhibit(1.0, holds),) for seed, holds in enumerate(seeds)},
        {str(number): (exhibit(1.0, holds),) for number, holds in enumerate(interpretations)},
        () if control is None else (exhibit(1.0, control),),
    ).merged()
    assert found.claims[0].conclusion == conclusion
    assert concluded([found])[conclusion] == 1


def test_what_a_paper_made_up_itself_has_no_control() -> None:
    own = replace(exhibit(1.0), of_adult=False)
    (found,) = Cases({1: (own,)}, control=(own,)).merged()
    assert (found.claims[0].conclusion, found.cells[0].control) == ("holds", None)


def test_tests_of_our_own_are_not_counted_among_what_the_papers_say() -> None:
    both = Exhibit("t", "", "", claims=(Claim("Ours.", True, ""), Claim("Theirs.", False, "", QUOTED)))
    of_paper, of_ours = concluded([both]), concluded([both], ours=True)
    assert [c for c, n in of_paper.items() if n] == ["does not hold"]
    assert [c for c, n in of_ours.items() if n] == ["holds"]
    assert [claim["of"] for claim in both.to_dict()["claims"]] == ["sfumato", "paper"]


def test_what_a_paper_says_twice_is_counted_once() -> None:
    twice = Exhibit(
        "t", "", "", claims=tuple(Claim("So.", True, "", replace(QUOTED, repeated=r)) for r in (True, False))
    )
    assert concluded([twice])["holds"] == 1


def test_a_better_figure_is_no_failure() -> None:
    def verdict(ours: float) -> str:
        cell = Cell("a", "k", ours, "14", better="larger")
        return Exhibit("t", "", "", (cell,)).verdict(cell)

    assert [verdict(k) for k in (18, 14, 9)] == ["better", "same", "differs"]


# Interpretations


def test_interpretations_are_chosen_by_passage_and_ours_needs_no_word() -> None:
    every = (DIVERSITY, COLUMNS)
    assert chosen(every, []) == chosen(every, ["columns=nine"]) == ()
    assert chosen(every, ["columns=eight", "diversity=distinct"]) == ("diversity=distinct", "columns=eight")
    with pytest.raises(
        ParameterError, match="no interpretation 'diversity=distnct'; did you mean 'diversity=distinct'"
    ):
        chosen(every, ["diversity=distnct"])
    with pytest.raises(ParameterError, match="columns has one interpretation at a time"):
        chosen(every, ["columns=eight", "columns=nine"])


def test_the_other_ways_to_read_differ_in_one_passage_each() -> None:
    every = (DIVERSITY, COLUMNS)
    assert list(others(every, ())) == [("diversity=distinct",), ("columns=eight",)]
    assert list(others(every, ("columns=eight",))) == [("diversity=distinct", "columns=eight"), ()]


# Runs beside each other


def results(*exhibits: Exhibit) -> dict[str, object]:
    return {"papers": {"li": {"exhibits": [each.to_dict() for each in exhibits]}}}


def test_runs_agree_where_one_lies_in_the_interval_of_the_other() -> None:
    spread = Cases({seed: (exhibit(ours),) for seed, ours in enumerate((1.0, 1.4))}).merged()
    assert not deviations(results(exhibit(1.3)), results(*spread))
    (found,) = deviations(results(exhibit(1.5)), results(*spread))
    assert (found.paper, found.exhibit, found.what) == ("li", "t", "a, x")
    assert (found.here, found.there) == ("1.5", "1.2 (1 to 1.4)")
    (other,) = deviations(results(exhibit(1.2, holds=False)), results(*spread))
    assert (other.what, other.here, other.there) == ("It holds.", "does not hold", "holds")


def test_what_only_one_of_the_runs_has_is_reported_and_other_papers_are_not_compared() -> None:
    lacking = {"papers": {"li": {"exhibits": []}, "dewri": results(exhibit(3))["papers"]["li"]}}  # type: ignore[index]
    assert {each.there for each in deviations(results(exhibit(1.0)), lacking)} == {"not there"}
    assert not deviations({"papers": {}}, lacking)


@pytest.mark.parametrize("text", ["", "[]", '{"papers": []}', '{"papers": {"li": {"exhibits": [{}]}}}'])
def test_a_file_that_is_none_is_one_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(text)
    with pytest.raises(UserError, match=r"is no results\.json of sfumato reproduce"):
        read_results(tmp_path)
    with pytest.raises(UserError, match="does not exist"):
        read_results(tmp_path / "nowhere")


def test_results_are_read_back(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(json.dumps(results(exhibit(1.0))))
    assert not deviations(read_results(tmp_path), results(exhibit(1.0)))


def test_an_outcome_names_its_condition() -> None:
    (found,) = Cases({2009: (exhibit(1.0),), 2010: (exhibit(2.0, holds=False),)}).merged()
    assert found.claims[0].seeds == (Trial("2009", True, "1.0"), Trial("2010", False, "2.0"))
