"""Declare passages of a paper that allow several interpretations, and choose among them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sfumato import errors


@dataclass(frozen=True)
class Interpretation:
    """One interpretation of a passage.

    Parameters
    ----------
    key
        Its name, as ``distinct``.
    words
        What it computes.
    """

    key: str
    words: str


@dataclass(frozen=True)
class Ambiguity:
    """A passage that allows several interpretations: a switch of the experiments.

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
    interpretations
        All of them; the first is ours.
    why
        Why we chose the first.
    """

    key: str
    question: str
    quotation: str
    source: str
    interpretations: tuple[Interpretation, ...]
    why: str

    @property
    def ours(self) -> Interpretation:
        """The interpretation that is used by default."""
        return self.interpretations[0]

    def switch(self, interpretation: Interpretation) -> str:
        """Return the switch that chooses an interpretation: ``diversity=distinct``."""
        return f"{self.key}={interpretation.key}"

    def to_dict(self) -> dict[str, object]:
        """Return plain data for JSON."""
        return {
            "key": self.key,
            "question": self.question,
            "quotation": self.quotation,
            "source": self.source,
            "interpretations": {
                interpretation.key: interpretation.words for interpretation in self.interpretations
            },
            "ours": self.ours.key,
            "why": self.why,
        }


Switches = tuple[str, ...]
"""Interpretations that are not ours, each as ``diversity=distinct``, in the order of the ambiguities."""


def chosen(ambiguities: Iterable[Ambiguity], given: Iterable[str]) -> Switches:
    """Check the interpretations that are wanted, and omit those that are ours anyway.

    Parameters
    ----------
    ambiguities
        The passages to interpret.
    given
        Switches, as ``diversity=distinct``.
    """
    known = {a.switch(r): (a, r) for a in ambiguities for r in a.interpretations}
    wanted: dict[str, str] = {}
    for switch in given:
        if switch not in known:
            hint = errors.suggestion(switch, known) or f"; there are {', '.join(known) or 'none'}"
            raise errors.ParameterError(f"no interpretation {switch!r}{hint}")
        ambiguity, interpretation = known[switch]
        if wanted.setdefault(ambiguity.key, switch) != switch:
            raise errors.ParameterError(f"{ambiguity.key} has one interpretation at a time, not two")
        if interpretation == ambiguity.ours:
            wanted[ambiguity.key] = ""
    return tuple(switch for switch in known if switch in wanted.values())


def others(
    ambiguities: Iterable[Ambiguity], current: Switches
) -> Mapping[Switches, tuple[Ambiguity, Interpretation]]:
    """Return the switches of every interpretation that differs from the current one in a single passage."""
    alternatives: dict[Switches, tuple[Ambiguity, Interpretation]] = {}
    every = tuple(ambiguities)
    for ambiguity in every:
        used = [s for s in current if s.partition("=")[0] == ambiguity.key]
        rest = [s for s in current if s not in used]
        used = used or [ambiguity.switch(ambiguity.ours)]
        for interpretation in ambiguity.interpretations:
            if ambiguity.switch(interpretation) not in used:
                alternatives[chosen(every, [*rest, ambiguity.switch(interpretation)])] = (
                    ambiguity,
                    interpretation,
                )
    return alternatives
