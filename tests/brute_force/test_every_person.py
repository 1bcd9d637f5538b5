"""Households, challenges, scores, nearness and publications: every small case, by the definitions alone."""

from __future__ import annotations

import csv
import itertools
import math
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.measures.scenarios.nearness import nearer
from sfumato.workflow.query.challenge import challenge
from sfumato.workflow.query.score import risk

VISIT = list(itertools.product([1, 2, None], [7, 8, None], [31, 42]))
"""Whose a record is, where the person lives, and how old the person is."""
HOMES = sf.Schema(
    (sf.Attribute("who", "identifying"), sf.Attribute("age", "quasi-identifying")),
    person="who",
    household="home",
)


FREE: dict[str, Any] = {"policy": "none", "allow_singling_out": True}


def household_risks(visits: tuple[Any, ...]) -> list[float]:
    """Return 1 - Π(1 - r) of each household, r of a member the largest of the member's records."""
    alike: dict[int, set[Any]] = defaultdict(set)
    homes: dict[Any, list[int]] = defaultdict(list)
    for who, home, age in visits:
        alike[age].add(who)
        homes[who] += [] if home is None else [home]
    members: dict[Any, dict[Any, float]] = defaultdict(dict)
    for who, home, age in visits:
        lives = home if home is not None else min(homes[who], default=("alone", who))
        members[lives][who] = max(members[lives].get(who, 0.0), 1 / len(alike[age]))
    return [1 - math.prod(1 - r for r in each.values()) for each in members.values()]


@pytest.mark.parametrize("n_visits", [2, 1, 3])
@pytest.mark.thorough("every two visits", but=1)
def test_the_risk_of_every_household(n_visits: int) -> None:
    for visits in itertools.combinations_with_replacement(VISIT, n_visits):
        who, home, age = zip(*visits, strict=True)
        columns = {
            name: pa.array(each, pa.int64()) for name, each in (("who", who), ("home", home), ("age", age))
        }
        release = sf.sanitize(sf.Table.from_arrow(pa.table(columns)), HOMES, sf.sanitizers.AsIs())
        (taken,) = sf.measure(release, ["household-risk"])
        risks = household_risks(visits)
        found = [taken.value, taken.detail["average"], taken.detail["households"]]
        assert found == pytest.approx([max(risks), sum(risks) / len(risks), len(risks)]), visits


@pytest.mark.parametrize("most", [6, 14])
@pytest.mark.thorough("up to six guesses", but=1)
def test_the_score_of_every_number_of_guesses(most: int) -> None:
    for n, m in itertools.product(range(most + 1), repeat=2):
        for right, control in itertools.product(range(n + 1), range(m + 1)):
            found = risk([True] * right + [False] * (n - right), [True] * control + [False] * (m - control))
            if not n or not m or control == m:
                assert (found["risk"], found["interval"]) == (None, None)
                assert found["undefined"]
                continue
            r, c = Fraction(right, n), Fraction(control, m)
            assert found["risk"] == pytest.approx(float((r - c) / (1 - c)), abs=1e-12)
            assert found["interval"][0] < found["risk"] <= found["interval"][1] <= 1


def test_every_small_distance_is_nearer_or_not() -> None:
    distances = [0, 1, 2, 3, 4, 100, math.inf]
    for c, released, predicted in itertools.product([*range(101), 12.5, 99.5], distances, distances):
        is_gain = released > 0 and predicted < math.inf
        if c == 0:
            expected = predicted < released
        elif released == math.inf:
            expected = is_gain and (c < 100 or predicted == 0)
        else:
            expected = is_gain and predicted <= Fraction(100 - Fraction(c), 100) * Fraction(released)
        found = nearer(np.array([float(predicted)]), np.array([float(released)]), c)
        assert found.tolist() == [expected], (predicted, released, c)


@pytest.mark.parametrize("c", [0, 50, 100])
def test_of_an_untouched_table_nothing_is_gained(c: float) -> None:
    columns = {"age": [20, 21, 22, 23] * 8, "ill": ["x", "y"] * 16}
    shown = sf.sanitize(columns, sf.Schema.of(age="quasi-identifying", ill="sensitive"), sf.sanitizers.AsIs())
    for name in columns:
        attack = sf.measures.Adversary(
            (name,), reduction="nearer", c=c, miners=("majority", "one-rule", "naive-bayes")
        )
        (found,) = sf.measure(
            shown, [sf.measures.AntiUtility(sf.measures.Scenario(adversary=attack, folds=2, control=0))]
        )
        assert found.value == 0


CHALLENGED = list(itertools.product([1, 2, 3], [False, True], [False, True], ["category", "drop"]))


@pytest.mark.parametrize(("most", "has_weights", "has_homes", "missing"), CHALLENGED)
@pytest.mark.thorough("its first tables", but=4)
def test_a_challenge_takes_out_whole_people(
    most: int, has_weights: bool, has_homes: bool, missing: Any, tmp_path: Path
) -> None:
    """Whoever has one record, or up to three; with survey weights and households, and where values lack."""
    who = [f"p{n}" for n in range(60) for _ in range(1 + n % most)]
    n = len(who)
    columns: dict[str, Any] = {
        "who": who,
        "badge": list(range(n)),
        "ill": ["x", "y", None, "z"] * (n // 4 + 1),
    }
    columns["ill"] = columns["ill"][:n]
    columns |= {"w": [2.0] * n} if has_weights else {}
    columns |= {"home": [place // 4 for place in range(n)]} if has_homes else {}
    schema = sf.Schema(
        (
            sf.Attribute("who", "identifying"),
            sf.Attribute("badge", "quasi-identifying"),
            sf.Attribute("ill", "sensitive"),
        ),
        missing=missing,
        person="who",
        survey_weight="w" if has_weights else None,
        household="home" if has_homes else None,
    )
    table = sf.Table.from_arrow(pa.table(columns))
    kept = [badge for badge in range(n) if missing == "category" or columns["ill"][badge] is not None]
    for number, given in enumerate(((table, schema), schema.bind(table))):
        folder = tmp_path / str(number)
        made = challenge(
            *given,
            sf.sanitizers.AsIs(),
            folder,
            tmp_path / f"{number}.json",
            targets=20,
            policy="none",
            allow_singling_out=True,
        )
        with (folder / "release" / "data.csv").open(encoding="utf-8", newline="") as file:
            released = {int(row["badge"]) for row in csv.DictReader(file)}
        people = {who[badge] for badge in released}
        assert released == {badge for badge in kept if who[badge] in people}
        assert len({who[badge] for badge in kept}) - len(people) == made.control == 10
        assert sf.verify(folder / "release").holds


MEASURES = ["k-anonymity", "privacy-loss", "general-loss"]


@pytest.mark.parametrize(
    "how",
    [sf.sanitizers.Mondrian(sf.models.KAnonymity(3)), sf.sanitizers.Anatomy(2), sf.sanitizers.AsIs()],
    ids=str,
)
@pytest.mark.thorough("its first method", but=1)
def test_every_choice_of_measures_is_published(how: sf.sanitizers.Sanitizer, tmp_path: Path) -> None:
    release = sf.sanitize(*sf.datasets.hospital(), how)
    found: Counter[bool] = Counter()
    for size in range(len(MEASURES) + 1):
        for asked in itertools.combinations(MEASURES, size):
            folder = tmp_path / "-".join(("out", *asked))
            sf.publish(release, folder, list(asked), **FREE)
            found[sf.verify(folder).holds] += 1
    assert found == {True: 2 ** len(MEASURES)}
