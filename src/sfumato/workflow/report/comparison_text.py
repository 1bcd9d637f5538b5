"""Write the comparison of two releases in sentences and rows."""

from __future__ import annotations

from sfumato.results import formatting
from sfumato.workflow.choose.comparison import Comparison, WorseOff


def comparison_words(found: Comparison) -> list[str]:
    """Say which release is better in which measure, and for how many people."""
    return [_count_of_measures(found), *_about_sizes(found), *_about_records(found), *found.notes]


def figure_rows(found: Comparison) -> list[list[str]]:
    """Return one row for each measure: its name, both values and which is better."""
    verdicts = {None: "", "first": found.names[0], "second": found.names[1], "alike": "the same"}
    return [
        [
            figure.label + (f" of {figure.attribute}" if figure.attribute else ""),
            *(
                "n/a" if value is None else formatting.value_of(figure.label, value)
                for value in (figure.first, figure.second)
            ),
            verdicts[figure.verdict],
        ]
        for figure in found.figures
    ]


def size_rows(found: Comparison) -> list[list[str]]:
    """Return one row for each fact about the class sizes of both releases."""
    first, second = found.class_sizes
    pairs = {
        "classes": (first.n_classes, second.n_classes),
        "smallest class": (first.smallest, second.smallest),
        **{
            f"{percent}% of the records are in classes of at most": (
                first.percentiles[percent],
                second.percentiles[percent],
            )
            for percent in first.percentiles
        },
        "largest class": (first.largest, second.largest),
        "a record's class on average (weighted-k)": (first.weighted_k, second.weighted_k),
    }
    return [[name, *(formatting.number(value) for value in pair)] for name, pair in pairs.items()]


def loss_rows(found: Comparison) -> list[list[str]]:
    """Return one row for each quasi-identifier with its loss in both releases."""
    return [
        [name, *("n/a" if loss is None else formatting.share(loss) for loss in pair)]
        for name, pair in found.losses.items()
    ]


def _count_of_measures(found: Comparison) -> str:
    counts = {side: sum(figure.verdict == side for figure in found.figures) for side in ("first", "second")}
    first, second = found.names
    return (
        f"{first} is better in {counts['first']} of {len(found.figures)} measures, "
        f"{second} in {counts['second']}."
    )


def _about_sizes(found: Comparison) -> list[str]:
    """Warn if the smallest class misleads: it describes the worst case, not most people."""
    first, second = found.class_sizes
    k, typical = (first.smallest, second.smallest), (first.weighted_k, second.weighted_k)
    if k[0] == k[1] and max(typical) >= 1.5 * min(typical):
        crowded = found.names[typical[1] > typical[0]]
        return [
            f"Both have k = {k[0]:,}, but in {crowded} a record shares its values with "
            f"{max(typical) / min(typical):.3g} times as many on average."
        ]
    if (k[0] - k[1]) * (typical[0] - typical[1]) < 0:
        safer, crowded = found.names[k[1] > k[0]], found.names[typical[1] > typical[0]]
        return [
            f"{safer} has the larger smallest class, but most records are in larger classes in {crowded}."
        ]
    return []


def _about_records(found: Comparison) -> list[str]:
    if found.released is None:
        return []
    first, second = found.names
    lines = [line for each in found.worse_off for line in _measure_words_of(found, each)]
    left_out = [
        (found.released["only-first"], f"only {first} releases"),
        (found.released["only-second"], f"only {second} releases"),
        (found.released["neither"], "neither releases"),
    ]
    said = [f"{_records(found, count)} {what}" for count, what in left_out if count]
    lines += [f"{formatting.joined(said)[0].upper()}{formatting.joined(said)[1:]}."] if said else []
    if found.expected:
        lines.append(
            "Counts of records are expected ones: records with equal values lie in several classes of both "
            "releases, and nobody can tell which of them is where."
        )
    return lines


def _measure_words_of(found: Comparison, each: WorseOff) -> list[str]:
    first, second = found.names
    about = (
        "by the size of their class"
        if each.by == "class size"
        else f"by the privacy loss of {each.attribute}"
    )
    return [
        f"Of the {_records(found, (found.released or {}).get('both', 0))} that both release, {about}: "
        f"{_count(found, each.first)} are worse off in {first}, {_count(found, each.second)} in {second}, "
        f"{_count(found, each.alike)} are alike."
    ]


def _records(found: Comparison, count: float) -> str:
    return f"{_count(found, count)} record{'' if round(count) == 1 else 's'}"


def _count(found: Comparison, count: float) -> str:
    return f"{'about ' if found.expected and count != round(count) else ''}{round(count):,}"
