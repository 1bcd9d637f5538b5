"""Draw the frontier and the losses of attributes as inline SVG, with the same bytes for the same numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from sfumato.results import formatting
from sfumato.results.candidate import Candidate
from sfumato.results.frontier import Frontier
from sfumato.workflow.report.charts.chart_labels import readable, write_labels
from sfumato.workflow.report.charts.drawing import WIDTH, Drawing
from sfumato.workflow.report.charts.panels import Axis, Panel
from sfumato.workflow.report.charts.plane import TRIVIAL, Plane, family
from sfumato.workflow.report.charts.scales import Scale
from sfumato.workflow.report.charts.svg import COLOURS, FAINT, INK, PAPER, Label, Marker, Style

AGAINST = "#8b97a3"
"""The colour of candidates against the policy."""
FORBIDDEN = "#8a1538"
_LIMIT = Style(stroke=FORBIDDEN, dashes="5 3")
_LINE = Style(stroke=FAINT, width=1.3)
_CROSS = Marker("x", 3.2, Style(stroke=AGAINST, width=1.1))
_UNDER, _DOMINATED, _EFFICIENT = range(3)
"""The order in which candidates are drawn: those against the policy first, and under the others."""
_HEIGHT = 300
_MANY = 1200
"""More candidates are drawn as smaller signs."""
_MOST_BARS = 40
_ROOM = 56
"""The room for the labels of an axis, and for a figure to the right of a bar."""
_MOST_INFINITE = 6


def frontier_chart(frontier: Frontier, *, chosen: Candidate | None = None) -> str:
    """Draw all comparable candidates on the first two axes, and the line of the efficient ones.

    Parameters
    ----------
    frontier
        The candidates; the privacy measure is drawn upwards, the utility measure to the right.
    chosen
        The candidate to ring.

    Returns
    -------
    str
        An SVG element.
    """
    drawing, _ = draw_plane(Plane.of(frontier, chosen))
    return drawing.svg()


def draw_plane(
    plane: Plane, *, width: int = WIDTH, height: int = _HEIGHT, has_legend: bool = True
) -> tuple[Drawing, Panel]:
    """Draw a plane, and return the drawing with its panel.

    Parameters
    ----------
    plane
        The candidates between two axes.
    width, height
        The size of the picture, and the height of the panel.
    has_legend
        Whether the signs are explained below the panel.
    """
    drawing = Drawing(plane.description, width)
    lengths = (plane.x, width - _ROOM), (plane.y, height)
    x, y = (axis.axis(max(3, length // 70), length) for axis, length in lengths)
    panel = drawing.add_panel(x, y, height)
    if not plane.comparable:
        panel.write_empty("no candidate can be compared")
        return drawing, panel
    draw_limits(panel, plane)
    panel.draw_line(plane.line, _LINE)
    draw_candidates(panel, plane, size=1.0 if len(plane.comparable) <= _MANY else 0.7)
    _draw_marked(panel, plane)
    if has_legend:
        explain(drawing, [plane])
        drawing.explain("efficient line", line=_LINE)
        if plane.knee is not None:
            drawing.explain(f"knee of {plane.y.title} and {plane.x.title}", marker=_ring(6, "2 2"))
    return drawing, panel


def draw_limits(panel: Panel, plane: Plane) -> None:
    """Draw each end of a limit as a dashed line and shade the side that it forbids."""
    (left, right), (low, high) = panel.x.scale.ends, panel.y.scale.ends
    shade = Style(fill=FORBIDDEN, opacity=0.06)
    for end, border in plane.x.forbidden:
        panel.draw_bar((end, low), (border, high), shade)
        panel.draw_line([(end, low), (end, high)], _LIMIT)
    for end, border in plane.y.forbidden:
        panel.draw_bar((left, end), (right, border), shade)
        panel.draw_line([(left, end), (right, end)], _LIMIT)


def draw_candidates(panel: Panel, plane: Plane, *, size: float = 1.0) -> None:
    """Draw every candidate: filled if efficient, grey and crossed out if against the policy."""
    alike: dict[tuple[int, str, str], list[Candidate]] = {}
    for candidate in plane.comparable:
        layer = _EFFICIENT if candidate.id in plane.efficient else _DOMINATED
        layer = _UNDER if candidate.id in plane.broken else layer
        alike.setdefault((layer, family(candidate), plane.shape(candidate)), []).append(candidate)
    for (layer, name, shape), candidates in sorted(alike.items()):
        points = [*map(plane.point, candidates)]
        colour = plane.families[name].colour
        if layer == _UNDER:
            missed = ((c.id, "; ".join(plane.broken[c.id])) for c in candidates)
            titles = [f"{readable(identity)}, against the policy: {words}" for identity, words in missed]
            for marker in (Marker(shape, 3.2 * size, Style(PAPER, AGAINST, 1.1)), _CROSS):
                panel.draw_points(points, marker, titles, name)
        elif layer == _DOMINATED:
            panel.draw_points(points, Marker(shape, 3.2 * size, Style(PAPER, colour, 1.2)), family=name)
        else:
            panel.draw_points(points, Marker(shape, 4 * size, Style(colour, colour)), family=name)


def explain(drawing: Drawing, planes: Sequence[Plane]) -> None:
    """Explain families, grey candidates, limits and the ring of some planes in the legend."""
    for each in planes[0].families.values():
        drawing.explain(each.name, marker=Marker(each.shape, 4, Style(each.colour, each.colour)))
    if planes[0].broken:
        drawing.explain("against the policy", marker=_CROSS)
    if any([*axis.forbidden] for plane in planes for axis in (plane.x, plane.y)):
        drawing.explain("policy limit", line=_LIMIT)
    if planes[0].chosen is not None:
        drawing.explain("chosen", marker=_ring(6))


def draw_chosen(panel: Panel, plane: Plane, *, size: float = 1.0) -> Candidate | None:
    """Ring the chosen candidate, and return it if it is drawn."""
    wanted = None if plane.chosen is None else plane.chosen.id
    ringed = next((c for c in plane.comparable if c.id == wanted), None)
    if ringed is not None:
        panel.draw_points([plane.point(ringed)], _ring(10 * size))
    return ringed


def _ring(radius: float, dashes: str = "") -> Marker:
    return Marker("o", radius, Style(stroke=INK, width=1.3, dashes=dashes))


def _draw_marked(panel: Panel, plane: Plane) -> None:
    """Ring the chosen candidate and the knee, and label them and the two ends."""
    knee, ringed = plane.knee, draw_chosen(panel, plane)
    labels = [(c, TRIVIAL[c.recipe.sanitizer]) for c in plane.comparable if c.recipe.sanitizer in TRIVIAL]
    if ringed is not None:
        also = " (the knee)" if knee is not None and knee.id == ringed.id else ""
        labels.append((ringed, f"chosen: {readable(ringed.id)}{also}"))
    if knee is not None:
        panel.draw_points([plane.point(knee)], _ring(8, "2 2"))
        if ringed is None or knee.id != ringed.id:
            labels.append((knee, f"knee: {readable(knee.id)}"))
    named = {candidate.id for candidate, _ in labels}
    infinite = [c for c in plane.comparable if c.id not in named and any(map(math.isinf, plane.values(c)))]
    write_labels(
        panel,
        [(plane.point(c), text) for c, text in [*labels, *((c, "∞") for c in infinite[:_MOST_INFINITE])]],
        points=[*map(plane.point, plane.comparable)],
        line=plane.line,
    )


def attribute_losses_chart(losses: Mapping[str, float]) -> str:
    """Draw the share of information that each attribute loses, the largest loss first.

    Parameters
    ----------
    losses
        The loss of each attribute, between 0 and 1.
    """
    ranked = sorted(losses.items(), key=lambda pair: -pair[1])
    shown, n_more = ranked[:_MOST_BARS], max(len(ranked) - _MOST_BARS, 0)
    more = f" ({n_more} attributes with smaller losses are not drawn)" if n_more else ""
    drawing = Drawing(f"Information lost in each of {len(losses)} attributes")
    x = Axis.of(Scale(0, 1), f"information lost{more}", formatting.share, 6)
    panel = add_bars(drawing, x, [readable(name) for name, _ in shown])
    if not shown:
        panel.write_empty("no attributes")
    for place, (_, loss) in enumerate(shown):
        panel.draw_bar((0, place - 0.31), (1, place + 0.31), Style(fill="#eef1f4"))
        draw_bar(panel, place, loss, COLOURS[0], formatting.share(round(loss, 3)), end=1.0)
    return drawing.svg()


def add_bars(drawing: Drawing, x: Axis, names: Sequence[str]) -> Panel:
    """Add a panel with a row for each name, from top to bottom."""
    n_rows = max(len(names), 1)
    rows = Axis(Scale(n_rows - 0.5, -0.5), ticks=[*enumerate(names)], has_grid=False, has_line=False)
    return drawing.add_panel(x, rows, 18 * n_rows + 6, right=_ROOM)


def draw_bar(panel: Panel, row: int, value: float, colour: str, text: str, *, end: float) -> None:
    """Draw a bar from zero to its value, and write a text to the right of its end."""
    panel.draw_bar((0, row - 0.31), (value, row + 0.31), Style(fill=colour))
    x, y = panel.place((end, row))
    panel.write(Label(text, (x + 4, y)))
