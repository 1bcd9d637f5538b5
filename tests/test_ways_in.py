"""Attacks on the tool itself: who holds what was published, and perhaps a register, must not get in.

Each attack worked once. Its first part shows by the owner's knowledge that there is something to find.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato import Candidate, Frontier, Project, Recipe, Release, Schema, Store, Table, measure, sanitize
from sfumato.models import KAnonymity, ProbabilisticDiversity
from sfumato.sanitizers import (
    Anatomy,
    AsIs,
    Bucketize,
    Cut,
    FullDomain,
    Laplace,
    Mondrian,
    SuppressQuasiIdentifiers,
    SuppressSensitive,
)
from sfumato.workflow.explore.explore_project import explore
from sfumato.workflow.publish.data_files import write_release
from sfumato.workflow.publish.publication_request import Evidence, PublicationRequest
from sfumato.workflow.publish.publish import publish_candidate
from sfumato.workflow.report.bands import Bands
from sfumato.workflow.store.provenance import source_of

SCHEMA = Schema.of(age="quasi-identifying", ill="sensitive")
PROJECT = """
policy.recipient = "none"
[data]
path = "people.csv"
[attributes]
age = { role = "quasi-identifying", kind = "numeric", hierarchy = { intervals = [10, 40] } }
ill = { role = "sensitive" }
[measure]
privacy = ["privacy-loss", "knowledge-gain"]
utility = ["utility-loss", "general-loss"]
[[candidates]]
sanitizer = "mondrian"
model = { k-anonymity = { k = [2, 3] } }
"""


def people(n: int) -> Table:
    """Return people whose illness tells who they are."""
    return Table.from_arrow({"age": [20 + place // (n // 2) for place in range(n)], "ill": numbered(n)})


def numbered(n: int) -> list[str]:
    return [f"v{place:04}" for place in range(n)]


def order_of(release: Release) -> list[int]:
    """Return which person each written line is of, by the value that only that person has."""
    return [int(value[1:]) for value in release.to_arrow()["ill"].to_pylist()]


class TestTheSeed:
    def test_that_was_not_given_is_drawn_by_the_system(self) -> None:
        table = people(500)
        how = Mondrian(KAnonymity(250), "relaxed")
        recipes = [sanitize(table, SCHEMA, how).recipe for _ in range(4)]
        recipes += [sanitize(table, SCHEMA, Recipe.of(how)).recipe for _ in range(4)]
        seeds = {recipe.seed for recipe in recipes if recipe is not None}
        assert len(seeds) == 8
        assert all(seed is not None and seed.bit_length() > 64 for seed in seeds)

    def test_that_is_known_does_not_undo_the_shuffle(self) -> None:
        """The attack: shuffle the register as the tool does, and read off everybody's illness."""
        table = people(500)
        release = sanitize(table, SCHEMA, Mondrian(KAnonymity(250)), seed=0)
        found = order_of(release)
        for stream in (np.random.default_rng(0), *np.random.default_rng(0).spawn(2)):
            guess = stream.permutation(500)
            assert sum(a == b for a, b in zip(guess, found, strict=True)) < 15

    def test_gives_the_same_release_again(self, as_made: Callable[[Release], pa.Table]) -> None:
        how = Mondrian(KAnonymity(3), "relaxed")
        release = sanitize(people(60), SCHEMA, how)
        assert release.recipe is not None
        assert as_made(release).equals(as_made(sanitize(people(60), SCHEMA, release.recipe)))


class TestTheOrder:
    def test_is_another_each_time_it_is_written(self, tmp_path: Path) -> None:
        release = sanitize(people(200), SCHEMA, AsIs(), seed=1)
        write_release(release, tmp_path / "one.csv")
        write_release(release, tmp_path / "two.csv")
        one, two = ((tmp_path / f"{name}.csv").read_text("utf-8").splitlines() for name in ("one", "two"))
        assert Counter(one) == Counter(two)
        assert sum(a == b for a, b in zip(one[1:], two[1:], strict=True)) < 12

    def test_does_not_join_two_releases_line_by_line(self) -> None:
        """The attack: exact quasi-identifiers of one release beside the exact illness of the other."""
        table = Table.from_arrow({"age": list(range(400)), "ill": numbered(400)})
        without_illness = sanitize(table, SCHEMA, SuppressSensitive(), seed=7).to_arrow()
        without_age = sanitize(table, SCHEMA, SuppressQuasiIdentifiers(), seed=7).to_arrow()
        joined = zip(without_illness["age"].to_pylist(), without_age["ill"].to_pylist(), strict=True)
        assert sum(ill == f"v{age:04}" for age, ill in joined) < 12

    def test_is_independent_of_the_original_s(self) -> None:
        """The places of the first half of the file, over many writings, are those of any half."""
        release = sanitize(people(40), SCHEMA, SuppressQuasiIdentifiers(), seed=3)
        first_half = [place for _ in range(400) for place, who in enumerate(order_of(release)) if who < 20]
        observed = np.bincount(first_half, minlength=40)
        expected = len(first_half) / 40
        # chi-squared with 39 degrees of freedom exceeds 93 once in 300,000 times; variances are halved here
        assert ((observed - expected) ** 2 / expected).sum() < 93

    def test_pairs_a_group_s_values_with_its_records_anew(self) -> None:
        table = Table.from_arrow({"age": list(range(60)), "ill": numbered(60)})
        for how in (Bucketize(ProbabilisticDiversity(10)), Anatomy(10, "one-table")):
            release = sanitize(table, SCHEMA, how, seed=2)
            pairs = [
                frozenset(zip(*(written[name].to_pylist() for name in ("age", "ill")), strict=True))
                for written in (release.to_arrow() for _ in range(2))
            ]
            assert len(pairs[0] & pairs[1]) < 25
            groups = [self.groups(release.to_arrow()) for _ in range(12)]
            assert all(set(each.values()) == set(groups[0].values()) for each in groups)
            # four groups are numbered alike by chance once in 24 times, and eleven times in a row never
            assert any(each != groups[0] for each in groups)

    @staticmethod
    def groups(written: pa.Table) -> dict[int, tuple[frozenset[int], frozenset[str]]]:
        found: dict[int, tuple[set[int], set[str]]] = {}
        for record in written.to_pylist():
            ages, ills = found.setdefault(record["group"], (set(), set()))
            ages.add(record["age"])
            ills.add(record["ill"])
        return {group: (frozenset(ages), frozenset(ills)) for group, (ages, ills) in found.items()}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return written_project(tmp_path, "flu")


def written_project(folder: Path, last: str) -> Project:
    """Write eleven people, the last of whom is alone in the class and suppressed below."""
    folder.mkdir(exist_ok=True)
    ills = ["flu", "flu", "gout", "ache", "gout", "flu", "ache", "ache", "gout", "flu"]
    rows = [f"{20 + 2 * place},{ill}" for place, ill in enumerate(ills)]
    (folder / "people.csv").write_text("age,ill\n" + "\n".join([*rows, f"99,{last}"]) + "\n", "utf-8")
    (folder / "people.toml").write_text(PROJECT, "utf-8")
    return Project.load(folder / "people.toml")


class TestTheName:
    def test_of_a_candidate_is_no_hash_that_a_reader_could_try(
        self, project: Project, tmp_path: Path
    ) -> None:
        """The attack: hash every possible original with the published recipe, and compare."""
        table, schema = project.read()
        names = []
        for folder in ("a", "b"):
            with Store(tmp_path / f"{folder}.sqlite") as store:
                explore(project, store, seed=1, workers=1)
                candidates = store.candidates(source_of(table, schema))
                names.append({c.recipe.key: c.id for c in candidates})
                assert store.identity(candidates[0].recipe, source_of(table, schema)) == candidates[0].id
        assert names[0].keys() == names[1].keys()
        assert not set(names[0].values()) & set(names[1].values())
        for key, name in names[0].items():
            tried = hashlib.sha256(f"{key} {source_of(table, schema)}".encode()).hexdigest()
            assert not tried.startswith(name)

    def test_stays_when_the_store_is_opened_again(self, project: Project, tmp_path: Path) -> None:
        place = tmp_path / "store.sqlite"
        recipe = Recipe("as-is")
        with Store(place) as store:
            name = store.identity(recipe, "source")
        with Store(place) as store:
            assert store.identity(recipe, "source") == name

    def test_of_the_original_is_in_no_published_file(self, project: Project, tmp_path: Path) -> None:
        table, schema = project.read()
        with Store(tmp_path / "store.sqlite") as store:
            explore(project, store, seed=5, workers=1)
            made = store.candidates(source_of(table, schema))
            evidence = Evidence(Frontier(made, project.axes), (), store.secret)
            request = PublicationRequest(tmp_path / "out", evidence=evidence, allow_singling_out=True)
            publish_candidate(project, table, schema, made[0], request)
            secret = store.secret.hex()
        prints = [table.fingerprint, schema.fingerprint, source_of(table, schema), secret]
        original = hashlib.sha256((tmp_path / "people.csv").read_bytes()).hexdigest()
        for place in (tmp_path / "out").iterdir():
            content = place.read_bytes().decode("utf-8", "replace")
            for each in (*prints, original):
                assert each[:12] not in content, place.name


SUPPRESSING = FullDomain({"age": 2}, KAnonymity(2), suppression=0.2)


def published(folder: Path, last: str, how: Any, secret: bytes = b"owner") -> dict[str, str]:
    """Publish the eleven people and return what can be read, without what is drawn for each writing."""
    project = written_project(folder, last)
    table, schema = project.read()
    recipe = Recipe.of(how, seed=4)
    release = sanitize(table, schema, recipe)
    assert release.n_suppressed == 1
    candidate = Candidate("c0ffee", recipe, tuple(measure(release, project.measures)))
    ways: list[Any] = [AsIs(), Mondrian(KAnonymity(2))]
    others = tuple(
        Candidate(
            f"other{k}", Recipe.of(other), tuple(measure(sanitize(table, schema, other), project.measures))
        )
        for k, other in enumerate(ways)
    )
    evidence = Evidence(Frontier((candidate, *others), project.axes), (), secret)
    request = PublicationRequest(folder / "out", evidence=evidence, allow_singling_out=True)
    publish_candidate(project, table, schema, candidate, request)
    return {
        name: re.sub(
            r"[0-9a-f]{64}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?",
            "",
            (folder / "out" / name).read_text("utf-8"),
        )
        for name in ("report.html", "manifest.json", "datapackage.json")
    } | {"data": "\n".join(sorted((folder / "out" / "data.csv").read_text("utf-8").splitlines()))}


class TestTheReport:
    def test_fits_every_illness_that_the_suppressed_person_may_have(self, tmp_path: Path) -> None:
        """The attack: try which illness of the one who was left out gives the printed digits."""
        found = {
            ill: published(tmp_path / ill, ill, SUPPRESSING) for ill in ("flu", "gout", "ache", "plague")
        }
        assert len({each["data"] for each in found.values()}) == 1
        assert found["flu"] == found["gout"] == found["ache"] == found["plague"]

    def test_of_the_owner_does_tell_them_apart(self, tmp_path: Path) -> None:
        """What is kept from the reader is there: the owner's figures differ in their digits."""
        figures = set()
        for ill in ("flu", "gout", "plague"):
            project = written_project(tmp_path / ill, ill)
            release = sanitize(*project.read(), SUPPRESSING)
            figures.add(tuple(m.value for m in measure(release, ["privacy-loss", "utility-loss"])))
        assert len(figures) == 3

    def test_prints_no_digits_that_only_the_owner_can_compute(self, tmp_path: Path) -> None:
        project = written_project(tmp_path / "one", "gout")
        table, schema = project.read()
        text = published(tmp_path / "one", "gout", SUPPRESSING)["report.html"]
        release = sanitize(table, schema, SUPPRESSING, seed=4)
        for measured in measure(release, ["privacy-loss", "knowledge-gain", "utility-loss", "general-loss"]):
            assert measured.value
            assert f"{measured.value:.4g}" not in text, measured.measure
            assert f"{100 * measured.value:.3g}%" not in text, measured.measure

    def test_tells_two_releases_of_one_project_in_the_same_bands(self, tmp_path: Path) -> None:
        one, two = (published(tmp_path / name, "gout", SUPPRESSING, secret=b"same") for name in "ab")
        other = published(tmp_path / "c", "gout", SUPPRESSING, secret=b"other")
        assert one == two
        assert other["report.html"] != one["report.html"]
        without = [re.sub(r'"(low|high|bytes)": [\d.]+', "", each["manifest.json"]) for each in (one, other)]
        assert without[0] == without[1] != one["manifest.json"]

    def test_says_neither_how_many_values_nor_how_many_missing_ones_there_were(self, tmp_path: Path) -> None:
        with_missing = published(tmp_path / "missing", "", SUPPRESSING)
        without = published(tmp_path / "known", "flu", SUPPRESSING)
        assert with_missing["report.html"] == without["report.html"]
        assert with_missing["datapackage.json"] == without["datapackage.json"]


class TestBands:
    def test_hold_the_value_and_their_ends_differ_by_two(self) -> None:
        rng = np.random.default_rng(1)
        for value in rng.uniform(-3, 3, 200):
            low, high = Bands(rng.bytes(8)).around("loss", "ill", 10**value)
            assert low <= 10**value < high
            assert high / low == pytest.approx(2)
        assert Bands(b"x").around("loss", None, -0.3)[0] <= -0.3 <= Bands(b"x").around("loss", None, -0.3)[1]
        assert Bands(b"x").around("loss", None, 0.0) == (0.0, 0.0)

    def test_lie_anywhere_alike(self) -> None:
        """Where the value lies in its band says nothing of the value: it is uniform over the secrets."""
        places = [np.log2(0.3 / Bands(bytes([a, b])).around("loss", None, 0.3)[0]) for a, b in PAIRS]
        assert np.histogram(places, 4, (0, 1))[0] == pytest.approx(len(PAIRS) / 4, rel=0.25)


PAIRS = [*itertools.product(range(20), range(20))]


class TestTheEndsOfTheDomain:
    def test_are_not_told_by_the_labels_of_a_cut(self) -> None:
        table = Table.from_arrow({"age": [20, 21, 40, 41, 60, 61, 99], "ill": list("aabbccd")})
        how = Cut({"age": "010100"}, KAnonymity(2), suppression=0.0)
        written = sanitize(table, SCHEMA, how).to_arrow()["age"].to_pylist()
        assert set(written) == {"<22", "[40, 42)", ">=60"}

    def test_are_not_told_by_the_amount_of_noise(self) -> None:
        notes = []
        for oldest in (80, 90, 99):
            table = Table.from_arrow({"age": [20, 30, oldest], "ill": list("abc")})
            notes.append(sanitize(table, SCHEMA.with_assumed_public_part(table), Laplace(1.0)).notes)
        assert notes[0] == notes[1] == notes[2]

    def test_a_value_that_nobody_is_released_with_does_not_show_in_the_types(self) -> None:
        table = Table.from_arrow({"age": [20.0, 20.0, 30.0, 30.0, 45.5], "ill": list("ababa")})
        release = sanitize(table, SCHEMA, FullDomain({}, KAnonymity(2), suppression=0.2))
        assert pa.types.is_integer(release.to_arrow()["age"].type)


def test_no_seed_is_published(tmp_path: Path) -> None:
    project = written_project(tmp_path, "flu")
    table, schema = project.read()
    recipe = replace(Recipe.of(SUPPRESSING), seed=8_877_665_544)
    candidate = Candidate("c0ffee", recipe, tuple(measure(sanitize(table, schema, recipe), project.measures)))
    evidence = Evidence(Frontier((candidate,), project.axes))
    request = PublicationRequest(tmp_path / "out", evidence=evidence, allow_singling_out=True)
    publish_candidate(project, table, schema, candidate, request)
    for place in (tmp_path / "out").iterdir():
        assert b"8877665544" not in place.read_bytes()
    assert "seed" not in json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))["recipe"]
