"""What is kept of costly results, and what is forgotten."""

from __future__ import annotations

from sfumato.remembered import _KEPT, forget, remembered


def test_a_result_is_made_once_for_a_key() -> None:
    made: list[int] = []

    def make() -> list[int]:
        made.append(1)
        return [1, 2]

    first = remembered(("made once", 1), make)
    assert remembered(("made once", 1), make) is first
    assert remembered(("made once", 2), make) is not first
    assert len(made) == 2


def test_the_least_recently_used_is_forgotten() -> None:
    oldest = remembered(("forgotten", 0), object)
    for number in range(1, _KEPT):
        remembered(("forgotten", number), object)
    assert remembered(("forgotten", 0), object) is oldest
    second = remembered(("forgotten", 1), object)
    for number in range(_KEPT, 2 * _KEPT - 1):
        remembered(("forgotten", number), object)
    assert remembered(("forgotten", 1), object) is second
    assert remembered(("forgotten", 0), object) is not oldest


def test_everything_can_be_forgotten() -> None:
    before = remembered(("everything", 1), object)
    forget()
    assert remembered(("everything", 1), object) is not before
