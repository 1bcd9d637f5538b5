"""Warn of what a person should know before publishing a release."""

from __future__ import annotations

from collections.abc import Iterable

from sfumato.registry.recipe import Recipe


def cautions(
    recipe: Recipe, n_published: int, unprotected: Iterable[str] = (), *, chosen_before: bool = False
) -> tuple[str, ...]:
    """Return reasons against publishing a release, in sentences; they forbid nothing.

    Parameters
    ----------
    recipe
        How the release is made.
    n_published
        How many releases of the same project were published before.
    unprotected
        What is to be said of attributes that are released as they are; no attribute of synthetic records is.
    chosen_before
        Whether the recipe was chosen before any look at the original.

    Examples
    --------
    >>> cautions(Recipe("mondrian", {"model": {"k-anonymity": {"k": 5}}}), 0)
    ()
    """
    reasons = []
    if recipe.sanitizer == "as-is":
        reasons.append(
            "This release protects nobody: it has every quasi-identifier exactly as it is, and whoever knows "
            "somebody's finds their record."
        )
    if n_published:
        times = "A release" if n_published == 1 else f"{n_published:,} releases"
        reasons.append(
            f"{times} of this project {'was' if n_published == 1 else 'were'} published before. Whoever has "
            "several can compare them, and what each one guarantees does not hold for them together."
        )
    if hasattr(recipe.build(), "guarantee") and not chosen_before:
        reasons.append(
            "You chose this release by figures of the original. Its guarantee of differential privacy covers "
            "the records that are drawn, not the choice. To choose without a look at the records, set "
            'choose = "before" under [dp].'
        )
    return (*reasons, *(() if recipe.release_type == "synthetic" else unprotected))
