"""Improve a partition of weighted rows by steps that lower its loss (local recoding).

The loss of a class is its number of records times the cost of their cover. A step either founds a class
around a row, from rows near it, or dissolves one. Classes that become too small are dissolved too: their
rows move to the classes that lose least by taking them. A step that raises the loss is undone, unless
chance lets it stand, less and less often (simulated annealing: Kirkpatrick et al., "Optimization by
simulated annealing", 1983; for the problem see Xu et al., "Utility-based anonymization using local
recoding", 2006).

Why it is right: a step that would leave a class below the smallest size fails and is undone, so the partition
stays valid. Models that look at more than sizes are checked between waves of steps that touch each class at
most once (`undo_failed_steps`); every step of a wave can therefore be undone by itself. Prices are cached
only as bounds or until a class changes, so the loss that a step reports is the loss of the partition.

What it costs: a step looks only at a row's neighbours and a few wide classes. Each class stores its range,
and how many rows hold each end of it, so that most moves are priced without looking at its rows. A move then
costs time in proportion to the columns. Memory grows with rows times neighbours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.kernels.compilation import INLINED, UNCOUNTED, njit
from sfumato.kernels.greedy_clusters import NO_ITEM, ZERO, joint_cost
from sfumato.runtime.arrays import Booleans, Codes, Floats, Integers

# Sums of losses that differ by less are ties.
_TIE = 1e-12
# The share of steps that dissolve a class instead of founding one.
_DISSOLVE_SHARE = 0.1
# The random noise in the choice of the next row of a new class, relative to the change in loss.
_JOIN_NOISE = 0.6
# A guess: when a class is dissolved, each record that must move costs this share of its old cost on top.
_MOVE_COST_GUESS = 0.2
# Apart from the classes near it, a row may join one of some wide classes, which cost more than twice the
# mean.
_N_WIDE = 8
_WIDE_FACTOR = 2.0
# Stored for each end of a class: how many rows have the lowest code, the next code, and how many have that.
_AT_LOWEST, _NEXT, _AT_NEXT = 0, 1, 2
_LAST_CODE = np.iinfo(np.int32).max


class Partition(NamedTuple):
    """A partition that can be changed: the rows of a class are a doubly linked list.

    There is a place for as many classes as there are rows; a place without rows is free.

    Parameters
    ----------
    prices, columns, nodes
        What covers cost.
    codes, weights
        The rows. The codes of all columns occur twice, the second time negated, so that both ends of a range
        are lowest codes.
    neighbours
        The nearest other rows of each row, -1 after the last.
    class_of, following, preceding
        The class of each row, and its neighbours in the list.
    first, sizes
        The first row of each class, and the number of its records.
    lowest, costs
        The lowest codes of each class, and what its range costs one record.
    ends
        For each class and each of its lowest codes how many of its rows have it, the next code, and how many
        rows have that, or 0 where the next one is not known.
    order
        The rows in the order in which random numbers index them, so that similar rows may be stored together.
    """

    prices: Floats
    columns: Integers
    nodes: Integers
    codes: Codes
    weights: Integers
    neighbours: Codes
    class_of: Integers
    following: Integers
    preceding: Integers
    first: Integers
    sizes: Integers
    lowest: Codes
    costs: Floats
    ends: Codes
    order: Integers


class SavedClasses(NamedTuple):
    """The state of classes before a step that may be undone.

    Parameters
    ----------
    steps
        The step for which each class was last saved.
    lowest, costs, ends
        Its state at that time.
    """

    steps: Integers
    lowest: Codes
    costs: Floats
    ends: Codes


class NeighbourLists(NamedTuple):
    """The neighbours of a row that may join its class, with cached prices.

    Parameters
    ----------
    rows, homes
        The neighbours and their classes, -1 once they have joined.
    weights, codes
        The records of each, and its code in every column, stored by column so that all are priced at once.
    relief, is_exact
        How much the loss of its class falls when the neighbour leaves, or an upper bound of that.
    costs
        The cost per record of the new class with each, infinite once it has joined.
    """

    rows: Integers
    homes: Integers
    weights: Floats
    codes: Codes
    relief: Floats
    is_exact: Booleans
    costs: Floats


class MoveJournal(NamedTuple):
    """The moves of accepted steps, so that they can be undone.

    Parameters
    ----------
    rows, origins, targets
        Each row that moved, from which class, and to which.
    steps
        The step of each move.
    """

    rows: Integers
    origins: Integers
    targets: Integers
    steps: Integers


class HostClasses(NamedTuple):
    """The classes that a row of a dissolved class may join, with cached prices.

    Parameters
    ----------
    wide
        Expensive classes, a sample of which is offered to every row.
    offered, different
        The classes offered to the row, in order: with repetitions, and each once.
    looks, rises
        When each class was last priced, and how much the loss rises if the row joins it, where that was less
        than for the classes before it.
    """

    wide: Integers
    offered: Integers
    different: Integers
    looks: Integers
    rises: Floats


# Finding neighbours.


@njit(cache=True)
def note_neighbours(
    codes: Codes,
    order: Integers,
    window: int,
    neighbours: Codes,
    distances: Floats,
    prices: Floats,
    columns: Integers,
    nodes: Integers,
) -> None:
    """Compare every row with the rows within a window of an order, and keep the nearest."""
    last = neighbours.shape[1] - 1
    for place in range(order.size):
        row = order[place]
        for near in range(place + 1, min(order.size, place + window + 1)):
            other = order[near]
            limit = max(distances[row, last], distances[other, last])
            cost = joint_cost(codes[row], codes[row], other, codes, codes, limit, prices, columns, nodes)
            if cost < distances[row, last]:
                _keep_nearest(neighbours, distances, row, other, cost)
            if cost < distances[other, last]:
                _keep_nearest(neighbours, distances, other, row, cost)


@njit(cache=True)
def note_neighbours_of_neighbours(
    codes: Codes,
    first: int,
    end: int,
    known: Codes,
    neighbours: Codes,
    distances: Floats,
    prices: Floats,
    columns: Integers,
    nodes: Integers,
) -> None:
    """Compare the rows from first to end with the neighbours of their neighbours, and keep the nearest."""
    last = neighbours.shape[1] - 1
    for row in range(first, end):
        for neighbour in known[row]:
            if neighbour < 0:
                break
            for stored in known[neighbour]:
                other = ZERO + stored
                if other < 0:
                    break
                if other != row:
                    cost = joint_cost(
                        codes[row],
                        codes[row],
                        other,
                        codes,
                        codes,
                        distances[row, last],
                        prices,
                        columns,
                        nodes,
                    )
                    if cost < distances[row, last]:
                        _keep_nearest(neighbours, distances, row, other, cost)


@njit(cache=True)
def _keep_nearest(neighbours: Codes, distances: Floats, row: int, other: int, distance: float) -> None:
    place = 0
    while distances[row, place] <= distance:
        if neighbours[row, place] == other:
            return
        place += 1
    for later in range(neighbours.shape[1] - 1, place, -1):
        neighbours[row, later] = neighbours[row, later - 1]
        distances[row, later] = distances[row, later - 1]
    neighbours[row, place] = other
    distances[row, place] = distance


# Classes, and moving rows between them.


@njit(cache=True)
def fill_partition(classes: Partition) -> None:
    """Fill in the lists, sizes, ranges and costs of the classes; only the class of each row is given."""
    classes.first[:] = -1
    classes.sizes[:] = 0
    for row in classes.order[::-1]:
        _join(classes, row, classes.class_of[row])
    for place in range(classes.weights.size):
        _price_class(classes, place)


@njit(cache=True, **INLINED)
def _attach(classes: Partition, row: int, place: int) -> None:
    first = classes.first[place]
    classes.class_of[row] = place
    classes.following[row] = first
    classes.preceding[row] = -1
    if first >= 0:
        classes.preceding[first] = row
    classes.first[place] = row
    classes.sizes[place] += classes.weights[row]


@njit(cache=True, **INLINED)
def _detach(classes: Partition, row: int) -> None:
    place, following, preceding = classes.class_of[row], classes.following[row], classes.preceding[row]
    if preceding >= 0:
        classes.following[preceding] = following
    else:
        classes.first[place] = following
    if following >= 0:
        classes.preceding[following] = preceding
    classes.sizes[place] -= classes.weights[row]


@njit(cache=True, **INLINED)
def _join(classes: Partition, row: int, place: int) -> bool:
    """Add a row to a class; return whether that changes the range of the class."""
    codes, lowest, ends = classes.codes, classes.lowest, classes.ends
    is_new = classes.first[place] < 0
    widens = is_new
    for end in range(codes.shape[1]):
        code = codes[row, end]
        if is_new or code < lowest[place, end]:
            ends[place, end, _NEXT] = lowest[place, end]
            ends[place, end, _AT_NEXT] = 0 if is_new else ends[place, end, _AT_LOWEST]
            ends[place, end, _AT_LOWEST] = 1
            lowest[place, end] = code
            widens = True
        elif code == lowest[place, end]:
            ends[place, end, _AT_LOWEST] += 1
        elif ends[place, end, _AT_NEXT] > 0 and code <= ends[place, end, _NEXT]:
            others = ends[place, end, _AT_NEXT] if code == ends[place, end, _NEXT] else 0
            ends[place, end, _AT_NEXT] = others + 1
            ends[place, end, _NEXT] = code
    _attach(classes, row, place)
    return widens


@njit(cache=True, **INLINED)
def _leave(classes: Partition, row: int) -> bool:
    """Remove a row from its class; return whether that changes the range of the class."""
    codes, lowest, ends = classes.codes, classes.lowest, classes.ends
    place = classes.class_of[row]
    _detach(classes, row)
    if classes.first[place] < 0:
        return True
    shrinks = False
    for end in range(codes.shape[1]):
        code = codes[row, end]
        if code == lowest[place, end]:
            ends[place, end, _AT_LOWEST] -= 1
            if ends[place, end, _AT_LOWEST] == 0:
                _look_for_next(place, end, codes, classes.following, classes.first, lowest, ends)
                lowest[place, end] = ends[place, end, _NEXT]
                ends[place, end, _AT_LOWEST] = ends[place, end, _AT_NEXT]
                ends[place, end, _AT_NEXT] = 0
                shrinks = True
        elif ends[place, end, _AT_NEXT] > 0 and code == ends[place, end, _NEXT]:
            ends[place, end, _AT_NEXT] -= 1
    return shrinks


@njit(cache=True, **INLINED)
def _look_for_next(
    place: int, end: int, codes: Codes, following: Integers, first: Integers, lowest: Codes, ends: Codes
) -> None:
    """Find the second lowest code of a class, unless it is known."""
    if ends[place, end, _AT_NEXT] > 0:
        return
    least = lowest[place, end]
    next_code, n_next = _LAST_CODE, 0
    row = first[place]
    while row >= 0:
        code = codes[row, end]
        if least < code <= next_code:
            n_next = n_next + 1 if code == next_code else 1
            next_code = code
        row = following[row]
    ends[place, end, _NEXT] = next_code
    ends[place, end, _AT_NEXT] = n_next


@njit(cache=True, **INLINED)
def _price_class(classes: Partition, place: int) -> None:
    lowest, prices, columns, nodes = classes.lowest, classes.prices, classes.columns, classes.nodes
    n_columns = columns.shape[0]
    cost = 0.0
    if classes.first[place] >= 0:
        for column in range(n_columns):
            low, high = lowest[place, column], -lowest[place, column + n_columns]
            cost += _price_of(column, low, high, prices, columns, nodes)
    classes.costs[place] = cost


@njit(cache=True, **INLINED)
def _price_of(column: int, low: int, high: int, prices: Floats, columns: Integers, nodes: Integers) -> float:
    node = columns[column, 2]
    if node < 0:
        return prices[columns[column, 0] + columns[column, 1] * low + high]
    while nodes[node + low] != nodes[node + high]:
        node += columns[column, 1]
    return prices[nodes[node + low]]


@njit(cache=True, **INLINED)
def _cost_with(
    place: int,
    row: int,
    codes: Codes,
    lowest: Codes,
    limit: float,
    prices: Floats,
    columns: Integers,
    nodes: Integers,
) -> float:
    """Return the cost per record of a class with one more row, or infinity above the limit."""
    n_columns = columns.shape[0]
    cost = 0.0
    for column in range(n_columns):
        low = min(lowest[place, column], codes[row, column])
        high = -min(lowest[place, column + n_columns], codes[row, column + n_columns])
        cost += _price_of(column, low, high, prices, columns, nodes)
        if cost > limit:
            return np.inf
    return cost


@njit(cache=True, **INLINED)
def _cost_without(classes: Partition, place: int, row: int) -> float:
    """Return the cost per record of a class without one of its rows; other rows must remain."""
    codes, lowest, ends = classes.codes, classes.lowest, classes.ends
    n_columns = classes.columns.shape[0]
    cost = 0.0
    for column in range(n_columns):
        low, high = lowest[place, column], lowest[place, column + n_columns]
        if codes[row, column] == low and ends[place, column, _AT_LOWEST] == 1:
            _look_for_next(place, column, codes, classes.following, classes.first, lowest, ends)
            low = ends[place, column, _NEXT]
        column_high = column + n_columns
        if codes[row, column_high] == high and ends[place, column_high, _AT_LOWEST] == 1:
            _look_for_next(place, column_high, codes, classes.following, classes.first, lowest, ends)
            high = ends[place, column_high, _NEXT]
        cost += _price_of(column, low, -high, classes.prices, classes.columns, classes.nodes)
    return cost


@njit(cache=True, **INLINED)
def _end_position(row: int, place: int, codes: Codes, lowest: Codes, ends: Codes) -> int:
    """Return 0 for a row inside the range of its class, 1 if it shares an end, 2 if it is alone there."""
    n_columns = codes.shape[1] // 2
    at_end, alone = False, False
    for column in range(n_columns):
        low, high = lowest[place, column], lowest[place, column + n_columns]
        is_range = low != -high
        at_low = is_range & (codes[row, column] == low)
        at_high = is_range & (codes[row, column + n_columns] == high)
        at_end |= at_low | at_high
        alone |= at_low & (ends[place, column, _AT_LOWEST] == 1)
        alone |= at_high & (ends[place, column + n_columns, _AT_LOWEST] == 1)
    return 2 if alone else int(at_end)


@njit(cache=True, **INLINED)
def _move(classes: Partition, row: int, target: int, saved: SavedClasses, step: int) -> float:
    """Move a row to another class and return the increase in loss."""
    sizes, costs = classes.sizes, classes.costs
    origin = classes.class_of[row]
    for place in (origin, target):
        if saved.steps[place] != step:
            saved.steps[place] = step
            saved.costs[place] = costs[place]
            _copy_range(place, classes.lowest, classes.ends, saved.lowest, saved.ends)
    loss_before = sizes[origin] * costs[origin] + sizes[target] * costs[target]
    if _leave(classes, row):
        _price_class(classes, origin)
    if _join(classes, row, target):
        _price_class(classes, target)
    return sizes[origin] * costs[origin] + sizes[target] * costs[target] - loss_before


@njit(cache=True, **INLINED)
def _copy_range(place: int, lowest: Codes, ends: Codes, to_lowest: Codes, to_ends: Codes) -> None:
    for end in range(lowest.shape[1]):
        to_lowest[place, end] = lowest[place, end]
        for entry in range(ends.shape[2]):
            to_ends[place, end, entry] = ends[place, end, entry]


@njit(cache=True, **UNCOUNTED)
def _undo_step(classes: Partition, journal: MoveJournal, saved: SavedClasses, begin: int, end: int) -> None:
    """Undo the last step: move its rows back and restore its classes from what was saved."""
    for entry in range(end - 1, begin - 1, -1):
        _detach(classes, journal.rows[entry])
        _attach(classes, journal.rows[entry], journal.origins[entry])
    for entry in range(begin, end):
        for place in (journal.origins[entry], journal.targets[entry]):
            if saved.steps[place] >= 0:
                saved.steps[place] = -1
                classes.costs[place] = saved.costs[place]
                _copy_range(place, saved.lowest, saved.ends, classes.lowest, classes.ends)


@njit(cache=True)
def undo_failed_steps(classes: Partition, journal: MoveJournal, n_moves: int, fails: Booleans) -> None:
    """Undo every step of a wave that changed a class which now fails the model."""
    begin = ZERO
    for end in range(1, n_moves + 1):
        if end == n_moves or journal.steps[end] != journal.steps[begin]:
            failed = False
            for entry in range(begin, end):
                failed |= fails[journal.origins[entry]] or fails[journal.targets[entry]]
            if failed:
                _undo_moves(classes, journal, begin, end)
            begin = end


@njit(cache=True)
def _undo_moves(classes: Partition, journal: MoveJournal, begin: int, end: int) -> None:
    """Move the rows back, the last moves first."""
    for entry in range(end - 1, begin - 1, -1):
        _leave(classes, journal.rows[entry])
        _join(classes, journal.rows[entry], journal.origins[entry])
    for entry in range(begin, end):
        _price_class(classes, journal.origins[entry])
        _price_class(classes, journal.targets[entry])


# Steps.


@njit(cache=True)
def improve(
    classes: Partition,
    journal: MoveJournal,
    locked: Booleans,
    in_waves: bool,
    least: int,
    n_steps: int,
    temperature: float,
    rng: np.random.Generator,
) -> int:
    """Try steps at random, and keep those that lower the loss or hardly raise it.

    A step may raise the loss by an exponentially distributed allowance. A rise is then accepted with the
    probability exp(-rise / temperature), as in simulated annealing, but the allowance is known in advance: a
    step that cannot stay below it is abandoned early. The classes that a step changes are saved first, so
    undoing it looks up no prices.

    Parameters
    ----------
    classes
        The partition, changed in place.
    journal
        Filled with the moves.
    locked
        The classes that must not change.
    in_waves
        Whether no class may change in two steps, so that each step can be undone by itself; the journal then
        holds all accepted steps.
    least
        The size of the smallest class allowed.
    n_steps
        The number of steps to try.
    temperature
        The mean of the allowance.

    Returns
    -------
    n_moves
        The number of moves of accepted steps in the journal; without waves only those of the last step.
    """
    n_rows, n_near = classes.neighbours.shape
    near = NeighbourLists(
        np.empty(n_near, np.int64),
        np.empty(n_near, np.int64),
        np.empty(n_near),
        np.empty((classes.columns.shape[0], n_near), np.int32),
        np.empty(n_near),
        np.empty(n_near, np.bool_),
        np.empty(n_near),
    )
    saved = SavedClasses(
        np.full(n_rows, -1, np.int64),
        np.empty_like(classes.lowest),
        np.empty_like(classes.costs),
        np.empty_like(classes.ends),
    )
    hosts = HostClasses(
        np.empty(n_rows, np.int64),
        np.empty(n_near + _N_WIDE, np.int64),
        np.empty(n_near + _N_WIDE, np.int64),
        np.full(n_rows, -1, np.int64),
        np.empty(n_rows),
    )
    free, n_free = _free_places(classes)
    is_free = classes.first < 0
    n_wide = _list_wide(classes, least, hosts.wide)
    n_kept = ZERO
    for step in range(n_steps):
        seed = classes.order[int(rng.random() * n_rows)]
        ended = classes.class_of[seed]
        if classes.costs[ended] == 0.0 or locked[ended]:
            continue
        first_move = n_kept if in_waves else ZERO
        allowance = -temperature * np.log(1.0 - rng.random()) - _TIE
        place = -1
        if n_free == 0 or rng.random() < _DISSOLVE_SHARE:
            is_valid, change, n_moves = _dissolve(
                classes, journal, saved, step, locked, ended, least, hosts, n_wide, rng, first_move, allowance
            )
        else:
            n_free -= 1
            place = free[n_free]
            is_free[place] = False
            change, n_founded = _found_class(
                classes, journal, saved, step, locked, seed, place, least, rng, first_move, near
            )
            is_valid, change, n_moves = _dissolve_too_small(
                classes,
                journal,
                saved,
                step,
                locked,
                place,
                least,
                hosts,
                n_wide,
                rng,
                first_move,
                n_founded,
                change,
                allowance,
            )
        if is_valid and change <= allowance:
            for entry in range(first_move, n_moves):
                origin = journal.origins[entry]
                journal.steps[entry] = step
                if in_waves:
                    locked[origin] = True
                    locked[journal.targets[entry]] = True
                elif classes.first[origin] < 0 and not is_free[origin]:
                    is_free[origin] = True
                    free[n_free] = origin
                    n_free += 1
            n_kept = n_moves
        else:
            _undo_step(classes, journal, saved, first_move, n_moves)
            if place >= 0:
                is_free[place] = True
                free[n_free] = place
                n_free += 1
    return n_kept


@njit(cache=True)
def _free_places(classes: Partition) -> tuple[Integers, int]:
    free = np.empty(classes.first.size + 1, np.int64)
    n_free = 0
    for place in range(classes.first.size - 1, -1, -1):
        if classes.first[place] < 0:
            free[n_free] = place
            n_free += 1
    return free, n_free


@njit(cache=True)
def _list_wide(classes: Partition, least: int, wide: Integers) -> int:
    sizes, costs = classes.sizes, classes.costs
    mean = (sizes * costs).sum() / max(sizes.sum(), 1)
    n_wide = 0
    for place in range(costs.size):
        if sizes[place] >= least and costs[place] > _WIDE_FACTOR * mean:
            wide[n_wide] = place
            n_wide += 1
    return n_wide


@njit(cache=True, **INLINED)
def _log_move(journal: MoveJournal, entry: int, row: int, origin: int, target: int) -> int:
    journal.rows[entry] = row
    journal.origins[entry] = origin
    journal.targets[entry] = target
    return entry + 1


@njit(cache=True, **UNCOUNTED)
def _found_class(
    classes: Partition,
    journal: MoveJournal,
    saved: SavedClasses,
    step: int,
    locked: Booleans,
    seed: int,
    place: int,
    least: int,
    rng: np.random.Generator,
    n_moves: int,
    near: NeighbourLists,
) -> tuple[float, int]:
    """Found a class with one row and add the neighbours that raise the loss least.

    Two prices are cached for each neighbour: what its leaving saves, until its class changes, and what the
    new class would cost with it, until the range of the new class changes. A saving is computed exactly only
    for a neighbour that could be the best by its upper bound.
    """
    sizes, costs, class_of = classes.sizes, classes.costs, classes.class_of
    n_near = _list_neighbours(classes, seed, locked, near)
    change = 0.0
    row, chosen = seed, NO_ITEM
    while row >= 0 and n_moves < journal.rows.size:
        origin = class_of[row]
        widens = sizes[place] == 0 or not _lies_within(row, place, classes.codes, classes.lowest)
        change += _move(classes, row, place, saved, step)
        n_moves = _log_move(journal, n_moves, row, origin, place)
        if chosen >= 0:
            near.homes[chosen] = -1
            near.costs[chosen] = np.inf
        if widens:
            _price_near(classes, place, near, n_near)
        _forget_relief(near, n_near, origin, sizes[origin], costs[origin])
        size = sizes[place]
        loss_before = size * costs[place]
        row = NO_ITEM
        best = -_TIE if size >= least else np.inf
        for position in range(n_near):
            weight = near.weights[position]
            limit = (best + near.relief[position] + loss_before) / (size + weight)
            if near.costs[position] >= limit:
                continue
            if not near.is_exact[position]:
                home = near.homes[position]
                near.relief[position] = _relief(weight, sizes[home], costs[home], least)
                if np.isnan(near.relief[position]):
                    near.relief[position] = _relief_of_large(classes, near.rows[position], home)
                near.is_exact[position] = True
            value = (size + weight) * near.costs[position] - loss_before - near.relief[position]
            value += _JOIN_NOISE * abs(value) * rng.random()
            if value < best:
                best = value
                row, chosen = near.rows[position], position
    return change, n_moves


@njit(cache=True, **INLINED)
def _price_near(classes: Partition, place: int, near: NeighbourLists, n_near: int) -> None:
    """Compute the cost per record of the new class with each neighbour that is not in it yet."""
    prices, columns, nodes, lowest = classes.prices, classes.columns, classes.nodes, classes.lowest
    n_columns = columns.shape[0]
    costs, homes = near.costs[:n_near], near.homes[:n_near]
    for position in range(n_near):
        costs[position] = 0.0 if homes[position] >= 0 else np.inf
    for column in range(n_columns):
        own_low, own_high = lowest[place, column], -lowest[place, column + n_columns]
        codes = near.codes[column, :n_near]
        first, stride = columns[column, 0], columns[column, 1]
        if columns[column, 2] < 0:
            for position in range(n_near):
                low = min(own_low, codes[position])
                high = max(own_high, codes[position])
                costs[position] += prices[first + stride * low + high]
        else:
            for position in range(n_near):
                low = min(own_low, codes[position])
                high = max(own_high, codes[position])
                costs[position] += _price_of(column, low, high, prices, columns, nodes)


@njit(cache=True, **INLINED)
def _forget_relief(near: NeighbourLists, n_near: int, origin: int, size: int, cost: float) -> None:
    """Replace the cached savings from leaving a class that has changed by an upper bound."""
    for position in range(n_near):
        changed = near.homes[position] == origin
        bound = max(float(size), 2.0 * near.weights[position]) * cost
        near.relief[position] = bound if changed else near.relief[position]
        near.is_exact[position] = near.is_exact[position] and not changed


@njit(cache=True, **INLINED)
def _list_neighbours(classes: Partition, seed: int, locked: Booleans, near: NeighbourLists) -> int:
    """List the neighbours of a row whose classes are not locked; return how many there are."""
    n_near = ZERO
    for other in classes.neighbours[seed]:
        if other < 0:
            break
        home = classes.class_of[other]
        if not locked[home]:
            near.rows[n_near] = other
            near.homes[n_near] = home
            near.weights[n_near] = classes.weights[other]
            for column in range(classes.columns.shape[0]):
                near.codes[column, n_near] = classes.codes[other, column]
            near.relief[n_near] = _most_relief(
                classes.weights[other], classes.sizes[home], classes.costs[home]
            )
            near.is_exact[n_near] = False
            n_near += 1
    return n_near


@njit(cache=True, **INLINED)
def _lies_within(row: int, place: int, codes: Codes, lowest: Codes) -> bool:
    within = True
    for end in range(codes.shape[1]):
        within &= codes[row, end] >= lowest[place, end]
    return within


@njit(cache=True, **INLINED)
def _most_relief(weight: int, size: int, cost: float) -> float:
    """Return an upper bound of `_relief`."""
    return max(size, 2 * weight) * cost


@njit(cache=True, **INLINED)
def _relief(weight: int, size: int, cost: float, least: int) -> float:
    """Return how much the loss of its class falls when a row leaves, a guess if that dissolves the class.

    NaN means that the class stays large enough; see `_relief_of_large`.
    """
    rest = size - weight
    if rest == 0:
        return size * cost
    if rest >= least:
        return np.nan
    if size < least:
        return 2 * weight * cost
    return (weight - _MOVE_COST_GUESS * rest) * cost if cost > 0 else -np.inf


@njit(cache=True, **INLINED)
def _relief_of_large(classes: Partition, row: int, place: int) -> float:
    """Return how much the loss of a class falls when a row leaves and the class stays large enough."""
    size, cost, weight = classes.sizes[place], classes.costs[place], classes.weights[row]
    end = _end_position(row, place, classes.codes, classes.lowest, classes.ends)
    if end == 0:
        return weight * cost
    return size * cost - (size - weight) * (cost if end == 1 else _cost_without(classes, place, row))


@njit(cache=True, **UNCOUNTED)
def _dissolve_too_small(
    classes: Partition,
    journal: MoveJournal,
    saved: SavedClasses,
    step: int,
    locked: Booleans,
    place: int,
    least: int,
    hosts: HostClasses,
    n_wide: int,
    rng: np.random.Generator,
    first_move: int,
    n_founded: int,
    change: float,
    allowance: float,
) -> tuple[bool, float, int]:
    """Dissolve every class that became too small when another was founded, unless that cannot pay.

    Dissolving classes lowers the loss by what they cost now, their credit, at most. So if the rise so far
    exceeds the allowance by more than their credit, the step fails before any row is moved.
    """
    sizes, costs = classes.sizes, classes.costs
    n_moves = n_founded
    credit = 0.0
    for entry in range(first_move, n_founded):
        origin = journal.origins[entry]
        if 0 < sizes[origin] < least:
            credit += sizes[origin] * costs[origin]
    is_valid = sizes[place] >= least and change - credit <= allowance
    for entry in range(first_move, n_founded):
        origin = journal.origins[entry]
        if is_valid and 0 < sizes[origin] < least:
            credit -= sizes[origin] * costs[origin]
            is_valid, more, n_moves = _dissolve(
                classes,
                journal,
                saved,
                step,
                locked,
                origin,
                least,
                hosts,
                n_wide,
                rng,
                n_moves,
                allowance - change + credit,
            )
            change += more
    return is_valid, change, n_moves


@njit(cache=True, **UNCOUNTED)
def _dissolve(
    classes: Partition,
    journal: MoveJournal,
    saved: SavedClasses,
    step: int,
    locked: Booleans,
    place: int,
    least: int,
    hosts: HostClasses,
    n_wide: int,
    rng: np.random.Generator,
    n_moves: int,
    allowance: float,
) -> tuple[bool, float, int]:
    """Move every row of a class to whichever nearby or wide class loses least by taking it."""
    sizes, costs, first = classes.sizes, classes.costs, classes.first
    change = 0.0
    while first[place] >= 0:
        row = first[place]
        look = 3 * (step * journal.rows.size + n_moves)
        n_offered, n_different = _list_hosts(classes, row, place, hosts, n_wide, rng, look)
        best, target, is_tied = _best_host(
            classes, row, place, locked, least, hosts, hosts.different, n_different, look + 1
        )
        if is_tied:
            best, target = _best_host_in_order(classes, row, place, locked, least, hosts, n_offered, look + 2)
        credit = sizes[place] * costs[place]
        if target < 0 or n_moves == journal.rows.size or change + best - credit > allowance:
            return False, change, n_moves
        change += _move(classes, row, target, saved, step)
        n_moves = _log_move(journal, n_moves, row, place, target)
    return True, change, n_moves


@njit(cache=True, **INLINED)
def _list_hosts(
    classes: Partition,
    row: int,
    place: int,
    hosts: HostClasses,
    n_wide: int,
    rng: np.random.Generator,
    look: int,
) -> tuple[int, int]:
    """List the classes near a row and some wide ones, with repetitions and each once; return both lengths."""
    n_offered, n_different = ZERO, ZERO
    hosts.looks[place] = look
    for other in classes.neighbours[row]:
        if other < 0:
            break
        n_different = _note_host(hosts, classes.class_of[other], n_offered, n_different, look)
        n_offered += 1
    for _ in range(min(n_wide, _N_WIDE)):
        n_different = _note_host(hosts, hosts.wide[int(rng.random() * n_wide)], n_offered, n_different, look)
        n_offered += 1
    return n_offered, n_different


@njit(cache=True, **INLINED)
def _note_host(hosts: HostClasses, host: int, n_offered: int, n_different: int, look: int) -> int:
    """Add a class to the lists; return the number of different ones. Branchless, as nothing predicts it."""
    hosts.offered[n_offered] = host
    hosts.different[n_different] = host
    is_new = hosts.looks[host] != look
    hosts.looks[host] = look
    return n_different + is_new


@njit(cache=True, **INLINED)
def _best_host(
    classes: Partition,
    row: int,
    place: int,
    locked: Booleans,
    least: int,
    hosts: HostClasses,
    offered: Integers,
    n_offered: int,
    look: int,
) -> tuple[float, int, bool]:
    """Return the lowest rise in loss when a class takes in a row, that class, and whether others tie."""
    sizes, costs, codes, lowest = classes.sizes, classes.costs, classes.codes, classes.lowest
    prices, columns, nodes = classes.prices, classes.columns, classes.nodes
    looks, rises = hosts.looks, hosts.rises
    weight = classes.weights[row]
    best = np.inf
    target = NO_ITEM
    is_tied = False
    for position in range(n_offered):
        host = offered[position]
        if looks[host] == look and (host == target or rises[host] > best + _TIE):
            continue
        looks[host] = look
        rises[host] = np.inf
        if host == place or locked[host] or sizes[host] < least:
            continue
        loss_before = sizes[host] * costs[host]
        limit = (best + loss_before) / (sizes[host] + weight)
        if limit <= costs[host]:
            continue
        cost = _cost_with(host, row, codes, lowest, limit, prices, columns, nodes)
        if cost < limit:
            rise = (sizes[host] + weight) * cost - loss_before
            is_tied |= best <= rise + _TIE
            best = rise
            rises[host] = rise
            target = host
    return best, target, is_tied


@njit(cache=True, **UNCOUNTED)
def _best_host_in_order(
    classes: Partition,
    row: int,
    place: int,
    locked: Booleans,
    least: int,
    hosts: HostClasses,
    n_offered: int,
    look: int,
) -> tuple[float, int]:
    """Return the best host if several tie within rounding: the order of the list with repetitions decides."""
    best, target, _ = _best_host(classes, row, place, locked, least, hosts, hosts.offered, n_offered, look)
    return best, target
