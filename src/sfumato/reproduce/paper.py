"""Paper: what a module of this room says about the paper that it reruns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sfumato.reproduce.exhibits import Exhibit
from sfumato.reproduce.experiments import Experiment, Found


@dataclass(frozen=True)
class Paper:
    """One paper, or what all of them show together.

    Parameters
    ----------
    key
        Its name on the command line.
    title
        What stands above its exhibits: authors and year.
    citation
        Authors, title, where and when it was published.
    experiments
        The explorations that it needs.
    exhibits
        Reads its exhibits from what they found.
    """

    key: str
    title: str
    citation: str
    experiments: tuple[Experiment, ...]
    exhibits: Callable[[Found], tuple[Exhibit, ...]] = field(repr=False)
