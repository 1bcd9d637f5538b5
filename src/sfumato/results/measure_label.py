"""What a measurement is called: its measure, its parameters and one sensitive attribute, as one type."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Self

from sfumato.registry import methods

_BEFORE_PARAMETER = re.compile(r" (?=[\w-]+=)")


class MeasureLabel(str):
    """The label of a measurement, such as ``t-closeness distance=js of income``, and its parts.

    It is a text because it is a key in project files, stored results and manifests. Code that needs a part
    asks for it; only `parse` takes a text apart that a user typed or a file holds.

    Parameters
    ----------
    measure
        The name of the measure.
    parameters
        The parameters that are not at their defaults, in words: ``distance=js``.
    attribute
        The sensitive attribute, if the label means one of several.

    Examples
    --------
    >>> MeasureLabel("t-closeness", "distance=js", "income")
    't-closeness distance=js of income'
    """

    __slots__ = ("attribute", "measure", "parameters")

    measure: str
    parameters: str
    attribute: str | None

    def __new__(cls, measure: str, parameters: str = "", attribute: str | None = None) -> Self:
        """Write the label from its parts."""
        whole = f"{measure} {parameters}" if parameters else measure
        label = super().__new__(cls, whole if attribute is None else f"{whole} of {attribute}")
        label.measure, label.parameters, label.attribute = measure, parameters, attribute
        return label

    @classmethod
    def of(cls, measure: str, parameters: Mapping[str, Any], attribute: str | None = None) -> MeasureLabel:
        """Return the label of a measure with these parameters, as a project file writes them."""
        return cls(measure, methods.parameter_words(parameters), attribute)

    @classmethod
    def parse(cls, written: str) -> MeasureLabel:
        """Take apart a label that a user typed or a file holds.

        Examples
        --------
        >>> label = MeasureLabel.parse("worst-group-risk attribute=cause of death of=privacy-loss")
        >>> label.parameters, label.attribute
        ('attribute=cause of death of=privacy-loss', None)
        >>> label = MeasureLabel.parse("privacy-loss of cause of death")
        >>> label.measure, label.attribute
        ('privacy-loss', 'cause of death')
        """
        if isinstance(written, MeasureLabel):
            return written
        measure, _, rest = written.partition(" ")
        if rest.startswith("of "):
            return cls(measure, attribute=rest.removeprefix("of "))
        # the value of a parameter may have an "of" in it, too: an attribute comes after the last parameter
        *front, last = _BEFORE_PARAMETER.split(rest)
        last, of, attribute = last.partition(" of ")
        return cls(measure, " ".join([*front, last]), attribute if of else None)

    @property
    def whole(self) -> MeasureLabel:
        """The label without the attribute: it means the worst of all."""
        return self if self.attribute is None else MeasureLabel(self.measure, self.parameters)

    def of_attribute(self, attribute: str | None) -> MeasureLabel:
        """Return the label that means one sensitive attribute."""
        return MeasureLabel(self.measure, self.parameters, attribute)
