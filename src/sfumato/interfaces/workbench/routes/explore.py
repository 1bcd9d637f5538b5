"""The explore page: the frontier, the candidates and the progress of the exploration."""

from __future__ import annotations

import math
from concurrent.futures import TimeoutError as NotYet
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sfumato.interfaces.workbench.addresses import link
from sfumato.interfaces.workbench.forms.plan_form import Plan
from sfumato.interfaces.workbench.pages import back, page, posted
from sfumato.interfaces.workbench.state.candidate_matrix import CandidateMatrix
from sfumato.interfaces.workbench.state.jobs import Job
from sfumato.interfaces.workbench.state.projects import Opened
from sfumato.interfaces.workbench.state.releases import chosen_of
from sfumato.interfaces.workbench.state.route_lookup import opened_of, project_file_of
from sfumato.interfaces.workbench.state.state import state_of
from sfumato.interfaces.workbench.state.tasks import wait_for
from sfumato.interfaces.workbench.views.candidate_rows import (
    ROWS,
    View,
    candidate_rows,
    knee_words,
    limit_words,
    marks,
    shown_value,
    usual_axes,
    worst_axes,
)
from sfumato.interfaces.workbench.views.chart_data import chart_data, parallel_data, plane_data
from sfumato.interfaces.workbench.views.dossiers import dossier_of
from sfumato.results import formatting
from sfumato.results.candidate import Candidate
from sfumato.results.frontier import Frontier
from sfumato.results.measurement import build_measure
from sfumato.results.policy import Policy
from sfumato.runtime.caching import remembered
from sfumato.runtime.errors import SfumatoError
from sfumato.runtime.machine import processors
from sfumato.workflow.explore.convergence import Growth, growth_of
from sfumato.workflow.project.budget import seconds_of
from sfumato.workflow.report.charts.plane import Plane, measure_axes
from sfumato.workflow.report.charts.scatter_matrix import frontier_picture
from sfumato.workflow.store.store import Store, is_being_explored

_PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_MOST_DRAWN = 2_000
_BUDGETS = {60.0: ("1m", "a minute"), 300.0: ("5m", "5 minutes"), 1800.0: ("30m", "half an hour")}


@dataclass(frozen=True)
class ExploredProject:
    """What one request needs: the project, its current candidates and how they are seen."""

    opened: Opened
    sheet: CandidateMatrix
    stamp: str
    view: View

    @classmethod
    def of(cls, request: Request) -> ExploredProject:
        """Open the project of a request and update its candidates."""
        opened, state = opened_of(request), state_of(request)
        project = opened.project
        place = project.store_path, opened.source
        # the first time in a thread, with the loading page if it takes too long
        key = ("sheet", *place)
        try:
            wait_for(request, state.tasks.begin(key, lambda: state.sheets.of(*place)), place[0].stem)
        except SfumatoError:
            state.tasks.forget(key)
            raise
        labels = [build_measure(written).label for written in project.measures]
        sheet, stamp = state.sheets.of(*place, first=labels)
        view = View.of(request.query_params, sheet, project.axes)
        policy = project.policy.tried_with(view.limits)
        sheet = replace(sheet, broken=state.sheets.broken(*place, sheet, policy))
        return cls(opened, sheet, stamp, view)

    @property
    def holds_only_others(self) -> bool:
        """Whether the store has candidates, but only of other data, roles or hierarchies."""
        is_filled = self.stamp.partition("-")[0] != "0"
        return is_filled and not self.sheet.candidates and not self.sheet.infeasible

    @property
    def usual(self) -> tuple[str, ...]:
        """The axes of the project."""
        return self.opened.project.axes

    @property
    def policy(self) -> Policy:
        """The policy, with the limits in place that are tried out."""
        return self.opened.project.policy.tried_with(self.view.limits)

    def frontier(self, axes: tuple[str, ...]) -> Frontier:
        """The candidates under the policy that is tried out."""
        return Frontier(self.sheet.candidates, axes, policy=self.policy)

    def usual_frontier(self, axes: tuple[str, ...]) -> Frontier:
        """The candidates under the policy of the project."""
        return Frontier(self.sheet.candidates, axes, policy=self.opened.project.policy)

    @property
    def knee_axes(self) -> tuple[str, ...]:
        """The two measures of the knee."""
        return self.view.knee_axes(self.sheet, self.usual)

    @property
    def knee(self) -> Candidate | None:
        """The knee of the candidates that keep the limits."""
        return self.sheet.knee(self.knee_axes) if self.sheet.candidates else None

    @property
    def chosen(self) -> Candidate | None:
        """The candidate in the address; the knee, if it names none."""
        return self.sheet.find(self.view.chosen) if self.view.chosen else self.knee

    @property
    def plane(self) -> Plane:
        """The candidates between the two axes."""
        axes = self.view.axes[:2]
        return Plane.of(self.frontier(axes), usual=self.usual_frontier(axes))


def explore(request: Request) -> Response:
    """Show the frontier and the candidates."""
    seen = ExploredProject.of(request)
    view = seen.view
    rows, n_rows = candidate_rows(seen.sheet, view, seen.knee_axes)
    chosen = seen.chosen
    return page(
        request,
        "explore.html.j2",
        title=seen.opened.project.publication.title or seen.opened.project.path.stem,
        earlier=seen.holds_only_others,
        view=view,
        columns={column.label: column for column in seen.sheet.columns},
        axis_titles=[formatting.measure_words(axis).title for axis in view.axes],
        recipe_words=lambda candidate: formatting.recipe_in_words(candidate.recipe),
        rows=rows,
        n_rows=n_rows,
        n_pages=max(-(-n_rows // ROWS), 1),
        apart=int((~seen.sheet.comparable(view.axes)).sum()) if seen.sheet.columns else 0,
        unmeasured=[axis for axis in seen.usual if seen.sheet.columns and axis not in seen.sheet.labels],
        methods=sorted({c.recipe.sanitizer for c in seen.sheet.candidates}),
        usual=usual_axes(seen.sheet, seen.usual),
        worst=worst_axes(seen.sheet, seen.usual, seen.opened.project.by),
        details=_details(seen, chosen) if chosen else None,
        limits=limit_words(seen.policy),
        recipient=seen.policy.title,
        notes=seen.usual_frontier(()).policy_notes(),
        is_tried=bool(view.limits),
        policy=seen.policy,
        **_job_facts(request, seen),
    )


def progress(request: Request) -> Response:
    """Show the progress of the exploration; the page polls it."""
    return page(request, "explore_progress.html.j2", **_job_facts(request, ExploredProject.of(request)))


def candidates(request: Request) -> Response:
    """Send the picture to its script, unless the script has it already."""
    seen, query = ExploredProject.of(request), request.query_params
    if query.get("stamp") == seen.stamp:
        return Response(status_code=204)
    if seen.view.parallel:
        usual = seen.usual_frontier(seen.view.axes)
        axes = [*measure_axes(seen.frontier(seen.view.axes), seen.view.axes, usual).values()]
        picture = parallel_data(seen.sheet, axes)
    else:
        plane = seen.plane
        axes = sorted((plane.x, plane.y), key=lambda axis: seen.view.axes.index(axis.measure))
        size = _pixels(query.get("width", ""), 640), _pixels(query.get("height", ""), 400)
        picture = plane_data(plane, seen.sheet, size, query.get("window", ""), query.get("part", ""))
    facts = chart_data(seen.sheet, seen.knee, axes)
    return JSONResponse({"stamp": seen.stamp, "knee_words": knee_words(seen.knee_axes), **facts, **picture})


def _pixels(written: str, usual: int) -> int:
    return int(written) if written.isdecimal() and len(written) < 6 else usual


def details(request: Request) -> Response:
    """Show one candidate next to the chart."""
    seen = ExploredProject.of(request)
    facts = _details(seen, seen.chosen) if seen.chosen else None
    return page(request, "explore_details.html.j2", details=facts, view=seen.view, seen=seen)


def rows(request: Request) -> Response:
    """Show a few rows of one candidate and the sizes of its classes, once its release was made again."""
    opened, _, candidate = chosen_of(request)
    facts: dict[str, Any] = {"id": candidate.id, "dossier": None, "problem": ""}
    with suppress(NotYet):
        try:
            facts["dossier"] = dossier_of(request, opened, candidate).result(0)
        except SfumatoError as error:
            facts["problem"] = str(error)
    return page(request, "explore_rows.html.j2", **facts)


def picture(request: Request) -> Response:
    """Draw the frontier for a browser without scripts; only the efficient part of a very long list."""
    seen = ExploredProject.of(request)
    drawn: tuple[Candidate, ...] = seen.sheet.candidates
    if len(drawn) > _MOST_DRAWN:
        kept = seen.sheet.efficient(seen.view.axes)
        drawn = tuple(c for c, keep in zip(drawn, kept, strict=True) if keep)[:_MOST_DRAWN]
    chosen = seen.sheet.find(seen.view.chosen)
    svg = frontier_picture(Frontier(drawn, seen.view.axes, policy=seen.policy), chosen=chosen)
    headers = {"Content-Security-Policy": _PICTURE_POLICY}
    return Response(svg, media_type="image/svg+xml", headers=headers)


def start(request: Request, form: FormData) -> Response:
    """Start or continue the exploration."""
    workers, budget = str(form.get("workers", "")), str(form.get("budget", ""))
    n_workers = min(int(workers), 256) if workers.isdecimal() and len(workers) < 9 else 0
    seconds = seconds_of(budget) if budget else math.inf
    limit = None if seconds == math.inf else seconds
    state_of(request).jobs.start(project_file_of(request), n_workers or None, limit)
    return back(request, _here(request, form))


def pause(request: Request, form: FormData) -> Response:
    """Let the exploration end after the next candidate."""
    job = _job(request)
    if job is not None:
        job.pause()
    return back(request, _here(request, form))


def cancel(request: Request, form: FormData) -> Response:
    """End the exploration at once."""
    job = _job(request)
    if job is not None:
        job.cancel()
    return back(request, _here(request, form))


def _job(request: Request) -> Job | None:
    return state_of(request).jobs.of(project_file_of(request))


def _here(request: Request, form: FormData) -> str:
    """Return the page that sent a form, with its axes and its list."""
    query = str(form.get("query", ""))
    return link(request, "explore") + (query if query.startswith("?") else "")


def _job_facts(request: Request, seen: ExploredProject) -> dict[str, Any]:
    """Return the state of the exploration, whether it was started here or elsewhere."""
    job, plan = _job(request), Plan.of(seen.opened.project.path)
    report = job.report if job else None
    at_work = report is not None and report.at_work
    counts = [block.n_candidates for block in plan.blocks]
    return {
        "seen": seen,
        "report": report,
        "elsewhere": not at_work and is_being_explored(seen.opened.project.store_path),
        "n_made": len(seen.sheet.candidates),
        "n_infeasible": len(seen.sheet.infeasible),
        "n_blocks": len(counts),
        "n_planned": sum(count for count in counts if count),
        "n_searches": counts.count(None),
        "stamp": seen.stamp,
        "within": _duration(report.within) if report else "",
        "elapsed": _duration(report.elapsed) if report else "",
        "workers": job.workers if job else None,
        "processors": processors(),
        "budgets": _budgets(job.budget if job else seen.opened.project.budget),
        "growth": None if at_work else _growth(seen),
        "query": "?" + request.url.query if request.url.query else "",
    }


def _budgets(chosen: float | None) -> list[tuple[str, str, bool]]:
    """Return the budgets to choose from: as written, in words, and whether it is the default."""
    offered = dict(_BUDGETS)
    if chosen is not None:
        offered.setdefault(chosen, (f"{chosen:g}s", _duration(chosen)))
    times = [(*offered[seconds], seconds == chosen) for seconds in sorted(offered)]
    return [*times, ("none", "as long as it takes", chosen is None)]


def _growth(seen: ExploredProject) -> dict[str, Any] | None:
    """Return how the frontier grew: the points of a line, and a sentence."""
    key = ("growth", seen.opened.project.store_path, seen.opened.source, seen.stamp, seen.usual)
    steps = remembered(key, lambda: _grown(seen)).shares
    if len(steps) < 2:
        return None
    span = steps[-1][0] or 1.0
    corners = [(steps[0][0] / span, 0.0), *((seconds / span, share) for seconds, share in steps)]
    stairs = [(x, before) for (x, _), (_, before) in zip(corners[1:], corners[:-1], strict=True)]
    line = [point for pair in zip(stairs, corners[1:], strict=True) for point in pair]
    return {
        "points": " ".join(f"{2 + 116 * x:.1f},{30 - 28 * y:.1f}" for x, y in line),
        "first": _duration(steps[0][0]),
        "share": f"{steps[0][1]:.0%}",
        "last": _duration(steps[-1][0]),
    }


def _grown(seen: ExploredProject) -> Growth:
    project = seen.opened.project
    if not project.store_path.exists() or not set(seen.usual) <= set(seen.sheet.labels):
        return Growth(())
    with Store(project.store_path, create=False) as store:
        explored = store.explored_after(seen.opened.source)
    return growth_of(Frontier(seen.sheet.candidates, seen.usual), explored)


def _duration(seconds: float | None) -> str:
    """Say a time in the words of a clock.

    Examples
    --------
    >>> _duration(4), _duration(75), _duration(4000)
    ('4 seconds', '1 min 15 s', '1 h 6 min')
    """
    if seconds is None:
        return ""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} second{'s' if whole != 1 else ''}"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _details(seen: ExploredProject, chosen: Candidate) -> dict[str, Any]:
    if chosen.infeasible is not None:
        return {
            "id": chosen.id,
            "recipe": formatting.recipe_in_words(chosen.recipe),
            "infeasible": chosen.infeasible,
            "is_suggested": False,
        }
    view, row = seen.view, seen.sheet.candidates.index(chosen)
    efficient = seen.sheet.efficient(view.axes)
    beating, knee = seen.sheet.dominating(row, view.axes), seen.knee
    broken = seen.sheet.broken.get(chosen.id, ())
    values = seen.sheet.rows[row]
    figures = [
        (column, shown_value(column.label, values.get(column.label)), column.label in view.axes)
        for column in seen.sheet.columns
        if column.label in values or any(m.label == column.label for m in chosen.measurements)
    ]
    return {
        "id": chosen.id,
        "recipe": seen.sheet.recipes[row],
        "words": formatting.recipe_in_words(chosen.recipe),
        "infeasible": None,
        "summary": formatting.sanitizer_words(chosen.recipe.sanitizer),
        "also": [formatting.recipe_in_words(way.recipe) for way in chosen.also],
        "marks": marks(chosen, efficient=bool(efficient[row]), knee=knee, knee_axes=seen.knee_axes),
        "is_suggested": not view.chosen,
        "n_beating": len(beating),
        "beaten_by": next(
            ((seen.sheet.candidates[i].id, seen.sheet.recipes[i]) for i in beating if efficient[i]),
            None,
        ),
        "broken": broken,
        "keeps": bool(seen.policy) and not broken,
        "figures": sorted(figures, key=lambda figure: not figure[2]),
        "seconds": _duration(chosen.seconds) if chosen.seconds >= 1 else "less than a second",
        "knee": knee.id if knee is not None and knee.id != chosen.id else None,
    }


routes = [
    Route("/projects/{project}/explore", explore, name="explore"),
    Route("/projects/{project}/explore/progress", progress, name="progress"),
    Route("/projects/{project}/explore/candidates.json", candidates, name="candidates"),
    Route("/projects/{project}/explore/details", details, name="details"),
    Route("/projects/{project}/explore/rows/{id}", rows, name="rows"),
    Route("/projects/{project}/explore/frontier.svg", picture, name="picture"),
    Route("/projects/{project}/explore/start", posted(start), methods=["POST"], name="start"),
    Route("/projects/{project}/explore/pause", posted(pause), methods=["POST"], name="pause"),
    Route("/projects/{project}/explore/cancel", posted(cancel), methods=["POST"], name="cancel"),
]
