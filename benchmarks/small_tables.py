"""Small tables: how much a release loses by the number of records and of quasi-identifiers.

    python benchmarks/small_tables.py [--k 11] [--cache FOLDER]

Draws records and quasi-identifiers at random from the ten tables of `borders.py`, and releases them by
mondrian with classes of at least k. Halvings are log2(records / k): how often such a table can be cut in two.
Every line has the halvings for each quasi-identifier, how many releases there were, the quartiles of their
general loss, and the share that loses more than half.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from contextlib import nullcontext
from pathlib import Path

import borders
import numpy as np

from sfumato import Schema, Table, measure, sanitize
from sfumato.models import KAnonymity
from sfumato.sanitizers import Mondrian

RECORDS = (30, 60, 120, 250, 500, 1_000, 2_000, 4_000, 8_000, 16_000)
BORDERS = (0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4, math.inf)


def main() -> None:
    """Print one line for each interval of halvings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--k", type=int, default=11)
    parser.add_argument("--cache")
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    losses: dict[float, list[float]] = {}
    place = nullcontext(options.cache) if options.cache else tempfile.TemporaryDirectory()
    with place as cache:
        for name in borders.TABLES:
            table, schema = borders._table(name, Path(cache))
            for n_records in RECORDS:
                for n_names in range(1, len(schema.quasi_identifiers) + 1):
                    if table.n_records >= n_records >= 2 * options.k:
                        halvings = math.log2(n_records / options.k) / n_names
                        loss = _loss(table, schema, n_records, n_names, options.k, rng)
                        losses.setdefault(np.searchsorted(BORDERS, halvings, "right"), []).append(loss)
    print("| halvings for each quasi-identifier | releases | general loss: quartiles | lose more than half |")
    print("|---|---|---|---|")
    for place, found in sorted(losses.items()):
        low, high = BORDERS[place - 1], BORDERS[place]
        quartiles = " / ".join(f"{part:.2f}" for part in np.quantile(found, (0.25, 0.5, 0.75)))
        share = np.mean(np.array(found) > 0.5)
        print(f"| {low:g} to {high:g} | {len(found)} | {quartiles} | {share:.0%} |")


def _loss(
    table: Table, schema: Schema, n_records: int, n_names: int, k: int, rng: np.random.Generator
) -> float:
    rows = rng.choice(table.n_rows, n_records, p=table.weights / table.n_records)
    names = rng.choice(schema.quasi_identifiers, n_names, replace=False).tolist()
    part = table.select((*names, *schema.sensitive)).to_arrow().take(rows)
    chosen = Schema(tuple(schema[name] for name in (*names, *schema.sensitive)))
    release = sanitize(Table.from_arrow(part), chosen, Mondrian(KAnonymity(k)), seed=1)
    return float(measure(release, ["general-loss"])[0].value or 0)


if __name__ == "__main__":
    main()
