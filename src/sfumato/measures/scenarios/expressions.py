"""Evaluate the small formulas over attributes that a project file may contain, safely.

A formula has no powers, no loops and no names except those passed in. Its length, depth and numbers are
limited, so it ends soon and reaches nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from sfumato.data.table import Column
from sfumato.measures.scenarios.formulas import COMPARISONS, FormulaStep, steps_of
from sfumato.runtime.arrays import Booleans, Codes, Floats
from sfumato.runtime.errors import ParameterError, suggestion

Type = Literal["number", "text", "truth", "any"]
"""What a part of a formula is; ``any`` when that is not known before the data is."""


@dataclass(frozen=True)
class Expression:
    """A formula over named columns, checked when it is created.

    Truth values count as 1 and 0 where a number is wanted. A missing value equals only a missing value,
    is never above or below anything, and makes sums and products missing; a missing result counts as 0.

    Parameters
    ----------
    text
        The formula, as it is written.

    Examples
    --------
    >>> from sfumato import Table
    >>> table = Table.from_arrow({"age": [31, 60, 70], "sex": ["f", "f", "m"]})
    >>> Expression('if(sex = "f" and age > 55, 10, 1)').evaluate(table.columns)
    array([ 1., 10.,  1.])
    """

    text: str

    def __post_init__(self) -> None:
        _ = self._steps  # so that a formula that cannot be read is refused here

    @cached_property
    def _steps(self) -> tuple[FormulaStep, ...]:
        return steps_of(self.text)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that it mentions, each once."""
        return tuple(dict.fromkeys(step.given for step in self._steps if step.operation == "column"))

    def check(self, types: Mapping[str, Type]) -> Type:
        """Return the type of the result, or report which part does not fit these columns."""
        stack: list[Type] = []
        for step in self._steps:
            operands = _popped(stack, step.operands)
            stack.append(_type_of(step, operands, types))
        if stack[-1] == "text":
            raise ParameterError("the formula gives text; make it a number or a comparison")
        return stack[-1]

    def evaluate(self, columns: Mapping[str, Column]) -> Floats:
        """Return the result for each row.

        What depends on one column alone is computed for each of its values, not for each row.
        """
        self.check({name: type_of(column) for name, column in columns.items()})
        stack: list[_Operand] = []
        for step in self._steps:
            operands = _popped(stack, step.operands)
            stack.append(_performed(step, operands, columns))
        n_rows = len(next(iter(columns.values())).codes) if columns else 1
        return _result(stack[-1], n_rows)


def type_of(column: Column) -> Type:
    """Return the type of the values of a column in a formula."""
    return "number" if column.kind.is_number else "text"


def _popped(stack: list[Any], count: int) -> list[Any]:
    popped = stack[len(stack) - count :]
    del stack[len(stack) - count :]
    return popped


# Checking


def _type_of(step: FormulaStep, operands: Sequence[Type], types: Mapping[str, Type]) -> Type:
    if step.operation == "constant":
        return "text" if isinstance(step.given, str) else "number"
    if step.operation == "column":
        if step.given not in types:
            hint = suggestion(step.given, types) or f"; there are {', '.join(types) or 'none'}"
            raise ParameterError(f"no attribute {step.given!r}{hint}")
        return types[step.given]
    if step.operation == "in":
        for constant in step.given:
            _check_alike(operands[0], "text" if isinstance(constant, str) else "number")
        return "truth"
    if step.operation in ("=", "!="):
        _check_alike(*operands)
        return "truth"
    if step.operation in ("and", "or", "not"):
        if any(operand in ("number", "text") for operand in operands):
            raise ParameterError(f"'{step.operation}' joins comparisons; write for example age > 55")
        return "truth"
    if step.operation == "if":
        return _type_of_choice(*operands)
    if "text" in operands:
        what = "< and >" if step.operation in COMPARISONS else f"'{step.operation}'"
        raise ParameterError(f"{what} needs numbers, and one side is text; compare texts with = or in (…)")
    return "truth" if step.operation in COMPARISONS else "number"


def _check_alike(one: Type, other: Type) -> None:
    if "any" not in (one, other) and (one == "text") != (other == "text"):
        raise ParameterError(
            "a text is compared with a number; quote what is text, and only that (numbers of a "
            "categorical attribute are text)"
        )


def _type_of_choice(condition: Type, one: Type, other: Type) -> Type:
    if condition in ("number", "text"):
        raise ParameterError("if() begins with a comparison; write for example if(age > 55, 10, 1)")
    _check_alike(one, other)
    return one if one == other else "any" if "any" in (one, other) else "number"


# Computing


class _Operand(NamedTuple):
    """Values for every row, for every value of one column, or for all; and where they are undefined.

    Parameters
    ----------
    values
        Numbers with NaN for missing ones, texts with ``None`` for missing ones, or truth values.
    undefined
        Where a zero was divided by, or a number grew too large.
    codes
        What takes the values to the rows; ``None`` when there is one for each row or one for all.
    """

    values: Any
    undefined: Booleans
    codes: Codes | None = None


def _performed(step: FormulaStep, operands: list[_Operand], columns: Mapping[str, Column]) -> _Operand:
    if step.operation == "constant":
        value = np.array([step.given], dtype=object if isinstance(step.given, str) else np.float64)
        return _Operand(value, np.zeros(1, dtype=np.bool_))
    if step.operation == "column":
        column = columns[step.given]
        return _Operand(domain_values(column), np.zeros(len(column.domain), dtype=np.bool_), column.codes)
    values, undefined, codes = _aligned(operands)
    with np.errstate(all="ignore"):
        if step.operation == "if":
            result = np.where(values[0], values[1], values[2])
            poisoned = undefined[0] | np.where(values[0], undefined[1], undefined[2])
        elif step.operation in ("and", "or"):
            result = values[0] & values[1] if step.operation == "and" else values[0] | values[1]
            decided = ~values[0] if step.operation == "and" else values[0]
            poisoned = undefined[0] | (undefined[1] & ~decided)
        elif step.operation == "in":
            result = np.isin(values[0], step.given)
            poisoned = undefined[0]
        else:
            result = _OPERATIONS[step.operation](*values)
            poisoned = np.logical_or.reduce(undefined)
            if step.operation == "/":
                poisoned = poisoned | (values[1] == 0)
            if result.dtype == np.float64:
                poisoned = poisoned | np.isinf(result)
    return _Operand(result, poisoned, codes)


def _aligned(operands: list[_Operand]) -> tuple[list[Any], list[Booleans], Codes | None]:
    """Bring the operands to the same length: one value per value of a shared column, else per row."""
    owners = {id(operand.codes) for operand in operands if operand.codes is not None}
    by_row = any(operand.codes is None and len(operand.values) > 1 for operand in operands)
    codes = None
    if len(owners) <= 1 and not by_row:
        codes = next((operand.codes for operand in operands if operand.codes is not None), None)
    else:
        operands = [_by_row(operand) for operand in operands]
    values = np.broadcast_arrays(*(operand.values for operand in operands))
    undefined = np.broadcast_arrays(*(operand.undefined for operand in operands))
    return list(values), list(undefined), codes


def _by_row(operand: _Operand) -> _Operand:
    if operand.codes is None:
        return operand
    return _Operand(operand.values[operand.codes], operand.undefined[operand.codes])


def domain_values(column: Column) -> Any:
    """Return the values of a domain: numbers with NaN for a missing one, or texts with ``None``."""
    if column.kind.is_number:
        return column.numbers
    return np.array([None if value is None else str(value) for value in column.domain], dtype=object)


def _equal(one: Any, other: Any) -> Booleans:
    same = np.asarray(one == other)
    if np.asarray(one).dtype == np.float64 and np.asarray(other).dtype == np.float64:
        return np.asarray(same | (np.isnan(one) & np.isnan(other)))
    return same


def _numbers(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Let an operation take truth values as 1 and 0."""
    return lambda *values: operation(*(np.asarray(value, dtype=np.float64) for value in values))


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "=": _equal,
    "!=": lambda one, other: ~_equal(one, other),
    "<": _numbers(np.less),
    "<=": _numbers(np.less_equal),
    ">": _numbers(np.greater),
    ">=": _numbers(np.greater_equal),
    "+": _numbers(np.add),
    "-": _numbers(np.subtract),
    "*": _numbers(np.multiply),
    "/": _numbers(np.divide),
    "negative": _numbers(np.negative),
    "abs": _numbers(np.abs),
    "min": _numbers(lambda *values: np.minimum.reduce(values)),
    "max": _numbers(lambda *values: np.maximum.reduce(values)),
    "not": np.logical_not,
}


def _result(operand: _Operand, n_rows: int) -> Floats:
    by_row = _by_row(operand)
    undefined = np.broadcast_to(by_row.undefined, n_rows)
    if undefined.any():
        raise ParameterError(
            f"the formula divides by zero, or grows too large, in {int(undefined.sum()):,} of {n_rows:,} "
            "rows; guard it with if(…)"
        )
    values = np.where(np.isnan(by_row.values), 0.0, by_row.values)
    return np.broadcast_to(values, n_rows).copy()
