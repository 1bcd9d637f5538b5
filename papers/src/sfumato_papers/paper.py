"""Define the type that describes a paper: its experiments, exhibits and ambiguities."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sfumato_papers.exhibits import Exhibit
from sfumato_papers.experiments import Experiment, Explorations
from sfumato_papers.interpretations import Ambiguity


@dataclass(frozen=True)
class Paper:
    """One paper, or the comparison of all of them.

    Parameters
    ----------
    key
        Its name on the command line.
    title
        The heading of its exhibits: authors and year.
    citation
        Authors, title, where and when it was published.
    experiments
        The explorations that it needs.
    exhibits
        Computes its exhibits from the results of the explorations.
    doi
        Where it can be found.
    ambiguities
        The passages that allow several interpretations.
    over_seeds
        Computes exhibits from those of all seeds, for sentences about chance itself.
    """

    key: str
    title: str
    citation: str
    experiments: tuple[Experiment, ...]
    exhibits: Callable[[Explorations], tuple[Exhibit, ...]] = field(repr=False)
    doi: str = ""
    ambiguities: tuple[Ambiguity, ...] = ()
    over_seeds: Callable[[Mapping[int, tuple[Exhibit, ...]]], tuple[Exhibit, ...]] = field(
        default=lambda _: (), repr=False
    )

    @property
    def has_control(self) -> bool:
        """Whether some experiment deals out what somebody wants to learn."""
        return any(experiment.dealt for experiment in self.experiments)
