"""Study the open questions of the four papers, and write every table and picture of their page.

    python papers/benchmarks/open_questions.py --cache FOLDER            what questions/results.json lacks
    python papers/benchmarks/open_questions.py --cache FOLDER --tables wages,stroke
    python papers/benchmarks/open_questions.py --page                    only writes page and pictures again

You can stop it: the cache keeps the public tables and every measured candidate, and results.json keeps every
finished study, and every finished table of a study.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from questions import adversary_knowledge, distance, gain_over_trivial, other_tables, properties
from questions.tables import TABLES, named
from sfumato.runtime.files import file_beside

STUDIES: dict[str, ModuleType] = {
    "distance": distance,
    "properties": properties,
    "gain-over-trivial": gain_over_trivial,
    "adversary-knowledge": adversary_knowledge,
    "other-tables": other_tables,
}
ON_ADULT = ("distance", "properties", "adversary-knowledge")
ON_TABLES = ("distance", "gain-over-trivial", "other-tables")
DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "open-questions.md"
RESULTS = Path(__file__).parent / "questions" / "results.json"
NOT_YET = "*Not computed yet.*"
_BLOCK = re.compile(r"(?<=<!-- table: )([\w-]+)( -->\n).*?(?=<!-- end -->)", re.DOTALL)


def cpu() -> float:
    """Return the seconds of CPU of this process and of those that it started and that ended."""
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, who))


def filled(page: str, results: dict[str, Any]) -> str:
    """Return the page with every table as the results have it."""
    tables: dict[str, str] = {}
    for name, study in STUDIES.items():
        if name in results:
            tables |= study.tables(results[name])
    return _BLOCK.sub(lambda mark: f"{mark[1]}{mark[2]}{tables.get(mark[1], NOT_YET)}\n", page)


def pictures(results: dict[str, Any]) -> dict[str, str]:
    """Return every picture by its name."""
    return {
        name: svg
        for key, study in STUDIES.items()
        if key in results
        for name, svg in study.pictures(results[key]).items()
    }


def missing(results: dict[str, Any], names: list[str], wanted: list[str]) -> Iterator[tuple[str, str]]:
    """Yield every study that has no result yet: of Adult, whose name is empty, and of each table."""
    for name in names:
        if name in ON_ADULT and "adult" not in results.get(name, {}):
            yield name, ""
    for table in wanted:
        for name in names:
            if name in ON_TABLES and table not in results.get(name, {}).get("tables", {}):
                yield name, table


def _put(place: Path, text: str) -> None:
    with file_beside(place) as temporary:
        temporary.write_text(text, "utf-8")


def main() -> None:
    """Study what is asked for, and write results, tables and pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, help="where public tables and candidates are kept")
    parser.add_argument("--only", default=",".join(STUDIES), help="questions, with commas between")
    parser.add_argument("--tables", default=",".join(each.name for each in TABLES), help="likewise")
    parser.add_argument("--page", action="store_true", help="only write page and pictures")
    given = parser.parse_args()
    if not given.page and given.cache is None:
        parser.error("--cache FOLDER is missing")
    results: dict[str, Any] = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    lacking = list(missing(results, given.only.split(","), given.tables.split(",")))
    for name, table in [] if given.page else lacking:
        began, of = cpu(), results.setdefault(name, {})
        if table:
            of.setdefault("tables", {})[table] = STUDIES[name].study_of(named(table), given.cache)
        else:
            of["adult"] = STUDIES[name].study(given.cache)
        print(f"{name} {table or 'adult'}: {cpu() - began:.0f} s of CPU", flush=True)
        _put(RESULTS, json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    _put(PAGE, filled(PAGE.read_text("utf-8"), results))
    for name, svg in pictures(results).items():
        _put(DOCS / f"{name}.svg", svg)


if __name__ == "__main__":
    main()
