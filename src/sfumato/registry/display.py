"""Display helpers: one-line summaries, SVG pictures and pandas conversion."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.runtime.errors import UserError
from sfumato.runtime.files import file_beside

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_MOST_NAMES = 8
_DESCRIPTION = re.compile(r'aria-label="([^"]*)"')


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


@dataclass(frozen=True, repr=False)
class Picture:
    """A picture as SVG: a notebook shows it, and its text can be selected and searched.

    Parameters
    ----------
    svg
        One SVG element.

    Examples
    --------
    >>> Picture('<svg xmlns="http://www.w3.org/2000/svg" aria-label="3 candidate releases"></svg>')
    <Picture: 3 candidate releases>
    """

    svg: str = field(repr=False)

    @property
    def description(self) -> str:
        """What it shows, in words."""
        match = _DESCRIPTION.search(self.svg)
        return unescape(match[1]) if match else ""

    def save(self, path: str | Path) -> Path:
        """Write the picture to a file that is named ``.svg``, whole or not at all; return its place.

        Only the owner of the file can read it: most pictures show figures of the original.
        """
        target = Path(path)
        if target.suffix.lower() != ".svg":
            raise UserError(f"cannot draw {target.name}: a picture is an SVG file; name it .svg")
        with file_beside(target, private=True) as place:
            place.write_text(self.svg, encoding="utf-8")
        return target

    def __repr__(self) -> str:
        return f"<Picture: {self.description}>"

    def _repr_svg_(self) -> str:
        return self.svg
