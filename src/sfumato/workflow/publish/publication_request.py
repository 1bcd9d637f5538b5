"""Declare what is asked of a publication: where, why, by whom, with what evidence and in which formats."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import msgspec

from sfumato.reading.base import NO_CODEBOOK, Codebook
from sfumato.results.candidate import Candidate
from sfumato.results.frontier import Frontier
from sfumato.results.measurement import Measure
from sfumato.results.policy import PolicyLike
from sfumato.runtime.errors import UserError, suggestion
from sfumato.verification.documents import ParentFacts
from sfumato.workflow.project.default_axes_and_measures import Written
from sfumato.workflow.project.project_file import Project, Publication

Name = TypeVar("Name", bound=str)

NO_STATEMENTS = Publication()
"""A publication of which nothing is stated except what the release itself shows."""


@dataclass(frozen=True)
class Evidence:
    """The evidence in the report about other candidates and the exploration.

    Parameters
    ----------
    frontier
        All candidates that could be made.
    infeasible
        Those that could not; by default what the frontier knows of them.
    secret
        What decides where the bands lie in which the report tells the owner's figures; that of the store,
        so that two publications of one project tell no more than one.
    """

    frontier: Frontier
    infeasible: tuple[Candidate, ...] = ()
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    @property
    def tried(self) -> tuple[Candidate, ...]:
        """Everything that was tried, including candidates that could not be made."""
        return (*self.frontier.candidates, *(self.infeasible or self.frontier.infeasible))


@dataclass(frozen=True)
class PublicationRequest:
    """Everything that is asked of a publication except the release itself.

    It is built where somebody asks (the library, the command line, the workbench) and handed down whole.
    A new option of publishing is a field of `Publication` or of this class.

    Parameters
    ----------
    folder
        Where to write.
    why, by
        The reason, and who decided.
    candidate
        The id that the decision names.
    measures
        What to measure; ``None`` means what the evidence has of this release, else the usual.
    policy
        Who gets the release, or the limits that it must keep; see `Policy.of`.
    allow_singling_out
        Whether to publish although more than a few people are singled out and no recipient was named.
    publication
        The statements for readers of the report, the reviewers' pages, and the output formats.
    evidence
        The frontier that the release was chosen from, if any.
    key, passphrase
        The private key that signs the manifest, if any, and what unlocks it.
    parent
        The earlier release whose recoding this one has, if any.
    codebook
        The labels of the original, for the files of statistics programs.
    chosen_before
        Whether the candidate was chosen before any look at the original.
    """

    folder: Path
    why: str = ""
    by: str = ""
    candidate: str | None = None
    measures: tuple[Written | Measure, ...] | None = None
    policy: PolicyLike = None
    allow_singling_out: bool = False
    publication: Publication = NO_STATEMENTS
    evidence: Evidence | None = None
    key: Path | None = None
    passphrase: bytes | None = field(default=None, repr=False)
    parent: ParentFacts | None = None
    codebook: Codebook = NO_CODEBOOK
    chosen_before: bool = False

    def with_settings_of(self, project: Project, records: Path | None = None) -> PublicationRequest:
        """Return the request with the measures, the policy and the statements of a project.

        Parameters
        ----------
        project
            Its own statements come first; what this request adds comes after them or replaces them.
        records
            The file whose labels statistics programs get; by default the project's data file.
        """
        publication = extended(project.publication, self.publication)
        return replace(
            self,
            measures=project.measures,
            policy=project.policy,
            publication=publication,
            codebook=project.codebook(records) if publication.formats else NO_CODEBOOK,
            chosen_before=project.dp.choose == "before",
        )


def extended(publication: Publication, more: Publication) -> Publication:
    """Return a publication with more statements: lists are appended, anything else replaces what is there."""
    changes = {}
    for name in Publication.__struct_fields__:
        own, other = getattr(publication, name), getattr(more, name)
        changes[name] = [*own, *other] if isinstance(own, list) else other or own
    return msgspec.structs.replace(publication, **changes)


def allowed_names(option: str, names: Iterable[str], allowed: tuple[Name, ...]) -> tuple[Name, ...]:
    """Return the names, each once and in the usual order; refuse one that is not allowed."""
    requested = set(names)
    for name in sorted(requested - set(allowed)):
        hint = suggestion(name, allowed) or f"; allowed are {', '.join(allowed)}"
        raise UserError(f"{option}: cannot be {name!r}{hint}")
    return tuple(name for name in allowed if name in requested)


def require_new(folder: Path) -> None:
    """Refuse a folder that exists, before anything is computed for it."""
    if os.path.exists(folder):
        raise UserError(f"{folder.name} exists already; choose a new folder (nothing is ever overwritten)")
