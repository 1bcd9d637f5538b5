"""The ask page: a question in the question language, its answer, and what looser limits would gain."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sfumato.interfaces.workbench.pages import page
from sfumato.interfaces.workbench.state.current_frontier import Findings
from sfumato.interfaces.workbench.state.route_lookup import findings_of
from sfumato.results.formatting import sentence
from sfumato.results.frontier import Candidate, broken_limits
from sfumato.results.measure_lookup import (
    SHORT_NAMES,
    full_name,
    label_of,
)
from sfumato.results.measurement import Measurement, by_attribute
from sfumato.runtime.errors import ParameterError
from sfumato.workflow.choose.question import (
    EXAMPLE,
    guards_attributes,
    parse,
    places_of,
    unmeasured,
)
from sfumato.workflow.choose.question_answer import Answer, LimitWorth, Step
from sfumato.workflow.choose.tokens import Misread

STANDING = {
    "max weighted-k where suppression = 0% and loss <= 25%": "How much privacy can be had if no record may "
    "be left out and a quarter of the information may be lost?",
    "max k where suppression <= 10% and loss <= 25%": "What is a good k if a tenth of the records may be "
    "left out and a quarter of the information lost?",
    "min loss where k >= 20 and l >= 3": "What does it cost to keep both a k of 20 and an l of 3, against "
    "an adversary who knows more?",
    "max l, max k where suppression <= 10% and loss <= 20%": "Is there a release with a high l and a high "
    "k if a tenth of the records may be left out and a fifth of the information lost?",
}
"""The four questions of Dewri and others, 2011, with which a publisher begins."""
_NOTHING_SENSITIVE = (
    "speaks of a sensitive attribute, and no column of this table is one; give one that role on the data "
    "page and explore again"
)

_WORDS = {"max": "as large as can be", "min": "as small as can be", "best": "as good as can be"}
_LINKS = {"where": "then limits", "and": "one more", "at most": "limit", "at least": "limit"}
_MOST_NAMED = 6


def ask(request: Request) -> Response:
    """Show the question box, the standing questions, and the answer to the question in the address."""
    opened, findings = findings_of(request)
    made = findings.frontier.candidates
    asked = " ".join(request.query_params.get("q", "").split())[:2_000]
    facts: dict[str, Any] = {"error": "", "answer": None}
    is_sensitive = bool(opened.project.schema.sensitive)
    if made and asked:
        facts |= _answered(findings, asked, opened.project.policy, is_sensitive)
    measurements = findings.measured
    return page(
        request,
        "ask.html.j2",
        status=422 if facts["error"] else 200,
        title=opened.project.publication.title or opened.project.path.stem,
        question=asked,
        example=EXAMPLE,
        n_candidates=len(made),
        standing=[
            (question, said, missing, [] if is_sensitive else _disclosure_measures(missing))
            for question, said in STANDING.items()
            for missing in [unmeasured(parse(question), measurements)]
        ],
        nothing_sensitive=_NOTHING_SENSITIVE,
        completions=_completions(measurements),
        found=facts,
    )


def _disclosure_measures(measures: Iterable[str]) -> list[str]:
    """Return the measures of disclosure about a sensitive attribute."""
    return [name for name in measures if guards_attributes(name)]


def _answered(findings: Findings, asked: str, policy: Any, is_sensitive: bool) -> dict[str, Any]:
    from sfumato.workflow.choose.question_answer import ask as answer

    try:
        found = answer(findings.frontier, asked)
    except Misread as error:
        return {"error": sentence(str(error)), "parts": _parts(asked, (error.start, error.end))}
    except ParameterError as error:
        about = [] if is_sensitive else _disclosure_measures(unmeasured(parse(asked), findings.measured))
        said = f"{about[0]} {_NOTHING_SENSITIVE}" if about else str(error)
        return {"error": sentence(said), "parts": _parts(asked, _error_place(asked, findings.measured))}
    return {"answer": _facts(found, policy)}


def _error_place(asked: str, measurements: list[Measurement]) -> tuple[int, int] | None:
    """Return the position of the first unknown measure, or of the last misused one."""
    question = parse(asked)
    for name in question.measures:
        try:
            label_of(name, measurements)
        except ParameterError:
            return places_of(asked, name)
    return places_of(asked, question.bounds[-1].measure) if question.bounds else None


def _parts(asked: str, place: tuple[int, int] | None) -> tuple[str, str, str]:
    """Split a question into the text before the error, the error and the rest."""
    if place is None:
        return asked, "", ""
    start, end = place
    return asked[:start], asked[start:end] or "…", asked[end:]


def _facts(found: Answer, policy: Any) -> dict[str, Any]:
    return {
        "question": str(found.question),
        "candidate": None if found.candidate is None else _named(found, found.candidate),
        "broken": [] if found.candidate is None else broken_limits(found.candidate, policy),
        "ties": [_named(found, candidate) for candidate in found.ties[:_MOST_NAMED]],
        "n_ties": len(found.ties),
        "trade_offs": [_named(found, candidate) for candidate in found.trade_offs[:_MOST_NAMED]],
        "n_trade_offs": len(found.trade_offs),
        "runner_up": _named(found, found.runner_up) if found.runner_up and not found.trade_offs else None,
        "limits": [_worth(found, worth) for worth in found.limits],
        "nearest": None if found.nearest is None else _named(found, found.nearest),
        "n_compared": found.n_compared,
        "n_keeping": found.n_keeping,
        "not_applicable": found.not_applicable,
        "not_measured": found.not_measured,
    }


def _named(found: Answer, candidate: Candidate) -> dict[str, Any]:
    from sfumato.results import formatting

    values = {name: candidate.value(name) for name in found.question.measures}
    return {
        "id": candidate.id,
        "name": formatting.recipe_name(candidate.recipe),
        "recipe": formatting.recipe_in_words(candidate.recipe),
        "figures": [
            (formatting.measure_words(name).title, formatting.value_of(name, value))
            for name, value in values.items()
            if value is not None
        ],
    }


def _worth(found: Answer, worth: LimitWorth) -> dict[str, Any]:
    from sfumato.results import formatting

    name = worth.limit.measure
    have = "you could have" if found.candidate is not None else "there is"
    steps = [
        ("Loosened to", worth.looser, have),
        ("Most is gained for the loosening at", worth.best_buy, have),
        ("Tightened to", worth.tighter, "you would have"),
    ]
    return {
        "limit": str(worth.limit),
        "value": "" if worth.value is None else formatting.value_of(name, worth.value),
        "steps": [(kind, _step(worth, step, said)) for kind, step, said in steps if step is not None],
        "stuck": worth.looser is None,
    }


def _step(worth: LimitWorth, step: Step, said: str) -> dict[str, str]:
    from sfumato.results import formatting

    name = worth.limit.measure
    short, limit = formatting.value_of(name, step.at), formatting.value_of(name, worth.limit.number)
    at = formatting.exactly(name, step.at) if short == limit else short
    figures = formatting.joined(
        f"{formatting.measure_words(each).title} {formatting.value_of(each, value)}"
        for each, value in step.figures.items()
    )
    called = formatting.recipe_name(step.candidate.recipe)
    return {"at": at, "said": said, "figures": figures, "id": step.candidate.id, "name": called}


def _completions(measurements: list[Measurement]) -> list[tuple[str, str, str]]:
    """Return the words to offer: each word, its kind and its meaning."""
    from sfumato.results import formatting

    by_name = (m.attribute_label for m in by_attribute(measurements))
    labels = list(dict.fromkeys([*(m.label for m in measurements), *by_name]))
    names = {m.measure for m in measurements}
    short = [(word, full_name(word)) for word in SHORT_NAMES if full_name(word) in names]
    return [
        *((word, "aim", said) for word, said in _WORDS.items()),
        *((word, "link", said) for word, said in _LINKS.items()),
        *((word, "measure", formatting.measure_words(stands_for).title) for word, stands_for in short),
        *((label, "measure", formatting.measure_words(label).title) for label in labels),
    ]


routes = [Route("/projects/{project}/ask", ask, name="ask")]
