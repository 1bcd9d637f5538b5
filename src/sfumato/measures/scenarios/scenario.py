"""A scenario: what the honest user of a release and the adversary each want to learn."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal, TypeVar, get_args

import numpy as np

from sfumato.data.table import Table
from sfumato.measures.scenarios.expressions import Expression, Type
from sfumato.miners.base import CellsAs
from sfumato.registry.declarations import Above, AtLeast, AtMost, Between, Seed, shown
from sfumato.registry.methods import check_bounds
from sfumato.runtime.arrays import Floats, freeze_fields
from sfumato.runtime.errors import ParameterError, suggestion

Weights = str | float | Callable[[Table], Any]
"""How much each record matters: a formula over the attributes, one number, or a function of the table."""
Judgement = str | Callable[..., Any]
"""What a prediction is worth: a named function, a formula, or a function of arrays of values."""
Guesses = Literal["values", "released", "both"]
TrainedOn = Literal["others", "all"]

ERRORS = ("equal", "distance")
REDUCTIONS = ("nearer", "exact", "distance")


@dataclass(frozen=True)
class User:
    """The honest user, who predicts one or several attributes and benefits from every good prediction.

    Parameters
    ----------
    target
        The attribute to predict; by default each sensitive attribute by itself. Of several, every prediction
        counts: a person is worth to the user what all of them are worth together.
    weights
        How much each record matters, w(x).
    error
        What a prediction is worth, E(predicted, true): ``equal`` is 1 for the true value and else 0;
        ``distance`` is 1 for the true value and falls to 0 for the farthest one; or a formula in
        ``predicted`` and ``true``.
    miners
        The miners L that users are taken to use, by name, or with parameters: ``random-forest trees=10``.
    """

    target: str | tuple[str, ...] | None = None
    weights: Weights = 1.0
    error: Judgement = "equal"
    miners: tuple[str, ...] = ("naive-bayes", "decision-tree", "random-forest")

    def __post_init__(self) -> None:
        # project files and people write lists; a tuple can be a key
        freeze_fields(self, miners=tuple)
        if isinstance(self.target, list):
            freeze_fields(self, target=tuple)
        if self.target == ():
            raise ParameterError(
                "a user needs at least one target; leave it out for the sensitive attributes"
            )
        _check_weights(self.weights)
        _check_judgement(self.error, ERRORS, ("predicted", "true"))
        if not self.miners:
            raise ParameterError("a user needs at least one miner")

    @property
    def targets(self) -> tuple[str, ...]:
        """The named targets."""
        return (self.target,) if isinstance(self.target, str) else self.target or ()


@dataclass(frozen=True)
class Adversary:
    """The adversary, who predicts attributes to get closer to the truth about a person.

    Parameters
    ----------
    attributes
        The attacked attributes; by default the sensitive ones. Of several, the one where the adversary
        comes nearest counts for each person.
    weights
        How much each record matters, v(x).
    reduction
        What a prediction is worth, E*(predicted, released, true): ``exact`` is 1 for the true value;
        ``nearer`` is 1 for a prediction that is c% nearer to the truth than the released value is;
        ``distance`` is the share of the released value's distance that the prediction takes away; or a
        formula in ``predicted``, ``released`` and ``true``.
    c
        By how many per cent a nearer prediction must be nearer: 0 is any bit, 100 the true value. Nobody
        comes nearer to a value that is released as it is.
    miners
        The reference miners M. Those that predict numbers are used where an attribute is released with
        noise, the others where it is not.
    guesses
        What is predicted where sets of values are released: ``values`` of the original, ``released``
        values (as in the paper), or ``both``, one after the other.
    fusion
        Whether the vote of all miners (the mean, for numbers) is one more adversary.
    trained_on
        Whether the miner that predicts a record was trained on the ``others`` only, in folds, or on ``all``
        records of the release, this one among them: M(S(DB), S(x)), as the paper writes it.
    knows
        Attributes whose true values the adversary knows from elsewhere, for everybody and beside which
        record: a register. Miners learn from them, and predict with them, in the place of the released ones.
    """

    attributes: tuple[str, ...] = ()
    weights: Weights = 1.0
    reduction: Judgement = "exact"
    c: Annotated[float, Between(0, 100, "a percentage")] = 0.0
    miners: tuple[str, ...] = (
        "naive-bayes",
        "decision-tree",
        "random-forest",
        "linear-regression",
        "regression-tree",
    )
    guesses: Guesses = "both"
    fusion: bool = True
    trained_on: TrainedOn = "others"
    knows: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # project files and people write lists; a tuple can be a key
        freeze_fields(self, attributes=tuple, miners=tuple, knows=tuple)
        for name in self.attributes:
            if name in self.knows:
                raise ParameterError(
                    f"an adversary who knows {name!r} need not attack it; leave one of them out"
                )
        _check_weights(self.weights)
        _check_judgement(self.reduction, REDUCTIONS, ("predicted", "released", "true"))
        check_bounds(self)
        _check_word("guesses", self.guesses, get_args(Guesses))
        _check_word("trained-on", self.trained_on, get_args(TrainedOn))
        if not self.miners:
            raise ParameterError("an adversary needs at least one miner")


@dataclass(frozen=True)
class Scenario:
    """An honest user and an adversary, and how their predictions are made.

    Parameters
    ----------
    name
        What it is called in labels.
    user, adversary
        What each of them wants.
    folds
        In how many parts the records are divided: each part is predicted from all others.
    seed
        Decides on the parts and on the miners' random choices.
    time_limit
        Seconds after which a miner is given up.
    control
        The share of the people who are left out of a second release, made by the same recipe, to see how
        much of what the adversary learns is also learned about people who are not in the table; 0 is
        nobody. It costs another run of the sanitizer and one fit of each miner, beside the fits for the
        folds.
    cells
        What a generalised cell is to a miner, the user's or the adversary's: ``shares`` of the values that
        it may stand for, or one of the released ``labels``, which have nothing in common with each other,
        as a program sees them that reads the released file and knows no hierarchy.

    References
    ----------
    M. Sramka et al., "A practice-oriented framework for measuring privacy and utility in data
    sanitization systems", 2010, section 2.

    Examples
    --------
    >>> scenario = Scenario(
    ...     "early-detection",
    ...     User("diagnosis", weights='if(sex = "Female" and age > 55, 10, 1)'),
    ...     Adversary(("age",), reduction="nearer", c=50),
    ... )
    >>> Scenario.of(scenario.to_dict()) == scenario
    True
    """

    name: str = ""
    user: User = field(default_factory=User)
    adversary: Adversary = field(default_factory=Adversary)
    folds: Annotated[int, AtLeast(2), AtMost(10_000)] = 10
    seed: Seed = 0
    time_limit: Annotated[float, Above(0), AtMost(10_000_000)] = 600.0
    control: Annotated[float, Between(0, 0.5, "a share")] = 0.2
    cells: CellsAs = "shares"

    def __post_init__(self) -> None:
        if not (isinstance(self.user, User) and isinstance(self.adversary, Adversary)):
            raise ParameterError("the user and the adversary of a scenario are tables; write them as such")
        check_bounds(self)
        _check_word("cells", self.cells, get_args(CellsAs))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; functions of your own cannot be serialized."""
        return {
            part.name: _plain_part(value) if isinstance(value, (User, Adversary)) else value
            for part in fields(self)
            for value in [getattr(self, part.name)]
        }

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> Scenario:
        """Read what `to_dict` wrote."""
        parts = {"user": User, "adversary": Adversary}
        given = {
            key: _built(parts[key], value) if key in parts and isinstance(value, Mapping) else value
            for key, value in written.items()
        }
        return _built(cls, given)

    def check(self, types: Mapping[str, Type]) -> None:
        """Report which attribute or formula does not fit a table with these attributes."""
        for name in (*self.user.targets, *self.adversary.attributes, *self.adversary.knows):
            if name not in types:
                hint = suggestion(name, types) or f"; there are {', '.join(types)}"
                raise ParameterError(f"no attribute {name!r} that is released{hint}")
        for weights in (self.user.weights, self.adversary.weights):
            if isinstance(weights, str):
                Expression(weights).check(types)
        for name in self.user.targets:
            _check_formula(self.user.error, ERRORS, ("predicted", "true"), types[name])
        for name in self.adversary.attributes:
            names = ("predicted", "released", "true")
            _check_formula(self.adversary.reduction, REDUCTIONS, names, types[name])


def weights_of(weights: Weights, table: Table) -> Floats:
    """Return the weight of each row of a table.

    Examples
    --------
    >>> table = Table.from_arrow({"age": [31, 60]})
    >>> weights_of("age > 55", table)
    array([0., 1.])
    """
    if isinstance(weights, str):
        numbers = Expression(weights).evaluate(table.columns)
    else:
        given = weights(table) if callable(weights) else weights
        numbers = np.broadcast_to(np.asarray(given, dtype=np.float64), table.n_rows)
    if not (np.isfinite(numbers).all() and (numbers >= 0).all()):
        raise ParameterError("a weight is negative or no number; give weights of 0 or more")
    return numbers


_Part = TypeVar("_Part")


def _built(kind: type[_Part], written: Mapping[str, Any]) -> _Part:
    allowed = [parameter.name for parameter in fields(kind)]  # type: ignore[arg-type]
    for key in written:
        if key not in allowed:
            hint = suggestion(key, allowed) or f"; it has {', '.join(allowed)}"
            raise ParameterError(f"a scenario has no {key!r}{hint}")
    try:
        return kind(**written)
    except TypeError:
        raise ParameterError(
            "a part of the scenario has the wrong type; write it as in the reference"
        ) from None


def _plain_part(part: User | Adversary) -> dict[str, Any]:
    values = {parameter.name: getattr(part, parameter.name) for parameter in fields(part)}
    if any(callable(value) for value in values.values()):
        raise ParameterError("a scenario with functions of your own cannot be written down; use formulas")
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def _check_word(key: str, given: str, allowed: tuple[str, ...]) -> None:
    if given not in allowed:
        raise ParameterError(f"{key} cannot be {given!r}; allowed are {', '.join(allowed)}")


def _check_weights(weights: Weights) -> None:
    if isinstance(weights, str):
        Expression(weights)
    elif not callable(weights) and not 0 <= weights < math.inf:
        raise ParameterError(f"a weight must be 0 or more, not {shown(weights)}")


def _check_judgement(judgement: Judgement, named: tuple[str, ...], names: tuple[str, ...]) -> None:
    _check_formula(judgement, named, names, "any")


def _check_formula(judgement: Judgement, named: tuple[str, ...], names: tuple[str, ...], of: Type) -> None:
    if not isinstance(judgement, str) or judgement in named:
        return
    formula = Expression(judgement)
    if formula.names == (judgement,) and judgement not in names:
        hint = suggestion(judgement, named) or f"; there are {', '.join(named)}, or a formula"
        raise ParameterError(f"no function {judgement!r}{hint}")
    formula.check(dict.fromkeys(names, of))
