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
from sfumato_papers.experiments import Exploration, Explorations, Variant, folder_made, run
from sfumato_papers.interpretations import chosen, others
from sfumato_papers.page import reproduction_html
from sfumato_papers.paper import Paper
from sfumato_papers.pictures import chart_svg
from sfumato_papers.reproduced import not_reproduced, reproduced_otherwise
from sfumato_papers.settings import FIRST_SEED, Setting, Settings

PAPERS = ("brickell", "li", "dewri", "sramka", "all-papers")
"""The papers, and what all their methods show on one frontier."""


@dataclass(frozen=True)
class Extent:
    """How thoroughly a paper is tested.

    Parameters
    ----------
    seeds
        How many seeds everything random is repeated with.
    every_interpretation
        Whether the paper is also rerun under every other interpretation, one passage at a time.
    control
        Whether everything is repeated with the values to be learned dealt out at random.
    interpretations
        Those that replace ours, as ``diversity=distinct``.
    """

    seeds: int = 1
    every_interpretation: bool = False
    control: bool = False
    interpretations: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.seeds < 1:
            raise errors.ParameterError(f"seeds must be at least 1, not {self.seeds}")

    def settings(self, paper: Paper) -> Settings:
        """Return all settings in which a paper is rerun."""
        mine = {ambiguity.key for ambiguity in paper.ambiguities}
        first = Setting(
            interpretations=chosen(
                paper.ambiguities, [s for s in self.interpretations if s.partition("=")[0] in mine]
            )
        )
        otherwise = others(paper.ambiguities, first.interpretations) if self.every_interpretation else {}
        return Settings(
            tuple(replace(first, seed=first.seed + number) for number in range(self.seeds)),
            {
                ambiguity.switch(interpretation): replace(first, interpretations=switches)
                for switches, (ambiguity, interpretation) in otherwise.items()
            },
            replace(first, is_control=True) if self.control and paper.has_control else None,
        )


QUICKLY = Extent(seeds=2, control=True)
"""The extent of a quick look."""
FULLY = Extent(seeds=10, every_interpretation=True, control=True)
"""The extent of a full run."""


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
        How many seeds, whether every interpretation, and whether a control.
    folder
        The folder of all files.
    provenance
        Versions, hashes of the data and durations.
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
            "interpretations": list(self.extent.interpretations),
            "every-interpretation": self.extent.every_interpretation,
            "control": self.extent.control,
            "provenance": dict(self.provenance),
            "papers": {
                key: {
                    "citation": paper(key).citation,
                    "doi": paper(key).doi,
                    "ambiguities": [ambiguity.to_dict() for ambiguity in paper(key).ambiguities],
                    "verdicts": counted(exhibits),
                    "verdicts-by-any-interpretation": counted(exhibits, by_any_interpretation=True),
                    "conclusions": concluded(exhibits),
                    "tests-of-ours": concluded(exhibits, ours=True),
                    "reproduced-otherwise": [match.to_dict() for match in reproduced_otherwise(exhibits)],
                    "not-reproduced": [match.to_dict() for match in not_reproduced(exhibits)],
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


def paper(key: str) -> Paper:
    """Return a paper by its name."""
    if key not in PAPERS:
        hint = errors.suggestion(key, PAPERS) or f"; there are {', '.join(PAPERS)} and all"
        raise errors.ParameterError(f"no paper {key!r}{hint}")
    rerun: Paper = import_module(f"sfumato_papers.{key.replace('-', '_')}").PAPER
    return rerun


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
        The folder of project files, stores and results; nothing that an earlier run left there is repeated.
    quick
        Whether to run reduced grids.
    extent
        How many seeds, whether every interpretation, and whether a control; by default ten seeds, every
        interpretation and a control, and in a quick look two seeds and a control.
    workers
        How many processes work; by default as many as there are processors.
    progress
        Called with how far an experiment has come.
    begun
        Called with a sentence when an experiment begins.
    """
    chosen_papers = {rerun.key: rerun for rerun in map(paper, dict.fromkeys(papers))}
    extent = extent or (QUICKLY if quick else FULLY)
    # refuse an interpretation that none of the papers has, before anything is run
    chosen([a for rerun in chosen_papers.values() for a in rerun.ambiguities], extent.interpretations)
    settings = {key: extent.settings(rerun) for key, rerun in chosen_papers.items()}
    explored: dict[Variant, Exploration] = {}
    needed = _needed(chosen_papers, settings, quick=quick)
    for number, variant in enumerate(needed, start=1):
        begun(f"Experiment {number} of {len(needed)}: {variant.name}")
        explored[variant] = run(variant, folder, workers=workers, progress=progress)
    exhibits = {
        key: _merged_exhibits(rerun, settings[key], explored, folder, quick=quick)
        for key, rerun in chosen_papers.items()
    }
    done = Reproduction(exhibits, quick, extent, folder, provenance(explored.values()))
    _write(done.results, json.dumps(done.to_dict(), indent=1, ensure_ascii=False, allow_nan=False))
    shown = {chosen_papers[key]: merged for key, merged in exhibits.items()}
    page = reproduction_html(
        shown,
        quick=quick,
        n_seeds=extent.seeds,
        has_interpretations=extent.every_interpretation,
        has_control=extent.control,
    )
    _write(done.page, page)
    for name, drawn in _pictures(exhibits):
        _write(folder / "pictures" / f"{name}.svg", drawn)
    return done


def _needed(papers: Mapping[str, Paper], settings: Mapping[str, Settings], *, quick: bool) -> list[Variant]:
    """Return what to explore, each variant once; our interpretation of all papers comes first."""
    under = {key: setting.every for key, setting in settings.items()}
    most = max(map(len, under.values()), default=0)
    return list(
        dict.fromkeys(
            experiment.under(setting, quick=quick)
            for place in range(most)
            for key, rerun in papers.items()
            for setting in under[key][place : place + 1]
            for experiment in rerun.experiments
        )
    )


def _merged_exhibits(
    paper: Paper,
    settings: Settings,
    explored: Mapping[Variant, Exploration],
    folder: Path,
    *,
    quick: bool,
) -> tuple[Exhibit, ...]:
    """Read the exhibits of a paper in every setting, and merge them."""

    def exhibits(setting: Setting) -> tuple[Exhibit, ...]:
        variants = {
            experiment.name: experiment.under(setting, quick=quick) for experiment in paper.experiments
        }
        explorations = Explorations(
            {n: explored[experiment] for n, experiment in variants.items()}, quick, setting
        )
        with _changes_blamed(paper, variants.values(), folder):
            return paper.exhibits(explorations)

    by_seed = {setting.seed: exhibits(setting) for setting in settings.seeds}
    cases = Cases(
        by_seed,
        {switch: exhibits(setting) for switch, setting in settings.interpretations.items()},
        exhibits(settings.control) if settings.control else (),
    )
    return (*cases.merged(), *paper.over_seeds(by_seed))


@contextmanager
def _changes_blamed(paper: Paper, variants: Iterable[Variant], folder: Path) -> Iterator[None]:
    """Name the changed project files when a paper's tables cannot be read from what they explored."""
    try:
        yield
    except (LookupError, ValueError, TypeError) as error:
        changed = [variant for variant in variants if variant.is_changed(folder)]
        if not changed:
            raise
        names = ", ".join(variant.file_name for variant in changed)
        raise errors.UserError(
            f"the tables of {paper.key} cannot be read from what was explored: in {folder} {names} was "
            "changed and may lack what they show; remove the file, and it is written again"
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
    with file_beside(place) as temporary:
        temporary.write_text(text, encoding="utf-8")
