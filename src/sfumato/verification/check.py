"""Check everything that a published folder states, one statement after the other.

Every statement that the files determine is computed again from the published cells: checksums, equal records
in all formats, the data package, claims, requirements and policy. Statements that no reader can check are
listed as unverified claims. A check never relies on the code that made the folder, so a fault there cannot
hide here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, cast

from sfumato.runtime.errors import VerificationFailed
from sfumato.verification.contradictions import contradictions, like_sets
from sfumato.verification.documents import (
    Claimed,
    FormatFacts,
    LimitFacts,
    Manifest,
    OwnerFigure,
    ParentFacts,
    RequirementFacts,
    numeral,
    read_json,
)
from sfumato.verification.figures import MEASURES, OneOf, Recomputed, WithinRange, claimable, computed
from sfumato.verification.folder import (
    DATAPACKAGE,
    MANIFEST,
    PROFILES,
    README,
    REPORT,
    SIGNATURE,
    UNLISTED,
    Format,
    file_names,
    fingerprint,
    page_of,
)
from sfumato.verification.levels import MODELS, KnownModel
from sfumato.verification.partition_check import (
    differs_in_parts,
    partition_files,
    partitioned_table,
    types_in_parts,
)
from sfumato.verification.published_view import PublicView, published, table_names
from sfumato.verification.statistics_files_check import differs_from_statistics
from sfumato.verification.written_tables import WrittenTable, differs_from_parquet, parquet_types, read_tables

ALWAYS_CLAIMED = ("k-anonymity", "reidentification-risk")
_STAND_FOR = {
    "people": "people one by one, each with true values or sets that hold them",
    "perturbed": "people with changed values",
    "synthetic": "nobody: they are made up",
}
# What parameters raise that nothing can be computed with.
_NOT_COMPUTABLE = (TypeError, ValueError, KeyError, ArithmeticError)
_ROUNDING = 1e-9
_TIE = 1e-12


@dataclass(frozen=True)
class Check:
    """One statement and its result.

    Parameters
    ----------
    what
        The statement.
    problem
        What was found instead, if it does not hold.
    unverified
        Whether it is an unverified claim, which nobody can check from the files.
    undecided
        Whether only a later version of sfumato can check it; the problem says why.
    """

    what: str
    problem: str = ""
    unverified: bool = False
    undecided: bool = False

    @property
    def holds(self) -> bool:
        """Whether nothing contradicts the statement."""
        return not self.problem

    @property
    def outcome(self) -> str:
        """``checked``, ``fails``, ``unverified`` or ``undecided``."""
        if self.undecided:
            return "undecided"
        return "fails" if self.problem else "unverified" if self.unverified else "checked"


@dataclass(frozen=True)
class FolderChecks:
    """The checks of a folder, and its tables if they could be read."""

    checks: list[Check]
    tables: Mapping[str, WrittenTable] | None = None

    @property
    def hold(self) -> bool:
        """Whether nothing contradicts any statement."""
        return all(check.holds for check in self.checks)


def check_folder(
    folder: Path, manifest: Manifest, tables: Mapping[str, WrittenTable] | None = None
) -> FolderChecks:
    """Check everything but the report, the signature and the certificate, which need more than the data.

    Parameters
    ----------
    folder, manifest
        The folder, and what it says of itself.
    tables
        The tables as read when the manifest was made; the checksums show that they have not changed. By
        default they are read now.
    """
    try:
        checks = [*_file_checks(folder, manifest)]
    except VerificationFailed as error:
        return FolderChecks([Check(f"{MANIFEST} lists every file", str(error))])
    if any(check.problem for check in checks):
        # what is not the published data need not be looked into
        return FolderChecks(checks)
    try:
        if tables is None:
            tables = read_tables(folder, table_names(manifest.layout))
        for name, table in tables.items():
            checks += [*_same_records(folder, name, table, manifest)]
        checks.append(_datapackage(folder, manifest, tables))
        seen = published(tables, manifest.layout)
        checks += [
            *_claim_checks(seen, manifest),
            *_requirement_checks(seen, manifest),
            *_policy_checks(seen, manifest),
            *(Check(what, problem) for what, problem in contradictions(seen, manifest, tables)),
            *_unverified_checks(seen, manifest, tables),
        ]
    except VerificationFailed as error:
        checks.append(Check("the published data is what the manifest describes", str(error)))
    return FolderChecks(checks, tables)


# Files


def expected_files(manifest: Manifest) -> set[str]:
    """Return the files that a manifest of this layout must list."""
    data = {
        file
        for name in table_names(manifest.layout)
        for file in _data_files(manifest, name, partition_files(manifest))
    }
    return data | {REPORT, README, DATAPACKAGE} | set(map(page_of, manifest.profiles))


def _data_files(manifest: Manifest, table: str, parts: Iterable[str]) -> list[str]:
    """Return the files that hold a table, in the order in which the data package lists them."""
    is_parted = table == partitioned_table(manifest)
    parquet = list(parts) if is_parted else [f"{table}.parquet"]
    return [f"{table}.csv", *parquet, *(f"{table}.{kind}" for kind in manifest.formats)]


def _file_checks(folder: Path, manifest: Manifest) -> Iterator[Check]:
    listed, there = set(manifest.files), set(file_names(folder))
    wanted = expected_files(manifest)
    problem = f"it lists {_some(listed ^ wanted)} wrongly" if listed != wanted else ""
    yield Check(f"{MANIFEST} lists every file", problem)
    if manifest.profiles:
        in_order = [name for name in PROFILES if name in manifest.profiles]
        problem = "" if manifest.profiles == in_order else "it is not"
        yield Check("every profile is named once, in the usual order", problem)
    beside = set(UNLISTED) if manifest.signed_by is not None else set(UNLISTED) - {SIGNATURE}
    extra = there - wanted - beside
    yield Check("the folder holds no other file", f"there is also {_some(extra)}" if extra else "")
    for name in sorted((listed & wanted) | beside):
        yield _file_check(folder, name, manifest)


def _file_check(folder: Path, name: str, manifest: Manifest) -> Check:
    if name in UNLISTED:
        missing = name not in file_names(folder)
        return Check(f"{name} is there", "the file is missing" if missing else "")
    facts = manifest.files[name]
    try:
        same = fingerprint(folder, name) == (facts.sha256, facts.bytes)
    except VerificationFailed as error:
        return Check(f"{name} has its checksum", str(error))
    return Check(f"{name} has its checksum", "" if same else "the file was changed after it was published")


def _some(names: set[str]) -> str:
    """List a few file names that can be printed."""
    shown = [
        name if name.isprintable() and len(name) < 100 else "a file with an odd name"
        for name in sorted(names)
    ]
    return ", ".join(shown[:3]) + (f" and {len(shown) - 3} more" if len(shown) > 3 else "")


def _same_records(folder: Path, name: str, table: WrittenTable, manifest: Manifest) -> Iterator[Check]:
    """Compare the CSV file of a table with every other file that holds it."""
    if manifest.partition_by is not None and name == partitioned_table(manifest):
        parts = partition_files(manifest)
        what = f"{name}.csv and the {len(parts):,} Parquet files in {name} hold the same records"
        yield Check(what, differs_in_parts(folder, parts, manifest.partition_by, table))
    else:
        problem = differs_from_parquet(folder, name, table)
        yield Check(f"{name}.csv and {name}.parquet hold the same records", problem)
    for kind, facts in manifest.formats.items():
        problem = differs_from_statistics(folder, name, kind, table, facts)
        yield Check(f"{name}.csv and {name}.{kind} hold the same records", problem)


def _datapackage(folder: Path, manifest: Manifest, tables: Mapping[str, WrittenTable]) -> Check:
    """Compare the data package with the one that describes these files."""
    expected = {
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "name": slug(manifest.unverified.name),
        "title": manifest.unverified.name,
        "description": manifest.unverified.purpose,
        "resources": [
            each for name, table in tables.items() for each in _resources(folder, manifest, name, table)
        ],
    }
    same = read_json(folder, DATAPACKAGE) == expected
    return Check(f"{DATAPACKAGE} describes these files", "" if same else "it says something else")


def _resources(
    folder: Path, manifest: Manifest, table: str, written: WrittenTable
) -> Iterator[dict[str, Any]]:
    """Describe the files of a table."""
    parts, by = partition_files(manifest), manifest.partition_by
    files = _data_files(manifest, table, parts)
    if by is None or f"{table}.parquet" in files:
        types = parquet_types(folder, f"{table}.parquet")
    else:
        types = types_in_parts(folder, parts, by, written.names)
    for place, file in enumerate(files):
        kind = Path(file).suffix[1:]
        number = f"-{place - 1}" if file in parts else ""
        yield {
            "name": f"{table}-{kind}{number}",
            "path": file,
            "format": kind,
            "hash": f"sha256:{manifest.files[file].sha256}",
            "schema": {
                "fields": [
                    _field(name, of, manifest.formats.get(cast("Format", kind)))
                    for name, of in types
                    if not (file in parts and name == by)
                ],
                "missingValues": [""],
            },
        }


def _field(name: str, kind: str, facts: FormatFacts | None) -> dict[str, Any]:
    """Describe a column, in the terms of a statistics program for its files."""
    if facts is None:
        return {"name": name, "type": kind}
    codes = facts.codes.get(name, {})
    described: dict[str, Any] = {
        "name": facts.renamed.get(name, name),
        "type": "integer" if codes else kind,
        "title": facts.labels.get(name),
        "categories": [{"value": code, "label": label} for label, code in codes.items()],
    }
    return {key: value for key, value in described.items() if value}


def slug(title: str) -> str:
    """Return a title as a name: small letters and digits, joined by hyphens.

    Examples
    --------
    >>> slug("Adult census, 1994"), slug("…")
    ('adult-census-1994', 'release')
    """
    kept = "".join(sign if sign.isascii() and sign.isalnum() else " " for sign in title.lower())
    return "-".join(kept.split()) or "release"


# Claims


def _claim_checks(seen: PublicView, manifest: Manifest) -> Iterator[Check]:
    claimed = {claim.measure for claim in manifest.claims}
    lacking = [name for name in ALWAYS_CLAIMED if name not in claimed]
    yield Check("the smallest class and its risk are claimed", f"no claim of {lacking[0]}" if lacking else "")
    before: list[tuple[str, Mapping[str, Any]]] = []
    counted = "" if manifest.unverified.people is None else ", counting records"
    for asked, claims in groupby(manifest.claims, key=lambda claim: (claim.measure, claim.parameters)):
        if asked in before:
            yield Check(f"{asked[0]} is claimed once", "it is claimed again")
        before.append(asked)
        yield from _measure_checks(seen, *asked, list(claims), counted)


def _measure_checks(
    seen: PublicView, name: str, parameters: Mapping[str, Any], claims: list[Claimed], counted: str
) -> Iterator[Check]:
    known = MEASURES.get(name)
    if known is None:
        for claim in claims:
            yield Check(f"{_named(claim)}, by a measure that is no part of sfumato", unverified=True)
        return
    # the limit has no part in the level that is reached
    needed = known.parameters - ({MODELS[name].limit} if name in MODELS else set())
    if not needed <= set(parameters) <= known.parameters:
        yield Check(f"{name} has the parameters that it takes", "it has others")
        return
    try:
        found = claimable(known, seen, parameters)
    except _NOT_COMPUTABLE:
        yield Check(f"{name} has parameters that it can be computed with", "it has not")
        return
    if len(found) != len(claims):
        yield Check(
            f"{name} is claimed of every sensitive attribute", f"{len(claims)} claims, not {len(found)}"
        )
        return
    for claim, again in zip(claims, found, strict=True):
        same = _says(claim, again) and (claim.axis, claim.better) == (known.axis, known.better)
        what = f"{_named(claim)}{counted if claim.axis == 'privacy' else ''}"
        yield Check(what, "" if same else _instead(claim, again))


def _named(claim: Claimed) -> str:
    about = f" of {claim.attribute}" if claim.attribute else ""
    return f"{claim.measure}{about} is {_printed(claim.value)}"


def _printed(value: Any) -> str:
    return "not applicable" if value is None else f"{numeral(value):.6g}"


def _instead(claim: Claimed, again: Recomputed) -> str:
    if not _same(claim.value, again.value):
        return f"the published cells give {_printed(again.value)}"
    return "the value is right, but not what is said beside it"


def _says(claim: Claimed, again: Recomputed) -> bool:
    return (
        claim.attribute == again.attribute
        and claim.applicable == (claim.value is not None)
        and _same(claim.value, again.value)
        and _same(claim.baseline, again.baseline)
        and _same(claim.interval, None if again.interval is None else list(again.interval))
        and _same(claim.detail, again.detail)
    )


def _same(claimed: Any, found: Any) -> bool:
    """Return whether a document says what was found, with numbers equal up to rounding."""
    if isinstance(found, Mapping):
        return (
            isinstance(claimed, Mapping)
            and claimed.keys() == found.keys()
            and all(_same(claimed[name], found[name]) for name in found)
        )
    if isinstance(found, list):
        return isinstance(claimed, list) and len(claimed) == len(found) and all(map(_same, claimed, found))
    if isinstance(found, OneOf):
        return isinstance(claimed, str) and claimed in found.names
    if isinstance(found, WithinRange):
        return _is_number(claimed) and found.low - _ROUNDING <= claimed <= found.high + _ROUNDING
    if isinstance(found, bool) or found is None or isinstance(found, str):
        return type(claimed) is type(found) and bool(claimed == found)
    if isinstance(found, float) and math.isinf(found):
        return bool(claimed == ("Infinity" if found > 0 else "-Infinity"))
    return _is_number(claimed) and math.isclose(claimed, found, rel_tol=_ROUNDING, abs_tol=_ROUNDING)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# Requirements


def _requirement_checks(seen: PublicView, manifest: Manifest) -> Iterator[Check]:
    for requirement in manifest.requirements:
        yield _requirement_check(seen, requirement, counts_people=manifest.unverified.people is not None)


def _requirement_check(seen: PublicView, requirement: RequirementFacts, *, counts_people: bool) -> Check:
    name, parameters = next(iter(requirement.model.items()), ("", {}))
    what = (
        f"{name} reaches {requirement.parameter} = {_printed(requirement.reached)}, "
        f"asked was {requirement.limit:g}"
    )
    known = MODELS.get(name)
    if known is None and len(requirement.model) == 1:
        return Check(f"{what}, by a model that is no part of sfumato", unverified=True)
    if known is None or len(requirement.model) != 1 or set(parameters) != known.parameters:
        return Check(what, "the model does not have the parameters that it takes")
    if requirement.parameter != known.limit or not _same(requirement.limit, parameters[known.limit]):
        return Check(what, "the limit is not the one that the model names")
    if counts_people != (requirement.counted == "people"):
        return Check(what, "it does not count whom the rest of the manifest counts")
    if counts_people:
        return _kept_for_people(seen, name, requirement, known)
    return _reached(seen, requirement, known, parameters, what)


def _kept_for_people(seen: PublicView, name: str, requirement: RequirementFacts, model: KnownModel) -> Check:
    """Accept what only the owner can count, unless the records alone contradict it.

    A class has no more people than records; if pseudonyms are published, its people can be counted.
    """
    what = f"{name} keeps {requirement.parameter} = {requirement.limit:g}, counting people"
    if not _same(requirement.reached, requirement.limit) or requirement.prior != "original":
        return Check(what, "it says more than that it is kept")
    if name != "k-anonymity":
        return Check(what, unverified=True)
    fewest, of_what = _fewest(seen)
    problem = f"the smallest class has {fewest:,} {of_what}"
    return Check(
        what, "" if model.keeps(float(fewest), requirement.limit) else problem, unverified=seen.people is None
    )


def _fewest(seen: PublicView) -> tuple[int, str]:
    """Return the number of people of the smallest class, or of its records if people cannot be told apart."""
    if seen.people is None:
        return int(seen.sizes.min()), "records"
    return int(seen.people.min()), "people by their pseudonyms"


def _reached(
    seen: PublicView,
    requirement: RequirementFacts,
    model: KnownModel,
    parameters: Mapping[str, Any],
    what: str,
) -> Check:
    try:
        level = computed(MEASURES[next(iter(requirement.model))], seen, parameters)[0].value
    except _NOT_COMPUTABLE:
        level = None
    if level is None or not _same(requirement.reached, level):
        return Check(what, f"the published cells reach {_printed(level)}")
    if model.keeps(level, requirement.limit):
        problem = (
            ""
            if requirement.prior == "released"
            else "it is called an unverified claim, but the published cells keep it"
        )
        return Check(what, problem)
    if requirement.prior == "released" or not model.by_prior or seen.n_suppressed == 0:
        return Check(what, "what was asked is not reached")
    return Check(
        f"{what}: it is kept by the distribution of all original records, not by that of the released ones",
        unverified=True,
    )


# Policy


def _policy_checks(seen: PublicView, manifest: Manifest) -> Iterator[Check]:
    for name, limit in manifest.policy.items():
        what = f"the policy's {name} {_limit_words(limit)}"
        # where people are counted, what is claimed of privacy counts their records: no policy speaks of these
        counted = [
            each for each in manifest.claims if manifest.unverified.people is None or each.axis == "utility"
        ]
        claims = [each for each in counted if _is_limited(each, limit)]
        figures = [each for each in manifest.unverified.figures if _is_limited(each, limit)]
        if limit.at_least is None and limit.at_most is None:
            yield Check(what, "it limits nothing")
        elif claims:
            kept = all(_allows(limit, value) for value in _limited_values(seen, limit, claims))
            problem = "" if kept else "a claim does not meet it"
            yield Check(f"{what} is met", problem, unverified=limit.measure not in MEASURES)
        elif figures:
            problem = _too_few(seen, limit)
            if not all(figure.met for figure in figures):
                problem = "it is said not to be"
            yield Check(f"{what} is met by the owner's figure", problem, unverified=True)
        else:
            yield Check(what, "nothing is said of what it limits")


def _too_few(seen: PublicView, limit: LimitFacts) -> str:
    """Return the size of the smallest class if a policy asks for a larger one."""
    fewest, of_what = _fewest(seen)
    if limit.measure != "k-anonymity" or limit.at_least is None or fewest >= limit.at_least - _TIE:
        return ""
    return f"the smallest class has {fewest:,} {of_what}"


def _is_limited(said: Claimed | OwnerFigure, limit: LimitFacts) -> bool:
    return limit.speaks_of(said.measure, said.parameters, said.attribute)


def _limited_values(seen: PublicView, limit: LimitFacts, claims: list[Claimed]) -> list[Any]:
    """Return the claimed values; compute that of a single attribute, as a claim may be the worst of all."""
    if limit.attribute is None or limit.measure not in MEASURES:
        return [claim.value for claim in claims]
    alone = tuple(each for each in seen.sensitive if each.name == limit.attribute)
    own = replace(seen, sensitive=alone)
    try:
        found = [claimable(MEASURES[limit.measure], own, claim.parameters) for claim in claims]
    except _NOT_COMPUTABLE:
        return [None]
    return [each.value for several in found for each in several]


def _limit_words(limit: LimitFacts) -> str:
    parts = {"at least": limit.at_least, "at most": limit.at_most}
    return " and ".join(f"{words} {value:g}" for words, value in parts.items() if value is not None)


def _allows(limit: LimitFacts, value: Any) -> bool:
    if value is None:
        return False
    found = numeral(value)
    low = -math.inf if limit.at_least is None else limit.at_least
    high = math.inf if limit.at_most is None else limit.at_most
    return low - _TIE <= found <= high + _TIE


# Unverified claims


def _are_seen(tables: Mapping[str, WrittenTable], name: str, branches: Mapping[str, list[str]]) -> bool:
    """Return whether every branch is a cell of the attribute, or a part of one."""
    column = next((table.columns[name] for table in tables.values() if name in table.columns), None)
    cells = {value for value in column.values if value} if column is not None else set()
    return all(branch in cells or any(branch in cell for cell in cells) for branch in branches)


def _told_cells(seen: PublicView, tables: Mapping[str, WrittenTable], name: str) -> int:
    """Return how many cells of an attribute are not withheld."""
    table = tables[next(iter(tables))]
    if name not in table.columns:
        return seen.n_records
    counts = zip(table.columns[name].values, table.occurrences(name).tolist(), strict=True)
    return sum(count for cell, count in counts if cell != "*")


def _parent_check(parent: ParentFacts) -> Check:
    """Accept the named parent of a recoding, if it is named as `publish` names it."""
    named = [*parent.earlier, *([] if parent.manifest is None else [parent.manifest])]
    is_named = all(len(each) == 64 and set(each) <= set("0123456789abcdef") for each in named)
    what = f"the recoding is that of an earlier release, candidate {parent.candidate or 'unnamed'}"
    problem = "" if is_named and len(set(named)) == len(named) else "it is not named by checksums"
    return Check(what, problem, unverified=True)


def _unverified_checks(
    seen: PublicView, manifest: Manifest, tables: Mapping[str, WrittenTable]
) -> Iterator[Check]:
    claims = manifest.unverified
    released = {name: facts.role for name, facts in manifest.layout.attributes.items()}
    kept = {each.name for each in claims.attributes if each.role in ("identifying", "withheld")}
    said = {each.name: each.role for each in claims.attributes if each.name not in kept}
    wrong = said != released or kept & set(released) or len(said) + len(kept) < len(claims.attributes)
    yield Check(
        "the attributes have the same roles wherever they are named", "they have not" if wrong else ""
    )
    many = [
        each.name for each in claims.attributes if (each.exact or 0) > _told_cells(seen, tables, each.name)
    ]
    yield Check("no more cells are called exact than are told", f"{many[0]!r} has fewer" if many else "")
    yield Check("roles, kinds and hierarchies of the attributes, and which cells are exact", unverified=True)
    like = like_sets(manifest, tables)
    if like:
        what = f"exact values of {', '.join(like)} read like intervals, sets or branches"
        yield Check(what, unverified=True)
    told = {name: facts.branches for name, facts in manifest.layout.attributes.items() if facts.branches}
    if told:
        unseen = [name for name, branches in told.items() if not _are_seen(tables, name, branches)]
        problem = f"{unseen[0]!r} has others" if unseen else ""
        yield Check("what is explained of branches are those that the cells have", problem)
        yield Check("what the branches stand for", unverified=True)
    whole = [name for name, facts in manifest.layout.attributes.items() if facts.whole]
    if whole:
        yield Check(f"all numbers are whole of {', '.join(whole)}", unverified=True)
    for kind, facts in manifest.formats.items():
        if facts.labels or facts.codes:
            yield Check(f"what the labels of columns and values in the files .{kind} say", unverified=True)
    yield Check(f"the original has {manifest.layout.n_original:,} records", unverified=True)
    yield Check(f"the rows stand for {_STAND_FOR[manifest.layout.type]}", unverified=True)
    yield Check(f"the release was made by {manifest.recipe.sanitizer} as the recipe says", unverified=True)
    yield Check(f"sfumato {manifest.sfumato} wrote it", unverified=True)
    if manifest.parent is not None:
        yield _parent_check(manifest.parent)
    yield Check(
        "who decided, when and why, and what is said of purpose, recipients and safeguards", unverified=True
    )
    yield Check(f"how many candidates were tried: {sum(claims.tried.values()):,}", unverified=True)
    if claims.people is not None:
        fits = 0 < claims.people.released <= min(claims.people.original, seen.n_records)
        fits = fits and claims.people.original <= manifest.layout.n_original
        if seen.people is not None:
            fits = fits and claims.people.released == seen.n_people
        yield Check(
            f"the records are those of {claims.people.released:,} of {claims.people.original:,} people",
            "" if fits else "the published records speak against it",
            unverified=True,
        )
    if claims.figures:
        names = ", ".join(dict.fromkeys(figure.measure for figure in claims.figures))
        yield Check(f"the owner's figures, told as bands ({names})", unverified=True)
    if claims.initial is not None:
        yield Check("how well people could be found in the original, told as bands", unverified=True)
    if claims.notes:
        yield Check("the notes of the method", unverified=True)
