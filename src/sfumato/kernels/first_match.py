"""Find the first of many classes whose labels all cover a row; a class is one label for each column.

Classes are processed in batches. For each value a bit set holds the classes of the batch that cover it; the
classes that cover a row are the intersection over its values, and the lowest bit is the first of them. A
row costs one machine word for each column and 64 classes, and a row that has found its class is not looked
at again.
"""

from __future__ import annotations

import numpy as np

from sfumato.kernels.compilation import njit
from sfumato.runtime.arrays import Codes, Integers

_WORDS = 64
"""How many words of 64 classes a batch has: few enough to stay in the processor's cache."""


@njit(cache=True)
def first_covering_class(
    columns: Codes, first_value: Integers, starts: Integers, labels: Codes, classes: Codes, n_labels: int
) -> Integers:
    """Return for each row the first class whose labels all cover the row's values; -1 if there is none.

    Parameters
    ----------
    columns
        For each column the value of each row, numbered from 0 in the column.
    first_value
        For each column where its values begin among all.
    starts, labels
        Value ``i`` of a column is in the labels ``labels[starts[first + i]:starts[first + i + 1]]``, which
        are numbered over all columns.
    classes
        For each class and column its label.
    n_labels
        How many labels there are.
    """
    n_columns, n_rows = columns.shape
    n_values = len(starts) - 1
    classes_of_label = np.zeros((n_labels, _WORDS), np.uint64)
    classes_of_value = np.zeros((n_values, _WORDS), np.uint64)
    class_of = np.full(n_rows, -1, np.int64)
    remaining = np.arange(n_rows)
    n_remaining = n_rows
    for begin in range(0, len(classes), 64 * _WORDS):
        end = min(begin + 64 * _WORDS, len(classes))
        n_words = (end - begin + 63) // 64
        classes_of_label[:, :n_words] = 0
        for number in range(begin, end):
            word, bit = (number - begin) // 64, np.uint64((number - begin) % 64)
            for column in range(n_columns):
                classes_of_label[classes[number, column], word] |= np.uint64(1) << bit
        classes_of_value[:, :n_words] = 0
        for value in range(n_values):
            for place in range(starts[value], starts[value + 1]):
                for word in range(n_words):
                    classes_of_value[value, word] |= classes_of_label[labels[place], word]
        n_kept = 0
        for place in range(n_remaining):
            row = remaining[place]
            bit_place = _first_shared(columns, first_value, classes_of_value, row, n_words)
            if bit_place >= 0:
                class_of[row] = begin + bit_place
            else:
                remaining[n_kept] = row
                n_kept += 1
        n_remaining = n_kept
    return class_of


@njit(cache=True)
def _first_shared(
    columns: Codes, first_value: Integers, classes_of_value: Integers, row: int, n_words: int
) -> int:
    """Return the lowest bit that all values of a row have; -1 if there is none."""
    for word in range(n_words):
        shared = classes_of_value[first_value[0] + columns[0, row], word]
        for column in range(1, columns.shape[0]):
            shared &= classes_of_value[first_value[column] + columns[column, row], word]
        if shared:
            bit = 0
            while not shared & np.uint64(1):
                shared >>= np.uint64(1)
                bit += 1
            return 64 * word + bit
    return -1
