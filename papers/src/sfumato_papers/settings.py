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
class Setting:
    """One setting in which a paper is rerun.

    Parameters
    ----------
    seed
        The seed of everything that happens by chance: searches, folds, queries, noise.
    interpretations
        The interpretations that are not ours.
    is_control
        Whether the attributes that somebody wants to learn are dealt out to the records at random.
    """

    seed: int = FIRST_SEED
    interpretations: Switches = ()
    is_control: bool = False

    @property
    def suffix(self) -> str:
        """The suffix that distinguishes the files of this setting from those of the first."""
        parts = [switch.replace("=", "-") for switch in self.interpretations]
        parts += ["control"] * self.is_control
        parts += [f"seed-{self.seed}"] * (self.seed != FIRST_SEED)
        return "".join(f"-{part}" for part in parts)

    def touching(self, switches: Mapping[str, Change], *, by_chance: bool, has_control: bool) -> Setting:
        """Return the parts of the setting that change anything in an experiment.

        Parameters
        ----------
        switches
            What each interpretation that concerns the experiment changes in it.
        by_chance
            Whether anything in it happens by chance.
        has_control
            Whether it has attributes that a control deals out at random.
        """
        return replace(
            self,
            seed=self.seed if by_chance else FIRST_SEED,
            interpretations=tuple(switch for switch in self.interpretations if switch in switches),
            is_control=self.is_control and has_control,
        )

    def change(self, document: Any, switches: Mapping[str, Change]) -> None:
        """Change the document of a project so that it follows the setting."""
        for interpretation in self.interpretations:
            switches[interpretation](document)
        if self.seed == FIRST_SEED:
            return
        for scenario in document.get("scenarios", {}).values():
            scenario["seed"] = self.seed
        for side in ("privacy", "utility"):
            measures = document["measure"].get(side, [])
            for place, measure in enumerate(measures):
                name, parameters = methods.name_and_parameters(measure)
                # a privacy model is a measure, too, and draws nothing
                cls = methods.find("measure", name)
                if cls is not None and "seed" in methods.parameters_of(cls):
                    measures[place] = {name: {**parameters, "seed": self.seed}}


FIRST = Setting()
"""Our interpretation of the paper, with the first seed."""


@dataclass(frozen=True)
class Settings:
    """All settings in which a paper is rerun.

    Parameters
    ----------
    seeds
        Our interpretation, with every seed.
    interpretations
        Every other interpretation, by its switch.
    control
        With the values to be learned dealt out at random, if it is wanted.
    """

    seeds: tuple[Setting, ...]
    interpretations: Mapping[str, Setting]
    control: Setting | None

    @property
    def every(self) -> tuple[Setting, ...]:
        """All of them: what matters most first."""
        first, *more = self.seeds
        return (first, *([self.control] if self.control else []), *self.interpretations.values(), *more)
