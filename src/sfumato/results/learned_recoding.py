"""Apply a recoding that was learned on a sample to all records.

The search is approximate, for it saw a sample; the guarantee is not: the model is enforced on all records.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sfumato.data.kinds import Value
from sfumato.data.schema import bound
from sfumato.data.table import Column, Table, encode
from sfumato.results.intersection import rows_to_suppress
from sfumato.results.linked_release import LinkedRelease, origin_of, without_rows
from sfumato.results.recode_records import take
from sfumato.results.recoding import Recoding
from sfumato.runtime.arrays import Integers
from sfumato.runtime.errors import PolicyNotMet, UserError

if TYPE_CHECKING:
    import pyarrow as pa

_NOTE = (
    "The recoding was learned on a sample of the records and given to all of them. Records that none of its "
    "released values stand for, and those in classes where the model would not hold, were suppressed."
)


def enforced(recoding: Recoding, records: Table) -> LinkedRelease:
    """Release all records by a recoding that was learned on some of them.

    Parameters
    ----------
    recoding
        What was learned.
    records
        All records, or what `Engine.apply` makes of them.

    Raises
    ------
    PolicyNotMet
        If more records would have to be suppressed than the recipe allows, or than 5% where it names no
        share.
    """
    recoded = take(recoding, records)
    release = without_rows(recoded.release, rows_to_suppress(recoded.release, (), recoding.model))
    most = recoding.suppression or USUAL_LIMIT
    share = 1 - release.n_records / release.n_original
    if share > most:
        raise PolicyNotMet(
            f"{share:.1%} of all {release.n_original:,} records would have to be suppressed by the recoding "
            f"that was learned on a sample, more than {most:.1%}; learn it on a larger one, or take a "
            "coarser recipe"
        )
    return replace(release, notes=(*release.notes, _NOTE))


def released_alike(
    recoding: Recoding, name: str, values: pa.ChunkedArray, missing_values: Iterable[str] = ()
) -> Integers:
    """Return for each value of a quasi-identifier the place of the first one that is released alike.

    Parameters
    ----------
    recoding
        One whose released values depend on an attribute's own value alone.
    name
        The attribute.
    values
        Its different values, as they are in the source.
    missing_values
        Spellings of a missing value.

    Examples
    --------
    >>> import pyarrow
    >>> from sfumato import datasets, freeze, sanitize
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import FullDomain
    >>> how = FullDomain({"zip": 2, "age": 1, "sex": 1}, KAnonymity(2))
    >>> recoding = freeze(sanitize(*datasets.hospital(), how))
    >>> released_alike(recoding, "age", pyarrow.chunked_array([[21, 33, 29, 35]])).tolist()
    [0, 1, 0, 1]
    """
    if recoding.recodes != "values" or not isinstance(recoding.release, LinkedRelease):
        raise UserError(
            f"{recoding.recipe.sanitizer} recodes classes, not values: what a value becomes depends on the "
            "whole record; learn on a sample with full-domain or cut, or on all records"
        )
    weights = np.ones(len(values), dtype=np.int64)
    plain = replace(recoding.schema[name], hierarchy=None, lowest_level=0)
    _, column = bound(recoding.schema, plain, encode(name, values, frozenset(missing_values), weights))
    alike = _labels(recoding, name, column)[column.codes]
    _, first, number = np.unique(alike, return_index=True, return_inverse=True)
    return first[number]


def _labels(recoding: Recoding, name: str, column: Column) -> Integers:
    """Return the number of the label that each value of the domain is released with, -1 if with none."""
    schema = replace(
        recoding.schema, missing="category", person=None, pseudonym=False, survey_weight=None, household=None
    )
    n_values = len(column.domain)
    columns = {
        other: Column(
            np.zeros(n_values, dtype=np.int32),
            (_some(recoding, other),),
            recoding.schema.kind(other),
        )
        for other in schema.released
    }
    columns[name] = Column(np.arange(n_values, dtype=np.int32), column.domain, column.kind)
    release = take(
        replace(recoding, schema=schema), Table(columns, np.ones(n_values, dtype=np.int64))
    ).release
    labels = np.full(n_values, -1, dtype=np.int64)
    labels[release.origin.rows] = release.cells[name].codes
    return labels


def _some(recoding: Recoding, name: str) -> Value:
    """Return a value of an attribute that the release kept."""
    origin = origin_of(recoding.release)
    column = origin.table[name]
    return column.domain[int(column.codes[origin.rows[0]])]


USUAL_LIMIT = 0.05
"""The share of the new records that may be suppressed, where neither the recipe nor anybody names one."""
