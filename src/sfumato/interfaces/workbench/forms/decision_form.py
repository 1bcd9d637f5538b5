"""Define the form of a decision: who publishes, why, and into which folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from sfumato.interfaces.workbench.state.published import folder_name
from sfumato.results.formatting import sentence
from sfumato.runtime.errors import UserError


def decision_errors(folder: Path, given: Mapping[str, str], *, why: str) -> dict[str, str]:
    """Describe what is wrong with each field.

    Parameters
    ----------
    folder
        Where published folders lie.
    given
        What was typed.
    why
        What to say where no reason is given.
    """
    errors = {}
    if not given["why"]:
        errors["why"] = why
    if not given["by"]:
        errors["by"] = "Say who decides."
    try:
        if os.path.lexists(folder / folder_name(given["folder"])):
            errors["folder"] = "Something with this name is there already, and nothing is ever overwritten."
    except UserError as error:
        errors["folder"] = sentence(str(error))
    return errors
