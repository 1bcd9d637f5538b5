"""Find all conjunctions of hierarchy nodes that enough weighted rows satisfy.

The search goes depth first, attribute by attribute, and keeps the rows that satisfy the current beginning.
It is complete because support is monotone: adding a node never adds rows, so a beginning that is too small
needs no extension (Agrawal, Srikant, "Fast algorithms for mining association rules", 1994; nodes of
hierarchies: Srikant, Agrawal, "Mining generalized association rules", 1995). Each step counts one attribute
over the remaining rows. ``most_found`` and ``most_work`` bound the total, which can be exponential in the
number of attributes.
"""

from __future__ import annotations

import numpy as np

from sfumato.kernels.compilation import njit
from sfumato.runtime.arrays import Codes, Integers

_SEARCH_FACTOR = 8
"""The search may look at this many times ``most_work`` rows, because it is done only once for a table."""


@njit(cache=True)
def large_conjunctions(
    rows: Codes,
    weights: Integers,
    counts: Integers,
    least: int,
    first_code: Integers,
    node_starts: Integers,
    nodes_of_code: Codes,
    code_starts: Integers,
    codes_of_node: Codes,
    most_nodes: int,
    most_found: int,
    most_work: int,
) -> tuple[Codes, Codes, Integers, int, bool]:
    """Return all conjunctions with enough weight, in depth-first order.

    A conjunction has at most one node of each attribute, attributes ascending.

    Parameters
    ----------
    rows
        For each attribute the codes of the rows.
    counts
        How many rows each of them stands for when work is counted.
    least
        The smallest weight that is enough.
    first_code, node_starts, nodes_of_code
        The nodes that contain each code; codes and nodes are numbered consecutively over all attributes.
    code_starts, codes_of_node
        The codes (numbered within their attribute) of each node.
    most_nodes
        The largest number of nodes in a conjunction.
    most_found, most_work
        Stop when there are more conjunctions, when adding up their contents would look at more rows, or when
        the search itself has looked at several times as many.

    Returns
    -------
    For each conjunction the number of its nodes, the last of them, and its weight; the number of rows that
    adding up all contents looks at; and whether the list is complete.
    """
    n_attributes, n_rows = rows.shape
    n_nodes = code_starts.size - 1
    depths: Integers = np.empty(1024, np.int16)
    nodes: Integers = np.empty(1024, np.int32)
    supports: Integers = np.empty(1024, np.int64)
    n_found = 0
    work = 0
    searched = 0
    most_codes = 1
    for attribute in range(n_attributes):
        most_codes = max(most_codes, first_code[attribute + 1] - first_code[attribute])
    inside = np.zeros(most_codes, np.bool_)
    members = np.empty((n_attributes + 1, n_rows), np.int32)
    lengths = np.zeros(n_attributes + 1, np.int64)
    for row in range(n_rows):
        members[0, row] = row
    lengths[0] = n_rows
    looked_at = np.zeros(n_attributes + 1, np.int64)
    looked_at[0] = np.sum(counts)
    # the candidates that remain at each depth: the attribute, and its nodes that are large enough
    attribute_at = np.zeros(n_attributes + 1, np.int64)
    candidates = np.empty((n_attributes + 1, n_nodes), np.int32)
    weight_of = np.empty((n_attributes + 1, n_nodes), np.int64)
    n_candidates = np.zeros(n_attributes + 1, np.int64)
    tried = np.zeros(n_attributes + 1, np.int64)
    on_code = np.zeros(inside.size, np.int64)
    on_node = np.zeros(n_nodes, np.int64)
    attribute_at[0] = -1
    depth = 0
    while depth >= 0:
        if tried[depth] == n_candidates[depth]:
            attribute_at[depth] += 1
            if attribute_at[depth] >= n_attributes:
                depth -= 1
                continue
            attribute = attribute_at[depth]
            searched += looked_at[depth]
            n_candidates[depth] = _large_nodes(
                rows[attribute],
                weights,
                members[depth, : lengths[depth]],
                node_starts[first_code[attribute] : first_code[attribute + 1] + 1],
                nodes_of_code,
                least,
                on_code,
                on_node,
                candidates[depth],
                weight_of[depth],
            )
            tried[depth] = 0
            continue
        node = candidates[depth, tried[depth]]
        work += looked_at[depth]
        if n_found == most_found or work > most_work or searched // _SEARCH_FACTOR > most_work:
            return depths[:n_found], nodes[:n_found], supports[:n_found], work, False
        if n_found == depths.size:
            depths, nodes, supports = _doubled(depths), _doubled(nodes), _doubled(supports)
        depths[n_found] = depth + 1
        nodes[n_found] = node
        supports[n_found] = weight_of[depth, tried[depth]]
        n_found += 1
        tried[depth] += 1
        attribute = attribute_at[depth]
        if attribute == n_attributes - 1 or depth + 1 == most_nodes:
            continue
        for place in range(code_starts[node], code_starts[node + 1]):
            inside[codes_of_node[place]] = True
        n_kept = 0
        n_looked_at = 0
        codes = rows[attribute]
        for place in range(lengths[depth]):
            row = members[depth, place]
            if inside[codes[row]]:
                members[depth + 1, n_kept] = row
                n_kept += 1
                n_looked_at += counts[row]
        for place in range(code_starts[node], code_starts[node + 1]):
            inside[codes_of_node[place]] = False
        lengths[depth + 1] = n_kept
        looked_at[depth + 1] = n_looked_at
        depth += 1
        attribute_at[depth] = attribute
        n_candidates[depth] = 0
        tried[depth] = 0
    return depths[:n_found].copy(), nodes[:n_found].copy(), supports[:n_found].copy(), work, True


@njit(cache=True)
def _doubled(array: Integers) -> Integers:
    doubled = np.empty(2 * array.size, array.dtype)
    for place in range(array.size):
        doubled[place] = array[place]
    return doubled


@njit(cache=True)
def _large_nodes(
    codes: Codes,
    weights: Integers,
    members: Codes,
    node_starts: Integers,
    nodes_of_code: Codes,
    least: int,
    on_code: Integers,
    on_node: Integers,
    large_nodes: Codes,
    node_weights: Integers,
) -> int:
    """List the nodes of one attribute that enough of these rows lie in; return how many."""
    for row in members:
        on_code[codes[row]] += weights[row]
    first_node, last_node = on_node.size, -1
    # go through all codes or through the rows' codes, whichever are fewer
    n_codes = node_starts.size - 1
    by_row = members.size < n_codes
    for index in range(members.size if by_row else n_codes):
        code = codes[members[index]] if by_row else index
        if on_code[code] == 0:
            continue
        for place in range(node_starts[code], node_starts[code + 1]):
            node = nodes_of_code[place]
            on_node[node] += on_code[code]
            first_node = min(first_node, node)
            last_node = max(last_node, node)
        on_code[code] = 0
    n_found = 0
    for node in range(first_node, last_node + 1):
        if on_node[node] >= least:
            large_nodes[n_found] = node
            node_weights[n_found] = on_node[node]
            n_found += 1
        on_node[node] = 0
    return n_found
