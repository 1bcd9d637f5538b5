"""Borders: what intervals on a grid cost, and what they no longer tell, beside tight ones.

    python benchmarks/borders.py [--k 2,5,10,50] [--table FILE --quasi-identifiers a,b,c --sensitive s]

Without a table it is Adult with the six quasi-identifiers of Li & Li. Every line is one release: method,
k, borders, seconds of CPU, what is lost and told, right guesses by place in the interval and if all places
were alike (of the attribute that tells most), how many people downcoding places on one value, which share of
the combinations of values it rules out, and how many values an adversary recovers who knows the distribution:
without and with the recipe, and the attribute that tells most.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from sfumato import Attribute, Schema, Table, measure, sanitize
from sfumato.models import KAnonymity
from sfumato.reading import datasets
from sfumato.reading.read_table import read
from sfumato.sanitizers import Clustering, LocalRecoding, Mondrian

MEASURES = ("general-loss", "utility-loss", "query-error", "border-gain", "downcoding", "downcoding-gain")
TOLD = ("by place / evenly", "exactly", "ruled out", "recovered")


def main() -> None:
    """Print one line for each release."""
    asked = _arguments()
    table, schema = _table(asked)
    print("| method | k | borders | CPU s | " + " | ".join(MEASURES) + f" | {' | '.join(TOLD)} |")
    print("|---|---|---|---|" + "---|" * (len(MEASURES) + len(TOLD)))
    for k in map(int, asked.k.split(",")):
        for method in (Mondrian, LocalRecoding, Clustering):
            for borders in ("tight", "grid"):
                print(_line(table, schema, method, k, borders), flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--k", default="2,5,10,50")
    parser.add_argument("--table")
    parser.add_argument("--quasi-identifiers", default="")
    parser.add_argument("--sensitive", default="")
    return parser.parse_args()


def _table(asked: argparse.Namespace) -> tuple[Table, Schema]:
    if not asked.table:
        return datasets.adult()
    names = asked.quasi_identifiers.split(",")
    attributes = [Attribute(name, "quasi-identifying") for name in names]
    schema = Schema((*attributes, Attribute(asked.sensitive, "sensitive")))
    return read(asked.table).select((*names, asked.sensitive)), schema


def _line(table: Table, schema: Schema, method: Any, k: int, borders: str) -> str:
    started = time.process_time()
    release = sanitize(table, schema, method(KAnonymity(k), borders=borders), seed=1)
    seconds = time.process_time() - started
    taken = measure(release, MEASURES)
    ends, placed, recovered = (each.detail for each in taken[3:])
    figures = " | ".join(f"{each.value:.4f}" for each in taken)
    guesses = f"{ends['right-guesses-by-place']:.3f} / {ends['right-guesses-evenly']:.3f}"
    return (
        f"| {method.__name__} | {k} | {borders} | {seconds:.1f} | {figures} | {guesses} "
        f"| {placed['exactly']:.3f} | {placed['ruled-out']:.3f} | {taken[5].baseline or 0:.3f} to "
        f"{recovered.get('recovered', 0):.3f} of {recovered.get('attribute', 'nothing')} |"
    )


if __name__ == "__main__":
    main()
