"""Put the four questions of Dewri and others 2011 to the releases of our search."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from sfumato import ask
from sfumato_papers.compare_figures import NOT_COMPUTED, cell, exhibit, found_or_open
from sfumato_papers.dewri.solutions import GUARANTEE, ZERO, Solution, diversity_of, solutions, some
from sfumato_papers.exhibits import Cell, Claim, Exhibit
from sfumato_papers.experiments import Exploration
from sfumato_papers.published import published
from sfumato_papers.quotations import quotation

_COMBINED = "min loss where k >= 2 and l >= 2"


def questions(whole: Exploration, safety: Exploration, *, quick: bool) -> Exhibit:
    """Answer the four questions, and judge whether the paper's answers can be achieved."""
    cells: list[Cell] = []
    claims: list[Claim] = []
    for question, printed in published("dewri", "questions").figures.items():
        candidates = _solutions_for(question, whole, safety)
        wanted = {name: float(figure) for name, figure in printed.items()}
        best = _best(candidates, question)
        cells += [
            cell("dewri", "questions", question, name, best[name], series=question)
            for name in wanted
            if name in best
        ]
        claims.append(_answer_claim(question, candidates, wanted, quick=quick))
    best = _best(solutions(safety, GUARANTEE), _COMBINED)
    claims.append(
        Claim(
            "k-anonymity and l-diversity can be had together.",
            bool(best) if solutions(safety, GUARANTEE) else None,
            f"{_COMBINED}: {best['total-loss']:.1%}" if best else NOT_COMPUTED,
            quotation("dewri", "both-benefits"),
        )
    )
    notes = (
        "The rows are questions to `sfumato ask`, put to the releases of the problem that the paper answers "
        "them from; k and l are what the records that are kept have, by the guaranteed form of problem 4.",
    )
    return exhibit("dewri", "questions", cells, claims=claims, notes=notes)


def _solutions_for(question: str, whole: Exploration, safety: Exploration) -> list[Solution]:
    """Return the solutions of the problem that a question belongs to."""
    if re.search(r"\bl\b", question):
        return solutions(safety, GUARANTEE)
    return solutions(whole, ZERO if "weighted-k" in question else some(0.1))


def _best(solutions: Sequence[Solution], question: str) -> dict[str, float]:
    """Return the figures of the release that answers a question."""
    if not solutions:
        return {}
    # which measure l stands for depends on the interpretation of the paper
    diversity = diversity_of(solutions[0].candidate.recipe.parameters["model"])
    answer = ask([s.candidate for s in solutions], re.sub(r"\bl\b", diversity, question))
    if answer.candidate is None:
        return {}
    values = {m.measure: m.value for m in answer.candidate.measurements}
    values["l"] = values.get(diversity)
    return {name: value for name, value in values.items() if value is not None}


def _answer_claim(
    question: str, solutions: Sequence[Solution], wanted: Mapping[str, float], *, quick: bool
) -> Claim:
    """Judge whether some release keeps the limits of a question and achieves the paper's answer."""
    what = " and ".join(f"{name} of {least:,.0f}" for name, least in wanted.items())
    limits = question.partition(" where ")[2]
    text = f"A release with {limits} has a {what}."
    if not solutions:
        return Claim(text, None, NOT_COMPUTED, quotation("dewri", question))
    answered = " and ".join(f"{name} >= {least:.0f}" for name, least in wanted.items())
    within_limits = _best(solutions, f"min loss where {limits} and {answered}")
    anyway = _best(solutions, f"min loss where {answered}")
    best = _best(solutions, question)
    words = (
        [f"the best within the limits: {', '.join(f'{n} {best[n]:,.4g}' for n in wanted)}"] if best else []
    )
    words += [f"the paper's answer is had at a loss of {anyway['total-loss']:.1%}"] if anyway else []
    return Claim(
        text, found_or_open(bool(within_limits), quick=quick), "; ".join(words), quotation("dewri", question)
    )
