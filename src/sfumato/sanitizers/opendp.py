"""Import OpenDP, which draws all noise of differential privacy; nothing else in sfumato imports it."""

from __future__ import annotations

from typing import Any

from sfumato.runtime.errors import UserError


def opendp() -> Any:
    """Return the library OpenDP."""
    import opendp.prelude

    opendp.prelude.enable_features("contrib")
    return opendp.prelude


def opendp_with_mbi() -> Any:
    """Return the library OpenDP with its extra ``mbi``, or name the command that installs it."""
    try:
        import mbi  # noqa: F401
        import pandas  # noqa: F401
        import polars  # noqa: F401
    except ImportError as error:
        raise UserError(
            f"the method aim needs OpenDP's extra mbi ({error.name} is missing): pip install 'sfumato[aim]'"
        ) from None
    return opendp()
