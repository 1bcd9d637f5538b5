"""The array types that everything shares, how an array is made read-only, and an order that is secret."""

from __future__ import annotations

import os
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.integer[Any]]
"""Positions in a domain; 32 bits unless a kernel needs fewer."""
Integers = npt.NDArray[np.integer[Any]]
"""Counts and row numbers; 64 bits unless a kernel needs fewer."""
Floats = npt.NDArray[np.float64]
Booleans = npt.NDArray[np.bool_]

_Scalar = TypeVar("_Scalar", bound=np.generic)


def frozen(array: Any, dtype: type[_Scalar]) -> npt.NDArray[_Scalar]:
    """Return the array with this element type, contiguous and read-only.

    An array that is already so is returned as it is; one that the caller could still write, even
    through another view of the same memory, is copied, so that nobody can change a value object
    from outside.
    """
    if (
        isinstance(array, np.ndarray)
        and array.dtype == dtype
        and array.flags.c_contiguous
        and _is_sealed(array)
    ):
        return array
    return sealed(np.array(array, dtype=dtype, order="C"))


def freeze_fields(value: object, **kinds: type[Any]) -> None:
    """Convert fields of a frozen dataclass in its ``__post_init__``; nothing else writes to such a value.

    Parameters
    ----------
    value
        The dataclass.
    kinds
        For each field a type of elements, for a read-only array or a tuple of them, or another type, such as
        `dict`, which copies what was given. A field that is ``None`` stays so.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Sizes:
    ...     sizes: Integers
    ...
    ...     def __post_init__(self) -> None:
    ...         freeze_fields(self, sizes=np.int64)
    >>> Sizes([3, 4]).sizes
    array([3, 4])
    """
    for name, kind in kinds.items():
        given = getattr(value, name)
        if given is None:
            continue
        if not issubclass(kind, np.generic):
            converted = kind(given)
        elif isinstance(given, tuple):
            converted = tuple(frozen(array, kind) for array in given)
        else:
            converted = frozen(given, kind)
        object.__setattr__(value, name, converted)


def sealed(array: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
    """Make an array of our own read-only, without a copy."""
    array.setflags(write=False)
    return array


def secret_order(n: int) -> Integers:
    """Return the numbers below n in an order that nobody can foresee or draw again.

    It comes from the system's cryptographic source. Someone who knows most of a permutation that an
    ordinary generator drew can compute the rest of it.
    """
    return np.argsort(np.frombuffer(os.urandom(8 * n), dtype=np.uint64))


def _is_sealed(array: npt.NDArray[Any]) -> bool:
    owner = array if array.base is None else array.base
    return not array.flags.writeable and isinstance(owner, np.ndarray) and not owner.flags.writeable
