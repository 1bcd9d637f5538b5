"""Local recoding: the model holds, and the loss is below that of mondrian and of ARX on its own file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Attribute, Hierarchy, Schema, Table, measure, sanitize
from sfumato.kernels.greedy_clusters import range_costs
from sfumato.models import (
    BetaLikeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    PrivacyModel,
    ProbabilisticDiversity,
    TCloseness,
)
from sfumato.reading import datasets
from sfumato.reading.read_table import read
from sfumato.results.linked_release import LinkedRelease
from sfumato.runtime.errors import Infeasible, ParameterError, SchemaError
from sfumato.sanitizers import LocalRecoding, Mondrian
from sfumato.sanitizers.generalize.class_extraction import extract_classes
from sfumato.sanitizers.generalize.from_clusters import PointSpace, classes_of

VECTORS = Path(__file__).parents[1] / "vectors" / "arx-adult"

MODELS = (
    KAnonymity(3),
    DistinctDiversity(2),
    KAnonymity(2) & EntropyDiversity(1.5),
    KAnonymity(3) & TCloseness(0.4),
    ProbabilisticDiversity(1.3),
    BetaLikeness(1.0),
    KAnonymity(2) & DeltaDisclosure(3.0, absent="ignored"),
)


def people(seed: int, n_records: int = 200) -> tuple[Table, Schema]:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 60, n_records)
    colours = np.array(["red", "blue", "green", "black"])
    table = Table.from_arrow(
        {
            "age": age,
            "colour": colours[rng.integers(0, 4, n_records)],
            "illness": np.array(["flu", "cold", "cough"])[(age // 9 + rng.integers(0, 3, n_records)) % 3],
            "wage": rng.integers(1, 4, n_records),
        }
    )
    colour = Hierarchy.of_rows(
        [["red", "bright", "*"], ["blue", "bright", "*"], ["green", "dark", "*"], ["black", "dark", "*"]]
    )
    schema = Schema(
        (
            Attribute("age", "quasi-identifying"),
            Attribute("colour", "quasi-identifying", hierarchy=colour),
            Attribute("illness", "sensitive"),
            Attribute("wage", "sensitive"),
        )
    )
    return schema.bind(table)


def loss(release: object) -> float:
    (taken,) = measure(release, ["total-loss"])  # type: ignore[arg-type]
    assert taken.value is not None
    return taken.value


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("cells", ["sets", "nodes"])
@pytest.mark.parametrize("seed", range(2))
def test_the_model_holds_in_what_is_published_and_the_loss_falls(
    model: PrivacyModel, cells: Literal["sets", "nodes"], seed: int
) -> None:
    table, schema = people(seed)
    before = sanitize(table, schema, LocalRecoding(model, 0, cells), seed=seed)
    after = sanitize(table, schema, LocalRecoding(model, cells=cells), seed=seed)
    for release in (before, after):
        assert release.n_suppressed == 0
        assert model.satisfied(release.classes).all()
    # parts that are released alike are united in the end, which may cost a little of what was won
    assert loss(after) <= loss(before) + 1e-12


@given(
    ages=st.lists(st.integers(0, 4), min_size=1, max_size=12),
    k=st.integers(1, 4),
    seed=st.integers(0, 3),
    data=st.data(),
)
@settings(max_examples=60, deadline=None)
def test_any_small_table_is_covered(ages: list[int], k: int, seed: int, data: st.DataObject) -> None:
    n_records = len(ages)
    illness = data.draw(st.lists(st.sampled_from("ab"), min_size=n_records, max_size=n_records))
    table = Table.from_arrow({"age": ages, "illness": illness})
    schema = Schema.of(age="quasi-identifying", illness="sensitive")
    model = KAnonymity(k) & DistinctDiversity(2) if data.draw(st.booleans()) else KAnonymity(k)
    try:
        release = sanitize(table, schema, LocalRecoding(model, 4), seed=seed)
    except Infeasible:
        assert n_records < k or len(set(illness)) < 2
        return
    assert (release.kept == release.origin.table.weights).all()
    assert model.satisfied(release.classes).all()
    for name in ("age", "illness"):
        cells = release.cells[name]
        assert cells.sets is not None
        assert cells.sets.contain(cells.codes, release.origin.table[name].codes[release.origin.rows]).all()


def test_equal_seeds_give_equal_releases(as_made: Callable[[LinkedRelease], pa.Table]) -> None:
    table, schema = people(7)
    for model in (KAnonymity(4), KAnonymity(3) & TCloseness(0.3)):
        one, other = (as_made(sanitize(table, schema, LocalRecoding(model), seed=5)) for _ in range(2))
        assert one.equals(other)


@pytest.mark.parametrize("sets", [False, True])
def test_what_covers_are_said_to_cost_is_what_they_are_released_for(sets: bool) -> None:
    rng = np.random.default_rng(0)
    rows = [[f"v{i}", f"a{i // 3}", f"b{i // 9}", "*"] for i in range(20)]
    table = Table.from_arrow({"one": [f"v{i}" for i in (0, 1, 4, 5, 6, 8, 13, 14, 15, 19)], "two": range(10)})
    one = Attribute("one", "quasi-identifying", hierarchy=Hierarchy.of_rows(rows))
    two = Attribute("two", "quasi-identifying", "categorical", weight=0.5)
    bound, schema = Schema((one, two)).bind(table)
    space = PointSpace.of(bound, schema, KAnonymity(1), sets=sets)
    ends = np.sort(rng.integers(0, 10, (60, 2, 2)), axis=2).astype(np.int32)
    low, high = ends[:, :, 0].copy(), ends[:, :, 1].copy()
    cells = space.cells(low, high)
    losses = {name: each.sets.losses[each.codes] for name, each in cells.items() if each.sets is not None}
    costs = range_costs(low, high, *space.covers)
    np.testing.assert_allclose(costs, losses["one"] + 0.5 * losses["two"])


def test_with_sets_it_loses_no_more_than_mondrian() -> None:
    table, schema = people(11, 400)
    for model in (KAnonymity(5), KAnonymity(4) & DistinctDiversity(2)):
        mondrian = sanitize(table, schema, Mondrian(model))
        assert loss(sanitize(table, schema, LocalRecoding(model, 0))) == pytest.approx(loss(mondrian))
        assert loss(sanitize(table, schema, LocalRecoding(model))) < loss(mondrian)


@pytest.mark.thorough("the loss beside ARX's")
def test_more_effort_does_not_lose_more_on_adult() -> None:
    table, schema = datasets.adult("train")
    releases = [sanitize(table, schema, LocalRecoding(KAnonymity(10), effort)) for effort in (0, 1, 4)]
    losses = [loss(release) for release in releases]
    assert losses[0] > losses[1] > losses[2]


def test_bad_parameters_and_tables_are_refused() -> None:
    table, schema = people(0)
    with pytest.raises(ParameterError, match="effort must be at least 0"):
        LocalRecoding(effort=-1)
    with pytest.raises(Infeasible, match="k-anonymity with k = 201 cannot hold"):
        sanitize(table, schema, LocalRecoding(KAnonymity(201)))
    alone = Schema.of(illness="sensitive", age="insensitive", colour="insensitive", wage="insensitive")
    with pytest.raises(SchemaError, match="local-recoding needs a quasi-identifying attribute"):
        sanitize(table, alone, LocalRecoding())


@pytest.mark.parametrize("model", [model for model in MODELS if model != KAnonymity(3)], ids=str)
def test_peeling_takes_every_record_once_into_classes_that_hold(model: PrivacyModel) -> None:
    table, schema = people(4)
    space = PointSpace.of(table, schema, model)
    clusters = extract_classes(space, schema, model, 40, np.random.default_rng(0))
    taken = np.bincount(clusters.rows, clusters.weights, minlength=table.n_rows)
    assert (taken == table.weights).all()
    holds = model.satisfied(classes_of(space, clusters))
    # the last class is what is left over
    assert holds[:-1].all()
    assert len(holds) > 3


@pytest.mark.thorough("its first model", but=1)
@pytest.mark.parametrize(
    ("model", "sensitive", "arx"),
    [
        (KAnonymity(5), (), 0.0519),
        (KAnonymity(10), (), 0.0762),
        (KAnonymity(5) & TCloseness(0.2), ("occupation",), 0.442),
    ],
    ids=str,
)
def test_it_loses_less_than_arx_at_its_best(
    model: PrivacyModel, sensitive: tuple[str, ...], arx: float
) -> None:
    table = read(VECTORS / "adult.csv.gz", separator=";")
    schema = Schema(
        tuple(
            Attribute(
                name,
                "sensitive" if name in sensitive else "quasi-identifying",
                "categorical",
                Hierarchy.read(VECTORS / f"adult_hierarchy_{name}.csv"),
            )
            for name in table.columns
        )
    )
    release = sanitize(table, schema, LocalRecoding(model, cells="nodes"))
    assert release.n_suppressed == 0
    assert model.satisfied(release.classes).all()
    assert loss(release) < arx
    for name in schema.quasi_identifiers:
        hierarchy = Hierarchy.read(VECTORS / f"adult_hierarchy_{name}.csv")
        nodes = {label for labels in hierarchy.labels for label in labels}
        assert set(release.cells[name].labels) <= nodes
