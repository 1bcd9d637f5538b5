"""Find the measure that somebody means by a name, a label, a short name or words."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sfumato.results import formatting
from sfumato.results.measure_label import MeasureLabel
from sfumato.results.measurement import Measurement, build_measure, by_attribute
from sfumato.runtime.errors import ParameterError, suggestion

SHORT_NAMES = {
    "k": "k-anonymity",
    "l": "probabilistic-diversity",
    "t": "t-closeness",
    "alpha": "alpha-k-anonymity",
    "beta": "beta-likeness",
    "delta": "delta-disclosure",
    "risk": "reidentification-risk",
    "ploss": "privacy-loss",
    "a_know": "knowledge-gain",
    "a_acc": "accuracy-gain",
    "a_quot": "disclosure-quotient",
    "loss": "total-loss",
    "information loss": "total-loss",
    "gl": "general-loss",
    "generalization": "general-loss",
    "sl": "suppression-loss",
    "suppression": "suppression-loss",
    "uloss": "utility-loss",
}
"""The letters of the models and the words of the papers, and the measure that each stands for."""


def label_of(written: str, measurements: list[Measurement]) -> MeasureLabel:
    """Return the label of the measure that somebody wrote, among those that were measured."""
    plain = " ".join(written.split())
    for m in by_attribute(measurements):
        ending = f" of {m.attribute}"
        if plain.casefold().endswith(ending.casefold()):
            return label_of(plain[: -len(ending)], [m]).of_attribute(m.attribute)
    name = full_name(written, measurements)
    labels = dict.fromkeys(m.label for m in measurements)
    exact = next((label for label in labels if label.casefold() == name.casefold()), None)
    if exact is not None:
        return exact
    alike = list(dict.fromkeys(m.label for m in measurements if m.measure == name))
    if len(alike) == 1:
        return alike[0]
    if alike:
        raise ParameterError(f"{written!r} may be {formatting.joined(map(repr, alike))}; write one of them")
    measured = f"measured are {', '.join(sorted(labels))}" if labels else "nothing was measured"
    if measure_exists(name):
        called = f"{written!r} is {name}, which" if written.casefold() != name else name
        raise ParameterError(
            f"{called} was not measured; add it to [measure] of the project file and explore again, "
            f"or ask with --measure; {measured}"
        )
    near = suggestion(written, [*labels, *SHORT_NAMES, *_names_by_title(measurements)])
    raise ParameterError(f"no measure {written!r}{near or ';'} {measured}")


def full_name(written: str, measurements: Iterable[Measurement] = ()) -> str:
    """Return the name that a short name, or a name in words, stands for; other names as they are.

    Examples
    --------
    >>> full_name("K"), full_name("privacy loss"), full_name("t distance=js")
    ('k-anonymity', 'privacy-loss', 't-closeness distance=js')
    """
    name, *parameters = re.split(r" (?=\S+=)", " ".join(written.split()), maxsplit=1)
    plain = name.casefold()
    titles = _names_by_title(measurements)
    full = SHORT_NAMES.get(plain) or titles.get(plain) or re.sub(r"[ _]", "-", plain)
    return " ".join([full, *parameters])


def _names_by_title(measurements: Iterable[Measurement]) -> dict[str, str]:
    return {formatting.measure_words(m.measure).title.casefold(): m.measure for m in measurements}


def measure_exists(name: str) -> bool:
    """Return whether a measure or a model has this name."""
    try:
        build_measure(name)
    except ParameterError:
        return False
    return True
