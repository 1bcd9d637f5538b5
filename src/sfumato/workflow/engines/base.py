"""Define what an engine does: reduce records to distinct rows with counts, and apply a recoding to them."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Literal, Protocol, cast, get_args

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.reading.base import Source
from sfumato.runtime.errors import ParameterError, suggestion

if TYPE_CHECKING:
    from sfumato.results.recoding import Recoding

EngineName = Literal["memory", "duckdb", "spark"]
ENGINES: tuple[str, ...] = get_args(EngineName)


class Engine(Protocol):
    """What works on records where they are.

    Whichever engine reduces a source, the table is the same: the same domains in the same order, the same
    rows in the same order, the same counts.
    """

    def reduce(
        self, source: Source, schema: Schema | None = None, *, missing_values: Iterable[str] = ()
    ) -> Table:
        """Return the distinct rows of a source with the number of records that each stands for.

        Parameters
        ----------
        source
            The records.
        schema
            What the attributes are: columns that it neither releases nor needs are not read. Without it all
            columns are.
        missing_values
            Spellings of a missing value beside the empty field.
        """

    def apply(self, source: Source, recoding: Recoding, *, missing_values: Iterable[str] = ()) -> Table:
        """Return the distinct rows of a source after merging values that are released alike.

        There are about as many as released rows, however many distinct rows the source has. A recoding gives
        them the released values that it gives the records.

        Parameters
        ----------
        source
            The records.
        recoding
            One whose released values depend on an attribute's own value alone.
        missing_values
            Spellings of a missing value beside the empty field.
        """


def engine_named(name: str) -> Engine:
    """Return the engine of this name.

    Examples
    --------
    >>> from pathlib import Path
    >>> from sfumato.reading.datasets import FOLDER
    >>> from sfumato.reading.sources import source_at
    >>> engine_named("memory").reduce(source_at(FOLDER / "hospital.csv")).n_records
    12
    """
    if name not in ENGINES:
        hint = suggestion(name, ENGINES) or f"; there are {', '.join(ENGINES)}"
        raise ParameterError(f"no engine {name!r}{hint}")
    return cast(Engine, import_module(f"sfumato.workflow.engines.{name}").ENGINE)
