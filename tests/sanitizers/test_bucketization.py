"""Bucketization: who is in a group is told exactly, whose value is whose is not."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Recipe, Schema, Table, measure, sanitize
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
from sfumato.reading import datasets
from sfumato.results.candidate import Candidate
from sfumato.results.frontier import Frontier
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.release import holds
from sfumato.runtime.errors import Infeasible, ParameterError, SchemaError, VerificationFailed
from sfumato.sanitizers import Anatomy, Bucketize, Mondrian
from sfumato.verification.check import Check
from sfumato.workflow.project.project_file import Project
from sfumato.workflow.publish.data_files import write_release
from sfumato.workflow.publish.folder_layout import Layout, read_back, tables_of
from sfumato.workflow.publish.publication_request import Evidence, PublicationRequest
from sfumato.workflow.publish.publish import publish_candidate
from sfumato.workflow.publish.verify import verify

Bound = tuple[Table, Schema]
Record = dict[str, Any]

ROLES: dict[str, Any] = {"age": "quasi-identifying", "town": "quasi-identifying", "pet": "insensitive"}
ATTRIBUTE_MEASURES: list[Any] = [
    "privacy-loss",
    "knowledge-gain",
    "accuracy-gain",
    "probabilistic-diversity",
    "distinct-diversity",
    "entropy-diversity",
    {"recursive-diversity": {"l": 2}},
    "alpha-k-anonymity",
    "t-closeness",
    {"t-closeness": {"distance": "hierarchical"}},
    {"t-closeness": {"distance": "js"}},
    "beta-likeness",
    {"beta-likeness": {"variant": "enhanced"}},
    "delta-disclosure",
    {"delta-disclosure": {"absent": "ignored", "base": 2.0}},
]


def people(n_records: int, *sensitive: str, seed: int = 0) -> Bound:
    """Return people whose quasi-identifiers are all different, with these sensitive attributes."""
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {
        "age": np.arange(n_records),
        "town": rng.choice(["Ulm", "Bonn", "Kiel"], n_records),
        "pet": rng.choice(["cat", "dog"], n_records),
    }
    for name in sensitive:
        columns[name] = rng.choice(["a", "b", "c", "d"], n_records)
    roles = {**ROLES, **dict.fromkeys(sensitive, "sensitive")}
    return Schema.of(roles).bind(Table.from_arrow(columns))


def groups_by_hand(release: LinkedRelease) -> dict[int, list[Record]]:
    groups: dict[int, list[Record]] = {}
    for record in release.to_arrow().to_pylist():
        groups.setdefault(record[release.group_column], []).append(record)
    return groups


def told(records: list[Record], names: tuple[str, ...]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(record[name] for name in names) for record in records)


@st.composite
def small_tables(draw: st.DrawFn, n_sensitive: int = 2) -> Bound:
    """Draw up to 8 records with missing values, some of them equal."""
    names = [f"s{number}" for number in range(draw(st.integers(1, n_sensitive)))]
    record = st.tuples(
        st.sampled_from([1, 2, 3, None]), st.sampled_from(["x", "y"]), *[st.sampled_from("abc")] * len(names)
    )
    records = draw(st.lists(record, min_size=1, max_size=8))
    columns = dict(zip(["age", "town", *names], map(list, zip(*records, strict=True)), strict=True))
    columns["age"] = pa.array(columns["age"], pa.int64())
    roles: dict[str, Any] = {"age": "quasi-identifying", "town": "quasi-identifying"}
    return Schema.of({**roles, **dict.fromkeys(names, "sensitive")}).bind(Table.from_arrow(columns))


MODELS: list[Any] = [
    ProbabilisticDiversity(1.5),
    ProbabilisticDiversity(2.0),
    DistinctDiversity(2),
    EntropyDiversity(1.5),
    RecursiveDiversity(2.0, 2),
    TCloseness(0.3),
    TCloseness(0.2, "js"),
    BetaLikeness(0.5),
    DeltaDisclosure(1.0),
    ProbabilisticDiversity(1.5) & TCloseness(0.5),
]


class TestBucketize:
    @given(
        bound=small_tables(), model=st.sampled_from(MODELS), variant=st.sampled_from(["strict", "relaxed"])
    )
    @settings(max_examples=150)
    def test_every_record_keeps_its_quasi_identifiers_and_every_group_its_sensitive_values(
        self, bound: Bound, model: Any, variant: Any
    ) -> None:
        table, schema = bound
        try:
            release = sanitize(table, schema, Bucketize(model, variant))
        except Infeasible:
            with pytest.raises(Infeasible):
                sanitize(table, schema, Mondrian(model, variant))
            return
        everybody = table.to_arrow().to_pylist()
        written = release.to_arrow().to_pylist()
        assert told(written, ("age", "town")) == told(everybody, ("age", "town"))
        assert told(written, schema.sensitive) == told(everybody, schema.sensitive)
        self.check_groups(release, bound)
        assert holds(release, model)

    def check_groups(self, release: LinkedRelease, bound: Bound) -> None:
        """Check that a group tells the sensitive values of its own people, all of a person together."""
        table, schema = bound
        assert release.group_of is not None
        own: dict[int, Counter[Any]] = {}
        for group, row, weight in zip(
            release.group_of.tolist(), release.origin.rows.tolist(), release.weights.tolist(), strict=True
        ):
            values = tuple(table[name].domain[table[name].codes[row]] for name in schema.sensitive)
            own.setdefault(group, Counter())[values] += weight
        # the numbers of the groups are drawn anew, so a group is known by its people
        people: dict[Any, Any] = {}
        for group, row, weight in zip(
            release.group_of.tolist(), release.origin.rows.tolist(), release.weights.tolist(), strict=True
        ):
            exact = tuple(table[name].domain[table[name].codes[row]] for name in schema.quasi_identifiers)
            people.setdefault(group, Counter())[exact] += weight
        expected = Counter(
            (str(sorted(people[g].items(), key=str)), str(sorted(own[g].items()))) for g in own
        )
        written = groups_by_hand(release).values()
        assert expected == Counter(
            (
                str(sorted(told(records, schema.quasi_identifiers).items(), key=str)),
                str(sorted(told(records, schema.sensitive).items())),
            )
            for records in written
        )

    def test_the_groups_are_the_parts_of_mondrian(self, adult: Bound) -> None:
        model = ProbabilisticDiversity(3.0)
        cut = sanitize(*adult, Mondrian(model))
        release = sanitize(*adult, Bucketize(model))
        assert sorted(release.groups.sizes) == sorted(cut.classes.sizes)
        assert holds(release, model)
        privacy = ["privacy-loss", "knowledge-gain", "accuracy-gain", "t-closeness"]
        assert [m.value for m in measure(release, privacy)] == pytest.approx(
            [m.value for m in measure(cut, privacy)]
        )
        (loss,) = measure(release, ["general-loss"])
        assert not loss.applicable
        assert "exchanged within groups" in loss.detail["reason"]

    def test_several_sensitive_values_of_a_person_move_together(self) -> None:
        table, schema = people(40, "ill", "job")
        table = Table.from_arrow(
            {**{n: table.to_arrow()[n] for n in table.names}, "job": table.to_arrow()["ill"]}
        )
        release = sanitize(table, schema, Bucketize(ProbabilisticDiversity(1.5)))
        assert all(record["ill"] == record["job"] for record in release.to_arrow().to_pylist())

    def test_the_link_between_a_person_and_the_value_is_broken(self) -> None:
        n_records = 200
        ages = np.arange(n_records)
        table = Table.from_arrow({"age": ages, "ill": [f"v{age}" for age in ages]})
        schema = Schema.of(age="quasi-identifying", ill="sensitive")
        # l = 101 needs more than half of the records, so there is one group of 200
        release = sanitize(table, schema, Bucketize(ProbabilisticDiversity(101)))
        assert release.groups.n_classes == 1
        stayed = sum(record["ill"] == f"v{record['age']}" for record in release.to_arrow().to_pylist())
        assert stayed < 10  # one in the mean
        seeds = {str(self.pairing(table, schema, seed)) for seed in range(4)}
        assert len(seeds) == 4

    @staticmethod
    def pairing(table: Table, schema: Schema, seed: int) -> list[tuple[int, str]]:
        release = sanitize(table, schema, Bucketize(ProbabilisticDiversity(101)), seed=seed)
        return sorted((record["age"], record["ill"]) for record in release.to_arrow().to_pylist())

    def test_other_attributes_stay_with_the_person(self) -> None:
        table, schema = people(30, "ill")
        release = sanitize(table, schema, Bucketize(ProbabilisticDiversity(2)))
        exact = ("age", "town", "pet")
        assert told(release.to_arrow().to_pylist(), exact) == told(table.to_arrow().to_pylist(), exact)

    def test_a_bucket_s_size_is_not_a_k(self) -> None:
        release = sanitize(*people(30, "ill"), Bucketize(ProbabilisticDiversity(2)))
        k, risk = measure(release, ["k-anonymity", "reidentification-risk"])
        assert release.groups.sizes.min() > 1
        assert k.value == 1
        assert risk.value == 1
        assert not holds(release, KAnonymity(2))

    def test_groups_have_the_smallest_size_that_is_asked_for(self, adult: Bound) -> None:
        free = ("education",)
        release = sanitize(*adult, Bucketize(ProbabilisticDiversity(1.0), smallest_group=500, free=free))
        cut = sanitize(*adult, Mondrian(KAnonymity(500), free=free))
        assert sorted(release.groups.sizes) == sorted(cut.classes.sizes)
        assert measure(release, ["k-anonymity"])[0].value == 1

    def test_a_group_has_at_least_one_record(self) -> None:
        with pytest.raises(ParameterError, match="smallest-group must be at least 1, not 0"):
            Bucketize(smallest_group=0)

    @pytest.mark.parametrize(
        "model", [KAnonymity(1), KAnonymity(2) & ProbabilisticDiversity(2), AlphaKAnonymity(0.5, 2)], ids=str
    )
    def test_a_model_of_the_classes_is_refused(self, model: Any) -> None:
        with pytest.raises(ParameterError, match="k-anonymity cannot hold; ask for models of the sensitive"):
            sanitize(*people(10, "ill"), Bucketize(model))

    def test_is_the_same_for_the_same_seed(self, as_made: Callable[[LinkedRelease], pa.Table]) -> None:
        bound = people(40, "ill")
        for how in (Bucketize(ProbabilisticDiversity(2)), Anatomy(2), Bucketize(TCloseness(0.4), "relaxed")):
            first, again, other = (as_made(sanitize(*bound, how, seed=seed)) for seed in (1, 1, 2))
            assert first.equals(again)
            assert not first.equals(other)

    def test_the_numbers_of_the_groups_tell_nothing_about_their_order(self) -> None:
        table, schema = people(400, "ill")
        orders = []
        for seed in range(5):
            release = sanitize(table, schema, Bucketize(ProbabilisticDiversity(2)), seed=seed)
            members = {
                group: np.mean([record["age"] for record in records])
                for group, records in groups_by_hand(release).items()
            }
            assert sorted(members) == list(range(release.groups.n_classes))
            orders.append(np.corrcoef(list(members), list(members.values()))[0, 1])
        assert max(abs(np.array(orders))) < 0.9
        assert len(set(orders)) == 5

    def test_needs_attributes_of_both_roles(self) -> None:
        table = Table.from_arrow({"age": [1, 2], "ill": ["a", "b"]})
        with pytest.raises(SchemaError, match="needs a sensitive attribute"):
            sanitize(table, Schema.of(age="quasi-identifying", ill="insensitive"), Bucketize())
        with pytest.raises(SchemaError, match="needs a quasi-identifying attribute"):
            sanitize(table, Schema.of(age="insensitive", ill="sensitive"), Bucketize())

    def test_a_recipe_survives_json(self) -> None:
        for how in (
            Bucketize(TCloseness(0.1) & DistinctDiversity(2), "relaxed", "two-tables"),
            Anatomy(4, "one-table"),
        ):
            assert Recipe.from_json(Recipe.of(how).to_json()).build() == how


class TestAnatomy:
    @given(
        bound=small_tables(n_sensitive=1),
        l=st.integers(2, 4),
        form=st.sampled_from(["one-table", "two-tables"]),
    )
    @settings(max_examples=150)
    def test_every_group_has_l_values_each_once_or_the_largest_l_is_named(
        self,
        bound: Bound,
        l: int,  # noqa: E741
        form: Any,
    ) -> None:
        table, schema = bound
        everybody = table.to_arrow().to_pylist()
        (name,) = schema.sensitive
        counts = Counter(record[name] for record in everybody)
        if max(counts.values()) * l > len(everybody):
            with pytest.raises(Infeasible, match="the largest possible l is") as caught:
                sanitize(table, schema, Anatomy(l, form))
            assert caught.value.reached == len(everybody) // max(counts.values())
            return
        release = sanitize(table, schema, Anatomy(l, form))
        groups = groups_by_hand(release)
        assert sum(len(records) for records in groups.values()) == len(everybody)
        for records in groups.values():
            values = [record[name] for record in records]
            assert len(set(values)) == len(values) >= l
        TestBucketize().check_groups(release, bound)
        assert told(release.to_arrow().to_pylist(), ("age", "town")) == told(everybody, ("age", "town"))

    def test_the_largest_possible_l_works_and_one_more_does_not(self) -> None:
        columns = {"age": np.arange(11), "ill": list("aaabbbccdde")}
        schema = Schema.of(age="quasi-identifying", ill="sensitive")
        table = Table.from_arrow(columns)
        with pytest.raises(Infeasible) as caught:
            sanitize(table, schema, Anatomy(4))
        largest = int(caught.value.reached or 0)
        assert largest == 3
        release = sanitize(table, schema, Anatomy(largest))
        assert [m.value for m in measure(release, ["distinct-diversity"])] == [3.0]
        # eleven records in groups of three: two are left over and have found a place
        assert release.groups.n_classes == 3
        assert release.groups.n_records == 11

    def test_as_many_values_as_l_all_equally_frequent(self) -> None:
        columns = {"age": np.arange(20), "ill": [f"v{n % 5}" for n in range(20)]}
        release = sanitize(
            Table.from_arrow(columns), Schema.of(age="quasi-identifying", ill="sensitive"), Anatomy(5)
        )
        assert release.groups.sizes.tolist() == [5] * 4
        assert holds(release, ProbabilisticDiversity(5))

    def test_the_message_shows_counts_and_no_value(self) -> None:
        table = Table.from_arrow({"age": np.arange(6), "ill": ["SECRET"] * 4 + ["x", "y"]})
        with pytest.raises(Infeasible) as caught:
            sanitize(table, Schema.of(age="quasi-identifying", ill="sensitive"), Anatomy(2))
        assert str(caught.value) == (
            "anatomy with l = 2 cannot hold: the commonest value has 4 of 6 records, "
            "so the largest possible l is 1"
        )

    def test_one_sensitive_attribute_only(self) -> None:
        with pytest.raises(ParameterError, match="anatomy groups by one sensitive attribute"):
            sanitize(*people(10, "ill", "job"), Anatomy(2))

    @pytest.mark.parametrize("l", [1, 0, -2])
    def test_l_is_at_least_two(self, l: int) -> None:  # noqa: E741
        with pytest.raises(ParameterError, match=f"l must be at least 2, not {l}"):
            Anatomy(l)

    def test_a_missing_value_is_one_of_the_values(self) -> None:
        table = Table.from_arrow({"age": [1, 2, 3, 4], "ill": [None, "a", None, "a"]})
        release = sanitize(table, Schema.of(age="quasi-identifying", ill="sensitive"), Anatomy(2))
        assert all({r["ill"] for r in records} == {None, "a"} for records in groups_by_hand(release).values())

    def test_chance_says_who_shares_a_group(self) -> None:
        bound = people(60, "ill")
        together = {
            frozenset(frozenset(r["age"] for r in records) for records in groups_by_hand(release).values())
            for release in (sanitize(*bound, Anatomy(2), seed=seed) for seed in range(3))
        }
        assert len(together) == 3

    def test_adult(self, adult: Bound) -> None:
        release = sanitize(*adult, Anatomy(5))
        counts = release.groups.sensitive["occupation"]
        assert (np.diff(counts.starts) >= 5).all()
        assert (counts.counts == 1).all()
        assert release.n_records == 45_222


WAYS: list[Any] = [
    Bucketize(ProbabilisticDiversity(2)),
    Bucketize(ProbabilisticDiversity(2), form="two-tables"),
    Bucketize(TCloseness(0.5, "hierarchical"), form="two-tables"),
    Anatomy(2),
    Anatomy(3, "one-table"),
]


class TestTables:
    @pytest.mark.parametrize("how", WAYS, ids=str)
    def test_reading_the_tables_gives_every_figure_of_the_release(self, how: Any, hospital: Bound) -> None:
        release = sanitize(*hospital, how)
        seen = read_back(tables_of(release, typed=False), Layout.of(release))
        ours = [each.value for each in measure(release, ATTRIBUTE_MEASURES)]
        assert [each.value for each in measure(seen, ATTRIBUTE_MEASURES)] == pytest.approx(ours, abs=1e-12)
        k, weighted = ([m.value for m in measure(r, ["k-anonymity", "weighted-k"])] for r in (release, seen))
        assert k == weighted

    @given(bound=small_tables(), model=st.sampled_from(MODELS))
    @settings(max_examples=40)
    def test_one_table_and_two_tables_say_the_same(self, bound: Bound, model: Any) -> None:
        table, schema = bound
        try:
            one, two = (
                sanitize(table, schema, Bucketize(model, form=form)) for form in ("one-table", "two-tables")
            )
        except Infeasible:
            return
        figures = [
            [each.value for each in measure(r, ATTRIBUTE_MEASURES)]
            for release in (one, two)
            for r in (release, read_back(tables_of(release, typed=True), Layout.of(release)))
        ]
        for other in figures[1:]:
            assert other == pytest.approx(figures[0], abs=1e-12)

    def test_the_first_table_has_no_sensitive_value_and_the_second_no_person(self) -> None:
        table, schema = people(30, "ill", "job")
        release = sanitize(table, schema, Bucketize(ProbabilisticDiversity(1.5), form="two-tables"))
        tables = tables_of(release, typed=True)
        assert set(tables) == {"quasi-identifiers", "sensitive"}
        assert tables["quasi-identifiers"].column_names == ["age", "town", "pet", "group"]
        assert tables["sensitive"].column_names == ["group", "ill", "job", "count"]
        assert sum(tables["sensitive"]["count"].to_pylist()) == 30

    def test_the_second_table_is_in_an_order_that_tells_nothing(self) -> None:
        table, schema = people(60, "ill")
        release = sanitize(table, schema, Bucketize(ProbabilisticDiversity(2), form="two-tables"))
        rows = [(r["group"], r["ill"]) for r in tables_of(release, typed=True)["sensitive"].to_pylist()]
        assert rows == sorted(rows)

    def test_attributes_called_group_and_count_are_not_in_the_way(self) -> None:
        roles: Any = {"group": "quasi-identifying", "count": "sensitive", "count_": "sensitive"}
        columns = {"group": [1, 2, 3, 4], "count": list("abab"), "count_": list("xyxy")}
        for how in (
            Bucketize(ProbabilisticDiversity(2), form="two-tables"),
            Bucketize(ProbabilisticDiversity(2)),
        ):
            release = sanitize(Table.from_arrow(columns), Schema.of(roles), how)
            seen = read_back(tables_of(release, typed=False), Layout.of(release))
            assert seen.n_records == 4
            assert ProbabilisticDiversity().level(seen.groups) == 2

    def test_two_files_are_written(self, tmp_path: Path) -> None:
        release = sanitize(*people(30, "ill"), Anatomy(2))
        places = write_release(release, tmp_path / "out.csv")
        assert [place.name for place in places] == ["out-quasi-identifiers.csv", "out-sensitive.csv"]
        assert all(place.is_file() for place in places)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The twelve patients, published as two tables."""
    (tmp_path / "hospital.csv").write_bytes((datasets.FOLDER / "hospital.csv").read_bytes())
    project_file = tmp_path / "hospital.toml"
    project_file.write_text(
        """
        policy.recipient = "none"
        data.path = "hospital.csv"
        [attributes]
        name.role = "identifying"
        zip.role = "quasi-identifying"
        age = { role = "quasi-identifying", kind = "numeric" }
        sex.role = "quasi-identifying"
        diagnosis.role = "sensitive"
        """,
        encoding="utf-8",
    )
    project = Project.load(project_file)
    table, schema = project.read()
    recipe = Recipe.of(Bucketize(ProbabilisticDiversity(2), form="two-tables"), seed=5)
    taken = measure(sanitize(table, schema, recipe), project.measures)
    candidate = Candidate("c0ffee00", recipe, tuple(taken))
    evidence = Evidence(Frontier((candidate,), project.axes))
    request = PublicationRequest(tmp_path / "out", evidence=evidence, allow_singling_out=True)
    publish_candidate(project, table, schema, candidate, request)
    return tmp_path / "out"


class TestTampering:
    """A forger who changes both files of the second table, and every checksum, is still found out."""

    def rows(self, folder: Path, name: str = "sensitive") -> list[list[str]]:
        with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.reader(file))

    def forge(self, folder: Path, rows: list[list[str]], name: str = "sensitive") -> None:
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
        columns = {head: [row[place] or None for row in rows[1:]] for place, head in enumerate(rows[0])}
        pq.write_table(
            pa.table({head: pa.array(cells, pa.string()) for head, cells in columns.items()}),
            folder / f"{name}.parquet",
        )
        manifest = folder / "manifest.json"
        facts = json.loads(manifest.read_text("utf-8"))
        for file in facts["files"]:
            content = (folder / file).read_bytes()
            facts["files"][file] = {"sha256": sha256(content).hexdigest(), "bytes": len(content)}
        manifest.write_text(json.dumps(facts), "utf-8")

    def problems(self, folder: Path) -> Iterator[Check]:
        # the documents tell the old checksums; here it is asked what the data itself gives away
        documents = ("datapackage.json", "report.html", "certificate.json")
        return (check for check in verify(folder).failed if not check.what.startswith(documents))

    def test_an_honest_folder_verifies(self, folder: Path) -> None:
        self.forge(folder, self.rows(folder))
        assert not list(self.problems(folder))

    def test_a_count_moved_within_its_group_is_noticed_by_the_claims(self, folder: Path) -> None:
        rows = self.rows(folder)
        first, second = self.two_of_a_group(rows)
        first[2] = str(int(first[2]) + int(second[2]))
        rows.remove(second)
        self.forge(folder, rows)
        assert any(
            "privacy-loss" in check.what or "diversity" in check.what for check in self.problems(folder)
        )

    @staticmethod
    def two_of_a_group(rows: list[list[str]]) -> tuple[list[str], list[str]]:
        group = next(g for g, n in Counter(row[0] for row in rows[1:]).items() if n > 1)
        first, second, *_ = (row for row in rows[1:] if row[0] == group)
        return first, second

    @pytest.mark.parametrize(
        "count", ["7", "0", "-1", "", "many", "1.5", "1e3", "99999999999999", str(2**70)]
    )
    def test_another_count_is_noticed_in_one_line(self, folder: Path, count: str) -> None:
        rows = self.rows(folder)
        rows[1][2] = count if count != rows[1][2] else "8"
        self.forge(folder, rows)
        found = list(self.problems(folder))
        assert found
        assert all("\n" not in check.problem for check in found)

    def test_a_person_moved_to_another_group_is_noticed(self, folder: Path) -> None:
        rows = self.rows(folder, "quasi-identifiers")
        groups = sorted({row[-1] for row in rows[1:]})
        rows[1][-1] = next(group for group in groups if group != rows[1][-1])
        self.forge(folder, rows, "quasi-identifiers")
        (found,) = self.problems(folder)
        assert found.problem == "the two tables do not have the same number of records in every group"

    def test_a_group_that_nobody_is_in_is_noticed(self, folder: Path) -> None:
        rows = [*self.rows(folder), ["99", "Flu", "1"]]
        self.forge(folder, rows)
        assert any("same number of records" in check.problem for check in self.problems(folder))

    @pytest.mark.parametrize("name", ["quasi-identifiers", "sensitive"])
    @pytest.mark.parametrize("column", ["group", "zip", "diagnosis", "count"])
    def test_a_renamed_column_is_noticed(self, folder: Path, name: str, column: str) -> None:
        rows = self.rows(folder, name)
        if column not in rows[0]:
            return
        rows[0] = ["other" if head == column else head for head in rows[0]]
        self.forge(folder, rows, name)
        assert any("columns" in check.problem for check in self.problems(folder))

    def test_reading_back_says_what_is_wrong(self) -> None:
        release = sanitize(*people(12, "ill"), Anatomy(2))
        tables, layout = tables_of(release, typed=True), Layout.of(release)
        for count in (0, -3, 10**13):
            counts = tables["sensitive"]["count"].to_pylist()
            counts[0] = count
            forged = tables["sensitive"].set_column(2, "count", pa.array(counts))
            with pytest.raises(VerificationFailed):
                read_back({**tables, "sensitive": forged}, layout)
        with pytest.raises(VerificationFailed, match="columns"):
            read_back(tables, replace(layout, group="elsewhere"))


def test_a_smallest_group_beyond_the_records_is_said_in_its_own_words() -> None:
    how = Bucketize(ProbabilisticDiversity(2.0), smallest_group=50)
    with pytest.raises(Infeasible, match="smallest-group = 50 cannot hold: there are 12 records") as caught:
        sanitize(*datasets.hospital(), how)
    assert "k-anonymity" not in str(caught.value)
