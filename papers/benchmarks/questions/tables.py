"""Declare and load seven public tables about people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import public_tables
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

import sfumato as sf
from sfumato_papers.experiments import dealt_out

RECORDS = 2_500
"""The most records of a table that are studied: drawn once, by a fixed seed."""
_FEW = 10
"""So many different numbers stay as they are; more are cut into quarters of the records."""
_QUARTERS = (0.25, 0.5, 0.75)
_DRAWN = 1


@dataclass(frozen=True)
class Studied:
    """A public table as it is studied.

    Parameters
    ----------
    name
        Its name among the public tables.
    quasi
        What an adversary knows of a person, with the widths of the intervals of numbers; a number is first.
    sensitive
        What must not be learned.
    neutral
        What is released as it is beside it.
    whole
        Numbers that are rounded down to multiples of this before anything else.
    one_of_each
        A column of people who have several records; the first of each is taken.
    """

    name: str
    quasi: Mapping[str, tuple[float, ...]]
    sensitive: str
    neutral: tuple[str, ...]
    whole: Mapping[str, float] = field(default_factory=dict)
    one_of_each: str = ""

    @property
    def targets(self) -> tuple[str, ...]:
        """What a researcher may want to predict: everything that is released as it is."""
        return (self.sensitive, *self.neutral)

    @property
    def schema(self) -> sf.Schema:
        """The roles."""
        quasi = (
            sf.Attribute(name, "quasi-identifying", hierarchy=sf.Intervals(widths) if widths else None)
            for name, widths in self.quasi.items()
        )
        others = (sf.Attribute(name, "insensitive") for name in self.neutral)
        return sf.Schema((*quasi, sf.Attribute(self.sensitive, "sensitive"), *others))

    def records(self, cache: Path) -> pa.Table:
        """Return the complete records that are studied."""
        found = next(each for each in public_tables.TABLES if each.name == self.name)
        names = (*self.quasi, *self.targets)
        read = csv.read_csv(
            public_tables.fetched(found, cache),
            convert_options=csv.ConvertOptions(null_values=["", "NA", "N/A"], strings_can_be_null=True),
        )
        if self.one_of_each:
            read = read.take(np.sort(np.unique(read[self.one_of_each].to_numpy(), return_index=True)[1]))
        complete = read.select(names).drop_null()
        if len(complete) > RECORDS:
            rows = np.random.default_rng(_DRAWN).choice(len(complete), RECORDS, replace=False)
            complete = complete.take(np.sort(rows))
        return pa.table({name: self._prepared(name, complete[name]) for name in names})

    def table(self, cache: Path, *, is_control: bool = False) -> sf.Table:
        """Return the table, or the control, in which what is to be learned is dealt out at random."""
        records = self.records(cache)
        return sf.Table.from_arrow(dealt_out(records, self.targets) if is_control else records)

    def _prepared(self, name: str, column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
        if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
            return column
        if name in self.whole:
            step = self.whole[name]
            return pc.cast(
                pc.multiply(pc.floor(pc.divide(pc.cast(column, pa.float64()), step)), step), pa.int64()
            )
        if name in self.quasi:
            return pc.cast(pc.floor(pc.cast(column, pa.float64())), pa.int64())
        return quarters(column.to_numpy()) if pc.count_distinct(column).as_py() > _FEW else column


def quarters(values: np.ndarray) -> pa.Array:
    """Number the quarters of the records that numbers lie in, from 1; equal numbers stay together."""
    return pa.array(1 + np.searchsorted(np.quantile(values, _QUARTERS), values, side="left"))


_AGE = (5.0, 10.0, 20.0, 40.0)

TABLES = (
    Studied(
        "gss-wages",
        {"age": _AGE, "gender": (), "maritalcat": (), "educcat": ()},
        "realrinc",
        ("occrecode", "wrkstat", "prestg10", "childs"),
    ),
    Studied(
        "fars",
        {"AGE": _AGE, "SEX": (), "RACE": (), "CASE_STATE": ()},
        "POLICE_REPORTED_ALCOHOL_INVOLVEMENT",
        ("PERSON_TYPE", "INJURY_SEVERITY", "RESTRAINT_SYSTEM-USE", "POLICE-REPORTED_DRUG_INVOLVEMENT"),
    ),
    Studied(
        "rand-hie",
        {"xage": _AGE, "female": (), "site": (), "educdec": (2.0, 4.0, 8.0)},
        "mhi",
        ("income", "disea", "meddol", "hlthg"),
        one_of_each="zper",
    ),
    Studied(
        "wages",
        {"age": _AGE, "race": (), "maritl": (), "education": ()},
        "wage",
        ("jobclass", "health", "health_ins"),
    ),
    Studied(
        "attrition",
        {"Age": _AGE, "Gender": (), "MaritalStatus": (), "DistanceFromHome": (5.0, 10.0)},
        "MonthlyIncome",
        ("JobRole", "Department", "Attrition", "OverTime"),
    ),
    Studied(
        "actg-175",
        {"age": _AGE, "gender": (), "race": (), "wtkg": (5.0, 10.0, 20.0)},
        "homo",
        ("drugs", "hemo", "symptom", "cd40"),
    ),
    Studied(
        "stroke",
        {"age": _AGE, "gender": (), "ever_married": (), "work_type": ()},
        "bmi",
        ("smoking_status", "avg_glucose_level", "hypertension", "heart_disease"),
    ),
)
"""What is studied. Tables of packages that the external tables come from, too."""


def named(name: str) -> Studied:
    """Return one of the tables."""
    return next(each for each in TABLES if each.name == name)
