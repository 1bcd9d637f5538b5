"""How a formula is read: every step, every limit, and where it cannot be read."""

from __future__ import annotations

import pytest

from sfumato.measures.scenarios.formulas import COMPARISONS, DEEPEST, LONGEST, FormulaStep, steps_of
from sfumato.runtime.errors import ParameterError


def constant(value: float | str) -> FormulaStep:
    return FormulaStep("constant", 0, value)


def column(name: str) -> FormulaStep:
    return FormulaStep("column", 0, name)


A, B, ONE = column("a"), column("b"), constant(1.0)


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("a + 1 * b", [A, ONE, B, FormulaStep("*", 2), FormulaStep("+", 2)]),
        ("a - 1 / b", [A, ONE, B, FormulaStep("/", 2), FormulaStep("-", 2)]),
        ("(a + 1) * b", [A, ONE, FormulaStep("+", 2), B, FormulaStep("*", 2)]),
        ("-a", [A, FormulaStep("negative", 1)]),
        ("not a = 1", [A, ONE, FormulaStep("=", 2), FormulaStep("not", 1)]),
        ("a == 1", [A, ONE, FormulaStep("=", 2)]),
        ("a in (1, -2, 'x')", [A, FormulaStep("in", 1, (1.0, -2.0, "x"))]),
        ("a not in (1)", [A, FormulaStep("in", 1, (1.0,)), FormulaStep("not", 1)]),
        ("abs(a)", [A, FormulaStep("abs", 1)]),
        ("min(a, 1, b)", [A, ONE, B, FormulaStep("min", 3)]),
        ("'it''s'", [constant("it's")]),
        ('"a ""b"""', [constant('a "b"')]),
        ("''", [constant("")]),
        ("`a-b`", [column("a-b")]),
        ("  .5  ", [constant(0.5)]),
        ("2. + 1e-1", [constant(2.0), constant(0.1), FormulaStep("+", 2)]),
        ("1E+2", [constant(100.0)]),
    ],
)
def test_operands_come_before_operations(text: str, steps: list[FormulaStep]) -> None:
    assert list(steps_of(text)) == steps


@pytest.mark.parametrize("sign", COMPARISONS)
def test_every_comparison_is_read(sign: str) -> None:
    assert list(steps_of(f"a {sign} 1")) == [A, ONE, FormulaStep(sign, 2)]


def test_and_binds_more_than_or() -> None:
    operations = [step.operation for step in steps_of("a = 1 or b = 1 and not a = b")]
    assert operations[-4:] == ["=", "not", "and", "or"]


def test_limits_are_reached_and_not_passed() -> None:
    assert steps_of(" " * (LONGEST - 1) + "1") == (ONE,)
    with pytest.raises(ParameterError, match=r"has 2,001 characters; at most 2,000 are allowed"):
        steps_of(" " * LONGEST + "1")
    assert steps_of("(" * DEEPEST + "1" + ")" * DEEPEST) == (ONE,)
    with pytest.raises(ParameterError, match="nested more than 40 deep; write it flatter"):
        steps_of("(" * (DEEPEST + 1) + "1" + ")" * (DEEPEST + 1))
    # what is closed is left again, and no more than that
    with pytest.raises(ParameterError, match="nested more than 40 deep; write it flatter"):
        steps_of("(1) + " + "(" * (DEEPEST + 1) + "1" + ")" * (DEEPEST + 1))
    assert len(steps_of("+".join(["(1)"] * 100))) == 199
    assert steps_of("1e15") == (constant(1e15),)
    with pytest.raises(ParameterError, match=r"at most 1e\+15 is allowed"):
        steps_of("1000000000000001")
    assert steps_of(f"max({','.join('1' * 20)})")[-1] == FormulaStep("max", 20)
    with pytest.raises(ParameterError, match=r"max\(\) takes 2 to 20 operands, not 21"):
        steps_of(f"max({','.join('1' * 21)})")
    with pytest.raises(ParameterError, match=r"abs\(\) takes 1 operands, not 2"):
        steps_of("abs(1, 2)")
    with pytest.raises(ParameterError, match=r"if\(\) takes 3 operands, not 4"):
        steps_of("if(a = 1, 1, 2, 3)")


@pytest.mark.parametrize(
    ("text", "place", "wanted"),
    [
        ("a a", "character 3", "an operator or the end"),
        ("a +", "the end", "a number, a quoted text, an attribute or '('"),
        ("  ) ", "character 3", "a number, a quoted text, an attribute or '('"),
        ("(a", "the end", "')'"),
        ("abs a", "character 5", "'('"),
        ("min(a b)", "character 7", "')'"),
        ("a in 1", "character 6", "'('"),
        ("a in (1", "the end", "')'"),
        ("a in (b)", "character 7", "a number or a quoted text"),
        ("a in (-'x')", "character 8", "a number or a quoted text"),
        ("a not 1", "character 7", "'in' after 'not'"),
        ("1 < a = 2", "character 7", "'and' between two comparisons"),
        ("1 < a == 2", "character 7", "'and' between two comparisons"),
        ("a or and", "character 6", "a number, a quoted text, an attribute or '('"),
        ("a and or", "character 7", "a number, a quoted text, an attribute or '('"),
        ("a + not b", "character 5", "a number, a quoted text, an attribute or '('"),
        ("a + in", "character 5", "a number, a quoted text, an attribute or '('"),
    ],
)
def test_where_it_cannot_be_read_is_told(text: str, place: str, wanted: str) -> None:
    with pytest.raises(ParameterError) as caught:
        steps_of(text)
    assert str(caught.value) == f"the formula cannot be read at {place}; expected {wanted}"


@pytest.mark.parametrize(("text", "place"), [("a $ 1", 3), ("  %", 3), ("a + 'x", 5), ("1x", 1), ("``", 1)])
def test_signs_that_mean_nothing_are_told_with_their_place(text: str, place: int) -> None:
    with pytest.raises(ParameterError, match=f"cannot be read at character {place}; names with other signs"):
        steps_of(text)


def test_a_text_that_looks_like_a_sign_is_a_text() -> None:
    assert list(steps_of("a = '='")) == [A, constant("="), FormulaStep("=", 2)]
    with pytest.raises(ParameterError, match="at character 7; expected an operator or the end"):
        steps_of("a = 1 '='")
