"""Rerun papers in a folder, and write the page and the results."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import sfumato
from sfumato import errors
from sfumato.runtime.files import file_beside
from sfumato.workflow.explore.explore_project import Progress
from sfumato_papers.archive import provenance
from sfumato_papers.cases import Cases
from sfumato_papers.exhibits import Exhibit, concluded, counted
from sfumato_papers.experiments import Explored, Found, Variant, folder_made, run
from sfumato_papers.interpretations import chosen, others
from sfumato_papers.page import reproduction_html
from sfumato_papers.paper import Paper
from sfumato_papers.pictures import chart_svg
from sfumato_papers.reproduced import reached_otherwise, unreached
from sfumato_papers.settings import FIRST_SEED, Condition

PAPERS = ("brickell", "li", "dewri", "sramka", "together")
"""The papers, and what all their methods show on one frontier."""


@dataclass(frozen=True)
class Extent:
    """How much a paper is put to the test.

    Parameters
    ----------
    seeds
        With how many seeds everything that happens by chance is repeated.
    readings
        Whether the paper is also read in every other way that its text allows, one passage at a time.
    control
        Whether everything is repeated with the values to be learned dealt out at random.
    taken
        The readings to take in the place of ours, as ``diversity=distinct``.
    """

    seeds: int = 1
    readings: bool = False
    control: bool = False
    taken: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.seeds < 1:
            raise errors.ParameterError(f"seeds must be at least 1, not {self.seeds}")

    def conditions(self, paper: Paper) -> Conditions:
        """Return what a paper is rerun under."""
        mine = {each.key for each in paper.ambiguities}
        first = Condition(
            readings=chosen(paper.ambiguities, [s for s in self.taken if s.partition("=")[0] in mine])
        )
        otherwise = others(paper.ambiguities, first.readings) if self.readings else {}
        return Conditions(
            tuple(replace(first, seed=first.seed + number) for number in range(self.seeds)),
            {
                ambiguity.switch(reading): replace(first, readings=switches)
                for switches, (ambiguity, reading) in otherwise.items()
            },
            replace(first, is_control=True) if self.control and paper.has_control else None,
        )


@dataclass(frozen=True)
class Conditions:
    """What a paper is rerun under.

    Parameters
    ----------
    seeds
        As we read it, with every seed.
    readings
        Read otherwise, by the switch of the reading.
    control
        With the values to be learned dealt out at random, if that is asked for.
    """

    seeds: tuple[Condition, ...]
    readings: Mapping[str, Condition]
    control: Condition | None

    @property
    def every(self) -> tuple[Condition, ...]:
        """All of them: what matters most first."""
        first, *more = self.seeds
        return (first, *([self.control] if self.control else []), *self.readings.values(), *more)


QUICKLY = Extent(seeds=2, control=True)
"""How much of a paper a quick look puts to the test."""
FULLY = Extent(seeds=10, readings=True, control=True)
"""How much of a paper a full run puts to the test."""


@dataclass(frozen=True)
class Reproduction:
    """Papers that were rerun.

    Parameters
    ----------
    papers
        The exhibits of each.
    quick
        Whether the grids were reduced.
    extent
        With how many seeds, whether by every reading and with a control.
    folder
        Where everything lies.
    provenance
        Of what and with what it was made.
    """

    papers: Mapping[str, tuple[Exhibit, ...]]
    quick: bool
    extent: Extent
    folder: Path
    provenance: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "version": sfumato.__version__,
            "quick": self.quick,
            "seeds": [FIRST_SEED + number for number in range(self.extent.seeds)],
            "readings": list(self.extent.taken),
            "every-reading": self.extent.readings,
            "control": self.extent.control,
            "provenance": dict(self.provenance),
            "papers": {
                key: {
                    "citation": paper(key).citation,
                    "doi": paper(key).doi,
                    "ambiguities": [each.to_dict() for each in paper(key).ambiguities],
                    "verdicts": counted(exhibits),
                    "verdicts-by-any-reading": counted(exhibits, by_any_reading=True),
                    "conclusions": concluded(exhibits),
                    "tests-of-ours": concluded(exhibits, ours=True),
                    "reached-otherwise": [each.to_dict() for each in reached_otherwise(exhibits)],
                    "unreached": [each.to_dict() for each in unreached(exhibits)],
                    "exhibits": [exhibit.to_dict() for exhibit in exhibits],
                }
                for key, exhibits in self.papers.items()
            },
        }

    @property
    def page(self) -> Path:
        """The page that shows everything."""
        return self.folder / "index.html"

    @property
    def results(self) -> Path:
        """The same for programs."""
        return self.folder / "results.json"


_MODULES = {"together": "all_papers"}


def paper(key: str) -> Paper:
    """Return a paper by its name."""
    if key not in PAPERS:
        hint = errors.suggestion(key, PAPERS) or f"; there are {', '.join(PAPERS)} and all"
        raise errors.ParameterError(f"no paper {key!r}{hint}")
    found: Paper = import_module(f"sfumato_papers.{_MODULES.get(key, key)}").PAPER
    return found


def reproduce(
    papers: Iterable[str],
    folder: Path,
    *,
    quick: bool = False,
    extent: Extent | None = None,
    workers: int | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
    begun: Callable[[str], None] = lambda _: None,
) -> Reproduction:
    """Rerun papers, and write ``index.html``, ``results.json`` and every picture into the folder.

    Parameters
    ----------
    papers
        Their names.
    folder
        Where the project files, stores and results lie; what an earlier run left there is not done again.
    quick
        Whether to run reduced grids.
    extent
        With how many seeds, whether by every reading of the papers and with a control; by default ten seeds,
        every reading and a control, and in a quick look two seeds and a control.
    workers
        How many processes work; by default as many as there are processors.
    progress
        Called with how far an experiment has come.
    begun
        Called with a sentence when an experiment begins.
    """
    chosen_papers = {each.key: each for each in map(paper, dict.fromkeys(papers))}
    extent = extent or (QUICKLY if quick else FULLY)
    _check_readings(chosen_papers.values(), extent)
    conditions = {key: extent.conditions(each) for key, each in chosen_papers.items()}
    explored: dict[Variant, Explored] = {}
    needed = _needed(chosen_papers, conditions, quick=quick)
    for number, variant in enumerate(needed, start=1):
        begun(f"Experiment {number} of {len(needed)}: {variant.name}")
        explored[variant] = run(variant, folder, workers=workers, progress=progress)
    exhibits = {
        key: _put_together(each, conditions[key], explored, folder, quick=quick)
        for key, each in chosen_papers.items()
    }
    done = Reproduction(exhibits, quick, extent, folder, provenance(explored.values()))
    _write(done.results, json.dumps(done.to_dict(), indent=1, ensure_ascii=False, allow_nan=False))
    shown = {chosen_papers[key]: each for key, each in exhibits.items()}
    page = reproduction_html(
        shown,
        quick=quick,
        n_seeds=extent.seeds,
        has_readings=extent.readings,
        has_control=extent.control,
    )
    _write(done.page, page)
    for name, drawn in _pictures(exhibits):
        _write(folder / "pictures" / f"{name}.svg", drawn)
    return done


def _check_readings(papers: Iterable[Paper], extent: Extent) -> None:
    """Refuse a reading that none of the papers has."""
    chosen([ambiguity for each in papers for ambiguity in each.ambiguities], extent.taken)


def _needed(
    papers: Mapping[str, Paper], conditions: Mapping[str, Conditions], *, quick: bool
) -> list[Variant]:
    """Return what has to be explored, each once: all papers as we read them before anything else."""
    under = {key: each.every for key, each in conditions.items()}
    most = max(map(len, under.values()), default=0)
    return list(
        dict.fromkeys(
            experiment.under(condition, quick=quick)
            for place in range(most)
            for key, each in papers.items()
            for condition in under[key][place : place + 1]
            for experiment in each.experiments
        )
    )


def _put_together(
    paper: Paper,
    conditions: Conditions,
    explored: Mapping[Variant, Explored],
    folder: Path,
    *,
    quick: bool,
) -> tuple[Exhibit, ...]:
    """Read the exhibits of a paper under every condition, and put them together."""

    def exhibits(condition: Condition) -> tuple[Exhibit, ...]:
        variants = {each.name: each.under(condition, quick=quick) for each in paper.experiments}
        found = Found({name: explored[each] for name, each in variants.items()}, quick, condition)
        with _changes_blamed(paper, variants.values(), folder):
            return paper.exhibits(found)

    by_seed = {each.seed: exhibits(each) for each in conditions.seeds}
    cases = Cases(
        by_seed,
        {switch: exhibits(each) for switch, each in conditions.readings.items()},
        exhibits(conditions.control) if conditions.control else (),
    )
    return (*cases.together(), *paper.over_seeds(by_seed))


@contextmanager
def _changes_blamed(paper: Paper, variants: Iterable[Variant], folder: Path) -> Iterator[None]:
    """Say which project files to look at when a paper's tables cannot be read from what they explored."""
    try:
        yield
    except (LookupError, ValueError, TypeError) as error:
        changed = [each for each in variants if each.is_changed(folder)]
        if not changed:
            raise
        names = ", ".join(each.file_name for each in changed)
        raise errors.UserError(
            f"the tables of {paper.key} cannot be read from what was explored: in {folder} {names} was "
            "changed and may lack what they show; remove the file to have it written anew"
        ) from error


def _pictures(papers: Mapping[str, tuple[Exhibit, ...]]) -> Iterator[tuple[str, str]]:
    """Yield every picture with a name for its file."""
    for key, exhibits in papers.items():
        for exhibit in exhibits:
            drawn = [*(chart_svg(chart) for chart in exhibit.charts), *exhibit.frontiers]
            for number, picture in enumerate(drawn, start=1):
                yield f"{key}-{exhibit.key}{f'-{number}' if len(drawn) > 1 else ''}", picture


def _write(place: Path, text: str) -> None:
    folder_made(place.parent)
    with file_beside(place) as beside:
        beside.write_text(text, encoding="utf-8")
