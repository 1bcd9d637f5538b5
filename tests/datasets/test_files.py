"""The bundled data files, read without the package."""

import csv
from collections import Counter, defaultdict
from itertools import groupby, pairwise
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

DATASETS = Path(__file__).parents[2] / "src" / "sfumato" / "reading" / "datasets"
HIERARCHIES = DATASETS / "hierarchies"

N_DISTINCT = {
    "age": 74,
    "workclass": 8,
    "fnlwgt": 28_523,
    "education": 16,
    "education-num": 16,
    "marital-status": 7,
    "occupation": 14,
    "relationship": 6,
    "race": 5,
    "sex": 2,
    "capital-gain": 123,
    "capital-loss": 99,
    "hours-per-week": 96,
    "native-country": 41,
    "salary": 2,
    "part": 2,
}
NUMERIC = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}
LEVEL_SIZES = {
    "adult/education": [16, 8, 4, 2, 1],
    "adult/marital-status": [7, 4, 2, 1],
    "adult/native-country": [41, 13, 4, 2, 1],
    "adult/occupation": [14, 6, 3, 1],
    "adult/race": [5, 3, 2, 1],
    "adult/relationship": [6, 3, 2, 1],
    "adult/salary": [2, 1],
    "adult/sex": [2, 1],
    "adult/workclass": [8, 4, 2, 1],
    "hospital/diagnosis": [6, 3, 1],
}

each_hierarchy = pytest.mark.parametrize("name", LEVEL_SIZES)


@pytest.fixture(scope="module")
def adult():
    return pq.read_table(DATASETS / "adult.parquet")


@pytest.fixture(scope="module")
def hospital():
    with (DATASETS / "hospital.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read_hierarchy(name):
    with (HIERARCHIES / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=";"))


def count(adult, column, value):
    return pc.sum(pc.equal(adult[column], value)).as_py()


def diagnoses_by_class(hospital):
    classes = defaultdict(list)
    for record in hospital:
        classes[record["zip"][:3], int(record["age"]) // 10 * 10].append(record["diagnosis"])
    return classes


def test_adult_has_the_columns_of_the_source_and_the_part(adult):
    assert adult.column_names == list(N_DISTINCT)
    assert {field.name for field in adult.schema if field.type == "int32"} == NUMERIC
    assert {field.name for field in adult.schema if field.type == "string"} == set(N_DISTINCT) - NUMERIC


def test_adult_has_all_records_and_the_known_number_of_complete_ones(adult):
    complete = adult.drop_null()
    assert len(adult) == 48_842
    assert len(complete) == 45_222
    assert count(complete, "part", "train") == 30_162
    assert count(complete, "part", "test") == 15_060


def test_adult_keeps_the_order_of_the_source(adult):
    assert [part for part, _ in groupby(adult["part"].to_pylist())] == ["train", "test"]
    assert count(adult, "part", "train") == 32_561
    assert adult["age"][0].as_py() == 39
    assert adult["fnlwgt"][0].as_py() == 77_516
    assert adult["age"][32_561].as_py() == 25
    assert adult["fnlwgt"][48_841].as_py() == 182_148


@pytest.mark.parametrize("column", N_DISTINCT)
def test_adult_has_the_distinct_values_of_the_source(adult, column):
    assert len(adult[column].drop_null().unique()) == N_DISTINCT[column]


def test_adult_lacks_values_in_three_columns_only(adult):
    missing = {name: adult[name].null_count for name in adult.column_names if adult[name].null_count}
    assert missing == {"workclass": 2_799, "occupation": 2_809, "native-country": 857}


@pytest.mark.parametrize(
    ("column", "value", "n_records"),
    [
        ("occupation", "Armed-Forces", 15),
        ("workclass", "Never-worked", 10),
        ("workclass", "Private", 33_906),
        ("native-country", "United-States", 43_832),
        ("native-country", "Holand-Netherlands", 1),
        ("sex", "Female", 16_192),
        ("salary", "<=50K", 37_155),
        ("salary", ">50K", 11_687),
    ],
)
def test_adult_counts_agree_with_the_source(adult, column, value, n_records):
    assert count(adult, column, value) == n_records


def test_adult_has_the_ranges_of_the_source(adult):
    assert pc.min_max(adult["age"]).as_py() == {"min": 17, "max": 90}
    assert pc.min_max(adult["hours-per-week"]).as_py() == {"min": 1, "max": 99}
    assert pc.min_max(adult["capital-gain"]).as_py() == {"min": 0, "max": 99_999}


def test_adult_text_carries_no_marks_of_the_raw_format(adult):
    for column in set(N_DISTINCT) - NUMERIC:
        for value in adult[column].drop_null().unique().to_pylist():
            assert value == value.strip()
            assert value != "?"
            assert not value.endswith(".")


def test_adult_file_is_small_and_carries_no_metadata():
    path = DATASETS / "adult.parquet"
    assert pq.read_metadata(path).metadata is None
    assert path.stat().st_size < 400_000


def test_every_hierarchy_file_is_tested():
    found = {path.relative_to(HIERARCHIES).with_suffix("").as_posix() for path in HIERARCHIES.rglob("*.csv")}
    assert found == set(LEVEL_SIZES)


@pytest.mark.parametrize("path", sorted(DATASETS.rglob("*.csv")), ids=lambda path: path.stem)
def test_csv_files_have_plain_line_ends_and_no_byte_order_mark(path):
    content = path.read_bytes()
    assert b"\r" not in content
    assert content.endswith(b"\n")
    assert not content.endswith(b"\n\n")
    assert not content.startswith(b"\xef\xbb\xbf")


@each_hierarchy
def test_hierarchy_rows_are_complete_and_end_in_a_star(name):
    rows = read_hierarchy(name)
    assert {len(row) for row in rows} == {len(LEVEL_SIZES[name])}
    assert all(label and label == label.strip() for row in rows for label in row)
    assert {row[-1] for row in rows} == {"*"}


@each_hierarchy
def test_hierarchy_levels_coarsen_strictly(name):
    levels = list(zip(*read_hierarchy(name), strict=True))
    assert [len(set(level)) for level in levels] == LEVEL_SIZES[name]
    assert all(coarse < fine for fine, coarse in pairwise(LEVEL_SIZES[name]))


@each_hierarchy
def test_hierarchy_is_a_tree(name):
    levels = list(zip(*read_hierarchy(name), strict=True))
    for fine, coarse in pairwise(levels):
        assert len(set(zip(fine, coarse, strict=True))) == len(set(fine))


@each_hierarchy
def test_hierarchy_label_means_the_same_values_wherever_it_stands(name):
    rows = read_hierarchy(name)
    meanings = defaultdict(set)
    for level in zip(*rows, strict=True):
        for label in set(level):
            leaves = frozenset(row[0] for row, found in zip(rows, level, strict=True) if found == label)
            meanings[label].add(leaves)
    assert {label for label, sets in meanings.items() if len(sets) > 1} == set()


@each_hierarchy
def test_hierarchy_nodes_are_contiguous(name):
    for level in zip(*read_hierarchy(name), strict=True):
        runs = Counter(label for label, _ in groupby(level))
        assert max(runs.values()) == 1


@pytest.mark.parametrize("name", [name for name in LEVEL_SIZES if name.startswith("adult/")])
def test_hierarchy_covers_exactly_the_values_of_adult(adult, name):
    values = adult[name.removeprefix("adult/")].drop_null().unique().to_pylist()
    leaves = [row[0] for row in read_hierarchy(name)]
    assert sorted(leaves) == sorted(values)


def test_education_is_ordered_by_its_number(adult):
    pairs = set(zip(adult["education-num"].to_pylist(), adult["education"].to_pylist(), strict=True))
    assert [row[0] for row in read_hierarchy("adult/education")] == [label for _, label in sorted(pairs)]


def test_people_from_south_are_mostly_asian_as_the_hierarchy_assumes(adult):
    south = adult.filter(pc.equal(adult["native-country"], "South"))
    assert len(south) == 115
    assert count(south, "race", "Asian-Pac-Islander") == 110


def test_hospital_has_twelve_people_who_differ(hospital):
    assert list(hospital[0]) == ["name", "zip", "age", "sex", "diagnosis"]
    assert len(hospital) == 12
    assert len({record["name"] for record in hospital}) == 12
    assert len({(record["zip"], record["age"], record["sex"]) for record in hospital}) == 12
    assert {record["sex"] for record in hospital} == {"Female", "Male"}


def test_hospital_zip_codes_keep_their_leading_zero(hospital):
    assert hospital[0]["zip"] == "02138"
    assert all(len(record["zip"]) == 5 and record["zip"].isdigit() for record in hospital)
    assert Counter(record["zip"][:3] for record in hospital) == {"021": 6, "148": 6}


def test_hospital_ages_span_the_decades_and_repeat(hospital):
    ages = [int(record["age"]) for record in hospital]
    assert (min(ages), max(ages)) == (21, 68)
    assert len(set(ages)) == 8


def test_hospital_classes_show_homogeneity_similarity_and_diversity(hospital):
    group = {row[0]: row[1] for row in read_hierarchy("hospital/diagnosis")}
    classes = diagnoses_by_class(hospital)
    assert {key: len(members) for key, members in classes.items()} == dict.fromkeys(
        [("021", 20), ("021", 30), ("148", 30), ("148", 60)], 3
    )
    assert {key: len(set(members)) for key, members in classes.items()} == {
        ("021", 20): 2,
        ("021", 30): 3,
        ("148", 30): 3,
        ("148", 60): 1,
    }
    assert {group[diagnosis] for diagnosis in classes["021", 20]} == {"Respiratory"}
    assert {group[diagnosis] for diagnosis in classes["021", 30]} == set(group.values())


def test_diagnosis_hierarchy_covers_exactly_the_values_of_hospital(hospital):
    leaves = [row[0] for row in read_hierarchy("hospital/diagnosis")]
    assert sorted(leaves) == sorted({record["diagnosis"] for record in hospital})


def test_attribution_names_source_and_licence():
    text = (DATASETS / "ATTRIBUTION.md").read_text(encoding="utf-8")
    for phrase in ("Becker", "Kohavi", "10.24432/C5XW20", "CC BY 4.0"):
        assert phrase in text
