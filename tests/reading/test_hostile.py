"""Hostile files: read or refused in one line, with the right exit code, no value shown and nothing left."""

from __future__ import annotations

import gzip
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import sfumato as sf
from sfumato.data.hierarchy import Dates, Hierarchy
from sfumato.data.kinds import CATEGORICAL
from sfumato.interfaces.cli import run
from sfumato.measures.scenarios.expressions import Expression
from sfumato.runtime.errors import DataError, HierarchyError, ParameterError, UserError
from sfumato.runtime.files import file_beside
from sfumato.workflow.choose.question import parse

MARKER = "SECRETVALUE"
ROWS = "".join(f"{i % 50},{'mf'[i % 2]},{MARKER}{'abc'[i % 3]}\n" for i in range(200))
TABLE = "age,sex,ill\n" + ROWS


def column(name: str, values: list[str]) -> str:
    """Two columns, the second full of markers."""
    return f"{name},ill\n" + "".join(f"{value},{MARKER}\n" for value in values)


CSV: dict[str, str | bytes] = {
    "scripts": "<script>alert(1)</script>,\"=cmd|' /C calc'!A0\",ill\n" + ROWS,
    "formulas": "age,sex,ill\n" + f"=1+1,@SUM(A1),+{MARKER}\n" * 30,
    "nul": TABLE + f"1,\0,{MARKER}\n",
    "nul-in-a-name": f"a\0b,c\n1,{MARKER}\n",
    "a-cell-of-10-MB": f"age,ill\n1,{MARKER}{'x' * 10_000_000}\n2,b\n",
    "cells-of-3-MB": "age,ill\n" + "".join(f"{i},{MARKER}{'x' * 3_000_000}\n" for i in range(3)),
    "1000-columns": ",".join(f"c{i}" for i in range(1000)) + "\n" + (",".join(["1"] * 1000) + "\n") * 5,
    "mixed-encodings": TABLE.encode() + "1,é,x\n".encode("latin-1") + "1,é,x\n".encode(),
    "utf-16": b"\xff\xfe" + TABLE.encode("utf-16-le"),
    "utf-16-be": b"\xfe\xff" + TABLE.encode("utf-16-be"),
    "utf-16-cut": b"\xff\xfe" + TABLE.encode("utf-16-le")[:-1],
    "utf-16-no-mark": TABLE.encode("utf-16-le"),
    "utf-32": TABLE.encode("utf-32"),
    "utf-32-be": b"\0\0\xfe\xff" + TABLE.encode("utf-32-be"),
    "utf-8-mark": b"\xef\xbb\xbf" + TABLE.encode(),
    "utf-8-mark-twice": b"\xef\xbb\xbf\xef\xbb\xbf" + TABLE.encode(),
    "only-a-mark": b"\xef\xbb\xbf",
    "only-a-mark-16": b"\xff\xfe",
    "line-breaks": 'age,"a\nb",ill\n' + "".join(f'{i % 5},"x\ny\r\n{i % 3}",{MARKER}\n' for i in range(60)),
    "beyond-64-bits": column("age", [str(10**30 + i % 7) for i in range(60)]),
    "5000-digits": column("age", ["9" * 5000] * 5 + ["1"]),
    "no-numbers": column("age", ["nan", "inf", "-inf", "1e400", "1e-400", "0x10", "1_0", "٣", "½", ""] * 5),
    "no-dates": column("day", ["2024-02-30", "0000-00-00", "9999-12-31", "1-1-1", "31/02/2024"] * 5),
    "last-dates": column("day", [f"99{i:02}-12-31" for i in range(99)]),
    "carriage-returns": TABLE.replace("\n", "\r"),
    "empty": "",
    "blank": "\n\n\n",
    "open-quote": f'a,b\n"1,{MARKER}\n',
    "twice": "a,a\n1,2\n",
    "nameless": ",b\n1,2\n",
    "ragged": f"a,b\n1,{MARKER},3\n",
    "separators": ";,|\t\n" * 5,
    "a-long-name": "a" * 100_000 + ",b\n1,2\n",
    "bytes": bytes(range(256)) * 50,
    "stars": 'age,ill\n*,x\n*,y\n"{1, 2}",x\n"[1, 2)",missing\n',
}
GZIP = {
    "not-gzip": TABLE.encode(),
    "cut": gzip.compress(TABLE.encode())[:-20],
    "wrong-sum": gzip.compress(TABLE.encode())[:-8] + b"12345678",
    "garbage-behind": gzip.compress(TABLE.encode()) + b"garbage",
    "twice-packed": gzip.compress(gzip.compress(TABLE.encode())),
    "nothing": b"",
    "packed-nothing": gzip.compress(b""),
}
TYPED: dict[str, Callable[[], pa.Table]] = {
    "infinite": lambda: pa.table({"a": [float("inf"), float("nan"), 1.0], "b": [MARKER] * 3}),
    "nested": lambda: pa.table({"a": [[1], [2]], "b": [MARKER] * 2}),
    "bytes": lambda: pa.table({"a": [b"\xff\xfe", b"a"], "b": [1, 2]}),
    "decimals": lambda: pa.table({"a": pa.array([10**30, 1], pa.decimal128(38, 0)), "b": [1, 2]}),
    "unsigned": lambda: pa.table({"a": pa.array([2**64 - 1, 1], pa.uint64()), "b": [1, 2]}),
    "far-times": lambda: pa.table({"a": pa.array([2**62, -(2**62)], pa.timestamp("us")), "b": [1, 2]}),
    "no-such-zone": lambda: pa.table(
        {"a": pa.array([1, 2], pa.timestamp("us", "Mars/Olympus")), "b": [1, 2]}
    ),
    "far-days": lambda: pa.table({"a": pa.array([2**31 - 1, -(2**31)], pa.date32()), "b": [1, 2]}),
    "durations": lambda: pa.table({"a": pa.array([1, 2], pa.duration("us")), "b": [1, 2]}),
    "signs-in-names": lambda: pa.table({"a\x7f\x1b[2J": [1, 2], "b\0": [1, 2]}),
    "no-name": lambda: pa.table({"": [1, 2], "b": [1, 2]}),
    "nul": lambda: pa.table({"a": ["\0" + MARKER, "x"], "b": [1, 2]}),
    "nothing-known": lambda: pa.table({"a": pa.nulls(3), "b": [1, 2, 3]}),
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A folder to work in, with a sound project."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sound.csv").write_text("age,sex,ill\n" + ROWS)
    assert run(["new", "sound.csv"]) == 0
    capsys.readouterr()
    return tmp_path


def outcome(capsys: pytest.CaptureFixture[str], place: Path, *arguments: str) -> int:
    """Run a command: it prints one line at most, after a warning, and no value. A failure leaves nothing."""
    before = set(place.rglob("*"))
    code = run(list(arguments))
    said = capsys.readouterr()
    assert code in (0, 1, 2), said.err
    assert said.err.count("\n") <= 1 + said.err.count(" is written in more than one encoding: "), said.err
    assert MARKER not in said.err
    assert "Traceback" not in said.err
    assert not set(said.out + said.err) & set("\x7f\x1b\x9b\x00\u202e")
    if code:
        assert said.err.startswith("sfumato: ")
        assert set(place.rglob("*")) == before
    return code


def try_all(capsys: pytest.CaptureFixture[str], place: Path, name: str) -> None:
    if outcome(capsys, place, "new", name, "-o", "made.toml") == 0:
        assert outcome(capsys, place, "inspect", "made.toml") == 0
    outcome(capsys, place, "measure", name, "-P", "sound.toml", "--measure", "k-anonymity")


@pytest.mark.filterwarnings("default::sfumato.reading.mixed_writing.MixedWriting")
@pytest.mark.parametrize("name", CSV)
def test_csv_files(name: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = CSV[name]
    (place / f"{name}.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    try_all(capsys, place, f"{name}.csv")


@pytest.mark.parametrize("name", GZIP)
def test_gzip_files(name: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / f"{name}.csv.gz").write_bytes(GZIP[name])
    try_all(capsys, place, f"{name}.csv.gz")


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
@pytest.mark.parametrize("name", TYPED)
def test_typed_files(name: str, suffix: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write = pq.write_table if suffix == "parquet" else feather.write_feather
    write(TYPED[name](), str(place / f"{name}.{suffix}"))
    try_all(capsys, place, f"{name}.{suffix}")


@pytest.mark.parametrize("suffix", ["parquet", "feather", "arrow"])
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PAR1PAR1",
        b"PAR1\xff\xff\xff\x7fPAR1",
        b"ARROW1\0\0ARROW1",
        b"\xff" * 7 + b"\x7f",
        b"a,b\n1,2\n",
    ],
)
def test_files_that_are_not_what_they_say(
    suffix: str, content: bytes, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / f"x.{suffix}").write_bytes(content)
    assert outcome(capsys, place, "inspect", f"x.{suffix}") == 1


@pytest.mark.parametrize("suffix", ["xlsx", "xls", "json"])
def test_formats_that_are_not_read(suffix: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / f"x.{suffix}").write_bytes(b"PK\x03\x04")
    assert outcome(capsys, place, "inspect", f"x.{suffix}") == 1


# What is no plain file

ODD: dict[str, str | Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "zero": "/dev/zero",
    "random": "/dev/random",
    "mem": "/proc/self/mem",
    # calls itself empty, as /proc/kmsg does, which gives messages of the kernel without end
    "status": "/proc/self/status",
    "kmsg": "/proc/kmsg",
    "folder": os.mkdir,
}


@pytest.fixture(params=ODD)
def odd(request: pytest.FixtureRequest) -> Callable[[Path], None]:
    """Make a pipe, a folder, or a link to what never ends or cannot be read."""
    made = ODD[request.param]
    return lambda path: path.symlink_to(made) if isinstance(made, str) else made(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
class TestWhatIsNoPlainFile:
    @pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet", "feather"])
    def test_as_data(self, suffix: str, odd: Callable[[Path], None], place: Path, capsys) -> None:
        odd(place / f"x.{suffix}")
        assert outcome(capsys, place, "new", f"x.{suffix}") == 1
        assert outcome(capsys, place, "measure", f"x.{suffix}", "-P", "sound.toml") in (1, 2)
        with pytest.raises(DataError):
            sf.read(place / f"x.{suffix}")

    def test_as_the_data_of_a_project(self, odd: Callable[[Path], None], place: Path, capsys) -> None:
        odd(place / "x.csv")
        written = (place / "sound.toml").read_text().replace("sound.csv", "x.csv")
        (place / "bad.toml").write_text(written)
        assert outcome(capsys, place, "explore", "bad.toml") == 1

    def test_as_a_project_file(self, odd: Callable[[Path], None], place: Path, capsys) -> None:
        odd(place / "x.toml")
        assert outcome(capsys, place, "inspect", "x.toml") == 1
        assert outcome(capsys, place, "explore", "x.toml") == 1
        assert outcome(capsys, place, "measure", "sound.csv", "--measure", "k-anonymity") == 0

    def test_as_a_hierarchy(self, odd: Callable[[Path], None], place: Path) -> None:
        odd(place / "x.csv")
        with pytest.raises(HierarchyError):
            Hierarchy.read(place / "x.csv")

    def test_as_a_population(self, odd: Callable[[Path], None], place: Path) -> None:
        odd(place / "x.csv")
        table, schema = sf.datasets.hospital()
        release = sf.sanitize(table, schema, sf.Recipe("as-is"))
        with pytest.raises(DataError):
            sf.measure(release, [{"journalist-risk": {"population": str(place / "x.csv")}}])

    def test_as_a_key(self, odd: Callable[[Path], None], place: Path, capsys) -> None:
        odd(place / "x.pem")
        assert outcome(capsys, place, "verify", "nowhere", "--key", "x.pem") == 1

    def test_as_guesses_or_answers(self, odd: Callable[[Path], None], place: Path, capsys) -> None:
        odd(place / "x")
        (place / "answers.json").write_text('{"answers": []}')
        for folder, guesses, answers in ((place, "x", "answers.json"), (place, "sound.csv", "x")):
            assert outcome(capsys, place, "score", str(folder), guesses, answers) in (1, 2)
        odd(place / "commitments.csv")
        assert outcome(capsys, place, "score", ".", "sound.csv", "answers.json") in (1, 2)

    def test_as_a_leftover(self, place: Path) -> None:
        """Of a run that was killed, as anybody may name it who can write to the folder."""
        os.mkfifo(place / ".target-0123abcd")
        with file_beside(place / "target") as beside:
            beside.write_text("written")
        assert (place / "target").read_text() == "written"


# What is no path

NO_PATHS = ["", ".", "..", "/", "a" * 300, "a" * 300 + ".csv", "a\0b.csv", "\udc80.csv", "x\x7f\x1b.csv"]


@pytest.mark.parametrize(
    "command",
    ["new", "inspect", "explore", "frontier", "measure", "verify", "show", "publish x", "ask max -P"],
)
def test_paths_that_are_none(command: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for given in NO_PATHS:
        assert outcome(capsys, place, *command.split(), given), given


def test_a_name_that_is_too_long_for_a_new_file(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(capsys, place, "new", "sound.csv", "-o", "a" * 300 + ".toml") == 1


def test_a_path_with_nul_in_a_project_file(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = (place / "sound.toml").read_text()
    (place / "bad.toml").write_text(written.replace('"sound.csv"', '"a\\u0000b.csv"'))
    assert outcome(capsys, place, "explore", "bad.toml") == 1


def test_nothing_is_written_to_a_path_with_nul(place: Path) -> None:
    with pytest.raises(UserError, match="NUL"), file_beside(place / "a\0b"):
        pass


# What grows


def test_a_gzip_bomb_is_refused(place: Path, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    monkeypatch.setattr("sfumato.reading.dialect._SMALL", 1 << 16)
    (place / "bomb.csv.gz").write_bytes(gzip.compress(b"age,ill\n" + b"1,2\n" * 1_000_000))
    run(["inspect", "bomb.csv.gz"])
    assert "more than 200 times its size" in capsys.readouterr().err


def test_a_parquet_bomb_is_refused_before_it_is_unpacked(place: Path) -> None:
    rows = pa.table({"a": np.zeros(5_000_000, dtype=np.int64)})
    with pq.ParquetWriter(place / "bomb.parquet", rows.schema) as writer:
        for _ in range(20):
            writer.write_table(rows)
    with pytest.raises(DataError, match="more than 200 times its size"):
        sf.read(place / "bomb.parquet")


def test_a_feather_bomb_is_refused(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.reading.dialect._SMALL", 1 << 16)
    rows = pa.table({"a": np.zeros(5_000_000, dtype=np.int64)})
    feather.write_feather(rows, str(place / "bomb.feather"), compression="zstd")
    with pytest.raises(DataError, match="more than 200 times its size"):
        sf.read(place / "bomb.feather")


def test_texts_that_one_arrow_array_could_not_hold() -> None:
    """300 records with one text of 10 MB in a dictionary are 3 GB when they are written out."""
    texts = pa.array(["x" * 10_000_000, "y"])
    records = pa.DictionaryArray.from_arrays(pa.array([0] * 300 + [1, None]), texts)
    table = sf.read(pa.table({"a": records}))
    assert [len(str(value or "")) for value in table["a"].domain] == [10_000_000, 1, 0]
    assert sorted(table.weights) == [1, 1, 300]


def test_a_long_text_that_many_records_of_a_parquet_file_share(place: Path) -> None:
    texts = pa.array(["x" * 10_000_000, "y"])
    records = pa.DictionaryArray.from_arrays(pa.array([0] * 300 + [1]), texts)
    pq.write_table(pa.table({"a": records}), place / "long.parquet", store_schema=False)
    assert sf.read(place / "long.parquet").n_rows == 2


def test_a_dictionary_gives_the_same_table_as_its_values() -> None:
    rng = random.Random(3)
    values = [rng.choice(["b", "a", None, "c"]) for _ in range(50)]
    plain = pa.chunked_array([values[:20], values[20:]], pa.string())
    unused = pa.DictionaryArray.from_arrays(
        pa.array([None if v is None else "zcab".index(v) for v in values]), pa.array(list("zcab"))
    )
    expected = sf.read(pa.table({"x": plain}))
    for encoded in (plain.dictionary_encode(), pa.chunked_array([unused[:20], unused[20:]])):
        found = sf.read(pa.table({"x": encoded}))
        assert found["x"].domain == expected["x"].domain
        assert found["x"].codes.tolist() == expected["x"].codes.tolist()


# Hierarchies, dates, project files, questions, formulas


@pytest.mark.parametrize(
    "format_", ["%Y" * 50, "%Y%Y", "%", "(", "%Q", "a" * 1_000_000, "%Y-%m-%d" + " " * 9_999]
)
def test_date_formats_that_nobody_could_mean(format_: str) -> None:
    with pytest.raises(HierarchyError) as refused:
        Dates(format=format_).build(("2024-01-31", MARKER), CATEGORICAL)
    assert MARKER not in str(refused.value)
    assert len(str(refused.value)) < 400


def test_a_hierarchy_of_a_thousand_levels_and_one_of_many_values(place: Path) -> None:
    deep = place / "deep.csv"
    levels = ";".join(f"l{level}" for level in range(1, 1001))
    deep.write_text("".join(f"v{i};{levels}\n" for i in range(5)))
    assert Hierarchy.read(deep).height == 1000
    wide = place / "wide.csv"
    wide.write_text("".join(f"v{i};g{i % 9};*\n" for i in range(100_000)))
    assert Hierarchy.read(wide).n_leaves == 100_000


HOSTILE_TOML = {
    "deep-lists": "x = " + "[" * 100_000,
    "deep-tables": "[" + ".".join("a" * 50_000) + "]",
    "deep-inline": "x = " + "{a=" * 5_000 + "1" + "}" * 5_000,
    "many-keys": "".join(f"k{i} = {i}\n" for i in range(50_000)),
    "huge-number": "x = " + "9" * 10_000,
    "control": "x = '\x01'",
    "bytes": "x = '\udcff'",
    "deep-tree": '[data]\npath="a"\n[attributes.a]\nrole="sensitive"\nhierarchy={tree='
    + "{a=" * 900
    + "[]"
    + "}" * 901,
}


@pytest.mark.parametrize("name", HOSTILE_TOML)
def test_project_files(name: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "bad.toml").write_bytes(HOSTILE_TOML[name].encode("utf-8", "surrogateescape"))
    assert outcome(capsys, place, "explore", "bad.toml") == 1


@pytest.mark.parametrize("reader", [parse, Expression])
@pytest.mark.parametrize("sign", ["(", "k >= 1 and ", "9", "k=1 ", "max k where "])
def test_questions_and_formulas_of_100000_signs(sign: str, reader: Callable[[str], object]) -> None:
    with pytest.raises(ParameterError) as refused:
        reader(sign * (100_000 // len(sign)))
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize("reader", [parse, Expression])
@pytest.mark.parametrize("text", ["(" * 1_900, "not " * 450, "9" * 1_900, "-" * 1_900, "k=1 " * 450])
def test_questions_and_formulas_that_are_deep(text: str, reader: Callable[[str], object]) -> None:
    with pytest.raises(ParameterError):
        reader(text)


# The terminal


@pytest.mark.parametrize("arguments", [["x.csv"], ["x.csv", "--json"], ["größe.csv"]])
def test_an_ascii_terminal_gets_no_traceback(arguments: list[str], place: Path) -> None:
    (place / "x.csv").write_text("größe ≤ ∞\x7f\x1b[31m,b\n" + "1,é\n2,é\n" * 9, encoding="utf-8")
    ascii_only = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "sfumato", "inspect", *arguments],
        env={**os.environ, **ascii_only},
        capture_output=True,
    )
    assert b"Traceback" not in done.stderr
    assert done.returncode == (1 if "größe.csv" in arguments else 0)
    assert not set(done.stdout + done.stderr) & {0x1B, 0x7F}
