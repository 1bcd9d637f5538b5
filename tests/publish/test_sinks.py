"""Parquet in folders, SPSS and Stata: other programs read them, and `verify` finds every difference."""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pyreadstat
import pytest

from sfumato import publish, read_codebook, sanitize, verify
from sfumato.data.schema import Attribute, Schema
from sfumato.data.table import Table
from sfumato.models import KAnonymity, ProbabilisticDiversity
from sfumato.reading import datasets
from sfumato.results import Codebook
from sfumato.results.release import Release
from sfumato.runtime.errors import SfumatoError, UserError
from sfumato.sanitizers import AsIs, Bucketize, Mondrian
from sfumato.verification.documents import read_manifest
from sfumato.verification.partition_check import partition_file
from sfumato.workflow.project.project_file import Project
from sfumato.workflow.publish.partitions import MOST_PARTITIONS, lay_into_folders
from sfumato.workflow.publish.statistics_output import renamings, write_statistics

SECRET = "SECRETVALUE"
Run = Callable[..., tuple[int, str, str]]


def hospital(k: int = 3) -> Release:
    return sanitize(*datasets.hospital(), Mondrian(KAnonymity(k)), seed=1)


def as_it_is(columns: dict[str, Any], **kinds: str) -> Release:
    """A release that changes nothing; its first column is quasi-identifying."""
    table = Table.from_arrow(pa.table(columns))
    roles = dict.fromkeys(columns, "insensitive") | {next(iter(columns)): "quasi-identifying"}
    schema = Schema(tuple(Attribute(name, role, kinds.get(name)) for name, role in roles.items()))  # type: ignore[arg-type]
    return sanitize(table, schema, AsIs())


def csv_records(folder: Path, name: str = "data") -> Counter[tuple[str, ...]]:
    frame = pd.read_csv(folder / f"{name}.csv", dtype=str, keep_default_na=False)
    return Counter(frame.itertuples(index=False, name=None))


def failed(folder: Path) -> list[str]:
    return [check.what for check in verify(folder).failed]


class TestFolders:
    def test_other_programs_read_the_same_records(self, tmp_path: Path) -> None:
        publish(hospital(), tmp_path / "out", partition_by="zip", policy="none", allow_singling_out=True)
        want = csv_records(tmp_path / "out")
        names = list(pd.read_csv(tmp_path / "out" / "data.csv").columns)
        place = tmp_path / "out" / "data"
        by_arrow = ds.dataset(place, partitioning="hive").to_table().select(names).to_pylist()
        assert Counter(tuple(row.values()) for row in by_arrow) == want
        files = f"{place}/**/*.parquet"
        by_duckdb = duckdb.sql(
            f"select {', '.join(names)} from read_parquet('{files}', hive_partitioning=true)"
        )
        assert Counter(by_duckdb.fetchall()) == want
        by_polars = pl.read_parquet(files, hive_partitioning=True).select(names)
        assert Counter(by_polars.rows()) == want
        assert not (tmp_path / "out" / "data.parquet").exists()

    def test_the_folder_verifies_and_says_what_it_holds(self, tmp_path: Path) -> None:
        publish(hospital(), tmp_path / "out", partition_by="sex", policy="none", allow_singling_out=True)
        assert verify(tmp_path / "out")
        listed = sorted(name for name in read_manifest(tmp_path / "out").files if "/" in name)
        there = sorted(
            p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out" / "data").rglob("*.*")
        )
        assert listed == there
        package = json.loads((tmp_path / "out" / "datapackage.json").read_text("utf-8"))
        assert [each["path"] for each in package["resources"]] == ["data.csv", *listed]
        assert "sex" in [field["name"] for field in package["resources"][0]["schema"]["fields"]]
        assert "sex" not in [field["name"] for field in package["resources"][1]["schema"]["fields"]]
        readme = (tmp_path / "out" / "README.md").read_text("utf-8")
        assert "one folder for each value of `sex`" in readme
        assert listed[0] in (tmp_path / "out" / "report.html").read_text("utf-8")

    def test_odd_values_come_back_from_the_names_of_folders(self, tmp_path: Path) -> None:
        odd = ["a/b", "..", ".", "50%", "x=y", "a b.", "x*", "Ü", "a\nb", '"', "{1, 2}", "-x", None]
        release = as_it_is({"n": list(range(len(odd))), "odd": odd}, n="numeric", odd="categorical")
        publish(release, tmp_path / "out", partition_by="odd", policy="none", allow_singling_out=True)
        assert verify(tmp_path / "out")
        found = ds.dataset(tmp_path / "out" / "data", partitioning="hive").to_table()
        assert dict(zip(found["n"].to_pylist(), found["odd"].to_pylist(), strict=True)) == dict(
            enumerate(odd)
        )
        outside = {each.name for each in tmp_path.iterdir()}
        assert outside == {"out"}

    def test_whole_numbers_stay_numbers(self, tmp_path: Path) -> None:
        release = as_it_is({"age": [20, 30, -5, 20], "x": list("abcd")}, age="numeric")
        publish(release, tmp_path / "out", partition_by="age", policy="none", allow_singling_out=True)
        assert verify(tmp_path / "out")
        found = ds.dataset(tmp_path / "out" / "data", partitioning="hive").to_table()
        assert pa.types.is_integer(found.schema.field("age").type)
        assert sorted(found["age"].to_pylist()) == [-5, 20, 20, 30]

    def test_two_tables_lay_the_one_that_has_the_attribute(self, tmp_path: Path) -> None:
        table, schema = datasets.hospital()
        release = sanitize(table, schema, Bucketize(ProbabilisticDiversity(2), form="two-tables"), seed=1)
        for name, laid, other in (
            ("sex", "quasi-identifiers", "sensitive"),
            ("diagnosis", "sensitive", "quasi-identifiers"),
        ):
            folder = tmp_path / name
            publish(release, folder, partition_by=name, policy="none", allow_singling_out=True)
            assert verify(folder)
            assert (folder / laid).is_dir()
            assert (folder / f"{other}.parquet").is_file()

    def test_the_order_of_each_file_is_the_drawn_one(self, tmp_path: Path) -> None:
        drawn = list(range(1_000))[::-1]
        table = pa.table({"n": drawn, "even": [str(n % 2) + "x" for n in drawn]})
        pq.write_table(table, tmp_path / "data.parquet", row_group_size=300)
        lay_into_folders(tmp_path, "data", "even")
        for value in (0, 1):
            found = (
                pq.ParquetFile(tmp_path / partition_file("data", "even", f"{value}x")).read()["n"].to_pylist()
            )
            assert found == [n for n in drawn if n % 2 == value]

    def test_a_file_tells_of_no_value_but_its_own(self, tmp_path: Path) -> None:
        publish(
            hospital(), tmp_path / "out", partition_by="diagnosis", policy="none", allow_singling_out=True
        )
        for value in ("Flu", "Diabetes"):
            raw = (tmp_path / "out" / partition_file("data", "diagnosis", value)).read_bytes()
            assert b"diagnosis" not in raw
            assert b"pandas" not in raw
            assert b"ARROW" not in raw

    @pytest.mark.parametrize(
        ("columns", "by", "says"),
        [
            ({"a": ["x", "y"]}, "b", "no attribute 'b' is released; "),
            ({"aaa": ["x", "y"]}, "aab", "did you mean 'aaa'"),
            ({"a": ["x", "y"], "z": [f"v{n}" for n in range(2)]}, "a=b", "no attribute 'a=b'"),
            ({"a": [f"{SECRET}{n}" for n in range(MOST_PARTITIONS + 1)]}, "a", "has 257 released values"),
            ({"a": ["x", SECRET * 30]}, "a", "too long for the name of a folder"),
            ({"a": ["x", "X"]}, "a", "small and capital letters alone"),
            ({"a": ["x", "__HIVE_DEFAULT_PARTITION__"]}, "a", "stand for a missing one"),
            ({"a": ["02138", "01309"]}, "a", "would be read as numbers"),
            ({"a=b": ["x", "y"]}, "a=b", "folders cannot be named after 'a=b'"),
        ],
    )
    def test_what_folders_cannot_tell_is_refused_in_one_line(
        self, tmp_path: Path, columns: dict[str, Any], by: str, says: str
    ) -> None:
        release = as_it_is(columns, **{next(iter(columns)): "categorical"})
        with pytest.raises(UserError) as refused:
            publish(release, tmp_path / "out", partition_by=by, policy="none", allow_singling_out=True)
        assert says in str(refused.value)
        assert "\n" not in str(refused.value)
        assert SECRET not in str(refused.value)
        assert list(tmp_path.iterdir()) == []

    def test_fractions_are_refused(self, tmp_path: Path) -> None:
        release = as_it_is({"a": ["x", "y"], "x": [0.5, 1.25]}, x="numeric")
        with pytest.raises(UserError, match="holds fractions"):
            publish(release, tmp_path / "out", partition_by="x", policy="none", allow_singling_out=True)
        assert list(tmp_path.iterdir()) == []

    def test_an_attribute_that_is_not_released_is_not_told(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match="no attribute 'name' is released"):
            publish(hospital(), tmp_path / "out", partition_by="name", policy="none", allow_singling_out=True)


class TestForgedFolders:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        publish(hospital(), tmp_path / "out", partition_by="sex", policy="none", allow_singling_out=True)
        return tmp_path / "out"

    def mend(self, folder: Path) -> None:
        """Write the checksums anew, as a careless forger does."""
        from sfumato.verification.folder import UNLISTED, file_names, fingerprint

        facts = json.loads((folder / "manifest.json").read_text("utf-8"))
        facts["files"] = {
            name: dict(zip(("sha256", "bytes"), fingerprint(folder, name), strict=True))
            for name in file_names(folder)
            if name not in UNLISTED
        }
        (folder / "manifest.json").write_text(json.dumps(facts), encoding="utf-8")

    def test_records_moved_to_another_folder_are_found(self, folder: Path) -> None:
        (one, other) = sorted(place for place in (folder / "data").iterdir())[:2]
        swapped = folder / "swap"
        one.rename(swapped)
        other.rename(one)
        swapped.rename(other)
        assert any("has its checksum" in what for what in failed(folder))
        self.mend(folder)
        assert any("Parquet files in data hold the same records" in what for what in failed(folder))

    def test_a_folder_that_is_gone_is_found(self, folder: Path) -> None:
        shutil.rmtree(sorted((folder / "data").iterdir())[0])
        assert failed(folder)
        self.mend(folder)
        assert any("hold the same records" in what for what in failed(folder))

    @pytest.mark.parametrize(
        "name", ["data/sex=New/part-0.parquet", "data/x.txt", "more/x.txt", "data/sex=Female/x"]
    )
    def test_a_file_more_is_found(self, folder: Path, name: str) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(next((folder / "data").rglob("*.parquet")), folder / name)
        assert "the folder holds no other file" in failed(folder)
        self.mend(folder)
        assert failed(folder)

    def test_an_empty_folder_more_is_found(self, folder: Path) -> None:
        (folder / "more").mkdir()
        assert "the folder holds no other file" in failed(folder)

    def test_a_link_is_not_followed(self, folder: Path, tmp_path: Path) -> None:
        inside = sorted((folder / "data").iterdir())[0]
        inside.rename(tmp_path / "elsewhere")
        inside.symlink_to(tmp_path / "elsewhere")
        assert any(inside.name in what or "other file" in what for what in failed(folder))

    def test_a_column_that_is_no_attribute_is_found(self, folder: Path) -> None:
        facts = json.loads((folder / "manifest.json").read_text("utf-8"))
        (folder / "manifest.json").write_text(json.dumps(facts | {"partition_by": "shoe"}), encoding="utf-8")
        assert failed(folder) == [
            "manifest.json lists every file",
            "certificate.json names what was checked and what was not",
        ]


LABELS: dict[str, dict[int | float, str]] = {"sex": {1: "male", 2: "female"}, "mood": {1: "bad", 5: "good"}}
FRAME = pd.DataFrame(
    {
        "sex": [1, 2, 2, 1, None, 2],
        "mood": [1, 2, 3, 4, 5, 5],
        "town": ["Rome", "Oslo", "Oslo", "Rome", "Bonn", ""],
        "marital status": ["single", "married", "single", "single", "married", "single"],
    }
)
TITLES = {"sex": "Sex of the respondent", "mood": "How do you feel?"}
ROLES = Schema(
    (
        Attribute("sex", "insensitive"),
        Attribute("mood", "insensitive", "numeric"),
        Attribute("town", "quasi-identifying"),
        Attribute("marital status", "insensitive"),
    )
)


class TestStatistics:
    @pytest.fixture
    def survey(self, tmp_path: Path) -> Path:
        place = tmp_path / "survey.sav"
        named = FRAME.rename(columns={"marital status": "marital"})
        pyreadstat.write_sav(named, str(place), column_labels=TITLES, variable_value_labels=LABELS)
        return place

    def release(self, place: Path, k: int = 1) -> Release:
        from sfumato import read

        table = read(place)
        schema = Schema(
            tuple(
                Attribute("marital", "insensitive") if a.name == "marital status" else a
                for a in ROLES.attributes
            )
        )
        return sanitize(table, schema, Mondrian(KAnonymity(k)), seed=1)

    @pytest.mark.parametrize("kind", ["sav", "dta"])
    def test_labels_come_out_as_they_came_in(self, survey: Path, tmp_path: Path, kind: str) -> None:
        publish(
            self.release(survey),
            tmp_path / "out",
            formats=[kind],
            codebook=read_codebook(survey),
            policy="none",
            allow_singling_out=True,
        )
        assert verify(tmp_path / "out")
        read = pyreadstat.read_sav if kind == "sav" else pyreadstat.read_dta
        frame, facts = read(str(tmp_path / "out" / f"data.{kind}"))
        before = FRAME.rename(columns={"marital status": "marital"})
        key = lambda row: tuple(None if value != value or value == "" else value for value in row)  # noqa: E731
        assert Counter(map(key, frame.itertuples(index=False))) == Counter(
            map(key, before.itertuples(index=False))
        )
        assert facts.variable_value_labels == LABELS
        assert {name: label for name, label in facts.column_names_to_labels.items() if label} == TITLES

    def test_what_is_generalised_has_no_labels(self, survey: Path, tmp_path: Path) -> None:
        publish(
            self.release(survey, k=6),
            tmp_path / "out",
            formats=["sav"],
            codebook=Codebook({"town": "Home"}),
            policy="none",
            allow_singling_out=True,
        )
        frame, facts = pyreadstat.read_sav(str(tmp_path / "out" / "data.sav"))
        assert set(frame["town"]) != {"Rome", "Oslo", "Bonn", ""}
        assert facts.column_names_to_labels["town"] is None
        assert verify(tmp_path / "out")

    def test_labels_of_values_that_do_not_occur_stay_at_home(self, survey: Path, tmp_path: Path) -> None:
        book = Codebook(values={"sex": {1.0: "male", 2.0: "female", 3.0: SECRET}})
        publish(
            self.release(survey),
            tmp_path / "out",
            formats=["dta", "sav"],
            codebook=book,
            policy="none",
            allow_singling_out=True,
        )
        for file in (tmp_path / "out").iterdir():
            assert SECRET.encode() not in file.read_bytes()

    @pytest.mark.parametrize(
        "labels",
        [
            {1.0: "male", 2.0: "male"},  # which code is it?
            {1.5: "male", 2.0: "female"},  # no whole number
            {1.0: "male"},  # female has none
            {1.0: "m" * 200, 2.0: "female"},
        ],
    )
    def test_labels_that_do_not_fit_leave_texts(
        self, survey: Path, tmp_path: Path, labels: dict[float, str]
    ) -> None:
        publish(
            self.release(survey),
            tmp_path / "out",
            formats=["sav"],
            codebook=Codebook(values={"sex": labels}),
            policy="none",
            allow_singling_out=True,
        )
        frame, facts = pyreadstat.read_sav(str(tmp_path / "out" / "data.sav"))
        assert set(frame["sex"]) == {"male", "female", ""}
        assert facts.variable_value_labels == {}

    def test_a_label_that_looks_like_another_number_is_left_out(self, survey: Path, tmp_path: Path) -> None:
        book = Codebook(values={"mood": {1.0: "2"}})
        publish(
            self.release(survey),
            tmp_path / "out",
            formats=["sav"],
            codebook=book,
            policy="none",
            allow_singling_out=True,
        )
        assert verify(tmp_path / "out")
        frame, _ = pyreadstat.read_sav(str(tmp_path / "out" / "data.sav"))
        assert sorted(frame["mood"]) == [1, 2, 3, 4, 5, 5]

    def test_names_are_changed_in_one_line_and_nowhere_else(self, tmp_path: Path) -> None:
        names = ["marital status", "marital-status", "1st", "all", "if", "Age", "age", "größe", "x" * 40]
        release = as_it_is({name: ["a", "b"] for name in names})
        publish(release, tmp_path / "out", formats=["sav", "dta"], policy="none", allow_singling_out=True)
        assert verify(tmp_path / "out")
        manifest = read_manifest(tmp_path / "out")
        sav, dta = manifest.formats["sav"].renamed, manifest.formats["dta"].renamed
        assert (sav["marital status"], sav["marital-status"]) == ("marital_status", "marital_status_2")
        assert {*sav} == {"marital status", "marital-status", "1st", "all", "age"}
        assert {*dta} == {"marital status", "marital-status", "1st", "if", "x" * 40}
        assert len(renamings(manifest)) == 2
        assert all("\n" not in line for line in renamings(manifest))
        for kind, read in (("sav", pyreadstat.read_sav), ("dta", pyreadstat.read_dta)):
            _, facts = read(str(tmp_path / "out" / f"data.{kind}"))
            told = [facts.column_names_to_labels[n] or n for n in facts.column_names]
            assert told == names  # the label keeps the name
        assert "`marital_status`" in (tmp_path / "out" / "README.md").read_text("utf-8")

    @pytest.mark.parametrize(
        ("columns", "kind", "says"),
        [
            ({"a": ["x", f"{SECRET} "]}, "sav", "drops the blanks at the end"),
            ({"a": ["x", SECRET * 4000]}, "sav", "end at 32,767 bytes"),
            ({"a": ["x", "y"], "n": [2**60, 1]}, "sav", "rounds whole numbers"),
            ({"a": ["x", "y"], "n": [2**60, 1]}, "dta", "rounds whole numbers"),
        ],
    )
    def test_what_a_format_cannot_hold_is_refused_in_one_line(
        self, tmp_path: Path, columns: dict[str, Any], kind: str, says: str
    ) -> None:
        with pytest.raises(UserError) as refused:
            write_statistics({"data": pa.table(columns)}, tmp_path, kind, Codebook(), ())  # type: ignore[arg-type]
        assert says in str(refused.value)
        assert SECRET not in str(refused.value)
        assert "\n" not in str(refused.value)

    def test_two_tables_are_two_files(self, tmp_path: Path) -> None:
        release = sanitize(
            *datasets.hospital(), Bucketize(ProbabilisticDiversity(2), form="two-tables"), seed=1
        )
        publish(release, tmp_path / "out", formats=["sav"], policy="none", allow_singling_out=True)
        assert verify(tmp_path / "out")
        frame, _ = pyreadstat.read_sav(str(tmp_path / "out" / "sensitive.sav"))
        assert frame["count"].sum() == 12

    def test_a_format_that_there_is_not_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match="formats: cannot be 'say'; did you mean 'sav'"):
            publish(hospital(), tmp_path / "out", formats=["say"], policy="none", allow_singling_out=True)

    @pytest.mark.parametrize("package", ["pyreadstat", "pandas"])
    def test_a_missing_package_is_one_line(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
    ) -> None:
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(UserError, match=r"pip install 'sfumato\[statistics\]'"):
            publish(hospital(), tmp_path / "out", formats=["sav"], policy="none", allow_singling_out=True)
        assert list(tmp_path.iterdir()) == []

    def test_a_reader_without_the_package_is_told(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        publish(hospital(), tmp_path / "out", formats=["sav"], policy="none", allow_singling_out=True)
        monkeypatch.setitem(sys.modules, "pyreadstat", None)
        with pytest.raises(SfumatoError, match=r"pip install 'sfumato\[statistics\]'"):
            verify(tmp_path / "out")

    @pytest.mark.parametrize("forged", ["cell", "label", "column label", "record", "name", "damage"])
    def test_a_forged_file_is_found(self, survey: Path, tmp_path: Path, forged: str) -> None:
        folder = tmp_path / "out"
        publish(
            self.release(survey),
            folder,
            formats=["sav"],
            codebook=read_codebook(survey),
            policy="none",
            allow_singling_out=True,
        )
        frame, facts = pyreadstat.read_sav(str(folder / "data.sav"))
        labels, titles = dict(facts.variable_value_labels), dict(facts.column_names_to_labels)
        if forged == "cell":
            frame.loc[0, "mood"] = 6 - frame.loc[0, "mood"] + (frame.loc[0, "mood"] == 3)
        elif forged == "label":
            labels["sex"] = {1: "female", 2: "male"}
        elif forged == "column label":
            titles["sex"] = "Religion"
        elif forged == "record":
            frame = frame.iloc[1:]
        elif forged == "name":
            frame, titles, labels = frame.rename(columns={"town": "city"}), titles, labels
        pyreadstat.write_sav(
            frame, str(folder / "data.sav"), column_labels=titles, variable_value_labels=labels
        )
        if forged == "damage":
            (folder / "data.sav").write_bytes(b"$FL2" + b"x" * 300)
        TestForgedFolders().mend(folder)
        assert "data.csv and data.sav hold the same records" in failed(folder)


PROJECT = """
policy.recipient = "none"
[data]
path = "survey.sav"
[attributes]
sex = {{ role = "insensitive" }}
mood = {{ role = "insensitive" }}
town = {{ role = "quasi-identifying" }}
marital = {{ role = "insensitive" }}
[[candidates]]
sanitizer = "mondrian"
model = {{ k-anonymity = {{ k = 1 }} }}
[publication]
{said}
"""


def test_the_project_file_and_the_command_ask_for_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from sfumato.interfaces.cli import run

    monkeypatch.chdir(tmp_path)
    named = FRAME.rename(columns={"marital status": "marital"})
    pyreadstat.write_sav(named, "survey.sav", column_labels=TITLES, variable_value_labels=LABELS)
    Path("plain.toml").write_text(PROJECT.format(said=""), encoding="utf-8")
    Path("more.toml").write_text(
        PROJECT.format(said='formats = ["sav"]\npartition-by = "sex"'), encoding="utf-8"
    )
    for project, options in (("plain", ["--format", "sav", "--partition-by", "sex"]), ("more", [])):
        assert run(["explore", f"{project}.toml", "--seed", "1", "--workers", "1"]) == 0
        capsys.readouterr()
        assert run(["frontier", f"{project}.toml", "--all", "--json"]) == 0
        identity = json.loads(capsys.readouterr().out)["candidates"][0]["id"]
        options = [*options, "--allow-singling-out"]
        command = ["publish", identity, project, "--project", f"{project}.toml", *options]
        assert run(command) == 0
        assert run(["verify", project]) == 0
        manifest = read_manifest(Path(project))
        assert manifest.partition_by == "sex"
        assert manifest.formats["sav"].codes == {
            "sex": {"male": 1, "female": 2},
            "mood": {"bad": 1, "good": 5},
        }
        assert manifest.formats["sav"].labels == TITLES
        assert run([*command[:2], "again", *command[3:], "--partition-by", "shoe"]) == 1
        assert "no attribute 'shoe' is released" in capsys.readouterr().err


def test_a_wrong_format_in_the_project_file_is_refused(tmp_path: Path) -> None:
    text = PROJECT.format(said='formats = ["sas"]')
    with pytest.raises(SfumatoError, match=r"publication\.formats: cannot be 'sas'"):
        Project.parse(text, tmp_path / "p.toml")
