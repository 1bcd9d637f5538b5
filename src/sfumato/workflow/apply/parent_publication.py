"""Open the release whose recoding new records get, from the project's store or from its folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from sfumato.data.hierarchy import Label
from sfumato.data.table import Table
from sfumato.kernels.row_groups import number_rows, sum_by_group
from sfumato.results.decision import Decision
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.recode_records import take
from sfumato.results.recoding import Recoding, freeze
from sfumato.results.release import Release
from sfumato.runtime.errors import StoreError
from sfumato.sanitizers.base import sanitize
from sfumato.verification.documents import read_manifest
from sfumato.workflow.apply.apply import Applied, applied
from sfumato.workflow.apply.published_folders import earlier_release, parent_facts, parent_release
from sfumato.workflow.apply.stored_publications import published_at
from sfumato.workflow.project.project_file import Project
from sfumato.workflow.publish.publication_request import PublicationRequest
from sfumato.workflow.publish.publish import publish_release
from sfumato.workflow.store.provenance import source_of
from sfumato.workflow.store.store import Store


@dataclass(frozen=True, eq=False)
class Parent:
    """The release whose recoding new records get.

    Parameters
    ----------
    recoding
        What it does.
    candidate
        The id of its candidate.
    folder
        Where it was published, if it was.
    """

    recoding: Recoding
    candidate: str
    folder: Path | None = field(default=None)


def stored_parent(project: Project, store: Store, identity: str) -> Parent:
    """Make the release of a candidate again and keep its recoding.

    Parameters
    ----------
    project
        Whose data it was made of.
    store
        What knows the candidate.
    identity
        How its id begins.
    """
    table = project.table()
    bound, schema = project.schema.bind(table)
    candidate = store.find(identity, source_of(bound, schema))
    if candidate.infeasible is not None:
        raise StoreError(f"candidate {candidate.id} could not be made: {candidate.infeasible}")
    published = published_at(store, candidate.id)
    if project.data.sample is None:
        return Parent(freeze(sanitize(bound, schema, candidate.recipe), table), candidate.id, published)
    if published is None:
        raise StoreError(
            f"candidate {candidate.id} was learned on a sample, and its release of all records is not to be "
            "found; publish it, or give the folder in which it lies"
        )
    return published_parent(project, published)


def published_parent(project: Project, folder: Path, original: Path | None = None) -> Parent:
    """Read a published folder and keep its recoding.

    Parameters
    ----------
    project
        What the attributes are.
    folder
        What `publish` wrote.
    original
        The file that the folder was published from; by default the project's data.
    """
    table = project.table(original, is_whole=True)
    release = parent_release(folder, table, project.schema)
    return Parent(_with_people(release, table), read_manifest(folder).decision.candidate, folder)


def _with_people(release: Release, table: Table) -> Recoding:
    """Keep the recoding of a release from its folder, and the people of its records if they are certain.

    It is sure where every original record fits into one class at most, and the records that fit are those
    that were published, value by value.
    """
    recoding = freeze(release)
    if recoding.schema.person is None:
        return recoding
    again = take(recoding, table).release
    other = take(replace(recoding, classes=recoding.classes[::-1]), table).release
    if not (_are_equal(again, other) and _have_same_records(again, release)):
        return recoding
    return replace(recoding, release=again, table=table)


def _are_equal(one: LinkedRelease, other: LinkedRelease) -> bool:
    return np.array_equal(one.origin.rows, other.origin.rows) and all(
        one.cells[name].labels == other.cells[name].labels
        and np.array_equal(one.cells[name].codes, other.cells[name].codes)
        for name in one.schema.released
    )


def _have_same_records(one: Release, other: Release) -> bool:
    """Return whether two releases have the same records, each the same number of times."""
    columns, sizes = [], []
    for name in one.schema.released:
        place: dict[Label, int] = {}
        codes = []
        for cells in (one.cells[name], other.cells[name]):
            numbers = [place.setdefault(label, len(place)) for label in cells.labels]
            codes.append(np.array(numbers, dtype=np.int32)[cells.codes])
        columns.append(np.concatenate(codes))
        sizes.append(len(place))
    number, n_different = number_rows(columns, sizes, one.n_rows + other.n_rows)
    signed = np.concatenate([one.weights, -other.weights])
    return not sum_by_group(number, n_different, signed).any()


def publish_applied(
    project: Project,
    parent: Parent,
    records: Path,
    request: PublicationRequest,
    known: Sequence[Path] = (),
    *,
    limit: float | None = None,
) -> tuple[Decision, Applied]:
    """Recode the records of a file and publish them with the project's settings.

    Parameters
    ----------
    project
        What the measures, the policy and the report are taken from.
    parent
        The release whose recoding is kept.
    records
        The file with the new records.
    request
        What is asked besides the project's settings.
    known
        The folders of other releases that were published before.
    limit
        The largest share of the new records that may be suppressed; see `apply`.
    """
    earlier = [earlier_release(folder, project.schema) for folder in known]
    outcome = applied(parent.recoding, project.table(records), earlier, limit)
    request = replace(
        request.with_settings_of(project, records),
        candidate=parent.candidate,
        parent=parent_facts(parent.candidate, parent.folder, known),
    )
    return publish_release(outcome.release, request), outcome
