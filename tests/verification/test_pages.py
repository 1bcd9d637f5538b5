"""What a page of another version states is compared mark by mark; whatever a forger changes is found."""

from __future__ import annotations

import hashlib
import html
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pytest
from tools.golden import GOLDEN

import sfumato as sf
from sfumato.verification.documents import read_manifest
from sfumato.verification.page_check import page_problem
from sfumato.verification.page_markup import STYLE_SHEETS, UnknownStyleSheet
from sfumato.verification.page_statements import Statements
from sfumato.verification.published_view import public_view, table_names
from sfumato.verification.readme_check import KNOWN_BLOCKS
from sfumato.verification.written_tables import read_tables
from sfumato.workflow.report.markup import html_templates

FORMAT_3 = GOLDEN / "format-3"
MARK = re.compile(
    r'<span (?P<attributes>(?:class="[^"]*" )?data-claim="(?P<place>[^"]*)"[^>]*)>(?P<text>[^<]*)</span>'
)
# What the docs list as not claimed: it may be left out or be there more than once.
OPTIONAL = re.compile(r"^/recipe$|/parameters(/|$)|^/cells/levels/")
PAGES = [
    ("generalized", "report.html"),
    ("two-tables", "report.html"),
    ("people", "report.html"),
    ("perturbed", "report.html"),
    ("synthetic", "report.html"),
    ("differentially-private", "report-nist.html"),
    ("profiles", "report-ema.html"),
    ("profiles", "report-hipaa.html"),
    ("profiles", "report-iso-27559.html"),
    ("profiles", "report-nist.html"),
    ("profiles", "report-wp216.html"),
]


@dataclass(frozen=True)
class Page:
    """A page with what it must state."""

    name: str
    text: str
    statements: Statements

    def problem(self, text: str) -> str:
        try:
            return page_problem(self.name, text.encode(), self.statements)
        except UnknownStyleSheet as unknown:
            return str(unknown)


def page_of(release: str, name: str) -> Page:
    folder = FORMAT_3 / release
    manifest = read_manifest(folder)
    tables = read_tables(folder, table_names(manifest.layout))
    statements = Statements(manifest, public_view(tables, manifest.layout), tables)
    return Page(name, (folder / name).read_text("utf-8"), statements)


@pytest.fixture(scope="module", params=PAGES, ids="-".join)
def page(request: pytest.FixtureRequest) -> Page:
    return page_of(*request.param)


@pytest.fixture(scope="module")
def report() -> Page:
    return page_of("generalized", "report.html")


def changes_of_marks(text: str) -> Iterator[tuple[str, str, str]]:
    """Return every change of a single mark: the place, how it is changed, and the page that results."""
    marks = list(MARK.finditer(text))
    for number, found in enumerate(marks):
        place, shown = html.unescape(found["place"]), found["text"]
        other = other_text(shown)

        def put(new: str, found: re.Match[str] = found) -> str:
            return text[: found.start()] + new + text[found.end() :]

        yield place, "text", put(found[0].replace(f">{shown}<", f">{other}<"))
        said = re.search(r'data-value="([^"]*)"', found["attributes"])
        if said is not None:
            wrong = html.escape(json.dumps(other_value(json.loads(html.unescape(said[1])))))
            forged = found[0].replace(said[0], f'data-value="{wrong}"')
            yield place, "value", put(forged)
            yield place, "text and value", put(forged.replace(f">{shown}<", f">{other}<"))
            yield place, "without value", put(found[0].replace(f" {said[0]}", ""))
        else:
            yield place, "with a value", put(found[0].replace(">", ' data-value="7">', 1))
        yield place, "removed", put("")
        yield place, "without mark", put(shown)
        yield place, "twice", put(found[0] * 2)
        yield place, "of nothing", put(found[0].replace(found["place"], found["place"] + "/nothing"))
        yield place, "hidden", put(found[0].replace("<span", "<span hidden", 1))
        yield place, "styled away", put(found[0].replace("<span", '<span style="display:none"', 1))
        follower = marks[(number + 1) % len(marks)]
        if follower.start() > found.end() and follower[0] != found[0]:
            between = text[found.end() : follower.start()]
            swapped = f"{follower[0]}{between}{found[0]}"
            optional = f" with {follower['place']}" if OPTIONAL.search(follower["place"]) else ""
            yield place, f"swapped{optional}", text[: found.start()] + swapped + text[follower.end() :]


def other_text(shown: str) -> str:
    """Return another text, of a number another number."""
    digit = re.search(r"\d", shown)
    if digit is None:
        return f"{shown} or so"
    return f"{shown[: digit.start()]}{(int(digit[0]) + 1) % 10}{shown[digit.end() :]}"


def other_value(value: object) -> object:
    if isinstance(value, bool):
        return not value
    return value * 1.1 + 1 if isinstance(value, (int, float)) else 0.5


def is_not_claimed(place: str, how: str) -> bool:
    """Return whether the docs say that such a change is not found."""
    is_optional = bool(OPTIONAL.search(place)) or " with " in how
    return is_optional and how.partition(" with ")[0] in ("removed", "twice", "without mark", "swapped")


def test_an_honest_page_has_no_problem(page: Page) -> None:
    assert page.problem(page.text) == ""


def test_each_change_of_a_mark_is_found(page: Page) -> None:
    tried, missed = 0, []
    # of one page every change; of the others, which are made of the same parts, every fifth
    step = 1 if (page.name, page.statements.manifest.recipe.sanitizer) == ("report.html", "mondrian") else 5
    for place, how, changed in islice(changes_of_marks(page.text), 0, None, step):
        tried += 1
        if changed != page.text and not page.problem(changed) and not is_not_claimed(place, how):
            missed.append((place, how))
    assert tried > 70
    assert missed == []


INSERTED: dict[str, str] = {
    "a script": "<script>alert(1)</script>",
    "a frame": '<iframe src="x"></iframe>',
    "an image": '<img alt="The risk is small">',
    "an object": "<object></object>",
    "a form": "<form></form>",
    "a comment": "<!-- 8 -->",
    "an open comment": "<!--",
    "a processing instruction": "<?xml version='1.0'?>",
    "a template": "<template>8</template>",
    "folded details": "<details><summary>more</summary></details>",
    "another style sheet": "<style>span { display: none }</style>",
    "a link to a style sheet": '<link rel="stylesheet" href="a.css">',
    "another base": '<base href="https://example.org/">',
    "an address elsewhere": '<a href="https://example.org/">see there</a>',
    "an address of a script": '<a href="javascript:alert(1)">see there</a>',
    "an inline style": '<span style="color: white">so</span>',
    "an event": '<span onclick="alert(1)">so</span>',
    "a title": '<span title="8">so</span>',
    "a hidden element": "<span hidden>so</span>",
    "an element that is not read aloud": '<span aria-hidden="true">so</span>',
    "another direction": '<span dir="rtl">so</span>',
    "a figure": "The risk is 0.01.",
    "a small figure": "The risk is 7%.",
    "a figure in other digits": "The risk is \u0667.",
    "a figure in small digits": "The risk is \u00b2.",
    "a fraction": "The risk is \u00bd.",
    "a figure in Roman digits": "Class \u2167.",
    "a figure in circles": "\u2467 records",
    "a figure as a reference": "The risk is &#55;.",
    "another reference": "The risk is &frac12;.",
    "a turned text": "so \u202e ton",
    "a sign of no width": "so\u200bso",
    "a stroke through the text": "so\u0336so",
    "a sign of one's own": "\ue000",
    "a control sign": "so\x07",
    "a value of no claim": '<span data-value="8">so</span>',
    "an unknown claim": '<span data-claim="/claims/99/value" data-value="8">8</span>',
    "a claim by its text alone": '<span data-claim="/claims/0/value">8</span>',
    "an unknown code": "<code>mondrain</code>",
    "an explained figure": "<span data-explains>0.0123</span>",
    "a label": '<span class="unverified" data-claim="unverified">unverified claim by the publisher</span>',
    "another label": '<span class="unverified" data-claim="unverified">checked</span>',
    "an open element": "<span>so",
    "an element closed twice": "so</span>",
    "a table in a paragraph": "<table><tbody><tr><td>so</td></tr></tbody></table>",
    "a picture": '<svg viewBox="0 0 10 10"><rect x="0" y="0" width="10" height="10"/></svg>',
    "an attribute without quotes": "<span class=a>so</span>",
    "an element in capitals": "<SPAN>so</SPAN>",
    "a section": "<section>so</section>",
}


@pytest.mark.parametrize("what", INSERTED)
def test_what_has_no_business_on_a_page_is_refused(report: Page, what: str) -> None:
    for before in ("<p>This report says", "<p>The honest user", "<p>To check the published folder"):
        if before in report.text:
            changed = report.text.replace(before, f"<p>{INSERTED[what]} {before[3:]}", 1)
            assert report.problem(changed), what
    assert report.problem(report.text.replace("<p>This report says", "<p>So this report says")) == ""


Edit = tuple[str | re.Pattern[str], str]
CHANGED: dict[str, Edit] = {
    "another style": ("h1, h2, table", "h1, h3, table"),
    "a text by the style": (".whole { white-space: nowrap; }", '.whole::after { content: "8"; }'),
    "no policy of contents": (
        re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>\n'),
        "",
    ),
    "a weaker policy of contents": ("default-src 'none'", "default-src *"),
    "a new address": (
        '<meta charset="utf-8">',
        '<meta charset="utf-8"><meta http-equiv="refresh" content="0">',
    ),
    "a second page": ("</html>", "</html><html><body><main><p>nobody at risk</p></main></body></html>"),
    "nothing": (re.compile(r"<html.*", re.DOTALL), ""),
    "another encoding": ('<meta charset="utf-8">', '<meta charset="utf-7">'),
    "another version": (re.compile(r'content="sfumato [^"]*"'), 'content="sfumato 9.9"'),
    "no declaration": ("<!DOCTYPE html>\n", ""),
    "another title": ("<title>Visits to 3", "<title>Visits to 4"),
    "a figure in the title": ("anonymisation report</title>", "anonymisation report, risk 7%</title>"),
    "a text in the head": ("<head>", "<head>The risk is small."),
    "a text between rows": ("<tbody>\n<tr>", "<tbody>\nnobody at risk<tr>"),
    "a text between cells": ("<tr><th", "<tr>nobody at risk<th"),
    "a row in a paragraph": ("<p>These values come", "<p><tr></tr>These values come"),
    "no section of limits": (re.compile(r'<section data-block="limits">.*?</section>\n', re.DOTALL), ""),
    "no mark of a section": (' data-block="limits"', ""),
    "two sections of claims": (' data-block="limits"', ' data-block="claims"'),
    "a section of another name": (' data-block="limits"', ' data-block="limit"'),
    "a label for those who hear the page": ('aria-label="Claims"', 'aria-label="Claims: 8 of 8"'),
    "a label of a narrow page": ('data-label="Baseline"', 'data-label="Risk 7%"'),
    "a verdict that looks like the other": ('class="verdict met"', 'class="verdict broken"'),
    "the other verdict": (">met</span>", ">not met</span>"),
    "a policy of the other kind": (">at most 3<", ">at least 3<"),
    "a requirement of the other kind": (">at least 3<", ">beyond 3<"),
    "the other direction": (">lower is better<", ">higher is better<"),
    "another recipe": ("&#34;k&#34;: 3", "&#34;k&#34;: 4"),
    "a recipe with more": ("&#34;sanitizer&#34;", "&#34;safe&#34;: true, &#34;sanitizer&#34;"),
    "another recipe in words": ("k-anonymity (k\u00a0=\u00a03)", "k-anonymity (k\u00a0=\u00a04)"),
    "a promise in the recipe in words": ("mondrian with", "mondrian safely with"),
    "another model": (">k-anonymity (k = 3)<", ">l-anonymity (k = 3)<"),
    "another parameter of a model": (">k-anonymity (k = 3)<", ">k-anonymity (t = 3)<"),
    "a number of a section": ('<span class="number">1</span>', '<span class="number">7% of records</span>'),
    "a file that is not there": ("<code><span", "<code>all.csv</code><code><span"),
}


@pytest.mark.parametrize("what", CHANGED)
def test_each_change_of_the_page_is_found(report: Page, what: str) -> None:
    old, new = CHANGED[what]
    changed = (
        old.sub(new, report.text, 1) if isinstance(old, re.Pattern) else report.text.replace(old, new, 1)
    )
    assert changed != report.text
    assert report.problem(changed)


GRID = '<path d="M100 20L110 30" fill="none" stroke="#d5dbe1" stroke-width="0.6"/>'
PICTURE: dict[str, tuple[str, str | Callable[[re.Match[str]], str]]] = {
    "a point more": (r'data-points="', 'data-points="1,0.01 '),
    "a point less": (r'data-points="\S+ ', 'data-points="'),
    "another size": (r'data-points="(\d+),', lambda found: f'data-points="{int(found[1]) + 1},'),
    "another share": (r"(data-points=\"\d+),0\.", r"\1,0.9"),
    "no points": (r' data-points="[^"]*"', ""),
    "no mark": (r' data-claim="class-sizes"', ""),
    "another mark": (r' data-claim="class-sizes"', ' data-claim="/cells/released"'),
    "the line elsewhere": (r'd="M([\d.]+) ([\d.]+)H([\d.]+)V([\d.]+)', r'd="M\1 \2H\g<3>V90'),
    "the line shifted": (r'd="M([\d.]+) ([\d.]+)H', lambda found: f'd="M{float(found[1]) + 5:g} {found[2]}H'),
    "the line cut": (r'(V[\d.]+H[\d.]+)(" fill="none" stroke="#0072b2")', r"\2"),
    "a line that is not seen": (r'stroke="#0072b2"', 'stroke="#ffffff"'),
    "a line of no colour": (r'stroke="#0072b2"', 'stroke="none"'),
    "a thin line": (r'stroke-width="1.6"', 'stroke-width="0.01"'),
    "a line without a ground": (r'fill="none" stroke="#0072b2"', 'fill="#ffffff" stroke="#0072b2"'),
    "a faint line": (r'stroke-width="1.6"', 'stroke-width="1.6" opacity="0.1"'),
    "an area that covers": (r'opacity="0.12"', 'opacity="1"'),
    "another area": (r'(fill="#0072b2" opacity)', r'fill="#0072b2" stroke="#000000" opacity'),
    "another domain": (r'data-x-domain="[^"]*"', 'data-x-domain="1.0,100.0"'),
    "another range": (r'data-y-range="[^"]*"', 'data-y-range="173,100"'),
    "an even axis": (r'data-x-scale="log"', 'data-x-scale="linear"'),
    "a turned axis": (r'data-y-range="([\d.]+),([\d.]+)"', r'data-y-range="\2,\1"'),
    "an endless axis": (r'data-x-domain="[^"]*"', 'data-x-domain="1.0,inf"'),
    "another label of an axis": (r">40%</text>", ">60%</text>"),
    "a label elsewhere": (r'y="[\d.]+" text-anchor="end">40%', 'y="20" text-anchor="end">40%'),
    "a label in the picture": (
        r"(<path d=\"[^\"]*\" fill=\"none\" stroke=\"#0072b2\")",
        r'<text x="200" y="80">90%</text>\1',
    ),
    "a size of another label": (r">(\d)</text>", lambda found: f">{int(found[1]) + 1}</text>"),
    "a figure in words": (r">class size \(records", ">class size (8 records"),
    "a figure that is turned": (r">40%</text>", ' transform="rotate(90 1 1)">40%</text>'),
    "another line": (r"(<path d=\"M)", rf"{GRID}\1"),
    "a bent line": (r"(<path d=\"M)", r'<path d="M60 20L60 80L200 80" fill="none"/>\1'),
    "a curve": (r"(<path d=\"M)", r'<path d="M60 20C60 80 200 80 210 90" fill="none"/>\1'),
    "a thick grid": (r'stroke-width="0.6"', 'stroke-width="60"'),
    "a cover": (r"</g></svg>", '<rect x="60" y="10" width="400" height="160" fill="#ffffff"/></g></svg>'),
    "a cover beside the panel": (
        r"</g></svg>",
        '</g><rect x="0" y="0" width="520" height="300" fill="#ffffff"/></svg>',
    ),
    "a text on the panel": (r"</g></svg>", "</g><text>90%</text></svg>"),
    "two panels": (r"</g></svg>", "</g><g></g></svg>"),
    "no ground": (r'<rect [^>]*fill="#ffffff"/>', ""),
    "another ground": (r'fill="#ffffff"/>', 'fill="#0072b2"/>'),
    "another colour of all": (r'fill="#1b2733"', 'fill="#ffffff"'),
    "a wide picture": (r'viewBox="0 0 520', 'viewBox="0 0 99999'),
    "a moved picture": (r'viewBox="0 0 520', 'viewBox="400 0 520'),
    "a figure for those who do not see": (
        r'aria-label="Cumulative class sizes"',
        'aria-label="Class sizes from 90"',
    ),
    "an element in the picture": (r"</g></svg>", "</g><foreignObject></foreignObject></svg>"),
    "a moving element": (r"</g></svg>", "<animate></animate></g></svg>"),
    "a use of another": (r"</g></svg>", '<use href="#a"/></g></svg>'),
    "no picture": (r"<figure>.*?</figure>", ""),
}


@pytest.mark.parametrize("what", PICTURE)
def test_each_change_of_the_picture_is_found(report: Page, what: str) -> None:
    old, new = PICTURE[what]
    changed = re.sub(old, new, report.text, count=1, flags=re.DOTALL)
    assert changed != report.text
    assert report.problem(changed)


README: dict[str, Edit] = {
    "the number": ("has 60 records", "has 61 records"),
    "a second number": ("what was left out", "8 of it, what was left out"),
    "a number in words of another script": ("what was left out", "\u0668 of it, what was left out"),
    "no number": ("has 60 records", "has records"),
    "no label": (" *(unverified claim by the publisher)*", ""),
    "another label": ("*(unverified claim by the publisher)*", "*(checked)*"),
    "a program": ("import csv, json, re", "import csv, json, os, re"),
    "a program in R": ("layout <- value()", "system('ls'); layout <- value()"),
    "another program": ("## Without sfumato", "```sh\nrm -r .\n```\n## Without sfumato"),
    "no program": (re.compile(r"```r\n.*?```", re.DOTALL), ""),
    "a program twice": (re.compile(r"(```r\n.*?```\n)", re.DOTALL), r"\1\n\1"),
    "the table of cells": ("a number from 20 to below 30", "a number from 20 to below 50"),
    "another table": ("## Cells", "| a |\n|---|\n## Cells"),
    "a link": ("## Cells", "[see](there)\n## Cells"),
    "an address": ("## Cells", "https://example.org\n## Cells"),
    "an image": ("## Cells", "![see](there)\n## Cells"),
    "markup": ("## Cells", "<b>so</b>\n## Cells"),
    "a comment": ("## Cells", "<!-- so -->\n## Cells"),
    "a name that is not there": ("`data.csv`", "`data.csv`, `all.csv`"),
    "no data": ("`data.csv`", "the data"),
    "a sign that nobody sees": ("## Cells", "## Cells\u202e"),
    "whole numbers": ("`age` are whole", "`town` are whole"),
}


@pytest.mark.parametrize("what", README)
def test_each_change_of_the_readme_is_found(what: str) -> None:
    page = page_of("generalized", "README.md")
    assert page.problem(page.text) == ""
    old, new = README[what]
    changed = old.sub(new, page.text, 1) if isinstance(old, re.Pattern) else page.text.replace(old, new, 1)
    assert changed != page.text
    assert page.problem(changed)


def test_the_wording_of_another_version_may_differ(report: Page) -> None:
    changed = report.text.replace("These values come from", "All of these values are from")
    changed = re.sub(r'(<h2 id="\w+"><span class="number">\d+</span>) [^<]*', r"\1 Another title", changed)
    limits = re.search(r'<section data-block="limits">.*?</section>\n', changed, re.DOTALL)[0]
    changed = changed.replace(limits, "").replace(
        '<section data-block="claims">', f'{limits}<section data-block="claims">'
    )
    changed = changed.replace(">30%<", ">30.0%<")
    assert changed != report.text
    assert report.problem(changed) == ""


def test_another_rendering_of_a_value_is_the_same_statement(report: Page) -> None:
    old = re.search(r'(<span data-claim="/cells/released" data-value="1.0">)100%', report.text)
    assert old is not None
    assert report.problem(report.text.replace(old[0], f"{old[1]}1")) == ""
    assert report.problem(report.text.replace(old[0], f"{old[1]}100.00%")) == ""
    assert report.problem(report.text.replace(old[0], f"{old[1]}101%")) != ""


def test_every_style_sheet_and_block_that_is_written_today_is_known() -> None:
    sheet = html_templates("sfumato.workflow.report").get_template("report.css").render().strip()
    assert hashlib.sha256(sheet.encode()).hexdigest() in STYLE_SHEETS, (
        "report.css was changed: add its SHA-256 to STYLE_SHEETS in page_markup.py, and keep the others"
    )
    page = page_of("generalized", "README.md")
    blocks = re.findall(r"```(?:python|r)\n(.*?)```", page.text, re.DOTALL)
    assert all(hashlib.sha256(block.encode()).hexdigest() in KNOWN_BLOCKS for block in blocks)


# With the folder's other files


def forge(folder: Path, name: str, change: Callable[[str], str]) -> None:
    """Change a page, and mend every checksum, as a careful forger does."""
    text = (folder / name).read_text("utf-8")
    changed = change(text)
    assert changed != text
    (folder / name).write_text(changed, "utf-8")
    if name in ("manifest.json", "certificate.json"):
        return
    place = folder / "manifest.json"
    facts = json.loads(place.read_text("utf-8"))
    content = (folder / name).read_bytes()
    facts["files"][name] = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    place.write_text(json.dumps(facts), "utf-8")
    certificate = json.loads((folder / "certificate.json").read_text("utf-8"))
    certificate["manifest"] = hashlib.sha256(place.read_bytes()).hexdigest()
    (folder / "certificate.json").write_text(json.dumps(certificate), "utf-8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(FORMAT_3 / "generalized", tmp_path / "out")
    monkeypatch.setattr(sf, "__version__", "999.0")
    return tmp_path / "out"


def outcomes(folder: Path) -> Counter[str]:
    return Counter(check.outcome for check in sf.verify(folder))


def test_verify_finds_a_forged_figure_and_nothing_else(folder: Path) -> None:
    forge(folder, "report.html", lambda text: text.replace(">0.2786<", ">0.0786<"))
    found = sf.verify(folder)
    assert found.failed[0].what.startswith("report.html states")
    assert found.exit_code == 2


def test_a_page_with_other_words_is_verified(folder: Path) -> None:
    forge(folder, "report.html", lambda text: text.replace("These values come", "All of these come"))
    assert sf.verify(folder).exit_code == 0


def test_an_unknown_style_sheet_is_wrong_unless_a_later_version_may_know_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forge(folder, "report.html", lambda text: text.replace("h1, h2, table", "h1, table"))
    assert sf.verify(folder).exit_code == 2
    monkeypatch.setattr(sf, "__version__", "0.0.1")
    found = sf.verify(folder)
    assert (found.exit_code, found.holds) == (4, False)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("k-anonymity is 3", "k-anonymity is 30"),
        ('"k-anonymity is 3",', ""),
        ('"k-anonymity is 3"', '"k-anonymity is 3", "k-anonymity is 4"'),
        ('"k-anonymity is 3"', '"k-anonymity is 3", "k-anonymity is 3"'),
        ('"k-anonymity is 3"', '"k-anonymity is 3", "nobody can be found"'),
        ('"fails": {}', '"fails": {"a": "b"}'),
        ('"checked_by": "A. Steward"', '"checked_by": "An auditor"'),
        ('"not_checked": [', '"not_checked": ["nobody can be found", '),
    ],
)
def test_no_certificate_but_the_right_one_is_believed(folder: Path, old: str, new: str) -> None:
    forge(folder, "certificate.json", lambda text: text.replace(old, new))
    assert sf.verify(folder).exit_code == 2


def test_a_claim_that_is_moved_to_the_checked_ones_is_found(folder: Path) -> None:
    facts = json.loads((folder / "certificate.json").read_text("utf-8"))
    facts["checked"].append(facts["not_checked"].pop())
    (folder / "certificate.json").write_text(json.dumps(facts), "utf-8")
    assert sf.verify(folder).exit_code == 2


def test_a_later_version_may_have_checked_more(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sf, "__version__", "0.0.1")
    assert sf.verify(folder).exit_code == 0
    forge(
        folder, "certificate.json", lambda text: text.replace('"checked": [', '"checked": ["a new check", ')
    )
    assert sf.verify(folder).exit_code == 4
