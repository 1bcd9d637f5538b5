"""The quick look at all papers, through the command line: it ends well, and what is exact is the same."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sfumato.cli import cli

EXACT = [
    ("li", "table-1", "records", "count", "45222"),
    ("dewri", "data", "records", "count", "30162"),
    ("li", "interpretation", "Craft-repair is revealed", "privacy loss", "0.488"),
    ("li", "interpretation", "Armed-Forces is revealed", "privacy loss", "0.692"),
    ("brickell", "figure-2", "trivial release", "adversary", "13.31"),
    ("brickell", "figure-1", "trivial release", "adversary", "46.56"),
    ("brickell", "table-3", "intact", "accuracy-gain", "0.1034"),
    ("brickell", "table-3", "intact", "knowledge-gain", "0.2492"),
    ("brickell", "table-3", "suppressed", "accuracy-gain", "0"),
    ("brickell", "table-3", "suppressed", "knowledge-gain", "0"),
    ("dewri", "table-2", "T1", "weighted-k", "29/7"),
    ("dewri", "table-2", "T2", "weighted-k", "17/7"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("quick") / "papers"


@pytest.fixture(scope="module")
def told(folder: Path) -> dict[str, Any]:
    """What the command prints."""
    done = CliRunner().invoke(cli, ["reproduce", "all", "--quick", "--json", "--folder", str(folder)])
    assert done.exit_code == 0, done.stderr
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


def exhibits(told: dict[str, Any], paper: str) -> dict[str, Any]:
    return {each["key"]: each for each in told["papers"][paper]["exhibits"]}


def test_page_results_and_pictures_are_written(told, folder):
    written = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert written == {name: value for name, value in told.items() if name != "page"}
    assert list(written["papers"]) == ["brickell", "li", "dewri", "sramka", "together"]
    page = Path(told["page"]).read_text(encoding="utf-8")
    for paper in told["papers"]:
        for key, each in exhibits(told, paper).items():
            assert f'id="{paper}-{key}"' in page
            assert each["title"]
    assert any((folder / "figures").glob("*.svg"))


@pytest.mark.parametrize(("paper", "key", "row", "column", "figure"), EXACT)
def test_exact_facts_are_the_same(told, paper, key, row, column, figure):
    (cell,) = (
        cell for cell in exhibits(told, paper)[key]["cells"] if (cell["row"], cell["column"]) == (row, column)
    )
    assert (cell["published"], cell["verdict"]) == (figure, "same")


def test_every_curve_has_a_point(told):
    empty = [
        (paper, key, chart["title"], series["name"])
        for paper in told["papers"]
        for key, exhibit in exhibits(told, paper).items()
        for chart in exhibit["charts"]
        for series in chart["series"]
        if not any(y is not None for y in series["y"])
    ]
    assert not empty


def test_numbered_exhibits_begin_with_their_number_in_the_paper(told):
    for paper in ("brickell", "li", "dewri", "sramka"):
        for key, exhibit in exhibits(told, paper).items():
            kind, _, number = key.partition("-")
            if kind in ("figure", "table"):
                digits = "".join(each for each in number if each.isdigit())
                assert exhibit["title"].startswith(f"{kind.title()} {digits}")
