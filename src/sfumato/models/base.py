"""The base of every privacy model: a score for each class, and the limit it must keep."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sfumato.data.equivalence_classes import EquivalenceClasses, SensitiveCounts
from sfumato.registry import methods
from sfumato.registry.declarations import Better, Guards, Words
from sfumato.registry.methods import check_bounds
from sfumato.registry.plugin_errors import blamed_on
from sfumato.runtime.arrays import Booleans, Floats
from sfumato.runtime.errors import ParameterError

# a score this close to the limit, relative to it, is a tie: 0.1 + 0.2 must keep a limit of 0.3
_TIE = 1e-12


class PrivacyModel(ABC):
    """A requirement on every class of a release.

    A model is a frozen dataclass that declares its facts and gives one score for each class.

    Attributes
    ----------
    guards
        ``identity`` models look at the classes of equal quasi-identifiers, ``attribute`` models at the
        groups that share one published distribution of the sensitive attribute.
    monotone
        Whether merging two classes never lowers the safety, with the default parameters. Where that depends
        on the parameters, a model defines ``is_monotone``.
    better
        Whether a ``higher`` or a ``lower`` score is safer.
    strict
        Whether a score exactly at the limit fails.
    parameter
        The field that holds the limit.
    of_people
        Whether ``monotone`` and ``lost_share`` also hold if a person has records in several classes, so
        that two classes together have fewer people than the sum of both.
    asks_only_size
        Whether ``smallest_class`` is the only requirement on a class. A derived model may require more, so
        it must declare this again.
    words
        The meaning of the level for a reader; by default the docstring.

    A model may also define ``lost_share(classes)``, a bound that makes searches faster: see
    `sfumato.models.bounds`.
    """

    guards: ClassVar[Guards]
    monotone: ClassVar[bool]
    better: ClassVar[Better]
    strict: ClassVar[bool] = False
    parameter: ClassVar[str]
    of_people: ClassVar[bool] = False
    asks_only_size: ClassVar[bool] = False
    words: ClassVar[Words]

    def __post_init__(self) -> None:
        check_bounds(self)

    @abstractmethod
    def scores(self, classes: EquivalenceClasses) -> Floats:
        """Return one score for each class, never NaN."""

    @property
    def parts(self) -> tuple[PrivacyModel, ...]:
        """The single models that must all hold."""
        return (self,)

    @property
    def written(self) -> tuple[PrivacyModel, ...]:
        """The models as a project file names them."""
        return (self,)

    @property
    def limit(self) -> float:
        """The score that every class must keep."""
        return float(getattr(self, self.parameter))

    @property
    def is_monotone(self) -> bool:
        """Whether merging two classes never lowers the safety."""
        return self.monotone

    @property
    def smallest_class(self) -> int:
        """A size below which no class can satisfy the model: searches need not look there."""
        return 1

    @property
    def named_values(self) -> tuple[str, ...]:
        """The sensitive values that the model names."""
        return ()

    def keeps_limit(self, classes: EquivalenceClasses) -> Booleans:
        """Return for each class whether its score keeps the limit."""
        with blamed_on(self):
            scores = self.scores(classes)
            spare = scores - self.limit if self.better == "higher" else self.limit - scores
            tie = _TIE * max(1.0, self.limit) if math.isfinite(self.limit) else 0.0
            return spare > tie if self.strict else spare >= -tie

    def satisfied(self, classes: EquivalenceClasses) -> Booleans:
        """Return for each class whether every part of the model holds in it."""
        return np.logical_and.reduce([part.keeps_limit(classes) for part in self.parts])

    def level(self, classes: EquivalenceClasses) -> float:
        """Return the level that a release reached: the worst score of its classes."""
        with blamed_on(self):
            scores = self.scores(classes)
            return float(scores.min() if self.better == "higher" else scores.max())

    @classmethod
    def from_written(cls, written: Mapping[str, Any] | PrivacyModel) -> PrivacyModel:
        """Return a parameter that is a model, as a project file or Python gives it."""
        return written if isinstance(written, PrivacyModel) else build_model(written)

    def __and__(self, other: PrivacyModel) -> PrivacyModel:
        return all_of([self, other])


@dataclass(frozen=True)
class Conjunction(PrivacyModel):
    """Several models that must all hold. Built by ``&`` and never registered."""

    models: tuple[PrivacyModel, ...]

    @property
    def parts(self) -> tuple[PrivacyModel, ...]:
        """The single models that must all hold."""
        return tuple(part for model in self.models for part in model.parts)

    @property
    def written(self) -> tuple[PrivacyModel, ...]:
        """The models as a project file names them."""
        return self.models

    @property
    def limit(self) -> float:
        """The number of single models."""
        return float(len(self.parts))

    @property
    def smallest_class(self) -> int:
        """The largest of the models' smallest classes."""
        return max(model.smallest_class for model in self.models)

    better: ClassVar[Better] = "higher"

    def scores(self, classes: EquivalenceClasses) -> Floats:
        """Return for each class how many of the models hold."""
        return np.sum([part.keeps_limit(classes) for part in self.parts], axis=0, dtype=np.float64)


def all_of(models: Iterable[PrivacyModel]) -> PrivacyModel:
    """Return the model that holds if all of these hold; their order does not matter."""
    every = (single for model in models for single in model.written)
    written = tuple(sorted(every, key=lambda single: (single.guards != "identity", type(single).__name__)))
    names = [type(single).__name__ for single in written]
    if len(set(names)) < len(names):
        raise ParameterError("a model stands twice in one requirement; keep the stricter one")
    return written[0] if len(written) == 1 else Conjunction(written)


def worst_attribute(
    classes: EquivalenceClasses, better: Better, score: Callable[[SensitiveCounts], Floats]
) -> Floats:
    """Return for each class the least safe score over all sensitive attributes."""
    if not classes.sensitive:
        raise ParameterError("the model needs a sensitive attribute; give one attribute role = 'sensitive'")
    scores = [score(counts) for counts in classes.sensitive.values()]
    return np.min(scores, axis=0) if better == "higher" else np.max(scores, axis=0)


def build_model(written: Mapping[str, Any]) -> PrivacyModel:
    """Build a model from ``{"k-anonymity": {"k": 5}, "t-closeness": {"t": 0.2}}``: all must hold."""
    if not isinstance(written, Mapping) or not written:
        raise ParameterError(
            "a model is written { name = { parameter = value } }, for example { k-anonymity = { k = 5 } }"
        )
    return all_of([methods.build("model", name, parameters) for name, parameters in written.items()])
