"""Write a private page that redirects a browser to an address with a token, which nobody else may know."""

from __future__ import annotations

import html
import os
import tempfile
from pathlib import Path

_PAGE = (
    '<!doctype html>\n<meta charset="utf-8">\n<title>sfumato</title>\n'
    '<meta http-equiv="refresh" content="0; url={address}">\n<a href="{address}">Open the workbench</a>\n'
)


def redirect_page(address: str) -> str:
    """Return a page that redirects to an address by itself."""
    return _PAGE.format(address=html.escape(address))


def write_redirect_page(folder: Path, address: str) -> Path:
    """Write a page that redirects to an address and that only the owner can read.

    A browser is given the page and not the address: what a command is given, every user of a machine sees in
    its list of processes. It lies in the folder where it can, as some browsers may not read temporary files.
    """
    try:
        handle, place = tempfile.mkstemp(prefix=".sfumato-", suffix=".html", dir=folder.resolve())
    except OSError:
        handle, place = tempfile.mkstemp(prefix=".sfumato-", suffix=".html")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(redirect_page(address))
    return Path(place)
