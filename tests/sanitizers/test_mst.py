"""Tests of MST: what is spent, whom it protects, and how near its records come with and without noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sfumato import Attribute, Hierarchy, Intervals, PublicValues, Schema, Table, measure, sanitize
from sfumato.runtime.errors import ParameterError, SchemaError
from sfumato.sanitizers import MST
from sfumato.sanitizers.base import RareValues
from sfumato.sanitizers.synthesize import dp_binning, mst, noisy_counts, private_records
from sfumato.sanitizers.synthesize.private_records import PrivateRecords

Bound = tuple[Table, Schema]


def drawn_table(n: int = 3_000, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    town = rng.integers(0, 3, n)
    job = (town + (rng.random(n) < 0.3)) % 3
    age = 20 + 10 * job + rng.integers(0, 25, n)
    columns = {"town": np.array(list("ABC"))[town], "job": np.array(list("xyz"))[job], "age": age}
    return Table.from_arrow({name: each.tolist() for name, each in columns.items()})


WHOLE = PublicValues(whole=True)
SCHEMA = Schema(
    (
        Attribute(
            "town",
            "quasi-identifying",
            "categorical",
            hierarchy=Hierarchy.nested({"north": ["A", "B", "D"], "south": ["C"]}),
        ),
        Attribute("age", "quasi-identifying", "numeric", Intervals((5, 10)), public=WHOLE),
        Attribute("job", "sensitive", "categorical"),
    )
)


def measuring(monkeypatch: pytest.MonkeyPatch, name: str, instead: Callable[..., Any]) -> None:
    """Let the records be measured with something else."""
    monkeypatch.setattr(private_records, name, instead)


def test_a_budget_is_spent_to_the_last_and_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[float] = []
    for name in ("with_noise", "frequent_with_noise", "noisy_largest"):
        original = getattr(noisy_counts, name)

        def counted(*given: Any, original: Callable[..., Any] = original) -> Any:
            spent.append(given[1])
            return original(*given)

        measuring(monkeypatch, name, counted)
    sanitize(drawn_table(), SCHEMA, MST(epsilon=2.0, delta=1e-5))
    assert len(spent) == (3 + 1) + 2 + 2
    assert math.fsum(spent) == pytest.approx(noisy_counts.rho_of(2.0, 0.5e-5))


@pytest.mark.parametrize("delta", [1e-4, 1e-9])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 20.0])
def test_the_budget_is_at_least_that_of_the_textbook_and_within_the_gaussian_curve(
    epsilon: float, delta: float
) -> None:
    rho = noisy_counts.rho_of(epsilon, delta)
    logarithm = math.log(1 / delta)
    assert rho >= 0.99 * (math.sqrt(logarithm + epsilon) - math.sqrt(logarithm)) ** 2
    # the exact curve of one Gaussian measurement with this rho (Balle & Wang 2018) must lie within delta
    mu = math.sqrt(2 * rho)
    reached = normal(mu / 2 - epsilon / mu) - math.exp(epsilon) * normal(-mu / 2 - epsilon / mu)
    assert reached <= delta


def normal(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2))


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_every_measurement_spends_no_more_than_its_share(epsilon: float) -> None:
    # the noise of 10,000 counts: rho = (sensitivity / scale)^2 / 2
    rho = noisy_counts.rho_of(epsilon, 1e-6)
    noise = noisy_counts.with_noise(np.zeros(10_000, dtype=np.int64), rho, 2)
    assert noise.std() == pytest.approx(2 / math.sqrt(2 * rho), rel=0.05)
    assert (noise == np.rint(noise)).all()


def test_a_value_of_one_person_is_told_as_rarely_as_delta_allows() -> None:
    told = sum(len(noisy_counts.frequent_with_noise(np.array([1]), 0.5, 0.05, 1)[0]) for _ in range(2_000))
    assert told / 2_000 < 0.05 + 4 * math.sqrt(0.05 * 0.95 / 2_000)
    values, counts = noisy_counts.frequent_with_noise(np.array([0, 500, 0, 700]), 0.5, 1e-6, 1)
    assert values.tolist() == [1, 3]
    assert counts == pytest.approx([500, 700], abs=12)


def test_a_person_changes_no_measured_number_by_more_than_their_records(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ask again without each person, all noisy answers being those of the whole table."""
    rng = np.random.default_rng(5)
    people = rng.integers(0, 25, 60)
    keys = [rng.integers(0, size, 60) for size in (3, 2, 6, 4)]
    most = int(np.bincount(people).max())

    def ask(stays: np.ndarray, answers: list[Any]) -> list[np.ndarray]:
        asked: list[np.ndarray] = []

        def answering(plain: Callable[..., Any]) -> Callable[..., Any]:
            def answer(counts: Any, rho: float, *rest: Any) -> Any:
                assert rest[-1] == most
                if len(answers) == len(asked):
                    answers.append(plain(np.asarray(counts)))
                asked.append(np.asarray(counts))
                return answers[len(asked) - 1]

            return answer

        measuring(monkeypatch, "with_noise", answering(lambda counts: counts + 0.0))
        frequent = answering(lambda counts: (np.arange(len(counts)), counts + 0.0))
        measuring(monkeypatch, "frequent_with_noise", frequent)
        measuring(monkeypatch, "noisy_largest", answering(lambda scores: int(scores.argmax())))
        # which keys are declared is the same of both tables
        declared = [(False,) * size for size in (3, 2, 6, 4)]
        mst.count_along_tree(PrivateRecords([each[stays] for each in keys], declared, 1.0, 1e-6, most))
        return asked

    answers: list[Any] = []
    whole = ask(people >= 0, answers)
    assert len(whole) == (1 + 4) + 3 + 3
    largest = 0.0
    for person in np.unique(people):
        n_records = np.count_nonzero(people == person)
        for before, after in zip(whole, ask(people != person, answers), strict=True):
            same = np.zeros_like(before)
            same[: len(after)] = after  # values after the last that occurs are left out
            change = (before - same).ravel()
            assert np.linalg.norm(change) <= n_records or before.ndim == 1
            assert np.abs(change).max() <= n_records
            largest = max(largest, float(np.abs(change).max()))
    assert largest == most  # the bound is reached, so that it could be broken


def test_without_noise_to_speak_of_the_counts_are_those_of_the_table() -> None:
    table = drawn_table()
    release = sanitize(table, SCHEMA, MST(epsilon=1e4))
    assert release.n_records == pytest.approx(3_000, abs=5)
    records, original = release.to_arrow().to_pandas(), table.to_pandas()
    for name in ("town", "job"):
        found, true = records[name].value_counts(), original[name].value_counts()
        assert (found - true).abs().max() <= 6
    assert (records["age"] // 5).value_counts().sub((original["age"] // 5).value_counts()).abs().max() <= 6
    both, true = (each.groupby(["town", "job"]).size() for each in (records, original))
    assert both.sub(true, fill_value=0).abs().max() <= 8


def test_ages_are_drawn_from_public_intervals_and_not_from_those_that_occur() -> None:
    table = Table.from_arrow({"age": [40] * 500 + [52] * 500, "town": ["A", "B"] * 500, "job": ["x"] * 1_000})
    release = sanitize(table, SCHEMA, MST(epsilon=20.0))
    ages = release.to_arrow()["age"].to_pylist()
    assert set(ages) == {40, 41, 42, 43, 44, 50, 51, 52, 53, 54}


def test_fractions_are_drawn_evenly_within_their_interval_and_missing_values_stay() -> None:
    numbers = [0.25, 0.75, None, 1.5] * 300
    table = Table.from_arrow({"age": numbers, "town": ["A"] * 1_200, "job": ["x"] * 1_200})
    schema = Schema(
        (
            SCHEMA["town"],
            Attribute(
                "age", "quasi-identifying", "numeric", Intervals((1,)), public=PublicValues(whole=False)
            ),
            SCHEMA["job"],
        )
    )
    ages = sanitize(table, schema, MST(epsilon=20.0)).to_arrow()["age"].to_pylist()
    assert ages.count(None) == pytest.approx(300, abs=15)
    low = [age for age in ages if age is not None and age < 1]
    assert len(low) == pytest.approx(600, abs=15)
    assert np.mean(low) == pytest.approx(0.5, abs=0.05)


def test_an_attribute_of_which_no_value_is_common_is_withheld_and_said_so() -> None:
    table = Table.from_arrow({"town": ["A", "B"] * 200, "job": ["x"] * 400, "card": list(range(400))})
    card = Attribute("card", "insensitive", "numeric", public=WHOLE)
    schema = Schema((SCHEMA["town"], SCHEMA["job"], card))
    with pytest.warns(RareValues, match=r"No value of card .* declare wider intervals"):
        release = sanitize(table, schema, MST(epsilon=5.0))
    assert set(release.to_arrow()["card"].to_pylist()) == {"*"}
    assert any("No value of card" in note for note in release.notes)


def test_at_most_so_many_records_of_a_person_count() -> None:
    visits = {"who": [1] * 50 + list(range(2, 12)), "town": ["A"] * 50 + ["B"] * 10}
    schema = Schema.of(who="identifying", town="quasi-identifying")
    bound, _ = Schema(schema.attributes, person="who").bind(Table.from_arrow(visits))
    rows = dp_binning.counted_rows(bound, 3)
    people = np.bincount(bound.person_of[rows])
    assert people.max() == 3
    assert len(rows) == 13


def test_the_promise_names_unit_epsilon_and_delta() -> None:
    by_record = MST(0.5, 1e-7)
    assert by_record.guarantee(SCHEMA).unit == "record"
    (note, *_) = sanitize(drawn_table(), SCHEMA, by_record).notes
    assert "(0.5, 1e-07)-differentially private" in note
    with_people = Schema((*SCHEMA.attributes, Attribute("who", "identifying")), person="who")
    assert by_record.guarantee(with_people).unit == "person"


def test_more_epsilon_loses_less() -> None:
    table = drawn_table(600)
    losses = [
        np.mean([measure(sanitize(table, SCHEMA, MST(e)), ["utility-loss"])[0].value for _ in range(5)])
        for e in (0.1, 1.0, 30.0)
    ]
    assert losses[0] > losses[1] > losses[2]


@pytest.mark.parametrize(
    "parameters",
    [{"epsilon": 0.0}, {"delta": 0.0}, {"delta": 1.0}, {"n_records": -1}, {"records_per_person": 0}],
)
def test_a_parameter_that_means_nothing_is_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        MST(**parameters)


def test_an_epsilon_that_leaves_nothing_to_tell_is_refused() -> None:
    with pytest.raises(ParameterError, match="leaves nothing"):
        noisy_counts.rho_of(1e-9, 1e-9)


# What is public


def ages(*others: float) -> Table:
    """Return 3,000 whole ages, with others in the place of the first ones."""
    numbers = [*others, *(20 + place % 60 for place in range(len(others), 3_000))]
    return Table.from_arrow({"age": numbers})


def one_column(public: PublicValues, widths: tuple[float, ...] = (5,)) -> Schema:
    return Schema((Attribute("age", "quasi-identifying", "numeric", Intervals(widths), public=public),))


def test_one_fraction_among_whole_numbers_is_refused_where_wholeness_is_declared() -> None:
    with pytest.raises(SchemaError, match=r"'age' is declared public with whole = true, but some of its"):
        sanitize(ages(30.5), one_column(WHOLE), MST(epsilon=0.5))


def test_one_fraction_among_whole_numbers_does_not_decide_whether_there_are_fractions() -> None:
    schema = one_column(PublicValues(whole=False))
    for table in (ages(), ages(30.5)):
        for _ in range(5):
            released = sanitize(table, schema, MST(epsilon=0.5)).to_arrow()["age"].to_pylist()
            assert any(age != round(age) for age in released)


@pytest.mark.parametrize(
    ("attribute", "line"),
    [
        (Attribute("age", "quasi-identifying"), 'kind = "numeric"'),
        (Attribute("age", "quasi-identifying", "numeric"), r"public = \{ whole = true \}"),
    ],
)
def test_what_is_not_declared_is_refused_with_the_line_to_paste(attribute: Attribute, line: str) -> None:
    with pytest.raises(SchemaError, match=rf"^mst takes nothing .* write under \[attributes\.age\]: {line}$"):
        sanitize(ages(), Schema((attribute,)), MST())


def test_a_table_of_more_people_than_declared_is_refused() -> None:
    few = Schema(one_column(WHOLE).attributes, people_at_most=2_999)
    with pytest.raises(SchemaError, match=r"more people than people-at-most = 2999 declares"):
        sanitize(ages(), few, MST())


def test_numbers_beyond_declared_bounds_count_as_the_nearest_and_drawn_ones_lie_within() -> None:
    schema = one_column(PublicValues(whole=True, bounds=(22, 71)))
    released = sanitize(ages(-900, 4_000), schema, MST(epsilon=100.0)).to_arrow()["age"].to_pylist()
    assert (min(released), max(released)) == (22, 71)
    # the last interval is cut to 70 and 71, which share the 501 people of 70 years and more
    assert released.count(71) == pytest.approx(250, abs=30)


def test_a_declared_value_that_nobody_has_changes_nothing_of_what_is_known() -> None:
    """With a declared domain the values that are known do not depend on which of them occur."""
    town = Attribute("town", "quasi-identifying", "categorical", public=PublicValues(domain=("A", "B", "C")))
    for towns in (["A"] * 400, ["A"] * 399 + ["B"]):
        release = sanitize(Table.from_arrow({"town": towns}), Schema((town,)), MST(epsilon=1.0))
        assert release.cells["town"].domain == ("A", "B", "C")


def test_a_value_beyond_the_declared_domain_is_released_only_if_it_is_common() -> None:
    town = Attribute("town", "quasi-identifying", "categorical", public=PublicValues(domain=("A",)))
    table = Table.from_arrow({"town": ["A"] * 500 + ["B"] * 500 + ["C"]})
    released = sanitize(table, Schema((town,)), MST(epsilon=3.0)).to_arrow()["town"].to_pylist()
    assert set(released) == {"A", "B"}


def test_values_that_are_mostly_too_rare_are_warned_of() -> None:
    cards = [f"c{place}" for place in range(700)] + ["common"] * 300
    schema = Schema((Attribute("card", "insensitive", "categorical"),))
    with pytest.warns(RareValues, match=r"Most values of card are too rare .* \d\d% of the records"):
        sanitize(Table.from_arrow({"card": cards}), schema, MST(epsilon=3.0))


def test_a_method_cannot_spend_more_than_the_budget() -> None:
    records = PrivateRecords([np.arange(10)], [(False,) * 10], 1.0, 1e-6, 1)
    records.count_records(0.6)
    with pytest.raises(ParameterError, match="more than is left"):
        records.count_values(0, 0.6, 1e-6)
    with pytest.raises(ParameterError, match="more than is left"):
        PrivateRecords([np.arange(10)], [(False,) * 10], 1.0, 1e-6, 1).count_values(0, 0.5, 1e-5)


def test_a_method_has_no_name_for_the_records_themselves() -> None:
    records = PrivateRecords([np.arange(10)], [(False,) * 10], 1.0, 1e-6, 1)
    arrays = {name for name, value in vars(records).items() if isinstance(value, (tuple, np.ndarray))}
    assert all(name.startswith("_PrivateRecords__") for name in arrays)
