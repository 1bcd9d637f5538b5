"""Everything that can be named in a project file: register it, look it up, build it, describe it."""

from __future__ import annotations

import dataclasses
import re
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module, metadata
from typing import Any, ClassVar, Literal, Protocol, TypeVar, get_args, get_origin, get_type_hints, overload

from sfumato.registry.declarations import Names, bounds_in, check_bound
from sfumato.runtime.errors import ParameterError, SfumatoError, suggestion

Kind = Literal["sanitizer", "model", "measure", "search", "miner"]

# A registered class has exactly one of these methods, and that says what it is.
_KIND_OF_METHOD: dict[str, Kind] = {
    "sanitize": "sanitizer",
    "scores": "model",
    "measure": "measure",
    "propose": "search",
    "estimator": "miner",
}
# The room of each kind; its package names every public class with the module that it lives in.
_ROOMS: dict[Kind, str] = {
    "model": "sfumato.models",
    "sanitizer": "sfumato.sanitizers",
    "measure": "sfumato.measures",
    "search": "sfumato.searches",
    "miner": "sfumato.miners",
}
# What a class of a kind must declare beside its method.
_FACTS: dict[Kind, tuple[str, ...]] = {
    "model": ("guards", "monotone", "better", "parameter"),
    "measure": ("axis", "better"),
    "miner": ("predicts",),
}
_PLUGINS = "sfumato.plugins"
_registered: dict[Kind, dict[str, type[Any]]] = {kind: {} for kind in get_args(Kind)}
_read: dict[tuple[type[Any], bool], Mapping[str, Any]] = {}
_bounded: dict[type[Any], Mapping[str, Any]] = {}
_plug_ins_are_loaded = False


class _Named(Protocol):
    """An instance that is found by its names; its class says which modules register those of sfumato."""

    homes: ClassVar[tuple[str, ...]]

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def module(self) -> str: ...


_Class = TypeVar("_Class", bound=type[Any])
_Instance = TypeVar("_Instance", bound=_Named)
_instances: dict[type[Any], dict[str, Any]] = {}


class PlugInSkipped(UserWarning):
    """Warns of a plug-in that does not load; everything else works without it."""


class RegistrationRefused(TypeError):
    """Raised for what cannot be registered; the message has names only, so it can be shown."""


@overload
def register(declared: _Class) -> _Class: ...


@overload
def register(declared: _Instance) -> _Instance: ...


def register(declared: Any) -> Any:
    """Register a method, a frozen dataclass, under its name in kebab case: ``KAnonymity`` is ``k-anonymity``.

    A `Format`, a `Distance` or a `Kind` of value is registered as an instance, which says its own names. A
    name that is taken is refused, and so is a class that does not declare the facts of its kind.
    """
    return _register_class(declared) if isinstance(declared, type) else _register_instance(declared)


def _register_class(cls: type[Any]) -> type[Any]:
    kinds = [kind for method, kind in _KIND_OF_METHOD.items() if hasattr(cls, method)]
    if len(kinds) != 1 or not dataclasses.is_dataclass(cls):
        raise RegistrationRefused(
            f"{cls.__name__} must be a dataclass with one of {', '.join(_KIND_OF_METHOD)}"
        )
    name = name_of(cls)
    if is_plugged_in(cls) and name in _ours(kinds[0]):
        _import_ours(kinds[0], name)
    owner = _registered[kinds[0]].get(name)
    if owner is not None and (owner.__module__, owner.__qualname__) != (cls.__module__, cls.__qualname__):
        raise RegistrationRefused(
            f"the {kinds[0]} name {name!r} is taken by {owner.__module__}.{owner.__qualname__}"
        )
    lacking = [fact for fact in _FACTS.get(kinds[0], ()) if not hasattr(cls, fact)]
    if lacking:
        raise RegistrationRefused(f"the {kinds[0]} {cls.__name__} must declare {', '.join(lacking)}")
    _registered[kinds[0]][name] = cls
    return cls


def _register_instance(instance: _Instance) -> _Instance:
    known = _ours_of(type(instance))
    for name in instance.names:
        owner = known.get(name, instance)
        # the same cell of a notebook may run again
        if (owner.module, owner.names) != (instance.module, instance.names):
            cls_name = type(instance).__name__.lower()
            raise RegistrationRefused(
                f"the {cls_name} name {name!r} is taken by {owner.names[0]!r} of {owner.module}"
            )
    known.update(dict.fromkeys(instance.names, instance))
    return instance


def instances(cls: type[_Instance]) -> list[_Instance]:
    """Return all instances of a class that are registered, in the order of their names."""
    known = _ours_of(cls)
    _load_plug_ins()
    return sorted(dict.fromkeys(known.values()), key=lambda instance: instance.names)


def instance_named(cls: type[_Instance], name: str) -> _Instance | None:
    """Return the registered instance of a class that has this name; plug-ins are asked last."""
    known = _ours_of(cls)
    if name not in known:
        _load_plug_ins()
    return known.get(name)


def _ours_of(cls: type[_Instance]) -> dict[str, _Instance]:
    """Return the instances of a class by each of their names, after ours have been registered."""
    known = _instances.setdefault(cls, {})
    # each time: what another thread is importing is waited for, and what is there costs next to nothing
    for home in cls.homes:
        import_module(home)
    return known


def name_of(cls: type[Any]) -> str:
    """Return the registered name of a class.

    Examples
    --------
    >>> class TCloseness: ...
    >>> name_of(TCloseness)
    't-closeness'
    """
    return _kebab(cls.__name__)


def _kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()


def registered(kind: Kind) -> dict[str, type[Any]]:
    """Return everything registered of a kind, by name.

    A method that declares itself `unfit` for publication is left out: a recipe can name it, but sfumato lists
    and offers it nowhere.
    """
    for name in _ours(kind):
        _import_ours(kind, name)
    _load_plug_ins()
    return {name: cls for name, cls in sorted(_registered[kind].items()) if not hasattr(cls, "unfit")}


def find(kind: Kind, name: str) -> type[Any] | None:
    """Return the class of this name, if there is one; no other method is imported for it."""
    if name not in _registered[kind]:
        if name in _ours(kind):
            _import_ours(kind, name)
        else:
            _load_plug_ins()
    return _registered[kind].get(name)


@cache
def _ours(kind: Kind) -> Mapping[str, str]:
    """Return the public classes of a room under the names that they would be registered by."""
    return {_kebab(name): name for name in import_module(_ROOMS[kind]).__all__ if name[0].isupper()}


def _import_ours(kind: Kind, name: str) -> None:
    getattr(import_module(_ROOMS[kind]), _ours(kind)[name])


def first_kind(name: str, kinds: Sequence[Kind]) -> Kind | None:
    """Return the first of some kinds that has a method of this name; ours come before those of plug-ins."""
    ours = [kind for kind in kinds if name in _ours(kind)]
    return next((kind for kind in (*ours, *kinds) if find(kind, name) is not None), None)


def look_up(kind: Kind, name: str) -> type[Any]:
    """Return the class of this name, or say which name is near."""
    cls = find(kind, name)
    if cls is None:
        hint = suggestion(name, registered(kind))
        raise ParameterError(f"no {kind} {name!r}{hint} (sfumato methods lists them all)")
    return cls


def kind_of(cls: type[Any]) -> Kind | None:
    """Return what a class is by its method, if it is anything that can be registered.

    Examples
    --------
    >>> from sfumato import Table
    >>> from sfumato.models import KAnonymity
    >>> kind_of(KAnonymity), kind_of(Table)
    ('model', None)
    """
    return next((kind for method, kind in _KIND_OF_METHOD.items() if hasattr(cls, method)), None)


def is_plugged_in(cls: type[Any]) -> bool:
    """Return whether somebody else wrote a class."""
    return not is_ours(cls.__module__)


def is_ours(module: str) -> bool:
    """Return whether a module is part of sfumato."""
    return module.partition(".")[0] == __name__.partition(".")[0]


def build(kind: Kind, name: str, parameters: Mapping[str, Any] | None = None) -> Any:
    """Make an instance from a name and plain parameters, as they stand in a project file."""
    cls = look_up(kind, name)
    given = {} if parameters is None else parameters
    if not isinstance(given, Mapping):
        raise ParameterError(f"{kind} {name!r}: its parameters are written {{ parameter = value }}")
    fields = parameters_of(cls)
    for key in given:
        if key not in fields:
            hint = suggestion(str(key), fields) or f"; it has {', '.join(fields) or 'no parameters'}"
            raise ParameterError(f"{kind} {name!r} has no parameter {key!r}{hint}")
    types = _types(cls)
    try:
        values = {key: _convert(key, types[key], value) for key, value in given.items()}
        instance = cls(**{_identifier(key): value for key, value in values.items()})
        check_bounds(instance)
        return instance
    except SfumatoError as error:
        raise type(error)(f"{name}: {error}") from None
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{kind} {name!r}: {_one_line(error)}") from None


def _types(cls: type[Any], *, marks: bool = False) -> Mapping[str, Any]:
    """Return the types of parameters, read once: that takes a third of the time of a small release."""
    if (cls, marks) not in _read:
        if marks:
            hints = get_type_hints(cls, include_extras=True)
            _read[cls, True] = {name: hints[field.name] for name, field in parameters_of(cls).items()}
        else:
            # the types with marks are known already, so they are only stripped of these
            bare = type(cls.__name__, (), {"__annotations__": dict(_types(cls, marks=True))})
            _read[cls, False] = get_type_hints(bare)
    return _read[cls, marks]


def name_and_parameters(written: str | Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Take apart how a measure is written: its name or label, or ``{name: parameters}``."""
    if isinstance(written, str):
        return _labelled(written)
    if not isinstance(written, Mapping) or len(written) != 1:
        raise ParameterError(
            "a measure with parameters is written { name = { parameter = value } }, one at a time"
        )
    return next(iter(written.items()))


def build_miner(written: str) -> Any:
    """Make a miner from its name or its label: ``random-forest trees=10``."""
    return build("miner", *_labelled(written, "miner"))


def describe(instance: Any) -> tuple[str, dict[str, Any]]:
    """Return the name and the plain parameters of an instance: the inverse of `build`."""
    return name_of(type(instance)), {
        name: _as_json(getattr(instance, _identifier(name))) for name in parameters_of(type(instance))
    }


def changed_parameters(instance: Any) -> dict[str, Any]:
    """Return the plain parameters of an instance that are not at their defaults."""
    cls = type(instance)
    return {name: value for name, value in describe(instance)[1].items() if value != _default(cls, name)}


def label(name: str, parameters: Mapping[str, Any]) -> str:
    """Return a name with its parameters in words.

    Examples
    --------
    >>> label("t-closeness", {"distance": "js"})
    't-closeness distance=js'
    """
    return f"{name} {parameter_words(parameters)}" if parameters else name


def parameter_words(parameters: Mapping[str, Any]) -> str:
    """Return parameters in one word each, a file without its folder."""
    words = []
    for key, value in parameters.items():
        file_name = re.split(r"[/\\]", value)[-1] if isinstance(value, str) else value
        words.append(f"{key}={_short(file_name)}")
    return " ".join(words)


def label_of(instance: Any) -> str:
    """Return the name of an instance with its parameters that are not at their defaults."""
    return label(name_of(type(instance)), changed_parameters(instance))


def parameters_of(cls: type[Any]) -> dict[str, dataclasses.Field[Any]]:
    """Return the parameters of a class: its fields, written in kebab case."""
    return {field.name.replace("_", "-"): field for field in dataclasses.fields(cls) if field.init}


def defaults_of(cls: type[Any]) -> dict[str, Any]:
    """Return the defaults of a class in their plain form, for the parameters that have one."""
    missing = dataclasses.MISSING
    return {
        name: _default(cls, name)
        for name, field in parameters_of(cls).items()
        if field.default is not missing or field.default_factory is not missing
    }


def list_parameters(cls: type[Any]) -> frozenset[str]:
    """Return the parameters of a class that are lists by nature."""
    return frozenset(name for name, hint in _types(cls).items() if get_origin(hint) is tuple)


def named_in(cls: type[Any]) -> dict[str, str]:
    """Return the parameters of a class whose texts name something, and what: a file, an attribute and so on.

    Examples
    --------
    >>> from sfumato.measures import JournalistRisk
    >>> named_in(JournalistRisk)
    {'population': 'file'}
    """
    marked = {name: _marked(hint) for name, hint in _types(cls, marks=True).items()}
    return {name: what for name, what in marked.items() if what is not None}


def _marked(hint: Any) -> str | None:
    """Return what the texts inside a type name."""
    marks = [mark.what for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, Names)]
    return next((what for what in (*marks, *map(_marked, get_args(hint))) if what is not None), None)


def check_bounds(instance: Any) -> None:
    """Raise `ParameterError` when a number of an instance is not what its class allows by its types.

    Examples
    --------
    >>> from sfumato.sanitizers import LocalRecoding
    >>> LocalRecoding(effort=10**9)
    Traceback (most recent call last):
    sfumato.runtime.errors.ParameterError: effort must be at most 1,000, not 1,000,000,000
    """
    for name, hint in _bounded_parameters(type(instance)).items():
        check_bound(name, hint, getattr(instance, _identifier(name)))


def bounds_of(cls: type[Any]) -> dict[str, str]:
    """Return what the numbers of a class may be, in words, for the parameters that are bounded.

    Examples
    --------
    >>> from sfumato.measures import WorkloadUtility
    >>> from sfumato.models import TCloseness
    >>> bounds_of(TCloseness), bounds_of(WorkloadUtility)["folds"]
    ({'t': 'at least 0'}, 'at least 2 and at most 10,000')
    """
    return {name: " and ".join(map(str, bounds_in(hint))) for name, hint in _bounded_parameters(cls).items()}


def _bounded_parameters(cls: type[Any]) -> Mapping[str, Any]:
    """Return the types of the bounded parameters of a class, read once: every instance is checked."""
    if cls not in _bounded:
        types = _types(cls, marks=True)
        _bounded[cls] = {name: hint for name, hint in types.items() if bounds_in(hint)}
    return _bounded[cls]


def text_parameters(cls: type[Any]) -> frozenset[str]:
    """Return the parameters of a class that are texts, or name texts: digits are no numbers there."""
    types = _types(cls).items()
    return frozenset(name for name, hint in types if hint is str or get_args(hint) == (str, str))


def phrase(sanitizer: str, parameters: Mapping[str, Any]) -> str:
    """Return a recipe in one short line: what differs from the defaults, a model's limit always.

    Examples
    --------
    >>> phrase("mondrian", {"model": {"k-anonymity": {"k": 5}, "t-closeness": {"t": 0.2}}})
    'mondrian k=5 t=0.2'
    """
    words = [sanitizer]
    for name, given in parameters.get("model", {}).items():
        model = registered("model").get(name)
        limit = getattr(model, "parameter", None)
        for key, value in sorted(given.items(), key=lambda pair: pair[0] != limit):
            if key == limit or value != _default(model, key):
                words.append(f"{key}={_short(value)}")
    method = find("sanitizer", sanitizer)
    for key, value in parameters.items():
        if key != "model" and value != _default(method, key):
            words.append(f"{key}={_short(value)}")
    return " ".join(words)


def _default(cls: type[Any] | None, parameter: str) -> Any:
    """Return the default of a parameter in its plain form; something unequal to all if there is none."""
    field = parameters_of(cls).get(parameter) if cls is not None else None
    if field is None:
        return object()
    if field.default_factory is not dataclasses.MISSING:
        return _as_json(field.default_factory())
    return _as_json(field.default)


def _short(value: Any) -> str:
    if isinstance(value, Mapping):
        words = (f"{key}:{_blocks(inner) or _short(inner)}" for key, inner in value.items())
        return "{" + ",".join(words) + "}"
    if isinstance(value, (list, tuple)):
        return ",".join(map(_short, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _blocks(value: Any) -> str:
    """Return a bit string as the number of blocks it makes of how many values: ``0100`` is 2/5."""
    is_bits = isinstance(value, str) and value and not set(value) - {"0", "1"}
    return f"{value.count('1') + 1}/{len(value) + 1}" if is_bits else ""


def _as_json(value: Any) -> Any:
    """Return a parameter as JSON can hold it."""
    written = getattr(value, "written", None)
    if written is not None:
        return dict(describe(model) for model in written)
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {key: _as_json(inner) for key, inner in value.items()}
    return [_as_json(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def _convert(key: str, wanted: Any, given: Any) -> Any:
    """Convert a plain value to the type of a field; ``ValueError`` says what was wanted."""
    import msgspec

    def decode(type_: Any, value: Any) -> Any:
        return type_.from_written(value) if hasattr(type_, "from_written") else value

    if hasattr(given, "from_written"):
        return given
    if get_origin(wanted) is tuple and isinstance(given, str):
        given = given.split(",")
    try:
        return msgspec.convert(given, wanted, dec_hook=decode)
    except msgspec.ValidationError as error:
        if isinstance(error.__cause__, SfumatoError):
            raise error.__cause__ from None
        if get_origin(wanted) is Literal:
            allowed = [str(value) for value in get_args(wanted)]
            hint = suggestion(str(given), allowed) or f"; allowed are {', '.join(allowed)}"
            raise ValueError(f"no {key} {given!r}{hint}") from None
        reason, _, _ = _one_line(error).partition(" - at ")
        raise ValueError(f"{key}: {reason[0].lower()}{reason[1:]}") from None


def _labelled(written: str, kind: Kind = "measure") -> tuple[str, dict[str, Any]]:
    """Take a label apart: ``t-closeness distance=js`` is a name and one parameter."""
    from sfumato.runtime.numerals import number

    name, *given = written.split() or [""]
    pairs = [word.partition("=") for word in given]
    if not all(sign for _, sign, _ in pairs):
        raise ParameterError(f"{kind} {name!r}: its parameters are written parameter=value, without blanks")
    return name, {key: value if number(value) is None else number(value) for key, _, value in pairs}


def _identifier(name: str) -> str:
    return name.replace("-", "_")


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())


def _load_plug_ins() -> None:
    global _plug_ins_are_loaded
    if not _plug_ins_are_loaded:
        _plug_ins_are_loaded = True
        for entry in metadata.entry_points(group=_PLUGINS):
            _plug_in(entry)


def _plug_in(entry: metadata.EntryPoint) -> None:
    """Load a plug-in; one that does not load is named and skipped with all that it registered."""
    before = {kind: dict(classes) for kind, classes in _registered.items()}
    instances_before = {cls: dict(known) for cls, known in _instances.items()}
    try:
        entry.load()
        for kind, classes in _registered.items():
            for name in classes.keys() - before[kind].keys():
                named_in(classes[name])
    except (Exception, SystemExit) as error:
        from sfumato.runtime.processes import is_child

        _registered.update(before)
        for cls, known in _instances.items():
            # ours may have been imported by the plug-in, and stay
            added = known.keys() - instances_before.get(cls, {}).keys()
            for name in [name for name in added if not is_ours(known[name].module)]:
                del known[name]
        # one line for a command, not one for each of its workers
        if not is_child():
            package = f" of {entry.dist.name}" if entry.dist is not None else ""
            # the text of a plug-in's own error might show a value
            is_refused = isinstance(error, RegistrationRefused)
            reason = _one_line(error) if is_refused else f"it raises {type(error).__name__}"
            warnings.warn(
                f"the plug-in {entry.name!r}{package} is skipped: {reason}; repair or uninstall it",
                PlugInSkipped,
                stacklevel=2,
            )
