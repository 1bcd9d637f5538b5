"""Describe everything registered, for `sfumato methods` and the documentation."""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any, get_args, get_type_hints

from sfumato.registry import methods
from sfumato.results.json_schemas import MethodShape, ParameterShape
from sfumato.runtime.errors import ParameterError, suggestion


def catalogue() -> list[MethodShape]:
    """Return an entry for every sanitizer, model, measure, search and miner."""
    return [_entry(kind, name) for kind in get_args(methods.Kind) for name in methods.registered(kind)]


def entry(name: str) -> MethodShape:
    """Return the entry of one name; if there is none, propose a similar name."""
    entries = {method.name: method for method in catalogue()}
    if name not in entries:
        raise ParameterError(
            f"nothing is called {name!r}{suggestion(name, entries)} (sfumato methods lists them all)"
        )
    return entries[name]


def _entry(kind: methods.Kind, name: str) -> MethodShape:
    cls = methods.look_up(kind, name)
    documentation = inspect.getdoc(cls) or ""
    bounds, types = methods.bounds_of(cls), get_type_hints(cls)
    reference = _section(documentation, "References")
    return MethodShape(
        name=name,
        kind=kind,
        summary=" ".join(documentation.split("\n\n")[0].split()),
        parameters=[
            ParameterShape(
                name=key,
                # the bounds are told in words, next to the type
                type=inspect.formatannotation(types[field.name]) if key in bounds else str(field.type),
                default=_default(field),
                bounds=bounds.get(key, ""),
            )
            for key, field in methods.parameters_of(cls).items()
        ],
        facts={
            fact: getattr(cls, fact)
            for fact in ("guards", "monotone", "strict", "axis", "better", "needs", "needs_extra", "predicts")
            if isinstance(getattr(cls, fact, None), (str, bool))
        },
        reference=reference,
        paper=short_reference(reference),
        documentation=documentation,
    )


def _default(field: dataclasses.Field[Any]) -> str:
    models = getattr(field.default, "written", None)
    if models is not None:
        return ", ".join(methods.phrase(*methods.describe(model)) for model in models)
    if field.default is not dataclasses.MISSING:
        return str(field.default)
    return "required" if field.default_factory is dataclasses.MISSING else str(field.default_factory())


def _section(documentation: str, head: str) -> str:
    _, found, after = documentation.partition(f"{head}\n{'-' * len(head)}\n")
    return " ".join(after.split("\n\n")[0].split()) if found else ""


def short_reference(reference: str) -> str:
    """Return the first paper of a reference by its authors and year.

    Examples
    --------
    >>> short_reference('J. Brickell, V. Shmatikov, "The cost of privacy", 2008, definition 3.')
    'Brickell & Shmatikov 2008'
    """
    authors, quoted, after = reference.partition('"')
    year = re.search(r"\b(?:19|20)\d\d\b", after.partition('"')[2])
    names = [name.split()[-1] for name in authors.replace(" et al.", "").split(",") if name.strip()]
    if not quoted or year is None or not names:
        return ""
    several = " et al." if " et al." in authors or len(names) > 2 else ""
    who = " & ".join(names) if len(names) == 2 and not several else names[0] + several
    return f"{who} {year.group()}"
