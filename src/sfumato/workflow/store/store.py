"""Store the candidates and measurements of one project in one SQLite file that only the owner can read."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import sqlite3
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, NamedTuple

from sfumato.registry.methods import name_and_parameters, registered
from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Alias, Candidate
from sfumato.results.decision import Decision, now
from sfumato.results.measurement import Measurement
from sfumato.runtime.errors import ParameterError, SfumatoError, StoreError
from sfumato.runtime.files import create_private
from sfumato.workflow.store.provenance import measure_version, method_versions, reads_the_same
from sfumato.workflow.store.row_checksums import discard_unsound, unsound
from sfumato.workflow.store.store_layout import identity_of, prepare

IN_MEMORY = Path(":memory:")
"""The place of a store that is gone with the process."""

_SQLITE_HEADER = b"SQLite format 3\0"
_CANNOT_WRITE = (
    "SQLITE_READONLY",
    "SQLITE_FULL",
    "SQLITE_CANTOPEN",
    "SQLITE_IOERR_WRITE",
    "SQLITE_IOERR_SHM",
)

_FAILED_VERSIONS = '{"failed": 1}'
"""The versions of a candidate that a method at fault left unmade: none of today, so it is tried again."""

_RECOMPUTABLE_TABLES = ("candidate", "alias", "measurement", "proposal", "figure", "reading")
"""The tables whose rows an exploration can compute again; the seed and decisions are not among them."""
_RECOMPUTE_NOTE = "left out here; `sfumato explore` computes them again"
_MAX_LISTED = 3
"""How many changed entries a warning names."""

_DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
_REPLACE_REMEDY = "move it away or mend it"
_NOT_UTF8 = "a name or text that was given is not valid UTF-8; rename the file or folder"
_LOCKED_REMEDY = "another program holds it; wait for it or end it"
_WRITE_REMEDY = "make room on the disk, or let the folder be written"


class ChangedRows(UserWarning):
    """Warn of entries whose checksum does not fit: another program or a disk fault changed them."""


class Mark(NamedTuple):
    """How far a store is filled: the numbers of its newest candidate, measurement and alias."""

    candidates: int
    measurements: int
    aliases: int


class Store:
    """The owner's memory of a project. It holds the seed and no record's value.

    Candidates are written one by one, each in a transaction of its own: what is stored survives
    whatever happens next.

    Parameters
    ----------
    path
        The file; `IN_MEMORY` for a store that nobody needs afterwards.
    create
        Whether a file that is missing is made.

    Attributes
    ----------
    secret
        The key of the names and checksums in this store: drawn once, kept here, never shown to anybody.
    is_read_only
        Whether the file is on a medium that cannot be written: it can be read all the same.
    """

    def __init__(self, path: Path, *, create: bool = True) -> None:
        self.path = path
        if not create and path != IN_MEMORY and not os.path.exists(path):
            raise StoreError(f"nothing was explored yet: no {path.name}; run `sfumato explore` first")
        try:
            self._connection, self.secret, self.is_read_only = _connect(path)
        except sqlite3.Error as error:
            raise StoreError(
                f"cannot open the store {path.name}: {_first_line(error)}; {_remedy(error)}"
            ) from None
        except OSError as error:
            raise StoreError(f"cannot create the store {path.name}: {error.strerror}") from None
        self.changed_rows = ""
        """The rows that were changed outside of sfumato, in one line, as far as they were noticed."""

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def seed(self, wanted: int | None = None) -> int:
        """Return the project's seed, drawn once and then kept; ``wanted`` must not contradict it."""
        with self._reading():
            self._require_sound("fact", "the seed", "name = 'seed'")
            rows = self._connection.execute("select value from fact where name = 'seed'")
            kept = next((int(value) for (value,) in rows), None)
        if kept is None:
            chosen = secrets.randbits(128) if wanted is None else wanted
            with self._writing():
                self._connection.execute("insert into fact (name, value) values ('seed', ?)", (str(chosen),))
            return chosen
        if wanted is not None and wanted != kept:
            raise StoreError(
                f"the candidates in {self.path.name} were made with another seed; "
                "leave --seed out or remove the store"
            )
        return kept

    def identity(self, recipe: Recipe, source: str) -> str:
        """Return the short name of a candidate, by its recipe (without the seed) and what it is made from.

        It is keyed with the store's secret: a plain hash would let anybody who sees the name try which
        original it fits.
        """
        return identity_of(self.secret, recipe, source)

    def proposals(self, search: str) -> list[Recipe]:
        """Return the proposals of a search from an earlier run, if there are any."""
        with self._reading():
            rows = self._connection.execute("select recipes from sound_proposal where search = ?", (search,))
            return [Recipe.from_json(recipe) for (recipes,) in rows for recipe in json.loads(recipes)]

    def keep_proposals(self, search: str, recipes: list[Recipe]) -> None:
        """Store the proposals of a search, so that it need not run again."""
        with self._writing():
            self._connection.execute(
                "insert or replace into proposal (search, recipes) values (?, ?)",
                (search, json.dumps([recipe.to_json() for recipe in recipes])),
            )

    def sums(self, key: str) -> Any | None:
        """Return the sums that a measure stored, if it did."""
        with self._reading():
            rows = self._connection.execute("select facts from sound_figure where key = ?", (key,))
            return next((json.loads(facts) for (facts,) in rows), None)

    def keep_sums(self, key: str, sums: Any) -> None:
        """Store expensive sums, so that they need not be computed again."""
        with self._writing():
            self._connection.execute(
                "insert or replace into figure (key, facts) values (?, ?)", (key, json.dumps(sums))
            )

    def keep_sums_of(self, versions: Mapping[str, int]) -> None:
        """Remove the stored sums unless the same versions of all methods made them."""
        today = json.dumps(versions, sort_keys=True)
        with self._reading():
            rows = self._connection.execute("select value from sound_fact where name = 'figures'")
            made_by = next((value for (value,) in rows), "{}")
        if made_by != today:
            with self._writing():
                self._connection.execute("delete from figure")
                self._connection.execute(
                    "insert or replace into fact (name, value) values ('figures', ?)", (today,)
                )

    def save(
        self,
        candidate: Candidate,
        source: str,
        taken: dict[str, list[Measurement]],
        *,
        release: str = "",
        explored: float = 0.0,
    ) -> str:
        """Write a candidate, with its measurements by the measure that was asked for; return its id.

        Its earlier measurements are kept, unless an earlier version of its method had made it. One whose
        release is stored already becomes another recipe of that candidate, whose id is returned.

        Parameters
        ----------
        candidate, source, taken
            The candidate, what it was made from, and its measurements.
        release
            The fingerprint of the release, to recognise an equal one.
        explored
            How many seconds were spent on exploring until now, all runs together.
        """
        keyed = self._keyed_fingerprint(release)
        first = self._holder_of(keyed, source, candidate.id)
        is_made_anew = bool(self.outdated({candidate.id: candidate.recipe}))
        with self._writing():
            if first is None:
                self._write_candidate(candidate, source, keyed, explored, anew=is_made_anew)
            else:
                self._write_alias(candidate, first)
            self._write_measurements(first or candidate.id, taken)
        return first or candidate.id

    def _keyed_fingerprint(self, fingerprint: str) -> str | None:
        """Key a fingerprint with the store's secret, so that nobody can test which release it fits."""
        if not fingerprint:
            return None
        return hmac.new(self.secret, fingerprint.encode(), hashlib.sha256).hexdigest()

    def _holder_of(self, release: str | None, source: str, other_than: str) -> str | None:
        with self._reading():
            rows = self._connection.execute(
                "select id from sound_candidate where release = ? and source = ? and id != ?",
                (release, source, other_than),
            )
            return next((identity for (identity,) in rows), None)

    def _write_candidate(
        self, candidate: Candidate, source: str, release: str | None, explored: float, *, anew: bool
    ) -> None:
        versions = _FAILED_VERSIONS if candidate.failed else json.dumps(method_versions(candidate.recipe))
        facts = (candidate.recipe.to_json(), candidate.infeasible, candidate.seconds, now(), versions)
        if anew:
            self._connection.execute("delete from measurement where candidate = ?", (candidate.id,))
        # what was the same release before it was made anew need not be any more
        self._connection.execute(
            "delete from alias where id = :id or candidate in "
            "(select id from candidate where id = :id and release is not :release)",
            {"id": candidate.id, "release": release},
        )
        self._connection.execute(
            "insert into candidate (id, source, recipe, infeasible, seconds, made, versions, release, "
            "explored) values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (id) do update set "
            "recipe = excluded.recipe, infeasible = excluded.infeasible, seconds = excluded.seconds, "
            "made = excluded.made, versions = excluded.versions, release = excluded.release",
            (candidate.id, source, *facts, release, explored),
        )

    def _write_alias(self, candidate: Candidate, first: str) -> None:
        self._connection.execute("delete from candidate where id = ?", (candidate.id,))
        self._connection.execute(
            "insert or replace into alias (id, candidate, recipe, versions) values (?, ?, ?, ?)",
            (candidate.id, first, candidate.recipe.to_json(), json.dumps(method_versions(candidate.recipe))),
        )

    def _write_measurements(self, identity: str, taken: Mapping[str, list[Measurement]]) -> None:
        self._connection.executemany(
            "insert or replace into measurement (candidate, asked, facts, version) values (?, ?, ?, ?)",
            [
                (identity, asked, json.dumps([m.to_dict() for m in measurements]), measure_version(asked))
                for asked, measurements in taken.items()
            ],
        )

    def taken_of(self, release: str, asked: Iterable[str]) -> dict[str, list[Measurement]]:
        """Return what was measured, by versions of today, of a stored release with this fingerprint."""
        found: dict[str, list[Measurement]] = {}
        wanted, keyed = {key: measure_version(key) for key in asked}, self._keyed_fingerprint(release)
        with self._reading():
            rows = self._connection.execute(
                "select asked, version, facts from sound_measurement where candidate in "
                "(select id from sound_candidate where release = ?) order by candidate, asked",
                (keyed,),
            )
            for key, version, facts in rows:
                if wanted.get(key) == version:
                    found.setdefault(key, []).extend(_measurements(facts))
        return found

    def aliases(self) -> dict[str, str]:
        """Return for each recipe that makes the release of another candidate the id of that candidate."""
        with self._reading():
            return dict(self._connection.execute("select id, candidate from sound_alias").fetchall())

    def seconds_explored(self, source: str) -> float:
        """Return how long a table was explored until its last candidate, over all runs."""
        return max(self.explored_after(source).values(), default=0.0)

    def explored_after(self, source: str) -> dict[str, float]:
        """Return for each candidate the seconds of exploring until it was finished, over all runs."""
        with self._reading():
            return dict(
                self._connection.execute(
                    "select id, explored from sound_candidate where source = ?", (source,)
                ).fetchall()
            )

    def given_up(self) -> set[str]:
        """Return the candidates that failed because of a faulty method or a limit."""
        with self._reading():
            rows = self._connection.execute(
                "select id from sound_candidate where versions = ?", (_FAILED_VERSIONS,)
            )
            return {identity for (identity,) in rows}

    def mark(self) -> Mark:
        """Return how far the store is filled, to read only later additions."""
        with self._reading():
            rows = self._connection.execute(
                "select (select coalesce(max(rowid), 0) from candidate), "
                "(select coalesce(max(rowid), 0) from measurement), "
                "(select coalesce(max(rowid), 0) from alias)"
            )
            return Mark(*next(rows))

    def candidates(self, source: str, since: Mark | None = None) -> tuple[Candidate, ...]:
        """Return all candidates that were made from this data and schema, in the order of making.

        With a mark only those that were made or measured further since, each with everything measured.
        """
        begun = since or Mark(0, 0, 0)
        wanted = (
            "source = ? and (candidate.rowid > ? or "
            "id in (select candidate from measurement where rowid > ?) or "
            "id in (select candidate from alias where rowid > ?))"
        )
        return self._candidates(wanted, (source, *begun), reads_all=since is None)

    def _candidates(
        self, wanted: str, given: tuple[object, ...], *, reads_all: bool = False
    ) -> tuple[Candidate, ...]:
        measured: dict[str, list[Measurement]] = {}
        also: dict[str, list[Alias]] = {}
        with self._reading():
            # where every row was just checked and is sound, no checksum need be computed a second time
            sound = "" if reads_all and not self._warn_of_changed(_RECOMPUTE_NOTE) else "sound_"
            for first, identity, recipe in self._connection.execute(
                f"select candidate, id, recipe from {sound}alias where candidate in "
                f"(select id from candidate where {wanted}) order by rowid",
                given,
            ):
                also.setdefault(first, []).append(Alias(identity, Recipe.from_json(recipe)))
            taken = self._connection.execute("select distinct asked, version from measurement").fetchall()
            # what was measured with a file that has changed since, such as a population, counts no longer
            gone = {pair for pair in taken if not reads_the_same(*pair)}
            for identity, asked, version, facts in self._connection.execute(
                f"select candidate, asked, version, facts from {sound}measurement "
                f"where candidate in (select id from candidate where {wanted}) order by rowid",
                given,
            ):
                if (asked, version) not in gone:
                    measured.setdefault(identity, []).extend(_measurements(facts))
            rows = self._connection.execute(
                f"select id, recipe, infeasible, seconds, versions from {sound}candidate as candidate "
                f"where {wanted} order by rowid",
                given,
            )
            return tuple(
                Candidate(
                    identity,
                    Recipe.from_json(recipe),
                    tuple(measured.get(identity, ())),
                    reason,
                    seconds,
                    failed=versions == _FAILED_VERSIONS,
                    also=tuple(also.get(identity, ())),
                )
                for identity, recipe, reason, seconds, versions in rows
            )

    def measured(self) -> dict[str, set[str]]:
        """Return the measurements of each candidate by the current versions of the measures."""
        found: dict[str, set[str]] = {}
        with self._reading():
            rows = self._connection.execute("select candidate, asked, version from sound_measurement")
            every = rows.fetchall()
        today = {asked: measure_version(asked) for asked in {asked for _, asked, _ in every}}
        for identity, asked, version in every:
            if version == today[asked]:
                found.setdefault(identity, set()).add(asked)
        same = {alias: found[first] for alias, first in self.aliases().items() if first in found}
        return {**found, **same}

    def outdated(self, recipes: Mapping[str, Recipe]) -> set[str]:
        """Return the ids of candidates that an earlier version of their method made.

        The same goes for a default that has changed since: what is stored is not what the recipe says now.
        """
        found = set()
        with self._reading():
            for identity, recipe in recipes.items():
                rows = self._connection.execute(
                    "select recipe, versions from sound_candidate where id = :id "
                    "union all select recipe, versions from sound_alias where id = :id",
                    {"id": identity},
                )
                for written, versions in rows:
                    same = Recipe.from_json(written).key == recipe.key
                    if not same or json.loads(versions) != method_versions(recipe):
                        found.add(identity)
        return found

    def n_outdated(self, source: str) -> int:
        """Return the number of candidates with a result of another version than the current one."""
        with self._reading():
            made = self._connection.execute(
                "select id, recipe, versions from sound_candidate where source = ? and versions != ?",
                (source, _FAILED_VERSIONS),
            ).fetchall()
            taken = self._connection.execute("select distinct asked, version from measurement").fetchall()
            measured = [
                self._connection.execute(
                    "select candidate from measurement where asked = ? and version = ?", pair
                ).fetchall()
                for pair in taken
                if pair[1] != measure_version(pair[0])
            ]
            found = {
                identity
                for identity, recipe, versions in made
                if json.loads(versions) != method_versions(Recipe.from_json(recipe))
            }
        again = {identity for rows in measured for (identity,) in rows}
        return len(found | (again & {identity for identity, _, _ in made}))

    def infeasible(self) -> set[str]:
        """Return the candidates that could not be made."""
        with self._reading():
            rows = self._connection.execute("select id from sound_candidate where infeasible is not null")
            return {identity for (identity,) in rows}

    def find(self, prefix: str, source: str) -> Candidate:
        """Return the candidate whose id, or the id of one of its other recipes, starts with ``prefix``."""
        with self._reading():
            self._warn_of_changed(_RECOMPUTE_NOTE)
            begins = "substr({}, 1, length(:prefix)) = :prefix"
            rows = self._connection.execute(
                f"select id, source from sound_candidate where {begins.format('id')} or id in "
                f"(select candidate from sound_alias where {begins.format('id')})",
                {"prefix": prefix},
            ).fetchall()
        found = [identity for identity, made_from in rows if made_from == source]
        if len(found) == 1 and prefix:
            for candidate in self._candidates("id = ?", (found[0],)):
                return candidate
            # an index that speaks of a row which is not there
            raise StoreError(f"cannot read the store {self.path.name}: it is damaged; {_REPLACE_REMEDY}")
        if rows and not found:
            raise StoreError(
                f"candidate {rows[0][0]} was made from other data: the data file or its attributes have "
                "changed since; run `sfumato explore`, or bring the former state back"
            )
        problem = "no candidate" if not found else f"{len(found)} candidates"
        raise StoreError(f"{problem} with an id beginning {prefix!r}; `sfumato frontier --all` lists them")

    def sources(self) -> set[str]:
        """Return the sources, each a table with its schema, that candidates were made from."""
        with self._reading():
            rows = self._connection.execute("select distinct source from sound_candidate")
            return {source for (source,) in rows}

    def source_read(self, file: str, described: str, state: str) -> str | None:
        """Return the source that was read from a data file, if the file has not changed since.

        Parameters
        ----------
        file
            Its place.
        described
            A hash of how it is read.
        state
            Its size and times as they are now.
        """
        with self._reading():
            rows = self._connection.execute(
                "select source from sound_reading where file = ? and described = ? and state = ?",
                (file, described, state),
            )
            return next((source for (source,) in rows), None)

    def keep_source(self, file: str, described: str, state: str, source: str) -> None:
        """Store which source was read from a data file in this state, if the store is writable."""
        if self.is_read_only:
            return
        with self._writing():
            self._connection.execute(
                "insert or replace into reading (file, described, state, source) values (?, ?, ?, ?)",
                (file, described, state, source),
            )

    def record(self, decision: Decision, folder: str) -> None:
        """Store a decision and its folder."""
        with self._writing():
            self._connection.execute(
                "insert into decision (candidate, folder, facts) values (?, ?, ?)",
                (decision.candidate, folder, json.dumps(decision.to_dict())),
            )

    def decisions(self) -> list[Decision]:
        """Return all decisions, oldest first."""
        with self._reading():
            self._require_sound("decision", "a decision")
            rows = self._connection.execute("select facts from decision order by rowid")
            facts = [json.loads(written) for (written,) in rows]
            return [Decision(**{**fact, "policy": tuple(fact["policy"])}) for fact in facts]

    def folders(self) -> list[str]:
        """Return the published folder of each decision, oldest first."""
        with self._reading():
            self._require_sound("decision", "a decision")
            rows = self._connection.execute("select folder from decision order by rowid")
            return [folder for (folder,) in rows]

    def discard_changed(self) -> None:
        """Remove every row whose checksum does not fit and that can be recomputed; warn of figures."""
        with self._reading():
            self._warn_of_changed("computed again")
        with self._writing():
            for table in _RECOMPUTABLE_TABLES:
                discard_unsound(self._connection, table)
            # another program does not remove what belongs to a candidate together with it
            for table in ("alias", "measurement"):
                self._connection.execute(
                    f"delete from {table} where candidate not in (select id from candidate)"
                )

    def _warn_of_changed(self, consequence: str) -> bool:
        """Return whether the checksum of any figure does not fit; warn once, in one line."""
        entries = [
            *(f"candidate {_shown(identity)}" for (identity,) in self._unsound("candidate", "id")),
            *(f"a recipe of candidate {_shown(each)}" for (each,) in self._unsound("alias", "candidate")),
            *(
                f"{_measure_name(asked)} of candidate {_shown(identity)}"
                for identity, asked in self._unsound("measurement", "candidate, asked")
            ),
        ]
        if entries and not self.changed_rows:
            more = f" and {len(entries) - _MAX_LISTED:,} more" if len(entries) > _MAX_LISTED else ""
            self.changed_rows = f"{', '.join(entries[:_MAX_LISTED])}{more}"
            words = f"{self.changed_rows}: changed outside of sfumato, {consequence}"
            warnings.warn(f"{self.path.name}: {words}", ChangedRows, stacklevel=4)
        return bool(entries)

    def _unsound(self, table: str, columns: str) -> list[tuple[Any, ...]]:
        return unsound(self._connection, table, columns)

    def _require_sound(self, table: str, what: str, where: str = "1") -> None:
        """Refuse rows that were changed and cannot be recomputed."""
        if any(is_meant for (is_meant,) in self._unsound(table, where)):
            reason = f"{what} in it was changed outside of sfumato; {_REPLACE_REMEDY}"
            raise StoreError(f"cannot read the store {self.path.name}: {reason}")

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the lock for exploring this project; a second explorer is refused at once.

        The lock is one of SQLite on a file beside the store, so the system lifts it when the
        process ends, however it ends.
        """
        self.require_writable()
        with nullcontext() if self.path == IN_MEMORY else closing(self._lock()):
            yield

    def require_writable(self) -> None:
        """Raise an error early if a command could not write its result in the end."""
        if self.is_read_only:
            reason = "it is read-only; let the file and its folder be written"
            raise StoreError(f"cannot write the store {self.path.name}: {reason}")

    def _lock(self) -> sqlite3.Connection:
        place = _lock_of(self.path)
        lock = None
        try:
            with suppress(FileExistsError):
                create_private(place)
            if place.is_symlink():
                raise StoreError(f"cannot lock the store {self.path.name}: {place.name} is a link; remove it")
            # who only asks whether somebody explores holds the file for an instant
            lock = sqlite3.connect(place, timeout=0.2, isolation_level=None)
            lock.execute("begin exclusive")
        except sqlite3.Error as error:
            if lock is not None:
                lock.close()
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
                reason = f"another `sfumato explore` is at work on {self.path.name}; wait for it or stop it"
            else:
                remedy = _WRITE_REMEDY if _lacks_place(error) else "remove that file"
                reason = f"cannot lock the store {self.path.name} by {place.name}: {error}; {remedy}"
            raise StoreError(reason) from None
        except OSError as error:
            reason = f"cannot lock the store {self.path.name} by {place.name}: {error.strerror}"
            raise StoreError(f"{reason}; {_WRITE_REMEDY}") from None
        return lock

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Read one consistent snapshot, whatever an exploration writes meanwhile."""
        try:
            self._connection.execute("begin")
            try:
                yield
            finally:
                self._connection.rollback()
        except UnicodeEncodeError:
            raise StoreError(f"cannot read the store {self.path.name}: {_NOT_UTF8}") from None
        except (sqlite3.Error, ParameterError, ValueError, KeyError, TypeError, AttributeError) as error:
            # what a parser says may show what it stumbled over: only the name of SQLite's code is passed on
            reason = getattr(error, "sqlite_errorname", "what it holds cannot be understood")
            raise StoreError(f"cannot read the store {self.path.name}: {reason}; {_remedy(error)}") from None

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            with self._connection:
                yield
        except UnicodeEncodeError:
            raise StoreError(f"cannot write the store {self.path.name}: {_NOT_UTF8}") from None
        except sqlite3.Error as error:
            reason = f"{_first_line(error)}; {_write_remedy(error)}"
            raise StoreError(f"cannot write the store {self.path.name}: {reason}") from None


def is_being_explored(path: Path) -> bool:
    """Return whether this or another process explores the project of this store."""
    place = _lock_of(path)
    if not place.is_file():
        return False
    try:
        with closing(sqlite3.connect(f"{place.absolute().as_uri()}?mode=ro", timeout=0, uri=True)) as lock:
            lock.execute("select count(*) from sqlite_master").fetchone()
    except sqlite3.Error as error:
        return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY
    return False


def _first_line(error: Exception) -> str:
    """Return the first line of SQLite's message; for a damaged file, the others show a table's definition."""
    return str(error).partition("\n")[0]


def _remedy(error: Exception) -> str:
    """Propose a remedy; a sound store that only lacks disk space must not be moved away."""
    if _lacks_place(error):
        return "even to be read it needs room on the disk and a folder that may be written; it is not damaged"
    return _LOCKED_REMEDY if _is_held(error) else _REPLACE_REMEDY


def _write_remedy(error: Exception) -> str:
    """Propose a remedy for a failed write."""
    if getattr(error, "sqlite_errorname", "").startswith(_DAMAGED):
        return _REPLACE_REMEDY
    remedy = f"{_WRITE_REMEDY}; " if _lacks_place(error) else f"{_LOCKED_REMEDY}; " if _is_held(error) else ""
    return f"{remedy}nothing stored was lost"


def _is_held(error: Exception) -> bool:
    return getattr(error, "sqlite_errorname", "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def _lacks_place(error: Exception) -> bool:
    return getattr(error, "sqlite_errorname", "").startswith(_CANNOT_WRITE)


def _lock_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.lock")


def _measurements(facts: str) -> list[Measurement]:
    return [Measurement.from_dict(each) for each in json.loads(facts)]


def _shown(identity: object) -> str:
    """Return an id for a message; a changed row may hold any text."""
    return (
        identity if isinstance(identity, str) and re.fullmatch(r"[0-9a-z]{1,16}", identity) else "(changed)"
    )


def _measure_name(asked: object) -> str:
    """Return the measure's name in a stored key; a changed row may hold any text."""
    try:
        name, _ = name_and_parameters(json.loads(str(asked)))
    except (ValueError, TypeError, SfumatoError):
        name = ""
    return name if name in {**registered("measure"), **registered("model")} else "a measurement"


def _connect(path: Path) -> tuple[sqlite3.Connection, bytes, bool]:
    """Return the connection, the secret, and whether the store is read-only."""
    if path != IN_MEMORY:
        _prepare_place(path)
    connection = sqlite3.connect(path, timeout=10)
    try:
        try:
            connection.execute("pragma journal_mode = wal")
            is_read_only = path != IN_MEMORY and not _may_write(path)
        except sqlite3.Error as error:
            if path == IN_MEMORY or not _lacks_place(error):
                raise
            connection.close()
            connection = _connect_read_only(path)
            is_read_only = True
        connection.execute("pragma foreign_keys = on")
        secret = prepare(connection, path.name)
    except (sqlite3.Error, StoreError):
        connection.close()
        raise
    except UnicodeDecodeError:
        connection.close()
        raise sqlite3.DatabaseError("what it holds cannot be understood") from None
    return connection, secret, is_read_only


def _connect_read_only(path: Path) -> sqlite3.Connection:
    """Open a file in a read-only folder, where SQLite cannot create its shared files.

    A process that is allowed to write keeps a log beside the file, which is then read as well. Without a log,
    nobody is writing, and SQLite needs no other file if it takes the store as immutable.
    """
    log = Path(f"{path}-wal")
    has_log = log.exists() and log.stat().st_size
    mode = "mode=ro" if has_log else "immutable=1"
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", timeout=10, uri=True)
    try:
        connection.execute("select 1 from sqlite_master").fetchone()
    except sqlite3.Error:
        connection.close()
        if not has_log:
            raise
        raise StoreError(
            f"cannot read the store {path.name}: its latest changes are still in {log.name}, and the folder "
            "cannot be written; copy both files to one that can"
        ) from None
    return connection


def _prepare_place(path: Path) -> None:
    """Create a new store that only the owner can read; refuse a file that is no store.

    A store that exists may be reached through a link: its owner put it elsewhere. A new one is not created
    through a link, and SQLite would follow links in place of the files that it keeps beside the store.
    """
    if path.is_symlink() and not (path.exists() and path.stat().st_size):
        raise StoreError(
            f"cannot create the store {path.name}: there is a link in its place; remove it, and move or link "
            "a store only after it was created"
        )
    for end in ("-wal", "-shm", "-journal"):
        if os.path.islink(f"{path}{end}"):
            raise StoreError(f"cannot open the store {path.name}: {path.name}{end} is a link; remove it")
    with suppress(FileExistsError):
        create_private(path)
    if not path.is_file():
        raise sqlite3.DatabaseError("it is not a regular file")
    if not path.stat().st_size:
        # somebody else made the empty file, perhaps for all to read
        path.chmod(0o600)
    elif not _is_database(path):
        raise sqlite3.DatabaseError("file is not a database")


def _may_write(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _is_database(path: Path) -> bool:
    """Return whether SQLite wrote the file; SQLite itself accepts any short file as an empty one."""
    with path.open("rb") as file:
        head = file.read(len(_SQLITE_HEADER))
    return head in (b"", _SQLITE_HEADER)
