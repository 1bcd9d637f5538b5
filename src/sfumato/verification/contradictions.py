"""Find statements of a published folder that cannot all be true.

Many of a publisher's statements about a release cannot be computed from its cells: how it was made, what the
rows stand for, figures of the original. They stay unverified claims, but they must agree with each other and
with the cells. For example, no method that draws synthetic records writes intervals such as ``[42, 89)``, so
a folder with such cells that names one is wrong, however well its report fits its manifest.

The facts about each method are written down here a second time, and the tests compare them with what the
methods declare. Statements about a method that is not listed here (a plug-in) stay unverified claims.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal

from sfumato.verification.documents import (
    OUR_KINDS,
    AttributeFacts,
    Band,
    Manifest,
    OwnerFigure,
    UnverifiedAttribute,
    is_number,
    numeral,
)
from sfumato.verification.figures import MEASURES
from sfumato.verification.levels import MODELS
from sfumato.verification.published_view import PublicView
from sfumato.verification.written_tables import FileColumn, Tables, cell_counts, column_of

ReleaseType = Literal["people", "perturbed", "synthetic"]
Cells = Literal["exact", "withheld", "bounded", "generalised"]
"""How quasi-identifiers are written: exactly, exactly or as ``*``, exactly or as ``>=90``, or as any set."""

_TIE = 1e-9
_WITHHELD = "*"
_OR_MISSING = " or missing"


@dataclass(frozen=True)
class KnownMethod:
    """The facts about a method that decide which statements its releases can carry.

    Parameters
    ----------
    parameters
        All parameters that it takes.
    release_type
        What the rows stand for.
    cells
        How it writes quasi-identifiers.
    has_groups
        Whether sensitive values are published for groups; ``form`` then says in how many tables.
    diversity
        The parameter that promises probabilistic diversity without naming the model.
    is_sample
        Whether it draws a share of the records.
    is_private
        Whether it is differentially private, by its ``epsilon`` and ``delta``.
    withholds
        The role of the attributes that it withholds altogether.
    """

    parameters: frozenset[str]
    release_type: ReleaseType = "people"
    cells: Cells = "exact"
    has_groups: bool = False
    diversity: str | None = None
    is_sample: bool = False
    is_private: bool = False
    withholds: Literal["quasi-identifying", "sensitive"] | None = None

    @property
    def keeps_every_record(self) -> bool:
        """Whether it never suppresses a record of its table."""
        is_drawn = self.is_sample or self.release_type == "synthetic"
        return not is_drawn and "suppression" not in self.parameters


def _method(*parameters: str, **facts: Any) -> KnownMethod:
    return KnownMethod(frozenset(parameters), **facts)


_DRAWN_PARAMETERS = ("epsilon", "delta", "n-records", "records-per-person")

METHODS: dict[str, KnownMethod] = {
    "aim": _method(*_DRAWN_PARAMETERS, "degree", "rounds", release_type="synthetic", is_private=True),
    "anatomy": _method("l", "form", has_groups=True, diversity="l"),
    "as-is": _method(),
    "bucketize": _method("model", "variant", "form", "free", "smallest-group", has_groups=True),
    "cart-synthesis": _method("order", "min-leaf", "smoothing", "n-records", release_type="synthetic"),
    "cell-suppression": _method("model", "suppression", cells="withheld"),
    "clustering": _method("model", "borders", cells="generalised"),
    "cut": _method("cuts", "model", "suppression", "free", cells="generalised"),
    "date-shift": _method("days", "attributes", release_type="perturbed"),
    "full-domain": _method("levels", "model", "suppression", cells="generalised"),
    "laplace": _method("epsilon", "attributes", "rounded", release_type="perturbed"),
    "local-recoding": _method("model", "effort", "cells", "borders", cells="generalised"),
    "microaggregation": _method("k", release_type="perturbed"),
    "mondrian": _method("model", "variant", "target", "free", "borders", cells="generalised"),
    "mst": _method(*_DRAWN_PARAMETERS, release_type="synthetic", is_private=True),
    "pram": _method("retain", "attributes", "probabilities", "within", "two-stage", release_type="perturbed"),
    "rank-swapping": _method("reach", "attributes", release_type="perturbed"),
    "sampling": _method("share", is_sample=True),
    "suppress-quasi-identifiers": _method(cells="withheld", withholds="quasi-identifying"),
    "suppress-sensitive": _method(withholds="sensitive"),
    "top-coding": _method("bounds", cells="bounded"),
}

# Parameters whose texts or keys name attributes, and those of them that name quasi-identifiers alone.
_NAMING = (
    *("attributes", "free", "within", "order", "target"),
    *("levels", "cuts", "bounds", "probabilities"),
)
_NAMING_QUASI_IDENTIFIERS = ("levels", "cuts")
# The range of each parameter that a statement rests on.
_RANGES: dict[str, tuple[float, float]] = {
    **dict.fromkeys(("delta", "share", "suppression", "retain", "reach"), (0, 1)),
    **dict.fromkeys(("epsilon", "n-records"), (0, math.inf)),
    **dict.fromkeys(("records-per-person", "min-leaf", "smallest-group", "k", "l"), (1, math.inf)),
}
# A parameter of such a name reads like a promise, and no method may have it that does not take it.
_PROMISING = frozenset({"model", "epsilon", "delta"}).union(*(model.parameters for model in MODELS.values()))


@dataclass(frozen=True)
class _Folder:
    """All statements of a folder, and the facts about the method that it names, if it is a known one."""

    view: PublicView
    manifest: Manifest
    tables: Tables
    method: KnownMethod | None


def contradictions(view: PublicView, manifest: Manifest, tables: Tables) -> Iterator[tuple[str, str]]:
    """Compare the statements of a folder with each other and with its cells.

    Returns
    -------
    Iterator
        For each group of statements what it says, and the first contradiction, if there is one.
    """
    name = manifest.recipe.sanitizer
    method = METHODS.get(name)
    folder = _Folder(view, manifest, tables, method)
    problems: dict[str, Iterator[str]] = {}
    if method is not None:
        problems = {
            f"the rows and tables are such as {name} makes": _form_problems(manifest, method),
            f"the cells are written as {name} writes them": _cell_problems(manifest, tables, method),
            f"the number of records is such as {name} releases": _record_problems(view, manifest, method),
            f"the recipe gives {name} what it takes": _parameter_problems(manifest, method),
        }
    problems |= {
        "the recipe promises what is required, and nothing else": _promise_problems(manifest, method),
        "every attribute is described as its cells are": _attribute_problems(manifest, tables, method),
        "no band of the owner's contradicts another statement": _band_problems(folder),
        "the policy has the limits of its recipient": _recipient_problems(manifest),
        "the decision and what was tried can have been so": _decision_problems(manifest),
    }
    if manifest.unverified.guarantee is not None or (method is not None and method.is_private):
        problems["nothing is told of the original but what differential privacy paid for"] = (
            _privacy_problems(manifest, method)
        )
    for statements, messages in problems.items():
        try:
            problem = next(messages, "")
        except (ArithmeticError, TypeError, ValueError):
            problem = "it has parameters that nothing can be compared with"
        yield statements, problem


def exact_values_like_sets(manifest: Manifest, tables: Tables) -> list[str]:
    """Return the attributes called exact whose cells read like intervals, sets or branches."""
    method = METHODS.get(manifest.recipe.sanitizer)
    described = {facts.name: facts for facts in manifest.unverified.attributes}
    names = []
    for name, facts in manifest.layout.attributes.items():
        if method is None or _form_of_cells(method, facts, described.get(name)) == "generalised":
            continue
        column = column_of(tables, name)
        if facts.branches or (column and any(_members(cell) is not None for cell in column.values)):
            names.append(name)
    return names


# The form of the release


def _form_problems(manifest: Manifest, method: KnownMethod) -> Iterator[str]:
    layout, recipe = manifest.layout, manifest.recipe
    if layout.type != method.release_type:
        yield f"{recipe.sanitizer} makes {method.release_type} records, and these are called {layout.type}"
    if (layout.group is not None) != method.has_groups:
        yield f"{recipe.sanitizer} has {'' if method.has_groups else 'no '}groups of sensitive values"
    form = recipe.parameters.get("form", layout.form) if method.has_groups else "one-table"
    if layout.form != form:
        yield f"the recipe makes the form {form!r}, and this is {layout.form!r}"
    if layout.sampled != method.is_sample:
        yield f"{recipe.sanitizer} {'draws a' if method.is_sample else 'is no'} random sample"
    if manifest.parent is not None and (method.has_groups or method.release_type != "people"):
        yield f"no later release has the recoding of {recipe.sanitizer}"


def _parameter_problems(manifest: Manifest, method: KnownMethod) -> Iterator[str]:
    parameters = manifest.recipe.parameters
    # a later version may know more parameters; none of them may read like a promise
    for name in parameters:
        if name in _PROMISING - method.parameters:
            yield f"it takes no {name}"
    for name in sorted(method.parameters - set(parameters)):
        yield f"{name} is missing"
    for name, (low, high) in _RANGES.items():
        if name in parameters and not (is_number(parameters[name]) and low <= parameters[name] <= high):
            yield f"{name} is no number from {low:g} to {high:g}"
    if method.is_private and not all(
        is_number(parameters.get(name)) and parameters[name] > 0 for name in ("epsilon", "delta")
    ):
        yield "it is differentially private only with an epsilon and a delta above 0"
    roles = {name: facts.role for name, facts in manifest.layout.attributes.items()}
    for parameter in _NAMING:
        value = parameters.get(parameter)
        if isinstance(value, str):
            value = [value] if value else []
        names = [name for name in value if isinstance(name, str)] if isinstance(value, (list, dict)) else []
        for name in names:
            if name not in roles:
                yield f"{parameter} names an attribute that is not published"
            elif parameter in _NAMING_QUASI_IDENTIFIERS and roles[name] != "quasi-identifying":
                yield f"{parameter} names {name!r}, which is not called quasi-identifying"


def _record_problems(view: PublicView, manifest: Manifest, method: KnownMethod) -> Iterator[str]:
    parameters, n_original = manifest.recipe.parameters, view.n_original
    if method.release_type == "synthetic":
        n_drawn = parameters.get("n-records") or n_original
        if not is_number(n_drawn):
            yield "the number of records to draw is no number"
        elif view.n_records != n_drawn:
            yield f"the recipe draws {n_drawn:,}, and there are {view.n_records:,}"
        return
    n_suppressed = n_original - view.n_records
    people = manifest.unverified.people
    if method.is_sample and is_number(parameters.get("share")):
        n_all, n_released = n_original, view.n_records
        if people is not None:
            n_all, n_released = people.original, people.released
        n_drawn = max(round(parameters["share"] * n_all), 1)
        if n_released != n_drawn:
            yield f"the recipe draws {n_drawn:,} of {n_all:,}, and there are {n_released:,}"
    if people is not None and people.original - people.released > n_suppressed:
        yield f"{n_suppressed:,} records are left out, fewer than people"
    # a recoding that was learned on other records may suppress more; a note or a parent then says so
    if method.release_type == "perturbed" or (manifest.parent is None and not manifest.unverified.notes):
        limit = parameters.get("suppression")
        if method.keeps_every_record and n_suppressed:
            yield f"it leaves out no record, and {n_suppressed:,} are left out"
        if is_number(limit) and n_suppressed > limit * n_original * (1 + _TIE):
            share = n_suppressed / n_original
            yield f"the recipe leaves out at most {limit:.1%} of the records, and {share:.1%} are left out"
    if manifest.recipe.sanitizer == "microaggregation" and is_number(parameters.get("k")):
        fewest = int(view.sizes.min())
        if fewest < parameters["k"]:
            yield f"the recipe asks for groups of {parameters['k']:g}, and the smallest class has {fewest:,}"


# Differential privacy


def _privacy_problems(manifest: Manifest, method: KnownMethod | None) -> Iterator[str]:
    """Find a figure that was computed from the original without noise, or a claim that the recipe lacks."""
    unverified, parameters = manifest.unverified, manifest.recipe.parameters
    guarantee, published = unverified.guarantee, manifest.layout.attributes
    if guarantee is None:
        yield f"{manifest.recipe.sanitizer} is differentially private, and no guarantee is stated"
        return
    if method is not None and not method.is_private:
        yield f"{manifest.recipe.sanitizer} is not differentially private, and a guarantee is stated"
    for name in ("epsilon", "delta"):
        if name in parameters and parameters[name] != getattr(guarantee, name):
            yield f"the guarantee has another {name} than the recipe"
    if set(guarantee.public) != set(published):
        yield "the public part is not that of the published attributes"
    figures = [figure.measure for figure in unverified.figures if figure.measure not in _PROMISED_BY]
    if figures:
        yield f"{figures[0]} is told, which is computed from the original"
    told = {
        "the risk of the original": unverified.initial,
        "the number of people": unverified.people,
        "what else was tried": unverified.tried or None,
        "whether it is efficient": unverified.efficient,
    }
    for what, value in told.items():
        if value is not None:
            yield f"{what} is told, which is computed from the original"
    for name, facts in published.items():
        declared = guarantee.public.get(name)
        if facts.whole and (declared is None or not declared.whole):
            yield f"all numbers of {name!r} are called whole, which is not declared public"


# Promised models


# The recipient

_RECIPIENTS = {
    "public": (1 / 11, 1.0),
    "public-great-harm": (1 / 20, 0.25),
    "contract": (1 / 5, 3.0),
    "protected-place": (1 / 3, 8.0),
    "none": (math.inf, math.inf),
}
"""The risk of one person and the epsilon that each recipient allows at most."""


def _recipient_problems(manifest: Manifest) -> Iterator[str]:
    """Yield what contradicts the recipient: its name, or a policy that lacks its limit."""
    if manifest.recipient not in _RECIPIENTS:
        yield f"the recipient is {manifest.recipient!r}, and no policy has that name"
        return
    risk, epsilon = _RECIPIENTS[manifest.recipient]
    limits = manifest.policy.values()
    kept = {
        "reidentification-risk": risk if manifest.layout.type == "people" else math.inf,
        "singling-out": math.inf if manifest.layout.type == "people" else risk,
    }
    if any(figure.measure == "epsilon" and figure.band for figure in manifest.unverified.figures):
        kept = {"epsilon": epsilon}
    for measure, most in kept.items():
        strictest = min((limit.high for limit in limits if limit.measure == measure), default=math.inf)
        if most < math.inf and strictest > most + _TIE:
            yield f"the recipient {manifest.recipient!r} needs {measure} to be limited to {most:.3g}"


def single_models(model: Any) -> list[dict[str, Any]]:
    """Return the single models of a recipe: (alpha, k)-anonymity includes k-anonymity."""
    models: list[dict[str, Any]] = []
    for name, parameters in model.items() if isinstance(model, Mapping) else ():
        if name == "alpha-k-anonymity" and isinstance(parameters, Mapping):
            models.append({"k-anonymity": {"k": parameters.get("k")}})
        models.append({name: parameters})
    return models


def _promise_problems(manifest: Manifest, method: KnownMethod | None) -> Iterator[str]:
    parameters = manifest.recipe.parameters
    promised = single_models(parameters.get("model"))
    if method is not None and method.diversity is not None:
        promised.append({"probabilistic-diversity": {"l": parameters.get(method.diversity)}})
    required = [requirement.model for requirement in manifest.requirements]
    # (alpha, k)-anonymity is promised together with its k, whatever method promises it
    promised += [part for model in required for part in single_models(model)[:-1] if part not in promised]
    if not all(model in required for model in promised):
        yield "a model that the recipe promises is not required"
    if any(required.count(model) > 1 for model in required):
        yield "a model is required twice"
    # a method that is not known may promise more than its model
    if method is not None and not all(model in promised for model in required):
        yield "a model is required that the recipe does not promise"


# Cells


def _form_of_cells(
    method: KnownMethod, facts: AttributeFacts, described: UnverifiedAttribute | None
) -> Cells:
    """Return how a method writes an attribute: only quasi-identifiers are generalized."""
    if facts.role != "quasi-identifying":
        return "bounded" if method.cells == "bounded" else "exact"
    return "generalised" if described is not None and described.lowest else method.cells


def _cell_problems(manifest: Manifest, tables: Tables, method: KnownMethod) -> Iterator[str]:
    described = {facts.name: facts for facts in manifest.unverified.attributes}
    for name, facts in manifest.layout.attributes.items():
        column, unverified = column_of(tables, name), described.get(name)
        if column is None:
            continue
        is_numeric = unverified is not None and unverified.kind == "numeric"
        problem = _column_problem(column, _form_of_cells(method, facts, unverified), is_numeric)
        if method.withholds == facts.role and column.values != (_WITHHELD,):
            problem = "has values, and the recipe withholds them"
        if manifest.unverified.missing == "drop" and any(map(_may_be_missing, column.values)):
            problem = "has missing values, and records with missing ones are said to be dropped"
        if problem:
            yield f"{name!r} {problem}"
    if manifest.recipe.sanitizer == "full-domain":
        yield from _level_problems(manifest, tables)
    bounds = manifest.recipe.parameters.get("bounds")
    if manifest.recipe.sanitizer == "top-coding" and isinstance(bounds, Mapping):
        for name, bound in bounds.items():
            column = column_of(tables, name)
            for cell in () if column is None else filter(None, column.values):
                number = _number(cell)
                if number is not None and is_number(bound) and number >= bound:
                    yield f"{name!r} has numbers above the bound of the recipe"
                if _bound(cell) not in (None, bound):
                    yield f"{name!r} has another bound than the recipe"


def _column_problem(column: FileColumn, form: Cells, is_numeric: bool) -> str:
    if form == "generalised":
        return ""
    cells = [cell for cell in column.values if cell is not None]
    if _WITHHELD in cells and form != "withheld" and len(column.values) > 1:
        return "has some cells that are withheld"
    exact = [cell for cell in cells if cell != _WITHHELD]
    if form == "bounded":
        exact = [cell for cell in exact if _bound(cell) is None]
    if is_numeric:
        are_numbers = all(_number(cell) is not None for cell in exact)
        return "" if are_numbers else "is numeric and has generalised cells"
    # categories may be written like intervals or sets in the original, but then they exclude each other
    return "has cells that stand for the values of others" if _overlap(exact) else ""


def _level_problems(manifest: Manifest, tables: Tables) -> Iterator[str]:
    """Compare the levels of a full-domain recoding with the cells: exact at the bottom, ``*`` at the top."""
    levels = manifest.recipe.parameters.get("levels")
    if not isinstance(levels, Mapping):
        yield "the recipe names no levels"
        return
    for facts in manifest.unverified.attributes:
        column = column_of(tables, facts.name)
        if facts.role != "quasi-identifying" or facts.levels is None or column is None:
            continue
        level = levels.get(facts.name, 0)
        if not is_number(level) or not 0 <= level < facts.levels:
            yield f"the recipe puts {facts.name!r} on a level that it does not have"
        elif level == facts.levels - 1 > 0 and column.values != (_WITHHELD,):
            yield f"the recipe withholds {facts.name!r}, and it has values"
        elif max(level, facts.lowest or 0) == 0:
            if facts.exact != sum((cell_counts(tables, facts.name) or {}).values()):
                yield f"the recipe leaves {facts.name!r} exact, and not all of its cells are called so"
            problem = _column_problem(column, "exact", facts.kind == "numeric")
            if problem:
                yield f"the recipe leaves {facts.name!r} exact, and it {problem}"


# The notation of cells


def _number(cell: str) -> float | None:
    if "_" in cell:
        return None
    try:
        number = float(cell)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _bound(cell: str) -> float | None:
    return _number(cell[2:]) if cell.startswith(">=") else None


def _may_be_missing(cell: str | None) -> bool:
    if cell is None or cell.endswith(_OR_MISSING):
        return True
    return cell[:1] == "{" and "missing" in (_members(cell) or ())


def _interval(cell: str) -> tuple[float, float, bool] | None:
    """Return the ends of ``[20, 30)`` or ``[20, 30]``, and whether the interval includes the last."""
    low, comma, high = cell[1:-1].partition(", ")
    if cell[:1] != "[" or cell[-1:] not in (")", "]") or not comma:
        return None
    ends = _number(low), _number(high)
    return None if None in ends else (ends[0] or 0.0, ends[1] or 0.0, cell[-1] == "]")


def _members(cell: str | None) -> frozenset[str] | None:
    """Return the members of ``{a, b}``, or the ends of an interval; ``None`` for any other text."""
    if cell is None:
        return None
    text = cell.removesuffix(_OR_MISSING)
    if text[:1] == "{" and text[-1:] == "}":
        return frozenset(part.strip('"') for part in text[1:-1].split(", "))
    return frozenset(text[1:-1].split(", ")) if _interval(text) is not None else None


def _overlap(cells: Collection[str]) -> bool:
    """Return whether a cell that reads like a set or an interval contains values of another cell."""
    texts = [cell.removesuffix(_OR_MISSING) for cell in cells]
    if len(set(texts)) < len(texts):
        return True
    listed = [member for text in texts if text[:1] == "{" for member in _members(text) or ()]
    if len(set(listed)) < len(listed) or not set(listed).isdisjoint(texts):
        return True
    intervals = sorted(interval for text in texts if (interval := _interval(text)) is not None)
    for (_, high, is_closed), (low, *_) in itertools.pairwise(intervals):
        if low < high or (is_closed and low == high):
            return True
    numbers = [number for text in texts if (number := _number(text)) is not None]
    return any(low <= number < high for number in numbers for low, high, _ in intervals)


# Descriptions of attributes


def _attribute_problems(manifest: Manifest, tables: Tables, method: KnownMethod | None) -> Iterator[str]:
    for described in manifest.unverified.attributes:
        facts = manifest.layout.attributes.get(described.name)
        if described.kind not in (None, *OUR_KINDS) and (facts is None or facts.kind is None):
            problem = f"is {described.kind}, and its column is not called so"
        elif facts is None:
            of_cells = (described.levels, described.lowest, described.weight, described.exact)
            is_described = of_cells != (None,) * 4 or described.noisy or described.ends_at_values
            problem = "is not published, and is described as if it were" if is_described else ""
        else:
            problem = _description_problem(described, facts, column_of(tables, described.name))
            if not problem and method is not None:
                problem = _exact_cells_problem(described, facts, tables, method)
        if problem:
            yield f"{described.name!r} {problem}"


def _description_problem(
    described: UnverifiedAttribute, facts: AttributeFacts, column: FileColumn | None
) -> str:
    """Compare a description with the facts that the manifest states elsewhere, and with the cells."""
    levels, lowest, weight = described.levels, described.lowest, described.weight
    is_quasi_identifier = facts.role == "quasi-identifying"
    if facts.kind is not None and described.kind is not None and facts.kind != described.kind:
        return f"is {facts.kind} in one place and {described.kind} in another"
    if levels is None or lowest is None or weight is None:
        return "is published, and its levels or its weight are missing"
    if lowest and not is_quasi_identifier:
        return "has a lowest level, and is not called quasi-identifying"
    if not 0 <= lowest < max(levels, 1):
        return "has a lowest level that its hierarchy does not have"
    if levels < 1:
        return "has no level"
    if not 0 <= weight < math.inf:
        return "has a weight below 0"
    if described.exact is not None and described.noisy:
        return "is called noisy, and exact cells of it are counted"
    if described.exact is not None and described.exact < 0:
        return "has fewer exact cells than none"
    if described.ends_at_values and not is_quasi_identifier:
        return "is not generalised, and its intervals are said to end at values"
    if facts.whole and described.kind not in (None, "numeric"):
        return f"is {described.kind}, and its numbers are called whole"
    if facts.whole and not described.noisy and column is not None:
        numbers = [_number(cell) for cell in column.values if cell is not None]
        if any(number is not None and number != round(number) for number in numbers):
            return "has numbers that are not whole"
    return ""


def _exact_cells_problem(
    described: UnverifiedAttribute, facts: AttributeFacts, tables: Tables, method: KnownMethod
) -> str:
    """Compare the number of cells that are called exact with the number that read so."""
    if described.noisy:
        return "is called noisy, and the method adds no noise" if method.release_type == "people" else ""
    is_numeric, form = described.kind == "numeric", _form_of_cells(method, facts, described)
    if form != "generalised" and described.ends_at_values:
        return "is not generalised, and its intervals are said to end at values"
    counts = cell_counts(tables, described.name)
    if counts is None or described.exact is None or (form == "generalised" and not is_numeric):
        return ""
    exact = sum(
        count
        for cell, count in counts.items()
        if cell is None or (_number(cell) is not None if is_numeric else cell != _WITHHELD)
    )
    is_right = described.exact == exact
    return "" if is_right else f"has {exact:,} cells that read exact, not {described.exact:,}"


# Figures of the owner, as bands


@dataclass(frozen=True)
class KnownFigure:
    """The side, direction and range of a measure that only the owner can compute."""

    axis: Literal["privacy", "utility"]
    better: Literal["lower", "higher"] | None
    low: float = -math.inf
    high: float = math.inf


_RISK = KnownFigure("privacy", "lower", 0, 1)
_GAIN = KnownFigure("privacy", "lower", -1, 1)
_LOSS = KnownFigure("utility", "lower", 0, 1)
_ERROR = KnownFigure("utility", "lower", 0)

FIGURES: dict[str, KnownFigure] = {
    **dict.fromkeys(("attack-risk", "downcoding", "household-risk", "individual-risk", "inference"), _RISK),
    **dict.fromkeys(("linkability", "membership", "minimality-risk", "population-uniqueness"), _RISK),
    **dict.fromkeys(("singling-out", "trace-risk", "nearer-accuracy-gain", "nearer-knowledge-gain"), _RISK),
    **dict.fromkeys(("privacy-delta",), _RISK),
    **dict.fromkeys(("auxiliary-gain", "border-gain", "de-finetti-gain", "downcoding-gain"), _GAIN),
    **dict.fromkeys(("general-loss", "total-loss", "regression-loss", "propensity"), _LOSS),
    **dict.fromkeys(("kl-divergence", "query-error", "utility-loss"), _ERROR),
    "anti-utility": KnownFigure("privacy", "lower"),
    "composition-k": KnownFigure("privacy", "higher", 0),
    "composition-loss": KnownFigure("privacy", "lower", 0, 1),
    "correlation-difference": KnownFigure("utility", "lower", 0, 2),
    "epsilon": KnownFigure("privacy", "lower", 0),
    "good-utility": KnownFigure("utility", "lower"),
    "k-map": KnownFigure("privacy", "higher", 0),
    "k-marginal": KnownFigure("utility", "higher", 0, 1000),
    "m-invariance": KnownFigure("privacy", "higher", 0),
    "precision": KnownFigure("utility", "higher", 0, 1),
    "transfer-loss": KnownFigure("utility", "lower", -1, 1),
    "workload-utility": KnownFigure("utility", "higher", -1, 1),
    "worst-group-loss": KnownFigure("utility", None),
    "worst-group-risk": KnownFigure("privacy", None),
}

# Measures of the cells whose values are shares; the owner may count people instead of records.
_SHARES = frozenset({"reidentification-risk", "journalist-risk", "marketer-risk", "alpha-k-anonymity"})
# Without the size of a population these measures need data that is not published.
_NEED_POPULATION = frozenset({"journalist-risk", "marketer-risk"})
_PROMISED_BY = {"epsilon": "epsilon", "privacy-delta": "delta"}


@dataclass(frozen=True)
class _Span:
    """All numbers from low to high."""

    low: float = -math.inf
    high: float = math.inf

    @classmethod
    def of(cls, band: Band) -> _Span:
        return cls(numeral(band.low), numeral(band.high))

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{self.low:.6g}"
        if math.isinf(self.low) or math.isinf(self.high):
            return f"at most {self.high:.6g}" if math.isinf(self.low) else f"at least {self.low:.6g}"
        return f"{self.low:.6g} to {self.high:.6g}"

    def meets(self, low: float, high: float) -> bool:
        """Return whether it has a number from low to high, up to rounding."""
        slack = [_TIE * max(1.0, abs(end)) if math.isfinite(end) else 0.0 for end in (low, high)]
        return self.high >= low - slack[0] and self.low <= high + slack[1]

    def is_band(self, largest: float) -> bool:
        """Return whether `publish` writes such a band: a factor of two wide, or up to the largest value."""
        low, high = self.low, self.high
        if math.isnan(low) or math.isnan(high):
            return False
        if low == high:
            return low == 0 or math.isinf(low) or abs(low) == largest
        if low > 0:
            return math.isclose(high, 2 * low, rel_tol=_TIE) or (high == 1.0 and low < high < 2 * low)
        return high < 0 and math.isclose(low, 2 * high, rel_tol=_TIE)


def _band_problems(folder: _Folder) -> Iterator[str]:
    manifest = folder.manifest
    figures, initial = manifest.unverified.figures, manifest.unverified.initial
    names = [(figure.measure, figure.parameters, figure.attribute) for figure in figures]
    for figure, name in zip(figures, names, strict=True):
        problem = "is told twice" if names.count(name) > 1 else _figure_problem(folder, figure)
        if problem:
            yield f"{figure.measure} {problem}"
    yield from _worst_problems(figures)
    if initial is not None:
        worst, average = _Span.of(initial.worst), _Span.of(initial.average)
        if not manifest.profiles:
            yield "the risk of the original is told, and no profile asks for it"
        if not (worst.is_band(1.0) and average.is_band(1.0) and 0 < worst.low <= worst.high <= 1):
            yield "the risk of the original is no band of a risk"
        if average.low > worst.high:
            yield "the risk of the original is higher on average than at worst"


def _figure_problem(folder: _Folder, figure: OwnerFigure) -> str:
    manifest, method = folder.manifest, folder.method
    known = FIGURES.get(figure.measure)
    if known is None and figure.measure in MEASURES:
        counts_people = manifest.unverified.people is not None and figure.axis == "privacy"
        needs_more = figure.measure in _NEED_POPULATION and "population-size" not in figure.parameters
        if not counts_people and not needs_more:
            return "can be computed from the cells, and is told as a band"
        measure = MEASURES[figure.measure]
        largest = 1.0 if figure.measure in _SHARES else math.inf
        known = KnownFigure(measure.axis, measure.better, high=largest)
    if known is not None and (figure.axis != known.axis or known.better not in (None, figure.better)):
        return "is put on another side"
    names = {None, *(facts.name for facts in manifest.unverified.attributes)}
    if known is not None and figure.attribute not in names:
        return "speaks of an attribute that there is not"
    limits = [limit for limit in manifest.policy.values() if limit.applies_to(figure)]
    if figure.met is not None and not limits:
        return "is said to keep a policy that does not speak of it"
    if figure.band is None:
        return "does not apply, and is called the worst" if figure.worst else ""
    is_promised = figure.measure in _PROMISED_BY
    if is_promised and method is not None and not method.is_private:
        return "is promised, and the method is not differentially private"
    span = _Span.of(figure.band)
    is_band = (
        span.low == span.high if is_promised else span.is_band(math.inf if known is None else known.high)
    )
    if not is_band:
        return "has a band that is none"
    if known is not None and (span.low < known.low * (2 if known.low < 0 else 1) or span.low > known.high):
        return f"has a band outside of {known.low:g} to {known.high:g}"
    # a figure that is the worst of all attributes may be worse than the one that a limit applies to
    limits = [limit for limit in limits if figure.met and limit.attribute in (None, figure.attribute)]
    if not all(span.meets(limit.low, limit.high) for limit in limits):
        return "is said to keep a limit that its band does not"
    possible = _possible_span(folder, figure)
    if not span.meets(possible.low, possible.high):
        return f"cannot be {span}: what else is told gives {possible}"
    return ""


def _possible_span(folder: _Folder, figure: OwnerFigure) -> _Span:
    """Return the range of a figure, as far as the cells and the other statements determine it."""
    view, recipe, name = folder.view, folder.manifest.recipe, figure.measure
    if name in _PROMISED_BY and folder.method is not None:
        promise = recipe.parameters.get(_PROMISED_BY[name])
        return _Span(float(promise), float(promise)) if is_number(promise) else _Span()
    if name in ("k-anonymity", "composition-k"):
        # a class has no more people than records, and two releases have no larger classes than one
        is_exact = view.people is not None and name == "k-anonymity"
        return _Span(view.fewest if is_exact else -math.inf, view.fewest)
    if name == "reidentification-risk":
        return _Span(1 / view.fewest, math.inf if view.people is None else 1 / view.fewest)
    if name in ("general-loss", "total-loss"):
        loss = _general_loss(folder)
        suppressed = view.n_suppressed / view.n_original if name == "total-loss" else 0.0
        return _Span(loss.low + suppressed, loss.high + suppressed)
    if name == "precision" and recipe.sanitizer == "full-domain":
        levels = recipe.parameters.get("levels")
        attributes = [
            facts for facts in folder.manifest.unverified.attributes if facts.role == "quasi-identifying"
        ]
        if not isinstance(levels, Mapping) or not attributes or not all(map(is_number, levels.values())):
            return _Span(0.0, 1.0)
        heights = [
            max(levels.get(facts.name, 0), facts.lowest or 0) / max((facts.levels or 1) - 1, 1)
            for facts in attributes
        ]
        precision = 1 - math.fsum(heights) / len(heights)
        return _Span(precision, precision)
    return _Span()


def _general_loss(folder: _Folder) -> _Span:
    """Return the range of the general loss: a withheld cell loses everything, an exact one nothing."""
    view, published = folder.view, folder.manifest.layout.attributes
    low, high, weights = [0.0], [0.0], [0.0]
    for facts in folder.manifest.unverified.attributes:
        if facts.role != "quasi-identifying" or facts.name not in published:
            continue
        counts = cell_counts(folder.tables, facts.name) or {}
        # if all cells are withheld, there may be one value only, which loses nothing
        withheld = counts.get(_WITHHELD, 0) if len(counts) > 1 else 0
        # a branch may be called like a value
        exact = 0 if facts.exact is None or published[facts.name].branches else facts.exact
        weight = 1.0 if facts.weight is None else facts.weight
        low.append(weight * withheld / view.n_original)
        high.append(weight * max(view.n_records - exact, 0) / view.n_original)
        weights.append(weight)
    total = math.fsum(weights)
    return _Span(math.fsum(low) / total, math.fsum(high) / total) if total > 0 else _Span(0.0, 1.0)


def _worst_problems(figures: Sequence[OwnerFigure]) -> Iterator[str]:
    """Find a measure of several attributes whose worst figure is unmarked or not the worst."""
    for figure in figures:
        same = [
            (other.worst, _Span.of(other.band))
            for other in figures
            if (other.measure, other.parameters) == (figure.measure, figure.parameters) and other.band
        ]
        if same and not any(is_worst for is_worst, _ in same):
            yield f"{figure.measure} has no worst figure"
        for worst in [span for is_worst, span in same if is_worst]:
            for _, other in same:
                if worst.high < other.low if figure.better == "lower" else worst.low > other.high:
                    yield f"{figure.measure} has a worse figure than the worst"


# The decision


def _decision_problems(manifest: Manifest) -> Iterator[str]:
    unverified, decision = manifest.unverified, manifest.decision
    tried = Counter(unverified.tried)
    if any(count < 1 for count in tried.values()) or not all(tried):
        yield "a method was tried less than once"
    if unverified.efficient is not None and manifest.recipe.sanitizer not in tried:
        yield "the method is compared with others, and was not tried"
    if unverified.efficient is False and tried.total() < 2:
        yield "nothing else was tried that could be better"
    if not decision.candidate:
        yield "the candidate has no name"
    if not _is_moment(decision.when):
        yield "the time of the decision is none"
    if unverified.review_by is not None and not _is_day(unverified.review_by):
        yield "the day of the next review is none"
    measured = {claim.measure for claim in manifest.claims} | {
        figure.measure for figure in unverified.figures
    }
    if not all(label.split(" ")[0] in measured for label in unverified.headline):
        yield "the report begins with a measure that was not taken"
    if len(set(unverified.headline)) < len(unverified.headline):
        yield "the report begins with a measure twice"
    if any(limit.low > limit.high for limit in manifest.policy.values()):
        yield "the policy asks for more than it allows"


def _is_moment(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
