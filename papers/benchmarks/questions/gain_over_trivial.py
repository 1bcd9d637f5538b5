"""Is there a real table on which generalisation serves a researcher better than a trivial release?

J. Brickell and V. Shmatikov, 2008, section 8: "whether there exists any real-world dataset on which
quasi-identifier generalization supports meaningfully better data-mining accuracy than trivial sanitization
without severely compromising privacy via sensitive attribute disclosure".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from questions import grid
from questions.markdown import points, table
from questions.tables import Studied
from sfumato import Candidate
from sfumato_papers.exhibits import Chart, Series
from sfumato_papers.pictures import chart_svg

WAYS = {"generalisation": ("mondrian", "local-recoding"), "bucketization": ("bucketize",)}


def study_of(studied: Studied, cache: Path) -> dict[str, Any]:
    """Compare every release of a table with the better trivial one, for every target."""
    made = grid.explored(studied, cache).candidates
    return {target: _learned(studied, target, made) for target in studied.targets}


def _learned(studied: Studied, target: str, made: Sequence[Candidate]) -> dict[str, Any]:
    """Return what a researcher gains who wants to learn one attribute."""
    gains = [_gain(candidate, target) for candidate in made]
    whole = next(each for each in gains if each["release"] == "as-is")
    return {
        "sensitive": target == studied.sensitive,
        "as-is": whole,
        "releases": [each for each in gains if each["sanitizer"] in sum(WAYS.values(), ())],
    }


def _gain(candidate: Candidate, target: str) -> dict[str, Any]:
    """Return the researcher's gain with every seed, its lowest end by 95% intervals, and the adversary's."""
    labels = [grid.workload(target, seed).label for seed in grid.SEEDS]
    taken = [m for m in candidate.measurements if m.label in labels]
    return {
        "release": str(candidate.recipe),
        "sanitizer": candidate.recipe.sanitizer,
        "gains": [m.value for m in taken],
        "low": min(m.interval[0] for m in taken if m.interval),
        "adversary": candidate.value("accuracy-gain"),
    }


def best(learned: Mapping[str, Any], way: str) -> Mapping[str, Any]:
    """Return the release of one way that serves best, by the median over the seeds."""
    return max(
        (each for each in learned["releases"] if each["sanitizer"] in WAYS[way]),
        key=lambda each: median(each["gains"]),
    )


def beats(release: Mapping[str, Any]) -> bool:
    """Return whether a release is better than the better trivial one with every seed, with 95% confidence."""
    return release["low"] > 0


def is_modest(release: Mapping[str, Any], learned: Mapping[str, Any]) -> bool:
    """Return whether the adversary is left with at most half of what the table as it is gives away."""
    return release["adversary"] <= learned["as-is"]["adversary"] / 2


def counted(found: Mapping[str, Any]) -> dict[str, int]:
    """Count the pairs of a table and a target by what some generalised release achieves there."""
    every = [each for one in found.values() for each in one.values()]

    def some(test: Any) -> int:
        return sum(
            any(test(r, each) for r in each["releases"] if r["sanitizer"] in WAYS["generalisation"])
            for each in every
        )

    return {
        "pairs": len(every),
        "as it is": sum(beats(each["as-is"]) for each in every),
        "beats": some(lambda release, _: beats(release)),
        "modestly": some(lambda release, each: beats(release) and is_modest(release, each)),
        "more than the adversary": some(
            lambda release, _: beats(release) and median(release["gains"]) > release["adversary"]
        ),
        "bucketized": sum(
            any(beats(r) for r in each["releases"] if r["sanitizer"] == "bucketize") for each in every
        ),
    }


def tables(results: Mapping[str, Any]) -> dict[str, str]:
    """Write what was found, a row for each target."""
    found = results["tables"]
    rows = []
    for name, targets in found.items():
        for target, learned in targets.items():
            ours, bucket = best(learned, "generalisation"), best(learned, "bucketization")
            rows.append(
                (
                    name,
                    f"`{target}`{' (sensitive)' if learned['sensitive'] else ''}",
                    points(median(learned["as-is"]["gains"])),
                    f"{points(median(ours['gains']))} ({points(min(ours['gains']))} to "
                    f"{points(max(ours['gains']))})",
                    f"`{ours['release']}`",
                    points(ours["adversary"]),
                    points(median(bucket["gains"])),
                    "**yes**" if beats(ours) else "no",
                )
            )
    totals = counted(found)
    heads = [
        "table",
        "target",
        "as it is",
        "best generalised (three seeds)",
        "which",
        "adversary",
        "best bucketized",
        "beats",
    ]
    words = {
        "the table as it is beats the better trivial release": totals["as it is"],
        "some generalised release does": totals["beats"],
        "one does that halves the adversary's gain, or better": totals["modestly"],
        "one does, and gives the researcher more than the adversary": totals["more than the adversary"],
        "some bucketized release beats it": totals["bucketized"],
    }
    return {
        "gain-over-trivial-answer": _answer(found, totals),
        "gain-over-trivial": table(heads, rows),
        "gain-over-trivial-counts": table(
            ["of the pairs of a table and a target", f"{totals['pairs']}"], words.items()
        ),
    }


def _answer(found: Mapping[str, Any], totals: Mapping[str, int]) -> str:
    where = [name for name, one in found.items() if any(map(_some_beats, one.values()))]
    name, target, most = max(
        (
            (name, target, best(each, "generalisation"))
            for name, one in found.items()
            for target, each in one.items()
        ),
        key=lambda each: median(each[2]["gains"]),
    )
    return (
        f"For {totals['beats']} of {totals['pairs']} pairs of a table and a target some generalised release "
        f"beats the better trivial one, on {len(where)} of {len(found)} tables "
        f"({', '.join(where) or 'none'}); for {totals['modestly']} of them one does that leaves the "
        "adversary at most half of what the table as it is gives away. The largest gain is "
        f"{100 * median(most['gains']):.1f} points (`{target}` of {name}, `{most['release']}`), where the "
        f"adversary gains {100 * most['adversary']:.1f}."
    )


def _some_beats(learned: Mapping[str, Any]) -> bool:
    return any(beats(each) for each in learned["releases"] if each["sanitizer"] in WAYS["generalisation"])


def pictures(results: Mapping[str, Any]) -> dict[str, str]:
    """Draw the researcher's gain against the adversary's, a point for each release and target."""
    found = results["tables"]
    series = [
        Series(
            name,
            *zip(
                *(
                    (release["adversary"], median(release["gains"]))
                    for learned in targets.values()
                    for release in learned["releases"]
                    if release["sanitizer"] in WAYS["generalisation"]
                ),
                strict=True,
            ),
        )
        for name, targets in found.items()
    ]
    chart = Chart(
        "Generalised releases of seven public tables",
        "the adversary's gain in accuracy",
        "the researcher's, over the better trivial release",
        tuple(series),
        "points",
    )
    return {"open-questions-gain-over-trivial": chart_svg(chart)}
