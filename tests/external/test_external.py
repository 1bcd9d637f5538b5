"""Files that other programs write are taken as releases, and what was assumed is said."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato import Attribute, Hierarchy, Intervals, Schema, Table, measure, read_release, sanitize
from sfumato.models import KAnonymity, ProbabilisticDiversity
from sfumato.reading import datasets
from sfumato.registry import methods
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.measurement import build_measure
from sfumato.runtime.errors import DataError
from sfumato.sanitizers import Anatomy, Bucketize, Mondrian
from sfumato.workflow.external import untrue_cells
from sfumato.workflow.publish.data_files import write_release

SECRET = "SECRETVALUE"
Files = dict[str, list[Any]]

AGES = [21, 24, 28, 31, 33, 38, 42, 45, 47, 49]
TOWNS = ["Ulm", "Ulm", "Bonn", "Bonn", "Ulm", "Bonn", "Ulm", "Bonn", "Ulm", "Bonn"]
ILLNESSES = list("aabbccaabb")
PEOPLE: Files = {
    "person": [f"p{number}" for number in range(10)],
    "age": AGES,
    "town": TOWNS,
    "illness": ILLNESSES,
    "note": ["x"] * 10,
}
SCHEMA = Schema(
    (
        Attribute("person", "identifying"),
        Attribute("age", "quasi-identifying", "numeric", Intervals((10, 20))),
        Attribute(
            "town", "quasi-identifying", hierarchy=Hierarchy.nested({"South": ["Ulm"], "West": ["Bonn"]})
        ),
        Attribute("illness", "sensitive"),
        Attribute("note", "insensitive"),
    )
)


def changed(**columns: Any) -> Files:
    """Return the released columns of the people, some of them changed or, where given ``None``, left out."""
    released = {name: values for name, values in PEOPLE.items() if name != "person"}
    return {name: values for name, values in {**released, **columns}.items() if values is not None}


def read(file: Any, **options: Any) -> LinkedRelease:
    return read_release(file, PEOPLE, SCHEMA, **options)


def value(release: LinkedRelease, name: str) -> float | None:
    return measure(release, [name])[0].value


def write(folder: Path, text: str, name: str = "release.csv") -> Path:
    place = folder / name
    place.write_bytes(text.encode())
    return place


def note(release: LinkedRelease, word: str) -> str:
    (found,) = [note for note in release.notes if word in note]
    return found


DECADES = [f"[{age // 10 * 10}, {age // 10 * 10 + 10}[" for age in AGES]


class TestOtherPrograms:
    def test_arx_writes_semicolons_and_its_own_intervals(self, tmp_path: Path) -> None:
        rows = [f"{age};{town};{ill}" for age, town, ill in zip(DECADES, TOWNS, ILLNESSES, strict=True)]
        rows[0] = f"*;*;{ILLNESSES[0]}"
        release = read(write(tmp_path, "\n".join(["age;town;illness", *rows])))
        assert release.n_suppressed == 0
        assert value(release, "k-anonymity") == 1
        said = note(release, "ARX")
        assert said.startswith("Records that are * in every quasi-identifier: 1.")
        assert "--suppressed count" in said

    def test_arx_suppressed_records_can_be_left_out(self) -> None:
        file = changed(age=["*", *DECADES[1:]], town=["*"] * 10)
        kept = read(file, suppressed="count")
        assert (kept.n_records, kept.n_suppressed) == (9, 1)
        assert value(kept, "suppression-loss") == 0.1
        assert "They count as suppressed, although" in note(kept, "every quasi-identifier")

    def test_sdcmicro_writes_missing_cells_and_averages(self, tmp_path: Path) -> None:
        rows = [f'"{age}.5","{town}","{ill}"' for age, town, ill in zip(AGES, TOWNS, ILLNESSES, strict=True)]
        rows[2], rows[5] = '31,NA,"b"', 'NA,"Bonn","c"'
        release = read(write(tmp_path, "\r\n".join(['"age","town","illness"', *rows])))
        assert release.cells["age"].sets is None
        assert release.cells["age"].domain == (21.5, 24.5, 31, 31.5, 33.5, 42.5, 45.5, 47.5, 49.5, None)
        assert "'age' that the original does not have: in 8 of 10 records" in note(release, "perturbed")
        assert "suppressed: 1; the original has 0" in note(release, "Missing cells of 'town'")
        assert set(release.cells["town"].labels) == {"Ulm", "Bonn", "*"}
        assert value(release, "general-loss") is None

    def test_r_writes_dots_for_signs(self) -> None:
        table = {"marital-status": ["a", "b"], "Age": [1, 2]}
        schema = Schema.of({"marital-status": "sensitive", "Age": "quasi-identifying"})
        release = read_release({"marital.status": ["b", "a"], "age": ["1", "2"]}, table, schema)
        assert release.n_records == 2
        assert "taken for 'marital-status'" in note(release, "marital.status")

    def test_pandas_writes_its_index_and_floats(self) -> None:
        index = list(range(10))
        release = read({"Unnamed: 0": index, **changed(age=[f"{age}.0" for age in AGES])})
        assert release.cells["age"].labels == tuple(map(str, AGES))
        assert value(release, "general-loss") == 0
        assert "'Unnamed: 0'" in note(release, "only counts the rows")
        assert "'age'" in note(release, "that the original writes otherwise")

    def test_lists_and_ranges_as_anonypy_writes_them(self) -> None:
        release = read(changed(age=["21-49"] * 10, town=["Bonn,Ulm"] * 10))
        assert value(release, "k-anonymity") == 10
        assert value(release, "general-loss") == 1


class TestRowsAndColumns:
    def test_the_order_of_rows_and_columns_does_not_matter(self) -> None:
        order = random.Random(1).sample(range(10), 10)
        names = ["illness", "note", "town", "age"]
        shuffled = {name: [changed()[name][place] for place in order] for name in names}
        drawing = ("sfumato.measures.attacks", "sfumato.measures.utility.fidelity")
        names = [
            name
            for name in (*methods.registered("measure"), *methods.registered("model"))
            if not type(build_measure(name)).__module__.startswith(drawing)
        ]
        assert measure(read(shuffled), names) == measure(read(changed()), names)

    def test_equal_rows_are_put_together(self) -> None:
        release = read(changed(age=["*"] * 10, town=["*"] * 10, illness=["a"] * 10))
        assert (release.n_rows, release.n_records) == (1, 10)

    def test_an_absent_quasi_identifier_counts_as_suppressed(self) -> None:
        release = read(changed(age=None, town=["South" if town == "Ulm" else "West" for town in TOWNS]))
        assert release.cells["age"].labels == ("*",)
        assert measure(release, ["general-loss"])[0].value == 0.5
        assert note(release, "'age'") == "Not in the release, and so suppressed in every record: 'age'."

    def test_an_absent_sensitive_attribute_is_withheld(self) -> None:
        release = read(changed(illness=None))
        assert "withheld" in note(release, "'illness'")
        assert value(release, "privacy-loss") == 0
        assert value(release, "general-loss") is None

    def test_an_identifying_column_is_a_loud_warning(self) -> None:
        release = read(PEOPLE)
        assert release.notes[0].startswith("Warning: the release has 'person'")

    def test_a_column_under_another_name_is_not_overlooked(self) -> None:
        release = read(changed(age=None, years=AGES))
        assert "'years'. If one of them" in note(release, "give it the attribute's name")

    def test_two_columns_that_may_be_an_attribute_are_neither(self) -> None:
        release = read(changed(age=None, AGE=AGES, Age=AGES))
        assert "'AGE', 'Age'" in note(release, "Not described")

    def test_rows_of_nothing_but_stars_are_a_class_unless_they_are_said_to_be_suppressed(self) -> None:
        stars = {"age": ["*", "*", *map(str, AGES[2:])], "town": ["*", "*", *TOWNS[2:]]}
        file = changed(**stars, illness=["*", None, *ILLNESSES[2:]])
        assert read(file).n_suppressed == 0
        release = read(file, suppressed="count")
        assert (release.n_records, release.n_suppressed) == (8, 2)
        assert release.cells["illness"].labels == ("a", "b", "c")

    def test_withholding_all_quasi_identifiers_is_a_release(self) -> None:
        release = read(changed(age=["*"] * 10, town=["*"] * 10))
        assert (release.n_records, release.classes.n_classes) == (10, 1)
        assert release.notes == ()

    def test_missing_cells_are_values_as_far_as_the_original_has_them(self) -> None:
        table = {"town": ["Ulm", "Bonn", None, "Ulm"], "ill": list("abab")}
        schema = Schema.of(town="quasi-identifying", ill="sensitive")
        as_is = read_release(table, table, schema)
        assert as_is.cells["town"].labels == ("Ulm", "Bonn", None)
        assert [note[:20] for note in as_is.notes] == ["Every value is exact"]
        more = read_release({**table, "town": ["Ulm", None, None, "Ulm"]}, table, schema)
        assert set(more.cells["town"].labels) == {"Ulm", "*"}
        assert "the original has 1" in note(more, "Missing cells")

    def test_the_spellings_of_missing_of_the_project_are_taken(self) -> None:
        table = {"town": ["Ulm", "Bonn", None], "ill": list("aba")}
        schema = Schema.of(town="quasi-identifying", ill="sensitive")
        release = read_release({**table, "town": ["Ulm", "Bonn", "-9"]}, table, schema, missing_values=["-9"])
        assert release.cells["town"].labels == ("Ulm", "Bonn", None)

    def test_the_prior_is_that_of_all_original_records(self) -> None:
        rows = [place for place in range(10) if ILLNESSES[place] != "c"]
        release = read({name: [values[row] for row in rows] for name, values in changed().items()})
        counts = release.groups.sensitive["illness"]
        assert counts.domain.labels == ("a", "b", "c")
        assert counts.prior.tolist() == [0.4, 0.4, 0.2]


def test_a_column_that_the_project_withholds_is_told_and_not_judged() -> None:
    roles = [Attribute("note", "withheld") if a.name == "note" else a for a in SCHEMA.attributes]
    release = read_release(changed(), PEOPLE, Schema(tuple(roles)))
    assert "which the project withholds" in release.notes[0]
    assert "note" not in release.cells


class TestSensitiveValues:
    TREE = Hierarchy.nested({"x": ["a", "b"], "y": ["c"]})

    def read(self, illness: list[Any]) -> LinkedRelease:
        described = [
            Attribute("illness", "sensitive", hierarchy=self.TREE) if a.name == "illness" else a
            for a in SCHEMA.attributes
        ]
        return read_release(changed(illness=illness), PEOPLE, Schema(tuple(described)))

    def test_a_level_of_the_hierarchy_is_compared_with_the_same_level_of_the_original(self) -> None:
        release = self.read(["x"] * 10)
        assert release.groups.sensitive["illness"].prior.tolist() == pytest.approx([0.8, 0.2])

    def test_shares_of_all_original_values_add_up(self) -> None:
        release = self.read(["{a, b}" if ill in "ab" else "{c}" for ill in ILLNESSES])
        assert release.groups.sensitive["illness"].prior.tolist() == pytest.approx([0.8, 0.2])
        part = self.read(["{b, c}"] * 10)
        assert part.cells["illness"].labels == ("{b, c}", "a")
        assert part.groups.sensitive["illness"].prior.tolist() == pytest.approx([0.6, 0.4])

    def test_values_that_overlap_are_compared_with_the_released_records(self) -> None:
        release = self.read(["*", *ILLNESSES[1:]])
        assert "taken from the released records" in note(release, "'illness'")
        assert release.groups.sensitive["illness"].prior.sum() == pytest.approx(1)
        assert value(release, "general-loss") is None


class TestGroups:
    @pytest.fixture
    def grouped(self) -> LinkedRelease:
        return sanitize(PEOPLE, SCHEMA, Bucketize(ProbabilisticDiversity(2)))

    @pytest.mark.parametrize("called", ["group", "GroupID", "Group_ID", "group-id"])
    def test_a_column_called_group_is_taken_and_said(self, grouped: LinkedRelease, called: str) -> None:
        written = grouped.to_arrow()
        release = read(written.rename_columns([called if n == "group" else n for n in written.column_names]))
        assert release.groups.n_classes == grouped.groups.n_classes < release.classes.n_classes
        assert repr(called) in note(release, "taken for the group")

    def test_any_column_can_be_named(self, grouped: LinkedRelease) -> None:
        written = grouped.to_arrow()
        names = ["part" if name == "group" else name for name in written.column_names]
        assert read(written.rename_columns(names), group="part").notes == ()
        assert read(written.rename_columns(names)).group_of is None

    def test_an_attribute_called_group_is_an_attribute(self) -> None:
        table = {"group": ["a", "b"], "ill": ["x", "y"]}
        schema = Schema.of(group="quasi-identifying", ill="sensitive")
        assert read_release(table, table, schema).group_of is None

    def two(self, **changes: Any) -> tuple[pa.Table, pa.Table]:
        people = {"age": AGES, "town": TOWNS, "GroupID": [1, 1, 1, 1, 2, 2, 2, 2, 2, 2]}
        values = {"GroupID": [1, 1, 2, 2, 2], "illness": list("ababc"), "n": [2, 2, 2, 2, 2]}
        return pa.table(people), pa.table({**values, **changes})

    def test_the_two_tables_of_anatomy(self) -> None:
        people, values = self.two()
        release = read(people, sensitive=values)
        assert release.form == "two-tables"
        assert sorted(release.groups.sizes.tolist()) == [4, 6]
        assert value(release, "probabilistic-diversity") == 2

    def test_a_second_table_without_counts_has_one_row_for_each_record(self) -> None:
        people, values = self.two()
        each = values.take(np.repeat(np.arange(5), 2)).drop_columns(["n"])
        release = read(people, sensitive=each)
        assert sorted(release.groups.sizes.tolist()) == [4, 6]
        assert note(release, "no counts")

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"n": [3, 2, 2, 2, 1]}, "the same number of records in every group"),
            ({"n": [2, 2, 2, 2, 10**12]}, "the same number of records in every group"),
            ({"n": ["2", "2", "2", "2", SECRET]}, "not a number"),
            ({"GroupID": [1, 1, 2, 2, 3]}, "the same number of records in every group"),
        ],
    )
    def test_two_tables_that_do_not_fit(self, changes: dict[str, Any], words: str) -> None:
        people, values = self.two(**changes)
        with pytest.raises(DataError, match=words) as caught:
            read(people, sensitive=values)
        assert SECRET not in str(caught.value)

    def test_two_tables_without_a_common_column(self) -> None:
        people, values = self.two()
        with pytest.raises(DataError, match="share no column"):
            read(people, sensitive=values.rename_columns(["bucket", "illness", "n"]))
        with pytest.raises(DataError, match="quasi-identifiers with their groups first"):
            read(values, sensitive=people)

    def test_anatomy_is_read_from_its_two_files(self, tmp_path: Path) -> None:
        made = sanitize(PEOPLE, SCHEMA, Anatomy(2))
        people, values = write_release(made, tmp_path / "anatomy.parquet")
        again = read(people, sensitive=values)
        assert value(again, "privacy-loss") == value(made, "privacy-loss")


class TestMatching:
    def test_gives_the_row_of_every_record(self) -> None:
        order = random.Random(2).sample(range(10), 8)
        file = {name: [values[place] for place in order] for name, values in PEOPLE.items()}
        release = read(file, match="person")
        ages = release.origin.table["age"]
        assert [ages.domain[code] for code in ages.codes[release.origin.rows]] == file["age"]
        assert release.kept.sum() == 8
        assert untrue_cells(release) == {"age": 0, "town": 0, "illness": 0, "note": 0}

    def test_finds_untrue_values(self) -> None:
        file = {**PEOPLE, "age": ["[20, 30)"] * 10, "town": ["*"] * 10, "illness": ILLNESSES[::-1]}
        expected = sum(a != b for a, b in zip(ILLNESSES, ILLNESSES[::-1], strict=True))
        assert untrue_cells(read(file, match="person")) == {
            "age": 7,
            "town": 0,
            "illness": expected,
            "note": 0,
        }

    def test_exchanged_and_perturbed_values_are_no_lies(self) -> None:
        file = {**PEOPLE, "age": [age + 0.5 for age in AGES], "group": [1] * 10, "illness": ILLNESSES[::-1]}
        assert untrue_cells(read(file, match="person")) == {"town": 0, "note": 0}

    def test_equal_records_of_the_original_share_a_row(self) -> None:
        people = {**PEOPLE, "age": [30] * 10, "town": ["Ulm"] * 10}
        release = read_release(people, people, SCHEMA, match="person")
        assert release.origin.table.n_rows == 3
        assert release.kept.tolist() == release.origin.table.weights.tolist()

    def test_numbers_and_texts_match(self) -> None:
        people = {**PEOPLE, "person": list(range(10))}
        file = {**people, "person": [str(number) for number in range(10)]}
        assert untrue_cells(read_release(file, people, SCHEMA, match="person"))["age"] == 0

    def test_records_with_missing_values_may_have_been_dropped(self) -> None:
        people = {**PEOPLE, "town": [None, *TOWNS[1:]]}
        schema = Schema(SCHEMA.attributes, missing="drop")
        kept = {name: values[1:] for name, values in people.items()}
        release = read_release(kept, people, schema, match="person")
        assert untrue_cells(release)["age"] == 0
        with pytest.raises(DataError, match="of 9 released records are not in the original"):
            read_release(
                {name: values[:9] for name, values in people.items()}, people, schema, match="person"
            )

    @pytest.mark.parametrize(
        ("persons", "words"),
        [
            (["p1", "p1", "p1", *PEOPLE["person"][3:]], "3 of 10 records of the release share"),
            ([SECRET, *PEOPLE["person"][1:]], "1 of 10 released records are not in the original"),
            ([None, *PEOPLE["person"][1:]], "a record of the release has no value"),
        ],
        ids=["twice", "unmatched", "missing"],
    )
    def test_refuses_doubtful_matches_without_naming_a_record(self, persons: list[Any], words: str) -> None:
        with pytest.raises(DataError, match=words) as caught:
            read({**PEOPLE, "person": persons}, match="person")
        assert "'person'" in str(caught.value)
        assert SECRET not in str(caught.value)
        assert "p1" not in str(caught.value)

    def test_refuses_an_original_whose_records_share_a_value(self) -> None:
        twice = {**PEOPLE, "person": ["p1", *PEOPLE["person"][1:]]}
        with pytest.raises(DataError, match="2 of 10 records of the original share"):
            read_release(PEOPLE, twice, SCHEMA, match="person")

    def test_refuses_a_column_that_a_file_lacks(self) -> None:
        with pytest.raises(DataError, match="no column 'person' in the release"):
            read(changed(), match="person")
        table, schema = SCHEMA.bind(Table.from_arrow(PEOPLE))
        with pytest.raises(DataError, match="no column 'person' in the original"):
            read_release(PEOPLE, table, schema, match="person")

    def test_without_it_nobody_knows(self) -> None:
        with pytest.raises(NotApplicable, match="which record"):
            untrue_cells(read(changed()))


class TestWrongFiles:
    @pytest.mark.parametrize("column", ["age", "town", "illness"])
    def test_a_value_that_cannot_be_read_is_counted_and_not_shown(self, column: str) -> None:
        with pytest.raises(DataError) as caught:
            read(changed(**{column: [SECRET, SECRET, *map(str, changed()[column][2:])]}))
        said = str(caught.value)
        assert f"column {column!r} has values that stand for no original value, in 2 of 10 records" in said
        assert "[20, 30)" in said
        assert SECRET not in said
        assert "\n" not in said

    def test_an_interval_without_a_value_stands_for_nothing(self) -> None:
        with pytest.raises(DataError, match="'age' has values that stand for no original value, in 1 of 10"):
            read(changed(age=["[60, 70)", *["*"] * 9]))

    def test_an_insensitive_attribute_may_hold_anything(self) -> None:
        release = read(changed(note=["=1+1", "<script>alert(1)</script>", *["x"] * 8]))
        assert release.cells["note"].sets is None
        assert "'note' has values" in note(release, "in 2 of 10 records; they are kept as they are")

    def test_a_formula_or_a_script_is_a_value_like_any_other(self) -> None:
        odd = ["=cmd|' /C calc'!A0", "<script>alert(1)</script>", "@SUM(A1)", "-1+2", "{=1}"]
        table = {"town": odd, "ill": list("abcab")}
        schema = Schema.of(town="quasi-identifying", ill="sensitive")
        release = read_release(table, table, schema)
        assert release.cells["town"].labels == tuple(odd)
        assert value(release, "general-loss") == 0

    def test_more_records_than_the_original_has(self) -> None:
        more = {name: values * 2 for name, values in changed().items()}
        with pytest.raises(DataError, match="20 records, and the original only 10"):
            read(more)
        people = {**PEOPLE, "town": [None, *TOWNS[1:]]}
        with pytest.raises(DataError, match="dropped"):
            read_release(changed(), people, Schema(SCHEMA.attributes, missing="drop"))

    def test_a_file_without_an_attribute(self) -> None:
        with pytest.raises(DataError, match="no column of the release is an attribute"):
            read({"x": [1], "y": [2]})

    def test_nothing_but_suppressed_records(self) -> None:
        with pytest.raises(DataError, match="suppressed records only"):
            read(changed(age=["*"] * 10, town=["*"] * 10), suppressed="count")

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "empty"),
            ("age,town,illness\n", "no records"),
            ("age,town,town,illness\n21,Ulm,Ulm,a\n", "more than one column named 'town'"),
            ("age,town,illness\n21,Ulm\n", "row 2 has 2 fields"),
        ],
        ids=["empty", "header", "twice", "ragged"],
    )
    def test_files_that_are_no_tables(self, tmp_path: Path, text: str, words: str) -> None:
        with pytest.raises(DataError, match=words):
            read(write(tmp_path, text))

    def test_a_byte_order_mark_is_no_part_of_a_name(self, tmp_path: Path) -> None:
        release = read(write(tmp_path, "\ufeffage,town,illness\n21,Ulm,a\n"))
        assert release.n_records == 1
        assert release.cells["age"].labels == tuple(map(str, AGES))

    def test_a_table_with_a_column_twice(self) -> None:
        twice = pa.table([AGES, AGES, ILLNESSES], names=["age", "age", "illness"])
        with pytest.raises(DataError, match="'age' occurs more than once"):
            read(twice)

    def test_a_folder_that_is_no_publication(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match=r"no manifest\.json"):
            read(tmp_path)

    def test_a_file_that_does_not_exist(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="does not exist"):
            read(tmp_path / "none.csv")


class TestFormats:
    @pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
    def test_any_separator(self, tmp_path: Path, separator: str) -> None:
        rows = [separator.join(("age", "town", "illness")), separator.join(("20-29", "South", "a"))]
        assert read(write(tmp_path, "\n".join(rows))).n_records == 1

    def test_typed_files(self, tmp_path: Path) -> None:
        table = pa.table({**changed(), "age": pa.array(AGES, pa.float64())})
        pq.write_table(table, tmp_path / "release.parquet")
        release = read(tmp_path / "release.parquet")
        assert value(release, "general-loss") == 0

    def test_frames(self) -> None:
        pandas = pytest.importorskip("pandas")
        release = read(pandas.DataFrame(changed()))
        assert value(release, "general-loss") == 0


def test_a_release_of_a_table_that_is_bound_already() -> None:
    table, schema = datasets.hospital()
    made = sanitize(table, schema, Mondrian(KAnonymity(3)))
    bound = schema.bind(table)
    assert measure(read_release(made, *bound), ["general-loss", "privacy-loss"]) == measure(
        read_release(made, table, schema), ["general-loss", "privacy-loss"]
    )


def test_a_quasi_identifier_may_be_called_as_the_counts_are() -> None:
    original = {"count": [1, 2, 1, 2], "illness": ["a", "b", "b", "a"]}
    schema = Schema.of(count="quasi-identifying", illness="sensitive")
    people = pa.table({"count": [1, 2, 1, 2], "group": [0, 0, 1, 1]})
    values = pa.table({"group": [0, 0, 1, 1], "illness": ["a", "b", "a", "b"], "count": [1, 1, 1, 1]})
    release = read_release(people, original, schema, sensitive=values)
    assert (release.n_records, release.groups.n_classes) == (4, 2)


class TestPeople:
    SCHEMA = Schema(
        Schema.of(
            visit="identifying", patient="identifying", age="quasi-identifying", ill="sensitive"
        ).attributes,
        person="patient",
    )
    ORIGINAL: ClassVar[dict[str, list[Any]]] = {
        "visit": [f"v{n}" for n in range(6)],
        "patient": list("aabbcd"),
        "age": [30, 31, 31, 30, 32, 33],
        "ill": list("xyxyxy"),
    }
    FILE: ClassVar[dict[str, list[Any]]] = {
        "visit": [f"v{n}" for n in (5, 4, 3, 2, 1, 0)],
        "age": ["32-33", "32-33", "30-31", "30-31", "30-31", "30-31"],
        "ill": list("yxyxyx"),
    }

    def test_without_a_match_records_are_counted_and_that_is_said(self) -> None:
        file = {name: values for name, values in self.FILE.items() if name != "visit"}
        release = read_release(file, Table.from_arrow(self.ORIGINAL), self.SCHEMA)
        assert release.classes.people.tolist() == release.classes.sizes.tolist()
        assert any("classes count records here" in note for note in release.notes)

    def test_with_a_match_people_are_counted(self) -> None:
        release = read_release(self.FILE, Table.from_arrow(self.ORIGINAL), self.SCHEMA, match="visit")
        assert sorted(release.classes.sizes.tolist()) == [2, 4]
        assert release.classes.people.tolist() == [2, 2]
        assert not any("classes count records here" in note for note in release.notes)
