"""The figures of the second implementation, worked by hand and against brute force."""

from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from sfumato.verification import figures
from sfumato.verification.documents import AttributeFacts, LayoutFacts
from sfumato.verification.figures import MEASURES, OneOf, Recomputed, WithinRange, recompute, recompute_claim
from sfumato.verification.levels import MODELS
from sfumato.verification.published_view import PublicView, public_view
from sfumato.verification.written_tables import FileColumn, WrittenTable

Cells = Mapping[str, Sequence[str]]


def view(quasi: Cells, sensitive: Cells | None = None, *, n_original: int | None = None) -> PublicView:
    """Return what is seen of a table with one letter for each cell."""
    told = sensitive or {}
    cells = {name: list(column) for name, column in {**quasi, **told}.items()}
    n_rows = len(next(iter(cells.values())))
    facts = {
        **{name: AttributeFacts(role="quasi-identifying") for name in quasi},
        **{name: AttributeFacts(role="sensitive") for name in told},
    }
    layout = LayoutFacts(attributes=facts, n_original=n_original or n_rows, form="one-table", group=None)
    columns = {name: FileColumn.of(column) for name, column in cells.items()}
    return public_view({"data": WrittenTable(columns, np.ones(n_rows, dtype=np.int64))}, layout)


def figure(measure: str, seen: PublicView, **given: Any) -> Recomputed:
    (found,) = recompute(MEASURES[measure], seen, {name.replace("_", "-"): v for name, v in given.items()})
    return found


# classes of 1, 2 and 5 records
SIZES = view({"age": "abbccccc"})
OF_TEN = view({"age": "abbccccc"}, n_original=10)


class TestClasses:
    def test_the_risk_is_that_of_the_smallest_class(self) -> None:
        found = figure("reidentification-risk", SIZES, threshold=0.2)
        assert found.value == 1
        # 1/5 is at the threshold, on whichever side rounding puts it
        assert found.detail == {"average": 3 / 8, "share-at-risk": WithinRange(3 / 8, 1), "uniques": 1}
        assert figure("reidentification-risk", SIZES, threshold=0.3).detail["share-at-risk"] == WithinRange(
            3 / 8, 3 / 8
        )
        assert figure("reidentification-risk", view({"age": "aabbb"}), threshold=0.4).value == 1 / 2

    def test_a_journalist_does_not_know_who_is_in_the_table(self) -> None:
        found = figure("journalist-risk", SIZES, population=None, population_size=80, threshold=0.05)
        assert found.value == 1 / 10
        assert found.detail["smallest"] == 10
        assert found.detail["average"] == pytest.approx(3 / 80)
        assert found.detail["share-at-risk"] == WithinRange(1 / 8, 3 / 8)
        unknown = figure("journalist-risk", SIZES, population=None, population_size=None, threshold=0.05)
        assert unknown.value is None
        assert "population" in unknown.detail["reason"]

    def test_the_population_is_compared_with_the_original(self) -> None:
        # 10 original records of 100 people: each stands for 10
        found = figure("journalist-risk", OF_TEN, population=None, population_size=100, threshold=1)
        assert found.value == 1 / 10
        same = figure("journalist-risk", OF_TEN, population=None, population_size=10, threshold=1)
        assert same.value == 1
        with pytest.raises(ValueError, match="smaller than the table"):
            figure("journalist-risk", OF_TEN, population=None, population_size=9, threshold=1)

    def test_a_marketer_matches_one_record_of_each_class(self) -> None:
        found = figure("marketer-risk", SIZES, population=None, population_size=None)
        assert (found.value, found.detail) == (3 / 8, {"matched": 3})
        found = figure("marketer-risk", SIZES, population=None, population_size=80)
        assert found.value == pytest.approx(3 / 80)
        assert found.detail["matched"] == pytest.approx(0.3)

    @pytest.mark.parametrize("size", [None, 80])
    @pytest.mark.parametrize("measure", ["journalist-risk", "marketer-risk"])
    def test_nothing_is_computed_of_a_population_that_is_not_published(
        self, measure: str, size: int | None
    ) -> None:
        with pytest.raises(ValueError, match="not published"):
            figure(measure, SIZES, population="people.csv", population_size=size, threshold=0.05)

    def test_weighted_k_is_the_class_size_of_the_average_record(self) -> None:
        found = figure("weighted-k", SIZES)
        assert found.value == statistics.mean([1, 2, 2, 5, 5, 5, 5, 5])
        percentiles = {"percentile-5": 1, "percentile-25": 2, "percentile-50": 5}
        assert found.detail == {
            "classes": 3,
            "smallest": 1,
            **percentiles,
            "percentile-75": 5,
            "percentile-95": 5,
            "largest": 5,
        }

    def test_a_percentile_is_reached_by_exactly_so_many_records(self) -> None:
        # a quarter of the four records is in the class of one
        detail = figure("weighted-k", view({"age": "abbb"})).detail
        assert (detail["percentile-25"], detail["percentile-50"]) == (1, 3)

    @pytest.mark.parametrize("percent", [5, 25, 50, 75, 95])
    def test_a_percentile_is_that_of_the_single_records(self, percent: int) -> None:
        for n_small, n_large in itertools.product(range(1, 25), (1, 2, 19)):
            records = [0.5] * n_small + [2.0] * n_large
            sizes = np.array([n_large, n_small])
            found = figures._percentile(np.array([2.0, 0.5]), sizes, percent)
            assert found == records[-(-percent * len(records) // 100) - 1]

    def test_what_was_left_out(self) -> None:
        found = figure("suppression-loss", OF_TEN)
        assert (found.value, found.detail) == (2 / 10, {"suppressed": 2, "records": 10})
        assert figure("suppression-loss", SIZES).value == 0

    def test_a_suppressed_record_is_like_all_others(self) -> None:
        assert figure("discernibility", SIZES).value == 1 + 4 + 25
        assert figure("discernibility", OF_TEN).value == 1 + 4 + 25 + 2 * 10

    def test_the_average_class_is_compared_with_k(self) -> None:
        found = figure("average-class-size", OF_TEN, k=2)
        assert (found.value, found.detail) == (8 / 3 / 2, {"classes": 3})

    @pytest.mark.parametrize(("measure", "given"), [("discernibility", {}), ("average-class-size", {"k": 2})])
    def test_no_loss_where_sensitive_values_are_withheld(self, measure: str, given: dict[str, int]) -> None:
        withheld = figure(measure, view({"age": "aab"}, {"job": "xyz", "ill": "***"}), **given)
        assert withheld.value is None
        assert "'ill' is withheld" in withheld.detail["reason"]
        assert figure(measure, view({"age": "aab"}, {"ill": "**x"}), **given).value is not None

    @pytest.mark.parametrize(("measure", "given"), [("discernibility", {}), ("average-class-size", {"k": 2})])
    def test_no_loss_where_sensitive_values_are_exchanged(self, measure: str, given: dict[str, int]) -> None:
        exchanged = figure(measure, replace(view({"age": "aab"}, {"ill": "xyz"}), has_groups=True), **given)
        assert exchanged.value is None
        assert "are exchanged within groups" in exchanged.detail["reason"]


class TestGroups:
    # a: x x y, b: y y
    SEEN = view({"age": "aaabb"}, {"ill": "xxyyy"})

    def test_accuracy_is_compared_with_the_best_guess(self) -> None:
        found = figure("accuracy-gain", self.SEEN)
        assert found.value == pytest.approx(4 / 5 - 3 / 5)
        assert (found.attribute, found.baseline, found.detail) == ("ill", 3 / 5, {"accuracy": 4 / 5})

    def test_knowledge_is_the_distance_of_the_average_record(self) -> None:
        found = figure("knowledge-gain", self.SEEN)
        # 2/3 - 2/5 = 4/15 in a, 2/5 in b
        assert found.value == pytest.approx((3 * 4 / 15 + 2 * 2 / 5) / 5)
        assert found.detail == {"worst": pytest.approx(2 / 5)}

    def test_the_loss_of_privacy_is_the_divergence_of_the_worst_group(self) -> None:
        in_a, in_b = (jensenshannon(own, [2 / 5, 3 / 5]) ** 2 for own in ([2 / 3, 1 / 3], [0, 1]))
        found = figure("privacy-loss", self.SEEN, distance="js", threshold=in_a + 0.001)
        assert found.value == pytest.approx(in_b)
        assert found.detail["mean"] == pytest.approx((3 * in_a + 2 * in_b) / 5)
        assert found.detail["percentile-95"] == pytest.approx(in_b)
        assert found.detail["share-at-risk"] == WithinRange(2 / 5, 2 / 5)
        assert figure("privacy-loss", self.SEEN, distance="js", threshold=0).detail[
            "share-at-risk"
        ] == WithinRange(1, 1)

    @pytest.mark.parametrize(("n_bad", "is_worst"), [(1, False), (3, True)])
    def test_95_of_100_records_lose_no_more(self, n_bad: int, is_worst: bool) -> None:
        """One bad record of 20 is left out, three of 50 are not."""
        n_good = 19 if n_bad == 1 else 47
        seen = view({"age": "a" * n_good + "b" * n_bad}, {"ill": ("xy" * 24)[:n_good] + "y" * n_bad})
        found = figure("privacy-loss", seen, distance="js", threshold=0.5)
        assert (found.detail["percentile-95"] == found.value) is is_worst

    def test_a_quotient_is_infinite_where_a_value_is_ruled_out(self) -> None:
        found = figure("disclosure-quotient", self.SEEN)
        assert found.value == math.inf
        # y has 1/3 instead of 3/5
        assert found.detail["largest-finite"] == pytest.approx(math.log(9 / 5))
        assert found.detail["share-ruled-out"] == 2 / 5
        everywhere = figure("disclosure-quotient", view({"age": "aaabb"}, {"ill": "xxyxy"}))
        assert everywhere.value == everywhere.detail["largest-finite"] == pytest.approx(math.log(5 / 4))
        assert everywhere.detail["share-ruled-out"] == 0

    def test_what_is_learned_is_what_uncertainty_lost(self) -> None:
        """The mean relative entropy is the mutual information."""
        found = figure("information-gain", self.SEEN)
        whole = -sum(p * math.log(p) for p in (2 / 5, 3 / 5))
        left = 3 / 5 * -sum(p * math.log(p) for p in (2 / 3, 1 / 3))
        assert found.detail == {"entropy": pytest.approx(whole), "remaining-entropy": pytest.approx(left)}
        assert found.value == pytest.approx(whole - left)

    def test_nothing_is_learned_of_one_value(self) -> None:
        found = figure("information-gain", view({"age": "aab"}, {"ill": "xxx"}))
        assert found.detail["entropy"] == 0

    def test_each_sensitive_attribute_has_a_figure_of_its_own(self) -> None:
        seen = view({"age": "aabb"}, {"ill": "xyxy", "job": "xxyy"})
        found = recompute(MEASURES["knowledge-gain"], seen, {})
        assert [(each.attribute, each.value) for each in found] == [("ill", 0), ("job", 0.5)]

    @pytest.mark.parametrize(
        "measure", ["knowledge-gain", "privacy-loss", "t-closeness", "distinct-diversity"]
    )
    def test_without_a_sensitive_attribute_nothing_applies(self, measure: str) -> None:
        found = figure(measure, SIZES, threshold=0.1, distance="equal", t=0.1, l=2)
        assert (found.value, found.detail) == (None, {"reason": "the release has no sensitive attribute"})
        assert figure("k-anonymity", SIZES, k=2).value == 1

    def test_a_level_is_told_with_its_parameters_but_for_the_limit(self) -> None:
        found = figure("t-closeness", self.SEEN, t=0.1, distance="equal")
        assert found.value == pytest.approx(2 / 5)
        assert found.detail == {"distance": "equal"}


class TestWhatMayBeClaimed:
    @pytest.mark.parametrize(
        ("release_type", "reason"),
        [
            ("perturbed", "it takes released values for true ones, and values were changed"),
            ("synthetic", "it takes each record for a person's, and the records are made up"),
        ],
    )
    def test_no_class_of_rows_that_are_not_people(self, release_type: str, reason: str) -> None:
        (found,) = recompute_claim(MEASURES["k-anonymity"], replace(SIZES, type=release_type), {})
        assert (found.value, found.detail) == (None, {"reason": reason})
        assert recompute_claim(MEASURES["k-anonymity"], SIZES, {})[0].value == 1

    def test_changed_values_can_be_left_out_and_made_up_ones_cannot(self) -> None:
        loss = MEASURES["suppression-loss"]
        assert recompute_claim(loss, replace(OF_TEN, type="perturbed"), {})[0].value == 2 / 10
        assert recompute_claim(loss, replace(OF_TEN, type="synthetic"), {})[0].value is None

    @pytest.mark.parametrize(("ills", "problem"), [("xxyyy", "divide"), ("xyxyx", "invalid")])
    def test_a_figure_that_nothing_can_be_divided_by_is_an_error(self, ills: str, problem: str) -> None:
        # logarithms to the base 1: a quotient, or the one of a group that is like all, divided by 0
        seen = view({"age": "aaabb" if problem == "divide" else "aaaaa"}, {"ill": ills})
        with pytest.raises(FloatingPointError, match=problem):
            figure("delta-disclosure", seen, delta=1.0, base=1.0, absent="ignored")


# What is said of each measure in docs/definitions.md, but for the models.
DECLARED: dict[str, tuple[str, str, set[str]]] = {
    "reidentification-risk": ("privacy", "lower", {"threshold"}),
    "journalist-risk": ("privacy", "lower", {"population", "population-size", "threshold"}),
    "marketer-risk": ("privacy", "lower", {"population", "population-size"}),
    "weighted-k": ("privacy", "higher", set()),
    "quasi-identifier-contribution": ("privacy", "lower", {"permutations"}),
    "privacy-loss": ("privacy", "lower", {"threshold", "distance"}),
    "knowledge-gain": ("privacy", "lower", set()),
    "accuracy-gain": ("privacy", "lower", set()),
    "disclosure-quotient": ("privacy", "lower", set()),
    "information-gain": ("privacy", "lower", set()),
    "suppression-loss": ("utility", "lower", set()),
    "discernibility": ("utility", "lower", set()),
    "average-class-size": ("utility", "lower", {"k"}),
}


def test_what_is_known_of_a_measure() -> None:
    own = {name: known for name, known in MEASURES.items() if name not in MODELS}
    assert {name: (known.axis, known.better, {*known.parameters}) for name, known in own.items()} == DECLARED
    for name, model in MODELS.items():
        level = MEASURES[name]
        assert (level.axis, level.better, level.parameters) == ("privacy", model.better, model.parameters)


def shapley(quasi: Cells) -> dict[str, Fraction]:
    """Return what each column adds to the classes per record, over all orders, record by record."""
    n_records = len(next(iter(quasi.values())))
    orders = list(itertools.permutations(quasi))

    def n_classes(names: Sequence[str]) -> int:
        return len({tuple(quasi[name][row] for name in names) for row in range(n_records)})

    added: Counter[str] = Counter()
    for order in orders:
        for place, name in enumerate(order):
            added[name] += n_classes(order[: place + 1]) - n_classes(order[:place])
    return {name: Fraction(added[name], len(orders) * n_records) for name in quasi}


class TestContribution:
    QUASI: ClassVar[Cells] = {"age": "aabbccd", "sex": "mfmfmfm", "zip": "1111223"}

    def test_what_a_quasi_identifier_adds_is_its_shapley_value(self) -> None:
        found = figure("quasi-identifier-contribution", view(self.QUASI), permutations=10)
        expected = shapley(self.QUASI)
        assert found.detail["contribution"] == pytest.approx({name: float(v) for name, v in expected.items()})
        assert found.value == pytest.approx(float(max(expected.values())))
        assert found.detail["coarsen-first"] == OneOf(frozenset({"age"}))
        assert found.detail["average"] == 1
        assert found.interval is None

    def test_a_tie_leaves_open_what_to_coarsen_first(self) -> None:
        # every pair occurs once: 1 or 2 classes more, 1.5 on average, of 4 records
        found = figure("quasi-identifier-contribution", view({"a": "0011", "b": "0101"}), permutations=10)
        assert found.detail["contribution"] == {"a": 0.375, "b": 0.375}
        assert found.detail["coarsen-first"] == OneOf(frozenset({"a", "b"}))

    def test_what_withholding_one_would_leave(self) -> None:
        seen = view({"age": "aabb", "sex": "mfmm"}, {"ill": "xyxx", "job": "uuuv"})
        detail = figure("quasi-identifier-contribution", seen, permutations=10).detail
        assert detail["average-without"] == {"age": 2 / 4, "sex": 2 / 4}
        halves = {
            # without age: m has x x x and u u v, f has y and u
            "age": [("ill", [1, 0], 3), ("ill", [0, 1], 1), ("job", [2 / 3, 1 / 3], 3), ("job", [1, 0], 1)],
            "sex": [
                ("ill", [1 / 2, 1 / 2], 2),
                ("ill", [1, 0], 2),
                ("job", [1, 0], 2),
                ("job", [1 / 2, 1 / 2], 2),
            ],
        }
        for name, parts in halves.items():
            losses = [(told, jensenshannon(own, [3 / 4, 1 / 4]) ** 2, n) for told, own, n in parts]
            assert detail["privacy-loss-without"][name] == pytest.approx(max(loss for _, loss, _ in losses))
            means = [sum(loss * n for told, loss, n in losses if told == each) / 4 for each in ("ill", "job")]
            assert detail["mean-privacy-loss-without"][name] == pytest.approx(max(means))

    def test_without_sensitive_attributes_only_the_risk_is_told(self) -> None:
        detail = figure("quasi-identifier-contribution", view(self.QUASI), permutations=10).detail
        assert set(detail) == {"coarsen-first", "average", "contribution", "average-without"}

    def test_without_quasi_identifiers_nothing_applies(self) -> None:
        found = figure("quasi-identifier-contribution", view({}, {"ill": "xy"}), permutations=10)
        assert (found.value, found.detail) == (None, {"reason": "the release has no quasi-identifier"})

    def test_many_columns_are_sampled_with_an_interval(self) -> None:
        # of eight columns every order is taken: a tells four classes, b two of them, and the others nothing;
        # a adds 3 before b and 2 after it, b 1 or 0
        quasi = {"a": "0123", "c": "xxxx", "b": "0011"} | {f"q{place}": "xxxx" for place in range(5)}
        found = figure("quasi-identifier-contribution", view(quasi), permutations=1)
        assert found.interval is None
        assert found.detail["contribution"] == {**dict.fromkeys(quasi, 0), "a": 2.5 / 4, "b": 0.5 / 4}
        # nine equal columns: the first of an order adds everything, and each is the first once in a round
        alike = {f"q{place}": "abcd" for place in range(9)}
        found = figure("quasi-identifier-contribution", view(alike), permutations=1)
        assert found.detail["contribution"] == pytest.approx(dict.fromkeys(alike, 3 / 9 / 4))
        assert found.interval == pytest.approx((3 / 36, 3 / 36))

    @pytest.mark.parametrize(("permutations", "n_rounds"), [(1, 2), (26, 2), (40, 4)])
    def test_the_interval_is_2_1_standard_errors_wide_on_either_side(
        self, permutations: int, n_rounds: int
    ) -> None:
        quasi = {f"q{place}": [str(row * (place + 2) % 5) for row in range(20)] for place in range(9)}
        seen = view(quasi)
        sampled = figure("quasi-identifier-contribution", seen, permutations=permutations)
        low, high = sampled.interval
        assert (low + high) / 2 == pytest.approx(sampled.value)
        # rounds of nine orders, drawn as the documentation says
        rng, rounds = np.random.default_rng(0), []
        largest = max(sampled.detail["contribution"], key=sampled.detail["contribution"].get)
        for _ in range(n_rounds):
            drawn = [f"q{place}" for place in rng.permutation(9)]
            each = []
            for shift in range(9):
                order = drawn[9 - shift :] + drawn[: 9 - shift]
                ahead = order[: order.index(largest)]
                each.append(n_classes(quasi, [*ahead, largest]) - n_classes(quasi, ahead))
            rounds.append(statistics.mean(each) / 20)
        assert sampled.value == pytest.approx(statistics.mean(rounds))
        error = statistics.stdev(rounds) / math.sqrt(len(rounds))
        assert (high - low) / 2 == pytest.approx(2.1 * error)

    def test_so_many_orders_that_it_would_never_end_are_refused(self) -> None:
        seen = view({f"q{place}": "ab" for place in range(9)})
        with pytest.raises(ValueError, match="would never end"):
            figure("quasi-identifier-contribution", seen, permutations=100_001)
        assert next(figures._orders(9, 100_000))

    def test_orders_are_a_number_even_where_none_is_drawn(self) -> None:
        with pytest.raises(ValueError, match="no order at all"):
            figure("quasi-identifier-contribution", SIZES, permutations=0)
        with pytest.raises(TypeError):
            figure("quasi-identifier-contribution", SIZES, permutations="many")
        assert figure("quasi-identifier-contribution", SIZES, permutations=1).value == 2 / 8

    def test_one_quasi_identifier_adds_every_class_but_the_first(self) -> None:
        found = figure("quasi-identifier-contribution", SIZES, permutations=10)
        assert (found.value, found.detail["average-without"]) == (2 / 8, {"age": 1 / 8})


def n_classes(quasi: Cells, names: Sequence[str]) -> int:
    rows = range(len(next(iter(quasi.values()))))
    return len({tuple(quasi[name][row] for name in names) for row in rows})
