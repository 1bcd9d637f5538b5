"""Passages of a paper that allow several interpretations, and what each of them changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sfumato import errors


@dataclass(frozen=True)
class Interpretation:
    """One way to read a passage.

    Parameters
    ----------
    key
        Its name, as ``distinct``.
    words
        What is then computed.
    """

    key: str
    words: str


@dataclass(frozen=True)
class Ambiguity:
    """A passage that can be read in more than one way: a switch of the experiments.

    Parameters
    ----------
    key
        Its name, as ``diversity``.
    question
        What the paper leaves open.
    quotation
        The words of the paper.
    source
        Section and page.
    readings
        The ways to read it; the first is ours.
    why
        Why the first.
    """

    key: str
    question: str
    quotation: str
    source: str
    readings: tuple[Interpretation, ...]
    why: str

    @property
    def ours(self) -> Interpretation:
        """The reading that is taken where nothing else is said."""
        return self.readings[0]

    def switch(self, reading: Interpretation) -> str:
        """Return how a reading is chosen: ``diversity=distinct``."""
        return f"{self.key}={reading.key}"

    def to_dict(self) -> dict[str, object]:
        """Return plain data for JSON."""
        return {
            "key": self.key,
            "question": self.question,
            "quotation": self.quotation,
            "source": self.source,
            "readings": {each.key: each.words for each in self.readings},
            "ours": self.ours.key,
            "why": self.why,
        }


Switches = tuple[str, ...]
"""The readings that are not ours, each as ``diversity=distinct``, in the order of the paper's ambiguities."""


def chosen(ambiguities: Iterable[Ambiguity], given: Iterable[str]) -> Switches:
    """Check readings that somebody wants, and leave out those that are ours anyway.

    Parameters
    ----------
    ambiguities
        All that may be chosen among.
    given
        Switches, as ``diversity=distinct``.
    """
    known = {a.switch(r): (a, r) for a in ambiguities for r in a.readings}
    wanted: dict[str, str] = {}
    for switch in given:
        if switch not in known:
            hint = errors.suggestion(switch, known) or f"; there are {', '.join(known) or 'none'}"
            raise errors.ParameterError(f"no reading {switch!r}{hint}")
        ambiguity, reading = known[switch]
        if wanted.setdefault(ambiguity.key, switch) != switch:
            raise errors.ParameterError(f"{ambiguity.key} can be read in one way at a time, not in two")
        if reading == ambiguity.ours:
            wanted[ambiguity.key] = ""
    return tuple(switch for switch in known if switch in wanted.values())


def others(
    ambiguities: Iterable[Ambiguity], taken: Switches
) -> Mapping[Switches, tuple[Ambiguity, Interpretation]]:
    """Return every way to read the paper that differs from what is taken in one passage."""
    found: dict[Switches, tuple[Ambiguity, Interpretation]] = {}
    every = tuple(ambiguities)
    for ambiguity in every:
        at_hand = [s for s in taken if s.partition("=")[0] == ambiguity.key] or [
            ambiguity.switch(ambiguity.ours)
        ]
        rest = [s for s in taken if s not in at_hand]
        for reading in ambiguity.readings:
            if ambiguity.switch(reading) not in at_hand:
                found[chosen(every, [*rest, ambiguity.switch(reading)])] = (ambiguity, reading)
    return found
