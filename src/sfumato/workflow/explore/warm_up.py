"""Compile all kernels at once, so that no later command has to, whoever runs it.

numba compiles a kernel for the types that it is called with. So small tables go through every method, every
measure and every search; that takes about a minute.
"""

from __future__ import annotations

import os
import pkgutil
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np

import sfumato.kernels
from sfumato.data.schema import Attribute, Schema
from sfumato.data.table import Table
from sfumato.kernels.row_groups import number_rows
from sfumato.reading import datasets
from sfumato.registry import methods
from sfumato.registry.method_extras import missing_extra
from sfumato.results.measurement import measure
from sfumato.runtime.errors import SfumatoError
from sfumato.sanitizers.base import sanitize
from sfumato.workflow.explore.library import explore

_AXES = ("privacy-loss", "general-loss")
_ROWS = 300


@dataclass(frozen=True)
class KernelState:
    """The compiled kernels of this installation.

    Parameters
    ----------
    total, compiled
        All kernels, and those of which compiled code for this machine is kept.
    folder
        The folder in which this user keeps new compiled code, if there is one to write to.
    """

    total: int
    compiled: int
    folder: str | None

    @classmethod
    def now(cls) -> KernelState:
        """Look at all kernels."""
        names = [module.name for module in pkgutil.iter_modules(sfumato.kernels.__path__)]
        modules = [import_module(f"sfumato.kernels.{name}") for name in names]
        number_rows([], [], 1)  # until the first call, numba knows of no kernel
        caches = [
            value._cache
            for module in modules
            for value in vars(module).values()
            if hasattr(value, "py_func") and value.__module__ == module.__name__
        ]
        place = caches[0].cache_path
        is_writable = os.access(place, os.W_OK)
        return cls(len(caches), sum(each.is_filled for each in caches), place if is_writable else None)


def compile_kernels() -> None:
    """Make, measure and search for small releases of the embedded tables in every way that is installed."""
    measures = [each for each in _usable("measure") if not hasattr(each, "scenario")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for table, schema in _tables():
            for method in _usable("sanitizer"):
                with suppress(SfumatoError):  # not every method suits every table
                    release = sanitize(table, schema, method, seed=0)
                    for wanted in (*measures, *methods.registered("model")):
                        with suppress(SfumatoError):
                            measure(release, [wanted])
            for search in _usable("search"):
                with suppress(SfumatoError):
                    explore(table, schema, [search], _AXES, seed=0)


def _usable(kind: methods.Kind) -> Iterator[Any]:
    """Yield the methods of a kind with their defaults, if they have any and their extra is installed."""
    for cls in methods.registered(kind).values():
        if missing_extra(cls) is None:
            with suppress(TypeError, SfumatoError):
                yield cls()


def _tables() -> Iterator[tuple[Table, Schema]]:
    """Yield a few records, more of them, and records of which people have several."""
    yield datasets.hospital()
    table, schema = datasets.adult()
    yield table.take(np.linspace(0, table.n_rows - 1, _ROWS).astype(np.int64)), schema
    records, schema = datasets.hospital()
    people = [[f"{number // 2}" for number in range(records.n_records)]]
    with_people = Table.from_arrow(records.to_arrow().append_column("person", people))
    attributes = (*schema.attributes, Attribute("person", "withheld"))
    yield with_people, replace(schema, attributes=attributes, person="person")
