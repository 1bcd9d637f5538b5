"""Show each noun of the library as HTML in a notebook, without a value of a record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

import jinja2

from sfumato.data.hierarchy import Hierarchy
from sfumato.data.schema import Attribute, Schema
from sfumato.data.table import Table
from sfumato.measures.grouped import Grouped
from sfumato.registry.display import Picture
from sfumato.results import formatting
from sfumato.results.candidate import Candidate
from sfumato.results.decision import Decision
from sfumato.results.frontier import Frontier
from sfumato.results.measurement import Measurement, worst_value
from sfumato.results.release import Release
from sfumato.results.verification_outcome import (
    Verification,
)
from sfumato.workflow.choose.comparison import Comparison
from sfumato.workflow.choose.question_answer import Answer
from sfumato.workflow.inspect.inspected_columns import Inspection
from sfumato.workflow.report.comparison_text import comparison_words, figure_rows
from sfumato.workflow.report.markup import html_templates, inline_picture
from sfumato.workflow.report.table_rows import shown

_MOST_ROWS = 20
_MOST_DRAWN = 1000
"""A picture of more candidates is drawn only when it is asked for."""

_OUTCOMES = {"checked": "passed", "unverified": "unverified claim"}


def table_html(table: Table) -> str:
    """Show the number of records, and the kind and number of values of each column."""
    rows = [
        [
            name,
            column.kind.name,
            f"{len(column.domain) - column.has_missing:,}",
            f"{column.count_missing(table.weights):,}",
        ]
        for name, column in table.columns.items()
    ]
    said = f"of {table.n_records:,} records, {table.n_rows:,} of them different"
    return _card("Table", said, ["column", "kind", "distinct", "missing"], rows)


def schema_html(schema: Schema) -> str:
    """Show the role of each attribute, its kind, and how it generalizes."""
    rows = [[a.name, a.role, a.kind or "as in the table", _hierarchy_words(a)] for a in schema.attributes]
    said = f"of {len(schema.attributes):,} attributes"
    return _card("Schema", said, ["attribute", "role", "kind", "hierarchy"], rows)


def _hierarchy_words(attribute: Attribute) -> str:
    source = attribute.hierarchy
    if isinstance(source, Hierarchy):
        return f"{source.height + 1} levels"
    return "the value or nothing" if source is None else type(source).__name__.lower()


def inspection_html(found: Inspection) -> str:
    """Show the attributes of a table, and how risky it is as it is."""
    heads, rows = [*found.attribute_rows[0]], [[*row.values()] for row in found.attribute_rows]
    said = f"of {found.n_records:,} records, {found.n_rows:,} of them different"
    return _card("Inspection", said, heads, rows, [*found.sentences, *found.warnings])


def release_html(release: Release) -> str:
    """Show how a release was made, its effect on each attribute, and the sizes of its classes."""
    how = "read from files" if release.recipe is None else formatting.recipe_in_words(release.recipe)
    sizes = release.classes.sizes
    told = [f"{release.n_records:,} of {release.n_original:,} records are released."]
    if len(sizes):
        told.append(f"They look alike in {len(sizes):,} classes, the smallest of {sizes.min():,} records.")
    rows = []
    for name in release.schema.released:
        loss = release.information_lost(name)
        words = "not applicable" if loss is None else formatting.share(loss)
        n_distinct = len(set(release.cells[name].codes.tolist()))
        rows.append([name, release.schema[name].role, f"{n_distinct:,}", words])
    heads = ["attribute", "role", "distinct released values", "information lost"]
    return _card("Release", how, heads, rows, [" ".join(told), *release.notes], picture=release.plot())


def measurements_html(measurements: Iterable[Measurement]) -> str:
    """Show each measurement with its interval and its baselines."""
    rows = [_measurement_row(m) for m in measurements]
    return _card("Measurement", "", ["measure", "of", "value", "interval", "baseline", ""], rows)


def _measurement_row(m: Measurement) -> list[str]:
    interval = "" if m.interval is None else " to ".join(shown(m.measure, float(end)) for end in m.interval)
    baseline = "" if m.baseline is None else shown(m.measure, m.baseline)
    return [
        m.label,
        m.attribute or "",
        shown(m.measure, m.value),
        interval,
        baseline,
        f"{m.axis}, {m.better} is better",
    ]


def grouped_html(found: Grouped) -> str:
    """Show every measure of each group next to that of everyone, and as a picture."""
    said = f"{found.attribute}, of {len(found.groups):,} groups"
    rows = [
        [name, f"{found.sizes[name]:,}", *(shown(label, found.values(label)[name]) for label in found.labels)]
        for name in found.groups
    ]
    whole = [shown(label, worst_value(found.everybody, label)) for label in found.labels]
    heads = ["group", "records", *(formatting.measure_words(label).title for label in found.labels)]
    return _card("Grouped", said, heads, [*rows, ["everybody", "", *whole]], picture=found.plot())


def candidate_html(candidate: Candidate) -> str:
    """Show how a candidate is made, and its measurements."""
    said = f"{candidate.id}: {formatting.plain_name(candidate.recipe)}"
    if candidate.infeasible is not None:
        return _card("Candidate", said, paragraphs=[f"It could not be made: {candidate.infeasible}."])
    rows = [_measurement_row(m) for m in candidate.measurements]
    return _card("Candidate", said, ["measure", "of", "value", "interval", "baseline", ""], rows)


def frontier_html(frontier: Frontier) -> str:
    """Show the efficient candidates, and a picture of all of them."""
    efficient, knee = frontier.efficient(), frontier.knee()
    rows = [
        [
            c.id,
            formatting.plain_name(c.recipe),
            *(shown(axis, c.value(axis)) for axis in frontier.axes),
            "knee" * (c == knee),
        ]
        for c in efficient
    ]
    heads = ["id", "release", *(formatting.measure_words(axis).title for axis in frontier.axes), ""]
    said = f"{len(efficient):,} efficient of {len(frontier.candidates):,} candidates"
    told = f"{len(frontier.apart):,} cannot be compared on these measures." if frontier.apart else ""
    drawn = len(frontier.comparable) <= _MOST_DRAWN
    undrawn = "" if drawn else "frontier.plot() draws them."
    picture = frontier.plot() if drawn and efficient else None
    return _card(
        "Frontier",
        said,
        heads,
        rows,
        [each for each in (*frontier.policy_notes(), told, undrawn) if each],
        picture=picture,
    )


def answer_html(answer: Answer) -> str:
    """Show the answer to a question line by line."""
    return _card("Answer", f"to “{answer.question}”", paragraphs=str(answer).splitlines())


def comparison_html(found: Comparison) -> str:
    """Show every measure of both releases, and for how many people one is worse."""
    said = f"of {found.names[0]} and {found.names[1]}"
    heads = ["measure", *found.names, "better"]
    return _card("Comparison", said, heads, figure_rows(found), comparison_words(found))


def decision_html(decision: Decision) -> str:
    """Show who chose what, why and when."""
    facts = {
        "candidate": decision.candidate,
        "why": decision.why,
        "by": decision.by,
        "when": decision.when,
        "policy": "; ".join(decision.policy),
    }
    return _card("Decision", "", (), [[name, value] for name, value in facts.items() if value])


def verification_html(found: Verification) -> str:
    """Show the checks of a published folder, failures first."""
    ordered = sorted(found.checks, key=lambda check: check.holds)
    rows = [[check.what, check.problem or _OUTCOMES[check.outcome]] for check in ordered]
    return _card("Verification", f"of {found.folder}: {found.outcome}", ["checked", "found"], rows)


def _card(
    title: str,
    said: str,
    heads: Sequence[str] = (),
    rows: Sequence[Sequence[str]] = (),
    paragraphs: Iterable[str] = (),
    picture: Picture | None = None,
) -> str:
    told = [place for place in range(max(map(len, rows), default=0)) if any(row[place] for row in rows)]
    more = len(rows) - _MOST_ROWS
    return _template().render(
        title=title,
        said=said,
        heads=[heads[place] for place in told] if heads else [],
        rows=[[row[place] for place in told] for row in rows[:_MOST_ROWS]],
        paragraphs=list(paragraphs),
        more=f"and {more:,} more" if more > 0 else "",
        picture=None if picture is None else inline_picture(picture.svg),
    )


@cache
def _template() -> jinja2.Template:
    return html_templates("sfumato.workflow.report").get_template("notebook.html.j2")
