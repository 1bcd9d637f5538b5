"""Every model's level and verdict against the definitions, in exact fractions over single records."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from sfumato import Recipe, Release, Schema, Table, sanitize
from sfumato.models import (
    AlphaKAnonymity,
    BetaLikeness,
    ConfidenceBound,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    PrivacyModel,
    ProbabilisticDiversity,
    RecursiveDiversity,
    SafetyOrder,
    TCloseness,
    all_of,
)
from sfumato.registry import methods
from sfumato.results.release import failing_rows, holds
from sfumato.runtime.errors import Infeasible, ParameterError
from sfumato.sanitizers import AsIs, FullDomain, Mondrian

Record = dict[str, Any]
Distribution = dict[Any, Fraction]

SCHEMA = Schema.of(age="quasi-identifying", ill="sensitive", job="sensitive")
RECORDS = st.lists(
    st.fixed_dictionaries(
        {
            "age": st.sampled_from([1, 2, 3, None]),
            "ill": st.sampled_from(["a", "b", "c", "d", None]),
            "job": st.sampled_from(["x", "y"]),
        }
    ),
    min_size=1,
    max_size=8,
)

EXTREMES: dict[str, list[Record]] = {
    "one record": [{"age": 1, "ill": "a", "job": "x"}],
    "all alike": [{"age": 1, "ill": "a", "job": "x"}] * 5,
    "all distinct": [{"age": n, "ill": f"v{n}", "job": f"w{n}"} for n in range(6)],
    "one sensitive value": [{"age": n // 2, "ill": "a", "job": "x"} for n in range(6)],
    "nothing known": [{"age": None, "ill": None, "job": "x"}] * 3,
    "some unknown": [
        {"age": n % 2, "ill": ["a", None, "b", None][n % 4], "job": "xy"[n % 2]} for n in range(8)
    ],
    "a class that lacks a value": [
        {"age": 1 + (n > 3), "ill": "aabbaaaa"[n], "job": "xyxyxyxy"[n]} for n in range(8)
    ],
}


def shares(records: list[Record], name: str) -> Distribution:
    counts = Counter(record[name] for record in records)
    return {value: Fraction(count, len(records)) for value, count in counts.items()}


def falling(records: list[Record], name: str) -> list[int]:
    return sorted(Counter(record[name] for record in records).values(), reverse=True)


def tail_ratio(counts: list[int], l: int) -> Fraction | float:  # noqa: E741
    if l == 1:
        return Fraction(0)
    rare = sum(counts[l - 1 :])
    return Fraction(counts[0], rare) if rare else math.inf


def apart(here: Distribution, there: Distribution, model: TCloseness) -> Fraction | float:
    if model.distance == "equal":
        return sum((abs(here.get(v, Fraction(0)) - q) for v, q in there.items()), Fraction(0)) / 2
    middle = {value: (here.get(value, 0) + q) / 2 for value, q in there.items()}
    return sum(
        float(p) * math.log(p / middle[value]) / 2 for side in (here, there) for value, p in side.items()
    )


def most_disclosed(here: Distribution, there: Distribution, model: DeltaDisclosure) -> float:
    if model.absent == "violates" and len(here) < len(there):
        return math.inf
    return max(abs(math.log(p / there[value])) for value, p in here.items()) / math.log(model.base)


def most_gained(here: Distribution, there: Distribution, model: BetaLikeness) -> Fraction | float:
    gains = {value: max(p / there[value] - 1, Fraction(0)) for value, p in here.items()}
    if model.variant == "enhanced" and any(gain > -math.log(there[v]) for v, gain in gains.items() if gain):
        return math.inf
    return max(gains.values())


def most_frequent(here: Distribution, model: AlphaKAnonymity) -> Fraction:
    own = {value: Fraction(model.alphas.get(str(value), model.alpha)) for value in here}
    return max(p * Fraction(model.alpha) / own[value] for value, p in here.items())


def most_confident(here: Distribution, there: Distribution, model: ConfidenceBound) -> Fraction:
    if len(here) == 1:
        return Fraction(1)
    return max((p for value, p in here.items() if there[value] <= model.common), default=Fraction(0))


def entropy(here: Distribution) -> float:
    return -sum(float(p) * math.log(p) for p in here.values())


def place_in_order(size: int, most: int, model: SafetyOrder) -> Any:
    """Return the size, changed where the diversity decides."""
    diversity = size // most
    if model.prefer == "l":
        return size if diversity >= model.d2 else size - Fraction(1, 2)
    return size if diversity == model.d2 else math.inf if diversity > model.d2 else 0


Score = Callable[[Any, list[Record], list[Record], str], Any]
ORACLES: dict[type[PrivacyModel], Score] = {
    KAnonymity: lambda _, members, everybody, name: len(members),
    DistinctDiversity: lambda _, members, everybody, name: len(shares(members, name)),
    SafetyOrder: lambda model, members, everybody, name: place_in_order(
        len(members), falling(members, name)[0], model
    ),
    ProbabilisticDiversity: lambda _, members, everybody, name: 1 / max(shares(members, name).values()),
    EntropyDiversity: lambda _, members, everybody, name: math.exp(entropy(shares(members, name))),
    RecursiveDiversity: lambda model, members, everybody, name: tail_ratio(falling(members, name), model.l),
    AlphaKAnonymity: lambda model, members, everybody, name: most_frequent(shares(members, name), model),
    ConfidenceBound: lambda model, members, everybody, name: most_confident(
        shares(members, name), shares(everybody, name), model
    ),
    TCloseness: lambda model, members, everybody, name: apart(
        shares(members, name), shares(everybody, name), model
    ),
    DeltaDisclosure: lambda model, members, everybody, name: most_disclosed(
        shares(members, name), shares(everybody, name), model
    ),
    BetaLikeness: lambda model, members, everybody, name: most_gained(
        shares(members, name), shares(everybody, name), model
    ),
}

MODELS: list[Any] = [
    KAnonymity(2),
    DistinctDiversity(2),
    SafetyOrder(3, 2, "l"),
    SafetyOrder(2, 2, "k"),
    ProbabilisticDiversity(1.5),
    EntropyDiversity(1.5),
    RecursiveDiversity(2.0, 2),
    RecursiveDiversity(2.0, 3),
    RecursiveDiversity(0.5, 1),
    AlphaKAnonymity(0.5, 1),
    AlphaKAnonymity(0.75, 1, {"a": 0.25, "x": 1.0}),
    ConfidenceBound(),
    ConfidenceBound(0.6, 0.45),
    TCloseness(0.3),
    TCloseness(0.1, "js"),
    DeltaDisclosure(0.8),
    DeltaDisclosure(0.8, absent="ignored"),
    DeltaDisclosure(1.0, base=2.0, absent="ignored"),
    BetaLikeness(0.5),
    BetaLikeness(1.0, "enhanced"),
]
EVERY_MODEL = pytest.mark.parametrize("model", MODELS, ids=str)


def release_of(records: list[Record], how: Any = AsIs()) -> Release:  # noqa: B008
    columns = {name: [record[name] for record in records] for name in SCHEMA.released}
    return sanitize(Table.from_arrow(columns), SCHEMA, how)


def classes_of(release: Release) -> list[list[Record]]:
    classes: dict[Any, list[Record]] = {}
    for record in release.to_arrow().to_pylist():
        classes.setdefault(record["age"], []).append(record)
    return list(classes.values())


def levels(model: Any, classes: list[list[Record]], everybody: list[Record]) -> list[Any]:
    """Return the level of each class, the less safe of both sensitive attributes."""
    worse = min if model.better == "higher" else max
    each = ORACLES[type(model)]
    return [worse(each(model, members, everybody, name) for name in SCHEMA.sensitive) for members in classes]


def keeps(model: Any, level: Any) -> bool:
    """Return whether a level keeps the limit; what is not a fraction may be off by a rounding error."""
    spare = level - Fraction(model.limit) if isinstance(level, (int, Fraction)) else level - model.limit
    spare = spare if model.better == "higher" else -spare
    slack = 0 if isinstance(level, int) else 1e-12
    return bool(spare > slack if model.strict else spare >= -slack)


def checked(model: Any, release: Release, everybody: list[Record]) -> None:
    expected = levels(model, classes_of(release), everybody)
    found = model.scores(release.partition(model))
    assert sorted(found) == pytest.approx(sorted(map(float, expected)), abs=1e-12)
    worst = min(expected) if model.better == "higher" else max(expected)
    assert model.level(release.partition(model)) == pytest.approx(float(worst), abs=1e-12)
    assert holds(release, model) is all(keeps(model, level) for level in expected)


# What is drawn is drawn and released once for all models: that takes longer than to judge it.
@given(records=RECORDS)
@settings(max_examples=80)
def test_levels_and_verdicts_are_those_of_the_definitions(records: list[Record]) -> None:
    release = release_of(records)
    for model in MODELS:
        note(str(model))
        checked(model, release, records)


@EVERY_MODEL
@pytest.mark.parametrize("records", EXTREMES.values(), ids=EXTREMES)
def test_no_model_holds_by_accident_in_an_extreme_table(model: Any, records: list[Record]) -> None:
    checked(model, release_of(records), records)


@given(records=RECORDS)
@settings(max_examples=60)
def test_suppressed_records_count_in_the_prior_and_nowhere_else(records: list[Record]) -> None:
    try:
        release = release_of(records, FullDomain({}, KAnonymity(2), suppression=1.0))
    except Infeasible:
        return
    assert all(len(members) >= 2 for members in classes_of(release))
    for model in MODELS:
        note(str(model))
        checked(model, release, records)


def limits_at(model: Any, level: float) -> Iterator[tuple[Any, bool]]:
    """Yield the model with its limit at a level, a little safer and a little less safe; what should hold."""
    safer = 1 if model.better == "higher" else -1
    for step, verdict in ((0, not model.strict), (safer, False), (-safer, True)):
        limit = level + step * 1e-6
        with contextlib.suppress(ParameterError):  # there is no alpha above 1
            yield dataclasses.replace(model, **{model.parameter: limit}), verdict


@given(records=RECORDS)
@settings(max_examples=80)
def test_only_delta_disclosure_and_recursive_diversity_are_strict_at_a_tie(records: list[Record]) -> None:
    release = release_of(records)
    for model in (m for m in MODELS if m.parameter != "k" and not getattr(m, "alphas", 0)):
        note(str(model))
        assert model.strict is isinstance(model, (DeltaDisclosure, RecursiveDiversity))
        (worst, *_) = sorted(levels(model, classes_of(release), records), reverse=model.better == "lower")
        if math.isinf(worst) or type(model) is DistinctDiversity:
            continue
        for at_limit, verdict in limits_at(model, float(worst)):
            assert holds(release, at_limit) is verdict


@given(records=RECORDS, k=st.integers(1, 9))
def test_whole_limits_hold_at_a_tie(records: list[Record], k: int) -> None:
    release = release_of(records)
    assert holds(release, KAnonymity(k)) is all(len(members) >= k for members in classes_of(release))
    values = [min(len(shares(m, name)) for name in SCHEMA.sensitive) for m in classes_of(release)]
    assert holds(release, DistinctDiversity(k)) is (min(values) >= k)


@given(records=RECORDS, chosen=st.lists(st.sampled_from(MODELS), min_size=2, max_size=4, unique_by=type))
@settings(max_examples=150)
def test_a_conjunction_holds_where_all_of_its_models_hold(records: list[Record], chosen: list[Any]) -> None:
    release = release_of(records)
    together = chosen[0]
    for model in chosen[1:]:
        together &= model
    assert holds(release, together) is all(holds(release, model) for model in chosen)
    fails = [failing_rows(release, model) for model in chosen]
    assert failing_rows(release, together).tolist() == [any(row) for row in zip(*fails, strict=True)]
    parts = [part for model in chosen for part in model.parts]
    assert sorted(map(str, together.parts)) == sorted(map(str, parts))
    scores = together.scores(release.groups)
    assert (together.satisfied(release.groups) == (scores == len(parts))).all()


@given(chosen=st.lists(st.sampled_from(MODELS), min_size=2, max_size=4, unique_by=type), data=st.data())
def test_the_order_in_which_models_are_joined_does_not_matter(chosen: list[Any], data: st.DataObject) -> None:
    again = data.draw(st.permutations(chosen))
    assert all_of(chosen) == all_of(again)
    assert str(Recipe.of(Mondrian(all_of(chosen)))) == str(Recipe.of(Mondrian(all_of(again))))


@given(records=RECORDS)
@settings(max_examples=60)
def test_no_class_below_the_smallest_one_satisfies_the_model(records: list[Record]) -> None:
    groups = release_of(records).groups
    for model in MODELS:
        note(str(model))
        small = groups.sizes < model.smallest_class
        assert not model.satisfied(groups)[small].any()


@given(records=RECORDS, model=st.sampled_from(MODELS))
@settings(max_examples=150)
def test_mondrian_releases_only_what_keeps_the_model(records: list[Record], model: Any) -> None:
    try:
        release = release_of(records, Mondrian(model))
    except ParameterError:
        assert set(model.alphas) - {record[name] for record in records for name in SCHEMA.sensitive}
        return
    except Infeasible:
        assert not keeps_all(model, [records], records)
        return
    assert keeps_all(model, classes_of(release), records)


def keeps_all(model: Any, classes: list[list[Record]], everybody: list[Record]) -> bool:
    return all(keeps(part, level) for part in model.parts for level in levels(part, classes, everybody))


@EVERY_MODEL
def test_a_recipe_with_the_model_survives_json(model: Any) -> None:
    for how in (Mondrian(model), FullDomain({"age": 1}, model, 0.1)):
        read = Recipe.from_json(Recipe.of(how, seed=3).to_json())
        assert read.build() == how
        assert read.seed == 3


@pytest.mark.parametrize("name", methods.registered("model"))
def test_every_registered_model_has_an_oracle_here(name: str) -> None:
    assert methods.look_up("model", name) in ORACLES


def test_a_recipe_with_all_models_survives_json() -> None:
    everything = all_of(next(model for model in MODELS if type(model) is cls) for cls in ORACLES)
    how = Mondrian(everything)
    assert Recipe.from_json(Recipe.of(how).to_json()).build() == how
    assert len(everything.parts) == len(ORACLES) + 1


class TestAtTheEnds:
    """k = 1 and k = n, and what a table that is one class reaches."""

    def test_k_of_one_always_holds(self) -> None:
        for records in EXTREMES.values():
            assert holds(release_of(records), KAnonymity(1))

    def test_k_of_all_records_holds_only_in_one_class(self) -> None:
        for records in EXTREMES.values():
            release = release_of(records)
            one_class = len({record["age"] for record in records}) == 1
            assert holds(release, KAnonymity(len(records))) is one_class
            assert not holds(release, KAnonymity(len(records) + 1))

    @EVERY_MODEL
    def test_one_class_of_all_records_is_as_close_as_can_be(self, model: Any) -> None:
        if not isinstance(model, (TCloseness, DeltaDisclosure, BetaLikeness)):
            return
        for records in EXTREMES.values():
            alike = [{**record, "age": 1} for record in records]
            assert model.level(release_of(alike).groups) == 0

    def test_one_sensitive_value_is_diverse_for_no_l_above_one(self) -> None:
        release = release_of(EXTREMES["one sensitive value"])
        for model in (ProbabilisticDiversity(1.01), EntropyDiversity(1.01), DistinctDiversity(2)):
            assert not holds(release, model)
        assert not holds(release, RecursiveDiversity(1e9, 2))
        assert not holds(release, AlphaKAnonymity(0.99, 1))
        assert holds(release, AlphaKAnonymity(1.0, 2))

    def test_a_missing_sensitive_value_is_a_value_like_any_other(self) -> None:
        release = release_of([{"age": 1, "ill": ill, "job": "x"} for ill in ("a", None)])
        assert DistinctDiversity().level(release.groups) == 1  # everybody has one job
        counts = release.groups.sensitive["ill"]
        assert counts.counts.tolist() == [1, 1]
