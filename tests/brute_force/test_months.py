"""Three months of a few people, recoded alike: who is left out and who is alone, person by person."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import pytest

import sfumato as sf
from sfumato.runtime.errors import Infeasible, PolicyNotMet
from sfumato.workflow.apply.apply import Applied, applied

TREE = {"north": ["a", "b"], "south": ["c"]}
SCHEMA = sf.Schema(
    (
        sf.Attribute("who", "identifying"),
        sf.Attribute("town", "quasi-identifying", hierarchy=sf.Hierarchy.nested(TREE)),
        sf.Attribute("ill", "sensitive"),
    ),
    person="who",
)
LABELS = [
    {town: town for town in "abc"},
    {town: branch for branch, towns in TREE.items() for town in towns},
    dict.fromkeys("abcz", "*"),
]


@dataclass(frozen=True)
class Visit:
    """One record: whose it is, where it is released, and what it tells."""

    who: str
    town: str
    ill: str
    label: str = ""


Month = list[Visit]
Holds = Callable[[Month, Month], bool]


def of_each(visits: Iterable[Visit]) -> dict[str, list[str]]:
    """Return the illnesses of each person."""
    found: dict[str, list[str]] = defaultdict(list)
    for visit in visits:
        found[visit.who].append(visit.ill)
    return found


def share(visits: Month, ill: str) -> float:
    """Return p(E, s): every person has weight 1, shared among the person's records."""
    people = of_each(visits)
    return sum(ills.count(ill) / len(ills) for ills in people.values()) / len(people)


def most_common(visits: Month) -> float:
    """Return the largest share of the people who have some illness in one of their records."""
    people = of_each(visits)
    return max(sum(ill in ills for ills in people.values()) / len(people) for ill in {v.ill for v in visits})


def n_different(visits: Month) -> int:
    """Return how many illnesses several people have; those of one person alone are one together."""
    people = of_each(visits)
    having = {v.ill: [who for who, ills in people.items() if v.ill in ills] for v in visits}
    shared = sum(len(who) > 1 for who in having.values())
    return min(shared + len({who[0] for who in having.values() if len(who) == 1}), len(people))


def distance(visits: Month, everybody: Month) -> float:
    return sum(abs(share(visits, ill) - share(everybody, ill)) for ill in {v.ill for v in everybody}) / 2


MODELS: dict[str, tuple[sf.models.PrivacyModel, Holds]] = {
    "k": (sf.models.KAnonymity(3), lambda here, _: len(of_each(here)) >= 3),
    "alpha": (
        sf.models.AlphaKAnonymity(0.7, k=2),
        lambda here, _: len(of_each(here)) >= 2 and most_common(here) <= 0.7 + 1e-12,
    ),
    "l": (sf.models.ProbabilisticDiversity(1.5), lambda here, _: most_common(here) <= 1 / 1.5 + 1e-12),
    "distinct": (sf.models.DistinctDiversity(2), lambda here, _: n_different(here) >= 2),
    "t": (sf.models.TCloseness(0.3), lambda here, everybody: distance(here, everybody) <= 0.3 + 1e-12),
}


def drawn(rng: random.Random, towns: str, pool: str) -> Month:
    """Draw the visits of some of the people, of some of them two."""
    who = rng.sample(pool, rng.randint(3, 6))
    who += rng.choices(who, k=rng.choice([0, 0, 1, 2]))
    return [Visit(each, rng.choice(towns), rng.choice(["flu", "flu", "gout", "cold"])) for each in who]


def columns(month: Month) -> dict[str, Any]:
    return {name: [getattr(visit, name) for visit in month] for name in ("who", "town", "ill")}


def in_classes(visits: Month) -> dict[str, Month]:
    found: dict[str, Month] = defaultdict(list)
    for visit in visits:
        found[visit.label].append(visit)
    return found


def kept(month: Month, level: int, earlier: Sequence[Month], holds: Holds) -> Month:
    """Return what is left of a month: records are left out until the model holds in every class of it."""
    labels = LABELS[level]
    fitting = [replace(visit, label=labels[visit.town]) for visit in month if visit.town in labels]
    left = fitting
    while True:
        every = [*left, *(visit for released in earlier for visit in released)]
        together = in_classes(every)
        failing = {
            label
            for label, here in in_classes(left).items()
            if not (holds(here, month) and holds(together[label], every))
        }
        if not failing:
            return left
        left = [visit for visit in left if visit.label not in failing]


def released(release: sf.Release) -> list[tuple[str, str]]:
    return sorted((row["town"], row["ill"]) for row in release.to_arrow(typed=False).to_pylist())


def smallest_company(newest: Month, earlier: Sequence[Month]) -> int:
    """Return over all records of a month how many people share their class now, and in each month then."""

    def then(who: str, month: Month) -> frozenset[str]:
        return frozenset(visit.label for visit in month if visit.who == who)

    sizes = []
    for visit in newest:
        company = {
            other.who
            for other in newest
            if other.label == visit.label
            and all(
                then(other.who, month) == then(visit.who, month)
                for month in earlier
                if then(visit.who, month)
            )
        }
        sizes.append(len(company))
    return min(sizes)


def applied_or_nothing(recoding: sf.Recoding, month: Month, earlier: Sequence[sf.Release]) -> Applied | None:
    try:
        return applied(recoding, columns(month), earlier, 1.0)
    except PolicyNotMet:
        return None


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.thorough("its first seeds", but=3)
def test_every_month_keeps_its_promise_to_every_person(seed: int) -> None:
    rng = random.Random(seed)
    n_months = n_three = n_withheld = 0
    for _ in range(12):
        for model, holds in MODELS.values():
            level = rng.randrange(3)
            first = drawn(rng, "abc", "pqrstu")
            try:
                january = sf.sanitize(
                    columns(first), SCHEMA, sf.sanitizers.FullDomain({"town": level}, model, suppression=0.9)
                )
            except Infeasible:
                continue
            recoding = sf.freeze(january, columns(first))
            labelled = [replace(visit, label=LABELS[level][visit.town]) for visit in first]
            fits = {label for label, here in in_classes(labelled).items() if holds(here, labelled)}
            published = [[visit for visit in labelled if visit.label in fits]]
            assert released(january) == sorted((v.label, v.ill) for v in published[0])
            before: list[sf.Release] = []
            # z is in no hierarchy, and the people of the pool come and go
            for towns, pool in (("abcz", "rstuvw"), ("abcz", "stuvwx")):
                month = drawn(rng, towns, pool)
                expected = kept(month, level, published, holds)
                found = applied_or_nothing(recoding, month, before)
                n_months += 1
                if not expected or found is None:
                    assert (expected, found) == ([], None)
                    break
                assert released(found.release) == sorted((v.label, v.ill) for v in expected)
                assert (found.n_unrecognized, found.estimate) == (0, None)
                (k,) = sf.measure(found.release, ["composition-k"])
                assert k.value == smallest_company(expected, published)
                assert k.detail["share-estimated"] == 0
                published.append(expected)
                before.append(found.release)
                n_withheld += sum(found.withheld.values())
            n_three += len(before) == 2
    assert n_months > 40
    assert n_three > 5
    assert n_withheld > 5


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.thorough("its first seeds", but=2)
def test_a_release_and_its_folder_are_the_same_earlier_release(seed: int, tmp_path_factory: Any) -> None:
    """Where nobody is recognized, what an earlier release withheld makes no difference either."""
    rng = random.Random(seed)
    schema = sf.Schema(SCHEMA.attributes[1:])
    how = sf.sanitizers.FullDomain({"town": seed % 3}, sf.models.KAnonymity(2), suppression=0.9)
    n_compared = 0
    for number in range(6):
        months = [
            {name: column for name, column in columns(drawn(rng, towns, "pqrstu")).items() if name != "who"}
            for towns in ("abc", "abcz", "abcz")
        ]
        folder = tmp_path_factory.mktemp("months") / str(number)
        try:
            january = sf.sanitize(months[0], schema, how)
            february = sf.apply(january, months[1], limit=1.0)
            march = sf.apply(january, months[2], limit=1.0, earlier=[february])
        except (Infeasible, PolicyNotMet):
            continue
        sf.publish(february, folder, policy="none", allow_singling_out=True)
        again = sf.apply(january, months[2], limit=1.0, earlier=[folder])
        asked = ["composition-k", "composition-loss"]
        assert released(march) == released(again)
        for one, other in pairwise([sf.measure(each, asked) for each in (march, again)]):
            assert [(m.value, m.detail) for m in one] == [(m.value, m.detail) for m in other]
        # the recoding of February can be kept as well
        assert released(sf.apply(february, months[1], limit=1.0)) == released(february)
        n_compared += 1
    assert n_compared > 0
