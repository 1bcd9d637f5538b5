"""Merge the exhibits of one paper over its settings: medians, intervals and conclusions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from sfumato_papers.exhibits import (
    AlternativeFigure,
    Cell,
    Chart,
    Claim,
    Exhibit,
    Series,
    Trial,
    median_interval,
)

Exhibits = tuple[Exhibit, ...]


@dataclass(frozen=True)
class Cases:
    """The exhibits of a paper in several settings.

    Parameters
    ----------
    seeds
        By seed, the first of them as the paper is shown.
    interpretations
        By the switch of every other interpretation, as ``diversity=distinct``.
    control
        Where the values to be learned are dealt out at random.
    """

    seeds: Mapping[int, Exhibits]
    interpretations: Mapping[str, Exhibits] = field(default_factory=dict)
    control: Exhibits = ()

    def merged(self) -> Exhibits:
        """Return the exhibits of the first seed with the results of every other setting."""
        first = next(iter(self.seeds.values()))
        return tuple(self._exhibit(each) for each in first)

    def _exhibit(self, first: Exhibit) -> Exhibit:
        seeds = {seed: _same(first, each) for seed, each in self.seeds.items()}
        interpretations = {switch: _same(first, each) for switch, each in self.interpretations.items()}
        control = _same(first, self.control) if first.of_adult else None
        known = [each for each in seeds.values() if each is not None]
        return replace(
            first,
            cells=tuple(_cell(cell, known, interpretations, control) for cell in first.cells),
            claims=tuple(_claim(claim, seeds, interpretations, control) for claim in first.claims),
            charts=tuple(_chart(place, chart, known) for place, chart in enumerate(first.charts)),
        )


def _same(first: Exhibit, others: Iterable[Exhibit]) -> Exhibit | None:
    return next((each for each in others if each.key == first.key), None)


def _cell_of(exhibit: Exhibit | None, cell: Cell) -> Cell | None:
    found = exhibit.cells if exhibit is not None else ()
    return next((each for each in found if (each.row, each.column) == (cell.row, cell.column)), None)


def _claim_of(exhibit: Exhibit | None, claim: Claim) -> Claim | None:
    found = exhibit.claims if exhibit is not None else ()
    return next((each for each in found if each.text == claim.text), None)


def _cell(
    cell: Cell,
    seeds: Sequence[Exhibit],
    interpretations: Mapping[str, Exhibit | None],
    control: Exhibit | None,
) -> Cell:
    drawn = [each.ours for exhibit in seeds for each in [_cell_of(exhibit, cell)] if each is not None]
    known = tuple(each for each in drawn if each is not None)
    other = _cell_of(control, cell)
    return replace(
        cell,
        ours=median(known) if len(known) > 1 else cell.ours,
        spread=known,
        interpretations=tuple(
            AlternativeFigure(switch, found.ours, exhibit.verdict(found))
            for switch, exhibit in interpretations.items()
            for found in [_cell_of(exhibit, cell)]
            if exhibit is not None and found is not None and found.ours != cell.ours
        ),
        control=None if other is None else other.ours,
    )


def _claim(
    claim: Claim,
    seeds: Mapping[int, Exhibit | None],
    interpretations: Mapping[str, Exhibit | None],
    control: Exhibit | None,
) -> Claim:
    by_seed = _outcomes({str(seed): exhibit for seed, exhibit in seeds.items()}, claim)
    held = {each.holds for each in by_seed}
    return replace(
        claim,
        holds=claim.holds if len(held) < 2 else None,
        seeds=by_seed,
        interpretations=_outcomes(interpretations, claim),
        control=next(iter(_outcomes({"control": control}, claim)), None),
    )


def _outcomes(exhibits: Mapping[str, Exhibit | None], claim: Claim) -> tuple[Trial, ...]:
    return tuple(
        Trial(of, found.holds, found.evidence)
        for of, exhibit in exhibits.items()
        for found in [_claim_of(exhibit, claim)]
        if found is not None
    )


def _chart(place: int, chart: Chart, seeds: Sequence[Exhibit]) -> Chart:
    """Draw the median over the seeds, where every seed has a point at the same place."""
    others = [exhibit.charts[place] for exhibit in seeds if len(exhibit.charts) > place]
    return replace(chart, series=tuple(_series(each, others) for each in chart.series))


def _series(series: Series, charts: Sequence[Chart]) -> Series:
    same = [
        each
        for chart in charts
        for each in chart.series
        if (each.name, each.published, each.x) == (series.name, series.published, series.x)
    ]
    if series.published or len(same) < 2 or len(same) < len(charts):
        return series
    drawn = [[y for y in each if y is not None] for each in zip(*(s.y for s in same), strict=True)]
    return replace(
        series,
        y=tuple(median(each) if each else None for each in drawn),
        spread=tuple(median_interval(each) if len(each) > 1 else None for each in drawn),
    )
