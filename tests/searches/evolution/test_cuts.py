"""The space of cuts: every individual is a valid recipe, and its traits are those of the release."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sfumato import Attribute, Hierarchy, Intervals, Schema, Table, measure, sanitize
from sfumato.models import KAnonymity
from sfumato.reading import datasets
from sfumato.runtime.errors import ParameterError
from sfumato.searches.evolution.cuts import CutSpace
from sfumato.searches.evolution.problems import PublisherProblem

Bound = tuple[Table, Schema]

LANDS = Hierarchy.nested(
    {"Europe": {"North": ["Norway", "Sweden"], "South": ["France", "Italy", "Spain"]}, "Asia": ["Japan"]}
)


def travellers() -> Bound:
    rng = np.random.default_rng(3)
    table = Table.from_arrow(
        {
            "age": [*range(20, 45), *rng.integers(20, 45, 35).tolist()],
            "land": rng.choice(LANDS.values, 60).tolist(),
            "sex": rng.choice(["f", "m"], 60).tolist(),
            "ill": rng.choice(["a", "b", "c"], 60).tolist(),
        }
    )
    schema = Schema(
        (
            Attribute("age", "quasi-identifying", "numeric", Intervals((5, 10))),
            Attribute("land", "quasi-identifying", hierarchy=LANDS),
            Attribute("sex", "quasi-identifying"),
            Attribute("ill", "sensitive"),
        )
    )
    return schema.bind(table)


def covers(node: Any) -> list[tuple[int, ...]]:
    """Return every way to cover a tree by nodes, as the places where it is cut."""
    if not node.children:
        return [()]
    opened = itertools.product(*(covers(child) for child in node.children))
    return [(), *(tuple(sorted((*node.between, *itertools.chain(*inner)))) for inner in opened)]


def test_the_walk_down_the_hierarchy_reaches_every_cover_and_nothing_else() -> None:
    space = CutSpace.of(*travellers())
    (land,) = [attribute for attribute in space.attributes if attribute.name == "land"]
    allowed = set(covers(land.root))
    place = slice(4, 9)
    drawn = space.sample(np.random.default_rng(0), 2000)[:, place]
    assert {tuple(np.flatnonzero(row).tolist()) for row in drawn} == allowed
    # root, Europe | Asia, North | South | Asia, with North, South or both in single lands
    assert len(allowed) == 6


@given(seed=st.integers(0, 10_000), rate=st.sampled_from([0.0, 0.1, 1.0]))
@settings(max_examples=60)
def test_crossover_and_mutation_keep_constrained_attributes_on_nodes(seed: int, rate: float) -> None:
    space = CutSpace.of(*travellers())
    rng = np.random.default_rng(seed)
    genes = space.sample(rng, 40)
    for _ in range(4):
        one, other = space.cross(rng, genes, genes[rng.permutation(len(genes))])
        genes = space.mutate(rng, np.concatenate([one, other])[:40], rate)
        assert all(space.is_valid(row) for row in genes)


def test_a_torn_node_is_not_valid() -> None:
    space = CutSpace.of(*travellers())
    genes = np.zeros(space.n_genes, dtype=np.int8)
    assert space.is_valid(genes)
    genes[4] = 1  # Norway | Sweden, France, Italy, Spain, Japan
    assert not space.is_valid(genes)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=30)
def test_children_have_only_bits_of_their_parents(seed: int) -> None:
    space = CutSpace.of(*travellers())
    rng = np.random.default_rng(seed)
    one, other = space.sample(rng, 20), space.sample(rng, 20)
    first, second = space.cross(rng, one, other)
    np.testing.assert_array_equal(first + second, one + other)
    assert ((first == one) | (first == other)).all()


def test_mutation_leaves_constrained_attributes_alone() -> None:
    space = CutSpace.of(*travellers())
    genes = space.sample(np.random.default_rng(0), 20)
    flipped = space.mutate(np.random.default_rng(1), genes, 1.0)
    np.testing.assert_array_equal(flipped[:, 4:9], genes[:, 4:9])
    np.testing.assert_array_equal(
        np.delete(flipped, range(4, 9), axis=1), 1 - np.delete(genes, range(4, 9), 1)
    )


@given(seed=st.integers(0, 10_000))
@settings(max_examples=30)
def test_neighbours_are_valid_different_and_mutual(seed: int) -> None:
    space = CutSpace.of(*travellers())
    row = space.sample(np.random.default_rng(seed), 3)[2]
    around = space.neighbours(row)
    assert len({one.tobytes() for one in around} - {row.tobytes()}) == len(around)
    for one in around:
        assert space.is_valid(one)
        assert any((back == row).all() for back in space.neighbours(one))


def test_every_cut_can_be_reached_step_by_step() -> None:
    space = CutSpace.of(*travellers())
    seen = {bytes(space.n_genes)}
    todo = [np.zeros(space.n_genes, dtype=np.int8)]
    while todo:
        for one in space.neighbours(todo.pop()):
            if one.tobytes() not in seen:
                seen.add(one.tobytes())
                todo.append(one)
    assert len(seen) == 2**4 * 6 * 2


@pytest.mark.parametrize(
    ("granularity", "cuts"), [({}, 4), ({"age": 10}, 2), ({"age": 0}, 24), ({"age": 2.5}, 9)]
)
def test_a_number_is_cut_between_intervals_of_its_granularity(granularity: Any, cuts: int) -> None:
    table, schema = travellers()
    space = CutSpace.of(table, schema, granularity=granularity)
    age = space.attributes[0]
    assert len(set(table["age"].domain)) == 25
    assert age.n_units == cuts + 1
    bits = age.spelled(np.ones(cuts, dtype=np.int8))
    assert (len(bits), bits.count("1")) == (24, cuts)
    recipe = space.recipe(space.sample(np.random.default_rng(0), 2)[1], KAnonymity(1), 0.0)
    released = set(map(str, sanitize(table, schema, recipe).to_arrow()["age"].to_pylist()))
    assert len(released) == cuts + 1


@pytest.mark.parametrize(
    ("given_", "complaint"),
    [
        ({"free": ("lnd",)}, "free: no quasi-identifier 'lnd'; did you mean 'land'"),
        ({"granularity": {"ag": 5}}, "granularity: no quasi-identifier 'ag'"),
        ({"granularity": {"land": 5}}, "'land' is not numeric"),
        ({"granularity": {"age": -1}}, "must be 0 or more"),
    ],
)
def test_what_makes_no_sense_is_refused(given_: Any, complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        CutSpace.of(*travellers(), **given_)


def test_too_many_places_to_cut_need_a_granularity() -> None:
    table, schema = Schema.of(wage="quasi-identifying").bind(Table.from_arrow({"wage": list(range(5000))}))
    with pytest.raises(ParameterError, match="'wage' can be cut in 4,999 places"):
        CutSpace.of(table, schema)
    assert CutSpace.of(table, schema, granularity={"wage": 100}).n_genes == 49


def test_nodes_that_would_be_released_under_one_name_are_refused() -> None:
    twice = Hierarchy.of_levels(["x", "y", "z"], [["z", "z", "rest"]])
    table = Table.from_arrow({"q": ["x", "y", "z"]})
    bound = Schema((Attribute("q", "quasi-identifying", hierarchy=twice),)).bind(table)
    with pytest.raises(ParameterError, match="two nodes of the hierarchy of 'q' have the same name"):
        CutSpace.of(*bound)


@given(data=st.data())
@settings(max_examples=150)
def test_the_traits_of_a_cut_are_those_of_its_release(
    data: st.DataObject, tiny_tables: Any, floored_tables: Any
) -> None:
    table, schema = data.draw(tiny_tables | floored_tables)
    free = tuple(name for name in schema.quasi_identifiers if data.draw(st.booleans()))
    try:
        space = CutSpace.of(table, schema, free)
    except ParameterError:
        assume(False)
    genes = space.sample(np.random.default_rng(data.draw(st.integers(0, 1000))), 4)[2:]
    problem = PublisherProblem(space, "zero-suppression")
    found = problem.evaluate(genes)
    for row, traits in zip(genes, found.traits, strict=True):
        release = sanitize(table, schema, problem.recipe(row, traits))
        values = [m.value for m in measure(release, ["k-anonymity", "weighted-k", "general-loss"])]
        assert list(traits[[0, 2, 3]]) == pytest.approx(values, abs=1e-12)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("lowest", [0, 1])
def test_the_loss_of_a_cut_counts_the_leaves_that_do_not_occur(missing: bool, lowest: int) -> None:
    rows = [[str(age), f"[{age // 10 * 10}, {age // 10 * 10 + 10})", "*"] for age in range(100)]
    ages = [12, 15, 37, 38, 60, 85, *([None] if missing else [])]
    attribute = Attribute("age", "quasi-identifying", "numeric", Hierarchy.of_rows(rows), lowest_level=lowest)
    table, schema = Schema((attribute,)).bind(Table.from_arrow({"age": ages}))
    space = CutSpace.of(table, schema, granularity={"age": 0})
    genes = np.array(list(itertools.product((0, 1), repeat=space.n_genes)), dtype=np.int8)
    problem = PublisherProblem(space, "zero-suppression")
    for row, traits in zip(genes, problem.evaluate(genes).traits, strict=True):
        release = sanitize(table, schema, problem.recipe(row, traits))
        (taken,) = measure(release, ["general-loss"])
        assert traits[3] == pytest.approx(taken.value, abs=1e-12)


def test_adult_has_the_bits_that_the_paper_would_have() -> None:
    table, schema = datasets.adult("train")
    space = CutSpace.of(*schema.bind(table), free=("education",))
    units = {attribute.name: attribute.n_units for attribute in space.attributes}
    assert units == {"age": 16, "workclass": 7, "education": 16, "marital-status": 7, "race": 5, "sex": 2}
    bound = {attribute.name for attribute in space.attributes if attribute.root is not None}
    assert bound == {"workclass", "marital-status", "race"}
