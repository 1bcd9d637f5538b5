"""Every type of release on one picture: attack risk against what a researcher loses, on Adult.

    python benchmarks/types_of_release.py docs/types-of-release.svg

30,162 records, six quasi-identifiers, occupation sensitive, 1,000 targets and a control group. Prints the
table of docs/types-of-release.md and draws the picture: attack risk with its interval against utility loss
and against query error.
"""

from __future__ import annotations

import math
import sys
import time
from dataclasses import dataclass
from html import escape
from pathlib import Path

from sfumato import measure, sanitize
from sfumato.models import KAnonymity, TCloseness
from sfumato.reading import datasets
from sfumato.sanitizers import (
    MST,
    PRAM,
    Anatomy,
    AsIs,
    CartSynthesis,
    Laplace,
    LocalRecoding,
    Microaggregation,
    Mondrian,
    RankSwapping,
    Sampling,
    Sanitizer,
    SuppressQuasiIdentifiers,
)

MEASURES = ("attack-risk", "utility-loss", {"query-error": {"seed": 1}}, "k-marginal")
TRIED: tuple[tuple[str, str, Sanitizer], ...] = (
    ("trivial", "as-is", AsIs()),
    ("trivial", "suppress-quasi-identifiers", SuppressQuasiIdentifiers()),
    *(("mondrian", f"k={k}", Mondrian(KAnonymity(k))) for k in (2, 5, 10, 50, 200)),
    ("mondrian", "k=10 grid", Mondrian(KAnonymity(10), borders="grid")),
    ("mondrian", "k=10 t=0.2", Mondrian(KAnonymity(10) & TCloseness(0.2))),
    *(("local recoding", f"k={k}", LocalRecoding(KAnonymity(k), effort=1)) for k in (5, 10, 50)),
    *(("anatomy", f"l={number}", Anatomy(number)) for number in (2, 4)),
    *(("laplace", f"epsilon={each:g}", Laplace(each)) for each in (0.5, 2.0, 10.0)),
    *(("microaggregation", f"k={k}", Microaggregation(k)) for k in (20, 100)),
    ("pram", "default", PRAM()),
    ("rank-swapping", "default", RankSwapping()),
    ("sampling", "default", Sampling()),
    *(("mst", f"epsilon={each:g}", MST(each)) for each in (0.1, 0.3, 1.0, 3.0)),
    ("cart-synthesis", "default", CartSynthesis()),
)
COLOURS = ("#777777", "#1f77b4", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#e377c2", "#bcbd22", "#17becf")
COLOURS = (*COLOURS, "#d62728", "#000000")
WIDTH, HEIGHT, MARGIN = 460, 360, 64


@dataclass(frozen=True)
class Point:
    """One release: its family, what tells it from the others, and its figures."""

    family: str
    name: str
    type: str
    risk: float
    interval: tuple[float, float]
    worst: str
    loss: float
    error: float
    score: float


def judged(family: str, name: str, how: Sanitizer) -> Point | None:
    """Make a release and measure it; nothing where it has no attack risk."""
    table, schema = datasets.adult("train")
    release = sanitize(table, schema, how, seed=0)
    risk, loss, error, score = measure(release, MEASURES)
    if risk.value is None or risk.interval is None:
        sys.stderr.write(f"{family} {name}: {risk.detail.get('reason')}\n")
        return None
    figures = (loss.value or 0.0, error.value or 0.0, score.value or 0.0)
    worst = str(risk.detail["worst"])
    return Point(family, name, release.type, risk.value, risk.interval, worst, *figures)


def line(point: Point, seconds: float) -> str:
    """Return a line of the table."""
    low, high = point.interval
    return (
        f"| {point.family} {point.name} | {point.type} | {point.risk:.3f} ({low:.3f} to {high:.3f}) | "
        f"{point.worst} | {point.loss:.5f} | {point.error:.1%} | {point.score:.0f} | {seconds:.1f} |"
    )


def picture(points: list[Point]) -> str:
    """Draw both planes beside each other, and a legend below."""
    families = list(dict.fromkeys(point.family for point in points))
    colour = dict(zip(families, COLOURS, strict=False))
    planes = [
        plane(points, colour, "loss", "utility loss", 0),
        plane(points, colour, "error", "query error", WIDTH),
    ]
    legend = [
        f'<circle cx="{MARGIN + (place % 4) * 210}" cy="{HEIGHT + 24 + (place // 4) * 22}" r="5" '
        f'fill="{colour[family]}"/><text x="{MARGIN + 12 + (place % 4) * 210}" '
        f'y="{HEIGHT + 28 + (place // 4) * 22}">{escape(family)}</text>'
        for place, family in enumerate(families)
    ]
    height = HEIGHT + 40 + 22 * math.ceil(len(families) / 4)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {height}" role="img" '
    head += 'font-family="sans-serif" font-size="12">'
    title = "<title>Attack risk against utility, every type of release</title>"
    ground = '<rect width="100%" height="100%" fill="white"/>'
    return f"{head}{title}{ground}{''.join(planes)}{''.join(legend)}</svg>\n"


def plane(points: list[Point], colour: dict[str, str], figure: str, title: str, left: int) -> str:
    """Draw one plane, both scales by roots, so that what is small is told apart."""
    most = max(getattr(point, figure) for point in points)
    right, bottom = left + WIDTH - 16, HEIGHT - MARGIN

    def across(value: float) -> float:
        return left + MARGIN + math.sqrt(value) * (right - left - MARGIN)

    def up(value: float) -> float:
        return bottom - math.sqrt(min(value, most) / most) * (bottom - 20)

    marks = [
        f'<path d="M{across(0)} 20V{bottom}H{right}" fill="none" stroke="#444"/>',
        f'<text x="{across(0.25)}" y="{HEIGHT - 14}" text-anchor="middle">attack risk</text>',
        f'<text x="{left + 14}" y="{HEIGHT / 2}" text-anchor="middle" '
        f'transform="rotate(-90 {left + 14} {HEIGHT / 2})">{title}</text>',
    ]
    for tick in (0, 0.01, 0.05, 0.1, 0.25, 0.5, 1):
        marks.append(f'<text x="{across(tick)}" y="{bottom + 16}" text-anchor="middle">{tick:g}</text>')
    for tick in (0, 0.25, 0.5, 0.75, 1):
        value = most * tick * tick
        shown = f"{value:.0%}" if figure == "error" else f"{value:.2g}"
        marks.append(f'<text x="{across(0) - 6}" y="{up(value) + 4}" text-anchor="end">{shown}</text>')
    for point in points:
        x, y = across(point.risk), up(getattr(point, figure))
        low, high = (across(end) for end in point.interval)
        told = f"{point.family} {point.name}: {point.risk:.3f}, {getattr(point, figure):.4g}"
        marks.append(
            f'<g stroke="{colour[point.family]}"><path d="M{low:.1f} {y:.1f}H{high:.1f}" stroke-width="1.5"/>'
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{colour[point.family]}">'
            f"<title>{escape(told)}</title></circle></g>"
        )
    return "".join(marks)


def main() -> None:
    points = []
    sys.stdout.write(
        "| release | type | attack risk | the worst | utility loss | query error | k-marginal | CPU s |\n"
        "|---|---|---|---|---|---|---|---|\n"
    )
    for family, name, how in TRIED:
        began = time.process_time()
        point = judged(family, name, how)
        if point is not None:
            points.append(point)
            sys.stdout.write(line(point, time.process_time() - began) + "\n")
            sys.stdout.flush()
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(picture(points), encoding="utf-8")


if __name__ == "__main__":
    main()
