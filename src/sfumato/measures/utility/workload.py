"""How much a researcher's classifier gains from a release, compared with a trivial release."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, get_args

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.measures.disclosure.adversary import AccuracyGain
from sfumato.measures.scenarios.predictions import sums_key
from sfumato.measures.utility.percentiles import NORMAL_95
from sfumato.miners.base import CellsAs
from sfumato.miners.cross_validation import accuracy, predict
from sfumato.miners.labels import true_codes
from sfumato.registry import methods
from sfumato.registry.declarations import (
    Above,
    AtLeast,
    AtMost,
    AttributeName,
    Axis,
    Better,
    Detail,
    MinerName,
    ReleaseType,
    Seed,
    Words,
)
from sfumato.registry.methods import register
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import origin_of, released
from sfumato.results.measurement import Measure, Measurement
from sfumato.results.release import Release
from sfumato.runtime.caching import kept
from sfumato.runtime.errors import DataError, ParameterError


@register
@dataclass(frozen=True)
class WorkloadUtility(Measure):
    """How much more accurate a researcher's classifier is than on a trivial release.

    U_san - U_base: the cross-validated accuracy on the release, less that on the better of the two trivial
    sanitizations, one without the quasi-identifiers and one without the sensitive attributes; each for its
    best miner. At 0 or below, the trivial release serves the researcher as well and reveals nothing about
    anyone. A miner is trained on released values and judged by the true ones. The baseline
    is U_base. The detail has U_san (accuracy), U_max on the original (maximum), the best miner and the
    accuracy of each on the release, what the baseline withholds, the records that were predicted, and the
    adversary's accuracy gain, the largest over the sensitive attributes, to compare with. The interval
    takes both accuracies as shares of a sample.

    Parameters
    ----------
    target
        The attribute to learn; by default each sensitive attribute by itself.
    miners
        The classifiers that a researcher would try.
    folds
        The number of folds for cross-validation.
    seed
        The seed for the folds and for the miners' random choices.
    time_limit
        Seconds after which a miner is given up; the detail then names it as unfinished.
    cells
        What a generalised cell is to a miner: ``shares`` of the values that it may stand for, or one of the
        released ``labels``, which have nothing in common with each other.

    References
    ----------
    J. Brickell, V. Shmatikov, "The cost of privacy", 2008, section 5.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.sanitizers import AsIs
    >>> release = sanitize(*datasets.hospital(), AsIs())
    >>> (taken,) = WorkloadUtility(miners=("majority",), folds=3).measure(release)
    >>> taken.value, taken.detail["miner"]
    (0.0, 'majority')
    """

    target: AttributeName = ""
    miners: tuple[MinerName, ...] = ("decision-tree", "naive-bayes")
    folds: Annotated[int, AtLeast(2), AtMost(10_000)] = 10
    seed: Seed = 0
    time_limit: Annotated[float, Above(0), AtMost(10_000_000)] = 600.0
    cells: CellsAs = "shares"

    axis: ClassVar[Axis] = "utility"
    needs_extra: ClassVar[str | None] = "learning"
    better: ClassVar[Better] = "higher"
    judges: ClassVar[tuple[ReleaseType, ...]] = ("people", "perturbed")
    words: ClassVar[Words] = Words(
        "workload utility",
        "How much more often a classifier that was trained on the release is right than one trained on the "
        "better of the two trivial releases: that without quasi-identifiers, and that without sensitive "
        "attributes.",
        "0% or less: the trivial release serves as well, and tells nothing about anybody.",
        "-100% to 100%",
        "share",
        sentence="a researcher's classifier gains {} in accuracy over the better trivial release",
        baseline="right on the better trivial release",
        details={
            "accuracy": Detail("right guesses with the release"),
            "unfinished": Detail("miners that did not come to an end"),
        },
        ends=("a classifier learns all that it can", "a classifier learns nothing, or worse"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.miners:
            raise ParameterError("miners must name at least one")
        if self.cells not in get_args(CellsAs):
            raise ParameterError(
                f"cells cannot be {self.cells!r}; allowed are {', '.join(get_args(CellsAs))}"
            )

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return the gain for the target, or for each sensitive attribute."""
        for name in self.miners:
            if methods.build_miner(name).predicts != "category":
                raise ParameterError(f"{name} predicts numbers; choose miners that predict a category")
        table = origin_of(release).table
        if min(release.n_records, table.n_records) < 2:
            raise NotApplicable("cross-validation needs at least two records")
        targets = [self.target] if self.target else list(release.schema.sensitive)
        if not targets:
            raise NotApplicable("the release has no sensitive attribute; name a target")
        return tuple(self._of_target(release, table, target) for target in targets)

    def _of_target(self, release: Release, table: Table, target: str) -> Measurement:
        _check_truth(release, target)
        original = released(table, release.schema, {})
        # withholding attributes is the same as not learning from them
        trivial = {
            withheld: self._accuracies(original, target, features)
            for withheld, features in trivial_features(release.schema, target)
        }
        if not trivial:
            raise NotApplicable(f"no trivial release leaves {target!r} to be learned")
        withheld, blind = max(trivial.items(), key=lambda pair: max(pair[1].values(), default=-1.0))
        maximum, accuracies = self._accuracies(original, target), self._accuracies(release, target)
        if not (blind and maximum and accuracies):
            raise NotApplicable("no miner finished; give them more time")
        base, gained = max(blind.values()), max(accuracies.values())
        radius = NORMAL_95 * math.sqrt(
            _variance(gained, release.n_records) + _variance(base, table.n_records)
        )
        unfinished = [name for name in self.miners if name not in accuracies]
        return self.measurement(
            gained - base,
            attribute=target if target in release.schema.sensitive else None,
            interval=(gained - base - radius, gained - base + radius),
            baseline=base,
            detail={
                "accuracy": gained,
                "maximum": max(maximum.values()),
                "miner": _best(accuracies),
                **{f"accuracy-of-{name}": share for name, share in accuracies.items()},
                "baseline-miner": _best(blind),
                "baseline-withholds": withheld,
                "records": release.n_records,
                **_adversary(release),
                **({"unfinished": ", ".join(unfinished)} if unfinished else {}),
            },
        )

    def _accuracies(
        self, view: Release, target: str, features: tuple[str, ...] | None = None
    ) -> dict[str, float]:
        """Return the accuracy of each miner that finished."""
        accuracies = {
            name: kept(
                sums_key("accuracy", view, [target], [name], self, features),
                lambda name=name: self._accuracy(view, target, name, features),  # type: ignore[misc]
            )
            for name in dict.fromkeys(self.miners)
        }
        return {name: share for name, share in accuracies.items() if share is not None}

    def _accuracy(
        self, view: Release, target: str, miner: str, features: tuple[str, ...] | None
    ) -> float | None:
        prediction = predict(
            view,
            target,
            miner,
            folds=self.folds,
            seed=self.seed,
            time_limit=self.time_limit,
            features=features,
            cells=self.cells,
        )
        return accuracy(view, prediction) if prediction.finished else None


def trivial_features(schema: Schema, target: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what each trivial sanitization withholds, and the features that remain for the target.

    One that withholds the target itself leaves nothing to learn.
    """
    sides: Iterable[tuple[str, tuple[str, ...]]] = (
        ("quasi-identifiers", schema.quasi_identifiers),
        ("sensitive attributes", schema.sensitive),
    )
    for withheld, names in sides:
        if names and target not in names:
            yield withheld, tuple(name for name in schema.released if name not in names)


def _check_truth(release: Release, target: str) -> None:
    if target in release.cells:
        try:
            true_codes(release, target)
        except DataError as error:
            raise NotApplicable(str(error)) from None


def _best(accuracies: dict[str, float]) -> str:
    return max(accuracies, key=lambda name: accuracies[name])


def _variance(share: float, n_records: int) -> float:
    return share * (1 - share) / n_records


def _adversary(release: Release) -> dict[str, float]:
    if release.type != "people" or not release.groups.sensitive:
        return {}
    gains = [gain.value for gain in AccuracyGain().measure(release) if gain.value is not None]
    return {"accuracy-gain": max(gains)}
