"""Record which versions made a result, so that an upgrade recomputes only what it changes.

A method, model, measure or search that computes something else than before, or has another default, declares
``version: ClassVar[int] = 2``. A class that declares none is in its first version.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.registry import methods
from sfumato.runtime.errors import SfumatoError
from sfumato.runtime.files import why_unreadable

if TYPE_CHECKING:
    from sfumato.data.schema import Schema
    from sfumato.data.table import Table
    from sfumato.registry.recipe import Recipe
    from sfumato.results.measurement import Measure


_VERSION_BITS = 8


def source_of(table: Table, schema: Schema) -> str:
    """Return a hash of a bound table and schema, which identifies the candidates that belong to them."""
    return hashlib.sha256(f"{table.fingerprint} {schema.fingerprint}".encode()).hexdigest()


def version_of(cls: type[Any] | None) -> int:
    """Return the version that a class declares, 1 if it declares none."""
    return getattr(cls, "version", 1)


def all_versions() -> dict[str, int]:
    """Return the versions of everything that a measure may use, without first versions."""
    kinds: tuple[methods.Kind, ...] = ("measure", "model", "miner")
    known = {f"{kind} {name}": cls for kind in kinds for name, cls in methods.registered(kind).items()}
    return {name: version_of(cls) for name, cls in known.items() if version_of(cls) != 1}


def method_versions(recipe: Recipe) -> dict[str, int]:
    """Return the versions of the sanitizer and the models of a recipe, without first versions.

    Examples
    --------
    >>> from sfumato.registry.recipe import Recipe
    >>> method_versions(Recipe("mondrian", {"model": {"k-anonymity": {"k": 5}}}))
    {}
    """
    models = recipe.parameters.get("model")
    known = methods.registered("model")
    used = {name: known.get(name) for name in models} if isinstance(models, Mapping) else {}
    used[recipe.sanitizer] = methods.find("sanitizer", recipe.sanitizer)
    return {name: version_of(cls) for name, cls in sorted(used.items()) if version_of(cls) != 1}


def asked_key(measure: str | Mapping[str, Any] | Measure) -> str:
    """Return the key of a measure in the store, without parameters at their defaults.

    Examples
    --------
    >>> asked_key("t-closeness distance=js"), asked_key({"privacy-loss": {}})
    ('{"t-closeness": {"distance": "js"}}', '"privacy-loss"')
    """
    from sfumato.results.measurement import LevelReached, Measure, build_measure

    asked = measure if isinstance(measure, Measure) else build_measure(measure)
    changed = methods.changed_parameters(asked.model if isinstance(asked, LevelReached) else asked)
    return json.dumps({asked.name: changed} if changed else asked.name, sort_keys=True)


def measure_version(key: str) -> int:
    """Return the version of the measure or model that a key names, with the files that it reads.

    The lowest byte is the version. Above it is a hash of what the files hold that are among the parameters,
    such as a population: 0 where there is none.
    """
    try:
        name, parameters = methods.name_and_parameters(json.loads(key))
    except (ValueError, SfumatoError):
        return 1
    cls = {**methods.registered("measure"), **methods.registered("model")}.get(name)
    return version_of(cls) + (_files_of(cls, parameters) << _VERSION_BITS)


def reads_the_same(key: str, version: int) -> bool:
    """Return whether a measure's files are the same as when this version was recorded."""
    return version >> _VERSION_BITS == measure_version(key) >> _VERSION_BITS


def _files_of(cls: type[Any] | None, parameters: Mapping[str, Any]) -> int:
    named = methods.named_in(cls) if cls is not None else {}
    files = [parameters.get(name) for name, what in named.items() if what == "file"]
    given = [Path(file).absolute() for file in files if isinstance(file, str)]
    if not given:
        return 0
    digests = [_digest(path, *_state_of(path)) for path in given]
    return int.from_bytes(hashlib.sha256(b"".join(digests)).digest()[:6])


def _state_of(path: Path) -> tuple[int, int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0, 0
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns


@lru_cache(maxsize=16)
def _digest(path: Path, *state: int) -> bytes:
    """Hash the content of a file; it is read again only if its size or times change."""
    if why_unreadable(path):
        return b""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError:
        return b""
