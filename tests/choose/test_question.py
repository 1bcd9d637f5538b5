"""The language of questions: what is read, what is refused, and which measure a name means."""

from __future__ import annotations

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.measures import Measurement
from sfumato.results.measure_lookup import (
    SHORT_NAMES,
    full_name,
    label_of,
)
from sfumato.results.measurement import (
    build_measure,
)
from sfumato.runtime.errors import ParameterError
from sfumato.workflow.choose.question import (
    Bound,
    Goal,
    Question,
    parse,
    places_of,
    resolve,
    unmeasured,
)
from sfumato.workflow.choose.tokens import Misread


def taken(name: str, **parameters: object) -> Measurement:
    measure = build_measure(name)
    return Measurement(name, 1.0, measure.axis, measure.direction, parameters=parameters)


MEASURED = [
    taken("k-anonymity"),
    taken("privacy-loss"),
    taken("t-closeness", distance="js"),
    taken("t-closeness", distance="ordered"),
    taken("total-loss"),
    taken("suppression-loss"),
    taken("beta-likeness", enhanced=True),
]


class TestGrammar:
    @pytest.mark.parametrize(
        ("text", "goals", "bounds"),
        [
            ("max k", [("max", "k")], []),
            ("MAX K", [("max", "K")], []),
            ("max k, min loss", [("max", "k"), ("min", "loss")], []),
            ("best k and best l", [("best", "k"), ("best", "l")], []),
            (
                "max k where loss <= 25% and suppression <= 10%",
                [("max", "k")],
                [("loss", "<=", 0.25, True), ("suppression", "<=", 0.1, True)],
            ),
            (
                "best l where k>=20,loss<.2",
                [("best", "l")],
                [("k", ">=", 20, False), ("loss", "<", 0.2, False)],
            ),
            (
                "min a where b at most 3 and c At Least 4",
                [("min", "a")],
                [("b", "<=", 3, False), ("c", ">=", 4, False)],
            ),
            ("min a where k=5", [("min", "a")], [("k", "=", 5, False)]),
            ("min a where privacy loss=0.1", [("min", "a")], [("privacy loss", "=", 0.1, False)]),
            ("min t distance=js where k ≥ 1,000", [("min", "t distance=js")], [("k", ">=", 1000, False)]),
            ("max a where t distance=js <= 0.1", [("max", "a")], [("t distance=js", "<=", 0.1, False)]),
            ("max a where size k=5 <= 2", [("max", "a")], [("size k=5", "<=", 2, False)]),
            ("max a where size k=5 = 2", [("max", "a")], [("size k=5", "=", 2, False)]),
            ("max k where loss ≤ 12.5 percent", [("max", "k")], [("loss", "<=", 0.125, True)]),
            ("max k where gain >= -5%", [("max", "k")], [("gain", ">=", -0.05, True)]),
            ("min loss where delta < ∞", [("min", "loss")], [("delta", "<", math.inf, False)]),
            ("max k where loss <= 1e-3", [("max", "k")], [("loss", "<=", 0.001, False)]),
        ],
    )
    def test_reads(self, text: str, goals: list[tuple[str, str]], bounds: list[tuple[object, ...]]) -> None:
        asked = parse(text)
        assert [(goal.aim, goal.measure) for goal in asked.goals] == goals
        assert [(b.measure, b.sign, b.number, b.percent) for b in asked.bounds] == bounds

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "expected max, min or best, got the end"),
            ("k where loss <= 3", "expected max, min or best, got 'k'"),
            ("max", "expected a measure, such as k or loss, got the end"),
            ("max where loss <= 3", "got 'where'"),
            ("max k where", "expected a measure"),
            ("max k where loss", "`at most` or `at least` after 'loss'"),
            ("max k where loss <=", "expected a number after 'loss' <=, got the end"),
            ("max k where loss <= much", "expected a number after 'loss' <=, got 'much'"),
            ("max k where loss <= 3 records", "expected `and` and another limit, or the end, got 'records'"),
            ("max k 3", "expected `where` and limits, or the end, got '3'"),
            ("max k where 3 <= loss", "got '3'"),
            ("max k, where loss <= 3", "expected max, min or best, got 'where'"),
            ("max k; drop table candidate", "cannot read ';'"),
            ("max k where loss <= __import__('os')", "cannot read"),
        ],
    )
    def test_refuses_in_one_line_with_an_example(self, text: str, words: str) -> None:
        with pytest.raises(ParameterError) as refused:
            parse(text)
        assert words in str(refused.value)
        assert "max k where loss <= 25% and suppression <= 10%" in str(refused.value)
        assert "\n" not in str(refused.value)

    @given(st.text(max_size=60) | st.text(alphabet="maxkinbestwhrlo <>=%,.0123456789-e", max_size=60))
    def test_any_text_is_read_or_refused(self, text: str) -> None:
        try:
            read = str(parse(text))
        except ParameterError as refused:
            read = str(refused)
        assert read
        assert "\n" not in read

    @given(
        st.lists(
            st.tuples(st.sampled_from(["max", "min", "best"]), st.sampled_from([*SHORT_NAMES])), min_size=1
        ),
        st.lists(
            st.tuples(
                st.sampled_from(["k", "t-closeness distance=js", "privacy loss", "loss"]),
                st.sampled_from(["<=", "<", ">=", ">", "="]),
                st.integers(0, 10**6).map(lambda n: n / 1000),
                st.booleans(),
            )
        ),
    )
    def test_a_question_survives_its_own_text(
        self, goals: list[tuple[str, str]], bounds: list[tuple[str, str, float, bool]]
    ) -> None:
        asked = Question(
            tuple(Goal(*goal) for goal in goals),  # type: ignore[arg-type]
            tuple(Bound(name, sign, n / 100 if p else n, p) for name, sign, n, p in bounds),  # type: ignore[arg-type]
        )
        again = parse(str(asked))
        assert again.goals == asked.goals
        for bound, read in zip(asked.bounds, again.bounds, strict=True):
            assert (read.measure, read.sign, read.percent) == (bound.measure, bound.sign, bound.percent)
            assert read.number == pytest.approx(bound.number, rel=1e-9)


class TestLimits:
    @pytest.mark.parametrize(
        ("sign", "below", "at", "above"),
        [
            ("<=", True, True, False),
            ("<", True, False, False),
            (">=", False, True, True),
            (">", False, False, True),
            ("=", False, True, False),
        ],
    )
    def test_ties_keep_what_is_not_strict(self, sign: str, below: bool, at: bool, above: bool) -> None:
        bound = Bound("loss", sign, 0.3)  # type: ignore[arg-type]
        assert [bound.allows(value) for value in (0.2, 0.1 + 0.2, 0.4)] == [below, at, above]

    def test_infinite_values(self) -> None:
        assert not Bound("delta", "<=", 3).allows(math.inf)
        assert not Bound("delta", "<", math.inf).allows(math.inf)
        assert Bound("delta", "<=", math.inf).allows(math.inf)
        assert Bound("delta", "<=", math.inf).excess(math.inf) == 0
        assert Bound("delta", "<=", 3).excess(math.inf) == math.inf


class TestNames:
    @pytest.mark.parametrize(
        ("written", "label"),
        [
            ("k", "k-anonymity"),
            ("K-Anonymity", "k-anonymity"),
            ("privacy loss", "privacy-loss"),
            ("Privacy_Loss", "privacy-loss"),
            ("loss", "total-loss"),
            ("Information Loss", "total-loss"),
            ("suppression", "suppression-loss"),
            ("t-closeness distance=js", "t-closeness distance=js"),
            ("t distance=ordered", "t-closeness distance=ordered"),
            ("beta", "beta-likeness enhanced=True"),
        ],
    )
    def test_are_found_among_what_was_measured(self, written: str, label: str) -> None:
        assert label_of(written, MEASURED) == label

    @pytest.mark.parametrize(
        ("written", "words"),
        [
            ("t", ["'t' may be", "'t-closeness distance=js'", "'t-closeness distance=ordered'"]),
            ("lss", ["no measure 'lss'", "did you mean 'loss'", "measured are"]),
            ("l", ["'l' is probabilistic-diversity, which was not measured", "[measure]", "--measure"]),
            ("utility-loss", ["utility-loss was not measured", "k-anonymity, "]),
            ("qqqqqqq", ["no measure 'qqqqqqq'", "measured are"]),
        ],
    )
    def test_that_are_unknown_ambiguous_or_not_measured(self, written: str, words: list[str]) -> None:
        with pytest.raises(ParameterError) as refused:
            label_of(written, MEASURED)
        for word in words:
            assert word in str(refused.value)
        assert "\n" not in str(refused.value)

    def test_that_are_short_mean_measures_that_exist(self) -> None:
        for short, name in SHORT_NAMES.items():
            assert build_measure(name).name == name
            assert full_name(short) == name

    def test_that_were_not_measured_are_told_by_their_full_name(self) -> None:
        asked = parse("best l where k >= 2 and uloss <= 0.1 and nonsense <= 2 and t distance=js <= 1")
        assert unmeasured(asked, MEASURED) == ("probabilistic-diversity", "utility-loss")


class TestUnits:
    def test_a_share_is_not_given_in_hundreds(self) -> None:
        with pytest.raises(
            ParameterError, match="total-loss is a share, and 25 is more than all of it; write 25%"
        ):
            resolve(parse("max k where loss <= 25"), MEASURED)
        resolve(parse("max k where loss <= 0.25"), MEASURED)
        resolve(parse("max k where loss <= 1"), MEASURED)

    def test_a_number_is_not_given_in_percent(self) -> None:
        with pytest.raises(ParameterError, match="k-anonymity is not a share"):
            resolve(parse("min loss where k >= 20%"), MEASURED)


class TestPlaces:
    @pytest.mark.parametrize(
        ("question", "wrong"),
        [
            ("largest k", "largest"),
            ("max k where loss ~ 3", "~"),
            ("max  k  where loss <= 3 or t < 2", "or"),
            ("max k where loss at most x", "x"),
            ("max k where k=x", "x"),
            ("max k where loss", ""),
        ],
    )
    def test_an_error_knows_at_which_letters_it_is(self, question: str, wrong: str) -> None:
        with pytest.raises(Misread) as caught:
            parse(question)
        assert question[caught.value.start : caught.value.end] == wrong
        assert wrong or caught.value.start == len(question)

    @given(st.text(alphabet="maxkwher los<=3%,~ \t", max_size=30))
    def test_the_place_lies_in_the_question(self, question: str) -> None:
        with contextlib.suppress(ParameterError):
            parse(question)
            return
        with pytest.raises(Misread) as caught:
            parse(question)
        assert 0 <= caught.value.start <= caught.value.end <= len(question)

    def test_a_measure_is_found_where_it_is_written(self) -> None:
        assert places_of("min  Privacy   Loss where k > 3", "privacy loss") == (5, 19)
        assert places_of("min loss", "k") is None


def test_a_measure_of_one_of_several_sensitive_attributes_is_named_after_it() -> None:
    of = ("income", "Province / Territory")
    measured = [Measurement("privacy-loss", 0.1, "privacy", "lower", attribute=name) for name in of]
    for written in ("privacy loss of INCOME", "ploss of income", "privacy-loss of income"):
        assert label_of(written, measured) == "privacy-loss of income"
    asked = resolve(parse('min ploss of "Province / Territory" where ploss of income <= 0.3'), measured)
    assert asked.measures == ("privacy-loss of Province / Territory", "privacy-loss of income")
    assert label_of("ploss", measured) == "privacy-loss"
    with pytest.raises(ParameterError, match="no measure 'ploss of age'"):
        label_of("ploss of age", measured)
