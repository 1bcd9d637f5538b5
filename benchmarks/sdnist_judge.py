"""SDNist as a judge: the k-marginal score of the same files by both programs.

    python benchmarks/sdnist_judge.py [--environment FOLDER] [--json FILE]

Two parts of Adult have no record in common. One is the original; released are the other one, made-up
records of which every value is drawn by itself, and a sample. SDNist compares all pairs of attributes and,
where a column is called PUMA, all triples with it; here that is the sex. It needs older packages than
sfumato: it is installed by name into an environment of its own (by default one that is removed afterwards),
and reads the files that are written here. With ``--json`` what SDNist found is written to a file;
``tests/vectors/sdnist.json`` was made so.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from sfumato import Attribute, Schema, Table, measure, read_release
from sfumato.measures import KMarginal
from sfumato.reading import datasets
from sfumato.reading.read_table import read

VERSION = "2.4"
NAMES = ("age", "education", "marital-status", "occupation")
RECORDS = 5_000
GROUP = "PUMA"
RELEASES = ("other-part", "independent", "sample")
BINS = 100
"""More than there are ages: SDNist takes values as they come."""

THEIRS = """
import json, sys
import pandas as pd
import sdnist.report.score.utility  # first: the modules import each other
from sdnist.metrics.kmarginal import KMarginal
folder, releases, group = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
read = lambda name: pd.read_csv(f"{folder}/{name}.csv", dtype=str)
original, found = read("original"), {}
for name in releases:
    release = read(name)
    pairs = KMarginal(original.drop(columns=group), release.drop(columns=group))
    triples = KMarginal(original, release, [group])
    found[f"{name} pairs"] = float(pairs.compute_score())
    found[f"{name} triples"] = float(triples.compute_score())
print(json.dumps(found))
"""


def write_files(folder: Path) -> None:
    """Write the original and the releases."""
    table, _ = datasets.adult("train")
    records = table.to_arrow().select([*NAMES, "sex"]).rename_columns([*NAMES, GROUP])
    ages = pc.multiply(
        pc.divide(records["age"], 5), 5
    )  # five years each, so that both parts have all of them
    records = records.set_column(0, "age", ages)
    rng = np.random.default_rng(0)
    original, other = np.split(rng.permutation(records.num_rows)[: 2 * RECORDS], 2)
    drawn = {name: records[name].take(rng.choice(original, len(original))) for name in records.column_names}
    files = {
        "original": records.take(original),
        "other-part": records.take(other),
        "independent": pa.table(drawn),
        "sample": records.take(original[:1_000]),
    }
    for name, made in files.items():
        pyarrow.csv.write_csv(made, folder / f"{name}.csv")


def ours(folder: Path) -> dict[str, float]:
    """Return sfumato's scores: of all pairs, and the mean of all triples with the group in them."""
    original = read(folder / "original.csv")
    found = {}
    for name in RELEASES:
        triples = [(GROUP, *pair) for pair in itertools.combinations(NAMES, 2)]
        found[f"{name} pairs"] = _score(folder, name, original, NAMES, 2)
        found[f"{name} triples"] = float(
            np.mean([_score(folder, name, original, each, 3) for each in triples])
        )
    return found


def _score(folder: Path, name: str, original: Table, names: tuple[str, ...], together: int) -> float:
    schema = Schema(
        tuple(
            Attribute(
                each,
                "quasi-identifying" if each in names else "identifying",
                "numeric" if each == "age" else "categorical",
            )
            for each in (*NAMES, GROUP)
        )
    )
    release = read_release(folder / f"{name}.csv", original, schema, release_type="synthetic")
    (taken,) = measure(release, [KMarginal(together, bins=BINS)])
    assert taken.value is not None
    return taken.value


def theirs(folder: Path, environment: Path) -> dict[str, float]:
    """Return what SDNist says of the same files."""
    python = environment / "bin" / "python"
    if not python.exists():
        venv.create(environment, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", f"sdnist=={VERSION}"], check=True)
    asked = [str(python), "-c", THEIRS, str(folder), json.dumps(RELEASES), GROUP]
    said = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
    found: dict[str, float] = json.loads(said.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--environment", type=Path, help="where SDNist is, or is to be, installed")
    parser.add_argument("--json", type=Path, help="where to write what SDNist found")
    given = parser.parse_args()
    if given.json is not None:  # not only after all the work
        given.json.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))
        own = ours(Path(folder))
        found = theirs(Path(folder), given.environment or Path(folder) / "environment")
    sys.stdout.write(f"| release, marginals | sfumato | SDNist {VERSION} |\n|---|---|---|\n")
    for name, score in own.items():
        sys.stdout.write(f"| {name} | {score:.4f} | {found[name]:.4f} |\n")
    if given.json is not None:
        about = f"SDNist {VERSION}, by benchmarks/sdnist_judge.py: k-marginal scores"
        given.json.write_text(json.dumps({"about": about, "found": found}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
