"""What a plug-in adds goes all the way, from the data file to a folder that readers verify.

Each test uses one thing that the package in this folder registers, and no line of sfumato knows of it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import command
from .test_plugin import ATTRIBUTES, PEOPLE, asked

MONDRIAN = """
[[candidates]]
sanitizer = "mondrian"
model = { k-anonymity = { k = 2 } }
"""


def measures(*more: str) -> str:
    privacy = ", ".join(['"k-anonymity"', *more])
    return f'\n[measure]\nprivacy = [{privacy}]\nutility = ["general-loss"]\n'


def published(plugged: Path, folder: Path, parts: str, data: str = "people.csv") -> Any:
    """Explore a project, publish its first candidate, and return the checks of a reader by their words."""
    (folder / "people.csv").write_text(PEOPLE, encoding="utf-8")
    project = f'policy.recipient = "none"\n[data]\npath = "{data}"\n\n{ATTRIBUTES}{parts}'
    (folder / "people.toml").write_text(project, encoding="utf-8")
    done = command("explore", "people.toml", "--workers", "1", plugged=plugged, cwd=folder)
    assert (done.returncode, "plug-in" in done.stderr) == (0, False), done.stderr
    first = asked("frontier", plugged=plugged, cwd=folder)["candidates"][0]
    done = command("publish", first["id"], "published", "--allow-singling-out", plugged=plugged, cwd=folder)
    assert done.returncode == 0, done.stderr
    # a reader does not have the plug-in
    done = command("verify", "published", "--json", plugged=folder, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return {check["what"]: check for check in json.loads(done.stdout)["checks"]}


def unverified(checks: Any) -> str:
    return "\n".join(what for what, check in checks.items() if check["unverified"])


def lines_of(text: str) -> str:
    """Return CSV as JSON Lines."""
    header, *rows = (line.split(",") for line in text.splitlines())
    return "".join(json.dumps(dict(zip(header, row, strict=True))) + "\n" for row in rows)


def test_a_format(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "people.jsonl").write_text(lines_of(PEOPLE), encoding="utf-8")
    checks = published(installed, tmp_path, MONDRIAN + measures(), data="people.jsonl")
    assert checks["k-anonymity is 2"]["holds"]
    # a release is written in it, too
    done = command("sanitize", "out.jsonl", "mondrian", plugged=installed, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "out.jsonl").read_text("utf-8").splitlines()) == len(PEOPLE.splitlines()) - 1


@pytest.mark.thorough("the test before it")
def test_files_of_a_format_are_found_in_a_folder_and_by_every_engine(installed: Path, tmp_path: Path) -> None:
    header, *rows = PEOPLE.splitlines(keepends=True)
    (tmp_path / "parts").mkdir()
    for number, some in enumerate((rows[:3], rows[3:])):
        place = tmp_path / "parts" / f"part-{number}.ndjson"
        place.write_text(lines_of(header + "".join(some)), encoding="utf-8")
    for engine in ("memory", "duckdb"):
        folder = tmp_path / engine
        folder.mkdir()
        published(installed, folder, MONDRIAN + measures(), data=f'../parts"\nengine = "{engine}')


@pytest.mark.thorough("tests/reading/test_formats.py", but=2)
@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"age": 1}\n{"age": "MARKER"}{\n', "people.jsonl is damaged or not what its suffix says"),
        ('{"age": 1}\n{"MARKER": 1}\n', "people.jsonl: line 2 has other keys than the first"),
        ('{"age": [1, 2]}\n', "people.jsonl has nested values in column 'age'"),
        ("", "people.jsonl has no columns"),
        ("[" * 100_000, "people.jsonl is damaged or not what its suffix says (RecursionError)"),
    ],
    ids=["syntax", "keys", "nested", "empty", "deep"],
)
def test_a_file_that_its_reader_refuses_is_refused_in_a_line_without_a_value(
    content: str, said: str, installed: Path, tmp_path: Path
) -> None:
    (tmp_path / "people.jsonl").write_text(content, encoding="utf-8")
    done = command("inspect", "people.jsonl", plugged=installed, cwd=tmp_path)
    assert done.returncode != 0
    assert len(done.stderr.splitlines()) == 1
    assert said in done.stderr
    assert "MARKER" not in done.stderr


@pytest.mark.thorough("the search", but=1)
@pytest.mark.parametrize("search", ['search = "lattice"\n', ""], ids=["lattice", "mondrian"])
def test_a_distance_for_t_closeness(search: str, installed: Path, tmp_path: Path) -> None:
    how = search or 'sanitizer = "mondrian"\n'
    model = '{ k-anonymity = { k = 2 }, t-closeness = { t = 0.3, distance = "triangular" } }'
    measured = measures('{ t-closeness = { distance = "triangular" } }')
    parts = f"\n[[candidates]]\n{how}model = {model}\n{measured}"
    said = unverified(published(installed, tmp_path, parts))
    assert "t-closeness reaches t = " in said
    assert "asked was 0.3, by a distance that is no part of sfumato" in said


@pytest.mark.thorough("tests/verification/test_agreement.py", but=1)
@pytest.mark.parametrize("distance", ["kl", "hellinger"])
def test_a_reader_computes_our_distances_again(distance: str, installed: Path, tmp_path: Path) -> None:
    model = f'{{ t-closeness = {{ t = 0.5, distance = "{distance}" }} }}'
    parts = f'\n[[candidates]]\nsearch = "lattice"\nmodel = {model}\n{measures()}'
    checks = published(installed, tmp_path, parts)
    assert "asked was 0.5" in "\n".join(checks)
    assert "t-closeness" not in unverified(checks)


def test_a_measure_with_groups(installed: Path, tmp_path: Path) -> None:
    grouped = '{ worst-group-risk = { attribute = "sex", of = "neighbour-risk", smallest = 1 } }'
    parts = MONDRIAN + measures('"neighbour-risk"', grouped)
    said = unverified(published(installed, tmp_path, parts))
    assert "neighbour-risk is 1, by a measure that is no part of sfumato" in said
    shown = asked("frontier", plugged=installed, cwd=tmp_path)["candidates"][0]["measurements"]
    (worst,) = [each for each in shown if each["measure"] == "worst-group-risk"]
    assert set(worst["detail"]["groups"]) == {"f", "m"}


def test_a_sanitizer(installed: Path, tmp_path: Path) -> None:
    parts = f'\n[[candidates]]\nsanitizer = "even-levels"\nlevel = 2\n{measures()}'
    said = unverified(published(installed, tmp_path, parts))
    assert "the release was made by even-levels as the recipe says" in said
    assert "wrote the wording around the claims, which was not compared" in said
    # a reader who has the plug-in can compare the wording, too
    done = command("verify", "published", plugged=installed, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "wrote the wording" not in done.stdout
