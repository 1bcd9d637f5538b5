"""The privacy account of a project: what its published releases have spent together.

It is a file of JSON lines next to the project file, so it survives a lost store. Every release with a
guarantee of differential privacy is entered before it is written; an entry is withdrawn if the publication
fails, and stays if the process dies. A lock on the file keeps two publishers apart.
"""

from __future__ import annotations

import json
import math
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from sfumato.registry.recipe import Recipe
from sfumato.results.decision import now
from sfumato.results.release import Release
from sfumato.runtime.errors import PolicyNotMet, UserError
from sfumato.runtime.files import locked
from sfumato.verification.documents import GuaranteeFacts
from sfumato.workflow.project.project_file import PrivacyLimit, Project
from sfumato.workflow.publish.private_publication import guarantee_facts


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One published release, or the withdrawal of one that was not published after all."""

    id: str
    when: str
    folder: str
    candidate: str
    epsilon: float
    delta: float
    rho: float | None
    unit: str
    withdrawn: bool = False


@dataclass(frozen=True)
class Spending:
    """What some releases of the same people spend together.

    Parameters
    ----------
    epsilon, delta
        The guarantee that holds for all of them: the better of the plain sum and of what rho gives.
    rho
        The sum in zero-concentrated differential privacy, to which half of each delta is added; ``None`` if
        some release names none.
    """

    epsilon: float
    delta: float
    rho: float | None

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Spending:
        """Add up releases.

        Examples
        --------
        >>> one = dict(when="", folder="", candidate="", delta=1e-6, unit="record")
        >>> Spending.of([Entry(id=str(n), epsilon=0.5, rho=None, **one) for n in range(2)])
        Spending(epsilon=1.0, delta=2e-06, rho=None)
        """
        spent = [*entries]
        delta = math.fsum(entry.delta for entry in spent)
        known = [entry for entry in spent if entry.rho is not None]
        plain = math.fsum(entry.epsilon for entry in known)
        rho = math.fsum(entry.rho for entry in known if entry.rho is not None)
        if len(known) > 1:
            from sfumato.sanitizers.synthesize.noisy_counts import epsilon_of

            plain = min(plain, epsilon_of(rho, math.fsum(entry.delta for entry in known) / 2))
        others = math.fsum(entry.epsilon for entry in spent if entry.rho is None)
        return cls(plain + others, delta, rho if len(known) == len(spent) else None)

    def __str__(self) -> str:
        rho = "" if self.rho is None else f", rho {self.rho:.3g}"
        return f"epsilon {self.epsilon:.3g}, delta {self.delta:.3g}{rho}"


def account_path(project: Project) -> Path:
    """Return where the account of a project is: next to its project file."""
    return project.path.with_suffix(".privacy.jsonl")


def entries_of(project: Project) -> tuple[Entry, ...]:
    """Return the published releases of a project that spent something, the earliest first."""
    try:
        written = account_path(project).read_bytes()
    except FileNotFoundError:
        return ()
    return _entries(written, account_path(project))


@contextmanager
def entered(project: Project, release: Release, candidate: str, folder: Path) -> Iterator[None]:
    """Enter a release before it is published, and withdraw it if the publication fails.

    A release without a guarantee spends nothing that could be added up, and is not entered.
    """
    guarantee = guarantee_facts(release, "after")
    if guarantee is None or release.recipe is None:
        yield
        return
    entry = _entry(guarantee, release.recipe, candidate, folder)
    _enter(project, entry)
    try:
        yield
    except BaseException:
        with locked(account_path(project)) as file:
            _append(file, msgspec.structs.replace(entry, withdrawn=True))
        raise


def _entry(guarantee: GuaranteeFacts, recipe: Recipe, candidate: str, folder: Path) -> Entry:
    rho_of_method = getattr(recipe.build(), "rho", None)
    return Entry(
        id=secrets.token_hex(8),
        when=now(),
        folder=folder.name,
        candidate=candidate,
        epsilon=guarantee.epsilon,
        delta=guarantee.delta,
        rho=None if rho_of_method is None else rho_of_method(),
        unit=guarantee.unit,
    )


def _enter(project: Project, entry: Entry) -> None:
    place = account_path(project)
    with locked(place) as file:
        before = _entries(file.read(), place)
        _check_limit(Spending.of(before), Spending.of((*before, entry)), project.dp.limit)
        _append(file, entry)


def _check_limit(before: Spending, total: Spending, limit: PrivacyLimit) -> None:
    for name in ("epsilon", "delta", "rho"):
        most, reached = getattr(limit, name), getattr(total, name)
        if most is not None and (reached is None or reached > most * (1 + 1e-9)):
            raise PolicyNotMet(
                f"the releases of this project would spend {total} together, and [dp] limit allows {name} = "
                f"{most:g}; before this one it was {before}. Nothing was published"
            )


def _append(file: BinaryIO, entry: Entry) -> None:
    file.seek(0, os.SEEK_END)
    file.write(json.dumps(msgspec.to_builtins(entry)).encode() + b"\n")
    file.flush()
    os.fsync(file.fileno())


def _entries(written: bytes, place: Path) -> tuple[Entry, ...]:
    found: dict[str, Entry] = {}
    for number, line in enumerate(written.splitlines(), start=1):
        try:
            entry = msgspec.json.decode(line, type=Entry)
        except msgspec.MsgspecError:
            raise UserError(
                f"{place.name}: line {number} is damaged, so what was spent is not known; restore the file"
            ) from None
        if entry.withdrawn:
            found.pop(entry.id, None)
        else:
            found[entry.id] = entry
    return tuple(found.values())


def account_lines(project: Project) -> tuple[str, ...]:
    """Return what was spent before the last release, by it, and in total, in words; nothing without one."""
    entries = entries_of(project)
    if not entries:
        return ()
    spent: dict[str, Any] = {
        "before": Spending.of(entries[:-1]),
        "this release": Spending.of(entries[-1:]),
        "in total": Spending.of(entries),
    }
    units = {entry.unit for entry in entries}
    unit = "record" if "record" in units else "person"
    return tuple(f"{what}: {spending} (per {unit})" for what, spending in spent.items())
