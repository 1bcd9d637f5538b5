"""The charts: right geometry, text that stays text, and the same bytes for the same numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from sfumato.measures import Measurement
from sfumato.registry.declarations import Better
from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Candidate
from sfumato.results.frontier import Frontier
from sfumato.results.pareto import Limit
from sfumato.results.policy import Policy
from sfumato.results.recipients import NOBODY
from sfumato.workflow.report.charts.class_size_curves import class_size_steps, class_sizes_chart
from sfumato.workflow.report.charts.frontier_chart import AGAINST, attribute_losses_chart, frontier_chart
from sfumato.workflow.report.charts.panels import Frame

from .svg_reader import ReadPanel, corners, panels, parsed, place_of, points_of, texts

SVG = "{http://www.w3.org/2000/svg}"
NASTY = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=y>',
    r"$\frac{1}{2}$",
    "under_score^2",
    "../../etc/passwd",
    '=HYPERLINK("x")',
    "font-family: x; xlink:href",
    "日本語 🙂",
)


def candidate(
    identity: str,
    sanitizer: str,
    privacy: float | None,
    utility: float | None,
    better: tuple[Better, Better] = ("lower", "lower"),
) -> Candidate:
    measurements = (
        Measurement("privacy-loss", privacy, "privacy", better[0]),
        Measurement("general-loss", utility, "utility", better[1]),
    )
    return Candidate(identity, Recipe(sanitizer), measurements)


def frontier(*candidates: Candidate) -> Frontier:
    return Frontier(candidates, ("privacy-loss", "general-loss"))


ORDINARY = frontier(
    candidate("aaaa", "as-is", 0.69, 0.0),
    candidate("bbbb", "mondrian", 0.30, 0.1),
    candidate("cccc", "mondrian", 0.10, 0.3),
    candidate("dddd", "full-domain", 0.40, 0.4),
    candidate("eeee", "suppress-quasi-identifiers", 0.0, 1.0),
)


def only_panel(svg: str) -> ReadPanel:
    (panel,) = panels(svg)
    return panel


def efficient_line(svg: str) -> list[tuple[float, float]]:
    (line,) = only_panel(svg).marks(stroke="#5c6b7a", stroke_width="1.3")
    return corners(line)


def tooltips(svg: str) -> list[str]:
    return [element.text or "" for element in parsed(svg).iter(f"{SVG}title")]


def test_the_frontier_names_axes_ends_knee_and_families() -> None:
    shown = texts(frontier_chart(ORDINARY))
    assert "privacy loss (lower is better)" in shown
    assert "general loss (lower is better)" in shown
    assert "published as it is" in shown
    assert "quasi-identifiers withheld" in shown
    assert "knee: cccc" in shown
    assert {"mondrian", "full-domain", "trivial", "efficient line"} <= set(shown)
    assert "knee of privacy loss and general loss" in shown


def test_the_chosen_candidate_is_ringed_and_named() -> None:
    chosen = ORDINARY.candidates[1]
    assert "chosen: bbbb" in texts(frontier_chart(ORDINARY, chosen=chosen))
    assert "chosen: cccc (the knee)" in texts(frontier_chart(ORDINARY, chosen=ORDINARY.candidates[2]))
    assert not any("chosen" in text for text in texts(frontier_chart(ORDINARY)))


def test_utility_runs_to_the_right_whichever_axis_comes_first() -> None:
    turned = Frontier(ORDINARY.candidates, ("general-loss", "privacy-loss"))
    assert frontier_chart(turned) == frontier_chart(ORDINARY)


def test_the_efficient_line_steps_down_when_lower_is_better_on_both_axes() -> None:
    line = efficient_line(frontier_chart(ORDINARY))
    assert len(line) == 2 * len(ORDINARY.efficient()) - 1
    for (x, y), (next_x, next_y) in itertools.pairwise(line):
        assert (x == next_x) != (y == next_y)
        assert next_x >= x
        assert next_y >= y


def test_the_efficient_line_steps_up_and_left_when_higher_is_better_on_both_axes() -> None:
    both: tuple[Better, Better] = ("higher", "higher")
    better = frontier(*(candidate(str(k), "mondrian", k, 1 / k, both) for k in (2.0, 3.0, 5.0, 9.0)))
    svg = frontier_chart(better)
    line = efficient_line(svg)
    assert len(line) == 7
    for (x, y), (next_x, next_y) in itertools.pairwise(line):
        assert next_x <= x
        assert next_y <= y
    assert line[1][1] == line[0][1], "the best x keeps its own y until the next one"
    assert "privacy loss (higher is better)" in texts(svg)


def limited(frontier: Frontier, limits: dict[str, Limit]) -> Frontier:
    return replace(frontier, policy=Policy(NOBODY, limits))


@pytest.mark.parametrize(
    ("limit", "forbidden"), [(Limit(at_most=0.5), "above"), (Limit(at_least=0.5), "below")]
)
def test_a_limit_shades_the_side_that_it_forbids(limit: Limit, forbidden: str) -> None:
    svg = frontier_chart(limited(ORDINARY, {"privacy-loss": limit}))
    panel = only_panel(svg)
    (line,) = panel.marks(stroke="#8a1538")
    (shade,) = panel.marks(fill="#8a1538")
    height = corners(line)[0][1]
    assert height == pytest.approx(panel.place(0, 0.5)[1], abs=0.006)
    top, bottom = float(shade.attrib["y"]), float(shade.attrib["y"]) + float(shade.attrib["height"])
    assert (bottom if forbidden == "above" else top) == pytest.approx(height, abs=0.02)
    assert "policy limit" in texts(svg)


def test_candidates_against_the_policy_are_grey_and_say_which_limit_they_miss() -> None:
    measured = tuple(
        replace(each, measurements=(*each.measurements, Measurement("weighted-k", k, "privacy", "higher")))
        for each, k in zip(ORDINARY.candidates, (1.0, 4.0, 9.0, 16.0, 25.0), strict=True)
    )
    kept, broken = (
        frontier_chart(limited(frontier(*measured), limits))
        for limits in ({"weighted-k": Limit(at_least=least)} for least in (1, 5))
    )
    assert kept == frontier_chart(ORDINARY)
    assert "policy limit" not in texts(broken)
    assert "against the policy" in texts(broken)
    assert set(tooltips(broken)) == {
        "aaaa, against the policy: weighted-k is 1, must be at least 5",
        "bbbb, against the policy: weighted-k is 4, must be at least 5",
    }
    assert len(only_panel(broken).marks(stroke=AGAINST)) == 2 * 2, "two candidates, each grey and crossed out"


def test_only_candidates_that_keep_the_policy_are_efficient_or_the_knee() -> None:
    limits = {"privacy-loss": Limit(at_most=0.2)}
    svg = frontier_chart(limited(ORDINARY, limits))
    panel = only_panel(svg)
    ends = [panel.place(1.0, 0.0), panel.place(0.3, 0.1)]
    assert [efficient_line(svg)[place] for place in (-1, 0)] == [
        pytest.approx(end, abs=0.006) for end in ends
    ]
    assert not any(text.startswith("knee") for text in texts(svg)), "of two candidates none is the knee"
    nobody = frontier_chart(limited(ORDINARY, {"privacy-loss": Limit(at_most=-1)}))
    assert "against the policy" in texts(nobody)
    assert not only_panel(nobody).marks(stroke="#5c6b7a", stroke_width="1.3")


def test_axes_are_magnified_where_efficient_candidates_crowd() -> None:
    losses = [0, 0.001, 0.002, 0.003, 0.005, 0.008, 0.01, 0.2, 0.6, 1]
    crowded = frontier(
        *(candidate(f"c{i}", "mondrian", 0.6 - 0.06 * i, loss) for i, loss in enumerate(losses))
    )
    svg = frontier_chart(crowded)
    assert any("general loss (lower is better, " in text and "-root scale" in text for text in texts(svg))
    panel, line = only_panel(svg), efficient_line(svg)
    wanted = [panel.place(loss, 0.6 - 0.06 * i) for i, loss in enumerate(losses)]
    assert line[::2] == [pytest.approx(place, abs=0.02) for place in wanted]


def test_infinite_values_stay_inside_the_picture_and_are_named() -> None:
    infinite = frontier(
        candidate("a", "mondrian", math.inf, 0.1),
        candidate("b", "mondrian", 0.4, math.inf),
        candidate("c", "mondrian", 0.5, 0.2),
        candidate("d", "mondrian", -math.inf, math.inf),
    )
    svg = frontier_chart(infinite)
    assert texts(svg).count("∞") == 3
    panel = only_panel(svg)
    frame = Frame(panel.ends("x")[0], panel.ends("y")[1], panel.ends("x")[1], panel.ends("y")[0])
    marks = panel.marks(data_family="mondrian")
    assert len(marks) == 4
    assert all(frame.contains(place_of(mark)) for mark in marks)


@pytest.mark.parametrize(
    "extreme",
    [
        frontier(),
        frontier(candidate("a", "mondrian", 0.0, 0.0)),
        frontier(candidate("a", "mondrian", 0.5, 0.5), candidate("b", "mondrian", 0.5, 0.5)),
        frontier(candidate("a", "as-is", math.inf, math.inf)),
        frontier(candidate("a", "laplace", None, None)),
        frontier(candidate("a", "mondrian", 1e-9, 1e-9), candidate("b", "mondrian", 1e9, 1e12)),
        frontier(*(candidate(f"c{i}", f"method-{i}", i / 20, 1 - i / 20) for i in range(20))),
    ],
    ids=["empty", "one", "equal", "infinite", "not-applicable", "wide", "many-families"],
)
def test_extreme_frontiers_can_be_drawn(extreme: Frontier) -> None:
    parsed(frontier_chart(limited(extreme, {"privacy-loss": Limit(at_most=0.3)})))


def test_wide_ranges_are_drawn_on_a_log_scale_and_say_so() -> None:
    wide = frontier(candidate("a", "mondrian", 2.0, 0.1), candidate("b", "mondrian", 40_000.0, 0.9))
    shown = texts(frontier_chart(wide))
    assert "privacy loss (lower is better, log scale)" in shown
    assert "10,000" in shown


@pytest.mark.parametrize("name", NASTY)
def test_names_are_shown_as_they_are(name: str) -> None:
    assert name in texts(attribute_losses_chart({name: 0.4, "age": 0.1}))


@pytest.mark.parametrize("name", NASTY)
def test_ids_and_methods_are_shown_as_they_are(name: str) -> None:
    odd = frontier(candidate(name, name, 0.1, 0.2), candidate("b", "mondrian", 0.2, 0.4))
    shown = texts(frontier_chart(odd, chosen=odd.candidates[0]))
    assert name in shown
    assert f"chosen: {name}" in shown


def test_control_characters_and_length_do_no_harm() -> None:
    shown = texts(
        attribute_losses_chart({"a\x00b\x1b[31m\u202e\ud800\uffff": 0.1, "line\nbreak": 0.2, "x" * 500: 0.3})
    )
    assert "a�b�[31m���" in shown
    assert "line break" in shown
    assert any(text.startswith("xxx") and text.endswith("…") and len(text) < 40 for text in shown)


def test_attribute_losses_are_ranked_and_printed_in_percent() -> None:
    svg = attribute_losses_chart({"age": 0.126, "sex": 0.95, "race": 0.0})
    names = [text for text in texts(svg) if text in {"age", "sex", "race"}]
    assert names == ["sex", "age", "race"]
    assert {"95%", "12.6%", "0%"} <= set(texts(svg))


def test_of_many_attributes_the_largest_losses_are_drawn() -> None:
    svg = attribute_losses_chart({f"attribute-{i:03}": i / 200 for i in range(200)})
    assert "attribute-199" in texts(svg)
    assert "attribute-000" not in texts(svg)
    assert any("160 attributes with smaller losses" in text for text in texts(svg))


def test_class_sizes_reach_the_share_of_records_not_of_classes() -> None:
    svg = class_sizes_chart([2, 2, 6, 30])
    (panel,) = panels(svg)
    (line,) = panel.marks(data_claim="class-sizes")
    assert points_of(line) == [(2, 0.1), (6, 0.25), (30, 1)]
    assert corners(line)[2::2] == [pytest.approx(panel.place(*point), abs=0.006) for point in points_of(line)]
    assert panel.group.get("data-x-scale") == "log"


@pytest.mark.parametrize("sizes", [range(1, 5000), range(1000, 2000), [2**place for place in range(40)]])
def test_of_many_class_sizes_some_are_drawn_each_with_its_own_share(sizes: Sequence[int]) -> None:
    steps = dict(class_size_steps(sizes))
    assert len(steps) <= 402
    assert {min(sizes), max(sizes)} <= set(steps)
    total = sum(sizes)
    assert all(
        share == pytest.approx(sum(each for each in sizes if each <= size) / total)
        for size, share in steps.items()
    )
    gaps = [math.log(later / size) for size, later in itertools.pairwise(steps)]
    if len(sizes) > 400:
        assert max(gaps) < max(
            math.log(max(sizes) / min(sizes)) / 100, math.log((min(sizes) + 1) / min(sizes)) + 0.01
        )


@pytest.mark.parametrize("sizes", [[], [1], [45_222], [1] * 1000, [1, 10**9], range(1, 5000)])
def test_extreme_class_sizes_can_be_drawn(sizes: list[int]) -> None:
    svg = class_sizes_chart(sizes)
    parsed(svg)
    assert len(svg) < 100_000


def test_a_chart_is_one_element_without_prolog_links_or_style_sheet() -> None:
    for svg in (frontier_chart(ORDINARY), class_sizes_chart([5, 9]), attribute_losses_chart({"a": 0.5})):
        assert "<?xml" not in svg
        assert "<!DOCTYPE" not in svg
        assert "<style" not in svg
        assert svg.count("http") == 1, "only the namespace"
        assert parsed(svg).get("aria-label")
        assert not any(element.get("id") for element in parsed(svg).iter())
