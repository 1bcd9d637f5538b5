"""The page of a published folder that tells how to read it: its example runs without sfumato."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.workflow.query.query_answer import query

needs_r = pytest.mark.skipif(
    shutil.which("Rscript") is None,
    reason="R is not installed: apt-get install --no-install-recommends r-base-core",
)
COUNTRIES = sf.Hierarchy.nested({"Europe": ["France", "Italy", "Malta"], "Asia": ["Japan", "China"]})


def example(folder: Path, language: str) -> str:
    (code,) = re.findall(rf"```{language}\n(.*?)```", (folder / "README.md").read_text("utf-8"), re.DOTALL)
    return str(code)


def printed(folder: Path) -> dict[str | None, float]:
    done = subprocess.run(
        [sys.executable, "-I", "-c", example(folder, "python")],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return {None if value == "missing" else value: float(number) for value, number in rows}


def answered(folder: Path, name: str) -> dict[str | None, float]:
    found = query(folder, f"count by {name}", reading="uniform")
    return {row.by[name]: round(row.value or 0, 2) for row in found.rows if row.value}


@pytest.mark.parametrize(
    "how",
    [
        sf.sanitizers.AsIs(),
        sf.sanitizers.Anatomy(2),
        sf.sanitizers.Bucketize(sf.models.ProbabilisticDiversity(2)),
        sf.sanitizers.LocalRecoding(sf.models.KAnonymity(3)),
        sf.sanitizers.Mondrian(sf.models.KAnonymity(3)),
    ],
    ids=str,
)
@pytest.mark.parametrize("first", ["age", "sex", "diagnosis"])
def test_the_example_counts_what_query_counts(
    how: sf.sanitizers.Sanitizer, first: str, tmp_path: Path
) -> None:
    table, schema = sf.datasets.hospital()
    order = sorted(schema.attributes, key=lambda each: each.name != first)
    sf.publish(
        sf.sanitize(table, sf.Schema(tuple(order)), how, seed=1),
        tmp_path / "out",
        ["k-anonymity"],
        policy="none",
        allow_singling_out=True,
    )
    # a whole * is read as itself by the example, which sees one cell at a time
    expected = answered(tmp_path / "out", first)
    found = printed(tmp_path / "out")
    if "*" not in found:
        assert found == pytest.approx(expected, abs=0.011)
    assert sum(found.values()) == pytest.approx(12, abs=0.1)
    assert sf.verify(tmp_path / "out").holds


def test_the_example_reads_branches_sets_and_missing_values(tmp_path: Path) -> None:
    places = ["France", "Italy", "Japan", "China", None, "France"] * 2
    schema = sf.Schema((sf.Attribute("country", "quasi-identifying", hierarchy=COUNTRIES),))
    release = sf.sanitize(
        pa.table({"country": places}),
        schema,
        sf.sanitizers.FullDomain({"country": 1}, sf.models.KAnonymity(1)),
    )
    sf.publish(release, tmp_path / "out", ["k-anonymity"], policy="none", allow_singling_out=True)
    assert printed(tmp_path / "out") == {
        **dict.fromkeys(("France", "Italy", "Malta"), 2.0),
        **dict.fromkeys(("Japan", "China"), 2.0),
        None: 2.0,
    }


def test_branches_are_told_whole_and_only_where_they_are_published(tmp_path: Path) -> None:
    schema = sf.Schema((sf.Attribute("country", "quasi-identifying", hierarchy=COUNTRIES),))
    table = pa.table({"country": ["France", "Italy", "France"]})
    release = sf.sanitize(table, schema, sf.sanitizers.FullDomain({"country": 1}, sf.models.KAnonymity(1)))
    sf.publish(release, tmp_path / "out", ["k-anonymity"], policy="none", allow_singling_out=True)
    manifest = (tmp_path / "out" / "manifest.json").read_text("utf-8")
    # Malta occurs in no record, and Asia is no cell
    assert "Malta" in manifest
    assert "Asia" not in manifest
    assert "Japan" not in manifest
    exact = sf.sanitize(table, schema, sf.sanitizers.AsIs())
    sf.publish(exact, tmp_path / "exact", ["k-anonymity"], policy="none", allow_singling_out=True)
    assert "Malta" not in (tmp_path / "exact" / "manifest.json").read_text("utf-8")


def test_a_branch_that_is_no_cell_is_noticed(tmp_path: Path) -> None:
    schema = sf.Schema((sf.Attribute("country", "quasi-identifying", hierarchy=COUNTRIES),))
    table = pa.table({"country": ["France", "Italy", "France"]})
    release = sf.sanitize(table, schema, sf.sanitizers.FullDomain({"country": 1}, sf.models.KAnonymity(1)))
    sf.publish(release, tmp_path / "out", ["k-anonymity"], policy="none", allow_singling_out=True)
    said = "what is explained of branches are those that the cells have"
    assert said in [check.what for check in sf.verify(tmp_path / "out") if check.holds]
    place = tmp_path / "out" / "manifest.json"
    facts = json.loads(place.read_text("utf-8"))
    facts["layout"]["attributes"]["country"]["branches"]["Asia"] = ["Japan"]
    place.write_text(json.dumps(facts), "utf-8")
    assert said in [check.what for check in sf.verify(tmp_path / "out").failed]


def test_another_readme_is_noticed(tmp_path: Path) -> None:
    sf.publish(
        sf.sanitize(*sf.datasets.hospital(), sf.sanitizers.AsIs()),
        tmp_path / "out",
        ["k-anonymity"],
        policy="none",
        allow_singling_out=True,
    )
    with (tmp_path / "out" / "README.md").open("a", encoding="utf-8") as file:
        file.write("trust me\n")
    assert not sf.verify(tmp_path / "out").holds


@needs_r
@pytest.mark.parametrize(
    "how",
    [
        sf.sanitizers.AsIs(),
        sf.sanitizers.Mondrian(sf.models.KAnonymity(3)),
        sf.sanitizers.Mondrian(sf.models.KAnonymity(3), borders="grid"),
    ],
    ids=str,
)
@pytest.mark.parametrize("first", ["age", "illness"])
def test_the_example_in_r_counts_what_that_in_python_does(
    how: sf.sanitizers.Sanitizer, first: str, tmp_path: Path
) -> None:
    illnesses = ["Alzheimer's", "a, b", "NA", 'say "ah"', None, "gout"] * 3
    table = pa.table({"age": list(range(20, 38)), "illness": illnesses})
    order = sorted(["age", "illness"], key=lambda name: name != first)
    schema = sf.Schema(tuple(sf.Attribute(name, "quasi-identifying") for name in order))
    sf.publish(
        sf.sanitize(table, schema, how, seed=1),
        tmp_path / "out",
        ["k-anonymity"],
        policy="none",
        allow_singling_out=True,
    )
    assert in_r(tmp_path / "out") == pytest.approx(printed(tmp_path / "out"), abs=0.011)


@needs_r
def test_the_example_in_r_reads_branches_and_missing_values(tmp_path: Path) -> None:
    places = ["France", "Italy", "Japan", "China", None, "France"] * 2
    schema = sf.Schema((sf.Attribute("country", "quasi-identifying", hierarchy=COUNTRIES),))
    how = sf.sanitizers.FullDomain({"country": 1}, sf.models.KAnonymity(1))
    sf.publish(
        sf.sanitize(pa.table({"country": places}), schema, how),
        tmp_path / "out",
        ["k-anonymity"],
        policy="none",
        allow_singling_out=True,
    )
    assert in_r(tmp_path / "out") == printed(tmp_path / "out")


@needs_r
def test_the_example_in_r_reads_names_that_json_must_escape(tmp_path: Path) -> None:
    name = 'say "ah" \\ \x01\té, {or} [not]'
    branches = {f"{word}\\\t\x02\U0001f600": [f'"{word}"', f"{word}\\"] for word in ("é", "b")}
    schema = sf.Schema((sf.Attribute(name, "quasi-identifying", hierarchy=sf.Hierarchy.nested(branches)),))
    places = [leaf for leaves in branches.values() for leaf in leaves] * 3
    how = sf.sanitizers.FullDomain({name: 1}, sf.models.KAnonymity(1))
    sf.publish(
        sf.sanitize(pa.table({name: places}), schema, how),
        tmp_path / "out",
        ["k-anonymity"],
        policy="none",
        allow_singling_out=True,
    )
    assert in_r(tmp_path / "out") == printed(tmp_path / "out") == dict.fromkeys(places, 3.0)


def in_r(folder: Path) -> dict[str | None, float]:
    script = folder.with_name("example.R")
    script.write_text(example(folder, "r"), encoding="utf-8")
    done = subprocess.run(
        ["Rscript", "--encoding=UTF-8", str(script)],
        cwd=folder,
        env={**os.environ, "LC_ALL": "C.UTF-8"},  # elsewhere R cannot name what is not ASCII
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = [line.rsplit("\t", 1) for line in done.stdout.splitlines()]
    return {None if value == "missing" else value: float(number) for value, number in rows}
