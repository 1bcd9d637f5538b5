"""Read rows of Parquet files as integer codes, and merge equal rows batch by batch.

Parquet files store repeated values once, so codes are cheaper to read and to compare than values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.kernels.row_groups import first_row_of_group, number_rows
from sfumato.reading.parquet_files import ParquetFiles
from sfumato.runtime.arrays import Integers
from sfumato.runtime.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

_FEW_VALUES = 1 << 10
"""So many values of a column are always numbered, and more where two records or more share each."""
_MOST_VALUES = 1 << 20
"""More values of one column are not numbered: they take more memory here than in the engine."""


@dataclass
class NumberedRows:
    """The rows of Parquet files, with a code for each value seen so far.

    Parameters
    ----------
    files
        The files.
    names, kinds
        The columns and their types.
    numbers
        For each column the number of each value.
    is_worth_it
        Whether numbers are worth it where the first batch has so many distinct rows and so many records.
    is_whole
        Whether all records were read: not where a column has too many values or numbers are not worth it,
        nor where a file is damaged.
    """

    files: ParquetFiles
    names: Sequence[str]
    kinds: Sequence[pa.DataType]
    is_worth_it: Callable[[int, int], bool]
    numbers: list[dict[Any, int]] = field(init=False)
    is_whole: bool = False

    def __post_init__(self) -> None:
        self.numbers = [{} for _ in self.names]

    def batches(self) -> Iterator[list[Integers]]:
        """Yield columns of codes, the number of records behind each row, and the first one's position."""
        import pyarrow as pa

        start = 0
        try:
            for batch in self.files.encoded_batches(self.names):
                columns = [_encoded(*each) for each in zip(batch.columns, self.kinds, strict=True)]
                if start == 0 and any(
                    len(column.dictionary) > max(_FEW_VALUES, len(column) // 2) for column in columns
                ):
                    return
                rows = self._numbered(columns, start)
                if start == 0 and not self.is_worth_it(len(rows[0]), batch.num_rows):
                    return
                yield rows
                start += batch.num_rows
                if any(len(each) > _MOST_VALUES for each in self.numbers):
                    return
        except (DataError, pa.ArrowException, ValueError, OverflowError):
            return  # whoever reads the values themselves says what is wrong with them
        self.is_whole = True

    def _numbered(self, columns: Sequence[pa.DictionaryArray], start: int) -> list[Integers]:
        places = [_places(column) for column in columns]
        spans = [len(column.dictionary) + 1 for column in columns]
        group, n_rows = number_rows(places, spans, len(places[0]))
        first = first_row_of_group(group, n_rows)
        codes = [
            _numbers(known, column)[place[first]]
            for known, column, place in zip(self.numbers, columns, places, strict=True)
        ]
        return [*codes, np.bincount(group, minlength=n_rows), first + start]

    def table(self, columns: Sequence[Integers]) -> pa.Table:
        """Decode columns of codes into values."""
        import pyarrow as pa

        values = [self._values(place, each) for place, each in enumerate(columns)]
        return pa.table(values, names=list(self.names))

    def _values(self, place: int, codes: Integers) -> pa.DictionaryArray:
        import pyarrow as pa

        kind = self.kinds[place]
        values = pa.array(self.numbers[place], pa.large_string() if pa.types.is_string(kind) else kind)
        return pa.DictionaryArray.from_arrays(pa.array(codes), values)


def _encoded(column: pa.Array, kind: pa.DataType) -> pa.DictionaryArray:
    import pyarrow as pa

    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    if encoded.dictionary.type == kind:
        return encoded
    return pa.DictionaryArray.from_arrays(encoded.indices, encoded.dictionary.cast(kind))


def _places(column: pa.DictionaryArray) -> Integers:
    """Return positions in the dictionary; the missing value is after the last one."""
    import pyarrow as pa

    indices = column.indices.cast(pa.int32())
    if indices.null_count:
        indices = indices.fill_null(len(column.dictionary))
    return np.asarray(indices, dtype=np.int32)


def _numbers(known: dict[Any, int], column: pa.DictionaryArray) -> Integers:
    """Return the code of each value of a dictionary, and of the missing value if there is one."""
    import pyarrow as pa

    values = column.dictionary.to_pylist()
    if pa.types.is_floating(column.dictionary.type):
        # what is not a number equals nothing, not even itself, and counts as missing
        values = [None if value != value else value for value in values]
    if column.null_count:
        values.append(None)
    return np.array([known.setdefault(value, len(known)) for value in values], dtype=np.int32)
