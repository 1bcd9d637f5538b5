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
_FONTS = ("DejaVu Sans", "Liberation Sans", "Noto Sans", "Arial", "Helvetica", "Segoe UI", "Roboto", "Ubuntu")
_NAMESPACE = "http://www.w3.org/2000/svg"


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
        """Write the picture to a file named ``.svg`` or ``.png``, whole or not at all; return its place.

        Only the owner of the file can read it: most pictures show figures of the original. A ``.png`` needs
        ``pip install 'sfumato[png]'``.
        """
        target = Path(path)
        suffix = target.suffix.lower()
        if suffix not in (".svg", ".png"):
            raise UserError(f"cannot draw {target.name}: a picture is SVG or PNG; name it .svg or .png")
        content = self.svg.encode() if suffix == ".svg" else _png(self.svg)
        with file_beside(target, private=True) as place:
            place.write_bytes(content)
        return target

    def __repr__(self) -> str:
        return f"<Picture: {self.description}>"

    def _repr_svg_(self) -> str:
        return self.svg


def _png(svg: str) -> bytes:
    """Draw a picture in dots, twice as many as it has pixels in each direction."""
    try:
        from resvg_py import svg_to_bytes
    except ImportError:
        raise UserError(
            "a .png picture needs the extra png: pip install 'sfumato[png]'; or name the file .svg"
        ) from None
    # the renderer leaves out text without a word where it has no font for it
    sample = f'<svg xmlns="{_NAMESPACE}" width="9" height="9"><text y="8">{{}}</text></svg>'
    for font in _FONTS:
        if svg_to_bytes(sample.format("A"), font_family=font) != svg_to_bytes(sample.format("")):
            return bytes(svg_to_bytes(svg.replace('font-family="', f'font-family="{font}, ', 1), zoom=2))
    raise UserError("a .png picture needs a font such as DejaVu Sans on this machine; or name the file .svg")
