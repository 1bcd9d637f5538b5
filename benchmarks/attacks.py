"""Attacks: what each gets of releases of Adult, and what that costs.

    python benchmarks/attacks.py

30,162 records, eight quasi-identifiers, occupation sensitive, 1,000 targets. Compiled kernels are warm; the
CPU of miners in their own process counts.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from sfumato import measure, sanitize
from sfumato.measures import Measurement
from sfumato.models import KAnonymity
from sfumato.reading import datasets
from sfumato.runtime.caching import forget
from sfumato.sanitizers import Anatomy, AsIs, Laplace, Mondrian, Sanitizer, SuppressQuasiIdentifiers

NAMES = ("singling-out", "linkability", "inference", "membership")
QUASI_IDENTIFIERS = (
    *("age", "workclass", "education", "marital-status"),
    *("race", "sex", "hours-per-week", "native-country"),
)
TRIED: dict[str, Callable[[], Sanitizer]] = {
    "as-is": AsIs,
    "anatomy l=3": Anatomy,
    "laplace epsilon=1": Laplace,
    "mondrian k=5": lambda: Mondrian(KAnonymity(5)),
    "mondrian k=50": lambda: Mondrian(KAnonymity(50)),
    "suppress-quasi-identifiers": SuppressQuasiIdentifiers,
}


def cpu_seconds() -> float:
    """Return the CPU of this process and of all that it started, living ones too."""
    own = time.process_time()
    ticks = 0
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            facts = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += int(facts[11]) + int(facts[12]) if facts[1] == str(_own_id()) else 0
    return own + ticks / 100


def _own_id() -> int:
    import os

    return os.getpid()


def told(found: Measurement, seconds: float) -> str:
    if found.value is None or found.interval is None:
        return f"- ({seconds:.1f} s)"
    low, high = found.interval
    return f"{found.value:.3f} ({low:.3f} to {high:.3f}), {seconds:.1f} s"


def main() -> None:
    table, schema = datasets.adult("train", quasi_identifiers=QUASI_IDENTIFIERS)
    measure(sanitize(*datasets.hospital(), AsIs()), NAMES)
    sys.stdout.write(f"| release | {' | '.join(NAMES)} |\n|---{'|---' * len(NAMES)}|\n")
    for name, make in TRIED.items():
        release = sanitize(table, schema, make(), seed=0)
        forget()
        cells = []
        for attack in NAMES:
            began = cpu_seconds()
            found = measure(release, [attack])[0]
            cells.append(told(found, cpu_seconds() - began))
        sys.stdout.write(f"| {name} | {' | '.join(cells)} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
