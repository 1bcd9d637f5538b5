"""The examples that a pipeline is built from, run as they stand."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import sfumato

NIGHTLY = Path(__file__).parents[1] / "examples" / "nightly"

PROJECT = """
[data]
path = "people.csv"

[attributes]
age = { role = "quasi-identifying", kind = "numeric" }
illness = { role = "sensitive" }

[[candidates]]
sanitizer = "mondrian"
model = { k-anonymity = { k = [2, 5, 10] } }

[measure]
privacy = ["privacy-loss", "k-anonymity"]
utility = ["general-loss"]

[policy]
recipient = "none"
k-anonymity = { at-least = 3 }
"""

needs_shell = pytest.mark.skipif(os.name != "posix" or not shutil.which("sh"), reason="needs a POSIX shell")


def run_in(folder: Path, name: str, *given: str) -> subprocess.CompletedProcess[str]:
    """Run an example, `sfumato` being that which is tested."""
    for program, module in (("sfumato", "-m sfumato"), ("python3", "")):
        place = folder / "bin" / program
        place.parent.mkdir(exist_ok=True)
        place.write_text(f'#!/bin/sh\nexec {sys.executable} {module} "$@"\n', encoding="utf-8")
        place.chmod(0o700)
    environment = {
        **os.environ,
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(Path(sfumato.__file__).parents[1]),
        "SFUMATO_LOG_FORMAT": "json",
    }
    command = ["sh", str(NIGHTLY / name), *given]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def nightly(folder: Path, question: str, release: str) -> subprocess.CompletedProcess[str]:
    """Run the nightly job on the small table of a folder."""
    return run_in(folder, "publish.sh", "people.toml", release, question)


def write_people(place: Path, n_ages: int) -> None:
    rows = [f"{20 + n % n_ages},{'abc'[n % 3]}" for n in range(48)]
    place.write_text("age,illness\n" + "\n".join(rows) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def first_night(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A folder in which the nightly job has run once, and what it said."""
    folder = tmp_path_factory.mktemp("people")
    write_people(folder / "people.csv", 24)
    (folder / "people.toml").write_text(PROJECT, encoding="utf-8")
    return folder, nightly(folder, "min general-loss where k >= 4", "release")


@needs_shell
def test_the_nightly_job_publishes_what_was_asked_for(first_night: Any) -> None:
    folder, done = first_night
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["decision"]["why"] == "min general-loss where k >= 4"
    assert json.loads((folder / "release.verified.json").read_text())["verified"]
    assert {json.loads(line)["format"] for line in done.stderr.splitlines()} == {"sfumato/log/1"}


@pytest.mark.thorough("the night that goes well; tests/cli")
@needs_shell
@pytest.mark.parametrize(
    ("question", "code", "kind"),
    [
        ("min general-loss where k >= 4000", 3, "Infeasible"),
        ("min general-loss where kk >= 4", 1, "ParameterError"),
        ("min general-loss", 2, "PolicyNotMet"),
    ],
)
def test_it_ends_with_the_code_of_what_did_not_go_well(
    first_night: Any, question: str, code: int, kind: str
) -> None:
    folder, _ = first_night
    done = nightly(folder, question, "second")
    assert done.returncode == code, done.stderr
    assert json.loads(done.stderr.splitlines()[-1])["kind"] == kind
    assert not (folder / "second").exists()


@needs_shell
def test_next_month_is_published_with_the_recoding_of_the_first(first_night: Any) -> None:
    folder, _ = first_night
    write_people(folder / "new.csv", 24)
    done = run_in(folder, "next-month.sh", "people.toml", "release", "new.csv", "month-2")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["new-records"] == 48
    assert json.loads((folder / "month-2.verified.json").read_text())["verified"]
    write_people(folder / "other.csv", 48)
    done = run_in(folder, "next-month.sh", "people.toml", "release", "other.csv", "month-3")
    assert done.returncode == 2, "half of these people are older than anybody before"
    assert not (folder / "month-3").exists()


def test_the_workflow_calls_what_is_there() -> None:
    written = (NIGHTLY / "workflow.yml").read_text(encoding="utf-8")
    (called,) = re.findall(r"run: sh (\S+)", written)
    assert (NIGHTLY.parents[1] / called).is_file()
