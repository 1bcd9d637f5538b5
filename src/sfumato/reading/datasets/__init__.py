"""The embedded example data sets: UCI Adult and a small hospital table."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from sfumato.data.hierarchy import Hierarchy, Intervals, Prefixes
from sfumato.data.public_values import NOTHING_PUBLIC, PublicValues
from sfumato.data.schema import Attribute, Role, Schema
from sfumato.data.table import Table
from sfumato.runtime.errors import ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

FOLDER = Path(str(files(__name__)))

Subset = Literal["all", "complete", "train"]

QUASI_IDENTIFIERS = ("age", "workclass", "education", "marital-status", "race", "sex")
"""The six of Li & Li 2009."""

_INTERVALS: dict[str, tuple[int, ...]] = {
    "age": (5, 10, 20, 40),
    "education-num": (2, 4, 8),
    "hours-per-week": (5, 10, 20, 40),
    "capital-gain": (1_000, 10_000),
    "capital-loss": (500, 1_000),
    "fnlwgt": (10_000, 100_000),
}
# The smallest and the largest number that the codebook of the census allows.
_BOUNDS: dict[str, tuple[int, int]] = {
    "age": (0, 99),
    "education-num": (1, 16),
    "hours-per-week": (0, 99),
    "capital-gain": (0, 99_999),
    "capital-loss": (0, 99_999),
    "fnlwgt": (0, 2_000_000),
}


def adult(
    subset: Subset = "complete",
    *,
    quasi_identifiers: tuple[str, ...] = QUASI_IDENTIFIERS,
    sensitive: tuple[str, ...] = ("occupation",),
) -> tuple[Table, Schema]:
    """Return UCI Adult, a sample of the United States census of 1994, with a schema.

    Parameters
    ----------
    subset
        ``all`` 48,842 records (missing values are a category), the 45,222 ``complete`` ones, or
        the 30,162 complete ones of the ``train`` file.
    quasi_identifiers, sensitive
        The attributes to keep; the table has no others.

    References
    ----------
    B. Becker, R. Kohavi, "Adult", UCI Machine Learning Repository, 1996, DOI 10.24432/C5XW20,
    licensed CC BY 4.0.

    Examples
    --------
    >>> table, schema = adult()
    >>> table.n_records, schema.sensitive
    (45222, ('occupation',))
    """
    roles: dict[str, Role] = dict.fromkeys(quasi_identifiers, "quasi-identifying")
    roles |= dict.fromkeys(sensitive, "sensitive")
    attributes = []
    for name, role in roles.items():
        file = FOLDER / "hierarchies" / "adult" / f"{name}.csv"
        hierarchy = Intervals(_INTERVALS[name]) if name in _INTERVALS else Hierarchy.read(file)
        public = PublicValues(whole=True, bounds=_BOUNDS[name]) if name in _BOUNDS else NOTHING_PUBLIC
        kind = "numeric" if name in _BOUNDS else "categorical"
        attributes.append(Attribute(name, role, kind, hierarchy, public=public))
    # the documentation of Adult states how many records it has
    schema = Schema(tuple(attributes), people_at_most=100_000)
    return Table.from_arrow(adult_records(subset, tuple(roles))), schema


def adult_records(subset: Subset = "complete", columns: tuple[str, ...] | None = None) -> pa.Table:
    """Return the records of UCI Adult as an Arrow table, in the order of the source."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    if subset not in get_args(Subset):
        raise ParameterError(f"no subset {subset!r} of Adult; there are {', '.join(get_args(Subset))}")
    records = pq.read_table(FOLDER / "adult.parquet")
    if subset != "all":
        records = records.drop_null()
    if subset == "train":
        records = records.filter(pc.equal(records["part"], "train"))
    records = records.drop_columns(["part"])
    return records.select(columns) if columns else records


def hospital() -> tuple[Table, Schema]:
    """Return twelve invented patients, with a schema: the table of the documentation's examples.

    Examples
    --------
    >>> table, schema = hospital()
    >>> table.n_records, schema.quasi_identifiers
    (12, ('zip', 'age', 'sex'))
    """
    diagnosis = Hierarchy.read(FOLDER / "hierarchies" / "hospital" / "diagnosis.csv")
    ages = PublicValues(whole=True, bounds=(0, 100))
    attributes = (
        Attribute("name", "identifying"),
        Attribute("zip", "quasi-identifying", "categorical", Prefixes((4, 3))),
        Attribute("age", "quasi-identifying", "numeric", Intervals((10, 20)), public=ages),
        Attribute("sex", "quasi-identifying", "categorical"),
        Attribute("diagnosis", "sensitive", "categorical", diagnosis),
    )
    from sfumato.reading.read_table import read

    return read(FOLDER / "hospital.csv"), Schema(attributes, people_at_most=100)
