"""The examples that a pipeline is built from, run as they stand."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sfumato

NIGHTLY = Path(__file__).parents[1] / "examples" / "nightly"

PROJECT = """
[data]
path = "people.csv"

[attributes]
age = { role = "quasi-identifying", kind = "numeric" }
illness = { role = "sensitive" }

[[try]]
sanitizer = "mondrian"
model = { k-anonymity = { k = [2, 5, 10] } }

[measure]
privacy = ["privacy-loss", "k-anonymity"]
utility = ["general-loss"]

[policy]
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


def nightly(folder: Path, question: str) -> subprocess.CompletedProcess[str]:
    """Run the nightly job on a small table."""
    write_people(folder / "people.csv", 24)
    (folder / "people.toml").write_text(PROJECT, encoding="utf-8")
    return run_in(folder, "publish.sh", "people.toml", "release", question)


def write_people(place: Path, n_ages: int) -> None:
    rows = [f"{20 + n % n_ages},{'abc'[n % 3]}" for n in range(48)]
    place.write_text("age,illness\n" + "\n".join(rows) + "\n", encoding="utf-8")


@needs_shell
def test_the_nightly_job_publishes_what_was_asked_for(tmp_path: Path) -> None:
    done = nightly(tmp_path, "min general-loss where k >= 4")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["decision"]["why"] == "min general-loss where k >= 4"
    assert json.loads((tmp_path / "release.verified.json").read_text())["verified"]
    assert {json.loads(line)["format"] for line in done.stderr.splitlines()} == {"sfumato/log/1"}


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
    tmp_path: Path, question: str, code: int, kind: str
) -> None:
    done = nightly(tmp_path, question)
    assert done.returncode == code, done.stderr
    assert json.loads(done.stderr.splitlines()[-1])["kind"] == kind
    assert not (tmp_path / "release").exists()


@needs_shell
def test_next_month_is_published_with_the_recoding_of_the_first(tmp_path: Path) -> None:
    assert nightly(tmp_path, "min general-loss where k >= 4").returncode == 0
    write_people(tmp_path / "new.csv", 24)
    done = run_in(tmp_path, "next-month.sh", "people.toml", "release", "new.csv", "month-2")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["new-records"] == 48
    assert json.loads((tmp_path / "month-2.verified.json").read_text())["verified"]
    write_people(tmp_path / "other.csv", 48)
    done = run_in(tmp_path, "next-month.sh", "people.toml", "release", "other.csv", "month-3")
    assert done.returncode == 2, "half of these people are older than anybody before"
    assert not (tmp_path / "month-3").exists()


def test_the_workflow_calls_what_is_there() -> None:
    written = (NIGHTLY / "workflow.yml").read_text(encoding="utf-8")
    (called,) = re.findall(r"run: sh (\S+)", written)
    assert (NIGHTLY.parents[1] / called).is_file()
