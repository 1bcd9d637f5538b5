"""Names of a package that are imported when they are first used.

Importing one method would otherwise import all of them, with everything that they need. A stub beside each
package, written by `tools/public_names.py`, tells type checkers the same in plain imports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str], others: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package
        The package, for messages.
    homes
        The module below ``sfumato`` in which each name lives. The home of a name that is itself a module ends
        in a dot.
    others
        Public names that the package defines itself.

    Examples
    --------
    >>> find, names = lazy_names("sfumato.models", {"KAnonymity": "models.anonymity"})
    >>> find("KAnonymity")(5), names()
    (KAnonymity(k=5), ['KAnonymity'])
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        if home.endswith("."):
            return import_module(f"sfumato.{home[:-1]}")
        return getattr(import_module(f"sfumato.{home}"), name)

    return find, lambda: sorted([*homes, *others])
