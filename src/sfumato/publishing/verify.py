"""Verify: re-check a published folder from its files alone."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato import registry
from sfumato.errors import SfumatoError, VerificationFailed
from sfumato.measures.base import Measurement, measure
from sfumato.publishing.layout import Layout, read_back
from sfumato.publishing.manifest import Manifest, Requirement, checksum
from sfumato.reading.arrow import read_arrow
from sfumato.recipe import Recipe
from sfumato.release import Release
from sfumato.table import text

if TYPE_CHECKING:
    import pyarrow as pa

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Check:
    """One thing that was checked, and what was found if it does not hold."""

    what: str
    problem: str = ""

    @property
    def holds(self) -> bool:
        """Whether it holds."""
        return not self.problem


@dataclass(frozen=True, repr=False)
class Verification:
    """Everything that was checked of a published folder; it is true when all of it holds.

    Parameters
    ----------
    folder
        The name of the folder.
    checks
        What was checked.
    """

    folder: str
    checks: tuple[Check, ...]

    @property
    def holds(self) -> bool:
        """Whether every check holds."""
        return not self.failed

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that do not hold."""
        return tuple(check for check in self.checks if not check.holds)

    def __bool__(self) -> bool:
        return self.holds

    def __iter__(self) -> Iterator[Check]:
        return iter(self.checks)

    def __len__(self) -> int:
        return len(self.checks)

    def __repr__(self) -> str:
        outcome = (
            f"{len(self.failed)} of {len(self)} checks fail" if self.failed else f"{len(self)} checks hold"
        )
        return f"<Verification of {self.folder}: {outcome}>"

    def _repr_html_(self) -> str:
        from sfumato.report.notebook import verification_html

        return verification_html(self)


def verify(folder: str | Path) -> Verification:
    """Check a published folder: checksums, both data files alike, every claim recomputed.

    Parameters
    ----------
    folder
        What `publish` wrote. Nothing outside of it is read.

    Returns
    -------
    Verification
        Everything that was checked; the folder is sound when all of it holds.
    """
    place = Path(folder)
    if not place.is_dir():
        raise VerificationFailed(f"no folder {place.name}; give one that `sfumato publish` wrote")
    manifest = Manifest.read(place)
    checks = [*_file_checks(place, manifest)]
    try:
        written = read_written(place, manifest.layout)
        checks += [_same_cells(name, table, place) for name, table in written.items()]
        release = read_back(written, manifest.layout)
        checks += [*_claim_checks(release, manifest), *_requirement_checks(release, manifest)]
    except SfumatoError as error:
        checks.append(Check("the data can be read", str(error)))
    return Verification(place.name, tuple(checks))


def read_written(folder: Path, layout: Layout) -> dict[str, pa.Table]:
    """Read the published CSV files, every cell as it is written."""
    return {
        name: read_arrow(folder / f"{name}.csv", separator=",", encoding="utf-8", quote='"')
        for name in layout.tables
    }


def requirements_of(release: Release, recipe: Recipe) -> tuple[Requirement, ...]:
    """Return each model that a recipe promises, with the level that the release reaches."""
    model = getattr(recipe.build(), "model", None)
    return tuple(
        Requirement(
            dict([registry.describe(part)]), part.parameter, part.limit, part.level(release.partition(part))
        )
        for part in (model.parts if model is not None else ())
    )


def _file_checks(folder: Path, manifest: Manifest) -> Iterator[Check]:
    for name, expected in manifest.files.items():
        place = folder / name
        if Path(name).name != name or not place.is_file():
            yield Check(f"{name} is there", "the file is missing")
        else:
            problem = "" if checksum(place) == expected else "the file was changed after it was published"
            yield Check(f"{name} has its checksum", problem)


def _same_cells(name: str, written: pa.Table, folder: Path) -> Check:
    """Compare both files record by record, in whatever order they come."""
    typed = read_arrow(folder / f"{name}.parquet")
    same = written.column_names == typed.column_names and _counted(written).equals(_counted(typed))
    return Check(f"{name}.csv and {name}.parquet hold the same records", "" if same else "they differ")


def _counted(records: pa.Table) -> pa.Table:
    """Return every different record once, as text, with its count, in an order that only values decide."""
    import pyarrow as pa

    columns = [_texts(column) for column in records.columns]
    places = [str(place) for place in range(len(columns))]
    counts = pa.table(columns, names=places).group_by(places).aggregate([([], "count_all")])
    return counts.sort_by([(place, "ascending") for place in places])


def _texts(column: pa.ChunkedArray) -> pa.Array:
    """Return every cell as text, through the distinct values rather than one by one."""
    import pyarrow as pa

    plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    encoded = pa.concat_arrays(plain.chunks).dictionary_encode()
    values = pa.array([text(value) for value in encoded.dictionary.to_pylist()], pa.string())
    return values.take(encoded.indices)


def _claim_checks(release: Release, manifest: Manifest) -> Iterator[Check]:
    found = measure(release, manifest.asked)
    if len(found) != len(manifest.claims):
        yield Check(
            "every claim can be recomputed", f"{len(manifest.claims)} claims, {len(found)} recomputed"
        )
        return
    for claim, again in zip(manifest.claims, found, strict=True):
        about = f" of {claim.attribute}" if claim.attribute else ""
        same = _same(_as_written(claim), _as_written(again))
        problem = "" if same else f"the published cells give {_shown(again.value)}, or other details"
        yield Check(f"{claim.label}{about} is {_shown(claim.value)}", problem)


def _requirement_checks(release: Release, manifest: Manifest) -> Iterator[Check]:
    found = requirements_of(release, manifest.recipe)
    if len(found) != len(manifest.requirements):
        yield Check(
            "every requirement can be recomputed", "the recipe and the requirements do not fit together"
        )
        return
    for claim, again in zip(manifest.requirements, found, strict=True):
        same = claim.model == again.model and _close(claim.reached, again.reached)
        name = next(iter(claim.model))
        yield Check(
            f"{name} reaches {claim.parameter} = {_shown(claim.reached)}, asked was {_shown(claim.limit)}",
            "" if same else f"the published cells reach {_shown(again.reached)}",
        )


def _same(claim: object, again: object) -> bool:
    """Return whether two pieces of plain data say the same, numbers up to rounding."""
    if isinstance(claim, Mapping) and isinstance(again, Mapping):
        return claim.keys() == again.keys() and all(_same(claim[name], again[name]) for name in claim)
    if isinstance(claim, list) and isinstance(again, list):
        return len(claim) == len(again) and all(map(_same, claim, again))
    if isinstance(claim, float) and isinstance(again, (int, float)) and not isinstance(again, bool):
        return _close(claim, again)
    return type(claim) is type(again) and claim == again


def _as_written(measurement: Measurement) -> Any:
    """Return a measurement as it is written, so that one that was read compares with one that was taken."""
    return json.loads(json.dumps(measurement.to_dict()))


def _close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_ROUNDING, abs_tol=_ROUNDING)


def _shown(value: float | None) -> str:
    return "not applicable" if value is None else f"{value:.6g}"
