"""The quick look at all papers, through the command line: it ends well, and what is exact is the same.

The more records the more time it takes. So the quick look is taken at some of them, and what is exact is
computed of all records, from releases that are made at once.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

from sfumato.interfaces.cli import cli
from sfumato_papers import experiments
from sfumato_papers.experiments import Variant

AT_ONCE = ("as-is", "suppress-quasi-identifiers")
ABOUT_RELEASES = ("brickell-partitions",)
# Of every so many records one is looked at: enough for the largest class that a paper asks for, which is of
# 5,000 records in Li's and of 1,000 elsewhere.
ONE_OF = {
    "brickell.csv": 24,
    "dewri.csv": 16,
    "li.csv": 9,
    "sramka-anonymity.csv": 24,
    "sramka-noise.csv": 24,
    "all-papers.csv": 24,
}
FEW_QUERIES = 10
ALL_PAPERS = pytest.mark.thorough("the tests of each paper in this folder, and what is exact")
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


def reproduced(folder: Path, *papers: str) -> dict[str, Any]:
    """Return what the command prints. One worker: there are a dozen experiments, and workers start slowly.

    One seed and no control: `test_run` puts several settings together, on a few records.
    """
    once = ["--seeds", "1", "--no-control"]
    options = ["--quick", *once, "--json", "--workers", "1", "--folder", str(folder)]
    done = CliRunner().invoke(cli, ["reproduce", *papers, *options])
    assert done.exit_code == 0, done.stderr
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


@pytest.fixture(scope="module")
def results(folder: Path) -> dict[str, Any]:
    """All papers, of some records each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(experiments, "_write_records", fewer(experiments._write_records))
        return reproduced(folder, "all")


def fewer(write: Callable[..., Any]) -> Callable[..., Any]:
    def write_some(place: Path, records: pa.Table) -> None:
        write(place, records.take(list(range(0, len(records), ONE_OF[place.name]))))

    return write_some


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What is exact, of all records."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Variant, "document", at_once(Variant.document))
        return reproduced(tmp_path_factory.mktemp("exact"), *dict.fromkeys(paper for paper, *_ in EXACT))


def at_once(document: Callable[..., Any]) -> Callable[..., Any]:
    """Keep the releases that are made at once, the miner that looks at nothing, and a few queries."""

    def shortened(variant: Variant) -> Any:
        found = document(variant)
        if variant.experiment.name not in ABOUT_RELEASES:
            found["candidates"] = [{"sanitizer": name} for name in AT_ONCE]
        for each in found["measure"]["utility"]:
            if "workload-utility" in each:
                each["workload-utility"]["miners"] = ["majority"]
            if "query-error" in each:
                each["query-error"]["queries"] = FEW_QUERIES
        return found

    return shortened


def exhibits(results: dict[str, Any], paper: str) -> dict[str, Any]:
    return {each["key"]: each for each in results["papers"][paper]["exhibits"]}


@ALL_PAPERS
def test_page_results_and_pictures_are_written(results, folder):
    written = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert written == {name: value for name, value in results.items() if name not in ("format", "page")}
    assert list(written["papers"]) == ["brickell", "li", "dewri", "sramka", "all-papers"]
    page = Path(results["page"]).read_text(encoding="utf-8")
    for paper in results["papers"]:
        for key, each in exhibits(results, paper).items():
            assert f'id="{paper}-{key}"' in page
            assert each["title"]
    assert any((folder / "pictures").glob("*.svg"))


@pytest.mark.parametrize(("paper", "key", "row", "column", "figure"), EXACT)
def test_exact_facts_are_the_same(exact, paper, key, row, column, figure):
    (cell,) = (
        cell
        for cell in exhibits(exact, paper)[key]["cells"]
        if (cell["row"], cell["column"]) == (row, column)
    )
    assert (cell["published"], cell["verdict"]) == (figure, "same")


@ALL_PAPERS
def test_what_is_printed_has_its_shape(results, printed):
    printed("reproduce", json.dumps(results))


@ALL_PAPERS
def test_every_curve_has_a_point(results):
    empty = [
        (paper, key, chart["title"], series["name"])
        for paper in results["papers"]
        for key, exhibit in exhibits(results, paper).items()
        for chart in exhibit["charts"]
        for series in chart["series"]
        if not any(y is not None for y in series["y"])
    ]
    assert not empty


@ALL_PAPERS
def test_numbered_exhibits_begin_with_their_number_in_the_paper(results):
    for paper in ("brickell", "li", "dewri", "sramka"):
        for key, exhibit in exhibits(results, paper).items():
            kind, _, number = key.partition("-")
            if kind in ("figure", "table"):
                digits = "".join(each for each in number if each.isdigit())
                assert exhibit["title"].startswith(f"{kind.title()} {digits}")
