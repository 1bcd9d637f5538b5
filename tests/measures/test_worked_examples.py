"""Small tables worked by hand: risks, gains, losses of records, and what each quasi-identifier adds."""

from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from sfumato import Attribute, Hierarchy, Schema, Table, measure, sanitize
from sfumato.data.equivalence_classes import SensitiveCounts
from sfumato.measures import (
    AverageClassSize,
    InformationGain,
    JournalistRisk,
    MarketerRisk,
    Measurement,
    PrivacyLoss,
    QuasiIdentifierContribution,
    ReidentificationRisk,
)
from sfumato.measures.identity.reidentification import class_sizes
from sfumato.models import DistinctDiversity, KAnonymity
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.measurement import build_measure
from sfumato.results.released_column import Cells as ReleasedCells
from sfumato.results.released_column import ValueSets
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers import (
    AsIs,
    Bucketize,
    FullDomain,
    Laplace,
    Mondrian,
    SuppressQuasiIdentifiers,
    SuppressSensitive,
)

Cells = Mapping[str, Sequence[str]]


def release_of(quasi: Cells, sensitive: Cells | None = None, how: Any = None) -> LinkedRelease:
    """Return a release of a table with one letter for each cell, as it is unless told otherwise."""
    told = sensitive or {}
    table = Table.from_arrow({name: list(column) for name, column in {**quasi, **told}.items()})
    roles: dict[str, Any] = {**dict.fromkeys(quasi, "quasi-identifying"), **dict.fromkeys(told, "sensitive")}
    return sanitize(table, Schema.of(**roles), how or AsIs())


def released_as(
    release: LinkedRelease, name: str, codes: Sequence[int], sets: Mapping[str, Sequence[int]]
) -> LinkedRelease:
    """Return a release with other cells in one column, without the recipe that made it."""
    sizes = [len(members) for members in sets.values()]
    starts, members = np.cumsum([0, *sizes]), np.concatenate([*sets.values()])
    domain = release.origin.table[name].domain
    meant = ValueSets(starts, members, np.array(sizes), len(domain))
    cells = ReleasedCells(np.array(codes), tuple(sets), domain, meant)
    return replace(release, cells={**release.cells, name: cells}, recipe=None)


def figure(release: LinkedRelease, asked: Any) -> Measurement:
    (found,) = measure(release, [asked])
    return found


# classes of 1, 2 and 5 records; the one of 1 is left out of the second release
SIZES = release_of({"age": "abbccccc"})
LEFT_OUT = release_of({"age": "abbccccc"}, how=FullDomain({"age": 0}, KAnonymity(2), suppression=0.5))


class TestRisks:
    def test_the_prosecutor(self) -> None:
        found = figure(SIZES, ReidentificationRisk(0.2))
        assert (found.value, found.axis, found.better) == (1, "privacy", "lower")
        # a risk of exactly the threshold is not above it
        assert found.detail == {"average": 3 / 8, "share-at-risk": 3 / 8, "uniques": 1}
        assert figure(SIZES, ReidentificationRisk(0.19)).detail["share-at-risk"] == 1
        found = figure(LEFT_OUT, ReidentificationRisk())
        assert (found.value, found.detail["uniques"]) == (1 / 2, 0)

    def test_the_journalist(self) -> None:
        found = figure(SIZES, JournalistRisk(population_size=80, threshold=0.05))
        assert found.value == 1 / 10
        assert found.detail == {"average": pytest.approx(3 / 80), "share-at-risk": 1 / 8, "smallest": 10}
        # the population is compared with the original, of whom one was left out
        assert figure(LEFT_OUT, JournalistRisk(population_size=80)).value == 1 / 20
        assert figure(SIZES, JournalistRisk(population_size=8)).value == 1
        unknown = figure(SIZES, JournalistRisk())
        assert (unknown.value, unknown.applicable) == (None, False)
        assert "population" in unknown.detail["reason"]
        with pytest.raises(ParameterError, match="below the table's 8 records"):
            figure(SIZES, JournalistRisk(population_size=7))

    def test_the_marketer(self) -> None:
        found = figure(SIZES, MarketerRisk())
        assert (found.value, found.detail) == (3 / 8, {"matched": 3})
        found = figure(SIZES, MarketerRisk(population_size=80))
        assert found.value == pytest.approx(3 / 80)
        assert found.detail["matched"] == pytest.approx(0.3)

    def test_people_of_a_population_are_counted(self, tmp_path: Path) -> None:
        # of a there are 4 people, of b 2, of c 10
        (tmp_path / "people.csv").write_text("age\n" + "a\n" * 4 + "b\n" * 2 + "c\n" * 10, "utf-8")
        found = figure(SIZES, JournalistRisk(str(tmp_path / "people.csv"), threshold=0.3))
        assert found.value == 1 / 2
        assert found.detail["average"] == pytest.approx((1 / 4 + 2 / 2 + 5 / 10) / 8)
        assert (found.detail["share-at-risk"], found.detail["smallest"]) == (2 / 8, 2)

    def test_what_makes_no_sense_is_refused(self) -> None:
        for threshold in (-0.01, 1.01, math.nan):
            with pytest.raises(ParameterError, match=r"^threshold must be"):
                ReidentificationRisk(threshold)
            with pytest.raises(ParameterError, match=r"^threshold must be"):
                JournalistRisk(threshold=threshold)
        assert (ReidentificationRisk(0).threshold, ReidentificationRisk(1).threshold) == (0, 1)
        with pytest.raises(ParameterError, match=r"^population-size must be at least 1"):
            MarketerRisk(population_size=0)
        assert MarketerRisk(population_size=1).population_size == 1
        with pytest.raises(ParameterError, match="not both"):
            MarketerRisk("people.csv", 10)

    def test_a_reader_without_the_population_cannot_recompute_it(self) -> None:
        assert MarketerRisk("people.csv").requires == "original"
        assert MarketerRisk(population_size=9).requires == MarketerRisk().requires == "release"

    def test_the_class_of_the_average_record(self) -> None:
        found = figure(SIZES, "weighted-k")
        assert (found.value, found.better) == (statistics.mean([1, 2, 2, 5, 5, 5, 5, 5]), "higher")
        assert found.detail == {
            "classes": 3,
            "smallest": 1,
            "largest": 5,
            "percentile-5": 1,
            "percentile-25": 2,
            "percentile-50": 5,
            "percentile-75": 5,
            "percentile-95": 5,
        }

    def test_a_percentile_is_reached_by_exactly_so_many_records(self) -> None:
        detail = figure(release_of({"age": "abbb"}), "weighted-k").detail
        assert (detail["percentile-25"], detail["percentile-50"]) == (1, 3)

    def test_sizes_are_counted(self) -> None:
        assert [tuple(each) for each in class_sizes(release_of({"age": "abbccd"}))] == [(1, 2, 2), (2, 2, 4)]


class TestGains:
    # a: x x y, b: y y
    RELEASE = release_of({"age": "aaabb"}, {"ill": "xxyyy"})

    def test_accuracy_is_compared_with_the_best_guess(self) -> None:
        found = figure(self.RELEASE, "accuracy-gain")
        assert found.value == pytest.approx(4 / 5 - 3 / 5)
        assert (found.attribute, found.baseline, found.detail) == ("ill", 3 / 5, {"accuracy": 4 / 5})
        assert (found.axis, found.better) == ("privacy", "lower")

    def test_knowledge_is_the_distance_of_the_average_record(self) -> None:
        found = figure(self.RELEASE, "knowledge-gain")
        assert found.value == pytest.approx((3 * 4 / 15 + 2 * 2 / 5) / 5)
        assert found.detail == {"worst": pytest.approx(2 / 5)}

    def test_privacy_is_lost_in_the_worst_group(self) -> None:
        in_a, in_b = (jensenshannon(own, [2 / 5, 3 / 5]) ** 2 for own in ([2 / 3, 1 / 3], [0, 1]))
        found = figure(self.RELEASE, PrivacyLoss(in_a + 0.001))
        assert found.value == pytest.approx(in_b)
        assert found.detail == pytest.approx(
            {"mean": (3 * in_a + 2 * in_b) / 5, "percentile-95": in_b, "share-at-risk": 2 / 5}
        )
        assert figure(self.RELEASE, PrivacyLoss(0)).detail["share-at-risk"] == 1
        # where nothing is lost nobody is at risk, not even at a threshold of 0
        alike = release_of({"age": "aabb"}, {"ill": "xyxy"})
        assert figure(alike, PrivacyLoss(0)).detail["share-at-risk"] == 0

    @pytest.mark.parametrize(("n_bad", "is_worst"), [(1, False), (3, True)])
    def test_95_of_100_records_lose_no_more(self, n_bad: int, is_worst: bool) -> None:
        """One bad record of 20 is left out, three of 50 are not."""
        n_good = 19 if n_bad == 1 else 47
        release = release_of({"age": "a" * n_good + "b" * n_bad}, {"ill": ("xy" * 24)[:n_good] + "y" * n_bad})
        found = figure(release, "privacy-loss")
        assert (found.detail["percentile-95"] == found.value) is is_worst

    def test_a_value_that_nobody_has_adds_no_uncertainty(self) -> None:
        counts = SensitiveCounts(
            np.array([0, 2]), np.array([0, 1], np.int32), np.array([1, 1]), np.array([0.5, 0.5, 0.0])
        )
        value, facts = InformationGain().of_counts(counts, self.RELEASE)
        assert (value, facts["detail"]["entropy"]) == pytest.approx((0, math.log(2)))

    def test_a_threshold_is_not_negative(self) -> None:
        for threshold in (-0.01, math.nan):
            with pytest.raises(ParameterError, match=r"^threshold must be"):
                PrivacyLoss(threshold)

    def test_a_quotient_is_infinite_where_a_value_is_ruled_out(self) -> None:
        found = figure(self.RELEASE, "disclosure-quotient")
        assert found.value == math.inf
        assert found.detail == {"largest-finite": pytest.approx(math.log(9 / 5)), "share-ruled-out": 2 / 5}
        everywhere = figure(release_of({"age": "aaabb"}, {"ill": "xxyxy"}), "disclosure-quotient")
        assert everywhere.value == everywhere.detail["largest-finite"] == pytest.approx(math.log(5 / 4))
        assert everywhere.detail["share-ruled-out"] == 0

    def test_what_is_learned_is_what_uncertainty_lost(self) -> None:
        """The mean relative entropy is the mutual information."""
        found = figure(self.RELEASE, "information-gain")
        whole = -sum(p * math.log(p) for p in (2 / 5, 3 / 5))
        left = 3 / 5 * -sum(p * math.log(p) for p in (2 / 3, 1 / 3))
        assert found.detail == pytest.approx({"entropy": whole, "remaining-entropy": left})
        assert found.value == pytest.approx(whole - left)

    def test_each_sensitive_attribute_has_a_figure_of_its_own(self) -> None:
        release = release_of({"age": "aabb"}, {"ill": "xyxy", "job": "xxyy"})
        found = measure(release, ["knowledge-gain"])
        assert [(each.attribute, each.value) for each in found] == [("ill", 0), ("job", 0.5)]

    def test_readers_can_compute_them(self) -> None:
        for name in ("knowledge-gain", "privacy-loss", "accuracy-gain"):
            asked = build_measure(name)
            assert (asked.requires, asked.guards) == ("release", "attribute")

    @pytest.mark.parametrize("name", ["knowledge-gain", "privacy-loss", "t-closeness"])
    def test_without_a_sensitive_attribute_nothing_applies(self, name: str) -> None:
        found = figure(SIZES, name)
        assert (found.value, found.better) == (None, "lower")
        assert found.detail == {"reason": "the release has no sensitive attribute"}


def test_figures_survive_json() -> None:
    detail = {"a": {"b": math.inf, "c": -math.inf}, "d": 1.5}
    taken = Measurement("own", -math.inf, "privacy", "lower", interval=(0.0, math.inf), detail=detail)
    written = taken.to_dict()
    assert written["value"] == "-Infinity"
    assert written["detail"] == {"a": {"b": "Infinity", "c": "-Infinity"}, "d": 1.5}
    assert Measurement.from_dict(written) == taken


class TestLosses:
    def test_records_that_were_left_out(self) -> None:
        found = figure(LEFT_OUT, "suppression-loss")
        assert (found.value, found.detail) == (1 / 8, {"suppressed": 1, "records": 8})
        assert (found.axis, found.better) == ("utility", "lower")

    def test_a_suppressed_record_is_like_all_others(self) -> None:
        assert figure(SIZES, "discernibility").value == 1 + 4 + 25
        assert figure(LEFT_OUT, "discernibility").value == 4 + 25 + 8

    def test_the_average_class_is_compared_with_k(self) -> None:
        found = figure(LEFT_OUT, AverageClassSize(k=2))
        assert (found.value, found.detail) == (7 / 2 / 2, {"classes": 2})
        assert figure(LEFT_OUT, "average-class-size").value == 7 / 2
        with pytest.raises(ParameterError, match=r"^k must be at least 1"):
            AverageClassSize(k=0)

    def test_a_cell_loses_by_how_much_of_the_domain_it_covers(self) -> None:
        """(size - 1) / (domain - 1) of each cell: a town in a country of two of three towns loses a half."""
        tree = Hierarchy.nested({"north": ["A", "B"], "south": ["C"]})
        schema = Schema(
            (
                Attribute("town", "quasi-identifying", hierarchy=tree, weight=3),
                Attribute("sex", "quasi-identifying", weight=1),
            )
        )
        table = Table.from_arrow({"town": list("AABC"), "sex": list("mfmf")})
        release = sanitize(table, schema, FullDomain({"town": 1}, KAnonymity(1)))
        found = figure(release, "general-loss")
        assert found.detail == {"town": 3 / 4 * 1 / 2, "sex": 0}
        assert found.value == pytest.approx((3 * 3 / 8 + 1 * 0) / 4)
        assert figure(release, "precision").value == pytest.approx(1 - (1 / 2 + 0) / 2)
        assert figure(release, "precision").detail == {"town": 1, "sex": 0}
        # of four records one is left out: its cells are lost as a whole
        fewer = sanitize(table, schema, FullDomain({"town": 1, "sex": 1}, KAnonymity(2), suppression=0.5))
        total = figure(fewer, "total-loss")
        assert total.detail["general-loss"] == pytest.approx((3 * 3 / 8 + 1 * 3 / 4) / 4)
        assert total.detail["suppression-loss"] == 1 / 4
        assert total.value == pytest.approx((3 * 3 / 8 + 1 * 3 / 4) / 4 + 1 / 4)
        assert total.detail["by-attribute"] == pytest.approx({"town": 3 / 8 + 1 / 4, "sex": 3 / 4 + 1 / 4})

    def test_weights_are_shares_of_their_sum(self) -> None:
        schema = Schema(
            (
                Attribute("age", "quasi-identifying", weight=0.3),
                Attribute("sex", "quasi-identifying", weight=0.1),
            )
        )
        table = Table.from_arrow({"age": list("aabb"), "sex": list("mfmf")})
        release = sanitize(table, schema, FullDomain({"age": 1}, KAnonymity(1)))
        assert figure(release, "general-loss").value == pytest.approx(3 / 4)

    def test_levels_are_seen_in_the_cells_where_no_recipe_names_them(self) -> None:
        tree = Hierarchy.nested({"north": ["A", "B"], "south": ["C", "D"]})
        schema = Schema((Attribute("town", "quasi-identifying", hierarchy=tree),))
        table = Table.from_arrow({"town": list("AABCD")})
        for level in (0, 1, 2):
            release = sanitize(table, schema, FullDomain({"town": level}, KAnonymity(1)))
            seen = figure(replace(release, recipe=None), "precision")
            assert (seen.value, seen.detail) == (1 - level / 2, {"town": level})
            assert figure(release, "precision").detail == {"town": level}

    def test_a_release_that_is_on_no_level_has_no_precision(self) -> None:
        tree = Hierarchy.nested({"north": ["A", "B"], "south": ["C", "D"]})
        schema = Schema((Attribute("town", "quasi-identifying", hierarchy=tree),))
        # A and B together, C by itself: half a level
        table = Table.from_arrow({"town": list("ABCCDD")})
        release = sanitize(table, schema, Mondrian(KAnonymity(2)))
        assert len(release.classes.sizes) == 3
        found = figure(release, "precision")
        assert found.value is None
        assert "is not on one level of its hierarchy" in found.detail["reason"]

    @pytest.mark.parametrize(
        ("sets", "level"),
        [
            ({"north": [0, 1], "south": [2, 3]}, 1),
            # what no record has does not count
            ({"north": [0, 1], "south": [2, 3], "odd": [0, 2]}, 1),
            # called like a node, but less, or something else beside what no record has
            ({"north": [0, 1], "south": [2]}, None),
            ({"north": [0, 1], "south": [2, 0], "odd": [0, 2]}, None),
            # all of a node, but called otherwise
            ({"north": [0, 1], "C or D": [2, 3]}, None),
        ],
    )
    def test_a_level_is_known_by_the_names_and_by_all_that_they_stand_for(
        self, sets: dict[str, list[int]], level: int | None
    ) -> None:
        tree = Hierarchy.nested({"north": ["A", "B"], "south": ["C", "D"]})
        schema = Schema((Attribute("town", "quasi-identifying", hierarchy=tree),))
        release = sanitize(Table.from_arrow({"town": list("ABCD")}), schema, AsIs())
        found = figure(released_as(release, "town", [0, 0, 1, 1], sets), "precision")
        assert found.detail.get("town") == level
        assert (found.value is None) == (level is None)

    def test_a_recipe_names_levels_that_look_alike(self) -> None:
        tree = Hierarchy.of_rows([["A", "A", "*"], ["B", "B", "*"]])
        schema = Schema((Attribute("town", "quasi-identifying", hierarchy=tree),))
        release = sanitize(
            Table.from_arrow({"town": list("AB")}), schema, FullDomain({"town": 1}, KAnonymity(1))
        )
        assert figure(release, "precision").detail == {"town": 1}
        assert figure(replace(release, recipe=None), "precision").detail == {"town": 0}

    @pytest.mark.parametrize("name", ["general-loss", "total-loss", "precision"])
    def test_noise_covers_no_set_of_values(self, name: str) -> None:
        table = Table.from_arrow({"age": [1, 2, 3, 4]})
        schema = Schema((Attribute("age", "quasi-identifying", "numeric"),))
        found = figure(sanitize(table, schema.with_assumed_public_part(table), Laplace()), name)
        assert found.value is None
        assert "values were changed" in found.detail["reason"]

    def test_what_is_known_of_the_losses(self) -> None:
        of_cells = {"suppression-loss", "discernibility", "average-class-size"}
        for name in (*of_cells, "general-loss", "total-loss", "precision"):
            asked = build_measure(name)
            assert (asked.requires == "release") is (name in of_cells)
            assert asked.axis == "utility"
            assert asked.better == ("higher" if name == "precision" else "lower")

    @pytest.mark.parametrize(
        "name", ["general-loss", "total-loss", "discernibility", "average-class-size", "precision"]
    )
    def test_no_loss_where_sensitive_values_are_withheld_or_exchanged(self, name: str) -> None:
        quasi, told = {"age": "aabb"}, {"ill": "xyxy"}
        withheld = figure(release_of(quasi, told, SuppressSensitive()), name)
        assert withheld.value is None
        assert "'ill' is withheld" in withheld.detail["reason"]
        grouped = figure(release_of(quasi, told, Bucketize(DistinctDiversity(2))), name)
        assert grouped.value is None
        assert "exchanged within groups" in grouped.detail["reason"]

    def test_sensitive_values_that_are_sets_or_stars_of_a_file_are_withheld_and_noisy_ones_are_not(
        self,
    ) -> None:
        release = release_of({"age": "aabb"}, {"ill": "xyxy"})
        generalised = released_as(release, "ill", [0, 0, 0, 0], {"x or y": [0, 1]})
        nothing = np.zeros(4, dtype=np.int32)
        of_a_file = replace(release, cells={**release.cells, "ill": ReleasedCells(nothing, ("*",))})
        for withheld in (generalised, of_a_file):
            assert figure(withheld, "general-loss").value is None
        noisy = replace(release, cells={**release.cells, "ill": ReleasedCells(nothing, ("1.5",))})
        assert figure(noisy, "general-loss").value == 0

    def test_everything_and_nothing(self) -> None:
        quasi, told = {"age": "aabb", "sex": "mfmf"}, {"ill": "xyxy"}
        assert figure(release_of(quasi, told), "general-loss").value == 0
        assert figure(release_of(quasi, told), "total-loss").value == 0
        nothing = release_of(quasi, told, SuppressQuasiIdentifiers())
        assert figure(nothing, "general-loss").value == 1
        assert figure(nothing, "precision").value == 0


def n_classes(quasi: Cells, names: Sequence[str]) -> int:
    rows = range(len(next(iter(quasi.values()))))
    return len({tuple(quasi[name][row] for name in names) for row in rows})


def shapley(quasi: Cells) -> dict[str, Fraction]:
    """Return what each column adds to the classes per record, over all orders, record by record."""
    orders = list(itertools.permutations(quasi))
    n_records = len(next(iter(quasi.values())))
    added: Counter[str] = Counter()
    for order in orders:
        for place, name in enumerate(order):
            added[name] += n_classes(quasi, order[: place + 1]) - n_classes(quasi, order[:place])
    return {name: Fraction(added[name], len(orders) * n_records) for name in quasi}


class TestContribution:
    def test_what_a_quasi_identifier_adds_is_its_shapley_value(self) -> None:
        quasi = {"age": "aabbccd", "sex": "mfmfmfm", "zip": "1111223", "job": "pqrpqrp"}
        found = figure(release_of(quasi), "quasi-identifier-contribution")
        expected = {name: float(part) for name, part in shapley(quasi).items()}
        assert found.detail["contribution"] == pytest.approx(expected)
        assert found.value == pytest.approx(max(expected.values()))
        assert found.detail["coarsen-first"] == max(expected, key=expected.__getitem__)
        assert (found.detail["average"], found.interval) == (1, None)
        assert set(found.detail) == {"coarsen-first", "average", "contribution", "average-without"}

    def test_readers_can_compute_it(self) -> None:
        assert (QuasiIdentifierContribution().needs, QuasiIdentifierContribution().guards) == (
            "release",
            "identity",
        )

    def test_what_withholding_one_would_leave(self) -> None:
        quasi, told = {"age": "aabb", "sex": "mfmm"}, {"ill": "xyxx", "job": "uuuv"}
        detail = figure(release_of(quasi, told), "quasi-identifier-contribution").detail
        assert detail["average-without"] == {"age": 2 / 4, "sex": 2 / 4}
        parts = {
            # without age: m has x x x and u u v, f has y and u
            "age": [("ill", [1, 0], 3), ("ill", [0, 1], 1), ("job", [2 / 3, 1 / 3], 3), ("job", [1, 0], 1)],
            "sex": [("ill", [0.5, 0.5], 2), ("ill", [1, 0], 2), ("job", [1, 0], 2), ("job", [0.5, 0.5], 2)],
        }
        for name, each in parts.items():
            losses = [(about, jensenshannon(own, [3 / 4, 1 / 4]) ** 2, n) for about, own, n in each]
            assert detail["privacy-loss-without"][name] == pytest.approx(max(loss for _, loss, _ in losses))
            means = [sum(loss * n for about, loss, n in losses if about == one) / 4 for one in told]
            assert detail["mean-privacy-loss-without"][name] == pytest.approx(max(means))

    def test_where_groups_tell_the_values_no_loss_is_told(self) -> None:
        release = release_of({"age": "aabb"}, {"ill": "xyxy"}, Bucketize(DistinctDiversity(2)))
        assert "privacy-loss-without" not in figure(release, "quasi-identifier-contribution").detail

    def test_eight_columns_are_counted_and_nine_are_sampled(self) -> None:
        quasi = {f"q{place}": [str(row * (place + 2) % 5) for row in range(20)] for place in range(9)}
        eight = {name: quasi[name] for name in list(quasi)[:8]}
        assert figure(release_of(eight), "quasi-identifier-contribution").interval is None
        found = figure(release_of(quasi), QuasiIdentifierContribution(40))
        contribution = found.detail["contribution"]
        largest = max(contribution, key=contribution.__getitem__)
        rng, rounds = np.random.default_rng(0), []
        for _ in range(40 // 9):
            drawn = [f"q{place}" for place in rng.permutation(9)]
            added = []
            for shift in range(9):
                order = drawn[9 - shift :] + drawn[: 9 - shift]
                ahead = order[: order.index(largest)]
                added.append(n_classes(quasi, [*ahead, largest]) - n_classes(quasi, ahead))
            rounds.append(statistics.mean(added) / 20)
        error = statistics.stdev(rounds) / math.sqrt(len(rounds))
        assert found.value == pytest.approx(statistics.mean(rounds))
        assert found.interval == pytest.approx((found.value - 2.1 * error, found.value + 2.1 * error))

    def test_at_least_two_rounds_are_drawn(self) -> None:
        alike = {f"q{place}": "abcd" for place in range(9)}
        found = figure(release_of(alike), QuasiIdentifierContribution(1))
        # the first of nine equal columns adds everything, and each is the first once in a round
        assert found.detail["contribution"] == pytest.approx(dict.fromkeys(alike, 3 / 9 / 4))
        assert found.interval == pytest.approx((3 / 36, 3 / 36))
        with pytest.raises(ParameterError, match=r"^permutations must be at least 1"):
            QuasiIdentifierContribution(0)

    def test_without_quasi_identifiers_nothing_applies(self) -> None:
        found = figure(release_of({}, {"ill": "xy"}), "quasi-identifier-contribution")
        assert found.detail == {"reason": "the release has no quasi-identifier"}
