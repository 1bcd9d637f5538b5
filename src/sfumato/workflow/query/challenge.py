"""Write a challenge for outside attackers: a release, targets with known attributes, and sealed answers."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Table, text
from sfumato.registry.recipe import Recipe
from sfumato.results.measurement import Measure
from sfumato.results.policy import PolicyLike
from sfumato.results.release import Release
from sfumato.runtime.arrays import Integers, secret_order
from sfumato.runtime.errors import ParameterError, UserError, suggestion
from sfumato.runtime.files import file_beside, folder_beside, write_rows
from sfumato.sanitizers.base import Sanitizer, sanitize
from sfumato.verification.documents import json_text
from sfumato.workflow.project.default_axes_and_measures import Written
from sfumato.workflow.publish.publication_request import require_new
from sfumato.workflow.publish.publish import publish
from sfumato.workflow.query import score
from sfumato.workflow.query.score import MEMBERSHIP, NO, YES, commitment

FEWEST = 10
"""Fewer targets than this show nothing."""

_RULES = """\
# The challenge

`release/` was made by {recipe} from the records of some people. `targets.csv` shows the known columns
({known}) of {n_targets:,} people: half of them were in the data, half were not. Find out which.

For each target, answer as many of these questions as you like:

{questions}

Write your guesses to `guesses.csv`, with the columns `target`, `question` and `answer`, and give it to the
owner. `commitments.csv` holds the SHA-256 of each answer with a random salt: the owner cannot change an
answer any more, and you cannot compute it. The owner runs

    python score.py guesses.csv answers.json

and gives you `answers.json` afterwards, or the scores alone. For each question you get how often you were
right about people in the data (for membership: how often you said yes), the same for the others, and the
risk (r - c) / (1 - c) with 95% confidence. Targets with no guess are not counted; few guesses give a wide
interval. At 0 the release told you nothing about its people that you could not guess of anybody; below 0 you
did better on the others. If c is 100% the risk is undefined: your guesses show nothing either way.

The people are real. Attack the release and not them: use the files of this folder and what you know of the
method, contact nobody, share nothing, and delete everything when you are done.
"""


@dataclass(frozen=True)
class Challenge:
    """The files and counts of a written challenge.

    Parameters
    ----------
    folder, answers
        The folder for outsiders, and the file that stays with the owner.
    release
        The attacked release; the control group is not in it.
    targets, control
        How many targets there are, and how many of them were not in the data.
    known, questions
        The known attributes of a target, and the questions.
    """

    folder: Path
    answers: Path
    release: Release = field(repr=False)
    targets: int
    control: int
    known: tuple[str, ...]
    questions: tuple[str, ...]


def challenge(
    table: Table,
    schema: Schema,
    how: Recipe | Sanitizer,
    folder: str | Path,
    answers: str | Path,
    *,
    known: Iterable[str] = (),
    targets: int = 100,
    measures: Iterable[Written | Measure] | None = None,
    policy: PolicyLike = None,
    allow_singling_out: bool = False,
) -> Challenge:
    """Write a challenge: a release, targets with known attributes, and sealed answers.

    Half of the targets are a control group. They are removed from the records first, and the recipe makes the
    release from the others, so it differs from a release of everybody. The targets are drawn from a
    cryptographic source of random numbers.

    Parameters
    ----------
    table, schema
        The original.
    how
        A recipe, or a sanitizer with its parameters.
    folder
        Where to write the files for outsiders; it must not exist.
    answers
        Where to write the answers and their salts, for the owner alone; not in the folder.
    known
        The attributes whose original values outsiders get for every target; by default the quasi-identifiers.
    targets
        How many people.
    measures, policy, allow_singling_out
        As in `publish`.

    Examples
    --------
    >>> import tempfile
    >>> from sfumato import datasets
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import Mondrian
    >>> with tempfile.TemporaryDirectory() as here:
    ...     written = challenge(
    ...         *datasets.adult(),
    ...         Mondrian(KAnonymity(10)),
    ...         f"{here}/out",
    ...         f"{here}/answers.json",
    ...         policy="none",
    ...     )
    >>> written.targets, written.control, written.questions
    (100, 50, ('in-the-data', 'occupation'))
    """
    place, private = Path(folder), Path(answers)
    require_new(place)
    if os.path.exists(private):
        raise UserError(f"{private.name} exists already; choose a new file (nothing is ever overwritten)")
    if place.resolve() in private.resolve().parents:
        raise UserError(f"{private.name} would be in {place.name}, for all to read; put it elsewhere")
    bound, bound_schema = schema.bind(table)
    names = tuple(known) or bound_schema.quasi_identifiers
    _check(bound, bound_schema, names, targets)
    questions = (MEMBERSHIP, *(name for name in bound_schema.sensitive if name not in names))
    members, outsiders = _draw_targets(bound, targets)
    release = sanitize(_without(bound, outsiders), bound_schema.for_parts, how)
    people = [*((row, YES) for row in members), *((row, NO) for row in outsiders)]
    people = [people[number] for number in secret_order(len(people))]
    profiles = [
        [str(number), *(_cell(bound, name, row) for name in names)]
        for number, (row, _) in enumerate(people, start=1)
    ]
    sealed = list(_seal_answers(bound, people, questions))
    commitments = [(answer["target"], answer["question"], commitment(**answer)) for answer in sealed]
    why = "a challenge to outsiders"
    with folder_beside(place) as here:
        publish(
            release,
            here / "release",
            measures,
            policy=policy,
            allow_singling_out=allow_singling_out,
            why=why,
        )
        _write(here / "targets.csv", [("target", *names), *profiles])
        _write(here / "commitments.csv", [("target", "question", "commitment"), *commitments])
        # outsiders score with the file that the owner scores with
        (here / "score.py").write_text(Path(score.__file__).read_text("utf-8"), encoding="utf-8")
        (here / "RULES.md").write_text(_rules(release, names, questions, targets), encoding="utf-8")
        with file_beside(private, private=True) as file:
            file.write_text(json_text({"format": 1, "answers": sealed}), encoding="utf-8")
    return Challenge(place, private, release, targets, len(outsiders), names, questions)


def _check(table: Table, schema: Schema, known: Sequence[str], targets: int) -> None:
    for name in known:
        if name not in schema.released:
            near = suggestion(name, schema.released) or f"; there are {', '.join(schema.released)}"
            raise ParameterError(f"known: no attribute {name!r} that is released{near}")
    if targets < FEWEST or targets % 2:
        raise ParameterError(f"targets must be an even number of at least {FEWEST}, not {targets}")
    if 2 * targets > table.n_people:
        raise ParameterError(
            f"{targets:,} targets are more than half of the {table.n_people:,} people; ask about fewer"
        )


def _draw_targets(table: Table, targets: int) -> tuple[Integers, Integers]:
    """Draw the rows of the targets: those of the people who stay in the data, and of those removed."""
    if table.person_of is None:
        chosen = secret_order(table.n_records)[:targets]
        rows = np.searchsorted(np.cumsum(table.weights), chosen, side="right")
    else:
        order = secret_order(table.n_rows)
        people = secret_order(table.n_people)[:targets]
        first = np.full(table.n_people, -1)
        first[table.person_of[order]] = order
        rows = first[people]
    return rows[: targets // 2], rows[targets // 2 :]


def _without(table: Table, outsiders: Integers) -> Table:
    """Return the table without the control group: one record of each, or all records of each person."""
    weights = table.weights.copy()
    if table.person_of is None:
        np.subtract.at(weights, outsiders, 1)
    else:
        weights[np.isin(table.person_of, table.person_of[outsiders])] = 0
    rows = np.flatnonzero(weights)
    part = table.part(rows, weights[rows])
    return part.rewritten({name: column.tightened() for name, column in part.columns.items()})


def _seal_answers(
    table: Table, people: Sequence[tuple[int, str]], questions: Sequence[str]
) -> Iterator[dict[str, str]]:
    """Yield each answer with the salt of its commitment; a missing value is an empty text."""
    for number, (row, is_member) in enumerate(people, start=1):
        for question in questions:
            answer = is_member if question == MEMBERSHIP else _cell(table, question, row)
            yield {
                "salt": secrets.token_hex(32),
                "target": str(number),
                "question": question,
                "answer": answer,
            }


def _cell(table: Table, name: str, row: int) -> str:
    column = table[name]
    return text(column.domain[column.codes[row]]) or ""


def _rules(release: Release, known: Sequence[str], questions: Sequence[str], targets: int) -> str:
    explained = [f"- `{name}`: the value of this attribute" for name in questions if name != MEMBERSHIP]
    membership = f"- `{MEMBERSHIP}`: `{YES}` or `{NO}`"
    assert release.recipe is not None
    return _RULES.format(
        recipe=release.recipe.sanitizer,
        known=", ".join(known),
        n_targets=targets,
        questions="\n".join([membership, *explained]),
    )


def _write(place: Path, rows: Iterable[Iterable[str]]) -> None:
    with place.open("w", encoding="utf-8", newline="") as file:
        write_rows(file, rows)
