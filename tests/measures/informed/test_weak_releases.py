"""Each attack of an informed attacker works on a release made to be weak, and on no other's ground.

Where all quasi-identifiers are withheld there is nothing to reason from: each falls to its baseline.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tests.measures.informed.refinement_lp import ReleasedClass, refine

from sfumato import Attribute, Schema, Table, measure, sanitize
from sfumato.measures import Measurement
from sfumato.models import AlphaKAnonymity, KAnonymity
from sfumato.results.linked_release import LinkedRelease, linked
from sfumato.sanitizers import Anatomy, Cut, FullDomain, LocalRecoding, SuppressQuasiIdentifiers

SCHEMA = Schema((Attribute("age", "quasi-identifying", "numeric"), Attribute("disease", "sensitive")))
TOWNS = Schema((*SCHEMA.attributes, Attribute("town", "quasi-identifying")))
GROUPS = Schema((Attribute("group", "quasi-identifying"), Attribute("disease", "sensitive")))
WITHHELD = SuppressQuasiIdentifiers()


def townspeople(n: int = 300) -> Table:
    """Return people whose age and town tell nothing of each other, nor of the disease."""
    rng = np.random.default_rng(0)
    ages, towns, ills = (rng.integers(low, high, n) for low, high in ((20, 60), (0, 8), (0, 5)))
    names = {"town": [f"town {town}" for town in towns], "disease": [f"disease {ill}" for ill in ills]}
    return Table.from_arrow({"age": ages.tolist(), **names})


def sorted_people() -> Table:
    """Return five diseases of different sizes, the odd ones in one group and the even ones in the other."""
    ills = np.repeat(np.arange(5), (130, 120, 90, 70, 50))
    groups, diseases = [f"group {ill % 2}" for ill in ills], [f"disease {ill}" for ill in ills]
    return Table.from_arrow({"group": groups, "disease": diseases})


def two_of_seven() -> Table:
    return Table.from_arrow({"group": ["q1"] * 2 + ["q2"] * 5, "disease": ["HIV"] * 2 + ["flu"] * 5})


def in_pairs() -> LinkedRelease:
    return sanitize(townspeople(), TOWNS, LocalRecoding(KAnonymity(2), borders="tight"), seed=1)


def refused() -> LinkedRelease:
    model = AlphaKAnonymity(1.0, k=1, alphas={"HIV": 0.5})
    return sanitize(two_of_seven(), GROUPS, FullDomain({"group": 1}, model))


def cut_twice() -> LinkedRelease:
    """Return ages 21-23 and 24-26, published after 21-22 and 23-26: 23 is alone in both together."""
    table = {"age": [21, 22, 23, 24, 25, 26], "disease": ["flu", "gout", "asthma", "flu", "gout", "asthma"]}
    first, second = (
        sanitize(table, SCHEMA, Cut({"age": bits}, KAnonymity(2))) for bits in ("01000", "00100")
    )
    return second.with_earlier(first)


def withheld(weak: LinkedRelease) -> LinkedRelease:
    release = sanitize(weak.origin.table, weak.schema, WITHHELD, seed=1)
    return release.with_earlier(*(withheld(linked(before.release)) for before in weak.origin.earlier))


def taken(release: LinkedRelease, name: str) -> Measurement:
    (found,) = measure(release, [name])
    assert found.value is not None
    return found


WEAK: dict[str, tuple[Callable[[], LinkedRelease], float]] = {
    "border-gain": (in_pairs, 0.2),
    "downcoding": (in_pairs, 0.3),
    "downcoding-gain": (in_pairs, 0.1),
    "de-finetti-gain": (lambda: sanitize(sorted_people(), GROUPS, Anatomy(2), seed=2), 0.15),
}


@pytest.mark.parametrize("name", WEAK)
def test_what_a_weak_release_gives_away_nobody_gets_where_quasi_identifiers_are_withheld(name: str) -> None:
    made, least = WEAK[name]
    weak = made()
    assert (taken(weak, name).value or 0) > least
    assert taken(withheld(weak), name).value == 0


def test_what_was_refused_tells_and_what_is_withheld_was_not() -> None:
    weak = taken(refused(), "minimality-risk")
    assert weak.value == 1
    assert weak.baseline == pytest.approx(5 / 7)
    blank = taken(withheld(refused()), "minimality-risk")
    assert blank.value == blank.baseline == pytest.approx(5 / 7)


def test_two_releases_tell_together_what_neither_does_and_two_withheld_ones_nothing() -> None:
    weak = cut_twice()
    alone = taken(weak.with_earlier(), "composition-loss").value or 0
    assert (taken(weak, "composition-k").value, taken(weak.with_earlier(), "composition-k").value) == (
        1,
        3,
    )
    assert (taken(weak, "composition-loss").value or 0) > alone + 0.1
    assert taken(withheld(weak), "composition-k").value == 6
    assert taken(withheld(weak), "composition-loss").value == 0


def test_who_was_left_at_a_state_is_known_better_and_who_is_withheld_from_the_first_is_not() -> None:
    # six values in three pairs, k = 2: state by state, and everything withheld at once
    levels = [np.array([[0, 1, 2, 3, 4, 5], [0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 0, 0]])]
    states = [(0,), (1,), (2,)]
    weak = refine([ReleasedClass(1, (0,), 2), ReleasedClass(2, (0,), 2)], states, levels, 2)
    # nobody was alike at the first state, so the pair has one of each; the last two are of the other pairs
    assert weak.most == ((1, 1), (0, 0, 1, 1, 1, 1))
    blank = refine([ReleasedClass(0, (0,), 4)], states[2:], levels, 2)
    assert blank.most == ((4,) * 6,)
