"""What a page of format 3 must state, block by block: the expected marks, computed from manifest and cells.

A mark names a place in the manifest, or a figure of the cells, as a JSON pointer (RFC 6901). A block is a
section or the header of a page; it states its figures in this order, and no others. Wording, the order of the
blocks and the appearance are not part of the format.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import msgspec
import numpy as np

from sfumato.verification.documents import (
    Band,
    Claimed,
    LimitFacts,
    Manifest,
    OwnerFigure,
    RequirementFacts,
    numeral,
)
from sfumato.verification.figures import MEASURES, claimable
from sfumato.verification.levels import MODELS
from sfumato.verification.published_view import PublicView, table_names
from sfumato.verification.written_tables import WrittenTable, numbered, summed

LABEL = "unverified"
"""The mark of the label that a statement is an unverified claim."""
_SMALL = (3, 5, 11, 20)
_USUAL, _ONE_IN_ELEVEN = 0.09, 1 / 11
_TIE = 1e-12
_UNRELEASED = ("identifying", "withheld")


@dataclass(frozen=True)
class AnyOf:
    """Rows of which a page may state any, each once: the files do not determine which."""

    rows: tuple[tuple[str, ...], ...]
    least: int = 0
    most: int | None = None
    ordered: bool = True


Expected = str | AnyOf


def pointer(*parts: str | int) -> str:
    """Return a JSON pointer.

    Examples
    --------
    >>> pointer("policy", "a/b", "at_least")
    '/policy/a~1b/at_least'
    """
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in parts)


def look_up(document: Any, place: str) -> Any:
    """Return the value at a JSON pointer, or raise `LookupError`."""
    for part in place.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(document, list):
            if not key.isdecimal() or not key.isascii() or str(int(key)) != key:
                raise LookupError(place)
            document = document[int(key)]
        elif isinstance(document, dict):
            document = document[key]
        else:
            raise LookupError(place)
    return document


def _as_document(value: Any) -> Any:
    """Return a document with every key, including defaults, which the manifest omits."""
    if isinstance(value, msgspec.Struct):
        return {name: _as_document(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, Mapping):
        return {name: _as_document(inner) for name, inner in value.items()}
    return [_as_document(inner) for inner in value] if isinstance(value, list) else value


@dataclass(frozen=True)
class Statements:
    """The statements that the pages of a folder may and must make.

    Parameters
    ----------
    manifest
        What the folder says of itself.
    seen
        The published cells, counted.
    tables
        The published tables.
    is_from_later_version
        Whether a later version of sfumato than this one wrote the pages.
    """

    manifest: Manifest
    seen: PublicView
    tables: Mapping[str, WrittenTable]
    is_from_later_version: bool = False

    @cached_property
    def document(self) -> dict[str, Any]:
        """The manifest, and under ``cells`` the figures of the published cells that are not claims."""
        return {**_as_document(self.manifest), "cells": self._cells()}

    @cached_property
    def class_steps(self) -> dict[int, float]:
        """The share of the records in classes of at most each occurring size."""
        sizes, counts = np.unique(self.seen.sizes, return_counts=True)
        shares = np.cumsum(sizes * counts) / self.seen.n_records
        return dict(zip(sizes.tolist(), shares.tolist(), strict=True))

    def blocks(self, page: str) -> dict[str, list[Expected]]:
        """Return the blocks of a page with the statements of each; the page is ``report`` or a profile."""
        made = self._report() if page == "report" else getattr(self, f"_{page.replace('-', '_')}")()
        return {name: list(stated) for name, stated in made.items()}

    # Figures of the cells

    def _cells(self) -> dict[str, Any]:
        manifest, seen = self.manifest, self.seen
        unverified, n_original = manifest.unverified, max(manifest.layout.n_original, 1)
        people = unverified.people
        limited = {limit.measure for limit in manifest.policy.values() if limit.attribute is not None}
        limited &= set(MEASURES)
        return {
            "n_records": seen.n_records,
            "n_suppressed": seen.n_suppressed,
            "released": seen.n_records / n_original,
            "people": None if people is None else people.released / max(people.original, 1),
            "n_attributes": len(unverified.attributes),
            "n_released": len(manifest.layout.attributes),
            "n_identifying": sum(each.role == "identifying" for each in unverified.attributes),
            "n_tried": sum(unverified.tried.values()),
            "n_groups": self._n_groups(),
            "classes": self._classes(),
            "attributes": {name: self._attribute(name) for name in manifest.layout.attributes},
            "alone": [self._alone(names, value) for names, value in self._known_together()],
            "levels": {
                str(place): {each.name: self._level(claim, each.name) for each in seen.sensitive}
                for place, claim in enumerate(manifest.claims)
                # computed only where the page shows it: it takes as long as the claim itself
                if claim.attribute is None and claim.measure in limited
            },
            "policy": {name: self._is_met(name) for name in manifest.policy},
            "limited": {
                name: value
                for name in manifest.policy
                for place, value in self._limited_claims(name)
                if place.startswith("/cells/limited/")
            },
            "is_policy_met": all(map(self._is_met, manifest.policy)),
            "met": {
                "claims": {
                    str(place): allows(limit, claim.value)
                    for place, claim in enumerate(manifest.claims)
                    for limit in [self._shown(claim)]
                    if limit is not None
                },
                "figures": {str(place): bool(each.met) for place, each in enumerate(unverified.figures)},
            },
            "usual": self._usual(),
            "methods": list(unverified.tried),
            "files": [name for name in manifest.files if self._is_data(name)],
            "renamed": {
                kind: list(map(list, facts.renamed.items())) for kind, facts in manifest.formats.items()
            },
        }

    def _is_data(self, name: str) -> bool:
        return name.endswith((".csv", ".parquet", *(f".{kind}" for kind in self.manifest.formats)))

    def _n_groups(self) -> int | None:
        group = self.manifest.layout.group
        if group is None:
            return None
        return len(self.tables[table_names(self.manifest.layout)[0]].columns[group].values)

    def _classes(self) -> dict[str, Any]:
        sizes, n_records = np.sort(self.seen.sizes), max(self.seen.n_records, 1)
        median = sizes[np.searchsorted(np.cumsum(sizes), n_records / 2)] if len(sizes) else 0
        return {
            "n": len(sizes),
            "smallest": int(sizes[0]) if len(sizes) else 0,
            "largest": int(sizes[-1]) if len(sizes) else 0,
            "median": int(median),
            "below": {str(small): int(sizes[sizes < small].sum()) / n_records for small in _SMALL},
        }

    def _attribute(self, name: str) -> dict[str, Any]:
        told = {each.name: each for each in self.seen.sensitive}
        exact = next((each.exact for each in self.manifest.unverified.attributes if each.name == name), None)
        if name in told:
            values, counts = told[name].values, told[name].overall
        else:
            table = self.tables[table_names(self.manifest.layout)[0]]
            values, counts = table.columns[name].values, table.occurrences(name)
        found: dict[str, Any] = {"distinct": len(values)}
        if exact is None:
            return found
        n_records, n_original = self.seen.n_records, self.manifest.layout.n_original
        withheld = sum(int(n) for value, n in zip(values, counts, strict=True) if value == "*")
        parts = {"exact": exact, "generalised": n_records - exact - withheld}
        of_original = {**parts, "withheld": withheld + self.seen.n_suppressed}
        of_records = {**parts, "withheld": withheld}
        found["of_original"] = {kind: n / max(n_original, 1) for kind, n in of_original.items()}
        found["of_records"] = {kind: n / max(n_records, 1) for kind, n in of_records.items()}
        return found

    def _known_together(self) -> Iterator[tuple[tuple[str, ...], str | None]]:
        """Yield what an adversary may know: insensitive values, one or all of them, and a sensitive one."""
        roles = {name: facts.role for name, facts in self.manifest.layout.attributes.items()}
        names = tuple(name for name, role in roles.items() if role == "insensitive")
        if not names or self.manifest.layout.type == "synthetic":
            return
        yield from (((name,), None) for name in names)
        if len(names) > 1:
            yield names, None
        if self.manifest.layout.group is None:
            yield from ((names, name) for name, role in roles.items() if role == "sensitive")

    def _alone(self, names: tuple[str, ...], sensitive: str | None) -> dict[str, Any]:
        table = self.tables[table_names(self.manifest.layout)[0]]
        known = [*names, *([] if sensitive is None else [sensitive])]
        group_of, n_groups = numbered([table.columns[name].codes for name in known], table.n_rows)
        n_alone = int((summed(group_of, table.counts, n_groups) == 1).sum())
        share = n_alone / max(self.seen.n_records, 1)
        return {"attributes": list(names), "sensitive": sensitive, "n": n_alone, "share": share}

    def _level(self, claim: Claimed, attribute: str) -> float | str | None:
        alone = tuple(each for each in self.seen.sensitive if each.name == attribute)
        try:
            found = claimable(MEASURES[claim.measure], replace(self.seen, sensitive=alone), claim.parameters)
        except (TypeError, ValueError, KeyError, ArithmeticError):
            return None
        value = found[0].value if len(found) == 1 else None
        return None if value is None else value if abs(value) < float("inf") else "Infinity"

    def _usual(self) -> bool | None:
        place = self._claim_of("reidentification-risk")
        value = None if place is None else self.manifest.claims[place].value
        return None if value is None else numeral(value) <= _ONE_IN_ELEVEN

    def _claim_of(self, measure: str) -> int | None:
        places = (place for place, claim in enumerate(self.manifest.claims) if claim.measure == measure)
        return next(places, None)

    # The policy

    def _shown(self, told: Claimed | OwnerFigure) -> LimitFacts | None:
        name = shown_limit(self.manifest, told)
        return None if name is None else self.manifest.policy[name]

    def _is_met(self, name: str) -> bool:
        claims, limit = self._limited_claims(name), self.manifest.policy[name]
        if claims:
            return all(allows(limit, value) for _, value in claims)
        figures = [each for each in self.manifest.unverified.figures if _speaks(limit, each)]
        return bool(figures) and all(each.met for each in figures)

    def _limited_claims(self, name: str) -> list[tuple[str, Any]]:
        """Return the claims that a limit applies to, each with its value of the limited attribute."""
        found, limit = [], self.manifest.policy[name]
        for place, claim in enumerate(self.manifest.claims):
            if not _speaks(limit, claim) or is_counted_by_owner(self.manifest, claim.measure):
                continue
            if limit.attribute is None or claim.attribute is not None or claim.measure not in MEASURES:
                found.append((pointer("claims", place, "value"), claim.value))
            else:
                level = self._level(claim, limit.attribute)
                found.append((pointer("cells", "limited", name), level))
        return found

    def _policy_rows(self) -> Iterator[Expected]:
        for name, limit in self.manifest.policy.items():
            yield pointer("policy", name, "measure")
            if limit.attribute is not None:
                yield pointer("policy", name, "attribute")
            yield from self._ends(name)
            claims = [(place,) for place, _ in self._limited_claims(name)]
            figures = [
                (*self._band(place), LABEL)
                for place, each in enumerate(self.manifest.unverified.figures)
                if _speaks(limit, each)
            ]
            # the worst of several
            yield AnyOf(tuple(claims or figures), least=1, most=1)
            yield pointer("cells", "policy", name)

    def _ends(self, name: str) -> Iterator[str]:
        limit = self.manifest.policy[name]
        for end in ("at_least", "at_most"):
            if getattr(limit, end) is not None:
                yield pointer("policy", name, end)

    # Rows of claims and of the owner's figures

    def _row(self, place: int) -> tuple[str, ...]:
        """Return the statements of the row of a claim."""
        claim, here = self.manifest.claims[place], ("claims", place)
        fields: list[str] = [*self._name(here, claim), pointer(*here, "better")]
        fields += [pointer(*here, "detail", name) for name in claim.detail if name != "reason"]
        fields += [pointer(*here, "value")]
        if claim.value is None and "reason" in claim.detail:
            fields.append(pointer(*here, "detail", "reason"))
        if claim.interval is not None:
            fields += [pointer(*here, "interval", end) for end in (0, 1)]
        if claim.baseline is not None:
            fields.append(pointer(*here, "baseline"))
        return (*fields, *self._limit_fields(claim, pointer("cells", "met", "claims", place)))

    def _figure_row(self, place: int) -> tuple[str, ...]:
        """Return the statements of the row of an owner's figure."""
        figure, here = self.manifest.unverified.figures[place], ("unverified", "figures", place)
        fields = [*self._name(here, figure), pointer(*here, "better"), *self._band(place)]
        if figure.band is not None:
            fields.append(LABEL)
        return (*fields, *self._limit_fields(figure, pointer("cells", "met", "figures", place)))

    @staticmethod
    def _name(here: tuple[str | int, ...], told: Claimed | OwnerFigure) -> list[str]:
        return [
            pointer(*here, "measure"),
            *([] if told.attribute is None else [pointer(*here, "attribute")]),
        ]

    def _limit_fields(self, told: Claimed | OwnerFigure, met: str) -> list[str]:
        name = shown_limit(self.manifest, told)
        return [] if name is None else [*self._ends(name), met]

    def _band(self, place: int) -> tuple[str, ...]:
        band = self.manifest.unverified.figures[place].band
        here = ("unverified", "figures", place, "band")
        return _band_fields(here, band)

    def _axis_rows(self, axis: Literal["privacy", "utility"]) -> list[tuple[str, ...]]:
        claims = [
            self._row(place)
            for place, claim in enumerate(self.manifest.claims)
            if claim.axis == axis and not is_counted_by_owner(self.manifest, claim.measure)
        ]
        return [*claims, *self._figure_rows(axis)]

    def _figure_rows(self, axis: Literal["privacy", "utility"]) -> list[tuple[str, ...]]:
        """Return the owner's figures of one axis, with figures of equal name and parameters together."""
        figures = self.manifest.unverified.figures
        asked = [(each.measure, each.parameters) for each in figures]
        ordered = sorted(range(len(figures)), key=lambda place: asked.index(asked[place]))
        return [self._figure_row(place) for place in ordered if figures[place].axis == axis]

    def _headlines(self, *, in_sentence: bool) -> AnyOf:
        """Return what a sentence or a large figure may state: a measure's name and value."""
        rows: list[tuple[list[str], list[str], list[str]]] = []
        for place, claim in enumerate(self.manifest.claims):
            name = self._name(("claims", place), claim)
            better = [] if in_sentence else [pointer("claims", place, "better")]
            rows.append((name, [pointer("claims", place, "value"), *better], []))
        for place, figure in enumerate(self.manifest.unverified.figures):
            name = self._name(("unverified", "figures", place), figure)
            better = [] if in_sentence else [pointer("unverified", "figures", place, "better")]
            rows.append((name, [*self._band(place), *better], [LABEL]))
        ordered = [
            (value, name, label) if in_sentence else (name, value, label) for name, value, label in rows
        ]
        return AnyOf(tuple(tuple(_joined(parts)) for parts in ordered), ordered=False)

    def _models(self) -> Iterator[str]:
        """Yield the statements of each model that the recipe promises."""
        for place, each in enumerate(self.manifest.requirements):
            yield pointer("requirements", place, "model")
            yield pointer("requirements", place, "limit")
            if cannot_be_checked(each):
                yield LABEL
            yield pointer("requirements", place, "reached")

    # The report

    def _report(self) -> dict[str, Iterable[Expected]]:
        release_type = self.manifest.layout.type
        return {
            "header": self._header(),
            "context": (
                *self._texts("purpose", "recipients", "safeguards", "steward", "review_by"),
                _N_RECORDS,
            ),
            "data": self._data(),
            "attributes": self._attribute_rows(),
            "adversaries": (),
            "frontier": (_N_TRIED, LABEL, LABEL, *self._methods()),
            "choice": self._choice(),
            "privacy": (LABEL, *_joined(self._axis_rows("privacy"))),
            "attacks": (AnyOf(((LABEL,),)), AnyOf(tuple(self._attack_rows()), ordered=False)),
            "utility": _joined(self._axis_rows("utility")),
            "changes": self._changes(),
            "classes": (LABEL,) if release_type != "people" else _CLASS_FIELDS,
            "claims": self._claim_rows(),
            "limits": self._limit_notes(),
            "recipe": self._recipe(),
            "terms": (),
            "signature": self._stated("unverified", "review_by"),
        }

    def _stated(self, *place: str) -> tuple[str, ...]:
        """Return a mark for a text that is not empty."""
        return (pointer(*place),) if look_up(self.document, pointer(*place)) else ()

    def _texts(self, *names: str) -> Iterator[str]:
        """Yield marks for texts of the publisher, each with its label."""
        for name in names:
            if getattr(self.manifest.unverified, name):
                yield from (pointer("unverified", name), LABEL)

    def _byline(self, *, alone: bool = False) -> Iterator[str]:
        decision, steward = self.manifest.decision, self.manifest.unverified.steward
        if decision.by or decision.when:
            yield from (*self._stated("decision", "by"), *self._stated("decision", "when"))
            if steward and steward != decision.by:
                yield pointer("unverified", "steward")
            yield from (*self._stated("unverified", "review_by"), LABEL)
        elif steward and alone:
            yield from (pointer("unverified", "steward"), LABEL)

    def _header(self) -> Iterator[Expected]:
        manifest, is_synthetic = self.manifest, self.manifest.layout.type == "synthetic"
        yield from self._stated("unverified", "title")
        yield from self._byline(alone=True)
        yield from (_N_ORIGINAL, LABEL, _N_TRIED, LABEL, _N_RECORDS, LABEL if is_synthetic else _N_ORIGINAL)
        yield self._headlines(in_sentence=True)
        if manifest.policy:
            yield pointer("cells", "is_policy_met")
        yield self._headlines(in_sentence=False)
        yield from (_N_RECORDS, LABEL) if is_synthetic else (_RELEASED, _N_RECORDS, _N_ORIGINAL, LABEL)
        if manifest.unverified.people is not None:
            yield pointer("cells", "people")
            yield from (pointer("unverified", "people", each) for each in ("released", "original"))
            yield LABEL

    def _data(self) -> Iterator[str]:
        yield _N_ORIGINAL
        if self.manifest.unverified.people is not None:
            yield pointer("unverified", "people", "original")
        yield pointer("cells", "n_attributes")
        if any(each.role == "identifying" for each in self.manifest.unverified.attributes):
            yield pointer("cells", "n_identifying")
        yield from (LABEL, pointer("unverified", "missing"), LABEL, pointer("layout", "type"), LABEL)

    def _attribute_rows(self) -> Iterator[str]:
        yield LABEL
        attributes = self.manifest.unverified.attributes
        is_weighted = any(each.weight not in (None, 1) for each in attributes)
        for place, each in enumerate(attributes):
            here = ("unverified", "attributes", place)
            yield from (pointer(*here, "name"), pointer(*here, "role"))
            if each.role not in _UNRELEASED:
                yield from (pointer(*here, "kind"), pointer(*here, "levels"))
                if each.lowest is not None and each.lowest > 1:
                    yield pointer(*here, "lowest")
                if is_weighted:
                    yield pointer(*here, "weight")

    def _methods(self) -> Iterator[str]:
        for place, name in enumerate(self.manifest.unverified.tried):
            yield from (pointer("cells", "methods", place), pointer("unverified", "tried", name))

    def _choice(self) -> Iterator[Expected]:
        yield from (pointer("decision", "candidate"), LABEL)
        for name in ("why", "by", "when"):
            if getattr(self.manifest.decision, name):
                yield from (pointer("decision", name), LABEL)
        yield from (pointer("unverified", "efficient"), LABEL)
        yield from self._models()
        yield from self._policy_rows()

    def _attack_rows(self) -> Iterator[tuple[str, ...]]:
        for place, claim in enumerate(self.manifest.claims):
            # without the side that is better, the baseline and the limit
            odd = {pointer("claims", place, "better"), pointer("claims", place, "baseline")}
            odd |= set(self._limit_fields(claim, pointer("cells", "met", "claims", place)))
            yield tuple(each for each in self._row(place) if each not in odd)
        for place, figure in enumerate(self.manifest.unverified.figures):
            yield (*self._name(("unverified", "figures", place), figure), *self._band(place))

    def _changes(self) -> Iterator[Expected]:
        release_type = self.manifest.layout.type
        if release_type == "synthetic":
            yield LABEL
        else:
            yield from (_N_ORIGINAL, *([_N_SUPPRESSED] if self.seen.n_suppressed else []), LABEL, LABEL)
        for name, facts in self._attributes().items():
            yield self._attribute_name(name)
            yield pointer("layout", "attributes", name, "role")
            yield pointer("cells", "attributes", name, "distinct")
            if release_type != "synthetic":
                shares = (pointer("cells", "attributes", name, "of_original", part) for part in _PARTS)
                yield from shares if "of_original" in facts else (LABEL,)
        if self.manifest.layout.group is not None:
            yield pointer("cells", "n_groups")
        for place in range(len(self.manifest.unverified.notes)):
            yield from (pointer("unverified", "notes", place), LABEL)

    def _attributes(self) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = self.document["cells"]["attributes"]
        return found

    def _attribute_name(self, name: str) -> str:
        names = [each.name for each in self.manifest.unverified.attributes]
        return pointer("unverified", "attributes", names.index(name), "name")

    def _claim_rows(self) -> Iterator[str]:
        for place, claim in enumerate(self.manifest.claims):
            yield from (*self._name(("claims", place), claim), pointer("claims", place, "value"))
            if claim.value is None and "reason" in claim.detail:
                yield pointer("claims", place, "detail", "reason")
            asked = requirement_of(self.manifest, claim)
            if asked is not None:
                yield pointer("requirements", asked, "limit")

    def _limit_notes(self) -> Iterator[str]:
        manifest = self.manifest
        yield from self._alone_rows()
        if manifest.parent is not None:
            yield LABEL
        yield LABEL  # what the rows stand for
        if any(each.ends_at_values for each in manifest.unverified.attributes):
            yield LABEL
        if manifest.unverified.people is not None:
            yield LABEL
        yield from self._stated("unverified", "review_by")

    def _alone_rows(self) -> Iterator[str]:
        for place, each in enumerate(self.document["cells"]["alone"]):
            here = ("cells", "alone", place)
            yield from (pointer(*here, "attributes", number) for number in range(len(each["attributes"])))
            if each["sensitive"] is not None:
                yield pointer(*here, "sensitive")
            yield from (pointer(*here, "n"), _N_RECORDS, pointer(*here, "share"))

    def _recipe(self) -> Iterator[str]:
        manifest = self.manifest
        yield from (LABEL, RECIPE, pointer("sfumato"), LABEL)
        if manifest.parent is not None:
            yield from (*self._stated("parent", "candidate"), *self._stated("parent", "manifest"))
            yield from (pointer("parent", "earlier", place) for place in range(len(manifest.parent.earlier)))
            yield LABEL
        for place, name in enumerate(self.document["cells"]["files"]):
            yield from (pointer("cells", "files", place), pointer("files", name, "sha256"))
        for kind, pairs in self.document["cells"]["renamed"].items():
            for place in range(len(pairs)):
                yield from (pointer("cells", "renamed", kind, place, part) for part in (0, 1))
        yield from self._stated("signed_by")

    # The profiles: each is one block

    def _profile_header(self) -> Iterator[str]:
        yield from (*self._stated("unverified", "title"), *self._byline(), GAPS)

    def _method(self) -> Iterator[str]:
        yield LABEL
        if self.document["cells"]["n_tried"] != 1:
            yield _N_TRIED
        yield from (LABEL, pointer("sfumato"), LABEL)

    def _variables(self) -> Iterator[str]:
        yield LABEL
        for place, each in enumerate(self.manifest.unverified.attributes):
            yield from (pointer("unverified", "attributes", place, name) for name in ("name", "role"))
            if "of_records" in self._attributes().get(each.name, {}):
                yield from (pointer("cells", "attributes", each.name, "of_records", part) for part in _PARTS)
        yield _N_RECORDS
        if self.seen.n_suppressed:
            yield from (_N_SUPPRESSED, _N_ORIGINAL)
        yield LABEL

    def _measured(self, axis: Literal["privacy", "utility"] = "privacy") -> AnyOf:
        # by which measures a record is found, and by which something is learned, the files do not say
        return AnyOf(tuple(self._axis_rows(axis)))

    def _risk(self, *names: str) -> Iterator[str]:
        """Yield figures of the re-identification risk, where it is claimed."""
        place, smallest = self._claim_of("reidentification-risk"), self._claim_of("k-anonymity")
        if place is None or self.manifest.claims[place].value is None:
            return
        detail = self.manifest.claims[place].detail
        for name in names:
            if name == "worst":
                yield pointer("claims", place, "value")
            elif name == "average" or (name == "uniques" and detail.get("uniques")):
                yield pointer("claims", place, "detail", name)
            elif name == "smallest" and smallest is not None:
                yield pointer("claims", smallest, "value")
            elif name == "usual":
                yield pointer("cells", "usual")

    def _initial(self, *names: str) -> Iterator[str]:
        if self.manifest.unverified.initial is not None:
            for name in names:
                yield from _band_fields(
                    ("unverified", "initial", name), getattr(self.manifest.unverified.initial, name)
                )

    def _threshold(self) -> str | None:
        names = (name for name in self.manifest.policy if name.partition(" ")[0] == "reidentification-risk")
        return next(names, None)

    def _ema(self) -> dict[str, Iterable[Expected]]:
        threshold = self._threshold()
        review = self._stated("unverified", "review_by")
        stated: list[Expected] = [
            *self._profile_header(),
            *self._texts("purpose", "recipients", "safeguards"),
            *(*self._method(), *self._variables(), *self._alone_rows()),
            *(LABEL, *self._initial("worst", "average")),
            *([] if threshold is None else self._ends(threshold)),
            *self._risk("worst", "average", "usual"),
        ]
        risk = list(self._risk("smallest", "uniques"))
        if threshold is not None and risk:
            stated.append(pointer("cells", "policy", threshold))
        return {PAGE: (*stated, *risk, self._measured(), self._measured("utility"), *review)}

    def _hipaa(self) -> dict[str, Iterable[Expected]]:
        initial = list(self._initial("worst", "average"))
        return {
            PAGE: (
                *self._profile_header(),
                *(_N_RECORDS, _N_ORIGINAL, LABEL, pointer("cells", "n_released")),
                *self._texts("purpose", "recipients", "safeguards"),
                *(*self._method(), *self._variables(), *self._models()),
                *(*self._risk("uniques", "smallest"), *self._alone_rows()),
                *(*initial, *([LABEL] if initial else []), *self._risk("worst", "average")),
                *(self._measured(), self._measured(), *self._policy_rows()),
                *self._stated("unverified", "review_by"),
            )
        }

    def _iso_27559(self) -> dict[str, Iterable[Expected]]:
        initial = list(self._initial("worst"))
        after = [*initial, LABEL, *self._risk("worst")] if initial else []
        why = self._stated("decision", "why")
        return {
            PAGE: (
                *self._profile_header(),
                *self._texts("purpose", "recipients", "safeguards"),
                *(_N_ORIGINAL, LABEL, _N_RECORDS, *self._variables(), *self._alone_rows()),
                *(*self._risk("worst", "average"), *self._models_in_line()),
                *(self._measured(), self._measured(), self._measured()),
                *(*self._texts("safeguards"), *self._method(), *after, *self._policy_rows()),
                *(*self._texts("steward"), *why, *([LABEL] if why else [])),
                *(*self._texts("review_by"), *self._stated("unverified", "review_by")),
            )
        }

    def _nist(self) -> dict[str, Iterable[Expected]]:
        notes = [
            pointer("unverified", "notes", place) for place in range(len(self.manifest.unverified.notes))
        ]
        why, people = self._stated("decision", "why"), self.manifest.unverified.people is not None
        return {
            PAGE: (
                *self._profile_header(),
                *self._texts("purpose", "recipients", "safeguards", "steward"),
                *(*why, *([LABEL] if why else [])),
                *(*self._variables(), *self._method(), *self._alone_rows(), *self._policy_rows()),
                *(self._measured(), self._measured(), self._measured("utility")),
                # whether a method promises differential privacy, the files do not say
                AnyOf(((LABEL, *notes), (*notes, LABEL), (LABEL,)), most=1, least=1),
                *self._models_in_line(),
                *([LABEL] if people and self.manifest.layout.person is None else []),
                *([LABEL] if people else []),
                *self._stated("unverified", "review_by"),
            )
        }

    def _wp216(self) -> dict[str, Iterable[Expected]]:
        review = self._stated("unverified", "review_by")
        initial, risk = list(self._initial("worst")), list(self._risk("worst"))
        return {
            PAGE: (
                *self._profile_header(),
                *self._texts("purpose", "recipients", "safeguards"),
                *(_N_RECORDS, _N_ORIGINAL, LABEL, *self._method(), *self._variables()),
                *(list(self._risk("uniques")) or self._risk("smallest")),
                *(*self._alone_rows(), *self._risk("average", "worst")),
                self._measured(),
                self._measured(),
                *self._models(),
                *([*risk, *initial, LABEL] if risk and initial else []),
                *(*review, *review),
            )
        }

    def _models_in_line(self) -> Iterator[str]:
        for place, each in enumerate(self.manifest.requirements):
            yield from (pointer("requirements", place, name) for name in ("model", "limit", "reached"))
            if cannot_be_checked(each):
                yield LABEL


GAPS = "gaps"
"""The mark of the number of places that a profile leaves for a person to fill."""
RECIPE = "recipe"
"""The mark of the recipe as data; in words it may stand anywhere."""
CLASS_SIZES = "class-sizes"
"""The mark of the line that shows the sizes of the classes."""
PAGE = "page"
"""The one block of a profile."""
_N_ORIGINAL, _N_TRIED = pointer("layout", "n_original"), pointer("cells", "n_tried")
_N_RECORDS, _N_SUPPRESSED = pointer("cells", "n_records"), pointer("cells", "n_suppressed")
_RELEASED = pointer("cells", "released")
_PARTS = ("exact", "generalised", "withheld")
_CLASS_FIELDS = (
    *(pointer("cells", "classes", name) for name in ("n", "smallest", "largest", "median")),
    CLASS_SIZES,
    *(pointer("cells", "classes", "below", str(small)) for small in _SMALL),
)


def cannot_be_checked(requirement: RequirementFacts) -> bool:
    """Return whether a model is a plug-in's, or holds by records that are not published."""
    return requirement.prior == "original" or not MODELS.keys() >= requirement.model.keys()


def requirement_of(manifest: Manifest, claim: Claimed) -> int | None:
    """Return the requirement that asks for the claimed level, if one does."""
    for place, each in enumerate(manifest.requirements):
        parameters = each.model.get(claim.measure)
        if parameters is not None and all(
            claim.parameters.get(name) == value
            for name, value in parameters.items()
            if name != each.parameter
        ):
            return place
    return None


def shown_limit(manifest: Manifest, told: Claimed | OwnerFigure) -> str | None:
    """Return the name by which the policy limits a figure, if the row of the figure shows it."""
    for name, limit in manifest.policy.items():
        if limit.attribute in (None, told.attribute) and _speaks(limit, told):
            return name
    return None


def is_counted_by_owner(manifest: Manifest, measure: str) -> bool:
    """Return whether the owner's figure counts people while a claim of the same measure counts records."""
    figures = manifest.unverified.figures
    return manifest.unverified.people is not None and any(each.measure == measure for each in figures)


def allows(limit: LimitFacts, value: Any) -> bool:
    """Return whether a value keeps a limit."""
    if value is None:
        return False
    found = numeral(value)
    low = -np.inf if limit.at_least is None else limit.at_least
    high = np.inf if limit.at_most is None else limit.at_most
    return bool(low - _TIE <= found <= high + _TIE)


def _speaks(limit: LimitFacts, told: Claimed | OwnerFigure) -> bool:
    return limit.speaks_of(told.measure, told.parameters, told.attribute)


def _band_fields(here: tuple[str | int, ...], band: Band | None) -> tuple[str, ...]:
    if band is None:
        return (pointer(*here),)
    ends = ("low",) if band.low == band.high else ("low", "high")
    return tuple(pointer(*here, end) for end in ends)


def _joined(rows: Iterable[Iterable[str]]) -> list[str]:
    return [field for row in rows for field in row]
