"""Which releases each policy allows, and why not: every type of release of one table on one frontier.

    python benchmarks/policies.py

Adult, 30,162 records, six quasi-identifiers, occupation sensitive. Prints the table of docs/policies.md.
"""

from __future__ import annotations

import sfumato as sf
from sfumato.models import KAnonymity, TCloseness
from sfumato.results.policy import Policy, Verdict
from sfumato.results.recipients import RECIPIENTS
from sfumato.sanitizers import (
    MST,
    PRAM,
    Anatomy,
    AsIs,
    Bucketize,
    CartSynthesis,
    Microaggregation,
    Mondrian,
    RankSwapping,
    Sanitizer,
    SuppressQuasiIdentifiers,
)

TRIED: tuple[Sanitizer, ...] = (
    AsIs(),
    SuppressQuasiIdentifiers(),
    *(Mondrian(KAnonymity(k)) for k in (3, 5, 11, 20)),
    Mondrian(KAnonymity(11) & TCloseness(0.2)),
    Bucketize(TCloseness(0.3)),
    Anatomy(4),
    PRAM(),
    RankSwapping(),
    Microaggregation(20),
    CartSynthesis(),
    *(MST(epsilon) for epsilon in (0.25, 1.0, 3.0, 8.0)),
)
MEASURES = ("attack-risk", "utility-loss", "reidentification-risk", "epsilon")


def main() -> None:
    table, schema = sf.datasets.adult()
    schema = schema.with_assumed_public_part(table)
    # the public's measures decide for every recipient but the average risk of a contract
    strictest = Policy.for_schema(schema, "contract")
    frontier = sf.explore(table, schema, TRIED, MEASURES, policy=strictest, seed=0)
    original = frontier.original
    names = list(RECIPIENTS)
    print(f"| release | type | {' | '.join(f'`{name}`' for name in names)} |")
    print(f"|---|---|{'---|' * len(names)}")
    for candidate in frontier.candidates:
        cells = []
        for name in names:
            verdicts = Policy.for_schema(schema, name).verdicts(candidate, original)
            missed = [_shown(verdict) for verdict in verdicts if verdict.problem]
            cells.append("; ".join(missed) or "allowed")
        print(f"| {candidate.recipe} | {candidate.recipe.release_type} | {' | '.join(cells)} |", flush=True)


def _shown(verdict: Verdict) -> str:
    """Return the measure and what it reaches, or that an attack is too weak to tell."""
    measure = verdict.label.partition(" known")[0]
    if verdict.reached is not None and verdict.limit.allows(verdict.reached):
        return f"{measure} is too weak"
    return f"{measure} {'unknown' if verdict.reached is None else f'{verdict.reached:.3g}'}"


if __name__ == "__main__":
    main()
