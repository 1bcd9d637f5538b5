"""Fit distributions that are known only as sums: over sets of codes, or over groups of units.

`fit_codes` is expectation maximization (Dempster, Laird, Rubin, "Maximum likelihood from incomplete data
via the EM algorithm", 1977): a round spreads every amount over its set by the current distribution, and
the spread amounts are the next distribution. A round costs the total size of the sets.

`fit_values` fits a log-linear model, value by labels. A round divides every unit's weight by the model,
rescales the entries until units and groups add up (iterative proportional fitting: Deming, Stephan, "On a
least squares adjustment of a sampled frequency table when the expected marginal totals are known", 1940), and
updates the model, attribute by attribute. A round costs the number of entries plus profiles x attributes x
values.

Without smoothing, no round of expectation maximization lowers the likelihood. `fit_values` ends by rescaling
alone, so the sums hold to nine digits where they can hold together. Neither promises the best of several
optima.
"""

from __future__ import annotations

import numpy as np

from sfumato.kernels.compilation import njit
from sfumato.runtime.arrays import Codes, Floats, Integers


@njit(cache=True)
def fit_codes(
    starts: Integers,
    codes: Codes,
    pair_labels: Codes,
    pair_values: Codes,
    amounts: Floats,
    followed: Floats,
    n_codes: int,
    n_values: int,
    rounds: int,
    towards_all: float,
    towards_even: float,
) -> Floats:
    """Estimate for each value how often each code occurs, given only sets of codes.

    A round spreads the amounts over their sets, one part in proportion to the current distribution and the
    rest evenly; the spread amounts are the next distribution. It is smoothed towards the distribution of all
    values together, and that one towards an even distribution, each by a number of pseudo-observations.

    Parameters
    ----------
    starts, codes
        The codes of each label.
    pair_labels, pair_values, amounts
        The amount observed of each label together with each value.
    followed
        How much of each amount is spread by the current distribution.
    towards_all, towards_even
        The numbers of pseudo-observations.

    Returns
    -------
    One row for each code and one column for each value; every column adds up to 1.
    """
    shares = np.ones((n_codes, n_values))
    for _ in range(rounds):
        spread = np.zeros((n_codes, n_values))
        for pair in range(amounts.size):
            label, value = pair_labels[pair], pair_values[pair]
            total = 0.0
            for place in range(starts[label], starts[label + 1]):
                total += shares[codes[place], value]
            even = (amounts[pair] - followed[pair]) / (starts[label + 1] - starts[label])
            for place in range(starts[label], starts[label + 1]):
                code = codes[place]
                spread[code, value] += followed[pair] * shares[code, value] / total + even
        grand_total = spread.sum() + towards_even
        sums = spread.sum(axis=0) + towards_all
        for code in range(n_codes):
            common = (spread[code].sum() + towards_even / n_codes) / grand_total
            for value in range(n_values):
                shares[code, value] = (spread[code, value] + towards_all * common) / sums[value]
    return shares


@njit(cache=True)
def fit_values(
    labels: Codes,
    first_label: Integers,
    profile_weights: Floats,
    profile_of: Integers,
    weights: Floats,
    starts: Integers,
    values: Codes,
    targets: Integers,
    amounts: Floats,
    sums: Floats,
    prior: Floats,
    rounds: int,
    towards_prior: float,
) -> Floats:
    """Estimate how each unit's weight divides over values, given only the sums over groups.

    Each round divides the units' weights by a log-linear model, value by labels, and scales them so that
    units and groups add up. It then changes the model, attribute by attribute, to agree with the result on
    how often each label has each value. The model divides units with the same labels alike, so it has one
    entry for each profile, a combination of labels that occurs.

    Parameters
    ----------
    labels, first_label
        For each attribute the labels of the profiles; and where its labels start when those of all
        attributes are numbered consecutively.
    profile_weights
        The weight of all units of each profile.
    profile_of, weights
        The profile of each unit, and what its entries must add up to.
    starts, values, targets, amounts
        The entries of each unit: values, the sum that each belongs to, and a first guess. Units of a group
        stand together, and each has all sums of its group.
    sums
        What the entries of each target must add up to.
    prior
        The share of each value in all.
    towards_prior
        The number of pseudo-observations of each label, with values distributed as in the prior.
    """
    n_attributes, n_profiles = labels.shape
    n_units, n_values = weights.size, prior.size
    # kept between updates, because only one attribute's part of the model changes at a time
    model = profile_weights.reshape(-1, 1) * prior
    profile_values = np.empty((n_profiles, n_values))
    label_values = np.empty((first_label[-1], n_values))
    change = np.empty((first_label[-1], n_values))
    fitted = amounts.copy()
    for _ in range(rounds):
        profile_values[:] = 0.0
        for unit in range(n_units):
            line = profile_values[profile_of[unit]]
            for place in range(starts[unit], starts[unit + 1]):
                line[values[place]] += fitted[place]
        label_values[:] = 0.0
        change[:] = 0.0
        for attribute in range(n_attributes):
            _add_rows_by_label(label_values[first_label[attribute] :], labels[attribute], profile_values)
        for changed in range(n_attributes):
            first, last = first_label[changed], first_label[changed + 1]
            _add_rows_by_label(change[first:], labels[changed], model)
            for label in range(first, last):
                for value in range(n_values):
                    pseudo_count = towards_prior * prior[value]
                    change[label, value] = (
                        (label_values[label, value] + pseudo_count) / (change[label, value] + pseudo_count)
                        if pseudo_count > 0.0
                        else 1.0
                    )
            for profile in range(n_profiles):
                _update_profile(
                    model[profile], change[first + labels[changed, profile]], prior, profile_weights[profile]
                )
        for unit in range(n_units):
            line = model[profile_of[unit]]
            for place in range(starts[unit], starts[unit + 1]):
                fitted[place] = max(line[values[place]], 1e-200)
        _scale(fitted, starts, targets, weights, sums, 3, 0.0)
    _scale(fitted, starts, targets, weights, sums, 1000, 1e-9)
    return fitted


@njit(cache=True)
def _add_rows_by_label(totals: Floats, labels: Codes, lines: Floats) -> None:
    """Add to the total of each label the lines that have it."""
    for row in range(labels.size):
        total, line = totals[labels[row]], lines[row]
        for value in range(line.size):
            total[value] += line[value]


@njit(cache=True)
def _update_profile(line: Floats, change: Floats, prior: Floats, weight: float) -> None:
    """Apply a change to a profile, then rescale the profile to its weight."""
    total = 0.0
    for value in range(line.size):
        line[value] *= change[value]
        total += line[value]
    if total > 0.0:
        scale = weight / total
        for value in range(line.size):
            line[value] *= scale
    else:
        for value in range(line.size):
            line[value] = prior[value] * weight


@njit(cache=True)
def _scale(
    fitted: Floats,
    starts: Integers,
    targets: Integers,
    weights: Floats,
    sums: Floats,
    rounds: int,
    tolerance: float,
) -> None:
    """Scale the entries of each group until its units add up to their weights, and the targets to their sums.

    No entry belongs to two groups, so each group stops when it is exact enough itself.
    """
    factors = np.empty(sums.size)
    first = 0
    while first < weights.size:
        last = first + 1
        while last < weights.size and targets[starts[last]] == targets[starts[first]]:
            last += 1
        for _ in range(rounds):
            if _scale_once(fitted, starts, targets, weights, sums, factors, first, last) < tolerance:
                break
        first = last


@njit(cache=True)
def _scale_once(
    fitted: Floats,
    starts: Integers,
    targets: Integers,
    weights: Floats,
    sums: Floats,
    factors: Floats,
    first: int,
    last: int,
) -> float:
    """Scale the units of one group, then its targets; return how far the units were off at most."""
    farthest = 0.0
    group_targets = targets[starts[first] : starts[first + 1]]
    factors[group_targets] = 0.0
    for unit in range(first, last):
        total = 0.0
        for place in range(starts[unit], starts[unit + 1]):
            total += fitted[place]
        farthest = max(farthest, abs(total / weights[unit] - 1.0))
        scale = weights[unit] / total
        for place in range(starts[unit], starts[unit + 1]):
            fitted[place] *= scale
            factors[targets[place]] += fitted[place]
    for target in group_targets:
        factors[target] = sums[target] / factors[target]
    for place in range(starts[first], starts[last]):
        fitted[place] *= factors[targets[place]]
    return farthest
