"""Anonymeter as a judge: the same attacks on the same files by both programs.

    python benchmarks/anonymeter_judge.py [--environment FOLDER] [--json FILE]

Adult is split in two halves without a record in common, the original and the control group. Two releases
are attacked: the original as it is, and one of made-up records, half of them copies of people and half drawn
value by value. Anonymeter needs an older NumPy than sfumato: it is installed by name into an environment of
its own (by default one that is removed afterwards), and reads the files that are written here. Told are both
programs' rates of success, risks and intervals. With ``--json`` what Anonymeter found is written to a file;
``tests/vectors/anonymeter.json`` was made so.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

import numpy as np

from sfumato import Attribute, Schema, Table, read_release
from sfumato.measures import Inference, Linkability, SinglingOut
from sfumato.measures.attacks.attack import Outcome
from sfumato.measures.attacks.attack_setting import setting_of
from sfumato.measures.attacks.record_distances import sight
from sfumato.reading import datasets
from sfumato.reading.read_table import read

VERSION = "1.1.0"
ONE = ("age", "workclass", "education", "marital-status")
OTHER = ("race", "sex", "hours-per-week", "native-country")
SECRET = "occupation"
RELEASES = ("as-is", "synthetic")
ATTACKS = 1000
NEIGHBOURS = 10
"""Of equally near records each program takes others; with several neighbours that matters less."""

THEIRS = """
import json, sys, warnings
import pandas as pd
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator
warnings.simplefilter("ignore")
import numpy as np
np.random.seed(0)
folder, facts = sys.argv[1], json.loads(sys.argv[2])
original, control = (pd.read_csv(f"{folder}/{name}.csv") for name in ("original", "control"))
n, found = facts["attacks"], {}
for name in facts["releases"]:
    release = pd.read_csv(f"{folder}/{name}.csv")
    files = {"ori": original, "syn": release, "control": control, "n_attacks": n}
    attacks = {
        "singling-out": SinglingOutEvaluator(**files, n_cols=3, seed=0),
        "linkability": LinkabilityEvaluator(
            **files, aux_cols=(facts["one"], facts["other"]), n_neighbors=facts["neighbours"]
        ),
        "inference": InferenceEvaluator(
            **files, aux_cols=facts["one"] + facts["other"], secret=facts["secret"]
        ),
    }
    for attack, evaluator in attacks.items():
        evaluator.evaluate(**({"mode": "multivariate"} if attack == "singling-out" else {"n_jobs": 1}))
        results = evaluator.results()
        risk = results.risk()
        found[f"{attack} {name}"] = {
            "attacked": results.attack_rate.value,
            "control": results.control_rate.value,
            "risk": risk.value,
            "interval": list(risk.ci),
        }
print(json.dumps(found))
"""


def write_files(folder: Path) -> None:
    """Write the original, the control group and both releases."""
    table, schema = datasets.adult("train", quasi_identifiers=(*ONE, *OTHER), sensitive=(SECRET,))
    records = table.to_arrow().group_by(list(schema.released)).aggregate([])
    rng = np.random.default_rng(0)
    columns = {name: np.array(records[name].to_pylist(), dtype=object) for name in schema.released}
    order = rng.permutation(records.num_rows // 2 * 2)
    halves = np.split(order, 2)
    for name, rows in zip(("original", "control"), halves, strict=True):
        _write(folder / f"{name}.csv", {key: values[rows] for key, values in columns.items()})
    _write(folder / "as-is.csv", {key: values[halves[0]] for key, values in columns.items()})
    copies = rng.permutation(halves[0])[: len(halves[0]) // 2]
    made_up = {
        key: np.concatenate([values[copies], rng.choice(values[halves[0]], len(copies))])
        for key, values in columns.items()
    }
    _write(folder / "synthetic.csv", made_up)


def _write(path: Path, columns: dict[str, np.ndarray]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def ours(folder: Path) -> dict[str, dict[str, Any]]:
    """Return what sfumato's attackers of the same kind get."""
    numbers = ("age", "hours-per-week")
    schema = Schema(
        tuple(
            Attribute(
                name,
                "sensitive" if name == SECRET else "quasi-identifying",
                "numeric" if name in numbers else "categorical",
            )
            for name in (*ONE, *OTHER, SECRET)
        )
    )
    original = read(folder / "original.csv")
    return {
        f"{attack} {name}": _told(outcome)
        for name in RELEASES
        for attack, outcome in _outcomes(folder, name, original, schema).items()
    }


def _outcomes(folder: Path, name: str, original: Table, schema: Schema) -> dict[str, Outcome]:
    release = read_release(folder / f"{name}.csv", original, schema, release_type="synthetic")
    control = str(folder / "control.csv")
    setting = setting_of(release, control, ATTACKS, 0)
    several = SinglingOut(control=control).attempts(setting, sight(release, (*ONE, *OTHER, SECRET)))
    linked = Linkability(control=control, neighbours=NEIGHBOURS)
    nearest = Inference(control=control, miners=()).attempts(setting, SECRET, (*ONE, *OTHER))
    return {
        "singling-out": next(each for each in several if "3 attributes" in each.attacker).judged,
        "linkability": linked.attempt(setting, (ONE, OTHER)).judged,
        "inference": next(iter(nearest)).judged,
    }


def _told(outcome: Outcome) -> dict[str, Any]:
    assert outcome.control is not None
    risk = outcome.risk
    return {
        "attacked": outcome.attacked.middle,
        "control": outcome.control.middle,
        "risk": risk.value,
        "interval": [risk.low, risk.high],
    }


def theirs(folder: Path, environment: Path) -> dict[str, dict[str, Any]]:
    """Return what Anonymeter gets from the same files."""
    python = environment / "bin" / "python"
    if not python.exists():
        venv.create(environment, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", f"anonymeter=={VERSION}"], check=True)
    facts = {
        "attacks": ATTACKS,
        "releases": RELEASES,
        "one": ONE,
        "other": OTHER,
        "secret": SECRET,
        "neighbours": NEIGHBOURS,
    }
    asked = [str(python), "-c", THEIRS, str(folder), json.dumps(facts)]
    said = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
    found: dict[str, dict[str, Any]] = json.loads(said.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--environment", type=Path, help="where Anonymeter is, or is to be, installed")
    parser.add_argument("--json", type=Path, help="where to write what Anonymeter found")
    given = parser.parse_args()
    if given.json is not None:  # not only after all the work
        given.json.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))
        own = ours(Path(folder))
        found = theirs(Path(folder), given.environment or Path(folder) / "environment")
    sys.stdout.write("| attack, release | | r | c | risk | interval |\n|---|---|---|---|---|---|\n")
    for name in own:
        for program, said in (("sfumato", own[name]), (f"Anonymeter {VERSION}", found[name])):
            figures = [said["attacked"], said["control"], said["risk"], *said["interval"]]
            r, c, risk, low, high = (f"{figure:.3f}" for figure in figures)
            sys.stdout.write(f"| {name} | {program} | {r} | {c} | {risk} | {low} to {high} |\n")
    if given.json is not None:
        about = f"Anonymeter {VERSION}, by benchmarks/anonymeter_judge.py: {ATTACKS} attacks each"
        given.json.write_text(json.dumps({"about": about, "found": found}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
