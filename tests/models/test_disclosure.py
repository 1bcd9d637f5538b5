"""delta-disclosure privacy and beta-likeness: ties, absent values, bases, and what is refused."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Release, Schema, Table, measure, sanitize
from sfumato.models import BetaLikeness, DeltaDisclosure, KAnonymity
from sfumato.results.release import holds
from sfumato.runtime.errors import Infeasible, ParameterError
from sfumato.sanitizers import AsIs, FullDomain, Mondrian
from sfumato.verification.documents import numeral
from sfumato.workflow.publish.folder_layout import Layout, read_back, tables_of
from sfumato.workflow.publish.manifest_record import (
    requirements_of,
)

Bound = tuple[Table, Schema]
Pairs = list[tuple[int, str]]
Ratios = list[list[Fraction]]

SCHEMA = Schema.of(age="quasi-identifying", ill="sensitive")
PAIRS = st.lists(st.tuples(st.integers(0, 2), st.sampled_from("abc")), min_size=1, max_size=8)


def table_of(pairs: Pairs) -> Table:
    return Table.from_arrow({"age": [age for age, _ in pairs], "ill": [ill for _, ill in pairs]})


def release_of(pairs: Pairs) -> Release:
    return sanitize(table_of(pairs), SCHEMA, AsIs())


def classes(*written: str) -> Pairs:
    """Return the records of classes that are written one string of illnesses each."""
    return [(age, ill) for age, members in enumerate(written) for ill in members]


def ratios_by_hand(pairs: Pairs) -> Ratios:
    """Return for each class p(E, s) / p(T, s) of every value of the table; 0 for an absent one."""
    everybody = Counter(ill for _, ill in pairs)
    here = {age: Counter(ill for other, ill in pairs if other == age) for age, _ in pairs}
    return [
        [Fraction(c[ill] * len(pairs), c.total() * count) for ill, count in everybody.items()]
        for c in here.values()
    ]


def away(ratio: Fraction) -> Fraction:
    return max(ratio, 1 / ratio)


class TestDelta:
    @given(pairs=PAIRS, data=st.data(), base=st.sampled_from([2.0, math.e, 10.0]))
    @settings(max_examples=150)
    def test_is_strict_at_a_tie_in_every_base(self, pairs: Pairs, data: st.DataObject, base: float) -> None:
        ratios = ratios_by_hand(pairs)
        present = sorted({away(ratio) for each in ratios for ratio in each if ratio} | {Fraction(5, 4)})
        bound = data.draw(st.sampled_from([ratio for ratio in present if ratio > 1]))
        delta = math.log(bound) / math.log(base)
        lacking = any(0 in each for each in ratios)
        within = all(away(ratio) < bound for each in ratios for ratio in each if ratio)
        release = release_of(pairs)
        assert holds(release, DeltaDisclosure(delta, base, "ignored")) is within
        assert holds(release, DeltaDisclosure(delta, base)) is (within and not lacking)

    def test_exactly_delta_fails_and_a_little_more_holds(self) -> None:
        release = release_of(classes("aab", "abb"))  # shares 2/3 and 1/3 against one half
        # the value at 1/3 is the farther one: |log 2/3| = log 3/2
        assert DeltaDisclosure().level(release.groups) == pytest.approx(math.log(3 / 2))
        assert not holds(release, DeltaDisclosure(math.log(3 / 2)))
        assert holds(release, DeltaDisclosure(math.log(3 / 2) + 1e-9))

    def test_a_value_that_is_rarer_counts_as_much_as_one_that_is_more_frequent(self) -> None:
        # b has 1/10 of the first class and 2/3 of all; a has 9/10 and 1/3
        rarer, more_frequent = math.log((2 / 3) / (1 / 10)), math.log((9 / 10) / (1 / 3))
        release = release_of(classes("a" * 9 + "b", "a" + "b" * 19))
        assert rarer > more_frequent
        assert DeltaDisclosure().scores(release.groups)[0] == pytest.approx(rarer)

    def test_a_value_that_a_class_lacks_makes_it_infinite(self) -> None:
        release = release_of(classes("ab", "aab"))
        lacking = release_of(classes("aa", "ab"))
        assert math.isfinite(DeltaDisclosure().level(release.groups))
        assert DeltaDisclosure().level(lacking.groups) == math.inf
        assert not holds(lacking, DeltaDisclosure(1e9))

    def test_unless_absent_values_are_ignored_as_arx_and_pycanon_do(self) -> None:
        lacking = release_of(classes("aa", "ab"))
        level = DeltaDisclosure(absent="ignored").level(lacking.groups)
        assert level == pytest.approx(math.log(2))  # b: 1/2 of the second class, 1/4 of all
        assert holds(lacking, DeltaDisclosure(0.7, absent="ignored"))
        assert not holds(lacking, DeltaDisclosure(0.69, absent="ignored"))

    def test_a_class_that_lacks_a_suppressed_value_is_not_private(self) -> None:
        # c occurs in the suppressed record alone: it is in the prior, and no class has it
        release = sanitize(table_of(classes("abab", "c")), SCHEMA, FullDomain({}, KAnonymity(2), 0.5))
        assert release.n_suppressed == 1
        assert DeltaDisclosure().level(release.groups) == math.inf
        assert DeltaDisclosure(absent="ignored").level(release.groups) == pytest.approx(math.log(5 / 4))

    @given(pairs=PAIRS, base=st.sampled_from([1.5, 2.0, 10.0]))
    def test_another_base_only_changes_the_scale(self, pairs: Pairs, base: float) -> None:
        groups = release_of(pairs).groups
        natural = DeltaDisclosure(absent="ignored").scores(groups)
        other = DeltaDisclosure(base=base, absent="ignored").scores(groups)
        np.testing.assert_allclose(other * math.log(base), natural, atol=1e-12)

    def test_base_two_counts_doublings(self) -> None:
        release = release_of(classes("aabbcccc", "aaaabbbb"))  # c: 4 of 8 here, 4 of 16 in all
        assert DeltaDisclosure(base=2.0, absent="ignored").level(release.groups) == pytest.approx(1.0)
        assert not holds(release, DeltaDisclosure(1.0, base=2.0, absent="ignored"))

    @given(pairs=PAIRS)
    def test_information_gain_is_below_delta(self, pairs: Pairs) -> None:
        # Brickell & Shmatikov 2008, lemma 1
        release = release_of(pairs)
        delta = DeltaDisclosure().level(release.groups)
        counts = release.groups.sensitive["ill"]
        prior = counts.prior[counts.prior > 0]
        conditional = counts.total(counts.shares * np.log(counts.shares)) @ counts.sizes / len(pairs)
        gain = -(prior @ np.log(prior)) + conditional
        assert gain <= delta + 1e-12

    @pytest.mark.parametrize("delta", [0.0, -1.0, math.nan])
    def test_delta_is_above_zero(self, delta: float) -> None:
        with pytest.raises(ParameterError, match="delta must be above 0"):
            DeltaDisclosure(delta)

    @pytest.mark.parametrize("base", [1.0, 0.5, 0.0, -2.0, math.nan])
    def test_the_base_is_above_one(self, base: float) -> None:
        with pytest.raises(ParameterError, match="base must be above 1"):
            DeltaDisclosure(base=base)

    def test_mondrian_on_adult_lacks_no_value_anywhere(self, adult: Bound) -> None:
        release = sanitize(*adult, Mondrian(KAnonymity(5) & DeltaDisclosure(2.0)))
        everybody, here = distributions(release, "occupation")
        assert len(here) > 1
        for counts in here:
            assert set(counts) == set(everybody)
            for value, count in counts.items():
                ratio = (count / counts.total()) / (everybody[value] / everybody.total())
                assert abs(math.log(ratio)) < 2.0


def distributions(release: Release, name: str) -> tuple[Counter[Any], list[Counter[Any]]]:
    """Return the counts of all released records and of each class, from the written records."""
    here: dict[tuple[Any, ...], Counter[Any]] = {}
    for record in release.to_arrow().to_pylist():
        key = tuple(record[q] for q in release.schema.quasi_identifiers)
        here.setdefault(key, Counter())[record[name]] += 1
    return sum(here.values(), Counter()), list(here.values())


class TestBeta:
    @given(pairs=PAIRS, data=st.data())
    @settings(max_examples=150)
    def test_exactly_beta_is_allowed(self, pairs: Pairs, data: st.DataObject) -> None:
        gains = [[ratio - 1 for ratio in each] for each in ratios_by_hand(pairs)]
        beta = data.draw(st.sampled_from(sorted({max(gain, Fraction(0)) for each in gains for gain in each})))
        expected = all(gain <= beta for each in gains for gain in each)
        assert holds(release_of(pairs), BetaLikeness(float(beta))) is expected

    @given(pairs=PAIRS, beta=st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0, 100.0]))
    @settings(max_examples=150)
    def test_enhanced_also_bounds_by_the_surprise_of_the_value(self, pairs: Pairs, beta: float) -> None:
        everybody = Counter(ill for _, ill in pairs)
        surprise = [-math.log(count / len(pairs)) for count in everybody.values()]
        expected = all(
            float(ratio - 1) <= min(beta, bound) + 1e-12
            for each in ratios_by_hand(pairs)
            for ratio, bound in zip(each, surprise, strict=True)
            if ratio > 1
        )
        assert holds(release_of(pairs), BetaLikeness(beta, "enhanced")) is expected

    def test_a_frequent_value_cannot_become_certain_in_the_enhanced_form(self) -> None:
        # a: certain in the first class, 3/4 in all; it gains 1/3 and its surprise is only 0.288
        release = release_of(classes("aaaa", "aabb"))
        assert holds(release, BetaLikeness(1.0))
        assert not holds(release, BetaLikeness(1.0, "enhanced"))
        assert BetaLikeness(1.0, "enhanced").level(release.groups) == math.inf

    def test_a_value_that_becomes_rarer_or_vanishes_is_no_gain(self) -> None:
        release = release_of(classes("aabb", "aabbc"))
        # c gains 9/5 - 1 where it is, and its absence elsewhere costs nothing by itself
        assert BetaLikeness().level(release.groups) == pytest.approx(4 / 5)

    def test_a_gain_in_a_tiny_share_is_a_tie_like_any_other(self) -> None:
        # the gain is 99,999 and cannot be told exactly in floating point
        age = np.repeat([0, 1], [10, 10**6 - 10])
        ill = np.where(np.arange(10**6) == 0, "rare", "common")
        release = sanitize(Table.from_arrow({"age": age, "ill": ill}), SCHEMA, AsIs())
        assert holds(release, BetaLikeness(99_999.0))
        assert not holds(release, BetaLikeness(99_998.9))

    def test_the_same_shares_everywhere_hold_at_zero(self) -> None:
        release = release_of(classes("aab", "aab" * 2, "aab" * 7))
        assert BetaLikeness().level(release.groups) == 0
        assert holds(release, BetaLikeness(0.0))
        assert holds(release, BetaLikeness(0.0, "enhanced"))

    def test_what_a_reader_of_the_files_finds_broken_is_written_as_strict_json(self) -> None:
        # of the released records alone a is rare, so its gain is larger than in the whole table
        table = table_of(classes("aaaaaabcde", "bcde" * 5, "a" * 24))
        release = sanitize(table, SCHEMA, FullDomain({}, BetaLikeness(3.0, "enhanced"), suppression=0.9))
        seen = read_back(tables_of(release, typed=False), Layout.of(release))
        assert release.recipe is not None
        (found,) = requirements_of(seen, release, release.recipe)
        assert (release.n_suppressed, found.reached, found.prior) == (24, "Infinity", "original")
        assert numeral(found.reached) == math.inf

    @pytest.mark.parametrize("beta", [-0.1, math.nan])
    def test_beta_is_not_negative(self, beta: float) -> None:
        with pytest.raises(ParameterError, match="beta must be at least 0"):
            BetaLikeness(beta)

    @pytest.mark.parametrize("variant", ["basic", "enhanced"])
    def test_mondrian_on_adult_keeps_it_in_every_class(self, adult: Bound, variant: Any) -> None:
        release = sanitize(*adult, Mondrian(KAnonymity(5) & BetaLikeness(1.0, variant)))
        everybody, here = distributions(release, "occupation")
        assert len(here) > 10
        for counts in here:
            for value, count in counts.items():
                prior = everybody[value] / everybody.total()
                gain = count / counts.total() / prior - 1
                assert gain <= (1.0 if variant == "basic" else min(1.0, -math.log(prior))) + 1e-12


class TestBoth:
    def test_a_table_that_fails_as_a_whole_does_not_exist(self) -> None:
        # one class of all records has delta 0 and beta 0, so some release keeps every limit
        for model in (DeltaDisclosure(1e-9), BetaLikeness(0.0)):
            release = sanitize(table_of(classes("ab", "ba", "cc")), SCHEMA, Mondrian(model))
            assert holds(release, model)

    def test_suppression_cannot_rescue_a_value_that_is_gone(self) -> None:
        how = FullDomain({}, DeltaDisclosure(5.0), suppression=1.0)
        with pytest.raises(Infeasible, match="every record would be suppressed"):
            sanitize(table_of(classes("aab", "aac")), SCHEMA, how)

    def test_measured_by_their_names(self) -> None:
        release = release_of(classes("aab", "abb"))
        taken = measure(
            release,
            [
                "delta-disclosure",
                "beta-likeness",
                {"delta-disclosure": {"base": 2.0, "absent": "ignored"}},
                {"beta-likeness": {"variant": "enhanced"}},
            ],
        )
        half = [math.log(3 / 2), 1 / 3, math.log2(3 / 2), 1 / 3]
        assert [each.value for each in taken] == pytest.approx(half)
        assert taken[2].detail == {"base": 2.0, "absent": "ignored"}
