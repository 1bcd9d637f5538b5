"""Keep the digest of a run of `sfumato reproduce`: a line for each figure and claim that the pages quote.

The digest has the last run of every paper, and the extent of that run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato_papers.run import PAPERS

PLACE = Path(__file__).parents[2] / "docs" / "reproduction.json"
_SHOWN = {("dewri", "figure-10"), ("dewri", "figure-11"), ("all-papers", "losses")}
"""The exhibits of which the figures without a published one are kept, too."""
_DIGITS = 6

Digest = dict[str, Any]


def digest_of(results: Mapping[str, Any], before: Mapping[str, Any]) -> Digest:
    """Return the digest of a run; papers that it does not have stay as they were before."""
    run = {
        **{name: results[name] for name in ("version", "quick", "every-interpretation", "control")},
        "seeds": len(results["seeds"]),
        **{name: results["provenance"][name] for name in ("python", "data")},
    }
    new = {key: {"run": run, **_of_paper(key, found)} for key, found in results["papers"].items()}
    every = {**before, **new}
    return {key: every[key] for key in PAPERS if key in every}


def _of_paper(key: str, found: Mapping[str, Any]) -> Digest:
    counts = ("verdicts", "verdicts-by-any-interpretation", "conclusions", "tests-of-ours")
    outcomes = ("reproduced-otherwise", "not-reproduced")
    return {
        **{name: found[name] for name in counts},
        **{name: _rounded(found[name]) for name in outcomes},
        "figures": [
            _rounded({"exhibit": exhibit["key"], **_figure(cell)})
            for exhibit in found["exhibits"]
            for cell in exhibit["cells"]
            if cell["published"] is not None or (key, exhibit["key"]) in _SHOWN
        ],
        "claims": [
            {"exhibit": exhibit["key"], **_claim(claim)}
            for exhibit in found["exhibits"]
            for claim in exhibit["claims"]
        ],
    }


def _figure(cell: Mapping[str, Any]) -> dict[str, Any]:
    kept = ("row", "column", "published", "tolerance", "ours", "interval", "verdict")
    return {
        **{name: cell[name] for name in kept},
        "interpretations": {switch: other["ours"] for switch, other in cell["interpretations"].items()},
    }


def _claim(claim: Mapping[str, Any]) -> dict[str, Any]:
    kept = ("text", "of", "source", "conclusion", "evidence")
    return {
        **{name: claim[name] for name in kept},
        "otherwise": {
            switch: other["evidence"]
            for switch, other in claim["interpretations"].items()
            if other["holds"] is not None and other["holds"] != claim["holds"]
        },
        "control": claim["control"] and claim["control"]["evidence"],
    }


def _rounded(value: Any) -> Any:
    """Keep the digits that mean something: machines may differ in the last ones."""
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list) else value


def written(digest: Mapping[str, Mapping[str, Any]]) -> str:
    """Write a digest so that a change shows on the line where it is."""
    papers = [f' "{key}": {{\n{_lines(found)}\n }}' for key, found in digest.items()]
    return "{\n" + ",\n".join(papers) + "\n}\n"


def _lines(found: Mapping[str, Any]) -> str:
    parts = []
    for name, value in found.items():
        if isinstance(value, list) and value:
            inside = ",\n".join(f"   {json.dumps(each, ensure_ascii=False)}" for each in value)
            parts.append(f'  "{name}": [\n{inside}\n  ]')
        else:
            parts.append(f'  "{name}": {json.dumps(value, ensure_ascii=False)}')
    return ",\n".join(parts)


def read_digest() -> Digest:
    """Read the digest of the last runs."""
    found: Digest = json.loads(PLACE.read_text("utf-8")) if PLACE.exists() else {}
    return found
