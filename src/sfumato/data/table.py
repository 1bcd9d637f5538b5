"""The table: records as integer codes over ordered domains, each distinct row once with its weight."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sfumato.data.kinds import CATEGORICAL, NUMERIC, Kind, Value
from sfumato.registry.display import as_pandas, listed
from sfumato.runtime.arrays import Booleans, Codes, Floats, Integers, freeze_fields, sealed
from sfumato.runtime.errors import DataError, suggestion
from sfumato.runtime.numerals import _whole_or_float

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_INDEX = re.compile(r"__index_level_\d+__")
_NO_RECORDS = "the table has no records; give one with at least one row and one column"


@dataclass(frozen=True, eq=False)
class Column:
    """One attribute of every row, as codes into an ordered domain.

    Parameters
    ----------
    codes
        For each row the position of its value in the domain.
    domain
        The values that occur, in order; a missing value (``None``) comes last unless a hierarchy has
        a place for it.
    kind
        What sort of values they are: numbers, categories or of a further kind.
    """

    codes: Codes = field(repr=False)
    domain: tuple[Value, ...] = field(repr=False)
    kind: Kind = CATEGORICAL

    def __post_init__(self) -> None:
        freeze_fields(self, codes=np.int32)

    @property
    def has_missing(self) -> bool:
        """Whether some row lacks this value."""
        return self.missing_code is not None

    @cached_property
    def missing_code(self) -> int | None:
        """The code of the missing value, wherever the domain has it; ``None`` when no value is missing."""
        return self.domain.index(None) if None in self.domain else None

    def count_missing(self, weights: Integers) -> int:
        """Return how many records lack this value."""
        return 0 if self.missing_code is None else int(weights[self.codes == self.missing_code].sum())

    @cached_property
    def is_whole(self) -> bool:
        """Whether the values are numbers without a fraction."""
        return all(value is None or isinstance(value, int) for value in self.domain)

    @cached_property
    def numbers(self) -> Floats | None:
        """Where the values of the domain stand on a line, a missing one at NaN; ``None`` without an order."""
        return self.kind.numbers(self.domain)

    @property
    def ordered_numbers(self) -> Floats:
        """The `numbers` of a column whose kind has an order."""
        assert self.numbers is not None
        return self.numbers

    def take(self, rows: Integers) -> Column:
        """Return the column of these rows, its domain unchanged."""
        return Column(sealed(self.codes[rows]), self.domain, self.kind)

    def tightened(self) -> Column:
        """Return the same column with a domain of only the values that occur."""
        used = np.zeros(len(self.domain), dtype=np.bool_)
        used[self.codes] = True
        if used.all():
            return self
        new_code = np.cumsum(used, dtype=np.int32) - np.int32(1)
        domain = tuple(value for value, occurs in zip(self.domain, used, strict=True) if occurs)
        return Column(sealed(new_code[self.codes]), domain, self.kind)

    def reordered(self, domain: tuple[Value, ...], kind: Kind | None = None) -> Column:
        """Return the same column over a domain with the same values in another order."""
        if domain == self.domain and (kind or self.kind) == self.kind:
            return self
        place = {value: position for position, value in enumerate(domain)}
        new_code = np.array([place[value] for value in self.domain], dtype=np.int32)
        return Column(sealed(new_code[self.codes]), domain, kind or self.kind)


class ArrowStream(Protocol):
    """Whatever has the Arrow PyCapsule interface: a pandas or Polars frame, a DuckDB relation."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the records as a stream of Arrow batches."""


@dataclass(frozen=True, eq=False)
class People:
    """Whose each of some rows is, where somebody has several records."""

    person_of: Integers
    n_people: int

    def take(self, rows: Integers) -> People:
        """Return whose these of the rows are."""
        return People(self.person_of[rows], self.n_people)


Records = ArrowStream | Mapping[str, Any]
"""What a table can be made of: an Arrow stream, or columns by name."""


@dataclass(frozen=True, eq=False)
class HouseholdMembers:
    """Which household each record belongs to, the records of equal rows one by one.

    Parameters
    ----------
    row_of
        The row of each record.
    household_of
        Its household, numbered from 0.
    """

    row_of: Integers = field(repr=False)
    household_of: Integers = field(repr=False)

    def __post_init__(self) -> None:
        freeze_fields(self, row_of=np.int64, household_of=np.int64)

    def take(self, rows: Integers, weights: Integers) -> HouseholdMembers:
        """Return the membership of the first so many records of these rows, which are numbered from 0."""
        place = np.full(int(self.row_of.max(initial=-1)) + 1, -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        order = np.argsort(self.row_of, kind="stable")
        sizes = np.bincount(self.row_of)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        at = place[self.row_of]
        stays = (at >= 0) & (rank < np.append(weights, 0)[at])
        households = np.unique(self.household_of[stays], return_inverse=True)[1]
        return HouseholdMembers(sealed(place[self.row_of[stays]]), sealed(households))


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """The microdata, immutable: every distinct row once, with the number of records that it stands for.

    Parameters
    ----------
    columns
        The attributes.
    weights
        The number of records of each row: a count of equal rows, not a survey weight.
    person_of
        The person of each row, numbered from 0, where somebody has several records; equal rows of two
        people are then two rows. Without it every record is another person's.
    survey_weights
        Where the records are a sample, how many people of the population those of each row stand for.
    households
        Where it is known who lives together, the household of each record.

    Examples
    --------
    >>> table = Table.from_arrow({"age": [31, 42, 31], "sex": ["f", "m", "f"]})
    >>> table.n_records, table.n_rows
    (3, 2)
    >>> table["age"].domain
    (31, 42)
    """

    columns: Mapping[str, Column]
    weights: Integers = field(repr=False)
    person_of: Integers | None = field(default=None, repr=False)
    survey_weights: Floats | None = field(default=None, repr=False)
    households: HouseholdMembers | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        freeze_fields(self, columns=dict, weights=np.int64, person_of=np.int64, survey_weights=np.float64)

    def __getitem__(self, name: str) -> Column:
        if name not in self.columns:
            hint = suggestion(name, self.columns)
            raise DataError(f"no column {name!r} in the table{hint or '; it has ' + ', '.join(self.columns)}")
        return self.columns[name]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.columns)

    @property
    def n_rows(self) -> int:
        """The number of distinct rows."""
        return len(self.weights)

    @cached_property
    def n_records(self) -> int:
        """The number of records: the sum of the weights."""
        return int(self.weights.sum())

    @cached_property
    def n_people(self) -> int:
        """The number of people: of records, unless somebody has several."""
        return self.n_records if self.person_of is None else int(self.person_of.max()) + 1

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the whole content, to recognise the same table again."""
        digest = hashlib.sha256()
        for name, column in self.columns.items():
            digest.update(repr((name, column.kind.name, column.domain)).encode())
            digest.update(np.ascontiguousarray(column.codes, dtype="<i4").tobytes())
        digest.update(np.ascontiguousarray(self.weights, dtype="<i8").tobytes())
        if self.person_of is not None:
            digest.update(b"people" + np.ascontiguousarray(self.person_of, dtype="<i8").tobytes())
        if self.survey_weights is not None:
            digest.update(np.ascontiguousarray(self.survey_weights, dtype="<f8").tobytes())
        if self.households is not None:
            for part in (self.households.row_of, self.households.household_of):
                digest.update(np.ascontiguousarray(part, dtype="<i8").tobytes())
        return digest.hexdigest()

    def people(self, rows: Integers | None = None) -> People | None:
        """Return whose each of these rows is (all by default); ``None`` where nobody has several records."""
        if self.person_of is None:
            return None
        everybody = People(self.person_of, self.n_people)
        return everybody if rows is None else everybody.take(rows)

    @cached_property
    def rows_differ(self) -> bool:
        """Whether no two rows are equal."""
        return compacted(self.columns, self.weights, self.person_of).n_rows == self.n_rows

    def without_people(self) -> Table:
        """Return the table in which every record is another person's."""
        if self.person_of is None:
            return self
        return compacted(self.columns, self.weights, None, self.survey_weights, self.households)

    def select(self, names: Iterable[str]) -> Table:
        """Return the table of these columns, with rows that have become equal put together."""
        return self.rewritten({name: self[name] for name in names})

    def rewritten(self, columns: Mapping[str, Column]) -> Table:
        """Return the table with its values written otherwise, rows that have become equal put together.

        Where every column is there and has as many values as before, no two different rows can have.
        """
        as_before = columns.keys() == self.columns.keys() and all(
            len(column.domain) == len(self[name].domain) for name, column in columns.items()
        )
        if as_before and self.rows_differ:
            return known_to_differ(replace(self, columns=columns))
        return self.with_columns(columns)

    def take(self, rows: Integers) -> Table:
        """Return the table of these rows, each domain reduced to the values that still occur."""
        part = self.part(rows, self.weights[rows])
        return replace(part, columns={name: column.tightened() for name, column in part.columns.items()})

    def part(self, rows: Integers, weights: Integers) -> Table:
        """Return so many records of each of these rows; the domains stay, so that codes mean the same."""
        people, survey = self.person_of, self.survey_weights
        return Table(
            {name: column.take(rows) for name, column in self.columns.items()},
            weights,
            None if people is None else np.unique(people[rows], return_inverse=True)[1],
            None if survey is None else sealed(survey[rows] * (weights / self.weights[rows])),
            None if self.households is None else self.households.take(rows, weights),
        )

    def with_columns(self, columns: Mapping[str, Column]) -> Table:
        """Return the table with these columns instead, rows that have become equal put together."""
        return compacted(columns, self.weights, self.person_of, self.survey_weights, self.households)

    @classmethod
    def from_arrow(cls, source: Records, *, missing_values: Iterable[str] = ()) -> Table:
        """Take any object with the Arrow PyCapsule interface, or a mapping of columns.

        pandas and Polars frames, DuckDB relations and Arrow tables all have it. The index of a pandas
        frame counts as a column only where it has a name.
        """
        return counted(as_arrow(source), missing_values=missing_values)

    def to_arrow(self) -> pa.Table:
        """Return one Arrow row for each record."""
        import pyarrow as pa

        rows = np.repeat(np.arange(self.n_rows), self.weights)
        return pa.table(
            {
                name: decode(column.domain, column.codes[rows], column.kind)
                for name, column in self.columns.items()
            }
        )

    def to_pandas(self) -> pd.DataFrame:
        """Return one row of a pandas frame for each record."""
        return as_pandas(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return (
            f"<Table of {self.n_records:,} records, {self.n_rows:,} of them different: {listed(self.names)}>"
        )

    def _repr_html_(self) -> str:
        from sfumato.workflow.report.notebook import table_html

        return table_html(self)


def counted(arrow: pa.Table, counts: Integers | None = None, *, missing_values: Iterable[str] = ()) -> Table:
    """Make a table of Arrow rows, each of which stands for so many records; by default for one.

    Rows that differ only in blanks or in how a missing value is spelled are put together.
    """
    # pandas adds row labels as columns, which would tell which record a row is
    arrow = arrow.drop_columns([name for name in arrow.column_names if _INDEX.fullmatch(name)])
    if len(set(arrow.column_names)) < arrow.num_columns:
        twice = sorted({name for name in arrow.column_names if arrow.column_names.count(name) > 1})
        raise DataError(f"column {twice[0]!r} occurs more than once; rename one of them")
    if arrow.num_rows == 0 or arrow.num_columns == 0:
        raise DataError(_NO_RECORDS)
    weights = sealed(np.ones(arrow.num_rows, dtype=np.int64)) if counts is None else counts
    spellings = frozenset(missing_values)
    columns = {name: encode(name, arrow.column(name), spellings, weights) for name in arrow.column_names}
    return compacted(columns, weights)


def counted_by_column(
    names: Iterable[str], read: Callable[[str], pa.ChunkedArray], *, missing_values: Iterable[str] = ()
) -> Table:
    """Make the table that `counted` makes, of columns that are read one after the other.

    Of what was read no more than one column is then in memory.

    Parameters
    ----------
    names
        The columns.
    read
        Reads a column of all records.
    missing_values
        Spellings of a missing value.
    """
    import pyarrow as pa

    spellings, columns, weights = frozenset(missing_values), dict[str, Column](), np.empty(0, dtype=np.int64)
    for name in names:
        if _INDEX.fullmatch(name):
            continue
        array = read(name)
        weights = weights if columns else sealed(np.ones(len(array), dtype=np.int64))
        columns[name] = encode(name, array, spellings, weights)
        del array
        pa.default_memory_pool().release_unused()
    if not len(weights):
        raise DataError(_NO_RECORDS)
    return compacted(columns, weights)


def compacted(
    columns: Mapping[str, Column],
    weights: Integers,
    person_of: Integers | None = None,
    survey_weights: Floats | None = None,
    households: HouseholdMembers | None = None,
) -> Table:
    """Put equal rows (of the same person, where that is known) together and add up their weights."""
    from sfumato.kernels.row_groups import first_row_of_group, number_rows, sum_by_group

    codes = [column.codes for column in columns.values()]
    cardinalities = [len(column.domain) for column in columns.values()]
    if person_of is not None:
        codes.append(person_of)
        cardinalities.append(int(person_of.max()) + 1)
    number, n_distinct = number_rows(codes, cardinalities, len(weights))
    if n_distinct == len(weights):
        return known_to_differ(Table(columns, weights, person_of, survey_weights, households))
    first = first_row_of_group(number, n_distinct)
    totals = sum_by_group(number, n_distinct, weights)
    return known_to_differ(
        Table(
            {name: column.take(first) for name, column in columns.items()},
            sealed(totals),
            None if person_of is None else sealed(person_of[first]),
            None
            if survey_weights is None
            else sealed(np.bincount(number, survey_weights, n_distinct).astype(np.float64, copy=False)),
            None
            if households is None
            else HouseholdMembers(sealed(number[households.row_of]), households.household_of),
        )
    )


def known_to_differ(table: Table) -> Table:
    """Return a table of which it is known that no two rows are equal: nobody needs to look again."""
    table.__dict__["rows_differ"] = True
    return table


def text(value: Value) -> str | None:
    """Return a value as it is written in a file: ``39``, ``2.5``, ``Private``; a missing one is ``None``.

    Examples
    --------
    >>> text(39.0), text(2.5), text("0171"), text(None)
    ('39', '2.5', '0171', None)
    """
    if value is None or isinstance(value, str):
        return value
    return str(int(value)) if isinstance(value, int) or value.is_integer() else repr(float(value))


_MOST_BYTES = 2**31 - 1
"""The most bytes that one Arrow array of plain text can hold."""


def decode(domain: tuple[Value, ...], codes: Codes, kind: Kind = CATEGORICAL) -> pa.Array:
    """Return the values behind the codes as an Arrow array: integers, floats, text, or as their kind has it.

    Whole numbers beyond 64 bits are text.
    """
    encoded = as_dictionary(domain, codes, kind)
    return encoded.dictionary.take(encoded.indices)


def as_dictionary(domain: tuple[Value, ...], codes: Codes, kind: Kind = CATEGORICAL) -> pa.DictionaryArray:
    """Return what `decode` does as an array that has every value once, and a missing one not at all."""
    import pyarrow as pa

    present = [value for value in domain if value is not None]
    if kind.to_arrow is not None:
        values = kind.to_arrow(present)
    elif present and all(isinstance(value, int) and -(2**63) <= value < 2**63 for value in present):
        values = pa.array(present, type=pa.int64())
    elif any(isinstance(value, float) for value in present):
        values = pa.array([float(value) for value in present], type=pa.float64())
    else:
        return as_text_dictionary(pa.array(map(text, domain), pa.large_string()), codes)
    is_missing = np.array([value is None for value in domain], dtype=np.bool_)
    return pa.DictionaryArray.from_arrays(_indices(is_missing, codes), values)


def as_text_dictionary(texts: pa.Array, codes: Codes) -> pa.DictionaryArray:
    """Return texts by the codes of those that each row has, as `as_dictionary` does.

    Parameters
    ----------
    texts
        The different texts, of which one may be missing.
    codes
        For each row the place of its text.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    lengths = pc.utf8_length(texts).fill_null(0).to_numpy()
    n_letters = int(lengths @ np.bincount(codes, minlength=len(lengths)))
    # a letter takes up to four bytes
    is_large = 4 * n_letters > _MOST_BYTES
    values = texts.drop_null().cast(pa.large_string() if is_large else pa.string())
    is_missing = texts.is_null().to_numpy(zero_copy_only=False)
    return pa.DictionaryArray.from_arrays(_indices(is_missing, codes), values)


def _indices(is_missing: Booleans, codes: Codes) -> pa.Array:
    """Return the places among the values that are not missing."""
    import pyarrow as pa

    if not is_missing.any():
        return pa.array(codes.astype(np.int32, copy=False))
    places = np.cumsum(~is_missing, dtype=np.int32) - np.int32(1)
    return pa.array(places[codes], mask=is_missing[codes])


def as_arrow(source: Records) -> pa.Table:
    """Return records as an Arrow table, whatever holds them."""
    import pyarrow as pa

    if isinstance(source, pa.Table):
        return source
    if not (hasattr(source, "__arrow_c_stream__") or isinstance(source, Mapping)):
        raise DataError(
            f"cannot read a table from {type(source).__name__}; "
            "give a file, an Arrow table, a pandas or Polars frame, or a DuckDB relation"
        )
    try:
        return pa.table(dict(source) if isinstance(source, Mapping) else source)
    except Exception as error:
        reason = type(error).__name__
    # raised out here: what Arrow or a database says shows the value that it stumbled over
    raise DataError(
        f"the columns of the {type(source).__name__} do not make a table ({reason}); "
        "give each column one type and the same number of values"
    )


def encode(name: str, array: pa.ChunkedArray, missing_values: frozenset[str], weights: Integers) -> Column:
    """Return a column of Arrow values as codes; each stands for so many records."""
    import pyarrow as pa

    types = pa.types
    plain, places = _distinct(array) if types.is_dictionary(array.type) else (array, None)
    kind = CATEGORICAL
    if types.is_integer(plain.type) or types.is_floating(plain.type) or types.is_decimal(plain.type):
        kind = NUMERIC
        if types.is_float16(plain.type):  # which not every version of Arrow can encode
            plain = plain.cast(pa.float32())
    elif plain.type not in (pa.string(), pa.large_string(), pa.string_view()):
        plain = _as_text(name, plain)
    arrow_values, indices = _numbered(name, plain)
    values = [_plain_value(value, missing_values) for value in arrow_values]
    if places is not None:
        indices = np.append(indices, np.int32(len(values)))[places]
    infinite = [place for place, value in enumerate(values) if isinstance(value, float) and math.isinf(value)]
    if infinite:
        n_records = int(weights[np.isin(indices, infinite)].sum())
        raise DataError(
            f"column {name!r} has {n_records} infinite numbers; make them finite or leave them missing"
        )
    return _ordered(values, indices, kind)


def text_column(texts: Sequence[str | None], codes: Integers) -> Column:
    """Return a column of texts by the place that each row's has among them.

    If the places are those of the domain already, they are not copied unless somebody could change them.
    """
    values = [_plain_value(value, frozenset()) for value in texts]
    if None not in values and len(set(values)) == len(values):
        return Column(codes, tuple(values)).tightened()
    return _ordered(values, codes, CATEGORICAL)


def _numbered(name: str, array: pa.ChunkedArray) -> tuple[list[Any], Integers]:
    """Return the different values in the order in which they occur, and which of them each record has.

    The chunks are not put together first: Arrow can hold no more than 2 GiB of text in one. A missing value
    has the number after the last.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    values: list[Any] | None = []
    try:
        chunks = pc.dictionary_encode(array).chunks
        values = chunks[0].dictionary.to_pylist() if chunks else []
    except (MemoryError, pa.ArrowInvalid, pa.ArrowCapacityError):
        chunks = None
    except InvalidOperation:  # its message shows the number
        values = None
    if values is None:
        raise DataError(f"column {name!r} holds decimal numbers that are damaged; write the file again")
    if chunks is None:
        raise DataError(f"column {name!r} holds too much text to be kept apart; leave the column out")
    numbers = [np.asarray(chunk.indices.fill_null(len(values)), dtype=np.int32) for chunk in chunks]
    return values, np.concatenate([np.empty(0, dtype=np.int32), *numbers])


def _distinct(array: pa.ChunkedArray) -> tuple[pa.ChunkedArray, Integers]:
    """Return the different values of a dictionary that occur, and for each record the place of its value.

    They are in the order in which they first occur, once for each chunk; a missing value is at -1. Putting
    the values in place of the indices instead could take more text than Arrow can hold.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    narrow: type[np.int32 | np.int64] = np.int32 if len(array) < 2**31 else np.int64
    places: list[Integers] = [np.empty(0, dtype=narrow)]
    values, n_values = [], 0
    for chunk in array.chunks:
        used = pc.dictionary_encode(chunk.indices)
        numbers: Integers = np.array(used.indices.fill_null(-1), dtype=narrow)
        numbers[numbers >= 0] += n_values
        places.append(numbers)
        words = chunk.dictionary
        if pa.types.is_string_view(words.type):  # which not every version of Arrow can take from
            words = words.cast(pa.large_string())
        values.append(words.take(used.dictionary))
        n_values += len(used.dictionary)
    kind = values[0].type if values else array.type.value_type
    return pa.chunked_array(values, type=kind), np.concatenate(places)


def _as_text(name: str, array: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return dates, times, truth values and bytes as text."""
    import pyarrow as pa

    types = pa.types
    writable = (types.is_null, types.is_boolean, types.is_date, types.is_time, types.is_timestamp)
    binary = (types.is_binary, types.is_large_binary, types.is_binary_view)
    if any(is_type(array.type) for is_type in (*writable, *binary)):
        try:
            return _timestamps_as_text(array) if types.is_timestamp(array.type) else array.cast(pa.string())
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            pass
    # a damaged file may name any time zone
    kind = "".join(sign if sign.isprintable() else "?" for sign in str(array.type))
    raise DataError(f"column {name!r} has the type {kind}; give it as text or numbers")


def _timestamps_as_text(array: pa.ChunkedArray) -> pa.ChunkedArray:
    """Write whole days as dates, so that a column of dates that pandas calls times stays dates."""
    import pyarrow as pa
    import pyarrow.compute as pc

    local = pc.local_timestamp(array) if array.type.tz else array
    days = local.cast(pa.date32(), safe=False)
    midnight = pc.all(pc.equal(days.cast(local.type), local)).as_py()
    return (days if midnight else array).cast(pa.string())


def _plain_value(value: Any, missing_values: frozenset[str]) -> Value:
    if value is None:
        return None
    if isinstance(value, str):
        # blanks around a value are never seen by a reader, so they must not make two values of one
        stripped = value.strip()
        return None if stripped == "" or stripped in missing_values else stripped
    if isinstance(value, int):
        return value
    if isinstance(value, Decimal) and value == value.to_integral_value():
        return int(value)
    as_float = float(value)
    return None if math.isnan(as_float) else _whole_or_float(as_float)


def _ordered(values: list[Value], indices: Integers, kind: Kind) -> Column:
    """Sort numbers, keep categories in the order in which they first occur, put missing last."""
    lacks = bool((indices == len(values)).any())
    domain = kind.sorted([*values, None] if lacks else values)
    place = {value: position for position, value in enumerate(domain)}
    # a missing value has the number after the last
    new_code = np.array([place[value] for value in values] + [len(domain) - 1], dtype=np.int32)
    return Column(sealed(new_code[indices]), domain, kind).tightened()
