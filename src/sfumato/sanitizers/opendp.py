"""Import OpenDP, which draws all noise of differential privacy; nothing else in sfumato imports it."""

from __future__ import annotations

from typing import Any

from sfumato.runtime.extras import require


def opendp() -> Any:
    """Return the library OpenDP, or name the command that installs it."""
    require("dp", "differential privacy needs")
    import opendp.prelude

    opendp.prelude.enable_features("contrib")
    return opendp.prelude


def opendp_with_mbi() -> Any:
    """Return the library OpenDP with its extra ``mbi``, or name the command that installs it."""
    require("aim", "the method aim needs")
    return opendp()
