"""Maximum-entropy estimation: use the whole release to estimate what each of its cells leaves open."""

from __future__ import annotations

import numpy as np

from sfumato.kernels.distribution_fit import fit_codes, fit_values
from sfumato.kernels.row_groups import first_row_of_group, number_rows
from sfumato.kernels.weight_estimates import add_up
from sfumato.measures.utility.estimation.estimate import Estimate, Mixtures, Spread
from sfumato.runtime.arrays import Codes, Floats, Integers

_ROUNDS = 20
"""Enough for most of the gain; going on changes little."""
_DOUBT = 100.0
_EVEN = 50.0
"""How many records of doubt keep the fits from believing in what few records say."""
_OWN = 25.0
"""A class of so many records is believed by half: the fewer, the more its cells are drawn around its own."""
_LARGEST = 20_000_000
"""An attribute that needs more numbers than this is not told apart by sensitive value."""


def maximum_entropy_estimate(estimate: Estimate) -> Estimate:
    """Refine a uniform estimate by what the release says elsewhere, and by nothing else.

    Among all tables that the release may stand for, the uniform reading takes one that is even within
    each class. This one takes the table that is nearest to a model of the whole release, which is
    itself estimated from the release:

    - A class says how many records with a sensitive value s have some value of a set. Which one, is
      taken from the distribution of the attribute among the records with s, fitted to all sets of all
      classes together (expectation-maximisation for coarsened data). The cells of a small class are
      drawn around its own few records, so that where they overlap with others says little; the smaller
      it is, the less the fit follows it.
    - A group with several classes says how often s occurs in it. In which class, is taken from a
      log-linear model of s by the quasi-identifiers, fitted to all groups together and scaled to
      agree with each (iterative proportional fitting).

    Counts of classes and groups stay what they are. If all cells of an attribute are equally coarse and do
    not overlap, as in full-domain recoding, nothing is known beyond them and the attribute stays even. If
    values really are even and independent and classes small, the uniform reading is the better one.

    Parameters
    ----------
    estimate
        The result of `uniform_estimate` for a release.

    References
    ----------
    N. Li, T. Li, "On the tradeoff between privacy and utility in data publishing", 2009, section 6
    (which asks for it); A. Dempster, N. Laird, D. Rubin, "Maximum likelihood from incomplete data via
    the EM algorithm", 1977; D. Kifer, "Attacks on privacy and deFinetti's theorem", 2009.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.models import ProbabilisticDiversity
    >>> from sfumato.sanitizers import Bucketize
    >>> from sfumato.measures.utility.estimation.reconstruction import uniform_estimate
    >>> release = sanitize(*datasets.hospital(), Bucketize(ProbabilisticDiversity(2)))
    >>> round(float(maximum_entropy_estimate(uniform_estimate(release, "diagnosis")).weights.sum()), 6)
    12.0
    """
    units, places, amounts = estimate.entries
    values = estimate.mixtures.values[places]
    if estimate.mixtures.n_values > 1 and len(estimate.mixtures.totals) < estimate.n_units:
        amounts = _associated(estimate, units, places, amounts)
    if all(len(spread.codes) == spread.n_labels for spread in estimate.spreads):
        return _together(estimate, units, values, amounts)
    order = np.argsort(values, kind="stable")
    units, values, amounts = units[order], values[order], amounts[order]
    n_values = estimate.mixtures.n_values
    sizes = estimate.weights[units]
    followed = amounts * sizes / (sizes + _OWN)
    return Estimate(
        amounts,
        tuple(
            _fitted(spread.take(units), values, n_values, amounts, followed) for spread in estimate.spreads
        ),
        values.astype(np.int64),
        Mixtures(np.arange(n_values + 1), np.arange(n_values), np.ones(n_values), n_values),
    )


def _associated(estimate: Estimate, units: Integers, places: Integers, amounts: Floats) -> Floats:
    """Divide the units of each group over its sensitive values."""
    mixtures = estimate.mixtures
    profile_of, first = _profiles(estimate)
    return fit_values(
        np.ascontiguousarray(estimate.labels[:, first]),
        estimate.all_labels[1],
        add_up(profile_of, estimate.weights, len(first)),
        profile_of,
        estimate.weights,
        np.searchsorted(units, np.arange(estimate.n_units + 1)),
        mixtures.values[places],
        places,
        amounts,
        add_up(places, amounts, len(mixtures.values)),
        estimate.overall / estimate.overall.sum(),
        _ROUNDS,
        _DOUBT,
    )


def _profiles(estimate: Estimate) -> tuple[Integers, Integers]:
    """Number the combinations of labels: return the number of each unit, and a unit of each."""
    profile_of, n_profiles = number_rows(
        [spread.label_of for spread in estimate.spreads],
        [spread.n_labels for spread in estimate.spreads],
        estimate.n_units,
    )
    return profile_of, first_row_of_group(profile_of, n_profiles)


def _together(estimate: Estimate, units: Integers, values: Codes, amounts: Floats) -> Estimate:
    """Merge units with the same exact values, each with a mixture of its own."""
    n_values = estimate.mixtures.n_values
    profile_of, first = _profiles(estimate)
    keys, entry = np.unique(profile_of[units] * n_values + values, return_inverse=True)
    starts = np.searchsorted(keys, np.arange(len(first) + 1) * n_values)
    mixtures = Mixtures(starts, keys % n_values, add_up(entry, amounts, len(keys)), n_values)
    spreads = tuple(spread.take(first) for spread in estimate.spreads)
    return Estimate(mixtures.totals, spreads, np.arange(len(first)), mixtures)


def _fitted(spread: Spread, values: Codes, n_values: int, amounts: Floats, followed: Floats) -> Spread:
    """Spread each label as the records with the same sensitive value do."""
    lengths = np.diff(spread.starts)
    if (lengths == 1).all():
        return spread
    pairs, label_of = np.unique(spread.label_of.astype(np.int64) * n_values + values, return_inverse=True)
    if lengths[pairs // n_values].sum() > _LARGEST:
        values, n_values = np.zeros_like(values), 1
        pairs, label_of = np.unique(spread.label_of.astype(np.int64), return_inverse=True)
    labels, pair_values = pairs // n_values, pairs % n_values
    shares = fit_codes(
        spread.starts,
        spread.codes,
        labels,
        pair_values,
        add_up(label_of, amounts, len(pairs)),
        add_up(label_of, followed, len(pairs)),
        spread.n_codes,
        n_values,
        _ROUNDS,
        _DOUBT,
        _EVEN,
    )
    starts = np.concatenate([[0], np.cumsum(lengths[labels])])
    pair = np.repeat(np.arange(len(pairs)), lengths[labels])
    codes = spread.codes[spread.starts[labels][pair] + np.arange(len(pair)) - starts[pair]]
    return Spread(label_of, starts, codes, shares[codes, pair_values[pair]], spread.n_codes)
