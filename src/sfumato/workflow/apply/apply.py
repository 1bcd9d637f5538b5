"""Recode next month's records like this month's release, check the models, and publish the result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sfumato.data.table import Records, Table
from sfumato.registry.declarations import Share, check_bound
from sfumato.results.intersection import rows_to_suppress
from sfumato.results.learned_recoding import USUAL_LIMIT
from sfumato.results.linked_people import match_people, person_names
from sfumato.results.linked_release import LinkedRelease, without_rows
from sfumato.results.origin import Earlier
from sfumato.results.policy import PolicyLike
from sfumato.results.recode_records import NO_CLASS, Taken, take
from sfumato.results.recoding import Recoding, freeze
from sfumato.results.release import Release
from sfumato.runtime.arrays import Integers
from sfumato.runtime.errors import PolicyNotMet
from sfumato.workflow.apply.published_folders import earlier_release, parent_facts
from sfumato.workflow.publish.publish import publish

_NOTE = (
    "The recoding is that of an earlier release. Records that none of its released values stand for, and "
    "those in classes where the model would not hold, by themselves or together with what was published "
    "before, were suppressed."
)
_ESTIMATE = "That the models hold together with what was published before is an estimate"


@dataclass(frozen=True, eq=False)
class Applied:
    """New records with a kept recoding, after checking the models.

    Parameters
    ----------
    release
        What may be published.
    withheld
        How many records the recoding could not take, by the attribute whose value it does not know; those
        that no class takes are under the empty name.
    n_failing
        How many were suppressed because the model did not hold in their class.
    n_unrecognized, n_earlier
        In how many of the earlier releases nobody can be recognized, and how many there are.
    """

    release: LinkedRelease
    withheld: Mapping[str, int]
    n_failing: int
    n_unrecognized: int = 0
    n_earlier: int = 0

    @property
    def estimate(self) -> str | None:
        """Says if the check of all releases together is an estimate; ``None`` if it is exact."""
        if not self.n_unrecognized:
            return None
        return (
            f"{_ESTIMATE}: in {self.n_unrecognized:,} of {self.n_earlier:,} earlier releases it is not known "
            "who is who, and each of their records counts as another person's."
        )

    def reasons(self) -> list[str]:
        """Say why records were suppressed, with numbers only."""
        reasons = [
            f"{count:,} with a value of {name!r} that no released value stands for"
            if name != NO_CLASS
            else f"{count:,} whose values no class has together"
            for name, count in self.withheld.items()
        ]
        return [*reasons, *([f"{self.n_failing:,} in classes that fail the model"] if self.n_failing else [])]


def apply(
    how: Recoding | Release,
    records: Records,
    folder: str | Path | None = None,
    *,
    limit: float | None = None,
    earlier: Iterable[Release | str | Path] = (),
    parent: str | Path | None = None,
    policy: PolicyLike = None,
    allow_singling_out: bool = False,
) -> LinkedRelease:
    """Recode new records with an earlier release's values, check the models, and publish them.

    Every released value contains the record's own value. Records that no released value stands for are
    withheld. The models of the recipe must hold in the new release alone, and together with what was
    published before; records of classes in which they do not are suppressed.

    Parameters
    ----------
    how
        The earlier release, or its recoding as `freeze` kept it.
    records
        The new records, with the columns of the original: whatever `Table.from_arrow` takes.
    folder
        Where to publish the result, if it is to be published at once; it must not exist.
    limit
        The largest share of the new records that may be suppressed. By default the recipe's own limit of
        suppression where that is above 0, else 5%.
    earlier
        What else was published before, with the same attributes: releases, or the folders of them.
    parent
        The folder in which the earlier release was published; the new manifest names it.
    policy, allow_singling_out
        As in `publish`, where a folder is given.

    Returns
    -------
    LinkedRelease
        The new release; its origin lists the ``earlier`` ones.

    Raises
    ------
    PolicyNotMet
        If more records would have to be suppressed.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import Mondrian
    >>> table, schema = datasets.hospital()
    >>> first = sanitize(table, schema, Mondrian(KAnonymity(3)))
    >>> second = apply(first, table)
    >>> second.n_records, sorted(second.classes.sizes) == sorted(first.classes.sizes)
    (12, True)
    """
    recoding = how if isinstance(how, Recoding) else freeze(how)
    others = tuple(earlier)
    read = [
        each if isinstance(each, Release) else earlier_release(Path(each), recoding.schema) for each in others
    ]
    release = applied(recoding, records, read, limit).release
    if folder is not None:
        folders = [Path(each) for each in others if not isinstance(each, Release)]
        named = parent_facts(None, None if parent is None else Path(parent), folders)
        publish(release, folder, parent=named, policy=policy, allow_singling_out=allow_singling_out)
    return release


def applied(
    recoding: Recoding, records: Records, earlier: Sequence[Release] = (), limit: float | None = None
) -> Applied:
    """Apply a recoding and count what became of the records; see `apply`."""
    most = limit if limit is not None else recoding.suppression or USUAL_LIMIT
    check_bound("limit", Share, most)
    table = records if isinstance(records, Table) else Table.from_arrow(records)
    taken = take(recoding, table)
    before = (recoding.release, *earlier)
    new, now, then = _recognized(recoding, taken, table, before)
    drop = rows_to_suppress(new, before, recoding.model, [now, *then])
    release = without_rows(new, drop)
    unrecognized = sum(people is None for people in then)
    outcome = Applied(release, taken.withheld, new.n_records - release.n_records, unrecognized, len(before))
    _check_limit(outcome, taken, most)
    notes = [note for note in (_NOTE, outcome.estimate) if note]
    stay = np.repeat(~drop, new.weights)
    known = tuple(
        Earlier(release_before, None if now is None or people is None else (now[stay], people))
        for release_before, people in zip(before, then, strict=True)
    )
    # the notes of a release that was itself applied are about another file
    kept = (note for note in release.notes if note != _NOTE and not note.startswith(_ESTIMATE))
    return replace(outcome, release=replace(release, notes=(*kept, *notes)).with_earlier(*known))


def _recognized(
    recoding: Recoding, taken: Taken, table: Table, before: Sequence[Release]
) -> tuple[LinkedRelease, Integers | None, list[Integers | None]]:
    """Return the new release with its people, and each record's person now and in each earlier release."""
    origin, parent = taken.release.origin, recoding.release
    names = person_names(table, origin.table, taken.schema)
    new = replace(taken.release, origin=replace(origin, person_names=names))
    of_parent = None
    if recoding.table is not None and isinstance(parent, LinkedRelease):
        of_parent = person_names(recoding.table, parent.origin.table, taken.schema)
    now, *then = match_people([new, *before], {} if of_parent is None else {1: of_parent})
    return new, now, then


def _check_limit(outcome: Applied, taken: Taken, most: float) -> None:
    n_records, n_suppressed = taken.release.n_original, outcome.release.n_suppressed
    if n_suppressed <= most * n_records and outcome.release.n_records:
        return
    reasons = "; ".join(outcome.reasons())
    if not outcome.release.n_records and most == 1:
        raise PolicyNotMet(
            f"every one of the {n_records:,} new records would have to be suppressed: {reasons}; make a new "
            "release"
        )
    raise PolicyNotMet(
        f"{n_suppressed:,} of {n_records:,} new records ({n_suppressed / n_records:.1%}) would have to be "
        f"suppressed, more than the limit of {most:.1%}: {reasons}; allow more with a higher limit, or make "
        "a new release"
    )
