"""Compute figures 10 and 11 of Dewri and others 2011: (k, l)-safety by the formula and in truth."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sfumato_papers.compare_figures import NOT_COMPUTED, cell, exhibit, found_or_open, not_empty
from sfumato_papers.dewri.solutions import (
    FORMULA,
    GUARANTEE,
    Solution,
    cheapest,
    points,
    solutions,
    within,
)
from sfumato_papers.exhibits import Cell, Chart, Claim, Exhibit, Series
from sfumato_papers.experiments import Exploration
from sfumato_papers.published import published
from sfumato_papers.quotations import Quotation, quotation

_LOSS = "loss by the formula in per cent"
_LIMIT = 30.0

Pair = tuple[int, int]


def figure_10(explored: Exploration, *, quick: bool) -> Exhibit:
    """Return both orders of preference: how many choices of k and of l each gives below 30% loss."""
    solved = {prefer: within(solutions(explored, name), _LIMIT) for prefer, name in FORMULA.items()}
    n_k, n_l = ({prefer: _different(some, place) for prefer, some in solved.items()} for place in (0, 1))
    enough = all(solved.values())
    best = max((s for s in solved["l"]), key=lambda s: (s.pair or (0, 0))[::-1], default=None)
    cells = [
        Cell(f"{prefer} preferred", column, count)
        for prefer, some in solved.items()
        for column, count in (
            ("solutions", len(some)),
            ("different k", n_k[prefer]),
            ("different l", n_l[prefer]),
            ("with the k and l of the formula", sum(s.is_as_promised for s in some)),
        )
    ]
    claims = (
        Claim(
            "With k preferred there are more choices of k than of l.",
            n_k["k"] > n_l["k"] if enough else None,
            f"{n_k['k']} values of k, {n_l['k']} of l",
            quotation("dewri", "choices-of-k"),
        ),
        Claim(
            "With l preferred there are more choices of l than with k preferred.",
            n_l["l"] > n_l["k"] if enough else None,
            f"{n_l['l']} values of l instead of {n_l['k']}",
            quotation("dewri", "choices-of-l"),
        ),
        *(
            _claim(row, limit, _by_formula(solved["l"], _pair(row)), true, quick=quick)
            for row, printed in published("dewri", "figure-10").figures.items()
            for limit in [float(printed["loss below, in per cent"])]
            for true in [_truly(solutions(explored, GUARANTEE), _pair(row))]
        ),
        _promise([*solved["k"], *solved["l"]], quotation("dewri", "always-valid")),
    )
    charts = tuple(
        _pairs_chart(f"{prefer} preferred, loss below 30%", some) for prefer, some in solved.items()
    )
    notes = [
        "'By the formula' are the pairs (d1, d2) by which the paper calls its solutions, 'truly' the k and l "
        "of the same releases, measured on the records that are kept."
    ]
    if best is not None and best.pair is not None:
        notes.append(f"The largest l of the formula below 30% is {best.pair[1]}, at d1 = {best.pair[0]}.")
    return exhibit("dewri", "figure-10", cells, claims=claims, charts=charts, notes=notes)


def figure_11(explored: Exploration, *, quick: bool) -> Exhibit:
    """Return the pairs that the paper names, what they cost by the formula and what they truly cost."""
    key, by_formula = "figure-11", solutions(explored, FORMULA["l"])
    guaranteed = solutions(explored, GUARANTEE)
    cells: list[Cell] = []
    claims: list[Claim] = []
    for row, printed in published("dewri", key).figures.items():
        wanted, limit = _pair(row), float(printed[_LOSS])
        formula, true = _by_formula(by_formula, wanted), _truly(guaranteed, wanted)
        cells += [
            cell("dewri", key, row, column, ours)
            for column, ours in _figures(formula, true).items()
            if ours is not None
        ]
        claims.append(_claim(row, limit, formula, true, quick=quick))
    claims.append(_promise(within(by_formula, _LIMIT)))
    pairs = [_pair(row) for row in published("dewri", key).figures]
    chart = Chart(
        "Loss up to 20% and 21%, l preferred",
        "k",
        "l",
        not_empty(
            [
                points("by the formula, up to 20%", within(by_formula, 20), _first, _second),
                points(
                    "by the formula, up to 21%",
                    [s for s in within(by_formula, 21) if s.loss > 20],
                    _first,
                    _second,
                ),
                points("truly, up to 21%", within(guaranteed, 21), _k, _l),
                Series(
                    "named in the paper",
                    tuple(float(k) for k, _ in pairs),
                    tuple(float(diversity) for _, diversity in pairs),
                    published=True,
                ),
            ]
        ),
        shape="points",
    )
    notes = (
        "The formula orders the classes by size, and by diversity among those of equal size, and suppresses "
        "from the front until 10% are spent. The class (d1, d2) that it reaches names the release. Larger "
        "classes stay whatever their diversity, so that the release need not be (d1, d2)-safe. 'With the "
        "guarantee' every class below k or below l is suppressed.",
    )
    return exhibit("dewri", key, cells, claims=claims, charts=(chart,), notes=notes)


def _figures(formula: Solution | None, true: Solution | None) -> dict[str, float | None]:
    return {
        _LOSS: formula.loss if formula else None,
        "k of that release": formula.k if formula else None,
        "l of that release": formula.l if formula else None,
        "loss with the guarantee in per cent": true.loss if true else None,
    }


def _claim(row: str, limit: float, formula: Solution | None, true: Solution | None, *, quick: bool) -> Claim:
    """Judge whether a pair can be achieved within the limit, next to the formula's promise."""
    if formula is None or true is None:
        return Claim(f"{row}-safe at {limit:.0f}% loss.", None, NOT_COMPUTED, quotation("dewri", row))
    return Claim(
        f"{row}-safe at {limit:.0f}% loss.",
        found_or_open(true.loss <= limit, quick=quick),
        f"the formula finds {formula.pair} at {formula.loss:.1f}%, truly a "
        f"({formula.k:.0f}, {formula.l:.0f})-safe release; with the guarantee it costs {true.loss:.1f}%",
        quotation("dewri", row),
    )


def _promise(solved: Sequence[Solution], words: Quotation | None = None) -> Claim:
    """Count how often the formula keeps its promise of some diversity.

    The paper says it of all solutions; of those of one figure it is a test of ours.
    """
    promised = [s for s in solved if s.pair is not None and s.pair[1] >= 2]
    kept = sum(s.is_as_promised for s in promised)
    alone = sum(s.l < 2 for s in promised)
    return Claim(
        "A solution (d1, d2) of the formula is d1-anonymous and d2-diverse.",
        kept == len(promised) if promised else None,
        f"of {len(promised)} solutions with d2 of 2 or more and a loss below 30% {kept} are; {alone} of them "
        "have l = 1",
        words,
    )


def _by_formula(solved: Sequence[Solution], wanted: Pair) -> Solution | None:
    return cheapest(solved, lambda s: _first(s) >= wanted[0] and _second(s) >= wanted[1])


def _truly(solved: Sequence[Solution], wanted: Pair) -> Solution | None:
    return cheapest(solved, lambda s: s.k >= wanted[0] and s.l >= wanted[1])


def _pairs_chart(title: str, solved: Sequence[Solution]) -> Chart:
    series = (points("by the formula", solved, _first, _second), points("truly", solved, _k, _l))
    return Chart(title, "k", "l", series, shape="points", log_x=True)


def _pair(row: str) -> Pair:
    k, diversity = map(int, re.findall(r"\d+", row))
    return k, diversity


def _different(solved: Sequence[Solution], place: int) -> int:
    return len({s.pair[place] for s in solved if s.pair is not None})


def _first(solution: Solution) -> float:
    return solution.pair[0] if solution.pair else solution.k


def _second(solution: Solution) -> float:
    return solution.pair[1] if solution.pair else solution.l


def _k(solution: Solution) -> float:
    return solution.k


def _l(solution: Solution) -> float:
    return solution.l
