"""What a page of format 3 must state, block by block: the expected marks, computed from manifest and cells.

A mark names a place in the manifest, or a figure of the cells, as a JSON pointer (RFC 6901). A block is a
section or the header of a page; it states its figures in this order, and no others. Wording, the order of the
blocks and the appearance are not part of the format.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import msgspec
import numpy as np

from sfumato.verification.documents import (
    Band,
    Claimed,
    Manifest,
    OwnerFigure,
    RequirementFacts,
    numeral,
)
from sfumato.verification.figures import known_measure, value_of_attribute
from sfumato.verification.levels import MODELS
from sfumato.verification.published_view import PublicView
from sfumato.verification.written_tables import Tables, cell_counts, number_rows, sum_counts

LABEL = "unverified"
"""The mark of the label that a statement is an unverified claim."""
_ATTACKS = frozenset(
    {
        *("attack-risk", "inference", "linkability", "membership", "minimality-risk", "singling-out"),
        *("auxiliary-gain", "border-gain", "de-finetti-gain", "downcoding", "downcoding-gain"),
        *("composition-k", "composition-loss"),
    }
)
MOST_EXAMPLE_VALUES = 20
"""A sensitive attribute with more values than this gives no example: none of them is common."""
_SMALL_SIZES = (3, 5, 11, 20)
_TIE = 1e-12
_ONE_IN_ELEVEN = 1 / 11
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


def singled_out_statement(manifest: Manifest) -> tuple[str, int]:
    """Return what shows how many people can be singled out, and its place among the claims or figures.

    Where differential privacy is promised, it is the promise; where rows stand for people, the classes of
    records or people; else an attack.
    """
    for place, figure in enumerate(manifest.unverified.figures):
        if figure.measure == "epsilon" and figure.band is not None:
            return "guarantee", place
    if manifest.layout.type == "people":
        if manifest.unverified.people is not None:
            return "people", 0
        for place, claim in enumerate(manifest.claims):
            if claim.measure == "reidentification-risk" and isinstance(claim.detail.get("uniques"), int):
                return "records", place
    for place, figure in enumerate(manifest.unverified.figures):
        if figure.measure == "singling-out" and figure.band is not None:
            return "attack", place
    return "nothing", 0


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
    view
        The published cells, counted.
    tables
        The published tables.
    is_from_later_version
        Whether a later version of sfumato than this one wrote the pages.
    """

    manifest: Manifest
    view: PublicView
    tables: Tables
    is_from_later_version: bool = False

    @cached_property
    def document(self) -> dict[str, Any]:
        """The manifest, and under ``cells`` the figures of the published cells that are not claims."""
        return {**_as_document(self.manifest), "cells": self._cells()}

    @cached_property
    def class_steps(self) -> dict[int, float]:
        """The share of the records in classes of at most each occurring size."""
        sizes, counts = np.unique(self.view.sizes, return_counts=True)
        shares = np.cumsum(sizes * counts) / self.view.n_records
        return dict(zip(sizes.tolist(), shares.tolist(), strict=True))

    def blocks(self, page: str) -> dict[str, list[Expected]]:
        """Return the blocks of a page with the statements of each; the page is ``report`` or a profile."""
        profiles = {
            "ema": self._ema,
            "hipaa": self._hipaa,
            "iso-27559": self._iso_27559,
            "nist": self._nist,
            "wp216": self._wp216,
        }
        if page == "report":
            return {name: list(statements) for name, statements in self._report().items()}
        return {PAGE: list(profiles[page]())}

    # Figures of the cells

    def _cells(self) -> dict[str, Any]:
        manifest, view = self.manifest, self.view
        unverified, n_original = manifest.unverified, max(manifest.layout.n_original, 1)
        people, group, records = unverified.people, manifest.layout.group, next(iter(self.tables.values()))
        limited = {limit.measure for limit in manifest.policy.values() if limit.attribute is not None}
        risk_claim = self._claim_of("reidentification-risk")
        risk = None if risk_claim is None else manifest.claims[risk_claim].value
        suffixes = (".csv", ".parquet", *(f".{kind}" for kind in manifest.formats))
        return {
            "n_records": view.n_records,
            "n_suppressed": view.n_suppressed,
            "released": view.n_records / n_original,
            "people": None if people is None else people.released / max(people.original, 1),
            "n_attributes": len(unverified.attributes),
            "n_released": len(manifest.layout.attributes),
            "n_identifying": sum(facts.role == "identifying" for facts in unverified.attributes),
            "n_tried": sum(unverified.tried.values()),
            "certainty": None
            if unverified.guarantee is None
            else 1 / (1 + math.exp(-unverified.guarantee.epsilon)),
            "n_groups": None if group is None else len(records.columns[group].values),
            "classes": self._classes(),
            "learned": self._learned(),
            "attributes": {name: self._attribute(name) for name in manifest.layout.attributes},
            "alone": [self._alone(names, sensitive) for names, sensitive in self._known_together()],
            "levels": {
                str(place): {values.name: self._level(claim, values.name) for values in view.sensitive}
                for place, claim in enumerate(manifest.claims)
                # computed only where the page shows it: it takes as long as the claim itself
                if claim.attribute is None
                and claim.measure in limited
                and known_measure(claim.measure, claim.parameters) is not None
            },
            "policy": {name: self._is_met(name) for name in manifest.policy},
            "limited": {
                name: value
                for name in manifest.policy
                for place, value in self._limited_claims[name]
                if place.startswith("/cells/limited/")
            },
            "is_policy_met": all(map(self._is_met, manifest.policy)),
            "met": {
                "claims": {
                    str(place): manifest.policy[name].allows(claim.value)
                    for place, claim in enumerate(manifest.claims)
                    for name in [shown_limit(manifest, claim)]
                    if name is not None
                },
                "figures": {str(place): bool(figure.met) for place, figure in enumerate(unverified.figures)},
            },
            "usual": None if risk is None else numeral(risk) <= _ONE_IN_ELEVEN,
            "methods": list(unverified.tried),
            "files": [name for name in manifest.files if name.endswith(suffixes)],
            "renamed": {
                kind: list(map(list, facts.renamed.items())) for kind, facts in manifest.formats.items()
            },
        }

    def _classes(self) -> dict[str, Any]:
        sizes, n_records = np.sort(self.view.sizes), max(self.view.n_records, 1)
        median = sizes[np.searchsorted(np.cumsum(sizes), n_records / 2)] if len(sizes) else 0
        return {
            "n": len(sizes),
            "smallest": int(sizes[0]) if len(sizes) else 0,
            "largest": int(sizes[-1]) if len(sizes) else 0,
            "median": int(median),
            "below": {str(small): int(sizes[sizes < small].sum()) / n_records for small in _SMALL_SIZES},
        }

    def _learned(self) -> dict[str, Any] | None:
        """Describe the sensitive value whose share in a group exceeds its share of all records most."""
        best, example = (_TIE, 0.0), None
        for values in self.view.sensitive:
            if self.manifest.layout.type != "people" or len(values.values) > MOST_EXAMPLE_VALUES:
                continue
            for share, of_all in zip(values.shares.tolist(), values.priors.tolist(), strict=True):
                # rounded, so that a tie is one in any order of computing
                order = round(share - of_all, 9), round(share, 9)
                if order > best:
                    best = order
                    example = {"attribute": values.name, "share": share, "of_all": of_all}
        return example

    def _attribute(self, name: str) -> dict[str, Any]:
        counts = cell_counts(self.tables, name)
        for sensitive in self.view.sensitive:
            if sensitive.name == name:
                counts = dict(zip(sensitive.values, sensitive.overall.tolist(), strict=True))
        assert counts is not None
        described = (facts for facts in self.manifest.unverified.attributes if facts.name == name)
        exact = next((facts.exact for facts in described), None)
        if exact is None:
            return {"distinct": len(counts)}
        n_records, n_original = self.view.n_records, self.manifest.layout.n_original
        withheld = counts.get("*", 0)
        parts = {"exact": exact, "generalised": n_records - exact - withheld}
        of_original = {**parts, "withheld": withheld + self.view.n_suppressed}
        of_records = {**parts, "withheld": withheld}
        return {
            "distinct": len(counts),
            "of_original": {kind: n / max(n_original, 1) for kind, n in of_original.items()},
            "of_records": {kind: n / max(n_records, 1) for kind, n in of_records.items()},
        }

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
        table = next(iter(self.tables.values()))
        known = [*names, *([] if sensitive is None else [sensitive])]
        group_of, n_groups = number_rows([table.columns[name].codes for name in known], table.n_rows)
        n_alone = int((sum_counts(group_of, table.counts, n_groups) == 1).sum())
        share = n_alone / max(self.view.n_records, 1)
        return {"attributes": list(names), "sensitive": sensitive, "n": n_alone, "share": share}

    def _level(self, claim: Claimed, attribute: str) -> float | str | None:
        value = value_of_attribute(self.view, claim, attribute)
        return None if value is None else value if abs(value) < float("inf") else "Infinity"

    def _claim_of(self, measure: str) -> int | None:
        places = (place for place, claim in enumerate(self.manifest.claims) if claim.measure == measure)
        return next(places, None)

    # The policy

    def _is_met(self, name: str) -> bool:
        claims, limit = self._limited_claims[name], self.manifest.policy[name]
        if claims:
            return all(limit.allows(value) for _, value in claims)
        figures = [figure for figure in self.manifest.unverified.figures if limit.applies_to(figure)]
        return bool(figures) and all(figure.met for figure in figures)

    @cached_property
    def _limited_claims(self) -> dict[str, list[tuple[str, Any]]]:
        """The claims that each limit applies to, with their values of the limited attribute."""
        values: dict[str, list[tuple[str, Any]]] = {name: [] for name in self.manifest.policy}
        for name, limit in self.manifest.policy.items():
            for place, claim in enumerate(self.manifest.claims):
                if not limit.applies_to(claim) or is_counted_by_owner(self.manifest, claim.measure):
                    continue
                is_known = known_measure(claim.measure, claim.parameters) is not None
                if limit.attribute is None or claim.attribute is not None or not is_known:
                    values[name].append((pointer("claims", place, "value"), claim.value))
                else:
                    level = self._level(claim, limit.attribute)
                    values[name].append((pointer("cells", "limited", name), level))
        return values

    def _policy_rows(self) -> Iterator[Expected]:
        for name, limit in self.manifest.policy.items():
            yield pointer("policy", name, "measure")
            if limit.attribute is not None:
                yield pointer("policy", name, "attribute")
            yield from self._ends(name)
            claims = [(place,) for place, _ in self._limited_claims[name]]
            figures = [
                (*self._band(place), LABEL)
                for place, figure in enumerate(self.manifest.unverified.figures)
                if limit.applies_to(figure)
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
        figure, here = self.manifest.unverified.figures[place], ("unverified", "figures", place)
        fields = [*self._name(here, figure), pointer(*here, "better"), *self._band(place)]
        if figure.band is not None:
            fields.append(LABEL)
        return (*fields, *self._limit_fields(figure, pointer("cells", "met", "figures", place)))

    @staticmethod
    def _name(here: tuple[str | int, ...], figure: Claimed | OwnerFigure) -> list[str]:
        name = pointer(*here, "measure")
        return [name] if figure.attribute is None else [name, pointer(*here, "attribute")]

    def _limit_fields(self, figure: Claimed | OwnerFigure, met: str) -> list[str]:
        name = shown_limit(self.manifest, figure)
        return [] if name is None else [*self._ends(name), met]

    def _band(self, place: int) -> tuple[str, ...]:
        band = self.manifest.unverified.figures[place].band
        return _band_fields(("unverified", "figures", place, "band"), band)

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
        measures = [(figure.measure, figure.parameters) for figure in figures]
        ordered = sorted(range(len(figures)), key=lambda place: measures.index(measures[place]))
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
        for place, requirement in enumerate(self.manifest.requirements):
            yield pointer("requirements", place, "model")
            yield pointer("requirements", place, "limit")
            if cannot_be_checked(requirement):
                yield LABEL
            yield pointer("requirements", place, "reached")

    # The report

    def _report(self) -> dict[str, Iterable[Expected]]:
        return {
            "header": self._header(),
            "context": (
                *self._texts("purpose", "recipients", "safeguards", "steward", "review_by"),
                _N_RECORDS,
            ),
            "data": self._data(),
            "attributes": self._attribute_rows(),
            "adversaries": (),
            "frontier": (_N_TRIED, LABEL, LABEL, *self._methods())
            if self.manifest.unverified.guarantee is None
            else (pointer("unverified", "guarantee", "chosen"), LABEL),
            "choice": self._choice(),
            "privacy": (LABEL, *_joined(self._axis_rows("privacy"))),
            "attacks": (self._attack_label(), AnyOf(tuple(self._attack_rows()), ordered=False)),
            "utility": _joined(self._axis_rows("utility")),
            "changes": self._changes(),
            "classes": self._class_rows(),
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
        yield from self._singled_out()
        yield from (_N_ORIGINAL, LABEL)
        if manifest.unverified.guarantee is None:
            yield from (_N_TRIED, LABEL)
        yield from (_N_RECORDS, LABEL if is_synthetic else _N_ORIGINAL)
        if manifest.layout.type == "people" and self.view.n_records:
            yield from (pointer("cells", "classes", name) for name in ("smallest", "median"))
            if self.document["cells"]["learned"] is not None:
                yield from (pointer("cells", "learned", name) for name in _EXAMPLE)
        yield self._headlines(in_sentence=True)
        if manifest.policy:
            yield pointer("cells", "is_policy_met")
        yield pointer("recipient")
        yield self._headlines(in_sentence=False)
        yield from (_N_RECORDS, LABEL) if is_synthetic else (_RELEASED, _N_RECORDS, _N_ORIGINAL, LABEL)
        if manifest.unverified.people is not None:
            yield pointer("cells", "people")
            yield from (pointer("unverified", "people", part) for part in ("released", "original"))
            yield LABEL

    def _singled_out(self) -> Iterator[str]:
        kind, place = singled_out_statement(self.manifest)
        if kind == "records":
            yield from (pointer("claims", place, "detail", "uniques"), _N_RECORDS)
            return
        if kind == "people":
            yield from (pointer("unverified", "people", part) for part in ("alone", "released"))
            yield LABEL
        elif kind != "nothing":
            yield from (*self._band(place), LABEL)

    def _data(self) -> Iterator[str]:
        yield _N_ORIGINAL
        if self.manifest.unverified.people is not None:
            yield pointer("unverified", "people", "original")
        yield pointer("cells", "n_attributes")
        if any(facts.role == "identifying" for facts in self.manifest.unverified.attributes):
            yield pointer("cells", "n_identifying")
        yield from (LABEL, pointer("unverified", "missing"), LABEL, pointer("layout", "type"), LABEL)
        guarantee = self.manifest.unverified.guarantee
        if guarantee is not None:
            here = ("unverified", "guarantee")
            yield LABEL
            if guarantee.people_at_most is not None:
                yield pointer(*here, "people_at_most")
            yield from (pointer(*here, "public", name) for name in guarantee.public)

    def _attribute_rows(self) -> Iterator[str]:
        yield LABEL
        attributes = self.manifest.unverified.attributes
        is_weighted = any(facts.weight not in (None, 1) for facts in attributes)
        for place, facts in enumerate(attributes):
            here = ("unverified", "attributes", place)
            yield from (pointer(*here, "name"), pointer(*here, "role"))
            if facts.role not in _UNRELEASED:
                yield from (pointer(*here, "kind"), pointer(*here, "levels"))
                if facts.lowest is not None and facts.lowest > 1:
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
        if self.manifest.unverified.guarantee is None:
            yield from (pointer("unverified", "efficient"), LABEL)
        yield from self._models()
        yield from self._policy_rows()

    def _attack_label(self) -> Expected:
        """Return the label over attacks; whether a plug-in's measure is one, the files do not say."""
        is_tried = any(figure.measure in _ATTACKS for figure in self.manifest.unverified.figures)
        return LABEL if is_tried else AnyOf(((LABEL,),))

    def _class_rows(self) -> tuple[str, ...]:
        if self.manifest.unverified.guarantee is not None:
            return LABEL, pointer("cells", "certainty"), LABEL
        return (LABEL,) if self.manifest.layout.type != "people" else _CLASS_FIELDS

    def _attack_rows(self) -> Iterator[tuple[str, ...]]:
        for place, claim in enumerate(self.manifest.claims):
            # without the side that is better, the baseline and the limit
            omitted = {pointer("claims", place, "better"), pointer("claims", place, "baseline")}
            omitted |= set(self._limit_fields(claim, pointer("cells", "met", "claims", place)))
            yield tuple(statement for statement in self._row(place) if statement not in omitted)
        for place, figure in enumerate(self.manifest.unverified.figures):
            yield (*self._name(("unverified", "figures", place), figure), *self._band(place))

    def _changes(self) -> Iterator[Expected]:
        release_type = self.manifest.layout.type
        if release_type == "synthetic":
            yield LABEL
        else:
            yield from (_N_ORIGINAL, *([_N_SUPPRESSED] if self.view.n_suppressed else []), LABEL, LABEL)
        names = [facts.name for facts in self.manifest.unverified.attributes]
        for name, facts in self.document["cells"]["attributes"].items():
            yield pointer("unverified", "attributes", names.index(name), "name")
            yield pointer("layout", "attributes", name, "role")
            yield pointer("cells", "attributes", name, "distinct")
            if release_type != "synthetic":
                shares = (pointer("cells", "attributes", name, "of_original", part) for part in _PARTS)
                yield from shares if "of_original" in facts else (LABEL,)
        if self.manifest.layout.group is not None:
            yield pointer("cells", "n_groups")
        for place in range(len(self.manifest.unverified.notes)):
            yield from (pointer("unverified", "notes", place), LABEL)

    def _claim_rows(self) -> Iterator[str]:
        for place, claim in enumerate(self.manifest.claims):
            yield from (*self._name(("claims", place), claim), pointer("claims", place, "value"))
            if claim.value is None and "reason" in claim.detail:
                yield pointer("claims", place, "detail", "reason")
            requirement = requirement_of(self.manifest, claim)
            if requirement is not None:
                yield pointer("requirements", requirement, "limit")

    def _limit_notes(self) -> Iterator[str]:
        manifest = self.manifest
        yield from self._alone_rows()
        if manifest.parent is not None:
            yield LABEL
        yield LABEL  # what the rows stand for
        if any(facts.ends_at_values for facts in manifest.unverified.attributes):
            yield LABEL
        if manifest.unverified.people is not None:
            yield LABEL
        yield from self._stated("unverified", "review_by")

    def _alone_rows(self) -> Iterator[str]:
        for place, row in enumerate(self.document["cells"]["alone"]):
            here = ("cells", "alone", place)
            yield from (pointer(*here, "attributes", number) for number in range(len(row["attributes"])))
            if row["sensitive"] is not None:
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
        if self.document["cells"]["n_tried"] > 1:
            yield _N_TRIED
        yield from (LABEL, pointer("sfumato"), LABEL)

    def _variables(self) -> Iterator[str]:
        yield LABEL
        cells = self.document["cells"]["attributes"]
        for place, facts in enumerate(self.manifest.unverified.attributes):
            yield from (pointer("unverified", "attributes", place, name) for name in ("name", "role"))
            if "of_records" in cells.get(facts.name, {}):
                yield from (pointer("cells", "attributes", facts.name, "of_records", part) for part in _PARTS)
        yield _N_RECORDS
        if self.view.n_suppressed:
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

    def _ema(self) -> Iterator[Expected]:
        policy = self.manifest.policy
        threshold = next((name for name in policy if name.partition(" ")[0] == "reidentification-risk"), None)
        yield from self._profile_header()
        yield from self._texts("purpose", "recipients", "safeguards")
        yield from (*self._method(), *self._variables(), *self._alone_rows())
        yield from (LABEL, *self._initial("worst", "average"))
        if threshold is not None:
            yield from self._ends(threshold)
        yield from self._risk("worst", "average", "usual")
        risk = list(self._risk("smallest", "uniques"))
        if threshold is not None and risk:
            yield pointer("cells", "policy", threshold)
        yield from risk
        yield from (self._measured(), self._measured("utility"))
        yield from self._stated("unverified", "review_by")

    def _hipaa(self) -> Iterator[Expected]:
        initial = list(self._initial("worst", "average"))
        yield from self._profile_header()
        yield from (_N_RECORDS, _N_ORIGINAL, LABEL, pointer("cells", "n_released"))
        yield from self._texts("purpose", "recipients", "safeguards")
        yield from (*self._method(), *self._variables(), *self._models())
        yield from (*self._risk("uniques", "smallest"), *self._alone_rows())
        yield from (*initial, *([LABEL] if initial else []), *self._risk("worst", "average"))
        yield from (self._measured(), self._measured(), *self._policy_rows())
        yield from self._stated("unverified", "review_by")

    def _iso_27559(self) -> Iterator[Expected]:
        yield from self._profile_header()
        yield from self._texts("purpose", "recipients", "safeguards")
        yield from (_N_ORIGINAL, LABEL, _N_RECORDS, *self._variables(), *self._alone_rows())
        yield from (*self._risk("worst", "average"), *self._models_in_line())
        yield from (self._measured(), self._measured(), self._measured())
        yield from (*self._texts("safeguards"), *self._method())
        initial = list(self._initial("worst"))
        if initial:
            yield from (*initial, LABEL, *self._risk("worst"))
        yield from (*self._policy_rows(), *self._texts("steward"), *self._reason())
        yield from (*self._texts("review_by"), *self._stated("unverified", "review_by"))

    def _nist(self) -> Iterator[Expected]:
        n_notes = len(self.manifest.unverified.notes)
        notes = [pointer("unverified", "notes", place) for place in range(n_notes)]
        yield from self._profile_header()
        yield from self._texts("purpose", "recipients", "safeguards", "steward")
        yield from (*self._reason(), *self._variables(), *self._method())
        yield from (*self._alone_rows(), *self._policy_rows())
        yield from (self._measured(), self._measured(), self._measured("utility"))
        # whether a method of another kind promises differential privacy, the files do not say
        told = ((LABEL, *notes), (*notes, LABEL))
        yield AnyOf(told if self.manifest.unverified.guarantee else (*told, (LABEL,)), most=1, least=1)
        yield from self._models_in_line()
        if self.manifest.unverified.people is not None:
            yield from [LABEL] if self.manifest.layout.person is not None else [LABEL, LABEL]
        yield from self._stated("unverified", "review_by")

    def _wp216(self) -> Iterator[Expected]:
        review = self._stated("unverified", "review_by")
        initial, risk = list(self._initial("worst")), list(self._risk("worst"))
        yield from self._profile_header()
        yield from self._texts("purpose", "recipients", "safeguards")
        yield from (_N_RECORDS, _N_ORIGINAL, LABEL, *self._method(), *self._variables())
        yield from list(self._risk("uniques")) or self._risk("smallest")
        yield from (*self._alone_rows(), *self._risk("average", "worst"))
        yield from (self._measured(), self._measured())
        yield from self._models()
        if risk and initial:
            yield from (*risk, *initial, LABEL)
        yield from (*review, *review)

    def _reason(self) -> list[str]:
        return [pointer("decision", "why"), LABEL] if self.manifest.decision.why else []

    def _models_in_line(self) -> Iterator[str]:
        for place, requirement in enumerate(self.manifest.requirements):
            yield from (pointer("requirements", place, name) for name in ("model", "limit", "reached"))
            if cannot_be_checked(requirement):
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
_EXAMPLE = ("attribute", "share", "of_all")
_CLASS_FIELDS = (
    *(pointer("cells", "classes", name) for name in ("n", "smallest", "largest", "median")),
    CLASS_SIZES,
    *(pointer("cells", "classes", "below", str(small)) for small in _SMALL_SIZES),
)


def cannot_be_checked(requirement: RequirementFacts) -> bool:
    """Return whether a model or its distance is a plug-in's, or it holds by unpublished records."""
    return requirement.prior == "original" or any(
        name not in MODELS or known_measure(name, parameters) is None
        for name, parameters in requirement.model.items()
    )


def requirement_of(manifest: Manifest, claim: Claimed) -> int | None:
    """Return the requirement that asks for the claimed level, if one does."""
    for place, requirement in enumerate(manifest.requirements):
        parameters = requirement.model.get(claim.measure)
        if parameters is not None and all(
            claim.parameters.get(name) == value
            for name, value in parameters.items()
            if name != requirement.parameter
        ):
            return place
    return None


def shown_limit(manifest: Manifest, figure: Claimed | OwnerFigure) -> str | None:
    """Return the name by which the policy limits a figure, if the row of the figure shows it."""
    for name, limit in manifest.policy.items():
        if limit.attribute in (None, figure.attribute) and limit.applies_to(figure):
            return name
    return None


def is_counted_by_owner(manifest: Manifest, measure: str) -> bool:
    """Return whether the owner's figure counts people while a claim of the same measure counts records."""
    figures = manifest.unverified.figures
    return manifest.unverified.people is not None and any(figure.measure == measure for figure in figures)


def _band_fields(here: tuple[str | int, ...], band: Band | None) -> tuple[str, ...]:
    if band is None:
        return (pointer(*here),)
    ends = ("low",) if band.low == band.high else ("low", "high")
    return tuple(pointer(*here, end) for end in ends)


def _joined(rows: Iterable[Iterable[str]]) -> list[str]:
    return [field for row in rows for field in row]
