"""MST: CPU seconds and losses on Adult, beside OpenDP's own where its extra is installed.

    python benchmarks/mst.py [--opendp PYTHON]

sfumato's `mst` draws from the 45,222 complete records of Adult with six quasi-identifiers and occupation.
With ``--opendp`` the MST of OpenDP (`pip install "opendp[mbi]"`, the Python of that environment) makes a
file of the same columns of the same records with the rho of the same epsilon and delta, ages cut into
five years (and drawn evenly within them, as ours are) and all values told beforehand; both are judged by the
same measures. Epsilon = 2.42 has rho = 0.125. OpenDP's "round" is how it ships, "sample" draws every record
by itself. It needs pandas beside its extra, which does not name it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.csv

from sfumato import Release, measure, read_release, sanitize
from sfumato.reading import datasets
from sfumato.sanitizers import MST
from sfumato.sanitizers.synthesize.noisy_counts import rho_of

EPSILONS = (2.42, 1.0, 0.3)
DELTA = 1e-6
MEASURES = ("utility-loss", "query-error", "k-marginal")
PEER = """
import random, sys, time
import polars as pl
import opendp.prelude as dp

dp.enable_features("contrib")
source, target, rho, method = sys.argv[1:]
frame = pl.read_csv(source).with_columns((pl.col("age") // 5 * 5).cast(pl.String))
began = time.process_time()
context = dp.Context.compositor(
    data=frame.lazy(), privacy_unit=dp.unit_of(contributions=1),
    privacy_loss=dp.loss_of(rho=float(rho)), split_evenly_over=1,
)
keys = {name: sorted(set(frame[name])) for name in frame.columns}
table = context.query().contingency_table(keys=keys, algorithm=dp.mbi.MST()).release()
made = table.synthesize(rows=frame.height, method=method)
print(time.process_time() - began)
ages = [None if low is None else int(low) + random.randrange(5) for low in made["age"]]
made.with_columns(pl.Series("age", ages)).write_csv(target)
"""


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--opendp", type=Path)
    given = parser.parse_args(arguments)
    table, schema = datasets.adult()
    sanitize(table, schema, MST())  # imports
    head = f"{'':<24} {'epsilon':>8} {'CPU s':>8} {'utility-loss':>13} {'query-error':>12} {'k-marginal':>11}"
    print(head, flush=True)
    for epsilon in EPSILONS:
        began = time.process_time()
        release = sanitize(table, schema, MST(epsilon, DELTA))
        print(line("sfumato", epsilon, time.process_time() - began, release), flush=True)
        for method in ("sample", "round") if given.opendp else ():
            print(peer(given.opendp, epsilon, method), flush=True)


def peer(python: Path, epsilon: float, method: str) -> str:
    """Let OpenDP make a file, and judge it as made-up records."""
    table, schema = datasets.adult()
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "adult.csv"), Path(folder, "made.csv")
        pyarrow.csv.write_csv(table.to_arrow().select(list(schema.released)), source)
        command = [str(python), "-c", PEER, str(source), str(target), str(rho_of(epsilon, DELTA)), method]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return f"{'OpenDP ' + method:<24} {epsilon:>8g} {done.stderr.strip().splitlines()[-1]}"
        release = read_release(target, table, schema, release_type="synthetic")
        return line(f"OpenDP {method}", epsilon, float(done.stdout.split()[-1]), release)


def line(who: str, epsilon: float, seconds: float, release: Release) -> str:
    losses = [taken.value for taken in measure(release, MEASURES)]
    return f"{who:<24} {epsilon:>8g} {seconds:>8.2f} {losses[0]:>13.4f} {losses[1]:>12.3f} {losses[2]:>11.0f}"


if __name__ == "__main__":
    main(sys.argv[1:])
