"""Risks against the population that survey weights or a size tell, against brute force and sdcMicro."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats
from tests.unknown_rows import with_unknown_rows

from sfumato import Attribute, Schema, Table, measure, sanitize
from sfumato.measures import IndividualRisk, JournalistRisk, KMap, PopulationUniqueness
from sfumato.measures.identity.population_risk import individual_risks
from sfumato.measures.identity.superpopulation import SampledClasses, population_uniques
from sfumato.models import KAnonymity
from sfumato.results.linked_release import LinkedRelease
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers import AsIs, FullDomain, Mondrian

SDCMICRO: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "vectors" / "sdcmicro.json").read_text("utf-8")
)
QUASI_IDENTIFIERS = (Attribute("age", "quasi-identifying"), Attribute("sex", "quasi-identifying"))
People = list[tuple[int, str, float]]
people = st.lists(
    st.tuples(st.integers(1, 4), st.sampled_from("fm"), st.floats(1, 500)), min_size=2, max_size=25
)


def table(sample: People) -> Table:
    ages, sexes, weights = zip(*sample, strict=True)
    return Table.from_arrow({"age": ages, "sex": sexes, "w": weights})


def surveyed(sample: People, how: Any = None) -> LinkedRelease:
    return sanitize(table(sample), Schema(QUASI_IDENTIFIERS, survey_weight="w"), how or AsIs())


def classes_by_hand(sample: People) -> dict[tuple[int, str], list[float]]:
    found = defaultdict(list)
    for age, sex, weight in sample:
        found[age, sex].append(weight)
    return found


def value(release: LinkedRelease, asked: Any) -> float:
    (taken,) = measure(release, [asked])
    assert taken.value is not None
    return taken.value


@given(people)
@settings(max_examples=50)
def test_the_weights_of_a_class_are_the_people_who_look_alike(sample: People) -> None:
    release = surveyed(sample)
    alike = {key: sum(weights) for key, weights in classes_by_hand(sample).items()}
    risks = [1 / alike[age, sex] for age, sex, _ in sample]
    (journalist,) = measure(release, [JournalistRisk(threshold=0.01)])
    assert journalist.value == pytest.approx(max(risks))
    assert journalist.detail["average"] == pytest.approx(sum(risks) / len(risks))
    assert journalist.detail["share-at-risk"] == sum(risk > 0.01 for risk in risks) / len(risks)
    assert value(release, "k-map") == pytest.approx(min(alike.values()))
    assert value(release, "marketer-risk") == pytest.approx(len(alike) / len(sample))


@given(people)
@settings(max_examples=50)
def test_the_individual_risk_of_every_record(sample: People) -> None:
    release = surveyed(sample)
    risks = []
    for weights in classes_by_hand(sample).values():
        share = len(weights) / max(sum(weights), len(weights))
        hypergeometric = special.hyp2f1(1, 1, len(weights) + 1, 1 - share)
        risks += [share / len(weights) * float(hypergeometric)] * len(weights)
    (taken,) = measure(release, [IndividualRisk(threshold=0.05)])
    assert taken.value == pytest.approx(max(risks), rel=1e-9)
    assert taken.detail["expected"] == pytest.approx(sum(risks))
    assert taken.detail["average"] == pytest.approx(sum(risks) / len(risks))
    assert taken.detail["share-at-risk"] == sum(risk > 0.05 for risk in risks) / len(risks)


@pytest.mark.parametrize("size", [1, 2, 3, 10, 49, 50, 51, 400])
@pytest.mark.parametrize("share", [1.0, 0.9, 0.5, 0.499, 0.1, 0.01])
def test_the_individual_risk_is_the_expectation_of_one_over_the_people_alike(size: int, share: float) -> None:
    """Given how many are in the sample, those outside it are negative binomial."""
    outside = np.arange(int(50 * size / share) + 2000)
    chances = stats.nbinom(size, share).pmf(outside)
    expected = float(chances @ (1 / (size + outside)))
    (found,) = individual_risks(np.array([size]), np.array([size / share]))
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("share", [1e-7, 1e-4])
@pytest.mark.parametrize("size", [1, 2, 7, 60])
def test_the_individual_risk_of_tiny_samples(size: int, share: float) -> None:
    (found,) = individual_risks(np.array([size]), np.array([size / share]))
    assert found == pytest.approx(share / size * float(special.hyp2f1(1, 1, size + 1, 1 - share)), rel=1e-9)


def test_the_individual_risks_that_sdcmicro_prints() -> None:
    case = SDCMICRO["francdat"]
    assert individual_risks(np.array(case["fk"]), np.array(case["Fk"])) == pytest.approx(case["rk"], abs=5e-9)


def test_the_individual_risks_of_a_statistics_office_by_sdcmicro() -> None:
    """With more than two in a class sdcMicro prints an approximation, to seven digits after the point."""
    case = SDCMICRO["sierra-leone"]
    found = individual_risks(np.array(case["fk"]), np.array(case["Fk"]))
    assert found == pytest.approx(case["rk"], abs=5.1e-8, rel=1e-3)


def test_francdat_from_its_records() -> None:
    """Eight records whose classes and weights are those of the example."""
    keys = ["a", "b", "b", "c", "d", "e", "f", "a"]
    weights = [18.0, 45.5, 39.0, 17.0, 541.0, 8.0, 5.0, 92.0]
    records = Table.from_arrow({"key": keys, "w": weights})
    schema = Schema((Attribute("key", "quasi-identifying"),), survey_weight="w")
    (taken,) = measure(sanitize(records, schema, AsIs()), ["individual-risk"])
    rk = SDCMICRO["francdat"]["rk"]
    assert taken.value == pytest.approx(max(rk), abs=5e-9)
    assert taken.detail["expected"] == pytest.approx(sum(rk), abs=5e-8)


def test_equal_weights_are_a_population_size() -> None:
    sample: People = [(1, "f", 20.0), (1, "f", 20.0), (2, "f", 20.0), (3, "m", 20.0)]
    weighted = surveyed(sample)
    counted = sanitize(table(sample).select(["age", "sex"]), Schema(QUASI_IDENTIFIERS), AsIs())
    kinds: list[Callable[..., Any]] = [JournalistRisk, KMap, IndividualRisk, PopulationUniqueness]
    for kind in kinds:
        assert value(weighted, kind()) == pytest.approx(value(counted, kind(population_size=80)))
    assert value(weighted, KMap()) == 1 / value(weighted, JournalistRisk())


def test_a_given_size_counts_before_the_weights() -> None:
    release = surveyed([(1, "f", 20.0), (2, "m", 500.0)])
    assert value(release, KMap(population_size=1000)) == 500
    assert value(release, "k-map") == 20


def test_people_of_the_sample_are_in_the_population_whatever_their_weights_say() -> None:
    release = surveyed([(1, "f", 0.1), (1, "f", 0.1), (2, "m", 500.0)])
    assert value(release, "k-map") == 2
    assert value(release, "individual-risk") == 0.5


def test_merging_classes_lowers_the_risks(adult: tuple[Table, Schema]) -> None:
    fine, coarse = (sanitize(*adult, Mondrian(KAnonymity(k))) for k in (2, 50))
    for kind in (JournalistRisk, IndividualRisk):
        assert value(coarse, kind(population_size=450_000)) < value(fine, kind(population_size=450_000))


def test_records_that_are_left_out_run_no_risk() -> None:
    sample: People = [(1, "f", 2.0), (2, "m", 30.0), (2, "m", 50.0)]
    release = surveyed(sample, FullDomain({}, KAnonymity(2), suppression=0.5))
    assert value(release, "k-map") == 80


@pytest.mark.parametrize("name", ["journalist-risk", "k-map", "individual-risk", "population-uniqueness"])
def test_without_weights_and_size_the_reason_says_what_to_give(name: str) -> None:
    release = surveyed([(1, "f", 2.0), (2, "m", 30.0)])
    unknown = sanitize(table([(1, "f", 2.0)]).select(["age", "sex"]), Schema(QUASI_IDENTIFIERS), AsIs())
    for nobody in (unknown, with_unknown_rows(release), release.unlinked()):
        (taken,) = measure(nobody, [name])
        assert taken.value is None
        assert "survey weights" in taken.detail["reason"]
        assert "population-size" in taken.detail["reason"]


@pytest.mark.parametrize("kind", [JournalistRisk, KMap, IndividualRisk, PopulationUniqueness])
def test_a_population_is_no_smaller_than_the_table(kind: Any) -> None:
    with pytest.raises(ParameterError, match="population-size must be at least 1"):
        kind(population_size=0)
    with pytest.raises(ParameterError, match="population-size 2 is below the table's 3 records"):
        kind(population_size=2).measure(surveyed([(1, "f", 9.0)] * 3))


def test_a_threshold_is_a_risk() -> None:
    with pytest.raises(ParameterError, match="threshold must be a risk between 0 and 1"):
        IndividualRisk(threshold=2)


def test_population_uniqueness_is_a_share_of_the_population(adult: tuple[Table, Schema]) -> None:
    release = sanitize(*adult, AsIs())
    sample = SampledClasses.of(release.classes.sizes, 500_000)
    for method in ("dankar", "pitman", "zayatz", "slide-negative-binomial"):
        (taken,) = measure(release, [PopulationUniqueness(500_000, method)])
        uniques, model = population_uniques(sample, method)
        assert (taken.value, taken.detail["uniques"]) == (uniques / 500_000, uniques)
        assert taken.detail["model"] == model
    singles = Counter(release.classes.sizes.tolist())[1]
    assert taken.detail["sample-uniques"] == singles / release.n_records


def test_where_a_model_has_no_solution_the_measure_says_so() -> None:
    release = surveyed([(1, "f", 9.0), (2, "m", 9.0)])
    (taken,) = measure(release, [PopulationUniqueness(method="pitman")])
    assert (taken.value, taken.detail["reason"]) == (None, "Pitman's model needs classes of several sizes")


def test_the_weights_tell_the_size_of_the_population() -> None:
    release = surveyed([(1, "f", 10.0), (1, "f", 20.0), (2, "m", 30.0)])
    (taken,) = measure(release, [PopulationUniqueness(method="zayatz")])
    expected, _ = population_uniques(SampledClasses.of(np.array([2, 1]), 60), "zayatz")
    assert taken.detail["uniques"] == expected


def test_several_records_of_one_person_stand_for_what_one_of_them_does() -> None:
    visits = {"who": [1, 1, 1, 2, 3], "age": [31, 31, 31, 31, 42], "w": [100.0, 100.0, 100.0, 40.0, 60.0]}
    schema = Schema(
        (Attribute("who", "identifying"), Attribute("age", "quasi-identifying")),
        person="who",
        survey_weight="w",
    )
    release = sanitize(Table.from_arrow(visits), schema, AsIs())
    people = {"age": [31, 31, 42], "w": [100.0, 40.0, 60.0]}
    once = Schema((Attribute("age", "quasi-identifying"),), survey_weight="w")
    expected = sanitize(Table.from_arrow(people), once, AsIs())
    for name in ("journalist-risk", "k-map", "individual-risk", "population-uniqueness"):
        (found,), (alike,) = measure(release, [name]), measure(expected, [name])
        assert found.value == pytest.approx(alike.value)
        assert found.detail == pytest.approx(alike.detail)


def test_an_estimate_is_never_more_than_the_people_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "sfumato.measures.identity.population_risk.population_uniques", lambda *_: (1e9, "some model")
    )
    release = surveyed([(1, "f", 10.0), (1, "f", 20.0), (2, "m", 30.0), (3, "m", 40.0)])
    (taken,) = measure(release, ["population-uniqueness"])
    assert taken.value == 1
    assert taken.detail == {
        "uniques": 100.0,
        "population": 100,
        "sample-uniques": 2 / 4,
        "model": "some model",
    }


def test_a_population_is_never_smaller_than_the_people_of_the_table() -> None:
    """Nine records of one person stand for 18 people together, so for two; five others for nearly none."""
    visits = {"who": [1] * 9 + [2, 3, 4, 5, 6], "age": [31] * 13 + [42], "w": [2.0] * 9 + [0.01] * 5}
    attributes = Attribute("who", "identifying"), Attribute("age", "quasi-identifying")
    release = sanitize(Table.from_arrow(visits), Schema(attributes, person="who", survey_weight="w"), AsIs())
    (taken,) = measure(release, [PopulationUniqueness(method="zayatz")])
    assert (taken.detail["population"], taken.detail["uniques"]) == (6, 1)


def test_a_population_of_one_person_may_be_given() -> None:
    alone = sanitize(Table.from_arrow({"age": [1]}), Schema.of(age="quasi-identifying"), AsIs())
    for kind in (IndividualRisk, PopulationUniqueness, KMap):
        assert value(alone, kind(population_size=1)) == 1
