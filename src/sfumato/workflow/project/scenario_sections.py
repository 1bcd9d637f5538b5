"""Read the sections ``[scenarios.NAME]`` of the project file, and resolve measures that name them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from sfumato.data.schema import Schema
from sfumato.measures.scenarios.expressions import Type
from sfumato.measures.scenarios.scenario import Adversary, Guesses, Scenario, TrainedOn, User
from sfumato.miners.base import CellsAs
from sfumato.registry import methods
from sfumato.runtime.errors import ParameterError, ProjectError, suggestion
from sfumato.workflow.project.sections import Section, section

_Written = str | Mapping[str, Any]


def _type_of(schema: Schema, name: str) -> Type:
    """Return the type of an attribute in a formula, as far as the project file says."""
    if schema[name].kind is None:
        return "any"
    return "number" if schema.kind(name).is_number else "text"


class _User(Section, frozen=True):
    target: str | list[str] | None = None
    weights: str | float = 1.0
    error: str = "equal"
    miners: list[str] | None = None


class _Adversary(Section, frozen=True):
    attributes: list[str] = msgspec.field(default_factory=list)
    weights: str | float = 1.0
    reduction: str = "exact"
    c: float = 0.0
    miners: list[str] | None = None
    guesses: Guesses = "both"
    fusion: bool = True
    trained_on: TrainedOn = "others"
    knows: list[str] = msgspec.field(default_factory=list)


class _Scenario(Section, frozen=True):
    user: dict[str, Any] = msgspec.field(default_factory=dict)
    adversary: dict[str, Any] = msgspec.field(default_factory=dict)
    folds: int = 10
    seed: int = 0
    time_limit: float = 600.0
    control: float = 0.2
    cells: CellsAs = "shares"


def scenario_of(name: str, block: Any, schema: Schema) -> Scenario:
    """Build one ``[scenarios.NAME]``, and check everything that needs no data."""
    where = f"scenarios.{name}"
    whole = section(_Scenario, block, where)
    parts: dict[str, Section] = {
        "user": section(_User, whole.user, f"{where}.user"),
        "adversary": section(_Adversary, whole.adversary, f"{where}.adversary"),
    }
    given = {
        part: {key: value for key, value in msgspec.structs.asdict(written).items() if value is not None}
        for part, written in parts.items()
    }
    types: dict[str, Type] = {each: _type_of(schema, each) for each in schema.released}
    try:
        scenario = Scenario(
            name,
            User(**given["user"]),
            Adversary(**given["adversary"]),
            whole.folds,
            whole.seed,
            whole.time_limit,
            whole.control,
            whole.cells,
        )
        scenario.check(types)
        for miner in (*scenario.user.miners, *scenario.adversary.miners):
            methods.build_miner(miner)
    except ParameterError as error:
        raise ProjectError(f"{where}: {error}") from None
    return scenario


def in_scenario(written: _Written, scenarios: Mapping[str, Scenario], where: str) -> _Written:
    """Replace a scenario's name by the scenario itself, so that a measure holds everything it depends on."""
    if isinstance(written, str):
        name, sign, scenario = written.partition(" scenario=")
        if not sign:
            return written
        written = {name: {"scenario": scenario}}
    return {
        name: {
            key: _named(value, scenarios, where) if key == "scenario" else value
            for key, value in given.items()
        }
        if isinstance(given, Mapping)
        else given
        for name, given in written.items()
    }


def _named(scenario: Any, scenarios: Mapping[str, Scenario], where: str) -> Any:
    if not isinstance(scenario, str) or scenario not in scenarios:
        hint = suggestion(str(scenario), scenarios) or "; describe it as [scenarios.NAME]"
        raise ProjectError(f"{where}: no scenario {scenario!r}{hint}")
    return scenarios[scenario].to_dict()
