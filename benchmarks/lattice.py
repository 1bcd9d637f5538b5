"""Full-domain search on Adult, in CPU seconds: the profile of the lattice, the optimum, and 18 attributes.

    python benchmarks/lattice.py            all of it
    python benchmarks/lattice.py --quick    without the lattice of 168 million nodes

On ARX's own copy of Adult (30,162 records, in tests/vectors). ARX's figures are CPU seconds of ARX 3.9.2
(Java, one thread, warm), measured on another day: they show the order of magnitude, not more.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sfumato import Hierarchy, Schema, Table
from sfumato.data.schema import Attribute
from sfumato.data.table import Column, compacted
from sfumato.models import KAnonymity, TCloseness
from sfumato.reading.read_table import read
from sfumato.searches.lattice.optimum import Optimum, optimal_node
from sfumato.searches.lattice.profile import profile

FILES = Path(__file__).parents[1] / "tests" / "vectors" / "arx-adult"
NINE = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")
ARX_OPTIMUM = {0.0: "0.05", 0.02: "0.90", 0.1: "1.1", 1.0: "2.9"}
ARX_18 = "its optimal search throws above 100,000 nodes; its heuristics report no bound"

Bound = tuple[Table, Schema]


def main() -> None:
    nine = adult()
    eight = with_sensitive(nine, "occupation")
    warm_up(eight)
    print(f"{'':52}{'CPU s':>9}{'ARX':>8}")
    report_profiles(nine, eight)
    report_optima(nine, eight)
    if "--quick" not in sys.argv:
        report_eighteen(doubled(nine))


def adult() -> Bound:
    """Return Adult with nine quasi-identifiers."""
    names = (*NINE, "salary-class")
    hierarchies = {name: Hierarchy.read(FILES / f"adult_hierarchy_{name}.csv") for name in names}
    schema = Schema(
        tuple(Attribute(name, "quasi-identifying", "categorical", hierarchies[name]) for name in names)
    )
    return schema.bind(read(FILES / "adult.csv.gz", separator=";"))


def with_sensitive(bound: Bound, sensitive: str) -> Bound:
    table, schema = bound
    roles = [
        Attribute(a.name, "sensitive" if a.name == sensitive else a.role, a.kind, a.hierarchy)
        for a in schema.attributes
    ]
    return Schema(tuple(roles)).bind(table)


def records_of(table: Table) -> tuple[dict[str, Column], int]:
    """Return the columns with one row for each record."""
    rows = np.repeat(np.arange(table.n_rows), table.weights)
    return {name: table[name].take(rows) for name in table.names}, len(rows)


def with_random_values(bound: Bound) -> Bound:
    """Add a sensitive attribute of 14 values that depends on nothing."""
    columns, n_records = records_of(bound[0])
    rng = np.random.default_rng(1)
    shares = rng.dirichlet(np.full(14, 3.0))
    codes = rng.choice(14, n_records, p=shares).astype(np.int32)
    columns["random"] = Column(codes, tuple("abcdefghijklmn"))
    schema = Schema((*bound[1].attributes, Attribute("random", "sensitive")))
    return schema.bind(compacted(columns, np.ones(n_records, dtype=np.int64)))


def doubled(bound: Bound) -> Bound:
    """Add a shuffled copy of every attribute: 18 of them, and the lattice's size squared."""
    columns, n_records = records_of(bound[0])
    rng = np.random.default_rng(0)
    shuffled = {
        f"{name}-2": Column(rng.permutation(column.codes), column.domain, column.kind)
        for name, column in columns.items()
    }
    copies = [Attribute(f"{a.name}-2", a.role, a.kind, a.hierarchy) for a in bound[1].attributes]
    table = compacted({**columns, **shuffled}, np.ones(n_records, dtype=np.int64))
    return Schema((*bound[1].attributes, *copies)).bind(table)


def warm_up(bound: Bound) -> None:
    """Compile what is measured afterwards."""
    profile(*bound)
    for objective in ("total-loss", "discernibility"):
        optimal_node(
            *bound, KAnonymity(5) & TCloseness(0.5), suppression=0.1, objective=objective, evaluations=5
        )


def seconds(work: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """Return the median CPU time of some work, and its result."""
    taken, result = [], None
    for _ in range(repeats):
        began = time.process_time()
        result = work()
        taken.append(time.process_time() - began)
    return statistics.median(taken), result


def line(what: str, cpu: float, arx: str = "", more: str = "") -> None:
    print(f"{what:52}{cpu:9.3f}{arx:>8}  {more}", flush=True)


def report_profiles(nine: Bound, eight: Bound) -> None:
    for what, bound in (
        ("profile, 8 attributes, occupation sensitive", eight),
        ("profile, 9 attributes, 14 random values sensitive", with_random_values(nine)),
        ("profile, 9 attributes, nothing sensitive", nine),
    ):
        cpu, whole = seconds(partial(profile, *bound))
        front = whole.pareto(["k-anonymity", "general-loss"])
        line(what, cpu, more=f"{len(whole.levels):,} nodes, {len(front)} on the front of k and general loss")


def report_optima(nine: Bound, eight: Bound) -> None:
    for suppression, arx in ARX_OPTIMUM.items():
        cpu, found = seconds(partial(optimal_node, *nine, KAnonymity(5), suppression=suppression))
        line(
            f"optimum, 9 attributes, k = 5, {suppression:.0%} suppression",
            cpu,
            arx if FILES.exists() else "",
            told(found),
        )
    model = KAnonymity(5) & TCloseness(0.2)
    cpu, found = seconds(partial(optimal_node, *eight, model, suppression=0.1), 1)
    line("optimum, 8 attributes, k = 5 and t = 0.2, 10%", cpu, more=told(found))


def report_eighteen(bound: Bound) -> None:
    print(f"18 attributes (ARX: {ARX_18}):")
    for suppression in (0.0, 0.1):
        for budget in (2.0, 10.0, 60.0):
            work = partial(optimal_node, *bound, KAnonymity(5), suppression=suppression, budget=budget)
            cpu, found = seconds(work, 1)
            line(f"  k = 5, {suppression:.0%} suppression, {budget:.0f} s of time", cpu, more=told(found))
            if found.exact:
                break


def told(found: Optimum) -> str:
    proof = "proven" if found.exact else f"no better than {found.bound:.4f} exists"
    return f"{found.score:.4f} ({proof}), {found.n_evaluated:,} of {found.n_nodes:,} nodes"


if __name__ == "__main__":
    main()
