"""Throw mutated files, questions and formulas at every reader for some minutes; only sfumato's own errors may
come out.

Run by `make fuzz MINUTES=10`, or alone: `python tools/fuzz.py --minutes 1 csv formula`. Hypothesis draws the
mutations (signs flipped, cut, repeated, spliced with a second seed, hostile pieces put in) and shrinks what
fails. An input that fails is kept in tests/fuzz/, where tests/test_fuzz.py replays it.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from sfumato.errors import SfumatoError

KEPT = Path(__file__).parent.parent / "tests" / "fuzz"
SLOWEST = 20
"""Seconds that one input may take."""
MOST_MEMORY = 6 << 30
"""Bytes of address space that the process may take."""
_BATCH = 200

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
hierarchy = { dates = ["year"], format = "%Y-%m-%d" }
[scenarios.old]
weight = "if(age > 55, 10, 1)"
[[try]]
sanitizer = "mondrian"
model = { k-anonymity = { k = [2, 3] } }
[measure]
privacy = ["privacy-loss", { t-closeness = { distance = "js" } }]
utility = ["total-loss"]
[policy]
reidentification-risk = { at-most = 0.09 }
"""
_PIECES = [
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
]


@contextmanager
def _within(seconds: int) -> Iterator[None]:
    """Raise an error when something takes too long."""

    def end(*_: object) -> None:
        raise TimeoutError(f"took more than {seconds} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


# What reads an input


def _file(suffix: str) -> Callable[[bytes], None]:
    def read(written: bytes) -> None:
        from sfumato import inspect

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"people{suffix}")
            path.write_bytes(written)
            inspect(path)

    return read


def _hierarchy(written: bytes) -> None:
    from sfumato.hierarchy import Hierarchy

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "hierarchy.csv")
        path.write_bytes(written)
        found = Hierarchy.read(path)
        found.build(found.values, "categorical")


def _project(written: bytes) -> None:
    from sfumato.project.file import Project

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "people.csv").write_bytes(_CSV)
        path = Path(folder, "people.toml")
        path.write_bytes(written)
        Project.load(path).read()


def _question(written: bytes) -> None:
    from sfumato.choosing.question import parse

    str(parse(written.decode("utf-8", "surrogateescape")))


def _formula(written: bytes) -> None:
    from sfumato import Table
    from sfumato.measures.scenario.expressions import Expression

    table = Table.from_arrow({"age": [31, 60, None], "sex": ["f", "m", None]})
    Expression(written.decode("utf-8", "surrogateescape")).evaluate(table.columns)


def _released(written: bytes) -> None:
    """Read the cells of a release that any program made."""
    from sfumato import Attribute, Schema, Table
    from sfumato.external import read_release

    original = Table.from_arrow({"age": [31, 42, 57, 31], "sex": ["f", "m", "f", "m"]})
    schema = Schema((Attribute("age", "quasi-identifying", "numeric"), Attribute("sex", "quasi-identifying")))
    cells = written.decode("utf-8", "replace").split("\n")
    values = [cells[place % len(cells)] for place in range(4)]
    read_release({"age": values, "sex": values[::-1]}, original, schema)


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
        from sfumato import datasets

        table, schema = datasets.hospital()
        release = sf.sanitize(table, schema, sf.Recipe("suppress-quasi-identifiers"))
        with tempfile.TemporaryDirectory() as folder:
            sf.publish(release, Path(folder, "out"))
            _PUBLISHED.update({file.name: file.read_bytes() for file in Path(folder, "out").iterdir()})
    return _PUBLISHED


# The seeds


def _table() -> Any:
    import pyarrow as pa

    return pa.table(
        {"age": [31, 42, 57, None], "sex": ["f", "m", None, "m"], "x": [1.5, float("nan"), 2.0, 3.0]}
    )


def _parquet_seeds() -> list[bytes]:
    import pyarrow.parquet as pq

    seeds = []
    for options in ({}, {"compression": "none", "use_dictionary": False}, {"compression": "zstd"}):
        sink = io.BytesIO()
        pq.write_table(_table(), sink, **options)
        seeds.append(sink.getvalue())
    return seeds


def _feather_seeds() -> list[bytes]:
    import pyarrow as pa
    from pyarrow import feather

    seeds = []
    for compression in ("lz4", "uncompressed"):
        sink = io.BytesIO()
        feather.write_feather(_table(), sink, compression=compression)
        seeds.append(sink.getvalue())
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, _table().schema) as writer:
        writer.write_table(_table())
    return [*seeds, stream.getvalue()]


def _gzip_seeds() -> list[bytes]:
    import gzip

    return [gzip.compress(_CSV, mtime=0), gzip.compress(b"a;b\n1;2\n", mtime=0)]


Target = tuple[Callable[[bytes], None], Callable[[], list[bytes]]]
TARGETS: dict[str, Target] = {
    "csv": (
        _file(".csv"),
        lambda: [_CSV, _CSV.decode().encode("utf-16"), b"a;b\n1;2\n2024-01-31;x\n", b"a\n1\n"],
    ),
    "gzip": (_file(".csv.gz"), _gzip_seeds),
    "parquet": (_file(".parquet"), _parquet_seeds),
    "feather": (_file(".feather"), _feather_seeds),
    "hierarchy": (_hierarchy, lambda: [b"a;A;*\nb;A;*\nc;C;*\n", b'1;"[1, 5)";*\n7;"[5, 9)";*\n', b"x\ny\n"]),
    "project": (_project, lambda: [_PROJECT]),
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
        lambda: [b"[20, 30)\n{f, m}\n*\n31", b"20-30\n>=50\nf\n<5", b"3*\n\n30.5\n[1, 2]"],
    ),
    "manifest": (_manifest, lambda: [_published()["manifest.json"]]),
}


# Mutations


@st.composite
def _mutated(draw: st.DrawFn, seeds: list[bytes]) -> bytes:
    """Draw a seed and change it in up to six places; every change keeps most of the structure."""
    content = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.integers(0, 40)))
        piece = draw(
            st.one_of(
                st.sampled_from(_PIECES),
                st.binary(max_size=8),
                st.just(b""),
                st.just(content[start:end] * draw(st.sampled_from([2, 3, 50]))),
                st.just(draw(st.sampled_from(seeds))[start : start + 30]),
            )
        )
        content = content[:start] + piece + content[end:]
    return content[: draw(st.one_of(st.just(len(content)), st.integers(0, len(content))))]


def attempt(target: str, written: bytes) -> None:
    """Give an input to a reader; whatever is not an error of sfumato's own comes out of here."""
    with _within(SLOWEST):
        try:
            TARGETS[target][0](written)
        except SfumatoError:
            return


def fuzz(target: str, seconds: float) -> tuple[int, int]:
    """Try inputs for so long; return how many were tried and how many failed."""
    seeds = TARGETS[target][1]()
    for each in seeds:  # what is imported and compiled for the first input is not slow for its sake
        with suppress(SfumatoError):
            TARGETS[target][0](each)
    tried = failed = 0
    smallest = b""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:

        @seed(time.monotonic_ns())
        @settings(
            max_examples=_BATCH,
            deadline=None,
            database=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            print_blob=False,
        )
        @given(_mutated(seeds))
        def one(written: bytes) -> None:
            nonlocal tried, smallest
            tried += 1
            try:
                attempt(target, written)
            except Exception:
                smallest = written
                raise

        try:
            one()
        except Exception as error:
            failed += 1
            print(f"{target}: {type(error).__name__}: {str(error)[:200]}; kept as {_kept(target, smallest)}")
            if failed >= 5:
                break
    return tried, failed


def _kept(target: str, written: bytes) -> str:
    KEPT.mkdir(exist_ok=True)
    place = KEPT / f"{target}-{hashlib.sha256(written).hexdigest()[:12]}"
    place.write_bytes(written)
    return place.name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "targets", nargs="*", metavar="target", help=f"of {', '.join(TARGETS)}; all by default"
    )
    parser.add_argument("--minutes", type=float, default=10.0, help="for all targets together")
    given_ = parser.parse_args()
    unknown = sorted(set(given_.targets) - set(TARGETS))
    if unknown:
        parser.error(f"no target {unknown[0]}; there are {', '.join(TARGETS)}")
    _limit_memory()
    targets = given_.targets or list(TARGETS)
    any_failed = False
    for target in targets:
        tried, failed = fuzz(target, 60 * given_.minutes / len(targets))
        print(json.dumps({"target": target, "tried": tried, "failed": failed}), flush=True)
        any_failed |= failed > 0
    sys.exit(any_failed)


def _limit_memory() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


if __name__ == "__main__":
    main()
