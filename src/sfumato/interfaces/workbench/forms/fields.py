"""Turn the fields of a registered dataclass into inputs of a form, and the submitted texts into parameters.

Where parameters are swept, an input takes several values: ``2, 5, 10``.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, Union, get_args, get_origin, get_type_hints

from sfumato.interfaces.workbench.forms.plain_parameters import YES_NO, NotShown, Sort, texts_of, value_of
from sfumato.models.base import PrivacyModel
from sfumato.models.distances import distance_names
from sfumato.registry import methods
from sfumato.runtime.errors import ParameterError, SfumatoError


class Typed(Protocol):
    """Submitted form data: one or several texts under a key."""

    def getlist(self, key: Any) -> list[Any]:
        """Return every text under a key."""


@dataclass(frozen=True)
class Known:
    """Names of the project that inputs offer."""

    attributes: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()


@dataclass(frozen=True)
class Field:
    """One input.

    Parameters
    ----------
    key
        What the browser calls it.
    name
        The parameter.
    sort
        What kind of input it is.
    swept
        Whether it takes several values.
    values
        The texts that it shows: one, or those that are ticked.
    options
        The texts to choose from, or to offer.
    default
        What holds if it is left empty, as text.
    help
        What the docstring says, in pieces of text and code by turns.
    models
        For ``models``: every model, whether it is ticked, and its inputs.
    error
        What is wrong with what was typed.
    """

    key: str
    name: str
    sort: Sort
    swept: bool
    values: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    default: str = ""
    help: tuple[str, ...] = ()
    models: tuple[ModelChoice, ...] = ()
    error: str = ""

    @property
    def text(self) -> str:
        """The only text that it shows."""
        return self.values[0] if self.values else ""


@dataclass(frozen=True)
class ModelChoice:
    """A model with a checkbox and its inputs."""

    name: str
    summary: tuple[str, ...]
    chosen: bool
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class Reading:
    """The plain parameters that were typed, and errors by the key of the input."""

    parameters: dict[str, Any]
    errors: dict[str, str] = field(default_factory=dict)


def fields(
    cls: type[Any],
    given: Mapping[str, Any],
    *,
    swept: bool = False,
    prefix: str = "p",
    known: Known = Known(),
) -> tuple[Field, ...]:
    """Return the inputs of a registered class, filled with the given values or the defaults.

    Parameters
    ----------
    cls
        The class.
    given
        Plain parameters, as a project file has them.
    swept
        Whether a list stands for each of its elements.
    prefix
        What the keys of the inputs begin with.
    known
        Names of the project that inputs offer.
    """
    helps, defaults = parameter_help(cls), methods.defaults_of(cls)
    shown = []
    for name, sort, options in _sorted_parameters(cls, known):
        input_ = Field(f"{prefix}.{name}", name, sort, swept, options=options, help=helps.get(name, ()))
        if sort == "models":
            models = _model_choices(input_.key, given.get(name, defaults[name]), swept)
            shown.append(replace(input_, models=models))
            continue
        default = texts_of(sort, swept, defaults[name]) if name in defaults else ()
        values = texts_of(sort, swept, given[name]) if name in given else default
        shown.append(replace(input_, values=values, default=", ".join(default)))
    return tuple(shown)


def read(cls: type[Any], typed: Typed, *, swept: bool = False, prefix: str = "p") -> Reading:
    """Return what was typed into the inputs of a class; an empty input keeps its default."""
    reading = Reading({})
    for name, sort, _ in _sorted_parameters(cls, Known()):
        key = f"{prefix}.{name}"
        if sort == "models":
            inner = _read_models(key, typed, swept)
            reading.errors.update(inner.errors)
            if inner.parameters:
                reading.parameters[name] = inner.parameters
            continue
        texts = [text for text in typed.getlist(key) if isinstance(text, str)]
        try:
            value = value_of(sort, swept, texts)
        except ParameterError as error:
            reading.errors[key] = str(error)
            continue
        if value is not None:
            reading.parameters[name] = value
    return reading


def with_typed(shown: Iterable[Field], typed: Typed, errors: Mapping[str, str]) -> tuple[Field, ...]:
    """Return inputs with what was typed and its errors, so that nobody has to type it again."""
    filled = []
    for input_ in shown:
        submitted, error = typed.getlist(input_.key), errors.get(input_.key, "")
        if input_.sort == "models":
            models = tuple(
                replace(model, chosen=model.name in submitted, fields=with_typed(model.fields, typed, errors))
                for model in input_.models
            )
            filled.append(replace(input_, models=models, error=error))
        else:
            values = tuple(text for text in submitted if isinstance(text, str))
            filled.append(replace(input_, values=values, error=error))
    return tuple(filled)


def tidy(cls: type[Any], parameters: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Omit parameters at their defaults, unless they were written before or are models."""
    defaults = methods.defaults_of(cls)
    kept: dict[str, Any] = {}
    for name, value in parameters.items():
        if name == "model" and isinstance(value, Mapping):
            kept[name] = {
                model: _tidy_model(model, given, before.get(name)) for model, given in value.items()
            }
        elif name in before or name not in defaults or value != defaults[name]:
            kept[name] = value
    return kept


def blame(
    kind: methods.Kind, name: str, parameters: Mapping[str, Any], message: str, prefix: str = "p"
) -> str:
    """Return the key of the input that caused an error, or an empty text if it is not just one.

    It is the one without which the library would not complain, or would complain of something else.
    """
    guilty = []
    for parameter in parameters:
        others = {key: value for key, value in parameters.items() if key != parameter}
        if _complaint(kind, name, others) != message:
            guilty.append(parameter)
    if len(guilty) != 1:
        guilty = [parameter for parameter in guilty if re.search(rf"\b{re.escape(parameter)}\b", message)][:1]
    if not guilty:
        return ""
    key = f"{prefix}.{guilty[0]}"
    if guilty[0] != "model" or not isinstance(parameters["model"], Mapping):
        return key
    for model, given in parameters["model"].items():
        inner = _complaint("model", model, given)
        if inner:
            return blame("model", model, given, inner, f"{key}.{model}") or key
    return key


def parameter_help(cls: type[Any]) -> dict[str, tuple[str, ...]]:
    """Return the docstring's text on each parameter, in alternating pieces of text and code.

    Examples
    --------
    >>> from sfumato.models import KAnonymity
    >>> parameter_help(KAnonymity)["k"]
    ('The smallest number of people in a class.',)
    """
    documentation = inspect.getdoc(cls) or ""
    _, _, after = documentation.partition("Parameters\n----------\n")
    section = re.split(r"\n\n\S[^\n]*\n-{3,}\n", after)[0]
    helps: dict[str, tuple[str, ...]] = {}
    for entry in re.split(r"\n(?=\S)", section.strip()):
        names, _, text = entry.partition("\n")
        for name in names.split(","):
            helps[name.strip().replace("_", "-")] = pieces(text)
    return helps


def pieces(text: str) -> tuple[str, ...]:
    """Split a docstring's text into alternating pieces of text and code.

    Examples
    --------
    >>> pieces("either ``strict`` or not")
    ('either ', 'strict', ' or not')
    """
    return tuple(re.split("``?", " ".join(text.split())))


def summary(cls: type[Any]) -> tuple[str, ...]:
    """Return the first sentence of a class's docstring."""
    return pieces((inspect.getdoc(cls) or "").split("\n\n")[0])


def _sorted_parameters(cls: type[Any], known: Known) -> list[tuple[str, Sort, tuple[str, ...]]]:
    hints, named = get_type_hints(cls), methods.named_in(cls)
    return [
        (name, *_sort(name, hints[field_.name], named.get(name, ""), known))
        for name, field_ in methods.parameters_of(cls).items()
    ]


def _sort(name: str, hint: Any, named: str, known: Known) -> tuple[Sort, tuple[str, ...]]:
    """Return the kind of input for a type, and its options."""
    if get_origin(hint) in (Union, types.UnionType):
        hint = next(part for part in get_args(hint) if part is not types.NoneType)
    if get_origin(hint) is Literal:
        return "choice", tuple(map(str, get_args(hint)))
    if hint is bool:
        return "yes-no", YES_NO
    if hint in (int, float):
        return "number", ()
    if hint is PrivacyModel:
        return "models", ()
    if get_origin(hint) is tuple:
        return "list", _offered(named, known)
    if named == "distance":
        return "choice", distance_names()
    if hint is str:
        return "text", _offered(named, known)
    return ("scenario", known.scenarios) if name == "scenario" else ("table", ())


def _offered(named: str, known: Known) -> tuple[str, ...]:
    """Return the names to offer for a parameter whose texts name something."""
    if named == "attribute":
        return known.attributes
    if named == "sanitizer":
        return tuple(methods.registered("sanitizer"))
    if named == "miner":
        return tuple(methods.registered("miner"))
    return (*methods.registered("measure"), *methods.registered("model")) if named == "measure" else ()


def _model_choices(key: str, given: Any, swept: bool) -> tuple[ModelChoice, ...]:
    if not isinstance(given, Mapping) or not all(isinstance(inner, Mapping) for inner in given.values()):
        raise NotShown
    return tuple(
        ModelChoice(
            name,
            summary(cls),
            name in given,
            fields(cls, given.get(name, {}), swept=swept, prefix=f"{key}.{name}"),
        )
        for name, cls in methods.registered("model").items()
    )


def _read_models(key: str, typed: Typed, swept: bool) -> Reading:
    ticked = [name for name in methods.registered("model") if name in typed.getlist(key)]
    if not ticked:
        return Reading({}, {key: "tick at least one model"})
    reading = Reading({})
    for name in ticked:
        inner = read(methods.look_up("model", name), typed, swept=swept, prefix=f"{key}.{name}")
        reading.parameters[name] = inner.parameters
        reading.errors.update(inner.errors)
    return reading


def _tidy_model(name: str, given: Mapping[str, Any], before: Any) -> dict[str, Any]:
    cls = methods.look_up("model", name)
    was = before.get(name, {}) if isinstance(before, Mapping) else {}
    kept = tidy(cls, given, was if isinstance(was, Mapping) else {})
    return {key: value for key, value in given.items() if key in kept or key == cls.parameter}


def _complaint(kind: methods.Kind, name: str, parameters: Mapping[str, Any]) -> str:
    """Return the library's error for these parameters, or an empty text."""
    from sfumato.searches.sweep import Sweep, check_how_many, choices

    try:
        if kind == "sanitizer":
            Sweep(name, parameters).recipes()
        elif kind == "model":
            check_how_many(name, parameters)
            for choice in choices(parameters):
                methods.build("model", name, choice)
        else:
            methods.build(kind, name, parameters)
    except SfumatoError as error:
        return str(error)
    return ""
