"""Write the answer to a question in sentences, and what its limits cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sfumato.results import formatting
from sfumato.results.candidate import Candidate
from sfumato.workflow.choose.question_answer import Answer, LimitWorth, Step

_MOST_NAMED = 6


def answer_words(answer: Answer) -> str:
    """Write an answer as lines of text."""
    return "\n".join(
        [
            *(_candidate_words(answer) if answer.candidate else _words_without_candidate(answer)),
            *_counts(answer),
        ]
    )


def _candidate_words(answer: Answer) -> list[str]:
    assert answer.candidate is not None
    lines = []
    if answer.broken:
        lines += ["No candidate that keeps the policy keeps these limits. The best of the others breaks it:"]
        lines += [f"  against the policy: {words}" for words in answer.broken]
    elif answer.candidate.is_original:
        lines.append("Only the original as it is keeps these limits; it protects nobody.")
    lines += [_named(answer.candidate), f"  {_figures(answer.figures)}"]
    if answer.ties:
        lines.append(f"  as good: {_joined_names(map(_short_name, answer.ties))}")
    if answer.trade_offs:
        lines += ["Better in one of the goals and worse in another:"]
        shown = [f"  {_named(c)}: {_values(answer, c)}" for c in answer.trade_offs[:_MOST_NAMED]]
        more = len(answer.trade_offs) - len(shown)
        lines += [*shown, *([f"  and {more} more"] if more else [])]
    elif answer.runner_up is not None:
        lines.append(f"  next best: {_short_name(answer.runner_up)} with {_values(answer, answer.runner_up)}")
    if answer.limits:
        lines += ["What the limits cost, each by itself:"]
        lines += [line for worth in answer.limits for line in _limit_words(worth)]
    return lines


def _limit_words(worth: LimitWorth) -> list[str]:
    has = "" if worth.value is None else f" (it has {_value(worth, worth.value)})"
    lines = [f"  {worth.limit}{has}"]
    if worth.looser is None:
        lines.append("    looser:  no candidate would be better")
    else:
        lines.append(f"    looser:  {_step_words(worth, worth.looser, 'you could have')}")
    if worth.best_buy is not None:
        lines.append(f"    gains most for its price:  {_step_words(worth, worth.best_buy, 'you could have')}")
    if worth.tighter is not None:
        lines.append(f"    tighter: {_step_words(worth, worth.tighter, 'you would have')}")
    return lines


def _words_without_candidate(answer: Answer) -> list[str]:
    if not answer.n_compared:
        return ["No candidate has all the measures that the question speaks of."]
    lines = [f"No candidate keeps all limits of: {answer.question}"]
    lines.append("How far each limit would have to be loosened by itself:")
    for worth in answer.limits:
        found = (
            "by itself it does not help"
            if worth.looser is None
            else _step_words(worth, worth.looser, "there is")
        )
        lines.append(f"  {worth.limit}: {found}")
    if answer.nearest is not None:
        lines += ["Nearest to all of them:", f"  {_named(answer.nearest)}"]
        lines.append(f"  {_values(answer, answer.nearest)}")
    return lines


def _counts(answer: Answer) -> list[str]:
    keep = f", {answer.n_keeping:,} keep{'s' * (answer.n_keeping == 1)} the limits" if answer.limits else ""
    lines = [f"{_number(answer.n_compared, 'candidate')} compared{keep}."]
    for measure, count in answer.not_applicable.items():
        lines.append(f"{_number(count, 'candidate')} not compared: {measure} does not apply.")
    for measure, count in answer.not_measured.items():
        lines.append(
            f"{_number(count, 'candidate')} not compared: {measure} was not measured; "
            "`sfumato explore` measures it if the project has it."
        )
    return lines


def _step_words(worth: LimitWorth, step: Step, have: str) -> str:
    return f"at {_value(worth, step.at)} {have} {_figures(step.figures)}: {_short_name(step.candidate)}"


def _value(worth: LimitWorth, value: float) -> str:
    """Print a value of the limited measure, with more digits if rounding would bring it within the limit."""
    short = formatting.value_of(worth.limit.measure, value)
    limit = formatting.value_of(worth.limit.measure, worth.limit.number)
    return formatting.exactly(worth.limit.measure, value) if short == limit else short


def _named(candidate: Candidate) -> str:
    return f"{candidate.id}  {formatting.plain_name(candidate.recipe)}"


def _short_name(candidate: Candidate) -> str:
    return f"{formatting.recipe_name(candidate.recipe)} ({candidate.id})"


def _figures(values: Mapping[str, float]) -> str:
    return formatting.joined(f"{name} {formatting.value_of(name, value)}" for name, value in values.items())


def _values(answer: Answer, candidate: Candidate) -> str:
    values = {name: candidate.value(name) for name in answer.question.measures}
    return _figures({name: value for name, value in values.items() if value is not None})


def _joined_names(names: Iterable[str]) -> str:
    every = list(names)
    shown = every[:_MOST_NAMED]
    return "; ".join(shown) + (f" and {len(every) - len(shown)} more" if len(every) > len(shown) else "")


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
