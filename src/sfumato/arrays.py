"""The array types that everything shares, and the one way to make an array read-only."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Booleans = npt.NDArray[np.bool_]

_Scalar = TypeVar("_Scalar", bound=np.generic)


def frozen(array: Any, dtype: type[_Scalar]) -> npt.NDArray[_Scalar]:
    """Return the array with this element type, contiguous and read-only.

    An array that is already so is returned as it is; one that could still be written by the caller
    is copied, so that nobody can change a value object from outside.
    """
    given = np.asarray(array, dtype=dtype)
    if not given.flags.writeable and given.flags.c_contiguous:
        return given
    # a fresh array that nobody else holds needs no copy
    own = given if given is not array and given.base is None and given.flags.c_contiguous else given.copy()
    own.setflags(write=False)
    return own


def sealed(array: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
    """Make an array of our own read-only, without a copy."""
    array.setflags(write=False)
    return array
