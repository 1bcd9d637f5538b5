"""Say which limits of a policy a release breaks, and that it does not meet the policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sfumato.results.frontier import Candidate
from sfumato.results.pareto import Limit
from sfumato.runtime.errors import PolicyNotMet


def policy_not_met(release: str, broken: Iterable[str]) -> PolicyNotMet:
    """Return the error for a release, named in words, that breaks these limits."""
    return PolicyNotMet(f"{release} does not meet the policy: {'; '.join(broken)}")


def broken_limits(candidate: Candidate, limits: Mapping[str, Limit]) -> list[str]:
    """Return in words which limits a candidate breaks."""
    broken = []
    for name, limit in limits.items():
        value = candidate.value(name)
        if not limit.allows(value):
            reached = "does not apply" if value is None else f"is {_rounded(value, limit)}"
            broken.append(f"{name} {reached}, must be {_in_few_digits(limit)}")
    return broken


def _in_few_digits(limit: Limit) -> Limit:
    """Return a limit as it was given, but one in eleven and the like with no endless digits."""
    most, least = (_as_given(end) for end in (limit.at_most, limit.at_least))
    return Limit(at_most=most, at_least=least)


def _as_given(end: float) -> float:
    return end if float(f"{end:.6g}") == end else float(f"{end:.4g}")


def _rounded(value: float, limit: Limit) -> str:
    """Return a value that breaks a limit in four digits, or in more of them if it would seem to keep it."""
    few = (f"{value:.{digits}g}" for digits in (4, 6))
    return next((shown for shown in few if not limit.allows(float(shown))), f"{value:.15g}")
