"""List the separators and encodings that forms offer; importing this module is cheap for the first page."""

from __future__ import annotations

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "vertical bar": "|"}
ENCODINGS = ("utf-8", "latin-1", "windows-1252", "utf-16")
