"""AIM beside MST: CPU seconds, losses and attack risk of both at the same epsilon and delta, on Adult.

    .venv/aim/bin/python benchmarks/aim.py [--epsilon 1] [--degree 2] [--rounds 10]

`make aim` makes that environment, with OpenDP's extra mbi. Both draw from the 30,162 complete records of
Adult's first file, six quasi-identifiers and occupation. The control group of the attacks are the 15,060
people of its second file, so that no release is made anew. Every round of AIM says what it counted.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.csv

from sfumato import measure, sanitize
from sfumato.reading import datasets
from sfumato.sanitizers import AIM, MST

LOSSES = ("utility-loss", {"query-error": {"seed": 1}}, "k-marginal")
HEAD = "| method | epsilon | CPU s | utility loss | query error | k-marginal | attack risk | the worst |"


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--degree", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=10)
    given = parser.parse_args(arguments)
    print(HEAD + "\n" + "|---" * 8 + "|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        others = Path(folder, "others.csv")
        n_first = datasets.adult_records("train").num_rows  # the records are in the order of the source
        pyarrow.csv.write_csv(datasets.adult_records().slice(n_first), others)
        print(line("mst", MST(given.epsilon), others), flush=True)
        watch_rounds()
        how = AIM(given.epsilon, degree=given.degree, rounds=given.rounds)
        print(line(f"aim, degree {given.degree}", how, others), flush=True)


def line(who: str, how: MST | AIM, others: Path) -> str:
    """Make a release and judge it; the seconds are those of making it."""
    table, schema = datasets.adult("train")
    began = time.process_time()
    release = sanitize(table, schema, how)
    seconds = time.process_time() - began
    loss, error, score = (taken.value or 0.0 for taken in measure(release, LOSSES))
    (risk,) = measure(release, [{"attack-risk": {"control": str(others)}}])
    low, high = risk.interval or (0.0, 0.0)
    return (
        f"| {who} | {how.epsilon:g} | {seconds:.1f} | {loss:.5f} | {error:.1%} | {score:.0f} | "
        f"{risk.value or 0:.3f} ({low:.3f} to {high:.3f}) | {risk.detail.get('worst')} |"
    )


def watch_rounds() -> None:
    """Let OpenDP's fitting say what it fits to."""
    from opendp.extras.mbi import _utilities

    plain = _utilities.Marginals.add

    def told(self: object, *measured: object) -> object:
        for each in measured:
            sys.stderr.write(f"{time.process_time():.0f} s: counted {getattr(each, 'clique', '')}\n")
        return plain(self, *measured)

    _utilities.Marginals.add = told


if __name__ == "__main__":
    main(sys.argv[1:])
