"""Apply the recoding of an earlier release to records that come later."""

from sfumato.results.recode_records import Taken, take
from sfumato.results.recoding import Recoding, freeze
from sfumato.workflow.apply.apply import apply

__all__ = ["Recoding", "Taken", "apply", "freeze", "take"]
