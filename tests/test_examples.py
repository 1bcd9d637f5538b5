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


def nightly(folder: Path, question: str) -> subprocess.CompletedProcess[str]:
    """Run the nightly job on a small table, `sfumato` being that which is tested."""
    rows = [f"{20 + n % 24},{'abc'[n % 3]}" for n in range(48)]
    (folder / "people.csv").write_text("age,illness\n" + "\n".join(rows) + "\n", encoding="utf-8")
    (folder / "people.toml").write_text(PROJECT, encoding="utf-8")
    for name, module in (("sfumato", "-m sfumato"), ("python3", "")):
        program = folder / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\nexec {sys.executable} {module} "$@"\n', encoding="utf-8")
        program.chmod(0o700)
    environment = {
        **os.environ,
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(Path(sfumato.__file__).parents[1]),
        "SFUMATO_LOG_FORMAT": "json",
    }
    command = ["sh", str(NIGHTLY / "publish.sh"), "people.toml", "release", question]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


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


def test_the_workflow_calls_what_is_there() -> None:
    written = (NIGHTLY / "workflow.yml").read_text(encoding="utf-8")
    (called,) = re.findall(r"run: sh (\S+)", written)
    assert (NIGHTLY.parents[1] / called).is_file()
