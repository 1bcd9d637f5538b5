"""Whatever is changed in a published folder is noticed, or it is declared an unverified claim.

Two forgers change one thing at a time in every file of a folder of every type of release. The careless one
changes it and mends the checksums. The careful one changes the manifest and writes report, data package and
certificate again with the tool itself, so that all files agree: what then still verifies is exactly what
`verify` calls an unverified claim.
"""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.verification.certificate import certificate_check
from sfumato.verification.documents import Manifest, json_text, read_manifest
from sfumato.verification.signature import signature_checks
from sfumato.workflow.publish.verify import data_checks, verify

from .forger import (
    Place,
    byte_changes,
    careless,
    is_caught,
    mend_checksums,
    passes,
    published_folders,
    restored,
    tamperings,
    text_changes,
)

KINDS = ("one", "parts", "people", "perturbed", "private", "synthetic", "two")

# What a careful forger can say, because no reader can know it. Everything else is caught.
UNVERIFIED = {
    ("decision",),
    ("policy",),
    ("recipe", "parameters"),
    ("layout", "n_original"),
    *(("unverified", name) for name in ("name", "title", "purpose", "recipients", "safeguards", "steward")),
    *(
        ("unverified", name)
        for name in ("efficient", "figures", "headline", "initial", "notes", "people", "tried")
    ),
    # names of what is not published, and what is said of hierarchies and weights
    # what a guarantee rests on, the publisher alone knows
    ("unverified", "guarantee"),
    *(("unverified", "attributes", name) for name in ("name", "kind", "levels", "weight", "exact")),
    # another threshold that gives the same figures
    ("claims", "parameters"),
}
# The forger writes these again.
MENDED = {("files", name) for name in ("report.html", "README.md", "report-ema.html", "datapackage.json")}
# What may be left out of the description of an attribute when no claim needs it.
UNUSED = {"kind", "hierarchy", "whole", "branches", "without kind", "without hierarchy", "without whole"}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return published_folders(tmp_path_factory.mktemp("published"))


def is_unverified(place: Place, how: str) -> bool:
    """Return whether what stands at a place is an unverified claim; items of lists are all alike."""
    named = tuple(part for part in place if isinstance(part, str))
    if named[:2] == ("layout", "attributes") and {*named, how} & UNUSED:
        return True
    if named in {("claims",), ("claims", "measure")}:
        # fewer claims are no lie, and a measure that is none of ours is marked as an unverified claim
        return True
    return any(named[: len(claim)] == claim for claim in UNVERIFIED | MENDED)


def changes_of_files(folder: Path) -> Iterator[tuple[str, object, bytes]]:
    """Yield every single change of every file: its name, what is changed, and the file as it is then."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name, content = path.relative_to(folder).as_posix(), path.read_bytes()
        if name.endswith(".json"):
            for tampering in tamperings(json.loads(content)):
                yield name, (tampering.place, tampering.how), json.dumps(tampering.document).encode()
        else:
            is_text = name.endswith((".html", ".md", ".csv"))
            for how, changed in (text_changes if is_text else byte_changes)(content):
                yield name, how, changed


@pytest.mark.parametrize("kind", KINDS)
def test_the_careless_forger_is_always_caught(folders: dict[str, Path], tmp_path: Path, kind: str) -> None:
    folder, honest = tmp_path / "out", folders[kind]
    restored(folder, honest)
    assert verify(folder).holds
    tried: dict[str, int] = {}
    missed = []
    for name, how, changed in changes_of_files(honest):
        careless(folder, name, changed)
        tried[name] = tried.get(name, 0) + 1
        if not is_caught(folder):
            missed.append((name, how))
        restored(folder, honest)
    assert set(tried) == {path.relative_to(honest).as_posix() for path in honest.rglob("*") if path.is_file()}
    assert min(tried.values()) >= 10
    assert sum(tried.values()) >= 400
    # what no claim uses and no page shows, and bytes of binary files that hold no record, name or label
    assert not [each for each in missed if not is_told_nowhere(*each)]


def test_the_files_of_statistics_programs_are_compared_too(tmp_path: Path) -> None:
    """They are read in a process of their own, so that few changes are tried."""
    honest, folder = tmp_path / "honest", tmp_path / "out"
    release = sf.sanitize(*sf.datasets.hospital(), sf.sanitizers.Mondrian(sf.models.KAnonymity(3)))
    sf.publish(
        release, honest, ["general-loss"], formats=["sav", "dta"], policy="none", allow_singling_out=True
    )
    for name in ("data.sav", "data.dta"):
        other = "data.dta" if name == "data.sav" else "data.sav"
        changes = dict(byte_changes((honest / name).read_bytes()))
        swapped = {"another file": (honest / other).read_bytes(), **changes}
        for how in ("another file", "a byte at 90%", "shorter by a byte", "empty"):
            restored(folder, honest)
            careless(folder, name, swapped[how])
            assert is_caught(folder) or how == "a byte at 90%", (name, how)
    restored(folder, honest)
    facts = json.loads((folder / "manifest.json").read_text("utf-8"))
    facts["formats"]["sav"] = {**facts["formats"].get("sav", {}), "labels": {"age": "another"}}
    assert not passes(folder, facts)


def is_told_nowhere(name: str, how: object) -> bool:
    if name == "manifest.json" and isinstance(how, tuple):
        place, change = how
        return place[:2] == ("layout", "attributes") and bool({*place, change} & UNUSED)
    return name.endswith((".parquet", ".sav", ".dta")) and str(how).startswith(("a byte at", "a byte more"))


@pytest.mark.parametrize("kind", KINDS)
def test_the_careful_forger_can_change_unverified_claims_and_nothing_else(
    folders: dict[str, Path], tmp_path: Path, kind: str
) -> None:
    folder, honest = tmp_path / "out", folders[kind]
    restored(folder, honest)
    document = json.loads((honest / "manifest.json").read_text("utf-8"))
    believed, beyond, n_tried = [], [], 0
    for tampering in tamperings(document):
        n_tried += 1
        if passes(folder, tampering.document):
            believed.append(tampering.place)
            if not is_unverified(tampering.place, tampering.how):
                beyond.append((tampering.place, tampering.how))
        restored(folder, honest)
    assert not beyond
    assert n_tried >= 400
    # a test that catches everything would prove nothing: the texts of the publisher can be changed
    assert ("unverified", "purpose") in believed


@pytest.mark.parametrize("form", ["one", "two"])
def test_no_certificate_but_the_right_one_is_believed(
    folders: dict[str, Path], tmp_path: Path, form: str
) -> None:
    folder = tmp_path / "out"
    shutil.copytree(folders[form], folder)
    manifest = read_manifest(folder)
    checks = [*data_checks(folder, manifest), *signature_checks(folder, manifest, None)]
    assert certificate_check(folder, manifest, checks).holds
    document = json.loads((folder / "certificate.json").read_text("utf-8"))
    for tampering in tamperings(document):
        (folder / "certificate.json").write_text(json.dumps(tampering.document), "utf-8")
        assert not certificate_check(folder, manifest, checks).holds, tampering


class TestFiles:
    def test_a_file_more(self, folders: dict[str, Path], tmp_path: Path) -> None:
        for name in ("notes.txt", ".hidden", "signature.json", "data.xlsx"):
            folder = tmp_path / name.strip(".")
            shutil.copytree(folders["one"], folder)
            (folder / name).write_text("{}", "utf-8")
            assert is_caught(folder), name

    def test_a_file_less(self, folders: dict[str, Path], tmp_path: Path) -> None:
        for place in folders["one"].iterdir():
            folder = tmp_path / place.name
            shutil.copytree(folders["one"], folder)
            (folder / place.name).unlink()
            assert is_caught(folder), place.name

    def test_a_link_is_not_followed(self, folders: dict[str, Path], tmp_path: Path) -> None:
        for name in ("data.csv", "report.html", "manifest.json", "certificate.json"):
            folder = tmp_path / name
            shutil.copytree(folders["one"], folder)
            (folder / name).rename(tmp_path / f"{name}.elsewhere")
            (folder / name).symlink_to(tmp_path / f"{name}.elsewhere")
            assert is_caught(folder), name

    @pytest.mark.parametrize("name", ["report.html", "report-ema.html"])
    def test_a_report_that_says_more(self, folders: dict[str, Path], tmp_path: Path, name: str) -> None:
        changes: list[Callable[[str], str]] = [
            lambda page: page.replace("smallest", "smallest, about,"),
            lambda page: page + "<!-- k is 50 -->",
            lambda page: page.replace("</body>", "<script>1</script></body>"),
            lambda page: page[:-1],
        ]
        for number, change in enumerate(changes):
            folder = tmp_path / str(number)
            shutil.copytree(folders["one"], folder)
            page = (folder / name).read_text("utf-8")
            assert change(page) != page
            (folder / name).write_text(change(page), "utf-8")
            mend_checksums(folder)
            failed = verify(folder).failed
            assert any(check.what.startswith(f"{name} says") for check in failed)

    def test_a_gap_that_was_filled_in(self, folders: dict[str, Path], tmp_path: Path) -> None:
        shutil.copytree(folders["one"], tmp_path / "out")
        place = tmp_path / "out" / "report-ema.html"
        filled = place.read_text("utf-8").replace("the data controller:</strong>", "us:</strong> yes", 1)
        place.write_text(filled, "utf-8")
        assert is_caught(tmp_path / "out")
        mend_checksums(tmp_path / "out")
        assert is_caught(tmp_path / "out")

    def test_a_profile_that_was_not_published(self, folders: dict[str, Path], tmp_path: Path) -> None:
        shutil.copytree(folders["one"], tmp_path / "out")
        (tmp_path / "out" / "report-hipaa.html").write_text("determined", "utf-8")
        assert is_caught(tmp_path / "out")

    def test_a_record_twice_or_not_at_all(self, folders: dict[str, Path], tmp_path: Path) -> None:
        lines = (folders["one"] / "data.csv").read_text("utf-8").splitlines(keepends=True)
        for number, changed in enumerate([lines[:-1], [*lines, lines[-1]], [lines[0]], [*lines, "\n"]]):
            folder = tmp_path / str(number)
            shutil.copytree(folders["one"], folder)
            (folder / "data.csv").write_text("".join(changed), "utf-8")
            mend_checksums(folder)
            assert is_caught(folder)


class TestThatWasFound:
    """Tamperings that an earlier version let pass."""

    @pytest.fixture
    def folder(self, folders: dict[str, Path], tmp_path: Path) -> Path:
        shutil.copytree(folders["one"], tmp_path / "out")
        return tmp_path / "out"

    def changed(self, folder: Path, change: Callable[[Any], None]) -> list[str]:
        facts = json.loads((folder / "manifest.json").read_text("utf-8"))
        change(facts)
        careless(folder, "manifest.json", json.dumps(facts).encode())
        return [f"{check.what}: {check.problem}" for check in verify(folder).failed]

    def test_a_requirement_that_is_not_reached(self, folder: Path) -> None:
        def change(facts: Any) -> None:
            requirement = facts["requirements"][0]
            requirement["model"]["k-anonymity"]["k"] = 50
            requirement["limit"] = 50.0
            facts["recipe"]["parameters"]["model"]["k-anonymity"]["k"] = 50

        assert any(
            "asked was 50: what was asked is not reached" in each for each in self.changed(folder, change)
        )

    def test_a_limit_that_is_not_that_of_the_model(self, folder: Path) -> None:
        def change(facts: Any) -> None:
            facts["requirements"][1]["limit"] = 0.05

        assert any("not the one that the model names" in each for each in self.changed(folder, change))

    @pytest.mark.parametrize(
        ("part", "value"),
        [
            ("better", "higher"),
            ("axis", "utility"),
            ("interval", [0.1, 0.2]),
            ("baseline", 0.5),
            ("applicable", False),
            ("detail", {}),
        ],
    )
    def test_what_stands_beside_a_value(self, folder: Path, part: str, value: Any) -> None:
        def change(facts: Any) -> None:
            facts["claims"][0][part] = value

        assert any("not what is said beside it" in each for each in self.changed(folder, change))

    def test_a_distance_with_another_name(self, tmp_path: Path) -> None:
        release = sf.sanitize(*sf.datasets.hospital(), sf.sanitizers.Mondrian(sf.models.KAnonymity(3)))
        sf.publish(
            release,
            tmp_path / "out",
            [{"t-closeness": {"distance": "js"}}],
            policy="none",
            allow_singling_out=True,
        )

        def change(facts: Any) -> None:
            claim = next(claim for claim in facts["claims"] if claim["measure"] == "t-closeness")
            claim["detail"]["distance"] = claim["parameters"]["distance"] = "equal"

        assert any("t-closeness is" in each for each in self.changed(tmp_path / "out", change))


def test_a_requirement_that_a_reader_finds_broken_is_never_called_kept(tmp_path: Path) -> None:
    """With records left out the reader's prior is another one than the owner's."""
    table = sf.Table.from_arrow(
        {"age": [1] * 10 + [2] * 6 + [3] * 4, "ill": list("abbbbbbbbb" + "aaaabb" + "aaaa")}
    )
    schema = sf.Schema.of(age="quasi-identifying", ill="sensitive")
    release = sf.sanitize(
        table, schema, sf.sanitizers.FullDomain({"age": 0}, sf.models.TCloseness(0.351), suppression=0.5)
    )
    sf.publish(release, tmp_path / "out", ["t-closeness"], policy="none", allow_singling_out=True)
    found = verify(tmp_path / "out")
    (said,) = [check for check in found if check.what.startswith("t-closeness reaches")]
    requirement = read_manifest(tmp_path / "out").requirements[0]
    assert requirement.prior == "original"
    assert said.outcome == "unverified"
    assert "not by that of the released ones" in said.what
    assert "not by that of the released records" in (tmp_path / "out" / "report.html").read_text("utf-8")


def test_a_promise_that_was_not_kept_is_not_published(tmp_path: Path) -> None:
    table, schema = sf.datasets.hospital()
    release = sf.sanitize(table, schema, sf.sanitizers.AsIs())
    lying = sf.Recipe.of(sf.sanitizers.Mondrian(sf.models.KAnonymity(5)))
    with pytest.raises(sf.errors.PolicyNotMet, match="promised k-anonymity with k = 5 and reached 1"):
        sf.publish(replace(release, recipe=lying), tmp_path / "out", policy="none", allow_singling_out=True)
    assert not list(tmp_path.iterdir())


def test_verifying_leaves_the_limits_of_other_readers_alone(folders: dict[str, Path]) -> None:
    before = csv.field_size_limit(1000)
    try:
        assert verify(folders["one"]).holds
        assert csv.field_size_limit() == 1000
    finally:
        csv.field_size_limit(before)


def test_the_manifest_reads_back_as_it_was_written(folders: dict[str, Path]) -> None:
    for folder in folders.values():
        manifest = read_manifest(folder)
        assert isinstance(manifest, Manifest)
        assert json_text(manifest) == (folder / "manifest.json").read_text("utf-8")
