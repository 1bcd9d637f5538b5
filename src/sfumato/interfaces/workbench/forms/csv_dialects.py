"""Dialect: the separators and encodings that the pages offer, light enough for the first of them."""

from __future__ import annotations

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "vertical bar": "|"}
ENCODINGS = ("utf-8", "latin-1", "windows-1252", "utf-16")
