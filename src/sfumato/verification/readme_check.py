"""Compare the README of a folder with the manifest, whichever version of sfumato wrote it.

Its programs and its table of cells must be among the known ones. Its sentences may use any wording, but they
name only what the manifest names, state the one required number, and label what no reader can check.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

import msgspec

from sfumato.runtime.errors import VerificationFailed
from sfumato.verification.documents import Manifest
from sfumato.verification.folder import MANIFEST, REPORT
from sfumato.verification.page_statements import singled_out_statement
from sfumato.verification.partition_check import partitioned_table
from sfumato.verification.published_view import table_names
from sfumato.verification.renderings import UNVERIFIED_CLAIM, has_numerals, leaves, shows

KNOWN_BLOCKS = frozenset(
    {
        "617d96bab871c7eb0df0e8386bf97fb1b193592f313919e2c1ea8b4a3a1b32b3",  # the program in Python, 0.2.0
        "1cdc5eb230a8c1b9c3366ffe81df3a437a208d632e58b9b3d07d9cde85042da3",  # the program in R, 0.2.0
        "4cbde9063faa298ec4e1be6de2a067edaf4fc9652bab6f801665dd32aab43b35",  # the table of cells, 0.2.0
    }
)
"""The SHA-256 of every program and table of cells that a version of sfumato has put into the page."""
_BLOCK = re.compile(
    r"^```(?:python|r)\n(?P<code>.*?)^```$|(?P<table>(?:^\|[^\n]*\n)+)", re.DOTALL | re.MULTILINE
)
_LABEL = f"*({UNVERIFIED_CLAIM})*"
_WORDS = (
    *("sfumato verify FOLDER", "sfumato query FOLDER QUERY"),
    *("layout", "attributes", "branches", ".parquet", MANIFEST, REPORT),
    *("unverified", "guarantee", "public"),
)
_NUMERAL = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?%?|∞")
_LANGUAGE = "Python 3.9"
_N_BLOCKS = 3


def readme_problem(text: str, manifest: Manifest, n_records: int) -> str:
    """Return the first difference between the README and the manifest; empty if there is none."""
    blocks = [(block["code"] or block["table"]).encode() for block in _BLOCK.finditer(text)]
    if any(hashlib.sha256(block).hexdigest() not in KNOWN_BLOCKS for block in blocks):
        return "it has a program or a table that is not known"
    if len(blocks) != _N_BLOCKS:
        return "it lacks a program or the table of cells, or has one twice"
    prose = _BLOCK.sub("\n", text)
    try:
        return _prose_problem(prose, manifest, n_records)
    except VerificationFailed as error:
        return str(error)


def _prose_problem(prose: str, manifest: Manifest, n_records: int) -> str:
    layout, required = manifest.layout, _required_names(manifest)
    for name in required:
        if f"`{name}`" not in prose:
            return f"it does not name {name!r}"
    labelled = _labelled_attributes(manifest)
    names = {*layout.attributes, *filter(None, [layout.person])} - set(_WORDS)
    lines = [line for line in prose.splitlines() if _LABEL in line]
    named = [{name for name in names if f"`{name}`" in line} for line in lines]
    if sorted(map(sorted, named)) != sorted(map(sorted, labelled)):
        return "a label of an unverified claim is missing, or is that of another statement"
    known = {text for text in leaves(msgspec.to_builtins(manifest)) if isinstance(text, str)}
    known |= {*_WORDS, *required, *(f".{kind}" for kind in manifest.formats)}
    for name in sorted(known, key=len, reverse=True):
        prose = prose.replace(f"`{name}`", "")
    lines = [line for line in prose.splitlines() if _LABEL in line]
    if prose.count(_LABEL) != len(labelled) or len(lines) != len(labelled):
        return "a label of an unverified claim is missing, or is there twice"
    prose = prose.replace(_LANGUAGE, "")
    numerals = _NUMERAL.findall(prose)
    expected = [*_singled_out(manifest, n_records), layout.n_original]
    if len(numerals) != len(expected) or not all(map(shows, numerals, expected)):
        return "it states other numbers than those of people singled out and of records of the original"
    if not any(shows(numeral, layout.n_original) for line in lines for numeral in _NUMERAL.findall(line)):
        return "the number of records of the original has no label"
    if has_numerals(_NUMERAL.sub("", prose)):
        return "it states a number that it should not"
    if re.search(r"[`<>\[\]]|://|!\[", prose):
        return "it has markup, a link or a name that it should not have"
    if any(unicodedata.category(sign)[0] in "MC" and sign != "\n" for sign in prose):
        return "there is a sign in it that nobody sees"
    return ""


def _labelled_attributes(manifest: Manifest) -> list[set[str]]:
    """Return the attributes that each labelled statement names; the first ones name none."""
    attributes = manifest.layout.attributes.items()
    statements = [
        {manifest.layout.person} if manifest.layout.person is not None else set(),
        {name for name, facts in attributes if facts.branches and name not in _WORDS},
        {name for name, facts in attributes if facts.whole and name not in _WORDS},
    ]
    n_without_name = 1 if singled_out_statement(manifest)[0] in ("records", "nothing") else 2
    n_without_name += manifest.unverified.guarantee is not None
    return [*[set()] * n_without_name, *filter(None, statements)]


def _singled_out(manifest: Manifest, n_records: int) -> list[int | float | str]:
    """Return the numbers of the first sentence, which says how many people can be singled out."""
    kind, place = singled_out_statement(manifest)
    if kind == "records":
        return [manifest.claims[place].detail["uniques"], n_records]
    people = manifest.unverified.people
    if kind == "people" and people is not None:
        return [people.alone, people.released]
    band = manifest.unverified.figures[place].band if kind in ("attack", "guarantee") else None
    if band is None:
        return []
    return [band.low] if band.low == band.high else [band.low, band.high]


def _required_names(manifest: Manifest) -> list[str]:
    layout, partitioned = manifest.layout, partitioned_table(manifest)
    names = [f"{name}.csv" for name in table_names(layout)]
    names += [column for column in (layout.group, layout.person) if column is not None]
    names += [name for name, facts in layout.attributes.items() if facts.branches or facts.whole]
    names += [f"{partitioned}/", manifest.partition_by or ""] if partitioned is not None else []
    for facts in manifest.formats.values():
        names += [*facts.renamed, *facts.renamed.values()]
    return names
