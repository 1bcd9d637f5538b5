"""Look at what sfumato rests on: licences, known vulnerabilities, and a bill of materials.

    python tools/supply.py licences           the licence of everything that is installed for sfumato
    python tools/supply.py vulnerabilities    what PyPI knows against it, and against the locked versions
    python tools/supply.py sbom FILE          a bill of materials (CycloneDX 1.5) of what a user installs

Both checks write one line for each fault and then end with 1. Only the vulnerabilities need the network.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pip._internal.models.index import PyPI

ROOT = Path(__file__).parents[1]
LOCKS = (ROOT / "lock" / "development.txt", ROOT / "lock" / "oracles.txt")
REGISTRY = PyPI.url  # as pip knows it
PYPI = f"{REGISTRY}pypi"

ALLOWED = {
    "0BSD", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "HPND", "ISC", "MIT", "MIT-0",
    "MIT-CMU", "MPL-2.0", "PSF-2.0", "Python-2.0", "Unlicense", "Zlib",
}  # fmt: skip

# Whatever says GPL in any way is a fault, unless it stands here with the reason why it may stay.
REASONS = {
    "moocore": "LGPL: an unchanged package of its own that anybody can replace",
    "numpy": "its wheels carry GCC's runtime, whose exception allows any use, and libquadmath (LGPL)",
    "scikit-learn": "its wheels carry GCC's runtime, whose exception allows any use",
    "scipy": "its wheels carry GCC's runtime, whose exception allows any use, and libquadmath (LGPL)",
}

# How a licence is known where no SPDX expression names it; the first that is found counts.
TELLTALES = {
    r"affero|\bAGPL": "AGPL",
    r"lesser general public|\bLGPL": "LGPL",
    r"gnu general public|\bGPL": "GPL",
    r"business source|\bBUSL": "BUSL",
    r"mozilla public|\bMPL": "MPL-2.0",
    r"apache": "Apache-2.0",
    r"python software foundation|\bPSF": "PSF-2.0",
    r"permission is hereby granted, free of charge|\bMIT\b": "MIT",
    r"redistribution and use in source and binary forms|\bBSD\b": "BSD",
}

# How a text says that a part of what is packed stands under such a licence; to name the GPL is not enough.
CARRIED = re.compile(
    r"^\s*(?:license:.*gpl.*|gnu (?:lesser |affero )?general public license|business source license.*"
    r"|gcc runtime library exception)\s*$",
    re.IGNORECASE | re.MULTILINE,
)


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def runtime(facts: dict[str, Any]) -> list[str]:
    """Return what a user may install: the dependencies and every extra but those apart."""
    extras = facts["project"].get("optional-dependencies", {}).items()
    apart = facts["tool"]["sfumato"]["apart"]
    asked = (each for name, extra in extras if name not in apart for each in extra)
    return [*facts["project"]["dependencies"], *asked]


def development(facts: dict[str, Any]) -> list[str]:
    """Return what somebody who works on sfumato installs as well, and what builds the wheel."""
    groups = facts["dependency-groups"].values()
    return [
        *facts["build-system"]["requires"],
        *(each for group in groups for each in group if isinstance(each, str)),
    ]


def closure(requirements: Iterable[str]) -> tuple[dict[str, Distribution], dict[str, set[str]]]:
    """Return the distributions that requirements lead to, and which of them each one needs."""
    here = {canonicalize_name(each.name): each for each in distributions()}
    found: dict[str, Distribution] = {}
    needs: dict[str, set[str]] = {}
    waiting = [Requirement(text) for text in requirements]
    seen: set[tuple[str, str]] = set()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name not in here:
            raise LookupError(f"{name} is not installed: run this by make, in the environment that it makes")
        found[name] = here[name]
        for extra in ("", *requirement.extras):
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            asked = [each for each in map(Requirement, here[name].requires or ()) if _applies(each, extra)]
            needs.setdefault(name, set()).update(canonicalize_name(each.name) for each in asked)
            waiting += asked
    return dict(sorted(found.items())), needs


def _applies(requirement: Requirement, extra: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def oracles() -> dict[str, Distribution]:
    """Return the programs that only judge in tests, each without what it requires."""
    here = distributions(path=[str(Path(sys.prefix, "oracles"))])
    return {canonicalize_name(each.name): each for each in here}


def licence(distribution: Distribution) -> list[str]:
    """Return the licences that a distribution names; none if it says nothing that is understood."""
    stated = _stated(distribution, "License-Expression")
    if stated:
        parts = re.split(r"\s+(?:AND|OR)\s+|[()]", stated)
        return sorted({part.partition(" WITH ")[0].strip() for part in parts if part.strip()})
    classifiers = distribution.metadata.get_all("Classifier") or []
    named = [each for each in classifiers if each.startswith("License ::") and each.count("::") > 1]
    named += [_stated(distribution, "License")]
    known = {_telltale(text) for text in named} - {""}
    return sorted(known or {_telltale(text) for text in texts(distribution)} - {""})


def _stated(distribution: Distribution, key: str) -> str:
    return "".join(distribution.metadata.get_all(key) or ())


def _telltale(text: str) -> str:
    return next((name for sign, name in TELLTALES.items() if re.search(sign, text, re.IGNORECASE)), "")


def texts(distribution: Distribution) -> Iterator[str]:
    """Yield the texts of licences that lie beside a distribution's metadata."""
    for path in distribution.files or ():
        _, _, rest = str(path).partition(".dist-info/")
        if rest and re.search("licen[cs]e|copying|copyright|notice", rest, re.IGNORECASE):
            yield Path(str(path.locate())).read_text(encoding="utf-8", errors="replace")


def offence(name: str, distribution: Distribution) -> str:
    """Return in one line what is wrong with the licence of a distribution; nothing if all is well."""
    named = licence(distribution)
    refused = [each for each in named if each not in ALLOWED]
    carried = {line.strip() for text in texts(distribution) for line in CARRIED.findall(text)}
    if not named:
        return f"{name}: names no licence that is known here; read it and add its sign to {__file__}"
    if name in REASONS or not (refused or carried):
        return ""
    return f"{name}: {', '.join(refused or sorted(carried))}; do without it, or write down why it may stay"


def check_licences() -> int:
    facts = project()
    found = {**closure([*runtime(facts), *development(facts)])[0], **oracles()}
    faults = [fault for name, each in found.items() if (fault := offence(name, each))]
    for name in sorted(REASONS.keys() & found.keys()):
        print(f"{name} stays: {REASONS[name]}")
    return _told(faults, f"{len(found)} packages, none under the GPL, the AGPL or the BUSL")


def locked(path: Path) -> dict[tuple[str, str], list[str]]:
    """Return for each name and version in a lock file the hashes that its files may have."""
    entries = re.split(r"\n(?=\w)", path.read_text(encoding="utf-8").replace("\\\n", " "))
    pinned = [re.match(r"([\w.-]+)==(\S+)", entry) for entry in entries]
    return {
        (canonicalize_name(each[1]), each[2]): re.findall(r"--hash=sha256:(\w{64})", each.string)
        for each in pinned
        if each
    }


def advisories(name: str, version: str) -> list[str] | None:
    """Return the names of what PyPI knows against a version; None if it does not answer for it."""
    # some mirrors answer for the newest version only
    for address in (f"{PYPI}/{name}/{version}/json", f"{PYPI}/{name}/json"):
        answer = _answer(address)
        if answer is not None and answer["info"]["version"] == version:
            return [each["id"] for each in answer["vulnerabilities"] if not each.get("withdrawn")]
    return None


def _answer(address: str) -> dict[str, Any] | None:
    try:
        with urllib.request.urlopen(address, timeout=30) as reply:
            return json.load(reply)
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return None
        raise


def check_vulnerabilities() -> int:
    facts = project()
    found = {**closure([*runtime(facts), *development(facts)])[0], **oracles()}
    asked = sorted({(name, each.version) for name, each in found.items()}.union(*map(locked, LOCKS)))
    try:
        with ThreadPoolExecutor(8) as pool:
            known = list(pool.map(lambda each: advisories(*each), asked))
    except OSError as error:
        return _told([f"no known vulnerability was looked for: {PYPI} cannot be reached ({error})"], "")
    faults = []
    for (name, version), against in zip(asked, known, strict=True):
        if against is None:
            faults.append(f"{name} {version}: not looked for; {PYPI} does not answer for this version")
        elif against:
            faults.append(f"{name} {version}: {', '.join(against)}")
    return _told(faults, f"{len(asked)} versions, no known vulnerability")


def _told(faults: list[str], well: str) -> int:
    print("\n".join(faults or [well]))
    return 1 if faults else 0


def bill() -> dict[str, Any]:
    """Return the bill of materials: each package with version, licence and hashes, and what needs what.

    It says nothing of when and by whom it was made, so the same environment always gives the same bytes.
    """
    facts = project()
    found, needs = closure(runtime(facts))
    hashes = locked(LOCKS[0])
    itself = f"pkg:pypi/sfumato@{_version()}"
    addresses = {name: f"pkg:pypi/{name}@{each.version}" for name, each in found.items()}
    direct = {canonicalize_name(Requirement(text).name) for text in runtime(facts)}
    needed = {itself: direct} | {addresses[name]: needs[name] for name in found}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": itself,
                "name": "sfumato",
                "version": _version(),
                "licenses": [{"expression": facts["project"]["license"]}],
                "purl": itself,
            }
        },
        "components": [
            {
                "type": "library",
                "bom-ref": addresses[name],
                "name": name,
                "version": each.version,
                "licenses": _licences(each),
                "purl": addresses[name],
                "externalReferences": _files(name, each.version, hashes.get((name, each.version), [])),
            }
            for name, each in found.items()
        ],
        "dependencies": [
            {"ref": one, "dependsOn": sorted(addresses[name] for name in others)}
            for one, others in needed.items()
        ],
    }


def _version() -> str:
    code = (ROOT / "src" / "sfumato" / "__init__.py").read_text(encoding="utf-8")
    (version,) = re.findall(r'^__version__ = "(.*)"$', code, re.MULTILINE)
    return str(version)


def _licences(distribution: Distribution) -> list[dict[str, Any]]:
    stated = _stated(distribution, "License-Expression")
    if stated:
        return [{"expression": stated}]
    # a package that says BSD, and no more, does not say which of its texts it means
    return [
        {"license": {"id" if each in ALLOWED - {"BSD"} else "name": each}} for each in licence(distribution)
    ]


def _files(name: str, version: str, hashes: list[str]) -> list[dict[str, Any]]:
    """Tell the files of a version, one for each platform: whichever is installed has one of the hashes."""
    if not hashes:
        return []
    contents = [{"alg": "SHA-256", "content": each} for each in hashes]
    return [
        {
            "type": "distribution",
            "url": f"{REGISTRY}project/{name}/{version}/#files",
            "hashes": contents,
        }
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("licences")
    verbs.add_parser("vulnerabilities")
    verbs.add_parser("sbom").add_argument("file", type=Path)
    asked = parser.parse_args()
    try:
        if asked.verb == "sbom":
            asked.file.parent.mkdir(parents=True, exist_ok=True)
            asked.file.write_text(json.dumps(bill(), indent=2) + "\n", encoding="utf-8")
            return 0
        return check_licences() if asked.verb == "licences" else check_vulnerabilities()
    except LookupError as error:
        return _told([str(error.args[0])], "")


if __name__ == "__main__":
    sys.exit(main())
