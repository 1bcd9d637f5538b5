"""The deFinetti attack: it works where groups teach, and gets nothing where they do not."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from tests.unknown_rows import with_unknown_rows

from sfumato import Attribute, Schema, Table, measure, sanitize
from sfumato.measures.informed.de_finetti import DeFinettiGain, _Dealt
from sfumato.models import KAnonymity, ProbabilisticDiversity
from sfumato.reading import datasets
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import LinkedRelease
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers import Anatomy, AsIs, Mondrian, SuppressQuasiIdentifiers

SMOKES = Schema((Attribute("smokes", "quasi-identifying"), Attribute("illness", "sensitive")))


def gain(table: Table, schema: Schema, how: object) -> float:
    (taken,) = measure(sanitize(table, schema, how, seed=2), ["de-finetti-gain"])  # type: ignore[arg-type]
    assert taken.value is not None
    return taken.value


def smokers(share: float) -> Table:
    """Return people of whom so many with lung illnesses smoke, and so many with others do not."""
    smokes, illnesses = [], []
    for kind, n_people in enumerate((130, 120, 90, 70, 50)):
        of_lung = kind % 2 == 0
        likely = round(n_people * share)
        smokes += ["yes" if of_lung else "no"] * likely + ["no" if of_lung else "yes"] * (n_people - likely)
        illnesses += [f"illness {kind}"] * n_people
    return Table.from_arrow({"smokes": smokes, "illness": illnesses})


def test_groups_that_are_correlated_give_their_members_away() -> None:
    # a group with one illness of the lung has one smoker: all groups together tell whose it is
    assert gain(smokers(0.9), SMOKES, Anatomy(2)) > 0.15


def test_nothing_is_learned_where_nothing_goes_together() -> None:
    assert gain(smokers(0.5), SMOKES, Anatomy(2)) < 0.1


def test_the_gain_falls_with_what_goes_together() -> None:
    gains = [gain(smokers(share), SMOKES, Anatomy(2)) for share in (0.98, 0.85, 0.6)]
    assert gains == sorted(gains, reverse=True)


@pytest.mark.parametrize(
    "how", [SuppressQuasiIdentifiers(), Mondrian(KAnonymity(4)), Mondrian(ProbabilisticDiversity(1.5))]
)
def test_members_that_look_alike_cannot_be_told_apart(how: object) -> None:
    assert gain(*datasets.hospital(), how) == 0


def test_the_baseline_is_the_commonest_value_of_each_group() -> None:
    release = sanitize(*datasets.adult("train"), Anatomy(3), seed=1)
    (taken,) = measure(release, ["de-finetti-gain"])
    assert taken.baseline == pytest.approx(1 / 3, abs=0.001)
    assert taken.value is not None
    assert taken.value > 0.2


def test_expected_matchings_keep_the_counts_of_rows_and_values() -> None:
    release = sanitize(*datasets.hospital(), Anatomy(3), seed=1)
    dealt = _Dealt.of(release, release.own_values("diagnosis"), len(release.origin.table["diagnosis"].domain))
    rng = np.random.default_rng(0)
    shares = dealt.balanced(rng.random(len(dealt.row_of)) + 0.1)
    assert np.bincount(dealt.row_of, shares) == pytest.approx(release.weights)
    assert np.bincount(dealt.entry_of, shares) == pytest.approx(dealt.counts, abs=1e-3)


def learned_in_loops(release: LinkedRelease, own: Sequence[int], rounds: int) -> dict[tuple[int, int], float]:
    """Return for each row and value of its group how many of the row's records are expected to have it."""
    group_of, weights = release.groups.class_of.tolist(), release.weights.tolist()
    counts: Counter[tuple[int, int]] = Counter()
    for group, value, weight in zip(group_of, own, weights, strict=True):
        counts[group, value] += weight
    pairs = [(row, value) for row, group in enumerate(group_of) for g, value in sorted(counts) if g == group]

    def balanced(odds: dict[tuple[int, int], float]) -> dict[tuple[int, int], float]:
        for _ in range(20):
            sums: defaultdict[tuple[int, int], float] = defaultdict(float)
            for row, value in pairs:
                sums[group_of[row], value] += odds[row, value]
            odds = {(r, v): odds[r, v] * counts[group_of[r], v] / sums[group_of[r], v] for r, v in pairs}
            rows: defaultdict[int, float] = defaultdict(float)
            for row, value in pairs:
                rows[row] += odds[row, value]
            odds = {(r, v): odds[r, v] * weights[r] / rows[r] for r, v in pairs}
        return odds

    shares = balanced(dict.fromkeys(pairs, 1.0))
    features = [release.cells[name].codes.tolist() for name in release.schema.quasi_identifiers]
    for _ in range(rounds):
        odds = dict.fromkeys(pairs, 1.0)
        for codes in features:
            kinds = range(max(codes) + 1)
            for row, value in pairs:
                # every combination is counted once more
                seen = dict.fromkeys(kinds, 1.0)
                for other, its in pairs:
                    seen[codes[other]] += shares[other, its] * (its == value)
                odds[row, value] *= seen[codes[row]] / sum(seen.values())
        shares = balanced(odds)
    return shares


@pytest.mark.parametrize("rounds", [1, 3])
def test_what_is_learned_is_what_loops_over_all_pairs_learn(rounds: int) -> None:
    columns = {
        "smokes": ["yes", "no", "yes", "no", "yes", "no", "no", "yes"],
        "town": ["a", "a", "b", "b", "c", "a", "c", "a"],
        "illness": ["lung", "flu", "lung", "flu", "gout", "lung", "flu", "gout"],
    }
    schema = Schema((*SMOKES.attributes[:1], Attribute("town", "quasi-identifying"), SMOKES["illness"]))
    release = sanitize(Table.from_arrow(columns), schema, Anatomy(2), seed=4)
    own = release.own_values("illness")
    dealt = _Dealt.of(release, own, 3)
    features = [release.cells[name].codes for name in release.schema.quasi_identifiers]
    shares = dealt.learned(features, 3, rounds)
    expected = learned_in_loops(release, own.tolist(), rounds)
    values = dealt.values[dealt.entry_of].tolist()
    found = dict(zip(zip(dealt.row_of.tolist(), values, strict=True), shares.tolist(), strict=True))
    assert found == pytest.approx(expected, abs=1e-9)
    # the likeliest value of each row is guessed
    for row, guess in enumerate(dealt.guesses(shares).tolist()):
        assert found[row, guess] == pytest.approx(max(each for (r, _), each in found.items() if r == row))


def test_each_sensitive_attribute_is_guessed_by_itself() -> None:
    columns = {
        "smokes": ["yes", "no", "yes", "no", "yes", "no"],
        "illness": ["lung", "flu", "lung", "flu", "gout", "lung"],
        "job": ["x", "x", "y", "y", "y", "y"],
    }
    schema = Schema((*SMOKES.attributes, Attribute("job", "sensitive")))
    plain = sanitize(Table.from_arrow(columns), schema, AsIs())
    release = replace(plain, group_of=np.arange(plain.n_rows) % 2)
    group_of, weights = release.groups.class_of.tolist(), release.weights.tolist()
    for taken in DeFinettiGain(rounds=1).measure(release):
        assert taken.attribute is not None
        own = release.own_values(taken.attribute).tolist()
        counts: Counter[tuple[int, int]] = Counter()
        for group, value, weight in zip(group_of, own, weights, strict=True):
            counts[group, value] += weight
        commonest = sum(max(n for (g, _), n in counts.items() if g == group) for group in (0, 1))
        learned = learned_in_loops(release, own, 1)
        right = 0
        for row, (value, weight) in enumerate(zip(own, weights, strict=True)):
            of_row = {v: round(n, 9) for (r, v), n in learned.items() if r == row}
            guess = max(of_row, key=lambda v: (of_row[v], counts[group_of[row], v], -v))
            right += weight * (guess == value)
        assert (taken.baseline, taken.detail["accuracy"]) == (commonest / 6, right / 6)
        assert taken.value == pytest.approx((right - commonest) / 6)


def two_rows() -> _Dealt:
    """Two rows of one group, each of one record, and two values, 7 and 4, which one record has each."""
    ones, pairs = np.ones(2, dtype=np.int64), np.array([0, 1, 0, 1])
    return _Dealt(np.array([0, 0, 1, 1]), pairs, np.array([0, 2]), ones, np.array([7, 4]), ones)


def test_rows_and_values_are_made_to_add_up_twenty_times_in_turn() -> None:
    # the second row cannot have the second value: what is left to it falls slowly, but never to nothing
    first, second, third, fourth = 1.0, 1.0, 1.0, 1e-12
    for _ in range(20):
        first, third = first / (first + third), third / (first + third)
        second, fourth = second / (second + fourth), fourth / (second + fourth)
        first, second = first / (first + second), second / (first + second)
        third, fourth = third / (third + fourth), fourth / (third + fourth)
    found = two_rows().balanced(np.array([1.0, 1.0, 1.0, 0.0]))
    assert found.tolist() == pytest.approx([first, second, third, fourth], rel=1e-9, abs=0)


def test_the_likeliest_value_is_guessed_and_of_equal_ones_the_commonest() -> None:
    # three of the group have the second value, one the first; the values are 7 and 4
    dealt = replace(two_rows(), counts=np.array([1, 3]))
    assert dealt.guesses(np.array([0.6, 0.4, 0.4, 0.6])).tolist() == [7, 4]
    assert dealt.guesses(np.array([0.5, 0.5, 0.3 + 2e-10, 0.3])).tolist() == [4, 4]
    assert dealt.guesses(np.array([0.3 + 4e-9, 0.3, 0.3, 0.3 + 4e-9])).tolist() == [7, 4]


def test_what_everybody_has_says_nothing() -> None:
    same = np.zeros(4, dtype=np.int64)
    found = two_rows()._log_likelihood(same, np.array([0, 1, 0, 1]), 2, np.array([0.9, 0.1, 0.2, 0.8]))
    assert found.tolist() == [0, 0, 0, 0]


def test_many_attributes_are_not_too_much_to_learn_from() -> None:
    release = sanitize(smokers(0.9), SMOKES, Anatomy(2), seed=2)
    own, codes = release.own_values("illness"), release.cells["smokes"].codes
    dealt = _Dealt.of(release, own, 5)
    once, often = (dealt.guesses(dealt.learned([codes] * n, 5, 1)) == own for n in (1, 2000))
    # the same two thousand times over makes sure of what it said once
    assert release.weights @ often >= release.weights @ once > 0.65 * release.n_records


def test_people_with_several_records_are_not_dealt_out() -> None:
    several = Schema((Attribute("name", "identifying"), *SMOKES.attributes), person="name")
    table = smokers(0.9).to_arrow()
    names = [str(place // 2) for place in range(len(table))]
    release = sanitize(table.append_column("name", [names]), several, Anatomy(2), seed=2)
    (taken,) = DeFinettiGain().measure(release)
    assert (taken.value, taken.detail["accuracy"]) == (0, taken.baseline)


def test_it_must_be_known_whose_each_value_is() -> None:
    release = sanitize(smokers(0.9), SMOKES, Anatomy(2), seed=2)
    for lacking in (with_unknown_rows(release), release.unlinked()):
        with pytest.raises(NotApplicable, match="whose each sensitive value is"):
            DeFinettiGain().measure(lacking)


def test_so_many_rounds_as_there_can_be() -> None:
    assert DeFinettiGain() == DeFinettiGain(rounds=20)
    with pytest.raises(ParameterError, match="rounds must be at least 1, not 0"):
        DeFinettiGain(rounds=0)
    assert DeFinettiGain(rounds=1).rounds == 1
