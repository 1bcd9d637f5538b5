"""List the recipients of a release, and the limits that are usual for each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Recipient:
    """Who gets a release, and the limits that are usual for them.

    Parameters
    ----------
    name
        The word in a project file: ``[policy]`` with ``recipient = "public"``.
    title
        The same in words.
    alike
        How many people must look alike at least. One over it is the largest risk that attacks may show.
    epsilon
        The largest epsilon of differential privacy.
    average_risk
        The largest average risk, where contracts usually limit that.
    source
        Where the limits come from.
    """

    name: str
    title: str
    alike: int
    epsilon: float
    average_risk: float | None = None
    source: str = ""

    @property
    def risk(self) -> float:
        """The largest risk of one person."""
        return 1 / self.alike

    @property
    def meaning(self) -> str:
        """What the limits mean, in a phrase."""
        average = "" if self.average_risk is None else f", an average risk of at most {self.average_risk:g}"
        return f"at least {self.alike} people look alike{average}"


NOBODY = "none"
"""The word for a policy without limits for its recipient, on purpose."""
RECIPIENTS = {
    recipient.name: recipient
    for recipient in (
        Recipient(
            "public",
            "the public",
            11,
            1.0,
            source="EMA policy 0070, Health Canada (risk 0.09), CMS (cells of 11); epsilon: NIST SP 800-226",
        ),
        Recipient(
            "public-great-harm",
            "the public, where disclosure would do great harm",
            20,
            0.25,
            source="IPC Ontario 2016 (risk 0.05); epsilon: DP Creator",
        ),
        Recipient(
            "contract",
            "researchers under contract",
            5,
            3.0,
            0.1,
            source="IPC Ontario 2016 (average 0.1); PDPC Singapore 2022 (5); epsilon: ours",
        ),
        Recipient(
            "protected-place",
            "users of a protected place",
            3,
            8.0,
            source="PDPC Singapore 2022 (3, internal use); epsilon: ours",
        ),
    )
}
"""The recipients with limits of their own; ``none`` has none."""
STRICTEST_USUAL = "public"
"""The recipient that is assumed where nobody says who gets the release."""
