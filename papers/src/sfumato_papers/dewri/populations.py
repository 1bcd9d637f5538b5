"""Measure how much the initial population of the search moves the answers of Dewri and others 2011."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

from sfumato_papers.compare_figures import NOT_COMPUTED
from sfumato_papers.exhibits import Cell, Claim, Exhibit
from sfumato_papers.quotations import quotation

_SMALL = 0.05
"""What is called no significant difference: figures of all seeds within so much of their median."""
_COMPARED = ("figure-6", "figure-7", "figure-11", "questions")


def initial_populations(by_seed: Mapping[int, tuple[Exhibit, ...]]) -> tuple[Exhibit, ...]:
    """Return how far every published answer moves with the population that the search begins with."""
    figures_of: dict[str, list[float]] = {}
    for exhibits in by_seed.values():
        for exhibit in exhibits:
            for cell in exhibit.cells if exhibit.key in _COMPARED else ():
                if cell.published is not None and cell.ours is not None:
                    figures_of.setdefault(f"{cell.row}: {cell.column}", []).append(cell.ours)
    moved = {
        name: _range(figures) for name, figures in figures_of.items() if len(figures) == len(by_seed) > 1
    }
    largest = max(moved, key=lambda name: moved[name], default="")
    claim = Claim(
        "Different initial populations make no significant difference (no answer of any seed lies farther "
        f"than {_SMALL:.0%} from the median).",
        moved[largest] <= _SMALL if moved else None,
        f"{len(by_seed)} populations; {largest} moves most, by {moved[largest]:.1%}"
        if moved
        else NOT_COMPUTED,
        quotation("dewri", "initial-populations"),
    )
    cells = tuple(
        Cell(name, "largest distance from the median", distance) for name, distance in moved.items()
    )
    return (
        Exhibit(
            "initial-populations",
            "Section 6.5: different initial populations",
            "Dewri and others 2011, section 6.5",
            cells,
            (claim,),
        ),
    )


def _range(figures: list[float]) -> float:
    middle = median(figures)
    return max(abs(figure - middle) for figure in figures) / abs(middle) if middle else 0.0
