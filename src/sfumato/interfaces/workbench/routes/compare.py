"""The compare page: two or three releases side by side, and how many people each protects worse."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sfumato.interfaces.workbench.pages import page
from sfumato.interfaces.workbench.state.projects import Opened
from sfumato.interfaces.workbench.state.releases import candidate_of, released
from sfumato.interfaces.workbench.state.route_lookup import findings_of
from sfumato.interfaces.workbench.state.state import state_of
from sfumato.interfaces.workbench.state.tasks import wait_for
from sfumato.interfaces.workbench.views.candidate_names import names_of
from sfumato.results.candidate import Candidate
from sfumato.results.frontier import Frontier
from sfumato.runtime.errors import UserError

MOST = 3
_MOST_CHOICES = 400
_PERCENT = "{}% of the records are in classes of at most"


def compare(request: Request) -> Response:
    """Show the releases in the address, or let a person choose two or three."""
    opened, findings = findings_of(request)
    frontier = findings.frontier
    wanted = list(dict.fromkeys(filter(None, request.query_params.getlist("id"))))
    if len(wanted) > MOST:
        raise UserError(f"at most {MOST} releases can be compared at once; take some out of the address")
    chosen = [candidate_of(frontier.candidates, identity) for identity in wanted]
    facts = _compared(request, opened, chosen) if len(chosen) > 1 else {}
    return page(
        request,
        "compare.html.j2",
        title=opened.project.publication.title or opened.project.path.stem,
        chosen=[(candidate.id, _recipe(candidate)) for candidate in chosen],
        names=names_of(frontier.candidates),
        choices=_choices(frontier, chosen),
        places=range(MOST),
        against=[
            (candidate.id, frontier.broken[candidate.id])
            for candidate in chosen
            if candidate.id in frontier.broken
        ],
        comparison=facts or None,
        n_candidates=len(frontier.candidates),
    )


def _compared(request: Request, opened: Opened, chosen: list[Candidate]) -> dict[str, Any]:
    from sfumato.workflow.choose.side_by_side import side_by_side

    message = "The releases are made again, to count who is better off in which."
    name_of = names_of(chosen)
    names = " and ".join(name_of.values())
    words = {"doing": "Comparing", "message": message}
    begun = [released(request, opened, candidate) for candidate in chosen]
    releases = [wait_for(request, release, names, **words) for release in begun]
    key = ("comparison", opened.project.path, opened.source, *(candidate.id for candidate in chosen))
    measured = tuple(len(candidate.measurements) for candidate in chosen)

    def make() -> dict[str, Any]:
        from sfumato.workflow.report.charts.class_size_curves import class_size_curves
        from sfumato.workflow.report.markup import inline_picture

        named = [replace(candidate, id=name_of[candidate.id]) for candidate in chosen]
        pairs = zip(named, releases, strict=True)
        sizes = {candidate.id: release.classes.sizes for candidate, release in pairs}
        return _facts(side_by_side(named, releases), inline_picture(class_size_curves(sizes)))

    return wait_for(request, state_of(request).tasks.begin((*key, measured), make), names, **words)


def _facts(comparison: Any, curves: Markup) -> dict[str, Any]:
    from sfumato.results import formatting
    from sfumato.workflow.report.comparison_text import comparison_words
    from sfumato.workflow.report.table_rows import shown

    return {
        "lines": [
            {
                "words": formatting.measure_words(line.label),
                "attribute": line.attribute,
                "direction": formatting.direction(line.better),
                "values": [shown(line.label, value) for value in line.values],
                "best": line.best,
            }
            for line in comparison.lines
        ],
        "sizes": _size_rows(comparison.class_sizes),
        "losses": {
            name: ["n/a" if loss is None else formatting.share(loss) for loss in losses]
            for name, losses in comparison.losses.items()
        },
        "pairs": [(pair.names, comparison_words(pair)) for pair in comparison.pairs],
        "curves": curves,
    }


def _size_rows(sizes: Any) -> list[tuple[str, list[str]]]:
    from sfumato.results import formatting

    rows = {
        "classes": [release.n_classes for release in sizes],
        "smallest class": [release.smallest for release in sizes],
        **{_PERCENT.format(p): [release.percentiles[p] for release in sizes] for p in sizes[0].percentiles},
        "largest class": [release.largest for release in sizes],
        "a record's class on average": [release.weighted_k for release in sizes],
    }
    return [(name, [formatting.number(value) for value in values]) for name, values in rows.items()]


def _choices(frontier: Frontier, chosen: list[Candidate]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return what can be chosen: the current choice, then efficient candidates, then others."""
    efficient = frontier.efficient()
    named = {candidate.id for candidate in efficient}
    others = [c for c in frontier.candidates if c.id not in named][:_MOST_CHOICES]
    listed = {candidate.id for candidate in (*efficient, *others)}
    others += [candidate for candidate in chosen if candidate.id not in listed]
    groups = {"efficient": efficient, "others": others}
    return [(name, [(c.id, _recipe(c)) for c in those]) for name, those in groups.items() if those]


def _recipe(candidate: Candidate) -> str:
    from sfumato.results.formatting import plain_name

    return plain_name(candidate.recipe)


routes = [Route("/projects/{project}/compare", compare, name="compare")]
