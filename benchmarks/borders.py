"""Borders: what intervals on a grid cost, and what they no longer reveal, compared with tight ones.

    python benchmarks/borders.py [--only adult,loans] [--k 5,11,25] [--methods mondrian,local-recoding]
                                 [--most-steps 4] [--fewest-values 3] [--cache FOLDER]

Ten tables: Adult, which is embedded, and nine out of packages of PyPI. Every line is one release: table,
method, k, borders, seconds of CPU, general loss, query error, border gain (mean of the attributes), and the
share of the people whom an attacker who knows the method places on one exact value. The last lines give, for
each method and k, the median over the tables of what the grid adds. `--most-steps 2 --fewest-values 0` is the
coarsest grid, `10` and `0` the finest.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import public_tables

from sfumato import Attribute, Schema, Table, measure, sanitize
from sfumato.data.kinds import NUMERIC
from sfumato.models import KAnonymity
from sfumato.reading import datasets
from sfumato.reading.read_table import read
from sfumato.sanitizers import Clustering, LocalRecoding, Mondrian
from sfumato.sanitizers.generalize import interval_bounds

TABLES = {
    "adult": ("", ""),
    "rand-hie": ("xage female black educdec income site", "mhi"),
    "gss-wages": ("year age gender maritalcat educcat childs", "realrinc"),
    "nafld": ("age male weight height futime", "status"),
    "wages": ("year age maritl race education jobclass", "wage"),
    "loans": ("state homeownership annual_income emp_length earliest_credit_line", "loan_amount"),
    "attrition": ("Age Gender MaritalStatus JobRole DistanceFromHome TotalWorkingYears", "MonthlyIncome"),
    "actg-175": ("age wtkg race gender homo drugs", "cd40"),
    "stroke": ("gender age ever_married work_type Residence_type bmi", "stroke"),
    "diabetes": ("age sex bmi bp", "progression"),
}
"""The quasi-identifiers and the sensitive attribute of each."""

METHODS = {"mondrian": Mondrian, "local-recoding": LocalRecoding, "clustering": Clustering}
MEASURES = ("general-loss", "query-error", "border-gain", "downcoding")
_FEW_NUMBERS = 12
"""A column with no more different numbers than this holds codes."""


def main() -> None:
    """Print one line for each release, and what the grid adds."""
    options = _options()
    interval_bounds._MOST_STEPS = options.most_steps
    interval_bounds._FEWEST_VALUES = options.fewest_values
    added: dict[tuple[str, int], list[list[float]]] = {}
    print("| table | records | method | k | borders | CPU s | " + " | ".join(MEASURES[:3]) + " | exactly |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    place = nullcontext(options.cache) if options.cache else tempfile.TemporaryDirectory()
    with place as cache:
        for name in options.only.split(",") if options.only else TABLES:
            table, schema = _table(name, Path(cache))
            for method, k in itertools.product(options.methods.split(","), map(int, options.k.split(","))):
                tight, grid = (
                    _figures(table, schema, METHODS[method](KAnonymity(k), borders=borders))
                    for borders in ("tight", "grid")
                )
                for borders, (seconds, *figures) in (("tight", tight), ("grid", grid)):
                    start = f"| {name} | {table.n_records:,} | {method} | {k} | {borders} | {seconds:.1f} |"
                    print(start, " | ".join(f"{figure:.4f}" for figure in figures), "|", flush=True)
                added.setdefault((method, k), []).append(
                    [grid[1] / tight[1] - 1, grid[2] / tight[2] - 1, tight[3], grid[3], tight[4], grid[4]]
                )
    for (method, k), rows in added.items():
        loss, error, *rest = (statistics.median(column) for column in zip(*rows, strict=True))
        told = "border gain {:.3f} to {:.3f}, exactly {:.1%} to {:.1%}".format(*rest)
        print(f"{method}, k = {k}: general loss {loss:+.0%}, query error {error:+.0%}, {told}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--k", default="5,11,25")
    parser.add_argument("--methods", default="mondrian,local-recoding")
    parser.add_argument("--most-steps", type=int, default=interval_bounds._MOST_STEPS)
    parser.add_argument("--fewest-values", type=int, default=interval_bounds._FEWEST_VALUES)
    parser.add_argument("--cache")
    return parser.parse_args()


def _table(name: str, cache: Path) -> tuple[Table, Schema]:
    if name == "adult":
        return datasets.adult()
    public = next(table for table in public_tables.TABLES if table.name == name)
    quasi_identifiers, sensitive = TABLES[name]
    names = [*quasi_identifiers.split(), sensitive]
    table = read(public_tables.fetched(public, cache)).select(names)
    kinds = {column: _kind(table, column) for column in names}
    attributes = [Attribute(column, "quasi-identifying", kinds[column]) for column in names[:-1]]
    return table, Schema((*attributes, Attribute(sensitive, "sensitive", kinds[sensitive])))


def _kind(table: Table, name: str) -> str:
    values = [value for value in table[name].domain if value is not None]
    are_numbers = all(NUMERIC.position(value) is not None for value in values)
    return "numeric" if are_numbers and len(values) > _FEW_NUMBERS else "categorical"


def _figures(table: Table, schema: Schema, method: Any) -> list[float]:
    started = time.process_time()
    release = sanitize(table, schema, method, seed=1)
    seconds = time.process_time() - started
    loss, error, gain, placed = measure(release, MEASURES)
    figures = (loss.value, error.value, gain.detail.get("mean"), placed.detail["exactly"])
    return [seconds, *(float(figure or 0) for figure in figures)]


if __name__ == "__main__":
    main()
