"""`sfumato apply` from a candidate and from a folder, and every wrong turn on the way."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from sfumato.verification.documents import read_manifest
from sfumato.verification.folder import fingerprint

SECRET = "SECRETVALUE"
Run = Callable[..., tuple[int, str, str]]
PROJECT = """
policy.recipient = "none"
[data]
path = "january.csv"
[attributes.name]
role = "identifying"
[attributes.age]
role = "quasi-identifying"
kind = "numeric"
hierarchy = { intervals = [10, 20, 40] }
[attributes.town]
role = "quasi-identifying"
[attributes.illness]
role = "sensitive"
[[candidates]]
sanitizer = "mondrian"
model = { k-anonymity = { k = [5, 10] } }
[[candidates]]
sanitizer = "anatomy"
l = 2
[measure]
privacy = ["privacy-loss"]
utility = ["general-loss"]
"""
SAMPLED = """
policy.recipient = "none"
[data]
path = "january.csv"
engine = "duckdb"
sample = 0.2
[attributes]
name = { role = "identifying" }
age = { role = "quasi-identifying", kind = "numeric", hierarchy = { intervals = [10, 20, 40] } }
town = { role = "quasi-identifying" }
illness = { role = "sensitive" }
[[candidates]]
sanitizer = "full-domain"
levels = { age = 1, town = 0 }
model = { k-anonymity = { k = 5 } }
"""


def _write(place: Path, seed: int, n: int = 300, town: str | None = None) -> Path:
    rng = random.Random(seed)
    with place.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["name", "age", "town", "illness"])
        for number in range(n):
            where = town or rng.choice(["Rome", "Oslo", "Bonn"])
            rows.writerow([f"p{number}", rng.randint(20, 69), where, rng.choice(["flu", "gout", "cold"])])
    return place


@pytest.fixture
def project(tmp_path: Path, sfumato: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose January is explored, with February and March beside it."""
    monkeypatch.chdir(tmp_path)
    for seed, month in enumerate(("january", "february", "march")):
        _write(tmp_path / f"{month}.csv", seed)
    place = tmp_path / "hospital.toml"
    place.write_text(PROJECT, encoding="utf-8")
    assert sfumato("explore", place, "--seed", 1, "--workers", 1)[0] == 0
    return place


def _candidate(sfumato: Run, project: Path, sanitizer: str = "mondrian") -> str:
    _, out, _ = sfumato("frontier", project, "--all", "--json")
    found = next(c for c in json.loads(out)["candidates"] if c["sanitizer"] == sanitizer)
    return str(found["id"])


def test_three_months_with_one_recoding(sfumato: Run, project: Path, tmp_path: Path) -> None:
    identity = _candidate(sfumato, project)
    assert sfumato("publish", identity, "january")[0] == 0
    code, out, err = sfumato("apply", identity, "february.csv", "february", "--limit", "60%", "--json")
    assert code == 0, err
    facts = json.loads(out)
    left_out = sum(facts["withheld"].values()) + facts["suppressed"]
    assert facts["records"] + left_out == facts["new-records"] == 300
    code, out, err = sfumato("apply", "january", "march.csv", "march", "--limit", "0.6")
    assert code == 0, err
    assert "suppressed:" in out
    for month in ("february", "march"):
        assert sfumato("verify", month)[0] == 0
    names = {month: fingerprint(tmp_path / month, "manifest.json")[0] for month in ("january", "february")}
    parent = read_manifest(tmp_path / "march").parent
    assert parent is not None
    assert (parent.candidate, parent.manifest) == (identity, names["january"])
    assert parent.earlier == [names["february"]]  # the store knows of it
    told = {figure.measure for figure in read_manifest(tmp_path / "march").unverified.figures}
    assert told >= {"composition-k", "composition-loss"}


def test_too_many_left_out_is_exit_two_and_nothing_is_written(
    sfumato: Run, project: Path, tmp_path: Path
) -> None:
    code, out, err = sfumato("apply", _candidate(sfumato, project), "february.csv", "out", "--limit", "0%")
    assert (code, out) == (2, "")
    assert "of 300 new records" in err
    assert err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_second_candidate_of_the_same_data_is_laid_beside_the_first(
    sfumato: Run, project: Path, tmp_path: Path
) -> None:
    _, out, _ = sfumato("frontier", project, "--all", "--json")
    one, other = [c["id"] for c in json.loads(out)["candidates"] if c["sanitizer"] == "mondrian"]
    assert sfumato("publish", one, "first")[0] == 0
    assert "composition-k" not in (tmp_path / "first" / "manifest.json").read_text("utf-8")
    project.write_text(PROJECT + "[policy.composition-k]\nat-least = 10\n", encoding="utf-8")
    code, _, err = sfumato("publish", other, "second")
    assert (code, "composition-k" in err) == (2, True)
    project.write_text(PROJECT, encoding="utf-8")
    assert sfumato("publish", other, "second")[0] == 0
    assert "composition-k" in (tmp_path / "second" / "manifest.json").read_text("utf-8")


@pytest.mark.parametrize(
    ("header", "says"),
    [
        ("name,age,illness", "no column 'town'"),
        ("name,age,town,illness,shoe", "column 'shoe' of the data has no role"),
    ],
)
def test_a_file_with_other_columns_is_refused_in_one_line(
    sfumato: Run, project: Path, tmp_path: Path, header: str, says: str
) -> None:
    values = ",".join([SECRET, "33", "Rome", "flu", "44"][: header.count(",") + 1])
    (tmp_path / "new.csv").write_text(f"{header}\n{values}\n", encoding="utf-8")
    code, _, err = sfumato("apply", _candidate(sfumato, project), "new.csv", "out")
    assert (code, err.count("\n")) == (1, 1)
    assert says in err
    assert SECRET not in err


def test_an_empty_file_is_refused(sfumato: Run, project: Path, tmp_path: Path) -> None:
    (tmp_path / "new.csv").write_text("name,age,town,illness\n", encoding="utf-8")
    code, _, err = sfumato("apply", _candidate(sfumato, project), "new.csv", "out")
    assert (code, "no records" in err) == (1, True)


def test_a_file_that_is_not_there_is_refused(sfumato: Run, project: Path) -> None:
    code, _, err = sfumato("apply", _candidate(sfumato, project), "april.csv", "out")
    assert (code, "april.csv does not exist" in err) == (1, True)


def test_a_month_of_which_nobody_can_be_taken_is_refused_without_its_values(
    sfumato: Run, project: Path, tmp_path: Path
) -> None:
    identity = _candidate(sfumato, project)
    _write(tmp_path / "new.csv", 9, n=30, town=SECRET)
    code, _, err = sfumato("apply", identity, "new.csv", "out", "--limit", "100%")
    if code == 0:  # a class of every town takes them
        assert all(SECRET.encode() not in file.read_bytes() for file in (tmp_path / "out").iterdir())
    else:
        assert (code, err.count("\n")) == (2, 1)
        assert "30" in err
    assert SECRET not in err


@pytest.mark.parametrize(
    ("parent", "says"),
    [
        ("nothing", "no candidate with an id beginning"),
        ("empty", "has no manifest.json"),
        ("march.csv", "neither"),
    ],
)
def test_what_is_no_release_is_refused(
    sfumato: Run, project: Path, tmp_path: Path, parent: str, says: str
) -> None:
    (tmp_path / "empty").mkdir()
    code, _, err = sfumato("apply", parent, "march.csv", "out")
    assert code in (1, 2)
    assert says in err
    assert err.count("\n") == 1


def test_buckets_cannot_be_kept(sfumato: Run, project: Path) -> None:
    code, _, err = sfumato("apply", _candidate(sfumato, project, "anatomy"), "march.csv", "out")
    assert (code, "its recoding cannot be kept" in err) == (1, True)


@pytest.mark.parametrize("limit", ["much", "150%", "-1", "2"])
def test_a_limit_that_is_no_share_is_refused(sfumato: Run, project: Path, limit: str) -> None:
    code, _, err = sfumato("apply", _candidate(sfumato, project), "march.csv", "out", f"--limit={limit}")
    assert (code, "is no share" in err) == (1, True)


def test_a_folder_that_exists_is_never_overwritten(sfumato: Run, project: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    code, _, err = sfumato("apply", _candidate(sfumato, project), "march.csv", "out")
    assert (code, "exists already" in err) == (1, True)


def test_a_release_that_was_moved_away_is_spoken_of(sfumato: Run, project: Path, tmp_path: Path) -> None:
    identity = _candidate(sfumato, project)
    assert sfumato("publish", identity, "january")[0] == 0
    (tmp_path / "january").rename(tmp_path / "elsewhere")
    code, _, err = sfumato("apply", identity, "march.csv", "out", "--limit", "60%")
    assert code == 0
    assert "1 of 1 earlier releases are not where they were published" in err


def test_a_release_of_other_attributes_does_not_stand_in_the_way(
    sfumato: Run, project: Path, tmp_path: Path
) -> None:
    assert sfumato("publish", _candidate(sfumato, project), "january")[0] == 0
    other = PROJECT.replace(
        '[attributes.town]\nrole = "quasi-identifying"', '[attributes.town]\nrole = "withheld"'
    )
    project.write_text(other, encoding="utf-8")
    assert sfumato("explore", project, "--workers", 1)[0] == 0
    identity = _candidate(sfumato, project)
    code, _, err = sfumato("publish", identity, "again")
    assert code == 0
    assert "1 of 1 earlier releases" in err
    code, _, err = sfumato("publish", identity, "once-more", "--with", "january")
    assert (code, "'town' is not the same attribute" in err) == (1, True)


def test_sanitize_says_beside_its_file_what_it_is(sfumato: Run, project: Path, tmp_path: Path) -> None:
    code, out, _ = sfumato("sanitize", "one.csv", "mondrian", "model.k-anonymity.k=7", "--seed", 5, "--json")
    assert code == 0
    assert json.loads(out)["manifest"] == "one.csv.manifest.json"
    written = (tmp_path / "one.csv.manifest.json").read_text("utf-8")
    facts = json.loads(written)
    sha256, length = fingerprint(tmp_path, "one.csv")
    assert facts["files"] == {"one.csv": {"sha256": sha256, "bytes": length}}
    assert facts["recipe"]["parameters"]["model"] == {"k-anonymity": {"k": 7}}
    (kept,) = facts["requirements"]
    assert (kept["limit"], kept["reached"] >= 7) == (7, True)
    assert "seed" not in written


def test_a_recoding_that_was_learned_on_a_sample_is_given_to_every_new_record(
    sfumato: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _write(tmp_path / "january.csv", 1, 2_000)
    _write(tmp_path / "february.csv", 2, 1_000)
    place = tmp_path / "hospital.toml"
    place.write_text(SAMPLED, encoding="utf-8")
    assert sfumato("explore", place, "--seed", 1, "--workers", 1)[0] == 0
    candidate = _candidate(sfumato, place, "full-domain")
    code, _, said = sfumato("apply", candidate, "february.csv", "early", "--project", place)
    assert code == 1
    assert "was learned on a sample" in said
    assert sfumato("publish", candidate, "out", "--project", place)[0] == 0
    for parent, folder in ((candidate, "one"), ("out", "two")):
        code, out, _ = sfumato("apply", parent, "february.csv", folder, "--project", place, "--json")
        assert code == 0
        assert json.loads(out)["new-records"] == json.loads(out)["records"] == 1_000
