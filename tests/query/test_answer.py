"""Queries against brute force over all completions, exact counts, and the measures' own estimators."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.unknown_rows import with_unknown_rows

import sfumato as sf
from sfumato.measures.utility.estimation.random_queries import satisfied_queries
from sfumato.measures.utility.estimation.reconstruction import reconstructed, true_estimate
from sfumato.runtime.errors import ParameterError
from sfumato.workflow.choose.tokens import Misread
from sfumato.workflow.query import bounds, query_answer
from sfumato.workflow.query.published_labels import PublishedLabels
from sfumato.workflow.query.query_answer import AnswerRow, query

COUNTRIES = sf.Hierarchy.nested({"Europe": ["France", "Italy", "Malta"], "Asia": ["Japan", "China"]})
SCHEMA = sf.Schema(
    (
        sf.Attribute("age", "quasi-identifying", "numeric", sf.Intervals((2, 4))),
        sf.Attribute("country", "quasi-identifying", hierarchy=COUNTRIES),
        sf.Attribute("illness", "sensitive"),
    )
)
PEOPLE: dict[str, list[object]] = {
    "age": [20, 21, 22, 23, 20, 23],
    "country": ["France", "Italy", "Japan", "China", "Japan", "France"],
    "illness": ["flu", "gout", "flu", "flu", "gout", "flu"],
}
AGES = {"[20, 22)": [20, 21], "[22, 24)": [22, 23], "[20, 24)": [20, 21, 22, 23]}
PLACES = {"Europe": ["France", "Italy", "Malta"], "Asia": ["Japan", "China"]}
TESTS = {
    "age >= 22 and country = France": lambda age, place, ill: age >= 22 and place == "France",
    "age < 21 or not country in (France, Japan)": lambda age, place, ill: (
        age < 21 or place not in ("France", "Japan")
    ),
    "(age in [21, 23) or illness = gout) and country != Italy": lambda age, place, ill: (
        (21 <= age < 23 or ill == "gout") and place != "Italy"
    ),
    "age < 22 or age >= 22": lambda age, place, ill: True,
    "age = 21 and illness = flu": lambda age, place, ill: age == 21 and ill == "flu",
}


def people(**columns: list[object]) -> pa.Table:
    return pa.table(columns or PEOPLE)


def generalized(levels: dict[str, int]) -> sf.results.LinkedRelease:
    return sf.sanitize(people(), SCHEMA, sf.sanitizers.FullDomain(levels, sf.models.KAnonymity(1)))


def figures(row: AnswerRow) -> list[float]:
    return [-1.0 if each is None else each for each in (row.value, row.deviation, row.least, row.most)]


def completions(release: sf.Release) -> list[list[tuple[int, str, str]]]:
    """Every table that the labels of a release may stand for."""
    rows = release.to_arrow(typed=False).to_pylist()
    ways = [
        itertools.product(
            AGES.get(row["age"]) or [int(row["age"])],
            PLACES.get(row["country"]) or [row["country"]],
            [row["illness"]],
        )
        for row in rows
    ]
    return [list(table) for table in itertools.product(*map(list, ways))]


@pytest.mark.parametrize("condition", TESTS)
@pytest.mark.parametrize("levels", [{"age": 1, "country": 0}, {"age": 0, "country": 1}], ids=str)
def test_bounds_are_those_of_all_completions(condition: str, levels: dict[str, int]) -> None:
    release, passes = generalized(levels), TESTS[condition]
    tables = completions(release)
    counts = [sum(passes(*row) for row in table) for table in tables]
    row = query(release, f"count where {condition}", reading="uniform").rows[0]
    assert (row.least, row.most) == (min(counts), max(counts))
    # all completions are equally likely under the uniform reading
    assert row.value == pytest.approx(np.mean(counts))
    assert row.deviation == pytest.approx(np.std(counts))


@pytest.mark.parametrize("condition", TESTS)
@pytest.mark.parametrize("levels", [{"age": 1, "country": 0}, {"age": 2, "country": 0}], ids=str)
def test_sums_and_means_are_those_of_all_completions(condition: str, levels: dict[str, int]) -> None:
    release, passes = generalized(levels), TESTS[condition]
    found = [[row[0] for row in table if passes(*row)] for table in completions(release)]
    total = query(release, f"sum age where {condition}", reading="uniform").rows[0]
    sums = [sum(ages) for ages in found]
    assert (total.least, total.most) == (min(sums), max(sums))
    assert total.value == pytest.approx(np.mean(sums))
    assert total.deviation == pytest.approx(np.std(sums))
    means = [float(np.mean(ages)) for ages in found if ages]
    mean = query(release, f"mean age where {condition}", reading="uniform").rows[0]
    assert [mean.least, mean.most] == pytest.approx([min(means), max(means)])


HALVES = PEOPLE | {"illness": ["flu", "gout", "flu", "gout", "gout", "flu"]}
IN_GROUPS = [sf.sanitizers.Anatomy(2), sf.sanitizers.Bucketize(sf.models.ProbabilisticDiversity(2))]


def exchanges(release: sf.Release) -> list[list[tuple[int, str, str]]]:
    """Every table that has the sensitive values of each group in some order."""
    assert release.group_of is not None
    groups: dict[int, list[tuple[int, str, str]]] = {}
    for row in np.repeat(np.arange(release.n_rows), release.weights):
        age, place, ill = (release.cells[name].labels[release.cells[name].codes[row]] for name in PEOPLE)
        groups.setdefault(int(release.group_of[row]), []).append((int(str(age)), str(place), str(ill)))
    ways = [
        [
            [(age, place, ill) for (age, place, _), ill in zip(records, order, strict=True)]
            for order in itertools.permutations(ill for _, _, ill in records)
        ]
        for records in groups.values()
    ]
    return [list(itertools.chain(*table)) for table in itertools.product(*ways)]


@pytest.mark.parametrize("form", IN_GROUPS, ids=str)
@pytest.mark.parametrize("condition", TESTS)
def test_groups_give_the_bounds_of_all_exchanges(form: sf.sanitizers.Sanitizer, condition: str) -> None:
    release, passes = sf.sanitize(people(**HALVES), SCHEMA, form, seed=3), TESTS[condition]
    totals = [sum(passes(*row) for row in table) for table in exchanges(release)]
    found = query(release, f"count where {condition}", reading="uniform").rows[0]
    assert (found.least, found.most) == (min(totals), max(totals))
    assert found.value == pytest.approx(np.mean(totals))
    assert found.deviation == pytest.approx(np.std(totals))


@pytest.mark.parametrize("most_amounts", [10_000_000, 0])
@pytest.mark.parametrize("form", IN_GROUPS, ids=str)
def test_what_is_told_apart_has_the_bounds_of_all_exchanges_cell_by_cell(
    form: sf.sanitizers.Sanitizer, most_amounts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # with 0 the amounts of groups are added up anew for each cell
    monkeypatch.setattr(bounds, "_MOST_AMOUNTS", most_amounts)
    release = sf.sanitize(people(**HALVES), SCHEMA, form, seed=3)
    tables = exchanges(release)
    found = query(release, "count where age < 23 by country, illness", reading="uniform")
    shown = {tuple(row.by.values()): row for row in found.rows}
    for place, ill in itertools.product(("France", "Italy", "Japan", "China"), ("flu", "gout")):
        totals = [
            sum(age < 23 and there == place and has == ill for age, there, has in each) for each in tables
        ]
        row = shown.pop((place, ill), AnswerRow({}, 0.0, 0.0, 0.0, 0.0))
        assert (row.least, row.most) == (min(totals), max(totals))
        assert [row.value, row.deviation] == pytest.approx([np.mean(totals), np.std(totals)])
    assert not shown


@pytest.mark.parametrize("form", IN_GROUPS, ids=str)
def test_sums_that_are_told_apart_vary_as_those_of_all_exchanges(form: sf.sanitizers.Sanitizer) -> None:
    release = sf.sanitize(people(**HALVES), SCHEMA, form, seed=3)
    for row in query(release, "sum age by country, illness", reading="uniform").rows:
        here = [
            sum(age for age, place, ill in table if [place, ill] == list(row.by.values()))
            for table in exchanges(release)
        ]
        assert [row.value, row.deviation] == pytest.approx([np.mean(here), np.std(here)])


def test_as_is_answers_exactly_and_for_certain() -> None:
    table = sf.datasets.adult()[0]
    release = sf.sanitize(*sf.datasets.adult(), sf.sanitizers.AsIs())
    ages = np.array(table["age"].domain)[table["age"].codes]
    women = np.array(table["sex"].domain)[table["sex"].codes] == "Female"
    counted = int(table.weights[(ages >= 40) & women].sum())
    row = query(release, "count where age >= 40 and sex = Female").rows[0]
    assert (row.value, row.deviation, row.least, row.most) == (counted, 0, counted, counted)
    mean = float((ages * table.weights)[women].sum() / table.weights[women].sum())
    assert query(release, "mean age where sex = Female").value == pytest.approx(mean)
    by_occupation = query(release, "count where age >= 40 and sex = Female by occupation")
    assert sum(row.value or 0 for row in by_occupation.rows) == counted


@pytest.mark.parametrize("reading", ["uniform", "maximum-entropy"])
@pytest.mark.parametrize(
    "how",
    [
        sf.sanitizers.Mondrian(sf.models.KAnonymity(5)),
        sf.sanitizers.Bucketize(sf.models.ProbabilisticDiversity(2)),
        sf.sanitizers.LocalRecoding(sf.models.KAnonymity(4)),
    ],
    ids=["mondrian", "bucketize", "local-recoding"],
)
def test_the_same_reading_answers_as_query_error_does(reading: str, how: sf.sanitizers.Sanitizer) -> None:
    rng = np.random.default_rng(5)
    ages = np.concatenate([np.arange(20, 60), rng.integers(20, 60, 260)])
    table = people(
        age=ages.tolist(),
        sex=rng.choice(["Female", "Male"], 300).tolist(),
        illness=rng.choice(["flu", "gout", "cold"], 300).tolist(),
    )
    schema = sf.Schema(
        (
            sf.Attribute("age", "quasi-identifying", "numeric"),
            sf.Attribute("sex", "quasi-identifying"),
            sf.Attribute("illness", "sensitive"),
        )
    )
    release = sf.sanitize(table, schema, how, seed=1)
    original, bound = release.origin.table, release.schema
    assert original is not None
    truth = true_estimate(original, bound, "illness")
    drawn, _, _ = satisfied_queries(original, bound, "illness", truth, 20, 2, 0.1, 3)
    expected = drawn.answers(reconstructed(release, "illness", reading))  # type: ignore[arg-type]
    names = bound.quasi_identifiers
    for number in range(20):
        parts = []
        for place, attribute in enumerate(drawn.attributes[number]):
            domain = original[names[attribute]].domain
            start = drawn.starts[number, place]
            accepted = [v for c, v in enumerate(domain) if drawn.accepted[start + c]]
            parts.append(f"{names[attribute]} in ({', '.join(map(str, accepted))})")
        ills = [v for c, v in enumerate(original["illness"].domain) if drawn.values[number, c]]
        asked = f"count where {' and '.join(parts)} and illness in ({', '.join(map(str, ills))})"
        assert query(release, asked, reading=reading).value == pytest.approx(expected[number], abs=1e-6)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "how",
    [
        sf.sanitizers.Mondrian(sf.models.KAnonymity(2)),
        sf.sanitizers.Anatomy(2),
        sf.sanitizers.Bucketize(sf.models.ProbabilisticDiversity(2)),
        sf.sanitizers.FullDomain({"zip": 2, "age": 2, "sex": 1}, sf.models.KAnonymity(2), suppression=0.25),
        sf.sanitizers.AsIs(),
    ],
    ids=str,
)
def test_a_folder_answers_as_the_release_does(how: sf.sanitizers.Sanitizer, tmp_path: Path) -> None:
    release = sf.sanitize(*sf.datasets.hospital(), how, seed=2)
    sf.publish(release, tmp_path / "out", ["k-anonymity"], policy="none", allow_singling_out=True)
    for asked in ("count where age < 40 by diagnosis", "mean age", "count by diagnosis, zip"):
        here, there = query(release, asked), query(tmp_path / "out", asked)
        assert len(here.rows) == len(there.rows) > 0
        for one, other in zip(here.rows, there.rows, strict=True):
            assert one.by == other.by
            assert figures(one) == pytest.approx(figures(other), abs=1e-6)
        assert (here.records, here.suppressed, here.notes) == (there.records, there.suppressed, there.notes)


def test_the_truth_lies_between_the_bounds_of_suppressing_releases() -> None:
    how = sf.sanitizers.FullDomain({"zip": 2, "age": 2, "sex": 1}, sf.models.KAnonymity(2), suppression=0.25)
    release = sf.sanitize(*sf.datasets.hospital(), how, seed=2)
    original = sf.sanitize(*sf.datasets.hospital(), sf.sanitizers.AsIs())
    for asked in ("count where age < 40", "count where zip = 02138 or diagnosis = Flu"):
        found, true = query(release, asked), query(original, asked).value
        row = found.rows[0]
        assert row.least is not None
        assert row.most is not None
        assert true is not None
        assert row.least <= true <= row.most + found.suppressed


def test_made_up_records_are_counted_up_and_nothing_is_certain() -> None:
    release = sf.sanitize(people(), SCHEMA, sf.sanitizers.AsIs())
    made_up = replace(with_unknown_rows(release), type="synthetic", n_original=12)
    found = query(made_up, "count where illness = flu")
    assert (found.value, found.rows[0].least, found.rows[0].deviation) == (8, None, None)
    assert len(found.notes) == 2


def test_what_cannot_be_asked_is_said_with_a_near_miss() -> None:
    release = generalized({"age": 1, "country": 1})
    with pytest.raises(Misread, match="no value 'Frence' of 'country'; did you mean 'France'"):
        query(release, "count where country = Frence")
    with pytest.raises(ParameterError, match="no attribute 'contry'; did you mean 'country'"):
        query(release, "count by contry")
    with pytest.raises(Misread, match="has no numbers"):
        query(release, "count where country < 3")
    with pytest.raises(Misread, match="'old' is none"):
        query(release, "count where age > old")
    with pytest.raises(ParameterError, match="no numbers to take the mean of"):
        query(release, "mean country")
    hidden = sf.sanitize(people(), SCHEMA, sf.sanitizers.SuppressQuasiIdentifiers())
    with pytest.raises(ParameterError, match="is \\* in every record"):
        query(hidden, "count where age > 3")


def test_labels_say_what_they_stand_for() -> None:
    zips = PublishedLabels(("130*", "13053", "1*", "{14850, 14851}", None, "*"))
    assert zips.values == ("13053", "14850", "14851")
    masks = PublishedLabels(("130*", "148*"))
    assert [meaning.is_open for meaning in masks.meanings] == [False, False]
    assert masks.values == ("130*", "148*")
    days = PublishedLabels(("2026-11-03", "2026-11", "2026-Q4", "2025"))
    assert [meaning.may_be("2026-11-03") for meaning in days.meanings] == [True, True, True, False]
    ages = PublishedLabels(("<25", "[25, 30)", ">=80 or missing"), whole=True)
    assert ages.range == (20, 84)


def test_an_answer_is_plain_data() -> None:
    # one flu and two gouts are between 20 and 22: each is below 21 or not, as likely
    found = query(generalized({"age": 1, "country": 0}), "count where age < 21 by illness", reading="uniform")
    assert found.to_dict() == {
        "query": "count where age < 21 by illness",
        "reading": "uniform",
        "records": 6,
        "suppressed": 0,
        "rows": [
            {"by": {"illness": "flu"}, "value": 0.5, "deviation": 0.5, "least": 0.0, "most": 1.0},
            {"by": {"illness": "gout"}, "value": 1.0, "deviation": 0.707106781, "least": 0.0, "most": 2.0},
        ],
        "notes": [],
    }
    with pytest.raises(ParameterError, match="has 2 figures"):
        _ = found.value


def test_a_share_is_of_all_released_records() -> None:
    release = replace(generalized({"age": 1, "country": 0}), n_original=9)
    row = query(release, "share where age < 21", reading="uniform").rows[0]
    # a count of 1.5 with the variance 3/4, and of 3 at most
    assert figures(row) == pytest.approx([1.5 / 6, 0.75**0.5 / 6, 0, 3 / 6], abs=1e-9)


def test_the_mean_of_nobody_is_nothing() -> None:
    found = query(generalized({"age": 1, "country": 0}), "mean age where age > 50")
    assert found.to_dict()["rows"] == [{"by": {}, **dict.fromkeys(("value", "deviation", "least", "most"))}]


def test_notes_say_what_the_records_are() -> None:
    release = generalized({"age": 1, "country": 0})
    asked = {
        "Values were changed": replace(release, type="perturbed"),
        "The records are a sample": replace(release, sampled=True, n_original=12),
        "3 records of the original are suppressed": replace(release, n_original=9),
        "The records are synthetic": replace(with_unknown_rows(release), type="synthetic", n_original=9),
    }
    for begins, each in asked.items():
        (note,) = query(each, "share where illness = flu").notes
        assert note.startswith(begins)
    sample = query(asked["The records are a sample"], "sum age where illness = gout", reading="uniform")
    assert (sample.value, sample.rows[0].least) == (2 * 41, None)


def test_how_a_release_is_read_is_one_of_two_ways() -> None:
    with pytest.raises(ParameterError, match="reading: cannot be 'unifrom'; did you mean 'uniform'"):
        query(generalized({"age": 1, "country": 0}), "count", reading="unifrom")  # type: ignore[arg-type]


def test_a_query_that_tells_too_much_apart_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_answer, "_MOST_NUMBERS", 0)
    with pytest.raises(ParameterError, match="too many values at once"):
        query(generalized({"age": 1, "country": 0}), "count by illness")


MISSING: dict[str, list[object]] = {
    "age": [20, 21, None, 23],
    "country": ["France", None, "Japan", "China"],
    "illness": ["flu", "gout", None, "flu"],
}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("age != 20", 2),
        ("age not in (20, 21)", 1),
        ("age not in [20, 21]", 1),
        ("country != France", 2),
        ("country not in (France, Japan)", 1),
        ("illness != flu", 1),
        ("age != 20 or age is missing", 3),
        # in front of a test, `not` turns it round for missing values, too
        ("not age = 20", 3),
        ("not age in (20, 21)", 2),
        ("not country != France", 2),
    ],
)
def test_a_missing_value_passes_no_test_but_that_for_it(condition: str, expected: int) -> None:
    row = query(
        sf.sanitize(people(**MISSING), SCHEMA, sf.sanitizers.AsIs()), f"count where {condition}"
    ).rows[0]
    assert (row.value, row.least, row.most) == (expected, expected, expected)


@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize("by", ["age", "country, age"])
def test_numbers_are_summed_up_and_averaged_by_themselves(level: int, by: str) -> None:
    release = generalized({"age": level, "country": 0})
    names = by.split(", ")
    for what in ("sum", "mean"):
        for row in query(release, f"{what} age by {by}", reading="uniform").rows:
            age = int(str(row.by["age"]))
            others = [f" and country = {row.by[name]}" for name in names if name != "age"]
            asked = f"count where age = {age}" + "".join(others)
            counts = query(release, asked, reading="uniform").rows[0]
            if what == "mean":
                assert (row.value, row.least, row.most) == (age, age, age)
                continue
            assert row.value == pytest.approx(age * (counts.value or 0))
            assert row.deviation == pytest.approx(age * (counts.deviation or 0))
            assert (row.least, row.most) == (age * (counts.least or 0), age * (counts.most or 0))
