"""Where somebody has several records, every model, method and measure counts people."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Attribute, Intervals, Schema, Table, measure, sanitize
from sfumato.data.equivalence_classes import count_classes
from sfumato.data.table import People
from sfumato.models import (
    BetaLikeness,
    ConfidenceBound,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    ProbabilisticDiversity,
    RecursiveDiversity,
    TCloseness,
)
from sfumato.registry import methods
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.release import holds
from sfumato.runtime.errors import Infeasible, UserError

SANITIZERS = methods.registered("sanitizer")
NEEDS_DATES = {"date-shift"}

DIAGNOSES = ("flu", "cold", "asthma", "hiv")
SCHEMA = Schema(
    (
        Attribute("patient", "identifying"),
        Attribute("age", "quasi-identifying", hierarchy=Intervals((10, 30))),
        Attribute("town", "quasi-identifying"),
        Attribute("diagnosis", "sensitive"),
        Attribute("ward", "insensitive"),
    ),
    person="patient",
)


Visit = tuple[Any, Any]
"""A record of a class: whose it is, and its sensitive value."""


@dataclass(frozen=True)
class Crowd:
    """The records of one class."""

    visits: tuple[Visit, ...]

    @property
    def people(self) -> set[Any]:
        return {person for person, _ in self.visits}

    @property
    def having(self) -> dict[Any, Fraction]:
        """The share of the people who have each value at all."""
        holders: dict[Any, set[Any]] = defaultdict(set)
        for person, value in self.visits:
            holders[value].add(person)
        return {value: Fraction(len(who), len(self.people)) for value, who in holders.items()}

    @property
    def shares(self) -> dict[Any, Fraction]:
        """The share of each value, everybody counted once and shared among their records here."""
        each = Counter(person for person, _ in self.visits)
        totals: dict[Any, Fraction] = defaultdict(Fraction)
        for person, value in self.visits:
            totals[value] += Fraction(1, each[person])
        return {value: total / len(self.people) for value, total in totals.items()}

    @property
    def n_different(self) -> int:
        """Different values, those of one person alone counted once, no more than people."""
        units = set()
        for value in {value for _, value in self.visits}:
            who = {person for person, own in self.visits if own == value}
            units.add(("value", value) if len(who) > 1 else ("person", *who))
        return min(len(units), len(self.people))

    def k(self) -> float:
        return len(self.people)

    def probabilistic(self) -> float:
        return float(1 / max(self.having.values()))

    def entropy(self) -> float:
        bits = -sum(float(q) * math.log(q) for q in self.having.values())
        return min(math.exp(max(bits, 0.0)), self.n_different)

    def recursive(self, l: int) -> float:  # noqa: E741 - the paper's letter
        if l == 1:
            return 0.0
        ranked = sorted((q * len(self.people) for q in self.having.values()), reverse=True)
        rare = max(len(self.people) - sum(ranked[: l - 1]), 0)
        return float(ranked[0] / rare) if rare else math.inf

    def total_variation(self, prior: dict[Any, Fraction]) -> float:
        return float(sum(abs(self.shares.get(v, Fraction(0)) - prior[v]) for v in prior) / 2)

    def ordered(self, prior: dict[Any, Fraction], order: Sequence[Any]) -> float:
        here = before = Fraction(0)
        distance = Fraction(0)
        for value in order:
            here += self.shares.get(value, Fraction(0))
            before += prior.get(value, Fraction(0))
            distance += abs(here - before)
        return float(distance / (len(order) - 1)) if len(order) > 1 else 0.0

    def jensen_shannon(self, prior: dict[Any, Fraction]) -> float:
        total = 0.0
        for value, q in prior.items():
            p = float(self.shares.get(value, 0))
            middle = (p + float(q)) / 2
            total += (p * math.log(p / middle) if p else 0.0) + float(q) * math.log(float(q) / middle)
        return total / 2

    def delta(self, prior: dict[Any, Fraction]) -> float:
        if any(value not in self.shares for value in prior):
            return math.inf
        return max(abs(math.log(self.shares[value] / prior[value])) for value in prior)

    def most_confident(self, prior: dict[Any, Fraction], common: float) -> float:
        if self.n_different == 1:
            return 1.0
        return max((float(p) for value, p in self.having.items() if prior[value] <= common), default=0.0)

    def beta(self, prior: dict[Any, Fraction]) -> float:
        return max(0.0, *(float(p / prior[value] - 1) for value, p in self.shares.items()))


def crowds(keys: Iterable[Any], visits: Iterable[Visit]) -> list[Crowd]:
    """Return the classes of records with equal keys, in the order in which they come."""
    found: dict[Any, list[Visit]] = defaultdict(list)
    for key, visit in zip(keys, visits, strict=True):
        found[key].append(visit)
    return [Crowd(tuple(each)) for each in found.values()]


def attempt(bound: tuple[Table, Schema], how: Any) -> LinkedRelease | None:
    """Return the release, or nothing when the method says in one line why there is none."""
    try:
        return sanitize(*bound, how, seed=0)
    except (Infeasible, UserError):
        return None


def variants(name: str, bound: tuple[Table, Schema]) -> Iterator[Any]:
    """Yield a method with several models, levels and leave to suppress."""
    plain = SANITIZERS[name]()
    known = {field.name for field in fields(plain)}
    several = [plain]
    if "levels" in known:
        several.append(replace(plain, levels={"age": 2, "town": 1}))
    if "cuts" in known:
        n_ages = len(bound[0]["age"].domain)
        several.append(replace(plain, cuts={"age": "0" * (n_ages - 1), "town": "000"}))
    if "variant" in known:
        several.append(replace(plain, variant="relaxed"))
    if "suppression" in known:
        several += [replace(how, suppression=0.5) for how in several]
    if "l" in known:
        several.append(replace(plain, l=2))
    yield from several
    if "model" in known:
        models = (
            KAnonymity(2),
            KAnonymity(6),
            ProbabilisticDiversity(2),
            TCloseness(0.3),
            TCloseness(0.1, "js"),
        )
        both = (KAnonymity(3) & ProbabilisticDiversity(1.5), KAnonymity(2) & DistinctDiversity(2))
        others = [cls() for cls in methods.registered("model").values()]
        yield from (replace(how, model=model) for how in several for model in (*models, *both, *others))


def visits(n: int, n_people: int, seed: int = 0) -> dict[str, list[Any]]:
    """Draw visits: a patient grows older, rarely moves, and tends to come back with the same illness."""
    rng = random.Random(seed)
    rows: dict[str, list[Any]] = {name: [] for name in ("patient", "age", "town", "diagnosis", "ward")}
    patients = [
        (
            f"p{number}",
            rng.randrange(20, 80),
            rng.choice("ABCD"),
            rng.choice(("flu", "cold", "asthma", "hiv")),
        )
        for number in range(n_people)
    ]
    for number in range(n):
        patient, age, town, usual = patients[number] if number < n_people else rng.choice(patients)
        rows["patient"].append(patient)
        rows["age"].append(age + rng.randrange(2))
        rows["town"].append(town if rng.random() < 0.9 else rng.choice("ABCD"))
        rows["diagnosis"].append(
            usual if rng.random() < 0.6 else rng.choice(("flu", "cold", "asthma", "hiv"))
        )
        rows["ward"].append(rng.choice("xy"))
    return rows


def seen(release: LinkedRelease, name: str = "diagnosis", *, groups: bool = False) -> list[Crowd]:
    """Return the classes (or groups) of a release by hand: labels, and the originals' people and values."""
    assert release.origin.table.person_of is not None
    rows = np.repeat(np.arange(release.n_rows), release.weights)
    if groups and release.group_of is not None:
        keys: list[Any] = release.group_of[rows].tolist()
    else:
        cells = [release.cells[each] for each in release.schema.quasi_identifiers]
        keys = [tuple(each.labels[each.codes[row]] for each in cells) for row in rows]
    source = release.origin.rows[rows]
    people = release.origin.table.person_of[source].tolist()
    domain = release.origin.table[name].domain
    hidden = release.cells[name].labels == ("*",)
    values = ["*" if hidden else domain[code] for code in release.origin.table[name].codes[source]]
    return crowds(keys, zip(people, values, strict=True))


@pytest.fixture(scope="module")
def clinic() -> tuple[Table, Schema]:
    table = Table.from_arrow(visits(70, 24))
    return SCHEMA.with_assumed_public_part(table).bind(table)


@pytest.mark.parametrize("name", SANITIZERS)
def test_every_method_keeps_what_was_asked_for_people(name: str, clinic: tuple[Table, Schema]) -> None:
    made = [(how, attempt(clinic, how)) for how in variants(name, clinic)]
    releases = [(how, release) for how, release in made if release is not None]
    assert releases or name in NEEDS_DATES
    for how, release in releases:
        model = getattr(how, "model", None)
        for part in () if model is None else model.parts:
            classes = release.partition(part)
            if isinstance(part, KAnonymity):
                assert min(len(each.people) for each in seen(release)) >= part.k, how
            if isinstance(part, ProbabilisticDiversity):
                worst = min(each.probabilistic() for each in seen(release, groups=True))
                assert worst >= part.l - 1e-9, how
            assert part.keeps_limit(classes).all(), how


@pytest.mark.parametrize("name", SANITIZERS)
def test_no_method_loses_or_adds_records(name: str, clinic: tuple[Table, Schema]) -> None:
    made = (attempt(clinic, how) for how in variants(name, clinic))
    release = next((each for each in made if each is not None), None)
    if release is None:
        assert name in NEEDS_DATES
        return
    if release.type == "synthetic":
        return  # it has no record of anybody
    assert release.kept.sum() == release.n_records
    assert (release.kept <= clinic[0].weights).all()


@st.composite
def drawn(draw: st.DrawFn) -> tuple[list[int], list[int], list[int]]:
    """Draw records: the class of each, its person, its value."""
    n = draw(st.integers(1, 24))
    each = [draw(st.lists(st.integers(0, high), min_size=n, max_size=n)) for high in (2, 5, 3)]
    return each[0], each[1], each[2]


MODELS = {
    KAnonymity(): lambda crowd, prior: crowd.k(),
    ProbabilisticDiversity(): lambda crowd, prior: crowd.probabilistic(),
    DistinctDiversity(): lambda crowd, prior: crowd.n_different,
    EntropyDiversity(): lambda crowd, prior: crowd.entropy(),
    RecursiveDiversity(c=3, l=2): lambda crowd, prior: crowd.recursive(2),
    RecursiveDiversity(c=3, l=3): lambda crowd, prior: crowd.recursive(3),
    ConfidenceBound(): lambda crowd, prior: crowd.most_confident(prior, 0.9),
    TCloseness(): lambda crowd, prior: crowd.total_variation(prior),
    TCloseness(distance="js"): lambda crowd, prior: crowd.jensen_shannon(prior),
    TCloseness(distance="ordered"): lambda crowd, prior: crowd.ordered(prior, range(4)),
    DeltaDisclosure(): lambda crowd, prior: crowd.delta(prior),
    BetaLikeness(): lambda crowd, prior: crowd.beta(prior),
}


@given(records=drawn())
@settings(max_examples=150)
def test_every_model_scores_people_as_its_definition_says(records: tuple[list[int], ...]) -> None:
    keys, people, values = records
    class_of = np.unique(keys, return_inverse=True)[1]
    everybody = Crowd(tuple(zip(people, values, strict=True)))
    prior = np.array([float(everybody.shares.get(value, 0)) for value in range(4)])
    classes = count_classes(
        class_of,
        len(set(keys)),
        np.ones(len(keys), dtype=np.int64),
        {"diagnosis": (np.array(values, dtype=np.int32), prior)},
        people=People(np.array(people), 6),
    )
    by_class = crowds(class_of.tolist(), zip(people, values, strict=True))
    first = list(dict.fromkeys(class_of.tolist()))
    for model, by_hand in MODELS.items():
        scores = model.scores(classes)[first]
        wanted = [by_hand(crowd, everybody.shares) for crowd in by_class]
        np.testing.assert_allclose(scores, wanted, rtol=1e-9, atol=1e-12, err_msg=str(model))


@given(records=drawn())
@settings(max_examples=150)
def test_records_of_one_person_never_count_as_protection(records: tuple[list[int], ...]) -> None:
    keys, people, values = records
    for crowd in crowds(keys, zip(people, values, strict=True)):
        alone = Crowd(tuple(visit for visit in crowd.visits if visit[0] == crowd.visits[0][0]))
        assert alone.k() == alone.probabilistic() == alone.n_different == alone.entropy() == 1
        assert alone.recursive(2) == math.inf


@pytest.mark.parametrize("model", [each for each in MODELS if type(each).of_people], ids=str)
@given(records=drawn())
@settings(max_examples=100)
def test_what_is_said_to_be_monotone_for_people_is(model: Any, records: tuple[list[int], ...]) -> None:
    keys, people, values = records
    score = MODELS[model]
    whole = Crowd(tuple(zip(people, values, strict=True)))
    for part in crowds(keys, zip(people, values, strict=True)):
        assert score(part, whole.shares) <= score(whole, whole.shares)


def test_probabilistic_diversity_is_not_monotone_where_people_repeat() -> None:
    first, second = Crowd((("a", "s"), ("b", "t"))), Crowd((("a", "t"), ("b", "s")))
    assert first.probabilistic() == second.probabilistic() == 2
    assert Crowd(first.visits + second.visits).probabilistic() == 1


def test_where_everybody_has_one_record_nothing_changes() -> None:
    rows = visits(30, 30)
    counted = SCHEMA.bind(Table.from_arrow(rows))
    plain = Schema(SCHEMA.attributes).bind(Table.from_arrow(rows))
    assert counted[0].person_of is None
    assert counted[0].fingerprint == plain[0].fingerprint
    assert counted[1].fingerprint == plain[1].fingerprint


def test_the_same_records_counted_as_rows_promise_more_than_they_keep(clinic: tuple[Table, Schema]) -> None:
    plain = Schema(SCHEMA.attributes)
    rows = attempt(plain.bind(Table.from_arrow(visits(70, 24))), SANITIZERS["mondrian"](KAnonymity(5)))
    people = attempt(clinic, SANITIZERS["mondrian"](KAnonymity(5)))
    assert rows is not None
    assert people is not None
    assert rows.classes.sizes.min() >= 5
    assert people.classes.people.min() >= 5
    assert people.classes.n_classes < rows.classes.n_classes


def test_the_measures_of_identity_count_people(clinic: tuple[Table, Schema]) -> None:
    release = attempt(clinic, SANITIZERS["mondrian"](KAnonymity(4)))
    assert release is not None
    sizes = [len(each.people) for each in seen(release)]
    taken = {each.measure: each for each in measure(release, ["reidentification-risk", "weighted-k"])}
    assert taken["reidentification-risk"].value == pytest.approx(1 / min(sizes))
    assert taken["weighted-k"].value == pytest.approx(sum(n * n for n in sizes) / sum(sizes))
    assert holds(release, KAnonymity(min(sizes)))
    assert not holds(release, KAnonymity(min(sizes) + 1))


def test_the_belief_of_an_adversary_counts_everybody_once(clinic: tuple[Table, Schema]) -> None:
    release = attempt(clinic, SANITIZERS["mondrian"](KAnonymity(4)))
    assert release is not None
    table = clinic[0]
    assert table.person_of is not None
    whole = Crowd(
        tuple(
            (person, value)
            for person, code, weight in zip(
                table.person_of.tolist(), table["diagnosis"].codes, table.weights, strict=True
            )
            for value in [table["diagnosis"].domain[code]] * int(weight)
        )
    )
    losses = [each.jensen_shannon(whole.shares) for each in seen(release)]
    distances = [(each.total_variation(whole.shares), len(each.people)) for each in seen(release)]
    taken = {each.measure: each for each in measure(release, ["privacy-loss", "knowledge-gain"])}
    assert taken["privacy-loss"].value == pytest.approx(max(losses))
    mean = sum(d * n for d, n in distances) / sum(n for _, n in distances)
    assert taken["knowledge-gain"].value == pytest.approx(mean)
