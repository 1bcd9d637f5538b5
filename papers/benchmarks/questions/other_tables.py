"""Which conclusions of the four papers survive on tables other than Adult?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

import sfumato as sf
from questions import grid
from questions.markdown import table
from questions.tables import Studied
from sfumato import Candidate
from sfumato_papers.conclusions import Viewpoint, claims_under, worth_its_risk
from sfumato_papers.exhibits import Claim, Trial
from sfumato_papers.experiments import Exploration
from sfumato_papers.ranks import rank_correlation
from sfumato_papers.seeded_noise import SeededLaplace

LOSSES = Viewpoint("losses", "", "by losses", "privacy-loss", "utility-loss")
_QUERIES = sf.measures.QueryError(queries=300, seed=1).label
_ALIKE = 0.8
"""The rank correlation from which on one figure shows the pattern of the other, as for Adult."""
K, EPSILON = (5, 20), (0.5, 0.05)


def study_of(studied: Studied, cache: Path) -> list[dict[str, Any]]:
    """Judge every conclusion on a table, and on a control whose values are dealt out."""
    here, control = (_claims(studied, cache, is_control=each) for each in (False, True))
    return [
        {
            "conclusion": one.text,
            "verdict": _verdict(one, other),
            "evidence": one.evidence,
            "control": other.evidence,
        }
        for one, other in zip(here, control, strict=True)
    ]


def _verdict(claim: Claim, control: Claim) -> str:
    trial = Trial("control", control.holds, control.evidence)
    return Claim(claim.text, claim.holds, claim.evidence, is_moot=claim.is_moot, control=trial).conclusion


def _claims(studied: Studied, cache: Path, *, is_control: bool) -> list[Claim]:
    made = grid.explored(studied, cache, is_control=is_control).candidates
    found = Exploration(None, made)  # type: ignore[arg-type]
    gains = [
        Viewpoint(
            "gains-sensitive",
            "",
            "by gains, the sensitive attribute studied",
            "accuracy-gain",
            _gain(studied.sensitive),
        ),
        Viewpoint(
            "gains-other",
            "",
            "by gains, another attribute studied",
            "accuracy-gain",
            _gain(_most_told(studied, made)),
        ),
    ]
    return [
        *(claim for view in (LOSSES, *gains) for claim in claims_under(view, found)),
        worth_its_risk((LOSSES, *gains), found),
        _queries_follow(made),
        _noise_leaves_more(studied, cache, is_control=is_control),
    ]


def _gain(target: str) -> str:
    return grid.workload(target, grid.SEEDS[0]).label


def _most_told(studied: Studied, made: tuple[Candidate, ...]) -> str:
    """Return the attribute, other than the sensitive one, that the table as it is reveals most about."""
    whole = next(c for c in made if c.recipe.sanitizer == "as-is")
    return max(studied.neutral, key=lambda target: whole.value(_gain(target)) or 0.0)


def _queries_follow(made: tuple[Candidate, ...]) -> Claim:
    """Compare the ranks of bucketizations by utility loss and by the error of queries."""
    pairs = [
        (loss, error)
        for c in made
        if c.recipe.sanitizer == "bucketize"
        and (loss := c.value("utility-loss")) is not None
        and (error := c.value(_QUERIES)) is not None
    ]
    agreement = rank_correlation(*map(list, zip(*pairs, strict=True))) if pairs else None
    return Claim(
        "The error of queries shows the pattern of the utility loss.",
        None if agreement is None else agreement > _ALIKE,
        "too few to say"
        if agreement is None
        else f"rank correlation {agreement:.2f} over {len(pairs)} bucketizations",
    )


def _noise_leaves_more(studied: Studied, cache: Path, *, is_control: bool) -> Claim:
    """Count the people whose first number is predicted nearer than released, under noise and in classes."""
    table, name = studied.table(cache, is_control=is_control), next(iter(studied.quasi))
    miners = ("naive-bayes", "linear-regression")
    attack = sf.measures.Adversary((name,), reduction="nearer", miners=miners, guesses="values", fusion=False)
    scenario = sf.measures.Scenario("nearer", adversary=attack, folds=3, control=0)
    ways = {
        "classes": [sf.sanitizers.Mondrian(sf.models.KAnonymity(k)) for k in K],
        "noise": [SeededLaplace(epsilon, (name,)) for epsilon in EPSILON],
    }
    shares = {
        way: median(
            float(
                sf.measure(
                    sf.sanitize(table, studied.schema, how, seed=1), [sf.measures.AntiUtility(scenario)]
                )[0].value
                or 0
            )
            for how in every
        )
        for way, every in ways.items()
    }
    return Claim(
        "Noise leaves more nearer predictions than k-anonymity.",
        shares["noise"] > shares["classes"],
        f"{shares['noise']:.0%} of the people under noise, {shares['classes']:.0%} in classes",
    )


_SHORT = {
    "holds": "**holds**",
    "does not hold": "does not",
    "nothing to destroy": "nothing to destroy",
    "says nothing": "holds, and in the control",
    "open": "open",
}


def tables(results: Mapping[str, Any]) -> dict[str, str]:
    """Write the verdicts, a row for each conclusion."""
    found = results["tables"]
    names = list(found)
    texts = [each["conclusion"] for each in found[names[0]]]
    rows = [
        (text, *(_SHORT[found[name][place]["verdict"]] for name in names)) for place, text in enumerate(texts)
    ]
    return {"other-tables": table(["conclusion", *names], rows), "other-tables-answer": _answer(found, texts)}


def _answer(found: Mapping[str, Any], texts: list[str]) -> str:
    every = [[one[place]["verdict"] for one in found.values()] for place in range(len(texts))]
    lines = [
        f"- {text} It holds, and not in the control, on {verdicts.count('holds')} of {len(verdicts)} tables; "
        f"it fails on {verdicts.count('does not hold')}."
        for text, verdicts in zip(texts, every, strict=True)
    ]
    return "\n".join(lines)


def pictures(results: Mapping[str, Any]) -> dict[str, str]:
    """Verdicts are words: there is nothing to draw."""
    return {}
