"""A published folder that is written by hand: what it says was worked out, not computed by the program."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.spatial.distance import jensenshannon

Facts = dict[str, Any]

# Two classes of three records, x y x and y y x, and one record left out: both lie 1/6 from the whole.
RECORDS = [(1, "x"), (1, "y"), (1, "x"), (2, "y"), (2, "y"), (2, "x")]
LOSS = jensenshannon([2 / 3, 1 / 3], [1 / 2, 1 / 2]) ** 2


def claimed(measure: str, value: float, better: str = "lower", **others: Any) -> Facts:
    return {
        "measure": measure,
        "parameters": {},
        "attribute": None,
        "value": value,
        "axis": "privacy",
        "better": better,
        "applicable": True,
        "interval": None,
        "baseline": None,
        "detail": {},
        **others,
    }


def required(model: Facts, parameter: str, limit: float, reached: float) -> Facts:
    return {"model": model, "parameter": parameter, "limit": limit, "reached": reached, "prior": "released"}


def limited(measure: str, **limits: float) -> Facts:
    return {"measure": measure, "parameters": {}, "at_least": None, "at_most": None, **limits}


def said_of(name: str, role: str) -> Facts:
    facts = {"kind": None, "levels": 2, "lowest": 0, "weight": 1.0, "exact": 6}
    return {"name": name, "role": role, **facts, "noisy": False, "ends_at_values": False}


MODEL = {"k-anonymity": {"k": 3}, "t-closeness": {"t": 0.5, "distance": "equal"}}
FIGURE = {
    "measure": "general-loss",
    "parameters": {},
    "attribute": None,
    "axis": "utility",
    "better": "lower",
    "band": {"low": 0.0, "high": 0.0},
    "worst": True,
    "met": True,
}
MANIFEST: Facts = {
    "format": 3,
    "sfumato": "1.0",
    "layout": {
        "attributes": {"age": {"role": "quasi-identifying"}, "ill": {"role": "sensitive"}},
        "n_original": 7,
        "form": "one-table",
        "group": None,
    },
    "recipe": {
        "sanitizer": "full-domain",
        "parameters": {"model": MODEL, "levels": {"age": 0}, "suppression": 0.2},
    },
    "claims": [
        claimed(
            "privacy-loss",
            LOSS,
            attribute="ill",
            parameters={"threshold": 0.1, "distance": "js"},
            detail={"mean": LOSS, "percentile-95": LOSS, "share-at-risk": 0.0},
        ),
        claimed("k-anonymity", 3.0, "higher"),
        claimed(
            "reidentification-risk",
            1 / 3,
            parameters={"threshold": 0.2},
            detail={"average": 1 / 3, "share-at-risk": 1.0, "uniques": 0},
        ),
    ],
    "requirements": [
        required({"k-anonymity": MODEL["k-anonymity"]}, "k", 3.0, 3.0),
        required({"t-closeness": MODEL["t-closeness"]}, "t", 0.5, 1 / 6),
    ],
    "recipient": "none",
    "policy": {
        "k-anonymity": limited("k-anonymity", at_least=3.0),
        "general-loss": limited("general-loss", at_most=0.9),
    },
    "decision": {"candidate": "1", "why": "", "by": "", "when": "2026-11-16T10:41:11+00:00"},
    "unverified": {
        **dict.fromkeys(("title", "purpose", "recipients", "safeguards", "steward"), ""),
        **dict.fromkeys(("review_by", "efficient", "initial")),
        "name": "Some people",
        "missing": "category",
        "attributes": [said_of("age", "quasi-identifying"), said_of("ill", "sensitive")],
        "tried": {"full-domain": 1},
        "headline": [],
        "figures": [FIGURE],
        "notes": [],
    },
    "profiles": [],
    "files": {},
    "signed_by": None,
}


def resource(name: str, kind: str, digest: str) -> Facts:
    fields = [{"name": "age", "type": "integer"}, {"name": "ill", "type": "string"}]
    return {
        "name": name.replace(".", "-"),
        "path": name,
        "format": kind,
        "hash": f"sha256:{digest}",
        "schema": {"fields": fields, "missingValues": [""]},
    }


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a published folder by hand."""
    folder = tmp_path_factory.mktemp("honest")
    ages, ills = zip(*RECORDS, strict=True)
    (folder / "data.csv").write_text("age,ill\n" + "".join(f"{age},{ill}\n" for age, ill in RECORDS), "utf-8")
    pq.write_table(pa.table({"age": ages[::-1], "ill": ills[::-1]}), folder / "data.parquet")
    digests = {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in ("data.csv", "data.parquet")
    }
    package = {
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "name": "some-people",
        "title": "Some people",
        "description": "",
        "resources": [resource(name, name[5:], digest) for name, digest in digests.items()],
    }
    (folder / "datapackage.json").write_text(json.dumps(package), "utf-8")
    (folder / "report.html").write_text("<p>", "utf-8")
    (folder / "README.md").write_text("#", "utf-8")
    files = {
        place.name: {"sha256": hashlib.sha256(place.read_bytes()).hexdigest(), "bytes": place.stat().st_size}
        for place in folder.iterdir()
    }
    (folder / "certificate.json").write_text("{}", "utf-8")
    (folder / "manifest.json").write_text(json.dumps({**MANIFEST, "files": files}), "utf-8")
    return folder
