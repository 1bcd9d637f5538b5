"""Written releases, read again and judged by pyCANON, which knows nothing of us.

pyCANON pins exact versions of its dependencies, so it is in none of our groups of dependencies. It is taken
from the folder that SFUMATO_ORACLES names, or else from ``oracles`` in the virtual environment:
``pip install --no-deps --target .venv/oracles pycanon``.
"""

from __future__ import annotations

import itertools
import math
import os
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sfumato import Recipe, Release, Schema, Table, sanitize
from sfumato.models import (
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    ProbabilisticDiversity,
    RecursiveDiversity,
    TCloseness,
)
from sfumato.results.release import holds
from sfumato.sanitizers import AsIs, Cut, FullDomain, Mondrian
from sfumato.workflow.publish.data_files import write_release
from sfumato.workflow.publish.folder_layout import Layout, read_back, tables_of

Bound = tuple[Table, Schema]

COARSE = {"age": 4, "workclass": 2, "education": 3, "marital-status": 1, "race": 2}
WAYS = [
    AsIs(),
    Mondrian(KAnonymity(10)),
    Mondrian(KAnonymity(10), "relaxed"),
    Mondrian(KAnonymity(5) & DistinctDiversity(4)),
    Mondrian(ProbabilisticDiversity(4.0)),
    Mondrian(KAnonymity(10) & EntropyDiversity(5.0)),
    Mondrian(AlphaKAnonymity(0.3, 20)),
    Mondrian(KAnonymity(10) & TCloseness(0.25)),
    Mondrian(KAnonymity(10) & BetaLikeness(1.5)),
    Mondrian(KAnonymity(10) & BetaLikeness(1.5, "enhanced")),
    Mondrian(KAnonymity(10) & DeltaDisclosure(1.2, absent="ignored")),
    Mondrian(KAnonymity(10) & DeltaDisclosure(2.5)),
    Mondrian(KAnonymity(10), target="occupation"),
    FullDomain(COARSE, KAnonymity(3), suppression=0.5),
    FullDomain(COARSE, KAnonymity(3) & DistinctDiversity(3), suppression=0.5),
    FullDomain(COARSE, AlphaKAnonymity(0.5, 3), suppression=0.6),
]


@pytest.fixture(scope="module")
def pycanon() -> Iterator[Any]:
    folder = Path(os.environ.get("SFUMATO_ORACLES", Path(sys.prefix) / "oracles"))
    with pytest.MonkeyPatch.context() as patch:
        if folder.is_dir():
            patch.syspath_prepend(str(folder))
        try:
            yield import_module("pycanon.anonymity")
        except ModuleNotFoundError:
            pytest.skip("pyCANON is not there: pip install --no-deps --target .venv/oracles pycanon")


@pytest.fixture(scope="module")
def people(adult: Bound) -> Bound:
    """200 records of Adult: pyCANON looks through all of them once for every class and value."""
    table, schema = adult
    rows = np.random.default_rng(1).choice(table.n_rows, 200, replace=False)
    few = table.take(np.sort(rows))
    return schema.bind(Table(few.columns, np.ones(200, dtype=np.int64)))


@pytest.fixture(
    scope="module", params=[*WAYS, "cut"], ids=lambda how: str(Recipe.of(how)) if how != "cut" else how
)
def release(request: pytest.FixtureRequest, people: Bound) -> Release:
    table, schema = people
    if request.param == AsIs():
        return sanitize(table.take(np.arange(60)), schema, AsIs())  # nearly all of them are classes
    return sanitize(table, schema, cut_of(table) if request.param == "cut" else request.param)


def cut_of(table: Table) -> Cut:
    """Return ages in steps of ten, sex as it is, everything else in one block."""
    ages = [int(age) for age in table["age"].domain if age is not None]
    cuts = {"age": "".join("01"[a // 10 != b // 10] for a, b in itertools.pairwise(ages))}
    for name in ("workclass", "education", "marital-status", "race"):
        cuts[name] = "0" * (len(table[name].domain) - 1)
    return Cut(cuts, KAnonymity(3), suppression=0.5)


@pytest.fixture
def frame(release: Release, tmp_path: Path) -> pd.DataFrame:
    """The release as a reader sees it: text, missing values as they are written, a fresh index."""
    (place,) = write_release(release, tmp_path / "release.csv")
    return pd.read_csv(place, dtype=str, keep_default_na=False)


def as_seen(release: Release) -> Release:
    """Return the release without its original: priors are those of the released records, as for pyCANON."""
    return read_back(tables_of(release, typed=False), Layout.of(release))


def judged(pycanon: Any, frame: pd.DataFrame, release: Release) -> dict[str, float]:
    """Return every figure that pyCANON computes rightly, once the index is fresh and nothing is missing."""
    about = (frame, list(release.schema.quasi_identifiers), list(release.schema.sensitive))
    alpha, k = pycanon.alpha_k_anonymity(*about)
    assert k == pycanon.k_anonymity(*about[:2])
    return {
        "k": k,
        "alpha": alpha,
        "distinct": pycanon.l_diversity(*about),
        "entropy": pycanon.entropy_l_diversity(*about),
        "t": pycanon.t_closeness(*about),
        "beta": pycanon.basic_beta_likeness(*about),
        "enhanced": pycanon.enhanced_beta_likeness(*about),
        "delta": pycanon.delta_disclosure(*about),
    }


OURS: dict[str, Any] = {
    "k": KAnonymity(),
    "alpha": AlphaKAnonymity(),
    "distinct": DistinctDiversity(),
    "t": TCloseness(),
    "beta": BetaLikeness(),
    "delta": DeltaDisclosure(absent="ignored"),
}


@pytest.mark.thorough("its first releases", but=5)
def test_every_figure_agrees(pycanon: Any, release: Release, frame: pd.DataFrame) -> None:
    theirs = judged(pycanon, frame, release)
    seen = as_seen(release)
    ours = {name: model.level(seen.partition(model)) for name, model in OURS.items()}
    assert ours == pytest.approx({name: theirs[name] for name in OURS}, abs=1e-9)
    # theirs is cut down to a whole number, after a rounding error where it is one
    entropy = EntropyDiversity().level(seen.groups)
    assert theirs["entropy"] in {math.floor(entropy - 1e-9), math.floor(entropy + 1e-9)}
    # theirs forgets which value may gain how much; where ours is finite, they are the same
    enhanced = BetaLikeness(variant="enhanced").level(seen.groups)
    assert enhanced in (math.inf, pytest.approx(theirs["enhanced"]))
    check_asked(release, theirs)


def check_asked(release: Release, theirs: dict[str, float]) -> None:
    """Published releases satisfy their model when pyCANON checks the written CSV alone."""
    assert release.recipe is not None
    model = getattr(release.recipe.build(), "model", None)
    for part in model.parts if model is not None else ():
        match part:
            case KAnonymity(k):
                assert theirs["k"] >= k
            case DistinctDiversity(l):
                assert theirs["distinct"] >= l
            case ProbabilisticDiversity(l):
                assert theirs["alpha"] <= 1 / l + 1e-9
            case EntropyDiversity(l):
                assert theirs["entropy"] >= math.floor(l - 1e-9)
            case AlphaKAnonymity(alpha):
                assert theirs["alpha"] <= alpha + 1e-9
            case TCloseness(t):
                assert theirs["t"] <= t + 1e-9
            case BetaLikeness(beta):
                assert theirs["beta"] <= beta + 1e-9
            case DeltaDisclosure(delta):
                assert theirs["delta"] < delta


KNOWN, HIDDEN = ["age", "zip"], ["ill"]


def frame_of(*classes: str) -> pd.DataFrame:
    records = [(str(age), "00000", ill) for age, members in enumerate(classes) for ill in members]
    return pd.DataFrame(records, columns=[*KNOWN, *HIDDEN])


def release_of(frame: pd.DataFrame) -> Release:
    schema = Schema.of(age="quasi-identifying", zip="quasi-identifying", ill="sensitive")
    return sanitize(Table.from_arrow(frame), schema, AsIs())


class TestWhereWeDifferOnPurpose:
    def test_recursive_diversity_takes_the_most_frequent_value_first(self, pycanon: Any) -> None:
        # counts 9, 1, 1 with l = 3: r_1 < c r_3 needs c above 9; theirs sorts the other way round
        frame = frame_of("aaaaaaaaabc")
        c, l = pycanon.recursive_c_l_diversity(frame, KNOWN, HIDDEN)  # noqa: E741
        assert (c, l) == (1, 3)
        assert RecursiveDiversity(1.0, 3).level(release_of(frame).groups) == 9
        assert not holds(release_of(frame), RecursiveDiversity(9.0, 3))

    def test_a_value_that_a_class_lacks_makes_delta_infinite(self, pycanon: Any) -> None:
        frame = frame_of("ab", "aab", "aa")
        theirs = pycanon.delta_disclosure(frame, KNOWN, HIDDEN)
        groups = release_of(frame).groups
        assert DeltaDisclosure().level(groups) == math.inf
        assert DeltaDisclosure(absent="ignored").level(groups) == pytest.approx(theirs)

    def test_entropy_diversity_is_not_cut_down(self, pycanon: Any) -> None:
        frame = frame_of("aab")
        assert pycanon.entropy_l_diversity(frame, KNOWN, HIDDEN) == 1
        assert EntropyDiversity().level(release_of(frame).groups) == pytest.approx(1.8898815748)

    def test_enhanced_beta_looks_at_the_surprise_of_the_very_value(self, pycanon: Any) -> None:
        # a gains 1/3, which is more than its own -log 3/4 but less than b's -log 1/4
        frame = frame_of("aaaa", "aabb")
        assert math.isfinite(pycanon.enhanced_beta_likeness(frame, KNOWN, HIDDEN))
        assert BetaLikeness(variant="enhanced").level(release_of(frame).groups) == math.inf

    def test_the_order_of_the_frame_does_not_matter(self, pycanon: Any) -> None:
        frame = frame_of("aaaaaaab", "bbbbbbba", "ab")
        shuffled = frame.sample(frac=1, random_state=3)
        right = pycanon.t_closeness(frame, KNOWN, HIDDEN)
        assert pycanon.t_closeness(shuffled, KNOWN, HIDDEN) != pytest.approx(right)
        for each in (frame, shuffled):
            assert TCloseness().level(release_of(each).groups) == pytest.approx(right)

    def test_a_missing_quasi_identifier_is_not_left_out(self, pycanon: Any) -> None:
        frame = frame_of("ab", "ab", "a")
        frame.loc[frame["age"] == "2", "age"] = None
        assert pycanon.k_anonymity(frame, KNOWN) == 2
        assert KAnonymity().level(release_of(frame).classes) == 1
