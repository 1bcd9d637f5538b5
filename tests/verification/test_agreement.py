"""The second implementation finds what the first one claims, on many tables and by many methods."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.models.distances import distance_names
from sfumato.registry import methods
from sfumato.verification.figures import MEASURES, OneOf, WithinRange, recompute
from sfumato.verification.levels import MODELS
from sfumato.verification.published_view import public_view, table_names
from sfumato.verification.written_tables import read_csv
from sfumato.workflow.publish.data_files import write_release
from sfumato.workflow.publish.folder_layout import Layout
from sfumato.workflow.publish.manifest_record import (
    claims_of,
    layout_facts,
)
from sfumato.workflow.publish.verify import read_written

ASKED: list[Any] = [
    *MODELS,
    {"t-closeness": {"distance": "js"}},
    {"t-closeness": {"distance": "hierarchical"}},
    {"t-closeness": {"distance": "natural"}},
    {"t-closeness": {"distance": "kl"}},
    {"t-closeness": {"distance": "hellinger"}},
    {"delta-disclosure": {"base": 2.0, "absent": "ignored"}},
    {"beta-likeness": {"variant": "enhanced"}},
    {"recursive-diversity": {"l": 2}},
    {"confidence-bound": {"common": 0.3}},
    {"safety-order": {"d2": 2, "prefer": "k"}},
    {"safety-order": {"d2": 3, "prefer": "l", "diversity": "distinct"}},
    {"alpha-k-anonymity": {"alpha": 0.4, "alphas": {"flu": 0.2}}},
    *(name for name in MEASURES if name not in MODELS),
    {"journalist-risk": {"population-size": 90_000}},
    {"marketer-risk": {"population-size": 90_000}},
    {"privacy-loss": {"threshold": 0.02}},
    {"privacy-loss": {"distance": "equal"}},
    {"privacy-loss": {"distance": "hierarchical"}},
    {"privacy-loss": {"distance": "natural"}},
    {"privacy-loss": {"distance": "kl"}},
    {"privacy-loss": {"distance": "hellinger"}},
    {"average-class-size": {"k": 3}},
]
ILLNESSES = ["flu", "cold", "cough", None, "ulcer"]
TREE = sf.Hierarchy.of_rows(
    [
        ["flu", "chest", "*"],
        ["cold", "chest", "*"],
        ["cough", "chest", "*"],
        ["ulcer", "belly", "*"],
        ["", "unknown", "*"],
    ]
)


def agrees(claimed: Any, found: Any) -> bool:
    """Return whether two figures are the same, written down here once more."""
    if isinstance(found, OneOf):
        return claimed in found.names
    if isinstance(found, WithinRange):
        return found.low - 1e-12 <= claimed <= found.high + 1e-12
    if isinstance(found, Mapping):
        return set(claimed) == set(found) and all(agrees(claimed[name], found[name]) for name in found)
    if isinstance(found, (tuple, list)):
        return len(claimed) == len(found) and all(map(agrees, claimed, found))
    if isinstance(found, float):
        value = math.inf if claimed == "Infinity" else claimed
        return value is not None and value == pytest.approx(found, rel=1e-9, abs=1e-9)
    return bool(claimed == found)


def disagreements(release: sf.Release, folder: Path, asked: list[Any]) -> list[str]:
    """Write a release, and compare what both implementations say of the written cells."""
    layout = Layout.of(release)
    names = layout.tables
    place = folder / ("data.csv" if len(names) == 1 else "x.csv")
    written = write_release(release, place)
    if len(names) > 1:
        for name, file in zip(names, written, strict=True):
            file.rename(folder / f"{name}.csv")
    facts = layout_facts(layout)
    seen = public_view({name: read_csv(folder, name) for name in table_names(facts)}, facts)
    from sfumato.workflow.publish.folder_layout import read_back

    claims = claims_of(read_back(read_written(folder, names), layout), asked)
    wrong = []
    for name, parameters in {(c.measure, methods.label("", c.parameters)): c for c in claims}:
        own = [c for c in claims if (c.measure, methods.label("", c.parameters)) == (name, parameters)]
        found = recompute(MEASURES[name], seen, own[0].parameters)
        if len(found) != len(own):
            wrong.append(f"{name}: {len(own)} claims, {len(found)} found")
            continue
        for claim, again in zip(own, found, strict=True):
            same = all(
                agrees(getattr(claim, part), getattr(again, part))
                for part in ("value", "attribute", "baseline", "detail")
            )
            interval = again.interval is None or agrees(claim.interval, again.interval)
            if not same or not interval:
                wrong.append(f"{name} {parameters}: {claim} is not {again}")
    return wrong


WAYS = [
    sf.sanitizers.AsIs(),
    sf.sanitizers.SuppressQuasiIdentifiers(),
    sf.sanitizers.SuppressSensitive(),
    sf.sanitizers.Mondrian(sf.models.KAnonymity(2)),
    sf.sanitizers.Mondrian(sf.models.KAnonymity(2), "relaxed"),
    sf.sanitizers.FullDomain({"town": 1}, sf.models.KAnonymity(2), suppression=0.9),
    sf.sanitizers.Bucketize(sf.models.DistinctDiversity(1)),
    sf.sanitizers.Bucketize(sf.models.DistinctDiversity(1), form="two-tables"),
]


@st.composite
def tables(draw: st.DrawFn) -> sf.Table:
    n = draw(st.integers(3, 30))
    ages = draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    towns = draw(st.lists(st.sampled_from(["A", "B", "ä,", 'q"']), min_size=n, max_size=n))
    ills = draw(st.lists(st.sampled_from(ILLNESSES), min_size=n, max_size=n))
    pays = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    return sf.Table.from_arrow({"age": ages, "town": towns, "ill": ills, "pay": pays})


def schema_of(table: sf.Table) -> sf.Schema:
    present = set(table["ill"].domain)
    rows = [row for row in TREE.rows() if (row[0] or None) in present]
    return sf.Schema(
        (
            sf.Attribute("age", "quasi-identifying"),
            sf.Attribute("town", "quasi-identifying"),
            sf.Attribute("ill", "sensitive", hierarchy=sf.Hierarchy.of_rows(rows)),
            sf.Attribute("pay", "sensitive", kind="numeric"),
        )
    )


@pytest.mark.parametrize("how", WAYS, ids=lambda how: str(sf.Recipe.of(how)))
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=tables())
def test_both_say_the_same_of_drawn_tables(
    how: Any, table: sf.Table, tmp_path_factory: pytest.TempPathFactory
) -> None:
    try:
        release = sf.sanitize(table, schema_of(table), how)
    except sf.errors.Infeasible:
        return
    asked = [each for each in ASKED if "flu" in set(release.cells["ill"].labels) or "alphas" not in str(each)]
    assert not disagreements(release, tmp_path_factory.mktemp("drawn"), asked)


@pytest.mark.parametrize("distance", distance_names())
def test_the_distances_agree_where_order_and_tree_matter(distance: str, tmp_path: Path) -> None:
    table = sf.Table.from_arrow(
        {
            "age": [1, 1, 1, 2, 2, 2, 3, 3, 3],
            "town": ["A"] * 9,
            "ill": ["flu", "cold", "ulcer", "flu", "flu", "cough", "ulcer", "ulcer", None],
            "pay": [1, 2, 9, 1, 1, 30, 9, 9, 2],
        }
    )
    release = sf.sanitize(table, schema_of(table), sf.sanitizers.AsIs())
    asked: list[Any] = [{"t-closeness": {"distance": distance}}]
    assert not disagreements(release, tmp_path, asked)


def test_a_missing_value_may_have_a_limit_of_its_own(tmp_path: Path) -> None:
    table = sf.Table.from_arrow({"age": [1, 1, 1, 2, 2, 2], "ill": ["flu", "flu", None, "cold", None, "flu"]})
    schema = sf.Schema.of(age="quasi-identifying", ill="sensitive")
    release = sf.sanitize(table, schema, sf.sanitizers.Mondrian(sf.models.AlphaKAnonymity(0.7, 2, {"": 0.4})))
    assert not disagreements(release, tmp_path, [{"alpha-k-anonymity": {"alpha": 0.7, "alphas": {"": 0.4}}}])
    sf.publish(release, tmp_path / "out", policy="none", allow_singling_out=True)


def test_many_quasi_identifiers_are_sampled_alike(tmp_path: Path) -> None:
    columns = {f"q{place}": [(row * (place + 2)) % 5 for row in range(40)] for place in range(10)}
    table = sf.Table.from_arrow({**columns, "ill": [ILLNESSES[row % 3] for row in range(40)]})
    schema = sf.Schema(
        (
            *(sf.Attribute(name, "quasi-identifying") for name in columns),
            sf.Attribute("ill", "sensitive"),
        )
    )
    release = sf.sanitize(table, schema, sf.sanitizers.AsIs())
    assert not disagreements(release, tmp_path, [{"quasi-identifier-contribution": {"permutations": 40}}])
    seen = public_view({"data": read_csv(tmp_path, "data")}, layout_facts(Layout.of(release)))
    with pytest.raises(ValueError, match="would never end"):
        recompute(MEASURES["quasi-identifier-contribution"], seen, {"permutations": 10**12})


@pytest.mark.parametrize(
    "how",
    [
        sf.sanitizers.Mondrian(sf.models.KAnonymity(25) & sf.models.TCloseness(0.4)),
        sf.sanitizers.Bucketize(sf.models.ProbabilisticDiversity(4)),
        sf.sanitizers.FullDomain(
            {"age": 3, "education": 2, "marital-status": 1, "race": 1}, sf.models.KAnonymity(5), 0.4
        ),
    ],
    ids=lambda how: str(sf.Recipe.of(how)),
)
def test_both_say_the_same_of_the_census(how: Any, tmp_path: Path, adult: Any) -> None:
    table, schema = adult
    release = sf.sanitize(table, schema, how)
    asked = [each for each in ASKED if "alphas" not in str(each) and "ordered" not in str(each)]
    assert not disagreements(release, tmp_path, asked)


def test_every_measure_that_can_be_claimed_is_known_here() -> None:
    models = methods.registered("model")
    measures = {
        name
        for name, cls in methods.registered("measure").items()
        if cls.__module__.startswith("sfumato.") and getattr(cls, "needs", "") == "release"
    }
    own = {name for name, cls in models.items() if cls.__module__.startswith("sfumato.")}
    assert set(MODELS) == own
    assert set(MEASURES) == own | measures


@pytest.mark.parametrize("name", sorted(MODELS))
def test_what_is_known_of_a_model_is_what_it_declares(name: str) -> None:
    known, cls = MODELS[name], methods.look_up("model", name)
    assert (known.limit, known.better, known.strict) == (cls.parameter, cls.better, cls.strict)
    assert known.parameters == set(methods.parameters_of(cls))


@pytest.mark.parametrize("name", sorted(set(MEASURES) - set(MODELS)))
def test_what_is_known_of_a_measure_is_what_it_declares(name: str) -> None:
    known, cls = MEASURES[name], methods.look_up("measure", name)
    assert (known.axis, known.better) == (cls.axis, cls.better)
    assert known.parameters == set(methods.parameters_of(cls))
