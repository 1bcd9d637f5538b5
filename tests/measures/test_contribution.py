"""What a quasi-identifier adds to the risk, against every order in which they could be released."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from sfumato import Release, Schema, Table, measure, sanitize
from sfumato.measures import QuasiIdentifierContribution
from sfumato.measures.identity import attribute_contribution
from sfumato.models import KAnonymity
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers import Anatomy, AsIs, Mondrian, SuppressQuasiIdentifiers

Bound = tuple[Table, Schema]


def average_risk(records: list[dict[str, Any]], names: tuple[str, ...]) -> float:
    return len({tuple(record[name] for name in names) for record in records}) / len(records)


def parts_by_hand(release: Release) -> dict[str, float]:
    """Return what each quasi-identifier adds on average over all orders."""
    names, records = release.schema.quasi_identifiers, release.to_arrow(typed=False).to_pylist()
    added = dict.fromkeys(names, 0.0)
    for order in itertools.permutations(names):
        for place, name in enumerate(order):
            added[name] += average_risk(records, order[: place + 1]) - average_risk(records, order[:place])
    return {name: total / math.factorial(len(names)) for name, total in added.items()}


def worst_and_mean_loss(release: Release, names: tuple[str, ...]) -> tuple[float, float]:
    """Return the privacy loss when only these quasi-identifiers are released, of the worst attribute."""
    records = release.to_arrow(typed=False).to_pylist()
    found = []
    for sensitive in release.schema.sensitive:
        values = list(Counter(record[sensitive] for record in records))
        everybody = [sum(record[sensitive] == value for record in records) for value in values]
        losses = []
        for record in records:
            alike = [r for r in records if all(r[name] == record[name] for name in names)]
            here = [sum(r[sensitive] == value for r in alike) for value in values]
            losses.append(float(jensenshannon(here, everybody) ** 2))
        found.append((max(losses), sum(losses) / len(losses)))
    return max(worst for worst, _ in found), max(mean for _, mean in found)


def releases(bound: Bound) -> list[Release]:
    k = min(2, bound[0].n_records)
    return [sanitize(*bound, AsIs()), sanitize(*bound, Mondrian(KAnonymity(k), "relaxed"))]


@given(data=st.data())
@settings(max_examples=40)
def test_the_parts_are_those_of_all_orders(
    tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
) -> None:
    for release in releases(data.draw(tiny_tables)):
        (taken,) = measure(release, ["quasi-identifier-contribution"])
        parts = parts_by_hand(release)
        assert taken.detail["contribution"] == pytest.approx(parts, abs=1e-12)
        assert taken.value == pytest.approx(max(parts.values()), abs=1e-12)
        assert parts[taken.detail["coarsen-first"]] == pytest.approx(taken.value, abs=1e-12)
        assert sum(parts.values()) == pytest.approx(
            taken.detail["average"] - 1 / release.n_records, abs=1e-12
        )


@given(data=st.data())
@settings(max_examples=20)
def test_what_is_left_when_one_is_withheld(
    tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
) -> None:
    for release in releases(data.draw(tiny_tables)):
        (taken,) = measure(release, ["quasi-identifier-contribution"])
        names, records = release.schema.quasi_identifiers, release.to_arrow(typed=False).to_pylist()
        for name in names:
            others = tuple(other for other in names if other != name)
            assert taken.detail["average-without"][name] == average_risk(records, others)
            worst, mean = worst_and_mean_loss(release, others)
            assert taken.detail["privacy-loss-without"][name] == pytest.approx(worst, abs=1e-9)
            assert taken.detail["mean-privacy-loss-without"][name] == pytest.approx(mean, abs=1e-9)


def test_an_attribute_that_says_nothing_adds_nothing() -> None:
    table = Table.from_arrow({"age": [1, 2, 3, 4], "sex": ["f"] * 4})
    release = sanitize(table, Schema.of(age="quasi-identifying", sex="quasi-identifying"), AsIs())
    (taken,) = measure(release, ["quasi-identifier-contribution"])
    assert taken.detail["contribution"] == {"age": 0.75, "sex": 0.0}
    assert taken.detail["coarsen-first"] == "age"
    assert "privacy-loss-without" not in taken.detail


def test_attributes_that_say_the_same_share_the_risk() -> None:
    table = Table.from_arrow({"age": [1, 2, 3, 4], "born": [9, 8, 7, 6]})
    release = sanitize(table, Schema.of(age="quasi-identifying", born="quasi-identifying"), AsIs())
    (taken,) = measure(release, ["quasi-identifier-contribution"])
    assert taken.detail["contribution"] == {"age": 0.375, "born": 0.375}
    assert taken.detail["average-without"] == {"age": 1.0, "born": 1.0}


def test_withheld_quasi_identifiers_add_nothing(hospital: Bound) -> None:
    (taken,) = measure(sanitize(*hospital, SuppressQuasiIdentifiers()), ["quasi-identifier-contribution"])
    assert taken.value == 0


def test_groups_keep_their_sensitive_values_whatever_is_withheld(hospital: Bound) -> None:
    (taken,) = measure(sanitize(*hospital, Anatomy(2)), ["quasi-identifier-contribution"])
    assert taken.detail.keys() == {"coarsen-first", "average", "contribution", "average-without"}


def test_a_release_without_quasi_identifiers_has_none_to_blame() -> None:
    release = sanitize(Table.from_arrow({"ill": ["a", "b"]}), Schema.of(ill="sensitive"), AsIs())
    (taken,) = measure(release, ["quasi-identifier-contribution"])
    assert taken.detail["reason"] == "the release has no quasi-identifier"


class TestManyQuasiIdentifiers:
    @pytest.fixture
    def release(self) -> Release:
        rng = np.random.default_rng(3)
        columns: Any = {f"q{place}": rng.integers(0, place + 1, 300) for place in range(9)}
        roles: Any = dict.fromkeys(columns, "quasi-identifying")
        return sanitize(Table.from_arrow(columns), Schema.of(roles), AsIs())

    def test_orders_are_sampled_with_an_interval(
        self, release: Release, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (sampled,) = measure(release, ["quasi-identifier-contribution"])
        monkeypatch.setattr(attribute_contribution, "_MOST_EXACT", 9)
        (exact,) = measure(release, ["quasi-identifier-contribution"])
        assert exact.interval is None
        assert sampled.interval is not None
        low, high = sampled.interval
        assert low < sampled.value < high
        assert low - (high - low) < exact.value < high + (high - low)
        parts = sampled.detail["contribution"]
        assert sum(parts.values()) == pytest.approx(sum(exact.detail["contribution"].values()))
        assert max(abs(parts[name] - exact.detail["contribution"][name]) for name in parts) < 0.02

    def test_the_same_orders_every_time(self, release: Release) -> None:
        assert measure(release, [QuasiIdentifierContribution(20)]) == measure(
            release, [QuasiIdentifierContribution(20)]
        )

    def test_more_orders_narrow_the_interval(self, release: Release) -> None:
        few, many = measure(release, [QuasiIdentifierContribution(40), QuasiIdentifierContribution(900)])
        assert few.interval is not None
        assert many.interval is not None
        assert many.interval[1] - many.interval[0] < few.interval[1] - few.interval[0]

    def test_no_orders_are_refused(self) -> None:
        with pytest.raises(ParameterError, match="permutations must be at least 1"):
            QuasiIdentifierContribution(0)


class TestSampling:
    """With the classes of three columns, of which the last says nothing beyond the first two."""

    CLASSES = attribute_contribution._Classes(
        (np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([0, 1, 1])), (2, 2, 2), 3, 12
    )

    def test_what_a_column_adds_depends_on_those_before_it(self) -> None:
        for order, added in (([0, 1, 2], [1, 1, 0]), ([2, 1, 0], [1, 0, 1]), ([1, 2, 0], [1, 1, 0])):
            found = attribute_contribution._added(self.CLASSES, np.array(order))
            assert (12 * found).tolist() == pytest.approx(added)

    @pytest.mark.parametrize(("n_orders", "n_rounds"), [(9, 3), (10, 3), (1, 2), (3, 2)])
    def test_every_order_is_taken_in_all_its_rotations(
        self, n_orders: int, n_rounds: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        orders: list[list[int]] = []

        def added(_: Any, order: Any) -> Any:
            orders.append(order.tolist())
            return np.array([0.0, 10.0, 20.0]) + (len(orders) - 1) // 3

        monkeypatch.setattr(attribute_contribution, "_added", added)
        parts, errors = attribute_contribution._sampled(self.CLASSES, n_orders)
        assert len(orders) == 3 * n_rounds
        for first in range(0, len(orders), 3):
            assert [sorted(place) for place in zip(*orders[first : first + 3], strict=True)] == [
                [0, 1, 2]
            ] * 3
        # the rounds add 0, 1, 2, ...
        assert parts.tolist() == pytest.approx([first + (n_rounds - 1) / 2 for first in (0, 10, 20)])
        assert errors.tolist() == pytest.approx([np.std(range(n_rounds), ddof=1) / math.sqrt(n_rounds)] * 3)

    def test_the_parts_of_four_unlike_columns_are_the_means_over_all_orders(self) -> None:
        columns = [0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 1], [0, 1, 2, 3, 0, 0], [0, 1, 0, 1, 0, 1]
        added = np.zeros(4)
        for order in itertools.permutations(range(4)):
            n_before = 1
            for place, column in enumerate(order):
                alike = set(zip(*(columns[each] for each in order[: place + 1]), strict=True))
                added[column] += len(alike) - n_before
                n_before = len(alike)
        classes = attribute_contribution._Classes(tuple(map(np.array, columns)), (3, 2, 4, 2), 6, 10)
        assert attribute_contribution._shared_out(classes).tolist() == pytest.approx(
            (added / 24 / 10).tolist()
        )

    @pytest.mark.parametrize(("n_columns", "is_exact"), [(8, True), (9, False)])
    def test_up_to_eight_quasi_identifiers_every_subset_is_looked_at(
        self, n_columns: int, is_exact: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        nothing = np.zeros(n_columns)
        monkeypatch.setattr(attribute_contribution, "_shared_out", lambda _: nothing)
        monkeypatch.setattr(attribute_contribution, "_sampled", lambda *_: (nothing, nothing))
        columns = {f"q{place}": [1, 2] for place in range(n_columns)}
        roles: Any = dict.fromkeys(columns, "quasi-identifying")
        release = sanitize(Table.from_arrow(columns), Schema.of(roles), AsIs())
        (taken,) = measure(release, [QuasiIdentifierContribution(1)])
        assert (taken.interval is None) == is_exact
        with pytest.raises(ParameterError, match="permutations must be at least 1, not 0"):
            QuasiIdentifierContribution(0)

    def test_the_interval_is_that_of_the_largest_part(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(attribute_contribution, "_MOST_EXACT", 1)
        found = np.array([0.2, 0.6]), np.array([0.1, 0.05])
        monkeypatch.setattr(attribute_contribution, "_sampled", lambda *_: found)
        table = Table.from_arrow({"age": [1, 2, 3, 4, 4], "sex": list("fmfmm")})
        release = sanitize(table, Schema.of(age="quasi-identifying", sex="quasi-identifying"), AsIs())
        (taken,) = measure(release, ["quasi-identifier-contribution"])
        assert (taken.value, taken.detail["coarsen-first"]) == (0.6, "sex")
        assert taken.interval == pytest.approx((0.6 - 2.1 * 0.05, 0.6 + 2.1 * 0.05))


def test_people_with_several_records_count_once_in_a_class() -> None:
    """What is left without a column is what is measured of a release that does not have it."""
    columns: dict[str, list[Any]] = {
        "who": [1, 1, 1, 2, 2, 3, 4],
        "age": [1, 1, 2, 1, 2, 2, 2],
        "sex": list("ffmmmmf"),
        "ill": list("xxyxyyx"),
    }
    roles = Schema.of(who="identifying", age="quasi-identifying", sex="quasi-identifying", ill="sensitive")

    def released(*names: str) -> Release:
        known = [each for each in roles.attributes if each.name in ("who", "ill", *names)]
        table = Table.from_arrow({each.name: columns[each.name] for each in known})
        return sanitize(table, Schema(tuple(known), person="who"), AsIs())

    (taken,) = measure(released("age", "sex"), ["quasi-identifier-contribution"])
    # the classes 1f, 1m, 2m and 2f are of one, one, three and one person; of 1 and 2, two and four; of f and
    # m, two and three; all of them of four
    assert taken.detail["average"] == 4 / 6
    parts = {"age": (2 / 6 - 1 / 4 + 4 / 6 - 2 / 5) / 2, "sex": (2 / 5 - 1 / 4 + 4 / 6 - 2 / 6) / 2}
    assert taken.detail["contribution"] == pytest.approx(parts)
    assert sum(parts.values()) == pytest.approx(4 / 6 - 1 / 4)
    assert taken.value == pytest.approx(parts["sex"])
    assert taken.detail["coarsen-first"] == "sex"
    for withheld, other in (("age", "sex"), ("sex", "age")):
        alone = released(other)
        people = alone.classes.people
        (loss,) = measure(alone, ["privacy-loss"])
        assert taken.detail["average-without"][withheld] == len(people) / people.sum()
        assert taken.detail["privacy-loss-without"][withheld] == pytest.approx(loss.value)
        assert taken.detail["mean-privacy-loss-without"][withheld] == pytest.approx(loss.detail["mean"])


class TestSeveralRecordsOfOnePerson:
    """Parts that are worked out for every order from who is alike, counted in sets."""

    COLUMNS: ClassVar[dict[str, list[Any]]] = {
        "who": [1, 1, 2, 2, 3, 3, 3, 4, 5],
        "a": [0, 1, 0, 1, 0, 0, 1, 2, 2],
        "b": [0, 0, 0, 0, 1, 1, 1, 1, 0],
        "c": [0, 1, 1, 0, 0, 0, 1, 0, 1],
    }

    def risk(self, names: Sequence[str]) -> float:
        people: dict[Any, set[int]] = {}
        for row, person in enumerate(self.COLUMNS["who"]):
            people.setdefault(tuple(self.COLUMNS[name][row] for name in names), set()).add(person)
        return len(people) / sum(map(len, people.values()))

    @pytest.mark.parametrize("most_exact", [8, 2])
    def test_the_parts_are_those_of_all_orders_and_add_up(
        self, most_exact: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(attribute_contribution, "_MOST_EXACT", most_exact)
        roles: Any = dict.fromkeys(self.COLUMNS, "quasi-identifying") | {"who": "identifying"}
        schema = Schema(Schema.of(roles).attributes, person="who")
        release = sanitize(Table.from_arrow(self.COLUMNS), schema, AsIs())
        (taken,) = measure(release, [QuasiIdentifierContribution(600)])
        added = dict.fromkeys("abc", 0.0)
        for order in itertools.permutations("abc"):
            for place, name in enumerate(order):
                added[name] += (self.risk(order[: place + 1]) - self.risk(order[:place])) / 6
        parts = taken.detail["contribution"]
        # every order and its rotations, drawn 200 times, come as near as this to all six orders
        assert parts == pytest.approx(added, abs=1e-12 if most_exact == 8 else 0.01)
        assert taken.detail["average"] == self.risk("abc")
        assert sum(parts.values()) == pytest.approx(self.risk("abc") - 1 / 5)
