"""Kind: how the values of a column are read, ordered, compared, generalized and given back.

A domain holds numbers or texts. `Kind.read` returns each value in the one way in which it is written, so
equal values are equal whichever file they come from. Everything that depends on the sort of values asks the
kind, once for each distinct value and never for each record.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sfumato.registry import methods
from sfumato.runtime.arrays import Floats
from sfumato.runtime.errors import ParameterError, SchemaError, suggestion
from sfumato.runtime.numerals import number

if TYPE_CHECKING:
    import pyarrow as pa

Value = str | int | float | None
"""One value of a domain; ``None`` is a missing value."""
Place = int | float
"""Where a value stands on a line."""


@dataclass(frozen=True)
class Kind:
    """A kind of value: numbers, categories, or what a plug-in adds.

    Parameters
    ----------
    name
        How project files and published folders call it, in kebab case.
    read
        Returns the value that a text means, in the one way in which it is written; ``None`` if it means none.
        What is written may not contain ``" to "``.
    place
        Returns where a value stands on a line. Values are in its order, and the difference of two places is
        their distance. Without it, the values have no order and are generalized along a hierarchy alone.
    at
        Returns the value at a place, or the last one in that direction; all places are then whole. Intervals
        of a hierarchy and round borders need it, because they end at values that nobody has.
    is_number
        Whether the values are numbers, which can be averaged, rounded and changed by noise.
    plural
        What the values are called in a message.
    is_telling
        Whether a column of text is guessed to be of this kind if all its values can be read.
    to_arrow
        Returns different values as an Arrow array; without it they are given back as numbers or text.

    Examples
    --------
    >>> NUMERIC.is_ordered, NUMERIC.position("2.5"), CATEGORICAL.is_ordered
    (True, 2.5, False)
    """

    name: str
    read: Callable[[str], Value]
    place: Callable[[Any], Place] | None = None
    at: Callable[[int], Value] | None = None
    is_number: bool = False
    plural: str = "values of this kind"
    is_telling: bool = False
    to_arrow: Callable[[Sequence[Any]], pa.Array] | None = None

    homes: ClassVar[tuple[str, ...]] = (__name__,)

    @property
    def names(self) -> tuple[str, ...]:
        """Its name, which no other kind may have."""
        return (self.name,)

    @property
    def module(self) -> str:
        """The module that reads its values; empty where a built-in function does."""
        return getattr(self.read, "__module__", None) or ""

    @property
    def is_ordered(self) -> bool:
        """Whether values stand on a line, so that neighbours are released as intervals."""
        return self.place is not None

    @property
    def can_round(self) -> bool:
        """Whether an interval can end at a round place, where nobody's value need be."""
        return self.is_number or self.at is not None

    def position(self, value: Value) -> Place | None:
        """Return where a value, or the text that means one, stands; ``None`` where it stands nowhere."""
        known = self.read(value) if isinstance(value, str) else value
        return None if known is None or self.place is None else self.place(known)

    def sorted(self, values: Iterable[Value]) -> tuple[Value, ...]:
        """Return the different values as a domain has them: in order, if they have one, a missing one last.

        Examples
        --------
        >>> NUMERIC.sorted([30, None, 4, 30]), CATEGORICAL.sorted(["b", "a", "b"])
        ((4, 30, None), ('b', 'a'))
        """
        known = dict.fromkeys(values)
        present = [value for value in known if value is not None]
        if self.place is not None:
            present.sort(key=self.place)
        return (*present, *([None] if None in known else []))

    def numbers(self, values: Sequence[Value]) -> Floats | None:
        """Return where the values of a domain stand, a missing one at NaN; ``None`` without an order."""
        if self.place is None:
            return None
        places = values if self.is_number else map(self.position, values)
        return np.array([np.nan if place is None else place for place in places], dtype=np.float64)


def register_kind(kind: Kind) -> Kind:
    """Register a kind of value, from then on known by its name; a name that is taken is refused.

    It must have an order: a reader of a published folder takes the order that stands there for the kind's.
    """
    if not kind.is_ordered:
        raise SchemaError(f"the kind {kind.name!r} has no place; values without an order are categories")
    if re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", kind.name) is None:
        raise methods.RegistrationRefused(
            "the name of a kind of value is in kebab case, for example iso-week"
        )
    return methods.register(kind)


def find_kind(name: str) -> Kind | None:
    """Return the kind of this name, if there is one."""
    return methods.instance_named(Kind, name)


def kind_named(name: str) -> Kind:
    """Return the kind of this name, or say which name is near.

    Examples
    --------
    >>> kind_named("numeric").plural
    'numbers'
    """
    kind = find_kind(name)
    if kind is None:
        raise ParameterError(f"no kind {name!r}{suggestion(name, kind_names())}")
    return kind


def kind_names() -> tuple[str, ...]:
    """Return the names of all kinds, those of plug-ins last."""
    others = (kind.name for kind in methods.instances(Kind) if kind not in (NUMERIC, CATEGORICAL))
    return (NUMERIC.name, CATEGORICAL.name, *others)


def _as_it_is(value: Any) -> Any:
    return value


NUMERIC = register_kind(Kind("numeric", number, _as_it_is, is_number=True, plural="numbers"))
"""Numbers, whole or with a fraction."""
CATEGORICAL = methods.register(Kind("categorical", _as_it_is, plural="categories"))
"""Texts without an order but that of a hierarchy."""
