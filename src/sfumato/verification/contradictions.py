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
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal, TypeGuard

from sfumato.verification.documents import (
    AttributeFacts,
    Band,
    LimitFacts,
    Manifest,
    OwnerFigure,
    UnverifiedAttribute,
    numeral,
)
from sfumato.verification.figures import MEASURES
from sfumato.verification.levels import MODELS
from sfumato.verification.published_view import PublicView
from sfumato.verification.written_tables import FileColumn, WrittenTable

ReleaseType = Literal["people", "perturbed", "synthetic"]
Cells = Literal["exact", "withheld", "bounded", "generalised"]
"""How quasi-identifiers are written: exactly, exactly or as ``*``, exactly or as ``>=90``, or as any set."""
Tables = Mapping[str, WrittenTable]

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
        Whether sensitive values are told for groups of records; ``form`` then says in how many tables.
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
        """Whether it never leaves out a record of the table that it is given."""
        is_drawn = self.is_sample or self.release_type == "synthetic"
        return not is_drawn and "suppression" not in self.parameters


def _takes(*parameters: str, **others: Any) -> KnownMethod:
    return KnownMethod(frozenset(parameters), **others)


_DRAWN = ("epsilon", "delta", "n-records", "records-per-person")

METHODS: dict[str, KnownMethod] = {
    "aim": _takes(*_DRAWN, "degree", "rounds", release_type="synthetic", is_private=True),
    "anatomy": _takes("l", "form", has_groups=True, diversity="l"),
    "as-is": _takes(),
    "bucketize": _takes("model", "variant", "form", "free", "smallest-group", has_groups=True),
    "cart-synthesis": _takes("order", "min-leaf", "smoothing", "n-records", release_type="synthetic"),
    "cell-suppression": _takes("model", "suppression", cells="withheld"),
    "clustering": _takes("model", "borders", cells="generalised"),
    "cut": _takes("cuts", "model", "suppression", "free", cells="generalised"),
    "date-shift": _takes("days", "attributes", release_type="perturbed"),
    "full-domain": _takes("levels", "model", "suppression", cells="generalised"),
    "laplace": _takes("epsilon", "attributes", "ranges", "rounded", release_type="perturbed"),
    "local-recoding": _takes("model", "effort", "cells", "borders", cells="generalised"),
    "microaggregation": _takes("k", release_type="perturbed"),
    "mondrian": _takes("model", "variant", "target", "free", "borders", cells="generalised"),
    "mst": _takes(*_DRAWN, release_type="synthetic", is_private=True),
    "pram": _takes("retain", "attributes", "probabilities", "within", "two-stage", release_type="perturbed"),
    "rank-swapping": _takes("reach", "attributes", release_type="perturbed"),
    "sampling": _takes("share", is_sample=True),
    "suppress-quasi-identifiers": _takes(cells="withheld", withholds="quasi-identifying"),
    "suppress-sensitive": _takes(withholds="sensitive"),
    "top-coding": _takes("bounds", cells="bounded"),
}

# Parameters whose texts or keys name attributes, and of these the ones that name quasi-identifiers alone.
_NAMING = (
    *("attributes", "free", "within", "order", "target"),
    *("levels", "cuts", "bounds", "ranges", "probabilities"),
)
_NAMING_QUASI = ("levels", "cuts", "ranges")
# Between which numbers a parameter lies on which a statement rests.
_BOUNDS: dict[str, tuple[float, float]] = {
    "epsilon": (0, math.inf),
    "delta": (0, 1),
    "share": (0, 1),
    "suppression": (0, 1),
    "n-records": (0, math.inf),
    "retain": (0, 1),
    "reach": (0, 1),
    "records-per-person": (1, math.inf),
    "min-leaf": (1, math.inf),
    "smallest-group": (1, math.inf),
    "k": (1, math.inf),
    "l": (1, math.inf),
}
# A parameter of such a name reads like a promise, and no method may have it that does not take it.
_PROMISING = frozenset({"model", "epsilon", "delta"}).union(*(model.parameters for model in MODELS.values()))


def contradictions(seen: PublicView, manifest: Manifest, tables: Tables) -> Iterator[tuple[str, str]]:
    """Compare the statements of a folder with each other and with its cells.

    Returns
    -------
    Iterator
        For each group of statements what it says, and the first contradiction, if there is one.
    """
    name = manifest.recipe.sanitizer
    method = METHODS.get(name)
    if method is not None:
        yield f"the rows and tables are such as {name} makes", _first(_of_the_form(manifest, name, method))
        yield (
            f"the cells are written as {name} writes them",
            _first(_of_the_cells(seen, manifest, tables, method)),
        )
        yield (
            f"the number of records is such as {name} releases",
            _first(_of_the_records(seen, manifest, method)),
        )
        yield f"the recipe gives {name} what it takes", _first(_of_the_parameters(manifest, method))
    yield "the recipe promises what is required, and nothing else", _first(_of_the_promises(manifest, method))
    yield (
        "every attribute is described as its cells are",
        _first(_of_the_attributes(manifest, tables, method)),
    )
    yield (
        "no band of the owner's contradicts another statement",
        _first(_of_the_bands(seen, manifest, tables, method)),
    )
    yield "the decision and what was tried can have been so", _first(_of_the_decision(manifest))


def like_sets(manifest: Manifest, tables: Tables) -> list[str]:
    """Return the attributes called exact whose cells read like intervals, sets or branches."""
    method = METHODS.get(manifest.recipe.sanitizer)
    described = {each.name: each for each in manifest.unverified.attributes}
    return [
        name
        for name, facts in manifest.layout.attributes.items()
        if method is not None and _written_as(method, facts, described.get(name)) != "generalised"
        for column in [_column(tables, name)]
        if facts.branches or (column and any(_members(cell) is not None for cell in column.values))
    ]


def _first(problems: Iterator[str]) -> str:
    """Return the first contradiction; a parameter of the wrong type or size counts as one."""
    try:
        return next(problems, "")
    except (ArithmeticError, TypeError, ValueError):
        return "it has parameters that nothing can be compared with"


# What a method makes


def _of_the_form(manifest: Manifest, name: str, method: KnownMethod) -> Iterator[str]:
    layout, asked = manifest.layout, manifest.recipe.parameters
    if layout.type != method.release_type:
        yield f"{name} makes {method.release_type} records, and these are called {layout.type}"
    if (layout.group is not None) != method.has_groups:
        yield f"{name} has {'' if method.has_groups else 'no '}groups of sensitive values"
    form = asked.get("form", layout.form) if method.has_groups else "one-table"
    if layout.form != form:
        yield f"the recipe makes the form {form!r}, and this is {layout.form!r}"
    if layout.sampled != method.is_sample:
        yield f"{name} {'draws a' if method.is_sample else 'is no'} random sample"
    if manifest.parent is not None and (method.has_groups or method.release_type != "people"):
        yield f"no later release has the recoding of {name}"


def _of_the_parameters(manifest: Manifest, method: KnownMethod) -> Iterator[str]:
    asked = manifest.recipe.parameters
    # a later version may know more parameters; none of them may read like a promise
    for name in asked:
        if name in _PROMISING - method.parameters:
            yield f"it takes no {name}"
    for name in sorted(method.parameters - set(asked)):
        yield f"{name} is missing"
    for name, (low, high) in _BOUNDS.items():
        if name in asked and not (_is_number(asked[name]) and low <= asked[name] <= high):
            yield f"{name} is no number from {low:g} to {high:g}"
    if method.is_private and not all(
        _is_number(asked.get(name)) and asked[name] > 0 for name in ("epsilon", "delta")
    ):
        yield "it is differentially private only with an epsilon and a delta above 0"
    roles = {name: facts.role for name, facts in manifest.layout.attributes.items()}
    for parameter in _NAMING:
        for name in _named(asked.get(parameter)):
            if name not in roles:
                yield f"{parameter} names an attribute that is not published"
            elif parameter in _NAMING_QUASI and roles[name] != "quasi-identifying":
                yield f"{parameter} names {name!r}, which is not called quasi-identifying"


def _named(given: Any) -> list[str]:
    if isinstance(given, str):
        return [given] if given else []
    return [name for name in given if isinstance(name, str)] if isinstance(given, (list, dict)) else []


def _of_the_records(seen: PublicView, manifest: Manifest, method: KnownMethod) -> Iterator[str]:
    asked, n_original = manifest.recipe.parameters, seen.n_original
    if method.release_type == "synthetic":
        drawn = asked.get("n-records") or n_original
        if not _is_number(drawn):
            yield "the number of records to draw is no number"
        elif seen.n_records != drawn:
            yield f"the recipe draws {drawn:,}, and there are {seen.n_records:,}"
        return
    left_out = n_original - seen.n_records
    people = manifest.unverified.people
    if method.is_sample and _is_number(asked.get("share")):
        drawn_of, found = (
            (n_original, seen.n_records) if people is None else (people.original, people.released)
        )
        drawn = max(round(asked["share"] * drawn_of), 1)
        if found != drawn:
            yield f"the recipe draws {drawn:,} of {drawn_of:,}, and there are {found:,}"
    if people is not None and people.original - people.released > left_out:
        yield f"{left_out:,} records are left out, fewer than people"
    # a recoding that was learned on other records may leave out more; a note or a parent then says so
    if method.release_type == "perturbed" or (manifest.parent is None and not manifest.unverified.notes):
        most = asked.get("suppression")
        if method.keeps_every_record and left_out:
            yield f"it leaves out no record, and {left_out:,} are left out"
        if _is_number(most) and left_out > most * n_original * (1 + _TIE):
            share = left_out / n_original
            yield f"the recipe leaves out at most {most:.1%} of the records, and {share:.1%} are left out"
    if manifest.recipe.sanitizer == "microaggregation" and _is_number(asked.get("k")):
        fewest = int(seen.sizes.min())
        if fewest < asked["k"]:
            yield f"the recipe asks for groups of {asked['k']:g}, and the smallest class has {fewest:,}"


# What is promised


def promised(model: Any) -> list[dict[str, Any]]:
    """Return the single models of a recipe: (alpha, k)-anonymity includes k-anonymity."""
    parts: list[dict[str, Any]] = []
    for name, parameters in model.items() if isinstance(model, Mapping) else ():
        if name == "alpha-k-anonymity" and isinstance(parameters, Mapping):
            parts.append({"k-anonymity": {"k": parameters.get("k")}})
        parts.append({name: parameters})
    return parts


def _of_the_promises(manifest: Manifest, method: KnownMethod | None) -> Iterator[str]:
    asked = manifest.recipe.parameters
    wanted = promised(asked.get("model"))
    if method is not None and method.diversity is not None:
        wanted.append({"probabilistic-diversity": {"l": asked.get(method.diversity)}})
    found = [each.model for each in manifest.requirements]
    # (alpha, k)-anonymity is promised together with its k, whatever method promises it
    wanted += [part for model in found for part in promised(model)[:-1] if part not in wanted]
    if not all(each in found for each in wanted):
        yield "a model that the recipe promises is not required"
    if any(found.count(each) > 1 for each in found):
        yield "a model is required twice"
    # a method that is not known may promise more than a model that it is given
    if method is not None and not all(each in wanted for each in found):
        yield "a model is required that the recipe does not promise"


# What the cells are


def _column(tables: Tables, name: str) -> FileColumn | None:
    return next((table.columns[name] for table in tables.values() if name in table.columns), None)


def _counts(tables: Tables, name: str) -> dict[str | None, int] | None:
    """Return how many records have each cell of an attribute; ``None`` where a second table counts them."""
    table = next(iter(tables.values()))
    if name not in table.columns:
        return None
    return dict(zip(table.columns[name].values, table.occurrences(name).tolist(), strict=True))


def _written_as(method: KnownMethod, facts: AttributeFacts, described: UnverifiedAttribute | None) -> Cells:
    """Return how a method writes an attribute: only quasi-identifiers are generalized."""
    if facts.role != "quasi-identifying":
        return "bounded" if method.cells == "bounded" else "exact"
    return "generalised" if described is not None and described.lowest else method.cells


def _of_the_cells(seen: PublicView, manifest: Manifest, tables: Tables, method: KnownMethod) -> Iterator[str]:
    described = {each.name: each for each in manifest.unverified.attributes}
    for name, facts in manifest.layout.attributes.items():
        column = _column(tables, name)
        if column is None:
            continue
        said = described.get(name)
        problem = _of_a_column(
            column, _written_as(method, facts, said), said is not None and said.kind == "numeric"
        )
        if method.withholds == facts.role and column.values != (_WITHHELD,):
            problem = "has values, and the recipe withholds them"
        if manifest.unverified.missing == "drop" and any(_may_be_missing(cell) for cell in column.values):
            problem = "has missing values, and records with missing ones are said to be dropped"
        if problem:
            yield f"{name!r} {problem}"
    if manifest.recipe.sanitizer == "full-domain":
        yield from _of_the_levels(manifest, tables)
    if manifest.recipe.sanitizer == "top-coding":
        yield from _of_the_top(manifest, tables)


def _of_a_column(column: FileColumn, written_as: Cells, is_numeric: bool) -> str:
    cells = [cell for cell in column.values if cell is not None]
    if written_as == "generalised":
        return ""
    if _WITHHELD in cells and written_as != "withheld" and len(column.values) > 1:
        return "has some cells that are withheld"
    others = [cell for cell in cells if cell != _WITHHELD]
    if written_as == "bounded":
        others = [cell for cell in others if _bound(cell) is None]
    if is_numeric:
        return (
            ""
            if all(_number(cell) is not None for cell in others)
            else "is numeric and has generalised cells"
        )
    # categories may be written like intervals or sets in the original, but then they exclude each other
    return "has cells that stand for the values of others" if _overlap(others) else ""


def _of_the_levels(manifest: Manifest, tables: Tables) -> Iterator[str]:
    """Compare the levels of a full-domain recoding with the cells: exact at the bottom, ``*`` at the top."""
    levels = manifest.recipe.parameters.get("levels")
    if not isinstance(levels, Mapping):
        yield "the recipe names no levels"
        return
    for each in manifest.unverified.attributes:
        column = _column(tables, each.name)
        if each.role != "quasi-identifying" or each.levels is None or column is None:
            continue
        level = levels.get(each.name, 0)
        if not _is_number(level) or not 0 <= level < each.levels:
            yield f"the recipe puts {each.name!r} on a level that it does not have"
        elif level == each.levels - 1 > 0 and column.values != (_WITHHELD,):
            yield f"the recipe withholds {each.name!r}, and it has values"
        elif max(level, each.lowest or 0) == 0 and each.exact != sum(
            (_counts(tables, each.name) or {}).values()
        ):
            yield f"the recipe leaves {each.name!r} exact, and not all of its cells are called so"
        elif max(level, each.lowest or 0) == 0 and (
            problem := _of_a_column(column, "exact", each.kind == "numeric")
        ):
            yield f"the recipe leaves {each.name!r} exact, and it {problem}"


def _of_the_top(manifest: Manifest, tables: Tables) -> Iterator[str]:
    bounds = manifest.recipe.parameters.get("bounds")
    for name, bound in bounds.items() if isinstance(bounds, Mapping) else ():
        column = _column(tables, name)
        for cell in () if column is None else column.values:
            number = None if cell is None else _number(cell)
            if number is not None and _is_number(bound) and number >= bound:
                yield f"{name!r} has numbers above the bound of the recipe"
            if cell is not None and _bound(cell) not in (None, bound):
                yield f"{name!r} has another bound than the recipe"


# How cells read


def _number(cell: str) -> float | None:
    if "_" in cell:
        return None
    try:
        found = float(cell)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


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
    intervals = sorted(found for text in texts if (found := _interval(text)) is not None)
    for (_, high, closed), (low, *_) in itertools.pairwise(intervals):
        if low < high or (closed and low == high):
            return True
    numbers = [number for text in texts if (number := _number(text)) is not None]
    return any(low <= each < high for each in numbers for low, high, _ in intervals)


# What is said of attributes


def _of_the_attributes(manifest: Manifest, tables: Tables, method: KnownMethod | None) -> Iterator[str]:
    layout = manifest.layout
    for each in manifest.unverified.attributes:
        problem = ""
        facts = layout.attributes.get(each.name)
        if each.kind not in (None, "numeric", "categorical"):
            problem = "is neither numeric nor categorical"
        elif facts is None:
            facts_of_cells = (each.levels, each.lowest, each.weight, each.exact)
            if facts_of_cells != (None,) * 4 or each.noisy or each.ends_at_values:
                problem = "is not published, and is described as if it were"
        else:
            problem = _described_wrongly(each, facts, _column(tables, each.name))
            if not problem and method is not None:
                problem = _counted_wrongly(each, facts, tables, method)
        if problem:
            yield f"{each.name!r} {problem}"


def _described_wrongly(each: UnverifiedAttribute, facts: AttributeFacts, column: FileColumn | None) -> str:
    if facts.kind is not None and each.kind is not None and facts.kind != each.kind:
        return "is numeric in one place and categorical in another"
    if None in (each.levels, each.lowest, each.weight):
        return "is published, and its levels or its weight are missing"
    if each.lowest and facts.role != "quasi-identifying":
        return "has a lowest level, and is not called quasi-identifying"
    if each.levels is not None and each.lowest is not None and not 0 <= each.lowest < max(each.levels, 1):
        return "has a lowest level that its hierarchy does not have"
    if each.levels is not None and each.levels < 1:
        return "has no level"
    if each.weight is not None and not 0 <= each.weight < math.inf:
        return "has a weight below 0"
    if each.exact is not None and (each.exact < 0 or each.noisy):
        return (
            "is called noisy, and exact cells of it are counted"
            if each.noisy
            else "has fewer exact cells than none"
        )
    if each.ends_at_values and facts.role != "quasi-identifying":
        return "is not generalised, and its intervals are said to end at values"
    if facts.whole and each.kind == "categorical":
        return "is categorical, and its numbers are called whole"
    if facts.whole and not each.noisy and column is not None:
        numbers = [_number(cell) for cell in column.values if cell is not None]
        if any(number is not None and number != round(number) for number in numbers):
            return "has numbers that are not whole"
    return ""


def _counted_wrongly(
    each: UnverifiedAttribute, facts: AttributeFacts, tables: Tables, method: KnownMethod
) -> str:
    """Compare the number of cells that are called exact with the number that read so."""
    if each.noisy:
        return "is called noisy, and the method adds no noise" if method.release_type == "people" else ""
    written_as = _written_as(method, facts, each)
    if written_as != "generalised" and each.ends_at_values:
        return "is not generalised, and its intervals are said to end at values"
    counts = _counts(tables, each.name)
    if counts is None or each.exact is None or (written_as == "generalised" and each.kind != "numeric"):
        return ""
    exact = sum(
        count for cell, count in counts.items() if _reads_exact(cell, is_numeric=each.kind == "numeric")
    )
    return "" if each.exact == exact else f"has {exact:,} cells that read exact, not {each.exact:,}"


def _reads_exact(cell: str | None, *, is_numeric: bool) -> bool:
    if cell is None or (is_numeric and _number(cell) is not None):
        return True
    return not is_numeric and cell != _WITHHELD


# What is told as bands


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

# Measures of the cells whose values are shares, for where the owner counts people instead of records.
_SHARES = frozenset({"reidentification-risk", "journalist-risk", "marketer-risk", "alpha-k-anonymity"})
# Without the size of a population they look at one that is not published, or at survey weights.
_OF_A_POPULATION = frozenset({"journalist-risk", "marketer-risk"})
_PROMISED = {"epsilon": "epsilon", "privacy-delta": "delta"}

Span = tuple[float, float]


def _of_the_bands(
    seen: PublicView, manifest: Manifest, tables: Tables, method: KnownMethod | None
) -> Iterator[str]:
    figures = manifest.unverified.figures
    told = [(each.measure, each.parameters, each.attribute) for each in figures]
    for figure, again in zip(figures, told, strict=True):
        problem = _of_a_figure(figure, manifest, method)
        if told.count(again) > 1:
            problem = "is told twice"
        if not problem and figure.band is not None:
            span = _span(figure.band)
            possible = _possible(seen, manifest, tables, method, figure)
            if span[1] < possible[0] - _slack(possible[0]) or span[0] > possible[1] + _slack(possible[1]):
                problem = f"cannot be {_words(span)}: what else is told gives {_words(possible)}"
        if problem:
            yield f"{figure.measure} {problem}"
    yield from _of_the_worst(figures)
    initial = manifest.unverified.initial
    if initial is not None:
        worst, average = _span(initial.worst), _span(initial.average)
        if not manifest.profiles:
            yield "the risk of the original is told, and no profile asks for it"
        if not _is_band(worst, 1.0) or not _is_band(average, 1.0) or not (0 < worst[0] <= worst[1] <= 1):
            yield "the risk of the original is no band of a risk"
        if average[0] > worst[1]:
            yield "the risk of the original is higher on average than at worst"


def _of_a_figure(figure: OwnerFigure, manifest: Manifest, method: KnownMethod | None) -> str:
    """Return the problem with a single figure, if any."""
    counts_people = manifest.unverified.people is not None
    known = FIGURES.get(figure.measure)
    if known is None and figure.measure in MEASURES:
        is_of_people = counts_people and figure.axis == "privacy"
        needs_more = figure.measure in _OF_A_POPULATION and "population-size" not in figure.parameters
        if not is_of_people and not needs_more:
            return "can be computed from the cells, and is told as a band"
        axis, better = MEASURES[figure.measure].axis, MEASURES[figure.measure].better
        known = KnownFigure(axis, better, high=1.0 if figure.measure in _SHARES else math.inf)
    if known is not None and (figure.axis != known.axis or known.better not in (None, figure.better)):
        return "is put on another side"
    names = {each.name for each in manifest.unverified.attributes}
    if known is not None and figure.attribute is not None and figure.attribute not in names:
        return "speaks of an attribute that there is not"
    limits = [each for each in manifest.policy.values() if _is_limited(figure, each)]
    if figure.met is not None and not limits:
        return "is said to keep a policy that does not speak of it"
    if figure.band is None:
        return "does not apply, and is called the worst" if figure.worst else ""
    is_promised = figure.measure in _PROMISED
    if is_promised and method is not None and not method.is_private:
        return "is promised, and the method is not differentially private"
    span = _span(figure.band)
    most = math.inf if known is None else known.high
    if not (span[0] == span[1] if is_promised else _is_band(span, most)):
        return "has a band that is none"
    if known is not None and (span[0] < known.low * (2 if known.low < 0 else 1) or span[0] > known.high):
        return f"has a band outside of {known.low:g} to {known.high:g}"
    # a figure that is the worst of all attributes may be worse than the one that a limit speaks of
    for limit in [each for each in limits if figure.met and each.attribute in (None, figure.attribute)]:
        low = -math.inf if limit.at_least is None else limit.at_least
        high = math.inf if limit.at_most is None else limit.at_most
        if span[1] < low - _slack(low) or span[0] > high + _slack(high):
            return "is said to keep a limit that its band does not"
    return ""


def _is_limited(figure: OwnerFigure, limit: LimitFacts) -> bool:
    return limit.speaks_of(figure.measure, figure.parameters, figure.attribute)


def _span(band: Band) -> Span:
    return numeral(band.low), numeral(band.high)


def _is_band(span: Span, most: float) -> bool:
    """Return whether `publish` writes such a band: a factor of two wide, or up to the largest value."""
    low, high = span
    if math.isnan(low) or math.isnan(high):
        return False
    if low == high:
        return low == 0 or math.isinf(low) or abs(low) == most
    if low > 0:
        return _is_near(high, 2 * low) or (high == 1.0 and low < high < 2 * low)
    return high < 0 and _is_near(low, 2 * high)


def _is_near(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_TIE)


def _slack(end: float) -> float:
    return _TIE * max(1.0, abs(end)) if math.isfinite(end) else 0.0


def _words(span: Span) -> str:
    low, high = span
    if low == high:
        return f"{low:.6g}"
    if math.isinf(low) or math.isinf(high):
        return f"at most {high:.6g}" if math.isinf(low) else f"at least {low:.6g}"
    return f"{low:.6g} to {high:.6g}"


def _possible(
    seen: PublicView, manifest: Manifest, tables: Tables, method: KnownMethod | None, figure: OwnerFigure
) -> Span:
    """Return the range of a figure, as far as the cells and the other statements determine it."""
    asked, name = manifest.recipe.parameters, figure.measure
    if name in _PROMISED and method is not None:
        own = asked.get(_PROMISED[name])
        return (float(own), float(own)) if _is_number(own) else (-math.inf, math.inf)
    if name in ("k-anonymity", "composition-k"):
        # a class has no more people than records, and two releases have no larger classes than one
        fewest = float(seen.sizes.min() if seen.people is None else seen.people.min())
        return (-math.inf if seen.people is None or name != "k-anonymity" else fewest, fewest)
    if name == "reidentification-risk":
        fewest = float(seen.sizes.min() if seen.people is None else seen.people.min())
        return 1 / fewest, math.inf if seen.people is None else 1 / fewest
    if name in ("general-loss", "total-loss"):
        low, high = _loss(seen, manifest, tables)
        more = seen.n_suppressed / seen.n_original if name == "total-loss" else 0.0
        return low + more, high + more
    if name == "precision" and manifest.recipe.sanitizer == "full-domain":
        return _precision(manifest)
    return -math.inf, math.inf


def _loss(seen: PublicView, manifest: Manifest, tables: Tables) -> Span:
    """Return the range of the general loss: a withheld cell loses everything, an exact one nothing."""
    low, high, weights = [0.0], [0.0], [0.0]
    for each in manifest.unverified.attributes:
        if each.role != "quasi-identifying" or each.name not in manifest.layout.attributes:
            continue
        counts = _counts(tables, each.name) or {}
        # where all is withheld, there may be one value only, which loses nothing
        withheld = counts.get(_WITHHELD, 0) if len(counts) > 1 else 0
        facts = manifest.layout.attributes.get(each.name)
        # a branch may be called like a value
        exact = 0 if each.exact is None or facts is None or facts.branches else each.exact
        weight = 1.0 if each.weight is None else each.weight
        low.append(weight * withheld / seen.n_original)
        high.append(weight * max(seen.n_records - exact, 0) / seen.n_original)
        weights.append(weight)
    total = math.fsum(weights)
    return (math.fsum(low) / total, math.fsum(high) / total) if total > 0 else (0.0, 1.0)


def _precision(manifest: Manifest) -> Span:
    levels = manifest.recipe.parameters.get("levels")
    quasi = [each for each in manifest.unverified.attributes if each.role == "quasi-identifying"]
    if not isinstance(levels, Mapping) or not quasi or not all(map(_is_number, levels.values())):
        return 0.0, 1.0
    shares = [
        max(levels.get(each.name, 0), each.lowest or 0) / max((each.levels or 1) - 1, 1) for each in quasi
    ]
    exact = 1 - math.fsum(shares) / len(shares)
    return exact, exact


def _of_the_worst(figures: Collection[OwnerFigure]) -> Iterator[str]:
    """Find a measure of several attributes whose worst figure is unmarked or not the worst."""
    for figure in figures:
        same = [each for each in figures if each.measure == figure.measure]
        told = [each for each in same if each.parameters == figure.parameters and each.band is not None]
        worst = [each for each in told if each.worst]
        if told and not worst:
            yield f"{figure.measure} has no worst figure"
        for one in worst:
            for other in told:
                if one.band is None or other.band is None:
                    continue
                mine, others = _span(one.band), _span(other.band)
                if mine[1] < others[0] if figure.better == "lower" else mine[0] > others[1]:
                    yield f"{figure.measure} has a worse figure than the worst"


# What was decided


def _of_the_decision(manifest: Manifest) -> Iterator[str]:
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
    measured = {claim.measure for claim in manifest.claims} | {each.measure for each in unverified.figures}
    if not all(label.split(" ")[0] in measured for label in unverified.headline):
        yield "the report begins with a measure that was not taken"
    if len(set(unverified.headline)) < len(unverified.headline):
        yield "the report begins with a measure twice"
    if any(
        limit.at_least is not None and limit.at_most is not None and limit.at_least > limit.at_most
        for limit in manifest.policy.values()
    ):
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


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
