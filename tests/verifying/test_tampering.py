"""Whatever is changed in a published folder is noticed, or it is declared an unverified claim.

Two forgers try every place of every document. The careless one changes it and mends the checksums. The
careful one also writes report, data package and certificate anew with the tool itself, so that all files
agree: what then still verifies is exactly what `verify` calls an unverified claim.
"""

from __future__ import annotations

import copy
import csv
import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.errors import SfumatoError
from sfumato.publishing.layout import read_back
from sfumato.publishing.manifest import layout_of
from sfumato.publishing.verify import data_checks, read_written, verify
from sfumato.report.profiles import published_pages
from sfumato.verifying.certificate import certificate_check, publisher_s
from sfumato.verifying.check import slug
from sfumato.verifying.documents import Manifest, read_manifest, written
from sfumato.verifying.signature import signature_checks

Change = tuple[str, Any]
Place = tuple[Any, ...]

# What a careful forger can say, because no reader can know it. Everything else is caught.
UNVERIFIED = {
    ("decision",),
    ("unverified",),
    ("policy",),
    ("recipe",),
    ("layout", "n_original"),
    ("requirements",),
    ("layout", "attributes", "diagnosis"),
    ("layout", "attributes", "age", "whole"),
    # the forger mends these
    ("files", "report.html"),
    ("files", "README.md"),
    ("files", "report-ema.html"),
    ("files", "datapackage.json"),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("published")
    table, schema = sf.datasets.hospital()
    policy = {"k-anonymity": sf.Limit(at_least=2), "general-loss": sf.Limit(at_most=0.99)}
    model = sf.KAnonymity(2) & sf.TCloseness(0.95)
    generalized = sf.sanitize(
        table, schema, sf.FullDomain({"zip": 2, "age": 1, "sex": 0}, model, suppression=0.9)
    )
    assert generalized.n_suppressed
    asked = ["privacy-loss", "general-loss", "weighted-k"]
    sf.publish(generalized, place / "one", asked, policy=policy, profiles=["ema"])
    apart = sf.sanitize(table, schema, sf.Anatomy(2))
    sf.publish(apart, place / "two", ["disclosure-quotient", "quasi-identifier-contribution"])
    return {name: place / name for name in ("one", "two")}


def places_in(document: Any, here: Place = ()) -> Iterator[Place]:
    """Return every place of a document: each key, each item, each leaf."""
    yield here
    if isinstance(document, dict):
        for key, value in document.items():
            yield from places_in(value, (*here, key))
    elif isinstance(document, list):
        # the items between the first and the last are of the same kind
        for number in sorted({0, len(document) - 1} if document else ()):
            yield from places_in(document[number], (*here, number))


def changes_of(value: Any) -> Iterator[Change]:
    """Return other values that somebody might put there."""
    if isinstance(value, bool):
        yield "inverted", not value
    elif isinstance(value, (int, float)):
        yield from (("larger", value * 2 + 1), ("zero", 0 if value else 7), ("as a text", str(value)))
    elif isinstance(value, str):
        yield from (("another text", value + "x"), ("a number", 3), ("empty", "" if value else "x"))
    elif value is None:
        yield from (("a number", 0.5), ("a text", "x"))
    elif isinstance(value, list):
        yield "one more", [*value, value[-1] if value else "x"]
        if value:
            yield "one less", value[:-1]
    elif isinstance(value, dict):
        yield "an unknown key", {**value, "unknown": 1}
        for key in value:
            yield f"without {key}", {name: each for name, each in value.items() if name != key}


def replaced(document: Any, place: Place, value: Any) -> Any:
    if not place:
        return value
    changed = copy.copy(document)
    changed[place[0]] = replaced(document[place[0]], place[1:], value)
    return changed


def tamperings(document: Any) -> Iterator[tuple[Place, str, Any]]:
    """Return everything that one change makes of a document."""
    for place in places_in(document):
        value = document
        for part in place:
            value = value[part]
        for how, other in changes_of(value):
            yield place, how, replaced(document, place, other)


def is_caught(folder: Path) -> bool:
    """Return whether verifying fails, with one line and no other exception."""
    try:
        return not verify(folder).holds
    except SfumatoError as error:
        return "\n" not in str(error)


def mend_checksums(folder: Path) -> None:
    """Make every checksum right, as a forger would: those in the manifest and that of the manifest."""
    place = folder / "manifest.json"
    facts = json.loads(place.read_text("utf-8"))
    for name in facts["files"]:
        content = (folder / name).read_bytes()
        facts["files"][name] = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    place.write_text(json.dumps(facts), "utf-8")
    certificate = json.loads((folder / "certificate.json").read_text("utf-8"))
    certificate["manifest"] = hashlib.sha256(place.read_bytes()).hexdigest()
    (folder / "certificate.json").write_text(json.dumps(certificate), "utf-8")


def careless(folder: Path, name: str, changed: Any) -> None:
    (folder / name).write_text(json.dumps(changed), "utf-8")
    if name not in ("manifest.json", "certificate.json"):
        mend_checksums(folder)
    elif name == "manifest.json":
        certificate = json.loads((folder / "certificate.json").read_text("utf-8"))
        certificate["manifest"] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        (folder / "certificate.json").write_text(json.dumps(certificate), "utf-8")


def careful(folder: Path, changed: Any) -> None:
    """Write what the tool would write of a changed manifest, as far as it can."""
    (folder / "manifest.json").write_text(json.dumps(changed), "utf-8")
    manifest = read_manifest(folder)
    cells = read_back(read_written(folder, layout_of(manifest).tables), layout_of(manifest))
    pages = published_pages(manifest, cells)
    for name, page in pages.items():
        (folder / name).write_text(page, "utf-8")
    package = json.loads((folder / "datapackage.json").read_text("utf-8"))
    package |= {"title": manifest.unverified.name, "description": manifest.unverified.purpose}
    package["name"] = slug(manifest.unverified.name)
    (folder / "datapackage.json").write_text(json.dumps(package), "utf-8")
    files = {
        name: {
            "sha256": hashlib.sha256((folder / name).read_bytes()).hexdigest(),
            "bytes": len((folder / name).read_bytes()),
        }
        if name in {*pages, "datapackage.json"}
        else facts
        for name, facts in changed["files"].items()
    }
    (folder / "manifest.json").write_text(json.dumps({**changed, "files": files}), "utf-8")
    manifest = read_manifest(folder)
    checks = [*data_checks(folder, manifest), *signature_checks(folder, manifest, None)]
    (folder / "certificate.json").write_text(written(publisher_s(folder, manifest, checks)), "utf-8")


def is_unverified(place: Place) -> bool:
    """Return whether what stands at a place is an unverified claim; items of lists are all alike."""
    named = tuple(part for part in place if isinstance(part, str))
    if named[:1] == ("claims",):
        # fewer claims are no lie, nor is another threshold that gives the same figures; and a measure that is
        # none of ours is marked as an unverified claim
        return named in {("claims",), ("claims", "measure")} or named[:2] == ("claims", "parameters")
    if named == ("layout", "attributes", "age"):
        # left out may be that its numbers are whole
        return True
    return any(named[: len(claim)] == claim for claim in UNVERIFIED)


def restored(folder: Path, honest: Path) -> None:
    shutil.rmtree(folder)
    shutil.copytree(honest, folder)


@pytest.mark.parametrize("form", ["one", "two"])
@pytest.mark.parametrize("name", ["manifest.json", "datapackage.json"])
def test_the_careless_forger_is_always_caught(
    folders: dict[str, Path], tmp_path: Path, form: str, name: str
) -> None:
    folder = tmp_path / "out"
    shutil.copytree(folders[form], folder)
    assert verify(folder).holds
    document = json.loads((folder / name).read_text("utf-8"))
    tried, missed = 0, []
    for place, how, changed in tamperings(document):
        if form == "two" and place and place[0] in ("unverified", "decision", "files"):
            # in both folders alike
            continue
        careless(folder, name, changed)
        tried += 1
        if not is_caught(folder):
            missed.append((place, how))
        restored(folder, folders[form])
    assert tried > 50
    # what stands there is used by no claim of these folders, and told in no report
    told_nowhere = {"hierarchy", "kind", "without hierarchy", "without kind"}
    assert not [(place, how) for place, how in missed if not {*place, how} & told_nowhere]


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
    for place, how, changed in tamperings(document):
        (folder / "certificate.json").write_text(json.dumps(changed), "utf-8")
        assert not certificate_check(folder, manifest, checks).holds, (place, how)


def test_the_careful_forger_can_change_unverified_claims_and_nothing_else(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    folder, honest = tmp_path / "out", folders["one"]
    shutil.copytree(honest, folder)
    document = json.loads((folder / "manifest.json").read_text("utf-8"))
    outcomes: Counter[str] = Counter()
    beyond = []
    for place, how, changed in tamperings(document):
        try:
            careful(folder, changed)
            caught = is_caught(folder)
        except (SfumatoError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError):
            # the tool itself refuses to write that
            caught = True
        outcomes["caught" if caught else "unverified"] += 1
        if not caught and not is_unverified(place):
            beyond.append((place, how))
        restored(folder, honest)
    assert not beyond
    assert outcomes["caught"] > 100
    assert outcomes["unverified"] > 20


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
        careless(folder, "manifest.json", facts)
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
        release = sf.sanitize(*sf.datasets.hospital(), sf.Mondrian(sf.KAnonymity(3)))
        sf.publish(release, tmp_path / "out", [{"t-closeness": {"distance": "js"}}])

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
    release = sf.sanitize(table, schema, sf.FullDomain({"age": 0}, sf.TCloseness(0.351), suppression=0.5))
    sf.publish(release, tmp_path / "out", ["t-closeness"])
    found = verify(tmp_path / "out")
    (said,) = [check for check in found if check.what.startswith("t-closeness reaches")]
    requirement = read_manifest(tmp_path / "out").requirements[0]
    assert requirement.prior == "original"
    assert said.outcome == "unverified"
    assert "not by that of the released ones" in said.what
    assert "not by that of the released records" in (tmp_path / "out" / "report.html").read_text("utf-8")


def test_a_promise_that_was_not_kept_is_not_published(tmp_path: Path) -> None:
    table, schema = sf.datasets.hospital()
    release = sf.sanitize(table, schema, sf.AsIs())
    lying = sf.Recipe.of(sf.Mondrian(sf.KAnonymity(5)))
    with pytest.raises(sf.errors.PolicyNotMet, match="promised k-anonymity with k = 5 and reached 1"):
        sf.publish(replace(release, recipe=lying), tmp_path / "out")
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
        assert written(manifest) == (folder / "manifest.json").read_text("utf-8")
