"""Picture: a drawing that a notebook shows and a file keeps."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path

from sfumato.errors import UserError
from sfumato.files import file_beside

_DESCRIPTION = re.compile(r'aria-label="([^"]*)"')


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
        found = _DESCRIPTION.search(self.svg)
        return unescape(found[1]) if found else ""

    def save(self, path: str | Path) -> Path:
        """Write the picture to a file that is named ``.svg``, whole or not at all; return its place."""
        target = Path(path)
        if target.suffix.lower() != ".svg":
            raise UserError(f"cannot draw {target.name}: a picture is an SVG file; name it .svg")
        with file_beside(target) as place:
            place.write_text(self.svg, encoding="utf-8")
        return target

    def __repr__(self) -> str:
        return f"<Picture: {self.description}>"

    def _repr_svg_(self) -> str:
        return self.svg
