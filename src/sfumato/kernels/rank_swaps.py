"""Swap each place of a sorted list with a random free place not far behind it (rank swapping).

The method is from Moore, "Controlled data-swapping techniques for masking public use microdata sets", 1996.
A union-find forest with path compression finds the next free place in nearly constant time.
"""

from __future__ import annotations

import numpy as np

from sfumato.kernels.compilation import njit
from sfumato.runtime.arrays import Floats, Integers


@njit(cache=True)
def draw_swaps(n_places: int, reach: int, uniforms: Floats) -> Integers:
    """Return for each place the place it swaps with, or itself if none is free within reach.

    Parameters
    ----------
    n_places
        The number of places.
    reach
        The largest distance between the two.
    uniforms
        For each place a random number from 0 to 1.
    """
    partner = np.arange(n_places)
    following = np.arange(n_places + 1)  # the first free place from here on, or one that leads to it
    for place in range(n_places):
        if _first_free(following, place) != place:
            continue
        following[place] = place + 1
        last = min(place + reach, n_places - 1)
        wanted = place + 1 + int(uniforms[place] * (last - place))
        other = _first_free(following, wanted)
        if other > last:
            other = _first_free(following, place + 1)
        if other <= last:
            partner[place], partner[other] = other, place
            following[other] = other + 1
    return partner


@njit(cache=True)
def _first_free(following: Integers, place: int) -> int:
    """Return the first free place from here on, and compress the path to it."""
    end = place
    while following[end] != end:
        end = following[end]
    while following[place] != place:
        ahead = following[place]
        following[place] = end
        place = ahead
    return int(end)
