"""What sfumato rests on: its licences, its lock and its bill of materials."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import re
import sys
import urllib.error
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import Distribution, PathDistribution
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
_SPEC = importlib.util.spec_from_file_location("supply", ROOT / "tools" / "supply.py")
supply = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(supply)

Packed = Callable[..., Distribution]


@pytest.fixture
def packed(tmp_path: Path) -> Packed:
    """Return a way to make a distribution that says of its licence what one likes."""

    def make(*headers: str, text: str = "") -> Distribution:
        folder = tmp_path / "thing-1.dist-info"
        folder.mkdir()
        lines = ["Metadata-Version: 2.4", "Name: thing", "Version: 1", *headers, "", ""]
        (folder / "METADATA").write_text("\n".join(lines))
        (folder / "LICENSE").write_text(text)
        (folder / "RECORD").write_text("thing-1.dist-info/METADATA,,\nthing-1.dist-info/LICENSE,,\n")
        return PathDistribution(folder)

    return make


def test_everything_that_a_user_installs_has_a_licence_that_is_allowed() -> None:
    found, _ = supply.closure(supply.runtime(supply.project()))
    assert {"numpy", "scipy", "cryptography", "bcrypt"} <= set(found)  # asked for, needed by one, by extras
    assert [fault for name, each in found.items() if (fault := supply.offence(name, each))] == []


def test_a_reason_is_given_only_for_what_is_installed() -> None:
    assert supply.REASONS.keys() <= supply.closure(supply.runtime(supply.project()))[0].keys()


@pytest.mark.parametrize(
    "headers",
    [
        ["License-Expression: MIT"],
        ["License-Expression: (MIT OR Apache-2.0) AND BSD-2-Clause"],
        ["License-Expression: Apache-2.0 WITH LLVM-exception"],
        ["Classifier: License :: OSI Approved :: Mozilla Public License 2.0 (MPL 2.0)"],
        ["Classifier: License :: OSI Approved", "License: BSD"],
        ["License: Apache License, Version 2.0"],
    ],
    ids=lambda headers: headers[-1],
)
def test_a_licence_that_is_allowed_is_known(packed: Packed, headers: list[str]) -> None:
    assert supply.offence("thing", packed(*headers)) == ""


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        (["License-Expression: GPL-3.0-only"], "GPL-3.0-only"),
        (["License-Expression: MIT AND AGPL-3.0-or-later"], "AGPL-3.0-or-later"),
        (["License-Expression: LGPL-2.1-or-later"], "LGPL-2.1-or-later"),
        (["License-Expression: BUSL-1.1"], "BUSL-1.1"),
        (["License-Expression: LicenseRef-Proprietary"], "LicenseRef-Proprietary"),
        (["Classifier: License :: OSI Approved :: GNU General Public License v3 (GPLv3)"], "GPL"),
        (["Classifier: License :: OSI Approved :: MIT License", "License: GPL-2.0"], "GPL"),
        (["License: GNU Affero General Public License"], "AGPL"),
        (["License: Business Source License 1.1"], "BUSL"),
        (["License: ask us"], "names no licence"),
        ([], "names no licence"),
    ],
    ids=lambda given: str(given[-1:]),
)
def test_a_licence_that_is_refused_is_named_in_one_line(
    packed: Packed, headers: list[str], said: str
) -> None:
    told = supply.offence("thing", packed(*headers))
    assert told.startswith(f"thing: {said}")
    assert "\n" not in told


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Permission is hereby granted, free of charge, to any person", ""),
        ("              GNU GENERAL PUBLIC LICENSE\n                 Version 3", "thing: GPL"),
        ("All rights reserved.", "thing: names no licence"),
    ],
)
def test_where_nothing_is_stated_the_text_tells(packed: Packed, text: str, said: str) -> None:
    told = supply.offence("thing", packed(text=text))
    assert told.startswith(said)
    assert bool(told) == bool(said)


def test_a_part_under_another_licence_is_seen(packed: Packed) -> None:
    carrying = packed("License-Expression: MIT", text="Name: a library\nLicense: GPL-2.0-only\n")
    assert "License: GPL-2.0-only" in supply.offence("thing", carrying)


def allowed(requirement: Requirement) -> bool:
    """Whether every version that is locked for a requirement is one that it allows, and there is one."""
    name = canonicalize_name(requirement.name)
    versions = [version for locked, version in supply.locked(supply.LOCKS[0]) if locked == name]
    return bool(versions) and all(requirement.specifier.contains(version) for version in versions)


def test_the_lock_holds_an_allowed_version_of_everything_that_is_asked_for() -> None:
    facts = supply.project()
    asked = map(Requirement, [*supply.runtime(facts), *supply.development(facts)])
    assert [str(each) for each in asked if not allowed(each)] == []


def test_the_lock_holds_the_judges_that_the_makefile_installs() -> None:
    (listed,) = re.findall(r"^ORACLES := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {name for name, _ in supply.locked(supply.LOCKS[1])} == set(listed.split())


@pytest.mark.parametrize("path", supply.LOCKS, ids=lambda path: path.name)
def test_the_lock_pins_every_file_and_names_no_place(path: Path) -> None:
    assert all(supply.locked(path).values())
    rest = re.sub(r" *--hash=sha256:[0-9a-f]{64}| \\$", "", path.read_text(), flags=re.MULTILINE)
    lines = [line for line in rest.splitlines() if line and not line.startswith("#")]
    assert len(lines) == len(supply.locked(path))
    assert [line for line in lines if not re.fullmatch(r"[a-z0-9-]+==[\w.]+( ; [\w.'<>=! ]+)?", line)] == []


def test_what_the_lock_needs_is_locked_too() -> None:
    names = {name for name, _ in supply.locked(supply.LOCKS[0])}
    found, _ = supply.closure(supply.runtime(supply.project()))
    assert set(found) <= names


def test_the_page_says_what_each_dependency_is_for() -> None:
    table = (ROOT / "docs" / "supply-chain.md").read_text("utf-8").split("## What each dependency is for")[1]
    rows = re.findall(r"^\| ([\w, -]+?)(?: \(.*\))? \|", table, re.MULTILINE)
    told = {name for row in rows for name in row.split(", ")} - {"package", "---"}
    assert told == {Requirement(text).name for text in supply.runtime(supply.project())}


def test_the_page_names_what_stays_for_a_reason() -> None:
    page = (ROOT / "docs" / "supply-chain.md").read_text("utf-8")
    told = {name for row in re.findall(r"^- \*\*(.*?)\*\*", page, re.MULTILINE) for name in row.split(", ")}
    assert told == set(supply.REASONS)


class Pypi:
    """A stand-in for PyPI that answers by address."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = answers

    def __call__(self, address: str, timeout: float) -> io.BytesIO:
        answer = self.answers.get(address.removeprefix(supply.PYPI))
        if answer is None:
            raise urllib.error.HTTPError(address, 404, "not found", None, None)
        return io.BytesIO(json.dumps(answer).encode())


def page(version: str, *ids: str, withdrawn: str | None = None) -> dict[str, Any]:
    return {
        "info": {"version": version},
        "vulnerabilities": [{"id": each, "withdrawn": withdrawn} for each in ids],
    }


@pytest.mark.parametrize(
    ("answers", "known"),
    [
        ({"/thing/1/json": page("1", "CVE-1", "CVE-2")}, ["CVE-1", "CVE-2"]),
        ({"/thing/1/json": page("1")}, []),
        ({"/thing/1/json": page("1", "CVE-1", withdrawn="2026-01-01")}, []),
        ({"/thing/json": page("1", "CVE-1")}, ["CVE-1"]),
        ({"/thing/json": page("2")}, None),
        ({}, None),
    ],
)
def test_advisories_are_those_of_the_version(
    monkeypatch: pytest.MonkeyPatch, answers: dict[str, Any], known: list[str] | None
) -> None:
    monkeypatch.setattr("urllib.request.urlopen", Pypi(answers))
    assert supply.advisories("thing", "1") == known


@pytest.fixture
def one_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let pytest at a made-up version be all that is locked, and nothing be installed."""
    (tmp_path / "lock.txt").write_text("pytest==0.1 \\\n    --hash=sha256:" + 64 * "0" + "\n")
    monkeypatch.setattr(supply, "LOCKS", (tmp_path / "lock.txt",))
    monkeypatch.setattr(supply, "closure", lambda requirements: ({}, {}))
    monkeypatch.setattr(supply, "oracles", dict)


@pytest.mark.usefixtures("one_package")
@pytest.mark.parametrize(
    ("answers", "status", "said"),
    [
        ({"/pytest/0.1/json": page("0.1")}, 0, "1 versions, no known vulnerability"),
        ({"/pytest/0.1/json": page("0.1", "CVE-1")}, 1, "pytest 0.1: CVE-1"),
        ({}, 1, "pytest 0.1: not looked for"),
    ],
)
def test_what_is_vulnerable_or_unknown_fails_the_audit(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    answers: dict[str, Any],
    status: int,
    said: str,
) -> None:
    monkeypatch.setattr("urllib.request.urlopen", Pypi(answers))
    assert supply.check_vulnerabilities() == status
    assert capsys.readouterr().out.startswith(said)


@pytest.mark.usefixtures("one_package")
def test_an_audit_without_the_network_says_so_and_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def unreachable(address: str, timeout: float) -> None:
        raise urllib.error.URLError("no network")

    monkeypatch.setattr("urllib.request.urlopen", unreachable)
    assert supply.check_vulnerabilities() == 1
    assert "cannot be reached" in capsys.readouterr().out


@pytest.fixture(scope="module")
def bill() -> dict[str, Any]:
    return supply.bill()


def test_the_bill_names_every_package_once_with_its_version_and_licence(bill: dict[str, Any]) -> None:
    found, _ = supply.closure(supply.runtime(supply.project()))
    told = {part["name"]: part["version"] for part in bill["components"]}
    assert told == {name: each.version for name, each in found.items()}
    assert len(told) == len(bill["components"])
    assert all(part["licenses"] for part in bill["components"])


def test_the_bill_gives_the_hashes_that_are_locked(bill: dict[str, Any]) -> None:
    hashes = supply.locked(supply.LOCKS[0])
    for part in bill["components"]:
        told = {each["content"] for place in part["externalReferences"] for each in place["hashes"]}
        assert told == set(hashes.get((part["name"], part["version"]), []))


def test_the_edges_of_the_bill_lead_from_sfumato_to_every_package(bill: dict[str, Any]) -> None:
    edges = {each["ref"]: each["dependsOn"] for each in bill["dependencies"]}
    reached, waiting = set(), [bill["metadata"]["component"]["bom-ref"]]
    while waiting:
        one = waiting.pop()
        if one not in reached:
            reached.add(one)
            waiting += edges[one]
    assert reached - {bill["metadata"]["component"]["bom-ref"]} == {
        part["bom-ref"] for part in bill["components"]
    }


@pytest.fixture(scope="module")
def valid() -> Iterator[Callable[[dict[str, Any]], Any]]:
    """Return the check by the schema that CycloneDX publishes."""
    folder = Path(os.environ.get("SFUMATO_ORACLES", Path(sys.prefix) / "oracles"))
    schemas = folder / "cyclonedx" / "schema" / "_res"

    def read(address: str) -> Any:
        return json.loads((schemas / address.rpartition("/")[2]).read_text("utf-8"))

    with pytest.MonkeyPatch.context() as patch:
        if not schemas.is_dir():
            pytest.skip("the schema of CycloneDX is not there: make test installs it into .venv/oracles")
        patch.syspath_prepend(str(folder))
        judge = import_module("fastjsonschema")
        yield judge.compile(read("bom-1.5.SNAPSHOT.schema.json"), handlers={"http": read}, use_default=False)


def test_the_bill_is_a_valid_document(bill: dict[str, Any], valid: Callable[[dict[str, Any]], Any]) -> None:
    valid(bill)
    with pytest.raises(Exception, match="must be one of"):
        valid({**bill, "bomFormat": "cookbook"})
