"""Reproduction: wall and CPU seconds of `sfumato reproduce all`, in an empty folder.

    python papers/benchmarks/reproduction.py [--quick] [--workers N]

The CPU seconds count the workers and the miners, which are processes of their own.
"""

from __future__ import annotations

import argparse
import itertools
import os
import tempfile
import time
from pathlib import Path

from sfumato_papers import PAPERS, reproduce
from sfumato_papers.exhibits import counted


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--workers", type=int)
    given = parser.parse_args()
    began, parts = time.monotonic(), []
    with tempfile.TemporaryDirectory() as folder:
        done = reproduce(
            PAPERS,
            Path(folder),
            quick=given.quick,
            workers=given.workers,
            begun=lambda words: parts.append((words, time.monotonic(), os.times())),
        )
    parts.append(("", time.monotonic(), os.times()))
    print(f"{'experiment':48} {'wall s':>8} {'CPU s':>8}")
    for (words, start, before), (_, end, after) in itertools.pairwise(parts):
        print(f"{words:48} {end - start:8.0f} {sum(after[:4]) - sum(before[:4]):8.0f}")
    print(f"{'all':48} {time.monotonic() - began:8.0f}")
    verdicts = counted(exhibit for exhibits in done.papers.values() for exhibit in exhibits)
    print(", ".join(f"{count} {verdict}" for verdict, count in verdicts.items()))


if __name__ == "__main__":
    main()
