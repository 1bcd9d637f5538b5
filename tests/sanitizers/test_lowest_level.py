"""An attribute is never released below its lowest level, whatever the method."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sfumato import Attribute, Hierarchy, Intervals, Schema, Table, measure, sanitize
from sfumato.models import KAnonymity
from sfumato.runtime.errors import HierarchyError, Infeasible, SchemaError
from sfumato.sanitizers import (
    Anatomy,
    AsIs,
    CellSuppression,
    Clustering,
    Cut,
    FullDomain,
    Laplace,
    LocalRecoding,
    Mondrian,
)
from sfumato.workflow.explore.explore_project import explore
from sfumato.workflow.inspect.inspected_columns import inspect_table
from sfumato.workflow.project.project_file import Project
from sfumato.workflow.store.provenance import source_of
from sfumato.workflow.store.store import Store

AGES = [20, 22, 24, 25, 29, 31, 33, 40, 41, 44]
LANDS = ["France", "Italy", "Italy", "Japan", "Japan", "France", "Japan", "Italy", "Chad", "Chad"]
CONTINENTS = Hierarchy.nested({"Europe": ["France", "Italy"], "Asia": ["Japan"], "Africa": ["Chad", "Mali"]})


def people(age: int = 1, land: int = 1) -> tuple[Table, Schema]:
    schema = Schema(
        (
            Attribute("age", "quasi-identifying", "numeric", Intervals((5, 10)), lowest_level=age),
            Attribute("land", "quasi-identifying", "categorical", CONTINENTS, lowest_level=land),
            Attribute("ill", "sensitive"),
        )
    )
    table = Table.from_arrow({"age": AGES, "land": LANDS, "ill": list("abcdefabcd")})
    return schema.with_assumed_public_part(table).bind(table)


def written(how: Any, **lowest: int) -> list[tuple[str, str]]:
    release = sanitize(*people(**lowest), how)
    records = release.to_arrow(typed=False).select(["age", "land"]).to_pylist()
    return sorted((record["age"], record["land"]) for record in records)


def test_as_is_means_as_low_as_allowed() -> None:
    assert Counter(age for age, _ in written(AsIs())) == {
        "[20, 25)": 3,
        "[25, 30)": 2,
        "[30, 35)": 2,
        "[40, 45)": 3,
    }
    # the only land of its continent is written as the continent, too
    assert Counter(land for _, land in written(AsIs())) == {"Europe": 5, "Asia": 3, "Africa": 2}
    assert {land for _, land in written(AsIs(), land=0)} == {"France", "Italy", "Japan", "Chad"}


@pytest.mark.parametrize(
    "how", [FullDomain({}, KAnonymity(1)), FullDomain({"age": 0, "land": 1}, KAnonymity(1))]
)
def test_a_level_below_is_the_lowest_one(how: FullDomain) -> None:
    assert written(how) == written(AsIs())
    (precision,) = measure(sanitize(*people(), how), ["precision"])
    assert precision.detail == {"age": 1, "land": 1}
    assert precision.value == pytest.approx(1 - (1 / 3 + 1 / 2) / 2)


def test_an_interval_ends_where_nodes_end() -> None:
    ages = {age for age, _ in written(Mondrian(KAnonymity(5)), land=2)}
    assert ages == {"[20, 30)", "[31, 45)"}


@pytest.mark.parametrize(
    "how",
    [
        Anatomy(2),
        Clustering(KAnonymity(2)),
        LocalRecoding(KAnonymity(2)),
        CellSuppression(KAnonymity(2)),
        Cut({}, KAnonymity(1)),
    ],
)
def test_no_other_method_goes_below(how: Any) -> None:
    for age, land in written(how):
        assert age == "*" or age.startswith("[")
        assert not {"France", "Italy", "Japan", "Chad"} & set(land.strip("{}").split(", "))


def test_the_loss_counts_from_the_original_values() -> None:
    release = sanitize(*people(), AsIs())
    (loss,) = measure(release, ["general-loss"])
    ages = (3 * 2 + 2 * 1 + 2 * 1 + 3 * 2) / 9 / 10
    lands = (5 * 1 + 3 * 0 + 2 * 1) / 4 / 10
    assert loss.value == pytest.approx((ages + lands) / 2)
    assert len(set(release.origin.table["age"].codes.tolist())) == 10


def test_the_risk_before_anything_is_done_is_that_of_the_exact_values() -> None:
    risk = inspect_table(*people()).risk
    assert risk is not None
    assert risk.n_unique == 10


def test_noise_is_on_no_level() -> None:
    with pytest.raises(Infeasible, match="'age' has lowest-level = 1, which a noisy number cannot be on"):
        sanitize(*people(), Laplace(1.0))
    sanitize(*people(age=0), Laplace(1.0))


def test_another_lowest_level_is_another_schema() -> None:
    prints = {people(age, land)[1].fingerprint for age, land in ((0, 0), (1, 0), (2, 0), (0, 1), (0, 2))}
    assert len(prints) == 5


@pytest.mark.parametrize("level", [-1, 4])
def test_a_level_that_is_not_there_is_refused(level: int) -> None:
    with pytest.raises(HierarchyError, match="lowest-level of 'age': its hierarchy has levels 0 to 3, not"):
        people(age=level)


def test_only_a_quasi_identifier_has_a_lowest_level() -> None:
    with pytest.raises(SchemaError, match="attribute 'ill': only a quasi-identifying attribute"):
        Attribute("ill", "sensitive", lowest_level=1)


def test_numbers_that_are_no_neighbours_cannot_be_released_as_one() -> None:
    odd = Hierarchy.of_levels(["1", "2", "3"], [["odd", "even", "odd"]])
    schema = Schema((Attribute("n", "quasi-identifying", "numeric", odd, lowest_level=1),))
    with pytest.raises(HierarchyError, match="the numbers below a node of level 1 are not neighbours"):
        schema.bind(Table.from_arrow({"n": [1, 2, 3]}))


def test_it_stands_in_the_project_file_and_binds_every_search(tmp_path: Path) -> None:
    lines = ["age,ill", *(f"{age},{ill}" for age, ill in zip(AGES * 2, "abcde" * 4, strict=True))]
    (tmp_path / "people.csv").write_text("\n".join(lines))
    (tmp_path / "people.toml").write_text(
        'policy.recipient = "none"\n[data]\npath = "people.csv"\n'
        '[attributes.age]\nrole = "quasi-identifying"\nkind = "numeric"\n'
        "hierarchy = { intervals = [5, 10] }\nlowest-level = 1\n"
        "public = { whole = true, bounds = [0, 100] }\n"
        '[attributes.ill]\nrole = "sensitive"\n'
        '[[candidates]]\nsanitizer = "laplace"\n[[candidates]]\nsearch = "lattice-front"\n'
        '[[candidates]]\nsearch = "evolution"\nproblem = "suppression"\npopulation = 20\ngenerations = 5\n'
    )
    project = Project.load(tmp_path / "people.toml")
    with Store(project.store_path) as store:
        explore(project, store, workers=1)
        table, schema = project.read()
        found = store.candidates(source_of(table, schema))
    made = [candidate for candidate in found if candidate.infeasible is None]
    assert {candidate.recipe.sanitizer for candidate in made} == {"full-domain", "cut"}
    assert [candidate.recipe.sanitizer for candidate in found if candidate.infeasible] == ["laplace"]
    for candidate in made:
        ages = set(sanitize(table, schema, candidate.recipe).to_arrow(typed=False)["age"].to_pylist())
        assert not ages & set(map(str, AGES))
