"""What is told reaches whoever listens, with what it speaks of before it."""

from __future__ import annotations

import pytest

from sfumato import Schema, Table, measure, sanitize
from sfumato.measures import WorkloadUtility
from sfumato.miners.cross_validation import forget
from sfumato.runtime.errors import Stopped
from sfumato.runtime.progress import check_stop, listening, speaking_of, stoppable, tell
from sfumato.sanitizers import AsIs

Bound = tuple[Table, Schema]


def test_nobody_need_listen() -> None:
    tell("nothing")


def test_the_subjects_stand_before_the_words_the_outermost_first() -> None:
    heard: list[str] = []
    with listening(heard.append):
        tell("one")
        with speaking_of("a"), speaking_of("b"):
            tell("two")
        tell("three")
    tell("four")
    assert heard == ["one", "a: b: two", "three"]


def test_an_error_ends_the_listening() -> None:
    heard: list[str] = []

    def broken() -> None:
        with listening(heard.append), speaking_of("a"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken()
    tell("afterwards")
    assert heard == []


def test_work_is_stopped_where_it_asks() -> None:
    check_stop()
    with stoppable(lambda: False):
        check_stop()
        with stoppable(lambda: True), pytest.raises(Stopped):
            check_stop()
        check_stop()


def test_a_measure_tells_miner_and_fold(hospital: Bound) -> None:
    forget()
    release = sanitize(*hospital, AsIs())
    heard: list[str] = []
    with listening(heard.append):
        measure(
            release, [WorkloadUtility(target="sex", miners=("majority", "random-forest trees=3"), folds=2)]
        )
    for miner in ("majority", "random-forest trees=3"):
        words = [f"workload-utility: {miner}, fold {fold} of 2" for fold in (1, 2)]
        place = heard.index(words[0])
        assert heard[place : place + 2] == words
