"""Two releases side by side: counts against brute force over single records, and what is told of them."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.results.linked_release import LinkedRelease, released, without_rows
from sfumato.results.measurement import worst_value
from sfumato.results.release import Release
from sfumato.runtime.errors import ParameterError
from sfumato.workflow.choose.comparison import Comparison, compare
from sfumato.workflow.choose.correspondence import Pairs

Bound = tuple[sf.Table, sf.Schema]


def made(bound: Bound, *sanitizers: Any) -> list[LinkedRelease]:
    return [sf.sanitize(*bound, sanitizer, seed=3) for sanitizer in sanitizers]


FINE, COARSE = (
    sf.sanitizers.Mondrian(sf.models.KAnonymity(2)),
    sf.sanitizers.Mondrian(sf.models.KAnonymity(6)),
)


class TestFigures:
    def test_every_measure_of_both_and_which_is_better(self, hospital: Bound) -> None:
        first, second = made(hospital, FINE, COARSE)
        names = ["k-anonymity", "general-loss", "suppression-loss", "t-closeness"]
        found = {figure.label: figure for figure in compare(first, second, names).figures}
        assert list(found) == names
        for name, figure in found.items():
            assert figure.first == worst_value(sf.measure(first, [name]), name)
            assert figure.second == worst_value(sf.measure(second, [name]), name)
        verdicts = {name: figure.verdict for name, figure in found.items()}
        assert verdicts == {
            "k-anonymity": "second",
            "general-loss": "first",
            "suppression-loss": "alike",
            "t-closeness": "second",
        }

    def test_a_measure_that_does_not_apply_has_no_verdict(self, hospital: Bound) -> None:
        first, second = made(hospital, FINE, sf.sanitizers.Anatomy(2))
        (figure,) = compare(first, second, ["total-loss"]).figures
        assert figure.first is not None
        assert (figure.second, figure.verdict) == (None, None)

    def test_infinite_values_are_compared(self, hospital: Bound) -> None:
        first, second = made(hospital, FINE, sf.sanitizers.SuppressQuasiIdentifiers())
        (figure,) = compare(first, second, ["disclosure-quotient"]).figures
        assert (figure.first, figure.verdict) == (math.inf, "second")
        facts = json.loads(json.dumps(compare(first, second).to_dict(), allow_nan=False))
        assert facts["losses"]["age"][1] == 1

    def test_a_release_is_alike_to_itself(self, hospital: Bound) -> None:
        (release,) = made(hospital, FINE)
        found = compare(release, release)
        assert {figure.verdict for figure in found.figures} == {"alike"}
        assert {(each.first, each.second, each.alike) for each in found.worse_off} == {(0, 0, 12)}
        assert not found.expected


class TestClassSizes:
    def test_percentiles_are_over_records(self) -> None:
        ages = [1] * 5 + [2] * 20 + [3] * 75
        table = sf.Table.from_arrow({"age": ages})
        schema = sf.Schema.of(age="quasi-identifying")
        (release,) = made(schema.bind(table), sf.sanitizers.AsIs())
        sizes = compare(release, release, []).class_sizes[0]
        assert (sizes.n_classes, sizes.smallest, sizes.largest) == (3, 5, 75)
        assert sizes.percentiles == {5: 5, 25: 20, 50: 75, 75: 75, 95: 75}
        assert sizes.weighted_k == pytest.approx((25 + 400 + 5625) / 100)

    def test_the_smallest_class_alone_misleads(self) -> None:
        """Dewri's argument for weighted-k: both are 2-anonymous, and most people are better off in one."""

        def grouped(*classes: int) -> Release:
            recoded = sf.Schema.of(age="quasi-identifying", illness="sensitive").bind(
                sf.Table.from_arrow(
                    {"age": list(np.repeat(range(len(classes)), classes)), "illness": ["a", "b"] * 6}
                )
            )
            (release,) = made(recoded, sf.sanitizers.AsIs())
            return release.unlinked()

        pairs = compare(grouped(2, 2, 2, 2, 2, 2), grouped(2, 10), [])
        assert "Both have k = 2, but in second a record shares its values with 4.33 times as many" in str(
            pairs
        )
        crossed = compare(grouped(3, 3, 3, 3), grouped(2, 10), [])
        assert (
            "first has the larger smallest class, but most records are in larger classes in second."
            in str(crossed)
        )


class TestLosses:
    def test_a_record_that_is_left_out_loses_everything(self, hospital: Bound) -> None:
        (release,) = made(hospital, sf.sanitizers.AsIs())
        fewer = without_rows(release, np.arange(release.n_rows) < 3)
        found = compare(release, fewer, ["suppression-loss"])
        left_out = release.n_records - fewer.n_records
        for pair in found.losses.values():
            assert pair[0] == 0.0
            assert pair[1] == pytest.approx(left_out / 12)

    def test_noise_has_no_loss_and_is_said_to_be_drawn_anew(self) -> None:
        table = sf.Table.from_arrow({"age": [20, 30, 40, 50], "illness": list("abab")})
        schema = sf.Schema.of(age="quasi-identifying", illness="sensitive").with_assumed_public_part(table)
        first, second = made(schema.bind(table), sf.sanitizers.AsIs(), sf.sanitizers.Laplace(1.0))
        found = compare(first, second)
        assert found.losses == {"age": (0.0, None)}
        assert any("Noise is drawn anew" in note and "age" in note for note in found.notes)


class TestWorseOff:
    def test_of_suppressed_records_only_the_numbers_are_told(self, hospital: Bound) -> None:
        (release,) = made(hospital, FINE)
        first = without_rows(release, np.arange(release.n_rows) < 3)
        second = without_rows(release, (np.arange(release.n_rows) > 1) & (np.arange(release.n_rows) < 5))
        found = compare(first, second, [])
        assert found.released == {"both": 7, "only-first": 2, "only-second": 2, "neither": 1}
        assert (
            "2 records only first releases, 2 records only second releases and 1 record neither releases"
            in str(found)
        )
        assert sum((found.worse_off[0].first, found.worse_off[0].second, found.worse_off[0].alike)) == 7

    def test_where_rows_are_not_known_nobody_is_counted(self, hospital: Bound) -> None:
        first, second = made(hospital, FINE, COARSE)
        found = compare(first.unlinked(), second)
        assert (found.worse_off, found.released) == ((), None)
        assert "not known which released record is which" in str(found)

    def test_other_tables_are_refused(self, hospital: Bound, adult: Bound) -> None:
        first, other = made(hospital, FINE)[0], made(adult, sf.sanitizers.SuppressQuasiIdentifiers())[0]
        with pytest.raises(ParameterError, match="12 and 45,222 records"):
            compare(first, other)
        table, schema = hospital
        column = schema.sensitive[0]
        changed = {n: table.to_arrow().column(n) for n in table.names}
        changed[column] = pa.array(["x"] * 12)
        bound = sf.Schema(tuple(replace(a, hierarchy=None) for a in schema.attributes)).bind(
            sf.Table.from_arrow(pa.table(changed))
        )
        with pytest.raises(ParameterError, match="different tables"):
            compare(first, made(bound, FINE)[0])

    def test_identity_and_attribute_disclosure_are_counted_apart(self, adult: Bound) -> None:
        bucketized = sf.sanitizers.Bucketize(model=sf.models.ProbabilisticDiversity(2))
        first, second = made(adult, sf.sanitizers.Mondrian(sf.models.KAnonymity(10)), bucketized)
        by_class, by_group = compare(first, second, []).worse_off
        assert (by_class.by, by_group.by, by_group.attribute) == ("class size", "privacy loss", "occupation")
        assert by_class.second > by_class.first

    def test_records_with_equal_values_in_several_classes_give_expected_counts(self) -> None:
        table, schema = sf.Schema.of(age="quasi-identifying", illness="sensitive").bind(
            sf.Table.from_arrow({"age": [1] * 4 + [2] * 2, "illness": ["a"] * 6})
        )
        first, second = split(table, schema, [0, 0, 1], [1, 3, 2]), split(table, schema, [0, 0, 1], [2, 2, 2])
        found = compare(first, second, [])
        assert found.expected
        each = found.worse_off[0]
        assert each.first + each.second + each.alike == pytest.approx(6)
        assert "expected" in str(found)
        whole = split(table, schema, [0, 1], [4, 2])
        assert not compare(first, whole, []).expected


def split(table: sf.Table, schema: sf.Schema, rows: list[int], weights: list[int]) -> LinkedRelease:
    """Release original rows in parts, each a class of its own by a quasi-identifier's released code."""
    from sfumato.results.released_column import exact_cells

    source = np.array(rows)
    cells = exact_cells(table["age"], source)
    labels = tuple(str(place) for place in range(len(rows)))
    own = replace(cells, codes=np.arange(len(rows)), labels=labels, sets=None)
    return released(table, schema, {"age": own}, source, np.array(weights))


def brute_force(
    first: LinkedRelease, second: LinkedRelease, figure: Any
) -> tuple[Fraction, Fraction, Fraction]:
    """Count over single records; of equal ones every pairing is as likely."""
    spread: list[dict[int, list[float]]] = []
    for release in (first, second):
        of_row: dict[int, list[float]] = defaultdict(list)
        values = figure(release)
        for place, row in enumerate(release.origin.rows.tolist()):
            of_row[row] += [values[place]] * int(release.weights[place])
        for row, weight in enumerate(release.origin.table.weights.tolist()):
            of_row[row] += [None] * (weight - len(of_row[row]))
        spread.append(of_row)
    counts = [Fraction(0)] * 3
    for row, here in spread[0].items():
        for a in here:
            for b in spread[1][row]:
                if a is not None and b is not None:
                    verdict = 2 if math.isclose(a, b, abs_tol=1e-12) else int(a < b)
                    counts[verdict] += Fraction(1, len(here))
    return counts[0], counts[1], counts[2]


def crowds(release: LinkedRelease) -> list[float]:
    names = release.schema.quasi_identifiers
    keys = [tuple(int(release.cells[n].codes[row]) for n in names) for row in range(release.n_rows)]
    totals: dict[Any, int] = defaultdict(int)
    for key, weight in zip(keys, release.weights.tolist(), strict=True):
        totals[key] += weight
    return [-totals[key] for key in keys]


def divergences(release: LinkedRelease, name: str) -> list[float]:
    """Return for each row the Jensen-Shannon divergence of its class from the whole table."""
    names = release.schema.quasi_identifiers
    keys = [tuple(int(release.cells[n].codes[row]) for n in names) for row in range(release.n_rows)]
    within: dict[Any, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for row, key in enumerate(keys):
        within[key][int(release.cells[name].codes[row])] += int(release.weights[row])
    overall: dict[int, int] = defaultdict(int)
    for code, weight in zip(
        release.origin.table[name].codes.tolist(), release.origin.table.weights.tolist(), strict=True
    ):
        overall[code] += weight

    def divergence(counts: dict[int, int]) -> float:
        total = 0.0
        for code in overall:
            p, q = overall[code] / sum(overall.values()), counts.get(code, 0) / sum(counts.values())
            total += sum(0.5 * x * math.log(2 * x / (p + q)) for x in (p, q) if x)
        return total

    return [divergence(within[key]) for key in keys]


SANITIZERS = [
    sf.sanitizers.AsIs(),
    sf.sanitizers.SuppressQuasiIdentifiers(),
    sf.sanitizers.Mondrian(sf.models.KAnonymity(2)),
    sf.sanitizers.Mondrian(sf.models.KAnonymity(2), variant="relaxed"),
    sf.sanitizers.Mondrian(sf.models.KAnonymity(3), variant="relaxed"),
]


@settings(max_examples=40)
@given(st.data())
def test_brute_force_over_records_agrees(tiny_tables: st.SearchStrategy[Bound], data: st.DataObject) -> None:
    bound = data.draw(tiny_tables)
    if bound[0].n_records < 3:
        return
    chosen = [data.draw(st.sampled_from(SANITIZERS)) for _ in range(2)]
    first, second = made(bound, *chosen)
    drop = data.draw(st.lists(st.booleans(), min_size=first.n_rows, max_size=first.n_rows))
    if not all(drop):
        first = without_rows(first, np.array(drop))
    for found in compare(first, second, []).worse_off:
        figure = crowds if found.attribute is None else partial(divergences, name=found.attribute)
        counts = brute_force(first, second, figure)
        assert [found.first, found.second, found.alike] == pytest.approx([float(count) for count in counts])
    pairs = Pairs.of(first, second)
    assert pairs is not None
    assert sum(pairs.released.values()) == pytest.approx(bound[0].n_records)


def test_the_comparison_is_public(hospital: Bound) -> None:
    fine, coarse = made(hospital, FINE, COARSE)
    assert isinstance(sf.compare(fine, coarse), Comparison)
    assert sf.results.Comparison is Comparison
