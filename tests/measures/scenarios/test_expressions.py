"""Formulas against Python's own arithmetic, and against whoever would like them to do more."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Table
from sfumato.data.kinds import CATEGORICAL, NUMERIC
from sfumato.data.table import Column
from sfumato.measures.scenarios.expressions import Expression, _aligned, _Operand, domain_values
from sfumato.measures.scenarios.formulas import DEEPEST, LONGEST
from sfumato.runtime.errors import ParameterError

PEOPLE = Table.from_arrow(
    {
        "age": [31, 60, 70, None],
        "sex": ["f", "f", "m", None],
        "marital-status": ["single", "married", "it's", "married"],
        "children": [0, 2, 4, 1],
    }
)


def of(text: str, columns: Any = None) -> list[float]:
    """Return the result for the four people, in the order in which they are written."""
    return Expression(text).evaluate(PEOPLE.columns if columns is None else columns).tolist()


@pytest.mark.parametrize(
    ("text", "results"),
    [
        ("1", [1, 1, 1, 1]),
        ('if(sex = "f" and age > 55, 10, 1)', [1, 10, 1, 1]),
        ("sex = 'f' or children >= 4", [1, 1, 1, 0]),
        ("not sex = 'f'", [0, 0, 1, 1]),
        ("not not sex != 'f'", [0, 0, 1, 1]),
        ("`marital-status` = 'it''s'", [0, 0, 1, 0]),
        ('`marital-status` in ("single", "it\'s")', [1, 0, 1, 0]),
        ("children not in (0, 2.0, -1)", [0, 0, 1, 1]),
        ("2 + 3 * children", [2, 8, 14, 5]),
        ("(2 + 3) * children", [0, 10, 20, 5]),
        ("10 - 2 - 3", [5, 5, 5, 5]),
        ("12 / 3 / 2", [2, 2, 2, 2]),
        ("-children + - -1", [1, -1, -3, 0]),
        ("abs(children - 2)", [2, 0, 2, 1]),
        ("min(children, 2, 3) + max(1, children)", [1, 4, 6, 2]),
        ("10 * (sex = 'f')", [10, 10, 0, 0]),
        ("age * 0 + 1", [1, 1, 1, 0]),
        ("age = age", [1, 1, 1, 1]),
        ("age < 100", [1, 1, 1, 0]),
        ("if(children = 0, 7, 8 / children)", [7, 4, 2, 8]),
        ("children != 0 and 4 / children > 1", [0, 1, 0, 1]),
        ("children = 0 or 4 / children > 1", [1, 1, 0, 1]),
        ("if(if(children > 1, sex, `marital-status`) = 'single', 1, 0)", [1, 0, 0, 0]),
        ("  1e3  ", [1000] * 4),
        ("children == 2", [0, 1, 0, 0]),
        # what is not chosen, or decided already, may divide by zero
        ("if(children = 0, 0, 8 / children)", [0, 4, 2, 8]),
        ("children = 0 or 4 / children < 1", [1, 0, 0, 0]),
        ("children != 0 and 4 / children < 1", [0, 0, 0, 0]),
        ("children <= 2", [1, 1, 0, 1]),
        ("children / 2", [0, 1, 2, 0.5]),
        ("children / -1 + 5", [5, 3, 1, 4]),
        # a missing age equals no known one
        ("age = 31", [1, 0, 0, 0]),
        ("age != 31", [0, 1, 1, 1]),
        ("'f' in ('f', 'm')", [1, 1, 1, 1]),
        ("sex not in ('f')", [0, 0, 1, 1]),
        ("age not in (31, 60)", [0, 0, 1, 1]),
        ("'f' = sex", [1, 1, 0, 0]),
    ],
)
def test_it_computes_what_it_says(text: str, results: list[float]) -> None:
    assert of(text) == results


def test_what_depends_on_one_column_is_computed_for_its_values_alone() -> None:
    long = Column(np.zeros(100_000, dtype=np.int32), (3,), NUMERIC)
    assert Expression("1 / (age - 2)").evaluate({"age": long}).sum() == 100_000


class TestWhereItIsComputed:
    """For the values of one column, for each row, or once."""

    CODES = np.array([0, 1, 0], dtype=np.int32)

    def operand(self, n_values: int, codes: Any = None) -> _Operand:
        return _Operand(np.arange(n_values, dtype=float), np.zeros(n_values, dtype=np.bool_), codes)

    def test_what_depends_on_one_column_stays_with_its_values(self) -> None:
        column, constant = self.operand(2, self.CODES), self.operand(1)
        for operands in ([column, constant], [constant, column], [column, column], [column]):
            values, undefined, codes = _aligned(operands)
            assert codes is self.CODES
            assert {len(each) for each in (*values, *undefined)} == {2}
        assert _aligned([constant, constant])[2] is None

    @pytest.mark.parametrize("n_rows", [2, 3])
    def test_what_depends_on_several_is_computed_for_each_row(self, n_rows: int) -> None:
        one, other = (np.arange(n_rows, dtype=np.int32) % 2 for _ in range(2))
        for operands in (
            [self.operand(2, one), self.operand(2, other)],
            [self.operand(2, one), self.operand(n_rows)],
            [self.operand(n_rows), self.operand(1)],
        ):
            values, undefined, codes = _aligned(operands)
            assert codes is None
            assert {len(each) for each in (*values, *undefined)} == {n_rows}
        assert _aligned([self.operand(2, one), self.operand(n_rows)])[0][0].tolist() == one.tolist()

    def test_numbers_and_texts_with_missing_ones_are_values(self) -> None:
        ages, sexes = domain_values(PEOPLE["age"]), domain_values(PEOPLE["sex"])
        assert (ages.dtype, sexes.dtype) == (np.float64, object)
        assert domain_values(PEOPLE["children"]).dtype == np.float64
        assert ages.tolist() == pytest.approx([31, 60, 70, math.nan], nan_ok=True)
        assert sexes.tolist() == ["f", "m", None]
        numbers = Column(np.array([0]), (1, 2), CATEGORICAL)
        assert (domain_values(numbers).tolist(), domain_values(numbers).dtype) == (["1", "2"], object)


def test_it_tells_which_columns_it_speaks_of() -> None:
    assert Expression("if(`a-b` > 1, x, x + y)").names == ("a-b", "x", "y")


def test_equal_formulas_are_equal() -> None:
    assert Expression("a + 1") == Expression("a + 1")
    assert len({Expression("a + 1"), Expression("a + 1")}) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sexx = 'f'", "no attribute 'sexx'; did you mean 'sex'"),
        ("sex > 'f'", "needs numbers"),
        ("sex = 1", "a text is compared with a number"),
        ("age = 'old'", "a text is compared with a number"),
        ("age in (1, 'old')", "a text is compared with a number"),
        ("sex + 1", "needs numbers"),
        ("sex", "gives text"),
        ("'f'", "gives text"),
        ("age and sex = 'f'", "joins comparisons"),
        ("not age", "joins comparisons"),
        ("if(age, 1, 2)", "begins with a comparison"),
        ("if(age > 1, 1, 'x')", "a text is compared with a number"),
        ("1 / children", "divides by zero, or grows too large, in 1 of 4 rows"),
        ("1 / (children - children)", "in 4 of 4 rows"),
        ("1 / children > 2", "divides by zero"),
        ("children / children", "in 1 of 4 rows"),
        ("if(1 / children > 0, 1, 2)", "in 1 of 4 rows"),
        ("if(children = 0, 8 / children, 0)", "in 1 of 4 rows"),
        ("if(children = 0, 7, 1 / (children - 2))", "in 1 of 4 rows"),
        ("1 / children > 2 and sex = 'f'", "in 1 of 4 rows"),
        ("1 / children > 2 or sex = 'f'", "in 1 of 4 rows"),
        ("children >= 0 and 1 / children > 2", "in 1 of 4 rows"),
        ("children < 0 or 1 / children > 2", "in 1 of 4 rows"),
        ("1 / children in (1, 2)", "in 1 of 4 rows"),
        ("-(1 / children) + 1", "in 1 of 4 rows"),
        ("children = 1 or age", "'or' joins comparisons"),
        ("sex and age > 1", "'and' joins comparisons"),
        ("1 and age > 1", "'and' joins comparisons"),
        ("not sex", "'not' joins comparisons"),
        ("if(sex, 1, 2)", "begins with a comparison"),
        ("sex in (1)", "a text is compared with a number"),
        ("sex < 1", "^< and > needs numbers"),
        ("1 >= sex", "^< and > needs numbers"),
        ("sex * 2", r"^'\*' needs numbers"),
        ("if(age > 1, sex, sex)", "gives text"),
        ("x", "no attribute 'x'; there are age, sex, marital-status, children"),
        ("", "expected a number"),
        ("age +", "at the end"),
        ("age 5", "an operator or the end"),
        ("1 < age < 5", "'and' between two comparisons"),
        ("age not 5", "'in' after 'not'"),
        ("(age", r"expected '\)'"),
        ("age in ()", "a number or a quoted text"),
        ("age in (sex)", "a number or a quoted text"),
        ("min(age)", "takes 2 to 20 operands, not 1"),
        ("if(age > 1, 2)", "takes 3 operands, not 2"),
        ("marital-status = 'x'", "no attribute 'marital'"),
        ("age $ 2", "character 5"),
        ("'open", "character 1"),
        ("1e300", "too large"),
        ("1e999", "too large"),
        ("9" * 400, "too large"),
        ("1.2.3", "cannot be read"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(text: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words) as caught:
        of(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", "number"),
        ("n", "number"),
        ("x", "any"),
        ("t = 'a'", "truth"),
        ("n != 1", "truth"),
        ("n in (1, 2)", "truth"),
        ("n < 1", "truth"),
        ("n >= 1", "truth"),
        ("n + 1", "number"),
        ("abs(n)", "number"),
        ("-(n = 1)", "number"),
        ("not n < 1", "truth"),
        ("n in (1) and t = 'a' or n > 2", "truth"),
        ("not x", "truth"),
        ("if(n = 1, 1, 2)", "number"),
        ("if(x, n = 2, n = 3)", "truth"),
        ("if(n in (1), n = 2, 5)", "number"),
        ("if(n = 1, x, 5)", "any"),
        ("if(n = 1, 5, x)", "any"),
        ("x = 'a' and x = 1", "truth"),
        ("x < 1", "truth"),
    ],
)
def test_what_a_formula_gives_is_known_before_the_data_is(text: str, expected: str) -> None:
    assert Expression(text).check({"n": "number", "t": "text", "x": "any"}) == expected


def test_without_columns_there_is_one_result() -> None:
    assert of("1 + 1", {}) == [2]
    with pytest.raises(ParameterError, match="no attribute 'age'; there are none"):
        of("age", {})


def test_types_can_be_checked_before_the_data_is_known() -> None:
    formula = Expression("age > 5 and sex = 'f'")
    assert formula.check({"age": "any", "sex": "any"}) == "truth"
    with pytest.raises(ParameterError, match="needs numbers"):
        formula.check({"age": "text", "sex": "any"})


@pytest.mark.parametrize(
    "attack",
    [
        "__import__('os').system('true')",
        "open('/etc/passwd')",
        "eval('1')",
        "age.__class__",
        "().__class__.__bases__[0]",
        "[x for x in (1, 2)]",
        "lambda: 1",
        "age; import os",
        "age := 3",
        "f'{age}'",
        "9 ** 9 ** 9",
        "9 ^ 9",
        "1 << 1000000000",
        "age[0]",
        "{}",
        "`__import__`('os')",
        "print(age)",
        "abs",
        "if",
        "and",
        "\x00",
        "age # 1",
        "1 if age else 2",
        "True",
        "nan",
        "inf",
        "0x7f",
        "1_000",
        "1j",
    ],
)
def test_nothing_else_than_a_formula_is_understood(attack: str) -> None:
    with pytest.raises(ParameterError):
        of(attack)


@pytest.mark.parametrize(
    "attack",
    [
        "(" * 900 + "1" + ")" * 900,
        "(" * (DEEPEST + 1) + "1" + ")" * (DEEPEST + 1),
        "not " * 400 + "age > 1",
        "-" * 1500 + "1",
        "abs(" * 300 + "1" + ")" * 300,
        "if(age>1,1," * 150 + "1" + ")" * 150,
        "1+" * LONGEST + "1",
        "`" * LONGEST,
        "'" * (LONGEST - 1),
        '"' + "x" * LONGEST,
        "max(" + "1," * 900 + "1)",
        "*".join(["1e15"] * 60),
    ],
)
def test_what_is_too_deep_too_long_or_too_large_is_refused_at_once(attack: str) -> None:
    with pytest.raises(ParameterError):
        of(attack)


def test_a_long_flat_formula_is_fine() -> None:
    assert of("+".join(["1"] * 1000)) == [1000] * 4
    assert of("(" * DEEPEST + "1" + ")" * DEEPEST) == [1] * 4


@given(st.text(alphabet="age x1.5e+-*/=<>!(),'\"`andornotifmx ", max_size=40))
@settings(max_examples=300)
def test_any_text_gives_numbers_or_a_user_error(text: str) -> None:
    try:
        found = of(text)
    except ParameterError:
        return
    assert all(math.isfinite(value) for value in found)


Pair = tuple[str, str]


def joined(parts: tuple[Pair, Pair], ours: str, python: str) -> Pair:
    """Put two formulas, each in our writing and in Python's, into a third."""
    (a, x), (b, y) = parts
    return ours.format(a, b), python.format(x, y)


def combined(inner: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    forms = [
        ("({} + {})", "({} + {})"),
        ("({} - {})", "({} - {})"),
        ("({} * {})", "({} * {})"),
        ("min({}, {})", "min({}, {})"),
        ("max({}, abs(-{}))", "max({}, abs(-{}))"),
        ("if(a < {}, {}, b)", "({1} if a < {0} else b)"),
        ("(not {} = 1 or {} >= b)", "(not {} == 1 or {} >= b)"),
    ]
    return st.tuples(st.tuples(inner, inner), st.sampled_from(forms)).map(lambda t: joined(t[0], *t[1]))


FORMULAS = st.recursive(st.sampled_from([(x, x) for x in ("a", "b", "2", "0.5")]), combined, max_leaves=8)


@given(pair=FORMULAS, rows=st.lists(st.tuples(*[st.integers(-3, 3)] * 2), min_size=1, max_size=5))
@settings(max_examples=100)
def test_numbers_are_those_of_python(pair: Pair, rows: list[tuple[int, int]]) -> None:
    ours, python = pair
    columns = {
        name: Column(np.arange(len(rows)), tuple(row[place] for row in rows), NUMERIC)
        for place, name in enumerate("ab")
    }
    known = {"min": min, "max": max, "abs": abs}
    expected = [float(eval(python, {"a": a, "b": b, **known})) for a, b in rows]
    assert Expression(ours).evaluate(columns).tolist() == pytest.approx(expected)
