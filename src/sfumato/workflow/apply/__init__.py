"""Applying: the recoding of a release kept, and given to records that come later."""

from sfumato.applying.apply import apply
from sfumato.applying.recoding import Recoding, freeze
from sfumato.applying.taking import Taken, take

__all__ = ["Recoding", "Taken", "apply", "freeze", "take"]
