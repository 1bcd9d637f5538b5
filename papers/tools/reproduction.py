"""Fill the documents that quote the reproduction from the digest of its last run.

sfumato reproduce all --folder FOLDER         run it; --seeds 1 --no-interpretations --no-control is short
python -m papers.tools.reproduction FOLDER    take it into the digest, fill the documents
python -m papers.tools.reproduction           fill the documents from the digest
python -m papers.tools.reproduction --check   fail if a document on disk differs

Only this module writes the text between `<!-- from the run: NAME -->` and `<!-- end of NAME -->`.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from papers.tools.digest import PLACE, Digest, digest_of, read_digest, written

from sfumato_papers.archive import read_results
from sfumato_papers.exhibits import CONCLUSIONS, VERDICTS, Cell
from sfumato_papers.page import printed
from sfumato_papers.run import PAPERS, paper

DOCS = PLACE.parent
DOCUMENTS = ("reproduction.md", "dilemma.md", "scenarios.md")
PICTURES = {
    "dewri-figure-10.svg": "dewri-figure-10-2.svg",
    "all-papers-losses.svg": "all-papers-losses.svg",
    "all-papers-gains.svg": "all-papers-gains-salary.svg",
}
"""The pictures of the documents, and what each is called in the folder of a run."""
_FORMULA, _TRULY = "loss by the formula in per cent", "loss with the guarantee in per cent"
_TRUE_OF_ALL = "A solution (d1, d2)"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [list(head), *(list(row) for row in rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


class NotRerun(LookupError):
    """No run of a paper is in the digest."""


def _of(digest: Digest, key: str) -> Any:
    if key not in digest:
        raise NotRerun(f"No run is kept: `sfumato reproduce {key}`.")
    return digest[key]


# How far the papers were rerun, and what came out


def summary(digest: Digest) -> str:
    """Return one line for each paper: how far it was rerun, its figures and conclusions, tests of ours."""
    rows = [
        (
            paper(key).title,
            _extent(found["run"]),
            _counts(found["verdicts-by-any-interpretation"], VERDICTS[:-1]),
            _counts(found["conclusions"], CONCLUSIONS),
            _counts(found["tests-of-ours"], CONCLUSIONS),
        )
        for key, found in digest.items()
    ]
    return _table(("paper", "rerun with", "its figures", "its conclusions", "tests of ours"), rows)


def _extent(run: Mapping[str, Any]) -> str:
    parts = [
        "one seed" if run["seeds"] == 1 else f"{run['seeds']} seeds",
        "every interpretation" if run["every-interpretation"] else "our interpretations only",
        "a control" if run["control"] else "no control",
    ]
    return ("a quick look, " if run["quick"] else "") + ", ".join(parts)


def _counts(numbers: Mapping[str, int], words: Iterable[str]) -> str:
    return ", ".join(f"{word} {numbers[word]}" for word in words if numbers.get(word)) or "none"


def conclusions(digest: Digest, key: str) -> str:
    """Return what is concluded, by the paper or by us, and what came out."""
    rows = [
        (
            _spoken(claim["exhibit"]),
            claim["conclusion"],
            f"{claim['text']} ({claim['source'] or 'ours'})",
            _evidence(claim),
        )
        for claim in _of(digest, key)["claims"]
    ]
    return _table(("exhibit", "verdict", "conclusion", "what came out"), rows)


def _spoken(exhibit: str) -> str:
    """Return the name of an exhibit as one says it: ``figure 2a``."""
    return exhibit.replace("-", " ")


def _evidence(claim: Mapping[str, Any]) -> str:
    others = [f"with `{switch}`: {evidence}" for switch, evidence in claim["otherwise"].items()]
    control = [f"on the control: {claim['control']}"] if claim["conclusion"] == "says nothing" else []
    return "; ".join(each.rstrip(".") for each in [claim["evidence"], *others, *control])


# The figures that our interpretation of the papers does not reproduce


def reproduced_otherwise(digest: Digest, key: str) -> str:
    """Return the figures that only another interpretation than ours reproduces, and which."""
    rows = [
        (
            f"{_spoken(each['exhibit'])}: {each['row']}, {each['column']}",
            each["published"],
            _shown(each, each["ours"]),
            f"{_shown(each, each['reproduced'])} with `{each['interpretation']}`",
        )
        for each in _of(digest, key)["reproduced-otherwise"]
    ]
    return _table(("figure", "published", "ours", "reproduced"), rows) if rows else _none(digest, key)


def not_reproduced(digest: Digest, key: str) -> str:
    """Return the figures that no interpretation reproduces, the nearest of ours, and what was tried."""
    found = _of(digest, key)["not-reproduced"]
    groups = [list(same) for _, same in groupby(found, key=lambda each: (each["exhibit"], each["column"]))]
    head = ("figures", "published", "ours", "nearest", "verdict", "interpretations tried")
    nothing = "none changes it" if _of(digest, key)["run"]["every-interpretation"] else "not in this run"
    return (
        _table(head, (_not_reproduced_row(each, nothing) for each in groups))
        if groups
        else _none(digest, key)
    )


def _not_reproduced_row(group: Sequence[Mapping[str, Any]], nothing: str) -> tuple[str, ...]:
    """Return one line for some figures of a column; `nothing` is shown where nothing was tried."""

    def each_in_turn(shown: Callable[[Mapping[str, Any]], str]) -> str:
        return "; ".join(map(shown, group))

    tried = dict.fromkeys(f"`{switch}`" for each in group for switch in each["tried"])
    return (
        f"{_spoken(group[0]['exhibit'])}, {group[0]['column']}: {', '.join(each['row'] for each in group)}",
        each_in_turn(lambda each: each["published"]),
        each_in_turn(lambda each: _shown(each, each["ours"])),
        each_in_turn(_nearest),
        ", ".join(dict.fromkeys(each["verdict"] for each in group)),
        ", ".join(tried) or nothing,
    )


def _nearest(each: Mapping[str, Any]) -> str:
    switch = each["nearest-interpretation"]
    return _shown(each, each["nearest"]) + (f" (`{switch}`)" if switch else "")


def _none(digest: Digest, key: str) -> str:
    every = _of(digest, key)["run"]["every-interpretation"]
    return "None." if every else "None, as far as our interpretations go."


def _shown(each: Mapping[str, Any], value: Any) -> str:
    """Print one of our figures with a digit more than the published one."""
    cell = Cell(each["row"], each["column"], None, each["published"], each["tolerance"])
    return printed(cell, None if value is None else float(value))


# What single documents quote


def _figures(digest: Digest, key: str, exhibit: str) -> dict[tuple[str, str], Mapping[str, Any]]:
    found = [each for each in _of(digest, key)["figures"] if each["exhibit"] == exhibit]
    return {(each["row"], each["column"]): each for each in found}


def safety(digest: Digest) -> str:
    """Return what (k, l)-safe releases cost by the paper's formula and truly, under every interpretation."""
    found = _figures(digest, "dewri", "figure-11")
    rows = [
        (row, f"{printed_one['published']} %", *(_losses(found.get((row, c))) for c in (_FORMULA, _TRULY)))
        for (row, column), printed_one in found.items()
        if column == _FORMULA
    ]
    head = ("", "published", "by the formula", "truly (guarantee)")
    promise = next(c for c in _of(digest, "dewri")["claims"] if c["text"].startswith(_TRUE_OF_ALL))
    pairs = f"Pairs of the formula that are d1-anonymous and d2-diverse: {_evidence(promise)}."
    return f"{_table(head, rows)}\n\n{pairs} {_rerun_with(digest, 'dewri')}"


def _rerun_with(digest: Digest, key: str) -> str:
    return f"(Rerun with {_extent(_of(digest, key)['run'])}.)"


def _losses(each: Mapping[str, Any] | None) -> str:
    if each is None:
        return "not computed"
    others = [
        f"{loss:.1f} % with `{switch}`"
        for switch, loss in each["interpretations"].items()
        if loss is not None
    ]
    return "; ".join([f"{each['ours']:.1f} %", *others])


def answers(digest: Digest) -> str:
    """Return the other answers of Dewri and others next to ours, under every interpretation."""
    rows = [
        (
            f"{row}: {column}",
            each["published"],
            "; ".join(
                [
                    _shown(each, each["ours"]),
                    *(
                        f"{_shown(each, other)} with `{switch}`"
                        for switch, other in each["interpretations"].items()
                    ),
                ]
            ),
        )
        for exhibit in ("figure-6", "figure-7")
        for (row, column), each in _figures(digest, "dewri", exhibit).items()
    ]
    return f"{_table(('', 'published', 'found'), rows)}\n\n{_rerun_with(digest, 'dewri')}"


def originals(digest: Digest) -> str:
    """Return what the miners of Sramka and others achieve on the original."""
    found = _figures(digest, "sramka", "table-1")
    rows = [
        (column, each["published"], _shown(each, each["ours"]))
        for (row, column), each in found.items()
        if row == "original, numbers"
    ]
    return _table(("salaries predicted right on the original", "published", "ours"), rows)


BLOCKS: dict[str, Callable[[Digest], str]] = {
    "summary": summary,
    "safety": safety,
    "answers": answers,
    "originals": originals,
    **{f"conclusions of {key}": partial(conclusions, key=key) for key in PAPERS},
    **{f"reproduced otherwise in {key}": partial(reproduced_otherwise, key=key) for key in PAPERS},
    **{f"not reproduced in {key}": partial(not_reproduced, key=key) for key in PAPERS},
}
"""What is written between the marks of the documents."""


def filled(document: str, digest: Digest) -> str:
    """Fill the text between the marks of a document."""

    def write(found: re.Match[str]) -> str:
        name = found["name"]
        try:
            text = BLOCKS[name](digest)
        except NotRerun as missing:
            text = str(missing)
        return f"<!-- from the run: {name} -->\n\n{text}\n\n<!-- end of {name} -->"

    pattern = r"<!-- from the run: (?P<name>.+?) -->\n.*?<!-- end of (?P=name) -->"
    return re.sub(pattern, write, document, flags=re.DOTALL)


def documents(digest: Digest) -> dict[str, str]:
    """Return every document as it should be."""
    return {name: filled((DOCS / name).read_text("utf-8"), digest) for name in DOCUMENTS}


def take(folder: Path) -> None:
    """Take the papers of a run into the digest, and the pictures of the documents."""
    PLACE.write_text(written(digest_of(read_results(folder), read_digest())), "utf-8")
    for name, drawn in PICTURES.items():
        if (folder / "pictures" / drawn).exists():
            shutil.copyfile(folder / "pictures" / drawn, DOCS / name)


def main() -> None:
    """Write the documents, or check them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    if given.folder:
        take(given.folder)
    filled_now = documents(read_digest())
    stale = [name for name, text in filled_now.items() if (DOCS / name).read_text("utf-8") != text]
    if given.check and stale:
        sys.exit(f"{', '.join(stale)}: not what the digest says; run python -m papers.tools.reproduction")
    for name in stale:
        (DOCS / name).write_text(filled_now[name], "utf-8")


if __name__ == "__main__":
    main()
