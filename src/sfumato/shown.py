"""Shown: what the nouns tell of themselves in one line, and as a pandas frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sfumato.errors import UserError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_MOST_NAMES = 8


def listed(names: Sequence[str]) -> str:
    """Return names in one line, the first of them where they are many.

    Examples
    --------
    >>> listed(["age", "sex"])
    'age, sex'
    >>> listed([f"x{i}" for i in range(20)])
    'x0, x1, x2, x3, x4, x5, x6, x7 and 12 more'
    """
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")


def as_pandas(records: pa.Table) -> pd.DataFrame:
    """Return an Arrow table as a pandas frame."""
    try:
        import pandas  # noqa: F401
    except ImportError:
        raise UserError(
            "to_pandas needs pandas, which is not installed; `pip install pandas`, or take to_arrow"
        ) from None
    return records.to_pandas()
