"""`sfumato ask`: answer a question from the candidates of a project."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sfumato.interfaces.cli.base import cli, json_option, project_option, workers_option
from sfumato.interfaces.cli.command_context import (
    explored,
    found_project,
    opened,
    require_candidates,
    source_shown,
)
from sfumato.interfaces.cli.terminal import echo, print_answer, print_json
from sfumato.runtime.errors import Infeasible

if TYPE_CHECKING:
    from sfumato.workflow.project.project_file import Project


@cli.command()
@click.argument("question")
@click.option(
    "--measure",
    "measure_now",
    is_flag=True,
    help="Measure what the question speaks of and no candidate has yet; the candidates are made once more.",
)
@project_option
@workers_option
@json_option
def ask(
    question: str, measure_now: bool, project_file: Path | None, workers: int | None, as_json: bool
) -> None:
    """Answer a QUESTION from what was explored, and say what somewhat looser limits would gain.

    \b
    QUESTION is   max|min|best MEASURE [, max|min|best MEASURE ...] [where LIMIT [and LIMIT ...]]
    LIMIT is      MEASURE <=|<|>=|>|= NUMBER[%]     or with the words `at most`, `at least`
    MEASURE is    a name (privacy-loss), a label (t-closeness distance=js), words (privacy loss) or
                  a short name; that of one of several sensitive attributes: privacy loss of income

    \b
      k       k-anonymity                loss, information loss    total-loss
      l       probabilistic-diversity    generalization, gl        general-loss
      t       t-closeness                suppression, sl           suppression-loss
      alpha   alpha-k-anonymity          risk                      reidentification-risk
      beta    beta-likeness              ploss, uloss              privacy-loss, utility-loss
      delta   delta-disclosure           a_know, a_acc, a_quot     knowledge-gain, accuracy-gain,
                                                                   disclosure-quotient

    Of several goals the first counts most. The exit code is 3 if no candidate keeps all limits.

    \b
    Example: sfumato ask "max k where loss <= 25% and suppression <= 10%"
             sfumato ask "best l, best k where loss <= 20%" --project admissions.toml
    """
    from sfumato.results.frontier import only_made
    from sfumato.results.json_schemas import AskShape, PolicyShape
    from sfumato.workflow.choose.question import parse, unmeasured
    from sfumato.workflow.choose.question_answer import ask as answer
    from sfumato.workflow.explore.stored_results import stored_frontier

    asked = parse(question)
    project, store = opened(found_project(project_file), create=False)
    with store:
        source = source_shown(project, store)
        candidates = only_made(store.candidates(source))
        require_candidates(project, store, source, candidates)
        missing = unmeasured(asked, (m for c in candidates for m in c.measurements))
        _require_sensitive(project, missing)
        if missing and measure_now:
            explored(replace(project, privacy=(*project.privacy, *missing)), store, None, workers)
        frontier = stored_frontier(project, store, source)
    found = answer(frontier, question)
    if as_json:
        print_json("ask", AskShape.of(found.to_shape(), policy=PolicyShape(broken=[*found.broken])))
    else:
        print_answer(found)
    if found.candidate is None:
        raise Infeasible("no candidate keeps all limits of the question")
    if not as_json:
        where = "" if project_file is None else f" -P {project_file}"
        echo(f"See it in detail:  sfumato show {found.candidate.id}{where}")


def _require_sensitive(project: Project, missing: tuple[str, ...]) -> None:
    """Raise an error if a question is about disclosure and no attribute is sensitive."""
    from sfumato.workflow.choose.question import guards_attributes

    about = [name for name in missing if guards_attributes(name)]
    if about and not project.schema.sensitive:
        raise Infeasible(
            f"{about[0]} speaks of a sensitive attribute, and {project.path.name} has none; "
            'give one role = "sensitive" and explore again'
        )
