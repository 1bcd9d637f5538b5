"""A method that fails is named: the innermost one, but a plug-in before what it called of sfumato."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from sfumato import Release, Schema, Table
from sfumato.data.equivalence_classes import EquivalenceClasses, count_classes
from sfumato.models import KAnonymity, PrivacyModel, TCloseness
from sfumato.models.bounds import lost_share
from sfumato.registry.declarations import Better, Guards
from sfumato.registry.plugin_errors import blamed_on
from sfumato.runtime.errors import MethodFailed
from sfumato.sanitizers import Mondrian

Bound = tuple[Table, Schema]
FOUR = count_classes(np.zeros(4, np.int64), 1, np.ones(4, np.int64), {})


@dataclass(frozen=True)
class Strange(PrivacyModel):
    """Fails."""

    limits: float = 1.0
    guards: ClassVar[Guards] = "identity"
    monotone: ClassVar[bool] = True
    better: ClassVar[Better] = "higher"
    parameter: ClassVar[str] = "limits"

    def scores(self, classes: EquivalenceClasses) -> Any:
        """Fail."""
        raise ZeroDivisionError

    def lost_share(self, classes: EquivalenceClasses) -> Any:
        """Fail."""
        raise KeyError


@dataclass(frozen=True)
class Careless:
    """Calls a model of sfumato with nonsense."""

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> Release:
        """Fail."""
        KAnonymity(2).keeps_limit(table)  # type: ignore[arg-type]
        raise AssertionError("unreachable")


@pytest.mark.parametrize("judge", [Strange.keeps_limit, Strange.satisfied, Strange.level])
def test_a_model_is_named_and_not_the_sanitizer_that_asked_it(judge: Callable[..., Any]) -> None:
    with (
        pytest.raises(MethodFailed, match="the model 'strange' raises ZeroDivisionError; repair"),
        blamed_on(Mondrian()),
    ):
        judge(Strange(), FOUR)


def test_a_plug_in_is_named_and_not_the_method_of_sfumato_that_it_called(hospital: Bound) -> None:
    with (
        pytest.raises(MethodFailed, match="the sanitizer 'careless' raises AttributeError; repair"),
        blamed_on(Careless()),
    ):
        Careless().sanitize(*hospital, np.random.default_rng(0))


def test_a_bound_that_fails_names_its_model() -> None:
    with pytest.raises(MethodFailed, match="the model 'strange' raises KeyError"):
        lost_share(Strange(), FOUR)


def test_of_two_methods_of_sfumato_the_inner_one_is_named() -> None:
    with (
        pytest.raises(MethodFailed, match="the model 't-closeness' raises KeyError; report this fault"),
        blamed_on(Mondrian()),
        blamed_on(TCloseness(0.2)),
    ):
        raise KeyError
