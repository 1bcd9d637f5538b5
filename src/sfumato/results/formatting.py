"""Format numbers, shares, limits and recipes for readers."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sfumato.data.hierarchy import Label
from sfumato.data.ordered_ranges import OR_MISSING, TO
from sfumato.registry import methods
from sfumato.registry.declarations import Better, Words, own
from sfumato.registry.recipe import Recipe
from sfumato.results.label_parsing import interval_ends, set_parts
from sfumato.results.measure_label import MeasureLabel
from sfumato.results.pareto import Limit
from sfumato.runtime.errors import ParameterError

ROLES = {
    "identifying": "Names a person directly. Dropped on reading; part of no release.",
    "withheld": "Not needed by anybody who gets the release. Dropped on reading, like an identifying one.",
    "quasi-identifying": "May be known to others; several together may single a person out. Generalised or"
    " withheld as the recipe says.",
    "sensitive": "What an adversary would like to learn about a person.",
    "insensitive": "None of these. Released as it is.",
}
PERSON = "Tells whose a record is: records with the same value are one person's, and people are counted."
"""What naming an attribute as that of the person means; its role is identifying."""

_MINUS = "\u2212"
_LONGEST_NAME = 80
_MOST_LISTED = 4


def measure_words(name: str) -> Words:
    """Return what a measure or a model means; one that declares no words speaks through its docstring.

    A label's parameters are added to the title, and the sensitive attribute where it names one.
    """
    label = MeasureLabel.parse(name)
    cls = methods.find("measure", label.measure) or methods.find("model", label.measure)
    words: Words = own(cls, "words") or Words(label.measure.replace("-", " "), _summary(cls))
    title = f"{words.title} ({label.parameters})" if label.parameters else words.title
    return replace(words, title=title if label.attribute is None else f"{title} of {label.attribute}")


def method_words(kind: methods.Kind, name: str) -> str:
    """Return in a sentence what a method does; one that does not say so speaks through its docstring."""
    cls = methods.find(kind, name)
    return own(cls, "does") or _summary(cls)


def sanitizer_words(name: str) -> str:
    """Return in a sentence what a sanitizer does."""
    return method_words("sanitizer", name)


def scale_words(measure: str, better: Better) -> str:
    """Say which direction is better, and what both ends of the scale of a measure mean.

    Examples
    --------
    >>> scale_words("general-loss", "lower")
    'lower is better: at best every value exact, at worst every value withheld'
    """
    best, worst = measure_words(measure).ends
    return f"{direction(better)}: at best {best}, at worst {worst}" if best and worst else direction(better)


def direction(better: Better) -> str:
    """Return ``lower is better`` or ``higher is better``."""
    return f"{better} is better"


def number(value: float, digits: int = 4) -> str:
    """Print a number.

    Examples
    --------
    >>> number(0.08614), number(45222), number(math.inf)
    ('0.08614', '45,222', '∞')
    """
    if math.isinf(value):
        return "∞" if value > 0 else f"{_MINUS}∞"
    shown = f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value + 0.0:.{digits}g}"
    return shown.replace("-", _MINUS, 1) if value < 0 else shown


def share(value: float, digits: int = 3) -> str:
    """Print a share in percent; what is less than all is never printed as 100%.

    Examples
    --------
    >>> share(1 / 11), share(0.25), share(0.9999)
    ('9.09%', '25%', '>99.9%')
    """
    if math.isinf(value):
        return number(value)
    return ">99.9%" if 0.9995 <= value < 1 and digits < 4 else f"{number(100 * value, digits)}%"


def value_of(measure: str, value: float) -> str:
    """Print a value of a measure in its unit."""
    return share(value) if measure_words(measure).unit == "share" else number(value)


def briefly(measure: str, value: float) -> str:
    """Print a value of a measure in its unit with three digits, for running text."""
    return share(value) if measure_words(measure).unit == "share" else number(value, 3)


def exactly(measure: str, value: float) -> str:
    """Print a value of a measure in its unit with all the digits that a comparison may need."""
    return share(value, 6) if measure_words(measure).unit == "share" else number(value, 6)


def limit_of(measure: str, limit: Limit) -> str:
    """Print a limit on a measure in the measure's unit."""
    ends = [f"at least {_end(measure, limit.at_least)}"] if limit.at_least > -math.inf else []
    ends += [f"at most {_end(measure, limit.at_most)}"] if limit.at_most < math.inf else []
    return " and ".join(ends) or "any value"


def _end(measure: str, value: float) -> str:
    """Print one end of a limit as it was given, but one in eleven and the like with no endless digits."""
    if float(f"{value:.6g}") == value:
        return exactly(measure, value)
    return share(value, 4) if measure_words(measure).unit == "share" else number(value)


def cell_words(label: Label) -> str:
    """Print a released cell; a set of many categories by their number and the first of them.

    Files have the whole set, which readers and programs need.

    Examples
    --------
    >>> cell_words("{Endor, Hoth, Naboo}"), cell_words("{Alderaan, Bespin, Endor, Hoth, Naboo} or missing")
    ('{Endor, Hoth, Naboo}', 'one of 5 (Alderaan, Bespin, …) or missing')
    """
    written = label or ""
    plain_label = written.removesuffix(OR_MISSING)
    parts = set_parts(plain_label[1:-1]) if plain_label.startswith("{") and plain_label.endswith("}") else []
    if len(parts) <= _MOST_LISTED or any(TO in (part or "") or interval_ends(part or "") for part in parts):
        return written
    first, second, *_ = (part or "missing" for part in parts)
    return f"one of {len(parts)} ({first}, {second}, …){written[len(plain_label) :]}"


def joined(parts: Iterable[str]) -> str:
    """Join with commas and an ``and``.

    Examples
    --------
    >>> joined(["age", "sex", "zip"])
    'age, sex and zip'
    """
    *front, last = [*parts] or [""]
    return f"{', '.join(front)} and {last}" if front else last


def sentence(said: str) -> str:
    """Write what an error says as a sentence.

    Examples
    --------
    >>> sentence("no attribute 'x'; did you mean 'y'?"), sentence("a.toml is not TOML")
    ("No attribute 'x'; did you mean 'y'?", 'a.toml is not TOML.')
    """
    words = " ".join(said.split())
    begins = words.partition(" ")[0]
    capital = words[:1].upper() + words[1:] if begins.isalpha() else words
    return capital if capital.endswith((".", "?", "!")) else f"{capital}."


def recipe_in_words(recipe: Recipe) -> str:
    """Return a recipe as a phrase, without its seed and without what it leaves at its default.

    Examples
    --------
    >>> recipe_in_words(Recipe("mondrian", {"model": {"k-anonymity": {"k": 5}}, "variant": "strict"}))
    'mondrian with k-anonymity (k = 5)'
    """
    given = _changed("sanitizer", recipe.sanitizer, recipe.parameters)
    model = recipe.parameters.get("model")
    models = model if isinstance(model, Mapping) else {}
    named_models = [model_in_words(name, parameters) for name, parameters in models.items()]
    rest = _listed({name: value for name, value in given.items() if name != "model"})
    with_models = f"{recipe.sanitizer} with {joined(named_models)}" if named_models else recipe.sanitizer
    return f"{with_models}; {rest}" if rest else with_models


def recipe_name(recipe: Recipe) -> str:
    """Return a short name for what a recipe makes: the method and what sets it apart.

    Examples
    --------
    >>> both = {"k-anonymity": {"k": 11}, "t-closeness": {"t": 0.1}}
    >>> recipe_name(Recipe("mondrian", {"model": both})), recipe_name(Recipe("full-domain"))
    ('Mondrian k=11, t=0.1', 'Full domain')
    >>> recipe_name(Recipe("mst").normalized())
    'MST epsilon=1'
    """
    method = _method_name(recipe.sanitizer)
    given = _changed("sanitizer", recipe.sanitizer, recipe.parameters)
    always = own(methods.find("sanitizer", recipe.sanitizer), "always_named")
    given = {name: value for name, value in recipe.parameters.items() if name == always} | given
    model = recipe.parameters.get("model")
    models = model if isinstance(model, Mapping) else {}
    letters = [part for name, inner in models.items() for part in _short_model(name, inner)]
    parts = [*letters, *(_short(name, value) for name, value in given.items() if name != "model")]
    name = f"{method} {', '.join(parts)}".rstrip()
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def plain_name(recipe: Recipe) -> str:
    """Return what a recipe makes in plain words, then its short name.

    Examples
    --------
    >>> both = {"k-anonymity": {"k": 11}, "t-closeness": {"t": 0.1}}
    >>> plain_name(Recipe("mondrian", {"model": both}))
    "Classes of at least 11, close to the whole table's distribution: Mondrian k=11, t=0.1"
    >>> plain_name(Recipe("as-is"))
    'The table as it is'
    """
    model = recipe.parameters.get("model")
    models = model if isinstance(model, Mapping) else {}
    parts = [_plain("sanitizer", recipe.sanitizer, recipe.parameters)]
    parts += [_plain("model", name, parameters) for name, parameters in models.items()]
    words = ", ".join(filter(None, parts))
    name = recipe_name(recipe) if recipe.parameters else ""
    return ": ".join(filter(None, (words[:1].upper() + words[1:], name))) or recipe_name(recipe)


def _plain(kind: methods.Kind, name: str, parameters: Mapping[str, Any]) -> str:
    given = {key: plain(value) for key, value in parameters.items()}
    words: str = own(methods.find(kind, name), "plain") or ""
    return words.format_map(given)


def _method_name(sanitizer: str) -> str:
    """Return what a method is called in a title; an abbreviation, such as MST, as its class has it."""
    called = getattr(methods.find("sanitizer", sanitizer), "__name__", "")
    plain_name = sanitizer.replace("-", " ", 1)
    return called if called.isupper() else f"{plain_name[:1].upper()}{plain_name[1:]}"


def _short_model(model: str, parameters: Mapping[str, Any]) -> list[str]:
    """Return the letters of a model with their values; one that has none goes by its name."""
    limit = getattr(methods.registered("model").get(model), "parameter", None)
    changed = _changed("model", model, parameters)
    shown = [_short(key, value) for key, value in parameters.items() if key in changed or key == limit]
    return shown or [model]


def _short(name: str, value: Any) -> str:
    """Return a parameter with its value; of a number for each attribute only the numbers."""
    if isinstance(value, Mapping) and all(isinstance(inner, int) for inner in value.values()):
        return f"{name} {'-'.join(map(str, value.values()))}"
    return f"{name} {plain(value)}" if isinstance(value, Mapping) else f"{name}={plain(value)}"


def model_in_words(model: str, parameters: Mapping[str, Any]) -> str:
    """Return a model as a phrase, without what it leaves at its default unless that is its limit."""
    limit = getattr(methods.registered("model").get(model), "parameter", None)
    changed = _changed("model", model, parameters)
    shown = _listed({name: value for name, value in parameters.items() if name in changed or name == limit})
    return f"{model} ({shown})" if shown else model


def plain(value: Any) -> str:
    """Print a parameter or a detail."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {plain(inner)}" for name, inner in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(plain(inner) for inner in value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return "none" if value is None else str(value)
    return number(value)


def _changed(kind: methods.Kind, name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    try:
        defaults = methods.defaults_of(methods.look_up(kind, name))
    except ParameterError:
        defaults = {}
    return {key: value for key, value in parameters.items() if key not in defaults or defaults[key] != value}


def _listed(parameters: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name} {plain(value)}" if isinstance(value, Mapping) else f"{name} = {plain(value)}"
        for name, value in parameters.items()
    )


def _summary(cls: type[Any] | None) -> str:
    """Return the first sentence of a registered class's docstring."""
    documentation = (inspect.getdoc(cls) or "") if cls else ""
    # a dataclass without a docstring gets its signature as one
    if cls is None or documentation.startswith(f"{cls.__name__}("):
        return ""
    return " ".join(documentation.split("\n\n")[0].split()).replace("`", "")
