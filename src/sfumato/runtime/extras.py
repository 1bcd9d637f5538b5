"""Optional packages: what each extra of sfumato installs, and a refusal that names the command for it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

from sfumato.runtime.errors import UserError

EXTRAS: Mapping[str, Mapping[str, str]] = {
    "aim": {"opendp": "opendp", "mbi": "mbi", "pandas": "pandas", "polars": "polars"},
    "dp": {"opendp": "opendp"},
    "duckdb": {"duckdb": "duckdb"},
    "learning": {"sklearn": "scikit-learn"},
    "png": {"resvg_py": "resvg-py"},
    "postgres": {"adbc_driver_postgresql": "adbc-driver-postgresql"},
    "sign": {"cryptography": "cryptography"},
    "spark": {"pyspark": "pyspark", "pandas": "pandas"},
    "statistics": {"pyreadstat": "pyreadstat", "pandas": "pandas"},
}
"""The packages of each extra: the name to import, and the name to install."""


def missing_packages(extra: str) -> list[str]:
    """Return the packages of an extra that are not installed, without importing any.

    Examples
    --------
    >>> missing_packages("learning")
    []
    """
    return [package for module, package in EXTRAS[extra].items() if find_spec(module) is None]


def install_command(extra: str) -> str:
    """Return the command that installs an extra.

    Examples
    --------
    >>> install_command("learning")
    "pip install 'sfumato[learning]'"
    """
    return f"pip install 'sfumato[{extra}]'"


def require(extra: str, needing: str) -> None:
    """Raise `UserError` with the command that helps if a package of an extra is missing.

    Parameters
    ----------
    extra
        The extra.
    needing
        The subject and the verb of the message: ``signatures need``.

    Examples
    --------
    >>> require("learning", "cart-synthesis needs")
    """
    missing = missing_packages(extra)
    if missing:
        raise UserError(f"{needing} the package {missing[0]}: {install_command(extra)}")
