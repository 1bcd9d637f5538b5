"""Reading files: every format, every value, and every refusal without a record's content."""

from __future__ import annotations

import csv
import gzip
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from pyarrow import feather, parquet

from sfumato.reading.base import read_arrow
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


def contents(path: Path | str, **dialect: str) -> dict[str, list[str | None]]:
    read: dict[str, list[str | None]] = read_arrow(path, **dialect).to_pydict()
    return read


def refusal(path: Path, **dialect: str) -> str:
    """Return the message, after the checks that every refusal must pass."""
    with pytest.raises(DataError) as caught:
        read_arrow(path, **dialect)
    message = str(caught.value)
    assert path.name in message
    assert str(path.parent) not in message
    assert "\n" not in message
    assert ";" in message, "the remedy follows the semicolon"
    error: BaseException | None = caught.value
    while error is not None:
        assert SECRET not in repr(error)
        error = error.__cause__ or error.__context__
    return message


def write_csv(path: Path, rows: list[list[str]], encoding: str = "utf-8", **how: Any) -> Path:
    with path.open("w", newline="", encoding=encoding) as stream:
        csv.writer(stream, **how).writerows(rows)
    return path


class TestCsvValues:
    def test_every_value_is_text_so_leading_zeros_survive(self, write: Any) -> None:
        assert contents(write(PEOPLE)) == PEOPLE_READ

    def test_a_path_may_be_a_string(self, write: Any) -> None:
        assert contents(str(write(PEOPLE))) == PEOPLE_READ

    def test_values_that_look_like_dates_numbers_or_missing_stay_text(self, write: Any) -> None:
        path = write("a,b,c,d\n2020-01-01,1e3,NA,null\nTrue,-0,nan,None\n")
        assert contents(path) == {
            "a": ["2020-01-01", "True"],
            "b": ["1e3", "-0"],
            "c": ["NA", "nan"],
            "d": ["null", "None"],
        }

    def test_an_empty_field_is_missing_whether_quoted_blank_or_bare(self, write: Any) -> None:
        assert contents(write('a,b\n,1\n"",2\n   ,3\n" ",4\n'))["a"] == [None] * 4

    def test_blanks_around_names_and_values_are_stripped(self, write: Any) -> None:
        path = write(" a , b c\t\n x ,\ty  z \n")
        assert contents(path, separator=",") == {"a": ["x"], "b c": ["y  z"]}

    def test_values_that_differ_only_in_blanks_become_one_value(self, write: Any) -> None:
        column = read_arrow(write("a,b\nx,1\n x,2\nx ,3\ny,4\n,5\n")).column("a")
        assert column.to_pylist() == ["x", "x", "x", "y", None]
        encoded = column.combine_chunks()
        assert sorted(encoded.dictionary.to_pylist()) == ["x", "y"]
        assert column.value_counts().to_pylist() == [
            {"values": "x", "counts": 3},
            {"values": "y", "counts": 1},
            {"values": None, "counts": 1},
        ]

    def test_unicode_names_and_values(self, write: Any) -> None:
        path = write("größe,名前\n٣,山田\né,😀\n")
        assert contents(path) == {"größe": ["٣", "é"], "名前": ["山田", "😀"]}

    def test_a_quoted_field_may_hold_separators_line_breaks_and_quotes(self, write: Any) -> None:
        path = write('a,"b, or\nc"\n"x,y","line\nbreak"\n"say ""hi""","1\r\n2"\n')
        assert contents(path) == {"a": ["x,y", 'say "hi"'], "b, or\nc": ["line\nbreak", "1\r\n2"]}

    @pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
    @pytest.mark.parametrize("at_end", [True, False])
    def test_line_breaks_of_every_system(self, write: Any, line_break: str, at_end: bool) -> None:
        text = PEOPLE if at_end else PEOPLE.rstrip()
        assert contents(write(text.replace("\n", line_break))) == PEOPLE_READ

    def test_blank_lines_are_ignored(self, write: Any) -> None:
        path = write("\n\nname,postcode\n\nAda,01307\n   \n\nBob,00001\n\t\n\n\n")
        assert contents(path) == PEOPLE_READ

    def test_one_column_is_enough(self, write: Any) -> None:
        assert contents(write("postcode\n01307\n00001\n")) == {"postcode": ["01307", "00001"]}

    @pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".data", ".dat", ".CSV"])
    def test_every_csv_suffix_also_compressed(self, write: Any, suffix: str) -> None:
        assert contents(write(PEOPLE, "people" + suffix)) == PEOPLE_READ
        assert contents(write(gzip.compress(PEOPLE.encode()), f"people{suffix}.gz")) == PEOPLE_READ

    def test_many_records_keep_their_zeros_and_their_order(self, tmp_path: Path) -> None:
        # wide enough for several blocks, so that several dictionaries are merged
        codes = [f"{number % 99_991:06d}" for number in range(200_000)]
        rows = [[code, f" {number % 7} ", "x" * 30] for number, code in enumerate(codes)]
        path = write_csv(tmp_path / "people.csv", [["code", "group", "filler"], *rows])
        assert path.stat().st_size > 2 * 2**22
        read = contents(path)
        assert read["code"] == codes
        assert read["group"] == [str(number % 7) for number in range(200_000)]

    def test_importing_the_module_does_not_import_pyarrow(self) -> None:
        program = "import sys, sfumato.reading.csv_files; sys.exit('pyarrow' in sys.modules)"
        subprocess.run([sys.executable, "-c", program], check=True)


class TestUnusableCsv:
    def test_a_missing_file(self, tmp_path: Path) -> None:
        assert "does not exist" in refusal(tmp_path / "people.csv")

    def test_a_folder(self, tmp_path: Path) -> None:
        for name in ("people", "people.csv"):
            (tmp_path / name).mkdir()
            assert "is a folder" in refusal(tmp_path / name)

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="may read every file")
    def test_a_file_that_may_not_be_read(self, write: Any) -> None:
        path = write(PEOPLE)
        path.chmod(0)
        assert "may not be read" in refusal(path)

    def test_a_refused_opening(self, write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: Any, **__: Any) -> None:
            raise PermissionError(13, "Permission denied")

        path = write(PEOPLE)
        monkeypatch.setattr(os, "open", refuse)
        assert "may not be read" in refusal(path)

    def test_any_other_trouble_in_opening(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match=r"^x+\S* cannot be opened: "):
            read_arrow(tmp_path / ("x" * 5_000 + ".csv"))

    @pytest.mark.parametrize("name", ["people.docx", "people", "people.parquet.gz", "people.csv.zip"])
    def test_an_unknown_suffix_lists_those_that_are_known(self, write: Any, name: str) -> None:
        message = refusal(write(PEOPLE, name))
        for suffix in (
            ".csv",
            ".tsv",
            ".txt",
            ".data",
            ".dat",
            ".parquet",
            ".pq",
            ".feather",
            ".arrow",
            ".ipc",
        ):
            assert suffix in message

    @pytest.mark.parametrize("content", ["a,b", "a,b\n", "\n\na,b\r\n\r\n", "a", "a\n", "a,b\n  \n"])
    def test_a_header_without_records(self, write: Any, content: str) -> None:
        assert "has a header but no records" in refusal(write(content))

    @pytest.mark.parametrize(
        ("bad", "width"),
        [(f"{SECRET},2,3,4", "4 fields"), (f"1,2,3,4,5,{SECRET}", "6 fields"), (SECRET, "1 field")],
    )
    def test_a_ragged_row_is_named_by_its_number(self, write: Any, bad: str, width: str) -> None:
        path = write("a,b,c,d,e\n" + "1,2,3,4,5\n" * 15 + bad + "\n1,2,3,4,5\n" + SECRET + "\n")
        message = refusal(path)
        assert f"row 17 has {width} where the header has 5" in message
        assert "mend the row or give the right separator" in message

    def test_a_row_with_line_breaks_inside_counts_once(self, write: Any) -> None:
        assert "row 3 has 1 field " in refusal(write(f'a,b\n"1\n2\n3",4\n{SECRET}\n'))

    def test_a_ragged_row_far_down_is_found_though_the_text_changes_its_looks(self, write: Any) -> None:
        path = write("a,b\n" + "1,2\n" * 1_200_000 + f"{SECRET},x\n" * 1_200_000 + f"1,2,{SECRET}\n")
        assert "row 2400002 has 3 fields where the header has 2" in refusal(path)

    def test_a_ragged_row_of_a_compressed_file(self, write: Any) -> None:
        message = refusal(write(gzip.compress(f"a,b\n1,2\n{SECRET}\n".encode()), "people.csv.gz"))
        assert "row 3 has 1 field where the header has 2" in message

    def test_a_wrong_separator_shows_as_a_ragged_row(self, write: Any) -> None:
        assert "row 2 has 2 fields where the header has 1" in refusal(
            write(f"a;b\n1;{SECRET},2\n"), separator=","
        )

    @pytest.mark.parametrize("n_records", [3, 1_500_000])
    def test_a_quote_that_is_never_closed_loses_no_records_silently(self, write: Any, n_records: int) -> None:
        path = write("a,b\n1,2\n" + f'3,"{SECRET}\n' + "4,5\n" * n_records)
        message = refusal(path)
        assert "opened and never closed" in message
        assert "close the quote" in message

    def test_a_quote_in_the_header_that_is_never_closed(self, write: Any) -> None:
        assert "opened and never closed" in refusal(write('a,"b\n' + f"1,{SECRET}\n" * 500_000))

    def test_a_last_field_with_line_breaks_is_fine_when_its_quote_is_closed(self, write: Any) -> None:
        assert contents(write('a,b\n1,"2\n3"\n \n'))["b"] == ["2\n3"]

    def test_repeated_names_are_named(self, write: Any) -> None:
        message = refusal(write(f"age,sex, age,town,sex\n1,2,3,4,{SECRET}\n"))
        assert "'age', 'sex'" in message
        assert "town" not in message

    def test_a_first_column_without_a_name_holds_the_names_of_rows_as_r_and_pandas_write_them(
        self, write: Any
    ) -> None:
        assert contents(write('"","age"\n"1",31\n"2",32\n')) == {"row": ["1", "2"], "age": ["31", "32"]}

    @pytest.mark.parametrize(("header", "position"), [("a,,c", 2), ("a,b,", 3), (",row,c", 1), ("a,  ,c", 2)])
    def test_a_column_without_a_name_is_told_by_its_position(
        self, write: Any, header: str, position: int
    ) -> None:
        assert f"column {position} has no name" in refusal(write(f"{header}\n1,2,{SECRET}\n"))


def as_parquet(table: pa.Table, path: Path) -> None:
    parquet.write_table(table, path)


def as_feather(table: pa.Table, path: Path) -> None:
    feather.write_feather(table, path)


def as_ipc_file(table: pa.Table, path: Path) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def as_ipc_stream(table: pa.Table, path: Path) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)


FORMATS = [
    pytest.param(as_parquet, ".parquet", id="parquet"),
    pytest.param(as_parquet, ".pq", id="pq"),
    pytest.param(as_feather, ".feather", id="feather"),
    pytest.param(as_ipc_file, ".arrow", id="file"),
    pytest.param(as_ipc_stream, ".ipc", id="stream"),
    pytest.param(as_ipc_stream, ".arrow", id="stream-arrow"),
]


@pytest.mark.parametrize(("save", "suffix"), FORMATS)
class TestTypedFormats:
    def test_the_table_comes_back_as_it_is(self, tmp_path: Path, save: Any, suffix: str) -> None:
        table = pa.table(
            {
                "größe": pa.array([1.5, None], pa.float64()),
                " padded ": pa.array([" x ", ""], pa.string()),
                "age": pa.array([1, 2], pa.int16()),
                "town": pa.array(["a", "b"]).dictionary_encode(),
            }
        )
        save(table, tmp_path / f"people{suffix}")
        read = read_arrow(tmp_path / f"people{suffix}")
        assert read.equals(table)
        assert read.schema.types == table.schema.types

    @pytest.mark.parametrize("keep", [0.0, 0.3, 0.6, 0.95])
    def test_a_file_cut_short(self, tmp_path: Path, save: Any, suffix: str, keep: float) -> None:
        path = tmp_path / f"people{suffix}"
        save(pa.table({"a": [SECRET + str(number) for number in range(5_000)]}), path)
        content = path.read_bytes()
        path.write_bytes(content[: int(keep * len(content))])
        assert "damaged" in refusal(path)

    def test_a_file_of_another_kind(self, write: Any, save: Any, suffix: str) -> None:
        assert "not what its suffix says" in refusal(write(f"a,b\n1,{SECRET}\n", f"people{suffix}"))

    @pytest.mark.parametrize("value", [[SECRET], {"inner": SECRET}])
    def test_nested_columns_are_named(self, tmp_path: Path, save: Any, suffix: str, value: Any) -> None:
        save(pa.table({"flat": [1], "deep": [value]}), tmp_path / f"people{suffix}")
        message = refusal(tmp_path / f"people{suffix}")
        assert "nested values in column 'deep'" in message
        assert "flatten" in message

    def test_no_records(self, tmp_path: Path, save: Any, suffix: str) -> None:
        save(pa.table({"a": pa.array([], pa.string())}), tmp_path / f"people{suffix}")
        assert "no records" in refusal(tmp_path / f"people{suffix}")

    def test_no_columns(self, tmp_path: Path, save: Any, suffix: str) -> None:
        save(pa.table({}), tmp_path / f"people{suffix}")
        assert "has no columns" in refusal(tmp_path / f"people{suffix}")

    def test_a_column_without_a_name(self, tmp_path: Path, save: Any, suffix: str) -> None:
        save(pa.table([[1], [SECRET]], names=["a", ""]), tmp_path / f"people{suffix}")
        assert "column 2 has no name" in refusal(tmp_path / f"people{suffix}")

    def test_repeated_names(self, tmp_path: Path, save: Any, suffix: str) -> None:
        save(pa.table([[1], [SECRET]], names=["age", "age"]), tmp_path / f"people{suffix}")
        assert "'age'" in refusal(tmp_path / f"people{suffix}")


def test_a_column_name_that_is_not_utf_8_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "people.arrow"
    as_ipc_file(pa.table({"postcode": [1]}), path)
    path.write_bytes(path.read_bytes().replace(b"postcode", b"\xffostcode"))
    assert "damaged" in refusal(path)


def test_folder_names_add_no_columns_to_a_parquet_file(tmp_path: Path) -> None:
    (tmp_path / "year=2024").mkdir()
    as_parquet(pa.table({"a": [1]}), tmp_path / "year=2024" / "people.parquet")
    assert read_arrow(tmp_path / "year=2024" / "people.parquet").column_names == ["a"]


def test_text_that_is_not_utf_8_in_a_parquet_file_is_damage(tmp_path: Path) -> None:
    broken = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(bytes([0, 0, 0, 0, 1, 0, 0, 0])), pa.py_buffer(b"\xff")]
    )
    as_parquet(pa.table({"a": broken}), tmp_path / "people.parquet")
    assert "damaged" in refusal(tmp_path / "people.parquet")


def texts(without: str = "") -> st.SearchStrategy[str]:
    letters = st.characters(blacklist_categories=["Cs"], blacklist_characters="\0\r" + without)
    plain = st.sampled_from([letter for letter in "a0,;|\t\"' \n" if letter not in without])
    return st.text(letters | plain, min_size=1, max_size=8).filter(lambda text: text == text.strip())


@st.composite
def tables(draw: st.DrawFn, without: str = "", least_columns: int = 1) -> list[list[str]]:
    width = draw(st.integers(least_columns, 4))
    header = draw(st.lists(texts(without), min_size=width, max_size=width, unique=True))
    assume(not header[0].startswith("\ufeff"))
    records = draw(st.lists(st.lists(texts(without), min_size=width, max_size=width), min_size=1, max_size=6))
    return [header, *records]


def columns_of(rows: list[list[str]]) -> dict[str, list[str]]:
    header, *records = rows
    return {name: list(column) for name, *column in zip(header, *records, strict=True)}


QUIET = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)


@QUIET
@given(
    rows=tables(),
    separator=st.sampled_from([",", ";", "\t", "|"]),
    quote=st.sampled_from(['"', "'"]),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC]),
    line_break=st.sampled_from(["\n", "\r\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
@example(
    rows=[["a", "b"], ["1", '"']], separator=",", quote='"', quoting=0, line_break="\n", encoding="utf-8"
)
def test_any_table_of_text_reads_back_equal(
    tmp_path: Path,
    rows: list[list[str]],
    separator: str,
    quote: str,
    quoting: Any,
    line_break: str,
    encoding: str,
) -> None:
    path = tmp_path / "people.csv"
    how = {"delimiter": separator, "quotechar": quote, "quoting": quoting, "lineterminator": line_break}
    write_csv(path, rows, encoding, **how)
    assert contents(path, separator=separator, quote=quote) == columns_of(rows)


@QUIET
@given(
    rows=tables(without=",;\t|\"'\n", least_columns=2),
    separator=st.sampled_from([",", ";", "\t", "|"]),
    quote=st.sampled_from(['"', "'"]),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
)
def test_any_table_of_plain_text_reads_back_equal_without_being_told_how(
    tmp_path: Path, rows: list[list[str]], separator: str, quote: str, quoting: Any
) -> None:
    path = tmp_path / "people.csv"
    write_csv(path, rows, delimiter=separator, quotechar=quote, quoting=quoting)
    assert contents(path) == columns_of(rows)


@QUIET
@given(
    content=st.binary(max_size=60) | st.text("ab,;\"'\n\r\t |0é", max_size=40).map(str.encode),
    suffix=st.sampled_from([".csv", ".csv.gz", ".parquet", ".arrow"]),
)
def test_any_bytes_are_either_read_or_refused_in_one_line(
    tmp_path: Path, content: bytes, suffix: str
) -> None:
    path = tmp_path / f"people{suffix}"
    path.write_bytes(content)
    try:
        table = read_arrow(path)
    except DataError:
        refusal(path)
    else:
        assert table.num_rows > 0
        assert all(table.column_names)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "feather"])
@pytest.mark.parametrize("fault", ["ArrowMemoryError", "ArrowCapacityError"])
def test_a_file_that_does_not_fit_into_memory_is_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, fault: str
) -> None:
    import pyarrow.csv
    import pyarrow.feather
    import pyarrow.parquet

    from sfumato.reading import arrow_files, parquet_files

    path = tmp_path / f"people.{suffix}"
    people = pa.table({"age": ["31"]})
    write = {
        "csv": pyarrow.csv.write_csv,
        "parquet": pyarrow.parquet.write_table,
        "feather": pyarrow.feather.write_feather,
    }
    write[suffix](people, str(path))

    def refuse(*_: object, **__: object) -> None:
        raise getattr(pa, fault)("malloc of size 99 failed")

    for reader in (arrow_files, parquet_files):
        monkeypatch.setattr(reader, "validated", refuse)
    monkeypatch.setattr(pyarrow.csv, "read_csv", refuse)
    with pytest.raises(DataError, match=rf"people\.{suffix} does not fit into the memory"):
        read_arrow(path)


@pytest.mark.parametrize("step", ["header", "records"])
def test_memory_that_ends_while_a_csv_file_is_read_in_parts_is_no_open_quote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    import pyarrow.csv

    from sfumato.reading.csv_files import CsvFile
    from sfumato.reading.dialect import UNSTATED

    path = tmp_path / "people.csv"
    path.write_text("age\n31\n")
    opened = CsvFile.opened(path, UNSTATED)

    def refuse(*_: object, **__: object) -> None:
        raise pa.ArrowMemoryError("malloc of size 99 failed")

    monkeypatch.setattr(pyarrow.csv, "open_csv", refuse)
    with pytest.raises(DataError, match=r"^people\.csv does not fit into the memory"):
        CsvFile.opened(path, UNSTATED) if step == "header" else list(opened.batches(["age"]))


def test_no_reader_is_left_in_the_middle_of_a_file(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # it reads ahead in a thread; one that still held our function when Python ended was a crash
    from pyarrow import csv as arrow_csv

    sources: list[object] = []
    opened = arrow_csv.open_csv

    def noted(source: object, **options: object) -> object:
        sources.append(source)
        return opened(source, **options)

    monkeypatch.setattr(arrow_csv, "open_csv", noted)
    with pytest.raises(DataError, match="row 3 has 3 fields"):
        read_arrow(write("a,b\n1,2\n1,2,3\n" + "1,2\n" * 9))
    assert sources
    assert all(isinstance(source, pa.BufferReader) for source in sources)
