"""Test the conclusions of the papers on any table and any two axes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sfumato import Candidate, Frontier
from sfumato.workflow.report.charts.plane import TRIVIAL
from sfumato_papers.exhibits import Claim
from sfumato_papers.experiments import Exploration

_MODELS = {
    "k-anonymity": "k-anonymity",
    "l-diversity": "probabilistic-diversity",
    "t-closeness": "t-closeness",
    "delta-disclosure": "delta-disclosure",
}
_ENOUGH = 4
"""How many releases of a model say something about it."""
_BOTH_TRIVIAL = ("suppress-quasi-identifiers", "suppress-sensitive")
_HALF = 0.5
ALMOST_NOTHING = 0.1
"""What is left of the utility when its destruction may be called almost complete."""


@dataclass(frozen=True)
class Viewpoint:
    """One way to measure what an adversary learns and what a researcher has of it.

    Parameters
    ----------
    key, title, short
        Its name, in a line and in a few words.
    privacy, utility
        The two axes.
    """

    key: str
    title: str
    short: str
    privacy: str
    utility: str

    def frontier(self, candidates: Iterable[Candidate]) -> Frontier:
        """Compare candidates on both axes."""
        return Frontier(tuple(candidates), (self.privacy, self.utility))

    def kept(self, candidate: Candidate, explored: Exploration) -> float | None:
        """Return the share of the utility that a release keeps: 1 as it is, 0 as the better trivial release.

        Where the table as it is serves no better than a trivial release, or by no more than chance may do,
        there is nothing to keep.
        """
        whole = _value_of(explored, "as-is", self.utility)
        return _share(candidate.value(self.utility), _better_trivial(explored, self.utility), whole)

    def learned(self, candidate: Candidate, explored: Exploration) -> float | None:
        """Return the share of the adversary's knowledge that is left: 1 as it is."""
        nothing, whole = (_value_of(explored, name, self.privacy) for name in (_BOTH_TRIVIAL[0], "as-is"))
        return _share(candidate.value(self.privacy), nothing, whole)

    def is_moot(self, explored: Exploration) -> bool:
        """Return whether the table as it is serves a researcher no better than a trivial release."""
        whole = _value_of(explored, "as-is", self.utility)
        return whole is not None and _better_trivial(explored, self.utility) is None

    def n_dominated(self, some: Iterable[Candidate], others: Iterable[Candidate]) -> int:
        """Count those of some that one of the others dominates."""
        losers, winners = tuple(some), tuple(others)
        frontier = self.frontier((*losers, *winners))
        return sum(bool(set(frontier.dominated_by(loser)) & set(winners)) for loser in losers)

    def shares(
        self, candidates: Iterable[Candidate], explored: Exploration
    ) -> list[tuple[float, float, Candidate]]:
        """Return what the adversary and the researcher are left with, where both measures apply."""
        pairs = [(self.learned(c, explored), self.kept(c, explored), c) for c in candidates]
        return [(learned, kept, c) for learned, kept, c in pairs if learned is not None and kept is not None]


def _share(value: float | None, nothing: float | None, everything: float | None) -> float | None:
    """Place a value between two others."""
    if value is None or nothing is None or everything is None or nothing == everything:
        return None
    return (value - nothing) / (everything - nothing)


def _value_of(explored: Exploration, sanitizer: str, measure: str) -> float | None:
    candidate = explored.find(sanitizer)
    return None if candidate is None else candidate.value(measure)


def _better_trivial(explored: Exploration, measure: str) -> float | None:
    """Return what the better trivial release gives a researcher; nothing where that may be all there is."""
    whole = explored.find("as-is")
    same = [m for m in whole.measurements if measure in (m.label, m.measure)] if whole is not None else []
    gain = min(same, key=lambda m: m.label != measure, default=None)
    if gain is None or gain.value is None:
        return None
    sign = 1 if gain.better == "higher" else -1
    least = min(sign * end for end in gain.interval or (gain.value,))
    known = [_value_of(explored, name, measure) for name in _BOTH_TRIVIAL]
    best = max((sign * value for value in known if value is not None), default=None)
    return None if best is None or least <= best else sign * best


def claims_under(view: Viewpoint, explored: Exploration) -> tuple[Claim, ...]:
    """Judge three conclusions under one way to measure."""
    return tuple(
        Claim(f"{text} ({view.short})", None, _MOOT, is_moot=True)
        if view.is_moot(explored) and judge is not _closeness_best
        else Claim(f"{text} ({view.short})", *judge(view, explored))
        for text, judge in (
            ("Even modest privacy costs almost all of the utility.", _modest_privacy),
            ("Of k, l, t and delta, t-closeness serves best.", _closeness_best),
            ("Bucketization is better than generalization from the same partition.", _buckets_better),
        )
    )


_Judgement = tuple[bool | None, str]
_MOOT = (
    "With the table as it is the researcher does no better than with a trivial release, or by no more than "
    "chance may do."
)


def _modest_privacy(view: Viewpoint, explored: Exploration) -> _Judgement:
    """Look for the release that keeps most utility among those that leave at most half of the knowledge."""
    modest = [share for share in view.shares(explored.made, explored) if share[0] <= _HALF]
    if not modest:
        return None, "No release leaves the adversary with at most half."
    learned, kept, best = max(modest, key=lambda share: share[1])
    return (
        kept < ALMOST_NOTHING,
        f"{best.recipe} leaves the adversary {learned:.0%} and the researcher {kept:.0%}.",
    )


def _closeness_best(view: Viewpoint, explored: Exploration) -> _Judgement:
    """Count the releases under another model that one under t-closeness dominates, and the reverse."""
    close = _of_model(explored, "t-closeness")
    others = {title: _of_model(explored, name) for title, name in _MODELS.items() if name != "t-closeness"}
    wins = {title: view.n_dominated(candidates, close) for title, candidates in others.items()}
    losses = {title: view.n_dominated(close, candidates) for title, candidates in others.items()}
    if min(map(len, (close, *others.values()))) < _ENOUGH:
        return None, f"Fewer than {_ENOUGH} releases under some model were made."
    counts = "; ".join(
        f"{title}, beats {wins[title]} of {len(others[title])}, loses {losses[title]} of {len(close)}"
        for title in others
    )
    best = all(wins[title] / len(others[title]) > losses[title] / len(close) for title in others)
    return best, f"On both axes, releases under t-closeness against those under another model: {counts}."


def _of_model(explored: Exploration, model: str) -> list[Candidate]:
    return [
        c
        for c in explored.made
        if c.recipe.sanitizer == "mondrian"
        and not c.recipe.parameters.get("target")
        and list(c.recipe.parameters.get("model", {})) == [model]
    ]


def _buckets_better(view: Viewpoint, explored: Exploration) -> _Judgement:
    """Compare bucketize with mondrian under the same model, which have the same groups."""
    pairs = [
        (c, explored.find("mondrian", model=c.recipe.parameters["model"], target=""))
        for c in explored.made
        if c.recipe.sanitizer == "bucketize"
    ]
    kept = [
        (view.kept(bucketized, explored), view.kept(generalized, explored))
        for bucketized, generalized in pairs
        if generalized is not None
    ]
    known = [(b, g) for b, g in kept if b is not None and g is not None]
    if not known:
        return None, "No pair was made."
    better = sum(b >= g for b, g in known)
    gain = sum(b - g for b, g in known) / len(known)
    return (
        better == len(known),
        f"It keeps as much or more utility in {better} of {len(known)} pairs, {gain:+.1%} on average.",
    )


def worth_its_risk(views: tuple[Viewpoint, ...], explored: Exploration) -> Claim:
    """Compare the researcher's gain with the adversary's, which are on one scale."""
    gains = [view for view in views if view.key != "losses"]
    candidates = [c for c in explored.made if c.recipe.sanitizer not in TRIVIAL]
    summaries, counts = [], []
    for view in gains:
        both = [(c.value(view.privacy), c.value(view.utility), c) for c in candidates]
        worth = [c for learned, gained, c in both if _above(gained, learned)]
        methods = sorted({c.recipe.sanitizer for c in worth})
        counts.append(len(worth))
        summaries.append(
            f"{view.short}: {len(worth)} of {len(both)} releases give the researcher more"
            + (f" ({', '.join(methods)})" if methods else "")
        )
    return Claim(
        "No release gives the researcher more than it gives the adversary, both counted as accuracy beyond a "
        "trivial release.",
        not any(counts) if candidates else None,
        "; ".join(summaries) + ".",
    )


def _above(gained: float | None, learned: float | None) -> bool:
    return gained is not None and learned is not None and gained > learned
