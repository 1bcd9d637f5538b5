"""Write the published tables as SPSS and Stata files, with the labels of the data file."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.reading.base import Codebook
from sfumato.reading.statistics_files import pyreadstat
from sfumato.runtime.errors import UserError
from sfumato.verification.documents import FormatFacts, Manifest
from sfumato.verification.folder import PROGRAMS, StatisticsFormat

if TYPE_CHECKING:
    import pyarrow as pa

_LARGEST_EXACT = 2**53
_LARGEST_CODE = 2_147_483_620


@dataclass(frozen=True)
class _Program:
    """The limits of a statistics program.

    Parameters
    ----------
    name
        The program.
    writer
        The function of pyreadstat that writes its files.
    column_name, longest_name, reserved
        What a column may be called: a pattern, how many letters, and words that it may not be.
    has_cases
        Whether names that differ in small and capital letters alone are two.
    longest_label, longest_value_label, longest_text
        How many bytes the label of a column, that of a value and a text may have.
    keeps_blanks
        Whether blanks at the end of a text stay.
    """

    name: str
    writer: str
    column_name: re.Pattern[str]
    longest_name: int
    has_cases: bool
    longest_label: int
    longest_value_label: int
    longest_text: int
    keeps_blanks: bool
    reserved: frozenset[str] = field(default_factory=frozenset, repr=False)


_SPSS = _Program(
    name=PROGRAMS["sav"],
    writer="write_sav",
    column_name=re.compile(r"[^\W\d_][\w.]*(?<!\.)"),
    longest_name=64,
    has_cases=False,
    longest_label=255,
    longest_value_label=120,
    longest_text=32_767,
    keeps_blanks=False,
    reserved=frozenset({"all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with"}),
)
_STATA = _Program(
    name=PROGRAMS["dta"],
    writer="write_dta",
    column_name=re.compile(r"[^\W\d]\w*"),
    longest_name=32,
    has_cases=True,
    longest_label=80,
    longest_value_label=32_000,
    longest_text=2_000_000,
    keeps_blanks=True,
    reserved=frozenset(
        {"byte", "double", "float", "if", "in", "int", "long", "strL", "using", "with"}
        | {"_all", "_b", "_coef", "_cons", "_n", "_N", "_pi", "_pred", "_rc", "_skip"}
    ),
)
_STATA_TEXT = re.compile(r"str\d+")
_PROGRAMS: dict[StatisticsFormat, _Program] = {"dta": _STATA, "sav": _SPSS}


def write_statistics(
    tables: Mapping[str, pa.Table],
    place: Path,
    kind: StatisticsFormat,
    codebook: Codebook,
    unchanged: Collection[str],
) -> FormatFacts:
    """Write tables as SPSS or Stata files, and return how their columns appear there.

    Parameters
    ----------
    tables
        The tables by their names.
    place
        The folder.
    kind
        The format.
    codebook
        The labels of the original.
    unchanged
        The attributes all of whose released cells are original values: they keep their labels.
    """
    program, all_facts = _PROGRAMS[kind], FormatFacts()
    for name, table in tables.items():
        facts = _facts(table, program, codebook, unchanged)
        _write(table, place / f"{name}.{kind}", program, facts)
        all_facts = FormatFacts(
            renamed={**all_facts.renamed, **facts.renamed},
            labels={**all_facts.labels, **facts.labels},
            codes={**all_facts.codes, **facts.codes},
        )
    return all_facts


def renamings(manifest: Manifest) -> list[str]:
    """Describe in one line per file format which columns have another name there."""
    return [
        f"{PROGRAMS[kind]} does not take every name: in the files .{kind} "
        + ", ".join(f"{old!r} is called {new}" for old, new in facts.renamed.items())
        for kind, facts in manifest.formats.items()
        if facts.renamed
    ]


def _facts(table: pa.Table, program: _Program, codebook: Codebook, unchanged: Collection[str]) -> FormatFacts:
    renamed = _renamed(table.column_names, program)
    kept = [name for name in table.column_names if name in unchanged]
    codes = {name: _codes(table[name], codebook.values.get(name, {}), program) for name in kept}
    labels = {name: codebook.columns[name] for name in kept if name in codebook.columns}
    # what a column was called is not lost
    labels = {**{name: name for name in renamed}, **labels}
    return FormatFacts(
        renamed=renamed,
        labels={name: each for name, each in labels.items() if _fits(each, program.longest_label)},
        codes={name: each for name, each in codes.items() if each},
    )


def _fits(label: str, longest: int) -> bool:
    return len(label.encode()) <= longest and label == label.rstrip() and "\0" not in label


def _codes(column: pa.ChunkedArray, labels: Mapping[float, str], program: _Program) -> dict[str, int]:
    """Return the codes of the labels in a column; none if the program cannot hold them.

    The column has the labels themselves, or numbers of which some have one.
    """
    import pyarrow as pa

    is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    if pa.types.is_floating(column.type):
        return {}
    present = {value for value in column.unique().to_pylist() if value is not None}
    used = {code: label for code, label in labels.items() if (label if is_text else code) in present}
    number_of = {label: int(code) for code, label in used.items() if code == int(code)}
    is_whole = len(number_of) == len(used) and all(abs(each) <= _LARGEST_CODE for each in number_of.values())
    fits = all(_fits(label, program.longest_value_label) for label in number_of)
    is_clear = number_of.keys() == present if is_text else not any(map(_is_number, number_of))
    return number_of if is_whole and fits and is_clear else {}


def _is_number(label: str) -> bool:
    try:
        float(label)
    except ValueError:
        return False
    return True


def _renamed(names: Iterable[str], program: _Program) -> dict[str, str]:
    every = list(names)
    taken: set[str] = set()
    new_names = {}
    for name in [*filter(lambda each: _is_accepted(each, program), every), *every]:
        if name in new_names:
            continue
        new_names[name] = _free_name(name, program, taken)
        taken.add(_comparable_name(new_names[name], program))
    return {name: new_names[name] for name in every if new_names[name] != name}


def _is_accepted(name: str, program: _Program) -> bool:
    word = _comparable_name(name, program)
    is_reserved = word in program.reserved or (program is _STATA and _STATA_TEXT.fullmatch(word) is not None)
    is_short = len(name.encode()) <= program.longest_name
    return program.column_name.fullmatch(name) is not None and is_short and not is_reserved


def _comparable_name(name: str, program: _Program) -> str:
    return name if program.has_cases else name.lower()


def _free_name(name: str, program: _Program, taken: Collection[str]) -> str:
    """Return the name, or the nearest one that the program accepts and no other column has."""
    plain = name
    if not _is_accepted(name, program):
        letters = "".join(sign if sign.isascii() and sign.isalnum() else "_" for sign in name).strip("_")
        plain = letters[: program.longest_name - 2]
        plain = plain if _is_accepted(plain, program) else f"v_{plain}"
    number, free = 1, plain
    while _comparable_name(free, program) in taken:
        number += 1
        free = f"{plain[: program.longest_name - 4]}_{number}"
    return free


def _write(table: pa.Table, place: Path, program: _Program, facts: FormatFacts) -> None:
    import pandas as pd

    columns = {name: _column(table, name, place.name, program, facts) for name in table.column_names}
    own = {name: facts.renamed.get(name, name) for name in columns}
    try:
        getattr(pyreadstat(), program.writer)(
            pd.DataFrame({own[name]: column for name, column in columns.items()}),
            str(place),
            column_labels={own[name]: label for name, label in facts.labels.items() if name in own},
            variable_value_labels={
                own[name]: {code: label for label, code in codes.items()}
                for name, codes in facts.codes.items()
                if name in own
            },
        )
        is_written = True
    except Exception:  # whatever it raises may show a value
        is_written = False
    if not is_written:
        raise UserError(
            f"{place.name} cannot hold this release; publish it without the format {place.suffix[1:]}"
        )


def _column(table: pa.Table, name: str, file: str, program: _Program, facts: FormatFacts) -> Any:
    """Return a column as the program stores it: labels as codes, a missing value without a text."""
    import pandas as pd
    import pyarrow as pa

    column, codes = table[name].combine_chunks(), facts.codes.get(name, {})
    is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    if not is_text:
        return _numbers(column, name, file, program)
    texts = column.to_pylist()
    if codes:
        return pd.Series([None if text is None else codes[text] for text in texts], dtype="float64")
    _check_texts(set(texts) - {None}, name, file, program)
    return pd.Series([text or "" for text in texts], dtype=object)


def _numbers(column: pa.Array, name: str, file: str, program: _Program) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    largest = pc.max(pc.abs(column)).as_py() or 0 if pa.types.is_integer(column.type) else 0
    if largest > _LARGEST_EXACT:
        raise UserError(
            f"{file} cannot hold {name!r}: {program.name} rounds whole numbers above {_LARGEST_EXACT:,}; "
            "withhold the column, or leave the format out"
        )
    return column.cast(pa.float64(), safe=False).to_pandas()


def _check_texts(texts: Iterable[str], name: str, file: str, program: _Program) -> None:
    for text in texts:
        if len(text.encode()) > program.longest_text:
            raise UserError(
                f"{file} cannot hold {name!r}: texts of {program.name} end at {program.longest_text:,} "
                "bytes; withhold the column, or leave the format out"
            )
        if not program.keeps_blanks and text != text.rstrip(" "):
            raise UserError(
                f"{file} cannot hold {name!r}: {program.name} drops the blanks at the end of a text; remove "
                "them in the source, or leave the format out"
            )
