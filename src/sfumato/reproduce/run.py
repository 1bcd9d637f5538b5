"""Run: rerun papers in a folder, and write the page and the results."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import sfumato
from sfumato.errors import ParameterError, UserError, suggestion
from sfumato.exploring.run import Progress
from sfumato.files import file_beside
from sfumato.reproduce.exhibits import Exhibit, counted
from sfumato.reproduce.experiments import Experiment, Explored, Found, folder_made, run
from sfumato.reproduce.page import reproduction_html
from sfumato.reproduce.paper import Paper
from sfumato.reproduce.pictures import chart_svg

PAPERS = ("brickell", "li", "dewri", "sramka", "together")
"""The papers, and what all their methods show on one frontier."""


@dataclass(frozen=True)
class Reproduction:
    """Papers that were rerun.

    Parameters
    ----------
    papers
        The exhibits of each.
    quick
        Whether the grids were reduced.
    folder
        Where everything lies.
    """

    papers: Mapping[str, tuple[Exhibit, ...]]
    quick: bool
    folder: Path

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "version": sfumato.__version__,
            "quick": self.quick,
            "papers": {
                key: {
                    "citation": paper(key).citation,
                    "verdicts": counted(exhibits),
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
        hint = suggestion(key, PAPERS) or f"; there are {', '.join(PAPERS)} and all"
        raise ParameterError(f"no paper {key!r}{hint}")
    found: Paper = import_module(f"sfumato.reproduce.{key}").PAPER
    return found


def reproduce(
    papers: Iterable[str],
    folder: Path,
    *,
    quick: bool = False,
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
    workers
        How many processes work; by default as many as there are processors.
    progress
        Called with how far an experiment has come.
    begun
        Called with a sentence when an experiment begins.
    """
    chosen = [paper(key) for key in dict.fromkeys(papers)]
    explored: dict[Experiment, Explored] = {}
    exhibits: dict[str, tuple[Exhibit, ...]] = {}
    needed = list(dict.fromkeys(experiment for each in chosen for experiment in each.experiments))
    for number, experiment in enumerate(needed, start=1):
        begun(f"Experiment {number} of {len(needed)}: {experiment.name}")
        explored[experiment] = run(experiment, folder, quick=quick, workers=workers, progress=progress)
    for each in chosen:
        found = {experiment.name: explored[experiment] for experiment in each.experiments}
        with _changes_blamed(each, folder, quick):
            exhibits[each.key] = each.exhibits(Found(found, quick))
    done = Reproduction(exhibits, quick, folder)
    _write(done.results, json.dumps(done.to_dict(), indent=1, ensure_ascii=False, allow_nan=False))
    _write(done.page, reproduction_html({paper(key): shown for key, shown in exhibits.items()}, quick=quick))
    for name, drawn in _pictures(exhibits):
        _write(folder / "pictures" / f"{name}.svg", drawn)
    return done


@contextmanager
def _changes_blamed(paper: Paper, folder: Path, quick: bool) -> Iterator[None]:
    """Say which project files to look at when a paper's tables cannot be read from what they explored."""
    try:
        yield
    except (LookupError, ValueError, TypeError) as error:
        changed = [e for e in paper.experiments if e.is_changed(folder, quick=quick)]
        if not changed:
            raise
        names = ", ".join(each.file_name(quick=quick) for each in changed)
        raise UserError(
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
