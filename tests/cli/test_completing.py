"""What the shell offers, asked for as a shell asks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import BashComplete

import sfumato
from sfumato.interfaces.cli import cli, run
from sfumato.registry import methods
from sfumato.workflow.project.project_file import Project
from sfumato.workflow.store.store import Store

PROJECT = """
policy.recipient = "none"
[data]
path = "people.csv"

[attributes]
age = { role = "quasi-identifying", kind = "numeric" }
illness = { role = "sensitive" }

[[candidates]]
sanitizer = "mondrian"
model = { k-anonymity = { k = [2, 4, 900] } }
"""


def offered(*typed: str) -> list[str]:
    *before, begun = typed
    return [item.value for item in BashComplete(cli, {}, "sfumato", "_X").get_completions(before, begun)]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = [f"{20 + n},{'ab'[n % 2]}" for n in range(20)]
    (tmp_path / "people.csv").write_text("age,illness\n" + "\n".join(rows) + "\n", encoding="utf-8")
    place = tmp_path / "people.toml"
    place.write_text(PROJECT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert run(["explore", str(place), "--workers", "1"]) == 0
    return place


@pytest.mark.parametrize("command", [["show"], ["publish"], ["compare"], ["compare", "0123456789"]])
def test_the_candidates_that_could_be_made_are_offered(project: Path, command: list[str]) -> None:
    with Store(Project.load(project).store_path) as store:
        made = [c for source in store.sources() for c in store.candidates(source) if c.infeasible is None]
    assert len(made) == 2
    assert sorted(offered(*command, "")) == sorted(c.id for c in made)
    assert offered(*command, made[0].id[:7]) == [made[0].id]


def test_another_project_may_be_named_before(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert len(offered("show", "-P", str(project), "")) == 2


@pytest.mark.parametrize("broken", ["", "nonsense ["])
def test_where_there_is_no_project_nothing_is_offered_and_nothing_breaks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if broken:
        (tmp_path / "people.toml").write_text(broken, encoding="utf-8")
    assert offered("show", "") == []


def test_methods_and_measures_are_offered() -> None:
    assert offered("methods", "mondr") == ["mondrian"]
    assert offered("sanitize", "out.csv", "") == list(methods.registered("sanitizer"))
    assert {"privacy-loss", "k-anonymity"} <= {*offered("frontier", "--axis", "")}
    assert offered("explore", "--without", "privacy-l") == ["privacy-loss"]
    assert "mondrian" not in offered("measure", "--measure", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_what_a_shell_should_read_names_the_program(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", shell]) == 0
    assert "_SFUMATO_COMPLETE" in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs a POSIX shell")
def test_bash_reads_it_and_is_answered(project: Path) -> None:
    """With the program itself, called as bash calls it when somebody presses tab."""
    program = project.parent / "sfumato"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m sfumato "$@"\n', encoding="utf-8")
    program.chmod(0o700)
    script = """
    eval "$(sfumato completion bash)"
    COMP_WORDS=(sfumato sh) COMP_CWORD=1
    _sfumato_completion sfumato
    echo "${COMPREPLY[@]}"
    """
    paths = f"{project.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script],
        env={**os.environ, "PATH": paths, "PYTHONPATH": str(Path(sfumato.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["shape", "show"], done.stderr
