"""The engine for records that do not fit into memory, as long as their distinct rows do.

The database is in memory and may open only the files that are read: no network, no further extension, no
other file. Data that exceeds memory spills to a private folder that is removed afterwards.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Table, counted
from sfumato.reading.base import Source
from sfumato.reading.databases import quoted
from sfumato.reading.dialect import require_file
from sfumato.reading.parquet_files import ParquetFiles
from sfumato.runtime.arrays import Integers
from sfumato.runtime.errors import DataError, SfumatoError
from sfumato.runtime.extras import require
from sfumato.runtime.machine import processors
from sfumato.workflow.engines.capacity import Coarser, levels_of, rows_that_fit, too_many, working_memory
from sfumato.workflow.engines.parquet_codes import NumberedRows
from sfumato.workflow.engines.plain_values import (
    BITS_OF_PLACE,
    are_told_apart,
    carried,
    codes_of,
    is_pattern,
    is_plain,
    typed,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

    from sfumato.results.recoding import Recoding

_MOST_VALUES = 1 << 20
"""An attribute with more values is not tried at other levels of its hierarchy."""

_FEW_THREADS = 4
"""With more of them DuckDB reads files sooner than one thread numbers their values, if not more cheaply."""

_FEW_ROWS = 1 << 12
"""Where a whole batch has no more distinct rows, DuckDB groups values as cheaply as it reads them."""

_SCAN_COLUMNS = ("file_index", "file_row_number", "filename")
"""Columns that DuckDB adds to those of a file; one of the same name would be taken for them."""


@dataclass(frozen=True)
class DuckDB:
    """Group records with DuckDB, which spills to disk if memory is too small."""

    def reduce(
        self,
        source: Source,
        schema: Schema | None = None,
        *,
        missing_values: Iterable[str] = (),
        share: float = 1.0,
    ) -> Table:
        """Return the distinct rows of a source; see `Engine.reduce`.

        A share of the records is the same each time.
        """
        names = tuple(source.schema.names if schema is None else schema.needed(source.schema.names))
        return _answer_table(_Reduction(source, names, schema, tuple(missing_values), share), _distinct_rows)

    def apply(self, source: Source, recoding: Recoding, *, missing_values: Iterable[str] = ()) -> Table:
        """Return the distinct rows after merging values that are released alike; see `Engine.apply`."""
        names = recoding.schema.needed(source.schema.names)
        asked = _Reduction(source, names, recoding.schema, tuple(missing_values))
        return _answer_table(asked, partial(_merged_rows, recoding))


ENGINE = DuckDB()


@dataclass(frozen=True)
class _Reduction:
    """One source and the columns to reduce it to."""

    source: Source
    names: tuple[str, ...]
    schema: Schema | None
    missing_values: tuple[str, ...]
    share: float = 1.0


_Rows = tuple["pa.Table", Integers]
"""Rows in the order of their first records, and how many each stands for."""


def _answer_table(asked: _Reduction, answer: Callable[[_Reduction, DuckDBPyConnection], _Rows]) -> Table:
    """Return the rows of an answer with their counts as a table."""
    duckdb, trouble = _duckdb(), list[SfumatoError]()
    try:
        with (
            tempfile.TemporaryDirectory(prefix="sfumato-") as folder,
            duckdb.connect(":memory:", config=_settings(folder)) as database,
        ):
            _define_relations(database, asked, trouble)
            rows, counts = answer(asked, database)
        problem = ""
    except duckdb.OutOfMemoryException:
        problem = (
            "takes more temporary space than half of what is free; free some, or name another folder "
            "in the environment variable TMPDIR"
        )
    except duckdb.Error:
        problem = "cannot be read: it is damaged or not what its name says; write it again"
    # raised out here: what DuckDB says of a problem may show a value
    if trouble:
        raise trouble[0]
    if problem:
        for path in asked.source.files:
            require_file(path)
        raise DataError(f"{asked.source.label} {problem}")
    return counted(rows, counts, missing_values=asked.missing_values)


def _distinct_rows(asked: _Reduction, database: DuckDBPyConnection) -> _Rows:
    """Return the distinct rows with their counts, in the order of their first records."""
    n_rows, limit = _n_distinct(database, asked), rows_that_fit(len(asked.names))
    if n_rows > limit:
        raise too_many(asked.source.label, n_rows, limit, _coarser(database, asked))
    if _can_read(asked.source, asked.names) and asked.share >= 1 and processors() <= _FEW_THREADS:
        found = _numbered(asked, database)
        if found is not None:
            return found
    return _rows(asked, database, "SELECT * FROM distinct_rows ORDER BY position")


def _numbered(asked: _Reduction, database: DuckDBPyConnection) -> _Rows | None:
    """Return the distinct rows, grouped by codes; ``None`` if grouping values is the better choice."""
    import pyarrow as pa

    kinds = [asked.source.schema.field(name).type for name in asked.names]
    numbered = NumberedRows(
        ParquetFiles(asked.source.parquet), asked.names, kinds, lambda n_rows, _: n_rows > _FEW_ROWS
    )
    codes = codes_of(asked.names)
    schema = pa.schema(
        [*((code, pa.int32()) for code in codes), ("n_records", pa.int64()), ("position", pa.int64())]
    )
    batches = (pa.record_batch(list(map(pa.array, each)), schema=schema) for each in numbered.batches())
    database.register("numbered", pa.RecordBatchReader.from_batches(schema, batches))
    found = _arrow(database, _summing_query("numbered", codes))
    database.unregister("numbered")
    if not numbered.is_whole:
        return None
    order = np.argsort(found.column("position").to_numpy())
    *columns, counts, _ = (column.to_numpy()[order] for column in found.columns)
    return numbered.table(columns), counts


def _merged_rows(recoding: Recoding, asked: _Reduction, database: DuckDBPyConnection) -> _Rows:
    """Return the distinct rows after replacing every value by the first one that is released alike."""
    import pyarrow as pa

    from sfumato.results.learned_recoding import released_alike

    columns, joins = codes_of(asked.names), []
    for place, name in enumerate(asked.names):
        if name in recoding.schema.quasi_identifiers:
            seen = f"SELECT c{place} FROM records GROUP BY c{place} ORDER BY min(position)"
            values = _arrow(database, seen)
            told = typed(asked.source, [name], values).column(0)
            first = released_alike(recoding, name, told, asked.missing_values)
            value = values.column(0)
            database.register(
                f"alike{place}", pa.table({"value": value, "first": value.take(pa.array(first))})
            )
            columns[place] = f"alike{place}.first"
            joins.append(f"LEFT JOIN alike{place} ON c{place} IS NOT DISTINCT FROM alike{place}.value")
    together = _summing_query(f"records {' '.join(joins)}", columns)
    return _rows(asked, database, f"{together} ORDER BY position")


# The database and the records in it


def _duckdb() -> Any:
    require("duckdb", "the engine duckdb needs")
    import duckdb

    return duckdb


def _settings(folder: str) -> dict[str, str | int | bool]:
    return {
        "memory_limit": f"{working_memory()}B",
        "threads": processors(),
        "temp_directory": folder,
        "max_temp_directory_size": f"{shutil.disk_usage(folder).free // 2}B",
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "preserve_insertion_order": False,
    }


def _define_relations(database: DuckDBPyConnection, asked: _Reduction, trouble: list[SfumatoError]) -> None:
    """Define ``records`` and ``distinct_rows``. A stream is read once, so its distinct rows are kept."""
    source, names = asked.source, asked.names
    places = [str(path.absolute()) for path in source.parquet]
    is_stream = not _can_read(source, names)
    # where there is no script, as in a notebook, it would be drawn among the output
    database.execute("SET enable_progress_bar = false")
    database.execute(f"SET allowed_paths = [{', '.join(map(_text, [] if is_stream else places))}]")
    database.execute("SET enable_external_access = false")
    database.execute("SET lock_configuration = true")
    if is_stream:
        database.register("stream", _reader(source, names, trouble))
        grouping = _grouping_query(f"stream {_sampling_condition(asked.share)}", names)
        database.execute(f"CREATE TEMP TABLE distinct_rows AS {grouping}")
        database.unregister("stream")
        database.execute("CREATE TEMP VIEW records AS SELECT * FROM distinct_rows")
    else:
        scan = f"SELECT * FROM ({_scan(places, names)}) {_sampling_condition(asked.share)}"
        database.execute(f"CREATE TEMP VIEW records AS {scan}")
        database.execute(f"CREATE TEMP VIEW distinct_rows AS {_grouping_query('records', names)}")


def _sampling_condition(share: float) -> str:
    """Return a condition that selects this share of the records, spread evenly and always the same."""
    if share >= 1:
        return ""
    # two rounds of multiplying by a prime, modulo one, with the high bits mixed into the low ones
    once = "((position % 2147483647) * 48271) % 2147483647"
    return f"WHERE (xor({once}, ({once}) >> 15) * 69621) % 2147483647 < {int(share * 2147483647)}"


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _scan(places: Sequence[str], names: Sequence[str]) -> str:
    columns = [f"{quoted(n)} AS {code}" for n, code in zip(names, codes_of(names), strict=True)]
    position = f"(file_index::BIGINT << {BITS_OF_PLACE}) + file_row_number AS position"
    files = ", ".join(map(_text, places))
    return (
        f"SELECT {', '.join(columns)}, {position}, 1::BIGINT AS n_records "
        f"FROM read_parquet([{files}], hive_partitioning = false, union_by_name = true)"
    )


def _grouping_query(relation: str, names: Sequence[str]) -> str:
    columns = ", ".join(codes_of(names))
    return (
        f"SELECT {columns}, count(*) AS n_records, min(position) AS position "
        f"FROM {relation} GROUP BY {columns}"
    )


def _summing_query(relation: str, columns: Sequence[str]) -> str:
    """Return a grouping of rows that each represent several records."""
    together = ", ".join(columns)
    return (
        f"SELECT {together}, sum(n_records)::BIGINT AS n_records, min(position) AS position "
        f"FROM {relation} GROUP BY {together}"
    )


def _can_read(source: Source, names: Sequence[str]) -> bool:
    """Return whether DuckDB reads these files itself and sees the same values as Arrow."""
    return bool(
        source.parquet
        and not any(map(is_pattern, source.parquet))
        and are_told_apart([*source.schema.names, *_SCAN_COLUMNS])
        and all(is_plain(source.schema.field(name).type) for name in names)
    )


def _reader(source: Source, names: Sequence[str], trouble: list[SfumatoError]) -> pa.RecordBatchReader:
    """Return the records as a stream. Its error is kept, because DuckDB would reword it."""
    import pyarrow as pa

    kinds = [carried(source.schema.field(name).type) for name in names]
    schema = pa.schema([*zip(codes_of(names), kinds, strict=True), ("position", pa.int64())])

    def batches() -> Iterator[pa.RecordBatch]:
        start = 0
        try:
            for batch in source.batches(names):
                positions = pa.array(np.arange(start, start + batch.num_rows))
                columns = [column.cast(kind) for column, kind in zip(batch.columns, kinds, strict=True)]
                yield pa.record_batch([*columns, positions], schema=schema)
                start += batch.num_rows
        except SfumatoError as error:
            trouble.append(error)
            raise

    return pa.RecordBatchReader.from_batches(schema, batches())


def _rows(asked: _Reduction, database: DuckDBPyConnection, statement: str) -> _Rows:
    found = _arrow(database, statement)
    counts = np.asarray(found.column(len(asked.names)), dtype=np.int64)
    return typed(asked.source, asked.names, found), counts


def _arrow(database: DuckDBPyConnection, statement: str) -> pa.Table:
    import pyarrow as pa

    try:
        return pa.RecordBatchReader.from_stream(database.sql(statement)).read_all()
    except OSError as error:
        # so Arrow tells what DuckDB says while its rows stream
        if not str(error).startswith("Out of Memory"):
            raise
    raise _duckdb().OutOfMemoryException


# Whether there is room


def _n_distinct(database: DuckDBPyConnection, asked: _Reduction) -> int:
    """Estimate the number of distinct rows; return the number of records if even these fit."""
    if not asked.source.parquet:
        return _number(database, "SELECT count(*) FROM distinct_rows")
    n_records = _number(database, "SELECT count(*) FROM records")
    if n_records <= rows_that_fit(len(asked.names)):
        return n_records
    columns = ", ".join(codes_of(asked.names))
    return _number(database, f"SELECT approx_count_distinct(hash({columns})) FROM records")


def _number(database: DuckDBPyConnection, statement: str) -> int:
    (found,) = database.sql(statement).fetchall()[0]
    return int(found)


def _coarser(database: DuckDBPyConnection, asked: _Reduction) -> list[Coarser]:
    """Estimate in one pass how many rows each attribute would leave on each level of its hierarchy."""
    joins, counts, tried = [], [], []
    for place, name in enumerate(asked.names):
        nodes = _nodes(database, asked, place)
        if nodes is None:
            continue
        database.register(f"nodes{place}", nodes)
        joins.append(f"LEFT JOIN nodes{place} ON c{place} IS NOT DISTINCT FROM nodes{place}.value")
        n_levels = nodes.num_columns - 1
        for level in range(1, n_levels + 1):
            columns = codes_of(asked.names)
            columns[place] = f"nodes{place}.level{level}"
            counts.append(f"approx_count_distinct(hash({', '.join(columns)}))")
            tried.append((name, level, level == n_levels))
    if not counts:
        return []
    found = database.sql(f"SELECT {', '.join(counts)} FROM records {' '.join(joins)}").fetchall()[0]
    return [Coarser(*each, int(n_rows)) for each, n_rows in zip(tried, found, strict=True)]


def _nodes(database: DuckDBPyConnection, asked: _Reduction, place: int) -> pa.Table | None:
    """Return each value of an attribute with its node on every level; ``None`` if it must stay as it is."""
    import pyarrow as pa

    name, schema = asked.names[place], asked.schema
    if schema is None or name not in (*schema.quasi_identifiers, *schema.insensitive):
        return None
    if _number(database, f"SELECT approx_count_distinct(c{place}) FROM records") > _MOST_VALUES:
        return None
    values = _arrow(database, f"SELECT DISTINCT c{place} FROM records")
    levels = levels_of(schema, name, typed(asked.source, [name], values).column(0), asked.missing_values)
    nodes = {f"level{level}": pa.array(each) for level, each in enumerate(levels, start=1)}
    return pa.table({"value": values.column(0), **nodes})
