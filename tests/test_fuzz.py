"""Inputs that once broke a reader, and a few new ones: only sfumato's own errors come out."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

_PLACE = Path(__file__).parent.parent / "tools" / "fuzz.py"
_SPEC = importlib.util.spec_from_file_location("fuzz", _PLACE)
fuzz = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(fuzz)

KEPT = sorted(path for path in fuzz.KEPT.iterdir() if path.name.partition("-")[0] in fuzz.TARGETS)


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.name)
def test_what_once_failed_is_refused_or_read(path: Path) -> None:
    fuzz.attempt(path.name.partition("-")[0], path.read_bytes())


@pytest.mark.parametrize("target", fuzz.TARGETS)
def test_a_seed_is_read_and_its_halves_are_refused_or_read(target: str) -> None:
    reader, seeds = fuzz.TARGETS[target]
    for written in seeds():
        if target in ("csv", "gzip", "parquet", "feather", "hierarchy", "question", "formula"):
            reader(written)
        fuzz.attempt(target, written)
        fuzz.attempt(target, written[: len(written) // 2])
        fuzz.attempt(target, written[len(written) // 2 :])


def test_a_fault_is_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The fuzzer fails a reader that lets another error out, and keeps the input."""

    def fragile(written: bytes) -> None:
        written.decode("ascii")

    monkeypatch.setitem(fuzz.TARGETS, "fragile", (fragile, lambda: [b"abc"]))
    monkeypatch.setattr(fuzz, "KEPT", tmp_path)
    _, failed = fuzz.fuzz("fragile", 0.5)
    assert failed
    (kept, *_) = tmp_path.iterdir()
    with pytest.raises(UnicodeDecodeError):
        kept.read_bytes().decode("ascii")
