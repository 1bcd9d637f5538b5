"""Which extras a method needs, and a refusal that names the method where one is not installed.

A class declares ``needs_extra``. sfumato refuses before the method runs, so no figure depends on what is
installed: there is the same figure as everywhere, or none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass

from sfumato.registry import methods
from sfumato.runtime.extras import install_command, missing_packages, require

_NAMED_METHODS: tuple[methods.Kind, ...] = ("measure", "miner", "sanitizer")


class LeftOut(UserWarning):
    """Warns of methods that an exploration leaves out because their extra is not installed."""


def require_extras(method: object) -> None:
    """Raise `UserError` with the command that helps if an extra that a method needs is not installed."""
    for extra in sorted(_extras_of(method)):
        require(extra, f"{methods.name_of(type(method))} needs")


def missing_extra(method: object) -> str | None:
    """Return an extra that a method, or a class with its defaults, needs and that is not installed.

    Examples
    --------
    >>> from sfumato.sanitizers import CartSynthesis, Mondrian
    >>> missing_extra(Mondrian()), missing_extra(CartSynthesis())
    (None, None)
    """
    return next((extra for extra in sorted(_extras_of(method)) if missing_packages(extra)), None)


def _extras_of(method: object) -> set[str]:
    """Return the extras of a method and of all methods that its parameters name."""
    own = getattr(method, "needs_extra", None)
    extras = set() if own is None else {own}
    cls = method if isinstance(method, type) else type(method)
    for parameter, kind in (methods.named_in(cls) if is_dataclass(cls) else {}).items():
        if kind in _NAMED_METHODS:
            value = getattr(method, parameter.replace("-", "_"), ())
            for written in [value] if isinstance(value, str) else value or ():
                extras |= _extras_of_named(kind, written)
    return extras


def _extras_of_named(kind: methods.Kind, written: str) -> set[str]:
    name, parameters = methods.name_and_parameters(written)
    cls = methods.find(kind, name)
    if cls is None:
        # a measure may also be a privacy model, which needs no extra
        return set()
    # a sweep names a method without the parameters that it cannot do without
    return _extras_of(methods.build(kind, name, parameters) if parameters else cls)


def left_out(extras: Mapping[str, str]) -> str:
    """Return in one line which methods are left out, and how to install what they need.

    Parameters
    ----------
    extras
        The extra that each method needs, by the name of the method.

    Examples
    --------
    >>> left_out({"mst": "dp", "laplace": "dp"})
    "left out, because packages are not installed: laplace, mst (pip install 'sfumato[dp]')"
    """
    by_extra = {
        extra: sorted(name for name, needed in extras.items() if needed == extra)
        for extra in sorted({*extras.values()})
    }
    parts = (f"{', '.join(names)} ({install_command(extra)})" for extra, names in by_extra.items())
    return f"left out, because packages are not installed: {'; '.join(parts)}"
