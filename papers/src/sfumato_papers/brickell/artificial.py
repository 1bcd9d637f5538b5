"""Rerun section 7 of Brickell and Shmatikov 2008: an artificial table with a private and useful release."""

from __future__ import annotations

from itertools import product

from sfumato import Attribute, Hierarchy, Release, Schema, Table, measure, sanitize
from sfumato.models import KAnonymity
from sfumato.sanitizers import FullDomain, SuppressQuasiIdentifiers, SuppressSensitive
from sfumato_papers.compare_figures import cell, exhibit
from sfumato_papers.exhibits import Claim, Exhibit
from sfumato_papers.quotations import quotation

_KEY = "artificial"
_COPIES = 50
"""How often each outcome of the coins occurs: their distribution is exact, and folds have some of each."""
_LEARNED = ("a3", "a4", "a5")
_EXACTLY = 100.0
_GAIN = "adversary's gain"


def artificial() -> Exhibit:
    """Return what can be learned from the three releases of the paper."""
    bound = _coins()
    releases = {
        "a2 suppressed": sanitize(*bound, FullDomain({"a1": 0, "a2": 1}, KAnonymity(1)), seed=0),
        "a1 and a2 suppressed": sanitize(*bound, SuppressQuasiIdentifiers(), seed=0),
        "a3 omitted": sanitize(*bound, SuppressSensitive(), seed=0),
    }
    learned = {name: _learned(release) for name, release in releases.items()}
    cells = [
        cell("brickell", _KEY, name, column, ours)
        for name, shares in learned.items()
        for column, ours in shares.items()
        if (name, column) != ("a3 omitted", "a3")
    ]
    first = learned["a2 suppressed"]
    halfway = learned["a3 omitted"]["a5"]
    claims = (
        Claim(
            "There are tables of which a sanitized release has complete privacy and complete utility.",
            first[_GAIN] == 0 and all(first[name] == _EXACTLY for name in _LEARNED),
            f"With a2 suppressed the adversary gains {first[_GAIN]:.0f} points, and "
            + ", ".join(f"{name} is learned in {first[name]:.0f}%" for name in _LEARNED),
            quotation("brickell", "both-complete"),
        ),
        Claim(
            "Without a3 the researcher learns only half of a5.",
            halfway < _EXACTLY,
            f"a5 is learned in {halfway:.0f}%: it is the sum of a1 and a2, which are still there",
            quotation("brickell", "half-of-a5"),
        ),
    )
    notes = (
        "Without a1 and a2 the paper says that nothing is learned of a4 and a5. That is so of a3 alone; but "
        "a4 is known from a3 and a5 together, and a5 from a3 and a4: their sum is that of both coins of a3.",
    )
    return exhibit("brickell", _KEY, cells, claims=claims, notes=notes, of_adult=False)


def _coins() -> tuple[Table, Schema]:
    """Return the table of the paper: every outcome of the three coins equally often."""
    throws = [coins for coins in product((0, 1), repeat=3) for _ in range(_COPIES)]
    columns = {
        "a1": [str(r1) for r1, _, _ in throws],
        "a2": [str(r2) for _, r2, _ in throws],
        "a3": [f"{r2}, {r3}" for _, r2, r3 in throws],
        "a4": [str(r1 ^ r3) for r1, _, r3 in throws],
        "a5": [str(r1 ^ r2) for r1, r2, _ in throws],
    }
    bit = Hierarchy.of_rows([["0", "*"], ["1", "*"]])
    schema = Schema(
        (
            Attribute("a1", "quasi-identifying", "categorical", bit),
            Attribute("a2", "quasi-identifying", "categorical", bit),
            Attribute("a3", "sensitive", "categorical"),
            Attribute("a4", "insensitive", "categorical"),
            Attribute("a5", "insensitive", "categorical"),
        )
    )
    return schema.bind(Table.from_arrow(columns))


def _learned(release: Release) -> dict[str, float]:
    """Return what an adversary gains of a3, and how often the best miner is right about each attribute."""
    (gain,) = measure(release, ["accuracy-gain"])
    learned = {_GAIN: 100 * (gain.value or 0.0)}
    for target in _LEARNED:
        researcher = {
            "workload-utility": {"target": target, "miners": ["nearest-neighbours", "decision-tree"]}
        }
        (utility,) = measure(release, [researcher])
        if utility.value is not None:
            learned[target] = 100 * float(utility.detail["accuracy"])
    return learned
