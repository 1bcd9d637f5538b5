"""Parse the documents of a published folder strictly.

An unknown, duplicate or missing key and a value of the wrong type are errors: a key that no reader reads
could say anything.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeGuard, cast

import msgspec

from sfumato.runtime.errors import CannotTell, VerificationFailed
from sfumato.verification.folder import MANIFEST, Profile, StatisticsFormat, read_bytes

FORMAT = 3
"""The number of the format that `publish` writes: what the files of a folder are called, and hold."""
_BEFORE_RELEASES = (1, 2)
_LARGEST_FILE = 64 << 20
_TIE = 1e-12
_VERSION = re.compile(r"[0-9]{1,6}(\.[0-9]{1,6}){1,3}[a-z0-9.+-]{0,20}")


KindName = Annotated[str, msgspec.Meta(pattern="^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=100)]
"""The name of a kind of value."""
OUR_KINDS = ("numeric", "categorical")
"""The kinds of value that need no plug-in."""


class _Piece(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One part of the manifest, with exactly these keys and types."""


class AttributeFacts(_Piece, frozen=True, omit_defaults=True):
    """The role of a published attribute; kind and hierarchy where distances between values need them.

    A kind that is neither ``numeric`` nor ``categorical`` comes from a plug-in and stands beside every column
    that has it. Its values are texts, in the order of the hierarchy.

    ``branches`` says what a published branch of a hierarchy stands for, a missing value as an empty text;
    ``whole`` that all numbers are whole.
    """

    role: Literal["quasi-identifying", "sensitive", "insensitive"]
    kind: KindName | None = None
    hierarchy: list[list[str]] | None = None
    branches: dict[str, list[str]] | None = None
    whole: bool = False


class LayoutFacts(_Piece, frozen=True, omit_defaults=True):
    """The layout of the data in its files.

    ``person`` is the column of pseudonyms, where there is one; ``type`` what the rows stand for; ``sampled``
    whether they were drawn at random from all.
    """

    attributes: dict[str, AttributeFacts]
    n_original: int
    form: Literal["one-table", "two-tables"]
    group: str | None
    person: str | None = None
    type: Literal["people", "perturbed", "synthetic"] = "people"
    sampled: bool = False


class RecipeFacts(_Piece, frozen=True):
    """The recipe of the release, of which only the promised models can be checked."""

    sanitizer: str
    parameters: dict[str, Any]


class Claimed(_Piece, frozen=True):
    """One number about the published cells."""

    measure: str
    parameters: dict[str, Any]
    attribute: str | None
    value: int | float | str | None
    axis: Literal["privacy", "utility"]
    better: Literal["lower", "higher"]
    applicable: bool
    interval: list[int | float | str] | None
    baseline: int | float | str | None
    detail: dict[str, Any]


class RequirementFacts(_Piece, frozen=True, omit_defaults=True):
    """One model that the recipe promises, its limit, and the level reached.

    If ``people`` are counted, the level is the limit: only the owner knows how far it is kept beyond that.
    """

    model: dict[str, dict[str, Any]]
    parameter: str
    limit: float
    reached: int | float | str
    prior: Literal["released", "original"]
    counted: Literal["records", "people"] = "records"


class LimitFacts(_Piece, frozen=True, omit_defaults=True):
    """The limit of a policy on a measure, with these parameters or, if they are ``None``, with any.

    ``attribute`` is the sensitive attribute that it limits; ``None`` if it limits all.
    """

    measure: str
    parameters: dict[str, Any] | None
    at_least: float | None
    at_most: float | None
    attribute: str | None = None

    @property
    def low(self) -> float:
        """The least value that it allows."""
        return -math.inf if self.at_least is None else self.at_least

    @property
    def high(self) -> float:
        """The greatest value that it allows."""
        return math.inf if self.at_most is None else self.at_most

    def applies_to(self, figure: Claimed | OwnerFigure) -> bool:
        """Return whether it limits a figure, of one sensitive attribute or of all."""
        is_of_attribute = None in (self.attribute, figure.attribute) or self.attribute == figure.attribute
        return (
            is_of_attribute
            and self.measure == figure.measure
            and self.parameters in (None, figure.parameters)
        )

    def allows(self, value: Any) -> bool:
        """Return whether a value keeps the limit; a value equal to it up to rounding does."""
        return value is not None and self.low - _TIE <= numeral(value) <= self.high + _TIE


class DecisionFacts(_Piece, frozen=True):
    """Who chose the release, why and when."""

    candidate: str
    why: str
    by: str
    when: str


class ParentFacts(_Piece, frozen=True):
    """The release whose recoding this one has, and others that were published before it.

    ``candidate`` is the parent's, ``manifest`` the SHA-256 of its manifest if it was published, and
    ``earlier`` those of the other releases that were examined together with it.
    """

    candidate: str | None
    manifest: str | None
    earlier: list[str]


class FileFacts(_Piece, frozen=True):
    """The facts that identify a file."""

    sha256: str
    bytes: int


class FormatFacts(_Piece, frozen=True, omit_defaults=True):
    """The columns in a file of a statistics program.

    ``renamed`` says what a column is called there, where the program does not take its name, ``labels`` the
    label of a column, and ``codes`` the number that stands for a value of it by the value's label.
    """

    renamed: dict[str, str] = {}
    labels: dict[str, str] = {}
    codes: dict[str, dict[str, int]] = {}


class UnverifiedAttribute(_Piece, frozen=True):
    """Facts about an attribute that only the publisher knows.

    ``levels``, ``lowest`` and ``weight`` are those of its hierarchy and of the losses, ``exact`` the number
    of released cells that are original values, ``noisy`` whether the cells are no sets of original values at
    all, and ``ends_at_values`` whether intervals end at values that occur.
    """

    name: str
    role: Literal["identifying", "withheld", "quasi-identifying", "sensitive", "insensitive"]
    kind: KindName | None
    levels: int | None
    lowest: int | None
    weight: float | None
    exact: int | None
    noisy: bool
    ends_at_values: bool


class Band(_Piece, frozen=True):
    """The interval that a figure is in; both ends are the figure itself if it may be disclosed."""

    low: int | float | str
    high: int | float | str


class OwnerFigure(_Piece, frozen=True):
    """A figure that only the owner can compute, as a band; ``None`` if the measure does not apply.

    ``worst`` says whether it is the worst of its measure over the sensitive attributes, ``met`` whether it
    keeps the policy, if a limit applies to it.
    """

    measure: str
    parameters: dict[str, Any]
    attribute: str | None
    axis: Literal["privacy", "utility"]
    better: Literal["lower", "higher"]
    band: Band | None
    worst: bool
    met: bool | None


class InitialRisk(_Piece, frozen=True):
    """The re-identification risk of the original, at worst and on average, as bands."""

    worst: Band
    average: Band


class PeopleFacts(_Piece, frozen=True):
    """The number of people behind the records, in the original and in the release.

    ``alone`` counts those whose class nobody else shares.
    """

    original: int
    released: int
    alone: int


class PublicFacts(_Piece, frozen=True, omit_defaults=True):
    """What the publisher assumes everyone to know of the values of an attribute without the records.

    ``hierarchy`` says of which sort it is, if there is one; the tree itself is as public.
    """

    kind: KindName
    whole: bool | None = None
    bounds: Annotated[list[int | float], msgspec.Meta(min_length=2, max_length=2)] | None = None
    domain: list[str | int | float] = []
    hierarchy: str | None = None


class GuaranteeFacts(_Piece, frozen=True, omit_defaults=True):
    """The claim of differential privacy, and the public part that it rests on.

    A folder that makes it states nothing that was computed from the original without noise. ``chosen`` says
    whether the candidate was chosen ``before`` any look at the original or ``after`` it.
    """

    epsilon: float
    delta: float
    unit: Literal["record", "person"]
    public: dict[str, PublicFacts]
    chosen: Literal["before", "after"]
    people_at_most: int | None = None


class UnverifiedClaims(_Piece, frozen=True, omit_defaults=True):
    """Unverified claims by the publisher: what no reader can check from the files.

    ``people`` is stated if someone has several records, ``tried`` counts the candidates of each method,
    ``headline`` names the measures that the report begins with, and ``initial`` is stated if a profile asks
    for it. With a ``guarantee`` of differential privacy nothing else is told of the original.
    """

    name: str
    title: str
    purpose: str
    recipients: str
    safeguards: str
    steward: str
    review_by: str | None
    missing: Literal["category", "drop"]
    attributes: list[UnverifiedAttribute]
    tried: dict[str, int]
    efficient: bool | None
    headline: list[str]
    figures: list[OwnerFigure]
    initial: InitialRisk | None
    notes: list[str]
    people: PeopleFacts | None = None
    guarantee: GuaranteeFacts | None = None


class Manifest(_Piece, frozen=True, omit_defaults=True):
    """All statements of a published folder about itself. The seed is not among them.

    Parameters
    ----------
    format
        The version of this layout.
    sfumato
        The version of sfumato that wrote the folder.
    layout
        What a reader must know to take the data files as a release.
    recipe
        Sanitizer and parameters, the seed left out.
    claims
        Measurements of the published cells alone: priors are those of the released records.
    requirements
        The models that the recipe promises, and the levels that the published cells reach.
    recipient
        Who gets the release, as the publisher's policy names them; ``none`` if it names nobody.
    policy
        What had to hold, by measure.
    decision
        Who chose this release, why and when.
    unverified
        What only the publisher knows: no reader can check it.
    profiles
        The templates of reviewers that the report is arranged by in pages of its own.
    files
        The checksum and the length of every file that lies beside this one.
    signed_by
        The fingerprint of the key that signs the manifest, if one does.
    parent
        Where the recoding is that of an earlier release, which one.
    partition_by
        The attribute by whose values the Parquet files are laid into folders, if they are.
    formats
        The formats of statistics programs that the data is written in as well.
    """

    format: int
    sfumato: str
    layout: LayoutFacts
    recipe: RecipeFacts
    claims: list[Claimed]
    requirements: list[RequirementFacts]
    recipient: str
    policy: dict[str, LimitFacts]
    decision: DecisionFacts
    unverified: UnverifiedClaims
    profiles: list[Profile]
    files: dict[str, FileFacts]
    signed_by: str | None
    parent: ParentFacts | None = None
    partition_by: str | None = None
    formats: dict[StatisticsFormat, FormatFacts] = {}


class FileManifest(_Piece, frozen=True):
    """The manifest of files of a release outside a published folder; see `Manifest`."""

    format: int
    sfumato: str
    layout: LayoutFacts
    recipe: RecipeFacts
    requirements: list[RequirementFacts]
    files: dict[str, FileFacts]


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a published folder, or report in one line why it is not credible."""
    if not os.path.isdir(folder):
        raise VerificationFailed(f"no folder {folder.name}; give one that `sfumato publish` wrote")
    if not os.path.exists(folder / MANIFEST):
        raise VerificationFailed(
            f"{folder.name or folder} has no {MANIFEST}; give a folder that `sfumato publish` wrote"
        )
    facts = read_json(folder, MANIFEST)
    number = facts.get("format") if isinstance(facts, dict) else None
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise VerificationFailed(f"{MANIFEST} is damaged: it names no format")
    if number in _BEFORE_RELEASES:
        raise VerificationFailed(
            f"{MANIFEST} has format {number}, from before sfumato 0.2.0; publish the release again"
        )
    if number not in READERS:
        version = facts.get("sfumato")
        is_version = isinstance(version, str) and _VERSION.fullmatch(version)
        writer = f"sfumato {version} or a later version" if is_version else "a later version"
        raise CannotTell(
            f"{MANIFEST} has format {number}, and this version of sfumato reads formats up to "
            f"{max(READERS)}; verify it with {writer}"
        )
    try:
        return READERS[number](facts)
    except msgspec.ValidationError as error:
        raise VerificationFailed(f"{MANIFEST} is damaged: {' '.join(str(error).split())}") from None


def _read_format_3(facts: dict[str, Any]) -> Manifest:
    return msgspec.convert(facts, Manifest, strict=True)


READERS: dict[int, Callable[[dict[str, Any]], Manifest]] = {3: _read_format_3}
"""For each format that was ever published, how its manifest is read. None is ever removed.

A new format gets a reader of its own, here and for its pages (`page_statements`), and new golden
folders (`tests/golden`); those of the earlier formats stay.
"""


def release_number(version: str) -> tuple[int, ...]:
    """Return the numbers at the beginning of a version, to find the later one of two.

    Examples
    --------
    >>> release_number("0.10.1.dev0") > release_number("0.9")
    True
    """
    numbers = re.match(r"[0-9]{1,6}(?:\.[0-9]{1,6})*", version)
    return tuple(map(int, numbers[0].split("."))) if numbers else ()


def read_json(folder: Path, name: str) -> Any:
    """Read a JSON file strictly: no duplicate key, no NaN, only valid numbers and texts."""
    text = read_bytes(folder, name, at_most=_LARGEST_FILE)
    try:
        document = json.loads(text.decode("utf-8"), object_pairs_hook=_unique_keys, parse_int=_finite_integer)
        # an infinite number, no number, or half of a character, as \ud800, could not be signed
        canonical(document)
        return document
    except (ValueError, RecursionError):
        raise VerificationFailed(f"{name} is damaged: it is not the JSON that `publish` writes") from None


def read_scalar(text: str) -> float | str | bool | None:
    """Read a number, a truth value or ``null`` in JSON notation; raise `ValueError` for anything else."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is no JSON")

    value = json.loads(text, parse_constant=refuse)
    if isinstance(value, (dict, list)):
        raise ValueError("more than one value")
    return cast("float | str | bool | None", value)


def json_text(document: msgspec.Struct | dict[str, Any]) -> str:
    """Return the text of a JSON file."""
    return json.dumps(msgspec.to_builtins(document), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def canonical(facts: Any) -> bytes:
    """Return plain data as the bytes that are signed: JSON, sorted keys, no blanks, UTF-8.

    Examples
    --------
    >>> canonical({"b": 1.0, "a": ["ü"]}).decode()
    '{"a":["ü"],"b":1.0}'
    """
    return json.dumps(
        facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode()


def numeral(value: Any) -> float:
    """Return the number that a value of a JSON document stands for; infinity is written as text.

    Examples
    --------
    >>> numeral("Infinity"), numeral(3)
    (inf, 3.0)
    """
    if isinstance(value, str):
        if value not in ("Infinity", "-Infinity"):
            raise VerificationFailed(f"{MANIFEST} is damaged: a number is written as a text")
        return math.inf if value == "Infinity" else -math.inf
    return float(value)


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether a value of a JSON document is a number; a truth value is none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        raise ValueError("a key occurs twice")
    return document


def _finite_integer(text: str) -> int:
    if math.isinf(float(text)):
        raise ValueError("a number is too large")
    return int(text)
