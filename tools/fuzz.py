"""Throw mutated files, questions and formulas at every reader for some minutes; only sfumato's own errors may
come out, in one line.

Run by `make fuzz MINUTES=10`, or alone: `python -m tools.fuzz --minutes 1 csv formula`. Two ways share the
time. Drawn: Hypothesis draws the mutations (signs flipped, cut, repeated, spliced with a second seed, hostile
pieces put in) and shrinks what fails. Guided: atheris, where it is installed, prefers inputs that reach new
branches of the modules that read, and keeps them in build/fuzz for the next run.

Every reader has a process of its own, so that one that crashes or hangs is seen, too. An input that fails is
kept in tests/fuzz/, where tests/test_fuzz.py replays it.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import resource
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from tools.fuzzed import KEPT, PIECES, TARGETS, attempt

MOST_MEMORY = 6 << 30
"""Bytes of address space that a process may take."""
MOST_FAULTS = 5
"""After so many a reader is left alone until it is mended."""
CORPUS = KEPT.parent.parent / "build" / "fuzz"
WATCHED = [
    f"sfumato.{name}"
    for name in (
        *("runtime.files", "runtime.numerals", "reading", "data", "registry.recipe", "workflow.project"),
        *("workflow.choose.question", "measures.scenarios", "workflow.external", "results.label_parsing"),
        *("results.released_column", "results.pareto", "verification", "workflow.publish"),
    )
]
"""The modules whose branches guide; none holds a kernel, which could not be compiled then."""
_BATCH = 200
_PATIENCE = 300
"""Seconds beside the time that is given, for importing, compiling and the last input on a busy machine."""


class Tally:
    """How many inputs were tried, how many failed, and the last one, in a file that outlives a crash."""

    _numbers = struct.Struct("QQQ")

    def __init__(self, path: Path) -> None:
        self.tried = self.failed = 0
        self._file = os.open(path, os.O_RDWR | os.O_CREAT)

    def note(self, written: bytes) -> None:
        self.tried += 1
        os.pwrite(self._file, self._numbers.pack(self.tried, self.failed, len(written)) + written, 0)

    def fail(self, target: str, error: Exception, written: bytes) -> None:
        self.failed += 1
        os.pwrite(self._file, self._numbers.pack(self.tried, self.failed, len(written)) + written, 0)
        print(
            f"{target}: {type(error).__name__}: {str(error)[:200]}; kept as {keep(target, written)}",
            flush=True,
        )

    @classmethod
    def read(cls, path: Path) -> tuple[int, int, bytes]:
        content = path.read_bytes()
        if not content:
            return 0, 0, b""
        tried, failed, length = cls._numbers.unpack_from(content)
        return tried, failed, content[cls._numbers.size :][:length]


def keep(target: str, written: bytes) -> str:
    """Write an input to where the tests find it."""
    KEPT.mkdir(exist_ok=True)
    place = KEPT / f"{target}-{hashlib.sha256(written).hexdigest()[:12]}"
    place.write_bytes(written)
    return place.name


def warm(target: str) -> list[bytes]:
    """Return the seeds, each read once, so that no input is slow because something is compiled for it."""
    from sfumato.runtime.errors import SfumatoError

    seeds = TARGETS[target][1]()
    for each in seeds:
        with suppress(SfumatoError):
            TARGETS[target][0](each)
    return seeds


# The drawn way


@st.composite
def _mutated(draw: st.DrawFn, seeds: list[bytes]) -> bytes:
    """Draw a seed and change it in up to six places; every change keeps most of the structure."""
    content = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.integers(0, 40)))
        piece = draw(
            st.one_of(
                st.sampled_from(PIECES),
                st.binary(max_size=8),
                st.just(b""),
                st.just(content[start:end] * draw(st.sampled_from([2, 3, 50]))),
                st.just(draw(st.sampled_from(seeds))[start : start + 30]),
            )
        )
        content = content[:start] + piece + content[end:]
    return content[: draw(st.one_of(st.just(len(content)), st.integers(0, len(content))))]


def drawn(target: str, seconds: float, tally: Tally) -> None:
    """Try inputs that Hypothesis draws for so long, or until too many failed."""
    seeds = warm(target)
    smallest = b""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends and tally.failed < MOST_FAULTS:

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
            nonlocal smallest
            tally.note(written)
            try:
                attempt(target, written)
            except Exception:
                smallest = written
                raise

        try:
            one()
        except Exception as error:
            tally.fail(target, error, smallest)


# The guided way


def unwatched() -> list[str]:
    """Return the names of sfumato's modules that do not read."""
    package = importlib.util.find_spec("sfumato")
    assert package is not None
    assert package.origin is not None
    root = Path(package.origin).parent
    parts = [("sfumato", *path.relative_to(root).with_suffix("").parts) for path in root.rglob("*.py")]
    names = [".".join(part).removesuffix(".__init__") for part in parts]
    return [name for name in names if not f"{name}.".startswith(tuple(f"{each}." for each in WATCHED))]


def guided(target: str, seconds: float, tally: Tally) -> None:
    """Try inputs that atheris finds for so long, and end the process; faults at one place count once."""
    import atheris

    # atheris looks at whole packages, and can leave out single modules
    with atheris.instrument_imports(include=["sfumato"], exclude=unwatched()):
        seeds = warm(target)
    corpus = CORPUS / target
    corpus.mkdir(parents=True, exist_ok=True)
    for each in seeds:
        Path(corpus, hashlib.sha1(each).hexdigest()).write_bytes(each)
    places = set()

    def one(written: bytes) -> None:
        tally.note(written)
        try:
            attempt(target, written)
        except Exception as error:
            place = [(type(error), *frame[:2]) for frame in traceback.extract_tb(error.__traceback__)][-1]
            if place not in places:
                places.add(place)
                tally.fail(target, error, written)

    with tempfile.TemporaryDirectory() as folder:
        words = Path(folder, "words")
        words.write_text("".join(f'"{_escaped(piece)}"\n' for piece in PIECES if len(piece) < 64))
        options = {
            "max_total_time": max(1, round(seconds)),
            "max_len": 1 << 16,
            "rss_limit_mb": MOST_MEMORY >> 20,
            "timeout": _PATIENCE,  # of what `attempt` cannot end
            "dict": words,
            "artifact_prefix": f"{folder}/",
        }
        flags = [f"-{name}={value}" for name, value in options.items()]
        atheris.Setup([sys.argv[0], *flags, str(corpus)], one)
        atheris.Fuzz()


def _escaped(piece: bytes) -> str:
    return "".join(f"\\x{sign:02x}" for sign in piece)


WAYS = {"drawn": drawn, "guided": guided}


# One process after the other


def apart(way: str, target: str, seconds: float) -> dict[str, object]:
    """Fuzz a reader for so long in a process of its own; where one crashes or hangs, the next begins."""
    tried = failed = 0
    before, begins = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    while failed < MOST_FAULTS and (left := begins + seconds - time.monotonic()) > 1:
        with tempfile.TemporaryDirectory() as folder:
            path, said = Path(folder, "tally"), Path(folder, "said")
            Tally(path)
            asked = [target, "--way", way, "--minutes", str(left / 60), "--tally", str(path)]
            with said.open("wb") as stream:
                try:
                    ended = subprocess.run(
                        [sys.executable, "-m", "tools.fuzz", *asked],
                        stderr=stream,
                        timeout=left + _PATIENCE,
                    ).returncode
                except subprocess.TimeoutExpired:
                    ended = None
            counts = Tally.read(path)
            tried += counts[0]
            failed += counts[1]
            if ended != 0:
                failed += 1
                fault = "hung" if ended is None else f"ended with {ended}"
                after = f"kept as {keep(target, counts[2])}" if counts[0] else "before the first input"
                print(f"{target}: {fault}; {after}\n{said.read_text('utf-8', 'replace')[-2000:]}", flush=True)
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = now.ru_utime + now.ru_stime - before.ru_utime - before.ru_stime
    wall = time.monotonic() - begins
    found = {"way": way, "target": target, "tried": tried, "failed": failed}
    return {**found, "seconds": round(wall, 1), "cpu_seconds": round(spent, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "targets", nargs="*", metavar="target", help=f"of {', '.join(TARGETS)}; all by default"
    )
    parser.add_argument("--minutes", type=float, default=10.0, help="for all targets and ways together")
    parser.add_argument("--way", choices=WAYS, help="one way alone; both by default")
    parser.add_argument("--tally", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    unknown = sorted(set(asked.targets) - set(TARGETS))
    if unknown:
        parser.error(f"no target {unknown[0]}; there are {', '.join(TARGETS)}")
    if asked.tally:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        WAYS[asked.way](asked.targets[0], 60 * asked.minutes, Tally(asked.tally))
        return
    ways = [asked.way] if asked.way else list(WAYS)
    if "guided" in ways and importlib.util.find_spec("atheris") is None:
        print("atheris is not installed, so nothing is guided by branches; pip install atheris")
        ways = ["drawn"]
    targets = asked.targets or list(TARGETS)
    any_failed = False
    for way in ways:
        for target in targets:
            found = apart(way, target, 60 * asked.minutes / len(targets) / len(ways))
            print(json.dumps(found), flush=True)
            any_failed |= found["failed"] != 0
    sys.exit(any_failed)


if __name__ == "__main__":
    main()
