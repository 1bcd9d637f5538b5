"""Spread weighted units over original values, and add up what falls into nodes, queries and rows.

A unit has a label for each attribute, and a label spreads over the codes of the attribute. A unit also
has a mixture: how its weight divides over the sensitive values. Units are sorted by mixture, so that
the units of one mixture are added up before its values are looked at.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from sfumato.arrays import Booleans, Codes, Floats, Integers


@njit(cache=True)
def add_up(places: Integers, amounts: Floats, n_places: int) -> Floats:
    """Add up the amounts of each place."""
    totals = np.zeros(n_places)
    for index in range(places.size):
        totals[places[index]] += amounts[index]
    return totals


@njit(cache=True)
def label_totals(starts: Integers, masses: Floats) -> Floats:
    """Add up the masses of each label, in order."""
    totals = np.zeros(starts.size - 1)
    for label in range(starts.size - 1):
        for place in range(starts[label], starts[label + 1]):
            totals[label] += masses[place]
    return totals


@njit(cache=True)
def even_runs(starts: Integers, codes: Codes, masses: Floats) -> Booleans:
    """Return for each label whether it lies evenly on neighbouring codes, ascending."""
    found = np.ones(starts.size - 1, np.bool_)
    for label in range(starts.size - 1):
        for place in range(starts[label] + 1, starts[label + 1]):
            if codes[place] != codes[place - 1] + 1 or masses[place] != masses[place - 1]:
                found[label] = False
                break
    return found


@njit(cache=True)
def shares_by_node(
    starts: Integers,
    codes: Codes,
    masses: Floats,
    totals: Floats,
    node_starts: Integers,
    nodes_of_code: Codes,
    n_nodes: int,
) -> tuple[Integers, Codes, Floats]:
    """Return for each node the labels that reach into it, and the share of each that does.

    Masses are added up in the order of the codes and then divided, so that a label which lies in a
    node as a whole has a share of exactly 1.

    Parameters
    ----------
    starts, codes, masses, totals
        What each label puts on which codes, and the sum of it.
    node_starts, nodes_of_code
        The nodes that contain each code.
    """
    n_labels = starts.size - 1
    reached = np.zeros(n_nodes)
    touched = np.empty(n_nodes, np.int64)
    found = np.zeros(n_nodes + 1, np.int64)
    for label in range(n_labels):
        n_touched = _reach(starts, codes, masses, node_starts, nodes_of_code, label, reached, touched)
        for place in range(n_touched):
            found[touched[place] + 1] += 1
            reached[touched[place]] = 0.0
    for node in range(n_nodes):
        found[node + 1] += found[node]
    next_place = found[:-1].copy()
    labels = np.empty(found[-1], np.int32)
    shares = np.empty(found[-1])
    for label in range(n_labels):
        n_touched = _reach(starts, codes, masses, node_starts, nodes_of_code, label, reached, touched)
        for place in range(n_touched):
            node = touched[place]
            labels[next_place[node]] = label
            shares[next_place[node]] = reached[node] / totals[label]
            next_place[node] += 1
            reached[node] = 0.0
    return found, labels, shares


@njit(cache=True)
def _reach(
    starts: Integers,
    codes: Codes,
    masses: Floats,
    node_starts: Integers,
    nodes_of_code: Codes,
    label: int,
    reached: Floats,
    touched: Integers,
) -> int:
    """Add up the mass of one label in each node; return how many nodes it touches."""
    n_touched = 0
    for place in range(starts[label], starts[label + 1]):
        mass = masses[place]
        if mass <= 0.0:
            continue
        code = codes[place]
        for inner in range(node_starts[code], node_starts[code + 1]):
            node = nodes_of_code[inner]
            if reached[node] == 0.0:
                touched[n_touched] = node
                n_touched += 1
            reached[node] += mass
    return n_touched


@njit(cache=True)
def node_distributions(
    depths: Codes,
    nodes: Codes,
    first: int,
    last: int,
    attribute_of: Codes,
    labels: Codes,
    mixture_of: Integers,
    mixture_starts: Integers,
    values: Codes,
    counts: Floats,
    totals: Floats,
    share_starts: Integers,
    share_labels: Codes,
    shares: Floats,
    n_labels: int,
    units: Codes,
    amounts: Floats,
    lengths: Integers,
    found: Floats,
) -> None:
    """Add up the sensitive values in conjunctions of nodes, listed in depth-first order.

    Parameters
    ----------
    depths, nodes
        For each conjunction how many nodes it has, and the last of them; the others are those of the
        nearest conjunction before it with one node less.
    first, last
        Which conjunctions to look at: those before ``first`` must have been looked at with the same
        ``units``, ``amounts`` and ``lengths``.
    attribute_of
        The attribute of each node.
    units, amounts, lengths
        For each depth the units that are still in, and how much of each; row 0 has all of them.
    found
        The result, one row for each conjunction from ``first`` on.
    """
    share_of = np.zeros(n_labels)
    for place in range(first, last):
        depth, node = depths[place], nodes[place]
        label_of = labels[attribute_of[node]]
        for inner in range(share_starts[node], share_starts[node + 1]):
            share_of[share_labels[inner]] = shares[inner]
        kept = place + 1 < depths.size and depths[place + 1] > depth
        n_units = 0
        amount = 0.0
        mixture = -1
        for inner in range(lengths[depth - 1]):
            unit = units[depth - 1, inner]
            share = share_of[label_of[unit]]
            if share == 0.0:
                continue
            part = amounts[depth - 1, inner] * share
            if kept:
                units[depth, n_units] = unit
                amounts[depth, n_units] = part
                n_units += 1
            if mixture_of[unit] != mixture:
                if mixture >= 0:
                    _mix(found[place - first], amount, mixture, mixture_starts, values, counts, totals)
                mixture = mixture_of[unit]
                amount = 0.0
            amount += part
        if mixture >= 0:
            _mix(found[place - first], amount, mixture, mixture_starts, values, counts, totals)
        lengths[depth] = n_units
        for inner in range(share_starts[node], share_starts[node + 1]):
            share_of[share_labels[inner]] = 0.0


@njit(cache=True)
def _mix(
    found: Floats,
    amount: float,
    mixture: int,
    starts: Integers,
    values: Codes,
    counts: Floats,
    totals: Floats,
) -> None:
    scale = amount / totals[mixture]
    for place in range(starts[mixture], starts[mixture + 1]):
        found[values[place]] += scale * counts[place]


@njit(cache=True)
def query_counts(
    attributes: Codes,
    accepted_starts: Integers,
    accepted: Booleans,
    accepted_values: Booleans,
    n_codes: Integers,
    label_starts: Integers,
    first_label: Integers,
    codes: Codes,
    masses: Floats,
    label_sums: Floats,
    is_even_run: Booleans,
    labels: Codes,
    weights: Floats,
    mixture_of: Integers,
    mixture_starts: Integers,
    values: Codes,
    counts: Floats,
    totals: Floats,
) -> Floats:
    """Count the records that each query accepts.

    Parameters
    ----------
    attributes
        For each query the attributes that it asks about.
    accepted_starts, accepted
        For each query and each of its attributes whether a code is accepted.
    accepted_values
        For each query and each sensitive value whether it is accepted.
    n_codes
        The number of codes of each attribute.
    label_starts, first_label, codes, masses, label_sums
        What each label puts on which codes; the labels of all attributes behind one another.
    is_even_run
        Whether a label lies evenly on neighbouring codes, so that its share is the difference of two
        running counts.
    """
    n_queries, n_dimensions = attributes.shape
    found = np.zeros(n_queries)
    share_of = np.zeros(label_sums.size)
    running = np.zeros(int(np.max(n_codes)) + 1, np.int64)
    for query in range(n_queries):
        for dimension in range(n_dimensions):
            attribute = attributes[query, dimension]
            start = accepted_starts[query, dimension]
            for code in range(n_codes[attribute]):
                running[code + 1] = running[code] + accepted[start + code]
            for label in range(first_label[attribute], first_label[attribute + 1]):
                first, last = label_starts[label], label_starts[label + 1]
                if is_even_run[label]:
                    inside = running[codes[last - 1] + 1] - running[codes[first]]
                    share_of[label] = inside / (last - first)
                    continue
                taken = 0.0
                for place in range(first, last):
                    if accepted[start + codes[place]]:
                        taken += masses[place]
                share_of[label] = taken / label_sums[label]
        mixture = -1
        amount = 0.0
        for unit in range(weights.size):
            part = weights[unit]
            for dimension in range(n_dimensions):
                attribute = attributes[query, dimension]
                part *= share_of[first_label[attribute] + labels[attribute, unit]]
                if part == 0.0:
                    break
            if part == 0.0:
                continue
            if mixture_of[unit] != mixture:
                if mixture >= 0:
                    found[query] += _accepted_amount(
                        amount, accepted_values[query], mixture, mixture_starts, values, counts, totals
                    )
                mixture = mixture_of[unit]
                amount = 0.0
            amount += part
        if mixture >= 0:
            found[query] += _accepted_amount(
                amount, accepted_values[query], mixture, mixture_starts, values, counts, totals
            )
    return found


@njit(cache=True)
def _accepted_amount(
    amount: float,
    accepted: Booleans,
    mixture: int,
    starts: Integers,
    values: Codes,
    counts: Floats,
    totals: Floats,
) -> float:
    taken = 0.0
    for place in range(starts[mixture], starts[mixture + 1]):
        if accepted[values[place]]:
            taken += counts[place]
    return amount / totals[mixture] * taken


@njit(cache=True)
def row_densities(
    rows: Codes,
    row_values: Codes,
    attribute_order: Codes,
    labels: Codes,
    weights: Floats,
    mixture_of: Integers,
    mixture_starts: Integers,
    values: Codes,
    counts: Floats,
    totals: Floats,
    n_values: int,
    first_code: Integers,
    share_starts: Integers,
    share_labels: Codes,
    shares: Floats,
    n_labels: int,
) -> Floats:
    """Return how much of the units falls on each row, a combination of codes and a sensitive value.

    Parameters
    ----------
    rows
        For each attribute the codes of the rows, sorted by the attributes in ``attribute_order``: what
        equal beginnings have in common is computed once.
    row_values
        The sensitive value of each row.
    first_code, share_starts, share_labels, shares
        For each code of each attribute the labels that reach it and the share of each that does; the
        codes of all attributes behind one another.
    """
    n_attributes, n_rows = rows.shape
    n_units = weights.size
    units = np.empty((n_attributes + 1, n_units), np.int32)
    amounts = np.empty((n_attributes + 1, n_units))
    lengths = np.zeros(n_attributes + 1, np.int64)
    for unit in range(n_units):
        units[0, unit] = unit
        amounts[0, unit] = weights[unit]
    lengths[0] = n_units
    share_of = np.zeros(n_labels)
    found = np.zeros(n_rows)
    on_value = np.zeros(n_values)
    for row in range(n_rows):
        common = 0
        while row > 0 and common < n_attributes:
            attribute = attribute_order[common]
            if rows[attribute, row] != rows[attribute, row - 1]:
                break
            common += 1
        for depth in range(common, n_attributes):
            attribute = attribute_order[depth]
            node = first_code[attribute] + rows[attribute, row]
            for place in range(share_starts[node], share_starts[node + 1]):
                share_of[share_labels[place]] = shares[place]
            n_kept = 0
            for place in range(lengths[depth]):
                unit = units[depth, place]
                share = share_of[labels[attribute, unit]]
                if share > 0.0:
                    units[depth + 1, n_kept] = unit
                    amounts[depth + 1, n_kept] = amounts[depth, place] * share
                    n_kept += 1
            lengths[depth + 1] = n_kept
            for place in range(share_starts[node], share_starts[node + 1]):
                share_of[share_labels[place]] = 0.0
        if row == 0 or common < n_attributes:
            on_value[:] = 0.0
            n_left = lengths[n_attributes]
            _mix_all(
                units[n_attributes, :n_left],
                amounts[n_attributes, :n_left],
                mixture_of,
                mixture_starts,
                values,
                counts,
                totals,
                on_value,
            )
        found[row] = on_value[row_values[row]]
    return found


@njit(cache=True)
def _mix_all(
    units: Codes,
    amounts: Floats,
    mixture_of: Integers,
    starts: Integers,
    values: Codes,
    counts: Floats,
    totals: Floats,
    found: Floats,
) -> None:
    mixture = -1
    amount = 0.0
    for place in range(units.size):
        if mixture_of[units[place]] != mixture:
            if mixture >= 0:
                _mix(found, amount, mixture, starts, values, counts, totals)
            mixture = mixture_of[units[place]]
            amount = 0.0
        amount += amounts[place]
    if mixture >= 0:
        _mix(found, amount, mixture, starts, values, counts, totals)
