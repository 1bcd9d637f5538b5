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
        return tuple(self._exhibit(exhibit) for exhibit in first)

    def _exhibit(self, first: Exhibit) -> Exhibit:
        seeds = {seed: _same(first, exhibits) for seed, exhibits in self.seeds.items()}
        interpretations = {
            switch: _same(first, exhibits) for switch, exhibits in self.interpretations.items()
        }
        control = _same(first, self.control) if first.of_adult else None
        known = [exhibit for exhibit in seeds.values() if exhibit is not None]
        return replace(
            first,
            cells=tuple(_cell(cell, known, interpretations, control) for cell in first.cells),
            claims=tuple(_claim(claim, seeds, interpretations, control) for claim in first.claims),
            charts=tuple(_chart(place, chart, known) for place, chart in enumerate(first.charts)),
        )


def _same(first: Exhibit, others: Iterable[Exhibit]) -> Exhibit | None:
    return next((exhibit for exhibit in others if exhibit.key == first.key), None)


def _cell_of(exhibit: Exhibit | None, cell: Cell) -> Cell | None:
    cells = exhibit.cells if exhibit is not None else ()
    return next((other for other in cells if (other.row, other.column) == (cell.row, cell.column)), None)


def _claim_of(exhibit: Exhibit | None, claim: Claim) -> Claim | None:
    claims = exhibit.claims if exhibit is not None else ()
    return next((other for other in claims if other.text == claim.text), None)


def _cell(
    cell: Cell,
    seeds: Sequence[Exhibit],
    interpretations: Mapping[str, Exhibit | None],
    control: Exhibit | None,
) -> Cell:
    drawn = [value.ours for exhibit in seeds for value in [_cell_of(exhibit, cell)] if value is not None]
    known = tuple(value for value in drawn if value is not None)
    other = _cell_of(control, cell)
    return replace(
        cell,
        ours=median(known) if len(known) > 1 else cell.ours,
        spread=known,
        interpretations=tuple(
            AlternativeFigure(switch, match.ours, exhibit.verdict(match))
            for switch, exhibit in interpretations.items()
            for match in [_cell_of(exhibit, cell)]
            if exhibit is not None and match is not None and match.ours != cell.ours
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
    held = {trial.holds for trial in by_seed}
    return replace(
        claim,
        holds=claim.holds if len(held) < 2 else None,
        seeds=by_seed,
        interpretations=_outcomes(interpretations, claim),
        control=next(iter(_outcomes({"control": control}, claim)), None),
    )


def _outcomes(exhibits: Mapping[str, Exhibit | None], claim: Claim) -> tuple[Trial, ...]:
    return tuple(
        Trial(of, match.holds, match.evidence)
        for of, exhibit in exhibits.items()
        for match in [_claim_of(exhibit, claim)]
        if match is not None
    )


def _chart(place: int, chart: Chart, seeds: Sequence[Exhibit]) -> Chart:
    """Draw the median over the seeds, where every seed has a point at the same place."""
    others = [exhibit.charts[place] for exhibit in seeds if len(exhibit.charts) > place]
    return replace(chart, series=tuple(_series(series, others) for series in chart.series))


def _series(series: Series, charts: Sequence[Chart]) -> Series:
    same = [
        other
        for chart in charts
        for other in chart.series
        if (other.name, other.published, other.x) == (series.name, series.published, series.x)
    ]
    if series.published or len(same) < 2 or len(same) < len(charts):
        return series
    drawn = [[y for y in values if y is not None] for values in zip(*(s.y for s in same), strict=True)]
    return replace(
        series,
        y=tuple(median(values) if values else None for values in drawn),
        spread=tuple(median_interval(values) if len(values) > 1 else None for values in drawn),
    )
