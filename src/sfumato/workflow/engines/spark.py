"""The engine for Parquet files that a cluster reads.

The cluster, its memory and its workers are configured as for every Spark program: in ``spark-defaults.conf``,
in the environment variable ``PYSPARK_SUBMIT_ARGS``, or by an existing session. Without any of these, Spark
runs on this machine alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Table, counted
from sfumato.reading.base import Source
from sfumato.runtime.arrays import Integers
from sfumato.runtime.errors import DataError
from sfumato.runtime.extras import require
from sfumato.workflow.engines.capacity import rows_that_fit, too_many
from sfumato.workflow.engines.plain_values import (
    BITS_OF_PLACE,
    are_told_apart,
    codes_of,
    is_pattern,
    is_plain,
    typed,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.results.recoding import Recoding

_QUIET = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
_SAFE = "PYTHONSAFEPATH"
"""Spark starts Python as ``python -m``, on this machine and on others, and that looks into the current folder
for modules unless this variable is set. Nothing that we ask for needs Python there, but Spark may."""


@dataclass(frozen=True)
class Spark:
    """Group records with Spark."""

    def reduce(
        self, source: Source, schema: Schema | None = None, *, missing_values: Iterable[str] = ()
    ) -> Table:
        """Return the distinct rows of a source; see `Engine.reduce`."""
        names = tuple(source.schema.names if schema is None else schema.needed(source.schema.names))
        return _answer_table(source, names, _distinct_rows, missing_values)

    def apply(self, source: Source, recoding: Recoding, *, missing_values: Iterable[str] = ()) -> Table:
        """Return the distinct rows after merging values that are released alike; see `Engine.apply`."""
        names, spellings = recoding.schema.needed(source.schema.names), tuple(missing_values)
        return _answer_table(source, names, partial(_merged_rows, recoding, spellings), spellings)


ENGINE = Spark()


def _answer_table(
    source: Source,
    names: Sequence[str],
    answer: Callable[[Any, Source, Sequence[str]], pa.Table],
    missing_values: Iterable[str],
) -> Table:
    """Return the rows of an answer with their counts as a table."""
    _require_readable(source, names)
    failures = _failures()
    try:
        with _session() as session:
            # sorted here: the rows are few, and Spark would hand them over in any case
            rows = answer(session, source, names).sort_by("position")
        is_done = True
    except failures:
        is_done = False
    # raised out here: what Spark says of a problem may show a value
    if not is_done:
        raise DataError(
            f"{source.label}: Spark could not read or group the records; every worker must see the files "
            "at the same path, and Spark's own log tells more"
        )
    counts = np.asarray(rows.column(len(names)), dtype=np.int64)
    return counted(typed(source, names, rows), counts, missing_values=missing_values)


def _failures() -> tuple[type[Exception], ...]:
    require("spark", "the engine spark needs")
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    return PySparkException, Py4JError


def _require_readable(source: Source, names: Sequence[str]) -> None:
    """Refuse files that Spark would not read, or would read as other values than Arrow."""
    if not source.parquet:
        raise DataError(f'{source.label}: the engine spark reads Parquet files; take engine = "duckdb"')
    for path in filter(is_pattern, source.parquet):
        raise DataError(
            f"{path.name}: Spark would take this path for a pattern; rename the file or its folder"
        )
    if not are_told_apart(source.schema.names):
        raise DataError(
            f"{source.label} has columns whose names differ in capital letters only, which Spark takes for "
            'one; rename one or take engine = "duckdb"'
        )
    for name in names:
        kind = source.schema.field(name).type
        if not is_plain(kind):
            raise DataError(
                f"column {name!r} has the type {kind}, which the engine spark does not read; "
                'write it as text or take engine = "duckdb"'
            )


def _distinct_rows(session: Any, source: Source, names: Sequence[str]) -> pa.Table:
    from pyspark.sql import functions as f

    codes, limit = codes_of(names), rows_that_fit(len(names))
    records = _records(session, source, names)
    if records.count() > limit:
        n_rows = records.select(f.approx_count_distinct(f.xxhash64(*codes))).collect()[0][0]
        if n_rows > limit:
            raise too_many(source.label, n_rows, limit, [])
    return _grouped(records, codes)


def _merged_rows(
    recoding: Recoding, missing_values: Iterable[str], session: Any, source: Source, names: Sequence[str]
) -> pa.Table:
    """Return the distinct rows after replacing every value by the first one that is released alike."""
    from sfumato.results.learned_recoding import released_alike

    records = _records(session, source, names)
    for name, code in zip(names, codes_of(names), strict=True):
        if name in recoding.schema.quasi_identifiers:
            values = _grouped(records, [code]).sort_by("position").select([0])
            told = typed(source, [name], values).column(0)
            first = released_alike(recoding, name, told, missing_values)
            records = _replace_values(session, records, code, values.column(0), first)
    return _grouped(records, codes_of(names))


def _replace_values(session: Any, records: Any, code: str, values: pa.ChunkedArray, first: Integers) -> Any:
    """Replace each value of a column by the first value that is released alike."""
    import pyarrow as pa
    from pyspark.sql import functions as f

    alike = session.createDataFrame(pa.table({"value": values, "first": values.take(pa.array(first))}))
    joined = records.join(f.broadcast(alike), records[code].eqNullSafe(alike["value"]), "left")
    return joined.withColumn(code, joined["first"]).drop("value", "first")


def _grouped(records: Any, codes: Sequence[str]) -> pa.Table:
    from pyspark.sql import functions as f

    return records.groupBy(*codes).agg(f.count("*"), f.min("position").alias("position")).toArrow()


def _records(session: Any, source: Source, names: Sequence[str]) -> Any:
    from pyspark.sql import functions as f

    files = {_resolved_path(path.absolute()): place for place, path in enumerate(source.parquet)}
    read = session.read.option("recursiveFileLookup", "true").parquet(*map(str, files))
    metadata = f.col("_metadata")
    # how Spark writes the paths, only Spark knows
    written = [row[0] for row in read.select(metadata["file_path"]).distinct().collect()]
    place_of = [f.lit(part) for uri in written for part in (uri, files[_path(uri)] << BITS_OF_PLACE)]
    position = f.create_map(*place_of)[metadata["file_path"]] + metadata["row_index"]
    columns = [
        f.col(f"`{n.replace('`', '``')}`").alias(c) for n, c in zip(names, codes_of(names), strict=True)
    ]
    return read.select(*columns, position.alias("position"))


def _resolved_path(path: Path) -> Path:
    """Resolve ``..`` in a path, because Spark omits it in the file names that it reports."""
    return path.parent.resolve() / path.name if ".." in path.parts else path


def _path(uri: str) -> Path:
    return Path(unquote(urlsplit(uri).path))


@contextmanager
def _session() -> Iterator[Any]:
    """Yield the active session, or one that ends with this work."""
    from pyspark.sql import SparkSession

    there = _active()
    settings = {**_QUIET, f"spark.executorEnv.{_SAFE}": "1"}
    session = there or SparkSession.builder.appName("sfumato").config(map=settings).getOrCreate()
    try:
        yield session
    finally:
        if there is None:
            session.stop()


def _active() -> Any:
    """Return the session that another part of the program has started, in any thread."""
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    try:
        return SparkSession.active()
    except PySparkException:
        return None
