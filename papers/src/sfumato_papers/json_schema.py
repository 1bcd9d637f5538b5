"""Declare the keys that `sfumato reproduce --json` prints."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, UnsetType

from sfumato.results.json_schemas import Shape


class ReproduceShape(Shape):
    """`sfumato reproduce`: our figures next to the published ones.

    Parameters
    ----------
    page, version, quick
        The page that was written, the version that made it, and whether grids were reduced.
    seeds, interpretations, every_interpretation, control
        The seeds, the interpretations that replaced ours, whether every other one was rerun as well, and
        whether there was a control, with what is to be learned dealt out at random.
    provenance
        The versions of Python and of what sfumato needs, a hash of each file of data, and how many seconds
        each experiment took.
    papers
        Each paper with its citation, the passages that allow several interpretations, how many verdicts of
        each kind there are, how many of its conclusions hold and how many tests of ours, the figures that
        only another interpretation than ours reproduces, those that none reproduces, and its exhibits.
    deviations
        With ``--against`` only: every difference from the other run (if there is one, the exit code is 2).
    """

    page: str
    version: str
    quick: bool
    seeds: list[int]
    interpretations: list[str]
    every_interpretation: bool
    control: bool
    provenance: dict[str, Any]
    papers: dict[str, dict[str, Any]]
    deviations: list[dict[str, str]] | UnsetType = UNSET
