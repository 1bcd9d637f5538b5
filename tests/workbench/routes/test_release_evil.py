"""Names, labels and values that contain HTML, scripts, quotes, paths and formulas are text on every page."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from ..conftest import until
from ..exploring import Seen, candidates, explored, harmless, write_csv
from .test_evil import EVIL

Ready = Callable[..., Any]
KNOWN, SENSITIVE, PLAIN = EVIL[:4], EVIL[4], EVIL[5:9]


def toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


@pytest.fixture
def project(folder: Path) -> Path:
    """A project whose names, values and hierarchy labels are all evil."""
    names = [*KNOWN, SENSITIVE, *PLAIN]
    rows: list[list[object]] = [
        [EVIL[(row * (place + 1) + place) % 5] for place in range(len(names))] for row in range(24)
    ]
    write_csv(folder / "evil.csv", names, rows)
    low, high = (", ".join(map(toml, those)) for those in (EVIL[:2], EVIL[2:5]))
    tree = f"{{ {toml(EVIL[0])} = [{low}], {toml(EVIL[2])} = [{high}] }}"
    blocks = [f'[attributes.{toml(name)}]\nrole = "quasi-identifying"' for name in KNOWN]
    blocks[0] += f"\nhierarchy = {{ tree = {tree} }}"
    blocks.append(f'[attributes.{toml(SENSITIVE)}]\nrole = "sensitive"')
    blocks += [f'[attributes.{toml(name)}]\nrole = "insensitive"' for name in PLAIN]
    written = f"""
policy.recipient = "none"
[publication]
title = {toml(EVIL[0])}
purpose = {toml(EVIL[1])}
recipients = {toml(EVIL[2])}
safeguards = {toml(EVIL[8])}
steward = {toml(EVIL[3])}

[data]
path = "evil.csv"

{chr(10).join(blocks)}

[[candidates]]
sanitizer = "as-is"

[[candidates]]
sanitizer = "mondrian"
model = {{ k-anonymity = {{ k = [2, 4] }} }}

[measure]
privacy = ["privacy-loss", "k-anonymity", "quasi-identifier-contribution"]
utility = ["utility-loss", "general-loss"]
"""
    return explored(folder / "evil.toml", written)


def finished(ready: Ready, address: str) -> str:
    made: str = until(lambda: "data-poll" not in (page := ready(address).text) and page)
    return made


def test_evil_names_labels_and_values_are_text_on_every_page(
    project: Path, ready: Ready, guest: TestClient
) -> None:
    made = candidates(project)
    base, ids = "/projects/evil", [made[name].id for name in ("as-is", "mondrian-2", "mondrian-4")]
    release = harmless(finished(ready, f"{base}/releases/{ids[1]}"))
    for name in (*KNOWN, SENSITIVE, *PLAIN):
        assert name in release.text
    harmless(finished(ready, f"{base}/releases/{ids[0]}"))
    originals = guest.post(f"{base}/releases/{ids[1]}/originals", data={"agreed": "yes"})
    assert EVIL[0] in harmless(originals.text).text
    compared = harmless(ready(f"{base}/compare?id={ids[0]}&id={ids[1]}&id={ids[2]}").text)
    assert KNOWN[0] in compared.text
    harmless(ready(f"{base}/ask?q=max+k").text)
    decide = harmless(ready(f"{base}/decide/{ids[1]}").text)
    assert EVIL[3] in {each.get("value") for each in decide.all("input")}
    given = {"why": EVIL[0], "by": EVIL[2], "folder": EVIL[0]}
    shown = harmless(ready(guest.post(f"{base}/decide/{ids[1]}", data=given).headers["location"]).text)
    assert "Verified." in shown.text
    harmless(ready(f"{base}/decide/{ids[1]}").text)
    harmless(ready(f"{base}/report").text)


def test_evil_names_are_text_in_the_reports(project: Path, ready: Ready, guest: TestClient) -> None:
    chosen = candidates(project)["mondrian-2"].id
    given = {"why": EVIL[0], "by": EVIL[1], "folder": "out"}
    ready("/projects/evil/report")
    ready(guest.post(f"/projects/evil/decide/{chosen}", data=given).headers["location"])
    for address in ("report/exploration", "published/out/report"):
        report = Seen(ready(f"/projects/evil/{address}").text)
        assert report.all("script") == []
        assert report.all("img") == []
        every = [name for _, attributes in report.elements for name in attributes]
        assert [name for name in every if name.startswith("on")] == []
        for name in (*KNOWN, SENSITIVE, *PLAIN):
            assert name in report.text


def test_texts_that_a_spreadsheet_takes_for_formulas_are_told(folder: Path, ready: Ready) -> None:
    rows: list[list[object]] = [[20 + row % 3, "=1+1" if row % 2 else "b"] for row in range(12)]
    write_csv(folder / "sums.csv", ["age", "secret"], rows)
    path = explored(
        folder / "sums.toml",
        'policy.recipient = "none"\n'
        '[data]\npath = "sums.csv"\n[attributes.age]\nrole = "quasi-identifying"\n[attributes.secret]\n'
        'role = "sensitive"\n[[candidates]]\nsanitizer = "mondrian"\nmodel = { k-anonymity = { k = 2 } }\n',
    )
    page = Seen(finished(ready, f"/projects/sums/releases/{candidates(path)['mondrian-2'].id}"))
    assert "would take some texts in secret for formulas" in page.text
