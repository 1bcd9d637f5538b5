"""Choose method and epsilon by a declared bound of error, before any look at the records.

A choice by figures of the original is not covered by a guarantee of differential privacy. This one is: it
uses the public part of the schema alone. Only `mst` has a bound of error that is known in advance, so it is
the method.
"""

from __future__ import annotations

import math

from sfumato.data.public_part import delta_for
from sfumato.data.schema import Schema
from sfumato.registry.recipe import Recipe
from sfumato.runtime.errors import ProjectError

EPSILONS = (0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)
"""The values of epsilon to choose from."""


def recipe_before(schema: Schema, error: float) -> Recipe:
    """Return the recipe with the smallest epsilon that keeps a bound of error.

    Parameters
    ----------
    schema
        The attributes, with a public upper bound of the number of people.
    error
        The largest standard deviation of the noise in a count of one value, as a share of that bound.

    Examples
    --------
    >>> schema = Schema.of(age="quasi-identifying", ill="sensitive")
    >>> from dataclasses import replace
    >>> schemas = [replace(schema, people_at_most=most) for most in (2_000, 10_000)]
    >>> [recipe_before(each, 0.01).parameters["epsilon"] for each in schemas]
    [1.0, 0.2]
    """
    from sfumato.sanitizers.synthesize.noisy_counts import rho_of, variance_of

    if schema.people_at_most is None:
        raise ProjectError(
            'dp.choose: "before" needs people-at-most; name an upper bound that everyone may know'
        )
    delta, n_counts = delta_for(schema.people_at_most), len(schema.released) + 1
    for epsilon in EPSILONS:
        # a third of the budget is shared by the counts of single values, which are the noisiest
        noise = math.sqrt(variance_of(rho_of(epsilon, delta / 2) / 3 / n_counts, 1))
        if noise <= error * schema.people_at_most:
            return Recipe("mst", {"epsilon": epsilon, "delta": delta}).normalized()
    raise ProjectError(
        f"dp.error: no epsilon up to {EPSILONS[-1]:g} keeps {error:g} of {schema.people_at_most:,} people "
        f"with {n_counts - 1} attributes; give a larger error"
    )
