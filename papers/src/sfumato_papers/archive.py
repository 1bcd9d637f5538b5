"""Record versions, data and durations of a run, and compare the results of two runs."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from math import isnan
from pathlib import Path
from typing import Any

from sfumato import errors
from sfumato.runtime.files import why_unreadable
from sfumato_papers.experiments import Exploration

_ABSENT = "not there"
_NEAR = 1e-9
"""Figures of the same seed that differ by no more of themselves are the same on another machine."""


def provenance(explored: Iterable[Exploration]) -> dict[str, Any]:
    """Return the versions of Python and of all requirements, hashes of the data, and the durations."""
    every = tuple(explored)
    places = sorted({experiment.project.data_path for experiment in every})
    requirements = [line for line in metadata.requires("sfumato") or () if "extra ==" not in line]
    needed = [re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0] for line in requirements]
    return {
        "python": platform.python_version(),
        "dependencies": {name: metadata.version(name) for name in needed},
        "data": {place.name: hashlib.sha256(place.read_bytes()).hexdigest() for place in places},
        "seconds": {experiment.project.path.stem: round(experiment.seconds, 1) for experiment in every},
    }


@dataclass(frozen=True)
class Deviation:
    """A difference from another run.

    Parameters
    ----------
    paper, exhibit, what
        Where, and which figure or conclusion.
    here, there
        The figure or conclusion of this run and of the other.
    """

    paper: str
    exhibit: str
    what: str
    here: str
    there: str


def read_results(place: Path) -> dict[str, Any]:
    """Read the ``results.json`` of a run, or of the folder that holds it."""
    place = place / "results.json" if place.is_dir() else place
    if problem := why_unreadable(place):
        raise errors.UserError(f"{place} {problem}")
    try:
        read = json.loads(place.read_text(encoding="utf-8"))
        list(_figures(read))
        list(_conclusions(read))
    except (ValueError, LookupError, TypeError, AttributeError):
        raise errors.UserError(
            f"{place} is no results.json of sfumato reproduce, or of an older version"
        ) from None
    results: dict[str, Any] = read
    return results


def deviations(here: Mapping[str, Any], there: Mapping[str, Any]) -> list[Deviation]:
    """Return every difference between two runs, for the papers that both have.

    Figures differ where neither lies in the interval of the other; a figure of a single seed is compared as
    it is.

    Parameters
    ----------
    here, there
        The results, as ``results.json`` has them.
    """
    both = set(here["papers"]) & set(there["papers"])
    ours, theirs = (dict(_figures(results, both)) for results in (here, there))
    held, held_there = (dict(_conclusions(results, both)) for results in (here, there))
    return [
        *(
            Deviation(*place, _shown(ours.get(place)), _shown(theirs.get(place)))
            for place in dict.fromkeys([*ours, *theirs])
            if not _agree(ours.get(place), theirs.get(place))
        ),
        *(
            Deviation(*place, held.get(place, _ABSENT), held_there.get(place, _ABSENT))
            for place in dict.fromkeys([*held, *held_there])
            if held.get(place) != held_there.get(place)
        ),
    ]


_Place = tuple[str, str, str]
_Figure = tuple[float, float, float]
"""A figure and the ends of its interval."""


def _figures(results: Mapping[str, Any], papers: set[str] | None = None) -> Iterator[tuple[_Place, _Figure]]:
    for paper, exhibit in _exhibits(results, papers):
        for cell in exhibit["cells"]:
            if cell["ours"] is not None:
                ours = float(cell["ours"])
                low, high = map(float, cell["interval"] or (ours, ours))
                yield (paper, exhibit["key"], f"{cell['row']}, {cell['column']}"), (ours, low, high)


def _conclusions(results: Mapping[str, Any], papers: set[str] | None = None) -> Iterator[tuple[_Place, str]]:
    for paper, exhibit in _exhibits(results, papers):
        for claim in exhibit["claims"]:
            yield (paper, exhibit["key"], claim["text"]), str(claim["conclusion"])


def _exhibits(results: Mapping[str, Any], papers: set[str] | None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for paper, results_of_paper in results["papers"].items():
        for exhibit in results_of_paper["exhibits"] if papers is None or paper in papers else ():
            yield paper, exhibit


def _agree(one: _Figure | None, other: _Figure | None) -> bool:
    if one is None or other is None:
        return one is other
    return _lies_in(one[0], other[1:]) or _lies_in(other[0], one[1:])


def _lies_in(figure: float, interval: Sequence[float]) -> bool:
    low, high = interval
    near = _NEAR * abs(figure)
    return isnan(figure) or low - near <= figure <= high + near


def _shown(figure: _Figure | None) -> str:
    if figure is None:
        return _ABSENT
    ours, low, high = figure
    return f"{ours:.6g}" if low == high else f"{ours:.6g} ({low:.6g} to {high:.6g})"
