"""Tests of AIM: what is spent, how records are drawn, and what is said without OpenDP's extra.

Most of them need the package mbi, which is large: `make aim` runs them.
"""

from __future__ import annotations

import itertools
import math
import sys
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from sfumato import Attribute, Schema, Table, sanitize
from sfumato.runtime.errors import ParameterError, UserError
from sfumato.sanitizers import AIM
from sfumato.sanitizers.synthesize import aim, noisy_counts, private_records
from sfumato.sanitizers.synthesize.markov_field import DrawingStep, MarkovField, steps_of

NEEDS_MBI = pytest.mark.skipif(find_spec("mbi") is None, reason="the package mbi is not installed")
SCHEMA = Schema(
    (
        Attribute("town", "quasi-identifying", "categorical"),
        Attribute("job", "quasi-identifying", "categorical"),
        Attribute("ill", "sensitive", "categorical"),
    )
)


def drawn_table(n: int = 4_000, seed: int = 0) -> Table:
    """Draw three attributes each of which depends on both others, and a rare town."""
    rng = np.random.default_rng(seed)
    town = rng.integers(0, 3, n)
    job = (town + (rng.random(n) < 0.3)) % 3
    ill = (town * (rng.random(n) < 0.5) + job * (rng.random(n) < 0.7)) % 3
    columns = {"town": np.array(list("ABC"))[town], "job": np.array(list("xyz"))[job]}
    columns |= {"ill": np.array(["flu", "cold", "none"])[ill]}
    columns["town"][:2] = "Z"
    return Table.from_arrow({name: each.tolist() for name, each in columns.items()})


def test_records_of_a_field_have_the_shares_that_the_field_says() -> None:
    # b depends on a, c on both; d lies outside the field
    rng = np.random.default_rng(1)
    joint = rng.random((2, 3, 2)) + 0.1
    steps = (
        DrawingStep(0, (), joint.sum(axis=(1, 2))),
        DrawingStep(1, (0,), joint.sum(axis=2)),
        DrawingStep(2, (0, 1), joint),
    )
    a, b, c, d = MarkovField(steps, 4).drawn(60_000, rng)
    found = np.bincount(np.ravel_multi_index((a, b, c), joint.shape), minlength=joint.size)
    assert found / 60_000 == pytest.approx(joint.ravel() / joint.sum(), abs=1e-3)
    assert not d.any()


def test_the_promise_names_unit_epsilon_and_delta() -> None:
    assert AIM(0.5, 1e-7).guarantee(SCHEMA).unit == "record"
    people = Schema((*SCHEMA.attributes, Attribute("who", "identifying")), person="who")
    guarantee = AIM(0.5, 1e-7, records_per_person=3).guarantee(people)
    assert (guarantee.epsilon, guarantee.delta, guarantee.unit) == (0.5, 1e-7, "person")


@pytest.mark.parametrize(
    ("name", "value"),
    {
        "epsilon": 0.0,
        "delta": 1.0,
        "n_records": -1,
        "records_per_person": 0,
        "degree": 1,
        "rounds": -1,
    }.items(),
)
def test_a_parameter_that_means_nothing_is_refused(name: str, value: float) -> None:
    with pytest.raises(ParameterError):
        AIM(**{name: value})  # type: ignore[arg-type]


def test_without_the_extra_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mbi", None)
    with pytest.raises(UserError, match=r"aim needs the package mbi: pip install 'sfumato\[aim\]'"):
        sanitize(drawn_table(100), SCHEMA, AIM())


def test_a_budget_is_spent_to_the_last_and_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[float] = []
    for name in ("with_noise", "frequent_with_noise"):
        original = getattr(noisy_counts, name)

        def counted(*given: Any, original: Any = original) -> Any:
            spent.append(given[1])
            return original(*given)

        monkeypatch.setattr(private_records, name, counted)

    def field(records: Any, rho: float, **_: Any) -> MarkovField:
        spent.append(rho)
        assert records.sensitivity == 1
        return MarkovField((), len(records.known))

    monkeypatch.setattr(aim, "fit_field", field)
    # directly: without its extra, `sanitize` refuses
    AIM(epsilon=2.0, delta=1e-5).sanitize(*SCHEMA.bind(drawn_table()), np.random.default_rng(0))
    assert len(spent) == (1 + 3) + 1
    assert math.fsum(spent) <= noisy_counts.rho_of(2.0, 0.5e-5) * (1 + 1e-12)
    assert math.fsum(spent) == pytest.approx(noisy_counts.rho_of(2.0, 0.5e-5))


@NEEDS_MBI
def test_a_field_with_a_circle_is_drawn_from_exactly() -> None:
    import mbi

    rng = np.random.default_rng(2)
    pairs = [(0, 1), (1, 2), (2, 3), (0, 3)]
    strengths = [rng.normal(size=(3, 3)) for _ in pairs]
    domain = mbi.Domain.fromdict({f"attribute-{place}": 3 for place in range(4)})
    cliques = [(f"attribute-{one}", f"attribute-{other}") for one, other in pairs]
    factors = [mbi.Factor(domain.project(each), of) for each, of in zip(cliques, strengths, strict=True)]
    potentials = mbi.CliqueVector(domain, cliques, dict(zip(cliques, factors, strict=True)))
    marginals = mbi.marginal_oracles.message_passing_stable(potentials)
    model = mbi.MarkovRandomField(potentials=potentials, marginals=marginals)
    joint = np.ones((3,) * 4)
    for at in itertools.product(range(3), repeat=4):
        joint[at] = math.exp(sum(of[at[a], at[b]] for of, (a, b) in zip(strengths, pairs, strict=True)))
    drawn = np.ones((3,) * 4)
    for step in steps_of(model):
        shares = step.counts / step.counts.sum(axis=-1, keepdims=True)
        for at in itertools.product(range(3), repeat=4):
            drawn[at] *= shares[tuple(at[place] for place in (*step.parents, step.place))]
    assert drawn == pytest.approx(joint / joint.sum(), rel=1e-3)


@NEEDS_MBI
def test_without_noise_to_speak_of_the_pairs_are_those_of_the_table() -> None:
    table = drawn_table()
    release = sanitize(table, SCHEMA, AIM(epsilon=1e3, rounds=6))
    assert release.n_records == pytest.approx(4_000, abs=5)
    records, original = release.to_arrow().to_pandas(), table.to_pandas()
    for names in (["town", "job"], ["town", "ill"], ["job", "ill"]):
        both, true = (each.groupby(names).size() for each in (records, original))
        assert both.sub(true, fill_value=0).abs().max() <= 40


@NEEDS_MBI
@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_a_value_that_two_people_have_does_not_appear(epsilon: float) -> None:
    release = sanitize(drawn_table(), SCHEMA, AIM(epsilon=epsilon, n_records=500, rounds=2))
    assert release.n_records == 500
    assert set(release.to_arrow()["town"].to_pylist()) == {"A", "B", "C"}
    assert f"({epsilon:g}, 1e-06)-differentially private" in release.notes[0]
