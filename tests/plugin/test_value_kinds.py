"""Kinds of value from somebody else's package, from a CSV file to a verified folder and back."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pyarrow.csv
import pytest

from .conftest import command, python

WEEKS = [f"2025-W{week:02}" for week in range(40, 53)] + [f"2026-W{week:02}" for week in range(1, 12)]
SIZES = ["XS", "S", "M", "L", "XL"]
N_VISITS = 120

PROJECT = """\
policy.recipient = "none"
[data]
path = "visits.csv"

[attributes.week]
role = "quasi-identifying"
kind = "iso-week"
hierarchy = { intervals = [4, 12] }

[attributes.zip]
role = "quasi-identifying"
kind = "categorical"
hierarchy = { prefixes = [2] }

[attributes.shirt]
role = "quasi-identifying"
kind = "size"

[attributes.return]
role = "sensitive"
kind = "iso-week"

[[candidates]]
sanitizer = "mondrian"
model = { k-anonymity = { k = [5, 20] } }
borders = ["tight", "grid"]

[[candidates]]
sanitizer = "full-domain"
levels = { week = 1, zip = 1, shirt = 1 }
model = { k-anonymity = { k = 2 } }
suppression = 0.2

[measure]
privacy = ["k-anonymity", { t-closeness = { distance = "natural" } }, "linkability"]
utility = ["general-loss", "query-error", "workload-utility"]
"""


def visits(seed: int) -> str:
    drawn = random.Random(seed)
    rows = [
        (
            drawn.choice(WEEKS),
            drawn.choice(["01307", "01309", "02110"]),
            drawn.choice(SIZES),
            drawn.choice(WEEKS),
        )
        for _ in range(N_VISITS)
    ]
    # the same week, written otherwise, is the same value
    rows[0] = ("2026W7", *rows[0][1:])
    return "".join(f"{','.join(row)}\n" for row in [("week", "zip", "shirt", "return"), *rows])


@pytest.fixture(scope="module")
def explored(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("visits")
    (folder / "visits.csv").write_text(visits(1), encoding="utf-8")
    (folder / "visits.toml").write_text(PROJECT)
    done = command("explore", "--workers", "2", "--seed", "3", plugged=installed, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


def asked(*arguments: str, plugged: Path, cwd: Path) -> Any:
    done = command(*arguments, "--json", plugged=plugged, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def candidates(installed: Path, folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = asked("frontier", "--all", plugged=installed, cwd=folder)["candidates"]
    return found


def test_weeks_are_guessed_and_written_into_the_project_file(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text(visits(1), encoding="utf-8")
    done = command("new", "visits.csv", plugged=installed, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "visits.toml").read_text(encoding="utf-8").count('kind = "iso-week"') == 2


def test_a_value_that_is_none_of_the_kind_is_refused_by_its_words(installed: Path, explored: Path) -> None:
    folder = explored / "wrong"
    folder.mkdir()
    (folder / "visits.csv").write_text(visits(1) + "2025-W60,01307,S,2026-W01\n", encoding="utf-8")
    (folder / "visits.toml").write_text((explored / "visits.toml").read_text())
    done = command("inspect", "visits.toml", plugged=installed, cwd=folder)
    assert done.returncode == 1
    said = " ".join(done.stderr.split())
    assert "attribute 'week' is iso-week, but 1 of its" in said
    assert "not ISO weeks such as 2026-W07" in said
    assert "2025-W60" not in said


def test_every_candidate_is_made_and_measured(installed: Path, explored: Path) -> None:
    found = candidates(installed, explored)
    assert {one["sanitizer"] for one in found} == {"mondrian", "full-domain"}
    assert len(found) == 5
    for one in found:
        measured = {m["measure"]: m["value"] for m in one["measurements"]}
        assert 0 <= measured["t-closeness"] <= 1
        assert 0 <= measured["general-loss"] <= 1


@pytest.mark.parametrize(
    ("sanitizer", "borders"), [("mondrian", "tight"), ("mondrian", "grid"), ("full-domain", None)]
)
def test_a_published_folder_shows_intervals_of_weeks_and_verifies(
    installed: Path, explored: Path, sanitizer: str, borders: str | None
) -> None:
    one = next(
        one
        for one in candidates(installed, explored)
        if one["sanitizer"] == sanitizer
        and (borders is None or (one["parameters"]["borders"], k_of(one)) == (borders, 20))
    )
    target = explored / f"published-{sanitizer}-{borders}"
    done = command("publish", one["id"], str(target), plugged=installed, cwd=explored)
    assert done.returncode == 0, done.stderr
    done = command("verify", str(target), plugged=installed, cwd=explored)
    assert done.returncode == 0, done.stdout
    # a reader need not have the plug-in
    done = command("verify", str(target), plugged=explored, cwd=explored)
    assert done.returncode == 0, done.stdout

    released = pyarrow.csv.read_csv(
        next(target.glob("*.csv")),
        convert_options=pyarrow.csv.ConvertOptions(strings_can_be_null=False),
    )
    cells = set(released["week"].to_pylist()) - {"*"}
    assert any(" to " in cell for cell in cells)
    for cell in cells:
        first, _, last = cell.partition(" to ")
        assert re.fullmatch(r"20[0-9]{2}-W[0-9]{2}", first)
        assert re.fullmatch(r"20[0-9]{2}-W[0-9]{2}", last or first)
        assert first <= (last or first)
    if borders == "tight":
        # every week of the original lies in some released interval that holds as many records
        assert {end for cell in cells for end in cell.split(" to ")} <= set(WEEKS)


def k_of(one: dict[str, Any]) -> int:
    return int(one["parameters"]["model"]["k-anonymity"]["k"])


def test_next_months_weeks_join_the_intervals_around_them(installed: Path, explored: Path) -> None:
    one = next(one for one in candidates(installed, explored) if one["sanitizer"] == "full-domain")
    (explored / "next.csv").write_text(visits(2), encoding="utf-8")
    target = explored / "next"
    done = command("apply", one["id"], "next.csv", str(target), plugged=installed, cwd=explored)
    assert done.returncode == 0, done.stderr
    done = command("verify", str(target), plugged=installed, cwd=explored)
    assert done.returncode == 0, done.stdout
    answer = asked("query", str(target), "count", plugged=installed, cwd=explored)
    assert answer["rows"][0]["value"] == N_VISITS


def test_a_query_knows_which_weeks_an_interval_holds(installed: Path, explored: Path) -> None:
    """A reader who has the plug-in gets narrower bounds; those of one who has not are still right."""
    one = next(one for one in candidates(installed, explored) if one["sanitizer"] == "full-domain")
    target = explored / "asked"
    done = command("publish", one["id"], str(target), plugged=installed, cwd=explored)
    assert done.returncode == 0, done.stderr
    rows = [line.split(",") for line in visits(1).splitlines()[1:]]
    true = sum(row[0] == "2026-W01" for row in rows)
    question = "count where week = 2026-W01"
    knowing, guessing = (
        asked("query", str(target), question, plugged=plugged, cwd=explored)["rows"][0]
        for plugged in (installed, explored / "nowhere")
    )
    assert guessing["least"] <= knowing["least"] <= true <= knowing["most"] <= guessing["most"]
    assert knowing["most"] < N_VISITS


def test_a_release_gives_weeks_back_as_the_kind_has_them(installed: Path, explored: Path) -> None:
    code = (
        "import sfumato as sf\n"
        "project = sf.Project.load('visits.toml')\n"
        "release = sf.sanitize(*project.schema.bind(project.table()), sf.sanitizers.AsIs())\n"
        "print(release.to_arrow()['return'].type, release.to_arrow()['shirt'].type)\n"
        "print(release.schema.hierarchy('shirt').values)\n"
    )
    done = python("-c", code, plugged=installed, cwd=explored)
    assert done.returncode == 0, done.stderr
    types, sizes = done.stdout.splitlines()
    assert types.split() == ["date32[day]", "string"]
    assert sizes == str(tuple(SIZES))
