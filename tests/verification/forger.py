"""A forger: one change of one file of a published folder, and whatever mends what would show it.

The careless forger changes a file and makes the checksums right. The careful one changes the manifest, and
has the tool itself write the pages, the data package and the certificate again, so that all files agree.
"""

from __future__ import annotations

import copy
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import sfumato as sf
from sfumato.runtime.errors import SfumatoError
from sfumato.verification.certificate import publisher_certificate
from sfumato.verification.check import slug
from sfumato.verification.documents import json_text, read_manifest
from sfumato.verification.signature import signature_checks
from sfumato.verification.written_tables import read_tables
from sfumato.workflow.publish.folder_layout import as_release
from sfumato.workflow.publish.manifest_record import (
    layout_of,
)
from sfumato.workflow.publish.verify import data_checks, verify
from sfumato.workflow.report.reviewer_profiles import published_pages

Place = tuple[Any, ...]
Bytes = Callable[[bytes], bytes]

# What the tool raises where it refuses to write what a forger asks for.
REFUSALS = (SfumatoError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError)


@dataclass(frozen=True)
class Tampering:
    """One change of a document: where, how, and what it becomes."""

    place: Place
    how: str
    document: Any


# Changes of documents


def places_in(document: Any, here: Place = ()) -> Iterator[Place]:
    """Yield every place of a document: each key, each item, each leaf."""
    yield here
    if isinstance(document, dict):
        for key, value in document.items():
            yield from places_in(value, (*here, key))
    elif isinstance(document, list):
        # the items between the first and the last are of the same kind
        for number in sorted({0, len(document) - 1} if document else ()):
            yield from places_in(document[number], (*here, number))


def changes_of(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield other values that somebody might put there."""
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


def tamperings(document: Any) -> Iterator[Tampering]:
    """Yield everything that one change makes of a document."""
    for place in places_in(document):
        value = document
        for part in place:
            value = value[part]
        for how, other in changes_of(value):
            yield Tampering(place, how, replaced(document, place, other))


# Changes of files that are no documents


def text_changes(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield changes of a page or a table: a sign at each of many places, a line, the end."""
    text = content.decode("utf-8")
    for share in range(0, 100, 4):
        place = len(text) * share // 100
        other = "8" if text[place] != "8" else "9"
        yield f"a sign at {share}%", (text[:place] + other + text[place + 1 :]).encode()
    lines = text.splitlines(keepends=True)
    for place in sorted({0, len(lines) // 3, len(lines) // 2, len(lines) - 1}):
        yield f"without line {place}", "".join(lines[:place] + lines[place + 1 :]).encode()
        yield f"line {place} twice", "".join(lines[: place + 1] + lines[place:]).encode()
    yield "a line more", content + b"<!-- 50 -->\n"
    yield "shorter by a sign", content[:-2]
    yield "empty", b""


def byte_changes(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield changes of a file that is no text: a byte at each of many places, the end."""
    for share in range(0, 100, 10):
        place = len(content) * share // 100
        yield f"a byte at {share}%", content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :]
    yield "shorter by a byte", content[:-1]
    yield "a byte more", content + b"\0"
    yield "empty", b""


# The two forgers


def is_caught(folder: Path) -> bool:
    """Return whether verifying fails, with one line and no other exception."""
    try:
        return not verify(folder).holds
    except SfumatoError as error:
        return "\n" not in str(error)


def facts_of(path: Path) -> dict[str, Any]:
    """Return the checksum and the length of a file."""
    content = path.read_bytes()
    return {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}


def mend_checksums(folder: Path) -> None:
    """Make every checksum right: those in the manifest and the data package, and that of the manifest."""
    place = folder / "manifest.json"
    facts = json.loads(place.read_text("utf-8"))
    for name in facts["files"]:
        if name != "datapackage.json":
            facts["files"][name] = facts_of(folder / name)
    package = json.loads((folder / "datapackage.json").read_text("utf-8"))
    for each in package.get("resources", ()) if isinstance(package, dict) else ():
        if isinstance(each, dict) and each.get("path") in facts["files"] and "hash" in each:
            each["hash"] = f"sha256:{facts['files'][each['path']]['sha256']}"
    (folder / "datapackage.json").write_text(json.dumps(package), "utf-8")
    facts["files"]["datapackage.json"] = facts_of(folder / "datapackage.json")
    place.write_text(json.dumps(facts), "utf-8")
    mend_certificate(folder)


def mend_certificate(folder: Path) -> None:
    """Make the certificate speak of the manifest as it is."""
    certificate = json.loads((folder / "certificate.json").read_text("utf-8"))
    certificate["manifest"] = hashlib.sha256((folder / "manifest.json").read_bytes()).hexdigest()
    (folder / "certificate.json").write_text(json.dumps(certificate), "utf-8")


def careless(folder: Path, name: str, content: bytes) -> None:
    """Change a file and mend the checksums."""
    (folder / name).write_bytes(content)
    if name == "datapackage.json":
        # its own hashes are what was changed
        manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
        manifest["files"][name] = facts_of(folder / name)
        (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
        mend_certificate(folder)
    elif name == "manifest.json":
        mend_certificate(folder)
    elif name not in ("certificate.json", "signature.json"):
        mend_checksums(folder)


def careful(folder: Path, changed: Any) -> None:
    """Write what the tool would write of a changed manifest, as far as it can."""
    (folder / "manifest.json").write_text(json.dumps(changed), "utf-8")
    manifest = read_manifest(folder)
    layout = layout_of(manifest)
    pages = published_pages(manifest, as_release(read_tables(folder, layout.tables), layout))
    for name, page in pages.items():
        (folder / name).write_text(page, "utf-8")
    package = json.loads((folder / "datapackage.json").read_text("utf-8"))
    package |= {"title": manifest.unverified.name, "description": manifest.unverified.purpose}
    package["name"] = slug(manifest.unverified.name)
    (folder / "datapackage.json").write_text(json.dumps(package), "utf-8")
    files = {
        name: facts_of(folder / name) if name in {*pages, "datapackage.json"} else facts
        for name, facts in changed["files"].items()
    }
    (folder / "manifest.json").write_text(json.dumps({**changed, "files": files}), "utf-8")
    manifest = read_manifest(folder)
    checks = [*data_checks(folder, manifest), *signature_checks(folder, manifest, None)]
    (folder / "certificate.json").write_text(
        json_text(publisher_certificate(folder, manifest, checks)), "utf-8"
    )


def passes(folder: Path, changed: Any) -> bool:
    """Return whether a folder verifies when the careful forger has changed its manifest."""
    try:
        careful(folder, changed)
    except REFUSALS:
        # the tool itself refuses to write that
        return False
    return not is_caught(folder)


def restored(folder: Path, honest: Path) -> None:
    """Make a folder what it was."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(honest, folder)


# The folders


def published_folders(place: Path) -> dict[str, Path]:
    """Publish a folder of every type of release, one of them with partitioned files."""
    table, schema = sf.datasets.hospital()
    policy = {"k-anonymity": sf.Limit(at_least=2), "general-loss": sf.Limit(at_most=0.99)}
    model = sf.models.KAnonymity(2) & sf.models.TCloseness(0.95)
    generalized = sf.sanitize(
        table, schema, sf.sanitizers.FullDomain({"zip": 2, "age": 1, "sex": 0}, model, suppression=0.9)
    )
    assert generalized.n_suppressed
    asked = ["privacy-loss", "general-loss", "weighted-k"]
    sf.publish(generalized, place / "one", asked, policy=policy, profiles=["ema"])
    local = sf.sanitize(table, schema, sf.sanitizers.Mondrian(sf.models.KAnonymity(3)))
    sf.publish(
        local,
        place / "parts",
        ["general-loss"],
        partition_by="diagnosis",
        policy="none",
        allow_singling_out=True,
    )
    apart = sf.sanitize(table, schema, sf.sanitizers.Anatomy(2))
    sf.publish(
        apart,
        place / "two",
        ["disclosure-quotient", "quasi-identifier-contribution"],
        policy="none",
        allow_singling_out=True,
    )
    sf.publish(
        sf.sanitize(table, schema, sf.sanitizers.PRAM(0.5)),
        place / "perturbed",
        ["utility-loss"],
        policy="none",
        allow_singling_out=True,
    )
    private = sf.sanitize(table, schema, sf.sanitizers.MST(epsilon=5.0))
    sf.publish(
        private,
        place / "private",
        ["epsilon", "privacy-delta", "utility-loss"],
        policy="none",
        allow_singling_out=True,
    )
    drawn = sf.sanitize(table, schema, sf.sanitizers.CartSynthesis(min_leaf=2))
    sf.publish(drawn, place / "synthetic", ["utility-loss"], policy="none", allow_singling_out=True)
    visits = {"who": list("aabbccddef"), "age": [1, 1, 1, 2, 2, 2, 3, 3, 1, 2], "ill": list("xyxyxyxyxy")}
    roles = sf.Schema.of(who="identifying", age="quasi-identifying", ill="sensitive")
    several = sf.sanitize(
        sf.Table.from_arrow(visits),
        replace(roles, person="who", pseudonym=True),
        sf.sanitizers.Mondrian(sf.models.KAnonymity(3)),
    )
    sf.publish(
        several,
        place / "people",
        ["privacy-loss", "k-anonymity"],
        policy={"k-anonymity": sf.Limit(at_least=3)},
    )
    return {each.name: each for each in sorted(place.iterdir())}
