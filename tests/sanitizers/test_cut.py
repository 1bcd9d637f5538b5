"""Cuts against brute force: every bit string of tiny tables, and every block that a hierarchy allows."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Attribute, Hierarchy, Intervals, Recipe, Schema, Table, measure, sanitize
from sfumato.models import DistinctDiversity, KAnonymity
from sfumato.results.linked_release import LinkedRelease
from sfumato.runtime.errors import Infeasible, ParameterError, SchemaError
from sfumato.sanitizers import Cut
from sfumato.workflow.project.project_file import Project

Bound = tuple[Table, Schema]

TREE: Any = {"Europe": {"West": ["France", "Spain"], "North": ["Norway"]}, "Asia": ["Japan", "Korea"]}
LAND = ["France", "Spain", "Norway", "Japan", "Korea"]


def bit_strings(n_values: int) -> list[str]:
    return ["".join(bits) for bits in itertools.product("01", repeat=n_values - 1)]


def blocks_of(values: list[Any], bits: str) -> list[tuple[Any, ...]]:
    """Return the blocks of neighbours that a bit string makes, value by value."""
    blocks = [[values[0]]]
    for value, bit in zip(values[1:], bits, strict=True):
        if bit == "1":
            blocks.append([])
        blocks[-1].append(value)
    return [tuple(block) for block in blocks]


def released_sets(release: LinkedRelease, name: str) -> dict[str | None, tuple[Any, ...]]:
    """Return the original values behind every label."""
    cells = release.cells[name]
    assert cells.sets is not None
    starts = cells.sets.starts.tolist()
    return {
        label: tuple(cells.domain[member] for member in cells.sets.members[a:b])
        for label, (a, b) in zip(cells.labels, itertools.pairwise(starts), strict=True)
    }


def written_classes(release: LinkedRelease) -> Counter[frozenset[tuple[int, int]]]:
    """Return the classes, each as its original rows with the number of their records."""
    classes: dict[tuple[Any, ...], Counter[int]] = {}
    for place, row in enumerate(release.origin.rows.tolist()):
        key = tuple(
            release.cells[name].labels[release.cells[name].codes[place]]
            for name in release.schema.quasi_identifiers
        )
        classes.setdefault(key, Counter())[row] += int(release.weights[place])
    return Counter(frozenset(counts.items()) for counts in classes.values())


class TestBlocks:
    @pytest.mark.parametrize("age", bit_strings(4))
    def test_every_pair_of_bit_strings_gives_the_classes_of_its_blocks(self, age: str) -> None:
        columns = {"age": [1, 2, 4, 9, 9, 2, 1, 4], "sex": list("fmdfmdff")}
        schema = Schema.of(age="quasi-identifying", sex="quasi-identifying")
        table, schema = schema.bind(Table.from_arrow(columns))
        for sex in bit_strings(3):
            release = sanitize(table, schema, Cut({"age": age, "sex": sex}, KAnonymity(1)))
            place = {
                "age": {v: i for i, block in enumerate(blocks_of([1, 2, 4, 9], age)) for v in block},
                "sex": {v: i for i, block in enumerate(blocks_of(list("fmd"), sex)) for v in block},
            }
            expected: dict[tuple[int, ...], Counter[int]] = {}
            for row in range(table.n_rows):
                key = tuple(place[n][table[n].domain[table[n].codes[row]]] for n in ("age", "sex"))
                expected.setdefault(key, Counter())[row] += int(table.weights[row])
            assert written_classes(release) == Counter(frozenset(c.items()) for c in expected.values())

    @given(
        values=st.lists(st.integers(-5, 30) | st.none(), min_size=1, max_size=8),
        halves=st.booleans(),
        data=st.data(),
    )
    @settings(max_examples=100)
    def test_a_number_is_released_as_its_block(
        self, values: list[int | None], halves: bool, data: st.DataObject
    ) -> None:
        written = [None if v is None else v / 2 if halves else v for v in values]
        table = Table.from_arrow({"n": pa.array(written, pa.float64())})
        table, schema = Schema.of(n="quasi-identifying").bind(table)
        domain = sorted({v for v in written if v is not None}) + ([None] if None in written else [])
        assert [*table["n"].domain] == domain
        bits = data.draw(st.sampled_from(bit_strings(len(domain))))
        release = sanitize(table, schema, Cut({"n": bits}, KAnonymity(1)))
        found = released_sets(release, "n")
        assert sorted(found.values(), key=str) == sorted(blocks_of(domain, bits), key=str)
        losses = [(len(block) - 1) / max(len(domain) - 1, 1) for block in found.values()]
        shares = [sum(v in block for v in written) / len(written) for block in found.values()]
        (loss,) = measure(release, ["general-loss"])
        assert loss.value == pytest.approx(float(np.dot(losses, shares)))

    def test_labels_of_numbers(self) -> None:
        table = Table.from_arrow({"age": [1, 2, 5, 8, None]})
        for bits, labels in {
            "1111": {"1", "2", "5", "8", None},
            "0000": {"*"},
            "0101": {"<3", ">=5", None},
            "1010": {"1", "[2, 6)", "8 or missing"},
            "1001": {"1", ">=2", None},
            "1000": {"1", ">=2 or missing"},
        }.items():
            release = sanitize(table, Schema.of(age="quasi-identifying"), Cut({"age": bits}, KAnonymity(1)))
            assert set(release.to_arrow(typed=False)["age"].to_pylist()) == labels

    def test_labels_of_fractions_are_closed(self) -> None:
        table = Table.from_arrow({"n": [0.5, 1.5, 2.5]})
        release = sanitize(table, Schema.of(n="quasi-identifying"), Cut({"n": "01"}, KAnonymity(1)))
        assert set(release.to_arrow()["n"].to_pylist()) == {"<=1.5", "2.5"}

    def test_labels_of_categories_without_a_hierarchy(self) -> None:
        table = Table.from_arrow({"sex": ["f", "m", "x", None]})
        release = sanitize(table, Schema.of(sex="quasi-identifying"), Cut({"sex": "010"}, KAnonymity(1)))
        assert set(release.to_arrow()["sex"].to_pylist()) == {"{f, m}", "x or missing"}

    def test_an_attribute_that_is_not_named_stays_exact(self, hospital: Bound) -> None:
        table, schema = hospital
        release = sanitize(table, schema, Cut({"age": "0" * 7}, KAnonymity(1)))
        assert set(release.to_arrow()["age"].to_pylist()) == {"*"}
        for name in ("zip", "sex"):
            assert Counter(release.to_arrow()[name].to_pylist()) == Counter(
                table.to_arrow()[name].to_pylist()
            )

    def test_one_value_needs_no_bits(self) -> None:
        table = Table.from_arrow({"age": [7, 7]})
        release = sanitize(table, Schema.of(age="quasi-identifying"), Cut({"age": ""}, KAnonymity(2)))
        assert release.to_arrow()["age"].to_pylist() == [7, 7]


class TestConstrained:
    def schema(self, role: Any = "quasi-identifying") -> Schema:
        return Schema((Attribute("land", role, hierarchy=Hierarchy.nested(TREE)),))

    @staticmethod
    def nodes(present: list[str]) -> set[tuple[str, ...]]:
        """Return the values below every node of the tree, those that do not occur left out."""
        every = [
            ["France", "Spain"],
            ["Norway"],
            ["France", "Spain", "Norway"],
            ["Japan", "Korea"],
            LAND,
            *([value] for value in LAND),
        ]
        return {tuple(value for value in node if value in present) for node in every} - {()}

    @pytest.mark.parametrize(
        "present", [LAND, LAND[:4], ["France", "Norway", "Korea"], ["Spain", "Japan"]], ids="-".join
    )
    def test_exactly_the_blocks_that_are_nodes_are_allowed(self, present: list[str]) -> None:
        nodes = self.nodes(present)
        allowed = 0
        for bits in bit_strings(len(present)):
            blocks = blocks_of(present, bits)
            torn = sum(block not in nodes for block in blocks)
            how = Cut({"land": bits}, KAnonymity(1))
            if torn:
                with pytest.raises(ParameterError, match=rf"{torn} block\(s\) of 'land' are not nodes"):
                    sanitize(Table.from_arrow({"land": present}), self.schema(), how)
            else:
                release = sanitize(Table.from_arrow({"land": present}), self.schema(), how)
                assert sorted(released_sets(release, "land").values()) == sorted(blocks)
                allowed += 1
        assert allowed >= 2

    def test_free_lifts_that(self) -> None:
        for bits in bit_strings(len(LAND)):
            how = Cut({"land": bits}, KAnonymity(1), free=("land",))
            release = sanitize(Table.from_arrow({"land": LAND}), self.schema(), how)
            assert sorted(released_sets(release, "land").values()) == sorted(blocks_of(LAND, bits))

    def test_a_block_that_is_a_node_is_written_by_its_name(self) -> None:
        table = Table.from_arrow({"land": LAND})
        how = Cut({"land": "0010"}, KAnonymity(1))
        release = sanitize(table, self.schema(), how)
        assert set(release.to_arrow()["land"].to_pylist()) == {"Europe", "Asia"}
        release = sanitize(table, self.schema(), Cut({"land": "1001"}, KAnonymity(1), free=("land",)))
        assert set(release.to_arrow()["land"].to_pylist()) == {"France", "{Spain, Norway, Japan}", "Korea"}

    def test_a_node_costs_all_its_leaves_also_those_that_do_not_occur(self) -> None:
        table = Table.from_arrow({"land": ["France", "Norway", "Japan"]})
        release = sanitize(table, self.schema(), Cut({"land": "01"}, KAnonymity(1)))
        # Europe has 3 of 5 leaves, and two of three records are in it; Japan alone is exact
        (loss,) = measure(release, ["general-loss"])
        assert loss.value == pytest.approx(2 / 3 * (3 - 1) / (5 - 1))

    def test_numbers_with_intervals_are_cut_anywhere(self) -> None:
        schema = Schema((Attribute("age", "quasi-identifying", "numeric", Intervals((10, 20))),))
        release = sanitize(
            Table.from_arrow({"age": [8, 9, 10, 11]}), schema, Cut({"age": "101"}, KAnonymity(1))
        )
        assert set(map(str, release.to_arrow()["age"].to_pylist())) == {"8", "[9, 11)", "11"}

    def test_a_missing_value_is_a_branch_of_its_own(self) -> None:
        table = Table.from_arrow({"land": ["Japan", "Korea", None]})
        release = sanitize(table, self.schema(), Cut({"land": "01"}, KAnonymity(1)))
        assert set(release.to_arrow()["land"].to_pylist()) == {"Asia", None}
        with pytest.raises(ParameterError, match="not nodes of its hierarchy"):
            sanitize(table, self.schema(), Cut({"land": "10"}, KAnonymity(1)))


class TestSuppression:
    TABLE = Table.from_arrow({"age": [1, 1, 1, 2, 2, 3], "ill": list("abcabc")})
    SCHEMA = Schema.of(age="quasi-identifying", ill="sensitive")

    def test_records_of_failing_classes_are_left_out_within_the_limit(self) -> None:
        how = Cut({"age": "11"}, KAnonymity(2), suppression=1 / 6)
        release = sanitize(self.TABLE, self.SCHEMA, how)
        assert release.n_suppressed == 1
        assert sorted(release.to_arrow()["age"].to_pylist()) == [1, 1, 1, 2, 2]

    def test_not_beyond_it(self) -> None:
        with pytest.raises(Infeasible, match=r"3 of 6 records \(50.0%\) fail the model") as caught:
            sanitize(self.TABLE, self.SCHEMA, Cut({"age": "11"}, KAnonymity(3), suppression=0.49))
        assert caught.value.reached == pytest.approx(0.5)

    def test_never_all(self) -> None:
        with pytest.raises(Infeasible, match="every record would be suppressed"):
            sanitize(self.TABLE, self.SCHEMA, Cut({"age": "11"}, KAnonymity(4), suppression=1.0))

    def test_the_model_may_speak_of_sensitive_values(self) -> None:
        release = sanitize(self.TABLE, self.SCHEMA, Cut({"age": "11"}, DistinctDiversity(3), suppression=0.5))
        assert release.to_arrow()["age"].to_pylist() == [1, 1, 1]

    def test_more_records_than_there_are_is_infeasible(self) -> None:
        with pytest.raises(Infeasible, match="k is 6, the largest possible"):
            sanitize(self.TABLE, self.SCHEMA, Cut({"age": "00"}, KAnonymity(7)))

    @pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
    def test_the_limit_is_a_share(self, share: float) -> None:
        with pytest.raises(ParameterError, match="suppression must be a share"):
            Cut(suppression=share)


class TestMistakes:
    @pytest.mark.parametrize("bits", ["", "000000", "00000000", "0000002", "000 000", "abcdefg", "1" * 70])
    def test_bits_that_do_not_fit_are_refused(self, hospital: Bound, bits: str) -> None:
        with pytest.raises(ParameterError, match="cuts: 'age' needs 7 bits, 0 or 1"):
            sanitize(*hospital, Cut({"age": bits}, KAnonymity(1)))

    def test_an_unknown_attribute_is_named_with_the_nearest_one(self, hospital: Bound) -> None:
        with pytest.raises(ParameterError, match="no quasi-identifier 'agee'; did you mean 'age'"):
            sanitize(*hospital, Cut({"agee": "0"}))
        with pytest.raises(ParameterError, match="no quasi-identifier 'colour'; they are zip, age, sex"):
            sanitize(*hospital, Cut({}, free=("colour",)))

    def test_only_quasi_identifiers_are_cut(self, hospital: Bound) -> None:
        with pytest.raises(ParameterError, match="no quasi-identifier 'diagnosis'"):
            sanitize(*hospital, Cut({"diagnosis": "00000"}))

    def test_without_quasi_identifiers_there_is_nothing_to_cut(self) -> None:
        with pytest.raises(SchemaError, match="cut needs a quasi-identifying attribute"):
            sanitize(Table.from_arrow({"ill": ["a"]}), Schema.of(ill="sensitive"), Cut())

    def test_no_message_shows_a_value(self) -> None:
        schema = TestConstrained().schema()
        with pytest.raises(ParameterError) as caught:
            sanitize(Table.from_arrow({"land": LAND}), schema, Cut({"land": "1101"}))
        assert not any(value in str(caught.value) for value in LAND)


def test_a_recipe_survives_json() -> None:
    how = Cut({"age": "0101", "land": "00"}, KAnonymity(3) & DistinctDiversity(2), 0.25, ("land",))
    read = Recipe.from_json(Recipe.of(how, seed=9).to_json())
    assert read.build() == how
    assert read == Recipe.of(how, seed=9)


def test_a_project_file_sweeps_cuts_and_takes_free_as_a_list(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(
        "age,land,sex,ill\n"
        + "".join(f"{20 + n % 3},{LAND[n % 5]},{'fm'[n % 2]},v{n % 4}\n" for n in range(30)),
        encoding="utf-8",
    )
    (tmp_path / "land.csv").write_text(
        "France;Europe;*\nSpain;Europe;*\nNorway;Europe;*\nJapan;Asia;*\nKorea;Asia;*\n", encoding="utf-8"
    )
    (tmp_path / "people.toml").write_text(
        """
        data.path = "people.csv"
        [attributes]
        age = { role = "quasi-identifying", kind = "numeric" }
        land = { role = "quasi-identifying", hierarchy = { csv = "land.csv" } }
        sex = { role = "quasi-identifying" }
        ill = { role = "sensitive" }

        [[candidates]]
        sanitizer = "cut"
        cuts = { age = ["00", "01"], land = "0100", sex = "0" }
        free = ["land", "sex"]
        model = { k-anonymity = { k = [2, 3] } }
        suppression = 0.5
        """,
        encoding="utf-8",
    )
    project = Project.load(tmp_path / "people.toml")
    table, schema = project.read()
    rng = np.random.default_rng(0)
    recipes = [recipe for search in project.searches for recipe in search.propose(table, schema, rng)]
    assert [(r.parameters["cuts"]["age"], r.parameters["model"]["k-anonymity"]["k"]) for r in recipes] == [
        ("00", 2),
        ("00", 3),
        ("01", 2),
        ("01", 3),
    ]
    for recipe in recipes:
        assert recipe.build().free == ("land", "sex")
        release = sanitize(table, schema, recipe)
        assert set(release.to_arrow()["land"].to_pylist()) == {"{France, Spain}", "{Norway, Japan, Korea}"}
        assert release.classes.sizes.min() >= recipe.parameters["model"]["k-anonymity"]["k"]
