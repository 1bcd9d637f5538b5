"""Check everything that a published folder states, one statement after the other.

**What is verified.** Every statement that the files determine is computed again from the published cells:
checksums, equal records in all formats, the data package, claims, requirements, policy, pages, signature and
certificate. Statements that no reader can check are listed as unverified claims, and must still agree with
each other and with the cells.

**How it is independent.** This room imports nothing of sfumato but ``runtime/``: no model, measure,
sanitizer, kernel, class or release. It is written from the definitions in ``docs/definitions.md``, counts
records in the plainest way and holds its own list of facts about every method. So a fault in the code that
made a folder cannot confirm itself here, and this code can stay the same while the rest changes
(``docs/decisions/0004-verification-twice.md``).

**In which order.** A later step relies on the earlier ones; the first failed checksum ends the checks.

1. `documents` parses the manifest strictly, by its format number.
2. `check_folder` compares the files with the manifest (`folder`), then reads the CSV files (`written_tables`)
   and compares every other format with them (`partition_check`, `statistics_files_check`).
3. `published_view` counts classes and groups as a reader sees them.
4. `figures` and `levels` compute claims, requirements and policy again.
5. `contradictions` compares the statements that cannot be computed with each other and with the cells.
6. `page_check` compares the pages with `page_statements`; `readme_check` the README.
7. `signature` and `certificate` come last: they state what all of the above has shown.

**What it costs.** Each file is read once for its checksum and once for its records. Equal rows are counted
together, so every later step depends on the number of distinct rows. The dearest figure is
`quasi-identifier-contribution`, which counts classes for every subset of up to 8 quasi-identifiers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, cast

from sfumato.runtime.errors import VerificationFailed
from sfumato.verification.contradictions import contradictions, exact_values_like_sets
from sfumato.verification.documents import (
    Claimed,
    FormatFacts,
    LimitFacts,
    Manifest,
    RequirementFacts,
    is_number,
    numeral,
    read_json,
)
from sfumato.verification.figures import (
    MEASURES,
    NOT_COMPUTABLE,
    OneOf,
    Recomputed,
    WithinRange,
    known_measure,
    recompute,
    recompute_claim,
    value_of_attribute,
)
from sfumato.verification.folder import (
    DATAPACKAGE,
    MANIFEST,
    PROFILES,
    README,
    REPORT,
    SIGNATURE,
    UNLISTED,
    StatisticsFormat,
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
from sfumato.verification.published_view import PublicView, public_view, table_names
from sfumato.verification.statistics_files_check import differs_from_statistics
from sfumato.verification.written_tables import (
    Tables,
    WrittenTable,
    cell_counts,
    column_of,
    differs_from_parquet,
    parquet_types,
    read_tables,
)

ALWAYS_CLAIMED = ("k-anonymity", "reidentification-risk")
_MEANING_OF_ROWS = {
    "people": "people one by one, each with true values or sets that hold them",
    "perturbed": "people with changed values",
    "synthetic": "nobody: they are made up",
}
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
    tables: Tables | None = None

    @property
    def hold(self) -> bool:
        """Whether nothing contradicts any statement."""
        return all(check.holds for check in self.checks)


def check_folder(folder: Path, manifest: Manifest, tables: Tables | None = None) -> FolderChecks:
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
        # files that are not the published data need no further look
        return FolderChecks(checks)
    try:
        if tables is None:
            tables = read_tables(folder, table_names(manifest.layout))
        for name, table in tables.items():
            checks += [*_record_checks(folder, name, table, manifest)]
        checks.append(_data_package_check(folder, manifest, tables))
        view = public_view(tables, manifest.layout)
        checks += [
            *_claim_checks(view, manifest),
            *_requirement_checks(view, manifest),
            *_policy_checks(view, manifest),
            *(Check(what, problem) for what, problem in contradictions(view, manifest, tables)),
            *_unverified_checks(view, manifest, tables),
        ]
    except VerificationFailed as error:
        checks.append(Check("the published data is what the manifest describes", str(error)))
    return FolderChecks(checks, tables)


# Files


def expected_files(manifest: Manifest) -> set[str]:
    """Return the files that a manifest of this layout must list."""
    parts = partition_files(manifest)
    data = {file for name in table_names(manifest.layout) for file in _data_files(manifest, name, parts)}
    return data | {REPORT, README, DATAPACKAGE} | set(map(page_of, manifest.profiles))


def _data_files(manifest: Manifest, table: str, parts: Iterable[str]) -> list[str]:
    """Return the files that hold a table, in the order in which the data package lists them."""
    is_partitioned = table == partitioned_table(manifest)
    parquet = list(parts) if is_partitioned else [f"{table}.parquet"]
    return [f"{table}.csv", *parquet, *(f"{table}.{kind}" for kind in manifest.formats)]


def _file_checks(folder: Path, manifest: Manifest) -> Iterator[Check]:
    listed, present, wanted = set(manifest.files), set(file_names(folder)), expected_files(manifest)
    problem = f"it lists {_few_names(listed ^ wanted)} wrongly" if listed != wanted else ""
    yield Check(f"{MANIFEST} lists every file", problem)
    if manifest.profiles:
        in_order = [name for name in PROFILES if name in manifest.profiles]
        problem = "" if manifest.profiles == in_order else "it is not"
        yield Check("every profile is named once, in the usual order", problem)
    unlisted = set(UNLISTED) if manifest.signed_by is not None else set(UNLISTED) - {SIGNATURE}
    extra = present - wanted - unlisted
    yield Check("the folder holds no other file", f"there is also {_few_names(extra)}" if extra else "")
    for name in sorted((listed & wanted) | unlisted):
        if name in UNLISTED:
            yield Check(f"{name} is there", "" if name in present else "the file is missing")
            continue
        facts = manifest.files[name]
        try:
            is_same = fingerprint(folder, name) == (facts.sha256, facts.bytes)
            problem = "" if is_same else "the file was changed after it was published"
        except VerificationFailed as error:
            problem = str(error)
        yield Check(f"{name} has its checksum", problem)


def _few_names(names: set[str]) -> str:
    """List a few file names that can be printed."""
    printable = [
        name if name.isprintable() and len(name) < 100 else "a file with an odd name"
        for name in sorted(names)
    ]
    return ", ".join(printable[:3]) + (f" and {len(printable) - 3} more" if len(printable) > 3 else "")


def _record_checks(folder: Path, name: str, table: WrittenTable, manifest: Manifest) -> Iterator[Check]:
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


def _data_package_check(folder: Path, manifest: Manifest, tables: Tables) -> Check:
    """Compare the data package with the one that describes these files."""
    expected = {
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "name": slug(manifest.unverified.name),
        "title": manifest.unverified.name,
        "description": manifest.unverified.purpose,
        "resources": [
            resource
            for name, table in tables.items()
            for resource in _resources(folder, manifest, name, table)
        ],
    }
    problem = "" if read_json(folder, DATAPACKAGE) == expected else "it says something else"
    return Check(f"{DATAPACKAGE} describes these files", problem)


def _resources(
    folder: Path, manifest: Manifest, table: str, written: WrittenTable
) -> Iterator[dict[str, Any]]:
    parts, column = partition_files(manifest), manifest.partition_by
    files = _data_files(manifest, table, parts)
    if column is None or f"{table}.parquet" in files:
        types = parquet_types(folder, f"{table}.parquet")
    else:
        types = types_in_parts(folder, parts, column, written.names)
    for number, file in enumerate(files):
        kind = Path(file).suffix[1:]
        facts = manifest.formats.get(cast("StatisticsFormat", kind))
        yield {
            "name": f"{table}-{kind}" + (f"-{number - 1}" if file in parts else ""),
            "path": file,
            "format": kind,
            "hash": f"sha256:{manifest.files[file].sha256}",
            "schema": {
                "fields": [
                    _field(name, data_type, facts)
                    for name, data_type in types
                    if not (file in parts and name == column)
                ],
                "missingValues": [""],
            },
        }


def _field(name: str, data_type: str, facts: FormatFacts | None) -> dict[str, Any]:
    """Describe a column, in the terms of a statistics program for its files."""
    if facts is None:
        return {"name": name, "type": data_type}
    codes = facts.codes.get(name, {})
    described: dict[str, Any] = {
        "name": facts.renamed.get(name, name),
        "type": "integer" if codes else data_type,
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


def _claim_checks(view: PublicView, manifest: Manifest) -> Iterator[Check]:
    claimed = {claim.measure for claim in manifest.claims}
    missing = [name for name in ALWAYS_CLAIMED if name not in claimed]
    problem = f"no claim of {missing[0]}" if missing else ""
    yield Check("the smallest class and its risk are claimed", problem)
    earlier: list[tuple[str, Mapping[str, Any]]] = []
    counted = "" if manifest.unverified.people is None else ", counting records"
    for measure, claims in groupby(manifest.claims, key=lambda claim: (claim.measure, claim.parameters)):
        if measure in earlier:
            yield Check(f"{measure[0]} is claimed once", "it is claimed again")
        earlier.append(measure)
        yield from _measure_checks(view, *measure, list(claims), counted)


def _measure_checks(
    view: PublicView, name: str, parameters: Mapping[str, Any], claims: list[Claimed], counted: str
) -> Iterator[Check]:
    measure = known_measure(name, parameters)
    if measure is None:
        unknown = "distance" if name in MEASURES else "measure"
        for claim in claims:
            what = f"{_claim_words(claim)}, by a {unknown} that is no part of sfumato"
            yield Check(what, unverified=True)
        return
    # the limit has no part in the level that is reached
    required = measure.parameters - ({MODELS[name].limit} if name in MODELS else set())
    if not required <= set(parameters) <= measure.parameters:
        yield Check(f"{name} has the parameters that it takes", "it has others")
        return
    try:
        results = recompute_claim(measure, view, parameters)
    except NOT_COMPUTABLE:
        yield Check(f"{name} has parameters that it can be computed with", "it has not")
        return
    if len(results) != len(claims):
        problem = f"{len(claims)} claims, not {len(results)}"
        yield Check(f"{name} is claimed of every sensitive attribute", problem)
        return
    for claim, result in zip(claims, results, strict=True):
        problem = "the value is right, but not what is said beside it"
        if not _agrees(claim.value, result.value):
            problem = f"the published cells give {_printed(result.value)}"
        elif _states(claim, result) and (claim.axis, claim.better) == (measure.axis, measure.better):
            problem = ""
        yield Check(f"{_claim_words(claim)}{counted if claim.axis == 'privacy' else ''}", problem)


def _claim_words(claim: Claimed) -> str:
    attribute = f" of {claim.attribute}" if claim.attribute else ""
    return f"{claim.measure}{attribute} is {_printed(claim.value)}"


def _printed(value: Any) -> str:
    return "not applicable" if value is None else f"{numeral(value):.6g}"


def _states(claim: Claimed, result: Recomputed) -> bool:
    """Return whether all that is stated with a claimed value is right."""
    return (
        claim.attribute == result.attribute
        and claim.applicable == (claim.value is not None)
        and _agrees(claim.baseline, result.baseline)
        and _agrees(claim.interval, None if result.interval is None else list(result.interval))
        and _agrees(claim.detail, result.detail)
    )


def _agrees(claimed: Any, result: Any) -> bool:
    """Return whether a value of a document is the computed one, with numbers equal up to rounding."""
    if isinstance(result, Mapping):
        return (
            isinstance(claimed, Mapping)
            and claimed.keys() == result.keys()
            and all(_agrees(claimed[name], result[name]) for name in result)
        )
    if isinstance(result, list):
        return (
            isinstance(claimed, list) and len(claimed) == len(result) and all(map(_agrees, claimed, result))
        )
    if isinstance(result, OneOf):
        return isinstance(claimed, str) and claimed in result.names
    if isinstance(result, WithinRange):
        return is_number(claimed) and result.low - _ROUNDING <= claimed <= result.high + _ROUNDING
    if isinstance(result, bool) or result is None or isinstance(result, str):
        return type(claimed) is type(result) and bool(claimed == result)
    if isinstance(result, float) and math.isinf(result):
        return bool(claimed == ("Infinity" if result > 0 else "-Infinity"))
    return is_number(claimed) and math.isclose(claimed, result, rel_tol=_ROUNDING, abs_tol=_ROUNDING)


# Requirements


def _requirement_checks(view: PublicView, manifest: Manifest) -> Iterator[Check]:
    for requirement in manifest.requirements:
        yield _requirement_check(view, requirement, counts_people=manifest.unverified.people is not None)


def _requirement_check(view: PublicView, requirement: RequirementFacts, *, counts_people: bool) -> Check:
    name, parameters = next(iter(requirement.model.items()), ("", {}))
    what = (
        f"{name} reaches {requirement.parameter} = {_printed(requirement.reached)}, "
        f"asked was {requirement.limit:g}"
    )
    model = MODELS.get(name)
    if model is None and len(requirement.model) == 1:
        return Check(f"{what}, by a model that is no part of sfumato", unverified=True)
    if model is None or len(requirement.model) != 1 or set(parameters) != model.parameters:
        return Check(what, "the model does not have the parameters that it takes")
    if requirement.parameter != model.limit or not _agrees(requirement.limit, parameters[model.limit]):
        return Check(what, "the limit is not the one that the model names")
    if counts_people != (requirement.counted == "people"):
        return Check(what, "it does not count whom the rest of the manifest counts")
    if counts_people:
        return _people_requirement_check(view, name, requirement, model)
    if known_measure(name, parameters) is None:
        return Check(f"{what}, by a distance that is no part of sfumato", unverified=True)
    try:
        level = recompute(MEASURES[name], view, parameters)[0].value
    except NOT_COMPUTABLE:
        level = None
    if level is None or not _agrees(requirement.reached, level):
        return Check(what, f"the published cells reach {_printed(level)}")
    if model.keeps(level, requirement.limit):
        is_hidden = requirement.prior != "released"
        problem = "it is called an unverified claim, but the published cells keep it" if is_hidden else ""
        return Check(what, problem)
    if requirement.prior == "released" or not model.by_prior or view.n_suppressed == 0:
        return Check(what, "what was asked is not reached")
    return Check(
        f"{what}: it is kept by the distribution of all original records, not by that of the released ones",
        unverified=True,
    )


def _people_requirement_check(
    view: PublicView, name: str, requirement: RequirementFacts, model: KnownModel
) -> Check:
    """Accept what only the owner can count, unless the records alone contradict it.

    A class has no more people than records; if pseudonyms are published, its people can be counted.
    """
    what = f"{name} keeps {requirement.parameter} = {requirement.limit:g}, counting people"
    if not _agrees(requirement.reached, requirement.limit) or requirement.prior != "original":
        return Check(what, "it says more than that it is kept")
    if name != "k-anonymity":
        return Check(what, unverified=True)
    problem = "" if model.keeps(view.fewest, requirement.limit) else _smallest_class_words(view)
    return Check(what, problem, unverified=view.people is None)


def _smallest_class_words(view: PublicView) -> str:
    counted = "records" if view.people is None else "people by their pseudonyms"
    return f"the smallest class has {view.fewest:,} {counted}"


# Policy


def _policy_checks(view: PublicView, manifest: Manifest) -> Iterator[Check]:
    for name, limit in manifest.policy.items():
        ends = {"at least": limit.at_least, "at most": limit.at_most}
        end_words = " and ".join(f"{words} {end:g}" for words, end in ends.items() if end is not None)
        what = f"the policy's {name} {end_words}"
        # if people are counted, claims of privacy count their records, and no policy applies to these
        claims = [
            claim
            for claim in manifest.claims
            if limit.applies_to(claim) and (manifest.unverified.people is None or claim.axis == "utility")
        ]
        figures = [figure for figure in manifest.unverified.figures if limit.applies_to(figure)]
        if limit.at_least is None and limit.at_most is None:
            yield Check(what, "it limits nothing")
        elif claims:
            is_met = all(map(limit.allows, _limited_values(view, limit, claims)))
            problem = "" if is_met else "a claim does not meet it"
            is_known = all(known_measure(claim.measure, claim.parameters) for claim in claims)
            yield Check(f"{what} is met", problem, unverified=not is_known)
        elif figures:
            problem = _class_size_problem(view, limit)
            if not all(figure.met for figure in figures):
                problem = "it is said not to be"
            yield Check(f"{what} is met by the owner's figure", problem, unverified=True)
        else:
            yield Check(what, "nothing is said of what it limits")


def _class_size_problem(view: PublicView, limit: LimitFacts) -> str:
    """Return the size of the smallest class if a policy asks for a larger one."""
    is_of_size = limit.measure == "k-anonymity" and limit.at_least is not None
    return _smallest_class_words(view) if is_of_size and view.fewest < limit.low - _TIE else ""


def _limited_values(view: PublicView, limit: LimitFacts, claims: list[Claimed]) -> list[Any]:
    """Return the claimed values; compute that of a single attribute, as a claim may be the worst of all."""
    return [
        value_of_attribute(view, claim, limit.attribute)
        if limit.attribute is not None and known_measure(claim.measure, claim.parameters)
        else claim.value
        for claim in claims
    ]


# Unverified claims


def _unverified_checks(view: PublicView, manifest: Manifest, tables: Tables) -> Iterator[Check]:
    """List what no reader can check, with what the cells show of it."""
    unverified, layout = manifest.unverified, manifest.layout
    yield from _attribute_checks(view, manifest, tables)
    for kind, facts in manifest.formats.items():
        if facts.labels or facts.codes:
            yield Check(f"what the labels of columns and values in the files .{kind} say", unverified=True)
    yield Check(f"the original has {layout.n_original:,} records", unverified=True)
    yield Check(f"the rows stand for {_MEANING_OF_ROWS[layout.type]}", unverified=True)
    yield Check(f"the release was made by {manifest.recipe.sanitizer} as the recipe says", unverified=True)
    yield Check(f"sfumato {manifest.sfumato} wrote it", unverified=True)
    if manifest.parent is not None:
        sums = [*manifest.parent.earlier]
        if manifest.parent.manifest is not None:
            sums.append(manifest.parent.manifest)
        are_sums = all(len(checksum) == 64 and set(checksum) <= set("0123456789abcdef") for checksum in sums)
        what = (
            f"the recoding is that of an earlier release, candidate {manifest.parent.candidate or 'unnamed'}"
        )
        problem = "" if are_sums and len(set(sums)) == len(sums) else "it is not named by checksums"
        yield Check(what, problem, unverified=True)
    yield Check(
        "who decided, when and why, and what is said of purpose, recipients and safeguards", unverified=True
    )
    if unverified.tried:
        yield Check(f"how many candidates were tried: {sum(unverified.tried.values()):,}", unverified=True)
    if unverified.guarantee is not None:
        yield Check(
            "the guarantee of differential privacy, and that its public part is public", unverified=True
        )
    people = unverified.people
    if people is not None:
        fits = 0 < people.released <= min(people.original, view.n_records)
        fits = fits and people.original <= layout.n_original and view.n_people in (None, people.released)
        yield Check(
            f"the records are those of {people.released:,} of {people.original:,} people",
            "" if fits else "the published records speak against it",
            unverified=True,
        )
    if unverified.figures:
        names = ", ".join(dict.fromkeys(figure.measure for figure in unverified.figures))
        yield Check(f"the owner's figures, told as bands ({names})", unverified=True)
    if unverified.initial is not None:
        yield Check("how well people could be found in the original, told as bands", unverified=True)
    if unverified.notes:
        yield Check("the notes of the method", unverified=True)


def _attribute_checks(view: PublicView, manifest: Manifest, tables: Tables) -> Iterator[Check]:
    attributes, published = manifest.unverified.attributes, manifest.layout.attributes
    unreleased = {facts.name for facts in attributes if facts.role in ("identifying", "withheld")}
    released = {facts.name: facts.role for facts in attributes if facts.name not in unreleased}
    is_wrong = released != {name: facts.role for name, facts in published.items()}
    is_wrong = is_wrong or bool(unreleased & set(published))
    is_wrong = is_wrong or len(released) + len(unreleased) < len(attributes)
    problem = "they have not" if is_wrong else ""
    yield Check("the attributes have the same roles wherever they are named", problem)
    overstated = [
        facts.name for facts in attributes if (facts.exact or 0) > _released_cells(view, tables, facts.name)
    ]
    problem = f"{overstated[0]!r} has fewer" if overstated else ""
    yield Check("no more cells are called exact than are told", problem)
    yield Check("roles, kinds and hierarchies of the attributes, and which cells are exact", unverified=True)
    like_sets = exact_values_like_sets(manifest, tables)
    if like_sets:
        what = f"exact values of {', '.join(like_sets)} read like intervals, sets or branches"
        yield Check(what, unverified=True)
    explained = {name: facts.branches for name, facts in published.items() if facts.branches}
    if explained:
        others = [name for name, branches in explained.items() if not _occur(tables, name, branches)]
        problem = f"{others[0]!r} has others" if others else ""
        yield Check("what is explained of branches are those that the cells have", problem)
        yield Check("what the branches stand for", unverified=True)
    whole = [name for name, facts in published.items() if facts.whole]
    if whole:
        yield Check(f"all numbers are whole of {', '.join(whole)}", unverified=True)


def _released_cells(view: PublicView, tables: Tables, name: str) -> int:
    """Return how many cells of an attribute are not withheld."""
    counts = cell_counts(tables, name)
    return view.n_records if counts is None else sum(n for cell, n in counts.items() if cell != "*")


def _occur(tables: Tables, name: str, branches: Iterable[str]) -> bool:
    """Return whether every branch is a cell of the attribute, or a part of one."""
    column = column_of(tables, name)
    cells = {cell for cell in column.values if cell} if column is not None else set()
    return all(branch in cells or any(branch in cell for cell in cells) for branch in branches)
