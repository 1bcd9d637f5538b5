"""Plug-ins that misbehave: each is told in one line by kind, takes nothing with it, and shows no value."""

from __future__ import annotations

import json
import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import sfumato as sf
from sfumato.registry.declarations import Axis, Better
from sfumato.results.measurement import Measure

from .conftest import begin, command
from .test_plugin import ATTRIBUTES, PEOPLE

MODULE = '''
import ctypes, os, signal, sys, time
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sfumato import Recipe, Table, register
from sfumato.models import KAnonymity, PrivacyModel
from sfumato.results.released_column import Cells
from sfumato.results.measurement import Measure
from sfumato.results.linked_release import released


def raises(*_): raise ValueError("MARKER")
def exits(*_): sys.exit(0)
def leaves(*_): os._exit(0)
def dies(*_): os.kill(os.getpid(), signal.SIGKILL)
def crashes(*_): ctypes.string_at(0)
def recurses(*_): return recurses()
def hangs(*_): time.sleep(3600)
def waits(*_):
    open("waiting", "w").close()
    time.sleep(3600)
def eats(*_):
    eaten = []
    while True:
        eaten.append(np.ones(10_000_000))
        time.sleep(0.02)
def nothing(*_): return None
def text(*_): return "MARKER"
def itself(table, *_): return table
def of_others(release):
    return replace(release, schema=replace(release.schema, attributes=release.schema.attributes[1:]))
def sound(release): return release
def short(release): return replace(release, weights=release.weights[1:])
def beyond(release): return changed(release, moved(release.cells["sex"], 7))
def below(release): return changed(release, moved(release.cells["sex"], -1))
def moved(cells, by): return Cells(cells.codes + by, cells.labels)
def shorter(release): return changed(release, release.cells["sex"].take(np.arange(3)))
def untold(release): return changed(release, Cells(release.cells["sex"].codes, (1, 2)))
def listed(release): return changed(release, ["MARKER"])
def named(release): return replace(release, cells={**release.cells, "name": release.cells["sex"]})
def lacking(release): return replace(release, cells={"sex": release.cells["sex"]})
def more(release): return replace(release, weights=release.weights * 2)
def negative(release): return replace(release, weights=-release.weights)
def relinked(release, rows): return replace(release, origin=replace(release.origin, linked_rows=rows))
def elsewhere(release): return relinked(release, release.origin.rows + 5)
def twice(release): return relinked(release, np.zeros_like(release.origin.rows))
def unlinked(release): return release.unlinked()
def larger(release): return replace(release, n_original=release.n_original + 1)
def ungrouped(release): return replace(release, form="two-tables")
def changed(release, cells): return replace(release, cells={**release.cells, "sex": cells})


@register
@dataclass(frozen=True)
class Bad:
    """Misbehaves."""
    how: str
    def sanitize(self, table, schema, rng):
        release = released(table, schema, {})
        method = globals()[self.how]
        return method(table) if self.how in BEFORE else method(release)

BEFORE = (
    "raises", "exits", "leaves", "dies", "crashes", "recurses", "hangs", "waits", "eats", "nothing", "text",
    "itself",
)


@register
@dataclass(frozen=True)
class Liar:
    """Promises."""
    model: PrivacyModel = KAnonymity(5)
    def sanitize(self, table, schema, rng): return released(table, schema, {})


@register
@dataclass(frozen=True)
class BadModel(PrivacyModel):
    """Misbehaves."""
    how: str = "raises"
    limits: float = 1.0
    guards: ClassVar = "identity"
    monotone: ClassVar = True
    better: ClassVar = "higher"
    parameter: ClassVar = "limits"
    def scores(self, classes):
        return np.ones(3) if self.how == "short" else globals()[self.how](classes)


@register
@dataclass(frozen=True)
class BadMeasure(Measure):
    """Misbehaves."""
    how: str
    axis: ClassVar = "privacy"
    better: ClassVar = "lower"
    def measure(self, release):
        return globals()[self.how](release)


@register
@dataclass(frozen=True)
class BadSearch:
    """Misbehaves."""
    how: str
    def propose(self, table, schema, rng):
        if self.how == "listed": return ["MARKER"]
        if self.how == "endless": return iter(lambda: Recipe("as-is"), None)
        return globals()[self.how](table)
'''

PROJECT = f"""\
policy.recipient = "none"
[data]
path = "people.csv"

{ATTRIBUTES}
[measure]
privacy = ["k-anonymity"]
utility = ["general-loss"]

[[candidates]]
sanitizer = "suppress-quasi-identifiers"

[[candidates]]
sanitizer = "full-domain"
levels = {{ age = 3, sex = 1, zip = [2, 3] }}
model = {{ k-anonymity = {{ k = 1 }} }}
"""
N_GOOD = 3


@pytest.fixture(scope="module")
def plugged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the plug-in, as an installer leaves it."""
    folder = tmp_path_factory.mktemp("plugged")
    (folder / "misbehaving.py").write_text(MODULE, encoding="utf-8")
    facts = folder / "misbehaving-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: misbehaving\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[sfumato.plugins]\nmisbehaving = misbehaving\n")
    return folder


def explored(
    plugged: Path, folder: Path, candidates: str, *options: str, measures: str = ""
) -> tuple[int, list[str], Any]:
    """Explore with what is tried beside three good candidates: exit code, complaints, JSON."""
    (folder / "people.csv").write_text(PEOPLE, encoding="utf-8")
    project = PROJECT.replace('["k-anonymity"]', f'["k-anonymity"{measures}]') + candidates
    (folder / "people.toml").write_text(project, encoding="utf-8")
    done = command("explore", "--json", *options, plugged=plugged, cwd=folder)
    everything = done.stdout + done.stderr
    assert "MARKER" not in everything
    assert "Traceback" not in everything
    assert not any(name in everything for name in ("Ann", "01307"))
    said = [line for line in done.stderr.splitlines() if line.startswith("sfumato: ")]
    return done.returncode, said, json.loads(done.stdout or "{}")


def bad(kind: str, *hows: str) -> str:
    listed = ", ".join(f'"{how}"' for how in hows)
    return f'\n[[candidates]]\nsanitizer = "{kind}"\nhow = [{listed}]\n'


RAISING = {"raises": "ValueError", "exits": "SystemExit", "recurses": "RecursionError"}
RETURNING = {
    "nothing": "returns NoneType and no LinkedRelease",
    "text": "returns str and no LinkedRelease",
    "itself": "returns Table and no LinkedRelease",
    "of_others": "with another schema than it was given",
    "short": "with rows that the table does not have",
    "beyond": "column 'sex' has codes without a label",
    "below": "column 'sex' has codes without a label",
    "shorter": "column 'sex' has not one cell for each of 8 rows",
    "untold": "column 'sex' has labels that are no texts",
    "listed": "column 'sex' is list and no Cells",
    "named": "with the column 'name', which is identifying",
    "lacking": "without the column 'age'",
    "more": "with 16 records, more than the 8 of the table",
    "negative": "with rows that stand for no record",
    "unlinked": "returns Release and no LinkedRelease",
    "elsewhere": "with rows that the table does not have",
    "twice": "with more records of a row than the table has",
    "larger": "of 9 records, where the table has 8",
    "ungrouped": "in a form that cannot be written",
}


@pytest.mark.thorough("with one worker", but=1)
@pytest.mark.parametrize("workers", ["1", "2"])
def test_what_raises_or_returns_nonsense_is_told_once_by_kind_and_all_others_are_made(
    plugged: Path, tmp_path: Path, workers: str
) -> None:
    candidates = bad("bad", *RAISING, *RETURNING) + '\n[[candidates]]\nsanitizer = "liar"\n'
    code, said, facts = explored(plugged, tmp_path, candidates, "--workers", workers)
    n_bad = len(RAISING) + len(RETURNING) + 1
    assert (code, facts["made"], facts["failed"]) == (0, N_GOOD, n_bad)
    expected = [f"the sanitizer 'bad' raises {kind};" for kind in RAISING.values()]
    expected += list(RETURNING.values())
    expected += ["the sanitizer 'liar' promised k-anonymity with k = 5 and reached 1"]
    for words in expected:
        assert any(words in line for line in said), words
    assert len(said) == len(set(expected))
    assert all(line.endswith("; repair or uninstall its plug-in") for line in said)
    reasons = json.loads(command("frontier", "--json", plugged=plugged, cwd=tmp_path).stdout)["infeasible"]
    assert len(reasons) == n_bad
    assert all(any(each["reason"] in line for line in said) for each in reasons)


def test_what_takes_its_process_with_it_loses_only_its_own_candidate(plugged: Path, tmp_path: Path) -> None:
    code, said, facts = explored(plugged, tmp_path, bad("bad", "leaves", "dies"), "--workers", "2")
    assert (code, facts["made"], facts["failed"]) == (0, N_GOOD, 2)
    assert len(said) == 2
    assert "the sanitizer 'bad' was given up: its process ended by itself, with code 0" in "".join(said)
    assert "the sanitizer 'bad' was given up: its process was killed (signal 9)" in "".join(said)


def test_what_hangs_or_eats_the_memory_is_stopped_and_told_with_the_remedy(
    plugged: Path, tmp_path: Path
) -> None:
    code, said, facts = explored(plugged, tmp_path, bad("bad", "eats"), "--workers", "2", "--memory", "1GB")
    assert (code, facts["made"], facts["failed"]) == (0, N_GOOD, 1)
    assert len(said) == 1
    assert "used more than 1 GB of memory; go on with fewer --workers or more --memory" in said[0]
    # the others are known by now: on a busy machine they might take as long
    limits = ("--workers", "2", "--time-limit", "2")
    _, said, facts = explored(plugged, tmp_path, bad("bad", "hangs"), *limits)
    assert (facts["known"], facts["made"], facts["failed"]) == (N_GOOD, 0, 2)
    assert len(said) == 1
    assert "it took longer than 2 seconds; give it more with --time-limit" in said[0]


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("sanitize", "out.csv", "bad", "how=waits"), id="sanitize"),
        pytest.param(("explore", "people.toml", "--workers", "1"), id="explore in this process"),
        pytest.param(("explore", "people.toml", "--workers", "2"), id="explore with workers"),
    ],
)
def test_without_a_limit_the_first_interrupt_ends_what_hangs(
    words: tuple[str, ...], plugged: Path, tmp_path: Path, patience: float
) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE, encoding="utf-8")
    (tmp_path / "people.toml").write_text(PROJECT + bad("bad", "waits"), encoding="utf-8")
    # a shell that runs the tests in the background has them, and what they start, ignore Ctrl-C
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        begun = begin(*words, plugged=plugged, cwd=tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)
    with begun as process:
        try:
            given_up = time.monotonic() + patience
            while not (tmp_path / "waiting").exists():
                assert process.poll() is None
                assert time.monotonic() < given_up
                time.sleep(0.05)
            os.killpg(process.pid, signal.SIGINT)
            _, said = process.communicate(timeout=patience)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130
    assert said.splitlines()[-1].startswith("sfumato: stopped; ")
    assert "Traceback" not in said
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.thorough("tests/explore/test_run.py")
def test_a_measure_that_fails_loses_nothing_that_was_measured_before(plugged: Path, tmp_path: Path) -> None:
    assert explored(plugged, tmp_path, "", "--workers", "1")[0] == 0
    measures = ', { bad-measure = { how = "raises" } }'
    code, said, facts = explored(plugged, tmp_path, "", "--workers", "2", measures=measures)
    assert (code, facts["infeasible"], facts["failed"]) == (0, 0, 0)
    assert len(said) == 1
    assert "the measure 'bad-measure' raises ValueError" in said[0]
    found = json.loads(command("frontier", "--all", "--json", plugged=plugged, cwd=tmp_path).stdout)
    assert len(found["candidates"]) == N_GOOD
    assert all(len(each["measurements"]) == 2 for each in found["candidates"])


@dataclass(frozen=True)
class Whatever(Measure):
    """Returns what it is told to, in Python."""

    found: object

    axis: ClassVar[Axis] = "privacy"
    better: ClassVar[Better] = "lower"

    def measure(self, release: sf.Release) -> Any:
        """Return it, or exit with it."""
        if self.found == "exit":
            raise SystemExit("MARKER")
        return (self.measurement(self.found),) if isinstance(self.found, np.integer) else self.found  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ("exit", "raises SystemExit"),
        (None, "returns NoneType and no tuple of measurements"),
        (("MARKER",), "returns tuple and no tuple of measurements"),
        (np.int64(3), "returns a measurement that is no plain number"),
    ],
)
def test_what_a_measure_returns_is_checked_in_python_too(found: object, words: str) -> None:
    release = sf.sanitize(*sf.datasets.hospital(), sf.sanitizers.AsIs())
    with pytest.raises(sf.errors.MethodFailed) as caught:
        sf.measure(release, [Whatever(found)])
    assert str(caught.value) == f"the measure 'whatever' {words}; repair or uninstall its plug-in"


@pytest.mark.thorough("the first test of this file")
def test_a_model_that_fails_is_named_and_not_the_method_that_asked_it(plugged: Path, tmp_path: Path) -> None:
    faults = {
        "raises": "the model 'bad-model' raises ValueError",
        "nothing": "the model 'bad-model' raises TypeError",
        "leaves": "its process ended by itself, with code 0",
    }
    listed = ", ".join(f'"{how}"' for how in faults)
    candidates = (
        f'\n[[candidates]]\nsanitizer = "mondrian"\nmodel = {{ bad-model = {{ how = [{listed}] }} }}\n'
    )
    code, said, facts = explored(plugged, tmp_path, candidates, "--workers", "2")
    assert (code, facts["made"], facts["failed"]) == (0, N_GOOD, len(faults))
    assert len(said) == len(faults)
    for words in faults.values():
        assert any(words in line for line in said), words


@pytest.mark.thorough("with one worker", but=1)
@pytest.mark.parametrize("workers", ["1", "2"])
def test_searches_that_fail_are_told_and_the_rest_is_made(
    plugged: Path, tmp_path: Path, workers: str
) -> None:
    faults = {
        "raises": "the search 'bad-search' raises ValueError",
        "exits": "the search 'bad-search' raises SystemExit",
        "nothing": "the search 'bad-search' raises TypeError",
        "listed": "the search 'bad-search' proposes something else than recipes",
        "endless": "the search 'bad-search' proposes more than 20,000 candidates",
    }
    if workers == "2":
        faults["leaves"] = "the search 'bad-search' was given up: its process ended by itself, with code 0"
    candidates = "".join(f'\n[[candidates]]\nsearch = "bad-search"\nhow = "{how}"\n' for how in faults)
    code, said, facts = explored(plugged, tmp_path, candidates, "--workers", workers)
    assert (code, facts["made"]) == (0, N_GOOD)
    assert len(said) == len(faults)
    for words in faults.values():
        assert any(words in line for line in said), words


@pytest.mark.thorough("the first test of this file")
def test_where_every_candidate_fails_the_exit_code_is_1_and_it_is_tried_again(
    plugged: Path, tmp_path: Path
) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE, encoding="utf-8")
    only = PROJECT.partition("[[candidates]]")[0] + bad("bad", "raises", "exits")
    (tmp_path / "people.toml").write_text(only, encoding="utf-8")
    for _ in range(2):
        done = command("explore", "--workers", "1", plugged=plugged, cwd=tmp_path)
        assert done.returncode == 1
        said = [line for line in done.stderr.splitlines() if line.startswith("sfumato: ")]
        assert len(said) == 3
        assert (
            "no candidate could be made; the last reason: the sanitizer 'bad' raises SystemExit" in said[-1]
        )


@pytest.mark.thorough("the first test of this file")
def test_one_release_by_a_method_that_fails_is_one_line(plugged: Path, tmp_path: Path) -> None:
    explored(plugged, tmp_path, "", "--workers", "1")
    for how, words in {"raises": "raises ValueError", "exits": "raises SystemExit", **RETURNING}.items():
        if how not in ("raises", "exits", "nothing", "named"):
            continue
        done = command("sanitize", "out.csv", "bad", f"how={how}", plugged=plugged, cwd=tmp_path)
        assert done.returncode == 1
        assert words in done.stderr
        assert "MARKER" not in done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert not (tmp_path / "out.csv").exists()


def test_one_release_by_a_method_or_a_measure_that_takes_its_process_with_it_is_one_line(
    plugged: Path, tmp_path: Path
) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE, encoding="utf-8")
    (tmp_path / "people.toml").write_text(PROJECT, encoding="utf-8")
    measured = PROJECT.replace('["k-anonymity"]', '["k-anonymity", { bad-measure = { how = "crashes" } }]')
    (tmp_path / "measured.toml").write_text(measured, encoding="utf-8")
    crash = "its process crashed (signal 11); leave the method out or repair it"
    for what, words in {
        ("bad", "how=crashes", "people"): f"the sanitizer 'bad' was given up: {crash}",
        ("bad", "how=leaves", "people"): "the sanitizer 'bad' was given up: its process ended by itself",
        ("as-is", "measured"): f"the measure 'bad-measure' was given up: {crash}",
    }.items():
        *method, project = what
        done = command(
            "sanitize", "out.csv", *method, "--project", f"{project}.toml", plugged=plugged, cwd=tmp_path
        )
        assert (done.returncode, len(done.stderr.splitlines())) == (1, 1), done.stderr
        assert done.stderr.startswith(f"sfumato: {words}")
        assert not (tmp_path / "out.csv").exists()


def test_a_method_of_a_plugin_makes_the_release_that_it_makes_in_this_process(
    plugged: Path, tmp_path: Path
) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE, encoding="utf-8")
    (tmp_path / "people.toml").write_text(PROJECT, encoding="utf-8")
    done = command("sanitize", "out.csv", "bad", "how=sound", "--json", plugged=plugged, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["recipe"] == "bad how=sound"
    assert len((tmp_path / "out.csv").read_text("utf-8").splitlines()) == 9
