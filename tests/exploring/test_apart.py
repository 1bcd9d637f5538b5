"""What one piece of work may use, the clock standing still while kernels compile, and what a worker sees."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from sfumato import Schema, Table
from sfumato.exploring import apart, machine
from sfumato.exploring.apart import UNLIMITED, Limits, Original, done_apart
from sfumato.store.base import Store


class Clock:
    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(apart, "time", clock)
    monkeypatch.setattr(machine, "can_be_watched", lambda: False)
    return clock


@pytest.fixture
def hand(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Any:
    """One that began just now, without a process; `stopped` says why it was stopped."""
    hand = apart._Hand.__new__(apart._Hand)
    hand.piece, hand.began, hand.compiles_since, hand.stopped = "work", clock.now, None, ""
    monkeypatch.setattr(hand, "stop", lambda reason: setattr(hand, "stopped", reason))
    return hand


def told(hand: Any, begins: bool) -> None:
    assert list(hand._taken_in("compiles", begins)) == []


def looked_at(hand: Any) -> str:
    apart._stop_beyond([hand], Limits(seconds=10.0))
    return str(hand.stopped)


def test_who_takes_too_long_is_stopped(clock: Clock, hand: Any) -> None:
    clock.now += 10.0
    assert looked_at(hand) == ""
    clock.now += 0.1
    assert looked_at(hand).startswith("it took longer than 10 seconds")


def test_the_time_of_compiling_is_not_counted(clock: Clock, hand: Any) -> None:
    clock.now += 4.0
    told(hand, True)
    clock.now += 60.0
    assert looked_at(hand) == "", "it may take as long as it does"
    told(hand, False)
    clock.now += 5.9
    assert looked_at(hand) == "", "ten seconds of work are not over yet"
    clock.now += 0.2
    assert looked_at(hand) != ""


def test_it_may_be_compiled_more_than_once(clock: Clock, hand: Any) -> None:
    for _ in range(3):
        told(hand, True)
        clock.now += 30.0
        told(hand, False)
        clock.now += 3.0
    assert looked_at(hand) == ""
    clock.now += 1.1
    assert looked_at(hand) != ""


def surroundings(name: str, *_: Any) -> tuple[str | None, str]:
    return os.environ.get(name), str(Path.cwd())


def test_a_worker_has_the_surroundings_of_the_moment_at_which_it_starts(
    hospital: tuple[Table, Schema], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not those of the first one, though all are forked from the same process."""
    store = tmp_path / "people.sqlite"
    Store(store).close()
    original = Original(*hospital, store)

    def seen() -> Any:
        ((_, found),) = done_apart(surroundings, iter(["SFUMATO_SEEN"]), original, 1, UNLIMITED)
        return found

    assert seen() == (None, os.getcwd())
    monkeypatch.setenv("SFUMATO_SEEN", "yes")
    monkeypatch.chdir(tmp_path)
    assert seen() == ("yes", str(tmp_path))
