"""Mixtures: a file that is written in two encodings, or its numbers in two ways, is not read in silence."""

from __future__ import annotations

import gzip
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.interfaces.cli import run
from sfumato.reading.mixed_writing import MixedWriting, collected
from sfumato.runtime.errors import DataError

Write = Callable[[list[str]], Path]

UTF8, LATIN = "Z\u00f6e;1".encode(), "J\u00fcrgen;2".encode("latin-1")


@pytest.fixture
def halves(tmp_path: Path) -> Path:
    """Write a file whose lines 2 and 4 are in UTF-8, and 5 to 7 in Latin-1."""
    path = tmp_path / "halves.csv"
    path.write_bytes(b"\n".join([b"name;fee", UTF8, b"Ann;3", UTF8, LATIN, LATIN, LATIN]) + b"\n")
    return path


def found(path: Path, **dialect: str) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sf.read(path, **dialect)
    return list(dict.fromkeys(str(each.message) for each in caught if each.category is MixedWriting))


def test_lines_in_two_encodings_are_counted_and_located(halves: Path) -> None:
    (words,) = found(halves)
    assert "2 lines in UTF-8 (the first is line 2)" in words
    assert "3 in another encoding (the first is line 5)" in words
    assert "all was read as cp1252" in words
    assert "rgen" not in words


def test_a_compressed_file_is_looked_at_alike(halves: Path, tmp_path: Path) -> None:
    packed = tmp_path / "halves.csv.gz"
    packed.write_bytes(gzip.compress(halves.read_bytes()))
    (words,) = found(packed)
    assert words.partition(" ")[2] == found(halves)[0].partition(" ")[2]


def test_an_encoding_that_was_given_is_not_doubted(halves: Path) -> None:
    assert found(halves, encoding="latin-1") == []


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
def test_a_file_in_one_encoding_is_read_in_silence(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_bytes("name;fee\nJ\u00fcrgen;1\nZ\u00f6e;2\n".encode(encoding))
    assert found(path) == []


def test_where_no_encoding_fits_the_lines_are_told_as_well(tmp_path: Path) -> None:
    path = tmp_path / "none.csv"
    # in Windows-1252 nothing is written by the second byte of this letter
    path.write_bytes(b"name;fee\n" + "\u00c1da;1\n".encode() + LATIN + b"\n")
    with pytest.raises(DataError, match=r"1 line in UTF-8 \(the first is line 2\) and 1 in another"):
        sf.read(path)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(lines: list[str]) -> Path:
        path = tmp_path / "fees.csv"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return written


def test_numbers_with_two_marks_between_thousands_are_counted(write: Write) -> None:
    (words,) = found(write(["fee;n", "17,5;1", "1.234,50;2", "1'234,50;3", "2.234,75;4", "80;5"]))
    assert "column 'fee' writes numbers in more than one way" in words
    assert "2 as 9.999,9 (the first in record 2)" in words
    assert "1 as 9'999,9 (the first in record 3)" in words
    assert "taken for text" in words
    assert not any(value in words for value in ("234", "17", "50", "75", "80"))


@pytest.mark.parametrize(
    ("fees", "told"),
    [
        (["17.5", "17,25", "3"], ["1 as 9.9 (the first in record 1)", "1 as 9,9 (the first in record 2)"]),
        (["1,234.50", "1.234,50"], ["1 as 9,999.9", "1 as 9.999,9"]),
        (["1\u202f234,5", "1\u2019234,5"], ["1 as 9 999,9", "1 as 9'999,9"]),
    ],
)
def test_each_pair_of_ways_is_found(fees: list[str], told: list[str], write: Write) -> None:
    (words,) = found(write(["fee;n", *(f"{fee};{place}" for place, fee in enumerate(fees))]))
    assert all(each in words for each in told)


def test_columns_that_differ_are_named(write: Write) -> None:
    lines = ["paid;owed", *(["1.234,50;1'234,50"] * 3), "2.500,25;2'500,25"]
    (words,) = found(write(lines))
    assert "'paid' as 9.999,9 and 'owed' as 9'999,9; one is assumed" in words


@pytest.mark.parametrize(
    "fees",
    [
        ["1.234,50", "17,5", "80", "1.234.567"],
        ["1,234.50", "17.5", "80"],
        ["1.234", "1,234"],  # either may be a thousand or a decimal
        ["1.5.2020", "13,4 km", "12.30 h"],
        ["10.0.0.1", "a, b", "c. d"],
        ["v1.25", "a1,25"],
    ],
)
def test_what_can_be_read_in_one_way_or_is_no_number_is_read_in_silence(
    fees: list[str], write: Write
) -> None:
    assert found(write(["fee;n", *(f"{fee};{place}" for place, fee in enumerate(fees))])) == []


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("command", ["new", "inspect"])
def test_commands_say_it_in_one_line(command: str, halves: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, str(halves)]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if "encoding" in line]
    assert len(said) == 1
    assert said[0].startswith("sfumato: halves.csv is written in more than one encoding")


def test_what_is_collected_is_not_warned_of_and_told_once(halves: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with collected() as words:
            sf.read(halves)
            sf.read(halves)
    assert len(words) == 1
