"""What measures, models, sanitizers and roles mean to a reader, and how numbers are printed."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from sfumato import registry
from sfumato.errors import ParameterError
from sfumato.frontier import Limit
from sfumato.models.base import Better
from sfumato.recipe import Recipe


@dataclass(frozen=True)
class Words:
    """A measure or model for somebody who has never heard of it.

    Parameters
    ----------
    title
        Its name in running text.
    meaning
        What it measures, in a sentence or two.
    reading
        How to read a value.
    range
        The values that it can take.
    unit
        A ``share`` is printed in percent, a ``number`` as it is.
    sentence
        The value in a sentence about a release; ``{}`` stands for the value.
    baseline
        What the number is compared with, if the measure compares.
    """

    title: str
    meaning: str
    reading: str = ""
    range: str = ""
    unit: Literal["number", "share"] = "number"
    sentence: str = ""
    baseline: str = "baseline"


ROLES = {
    "identifying": "Names a person directly. Dropped on reading; part of no release.",
    "quasi-identifying": "May be known to others; several together may single a person out. Generalised or"
    " withheld as the recipe says.",
    "sensitive": "What an adversary would like to learn about a person.",
    "insensitive": "None of these. Released as it is.",
}

SANITIZERS = {
    "as-is": "Identifying attributes are removed and nothing else.",
    "suppress-quasi-identifiers": "All quasi-identifiers are withheld.",
    "suppress-sensitive": "All sensitive attributes are withheld.",
    "full-domain": "Every attribute is generalised to one level of its hierarchy, the same for all "
    "records; records that are still too distinct are left out.",
    "cut": "The ordered values of every attribute are cut into ranges, the same for all records.",
    "mondrian": "The records are split again and again at medians of their quasi-identifiers, as long as "
    "both parts keep what was asked; each part is then generalised to what its records have in common.",
    "clustering": "Similar records are gathered into clusters; each cluster is generalised to what its "
    "records have in common.",
    "bucketize": "Quasi-identifiers stay exact; sensitive values are exchanged among the records of a "
    "bucket.",
    "anatomy": "Quasi-identifiers stay exact; sensitive values are published in a second table, per group.",
    "cell-suppression": "Only those cells are withheld that would make a record too distinct.",
    "laplace": "Random noise is added to numbers.",
}

MEASURES = {
    "privacy-loss": Words(
        "privacy loss",
        "How far the release moves what an adversary believes about a person's sensitive value, for the "
        "person for whom it moves most (Jensen-Shannon divergence between the distribution in the whole "
        "table and that in the person's group).",
        "0: the release tells nothing about anybody that the whole table does not tell. 0.693: it gives a "
        "rare value away with certainty.",
        "0 to 0.693 (log 2)",
        sentence="what an adversary believes about a person's sensitive value moves by at most {} on a "
        "scale from 0 to 0.693",
    ),
    "knowledge-gain": Words(
        "knowledge gain",
        "How far, on average over the records, the sensitive distribution in a person's group lies from "
        "that of the whole table (total variation distance).",
        "0: nothing is learned about anybody. Near 1: groups give rare values away.",
        "0 to 1",
        sentence="what an adversary believes moves by {} on average, on a scale from 0 to 1",
    ),
    "accuracy-gain": Words(
        "accuracy gain",
        "How much more often an adversary who knows all quasi-identifiers guesses the sensitive value "
        "right with the release than with the whole table's distribution alone.",
        "0%: the release does not help. 30%: of 100 guesses 30 more are right.",
        "up to 100%; below 0% only when the records left out differ from the others",
        "share",
        sentence="an adversary's guesses at the sensitive value are right more often by {} of all guesses",
        baseline="right guesses without the release",
    ),
    "disclosure-quotient": Words(
        "disclosure quotient",
        "The largest factor, as a natural logarithm, by which any group makes any sensitive value more or "
        "less likely than the whole table does.",
        "0: no group differs. 0.69: some value is twice or half as likely. ∞: some value is ruled out in "
        "some group.",
        "0 to ∞",
    ),
    "information-gain": Words(
        "information gain",
        "How much the groups tell about the sensitive attribute on average (mutual information, natural "
        "logarithm).",
        "0: nothing. The upper end: the groups determine the sensitive value.",
        "0 to the entropy of the attribute",
    ),
    "weighted-k": Words(
        "weighted k",
        "The size of the class in which a record finds itself on average.",
        "1: every record is alone. 100: on average a record is one of 100 that look alike.",
        "1 to the number of released records",
        sentence="on average a record is one of {} that look alike",
    ),
    "reidentification-risk": Words(
        "re-identification risk",
        "The chance of picking the right record of a person whose quasi-identifiers are known and who is "
        "known to be in the table, for the record that is easiest to find (prosecutor risk: one over the "
        "smallest class).",
        "100%: somebody is unique. 9.09% is a smallest class of 11, 5% one of 20.",
        "above 0% to 100%",
        "share",
        sentence="nobody who knows a person's quasi-identifiers picks the right record with a chance above"
        " {}",
    ),
    "journalist-risk": Words(
        "journalist risk",
        "The chance of picking the right person for a record when nobody knows who is in the table, for the "
        "record that is easiest to find: one over the people of the population who look like it.",
        "100%: somebody in the table is unique in the whole population. 5%: everybody looks like at least "
        "19 others.",
        "above 0% to 100%",
        "share",
        sentence="nobody who does not know who is in the table finds the person behind a record with a "
        "chance above {}",
    ),
    "marketer-risk": Words(
        "marketer risk",
        "The share of the records that are matched rightly, on average, by somebody who tries to match them "
        "all with the people who look like them.",
        "100%: all of them. 5%: of 100 records 5 are matched rightly, and nobody can say which.",
        "above 0% to 100%",
        "share",
        sentence="somebody who tries to match all records matches {} of them rightly",
    ),
    "quasi-identifier-contribution": Words(
        "contribution of a quasi-identifier",
        "The part of the average re-identification risk that the most revealing quasi-identifier brings "
        "(Shapley's value). The detail names it: it is the one to coarsen first.",
        "Near the average risk: this quasi-identifier makes nearly all of it. The parts of all "
        "quasi-identifiers add up to the average risk, less that of guessing.",
        "0% to the average risk",
        "share",
    ),
    "anti-utility": Words(
        "anti-utility",
        "The share of the people, weighted as the scenario says, about whom the best data miner of an "
        "adversary learns what the adversary wants.",
        "At or below the baseline: mining the release tells no more than saying the same of everybody.",
        "0% to 100% for the named functions",
        "share",
        baseline="the same said of everybody",
    ),
    "nearer-knowledge-gain": Words(
        "knowledge gain with nearer predictions",
        "How far the sensitive values of a person's class lie from those of the whole table on average, when "
        "the classes are split further by a miner's nearer predictions.",
        "At the baseline: the predictions add nothing.",
        "0 to 1",
        baseline="without predictions",
    ),
    "nearer-accuracy-gain": Words(
        "accuracy gain with nearer predictions",
        "How much more often an adversary guesses the sensitive value of a person right than without the "
        "release, when the classes are split further by a miner's nearer predictions.",
        "At the baseline: the predictions add nothing.",
        "0% to 100%",
        "share",
        baseline="without predictions",
    ),
    "auxiliary-gain": Words(
        "gain with auxiliary information",
        "How much more often an adversary with a list of people guesses an attribute of them right than of "
        "people who are not in the table, or than by the commonest value.",
        "0% or less: that a person is in the table gives nothing away about that person.",
        "-100% to 100%",
        "share",
        baseline="strangers, or the commonest value",
    ),
    "k-anonymity": Words(
        "k-anonymity",
        "The size of the smallest class of records with equal released quasi-identifiers.",
        "1: somebody is unique. 5: everybody looks like at least 4 others.",
        "1 to the number of released records",
        sentence="every released record looks, in its quasi-identifiers, like at least {} records, itself "
        "included",
    ),
    "distinct-diversity": Words(
        "distinct l-diversity",
        "The number of different sensitive values in the group that has fewest.",
        "1: some group gives its sensitive value away.",
        "1 to the number of sensitive values",
    ),
    "probabilistic-diversity": Words(
        "probabilistic l-diversity",
        "One over the largest share that one sensitive value has in any group.",
        "1: some group gives its sensitive value away. 4: no value has more than a quarter of any group.",
        "1 to the number of sensitive values",
        sentence="no sensitive value has a share above 1/{} in any group",
    ),
    "entropy-diversity": Words(
        "entropy l-diversity",
        "The number of equally frequent sensitive values that would be as uncertain as the least uncertain"
        " group.",
        "1: some group gives its sensitive value away.",
        "1 to the number of sensitive values",
    ),
    "recursive-diversity": Words(
        "recursive (c, l)-diversity",
        "Whether in every group the commonest sensitive value is rarer than c times the values from the "
        "l-th on.",
    ),
    "alpha-k-anonymity": Words(
        "(alpha, k)-anonymity",
        "The largest share that a sensitive value has in any class, in classes of at least k records.",
        "100%: some class gives its sensitive value away.",
        "0% to 100%",
        "share",
    ),
    "t-closeness": Words(
        "t-closeness",
        "The distance between the sensitive distribution of the group that differs most and that of the "
        "whole table.",
        "0: every group looks like the whole table.",
        "0 to 1 (to 0.693 with Jensen-Shannon)",
        sentence="in no group does the sensitive distribution lie further than {} from that of the whole "
        "table",
    ),
    "delta-disclosure": Words(
        "delta-disclosure privacy",
        "The largest factor, as a logarithm, by which a group makes a sensitive value more or less likely.",
        "0: every group looks like the whole table. ∞: some value is ruled out in some group.",
        "0 to ∞",
    ),
    "beta-likeness": Words(
        "beta-likeness",
        "The largest relative increase of a sensitive value's share in any group over its share in the "
        "whole table.",
        "0: no value becomes more likely. 1: some value becomes twice as likely.",
        "0 to ∞",
    ),
    "utility-loss": Words(
        "utility loss",
        "How far the sensitive distributions that a researcher would estimate for large sub-populations "
        "lie from the true ones, on average (Jensen-Shannon divergence).",
        "0: all of them are estimated exactly.",
        "0 to 0.693 (log 2)",
        sentence="what a researcher estimates for large sub-populations is off by {} on average, on a "
        "scale from 0 to 0.693",
        baseline="with quasi-identifiers withheld",
    ),
    "query-error": Words(
        "query error",
        "The mean relative error of count queries when they are answered from the release.",
        "0%: every query is answered exactly.",
        "0% to ∞",
        "share",
        sentence="count queries are answered with a mean error of {}",
        baseline="with quasi-identifiers withheld",
    ),
    "general-loss": Words(
        "general loss",
        "The share of their information that the cells of the quasi-identifiers lose by generalisation: an"
        " exact cell loses nothing, a withheld one everything, a generalised one in proportion to the "
        "values that it may stand for. Records that are left out count under suppression loss.",
        "0%: every released cell is exact. 100%: all quasi-identifiers are withheld.",
        "0% to 100%",
        "share",
        sentence="the cells of the quasi-identifiers lose {} of their information",
    ),
    "suppression-loss": Words(
        "suppression loss",
        "The share of the records that are left out of the release.",
        "0%: all records are released.",
        "0% to 100%",
        "share",
        sentence="{} of the records are left out",
    ),
    "total-loss": Words(
        "total loss",
        "General loss plus suppression loss: a record that is left out loses all its cells.",
        "0%: nothing is lost. 100%: everything.",
        "0% to 100%",
        "share",
        sentence="{} of the information in the quasi-identifiers is lost, records that are left out included",
    ),
    "discernibility": Words(
        "discernibility",
        "How many records each record cannot be told from, added up; a record that is left out counts as "
        "indiscernible from all.",
        "The number of records: all are distinct. Its square: none can be told from any other.",
        "the number of records to its square",
    ),
    "average-class-size": Words(
        "average class size",
        "The mean size of a class, divided by k where one is given.",
        "Without k the mean size itself. With the k that was asked for, 1: classes are as small as they may "
        "be.",
        "above 0",
    ),
    "precision": Words(
        "precision",
        "One minus the mean level to which the attributes are generalised, as a share of the height of "
        "their hierarchies.",
        "100%: nothing is generalised. 0%: everything is withheld.",
        "0% to 100%",
        "share",
    ),
    "kl-divergence": Words(
        "KL divergence",
        "How far the joint distribution that a researcher would reconstruct from the release lies from the"
        " original one.",
        "0: it is reconstructed exactly.",
        "0 to ∞",
    ),
    "workload-utility": Words(
        "workload utility",
        "How much more often a classifier that was trained on the release is right than one trained on the "
        "better of the two trivial releases: that without quasi-identifiers, and that without sensitive "
        "attributes.",
        "0% or less: the trivial release serves as well, and tells nothing about anybody.",
        "-100% to 100%",
        "share",
        sentence="a researcher's classifier gains {} in accuracy over the better trivial release",
        baseline="right on the better trivial release",
    ),
    "good-utility": Words(
        "decline of good utility",
        "The largest part of what the data miners of an honest user achieve on the original, weighted as the "
        "scenario says, that is lost with the release.",
        "0%: no miner does worse than on the original.",
        "0% and more",
        "share",
    ),
}

DETAILS = {
    "percentile-95": "95th percentile",
    "worst-sum": "worst miner's sum",
    "average-sum": "average of the miners' sums",
    "worst-miner": "worst miner",
    "told-anyway": "told by the release anyway",
    "members": "gained of people in a second release",
    "control": "gained of people left out of it",
    "control-miner": "miner with the largest difference",
    "beyond-control": "gained beyond the control group",
    "beyond-control-low": "beyond the control group at least",
    "beyond-control-high": "beyond the control group at most",
    "no-control": "why there is no control group",
    "replaced": "if predictions replace released values",
    "with-fitting-record": "people with a fitting record",
    "unfinished": "miners that did not come to an end",
    "share-at-risk": "records above the threshold",
    "uniques": "records alone in their class",
    "average": "average over the records",
    "accuracy": "right guesses with the release",
    "largest-finite": "largest of the values that occur",
    "share-ruled-out": "records for whom a value is ruled out",
    "entropy": "entropy in the whole table",
    "remaining-entropy": "entropy left within the groups",
    "percentile-5": "5th percentile",
    "percentile-25": "25th percentile",
    "percentile-50": "median",
    "percentile-75": "75th percentile",
    "matched": "records matched rightly",
    "populations": "large populations",
    "redrawn": "queries drawn again",
    "by-attribute": "each attribute",
    "coarsen-first": "to coarsen first",
    "contribution": "parts",
    "average-without": "average risk if withheld",
    "privacy-loss-without": "privacy loss if withheld",
    "mean-privacy-loss-without": "mean privacy loss if withheld",
}
NUMBERS = frozenset({"matched", "smallest", "privacy-loss-without", "mean-privacy-loss-without"})
"""Details that are no shares, whatever the unit of their measure."""

_MINUS = "\u2212"
_IDENTITY_MEASURES = frozenset(
    {
        "reidentification-risk",
        "weighted-k",
        "journalist-risk",
        "marketer-risk",
        "quasi-identifier-contribution",
    }
)


def measure_words(name: str) -> Words:
    """Return what a measure or a model means; one that is not known here speaks through its docstring.

    A label's parameters are added to the title.
    """
    name, _, parameters = name.partition(" ")
    if parameters:
        known = measure_words(name)
        return replace(known, title=f"{known.title} ({parameters})")
    if name in MEASURES:
        return MEASURES[name]
    return Words(name.replace("-", " "), _summary("measure", name) or _summary("model", name))


def sanitizer_words(name: str) -> str:
    """Return in a sentence what a sanitizer does."""
    return SANITIZERS.get(name) or _summary("sanitizer", name)


def guards(measure: str) -> str:
    """Return whether a privacy measure looks at ``identity`` or at ``attribute`` disclosure."""
    model = registry.registered("model").get(measure)
    return str(model.guards) if model else "identity" if measure in _IDENTITY_MEASURES else "attribute"


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


def exactly(measure: str, value: float) -> str:
    """Print a value of a measure in its unit with all the digits that a comparison may need."""
    return share(value, 6) if measure_words(measure).unit == "share" else number(value, 6)


def limit_of(measure: str, limit: Limit) -> str:
    """Print a limit on a measure in the measure's unit."""
    ends = [f"at least {exactly(measure, limit.at_least)}"] if limit.at_least > -math.inf else []
    ends += [f"at most {exactly(measure, limit.at_most)}"] if limit.at_most < math.inf else []
    return " and ".join(ends) or "any value"


def joined(parts: Iterable[str]) -> str:
    """Join with commas and an ``and``.

    Examples
    --------
    >>> joined(["age", "sex", "zip"])
    'age, sex and zip'
    """
    *front, last = [*parts] or [""]
    return f"{', '.join(front)} and {last}" if front else last


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
    asked = [model_in_words(name, parameters) for name, parameters in models.items()]
    rest = _listed({name: value for name, value in given.items() if name != "model"})
    with_models = f"{recipe.sanitizer} with {joined(asked)}" if asked else recipe.sanitizer
    return f"{with_models}; {rest}" if rest else with_models


def model_in_words(model: str, parameters: Mapping[str, Any]) -> str:
    """Return a model as a phrase, without what it leaves at its default unless that is its limit."""
    limit = getattr(registry.registered("model").get(model), "parameter", None)
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


def _changed(kind: registry.Kind, name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    try:
        defaults = registry.defaults_of(registry.look_up(kind, name))
    except ParameterError:
        defaults = {}
    return {key: value for key, value in parameters.items() if key not in defaults or defaults[key] != value}


def _listed(parameters: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name} {plain(value)}" if isinstance(value, Mapping) else f"{name} = {plain(value)}"
        for name, value in parameters.items()
    )


def _summary(kind: registry.Kind, name: str) -> str:
    """Return the first sentence of a registered class's docstring."""
    cls = registry.registered(kind).get(name)
    documentation = (inspect.getdoc(cls) or "") if cls else ""
    # a dataclass without a docstring gets its signature as one
    if cls is None or documentation.startswith(f"{cls.__name__}("):
        return ""
    return " ".join(documentation.split("\n\n")[0].split()).replace("`", "")
