"""The frontier: who dominates whom, the knee, limits, volume, and the way out to Arrow."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.registry.declarations import Better
from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Candidate
from sfumato.results.frontier import Frontier, only_made
from sfumato.results.measurement import Measurement
from sfumato.results.pareto import Limit
from sfumato.results.policy import broken_limits
from sfumato.runtime.errors import ParameterError

AXES = ("risk", "loss")
# few different values, so that ties on one axis and on all of them are common
SMALL = st.integers(0, 4).map(float)


def taken(
    name: str, value: float | None, better: Better = "lower", attribute: str | None = None
) -> Measurement:
    return Measurement(name, value, "privacy", better, attribute)


def candidate(identity: str, better: Better = "lower", **values: float | None) -> Candidate:
    measurements = tuple(taken(name, value, better) for name, value in values.items())
    return Candidate(identity, Recipe("mondrian", {"model": {"k-anonymity": {"k": 5}}}), measurements)


def front_of(*points: tuple[float | None, float | None], better: Better = "lower") -> Frontier:
    """Name the candidates a, b, c, … in the order of the points."""
    named = zip("abcdefghijklmnop", points, strict=False)
    return Frontier(tuple(candidate(name, better, risk=x, loss=y) for name, (x, y) in named), AXES)


def ids(candidates: tuple[Candidate, ...]) -> str:
    return "".join(c.id for c in candidates)


def beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    pairs = list(zip(one, other, strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)


class TestEfficient:
    def test_are_those_that_none_dominates_best_on_the_first_axis_first(self) -> None:
        assert ids(front_of((3, 0), (1, 1), (2, 2), (0, 3)).efficient()) == "dba"

    @given(st.lists(st.tuples(SMALL, SMALL), max_size=16), st.sampled_from(["lower", "higher"]))
    def test_agree_with_comparing_every_pair_whichever_way_is_better(
        self, points: list[tuple[float, float]], better: Better
    ) -> None:
        turned = [(x, y) if better == "lower" else (-x, -y) for x, y in points]
        expected = {
            name
            for name, point in zip("abcdefghijklmnop", turned, strict=False)
            if not any(beats(other, point) for other in turned)
        }
        assert set(ids(front_of(*points, better=better).efficient())) == expected

    def test_each_axis_has_its_own_direction(self) -> None:
        rows = {"a": (5, 0.3), "b": (10, 0.3), "c": (10, 0.4), "d": (2, 0.1)}
        candidates = tuple(
            Candidate(name, Recipe("as-is"), (taken("k", k, "higher"), taken("loss", loss)))
            for name, (k, loss) in rows.items()
        )
        frontier = Frontier(candidates, ("k", "loss"))
        assert (frontier.better("k"), frontier.better("loss")) == ("higher", "lower")
        assert ids(frontier.efficient()) == "bd"

    def test_ties_on_all_axes_are_all_efficient(self) -> None:
        assert ids(front_of((1, 1), (1, 1), (1, 1), (2, 1)).efficient()) == "abc"

    def test_infinite_loss_is_the_worst_and_still_efficient_when_alone_at_its_end(self) -> None:
        assert ids(front_of((0, math.inf), (1, 1), (2, math.inf)).efficient()) == "ab"

    def test_of_no_candidates_are_none(self) -> None:
        empty = Frontier((), AXES)
        assert empty.efficient() == empty.apart == empty.comparable == ()
        assert empty.knee() is None

    def test_more_than_two_axes_keep_more_candidates(self) -> None:
        candidates = (
            candidate("a", x=1, y=1, z=9),
            candidate("b", x=2, y=2, z=1),
            candidate("c", x=2, y=2, z=9),
        )
        assert ids(Frontier(candidates, ("x", "y")).efficient()) == "a"
        assert ids(Frontier(candidates, ("x", "y", "z")).efficient()) == "ab"


class TestNotApplicable:
    frontier = front_of((0, 0), (None, 0), (1, None), (2, 2), (None, None))

    def test_candidates_are_listed_apart_and_not_compared(self) -> None:
        assert ids(self.frontier.apart) == "bce"
        assert ids(self.frontier.comparable) == "ad"
        assert ids(self.frontier.efficient()) == "a"

    def test_candidates_neither_dominate_nor_are_dominated(self) -> None:
        assert self.frontier.dominated_by(self.frontier.candidates[1]) == ()
        assert ids(self.frontier.dominated_by(self.frontier.candidates[3])) == "a"

    def test_on_one_axis_leaves_the_candidate_comparable_on_others(self) -> None:
        candidates = (candidate("a", x=1, y=None, z=1), candidate("b", x=2, y=2, z=2))
        assert ids(Frontier(candidates, ("x", "z")).efficient()) == "a"
        assert ids(Frontier(candidates, ("x", "y")).efficient()) == "b"

    def test_values_have_no_knee_and_no_volume(self) -> None:
        frontier = front_of((None, 0), (None, 1))
        assert frontier.knee() is None
        assert frontier.hypervolume((1, 1)) == (0.0, (1.0, 1.0))


class TestDominatedBy:
    def test_names_every_candidate_that_is_no_worse_and_somewhere_better(self) -> None:
        frontier = front_of((0, 2), (1, 1), (2, 2), (2, 2), (2, 0))
        assert [ids(frontier.dominated_by(c)) for c in frontier.candidates] == ["", "", "abe", "abe", ""]

    @given(st.lists(st.tuples(SMALL, SMALL), min_size=1, max_size=12))
    def test_is_empty_exactly_for_the_efficient(self, points: list[tuple[float, float]]) -> None:
        frontier = front_of(*points)
        unbeaten = {c.id for c in frontier.candidates if not frontier.dominated_by(c)}
        assert unbeaten == set(ids(frontier.efficient()))


class TestKnee:
    def test_is_the_point_farthest_below_the_line_between_the_ends(self) -> None:
        knee = front_of((0, 10), (1, 4), (2, 3), (10, 0)).knee()
        assert knee is not None
        assert knee.id == "b"

    def test_does_not_depend_on_the_units_of_an_axis(self) -> None:
        points = [(0, 10), (1, 4), (2, 3), (10, 0)]
        for scale, shift in [(1e-6, 0), (1e9, 5), (3, -2)]:
            knee = front_of(*((x * scale + shift, y) for x, y in points)).knee()
            assert knee is not None
            assert knee.id == "b"

    @given(st.lists(st.tuples(st.integers(1, 99), st.integers(1, 99)), min_size=1, max_size=8, unique=True))
    def test_is_the_efficient_point_with_the_greatest_distance(self, inner: list[tuple[int, int]]) -> None:
        frontier = front_of((0.0, 100.0), (100.0, 0.0), *((float(x), float(y)) for x, y in inner))

        def distance(c: Candidate) -> float:  # from the line x + y = 100, positive towards the ideal (0, 0)
            return (100 - (c.value("risk") or 0) - (c.value("loss") or 0)) / math.sqrt(2)

        farthest = max(distance(c) for c in frontier.efficient())
        knee = frontier.knee()
        assert (knee is None) == (farthest <= 0 or len(frontier.efficient()) < 3)
        assert knee is None or distance(knee) == pytest.approx(farthest)

    @pytest.mark.parametrize(
        "points",
        [
            [],
            [(1, 1)],
            [(0, 1), (1, 0)],
            [(0, 1), (0, 1), (0, 1)],
            [(0, 1), (0, 1), (1, 0)],
            [(0, 10), (6, 6), (10, 0)],  # bulges away from the ideal point
        ],
    )
    def test_is_none_where_the_front_has_no_inner_point(self, points: list[tuple[float, float]]) -> None:
        assert front_of(*points).knee() is None

    @given(st.integers(3, 12), st.floats(0.1, 1e3), st.floats(0.1, 1e3))
    def test_is_none_on_a_straight_line(self, n: int, width: float, height: float) -> None:
        points = [(width * i / (n - 1), height * (n - 1 - i) / (n - 1)) for i in range(n)]
        assert front_of(*points).knee() is None

    def test_ignores_dominated_and_infinite_points(self) -> None:
        knee = front_of((-1, math.inf), (0, 10), (1, 4), (10, 0), (9, 9), (math.inf, -1)).knee()
        assert knee is not None
        assert knee.id == "c"

    def test_is_found_where_higher_is_better(self) -> None:
        knee = front_of((10, 0), (9, 6), (0, 10), better="higher").knee()
        assert knee is not None
        assert knee.id == "b"


class TestLimits:
    def test_within_keeps_the_candidates_that_keep_every_limit(self) -> None:
        frontier = front_of((0.1, 5), (0.2, 3), (0.3, 1))
        assert ids(frontier.within({"risk": Limit(at_most=0.2)})) == "ab"
        assert ids(frontier.within({"risk": Limit(at_most=0.2), "loss": Limit(at_most=3)})) == "b"
        assert ids(frontier.within({"loss": Limit(at_least=3)})) == "ab"
        assert ids(frontier.within({})) == "abc"

    def test_a_measure_that_does_not_apply_or_was_not_taken_keeps_no_limit(self) -> None:
        frontier = front_of((None, 1), (0.1, 1))
        assert ids(frontier.within({"risk": Limit(at_most=1)})) == "b"
        assert frontier.within({"k-anonymity": Limit(at_least=1)}) == ()
        assert not Limit().allows(None)

    def test_both_ends_are_allowed(self) -> None:
        limit = Limit(at_most=3, at_least=1)
        assert [limit.allows(value) for value in (0.99, 1, 2, 3, 3.01)] == [False, True, True, True, False]

    def test_a_rounding_error_breaks_no_limit(self) -> None:
        assert 0.1 + 0.2 > 0.3
        assert Limit(at_most=0.3).allows(0.1 + 0.2)
        assert Limit(at_least=0.3).allows(0.7 - 0.4)
        assert not Limit(at_most=0.3).allows(0.3 + 1e-9)

    def test_infinity_is_above_every_limit_that_is_set(self) -> None:
        assert not Limit(at_most=1e308).allows(math.inf)
        assert Limit(at_least=5).allows(math.inf)

    @pytest.mark.parametrize(
        ("limit", "words"),
        [
            (Limit(at_most=0.0910), "at most 0.091"),
            (Limit(at_least=5), "at least 5"),
            (Limit(at_most=3, at_least=1.5), "at least 1.5 and at most 3"),
            (Limit(at_least=1234567), "at least 1234567"),
        ],
    )
    def test_are_said_in_words_and_not_rounded(self, limit: Limit, words: str) -> None:
        assert str(limit) == words

    def test_broken_ones_are_said_in_words(self) -> None:
        limits = {"risk": Limit(at_most=0.09), "loss": Limit(at_least=3), "k-anonymity": Limit(at_least=11)}
        assert broken_limits(candidate("a", risk=1 / 3, loss=3), limits) == [
            "risk is 0.3333, must be at most 0.09",
            "k-anonymity does not apply, must be at least 11",
        ]

    def test_a_broken_one_is_never_said_to_be_kept(self) -> None:
        (words,) = broken_limits(candidate("a", risk=0.2000000001), {"risk": Limit(at_most=0.2)})
        assert words == "risk is 0.2000000001, must be at most 0.2"

    @given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
    def test_broken_and_within_agree(self, value: float, low: float, high: float) -> None:
        frontier = front_of((value, 0.0))
        limits = {"risk": Limit(at_most=high, at_least=low)}
        assert bool(frontier.within(limits)) != bool(broken_limits(frontier.candidates[0], limits))


class TestSeveralSensitiveAttributes:
    def test_the_worst_counts_whichever_way_is_better(self) -> None:
        measurements = (
            taken("risk", 0.1, attribute="diagnosis"),
            taken("risk", 0.4, attribute="income"),
            taken("diversity", 3.0, "higher", "diagnosis"),
            taken("diversity", 2.0, "higher", "income"),
        )
        both = Candidate("a", Recipe("as-is"), measurements)
        assert (both.value("risk"), both.value("diversity")) == (0.4, 2.0)
        assert Frontier((both,), ("risk", "diversity")).within({"risk": Limit(at_most=0.3)}) == ()

    def test_one_candidate_beats_another_only_by_its_worst(self) -> None:
        even = Candidate("even", Recipe("as-is"), (taken("risk", 0.3), taken("risk", 0.3), taken("loss", 1)))
        uneven = Candidate(
            "uneven", Recipe("as-is"), (taken("risk", 0.1), taken("risk", 0.4), taken("loss", 1))
        )
        assert Frontier((uneven, even), AXES).efficient() == (even,)

    def test_a_measure_that_was_not_taken_has_no_value(self) -> None:
        assert candidate("a", risk=1).value("loss") is None


class TestHypervolume:
    def test_is_the_area_between_front_and_reference(self) -> None:
        # two rectangles of 2 x 1 and 1 x 3 that share 1 x 1
        volume, reference = front_of((1, 2), (2, 0)).hypervolume((3, 3))
        assert volume == pytest.approx(2 * 1 + 1 * 3 - 1 * 1)
        assert reference == (3.0, 3.0)

    @given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=12))
    def test_counts_the_unit_squares_that_some_point_dominates(self, points: list[tuple[int, int]]) -> None:
        squares = itertools.product(range(7), repeat=2)
        expected = sum(any(x <= a and y <= b for x, y in points) for a, b in squares)
        volume, _ = front_of(*((float(x), float(y)) for x, y in points)).hypervolume((7, 7))
        assert volume == pytest.approx(expected)

    def test_takes_the_worst_values_seen_as_reference_and_says_so(self) -> None:
        volume, reference = front_of((0, 4), (1, 1), (5, 0)).hypervolume()
        assert reference == (5.0, 4.0)
        assert volume == pytest.approx(4 * 3)

    def test_gives_the_reference_in_the_units_of_the_axes_where_higher_is_better(self) -> None:
        volume, reference = front_of((2, 3), (3, 1), better="higher").hypervolume((0, 0))
        assert reference == (0.0, 0.0)
        assert volume == pytest.approx(2 * 3 + 1 * 1)
        assert front_of((2, 3), (3, 1), better="higher").hypervolume()[1] == (2.0, 1.0)

    def test_leaves_infinite_points_out(self) -> None:
        assert front_of((0, math.inf), (1, 1)).hypervolume((2, 2))[0] == pytest.approx(1)

    def test_needs_a_reference_when_nothing_is_finite(self) -> None:
        for frontier in (Frontier((), AXES), front_of((math.inf, 0)), front_of((None, 0))):
            assert frontier.hypervolume((1, 1))[0] == 0
            with pytest.raises(ParameterError, match="risk and loss; give a reference point"):
                frontier.hypervolume()

    def test_refuses_a_reference_of_another_length(self) -> None:
        with pytest.raises(ParameterError, match="one value for each of risk, loss"):
            front_of((0, 1)).hypervolume((1,))


class TestAxes:
    def test_one_that_was_not_measured_is_refused_with_the_nearest(self) -> None:
        with pytest.raises(ParameterError, match=r"^'los' was not measured; did you mean 'loss'\?$"):
            Frontier((candidate("a", risk=1, loss=1),), ("risk", "los"))

    def test_one_that_is_near_to_nothing_gets_the_whole_list(self) -> None:
        with pytest.raises(ParameterError, match="'xyzzy' was not measured; measured are loss, risk"):
            Frontier((candidate("a", risk=1, loss=1),), ("risk", "xyzzy"))

    def test_one_that_applies_to_no_candidate_is_no_error(self) -> None:
        assert ids(front_of((None, 1)).apart) == "a"


class TestArrow:
    frontier = front_of((0, math.inf), (1, 1), (2, 2), (None, 0))

    def test_has_one_row_for_each_candidate_in_order(self) -> None:
        table = pa.table(self.frontier)
        assert table.to_pydict() == {
            "id": ["a", "b", "c", "d"],
            "recipe": ["mondrian k=5"] * 4,
            "risk": [0.0, 1.0, 2.0, None],
            "loss": [math.inf, 1.0, 2.0, 0.0],
            "efficient": [True, True, False, False],
            "against the policy": [""] * 4,
        }

    def test_can_be_read_by_others_without_copies_of_ours(self) -> None:
        assert pl.DataFrame(self.frontier).filter("efficient")["id"].to_list() == ["a", "b"]

    def test_has_a_column_for_measures_that_only_some_candidates_have(self) -> None:
        table = Frontier(
            (candidate("a", risk=1, loss=1), candidate("b", risk=2, loss=0, k=5)), AXES
        ).to_arrow()
        assert table.column("k").to_pylist() == [None, 5.0]

    def test_of_no_candidates_has_no_rows(self) -> None:
        assert pa.table(Frontier((), AXES)).num_rows == 0


def test_only_made_leaves_out_what_could_not_be_made() -> None:
    made, failed = candidate("a"), Candidate("b", Recipe("as-is"), infeasible="too few records")
    assert only_made([made, failed]) == (made,)


def test_candidates_can_stand_in_sets_and_differ_by_their_measurements() -> None:
    one, other = candidate("a", risk=1), candidate("a", risk=2)
    assert len({one, candidate("a", risk=1), other}) == 2


@pytest.mark.parametrize("all_efficient", [False, True])
def test_five_thousand_candidates_have_a_front_and_a_knee(all_efficient: bool) -> None:
    generator = np.random.default_rng(7)
    xs, ys = np.sort(generator.random(5000)), generator.random(5000)
    ys = np.sort(ys)[::-1] if all_efficient else ys
    more: dict[str, Any] = {f"measure-{place}": 0.5 for place in range(8)}
    candidates = tuple(
        candidate(f"{place:04}", risk=float(x), loss=float(y), **more)
        for place, (x, y) in enumerate(zip(xs, ys, strict=True))
    )
    frontier = Frontier(candidates, AXES)
    efficient = frontier.efficient()
    assert frontier.knee() in efficient
    assert len(frontier.apart) == 0
    assert (len(efficient) == 5000) == all_efficient
    assert bool(frontier.dominated_by(candidates[-1])) == (candidates[-1] not in efficient)


def test_one_measure_with_two_sets_of_parameters_makes_two_axes() -> None:
    def both(identity: str, equal: float, js: float) -> Candidate:
        measured = (
            Measurement("t-closeness", equal, "privacy", "lower"),
            Measurement("t-closeness", js, "privacy", "lower", parameters={"distance": "js"}),
        )
        return Candidate(identity, Recipe("odd"), measured)

    candidates = (both("a", 0.1, 0.3), both("b", 0.2, 0.2))
    assert ids(Frontier(candidates, ("t-closeness",)).efficient()) == "a"
    assert ids(Frontier(candidates, ("t-closeness distance=js",)).efficient()) == "b"
    front = Frontier(candidates, ("t-closeness", "t-closeness distance=js"))
    assert ids(front.efficient()) == "ab"
    assert ids(front.within({"t-closeness distance=js": Limit(at_most=0.2)})) == "b"
    assert front.to_arrow().column("t-closeness distance=js").to_pylist() == [0.3, 0.2]
    with pytest.raises(ParameterError, match="'t-closeness distance=jss' was not measured; did you mean"):
        Frontier(candidates, ("t-closeness distance=jss",))


def test_reach_is_the_share_of_the_volume_that_a_method_covers() -> None:
    def at(identity: str, sanitizer: str, x: float, y: float) -> Candidate:
        values = {"privacy-loss": x, "general-loss": y}
        sides: dict[str, Any] = {"privacy-loss": "privacy", "general-loss": "utility"}
        taken = tuple(Measurement(name, value, sides[name], "lower") for name, value in values.items())
        return Candidate(identity, Recipe(sanitizer), taken)

    ends = (at("a", "as-is", 4, 0), at("b", "suppress-quasi-identifiers", 0, 4))
    inner = (at("c", "mondrian", 1, 2), at("d", "cut", 2, 1), at("e", "cut", 3, 3))
    reach = Frontier((*ends, *inner), ("privacy-loss", "general-loss")).reach()
    # of the square of 16, together 3 * 2 + 2 * 1
    assert reach == pytest.approx(
        {"as-is": 0, "suppress-quasi-identifiers": 0, "mondrian": 6 / 8, "cut": 6 / 8}
    )
    assert Frontier((), ("privacy-loss",)).reach() == {}
    assert Frontier(ends[:1], ("privacy-loss", "general-loss")).reach() == {"as-is": 1.0}


class TestFewAxes:
    def test_without_an_axis_every_candidate_is_efficient_and_nothing_has_a_volume(self) -> None:
        nothing = Frontier((candidate("b"), candidate("a")), ())
        assert [each.id for each in nothing.efficient()] == ["a", "b"]
        assert (nothing.knee(), nothing.reach(), nothing.apart) == (None, {}, ())
        assert nothing.to_arrow()["efficient"].to_pylist() == [True, True]
        assert repr(nothing) == "<Frontier: 2 efficient of 2 candidates on no axis>"
        with pytest.raises(ParameterError, match="has no axis"):
            nothing.hypervolume()

    @pytest.mark.parametrize("axes", [(), ("risk",)])
    def test_it_is_not_drawn_and_a_notebook_shows_its_text(self, axes: tuple[str, ...]) -> None:
        few = Frontier((candidate("a", risk=0.1),), axes)
        assert few._repr_html_().startswith("&lt;Frontier: 1 efficient of 1 candidates")
        with pytest.raises(ParameterError, match="two axes or more"):
            few.plot()
