"""A policy: who gets a release, and what it must keep before it may be published.

A policy judges each type of release by what can be known of it. Where rows stand for people, a reader can
count how many look alike. Perturbed and synthetic rows stand for nobody, so attacks are tried, and an attack
that fails on the original as well proves nothing. A differentially private method states its epsilon, and no
figure of the original is needed.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from sfumato.data.schema import Schema
from sfumato.registry import methods
from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Candidate
from sfumato.results.measurement import Measurement, build_measure, named
from sfumato.results.pareto import Limit
from sfumato.results.recipients import NOBODY, RECIPIENTS, STRICTEST_USUAL, Recipient
from sfumato.runtime.errors import ParameterError, PolicyNotMet, suggestion

NO_POLICY = (
    "no policy was given, so the limits for the public apply; say who gets the release with policy=, for "
    'example policy="contract"; policy="none" sets no limits'
)

Written = str | Mapping[str, Any]
"""A measure as a project file writes it."""
Evidence = Literal["classes", "attacks", "guarantee"]
"""How a release is judged: by its equivalence classes, by attacks, or by a differential privacy guarantee."""

CONFIDENCE = "confidence-bound"
SHARE_OF_A_CLASS = 0.9
"""No sensitive value may have a larger share of a class, unless it has of the whole table. Ours."""
DELTA_PER_PERSON = 0.1
"""Delta must be below this, divided by the number of people. Ours; NIST SP 800-226 asks for far below one."""


class NoPolicy(UserWarning):
    """Warns that nobody said who gets a release."""


@dataclass(frozen=True)
class Requirement:
    """A limit on one measure.

    Parameters
    ----------
    measure
        The measure, as a project file writes it.
    limit
        What it must keep.
    is_attack
        Whether the upper end of its confidence interval must keep the limit, and the same attack on the
        original must be seen to break it.
    per_person
        Whether the limit is divided by the number of people.
    """

    measure: Written
    limit: Limit
    is_attack: bool = False
    per_person: bool = False

    @cached_property
    def label(self) -> str:
        """The label of the measure; a name is one."""
        return self.measure if isinstance(self.measure, str) else str(build_measure(self.measure).label)


@dataclass(frozen=True)
class Verdict:
    """Whether a candidate keeps one limit.

    Parameters
    ----------
    label
        The label of the limited measure.
    limit
        The limit on this candidate.
    problem
        What is wrong, in words; empty if the candidate keeps the limit.
    reached
        What is compared with the limit; ``None`` if it is not known or does not apply.
    """

    label: str
    limit: Limit
    problem: str = ""
    reached: float | None = None

    @property
    def excess(self) -> float:
        """How far beyond the limit the candidate is, as a ratio above 1; 0 if it keeps the limit."""
        if not self.problem:
            return 0.0
        if self.reached is None or self.limit.allows(self.reached):
            return math.inf
        most, least, value = self.limit.at_most, self.limit.at_least, self.reached
        above, below = (value, most) if value > most else (least, value)
        return above / below if below > 0 else math.inf


@dataclass(frozen=True)
class Policy:
    """Who gets the release, and the limits that it must keep.

    Make one with `Policy.for_schema`.

    Parameters
    ----------
    recipient
        The name of the recipient, or ``none``.
    limits
        The publisher's own limits by measure. They hold for every type of release.
    requirements
        The recipient's requirements for each kind of evidence.
    is_assumed
        Whether nobody said who gets the release, so that the public is assumed.
    """

    recipient: str = STRICTEST_USUAL
    limits: Mapping[str, Limit] = field(default_factory=dict)
    requirements: Mapping[Evidence, tuple[Requirement, ...]] = field(default_factory=dict, repr=False)
    is_assumed: bool = False

    @classmethod
    def for_schema(
        cls, schema: Schema, recipient: str | None = None, limits: Mapping[str, Limit] | None = None
    ) -> Policy:
        """Return the policy for releases of the tables of a schema.

        Parameters
        ----------
        schema
            It says whether there is a sensitive attribute, and what somebody can know of a whole record.
        recipient
            Who gets the release: ``public``, ``public-great-harm``, ``contract``, ``protected-place`` or
            ``none``. Without it the public is assumed.
        limits
            Further limits by measure.

        Examples
        --------
        >>> from sfumato import datasets
        >>> _, schema = datasets.hospital()
        >>> policy = Policy.for_schema(schema, "contract")
        >>> for requirement in policy.requirements["classes"]:
        ...     print(requirement.label, requirement.limit)
        reidentification-risk at most 0.2
        marketer-risk at most 0.1
        confidence-bound at most 0.9
        """
        name = STRICTEST_USUAL if recipient is None else recipient
        own = dict(limits or {})
        if name == NOBODY:
            return cls(name, own)
        if name not in RECIPIENTS:
            known = (*RECIPIENTS, NOBODY)
            hint = suggestion(name, known) or f"; there are {', '.join(known)}"
            raise ParameterError(f"recipient: cannot be {name!r}{hint}")
        return cls(name, own, _requirements(RECIPIENTS[name], schema), recipient is None)

    @classmethod
    def of(cls, policy: PolicyLike, schema: Schema) -> Policy:
        """Return what somebody gave as a policy: one, a recipient, limits by measure, or nothing.

        Limits are the whole policy. Without anything the public is assumed, with a warning.
        """
        if isinstance(policy, Policy):
            return policy
        if isinstance(policy, Mapping):
            return cls(NOBODY, dict(policy))
        if policy is None:
            warnings.warn(NO_POLICY, NoPolicy, stacklevel=4)
        return cls.for_schema(schema, policy)

    def __bool__(self) -> bool:
        return bool(self.limits or self.requirements)

    @property
    def title(self) -> str:
        """Who gets the release, in words."""
        return "nobody in particular" if self.recipient == NOBODY else RECIPIENTS[self.recipient].title

    @property
    def meaning(self) -> str:
        """What the recipient's limits mean, in a phrase."""
        return "no limits" if self.recipient == NOBODY else RECIPIENTS[self.recipient].meaning

    def required(self, evidence: Evidence) -> tuple[Requirement, ...]:
        """Return every requirement on a release that is judged by this evidence, the recipient's first."""
        own = tuple(Requirement(name, limit) for name, limit in self.limits.items())
        return (*self.requirements.get(evidence, ()), *own)

    def limits_on(self, candidate: Candidate) -> dict[str, Limit]:
        """Return by measure every limit that a candidate must keep, the strictest where there are several."""
        limits: dict[str, Limit] = {}
        for requirement in self.required(evidence_of(candidate.recipe)):
            limit, other = _limit_on(requirement, candidate), limits.get(requirement.label, Limit())
            most, least = min(limit.at_most, other.at_most), max(limit.at_least, other.at_least)
            limits[requirement.label] = Limit(at_most=most, at_least=least)
        return limits

    @cached_property
    def limits_by_measure(self) -> dict[str, Limit]:
        """The limits on releases of every type, by measure; those per person are left out."""
        kinds: tuple[Evidence, ...] = ("classes", "attacks", "guarantee")
        return {r.label: r.limit for kind in kinds for r in self.required(kind) if not r.per_person}

    def tried_with(self, limits: Mapping[str, Limit]) -> Policy:
        """Return the policy with other limits in place of its own; an empty limit takes one away."""
        requirements = {
            kind: tuple(r for r in those if r.label not in limits)
            for kind, those in self.requirements.items()
        }
        own = {name: limit for name, limit in {**self.limits, **limits}.items() if limit != Limit()}
        return replace(self, limits=own, requirements=requirements)

    def measures(self, *evidence: Evidence) -> tuple[Written, ...]:
        """Return the measures that decide about releases judged by this evidence, each written once."""
        every = {r.label: r.measure for kind in evidence for r in self.requirements.get(kind, ())}
        return tuple(every.values())

    def measures_of(
        self, recipe: Recipe, *, is_compared: bool = False
    ) -> tuple[str | Mapping[str, Any], ...]:
        """Return the measures that decide about the releases of a recipe.

        Parameters
        ----------
        recipe
            How the release is made.
        is_compared
            Whether releases are tried that attacks judge. Then the same attacks are tried on the original as
            it is, to see what they can tell.
        """
        as_well: tuple[Evidence, ...] = ("attacks",) if is_compared and recipe.sanitizer == "as-is" else ()
        return self.measures(evidence_of(recipe), *as_well)

    def verdicts(
        self, candidate: Candidate, original: Candidate | None = None, evidence: Evidence | None = None
    ) -> tuple[Verdict, ...]:
        """Judge a candidate by every limit that it must keep.

        Parameters
        ----------
        candidate
            What would be published, with its measurements.
        original
            The release of the original as it is. What an attack reaches there shows what it can tell.
        evidence
            How the release is judged; by default as its recipe says.
        """
        judged_by = evidence_of(candidate.recipe) if evidence is None else evidence
        return tuple(_verdict(requirement, candidate, original) for requirement in self.required(judged_by))

    def broken(
        self, candidate: Candidate, original: Candidate | None = None, evidence: Evidence | None = None
    ) -> tuple[str, ...]:
        """Return in words what a candidate breaks, nothing if it keeps the policy; see `verdicts`."""
        verdicts = self.verdicts(candidate, original, evidence)
        return tuple(dict.fromkeys(verdict.problem for verdict in verdicts if verdict.problem))

    def keeps(self, candidate: Candidate, original: Candidate | None = None) -> bool:
        """Return whether a candidate keeps the policy."""
        return not self.broken(candidate, original)


NO_LIMITS = Policy(NOBODY)
"""The policy that sets no limits, on purpose."""

PolicyLike = Policy | str | Mapping[str, Limit] | None
"""How a policy can be given: as one, by its recipient, by limits that are the whole policy, or not at all."""


def broken_limits(candidate: Candidate, limits: Mapping[str, Limit]) -> list[str]:
    """Return in words which limits a candidate breaks."""
    return [*Policy(NOBODY, limits).broken(candidate, evidence="classes")]


def not_yet_among(measures: Iterable[Written], needed: Iterable[Written]) -> list[Written]:
    """Return the needed measures that others do not contain, by their labels."""
    known = {build_measure(written).label for written in measures}
    return [written for written in needed if build_measure(written).label not in known]


def policy_not_met(release: str, broken: Iterable[str]) -> PolicyNotMet:
    """Return the error for a release, named in words, that breaks these limits."""
    return PolicyNotMet(f"{release} does not meet the policy: {'; '.join(broken)}")


def evidence_of_type(release_type: str) -> Evidence:
    """Return how releases of a type are judged, whoever made them."""
    return "classes" if release_type == "people" else "attacks"


def evidence_of(recipe: Recipe) -> Evidence:
    """Return how releases of a recipe are judged.

    Examples
    --------
    >>> [evidence_of(Recipe(name)) for name in ("mondrian", "pram", "cart-synthesis", "mst")]
    ['classes', 'attacks', 'attacks', 'guarantee']
    """
    method = methods.find("sanitizer", recipe.sanitizer)
    if hasattr(method, "guarantee"):
        return "guarantee"
    return evidence_of_type(getattr(method, "release_type", "people"))


def _requirements(recipient: Recipient, schema: Schema) -> dict[Evidence, tuple[Requirement, ...]]:
    most = Limit(at_most=recipient.risk)
    classes = [Requirement("reidentification-risk", most)]
    if recipient.average_risk is not None:
        classes.append(Requirement("marketer-risk", Limit(at_most=recipient.average_risk)))
    attacks = [
        Requirement("singling-out", most, is_attack=True),
        Requirement(_membership(schema), most, is_attack=True),
    ]
    if schema.sensitive:
        classes.append(Requirement(CONFIDENCE, Limit(at_most=SHARE_OF_A_CLASS)))
        attacks.append(Requirement("inference", most, is_attack=True))
    guarantee = (
        Requirement("epsilon", Limit(at_most=recipient.epsilon)),
        Requirement("privacy-delta", Limit(at_most=DELTA_PER_PERSON), per_person=True),
    )
    return {"classes": tuple(classes), "attacks": tuple(attacks), "guarantee": guarantee}


def _membership(schema: Schema) -> str | dict[str, Any]:
    """Return the membership attack of someone who knows the whole record."""
    if set(schema.released) == set(schema.quasi_identifiers):
        return "membership"
    return {"membership": {"known": list(schema.released)}}


def _verdict(requirement: Requirement, candidate: Candidate, original: Candidate | None) -> Verdict:
    label, limit = requirement.label, _limit_on(requirement, candidate)
    if requirement.is_attack:
        return _attack_verdict(requirement, candidate, original)
    value = candidate.value(label)
    if limit.allows(value):
        return Verdict(label, limit)
    reached = "does not apply" if value is None else f"is {_rounded(value, limit)}"
    return Verdict(label, limit, f"{label} {reached}, must be {_in_few_digits(limit)}", value)


def _limit_on(requirement: Requirement, candidate: Candidate) -> Limit:
    if not requirement.per_person:
        return requirement.limit
    bounds = [
        m.detail.get("people-below", math.inf) for m in named(candidate.measurements, requirement.label)
    ]
    return Limit(at_most=requirement.limit.at_most / max(bounds, default=math.inf))


def _attack_verdict(requirement: Requirement, candidate: Candidate, original: Candidate | None) -> Verdict:
    """Judge by an attack, which may reach too much, was perhaps not tried, or can tell nothing."""
    label, limit = requirement.label, requirement.limit
    attacks = [m for m in named(candidate.measurements, label) if m.value is not None]
    if not attacks:
        return Verdict(label, limit, f"{label} was not tried, must be {_in_few_digits(limit)}")
    worst = max(map(_upper_end, attacks))
    if not limit.allows(worst):
        reached = f"{label} may reach {_rounded(worst, limit)} (upper end at 95% confidence)"
        return Verdict(label, limit, f"{reached}, must be {_in_few_digits(limit)}", worst)
    on_original = [] if original is None else named(original.measurements, label)
    power = max((m.interval[0] if m.interval else m.value or 0.0 for m in on_original), default=None)
    if power is None:
        untried = "was not tried on the original, so nobody knows whether it can tell anything"
        return Verdict(label, limit, f"{label} {untried}", worst)
    # what keeps a stricter recipient's limit, and is seen to, keeps a milder one as well
    stricter = [recipient.risk for recipient in RECIPIENTS.values() if recipient.risk < limit.at_most]
    if not any(worst <= most < power for most in (limit.at_most, *stricter)):
        weak = f"is too weak to tell: on the original it reaches no more than {power:.3g} for sure"
        return Verdict(label, limit, f"{label} {weak}", worst)
    return Verdict(label, limit)


def _upper_end(measurement: Measurement) -> float:
    assert measurement.value is not None
    return measurement.value if measurement.interval is None else measurement.interval[1]


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
