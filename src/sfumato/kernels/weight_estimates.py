"""Spread weighted units over original values, and add up the weight in nodes, queries and rows.

A unit has one label per attribute, and a label spreads over the codes of the attribute. A unit also has a
mixture: how its weight divides over the sensitive values. Units are sorted by mixture, so the units of one
mixture are added up before its values are looked at.

Conjunctions and rows are visited in an order in which neighbours share their beginnings. The units that
satisfy a shared beginning, and their weights in it, are computed once.

A unit's weight in a conjunction, query or row is its weight times the share of each of its labels inside: the
attributes are independent within a unit, which is all that its labels tell. At worst each result costs units
x attributes, plus the values of the mixtures that it touches; units without any weight in a beginning are not
looked at again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.kernels.compilation import INLINED, njit
from sfumato.runtime.arrays import Booleans, Codes, Floats, Integers

_SHARES_AT_ONCE = 2**16
_FEWEST_UNITS = 64


class Units(NamedTuple):
    """For each attribute the label of each unit; the weight of each unit, and its mixture."""

    labels: Codes
    weights: Floats
    mixture_of: Integers


class MixtureArrays(NamedTuple):
    """How the weight of a mixture divides over the sensitive values: ``counts`` of ``values``, by total.

    Mixture ``i`` owns the entries from ``starts[i]`` up to ``starts[i + 1]``.
    """

    starts: Integers
    values: Codes
    counts: Floats
    totals: Floats


class LabelArrays(NamedTuple):
    """The mass that each label puts on each code; labels are numbered consecutively over all attributes.

    ``first`` is the first label of each attribute. A label that is spread evenly over neighbouring codes is
    an even run: its share in a set is the difference of two running counts.
    """

    starts: Integers
    first: Integers
    codes: Codes
    masses: Floats
    totals: Floats
    is_even_run: Booleans


class NodeShares(NamedTuple):
    """For each node the labels that overlap it, and the share of each label inside it.

    ``n_labels`` is the largest number of labels of any attribute.
    """

    starts: Integers
    labels: Codes
    shares: Floats
    n_labels: int


class Conjunctions(NamedTuple):
    """Conjunctions of nodes in depth-first order.

    ``depths`` holds the number of nodes of each and ``nodes`` the last of them; the others are those of the
    nearest earlier conjunction with one node less. ``attribute_of`` holds the attribute of every node.
    """

    depths: Codes
    nodes: Codes
    attribute_of: Codes


class CountQueries(NamedTuple):
    """The codes and sensitive values that count queries accept.

    ``attributes`` holds the attributes of each query. From ``starts`` of a query and attribute on,
    ``accepted`` marks the accepted codes; ``values`` marks the accepted sensitive values. ``n_codes`` is the
    number of codes of every attribute.
    """

    attributes: Codes
    starts: Integers
    accepted: Booleans
    values: Booleans
    n_codes: Integers


@njit(cache=True)
def add_up(places: Integers, amounts: Floats, n_places: int) -> Floats:
    """Return the sum of the amounts of each place."""
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
    """Return for each label whether it is spread evenly over neighbouring codes, ascending."""
    is_even = np.ones(starts.size - 1, np.bool_)
    for label in range(starts.size - 1):
        for place in range(starts[label] + 1, starts[label + 1]):
            if codes[place] != codes[place - 1] + 1 or masses[place] != masses[place - 1]:
                is_even[label] = False
                break
    return is_even


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
    """Return for each node the labels that overlap it, and the share of each label inside it.

    Masses are added up in the order of the codes and then divided, so that a label which lies entirely in a
    node has a share of exactly 1.

    Parameters
    ----------
    starts, codes, masses, totals
        The mass that each label puts on each code, and its sum.
    node_starts, nodes_of_code
        The nodes that contain each code.
    """
    n_labels = starts.size - 1
    reached = np.zeros(n_nodes)
    touched = np.empty(n_nodes, np.int64)
    label_starts = np.zeros(n_nodes + 1, np.int64)
    for label in range(n_labels):
        n_touched = _reach(starts, codes, masses, node_starts, nodes_of_code, label, reached, touched)
        for place in range(n_touched):
            label_starts[touched[place] + 1] += 1
            reached[touched[place]] = 0.0
    for node in range(n_nodes):
        label_starts[node + 1] += label_starts[node]
    next_place = label_starts[:-1].copy()
    labels = np.empty(label_starts[-1], np.int32)
    shares = np.empty(label_starts[-1])
    for label in range(n_labels):
        n_touched = _reach(starts, codes, masses, node_starts, nodes_of_code, label, reached, touched)
        for place in range(n_touched):
            node = touched[place]
            labels[next_place[node]] = label
            shares[next_place[node]] = reached[node] / totals[label]
            next_place[node] += 1
            reached[node] = 0.0
    return label_starts, labels, shares


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
    conjunctions: Conjunctions,
    first: int,
    last: int,
    units: Units,
    mixtures: MixtureArrays,
    shares: NodeShares,
    distributions: Floats,
) -> None:
    """Add up the sensitive values in conjunctions of nodes, one batch of units at a time for all of them.

    Parameters
    ----------
    first, last
        Which conjunctions to look at.
    distributions
        The result, one row for each conjunction from ``first`` on.
    """
    n_attributes, n_units = units.labels.shape
    n_nodes = conjunctions.attribute_of.size
    starts, nodes, of_labels = _by_label(shares, conjunctions.attribute_of, n_attributes)
    first_beginnings = _beginnings(conjunctions.depths, first)
    # few enough units that their shares stay in the processor's cache
    at_once = max(_SHARES_AT_ONCE // n_nodes, _FEWEST_UNITS)
    share = np.zeros((n_nodes, at_once))
    remaining = np.empty((n_attributes + 1, at_once), np.int32)
    amounts = np.empty((n_attributes + 1, at_once))
    lengths = np.zeros(n_attributes + 1, np.int64)
    amount = np.zeros(last - first)
    mixture = np.full(last - first, -1, np.int64)
    for start in range(0, n_units, at_once):
        lengths[0] = min(at_once, n_units - start)
        for unit in range(lengths[0]):
            remaining[0, unit], amounts[0, unit] = unit, units.weights[start + unit]
            for attribute in range(n_attributes):
                label = attribute * shares.n_labels + units.labels[attribute, start + unit]
                for place in range(starts[label], starts[label + 1]):
                    share[nodes[place], unit] = of_labels[place]
        for place in first_beginnings:
            _narrow(share[conjunctions.nodes[place]], remaining, amounts, lengths, conjunctions.depths[place])
        for place in range(first, last):
            depth, line = conjunctions.depths[place], place - first
            _narrow(share[conjunctions.nodes[place]], remaining, amounts, lengths, depth)
            values, so_far, before = distributions[line], amount[line], mixture[line]
            for inner in range(lengths[depth]):
                own_mixture = units.mixture_of[start + remaining[depth, inner]]
                if own_mixture != before:
                    if before >= 0:
                        _mix(values, so_far, before, mixtures)
                    so_far, before = 0.0, own_mixture
                so_far += amounts[depth, inner]
            amount[line], mixture[line] = so_far, before
        for unit in range(lengths[0]):
            for attribute in range(n_attributes):
                label = attribute * shares.n_labels + units.labels[attribute, start + unit]
                for place in range(starts[label], starts[label + 1]):
                    share[nodes[place], unit] = 0.0
    for line in range(last - first):
        if mixture[line] >= 0:
            _mix(distributions[line], amount[line], mixture[line], mixtures)


@njit(cache=True)
def _by_label(shares: NodeShares, attribute_of: Codes, n_attributes: int) -> tuple[Integers, Codes, Floats]:
    """Return for each label of each attribute the nodes that it overlaps, and its share there."""
    starts = np.zeros(n_attributes * shares.n_labels + 1, np.int64)
    for node in range(attribute_of.size):
        first = attribute_of[node] * shares.n_labels
        for place in range(shares.starts[node], shares.starts[node + 1]):
            starts[first + shares.labels[place] + 1] += 1
    for label in range(starts.size - 1):
        starts[label + 1] += starts[label]
    next_place = starts[:-1].copy()
    nodes = np.empty(shares.labels.size, np.int32)
    of_labels = np.empty(shares.labels.size)
    for node in range(attribute_of.size):
        first = attribute_of[node] * shares.n_labels
        for place in range(shares.starts[node], shares.starts[node + 1]):
            label = first + shares.labels[place]
            nodes[next_place[label]] = node
            of_labels[next_place[label]] = shares.shares[place]
            next_place[label] += 1
    return starts, nodes, of_labels


@njit(cache=True)
def _beginnings(depths: Codes, first: int) -> Integers:
    """Return the beginnings of a conjunction: of one node, of two, and so on."""
    beginnings = np.empty(depths[first] - 1, np.int64)
    place = first
    for depth in range(depths[first] - 1, 0, -1):
        while depths[place] != depth:
            place -= 1
        beginnings[depth - 1] = place
    return beginnings


@njit(cache=True, **INLINED)
def _narrow(share: Floats, remaining: Codes, amounts: Floats, lengths: Integers, depth: int) -> None:
    """Keep the part of the units at one depth that lies in a node, for the next depth."""
    n_remaining = 0
    for place in range(lengths[depth - 1]):
        unit = remaining[depth - 1, place]
        # always written and counted only if present: without a branch there is nothing to mispredict
        remaining[depth, n_remaining] = unit
        amounts[depth, n_remaining] = amounts[depth - 1, place] * share[unit]
        n_remaining += share[unit] != 0.0
    lengths[depth] = n_remaining


@njit(cache=True, **INLINED)
def _mix(totals: Floats, amount: float, mixture: int, mixtures: MixtureArrays) -> None:
    scale = amount / mixtures.totals[mixture]
    for place in range(mixtures.starts[mixture], mixtures.starts[mixture + 1]):
        totals[mixtures.values[place]] += scale * mixtures.counts[place]


@njit(cache=True)
def divergences(true: Floats, estimated: Floats, fallback: Floats, first_values: Integers) -> Floats:
    """Return the Jensen-Shannon divergence of each line, for each attribute separately.

    Parameters
    ----------
    true, estimated
        How often each value of each attribute occurs; values are numbered consecutively over all attributes.
    fallback
        The distribution for a line in which nothing is estimated.
    first_values
        Where the values of each attribute begin, with the end appended.
    """
    n_attributes = first_values.size - 1
    result = np.zeros((n_attributes, len(true)))
    for line in range(len(true)):
        for attribute in range(n_attributes):
            first, last = first_values[attribute], first_values[attribute + 1]
            guessed = estimated[line]
            if np.sum(guessed[first:last]) <= 0.0:
                guessed = fallback
            all_true, all_guessed = np.sum(true[line, first:last]), np.sum(guessed[first:last])
            divergence = 0.0
            for value in range(first, last):
                p, q = true[line, value] / all_true, guessed[value] / all_guessed
                if p > 0.0 and q > 0.0:
                    middle = (p + q) / 2
                    divergence += p * np.log(p / middle) + q * np.log(q / middle)
                elif p > 0.0 or q > 0.0:
                    divergence += (p + q) * np.log(2.0)
            result[attribute, line] = divergence / 2
    return result


@njit(cache=True)
def query_counts(queries: CountQueries, labels: LabelArrays, units: Units, mixtures: MixtureArrays) -> Floats:
    """Count the records that each query accepts.

    A query first computes the share of every label that it accepts, then multiplies these unit by unit.
    """
    n_queries, n_dimensions = queries.attributes.shape
    totals = np.zeros(n_queries)
    share_of = np.zeros(labels.totals.size)
    running = np.zeros(int(np.max(queries.n_codes)) + 1, np.int64)
    for query in range(n_queries):
        for dimension in range(n_dimensions):
            attribute = queries.attributes[query, dimension]
            start = queries.starts[query, dimension]
            for code in range(queries.n_codes[attribute]):
                running[code + 1] = running[code] + queries.accepted[start + code]
            for label in range(labels.first[attribute], labels.first[attribute + 1]):
                first, last = labels.starts[label], labels.starts[label + 1]
                if labels.is_even_run[label]:
                    inside = running[labels.codes[last - 1] + 1] - running[labels.codes[first]]
                    share_of[label] = inside / (last - first)
                    continue
                accepted_mass = 0.0
                for place in range(first, last):
                    if queries.accepted[start + labels.codes[place]]:
                        accepted_mass += labels.masses[place]
                share_of[label] = accepted_mass / labels.totals[label]
        mixture = -1
        amount = 0.0
        for unit in range(units.weights.size):
            part = units.weights[unit]
            for dimension in range(n_dimensions):
                attribute = queries.attributes[query, dimension]
                part *= share_of[labels.first[attribute] + units.labels[attribute, unit]]
                if part == 0.0:
                    break
            if part == 0.0:
                continue
            if units.mixture_of[unit] != mixture:
                if mixture >= 0:
                    totals[query] += _accepted_amount(amount, queries.values[query], mixture, mixtures)
                mixture = units.mixture_of[unit]
                amount = 0.0
            amount += part
        if mixture >= 0:
            totals[query] += _accepted_amount(amount, queries.values[query], mixture, mixtures)
    return totals


@njit(cache=True)
def _accepted_amount(amount: float, accepted: Booleans, mixture: int, mixtures: MixtureArrays) -> float:
    accepted_count = 0.0
    for place in range(mixtures.starts[mixture], mixtures.starts[mixture + 1]):
        if accepted[mixtures.values[place]]:
            accepted_count += mixtures.counts[place]
    return amount / mixtures.totals[mixture] * accepted_count


@njit(cache=True)
def row_densities(
    rows: Codes,
    row_values: Codes,
    attribute_order: Codes,
    first_code: Integers,
    units: Units,
    mixtures: MixtureArrays,
    n_values: int,
    shares: NodeShares,
) -> Floats:
    """Return the weight of the units on each row, a combination of codes and a sensitive value.

    Parameters
    ----------
    rows
        For each attribute the codes of the rows, sorted by the attributes in ``attribute_order``, so that
        shared beginnings are computed once.
    row_values
        The sensitive value of each row, below ``n_values``.
    first_code, shares
        Every code of every attribute is a node here, numbered consecutively over all attributes.
    """
    n_attributes, n_rows = rows.shape
    n_units = units.weights.size
    remaining = np.empty((n_attributes + 1, n_units), np.int32)
    amounts = np.empty((n_attributes + 1, n_units))
    lengths = np.zeros(n_attributes + 1, np.int64)
    for unit in range(n_units):
        remaining[0, unit] = unit
        amounts[0, unit] = units.weights[unit]
    lengths[0] = n_units
    share_of = np.zeros(shares.n_labels)
    result = np.zeros(n_rows)
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
            for place in range(shares.starts[node], shares.starts[node + 1]):
                share_of[shares.labels[place]] = shares.shares[place]
            n_kept = 0
            for place in range(lengths[depth]):
                unit = remaining[depth, place]
                share = share_of[units.labels[attribute, unit]]
                if share > 0.0:
                    remaining[depth + 1, n_kept] = unit
                    amounts[depth + 1, n_kept] = amounts[depth, place] * share
                    n_kept += 1
            lengths[depth + 1] = n_kept
            for place in range(shares.starts[node], shares.starts[node + 1]):
                share_of[shares.labels[place]] = 0.0
        if row == 0 or common < n_attributes:
            on_value[:] = 0.0
            n_remaining = lengths[n_attributes]
            _mix_all(
                remaining[n_attributes, :n_remaining],
                amounts[n_attributes, :n_remaining],
                units,
                mixtures,
                on_value,
            )
        result[row] = on_value[row_values[row]]
    return result


@njit(cache=True)
def _mix_all(
    remaining: Codes, amounts: Floats, units: Units, mixtures: MixtureArrays, totals: Floats
) -> None:
    mixture = -1
    amount = 0.0
    for place in range(remaining.size):
        if units.mixture_of[remaining[place]] != mixture:
            if mixture >= 0:
                _mix(totals, amount, mixture, mixtures)
            mixture = units.mixture_of[remaining[place]]
            amount = 0.0
        amount += amounts[place]
    if mixture >= 0:
        _mix(totals, amount, mixture, mixtures)
