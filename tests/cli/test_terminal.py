"""What the command line shows on the way: on standard error, rarely where nobody watches, and harmless."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import pytest

from sfumato.interfaces.cli import run, terminal
from sfumato.interfaces.cli.terminal import name_of, print_frontier, progress_shown, words_shown
from sfumato.measures import Measurement
from sfumato.miners.cross_validation import forget
from sfumato.reading.datasets import hospital
from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Candidate
from sfumato.results.frontier import Frontier
from sfumato.runtime.progress import tell
from sfumato.workflow.explore.explore_project import Progress
from sfumato.workflow.project.project_file import Project

PROJECT = """
policy.recipient = "none"
[data]
path = "people.csv"
[attributes.name]
role = "identifying"
[attributes.zip]
role = "quasi-identifying"
[attributes.age]
role = "quasi-identifying"
kind = "numeric"
[attributes.sex]
role = "quasi-identifying"
[attributes.diagnosis]
role = "sensitive"
[[candidates]]
sanitizer = "mondrian"
model = { k-anonymity = { k = [2, 3] } }
[measure]
privacy = ["k-anonymity"]
utility = [{ workload-utility = { target = "sex", miners = ["majority"], folds = 2 } }]
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    import pyarrow.csv

    forget()
    pyarrow.csv.write_csv(hospital()[0].to_arrow(), tmp_path / "people.csv")
    (tmp_path / "people.toml").write_text(PROJECT)
    return tmp_path / "people.toml"


class Watched(io.StringIO):
    """A terminal that somebody watches."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def test_words_come_now_and_then_where_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    with words_shown():
        for fold in range(1, 11):
            tell(f"majority, fold {fold} of 10")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "majority, fold 1 of 10\n")
    with progress_shown() as show:
        show(Progress(0, 0, 0, 0, 0.0, now="evolution: generation 1 of 9"))
        show(Progress(0, 20, 0, 0, 0.0, now="majority, fold 1 of 10"))
        for done in range(1, 5):
            show(Progress(done, 20, 0, 0, 1.0 * done, "mondrian k=2"))
    assert capsys.readouterr().err.splitlines() == [
        "evolution: generation 1 of 9",
        "2 of 20 candidates, 2 s",
        "4 of 20 candidates, 4 s",
    ]


def test_a_terminal_shows_what_is_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    screen = Watched()
    monkeypatch.setattr(sys, "stderr", screen)
    with words_shown():
        tell("anti-utility: \x1b]0;evil\x07majority, [red]fold[/red] 3 of 10")
    with progress_shown() as show:
        show(Progress(1, 2, 0, 0, 1.0, "mondrian k=2", "mondrian k=3: anti-utility: one-rule, fold 2 of 10"))
    shown = screen.getvalue()
    assert r"anti-utility: \u001b]0;evil\u0007majority, [red]fold[/red] 3 of 10" in shown
    assert "mondrian k=3: anti-utility: one-rule, fold 2 of 10" in shown


@pytest.mark.parametrize("command", ["explore", "sanitize", "measure"])
def test_every_command_that_measures_tells_miner_and_fold(
    command: str,
    project: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(terminal, "_SELDOM", 0.0)
    arguments = {
        "explore": [str(project), "--workers", "2"],
        "sanitize": [str(tmp_path / "out.csv"), "as-is", "--project", str(project)],
        "measure": [str(tmp_path / "people.csv"), "--project", str(project)],
    }[command]
    assert run([command, *arguments]) == 0
    lines = capsys.readouterr().err.splitlines()
    # whichever candidate comes first is mined: the other may have the same sums and not mine again
    told = {line.partition(": ")[2] for line in lines} if command == "explore" else set(lines)
    assert {f"workload-utility: majority, fold {fold} of 2" for fold in (1, 2)} <= told


def _candidate(number: int, sanitizer: str = "mondrian") -> Candidate:
    model = {"k-anonymity": {"k": number}, "t-closeness": {"t": number / 100}}
    values = {"privacy-loss": 1 / number, "utility-loss": number**2 / 400, "k-anonymity": number}
    return Candidate(
        f"{number:010}",
        Recipe(sanitizer, {"model": model} if sanitizer == "mondrian" else {}),
        tuple(
            Measurement(name, value, "privacy", "higher" if name == "k-anonymity" else "lower")
            for name, value in {**values, "suppression-loss": 1 / 11}.items()
        ),
    )


@pytest.mark.parametrize("columns", [80, 100, 160])
def test_a_narrow_terminal_keeps_names_and_the_knee(
    columns: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = (2, 4, 8, 12, 20)
    found = Frontier(
        (*map(_candidate, numbers), _candidate(25, "suppress-quasi-identifiers")),
        ("privacy-loss", "utility-loss"),
    )
    (tmp_path / "people.toml").write_text(PROJECT)
    screen = Watched()
    for name, value in {"TERM": "xterm", "COLUMNS": str(columns), "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", screen)
    print_frontier(Project.load(tmp_path / "people.toml"), found, (), everything=False)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", screen.getvalue()).splitlines()
    assert max(map(len, lines)) <= columns
    knee = found.knee()
    assert knee is not None
    (marked,) = [line for line in lines if " knee " in line]
    assert knee.id in marked
    written = " ".join(" ".join(lines).split())
    for candidate in found.candidates:
        assert any(candidate.id in line for line in lines)
        assert set(name_of(candidate.recipe).split()) <= set(written.split())
    assert any(line.startswith("No room here for") for line in lines) == (columns < 110)
    assert ("9.09%" in screen.getvalue()) == (columns > 110)


def test_candidates_have_names_that_people_say() -> None:
    assert name_of(_candidate(11).recipe) == (
        "Classes of at least 11, close to the whole table's distribution: Mondrian k=11, t=0.11"
    )
    assert name_of(Recipe("as-is")) == "The table as it is"
    assert name_of(Recipe("suppress-quasi-identifiers")) == "Everything that others may know withheld"
    assert name_of(Recipe("mondrian", {"model": {"k-anonymity": {"k": 3}}, "variant": "relaxed"})) == (
        "Classes of at least 3: Mondrian k=3, variant=relaxed"
    )
