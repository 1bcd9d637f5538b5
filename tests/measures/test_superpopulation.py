"""Estimates of population uniques, against the papers' formulas, other programs and drawn populations."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from scipy import optimize, special, stats

from sfumato.measures.identity import superpopulation
from sfumato.measures.identity.superpopulation import (
    Estimator,
    NoEstimate,
    SampledClasses,
    fitted_pitman,
    fitted_slide,
    pitman,
    population_classes_by_shlosser,
    population_uniques,
    slide_negative_binomial,
    zayatz,
)

ARX: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "vectors" / "arx_uniqueness.json").read_text("utf-8")
)["classes"]
CASES = [(name, figures) for name, case in ARX.items() for figures in case["uniques"]]


def adult(name: str, fraction: float) -> SampledClasses:
    case = ARX[name]
    sizes, counts = np.array(case["sizes"]), np.array(case["counts"])
    return SampledClasses(sizes, counts, int(int(sizes @ counts) / fraction))


@pytest.mark.parametrize(("name", "figures"), CASES)
def test_zayatz_says_what_arx_says(name: str, figures: dict[str, float]) -> None:
    assert zayatz(adult(name, figures["fraction"])) == pytest.approx(figures["zayatz"], rel=1e-6)


@pytest.mark.parametrize(("name", "figures"), CASES)
def test_pitman_fits_what_arx_fits(name: str, figures: dict[str, float]) -> None:
    sample = adult(name, figures["fraction"])
    theta, alpha = fitted_pitman(sample)
    # ARX has the paper's limit for large populations, which is a little more than the expectation itself
    limit = math.exp(math.lgamma(theta + 1) - math.lgamma(theta + alpha)) * sample.n_population**alpha
    assert limit == pytest.approx(figures["pitman"], rel=1e-6)
    assert 0.93 * limit < pitman(sample) < limit


def test_the_fit_has_the_greatest_likelihood() -> None:
    sample = adult("sex, age, race, marital-status", 0.1)

    def unlikelihood(parameters: Any) -> float:
        theta, alpha = parameters
        steps = np.arange(1, sample.n_classes)
        within = [
            count * np.log(np.arange(1, size) - alpha).sum()
            for size, count in zip(sample.sizes, sample.counts, strict=True)
        ]
        joined = np.log(theta + steps * alpha).sum()
        return float(np.log(theta + np.arange(1, sample.n_records)).sum() - joined - sum(within))

    # by comparisons alone: where differences stand for slopes the search ends early on some machines
    closely = {"xatol": 1e-8, "fatol": 1e-10, "maxiter": 10_000}
    found = optimize.minimize(
        unlikelihood, (100.0, 0.5), method="Nelder-Mead", bounds=[(0.1, 1e4), (0.01, 0.99)], options=closely
    )
    assert fitted_pitman(sample) == pytest.approx(found.x, rel=1e-3)
    assert unlikelihood(fitted_pitman(sample)) <= found.fun + 1e-6


def test_pitmans_number_is_the_expectation_of_his_model() -> None:
    """The chance that a person is alone is that nobody who comes after joins: a product over all of them."""
    theta, alpha, n = 7.0, 0.4, 60
    # the first of n people stays alone with this chance, and any of them is as good as the first
    alone = math.prod(1 - (1 - alpha) / (theta + i) for i in range(1, n))
    sample = SampledClasses(np.array([1]), np.array([1]), n)
    found = n * math.exp(
        math.lgamma(theta + 1)
        - math.lgamma(theta + alpha)
        + math.lgamma(n + theta + alpha - 1)
        - math.lgamma(n + theta)
    )
    assert found == pytest.approx(n * alone)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(superpopulation, "fitted_pitman", lambda _: (theta, alpha))
        assert pitman(sample) == pytest.approx(n * alone)


def test_zayatz_is_bayes_rule_with_the_hypergeometric_distribution() -> None:
    sample = SampledClasses.of(np.array([1] * 40 + [2] * 20 + [5] * 10), 400)
    shares = sample.counts / sample.n_classes
    chances = stats.hypergeom(400, sample.sizes, sample.n_records).pmf(1)
    unique = shares[0] * chances[0] / (shares @ chances)
    assert zayatz(sample) == pytest.approx(40 * unique * 400 / 130)


@pytest.mark.parametrize("n_others", [1, 2, 3, 4])
def test_zayatz_counts_a_class_as_long_as_one_of_it_may_be_alone_in_the_sample(n_others: int) -> None:
    """Of a class of three both others must be among those who are not in the sample."""
    sample = SampledClasses.of(np.array([1] * 9 + [3]), 12 + n_others)
    of_one, of_three = stats.hypergeom(12 + n_others, np.array([1, 3]), 12).pmf(1)
    assert (of_three > 0) == (n_others >= 2)
    unique = 9 * of_one / (9 * of_one + of_three)
    assert zayatz(sample) == pytest.approx(9 * unique * (12 + n_others) / 12)


def test_a_class_too_large_for_the_rest_of_the_population_cannot_show_one_person() -> None:
    sample = SampledClasses.of(np.array([1] * 9 + [6]), 17)
    # of a class of six in a population of 17, a sample of 15 shows at least four
    assert zayatz(sample) == pytest.approx(9 * 17 / 15)


def test_the_slide_negative_binomial_model_expects_the_classes_of_one_and_two_that_there_are() -> None:
    sample = adult("sex, age, race, marital-status", 0.2)
    n_classes, alpha, beta = fitted_slide(sample)
    sizes = np.arange(1, 100_000)
    chances = stats.nbinom(alpha, beta).pmf(sizes - 1)
    for seen in (1, 2):
        expected = n_classes * (chances @ stats.binom(sizes, sample.fraction).pmf(seen))
        assert expected == pytest.approx(sample.of_size(seen), rel=1e-6)
    assert slide_negative_binomial(sample) == pytest.approx(n_classes * chances[0])


def test_the_classes_of_a_population_by_haas_and_stokes() -> None:
    sample, q = SampledClasses.of(np.array([1, 1, 1, 2, 3]), 32), 8 / 32
    singles, counts = 3, {1: 3, 2: 1, 3: 1}
    first = sum(i * q**2 * (1 - q**2) ** (i - 1) * f for i, f in counts.items())
    second = sum((1 - q) ** i * ((1 + q) ** i - 1) * f for i, f in counts.items())
    third = sum((1 - q) ** i * f for i, f in counts.items())
    fourth = sum(i * q * (1 - q) ** (i - 1) * f for i, f in counts.items())
    expected = 5 + singles * first / second * (third / fourth) ** 2
    assert population_classes_by_shlosser(sample) == pytest.approx(expected)


def drawn(sizes: np.ndarray, fraction: float, seed: int) -> tuple[SampledClasses, int]:
    """Draw a sample of a population with such classes; also return how many are unique in it."""
    rng = np.random.default_rng(seed)
    total = int(sizes.sum())
    seen = rng.multivariate_hypergeometric(sizes, int(total * fraction), method="marginals")
    return SampledClasses.of(seen[seen > 0], total), int((sizes == 1).sum())


def restaurant(n_people: int, theta: float, alpha: float, seed: int) -> np.ndarray:
    """Seat people by Pitman's rule: at a new table, or at one by its guests less alpha."""
    rng = np.random.default_rng(seed)
    tables: list[int] = []
    seats: list[int] = []
    for n_seated, chance in enumerate(rng.random(n_people)):
        if chance * (theta + n_seated) < theta + alpha * len(tables):
            tables.append(0)
            table = len(tables) - 1
        else:
            table = seats[int(rng.integers(n_seated))]
            while rng.random() * tables[table] < alpha:
                table = seats[int(rng.integers(n_seated))]
        tables[table] += 1
        seats.append(table)
    return np.array(tables)


@pytest.mark.parametrize("fraction", [0.1, 0.4])
def test_pitman_finds_the_uniques_of_a_population_of_his_kind(fraction: float) -> None:
    sample, uniques = drawn(restaurant(40_000, 150.0, 0.5, 3), fraction, 4)
    assert pitman(sample) == pytest.approx(uniques, rel=0.2)


def test_the_slide_negative_binomial_model_finds_the_uniques_of_a_population_of_its_kind() -> None:
    sizes = 1 + np.random.default_rng(1).negative_binomial(0.5, 0.2, 20_000)
    sample, uniques = drawn(sizes, 0.5, 2)
    assert slide_negative_binomial(sample) == pytest.approx(uniques, rel=0.05)


def test_half_of_the_census_tells_the_uniques_of_all_of_it() -> None:
    case = ARX["the nine attributes"]
    sample, uniques = drawn(np.repeat(case["sizes"], case["counts"]), 0.5, 5)
    for estimator in ("pitman", "zayatz", "slide-negative-binomial", "dankar"):
        assert population_uniques(sample, estimator)[0] == pytest.approx(uniques, rel=0.1)


def test_dankar_takes_pitman_for_small_samples_and_the_smaller_other_for_large_ones() -> None:
    name = "sex, age, race, marital-status"
    small, large = adult(name, 0.1), adult(name, 0.2)
    assert population_uniques(small, "dankar") == (pitman(small), "pitman")
    others: dict[str, float] = {
        "zayatz": zayatz(large),
        "slide-negative-binomial": slide_negative_binomial(large),
    }
    smaller = min(others, key=lambda each: others[each])
    assert population_uniques(large, "dankar") == (others[smaller], smaller)


def test_dankar_takes_zayatz_where_the_model_has_no_solution() -> None:
    sample = SampledClasses.of(np.array([1] * 40 + [2] * 20 + [5] * 10), 1300)
    with pytest.raises(NoEstimate, match="no maximum"):
        pitman(sample)
    assert population_uniques(sample, "dankar") == (zayatz(sample), "zayatz")
    without_pairs = SampledClasses.of(np.array([1] * 40 + [5] * 10), 300)
    assert population_uniques(without_pairs, "dankar") == (zayatz(without_pairs), "zayatz")


@pytest.mark.parametrize("estimator", ["dankar", "pitman", "zayatz", "slide-negative-binomial"])
def test_without_sample_uniques_or_outsiders_nothing_is_estimated(estimator: Estimator) -> None:
    for sizes, n_population, uniques in (([2, 3, 2], 100, 0), ([1, 1, 3], 5, 2)):
        sample = SampledClasses.of(np.array(sizes), n_population)
        assert population_uniques(sample, estimator) == (uniques, "none needed")


def test_every_estimator_that_may_be_named_has_a_model() -> None:
    assert set(get_args(superpopulation.Estimator)) == {"dankar", *superpopulation._MODELS}


def test_a_model_that_cannot_be_fitted_says_why() -> None:
    alone = SampledClasses.of(np.array([1, 1, 1]), 30)
    with pytest.raises(NoEstimate, match="classes of several sizes"):
        pitman(alone)
    with pytest.raises(NoEstimate, match="no maximum"):
        pitman(SampledClasses.of(np.array([5]), 30))
    with pytest.raises(NoEstimate, match="classes of two"):
        slide_negative_binomial(alone)
    with pytest.raises(NoEstimate, match="no slide negative binomial model"):
        slide_negative_binomial(SampledClasses.of(np.array([1] + [2] * 300), 1000))


@pytest.mark.parametrize("x", [1e-6, 0.3, 1.0, 2.5, 9.99, 10.0, 123.4, 5e7])
def test_the_digamma_function(x: float) -> None:
    assert superpopulation._digamma(x) == pytest.approx(float(special.digamma(x)), rel=1e-13)
    assert superpopulation._digammas(np.array([x, 1 + x])) == pytest.approx(
        special.digamma([x, 1 + x]), rel=1e-12
    )


def test_what_the_digamma_function_is_below_the_logarithm_by_its_series() -> None:
    """The first terms of the asymptotic series, 1 / 2x + sum B(2k) / (2k x^2k), where all of them count."""
    numbers = special.bernoulli(10)
    expected = 1 / 4 + sum(numbers[2 * k] / (2 * k * 2.0 ** (2 * k)) for k in range(1, 6))
    assert superpopulation._below_logarithm(2.0) == pytest.approx(expected, rel=1e-12)


def test_a_sample_counts_each_size_once_and_does_not_change() -> None:
    sample = SampledClasses.of(np.array([3, 1, 1, 2, 1]), 16)
    assert (sample.sizes.tolist(), sample.counts.tolist()) == ([1, 2, 3], [3, 1, 1])
    assert (sample.n_records, sample.n_classes, sample.fraction) == (8, 5, 0.5)
    assert [sample.of_size(size) for size in (1, 2, 4)] == [3, 1, 0]
    for array in (sample.sizes, sample.counts):
        assert array.dtype == np.int64
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7


def test_a_root_is_where_a_falling_function_is_zero() -> None:
    assert superpopulation._root(lambda x: 0.3 - x, 0.0, 1.0) == pytest.approx(0.3, abs=1e-12)
    for function in (lambda x: -x, lambda x: 1 - x, lambda x: -1.0, lambda x: 1.0):
        with pytest.raises(NoEstimate, match="no maximum"):
            superpopulation._root(function, 0.0, 1.0)


def test_of_several_roots_the_one_nearest_to_one_is_taken() -> None:
    """A function that is zero at 0.2 and at 0.6, whichever side of it is above zero."""
    for sign in (1, -1):
        found = superpopulation._root_nearest_one(lambda x, sign=sign: sign * (x - 0.2) * (x - 0.6))  # type: ignore[misc]
        assert found == pytest.approx(0.6, abs=1e-12)
    assert superpopulation._root_nearest_one(lambda x: x - 1e-8) == pytest.approx(1e-8, rel=1e-6)
    assert superpopulation._root_nearest_one(lambda x: 1 - 1e-8 - x) == pytest.approx(1 - 1e-8, abs=1e-12)
    # one half is among the numbers that are tried
    assert superpopulation._root_nearest_one(lambda x: (x - 0.2) * (x - 0.5)) == 0.5
    with pytest.raises(NoEstimate, match="no slide negative binomial model"):
        superpopulation._root_nearest_one(lambda x: 1.0)


def test_roots_are_told_apart_that_have_a_twentieth_of_a_logit_between_them() -> None:
    def function(x: float) -> float:
        logit = math.log(x / (1 - x))
        return (logit - 0.049) * (logit - 0.051)

    assert superpopulation._root_nearest_one(function) == pytest.approx(1 / (1 + math.exp(-0.051)))


@pytest.mark.parametrize(
    ("theta", "alpha", "n"), [(7.0, 0.4, 60), (-0.2, 0.5, 2), (3.0, 1.0, 9), (0.5, 0.9, 1)]
)
def test_a_sum_of_inverses_from_two_digammas(theta: float, alpha: float, n: int) -> None:
    expected = sum(1 / (theta + i * alpha) for i in range(1, n))
    assert superpopulation._harmonic(theta, alpha, n) == pytest.approx(expected, abs=1e-12)


def test_dankar_takes_the_larger_model_up_to_a_tenth_and_the_smaller_estimate_beyond(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    models = {"zayatz": 5.0, "pitman": 9.0, "slide-negative-binomial": 7.0}
    monkeypatch.setattr(superpopulation, "zayatz", lambda _: models["zayatz"])
    monkeypatch.setattr(
        superpopulation, "_MODELS", {name: lambda _, name=name: models[name] for name in models}
    )
    sizes = np.array([1] * 6 + [2] * 2)
    for n_population, found in ((100, (9.0, "pitman")), (99, (5.0, "zayatz"))):
        assert population_uniques(SampledClasses.of(sizes, n_population), "dankar") == found
    models["zayatz"] = 8.0
    assert population_uniques(SampledClasses.of(sizes, 99), "dankar") == (7.0, "slide-negative-binomial")
    for name in ("pitman", "zayatz", "slide-negative-binomial"):
        assert population_uniques(SampledClasses.of(sizes, 99), name) == (models[name], name)
