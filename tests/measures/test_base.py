"""Taking measurements, and what a measurement is."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pytest

from sfumato import Release, Schema, Table, measure, sanitize
from sfumato.measures import JournalistRisk, LevelReached, Measurement, PrivacyLoss, worst_value
from sfumato.models import KAnonymity, TCloseness
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.measurement import Measure, by_attribute, inapplicable_reason, measure_group, named
from sfumato.results.people_groups import groups_of
from sfumato.runtime.errors import MethodFailed, ParameterError
from sfumato.sanitizers import AsIs, Mondrian, SuppressQuasiIdentifiers

Bound = tuple[Table, Schema]


def written_and_read(measurement: Measurement) -> Measurement:
    return Measurement.from_dict(json.loads(json.dumps(measurement.to_dict(), allow_nan=False)))


class TestMeasurement:
    @pytest.mark.parametrize(
        "facts",
        [
            {},
            {"attribute": "occupation", "baseline": 0.25, "detail": {"mean": 0.5, "records": 7}},
            {"interval": (0.1, 0.3)},
            {"interval": (-math.inf, math.inf), "baseline": math.inf, "detail": {"worst": math.inf}},
            {"baseline": -math.inf},
        ],
        ids=["plain", "full", "interval", "infinite", "negative"],
    )
    @pytest.mark.parametrize("value", [0.0, 0.086, math.inf, -math.inf])
    def test_survives_json(self, value: float, facts: Any) -> None:
        measurement = Measurement("privacy-loss", value, "privacy", "lower", **facts)
        assert written_and_read(measurement) == measurement

    def test_figures_inside_of_figures_survive_json(self) -> None:
        detail = {"without": {"age": math.inf, "sex": -math.inf, "zip": 0.25}, "told": "Infinity or less"}
        found = written_and_read(Measurement("m", math.nan, "privacy", "lower", detail=detail))
        assert found.detail == detail
        assert found.value is not None
        assert math.isnan(found.value)

    def test_infinity_is_written_as_a_word(self) -> None:
        written = Measurement("disclosure-quotient", math.inf, "privacy", "lower").to_dict()
        assert written["value"] == "Infinity"
        assert written["applicable"] is True

    def test_not_applicable_is_null_with_a_reason(self) -> None:
        measurement = Measurement(
            "precision", None, "utility", "higher", detail={"reason": "only full-domain"}
        )
        assert measurement.to_dict()["value"] is None
        assert measurement.to_dict()["applicable"] is False
        assert written_and_read(measurement) == measurement

    def test_has_the_keys_of_the_command_line_s_json(self) -> None:
        written = Measurement("privacy-loss", 0.1, "privacy", "lower").to_dict()
        keys = {
            "measure",
            "attribute",
            "value",
            "axis",
            "better",
            "applicable",
            "interval",
            "baseline",
            "detail",
        }
        assert set(written) == keys


class TestMeasure:
    def test_takes_names_measures_and_parameters(self, hospital: Bound) -> None:
        release = sanitize(*hospital, AsIs())
        wanted: list[Any] = [
            "privacy-loss",
            PrivacyLoss(),
            {"reidentification-risk": {"threshold": 0.5}},
            "k-anonymity",
        ]
        taken = measure(release, wanted)
        assert [m.measure for m in taken] == [
            "privacy-loss",
            "privacy-loss",
            "reidentification-risk",
            "k-anonymity",
        ]
        assert taken[0] == taken[1]

    def test_the_name_of_a_model_gives_the_level_reached(self, hospital: Bound) -> None:
        release = sanitize(*hospital, Mondrian(KAnonymity(3)))
        (level,) = measure(release, ["k-anonymity"])
        assert (level.value, level.axis, level.better) == (release.classes.sizes.min(), "privacy", "higher")
        (level,) = measure(release, [{"t-closeness": {"distance": "js"}}])
        assert (level.better, level.detail["distance"]) == ("lower", "js")
        assert level.value == measure(release, ["privacy-loss"])[0].value

    def test_a_misspelt_name_brings_a_suggestion(self, hospital: Bound) -> None:
        release = sanitize(*hospital, AsIs())
        with pytest.raises(ParameterError, match="no measure 'privacy-los'; did you mean 'privacy-loss'"):
            measure(release, ["privacy-los"])
        with pytest.raises(ParameterError, match="did you mean 'k-anonymity'"):
            measure(release, ["k-anonimity"])

    def test_a_measure_with_two_names_is_refused(self, hospital: Bound) -> None:
        with pytest.raises(ParameterError, match="one at a time"):
            measure(sanitize(*hospital, AsIs()), [{"privacy-loss": {}, "weighted-k": {}}])

    def test_records_that_it_does_not_judge_are_not_measured(self, hospital: Bound) -> None:
        (taken,) = measure(replace(sanitize(*hospital, AsIs()), type="perturbed"), ["privacy-loss"])
        assert (taken.value, taken.detail["reason"]) == (None, inapplicable_reason(PrivacyLoss, "perturbed"))

    def test_a_level_of_sensitive_values_does_not_apply_without_any(self) -> None:
        release = sanitize(Table.from_arrow({"age": [1, 2]}), Schema.of(age="quasi-identifying"), AsIs())
        (taken,) = measure(release, [LevelReached(TCloseness())])
        assert taken.to_dict()["applicable"] is False
        assert taken.better == "lower"
        assert measure(release, ["k-anonymity"])[0].value == 1


@dataclass(frozen=True)
class Found(Measure):
    """A measure that finds whatever it is told to."""

    what: Any
    axis: ClassVar[Any] = "utility"
    better: ClassVar[Any] = "higher"
    name = "found"
    parameters: ClassVar[Any] = {}

    def measure(self, release: Any) -> Any:
        if isinstance(self.what, Exception):
            raise self.what
        return self.what


class TestWhatAMeasureFinds:
    ONE = Measurement("found", 0.5, "utility", "higher")

    def taken(self, hospital: Bound, what: Any) -> list[Measurement]:
        return measure(sanitize(*hospital, AsIs()), [Found(what)])

    @pytest.mark.parametrize("what", [ONE, [ONE], (ONE,)], ids=["alone", "list", "tuple"])
    def test_it_may_be_one_or_several(self, hospital: Bound, what: Any) -> None:
        assert self.taken(hospital, what) == [self.ONE]

    @pytest.mark.parametrize(
        ("what", "does"),
        [
            (None, "returns NoneType and no tuple of measurements"),
            ([ONE, 0.5], "returns list and no tuple of measurements"),
            (Measurement("found", 1j, "utility", "higher"), "returns a measurement that is no plain number"),  # type: ignore[arg-type]
        ],
    )
    def test_what_is_no_measurement_is_a_fault_of_the_measure(
        self, hospital: Bound, what: Any, does: str
    ) -> None:
        with pytest.raises(MethodFailed, match=does):
            self.taken(hospital, what)

    def test_that_it_does_not_apply_is_no_fault(self, hospital: Bound) -> None:
        (found,) = self.taken(hospital, NotApplicable("there is nothing to see"))
        assert (found.value, found.axis, found.better) == (None, "utility", "higher")
        assert found.detail == {"reason": "there is nothing to see"}


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("people", "it judges no records that stand for people"),
        ("perturbed", "it takes released values for true ones, and values were changed"),
        ("synthetic", "it takes each record for a person's, and the records are made up"),
    ],
)
def test_of_records_that_it_does_not_judge_a_measure_says_why(kind: Any, reason: str) -> None:
    class Judge(Found):
        judges: ClassVar[Any] = {"people", "perturbed", "synthetic"} - {kind}

    assert inapplicable_reason(Judge, kind) == reason
    assert inapplicable_reason(Found, kind) == ("" if kind == "people" else reason)


class TestLabels:
    """The same measure with other parameters is told apart; one with all defaults has its plain name."""

    def test_says_what_is_not_at_its_default(self, hospital: Bound) -> None:
        wanted: list[Any] = [
            "t-closeness",
            {"t-closeness": {"t": 0.4, "distance": "js"}},
            PrivacyLoss(0.1),
            PrivacyLoss(0.05),
            {"marketer-risk": {"population-size": 1000}},
        ]
        assert [m.label for m in measure(sanitize(*hospital, AsIs()), wanted)] == [
            "t-closeness",
            "t-closeness distance=js",
            "privacy-loss",
            "privacy-loss threshold=0.05",
            "marketer-risk population-size=1000",
        ]

    def test_is_a_way_to_ask(self, hospital: Bound) -> None:
        release = sanitize(*hospital, AsIs())
        written = ["t-closeness distance=js", "privacy-loss threshold=0.05"]
        long: list[Any] = [{"t-closeness": {"distance": "js"}}, {"privacy-loss": {"threshold": 0.05}}]
        assert measure(release, written) == measure(release, long)
        assert [m.label for m in measure(release, written)] == written
        with pytest.raises(ParameterError, match="parameter=value"):
            measure(release, ["t-closeness js"])
        with pytest.raises(ParameterError, match="no measure ''"):
            measure(release, [""])

    def test_never_shows_a_folder(self) -> None:
        assert JournalistRisk("/home/somebody/census.csv").label == "journalist-risk population=census.csv"

    def test_is_there_when_the_measure_does_not_apply(self) -> None:
        release = sanitize(Table.from_arrow({"age": [1, 2]}), Schema.of(age="quasi-identifying"), AsIs())
        (taken,) = measure(release, [PrivacyLoss(0.05)])
        assert (taken.value, taken.label) == (None, "privacy-loss threshold=0.05")

    def test_survives_json_and_stays_out_where_all_is_default(self, hospital: Bound) -> None:
        release = sanitize(*hospital, AsIs())
        for taken in measure(release, ["privacy-loss", PrivacyLoss(0.05)]):
            assert written_and_read(taken) == taken
            assert ("parameters" in taken.to_dict()) == (taken.label != "privacy-loss")

    def test_the_worst_is_that_of_the_label_and_else_of_all_of_the_measure(self) -> None:
        plain = Measurement("m", 0.3, "privacy", "lower")
        low, high = (Measurement("m", v, "privacy", "lower", parameters={"t": v}) for v in (0.1, 0.5))
        assert worst_value([plain, low, high], "m") == 0.3
        assert worst_value([plain, low, high], "m t=0.5") == 0.5
        assert worst_value([low, high], "m") == 0.5
        assert worst_value([plain], "m t=0.5") is None


class TestWorstValue:
    def taken(self, better: Any, *values: float | None) -> list[Measurement]:
        return [Measurement("m", value, "privacy", better) for value in values]

    def test_is_the_largest_where_lower_is_better(self) -> None:
        assert worst_value(self.taken("lower", 0.1, 0.3, 0.2), "m") == 0.3

    def test_is_the_smallest_where_higher_is_better(self) -> None:
        assert worst_value(self.taken("higher", 4.0, 2.0, math.inf), "m") == 2

    def test_leaves_out_what_does_not_apply_and_other_measures(self) -> None:
        others = [Measurement("n", 9.0, "privacy", "lower")]
        assert worst_value([*others, *self.taken("lower", None, 0.1)], "m") == 0.1
        assert worst_value([*others, *self.taken("lower", None)], "m") is None

    def test_an_infinite_loss_is_the_worst(self) -> None:
        assert worst_value(self.taken("lower", 0.1, math.inf), "m") == math.inf

    def test_is_over_the_sensitive_attributes(self) -> None:
        table = Table.from_arrow({"age": [1, 2], "ill": ["a", "b"], "job": ["x", "x"]})
        schema = Schema.of(age="quasi-identifying", ill="sensitive", job="sensitive")
        taken = measure(sanitize(table, schema, AsIs()), ["knowledge-gain"])
        assert [m.attribute for m in taken] == ["ill", "job"]
        assert worst_value(taken, "knowledge-gain") == 0.5


class TestSeveralSensitiveAttributes:
    """One person is alone at an age; the two of the other age share an illness and have different jobs."""

    COLUMNS: ClassVar[dict[str, list[Any]]] = {
        "age": [1, 2, 2],
        "ill": ["a", "b", "b"],
        "job": ["x", "x", "y"],
    }
    OF = "k-anonymity", "distinct-diversity", "t-closeness"

    def taken(self, *sensitive: str) -> list[Measurement]:
        roles: dict[str, Any] = {"age": "quasi-identifying", **dict.fromkeys(sensitive, "sensitive")}
        table = Table.from_arrow({name: self.COLUMNS[name] for name in roles})
        return measure(sanitize(table, Schema.of(roles), AsIs()), self.OF)

    def test_a_level_of_their_values_tells_each_by_itself(self) -> None:
        k, diversity, closeness = self.taken("ill", "job")
        assert k.detail == {}
        assert diversity.detail == {"attributes": {"ill": 1.0, "job": 1.0}}
        # all of the first class is a, of the second b: 2/3 and 1/3 from the whole; of jobs x, and even
        assert closeness.detail["distance"] == "equal"
        assert closeness.detail["attributes"] == pytest.approx({"ill": 2 / 3, "job": 1 / 3})
        assert "t" not in closeness.detail
        assert closeness.value == pytest.approx(2 / 3)

    def test_a_level_of_one_has_no_other_beside_it(self) -> None:
        assert [m.detail.get("attributes") for m in self.taken("ill")] == [None, None, None]

    def test_levels_and_figures_of_each_are_told_apart_and_named(self) -> None:
        gains = [
            Measurement("gain", value, "privacy", "lower", name)
            for name, value in (("ill", 0.4), ("job", 0.1))
        ]
        level = Measurement(
            "t-closeness", 0.6, "privacy", "lower", detail={"attributes": {"ill": 0.6, "job": 0.2}}
        )
        alone = Measurement("loss", 0.5, "privacy", "lower", "ill")
        plain = Measurement("k-anonymity", 2.0, "privacy", "higher")
        every = [level, alone, plain, *gains]
        apart = by_attribute(every)
        assert [(m.attribute_label, m.value, dict(m.detail)) for m in apart] == [
            ("t-closeness of ill", 0.6, {}),
            ("t-closeness of job", 0.2, {}),
            ("gain of ill", 0.4, {}),
            ("gain of job", 0.1, {}),
        ]
        assert named(every, "gain") == gains
        assert named(every, "gain of job") == [gains[1]]
        assert [m.value for m in named(every, "t-closeness of job")] == [0.2]
        assert named(every, "k-anonymity of job") == named(every, "nothing") == []

    def test_one_is_named_with_or_without_the_parameters(self) -> None:
        facts: Any = {"parameters": {"distance": "js"}, "detail": {"attributes": {"ill": 0.6, "job": 0.2}}}
        level = Measurement("t-closeness", 0.6, "privacy", "lower", **facts)
        for name in ("t-closeness distance=js of job", "t-closeness of job"):
            assert [m.value for m in named([level], name)] == [0.2]

    def test_a_label_with_an_of_in_it_is_a_label(self) -> None:
        told = Measurement("gain", 0.1, "privacy", "lower", parameters={"attribute": "cause of death"})
        assert named([told], "gain attribute=cause of death") == [told]


def test_the_level_of_a_release_without_quasi_identifiers_is_that_of_one_class(hospital: Bound) -> None:
    release = sanitize(*hospital, SuppressQuasiIdentifiers())
    k, t = measure(release, ["k-anonymity", "t-closeness"])
    assert (k.value, t.value) == (12, 0)


@dataclass(frozen=True)
class Counted(Measure):
    """A measure that counts the records which it is shown."""

    axis: ClassVar[Any] = "utility"
    better: ClassVar[Any] = "higher"
    name = "counted"
    parameters: ClassVar[Any] = {}

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        return (self.measurement(float(release.n_records)),)


class CountedForPrivacy(Counted):
    """The same on the other side."""

    axis: ClassVar[Any] = "privacy"


def test_of_a_group_utility_sees_its_records_and_privacy_the_classes_around_them() -> None:
    # the only f is in a class of three
    table = Table.from_arrow({"age": [1, 1, 1, 2, 2], "sex": list("fmmmm")})
    release = sanitize(table, Schema.of(age="quasi-identifying", sex="sensitive"), AsIs())
    (group,) = (each for each in groups_of(release, "sex", 1) if each.value == "f")
    found = measure_group(release, group, [Counted(), CountedForPrivacy()])
    assert [(each.axis, each.value) for each in found] == [("utility", 1), ("privacy", 3)]
    assert [each.value for each in measure(release, [Counted(), CountedForPrivacy()])] == [5, 5]
