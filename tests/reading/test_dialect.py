"""The dialect: separator, encoding and quote are found, taken as given, or refused with a remedy."""

from __future__ import annotations

import codecs
import csv
import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.reading.base import read_arrow
from sfumato.reading.dialect import Dialect, sniff
from sfumato.runtime.errors import DataError

SECRET = "SECRETVALUE"
PEOPLE = "name,postcode\nAda,01307\nBob,00001\n"
PEOPLE_READ = {"name": ["Ada", "Bob"], "postcode": ["01307", "00001"]}


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write_file(content: str | bytes, name: str = "people.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


def contents(path: Path, **dialect: str) -> dict[str, list[str | None]]:
    read: dict[str, list[str | None]] = read_arrow(path, **dialect).to_pydict()
    return read


def refusal(path: Path, **dialect: str) -> str:
    """Return the message, the same for sniffing and reading, after the checks that all must pass."""
    callers: tuple[Callable[..., Any], ...] = (sniff, read_arrow)
    messages = set()
    for call in callers:
        with pytest.raises(DataError) as caught:
            call(path, **dialect)
        error: BaseException | None = caught.value
        while error is not None:
            assert SECRET not in repr(error)
            error = error.__cause__ or error.__context__
        messages.add(str(caught.value))
    (message,) = messages
    assert path.name in message
    assert str(path.parent) not in message
    assert "\n" not in message
    assert ";" in message, "the remedy follows the semicolon"
    return message


class TestSniffing:
    @pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
    def test_the_separator_that_splits_records_like_the_header(self, write: Any, separator: str) -> None:
        path = write(PEOPLE.replace(",", separator))
        assert sniff(path) == Dialect(separator=separator, encoding="utf-8", quote='"')
        assert contents(path) == PEOPLE_READ

    def test_decimal_commas_do_not_hide_the_semicolon(self, write: Any) -> None:
        path = write("height, in m;weight, in kg;x\n1,80;70,5;1\n1,75;60;1\n2;90;1\n")
        assert sniff(path).separator == ";"

    def test_separators_inside_quotes_do_not_count(self, write: Any) -> None:
        path = write('"a;b;c","d"\n"1;2;3","4"\n"5;6;7","8"\n')
        assert contents(path) == {"a;b;c": ["1;2;3", "5;6;7"], "d": ["4", "8"]}

    def test_a_record_cut_by_the_end_of_the_sample_does_not_count(self, write: Any) -> None:
        path = write("a;b,c;d\n" + "1;2;3\n" * 20_000)
        assert sniff(path).separator == ";"

    def test_a_given_separator_wins(self, write: Any) -> None:
        path = write("a;b,c\n1;2,3\n")
        assert contents(path, separator=";") == {"a": ["1"], "b,c": ["2,3"]}
        assert contents(path, separator=",") == {"a;b": ["1;2"], "c": ["3"]}

    @pytest.mark.parametrize("quoting", [csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
    def test_single_quotes_around_fields(self, tmp_path: Path, quoting: Any) -> None:
        rows = [["a", "b"], ["x,y", "it's"], ["z", "w, v"]]
        path = tmp_path / "people.csv"
        with path.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream, quotechar="'", quoting=quoting).writerows(rows)
        assert sniff(path).quote == "'"
        assert contents(path) == {"a": ["x,y", "z"], "b": ["it's", "w, v"]}

    def test_apostrophes_are_no_quotes(self, write: Any) -> None:
        path = write("a,b\n'tis,O'Brien\n'x' or y,it's\nz,dogs'\nu,'w'\nr,s\nr,s\n")
        assert sniff(path).quote == '"'
        assert contents(path)["b"] == ["O'Brien", "it's", "dogs'", "'w'", "s", "s"]

    def test_single_quotes_inside_double_quotes_are_no_quotes(self, write: Any) -> None:
        assert sniff(write('"a","b"\n"x,\'y\',z","\'w\'"\n')).quote == '"'

    def test_a_given_quote_wins(self, write: Any) -> None:
        path = write("'a','b'\n'x','y'\n")
        assert contents(path, quote='"') == {"'a'": ["'x'"], "'b'": ["'y'"]}
        assert contents(path, quote="'") == {"a": ["x"], "b": ["y"]}

    @pytest.mark.parametrize("separator", ["", ",,", "\n", '"', "·"])
    def test_an_impossible_separator_is_refused(self, write: Any, separator: str) -> None:
        assert "cannot be the separator; give one ASCII character" in refusal(
            write(PEOPLE), separator=separator
        )

    @pytest.mark.parametrize("quote", ["", "`", "''"])
    def test_an_impossible_quote_is_refused(self, write: Any, quote: str) -> None:
        assert "cannot be the quote; give \" or '" in refusal(write(PEOPLE), quote=quote)

    def test_one_column_is_taken_to_be_separated_by_commas(self, write: Any) -> None:
        assert sniff(write("postcode\n01307\n00001\n")).separator == ","


class TestEncodings:
    TEXT = "näme,town\nZoë,Köln — 5 €\n"
    READ = {"näme": ["Zoë"], "town": ["Köln — 5 €"]}  # noqa: RUF012

    @pytest.mark.parametrize("written", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
    def test_the_encoding_is_found(self, write: Any, written: str) -> None:
        path = write(self.TEXT.encode(written))
        assert contents(path) == self.READ
        assert sniff(path).encoding == {"utf-8-sig": "utf-8"}.get(written, written)

    @pytest.mark.parametrize("order", ["le", "be"])
    def test_both_byte_orders_of_utf_16(self, write: Any, order: str) -> None:
        mark = codecs.BOM_UTF16_LE if order == "le" else codecs.BOM_UTF16_BE
        assert contents(write(mark + self.TEXT.encode(f"utf-16-{order}"))) == self.READ

    @pytest.mark.parametrize("given_as", ["cp1252", "windows-1252", "CP1252"])
    def test_a_given_encoding_by_any_of_its_names(self, write: Any, given_as: str) -> None:
        assert contents(write(self.TEXT.encode("cp1252")), encoding=given_as) == self.READ

    @pytest.mark.parametrize("given_as", ["utf-8", "utf-8-sig"])
    def test_a_byte_order_mark_is_no_part_of_the_first_name(self, write: Any, given_as: str) -> None:
        assert contents(write(self.TEXT.encode("utf-8-sig")), encoding=given_as) == self.READ

    def test_a_given_encoding_wins(self, write: Any) -> None:
        assert contents(write("name,town\nA,ж\n".encode("koi8-r")), encoding="koi8-r")["town"] == ["ж"]

    def test_the_whole_file_is_looked_at_not_only_its_head(self, write: Any) -> None:
        path = write(b"a,b\n" + b"x,y\n" * 600_000 + "é,z\n".encode("cp1252"))
        assert sniff(path).encoding == "cp1252"

    def test_a_letter_cut_by_the_end_of_a_chunk_still_decodes(self, write: Any) -> None:
        path = write("a,b\n" + "é" * (2**20) + ",x\n")
        assert sniff(path).encoding == "utf-8"

    @pytest.mark.parametrize("stray", [b"\x81", b"\xff\x01", b"\xff\x00"])
    def test_bytes_that_are_no_text_are_refused_with_the_remedy(self, write: Any, stray: bytes) -> None:
        message = refusal(write(b"a,b\n" + SECRET.encode() + b"," + stray + b"\n"))
        assert 'encoding = "..." in [data]' in message
        assert "--encoding" in message

    @pytest.mark.parametrize("given_as", ["utf-8", "ascii", "utf-16"])
    def test_a_given_encoding_that_does_not_decode_is_refused(self, write: Any, given_as: str) -> None:
        message = refusal(write(f"a,b\n{SECRET},é\n".encode("cp1252")), encoding=given_as)
        assert given_as in message
        assert "--encoding" in message

    @pytest.mark.parametrize("given_as", ["utf-9", "", "hex", "rot13"])
    def test_an_unknown_encoding_is_refused(self, write: Any, given_as: str) -> None:
        message = refusal(write(PEOPLE), encoding=given_as)
        assert repr(given_as) in message
        assert "Python knows" in message

    def test_a_mark_of_utf_8_over_other_bytes_is_refused(self, write: Any) -> None:
        assert "--encoding" in refusal(write(codecs.BOM_UTF8 + b"a,b\n\xff,1\n"))

    @pytest.mark.parametrize("content", [f"a,b\n{SECRET}\0,1\n".encode(), "a,b\n1,2\n".encode("utf-16-le")])
    def test_nul_characters_are_refused(self, write: Any, content: bytes) -> None:
        message = refusal(write(content))
        assert "NUL" in message
        assert "--encoding" in message


class TestUnusableFiles:
    def test_a_missing_file(self, tmp_path: Path) -> None:
        assert "does not exist" in refusal(tmp_path / "people.csv")

    @pytest.mark.parametrize("content", [b"", b"\n", b"  \n\t\r\n ", codecs.BOM_UTF8, codecs.BOM_UTF16_LE])
    def test_an_empty_file(self, write: Any, content: bytes) -> None:
        assert "is empty" in refusal(write(content))

    @pytest.mark.parametrize("cut", [slice(0, -9), slice(0, 5), slice(1, None)])
    def test_a_broken_gzip_file(self, write: Any, cut: slice) -> None:
        packed = gzip.compress((PEOPLE * 50 + SECRET).encode())
        assert "not a whole gzip file" in refusal(write(packed[cut], "people.csv.gz"))

    def test_garbled_gzip_data(self, write: Any) -> None:
        packed = bytearray(gzip.compress(os.urandom(1_000)))
        packed[10:60] = b"\xff" * 50
        assert "not a whole gzip file" in refusal(write(bytes(packed), "people.csv.gz"))
