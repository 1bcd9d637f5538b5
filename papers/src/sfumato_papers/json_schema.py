"""What `sfumato reproduce --json` prints, key by key."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, UnsetType

from sfumato.results.json_schemas import Shape


class ReproduceShape(Shape):
    """`sfumato reproduce`: what came out beside what was published.

    Parameters
    ----------
    page, version, quick
        The page that was written, the version that made it, and whether grids were reduced.
    seeds, readings, every_reading, control
        The seeds, the readings that were taken in the place of ours, whether the papers were read in every
        other way as well, and whether with what is to be learned dealt out at random.
    provenance
        The versions of Python and of what sfumato needs, a hash of each file of data, and how many seconds
        each experiment took.
    papers
        Each paper with its citation, the passages that can be read in more than one way, how many verdicts of
        each kind there are, how many of its conclusions hold and how many tests of ours, the figures that are
        reached under another reading than ours or under none, and its exhibits.
    deviations
        With ``--against`` only: what came out otherwise in the other run (if anything, the exit code is 2).
    """

    page: str
    version: str
    quick: bool
    seeds: list[int]
    readings: list[str]
    every_reading: bool
    control: bool
    provenance: dict[str, Any]
    papers: dict[str, dict[str, Any]]
    deviations: list[dict[str, str]] | UnsetType = UNSET
