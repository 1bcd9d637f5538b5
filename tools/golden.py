"""Write the golden folders: one small published folder for each type of release, which every later version
verifies.

They are kept for good. Run this only when the format changes: the folders of the new format lie beside those
of the earlier ones. The tables are made up; keys are drawn anew, and only the public one is kept.

    python -m tools.golden [FOLDER]
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pyarrow as pa

import sfumato as sf
from sfumato.verification.documents import FORMAT
from sfumato.verification.folder import PROFILES

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests" / "golden"
PUBLIC_KEY = "publisher.pem"
_DIAGNOSES = ("flu", "cold", "asthma", "ulcer", "gout")
_TOWNS = ("Aach", "Bonn", "Chur", "Dole")
_PUBLICATION = sf.Publication(
    title="Visits to 3 clinics",
    purpose="Teaching, from 2026 on",
    recipients="Students of course 101",
    safeguards="Terms of use",
    steward="A. Steward",
    review_by=date(2028, 1, 31),
)


def visits(n_records: int = 60, *, is_repeated: bool = False) -> pa.Table:
    """Return records of made-up people, who have several each where it is asked for."""
    rng = random.Random(11)
    numbers = range(n_records)
    return pa.table(
        {
            "patient": [f"P{number % 25 if is_repeated else number}" for number in numbers],
            "age": [20 + (number % 25 if is_repeated else number) * 7 % 60 for number in numbers],
            "town": [_TOWNS[number % 4] for number in numbers],
            "device": [f"D-{number % 20}" for number in numbers],
            "diagnosis": [rng.choice(_DIAGNOSES) for _ in numbers],
        }
    )


def schema(*, person: str | None = None, device: str = "identifying", pseudonym: bool = False) -> sf.Schema:
    """Return the roles of these records."""
    roles = {
        "patient": "identifying",
        "age": "quasi-identifying",
        "town": "quasi-identifying",
        "device": device,
        "diagnosis": "sensitive",
    }
    attributes = tuple(sf.Attribute(name, role) for name, role in roles.items())  # type: ignore[arg-type]
    return sf.Schema(attributes, person=person, pseudonym=pseudonym)


def _generalized(folder: Path) -> None:
    model = sf.models.KAnonymity(3) & sf.models.TCloseness(0.9)
    release = sf.sanitize(visits(), schema(device="insensitive"), sf.sanitizers.Mondrian(model), seed=1)
    policy = {
        "reidentification-risk": sf.Limit(at_most=0.5),
        "general-loss": sf.Limit(at_most=0.99),
        "privacy-loss": sf.Limit(at_most=3),
    }
    asked = ["privacy-loss", "general-loss", "weighted-k", "journalist-risk", "average-class-size"]
    sf.publish(
        release,
        folder,
        asked,
        policy=policy,
        publication=_PUBLICATION,
        why="k = 3 is enough",
        by="A. Steward",
    )


def _suppressed(folder: Path) -> None:
    table, roles = sf.datasets.hospital()
    recipe = sf.sanitizers.FullDomain(
        {"zip": 2, "age": 1, "sex": 0}, sf.models.KAnonymity(2), suppression=0.9
    )
    sf.publish(
        sf.sanitize(table, roles, recipe, seed=1),
        folder,
        ["privacy-loss", "suppression-loss"],
        policy="none",
        allow_singling_out=True,
    )


def _two_tables(folder: Path) -> None:
    asked = ["disclosure-quotient", "quasi-identifier-contribution"]
    sf.publish(
        sf.sanitize(visits(), schema(), sf.sanitizers.Anatomy(2), seed=1),
        folder,
        asked,
        policy="none",
        allow_singling_out=True,
    )


def _people(folder: Path) -> None:
    roles = schema(person="patient", pseudonym=True)
    release = sf.sanitize(
        visits(80, is_repeated=True), roles, sf.sanitizers.Mondrian(sf.models.KAnonymity(4)), seed=1
    )
    asked = ["privacy-loss", "trace-risk", "suppression-loss"]
    sf.publish(release, folder, asked, policy={"reidentification-risk": sf.Limit(at_most=0.5)})


def _perturbed(folder: Path) -> None:
    sf.publish(
        sf.sanitize(visits(), schema(), sf.sanitizers.RankSwapping(), seed=1),
        folder,
        ["correlation-difference"],
        policy="none",
        allow_singling_out=True,
    )


def _synthetic(folder: Path) -> None:
    sf.publish(
        sf.sanitize(visits(), schema(), sf.sanitizers.CartSynthesis(), seed=1),
        folder,
        ["propensity"],
        policy="none",
        allow_singling_out=True,
    )


def _private(folder: Path) -> None:
    table = sf.Table.from_arrow(visits(1_000))
    ages = sf.PublicValues(whole=True, bounds=(0, 100))
    towns = sf.PublicValues(domain=_TOWNS)
    attributes = (
        sf.Attribute("patient", "identifying"),
        sf.Attribute("age", "quasi-identifying", "numeric", sf.Intervals((10, 20)), public=ages),
        sf.Attribute("town", "quasi-identifying", "categorical", public=towns),
        sf.Attribute("device", "identifying"),
        sf.Attribute("diagnosis", "sensitive", "categorical"),
    )
    roles = sf.Schema(attributes, people_at_most=10_000)
    sf.publish(
        sf.sanitize(table, roles, sf.sanitizers.MST(1.0), seed=1),
        folder,
        ["epsilon"],
        profiles=["nist"],
        policy="none",
    )


def _profiles(folder: Path) -> None:
    model = sf.models.KAnonymity(3) & sf.models.DistinctDiversity(2)
    release = sf.sanitize(visits(), schema(device="insensitive"), sf.sanitizers.LocalRecoding(model), seed=1)
    policy = {"reidentification-risk": sf.Limit(at_most=1 / 3), "k-anonymity": sf.Limit(at_least=3)}
    asked = ["privacy-loss", "utility-loss", "inference"]
    sf.publish(
        release, folder, asked, policy=policy, publication=_PUBLICATION, profiles=PROFILES, by="A. Steward"
    )


def _signed(folder: Path) -> None:
    release = sf.sanitize(visits(), schema(), sf.sanitizers.Mondrian(sf.models.KAnonymity(3)), seed=1)
    with tempfile.TemporaryDirectory() as place:
        private = Path(place, "steward.pem")
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", private], check=True)
        sf.publish(release, folder, ["privacy-loss"], key=private, policy="protected-place")
        public = folder.with_name(PUBLIC_KEY)
        subprocess.run(["openssl", "pkey", "-in", private, "-pubout", "-out", public], check=True)


def _partitioned(folder: Path) -> None:
    recipe = sf.sanitizers.FullDomain({"age": 1, "town": 0}, sf.models.KAnonymity(2), suppression=0.5)
    sf.publish(
        sf.sanitize(visits(), schema(), recipe, seed=1),
        folder,
        ["privacy-loss"],
        partition_by="town",
        policy="none",
        allow_singling_out=True,
    )


def _statistics(folder: Path) -> None:
    recipe = sf.sanitizers.Mondrian(sf.models.KAnonymity(3))
    renamed = visits().rename_columns(["patient", "age", "home-town", "device", "diagnosis"])
    attributes = {each.name: each.role for each in schema().attributes}
    attributes["home-town"] = attributes.pop("town")
    roles = sf.Schema(tuple(sf.Attribute(name, role) for name, role in attributes.items()))
    sf.publish(
        sf.sanitize(renamed, roles, recipe, seed=1),
        folder,
        ["privacy-loss"],
        formats=["sav", "dta"],
        policy="protected-place",
    )


RELEASES: dict[str, Callable[[Path], None]] = {
    "generalized": _generalized,
    "suppressed": _suppressed,
    "two-tables": _two_tables,
    "people": _people,
    "perturbed": _perturbed,
    "synthetic": _synthetic,
    "differentially-private": _private,
    "profiles": _profiles,
    "signed": _signed,
    "partitioned": _partitioned,
    "statistics": _statistics,
}
"""For each type of release what publishes one of it."""


def main(place: Path) -> None:
    """Publish every type of release into the folder of today's format."""
    place.mkdir(parents=True)
    for name, publish in RELEASES.items():
        publish(place / name)
        print(place / name)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else GOLDEN / f"format-{FORMAT}")
