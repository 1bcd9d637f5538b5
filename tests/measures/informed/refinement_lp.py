"""Combinatorial refinement: which values a record can have if nothing finer could be released before it.

Some local recodings go from state to state (one level for each attribute), from the least to the most loss,
and release at each state every class of k records. That leaves a trace: a record released at a state was in
no group of k remaining records at any earlier one. For every earlier state and each of its cells, this is a
linear inequality in the number of records of each class that have each combination of values. Any combination
that no solution allows is ruled out, without further knowledge of the people.

This is the part of the attack that follows from its description (the order of states and the condition on
the remaining records). The paper's rules for ties between states of equal loss, which are ARX's, are not
used: states are taken in the given order.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sfumato.runtime.arrays import Booleans, Codes

State = tuple[int, ...]
"""One level for each attribute."""
Values = tuple[int, ...]
"""One code for each attribute."""

# Solutions of the linear program that differ from a whole number by less are taken for it.
_NEARLY = 1e-6


@dataclass(frozen=True)
class ReleasedClass:
    """A class of a release by states.

    Parameters
    ----------
    state
        The place of its state in the order in which states were tried.
    cell
        Its node in each attribute, on the levels of the state.
    size
        How many records it has.
    """

    state: int
    cell: Values
    size: int


@dataclass(frozen=True, eq=False)
class Refined:
    """For each class the combinations of values that its cell covers, and which of them are possible.

    Parameters
    ----------
    combinations
        For each class the combinations of codes.
    most
        For each class how many of its records can have each of them at most.
    """

    combinations: tuple[tuple[Values, ...], ...] = field(repr=False)
    most: tuple[tuple[int, ...], ...] = field(repr=False)

    @property
    def possible(self) -> tuple[tuple[Values, ...], ...]:
        """For each class the combinations that some record of it can have."""
        return tuple(
            tuple(values for values, most in zip(combinations, bounds, strict=True) if most)
            for combinations, bounds in zip(self.combinations, self.most, strict=True)
        )


def refine(
    classes: Sequence[ReleasedClass], states: Sequence[State], levels: Sequence[Codes], k: int
) -> Refined:
    """Return what the records of each class can be, given that earlier states had nothing to release.

    Parameters
    ----------
    classes
        The released classes.
    states
        The states in the order in which they were tried.
    levels
        For each attribute and level the node of each code, as a hierarchy's ``node_of``.
    k
        How many records a class had to have.

    References
    ----------
    S. Chhillar, M. Righi, R. Sutter, E. Kornaropoulos, "Exposing privacy risks in anonymizing clinical data:
    combinatorial refinement attacks on k-anonymity without auxiliary information", arXiv 2509.03350, 2025.

    Examples
    --------
    Two records that were not released at a state that has k = 2 of one cell released are no two of that cell:

    >>> levels = [np.array([[0, 1, 2], [0, 0, 1], [0, 0, 0]])]
    >>> refine([ReleasedClass(1, (0,), 2)], [(0,), (1,), (2,)], levels, 2).possible
    (((0,), (1,)),)
    >>> refine([ReleasedClass(2, (0,), 2)], [(0,), (1,), (2,)], levels, 2).most
    ((1, 1, 1),)
    """
    from scipy.optimize import linprog

    combinations = tuple(_covered(released, states, levels) for released in classes)
    owner = np.repeat(np.arange(len(classes)), [len(covered) for covered in combinations])
    codes = np.array([values for covered in combinations for values in covered]).reshape(
        len(owner), len(levels)
    )
    state_of = np.array([released.state for released in classes])[owner]
    before = [_crowded(codes, state_of, place, states[place], levels) for place in range(len(states))]
    too_many = np.concatenate([np.zeros((0, len(owner)), dtype=np.bool_), *before])
    whole = owner == np.arange(len(classes))[:, np.newaxis]
    sizes = np.array([released.size for released in classes])
    bounds = []
    for variable in range(len(owner)):
        goal = np.zeros(len(owner))
        goal[variable] = -1
        limits = np.full(len(too_many), k - 1)
        solution = linprog(goal, too_many, limits, whole, sizes, bounds=(0, None), method="highs")
        bounds.append(0 if solution.x is None else int(np.floor(-solution.fun + _NEARLY)))
    ends = np.cumsum([0, *map(len, combinations)])
    most = tuple(tuple(bounds[start:end]) for start, end in itertools.pairwise(ends))
    return Refined(combinations, most)


def _covered(released: ReleasedClass, states: Sequence[State], levels: Sequence[Codes]) -> tuple[Values, ...]:
    """Return the combinations of codes below the cell of a class."""
    nodes = zip(released.cell, states[released.state], levels, strict=True)
    return tuple(
        itertools.product(
            *(np.flatnonzero(node_of[level] == node).tolist() for node, level, node_of in nodes)
        )
    )


def _crowded(codes: Codes, state_of: Codes, place: int, state: State, levels: Sequence[Codes]) -> Booleans:
    """Return for each cell of a state the variables that count there: those of the remaining records."""
    left = np.flatnonzero(state_of > place)
    cells: dict[Values, list[int]] = {}
    for variable in left.tolist():
        node = tuple(
            int(node_of[level][code])
            for node_of, level, code in zip(levels, state, codes[variable], strict=True)
        )
        cells.setdefault(node, []).append(variable)
    rows = np.zeros((len(cells), len(codes)), dtype=np.bool_)
    for row, variables in enumerate(cells.values()):
        rows[row, variables] = True
    return rows
