"""The language of queries: what is read, and how a slip is pointed at."""

from __future__ import annotations

import pytest

from sfumato.workflow.choose.tokens import Misread
from sfumato.workflow.query.query_language import CellTest, Joined, Not, Span, parse_query

READ = {
    "count": "count",
    "MEAN age BY sex": "mean age by sex",
    "mean of age where sex = Female": "mean age where sex = Female",
    "count by a, b where x ≥ 3": "count where x >= 3 by a, b",
    "share where b != 'a b' and not (c in (1,2) or d in [3, 4))": (
        "share where b != 'a b' and not (c in (1, 2) or d in [3, 4))"
    ),
    'sum hours where "marital status" is not missing': "sum hours where not 'marital status' is missing",
    "count where salary = '>50K'": "count where salary = '>50K'",
    "count where a not in (1, 2]": "count where a not in (1, 2]",
    "count where a not in (1, 2) or not a in (1, 2)": "count where a not in (1, 2) or not a in (1, 2)",
}


@pytest.mark.parametrize("written", READ)
def test_a_query_is_read_and_written_again(written: str) -> None:
    assert str(parse_query(written)) == READ[written]
    assert str(parse_query(READ[written])) == READ[written]


def test_and_binds_before_or() -> None:
    where = parse_query("count where a = 1 or b = 2 and not c = 3").where
    assert isinstance(where, Joined)
    assert where.how == "or"
    last = where.parts[1]
    assert isinstance(last, Joined)
    assert (last.how, type(last.parts[1])) == ("and", Not)


def test_a_range_keeps_its_ends() -> None:
    where = parse_query("count where a in (1.5, 4]").where
    assert isinstance(where, CellTest)
    assert where.span == Span(1.5, 4, with_low=False, with_high=True)


@pytest.mark.parametrize(
    ("written", "said", "letters"),
    [
        ("cont", "expected count, share, sum or mean", "cont"),
        ("count were a = 1", "expected `where`, `by` or the end", "were"),
        ("count where city = New York", "several words in quotation marks", "York"),
        ("count where a ~ 3", "`in` or `is missing` after 'a'", "~"),
        ("count where a in 3", "after `in`", "3"),
        ("count where a in [x, 3)", "expected a number", "x"),
        ("count where (a = 1", "`)`", ""),
        ("count where a = ' ", "cannot read", "'"),
        ("mean", "the attribute to average", ""),
        ("count by", "an attribute after `by`", ""),
    ],
)
def test_a_slip_is_pointed_at(written: str, said: str, letters: str) -> None:
    with pytest.raises(Misread) as raised:
        parse_query(written)
    assert said in str(raised.value)
    assert written[raised.value.start : raised.value.end] == letters


def test_endless_queries_are_refused() -> None:
    with pytest.raises(Misread, match="more than 2,000"):
        parse_query("count where " + "a = 1 or " * 400)
    with pytest.raises(Misread, match="at most 20"):
        parse_query("count where " + "(" * 50 + "a = 1" + ")" * 50)
