"""Print progress, tables and JSON for all commands; no other module prints."""

from __future__ import annotations

import itertools
import json
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from sfumato.interfaces.cli.log import logs_json, say, warn
from sfumato.runtime.errors import printable

if TYPE_CHECKING:
    from pathlib import Path

    from sfumato.measures.grouped import Grouped
    from sfumato.measures.identity.uniqueness import Distinction
    from sfumato.registry.recipe import Recipe
    from sfumato.results.candidate import Candidate
    from sfumato.results.frontier import Frontier
    from sfumato.results.json_schemas import Shape
    from sfumato.results.measurement import Measurement
    from sfumato.results.release import Release
    from sfumato.workflow.choose.comparison import Comparison
    from sfumato.workflow.choose.question_answer import Answer
    from sfumato.workflow.explore.convergence import Growth
    from sfumato.workflow.explore.dry_run import DryRun
    from sfumato.workflow.explore.explore_project import Progress
    from sfumato.workflow.project.project_file import Project


_SELDOM = 30.0
"""Seconds between lines about work that takes long, where nobody watches."""
_NAME, _BETWEEN_COLUMNS = 28, 3
"""How many signs of a candidate's name a narrow table leaves room for, and those between two columns."""


def echo(text: str = "") -> None:
    """Print text with control characters escaped."""
    click.echo(printable(text, kept="\n"))


@contextmanager
def progress_shown() -> Iterator[Callable[[Progress], None]]:
    """Show a bar on a terminal, and occasional lines elsewhere; always on standard error."""
    if logs_json() or not sys.stderr.isatty():
        now_and_then = _throttled()
        n_told = 0

        def line(state: Progress) -> None:
            nonlocal n_told
            if state.done != n_told:
                n_told = state.done
                _progress_line(state)
            if state.now:
                now_and_then(state.now)

        yield line
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[times]}"),
        TextColumn("{task.description}"),
    )
    with Bar(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=None, times="")

        def update(state: Progress) -> None:
            bar.update(
                task,
                completed=state.done,
                total=state.total or None,
                times=_times(state),
                description=printable(state.now or state.latest),
            )

        yield update


@contextmanager
def words_shown() -> Iterator[None]:
    """Show the progress of slow measures: one changing line on a terminal, occasional lines elsewhere."""
    from sfumato.runtime.progress import listening

    if logs_json() or not sys.stderr.isatty():
        with listening(_throttled()):
            yield
        return
    from rich.console import Console
    from rich.text import Text

    with (
        Console(stderr=True).status("") as status,
        listening(lambda words: status.update(Text(printable(words)))),
    ):
        yield


def _throttled() -> Callable[[str], None]:
    """Return a function that prints the first words, and later words only after a pause."""
    last = -_SELDOM

    def hear(words: str) -> None:
        nonlocal last
        if time.monotonic() - last >= _SELDOM:
            last = time.monotonic()
            say(words)

    return hear


def _progress_line(state: Progress) -> None:
    tenths = 10 * state.done // max(state.total, 1)
    if state.done and tenths > 10 * (state.done - 1) // state.total:
        words = f"{state.done} of {state.total} candidates, {_times(state)}"
        say(words, done=state.done, total=state.total, elapsed=state.elapsed)


def _times(state: Progress) -> str:
    """Describe the elapsed time, and what is left of the budget."""
    elapsed = _duration(state.elapsed)
    return elapsed if state.within is None else f"{elapsed}, ends within {_duration(state.within)}"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 119.5 else f"{seconds / 60:.0f} min"


def print_json(name: str, document: Shape) -> None:
    """Print a document for a pipeline, in the shape of this name.

    What could steer a terminal is written as an escape.
    """
    from sfumato.results.json_schemas import form

    whole = {"format": form(name), **document.to_dict()}
    shows_every_letter = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")
    written = json.dumps(whole, indent=2, ensure_ascii=not shows_every_letter, allow_nan=False)
    click.echo(printable(written, kept="\n"))


def print_course(state: Progress, growth: Growth, budget: float | None) -> None:
    """Print the course of an exploration: duplicates, what is left, how the frontier grew, what was slow."""
    if state.equal:
        echo(f"{state.equal:,} made the same release as another, see `sfumato show`")
    if state.refined:
        echo(f"{state.refined:,} of them are not in the plan: they lie in gaps of the frontier")
    if state.is_spent and budget is not None:
        done = state.known + state.done
        echo(
            f"The budget of {_duration(budget)} is spent: {done:,} of {done + state.total - state.done:,} "
            "candidates are there; the same command goes on with the rest"
        )
    if growth.steps and state.done:
        (first, share), last = growth.shares[0], growth.steps[-1][0]
        echo(
            f"A first frontier stood after {_duration(first)} and covered {share:.0%} of what it covers now "
            f"(its hypervolume); 99% after {_duration(growth.reached(0.99))}, the last gain after "
            f"{_duration(last)}"
        )
    if state.slow:
        echo(
            f"{state.slow} took {state.slow_share:.0%} of the time; leave it out with "
            f'--without "{state.slow}" or in [measure]'
        )


def print_dry_run(found: DryRun, budget: float | None) -> None:
    """Print what an exploration would do."""
    searches = "one search" if found.n_searches == 1 else f"{found.n_searches} searches"
    more = f", and what {searches} will propose" if found.n_searches else ""
    gaps = "" if budget is None else "; then some more in gaps of the frontier, as long as they improve it"
    echo(f"{found.n_open:,} candidates to make, {found.n_known:,} are known{more}{gaps}")
    if budget is not None:
        echo(f"Never more than the budget of {_duration(budget)}")
    echo(f"About {found.memory / 1e9:.2g} GB of memory")


def is_terminal() -> bool:
    """Return whether somebody can be asked: input and output are a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def chosen_recipient() -> str:
    """Ask who will get the release; Enter takes the public."""
    from sfumato.results.recipients import NOBODY, RECIPIENTS, STRICTEST_USUAL

    echo("Who will get the release?")
    for name, recipient in RECIPIENTS.items():
        echo(f"  {name:<18} {recipient.title}: {recipient.meaning}")
    echo(f"  {NOBODY:<18} no limits, on purpose")
    names = click.Choice([*RECIPIENTS, NOBODY])
    return str(click.prompt("Recipient", type=names, default=STRICTEST_USUAL, show_choices=False))


def print_policy(frontier: Frontier) -> None:
    """Print what a reader must know of the policy before any result."""
    for line in frontier.policy_notes():
        echo(line)


def print_frontier(
    project: Project, frontier: Frontier, infeasible: tuple[Candidate, ...], *, everything: bool
) -> None:
    """Print the candidates as a table, then those that cannot be compared or made."""
    from sfumato.results.measurement import by_attribute

    print_policy(frontier)
    efficient, knee = frontier.efficient(), frontier.knee()
    listed = frontier.candidates if everything else efficient
    apart = {m.attribute_label: m.label for c in listed for m in by_attribute(c.measurements)}
    more = ["k-anonymity", "suppression-loss", *(name for name in apart if apart[name] in frontier.axes)]
    measured = [name for name in more if any(c.value(name) is not None for c in listed)]
    shown = list(dict.fromkeys([*frontier.axes, *measured]))
    rows = []
    for candidate in listed:
        marks = {
            "efficient": everything and candidate in efficient,
            "knee": candidate == knee,
            "against the policy": candidate.id in frontier.broken,
        }
        equal = f" (+{len(candidate.also)} equal)" if candidate.also else ""
        rows.append(
            [
                candidate.id,
                name_of(candidate.recipe) + equal,
                ", ".join(word for word, holds in marks.items() if holds),
                *(_value(name, candidate.value(name)) for name in shown),
            ]
        )
    heads = ["id", "release", "", *shown]
    n_fitting = _n_fitting(heads, rows, fewest=3 + len(frontier.axes))
    kept = f", {len(frontier.allowed)} keep the policy" if frontier.policy else ""
    print_table(
        f"{len(efficient)} efficient of {len(frontier.candidates)} candidates{kept}",
        heads[:n_fitting],
        [row[:n_fitting] for row in rows],
    )
    print_scales(frontier)
    if n_fitting < len(heads):
        echo(f"No room here for {' and '.join(heads[n_fitting:])}; --json shows them.")
    if frontier.apart:
        echo(
            f"{len(frontier.apart)} cannot be compared on these axes: "
            + ", ".join(name_of(candidate.recipe) for candidate in frontier.apart)
        )
    print_reasons(frontier.candidates)
    if infeasible:
        echo(
            f"{len(infeasible)} could not be made, for example {name_of(infeasible[0].recipe)}: "
            f"{infeasible[0].infeasible}"
        )


def print_scales(frontier: Frontier) -> None:
    """Print for each axis what both ends of its scale mean, and where the two trivial releases lie."""
    from sfumato.results.formatting import joined, scale_words

    for axis in frontier.axes:
        ends = [
            f"{_value(axis, value)} for {words}"
            for words, value in frontier.trivial_values(axis).items()
            if value is not None
        ]
        compared = f"; here {joined(ends)}" if ends else ""
        echo(textwrap.fill(f"{axis}: {scale_words(axis, frontier.better(axis))}{compared}", _width()))


def print_reasons(candidates: Iterable[Candidate]) -> None:
    """Print which measures do not apply to some candidates, and why."""
    from sfumato.results.formatting import joined

    listed = tuple(candidates)
    counted: dict[tuple[str, str], set[str]] = {}
    for candidate in listed:
        for m in candidate.measurements:
            if not m.applicable:
                counted.setdefault((m.label, str(m.detail.get("reason", ""))), set()).add(candidate.id)
    alike: dict[tuple[str, frozenset[str]], list[str]] = {}
    for (label, reason), ids in counted.items():
        alike.setdefault((reason, frozenset(ids)), []).append(label)
    for (reason, same), labels in alike.items():
        whole = "" if len(same) == len(listed) else f" to {len(same)} of {len(listed)} candidates"
        echo(f"{joined(labels)}: not applicable{whole}: {reason}")


def _n_fitting(heads: list[str], rows: list[list[str]], fewest: int) -> int:
    """Return how many columns fit the terminal if the second one, the name, keeps most of its words."""
    widest = [max(map(len, cells)) for cells in zip(heads, *rows, strict=True)]
    widest[1] = min(widest[1], _NAME)
    ends = list(itertools.accumulate(width + _BETWEEN_COLUMNS for width in widest))
    return max(fewest, sum(end <= _width() for end in ends))


def name_of(recipe: Recipe) -> str:
    """Return what a recipe makes in plain words, then its short name: ``Mondrian k=11, t=0.1``."""
    from sfumato.results.formatting import plain_name

    return plain_name(recipe)


def print_measurements(measurements: Iterable[Measurement]) -> None:
    """Print measurements as a table."""
    from sfumato.results.formatting import scale_words

    rows = [
        [
            m.label,
            m.attribute or "",
            _value(m.measure, m.value) if m.applicable else f"not applicable: {m.detail.get('reason', '')}",
            scale_words(m.measure, m.better),
            _details(m) if m.applicable else "",
        ]
        for m in measurements
    ]
    print_table("", ["measure", "of", "value", "", "detail"], rows)


def print_judgement(
    place: Path, release: Release, untrue: Mapping[str, int] | None, measurements: Iterable[Measurement]
) -> None:
    """Print what was assumed of a release that any program made, then its measurements by axis."""
    if release.type == "synthetic":
        kept = f"{release.n_records:,} synthetic records, made from {release.n_original:,}"
    else:
        changed = ", values changed" if release.type == "perturbed" else ""
        counted = f"{release.n_records:,} of {release.n_original:,} records"
        kept = f"{counted}, {release.n_suppressed:,} suppressed{changed}"
    echo(f"{place.name}: {kept}")
    for note in release.notes:
        echo(f"- {note}")
    if untrue is not None:
        false = ", ".join(f"{count:,} in {name!r}" for name, count in untrue.items() if count)
        warning = f"Warning: released values that do not stand for the original one: {false}."
        echo(f"- {warning if false else 'Every released value stands for the original one.'}")
    listed = list(measurements)
    for axis in ("privacy", "utility"):
        _print_axis(axis, [m for m in listed if m.axis == axis])


def print_groups(groups: Grouped) -> None:
    """Print the measurements of each group, with a star for the worst one."""
    worst = {label: groups.worst(label) for label in groups.labels}
    rows = [
        [
            name,
            f"{groups.sizes[name]:,}",
            *(
                f"{_value(label, groups.values(label)[name])}{' *' if worst[label] == name else ''}"
                for label in groups.labels
            ),
        ]
        for name in groups.groups
    ]
    print_table(f"by {groups.attribute}", [groups.attribute, "records", *groups.labels], rows)
    echo("* does worst")
    if groups.n_left_out:
        echo(f"{groups.n_left_out:,} records are in groups that are too small to be told")


def _print_axis(axis: str, measurements: list[Measurement]) -> None:
    columns: dict[str, list[str]] = {
        "measure": [m.label for m in measurements],
        "of": [m.attribute or "" for m in measurements],
        "value": [_value(m.measure, m.value) for m in measurements],
        "": [f"{m.better} is better" for m in measurements],
        "baseline": ["" if m.baseline is None else _value(m.measure, m.baseline) for m in measurements],
        "interval": [" to ".join(_value(m.measure, end) for end in m.interval or ()) for m in measurements],
        "detail": [_details(m) if m.applicable else str(m.detail.get("reason", "")) for m in measurements],
    }
    filled = {head: cells for head, cells in columns.items() if any(cells)}
    if measurements:
        print_table(axis, list(filled), [list(row) for row in zip(*filled.values(), strict=True)])


def print_answer(answer: Answer) -> None:
    """Print an answer in words."""
    for line in str(answer).splitlines():
        echo(line)


def print_comparison(comparison: Comparison, recipes: list[str]) -> None:
    """Print two releases side by side, then a summary in sentences."""
    from sfumato.workflow.report.comparison_text import comparison_words, figure_rows, loss_rows, size_rows

    for name, recipe in zip(comparison.names, recipes, strict=True):
        echo(f"{name}  {recipe}")
    names = list(comparison.names)
    print_table("", ["measure", *names, "better"], figure_rows(comparison))
    print_table("", ["class sizes", *names], size_rows(comparison))
    print_table("", ["information lost in", *names], loss_rows(comparison))
    for sentence in comparison_words(comparison):
        echo(sentence)


def warn_of_formulas(columns: tuple[str, ...]) -> None:
    """Warn of columns that a spreadsheet would treat as formulas."""
    if columns:
        warn(
            f"column {columns[0]!r} holds text that a spreadsheet would take for a formula; "
            "open the CSV file as text there"
        )


def print_singling_out(distinction: Distinction) -> None:
    """Print how much each column contributes to singling people out."""
    from sfumato.results import formatting

    share = formatting.share
    echo()
    print_table(
        f"{share(distinction.unique)} of the {distinction.counted} are unique in the quasi-identifiers. "
        "What each column adds to that:",
        ["attribute", "role", "pairs told apart", "unique would be", "part in the smallest sets"],
        [
            [
                column.name,
                column.role,
                share(column.separation),
                share(column.unique) + (" without it" if column.part is not None else " with it"),
                "" if column.part is None else share(column.part),
            ]
            for column in distinction.columns
        ],
    )
    for smallest in distinction.sets[:3]:
        single_out = "singles out" if len(smallest.columns) == 1 else "together single out"
        echo(
            f"{formatting.joined(smallest.columns)} {single_out} {smallest.n_people:,} {distinction.counted}."
        )


def print_table(title: str, heads: list[str], rows: list[list[str]]) -> None:
    """Print a table; cells are shown as plain text."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    def is_number(cell: str) -> bool:
        return cell.translate(dict.fromkeys(map(ord, ",.-e+%"))).isdigit() or cell == "∞"

    shown = Text(printable(title)) if title else None
    table = RichTable(title=shown, box=SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for position, head in enumerate(heads):
        numeric = bool(rows) and all(is_number(row[position]) for row in rows)
        table.add_column(
            Text(printable(head)),
            justify="right" if numeric else "left",
            no_wrap=numeric or position == 0,
        )
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    Console(width=_width()).print(table)


def _width() -> int:
    """Return the maximal width of a table: the terminal's, or 160 characters without one."""
    from rich.console import Console

    console = Console()
    return console.width if console.is_terminal else max(console.width, 160)


def _value(measure: str, value: float | None) -> str:
    """Print a value like the report and the workbench."""
    from sfumato.results.formatting import value_of

    return "n/a" if value is None else value_of(measure, value)


def _details(measurement: Measurement) -> str:
    from sfumato.workflow.report.table_rows import detail_words

    return ", ".join(f"{name} {value}" for name, value in detail_words(measurement))
