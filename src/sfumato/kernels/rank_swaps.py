"""Swap each place of a sorted list with a random one not far behind it."""

from __future__ import annotations

import numpy as np

from sfumato.kernels.compilation import njit
from sfumato.runtime.arrays import Floats, Integers


@njit(cache=True)
def swapped(n_places: int, reach: int, luck: Floats) -> Integers:
    """Return for each place the one that it changes with; its own where nobody is left within reach.

    Parameters
    ----------
    n_places
        How many places there are.
    reach
        How far the two may lie apart.
    luck
        For each place a random number from 0 to 1.
    """
    partner = np.arange(n_places)
    following = np.arange(n_places + 1)  # the first free place from here on, or one that leads to it
    for place in range(n_places):
        if _free(following, place) != place:
            continue
        following[place] = place + 1
        last = min(place + reach, n_places - 1)
        wish = place + 1 + int(luck[place] * (last - place))
        found = _free(following, wish)
        if found > last:
            found = _free(following, place + 1)
        if found <= last:
            partner[place], partner[found] = found, place
            following[found] = found + 1
    return partner


@njit(cache=True)
def _free(following: Integers, place: int) -> int:
    """Return the first free place from here on, and shorten the way to it."""
    end = place
    while following[end] != end:
        end = following[end]
    while following[place] != place:
        ahead = following[place]
        following[place] = end
        place = ahead
    return int(end)
