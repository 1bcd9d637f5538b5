"""A decision: the candidate that a person chose, with the policy and the reason."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from sfumato.runtime.errors import ParameterError


@dataclass(frozen=True)
class Decision:
    """Who chose which release, why and when.

    Parameters
    ----------
    candidate
        The id of the chosen candidate.
    why
        The reason, in the words of who decided.
    by
        Who decided.
    when
        The time, ISO 8601, UTC.
    policy
        What had to hold, in words.
    """

    candidate: str
    why: str = ""
    by: str = ""
    when: str = ""
    policy: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, words in (("why", self.why), ("by", self.by)):
            try:
                words.encode()
            except UnicodeEncodeError:
                raise ParameterError(f"{name}: {words!r} is not valid UTF-8; write it in UTF-8") from None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {**asdict(self), "policy": list(self.policy)}

    def _repr_html_(self) -> str:
        from sfumato.workflow.report.notebook import decision_html

        return decision_html(self)


def now() -> str:
    """Return the present time, ISO 8601, UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
