"""List everything that can be measured as rows of a form, the project's measures first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sfumato.interfaces.workbench.forms.fields import Field, Typed, blame, fields, read, tidy, with_typed
from sfumato.interfaces.workbench.forms.plain_parameters import NotShown
from sfumato.interfaces.workbench.forms.plan_form import Plan, put_first
from sfumato.registry import methods
from sfumato.registry.declarations import Axis
from sfumato.results import formatting
from sfumato.runtime.errors import SfumatoError


@dataclass(frozen=True)
class MeasureRow:
    """One measure with a checkbox.

    Parameters
    ----------
    key
        What the keys of its inputs begin with.
    place
        Its number among the rows of its side.
    name
        The measure or the model.
    used
        Whether it is ticked.
    inputs
        Its parameters.
    written
        How it stands in the project file, if it does.
    error
        What is wrong with it.
    """

    key: str
    place: int
    name: str
    used: bool
    inputs: tuple[Field, ...]
    written: Any = None
    error: str = ""

    @property
    def title(self) -> str:
        """Its name in running text."""
        return formatting.measure_words(self.name).title

    @property
    def meaning(self) -> str:
        """What it measures."""
        return formatting.measure_words(self.name).meaning

    @property
    def kind(self) -> methods.Kind:
        """Whether it is a measure or the level of a model."""
        return "model" if self.name in methods.registered("model") else "measure"

    @property
    def parameters(self) -> str:
        """The parameters that are not at their defaults, in words."""
        given = _parts(self.written)[1] if self.written is not None else {}
        return formatting.plain(given) if given else ""

    @property
    def is_open(self) -> bool:
        """Whether its inputs start unfolded."""
        return bool(self.error) or any(one.error for one in self.inputs)


def measure_rows(plan: Plan, side: Axis, also: str = "") -> list[MeasureRow]:
    """Return a row for each measure of one side in the plan, then for each other possible one."""
    listed = list(plan.measures[side])
    names = [_parts(written)[0] for written in listed]
    possible = [name for name, cls in methods.registered("measure").items() if cls.axis == side]
    possible += methods.registered("model") if side == "privacy" else []
    more = [name for name in possible if name not in names or name == also]
    rows = [_row(plan, side, place, *_parts(written), written) for place, written in enumerate(listed)]
    return rows + [_row(plan, side, len(listed) + i, name, {}, None) for i, name in enumerate(more)]


def read_measures(plan: Plan, side: Axis, typed: Typed) -> tuple[list[Any], list[MeasureRow], str]:
    """Return the ticked measures as the project file writes them, the rows again, and errors."""
    named = [str(typed_name).partition(" ") for typed_name in typed.getlist(f"{side}.name")]
    places = sorted((int(place), name) for place, _, name in named if place.isdecimal())
    ticked = typed.getlist(f"{side}.use")
    before = list(plan.measures[side])
    listed: list[Any] = []
    rows: list[MeasureRow] = []
    first, problem = 0, ""
    for place, name in places:
        key = f"{side}.{place}"
        written = before[place] if place < len(before) and _parts(before[place])[0] == name else None
        used = str(place) in ticked
        if used and str(place) in typed.getlist(f"{side}.axis"):
            first = len(listed)
        cls = _class(name)
        if cls is None:
            continue
        errors: dict[str, str] = {}
        if used:
            listed.append(_written(cls, name, key, typed, written, errors))
        problem = problem or next((f"{name}: {message}" for message in errors.values()), "")
        inputs = with_typed(_inputs(plan, cls, key, {}), typed, errors)
        rows.append(MeasureRow(key, place, name, used, inputs, written, errors.get("", "")))
    if not listed:
        problem = problem or f"tick at least one measure of {side}"
    return put_first(listed, first) if listed else [], rows, problem


def _written(cls: type[Any], name: str, key: str, typed: Typed, written: Any, errors: dict[str, str]) -> Any:
    """Return a ticked measure for the project file; unchanged if its parameters are the same."""
    before = _parts(written)[1] if written is not None else {}
    reading = read(cls, typed, prefix=key)
    errors.update(reading.errors)
    given = tidy(cls, reading.parameters, before)
    kind: methods.Kind = "model" if name in methods.registered("model") else "measure"
    if kind == "model" and cls.parameter not in before:
        given.pop(cls.parameter, None)
    if not errors and "scenario" not in given:
        try:
            methods.build(kind, name, given)
        except SfumatoError as error:
            errors[blame(kind, name, given, str(error), key)] = str(error).removeprefix(f"{name}: ")
    if written is not None and given == dict(before):
        return written
    return {name: given} if given else name


def _row(plan: Plan, side: Axis, place: int, name: str, given: Mapping[str, Any], written: Any) -> MeasureRow:
    key, cls = f"{side}.{place}", _class(name)
    try:
        inputs = _inputs(plan, cls, key, given) if cls is not None else ()
    except NotShown:
        inputs = ()
    return MeasureRow(key, place, name, written is not None, inputs, written)


def _inputs(plan: Plan, cls: type[Any], key: str, given: Mapping[str, Any]) -> tuple[Field, ...]:
    shown = fields(cls, given, prefix=key, known=plan.known)
    # the limit of a model has no part in the level that a release reaches
    return tuple(one for one in shown if one.name != getattr(cls, "parameter", None))


def _class(name: str) -> type[Any] | None:
    return {**methods.registered("measure"), **methods.registered("model")}.get(name)


def _parts(written: Any) -> tuple[str, Mapping[str, Any]]:
    if isinstance(written, str) and " scenario=" in written:
        name, _, scenario = written.partition(" scenario=")
        return name, {"scenario": scenario}
    return methods.name_and_parameters(written)
