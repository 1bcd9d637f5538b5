"""Inputs that once broke a reader, and a few new ones: only sfumato's own errors come out, in one line."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest
from tools import fuzz, fuzzed

KEPT = sorted(path for path in fuzzed.KEPT.iterdir() if path.name.partition("-")[0] in fuzzed.TARGETS)


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where faults that a test makes are kept."""
    place = tmp_path / "kept"
    monkeypatch.setattr(fuzz, "KEPT", place)
    return place


def fragile(written: bytes) -> None:
    written.decode("ascii")


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.name)
def test_what_once_failed_is_refused_or_read(path: Path) -> None:
    fuzzed.attempt(path.name.partition("-")[0], path.read_bytes())


@pytest.mark.parametrize("target", fuzzed.TARGETS)
def test_a_seed_is_read_and_its_halves_are_refused_or_read(target: str) -> None:
    """A seed that is refused would leave most of the reader untried."""
    reader, seeds = fuzzed.TARGETS[target]
    for written in seeds():
        reader(written)
        fuzzed.attempt(target, written)
        fuzzed.attempt(target, written[: len(written) // 2])
        fuzzed.attempt(target, written[len(written) // 2 :])


def test_a_fault_is_seen_and_its_input_kept(
    monkeypatch: pytest.MonkeyPatch, kept: Path, tmp_path: Path
) -> None:
    monkeypatch.setitem(fuzzed.TARGETS, "fragile", (fragile, lambda: [b"abc"]))
    tally = fuzz.Tally(tmp_path / "tally")
    fuzz.drawn("fragile", 0.5, tally)
    assert tally.failed
    (first, *_) = kept.iterdir()
    with pytest.raises(UnicodeDecodeError):
        fragile(first.read_bytes())


def test_a_panic_is_a_fault_that_hypothesis_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        pass

    def panicking(written: bytes) -> None:
        raise PanicException("far")

    monkeypatch.setitem(fuzzed.TARGETS, "panicking", (panicking, list))
    with pytest.raises(RuntimeError, match="PanicException"):
        fuzzed.attempt("panicking", b"")


def test_what_was_tried_last_is_in_a_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "tally"
    tally = fuzz.Tally(path)
    assert fuzz.Tally.read(path) == (0, 0, b"")
    tally.note(b"a longer input")
    tally.note(b"short")
    assert fuzz.Tally.read(path) == (2, 0, b"short")


def test_a_process_that_crashes_is_a_fault(
    monkeypatch: pytest.MonkeyPatch, kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A stand-in for the process notes one input and kills itself, as a library in C may."""
    program = tmp_path / "python"
    program.write_text(
        f"#!{sys.executable}\nimport os, struct, sys\n"
        "open(sys.argv[-1], 'wb').write(struct.pack('QQQ', 7, 0, 3) + b'bad')\nos.abort()\n"
    )
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    found = fuzz.apart("drawn", "csv", 60)
    assert (found["tried"], found["failed"]) == (7 * fuzz.MOST_FAULTS, fuzz.MOST_FAULTS)
    assert [path.read_bytes() for path in kept.iterdir()] == [b"bad"]
    assert "csv: ended with -6; kept as csv-" in capsys.readouterr().out


def test_both_ways_share_the_time_and_without_atheris_it_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def counted(way: str, target: str, seconds: float) -> dict[str, object]:
        return {"way": way, "target": target, "seconds": seconds, "failed": 0}

    monkeypatch.setattr(fuzz, "apart", counted)
    monkeypatch.setattr(sys, "argv", ["fuzz", "--minutes", "2", "csv", "formula"])
    for spec, first, ways in (
        (True, [], ["drawn", "guided"]),
        (None, ["atheris is not installed"], ["drawn"]),
    ):
        monkeypatch.setattr(importlib.util, "find_spec", lambda name, spec=spec: spec)
        with pytest.raises(SystemExit) as ended:
            fuzz.main()
        lines = capsys.readouterr().out.splitlines()
        assert not ended.value.code
        assert [line.partition(",")[0] for line in lines[: len(first)]] == first
        found = [json.loads(line) for line in lines[len(first) :]]
        assert [each["way"] for each in found] == [way for way in ways for _ in range(2)]
        assert sum(each["seconds"] for each in found) == 120


def test_only_modules_that_read_are_watched() -> None:
    """A compiled kernel cannot be: what atheris puts in does not compile."""
    unwatched = set(fuzz.unwatched())
    assert {
        "sfumato",
        "sfumato.kernels.row_groups",
        "sfumato.interfaces.cli.explore",
    } <= unwatched
    assert not unwatched & {
        "sfumato.reading",
        "sfumato.reading.excel",
        "sfumato.data.hierarchy",
        "sfumato.data.table",
    }
    for name in fuzz.WATCHED:
        assert importlib.util.find_spec(name), f"{name} is watched and does not exist"
