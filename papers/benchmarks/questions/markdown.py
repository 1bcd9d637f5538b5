"""Write tables in Markdown for the page of the open questions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write rows under heads."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(map(str, each))} |" for each in lines)


def points(share: float | None) -> str:
    """Write a share in percentage points, with its sign."""
    return "-" if share is None else f"{100 * share:+.1f}"


def percent(share: float | None) -> str:
    """Write a share in whole per cent."""
    return "-" if share is None else f"{share:.0%}"
