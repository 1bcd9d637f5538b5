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
from sfumato.results.candidate import Candidate
from sfumato.results.formatting import sentence
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
    candidates = findings.frontier.candidates
    question = " ".join(request.query_params.get("q", "").split())[:2_000]
    facts: dict[str, Any] = {"error": "", "answer": None}
    is_sensitive = bool(opened.project.schema.sensitive)
    if candidates and question:
        facts |= _answered(findings, question, is_sensitive)
    measurements = findings.measured
    return page(
        request,
        "ask.html.j2",
        status=422 if facts["error"] else 200,
        title=opened.project.publication.title or opened.project.path.stem,
        question=question,
        example=EXAMPLE,
        n_candidates=len(candidates),
        standing=[
            (standing, meaning, missing, [] if is_sensitive else _disclosure_measures(missing))
            for standing, meaning in STANDING.items()
            for missing in [unmeasured(parse(standing), measurements)]
        ],
        nothing_sensitive=_NOTHING_SENSITIVE,
        completions=_completions(measurements),
        reply=facts,
    )


def _disclosure_measures(measures: Iterable[str]) -> list[str]:
    """Return the measures of disclosure about a sensitive attribute."""
    return [name for name in measures if guards_attributes(name)]


def _answered(findings: Findings, question: str, is_sensitive: bool) -> dict[str, Any]:
    from sfumato.workflow.choose.question_answer import ask as answer

    try:
        reply = answer(findings.frontier, question)
    except Misread as error:
        return {"error": sentence(str(error)), "parts": _parts(question, (error.start, error.end))}
    except ParameterError as error:
        about = [] if is_sensitive else _disclosure_measures(unmeasured(parse(question), findings.measured))
        message = f"{about[0]} {_NOTHING_SENSITIVE}" if about else str(error)
        parts = _parts(question, _error_place(question, findings.measured))
        return {"error": sentence(message), "parts": parts}
    return {"answer": _facts(reply)}


def _error_place(text: str, measurements: list[Measurement]) -> tuple[int, int] | None:
    """Return the position of the first unknown measure, or of the last misused one."""
    question = parse(text)
    for name in question.measures:
        try:
            label_of(name, measurements)
        except ParameterError:
            return places_of(text, name)
    return places_of(text, question.bounds[-1].measure) if question.bounds else None


def _parts(text: str, place: tuple[int, int] | None) -> tuple[str, str, str]:
    """Split a question into the text before the error, the error and the rest."""
    if place is None:
        return text, "", ""
    start, end = place
    return text[:start], text[start:end] or "…", text[end:]


def _facts(reply: Answer) -> dict[str, Any]:
    return {
        "question": str(reply.question),
        "candidate": None if reply.candidate is None else _named(reply, reply.candidate),
        "broken": reply.broken,
        "is_original": reply.candidate is not None and reply.candidate.is_original,
        "ties": [_named(reply, candidate) for candidate in reply.ties[:_MOST_NAMED]],
        "n_ties": len(reply.ties),
        "trade_offs": [_named(reply, candidate) for candidate in reply.trade_offs[:_MOST_NAMED]],
        "n_trade_offs": len(reply.trade_offs),
        "runner_up": _named(reply, reply.runner_up) if reply.runner_up and not reply.trade_offs else None,
        "limits": [_worth(reply, worth) for worth in reply.limits],
        "nearest": None if reply.nearest is None else _named(reply, reply.nearest),
        "n_compared": reply.n_compared,
        "n_keeping": reply.n_keeping,
        "not_applicable": reply.not_applicable,
        "not_measured": reply.not_measured,
    }


def _named(reply: Answer, candidate: Candidate) -> dict[str, Any]:
    from sfumato.results import formatting

    values = {name: candidate.value(name) for name in reply.question.measures}
    return {
        "id": candidate.id,
        "name": formatting.plain_name(candidate.recipe),
        "recipe": formatting.recipe_in_words(candidate.recipe),
        "figures": [
            (formatting.measure_words(name).title, formatting.value_of(name, value))
            for name, value in values.items()
            if value is not None
        ],
    }


def _worth(reply: Answer, worth: LimitWorth) -> dict[str, Any]:
    from sfumato.results import formatting

    name = worth.limit.measure
    have = "you could have" if reply.candidate is not None else "there is"
    steps = [
        ("Loosened to", worth.looser, have),
        ("Most is gained for the loosening at", worth.best_buy, have),
        ("Tightened to", worth.tighter, "you would have"),
    ]
    return {
        "limit": str(worth.limit),
        "value": "" if worth.value is None else formatting.value_of(name, worth.value),
        "steps": [(kind, _step(worth, step, words)) for kind, step, words in steps if step is not None],
        "stuck": worth.looser is None,
    }


def _step(worth: LimitWorth, step: Step, words: str) -> dict[str, str]:
    from sfumato.results import formatting

    name = worth.limit.measure
    short, limit = formatting.value_of(name, step.at), formatting.value_of(name, worth.limit.number)
    at = formatting.exactly(name, step.at) if short == limit else short
    figures = formatting.joined(
        f"{formatting.measure_words(measure).title} {formatting.value_of(measure, value)}"
        for measure, value in step.figures.items()
    )
    recipe = formatting.recipe_name(step.candidate.recipe)
    return {"at": at, "words": words, "figures": figures, "id": step.candidate.id, "name": recipe}


def _completions(measurements: list[Measurement]) -> list[tuple[str, str, str]]:
    """Return the words to offer: each word, its kind and its meaning."""
    from sfumato.results import formatting

    of_attributes = (m.attribute_label for m in by_attribute(measurements))
    labels = list(dict.fromkeys([*(m.label for m in measurements), *of_attributes]))
    names = {m.measure for m in measurements}
    short = [(word, full_name(word)) for word in SHORT_NAMES if full_name(word) in names]
    return [
        *((word, "aim", meaning) for word, meaning in _WORDS.items()),
        *((word, "link", meaning) for word, meaning in _LINKS.items()),
        *((word, "measure", formatting.measure_words(name).title) for word, name in short),
        *((label, "measure", formatting.measure_words(label).title) for label in labels),
    ]


routes = [Route("/projects/{project}/ask", ask, name="ask")]
