"""The settings of a rerun that the paper leaves open: seeds, interpretations and controls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sfumato.registry import methods
from sfumato_papers.interpretations import Switches

FIRST_SEED = 2009
"""The first run of a paper has this seed, the others those that follow, so that everybody gets the same."""

Change = Callable[[Any], None]
"""Changes the document of a project."""


@dataclass(frozen=True)
class Condition:
    """What a paper is rerun under.

    Parameters
    ----------
    seed
        The seed of everything that happens by chance: searches, folds, queries, noise.
    readings
        The passages that are read in another way than ours.
    is_control
        Whether the attributes that somebody wants to learn are dealt out to the records at random.
    """

    seed: int = FIRST_SEED
    readings: Switches = ()
    is_control: bool = False

    @property
    def suffix(self) -> str:
        """What tells the files of this condition from those of the first."""
        parts = [each.replace("=", "-") for each in self.readings]
        parts += ["control"] * self.is_control
        parts += [f"seed-{self.seed}"] * (self.seed != FIRST_SEED)
        return "".join(f"-{part}" for part in parts)

    def touching(self, switches: Mapping[str, Change], *, by_chance: bool, has_control: bool) -> Condition:
        """Return what of the condition changes anything in an experiment.

        Parameters
        ----------
        switches
            What each reading that concerns the experiment changes in it.
        by_chance
            Whether anything in it happens by chance.
        has_control
            Whether it has attributes that a control deals out anew.
        """
        return replace(
            self,
            seed=self.seed if by_chance else FIRST_SEED,
            readings=tuple(each for each in self.readings if each in switches),
            is_control=self.is_control and has_control,
        )

    def change(self, document: Any, switches: Mapping[str, Change]) -> None:
        """Change the document of a project so that it does what the condition says."""
        for reading in self.readings:
            switches[reading](document)
        if self.seed != FIRST_SEED:
            _seed_everything(document, self.seed)


def _seed_everything(document: Any, seed: int) -> None:
    """Give the seed to every scenario and measure that deals or draws by one."""
    for scenario in document.get("scenarios", {}).values():
        scenario["seed"] = seed
    for side in ("privacy", "utility"):
        written = document["measure"].get(side, [])
        for place, each in enumerate(written):
            name, parameters = methods.name_and_parameters(each)
            # a privacy model is a measure, too, and draws nothing
            measure = methods.find("measure", name)
            if measure is not None and "seed" in methods.parameters_of(measure):
                written[place] = {name: {**parameters, "seed": seed}}


FIRST = Condition()
"""As we read the paper, with the first seed."""
