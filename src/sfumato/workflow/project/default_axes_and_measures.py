"""Choose the measures of a project that names none. The choice is sfumato's, not a fact about a method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sfumato.data.schema import Schema
from sfumato.registry import methods as registry

Written = str | Mapping[str, Any]

PRIVACY_MEASURES: tuple[Written, ...] = (
    "privacy-loss",
    "knowledge-gain",
    "accuracy-gain",
    "reidentification-risk",
    "weighted-k",
    "k-anonymity",
    "probabilistic-diversity",
    "t-closeness",
)
UTILITY_MEASURES: tuple[Written, ...] = ("general-loss", "suppression-loss", "total-loss", "discernibility")
OF_SAMPLES: tuple[Written, ...] = ("journalist-risk", "population-uniqueness")
OF_HOUSEHOLDS: tuple[Written, ...] = ("household-risk",)
OF_PEOPLE: tuple[Written, ...] = ("trace-risk",)
OF_PROMISES: tuple[Written, ...] = ("epsilon",)
OF_EVERY_TYPE: tuple[Written, ...] = ("attack-risk",)
"""The first axis where releases are tried whose rows do not stand for people one by one."""
AS_NUMBERS: Written = {"t-closeness": {"distance": "natural"}}
"""What takes the place of t-closeness where some sensitive values are numbers."""


def default_measures(
    schema: Schema, *, size_is_known: bool = False, tried: Iterable[str] = ()
) -> tuple[tuple[Written, ...], tuple[Written, ...]]:
    """Return the privacy and the utility measures of a project that names none, the axes first.

    Groups of a numeric sensitive attribute are compared as numbers: by how far the values lie apart, not by
    which of them occur. If the project names a population, households or people, the risks that follow are
    measured as well. Where some of the releases are perturbed or synthetic, the first axis of privacy is
    the attack risk, which judges all types alike, and so does the first axis of utility: without a
    sensitive attribute it is the k-marginal score. If some are differentially private, epsilon is measured
    too.

    Parameters
    ----------
    schema
        What each attribute is.
    size_is_known
        Whether it is known of how many people the records are a sample.
    tried
        The sanitizers that are tried.

    Examples
    --------
    >>> from sfumato import datasets
    >>> _, schema = datasets.hospital()
    >>> [default_measures(schema, tried=tried)[0][0] for tried in (["mondrian"], ["mondrian", "laplace"])]
    ['privacy-loss', 'attack-risk']
    """
    methods = [registry.find("sanitizer", name) for name in tried]
    privacy, utility = _of_people(schema, size_is_known)
    if any(getattr(method, "release_type", "people") != "people" for method in methods):
        privacy = (*OF_EVERY_TYPE, *privacy)
        # the counts of three attributes together, or of as many as there are
        n_compared = len(schema.quasi_identifiers) + len(schema.sensitive)
        counts: Written = "k-marginal"
        if n_compared < 3:
            counts = {"k-marginal": {"attributes": max(n_compared, 1)}}
        utility = utility if "utility-loss" in utility else (counts, *utility)
    if any(hasattr(method, "guarantee") for method in methods):
        privacy = (*privacy, *OF_PROMISES)
    return privacy, utility


def _of_people(schema: Schema, size_is_known: bool) -> tuple[tuple[Written, ...], tuple[Written, ...]]:
    more = (
        *(OF_PEOPLE if schema.person is not None else ()),
        *(OF_SAMPLES if size_is_known or schema.survey_weight is not None else ()),
        *(OF_HOUSEHOLDS if schema.household is not None else ()),
    )
    if not schema.sensitive:
        return (*filter(_guards_identity, PRIVACY_MEASURES), *more), UTILITY_MEASURES
    utility = ("utility-loss", *UTILITY_MEASURES) if schema.quasi_identifiers else UTILITY_MEASURES
    if any(schema.kind(name).is_ordered for name in schema.sensitive):
        numbers = (AS_NUMBERS, *(each for each in PRIVACY_MEASURES if each != "t-closeness"))
        return (*numbers, *more), utility
    return (*PRIVACY_MEASURES, *more), utility


def _guards_identity(written: Written) -> bool:
    name, _ = registry.name_and_parameters(written)
    cls = registry.find("measure", name) or registry.look_up("model", name)
    return bool(cls.guards == "identity")
