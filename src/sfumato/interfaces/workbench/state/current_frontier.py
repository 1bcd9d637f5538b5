"""Compute the current frontier of a project, once for each state of its store."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sfumato.interfaces.workbench.state.candidate_matrix import CandidateMatrix
from sfumato.interfaces.workbench.state.projects import Opened
from sfumato.results.candidate import Candidate
from sfumato.results.frontier import Frontier
from sfumato.results.measurement import Measurement
from sfumato.workflow.project.project_file import Project


@dataclass(frozen=True)
class Findings:
    """The results of an exploration so far.

    Parameters
    ----------
    frontier
        The candidates that could be made, along the axes of the project.
    infeasible
        Those that could not.
    state
        What changes with the candidates.
    """

    frontier: Frontier
    infeasible: tuple[Candidate, ...]
    state: Hashable

    @cached_property
    def measured(self) -> list[Measurement]:
        """One measurement of each label and attribute, enough to parse a question."""
        every = (m for c in self.frontier.candidates for m in c.measurements)
        return list({(m.label, m.attribute): m for m in every}.values())


def findings_in(opened: Opened, sheet: CandidateMatrix, stamp: str, known: dict[Path, Findings]) -> Findings:
    """Return the results of a project: cached ones, or newly computed and then cached."""
    project = opened.project
    axes = _measured_axes(project, sheet)
    state = (opened.source, stamp, axes, project.policy.recipient, str(project.policy.limits))
    findings = known.get(project.path)
    if findings is None or findings.state != state or findings.frontier.candidates != sheet.candidates:
        findings = Findings(Frontier(sheet.candidates, axes, policy=project.policy), sheet.infeasible, state)
        known[project.path] = findings
    return findings


def _measured_axes(project: Project, sheet: CandidateMatrix) -> tuple[str, ...]:
    """Return the axes of the project; an unmeasured axis is replaced by another measure of its side."""
    labels = {name for column in sheet.columns for name in (column.label, column.label.measure)}
    sides = {side: [c.label for c in sheet.columns if c.axis == side] for side in ("privacy", "utility")}
    return tuple(
        axis if axis in labels or not sides[side] else sides[side][0]
        for axis, side in zip(project.axes, sides, strict=True)
    )
