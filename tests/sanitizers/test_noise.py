"""Laplace noise: what is blurred and how much, what is left alone, and what is promised."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sfumato import Attribute, PublicValues, Recipe, Schema, Table, measure, sanitize
from sfumato.reading import datasets
from sfumato.results.candidate import Candidate
from sfumato.results.frontier import Frontier
from sfumato.results.linked_release import LinkedRelease
from sfumato.runtime.errors import ParameterError, SchemaError
from sfumato.sanitizers import Laplace
from sfumato.workflow.project.project_file import Project
from sfumato.workflow.publish.publication_request import Evidence, PublicationRequest
from sfumato.workflow.publish.publish import publish_candidate
from sfumato.workflow.publish.verify import verify

Bound = tuple[Table, Schema]

SCHEMA = Schema.of(age="quasi-identifying", pay="quasi-identifying", sex="quasi-identifying", ill="sensitive")


def people(n_records: int = 8) -> Table:
    numbers = np.arange(n_records)
    return Table.from_arrow(
        {
            "age": 20 + numbers % 5,
            "pay": 0.5 * (numbers % 4),
            "sex": np.where(numbers % 2, "f", "m"),
            "ill": np.where(numbers % 3, "a", "b"),
        }
    )


def blurred(table: Table, schema: Schema, how: Laplace, **more: Any) -> LinkedRelease:
    """Make a release with a public part read from the records."""
    return sanitize(table, schema.with_assumed_public_part(table), how, **more)


def bounded(low: float, high: float) -> Schema:
    """Return the schema of one column of numbers with declared bounds."""
    public = PublicValues(whole=False, bounds=(low, high))
    return Schema((Attribute("x", "quasi-identifying", "numeric", public=public),))


def noise_of(values: list[float], how: Laplace, seed: int = 0) -> np.ndarray[Any, Any]:
    """Return the noise that each record got; a second column tells which record is which."""
    who = [f"p{number}" for number in range(len(values))]
    table = Table.from_arrow({"x": values, "who": who})
    schema = Schema.of(x="quasi-identifying", who="insensitive")
    released = blurred(table, schema, how, seed=seed).to_arrow()
    noisy = dict(zip(released["who"].to_pylist(), released["x"].to_pylist(), strict=True))
    return np.array([noisy[person] - value for person, value in zip(who, values, strict=True)])


class TestScale:
    @pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
    def test_the_mean_absolute_noise_is_the_range_rounded_up_over_epsilon(self, epsilon: float) -> None:
        values = np.linspace(20.25, 92.25, 20_000).tolist()
        noise = noise_of(values, Laplace(epsilon))
        assert np.abs(noise).mean() == pytest.approx(100 / epsilon, rel=0.05)
        assert abs(noise.mean()) < 0.05 * 100 / epsilon

    def test_the_noise_has_the_laplace_distribution(self) -> None:
        values = (np.arange(4000) % 100 + 0.5).tolist()
        noise = noise_of(values, Laplace(2.0))
        assert stats.kstest(noise, stats.laplace(scale=100 / 2).cdf).pvalue > 1e-6

    def test_the_range_is_that_of_the_declared_bounds(self) -> None:
        table = Table.from_arrow({"x": [5.5] * 20_000})
        noisy = np.array(sanitize(table, bounded(0, 120), Laplace(1.0)).to_arrow()["x"].to_pylist())
        assert np.abs(noisy - 5.5).mean() == pytest.approx(120, rel=0.05)

    def test_every_record_has_noise_of_its_own(self) -> None:
        # 500 equal records are one row of the table, and get 500 noises
        table = Table.from_arrow({"x": [0.5] * 500 + [99.5]})
        assert table.n_rows == 2
        release = blurred(table, Schema.of(x="quasi-identifying"), Laplace(1.0))
        assert release.n_records == 501
        assert len(set(release.to_arrow()["x"].to_pylist())) > 450

    def test_the_noise_of_two_attributes_is_not_the_same(self) -> None:
        table = Table.from_arrow({"x": np.arange(300) + 0.5, "y": np.arange(300) + 0.5})
        schema = Schema.of(x="quasi-identifying", y="quasi-identifying")
        written = blurred(table, schema, Laplace(1.0)).to_arrow()
        assert written["x"].to_pylist() != written["y"].to_pylist()

    def test_values_beyond_the_declared_bounds_are_drawn_in(self) -> None:
        # else more could be told about them than epsilon promises
        table = Table.from_arrow({"x": [-1.0, 1000.0]})
        noisy = sanitize(table, bounded(0, 10), Laplace(1e6)).to_arrow()["x"].to_pylist()
        assert sorted(noisy) == pytest.approx([0.0, 10.0], abs=0.01)


class TestRepeating:
    def test_two_runs_differ_even_with_the_same_seed(self) -> None:
        values = [float(number) for number in range(50)]
        first, second = (noise_of(values, Laplace(1.0), seed=7) for _ in range(2))
        assert not np.array_equal(first, second)

    def test_it_says_so_itself(self) -> None:
        assert Laplace.repeatable is False

    def test_a_recipe_survives_json(self) -> None:
        how = Laplace(0.25, ("age",), rounded=False)
        assert Recipe.from_json(Recipe.of(how, seed=1).to_json()).build() == how


class TestCells:
    @given(
        values=st.lists(st.none() | st.integers(-1000, 1000), min_size=2, max_size=20).filter(
            lambda values: len({v for v in values if v is not None}) > 1
        )
    )
    @settings(max_examples=30)
    def test_whole_numbers_stay_whole_and_missing_ones_missing(self, values: list[int | None]) -> None:
        table = Table.from_arrow({"x": pa.array(values, pa.int64())})
        written = blurred(table, Schema.of(x="quasi-identifying"), Laplace(0.5)).to_arrow()["x"]
        assert written.null_count == values.count(None)
        assert pa.types.is_integer(written.type)

    def test_whole_numbers_may_be_left_unrounded(self) -> None:
        table = Table.from_arrow({"x": list(range(30))})
        how = Laplace(0.5, rounded=False)
        written = blurred(table, Schema.of(x="quasi-identifying"), how).to_arrow()["x"]
        assert pa.types.is_floating(written.type)
        assert any(value != round(value) for value in written.to_pylist())

    def test_fractions_are_not_rounded(self) -> None:
        table = Table.from_arrow({"x": [0.5, 1.0, 2.25] * 10})
        written = blurred(table, Schema.of(x="quasi-identifying"), Laplace(1.0)).to_arrow()["x"].to_pylist()
        assert sum(value != round(value) for value in written) > 25

    def test_missing_values_stay_with_their_records(self) -> None:
        table = Table.from_arrow({"x": [1, None, 9, None], "who": list("abcd")})
        schema = Schema.of(x="quasi-identifying", who="insensitive")
        written = blurred(table, schema, Laplace(1.0)).to_arrow().to_pylist()
        assert {record["who"] for record in written if record["x"] is None} == {"b", "d"}

    def test_every_other_attribute_stays_exact(self) -> None:
        table = people()
        release = blurred(table, SCHEMA, Laplace(1.0, ("pay",)))
        names = ("age", "sex", "ill")
        before, after = (
            Counter(tuple(record[name] for name in names) for record in each.to_arrow().to_pylist())
            for each in (table, release)
        )
        assert before == after
        assert release.cells["pay"].sets is None
        assert release.cells["age"].sets is not None

    def test_all_numeric_quasi_identifiers_are_blurred_by_default(self) -> None:
        release = blurred(people(), SCHEMA, Laplace(1.0))
        assert [name for name, cells in release.cells.items() if cells.sets is None] == ["age", "pay"]

    def test_a_numeric_sensitive_attribute_is_left_alone(self) -> None:
        table = Table.from_arrow({"age": [1, 2, 3], "pay": [10, 20, 30]})
        release = blurred(table, Schema.of(age="quasi-identifying", pay="sensitive"), Laplace(1.0))
        assert sorted(release.to_arrow()["pay"].to_pylist()) == [10, 20, 30]

    def test_no_record_is_lost_or_invented(self, adult: Bound) -> None:
        release = sanitize(*adult, Laplace(1.0))
        assert release.n_records == 45_222
        assert release.kept.tolist() == adult[0].weights.tolist()


class TestMeasures:
    def test_a_loss_of_sets_does_not_apply_and_says_why(self) -> None:
        release = blurred(people(), SCHEMA, Laplace(1.0))
        for taken in measure(release, ["general-loss", "total-loss"]):
            assert not taken.applicable
            assert taken.detail["reason"] == "it takes released values for true ones, and values were changed"

    def test_classes_of_changed_values_are_not_judged(self) -> None:
        release = blurred(people(), SCHEMA, Laplace(1.0))
        names = ["k-anonymity", "privacy-loss", "reidentification-risk"]
        assert not any(taken.applicable for taken in measure(release, names))

    def test_what_a_researcher_loses_does_apply(self) -> None:
        release = blurred(people(), SCHEMA, Laplace(1.0))
        names = ["suppression-loss", "utility-loss", "kl-divergence"]
        assert all(taken.applicable for taken in measure(release, names))


class TestPromise:
    def test_what_is_guaranteed_is_said_and_no_more(self) -> None:
        (note,) = blurred(people(), SCHEMA, Laplace(0.5)).notes
        assert note == (
            "Each value of age, pay is 0.5-differentially private by itself; all 2 of a person together 1. "
            "Nothing is promised for the other attributes, nor for whether a person is in the table. "
            "Bounds and wholeness are taken as known to everybody. Figures that compare the release with the "
            "original are not covered."
        )

    @pytest.mark.parametrize("extreme", [70, 30.5])
    def test_the_oldest_person_and_one_fraction_change_neither_range_nor_rounding(
        self, extreme: float
    ) -> None:
        public = PublicValues(whole=False, bounds=(0, 100))
        schema = Schema((Attribute("x", "quasi-identifying", "numeric", public=public),))
        ages = [30.0] * 2_000
        spreads = [
            np.std(sanitize(Table.from_arrow({"x": each}), schema, Laplace(1.0)).to_arrow()["x"].to_pylist())
            for each in (ages, [*ages[1:], extreme])
        ]
        assert spreads == pytest.approx([100 * math.sqrt(2)] * 2, rel=0.15)

    def test_one_attribute_is_not_added_up_even_if_it_is_named_twice(self) -> None:
        (note,) = blurred(people(), SCHEMA, Laplace(0.5, ("age", "age"))).notes
        assert note.startswith("Each value of age is 0.5-differentially private by itself. Nothing")


class TestMistakes:
    @pytest.mark.parametrize("epsilon", [0.0, -1.0, float("nan"), float("inf")])
    def test_epsilon_is_above_zero(self, epsilon: float) -> None:
        with pytest.raises(ParameterError, match=r"epsilon must be (above 0|at most 1,000,000), not"):
            Laplace(epsilon)

    @pytest.mark.parametrize("high", [0.0, -5.0, float("nan"), float("inf")])
    def test_bounds_are_two_finite_numbers_in_order(self, high: float) -> None:
        with pytest.raises(SchemaError, match="bounds must be two numbers, the smaller one first"):
            PublicValues(bounds=(0.0, high))

    @pytest.mark.parametrize("name", ["sex", "ill", "agee", "nothing"])
    def test_an_attribute_that_is_no_numeric_quasi_identifier_is_refused(self, name: str) -> None:
        with pytest.raises(ParameterError, match=f"no numeric quasi-identifier '{name}'"):
            sanitize(people(), SCHEMA, Laplace(1.0, (name,)))

    def test_the_nearest_name_is_suggested(self) -> None:
        with pytest.raises(ParameterError, match="did you mean 'age'"):
            sanitize(people(), SCHEMA, Laplace(1.0, ("agee",)))

    def test_one_value_and_no_value_have_the_declared_range(self) -> None:
        for values in ([5, 5, None], [None, None]):
            table = Table.from_arrow({"x": pa.array(values, pa.int64())})
            written = sanitize(table, bounded(0, 50), Laplace(1.0)).to_arrow()["x"]
            assert written.null_count == values.count(None)

    @pytest.mark.parametrize(
        ("attribute", "line"),
        [
            (Attribute("x", "quasi-identifying"), 'kind = "numeric"'),
            (Attribute("x", "quasi-identifying", "numeric"), r"public = \{ whole = true \}"),
            (
                Attribute("x", "quasi-identifying", "numeric", public=PublicValues(whole=True)),
                r"public = \{ whole = true, bounds = \[0, 100\] \}",
            ),
        ],
    )
    def test_what_is_not_declared_is_refused_with_the_line_to_paste(
        self, attribute: Attribute, line: str
    ) -> None:
        said = rf"^laplace takes nothing .* write under \[attributes\.x\]: {line}$"
        with pytest.raises(SchemaError, match=said):
            sanitize(Table.from_arrow({"x": [17, 90]}), Schema((attribute,)), Laplace(1.0))

    def test_a_table_without_numbers_is_refused(self) -> None:
        table = Table.from_arrow({"sex": ["f", "m"]})
        with pytest.raises(ParameterError, match="laplace needs a numeric quasi-identifier"):
            sanitize(table, Schema.of(sex="quasi-identifying"), Laplace(1.0))


def test_a_published_folder_verifies_and_never_holds_the_seed(tmp_path: Path) -> None:
    (tmp_path / "hospital.csv").write_bytes((datasets.FOLDER / "hospital.csv").read_bytes())
    (tmp_path / "hospital.toml").write_text(
        """
        data.path = "hospital.csv"
        [attributes]
        name.role = "identifying"
        zip.role = "quasi-identifying"
        age = { role = "quasi-identifying", kind = "numeric", public = { whole = true, bounds = [0, 100] } }
        sex.role = "quasi-identifying"
        diagnosis.role = "sensitive"

        [policy]
        recipient = "none"

        [[candidates]]
        sanitizer = "laplace"
        epsilon = [0.1, 1.0]
        attributes = ["age"]
        """,
        encoding="utf-8",
    )
    project = Project.load(tmp_path / "hospital.toml")
    table, schema = project.read()
    rng = np.random.default_rng(0)
    recipes = [recipe for search in project.searches for recipe in search.propose(table, schema, rng)]
    assert [recipe.build() for recipe in recipes] == [Laplace(e, ("age",)) for e in (0.1, 1.0)]
    recipe = Recipe(recipes[1].sanitizer, recipes[1].parameters, seed=987_654_321)
    taken = tuple(measure(sanitize(table, schema, recipe), project.measures))
    candidate = Candidate("c0ffee00", recipe, taken)
    evidence = Evidence(Frontier((candidate,), project.axes))
    request = PublicationRequest(tmp_path / "out", evidence=evidence, allow_singling_out=True)
    publish_candidate(project, table, schema, candidate, request)
    assert not [check for check in verify(tmp_path / "out") if not check.holds]
    assert "1-differentially private by itself" in (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "seed" not in json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))["recipe"]
    assert not any(b"987654321" in place.read_bytes() for place in (tmp_path / "out").iterdir())
