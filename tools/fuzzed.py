"""The readers that are fuzzed, their first inputs, and what may come out: sfumato's own errors, in one line.

`tools.fuzz` gives them mutated inputs, tests/test_fuzz.py those that once failed. Nothing of sfumato is
imported before it is needed, so that what watches its branches can be there first.
"""

from __future__ import annotations

import io
import re
import signal
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

KEPT = Path(__file__).parent.parent / "tests" / "fuzz"
SLOWEST = 20
"""Seconds of a processor that one input may take."""

_CSV = b'age,sex,"ill"\n31,f,flu\n42,m,"a, b"\n57,f,\n31,m,"x\ny"\n'
_PROJECT = b"""[data]
path = "people.csv"
missing-values = ["?"]
[attributes.age]
role = "quasi-identifying"
kind = "numeric"
hierarchy = { intervals = [5, 10] }
[attributes.sex]
role = "quasi-identifying"
hierarchy = { tree = { any = ["f", "m"] } }
[attributes.ill]
role = "sensitive"
[scenarios.old]
user = { target = "ill", weights = "if(age > 55, 10, 1)" }
adversary = { attributes = ["ill"], c = 0.5 }
[[candidates]]
sanitizer = "mondrian"
model = { k-anonymity = { k = [2, 3] } }
[measure]
privacy = ["privacy-loss", { t-closeness = { distance = "js" } }]
utility = ["total-loss"]
[policy]
recipient = "contract"
reidentification-risk = { at-most = 0.09 }
"""
_DATES = b"""[data]
path = "people.csv"
separator = ","
missing = "drop"
[population]
size = 1000
[attributes.day]
role = "quasi-identifying"
hierarchy = { dates = ["month", "year"], format = "%Y-%m-%d" }
[attributes.zip]
role = "quasi-identifying"
kind = "categorical"
hierarchy = { prefixes = [3, 1] }
[attributes.ill]
role = "sensitive"
[[candidates]]
sanitizer = "full-domain"
levels = [{ day = 1, zip = 1 }]
[publication]
title = "people"
"""
_DATES_CSV = b"day,zip,ill\n2024-01-31,01067,flu\n2023-12-01,80331,none\n"
PIECES = [
    *(
        b"\0",
        b'"',
        b"'",
        b"\r",
        b"\n",
        b",",
        b";",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\xff",
        b"\x7f",
        b"\x1b[2J",
    ),
    *(b"nan", b"inf", b"-1e400", b"9" * 5000, b"99999999999999999999", b"1e-320", b"((((", b"[[[[", b"{}"),
    *(b"%", b"%Y", b"*", b"{a, b}", b"[1, 2)", b"\xe2\x80\xae", b"\xed\xa0\x80", b"=1+1", b"<script>", b"__"),
    *(b"<", b"/>", b"&#0;", b"&#x110000;", b"-1", b"A0", b"XFD1048576", b"ZZZZZZZZ1", b"1048576", b"--- "),
]
"""What has broken readers before, there or elsewhere."""


@contextmanager
def _within(seconds: int) -> Iterator[None]:
    """Raise an error when something takes too long; waiting for a busy machine does not count."""

    def end(*_: object) -> None:
        raise TimeoutError(f"took more than {seconds} s")

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


# What reads an input


def _file(suffix: str) -> Callable[[bytes], None]:
    def read(written: bytes) -> None:
        from sfumato import inspect

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"people{suffix}")
            path.write_bytes(written)
            inspect(path)

    return read


def _workbook(suffix: str) -> Callable[[bytes], None]:
    """Read a workbook, or the members of one, each after a line with its name.

    What is packed hardly reaches the parser once a byte of it is changed.
    """
    read = _file(suffix)
    return lambda written: read(written if written.startswith(b"PK") else _zipped(written))


def _zipped(written: bytes) -> bytes:
    _, *parts = re.split(rb"^--- (.*)\n", written, flags=re.MULTILINE)
    sink = io.BytesIO()
    with (
        warnings.catch_warnings(action="ignore"),
        zipfile.ZipFile(sink, "w") as packed,
    ):  # of names given twice
        for name, content in zip(parts[::2], parts[1::2], strict=True):
            info = zipfile.ZipInfo(name.decode("utf-8", "replace")[:99] or "-")
            packed.writestr(info, content.removesuffix(b"\n"))
    return sink.getvalue()


def _hierarchy(written: bytes) -> None:
    from sfumato.data.hierarchy import Hierarchy
    from sfumato.data.kinds import CATEGORICAL

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "hierarchy.csv")
        path.write_bytes(written)
        found = Hierarchy.read(path)
        found.build(found.values, CATEGORICAL)


def _project(written: bytes) -> None:
    from sfumato.workflow.project.project_file import Project

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "people.csv").write_bytes(_DATES_CSV if b"day" in written else _CSV)
        path = Path(folder, "people.toml")
        path.write_bytes(written)
        Project.load(path).read()


def _question(written: bytes) -> None:
    from sfumato.workflow.choose.question import parse

    str(parse(written.decode("utf-8", "surrogateescape")))


def _formula(written: bytes) -> None:
    from sfumato import Table
    from sfumato.measures.scenarios.expressions import Expression

    table = Table.from_arrow({"age": [31, 60, None], "sex": ["f", "m", None]})
    Expression(written.decode("utf-8", "surrogateescape")).evaluate(table.columns)


def _released(written: bytes) -> None:
    """Read the cells of a release that any program made."""
    from sfumato import Attribute, Schema, Table
    from sfumato.workflow.external import read_release

    original = Table.from_arrow({"age": [31, 42, 57, 31], "sex": ["f", "m", "f", "m"]})
    schema = Schema((Attribute("age", "quasi-identifying", "numeric"), Attribute("sex", "quasi-identifying")))
    cells = written.decode("utf-8", "replace").split("\n")
    values = [cells[place % len(cells)] for place in range(8)]
    read_release({"age": values[:4], "sex": values[4:]}, original, schema)


def _manifest(written: bytes) -> None:
    from sfumato import verify

    with tempfile.TemporaryDirectory() as folder:
        for name, content in _published().items():
            Path(folder, name).write_bytes(content)
        Path(folder, "manifest.json").write_bytes(written)
        list(verify(folder))


_PUBLISHED: dict[str, bytes] = {}


def _published() -> dict[str, bytes]:
    """Return the files of a folder that `publish` wrote."""
    if not _PUBLISHED:
        import sfumato as sf
        from sfumato.reading import datasets

        table, schema = datasets.hospital()
        release = sf.sanitize(table, schema, sf.Recipe("suppress-quasi-identifiers"))
        with tempfile.TemporaryDirectory() as folder:
            sf.publish(release, Path(folder, "out"), policy="none", allow_singling_out=True)
            _PUBLISHED.update({file.name: file.read_bytes() for file in Path(folder, "out").iterdir()})
    return _PUBLISHED


# The seeds


def _table() -> Any:
    import pyarrow as pa

    return pa.table(
        {"age": [31, 42, 57, None], "sex": ["f", "m", None, "m"], "x": [1.5, float("nan"), 2.0, 3.0]}
    )


def _typed_table() -> Any:
    """Return a table with a column of every type that a file can hold and a reader must think about."""
    import datetime
    from decimal import Decimal

    import pyarrow as pa

    table = {
        "day": pa.array([datetime.date(2024, 1, 31), None]),
        "at": pa.array([datetime.datetime(2024, 1, 31, 8, 15), None], pa.timestamp("ns", "UTC")),
        "time": pa.array([datetime.time(8, 15), None]),
        "paid": pa.array([Decimal("1.50"), None]),
        "well": pa.array([True, None]),
        "sex": pa.array(["f", None]).dictionary_encode(),
    }
    return pa.table(table)


def _parquet_seeds() -> list[bytes]:
    import pyarrow.parquet as pq

    plain = {"compression": "none", "use_dictionary": False, "store_schema": False}
    seeds = []
    for table, options in (
        (_table(), {}),
        (_table(), plain),
        (_table(), {**plain, "data_page_version": "2.0", "write_statistics": False}),
        (_table(), {"compression": "zstd"}),
        (_typed_table(), {"compression": "none"}),
    ):
        sink = io.BytesIO()
        pq.write_table(table, sink, **options)
        seeds.append(sink.getvalue())
    return seeds


def _feather_seeds() -> list[bytes]:
    import pyarrow as pa
    from pyarrow import feather

    seeds = []
    for table, compression in (
        (_table(), "lz4"),
        (_table(), "uncompressed"),
        (_typed_table(), "uncompressed"),
    ):
        sink = io.BytesIO()
        feather.write_feather(table, sink, compression=compression)
        seeds.append(sink.getvalue())
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, _table().schema) as writer:
        writer.write_table(_table())
    return [*seeds, stream.getvalue()]


_LABELS = {"column_labels": {"age": "Age in years"}, "variable_value_labels": {"sex": {1: "f", 2: "m"}}}
_STATISTICS: dict[str, tuple[str, dict[str, Any]]] = {
    "sav": ("write_sav", _LABELS),
    "por": ("write_por", {}),
    "dta": ("write_dta", _LABELS),
    "xpt": ("write_xport", {}),
}
"""What writes a file of SPSS, Stata or SAS, and with which labels."""


def _statistics_seeds(name: str) -> list[bytes]:
    """Write files with texts, numbers and missing values, one of them with a day and without compression."""
    import datetime

    import pandas as pd
    import pyreadstat

    writer, labels = _STATISTICS[name]
    people: dict[str, Any] = {"age": [31.0, 42.0, None], "sex": [1.0, 2.0, 1.0], "ill": ["flu", "", "a, b"]}
    days = [datetime.date(2024, 1, 31), None, datetime.date(2023, 2, 1)]
    packed = {"row_compress": True} if name == "sav" else {}
    found = []
    for columns, options in ((people, packed), ({**people, "day": days}, {})):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"people.{name}")
            getattr(pyreadstat, writer)(pd.DataFrame(columns), str(path), **labels, **options)
            found.append(path.read_bytes())
    return found


def _gzip_seeds() -> list[bytes]:
    import gzip

    return [gzip.compress(_CSV, mtime=0), gzip.compress(b"a;b\n1;2\n", mtime=0)]


def _workbook_seeds(name: str) -> Callable[[], list[bytes]]:
    def seeds() -> list[bytes]:
        members = (KEPT / "seeds" / name).read_bytes()
        placeless = re.sub(rb' r="\w+"', b"", members)  # the cells of a sheet need not say where they are
        return list(dict.fromkeys((members, placeless, _zipped(members))))

    return seeds


Target = tuple[Callable[[bytes], None], Callable[[], list[bytes]]]
TARGETS: dict[str, Target] = {
    "csv": (
        _file(".csv"),
        lambda: [_CSV, _CSV.decode().encode("utf-16"), b"a;b\n1;2\n2024-01-31;x\n", b"a\n1\n"],
    ),
    "gzip": (_file(".csv.gz"), _gzip_seeds),
    "parquet": (_file(".parquet"), _parquet_seeds),
    "feather": (_file(".feather"), _feather_seeds),
    "xlsx": (_workbook(".xlsx"), _workbook_seeds("xlsx")),
    "xls": (_file(".xls"), lambda: [(KEPT / "seeds" / "xls").read_bytes()]),
    "ods": (_workbook(".ods"), _workbook_seeds("ods")),
    **{name: (_file(f".{name}"), partial(_statistics_seeds, name)) for name in _STATISTICS},
    "hierarchy": (_hierarchy, lambda: [b"a;A;*\nb;A;*\nc;C;*\n", b'1;"[1, 5)";*\n7;"[5, 9)";*\n', b"x\ny\n"]),
    "project": (_project, lambda: [_PROJECT, _DATES]),
    "question": (
        _question,
        lambda: [
            b"max k where loss <= 25% and suppression <= 10%",
            b"best privacy loss, min t distance=js where k=5",
        ],
    ),
    "formula": (
        _formula,
        lambda: [
            b'if(sex = "f" and age > 55, 10, 1)',
            b"max(age, 2) * -3 / abs(age - 1) + 1e3",
            b"not sex in ('f')",
        ],
    ),
    "released": (
        _released,
        lambda: [
            b"[20, 40)\n[40, 60)\n*\n31\nf\n{f, m}\n*\nm",
            b"20-40\n>=40\n57\n<40\nf\nm\nf\nm",
            b"3*\n[42, 42]\n31 - 60\n{31, 42}\n*\n*\n*\n*",
        ],
    ),
    "manifest": (_manifest, lambda: [_published()["manifest.json"]]),
}


def attempt(target: str, written: bytes) -> None:
    """Give an input to a reader; whatever is no error of sfumato's own, in one line, comes out of here."""
    from sfumato.runtime.errors import SfumatoError

    with _within(SLOWEST):
        try:
            TARGETS[target][0](written)
        except SfumatoError:
            pass
        except (Exception, KeyboardInterrupt):
            raise
        except BaseException as panic:  # so libraries in Rust panic, and Hypothesis would not shrink it
            raise RuntimeError(f"{type(panic).__name__}: {panic}") from None
