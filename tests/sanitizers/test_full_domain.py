"""Full-domain recoding against brute force at every node of tiny lattices, and its refusals."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Attribute, Hierarchy, Prefixes, Recipe, Release, Schema, Table, sanitize
from sfumato.models import KAnonymity, PrivacyModel, ProbabilisticDiversity, TCloseness
from sfumato.runtime.errors import Infeasible, ParameterError, SchemaError
from sfumato.sanitizers import FullDomain

Bound = tuple[Table, Schema]
Record = dict[str, Any]


def generalized(table: Table, schema: Schema, levels: dict[str, int]) -> list[Record]:
    """Write every record at the levels, by the rows of the hierarchies."""
    names = schema.quasi_identifiers
    rows = {
        name: dict(zip(schema.hierarchy(name).values, schema.hierarchy(name).rows(), strict=True))
        for name in names
    }
    return [
        {
            name: rows[name][value][levels.get(name, 0)] if name in names else value
            for name, value in record.items()
        }
        for record in table.to_arrow().to_pylist()
    ]


def kept_by_hand(records: list[Record], schema: Schema, model: PrivacyModel) -> list[Record]:
    """Drop the records of every class in which the model fails."""
    classes: dict[tuple[Any, ...], list[Record]] = {}
    for record in records:
        classes.setdefault(tuple(record[name] for name in schema.quasi_identifiers), []).append(record)
    return [
        record for members in classes.values() if fits(members, records, schema, model) for record in members
    ]


def fits(members: list[Record], records: list[Record], schema: Schema, model: PrivacyModel) -> bool:
    for part in model.parts:
        for name in schema.sensitive:
            here, everywhere = (Counter(r[name] for r in rs) for rs in (members, records))
            if isinstance(part, ProbabilisticDiversity) and max(here.values()) * part.l > len(members):
                return False
            apart = sum(abs(here[v] / len(members) - everywhere[v] / len(records)) for v in everywhere) / 2
            if isinstance(part, TCloseness) and apart > part.t + 1e-9:
                return False
        if isinstance(part, KAnonymity) and len(members) < part.k:
            return False
    return True


def multiset(records: list[Record]) -> Counter[tuple[str, ...]]:
    """Count records as they are written: missing values and text alike."""
    return Counter(
        tuple(str(record[name] or "") if record[name] != 0 else "0" for name in sorted(record))
        for record in records
    )


MODELS = [KAnonymity(1), KAnonymity(2), KAnonymity(4), ProbabilisticDiversity(2), TCloseness(0.25)]
MODELS += [KAnonymity(2) & TCloseness(0.4)]


@given(data=st.data(), model=st.sampled_from(MODELS))
@settings(max_examples=40)
def test_every_node_of_a_tiny_lattice(
    tiny_tables: st.SearchStrategy[Bound],
    floored_tables: st.SearchStrategy[Bound],
    data: st.DataObject,
    model: PrivacyModel,
) -> None:
    table, schema = data.draw(tiny_tables | floored_tables)
    heights = [range(schema.hierarchy(name).height + 1) for name in schema.quasi_identifiers]
    for node in itertools.product(*heights):
        levels = dict(zip(schema.quasi_identifiers, node, strict=True))
        kept = {name: max(level, schema[name].lowest_level) for name, level in levels.items()}
        expected = kept_by_hand(generalized(table, schema, kept), schema, model)
        how = FullDomain(levels, model, suppression=1.0)
        if not expected:
            with pytest.raises(Infeasible):
                sanitize(table, schema, how)
            continue
        release = sanitize(table, schema, how)
        assert multiset(release.to_arrow(typed=False).to_pylist()) == multiset(expected)
        assert release.n_suppressed == table.n_records - len(expected)


@pytest.fixture
def people() -> Bound:
    """Ten people: at level 1 of zip the classes have 1, 3 and 6 records."""
    zips = ["1111", "2211", "2212", "2213", "3311", "3312", "3313", "3314", "3315", "3316"]
    illness = ["a", "a", "b", "c", "a", "a", "b", "b", "c", "c"]
    schema = Schema(
        (Attribute("zip", "quasi-identifying", hierarchy=Prefixes((2,))), Attribute("ill", "sensitive"))
    )
    return schema.bind(Table.from_arrow({"zip": zips, "ill": illness}))


class TestSuppression:
    @pytest.mark.parametrize(("k", "suppressed"), [(1, 0), (2, 1), (3, 1), (4, 4), (6, 4)])
    def test_exactly_the_limit_is_allowed(self, people: Bound, k: int, suppressed: int) -> None:
        release = sanitize(*people, FullDomain({"zip": 1}, KAnonymity(k), suppression=suppressed / 10))
        assert release.n_suppressed == suppressed
        assert release.classes.sizes.min() >= k

    @pytest.mark.parametrize(("k", "suppressed"), [(2, 1), (4, 4)])
    def test_more_than_the_limit_is_not(self, people: Bound, k: int, suppressed: int) -> None:
        how = FullDomain({"zip": 1}, KAnonymity(k), suppression=suppressed / 10 - 0.01)
        with pytest.raises(Infeasible, match=f"{suppressed} of 10 records .*suppression limit") as caught:
            sanitize(*people, how)
        assert caught.value.reached == suppressed / 10

    def test_the_default_suppresses_nothing(self, people: Bound) -> None:
        with pytest.raises(Infeasible, match="1 of 10 records"):
            sanitize(*people, FullDomain({"zip": 1}, KAnonymity(2)))

    def test_a_suppressed_record_leaves_with_its_sensitive_value(self, people: Bound) -> None:
        release = sanitize(*people, FullDomain({"zip": 1}, KAnonymity(4), suppression=0.5))
        assert Counter(release.to_arrow()["ill"].to_pylist()) == {"a": 2, "b": 2, "c": 2}
        assert release.to_arrow().num_rows == 6
        assert release.kept.tolist() == [0] * 4 + [1] * 6

    def test_suppressing_everything_is_no_release(self, people: Bound) -> None:
        with pytest.raises(Infeasible, match="every record would be suppressed"):
            sanitize(*people, FullDomain({"zip": 0}, KAnonymity(2), suppression=1.0))

    def test_more_records_in_a_class_than_there_are_is_infeasible(self, people: Bound) -> None:
        for suppression in (0.0, 1.0):
            with pytest.raises(Infeasible) as caught:
                sanitize(*people, FullDomain({"zip": 2}, KAnonymity(11), suppression=suppression))
            assert "k is 10, the largest possible" in str(caught.value)
            assert caught.value.reached == 10

    def test_what_the_whole_table_lacks_its_part_may_have(self) -> None:
        # nine in ten have the flu, but among the young it is one of two
        table = Table.from_arrow({"age": ["young"] * 2 + ["old"] * 8, "ill": ["flu", "gout"] + ["flu"] * 8})
        schema = Schema.of(age="quasi-identifying", ill="sensitive")
        release = sanitize(table, schema, FullDomain({}, ProbabilisticDiversity(2), suppression=0.8))
        assert sorted(release.to_arrow()["ill"].to_pylist()) == ["flu", "gout"]
        with pytest.raises(Infeasible, match="the largest possible"):
            sanitize(table, schema, FullDomain({"age": 1}, ProbabilisticDiversity(2)))

    def test_the_prior_is_that_of_all_records_also_of_suppressed_ones(self, people: Bound) -> None:
        release = sanitize(*people, FullDomain({"zip": 1}, KAnonymity(4), suppression=0.5))
        assert release.classes.sensitive["ill"].prior.tolist() == [0.4, 0.3, 0.3]

    @pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan")])
    def test_the_limit_is_a_share(self, wrong: float) -> None:
        with pytest.raises(ParameterError, match="suppression must be a share between 0 and 1"):
            FullDomain(suppression=wrong)


class TestLevels:
    def test_an_attribute_that_is_not_named_stays_exact(self, hospital: Bound) -> None:
        release = sanitize(*hospital, FullDomain({"zip": 3}, KAnonymity(1)))
        assert set(release.to_arrow()["zip"].to_pylist()) == {"*"}
        assert sorted(release.to_arrow()["age"].to_pylist()) == sorted(
            hospital[0].to_arrow()["age"].to_pylist()
        )

    def test_a_node_with_one_value_is_written_as_the_node(self) -> None:
        tree = Hierarchy.nested({"Europe": ["France"], "Asia": ["Japan"]})
        schema = Schema((Attribute("country", "quasi-identifying", hierarchy=tree),))
        release = sanitize(
            Table.from_arrow({"country": ["France", "Japan"]}),
            schema,
            FullDomain({"country": 1}, KAnonymity(1)),
        )
        assert sorted(release.to_arrow()["country"].to_pylist()) == ["Asia", "Europe"]

    def test_the_same_level_for_every_record(self, hospital: Bound) -> None:
        release = sanitize(*hospital, FullDomain({"zip": 1, "age": 1, "sex": 1}, KAnonymity(1)))
        assert {len(label) for label in release.to_arrow()["zip"].to_pylist()} == {5}
        assert set(release.to_arrow()["age"].to_pylist()) <= {"[20, 30)", "[30, 40)", "[60, 70)"}

    @pytest.mark.parametrize(
        ("levels", "message"),
        [
            ({"zpi": 1}, "levels: no quasi-identifier 'zpi'; did you mean 'zip'?"),
            ({"colour": 1}, "levels: no quasi-identifier 'colour'; they are zip, age, sex"),
            ({"diagnosis": 1}, "levels: no quasi-identifier 'diagnosis'; they are zip, age, sex"),
            ({"age": 4}, "levels: 'age' has levels 0 to 3, not 4"),
            ({"age": -1}, "levels: 'age' has levels 0 to 3, not -1"),
        ],
    )
    def test_a_level_that_does_not_exist_is_refused(
        self, hospital: Bound, levels: dict[str, int], message: str
    ) -> None:
        with pytest.raises(ParameterError) as caught:
            sanitize(*hospital, FullDomain(levels, KAnonymity(1)))
        assert str(caught.value) == message

    def test_levels_come_from_json(self, hospital: Bound, as_made: Callable[[Release], pa.Table]) -> None:
        parameters = {"levels": {"zip": 2, "age": 3}, "model": {"k-anonymity": {"k": 2}}, "suppression": 0.5}
        written = json.dumps({"sanitizer": "full-domain", "parameters": parameters, "seed": 3})
        release = sanitize(*hospital, Recipe.from_json(written))
        assert release.recipe == Recipe("full-domain", parameters, 3)
        same = sanitize(*hospital, FullDomain({"zip": 2, "age": 3}, KAnonymity(2), 0.5), seed=3)
        assert as_made(release).equals(as_made(same))

    @pytest.mark.parametrize("level", ["two", 1.5, None, [1]])
    def test_a_level_that_is_no_number_is_refused(self, hospital: Bound, level: Any) -> None:
        recipe = Recipe("full-domain", {"levels": {"zip": level}})
        with pytest.raises(ParameterError, match="full-domain"):
            sanitize(*hospital, recipe)

    def test_changing_the_levels_afterwards_does_not_change_the_recipe(self, hospital: Bound) -> None:
        levels = {"zip": 3, "age": 3, "sex": 1}
        release = sanitize(*hospital, FullDomain(levels, KAnonymity(2)))
        levels["zip"] = 0
        assert release.recipe is not None
        assert release.recipe.parameters["levels"]["zip"] == 3


class TestSchema:
    def test_without_a_quasi_identifier_the_remedy_is_named(self) -> None:
        with pytest.raises(SchemaError, match="full-domain needs a quasi-identifying attribute; give one"):
            sanitize(Table.from_arrow({"ill": ["x"]}), Schema.of(ill="sensitive"), FullDomain())

    @pytest.mark.parametrize("suppression", [0.0, 1.0])
    def test_without_a_sensitive_attribute_a_model_of_one_is_refused(self, suppression: float) -> None:
        how = FullDomain({}, TCloseness(0.1), suppression)
        with pytest.raises(SchemaError, match="needs a sensitive attribute; give one"):
            sanitize(Table.from_arrow({"age": [1, 2]}), Schema.of(age="quasi-identifying"), how)
