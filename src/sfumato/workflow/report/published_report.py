"""Write the published report from the manifest and the published cells alone.

Anyone with the folder can therefore regenerate and compare it. Figures that only the owner can compute appear
as bands. Figures of other candidates, and anything counted in the original, do not appear at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
from markupsafe import Markup, escape

from sfumato.data.hierarchy import ROOT
from sfumato.data.schema import UNRELEASED, Attribute, Schema
from sfumato.measures.identity.uniqueness import Alone, alone_by_insensitive, notable
from sfumato.registry import methods
from sfumato.registry.declarations import Axis, Words
from sfumato.results import formatting
from sfumato.results.candidate import Candidate
from sfumato.results.manifest import measurement_of, policy_of, recipe_of
from sfumato.results.measure_label import MeasureLabel
from sfumato.results.measurement import (
    BY_ATTRIBUTE,
    Measurement,
    inapplicable_reason,
    json_value,
    measure,
    named,
    worst_value,
)
from sfumato.results.pareto import Limit
from sfumato.results.release import Release
from sfumato.verification.documents import (
    Band,
    Claimed,
    LimitFacts,
    Manifest,
    OwnerFigure,
    PublicFacts,
    RequirementFacts,
    numeral,
)
from sfumato.verification.folder import PROGRAMS, Profile, page_of
from sfumato.verification.page_statements import (
    LABEL,
    cannot_be_checked,
    is_counted_by_owner,
    pointer,
    requirement_of,
    shown_limit,
)
from sfumato.verification.renderings import UNVERIFIED_CLAIM, has_numerals
from sfumato.workflow.report.adversaries import Against, adversary_of, measures_against, scenario_rows
from sfumato.workflow.report.attack_rows import attacker_of, attacks_not_tried, attacks_tried, is_attack
from sfumato.workflow.report.claim_marks import (
    MarkedCount,
    MarkedVerdict,
    counted,
    explained,
    mark,
    marked_text,
    marked_words,
)
from sfumato.workflow.report.glossary import TERMS
from sfumato.workflow.report.owner_report import (
    SIDES,
    cell_facts,
    class_facts,
    frame,
    printed_time,
    published_sections,
    recipe_facts,
    shares_below,
)
from sfumato.workflow.report.plain_summary import plain_sentences
from sfumato.workflow.report.singled_out import singled_out
from sfumato.workflow.report.table_rows import asked_words, detail_words, limit_means, shown

TITLES: dict[Profile, str] = {
    "ema": "EMA policy 0070 and Health Canada",
    "hipaa": "HIPAA expert determination",
    "iso-27559": "ISO/IEC 27559",
    "nist": "NIST SP 800-188 and SP 800-226",
    "wp216": "Opinion 05/2014 (WP216)",
}
"""What each profile is called."""


def published_facts(manifest: Manifest, written: Release) -> dict[str, Any]:
    """Return the facts of a published report.

    Parameters
    ----------
    manifest
        What the folder says of itself.
    written
        The release as a reader sees it from the published files.
    """
    statements = ManifestStatements(manifest, written)
    unverified, chosen = manifest.unverified, statements.chosen
    n_tried = sum(unverified.tried.values())
    found_alone = alone_by_insensitive(written)
    people = unverified.people
    is_met = all(statements.met(name, limit) for name, limit in statements.policy.items())
    return {
        "owner": False,
        "notes": (),
        **frame(unverified, statements.schema, published_sections()),
        **_marked_texts(manifest),
        "version": manifest.sfumato,
        "marked_version": mark("/sfumato", manifest.sfumato, manifest.sfumato),
        "weighted": any(each.weight not in (None, 1) for each in unverified.attributes),
        "n_records": MarkedCount(manifest.layout.n_original, "layout", "n_original"),
        "n_people": None
        if people is None
        else MarkedCount(people.original, "unverified", "people", "original"),
        "n_attributes": MarkedCount(len(unverified.attributes), "cells", "n_attributes"),
        "n_identifying": MarkedCount(len(statements.schema.identifying), "cells", "n_identifying"),
        "n_released": MarkedCount(len(statements.schema.released), "cells", "n_released"),
        "missing_words": mark("/unverified/missing", unverified.missing, MISSING_WORDS[unverified.missing]),
        "type_words": mark("/layout/type", written.type, written.type),
        "attributes": list(_attribute_rows(manifest)),
        "adversaries": list(_marked_adversaries(statements)),
        "attacks": list(_attack_rows(statements)),
        "attacks_tried": attacks_tried(statements.taken),
        "attacks_not_tried": list(_attacks_not_tried(statements)),
        "scenarios": list(_marked_scenarios(statements)),
        "terms": {
            term: explained(text) for term, text in TERMS.items() if term not in ("knee", "hypervolume")
        },
        "n_tried": MarkedCount(n_tried, "cells", "n_tried"),
        "methods": [
            {
                "method": mark(pointer("cells", "methods", place), name, name),
                "candidates": MarkedCount(count, "unverified", "tried", name),
                "meaning": explained(formatting.sanitizer_words(name)),
            }
            for place, (name, count) in enumerate(unverified.tried.items())
        ],
        "efficient": unverified.efficient,
        "efficient_words": mark(
            "/unverified/efficient", unverified.efficient, EFFICIENT_WORDS[unverified.efficient]
        ),
        "chosen": chosen,
        "guarantee": _guarantee(manifest),
        "release": written,
        "n_released_records": MarkedCount(written.n_records, "cells", "n_records"),
        "n_suppressed": MarkedCount(written.n_suppressed, "cells", "n_suppressed"),
        "files": _marked_files(manifest),
        "renamed": {
            PROGRAMS[kind]: {
                mark(pointer("cells", "renamed", kind, place, 0), old, old): mark(
                    pointer("cells", "renamed", kind, place, 1), new, new
                )
                for place, (old, new) in enumerate(facts.renamed.items())
            }
            for kind, facts in manifest.formats.items()
        },
        "signed_by": marked_text("/signed_by", manifest.signed_by),
        "parent": _marked_parent(manifest),
        **_summary(statements),
        "singled_out": _singled_out(statements),
        "recipient": mark("/recipient", manifest.recipient, manifest.recipient),
        "limits": _limits(manifest, statements),
        "insensitive": [_alone_row(place, each) for place, each in enumerate(found_alone)],
        "unprotected": list(_warnings(found_alone)),
        "policy": [_policy_row(statements, name, limit) for name, limit in statements.policy.items()],
        "policy_verdict": mark("/cells/is_policy_met", is_met, "met" if is_met else "not met"),
        **_recipe_facts(manifest, chosen),
        "measured": {side: list(measured_rows(statements, side)) for side in SIDES},
        "claims": list(_claim_rows(statements)),
        "changes": list(_change_rows(manifest, written)),
        "losses_chart": None,
        **_class_facts(written),
        "requirements": [_requirement_row(place, each) for place, each in enumerate(manifest.requirements)],
        "profiles": {page_of(profile): TITLES[profile] for profile in manifest.profiles},
    }


MISSING_WORDS = {"drop": "dropped", "category": "a category of its own"}
"""What becomes of missing values."""
EFFICIENT_WORDS = {True: "efficient", False: "not efficient", None: "cannot be compared"}
"""Whether another candidate dominates the chosen one."""


def _guarantee(manifest: Manifest) -> SimpleNamespace | None:
    """Return the claim of differential privacy in words, each part with its mark."""
    guarantee = manifest.unverified.guarantee
    if guarantee is None:
        return None
    here = ("unverified", "guarantee")
    certainty = 1 / (1 + math.exp(-guarantee.epsilon))
    most = guarantee.people_at_most
    return SimpleNamespace(
        chosen=mark(pointer(*here, "chosen"), guarantee.chosen, guarantee.chosen),
        is_before=guarantee.chosen == "before",
        certainty=mark("/cells/certainty", certainty, formatting.share(certainty)),
        people_at_most=None if most is None else MarkedCount(most, *here, "people_at_most"),
        public={
            name: mark(pointer(*here, "public", name), msgspec.to_builtins(facts), _public_words(facts))
            for name, facts in guarantee.public.items()
        },
    )


def _public_words(facts: PublicFacts) -> str:
    words = [facts.kind]
    if facts.whole is not None:
        words.append("whole numbers" if facts.whole else "not only whole numbers")
    if facts.bounds is not None:
        words.append("from {:g} to {:g}".format(*facts.bounds))
    if facts.domain:
        words.append("a declared domain")
    if facts.hierarchy is not None:
        words.append(f"a hierarchy ({facts.hierarchy})")
    return ", ".join(words)


def _marked_texts(manifest: Manifest) -> dict[str, Any]:
    decision, unverified = manifest.decision, manifest.unverified
    names = ("purpose", "recipients", "safeguards", "steward", "review_by")
    return {
        "title": unverified.title or "A table about people",
        "marked_title": marked_text("/unverified/title", unverified.title),
        "publication": SimpleNamespace(
            **{name: marked_text(f"/unverified/{name}", getattr(unverified, name)) for name in names}
        ),
        "decision": SimpleNamespace(
            why=marked_text("/decision/why", decision.why),
            by=marked_text("/decision/by", decision.by),
            when=mark("/decision/when", decision.when, printed_time(decision.when)) if decision.when else "",
            policy=(),
        ),
        "is_steward_apart": bool(unverified.steward) and unverified.steward != decision.by,
        "marked_id": mark("/decision/candidate", decision.candidate, decision.candidate),
    }


def _marked_files(manifest: Manifest) -> dict[str, Markup]:
    names = [
        name
        for name in manifest.files
        if name.endswith((".csv", ".parquet", *(f".{kind}" for kind in manifest.formats)))
    ]
    return {
        mark(pointer("cells", "files", place), name, name): mark(
            pointer("files", name, "sha256"), manifest.files[name].sha256, manifest.files[name].sha256
        )
        for place, name in enumerate(names)
    }


def _marked_parent(manifest: Manifest) -> SimpleNamespace | None:
    if manifest.parent is None:
        return None
    parent = manifest.parent
    return SimpleNamespace(
        candidate=marked_text("/parent/candidate", parent.candidate),
        manifest=marked_text("/parent/manifest", parent.manifest),
        earlier=[
            marked_text(pointer("parent", "earlier", place), each)
            for place, each in enumerate(parent.earlier)
        ],
    )


def _recipe_facts(manifest: Manifest, chosen: Candidate) -> dict[str, Any]:
    facts = recipe_facts(chosen)
    recipe = msgspec.to_builtins(manifest.recipe)
    return facts | {
        name: mark("/recipe", recipe, str(facts[name])) for name in ("recipe_words", "recipe_sentence")
    }


def _class_facts(written: Release) -> dict[str, Any]:
    facts = cell_facts(written)
    classes, here = facts["classes"], ("cells", "classes")
    sizes = written.classes.sizes
    below = {
        size: mark(pointer(*here, "below", size), share, formatting.share(share))
        for size, share in shares_below(sizes, written.n_records).items()
    }
    groups = classes["n_groups"]
    marked = {
        "n_classes": MarkedCount(classes["n_classes"], *here, "n"),
        **{name: MarkedCount(classes[name], *here, name) for name in ("smallest", "median", "largest")},
        "below": below,
        "n_groups": None if groups is None else MarkedCount(groups, "cells", "n_groups"),
    }
    return facts | {"classes": classes | marked}


def _alone_row(place: int, found: Alone) -> SimpleNamespace:
    """State how many records are unique in some attributes."""
    here = ("cells", "alone", place)
    count = mark(pointer(*here, "n"), found.n_alone, f"{found.n_alone:,}")
    of_all = mark(pointer("cells", "n_records"), found.n_records, f"{found.n_records:,}")
    share = mark(pointer(*here, "share"), found.share, formatting.share(found.share))
    return SimpleNamespace(
        attributes=[
            mark(pointer(*here, "attributes", number), name, name)
            for number, name in enumerate(found.attributes)
        ],
        sensitive=None
        if found.sensitive is None
        else mark(pointer(*here, "sensitive"), found.sensitive, found.sensitive),
        figure=Markup("{} of {} records ({})").format(count, of_all, share),
    )


def _warnings(found: Iterable[Alone]) -> Iterator[Markup]:
    """Name the attributes that single out too many records; a table has the figures."""
    for each in notable(found):
        known = [*each.attributes, *([] if each.sensitive is None else [each.sensitive])]
        names = Markup(" and ").join(Markup("<code>{}</code>").format(name) for name in known)
        insensitive = Markup(" and ").join(Markup("<code>{}</code>").format(name) for name in each.attributes)
        yield Markup(
            "{} {} named insensitive and released without protection. The values of {} tell many records "
            "apart: anyone who knows them of a person, or has another release of the same people, can link "
            "them."
        ).format(insensitive, "is" if len(each.attributes) == 1 else "are", names)


def _marked_adversaries(statements: ManifestStatements) -> Iterator[Against]:
    """Return the adversaries, with the marked titles of their measures."""
    for found in measures_against([statements.chosen]):
        names = dict.fromkeys(
            each.measure
            for each in statements.chosen.measurements
            if each.axis == "privacy" and adversary_of(each.measure) == (found.guards, found.attacker)
        )
        titles = [explained(formatting.measure_words(name).title) or name.replace("-", " ") for name in names]
        *front, last = titles or [""]
        measures = escape(", ").join([*front]) + escape(" and ") + last if front else escape(last)
        attacker = found.attacker
        if attacker is not None:
            attacker = replace(attacker, title=explained(attacker.title), wants=explained(attacker.wants))
        names_of_scenarios = {str(scenario["name"]) for scenario in found.scenarios}
        scenarios = tuple(
            scenario for scenario in _marked_scenarios(statements) if scenario["name"] in names_of_scenarios
        )
        yield replace(found, attacker=attacker, measures=measures, scenarios=scenarios)


def _marked_scenarios(statements: ManifestStatements) -> Iterator[dict[str, Any]]:
    """Describe the scenarios; each figure carries the mark of its parameter."""
    places = [
        (pointer(*here, "parameters"), each.parameters)
        for here, each in statements.places()
        if isinstance(each.parameters.get("scenario"), Mapping)
    ]
    for row in scenario_rows([statements.chosen]):
        place, parameters = next(
            (place, parameters)
            for place, parameters in places
            if str(parameters["scenario"].get("name", "")) == row["name"]
        )
        words = {name: row[name] for name in ("user", "adversary", "folds") if row[name]}
        yield row | {
            name: mark(place, parameters, str(text)) if has_numerals(str(text)) else text
            for name, text in words.items()
        }


def _attacks_not_tried(statements: ManifestStatements) -> Iterator[dict[str, Any]]:
    for row in attacks_not_tried(statements.taken, statements.written.type):
        words = row["words"]
        title = explained(words.title) or row["name"].replace("-", " ")
        yield row | {"words": replace(words, title=title, meaning=explained(words.meaning))}


@dataclass(frozen=True)
class ManifestStatements:
    """The statements of a manifest, as the words and rows of a report need them."""

    manifest: Manifest
    written: Release

    @cached_property
    def claims(self) -> tuple[Measurement, ...]:
        """The figures that the published cells give; for every attribute if the policy limits one."""
        limited = {limit.measure for limit in self.manifest.policy.values() if limit.attribute is not None}
        claims = []
        for claim in map(measurement_of, self.manifest.claims):
            if claim.measure in limited and claim.attribute is None:
                asked = {claim.measure: claim.parameters} if claim.parameters else claim.measure
                (again,) = measure(self.written, [asked])
                claim = replace(again, detail={**claim.detail, **again.detail})
            claims.append(claim)
        return tuple(claims)

    @cached_property
    def owner(self) -> dict[MeasureLabel, list[OwnerFigure]]:
        """The owner's figures by their labels."""
        found: dict[MeasureLabel, list[OwnerFigure]] = {}
        for figure in self.manifest.unverified.figures:
            found.setdefault(MeasureLabel.of(figure.measure, figure.parameters), []).append(figure)
        return found

    @cached_property
    def policy(self) -> dict[str, Limit]:
        """The limits that had to hold, by measure."""
        return policy_of(self.manifest)

    @cached_property
    def schema(self) -> Schema:
        """The attributes with their roles, and nothing about their values."""
        unverified = self.manifest.unverified
        return Schema(
            tuple(Attribute(each.name, each.role) for each in unverified.attributes),
            missing=unverified.missing,
        )

    @cached_property
    def chosen(self) -> Candidate:
        """The chosen candidate: claims with their values, the owner's measurements without."""
        figures = [
            Measurement(
                each.measure, None, each.axis, each.better, each.attribute, parameters=each.parameters
            )
            for each in self.manifest.unverified.figures
        ]
        return Candidate(self.manifest.decision.candidate, recipe_of(self.manifest), (*self.claims, *figures))

    @cached_property
    def taken(self) -> frozenset[str]:
        """The measures that were taken, by name."""
        return frozenset(found.measure for found in self.chosen.measurements)

    def claimed_value(self, measure: str) -> float | None:
        """Return the value of a measure if a reader can compute it from the published cells."""
        return None if self.by_owner(measure) else worst_value(self.claims, measure)

    def value(self, measure: str) -> Markup:
        """Return the value of a measure from the published cells, or the owner's band."""
        value = self.claimed_value(measure)
        if value is not None:
            where = self._place_of(measure, value)
            return mark(where, json_value(value), formatting.exactly(measure, value))
        figures, is_of_one = self.of_owner(measure), MeasureLabel.parse(measure).attribute is not None
        if figures:
            # if no figure is the worst, which no publisher writes, none is shown
            worst = next((figure for figure in figures if figure.worst or is_of_one), None)
            shown_figure = worst or next((figure for figure in figures if figure.band is None), None)
            return Markup("not applicable") if shown_figure is None else self.band(shown_figure)
        of_measure = named(self.claims, measure)
        places = [number for number, claim in enumerate(self.claims) if claim in of_measure]
        if not places:
            raise ValueError(f"{measure} is limited, and nothing is said of it")
        return mark(pointer("claims", places[0], "value"), None, "not applicable")

    def band(self, figure: OwnerFigure) -> Markup:
        """Return a figure of the owner as a marked band."""
        return marked_band(
            ("unverified", "figures", self.number(figure), "band"), figure.measure, figure.band
        )

    def _place_of(self, measure: str, value: float) -> str:
        """Return the pointer to the worst value of a measure, or to its level for one attribute."""
        label = MeasureLabel.parse(measure)
        exact, alike = named(self.claims, measure), named(self.claims, label.whole)
        for place, each in enumerate(self.claims):
            if each in exact and each.value == value:
                return pointer("claims", place, "value")
        for place, each in enumerate(self.claims):
            if each.attribute is not None and each.attribute == label.attribute and each in alike:
                return pointer("claims", place, "value")
        return pointer("cells", "limited", measure)

    def number(self, figure: OwnerFigure) -> int:
        """Return the position of an owner's figure among all of them."""
        return next(place for place, each in enumerate(self.manifest.unverified.figures) if each is figure)

    def places(self) -> Iterator[tuple[tuple[str | int, ...], Claimed | OwnerFigure]]:
        """Yield every measurement with its place in the manifest."""
        for place, claim in enumerate(self.manifest.claims):
            yield ("claims", place), claim
        for place, figure in enumerate(self.manifest.unverified.figures):
            yield ("unverified", "figures", place), figure

    def headlines(self, axes: Iterable[str]) -> Iterator[Headline]:
        """Yield the sentence or large figure for each of these measures."""
        for axis in axes:
            found = [each for each in self.chosen.measurements if each.label == axis]
            found = found or named(self.chosen.measurements, axis)
            if not found:
                continue
            value = self.claimed_value(axis)
            if value is not None:
                place, statements = next(
                    (at, each)
                    for at, each in enumerate(self.claims)
                    if each in named(self.claims, axis) and each.value == value
                )
                here: tuple[str | int, ...] = ("claims", place)
                where = self._place_of(axis, value)
                shown_value, is_checked = (
                    mark(where, json_value(value), formatting.briefly(axis, value)),
                    True,
                )
                parameters: Any = self.manifest.claims[place].parameters
            else:
                figures = self.of_owner(axis)
                figure = next((each for each in figures if each.worst), None)
                if figure is None:
                    continue
                here = ("unverified", "figures", self.number(figure))
                statements = next(each for each in found if each.attribute == figure.attribute)
                shown_value, is_checked = self.band(figure), False
                parameters = figure.parameters
            yield Headline(
                marked_words(statements.label, parameters, *here),
                _marked_name(here, statements.measure, statements.attribute),
                shown_value,
                mark(pointer(*here, "better"), statements.better, formatting.direction(statements.better)),
                is_checked,
            )

    def by_owner(self, measure: str) -> bool:
        """Return whether the owner's figure counts people while the claim of the same name counts records."""
        names = {
            measure,
            MeasureLabel.parse(measure).whole,
            *(each.measure for each in named(self.claims, measure)),
        }
        return any(is_counted_by_owner(self.manifest, name) for name in names)

    def of_owner(self, measure: str) -> list[OwnerFigure]:
        """Return the owner's figures with this label, or those of the measure with this name."""
        every = [figure for figures in self.owner.values() for figure in figures]
        label = MeasureLabel.parse(measure)
        found = self.owner.get(label) or [figure for figure in every if figure.measure == measure]
        if found or label.attribute is None:
            return found
        return [
            figure for figure in self.of_owner(label.whole) if figure.attribute in (None, label.attribute)
        ]

    def met(self, measure: str, limit: Limit) -> bool:
        """Return whether a limit is met, by the claims or by an unverified claim."""
        if named(self.claims, measure) and not self.by_owner(measure):
            return limit.allows(worst_value(self.claims, measure))
        figures = self.of_owner(measure)
        return bool(figures) and all(figure.met for figure in figures)


@dataclass(frozen=True)
class Headline:
    """A measure in a sentence or in large letters, and whether a reader can check it."""

    words: Words
    name: Markup
    value: Markup
    direction: Markup
    is_checked: bool


def marked_band(here: tuple[str | int, ...], measure: str, band: Band | None) -> Markup:
    """Print the band of a figure in the unit of its measure, with both ends marked."""
    if band is None:
        return mark(pointer(*here), None, "not applicable")
    low, high = (
        mark(pointer(*here, name), end, formatting.briefly(measure, numeral(end)))
        for name, end in (("low", band.low), ("high", band.high))
    )
    return low if band.low == band.high else Markup("between {} and {}").format(low, high)


def _marked_name(here: tuple[str | int, ...], measure: str, attribute: str | None) -> Markup:
    """Return the machine-readable name of a measurement, marked."""
    name = Markup("<code>{}</code>").format(mark(pointer(*here, "measure"), measure, measure))
    if attribute is None:
        return name
    about = mark(pointer(*here, "attribute"), attribute, attribute)
    return Markup("{} of <code>{}</code>").format(name, about)


def _summary(statements: ManifestStatements) -> dict[str, Any]:

    def part(text: str) -> Markup:
        return escape(explained(text)) if text.strip() else escape(text)

    axes = tuple(statements.manifest.unverified.headline)
    sizes = class_facts(statements.written)
    plain = plain_sentences(statements.written, sizes, mark)
    sentences = []
    # what a reader can picture takes the place of the privacy measures, which the tables below have
    for each in statements.headlines(axes[1:] if len(plain) > 1 else axes):
        if "not applicable" not in each.value:
            label = "" if each.is_checked else unverified_label()
            before, _, after = (each.words.sentence or f"{each.words.title} is {{}}").partition("{}")
            sentences.append(
                Markup("{}{}{} ({}){}").format(part(before), each.value, part(after), each.name, label)
            )
    figures = [(each.words.title, each, each.direction) for each in statements.headlines(axes)]
    return {
        "figures": figures,
        "plain": plain,
        "sentences": sentences,
        "released_figures": list(_released_figures(statements)),
    }


def _singled_out(statements: ManifestStatements) -> Markup:
    """Return the first sentence: how many people can be singled out."""
    first = singled_out(statements.manifest, statements.written.n_records)
    sentence = Markup(first.sentence).format(*(mark(*figure) for figure in first.figures))
    return sentence if first.is_checked else sentence + unverified_label()


def unverified_label() -> Markup:
    """Return the label of a statement that no reader can check."""
    return Markup(' <span class="unverified" data-claim="{}">{}</span>').format(LABEL, UNVERIFIED_CLAIM)


def _released_figures(statements: ManifestStatements) -> Iterator[tuple[str, Markup, Markup]]:
    """Yield the numbers of released records and people, each as a figure with a name and a hint."""
    written, people = statements.written, statements.manifest.unverified.people
    kept = counted(MarkedCount(written.n_records, "cells", "n_records"))
    if written.type == "synthetic":
        yield "synthetic records", Markup(kept), Markup("they stand for nobody;{}").format(unverified_label())
    else:
        share = written.n_records / max(statements.manifest.layout.n_original, 1)
        of_all = counted(MarkedCount(statements.manifest.layout.n_original, "layout", "n_original"))
        hint = Markup("{} of {};{}").format(kept, of_all, unverified_label())
        yield "records released", mark("/cells/released", share, formatting.share(share)), hint
    if people is not None:
        share = people.released / max(people.original, 1)
        parts = (
            counted(MarkedCount(getattr(people, name), "unverified", "people", name))
            for name in ("released", "original")
        )
        hint = Markup("{} of {};{}").format(*parts, unverified_label())
        yield "people released", mark("/cells/people", share, formatting.share(share)), hint


def _attribute_rows(manifest: Manifest) -> Iterator[dict[str, Any]]:
    for place, each in enumerate(manifest.unverified.attributes):
        here = ("unverified", "attributes", place)
        row: dict[str, Any] = {
            "name": mark(pointer(*here, "name"), each.name, each.name),
            "role": each.role,
            "marked_role": mark(pointer(*here, "role"), each.role, each.role),
        }
        if each.role not in UNRELEASED:
            row |= {
                "kind": mark(pointer(*here, "kind"), each.kind, str(each.kind).lower()),
                "levels": mark(pointer(*here, "levels"), each.levels, str(each.levels)),
                "lowest": MarkedCount(each.lowest or 0, *here, "lowest"),
                "weight": mark(pointer(*here, "weight"), each.weight, formatting.number(each.weight or 0.0)),
            }
        yield row


def _limits(manifest: Manifest, statements: ManifestStatements) -> dict[str, Any]:
    """Return which of the report's warnings apply."""
    models = [methods.find("model", name) for each in manifest.requirements for name in each.model]
    unverified = manifest.unverified
    return {
        "no_model": not models,
        "no_attribute_model": not any(getattr(model, "guards", None) == "attribute" for model in models),
        "noisy": [each.name for each in unverified.attributes if each.noisy],
        "type": manifest.layout.type,
        "promises": hasattr(methods.find("sanitizer", manifest.recipe.sanitizer), "guarantee"),
        "sampled": any(claim.interval is not None for claim in statements.claims),
        "notes": [
            marked_text(pointer("unverified", "notes", place), note)
            for place, note in enumerate(unverified.notes)
        ],
        "intervals": [each.name for each in unverified.attributes if each.ends_at_values],
        "people": unverified.people is not None,
        "pseudonym": manifest.layout.person is not None,
    }


def _policy_row(statements: ManifestStatements, name: str, limit: Limit) -> dict[str, Any]:
    facts = statements.manifest.policy[name]
    here = ("policy", name)
    parameters = marked_words(MeasureLabel.parse(name).whole, facts.parameters or {}, *here)
    return {
        "measure": Markup("{} {}").format(
            parameters.title, _marked_name(here, facts.measure, facts.attribute)
        ),
        "limit": marked_limit(name, facts),
        "means": explained(limit_means(name, limit)),
        "reached": statements.value(name),
        "met": MarkedVerdict(statements.met(name, limit), "cells", "policy", name),
        "unverified": statements.claimed_value(name) is None and bool(statements.of_owner(name)),
    }


def marked_limit(name: str, limit: LimitFacts) -> Markup:
    """Print both ends of a limit, each with the words before it."""
    whole = Limit(
        at_least=-np.inf if limit.at_least is None else limit.at_least,
        at_most=np.inf if limit.at_most is None else limit.at_most,
    )
    words = formatting.limit_of(limit.measure, whole).split(" and ")
    ends = [(end, getattr(limit, end)) for end in ("at_least", "at_most")]
    given = [(end, value) for end, value in ends if value is not None]
    return Markup(" and ").join(
        mark(pointer("policy", name, end), value, text)
        for (end, value), text in zip(given, words, strict=False)
    )


def measured_rows(statements: ManifestStatements, axis: Axis) -> Iterator[dict[str, Any]]:
    """Return the rows of one axis: claims with their values, the owner's figures as bands."""
    for place, claim in enumerate(statements.manifest.claims):
        if claim.axis == axis and not is_counted_by_owner(statements.manifest, claim.measure):
            yield _claimed_row(statements, place) | _limit_on(statements, claim, "claims", place)
    for label, figures in statements.owner.items():
        for figure in figures:
            if figure.axis == axis:
                row = _owner_row(statements, label, figure)
                yield row | _limit_on(statements, figure, "figures", statements.number(figure))


def _claimed_row(statements: ManifestStatements, place: int) -> dict[str, Any]:
    claim, found, here = statements.manifest.claims[place], statements.claims[place], ("claims", place)
    reason = claim.detail.get("reason") if claim.value is None else None

    def value_of(name: str, value: Any) -> Markup:
        return mark(pointer(*here, name), value, shown(claim.measure, numeral(value)))

    return {
        "words": marked_words(found.label, claim.parameters, *here),
        "name": _marked_name(here, claim.measure, claim.attribute),
        "measure": claim.measure,
        "attribute": None,
        "direction": mark(pointer(*here, "better"), claim.better, formatting.direction(claim.better)),
        "value": mark(pointer(*here, "value"), claim.value, shown(claim.measure, found.value)),
        "reason": marked_text(
            pointer(*here, "detail", "reason"), reason if isinstance(reason, str) else None
        ),
        "interval": ""
        if claim.interval is None
        else Markup(" to ").join(
            mark(pointer(*here, "interval", at), end, shown(claim.measure, numeral(end)))
            for at, end in enumerate(claim.interval)
        ),
        "baseline": "" if claim.baseline is None else value_of("baseline", claim.baseline),
        "notes": list(_marked_notes(statements, place)),
        "by_owner": "",
    }


def _marked_notes(statements: ManifestStatements, place: int) -> Iterator[tuple[str, Markup]]:
    """Yield each number next to a claim, with its meaning."""
    claim, found = statements.manifest.claims[place], statements.claims[place]
    names = [name for name in found.detail if name not in ("reason", BY_ATTRIBUTE)]
    levels = found.detail.get(BY_ATTRIBUTE, {})
    words = detail_words(found)
    for name, (title, text) in zip(names, words, strict=False):
        value = claim.detail[name]
        yield explained(title) or name, mark(pointer("claims", place, "detail", name), value, text)
    for (name, level), (_, text) in zip(levels.items(), words[len(names) :], strict=True):
        where = Markup("of <code>{}</code>").format(name)
        yield where, mark(pointer("cells", "levels", place, name), json_value(level), text)


def _attack_rows(statements: ManifestStatements) -> Iterator[dict[str, Any]]:
    """Describe the attacks; their underlying rates are known to the owner alone."""
    for row in measured_rows(statements, "privacy"):
        if is_attack(row["measure"]):
            asked = methods.look_up("measure", row["measure"])
            reason = row["reason"] or explained(inapplicable_reason(asked, statements.written.type))
            yield row | {"attacker": explained(attacker_of(row["measure"])), "rates": {}, "reason": reason}


def _limit_on(
    statements: ManifestStatements, found: Claimed | OwnerFigure, kind: str, place: int
) -> dict[str, Any]:
    """Return the limit for a row, and whether it is met."""
    name = shown_limit(statements.manifest, found)
    if name is None:
        return {"limit": "", "met": False}
    if isinstance(found, Claimed):
        value = None if found.value is None else numeral(found.value)
        met = statements.policy[name].allows(value)
    else:
        met = bool(found.met)
    return {
        "limit": marked_limit(name, statements.manifest.policy[name]),
        "met": MarkedVerdict(met, "cells", "met", kind, place),
    }


def _owner_row(statements: ManifestStatements, label: MeasureLabel, figure: OwnerFigure) -> dict[str, Any]:
    asked = methods.find("measure", figure.measure)
    is_told = figure.band is not None
    how = (
        "promised by the method" if getattr(asked, "is_promised", False) else "the owner's figure, as a band"
    )
    here = ("unverified", "figures", statements.number(figure))
    return {
        "words": marked_words(label, figure.parameters, *here),
        "name": _marked_name(here, figure.measure, figure.attribute),
        "measure": figure.measure,
        "attribute": None,
        "direction": mark(pointer(*here, "better"), figure.better, formatting.direction(figure.better)),
        "value": statements.band(figure),
        "reason": ""
        if is_told or asked is None
        else explained(inapplicable_reason(asked, statements.written.type)),
        "interval": "",
        "baseline": "",
        "notes": [],
        "by_owner": how if is_told else "",
    }


def _claim_rows(statements: ManifestStatements) -> Iterator[dict[str, Any]]:
    for place, claim in enumerate(statements.manifest.claims):
        row = _claimed_row(statements, place)
        at = requirement_of(statements.manifest, claim)
        if at is None:
            yield row | {"asked": ""}
            continue
        requirement = statements.manifest.requirements[at]
        (name,) = requirement.model
        asked = asked_words(methods.find("model", name), requirement.limit)
        if asked[:1].isdigit():
            # of a model that is not installed here
            asked = f"at least {asked}"
        yield row | {"asked": mark(pointer("requirements", at, "limit"), requirement.limit, asked)}


def _requirement_row(place: int, requirement: RequirementFacts) -> dict[str, Any]:
    """Say of a model what was asked, what the published cells reach, and by whose distribution it holds."""
    ((name, parameters),) = requirement.model.items()
    here = ("requirements", place)
    asked = asked_words(methods.find("model", name), requirement.limit)
    return {
        "model": mark(
            pointer(*here, "model"), requirement.model, formatting.model_in_words(name, parameters)
        ),
        "asked": mark(pointer(*here, "limit"), requirement.limit, asked),
        "reached": mark(
            pointer(*here, "reached"),
            requirement.reached,
            formatting.number(numeral(requirement.reached), 6),
        ),
        "prior": requirement.prior,
        "counted": requirement.counted,
        "unverified": cannot_be_checked(requirement),
    }


def _change_rows(manifest: Manifest, written: Release) -> Iterator[dict[str, Any]]:
    """Count for each attribute the cells that are exact, an unverified claim, or withheld."""
    for name in written.schema.released:
        here, role = ("cells", "attributes", name), written.schema[name].role
        row: dict[str, Any] = {
            "name": marked_attribute(manifest, name),
            "role": mark(pointer("layout", "attributes", name, "role"), role, role),
            "distinct": MarkedCount(len(written.cells[name].occurring), *here, "distinct"),
        }
        counts = cell_counts(manifest, written, name)
        if counts is not None:
            counts = counts | {"withheld": counts["withheld"] + written.n_suppressed}
            shares = {kind: count / max(written.n_original, 1) for kind, count in counts.items()}
            row |= {
                kind: mark(pointer(*here, "of_original", kind), share, formatting.share(share))
                for kind, share in shares.items()
            }
            row["is_withheld"] = shares["withheld"] == 1
        yield row


def marked_attribute(manifest: Manifest, name: str) -> Markup:
    """Return the name of an attribute with its mark."""
    names = [each.name for each in manifest.unverified.attributes]
    return mark(pointer("unverified", "attributes", names.index(name), "name"), name, name)


def cell_counts(manifest: Manifest, written: Release, name: str) -> dict[str, int] | None:
    """Count the exact, generalized and withheld cells of an attribute in the released records.

    ``None`` where the cells are no sets of original values.
    """
    exact = next((each.exact for each in manifest.unverified.attributes if each.name == name), None)
    if exact is None:
        return None
    is_withheld = np.array([label == ROOT for label in written.cells[name].labels])
    n_withheld = int(written.weights[is_withheld[written.cells[name].codes]].sum())
    n_generalized = written.n_records - exact - n_withheld
    return {"exact": exact, "generalised": n_generalized, "withheld": n_withheld}
