"""The outcome of verifying a folder: every check and its result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sfumato.verification.check import Check


@dataclass(frozen=True, repr=False)
class Verification:
    """All checks of a published folder; it is true if all of them hold.

    Parameters
    ----------
    folder
        The name of the folder.
    checks
        What was checked, and the publisher's unverified claims.
    """

    folder: str
    checks: tuple[Check, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing contradicts any statement, and every check could be made."""
        return not self.failed and not self.undecided

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that do not hold."""
        return tuple(check for check in self.checks if check.outcome == "fails")

    @property
    def undecided(self) -> tuple[Check, ...]:
        """The checks that only a later version of sfumato can make."""
        return tuple(check for check in self.checks if check.undecided)

    @property
    def exit_code(self) -> int:
        """The exit code of `sfumato verify`: 0 verified, 2 something is wrong, 4 undecided."""
        return 2 if self.failed else 4 if self.undecided else 0

    @property
    def unverified(self) -> tuple[Check, ...]:
        """The unverified claims: statements by the publisher that no reader can check."""
        return tuple(check for check in self.checks if check.holds and check.unverified)

    @property
    def outcome(self) -> str:
        """How many checks passed and how many statements are unverified claims, or which checks failed.

        Examples
        --------
        >>> Verification("out", (Check("a"), Check("b"), Check("c", unverified=True))).outcome
        '2 checks passed; 1 statement is an unverified claim'
        """
        if self.failed:
            return f"{len(self.failed):,} of {len(self):,} checks fail"
        if self.undecided:
            return f"cannot tell: {self.undecided[0].problem}"
        n_claims = len(self.unverified)
        n_passed = len(self) - n_claims
        return f"{n_passed:,} check{'' if n_passed == 1 else 's'} passed; {n_claims:,} " + (
            "statement is an unverified claim" if n_claims == 1 else "statements are unverified claims"
        )

    def __bool__(self) -> bool:
        return self.holds

    def __iter__(self) -> Iterator[Check]:
        return iter(self.checks)

    def __len__(self) -> int:
        return len(self.checks)

    def __repr__(self) -> str:
        return f"<Verification of {self.folder}: {self.outcome}>"

    def _repr_html_(self) -> str:
        from sfumato.workflow.report.notebook import verification_html

        return verification_html(self)
