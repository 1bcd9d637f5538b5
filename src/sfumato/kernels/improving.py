"""Improve a partition of weighted rows: who is near, and steps that lower the loss.

The loss of a class is the number of its records times what their cover costs one of them. A step founds
a class around a row, from rows near it, or ends a class. Classes that become too small by it are ended
too: their rows move to the classes that lose least by taking them. A step that raises the loss is taken
back, unless chance, less and less often, lets it stand.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Booleans, Codes, Floats, Integers
from sfumato.kernels.clustering import NOBODY, NONE, joint_cost
from sfumato.kernels.compiling import njit

# Sums of losses that differ by less are equal.
_NOTHING = 1e-12
# How often a step ends a class instead of founding one.
_ENDS = 0.1
# How much chance has a say in who joins a new class.
_WHIM = 0.6
# To end a class costs this share of its loss for each record that must move, one guesses.
_RUIN = 0.2
# Beside the classes near it a row may join one of some wide ones, which cost more than twice the mean.
_N_WIDE = 8
_WIDE = 2.0


class Partition(NamedTuple):
    """A partition that can be changed: the rows of a class are a doubly linked list.

    There is a place for as many classes as there are rows; one without rows is free.

    Parameters
    ----------
    prices, columns, nodes
        What covers cost.
    codes, weights
        The rows.
    neighbours
        The nearest other rows of each row, -1 behind the last.
    class_of, following, preceding
        The class of each row, and its neighbours in the list.
    first, sizes
        The first row of each class, and the number of its records.
    low, high, costs
        The range of each class, and what it costs one record.
    at_low, at_high
        For each class and column how many of its rows have the lowest code, and the highest.
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
    low: Codes
    high: Codes
    costs: Floats
    at_low: Codes
    at_high: Codes


class Before(NamedTuple):
    """What classes were before a step that may be taken back.

    Parameters
    ----------
    steps
        The step that each class was noted for.
    low, high, costs, at_low, at_high
        What it was then.
    """

    steps: Integers
    low: Codes
    high: Codes
    costs: Floats
    at_low: Codes
    at_high: Codes


class Journal(NamedTuple):
    """The moves of steps that stand, to take them back.

    Parameters
    ----------
    rows, origins, targets
        What moved, from which class, to which.
    steps
        The step that it belongs to.
    """

    rows: Integers
    origins: Integers
    targets: Integers
    steps: Integers


# Who is near.


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
    """Let every row get to know the rows that stand near it in an order, and keep the nearest of them."""
    last = neighbours.shape[1] - 1
    for place in range(order.size):
        one = order[place]
        for near in range(place + 1, min(order.size, place + window + 1)):
            other = order[near]
            limit = max(distances[one, last], distances[other, last])
            cost = joint_cost(codes[one], codes[one], other, codes, codes, limit, prices, columns, nodes)
            if cost < distances[one, last]:
                _keep_nearest(neighbours, distances, one, other, cost)
            if cost < distances[other, last]:
                _keep_nearest(neighbours, distances, other, one, cost)


@njit(cache=True)
def introduce_neighbours(
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
    """Let the rows from first to end get to know those whom their neighbours know."""
    last = neighbours.shape[1] - 1
    for row in range(first, end):
        for friend in known[row]:
            if friend < 0:
                break
            for name in known[friend]:
                other = NONE + name
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
def _keep_nearest(neighbours: Codes, distances: Floats, row: int, name: int, distance: float) -> None:
    place = 0
    while distances[row, place] <= distance:
        if neighbours[row, place] == name:
            return
        place += 1
    for later in range(neighbours.shape[1] - 1, place, -1):
        neighbours[row, later] = neighbours[row, later - 1]
        distances[row, later] = distances[row, later - 1]
    neighbours[row, place] = name
    distances[row, place] = distance


# Classes, and how a row moves from one to another.


@njit(cache=True)
def gather(classes: Partition) -> None:
    """Fill in the lists, sizes, ranges and costs of the classes; only the class of each row is given."""
    classes.first[:] = -1
    classes.sizes[:] = 0
    for row in range(classes.weights.size - 1, -1, -1):
        _attach(classes, row, classes.class_of[row])
    for place in range(classes.weights.size):
        _tighten(classes, place)


@njit(cache=True)
def _attach(classes: Partition, row: int, place: int) -> None:
    first = classes.first[place]
    classes.class_of[row] = place
    classes.following[row] = first
    classes.preceding[row] = -1
    if first >= 0:
        classes.preceding[first] = row
    classes.first[place] = row
    classes.sizes[place] += classes.weights[row]


@njit(cache=True)
def _detach(classes: Partition, row: int) -> None:
    place, following, preceding = classes.class_of[row], classes.following[row], classes.preceding[row]
    if preceding >= 0:
        classes.following[preceding] = following
    else:
        classes.first[place] = following
    if following >= 0:
        classes.preceding[following] = preceding
    classes.sizes[place] -= classes.weights[row]


@njit(cache=True)
def _tighten(classes: Partition, place: int) -> None:
    """Work out the range of a class and what it costs anew."""
    classes.costs[place] = 0.0
    if classes.first[place] >= 0:
        low, high = classes.low[place], classes.high[place]
        _range_of(classes.codes, classes.following, classes.first[place], -1, low, high)
        _count_ends(
            classes.codes,
            classes.following,
            classes.first[place],
            low,
            high,
            classes.at_low[place],
            classes.at_high[place],
        )
        classes.costs[place] = joint_cost(
            low,
            high,
            place,
            classes.low,
            classes.high,
            np.inf,
            classes.prices,
            classes.columns,
            classes.nodes,
        )


@njit(cache=True)
def _range_of(codes: Codes, following: Integers, first: int, without: int, low: Codes, high: Codes) -> None:
    """Write down the range of the rows of a list, less one."""
    row = first if first != without else following[first]
    for column in range(low.size):
        low[column] = codes[row, column]
        high[column] = codes[row, column]
    row = following[row]
    while row >= 0:
        if row != without:
            for column in range(low.size):
                code = codes[row, column]
                if code < low[column]:
                    low[column] = code
                if code > high[column]:
                    high[column] = code
        row = following[row]


@njit(cache=True)
def _count_ends(
    codes: Codes, following: Integers, first: int, low: Codes, high: Codes, at_low: Codes, at_high: Codes
) -> None:
    """Count the rows of a list that have the lowest and the highest codes."""
    at_low[:] = 0
    at_high[:] = 0
    row = first
    while row >= 0:
        for column in range(low.size):
            at_low[column] += codes[row, column] == low[column]
            at_high[column] += codes[row, column] == high[column]
        row = following[row]


@njit(cache=True)
def _at_an_end(
    row: int, place: int, codes: Codes, low: Codes, high: Codes, at_low: Codes, at_high: Codes
) -> int:
    """Return 0 for a row that is at no end of the range of its class, 1 beside others, 2 alone."""
    found = 0
    for column in range(codes.shape[1]):
        code = codes[row, column]
        if low[place, column] == high[place, column]:
            continue
        if code == low[place, column]:
            found = max(found, 2 if at_low[place, column] == 1 else 1)
        elif code == high[place, column]:
            found = max(found, 2 if at_high[place, column] == 1 else 1)
    return found


@njit(cache=True)
def _cost_with(
    place: int,
    row: int,
    low: Codes,
    high: Codes,
    codes: Codes,
    limit: float,
    prices: Floats,
    columns: Integers,
    nodes: Integers,
) -> float:
    """Return what a class that a row joins costs one record, or infinity if it passes the limit.

    What `joint_cost` does, without taking rows out of arrays: their references would be counted.
    """
    cost = 0.0
    for column in range(codes.shape[1]):
        code = codes[row, column]
        first, last = min(low[place, column], code), max(high[place, column], code)
        node = columns[column, 2]
        if node < 0:
            cost += prices[columns[column, 0] + columns[column, 1] * first + last]
        else:
            while nodes[node + first] != nodes[node + last]:
                node += columns[column, 1]
            cost += prices[nodes[node + first]]
        if cost > limit:
            return np.inf
    return cost


@njit(cache=True)
def _move(classes: Partition, row: int, target: int, before: Before, step: int) -> float:
    """Move a row to another class and return by how much the loss rises."""
    sizes, costs, first, codes = classes.sizes, classes.costs, classes.first, classes.codes
    low, high, at_low, at_high = classes.low, classes.high, classes.at_low, classes.at_high
    origin = classes.class_of[row]
    for place in (origin, target):
        if before.steps[place] != step:
            before.steps[place] = step
            before.costs[place] = costs[place]
            _copy(place, low, high, at_low, at_high, before.low, before.high, before.at_low, before.at_high)
    loss_before = sizes[origin] * costs[origin] + sizes[target] * costs[target]
    alone = _at_an_end(row, origin, codes, low, high, at_low, at_high) == 2
    _detach(classes, row)
    if alone or first[origin] < 0:
        _tighten(classes, origin)
    is_new = first[target] < 0
    for column in range(codes.shape[1]):
        code = codes[row, column]
        if not alone:
            at_low[origin, column] -= code == low[origin, column]
            at_high[origin, column] -= code == high[origin, column]
        if is_new or code < low[target, column]:
            low[target, column] = code
            at_low[target, column] = 0
        if is_new or code > high[target, column]:
            high[target, column] = code
            at_high[target, column] = 0
        at_low[target, column] += code == low[target, column]
        at_high[target, column] += code == high[target, column]
    costs[target] = _cost_with(
        target, row, low, high, codes, np.inf, classes.prices, classes.columns, classes.nodes
    )
    _attach(classes, row, target)
    return sizes[origin] * costs[origin] + sizes[target] * costs[target] - loss_before


@njit(cache=True)
def _copy(
    place: int,
    low: Codes,
    high: Codes,
    at_low: Codes,
    at_high: Codes,
    to_low: Codes,
    to_high: Codes,
    to_at_low: Codes,
    to_at_high: Codes,
) -> None:
    """Copy the range of a class, and how many of its rows have the codes at its ends."""
    for column in range(low.shape[1]):
        to_low[place, column] = low[place, column]
        to_high[place, column] = high[place, column]
        to_at_low[place, column] = at_low[place, column]
        to_at_high[place, column] = at_high[place, column]


@njit(cache=True)
def _undo(classes: Partition, journal: Journal, before: Before, begin: int, end: int) -> None:
    """Take the last step back: its rows move back, and its classes are what they were."""
    for entry in range(end - 1, begin - 1, -1):
        _detach(classes, journal.rows[entry])
        _attach(classes, journal.rows[entry], journal.origins[entry])
    low, high, at_low, at_high = classes.low, classes.high, classes.at_low, classes.at_high
    for entry in range(begin, end):
        for place in (journal.origins[entry], journal.targets[entry]):
            if before.steps[place] >= 0:
                before.steps[place] = -1
                classes.costs[place] = before.costs[place]
                _copy(
                    place, before.low, before.high, before.at_low, before.at_high, low, high, at_low, at_high
                )


@njit(cache=True)
def take_back_steps(classes: Partition, journal: Journal, n_moves: int, fails: Booleans) -> None:
    """Take every step of a wave back that changed a class which fails now."""
    begin = NONE
    for end in range(1, n_moves + 1):
        if end == n_moves or journal.steps[end] != journal.steps[begin]:
            failed = False
            for entry in range(begin, end):
                failed |= fails[journal.origins[entry]] or fails[journal.targets[entry]]
            if failed:
                _take_back(classes, journal, begin, end)
            begin = end


@njit(cache=True)
def _take_back(classes: Partition, journal: Journal, begin: int, end: int) -> None:
    """Move the rows back, those that moved last first."""
    for entry in range(end - 1, begin - 1, -1):
        _detach(classes, journal.rows[entry])
        _attach(classes, journal.rows[entry], journal.origins[entry])
    for entry in range(begin, end):
        _tighten(classes, journal.origins[entry])
        _tighten(classes, journal.targets[entry])


# Steps.


@njit(cache=True)
def improve(
    classes: Partition,
    journal: Journal,
    locked: Booleans,
    in_waves: bool,
    least: int,
    n_steps: int,
    temperature: float,
    rng: np.random.Generator,
) -> int:
    """Try steps at random, and keep those that lower the loss, or nearly.

    Parameters
    ----------
    classes
        What is improved.
    journal
        Filled with the moves.
    locked
        The classes that must not change.
    in_waves
        Whether no class may change in two steps, so that each can be taken back by itself; the journal
        then holds all steps that stand.
    least
        The size of the smallest class allowed.
    n_steps
        How many steps are tried.
    temperature
        How much a step may raise the loss, on average.

    Returns
    -------
    n_moves
        How many moves the journal holds of steps that stand; without waves only those of the last.
    """
    n_rows = classes.weights.size
    relief = np.empty(classes.neighbours.shape[1])
    low, high = np.empty((2, 1, classes.codes.shape[1]), np.int32)
    before = Before(
        np.full(n_rows, -1, np.int64),
        np.empty_like(classes.low),
        np.empty_like(classes.high),
        np.empty_like(classes.costs),
        np.empty_like(classes.at_low),
        np.empty_like(classes.at_high),
    )
    free, n_free = _free_places(classes)
    is_free = classes.first < 0
    wide = np.empty(n_rows, np.int64)
    n_wide = _list_wide(classes, least, wide)
    n_kept = NONE
    for step in range(n_steps):
        seed = int(rng.random() * n_rows)
        ended = classes.class_of[seed]
        if classes.costs[ended] == 0.0 or locked[ended]:
            continue
        begun = n_kept if in_waves else NONE
        allowance = -temperature * np.log(1.0 - rng.random()) - _NOTHING
        place = -1
        if n_free == 0 or rng.random() < _ENDS:
            fine, change, n_moves = _end(
                classes, journal, before, step, locked, ended, least, wide, n_wide, rng, begun, allowance
            )
        else:
            n_free -= 1
            place = free[n_free]
            is_free[place] = False
            change, n_founded = _found(
                classes, journal, before, step, locked, seed, place, least, rng, begun, relief, low, high
            )
            fine, change, n_moves = _end_the_broken(
                classes,
                journal,
                before,
                step,
                locked,
                place,
                least,
                wide,
                n_wide,
                rng,
                begun,
                n_founded,
                change,
                allowance,
            )
        if fine and change <= allowance:
            for entry in range(begun, n_moves):
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
            _undo(classes, journal, before, begun, n_moves)
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
        if sizes[place] >= least and costs[place] > _WIDE * mean:
            wide[n_wide] = place
            n_wide += 1
    return n_wide


@njit(cache=True)
def _note(journal: Journal, entry: int, row: int, origin: int, target: int) -> int:
    journal.rows[entry] = row
    journal.origins[entry] = origin
    journal.targets[entry] = target
    return entry + 1


@njit(cache=True)
def _found(
    classes: Partition,
    journal: Journal,
    before: Before,
    step: int,
    locked: Booleans,
    seed: int,
    place: int,
    least: int,
    rng: np.random.Generator,
    n_moves: int,
    relief: Floats,
    low: Codes,
    high: Codes,
) -> tuple[float, int]:
    """Found a class with one row and let those neighbours join that raise the loss least.

    What leaving relieves the class of a neighbour of is kept until that class changes, and what the new class
    would cost with a neighbour until its range does.
    """
    sizes, costs, class_of = classes.sizes, classes.costs, classes.class_of
    neighbours, weights, codes = classes.neighbours, classes.weights, classes.codes
    prices, columns, nodes = classes.prices, classes.columns, classes.nodes
    lows, highs, at_low, at_high = classes.low, classes.high, classes.at_low, classes.at_high
    change = 0.0
    row = seed
    relief[:] = np.nan
    joint = np.full(relief.size, np.nan)
    while row >= 0 and n_moves < journal.rows.size:
        origin = class_of[row]
        if sizes[place] == 0 or not _lies_within(row, place, codes, lows, highs):
            joint[:] = np.nan
        change += _move(classes, row, place, before, step)
        n_moves = _note(journal, n_moves, row, origin, place)
        size = sizes[place]
        own = size * costs[place]
        row = NOBODY
        best = -_NOTHING if size >= least else np.inf
        for position in range(relief.size):
            other = NONE + neighbours[seed, position]
            if other < 0:
                break
            theirs = class_of[other]
            if theirs == place or locked[theirs]:
                continue
            if theirs == origin:
                relief[position] = np.nan
            weight = weights[other]
            most = relief[position]
            if np.isnan(most):
                most = max(sizes[theirs], 2 * weight) * costs[theirs]
            limit = (best + most + own) / (size + weight)
            if np.isnan(joint[position]):
                joint[position] = _cost_with(place, other, lows, highs, codes, np.inf, prices, columns, nodes)
            cost = joint[position]
            if cost >= limit:
                continue
            if np.isnan(relief[position]):
                relief[position] = _relief(
                    other, theirs, least, weights, sizes, costs, codes, lows, highs, at_low, at_high
                )
                if np.isnan(relief[position]):
                    relief[position] = _relief_alone(classes, other, low, high)
            value = (size + weight) * cost - own - relief[position]
            value += _WHIM * abs(value) * rng.random()
            if value < best:
                best = value
                row = other
    return change, n_moves


@njit(cache=True)
def _lies_within(row: int, place: int, codes: Codes, low: Codes, high: Codes) -> bool:
    for column in range(codes.shape[1]):
        if codes[row, column] < low[place, column] or codes[row, column] > high[place, column]:
            return False
    return True


@njit(cache=True)
def _relief(
    row: int,
    place: int,
    least: int,
    weights: Integers,
    sizes: Integers,
    costs: Floats,
    codes: Codes,
    lows: Codes,
    highs: Codes,
    at_low: Codes,
    at_high: Codes,
) -> float:
    """Return by how much the loss of its class falls when a row leaves, guessed where that ends the class.

    It is not a number where the range becomes smaller; see `_relief_alone`.
    """
    size, cost, weight = sizes[place], costs[place], weights[row]
    rest = size - weight
    if rest == 0:
        return size * cost
    if rest >= least:
        end = _at_an_end(row, place, codes, lows, highs, at_low, at_high)
        return weight * cost if end == 0 else size * cost - rest * cost if end == 1 else np.nan
    if size < least:
        return 2 * weight * cost
    return (weight - _RUIN * rest) * cost if cost > 0 else -np.inf


@njit(cache=True)
def _relief_alone(classes: Partition, row: int, low: Codes, high: Codes) -> float:
    """Return by how much the loss of its class falls when a row leaves that is alone at an end."""
    place = classes.class_of[row]
    size = classes.sizes[place]
    _range_of(classes.codes, classes.following, classes.first[place], row, low[0], high[0])
    return size * classes.costs[place] - (size - classes.weights[row]) * joint_cost(
        low[0], high[0], 0, low, high, np.inf, classes.prices, classes.columns, classes.nodes
    )


@njit(cache=True)
def _end_the_broken(
    classes: Partition,
    journal: Journal,
    before: Before,
    step: int,
    locked: Booleans,
    place: int,
    least: int,
    wide: Integers,
    n_wide: int,
    rng: np.random.Generator,
    begun: int,
    n_founded: int,
    change: float,
    allowance: float,
) -> tuple[bool, float, int]:
    """End every class that became too small when another was founded, unless that cannot pay."""
    sizes, costs = classes.sizes, classes.costs
    n_moves = n_founded
    credit = 0.0
    for entry in range(begun, n_founded):
        origin = journal.origins[entry]
        if 0 < sizes[origin] < least:
            credit += sizes[origin] * costs[origin]
    fine = sizes[place] >= least and change - credit <= allowance
    for entry in range(begun, n_founded):
        origin = journal.origins[entry]
        if fine and 0 < sizes[origin] < least:
            credit -= sizes[origin] * costs[origin]
            fine, more, n_moves = _end(
                classes,
                journal,
                before,
                step,
                locked,
                origin,
                least,
                wide,
                n_wide,
                rng,
                n_moves,
                allowance - change + credit,
            )
            change += more
    return fine, change, n_moves


@njit(cache=True)
def _end(
    classes: Partition,
    journal: Journal,
    before: Before,
    step: int,
    locked: Booleans,
    place: int,
    least: int,
    wide: Integers,
    n_wide: int,
    rng: np.random.Generator,
    n_moves: int,
    allowance: float,
) -> tuple[bool, float, int]:
    """Move every row of a class to the class near it, or among some wide ones, that loses least by it."""
    sizes, costs = classes.sizes, classes.costs
    codes, lows, highs, class_of = classes.codes, classes.low, classes.high, classes.class_of
    prices, columns, nodes = classes.prices, classes.columns, classes.nodes
    neighbours, weights, first = classes.neighbours, classes.weights, classes.first
    n_near = neighbours.shape[1]
    change = 0.0
    while first[place] >= 0:
        row = first[place]
        weight = weights[row]
        best = np.inf
        target = NOBODY
        for position in range(n_near + min(n_wide, _N_WIDE)):
            if position < n_near:
                other = neighbours[row, position]
                if other < 0:
                    continue
                host = class_of[other]
            else:
                host = wide[int(rng.random() * n_wide)]
            if host in (place, target) or locked[host] or sizes[host] < least:
                continue
            own = sizes[host] * costs[host]
            limit = (best + own) / (sizes[host] + weight)
            if limit <= costs[host]:
                continue
            cost = _cost_with(host, row, lows, highs, codes, limit, prices, columns, nodes)
            if cost < limit:
                best = (sizes[host] + weight) * cost - own
                target = host
        credit = sizes[place] * costs[place]
        if target < 0 or n_moves == journal.rows.size or change + best - credit > allowance:
            return False, change, n_moves
        change += _move(classes, row, target, before, step)
        n_moves = _note(journal, n_moves, row, place, target)
    return True, change, n_moves
