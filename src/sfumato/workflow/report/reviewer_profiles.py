"""Arrange the published report as a reviewer's template asks.

The figures are those of the report, written from the manifest and the published cells alone. Facts that
sfumato cannot know are marked gaps for a person to fill, and no page claims that a template is satisfied.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from markupsafe import Markup

from sfumato.data.schema import UNRELEASED
from sfumato.registry import methods
from sfumato.registry.declarations import Guards
from sfumato.results import formatting
from sfumato.results.measure_label import MeasureLabel
from sfumato.results.measurement import Measurement, json_value
from sfumato.results.release import Release
from sfumato.verification.documents import Manifest
from sfumato.verification.folder import README, REPORT, page_of
from sfumato.verification.page_statements import pointer
from sfumato.workflow.report.adversaries import adversary_of
from sfumato.workflow.report.claim_marks import MarkedCount, MarkedVerdict, mark
from sfumato.workflow.report.folder_readme import readme
from sfumato.workflow.report.owner_report import rendered
from sfumato.workflow.report.published_report import (
    TITLES,
    ManifestStatements,
    cell_counts,
    marked_band,
    marked_limit,
    measured_rows,
    published_facts,
)

_RISK = "reidentification-risk"
_USUAL, _ONE_IN_ELEVEN = 0.09, 1 / 11


def published_pages(manifest: Manifest, written: Release) -> dict[str, str]:
    """Write every page of a published folder, by file name.

    Parameters
    ----------
    manifest
        What the folder says of itself.
    written
        The release as a reader sees it from the published files.
    """
    facts = published_facts(manifest, written)
    more = _profile_facts(manifest, written) if manifest.profiles else {}
    pages = {
        page_of(profile): rendered(
            facts | more | {"profile": profile, "profile_title": TITLES[profile]}, "profile.html.j2"
        )
        for profile in manifest.profiles
    }
    return {REPORT: rendered(facts), README: readme(manifest, written.n_records), **pages}


def _profile_facts(manifest: Manifest, written: Release) -> dict[str, Any]:
    statements = ManifestStatements(manifest, written)
    rows = list(measured_rows(statements, "privacy"))
    return {
        "variables": list(_variable_rows(manifest, written)),
        "risk": _risk_facts(statements),
        "initial": _initial_risk(manifest),
        "threshold": next(_thresholds(statements), None),
        "against": {
            guards: [row for row in rows if adversary_of(row["measure"])[0] == guards] for guards in _GUARDS
        },
        "tried": [row for row in rows if _is_trial(row["measure"])],
    }


def _initial_risk(manifest: Manifest) -> dict[str, Markup] | None:
    """Describe the risk bands of the original, if a profile asked for them."""
    risk = manifest.unverified.initial
    if risk is None:
        return None
    here = ("unverified", "initial")
    return {
        "worst": marked_band((*here, "worst"), _RISK, risk.worst),
        "average": marked_band((*here, "average"), _RISK, risk.average),
    }


_GUARDS: tuple[Guards, Guards] = ("identity", "attribute")


def _is_trial(measure: str) -> bool:
    """Return whether a measure runs an attack on the release and judges its guesses by the original."""
    needs = getattr(methods.find("measure", measure), "needs", "release")
    return adversary_of(measure)[1] is not None and needs != "release"


def _risk_facts(statements: ManifestStatements) -> dict[str, Any] | None:
    """Return the re-identification risk in the published cells; ``None`` if it is not claimed."""
    place, claim = _first_claim(statements, _RISK)
    if claim is None or claim.value is None:
        return None
    at_k, smallest = _first_claim(statements, "k-anonymity")
    here = ("claims", place, "detail")
    average = float(claim.detail["average"])
    met, words = _by_usual_threshold(claim.value)
    worst = formatting.value_of(_RISK, claim.value)
    if worst == formatting.value_of(_RISK, _USUAL):
        # rounding would make it equal the usual threshold
        worst = formatting.exactly(_RISK, claim.value)
    return {
        "worst": mark(pointer("claims", place, "value"), json_value(claim.value), worst),
        "average": mark(pointer(*here, "average"), average, formatting.value_of(_RISK, average)),
        "uniques": MarkedCount(int(claim.detail["uniques"]), *here, "uniques"),
        "smallest": MarkedCount(int((smallest and smallest.value) or 0), "claims", at_k, "value"),
        "usual": (MarkedVerdict(met, "cells", "usual"), words),
    }


def _first_claim(statements: ManifestStatements, measure: str) -> tuple[int, Measurement | None]:
    found = ((place, claim) for place, claim in enumerate(statements.claims) if claim.measure == measure)
    return next(found, (0, None))


def _by_usual_threshold(risk: float) -> tuple[bool, str]:
    """Compare a risk with 0.09, which represents one in eleven."""
    if risk <= _USUAL:
        return True, "at most 0.09"
    if risk <= _ONE_IN_ELEVEN:
        return True, "one in eleven, 0.0909, which 0.09 stands for; a little above 0.09 by its digits"
    return False, "more than 0.09"


def _thresholds(statements: ManifestStatements) -> Iterator[dict[str, Any]]:
    """Return the publisher's own limits on the re-identification risk."""
    for name, limit in statements.policy.items():
        if MeasureLabel.parse(name).measure == _RISK:
            facts = statements.manifest.policy[name]
            met = MarkedVerdict(statements.met(name, limit), "cells", "policy", name)
            yield {"limit": marked_limit(name, facts), "met": met}


def _variable_rows(manifest: Manifest, written: Release) -> Iterator[dict[str, Any]]:
    """Describe what was done to each attribute of the original."""
    for place, each in enumerate(manifest.unverified.attributes):
        here = ("unverified", "attributes", place)
        row: dict[str, Any] = {
            "name": mark(pointer(*here, "name"), each.name, each.name),
            "role": each.role,
            "marked_role": partial(mark, pointer(*here, "role"), each.role),
        }
        if each.role in UNRELEASED:
            yield row | {"technique": "removed", "shares": {}}
            continue
        counts = cell_counts(manifest, written, each.name)
        exchanged = each.role == "sensitive" and written.group_of is not None
        yield row | {
            "technique": _technique(counts, exchanged),
            "shares": {
                kind: mark(
                    pointer("cells", "attributes", each.name, "of_records", kind),
                    n / max(written.n_records, 1),
                    formatting.share(n / max(written.n_records, 1)),
                )
                for kind, n in (counts or {}).items()
            },
        }


def _technique(counts: dict[str, int] | None, exchanged: bool) -> str:
    """Name what was done to an attribute in the released records.

    Examples
    --------
    >>> _technique({"exact": 7, "generalised": 0, "withheld": 0}, False)
    'retained'
    >>> _technique({"exact": 2, "generalised": 5, "withheld": 1}, False)
    'generalised in some records, withheld in some records'
    """
    if counts is None:
        return "perturbed: replaced by values that stand for no set of original ones"
    n_all = sum(counts.values())
    done = {"generalised": counts["generalised"], "withheld": counts["withheld"]}
    words = [f"{how}{'' if n == n_all else ' in some records'}" for how, n in done.items() if n]
    words += ["exchanged within groups of records"] if exchanged else []
    return ", ".join(words) or "retained"
