"""Attack risk: the worst of all attacks, as one figure for every type of release."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from sfumato.measures.attacks.attack import ATTACK_DETAILS, CUT_OFF, AttackMeasure
from sfumato.measures.attacks.attack_setting import Setting
from sfumato.measures.attacks.inference import Inference
from sfumato.measures.attacks.linkability import Linkability
from sfumato.measures.attacks.membership import Membership
from sfumato.measures.attacks.singling_out import SinglingOut
from sfumato.registry.declarations import Attacker, Detail, MinerName, Words
from sfumato.registry.methods import register
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.measurement import Measurement


@register
@dataclass(frozen=True)
class AttackRisk(AttackMeasure):
    """The largest risk of all attacks: singling out, linking, inference and membership.

    It is the one privacy axis for releases of every type: generalised, perturbed and synthetic ones. The
    attack with the largest value is named in the detail, beside the values of all; the interval is that of
    this attack. As it is the largest of several figures from samples, it is a little too large rather than
    too small where a release gives nothing away.

    Parameters
    ----------
    known, control, people, seed
        As in `singling-out`; for linkability, the two sources get the known attributes in turn.
    miners
        The data miners to try for `inference`.

    References
    ----------
    Article 29 Working Party, "Opinion 05/2014 on anonymisation techniques" (WP216), 2014; M. Giomi et al.,
    "A unified framework for quantifying privacy risk in synthetic data", 2023.

    Examples
    --------
    >>> from sfumato import datasets, measure, sanitize
    >>> from sfumato.sanitizers import AsIs
    >>> release = sanitize(*datasets.hospital(), AsIs())
    >>> measure(release, [AttackRisk(miners=())])[0].value > 0
    True
    """

    miners: tuple[MinerName, ...] = Inference.miners

    includes: ClassVar[tuple[str, ...]] = ("singling-out", "linkability", "inference", "membership")
    against: ClassVar[Attacker] = Attacker(
        "Whoever attacks",
        "Tries to single out, to link, to guess sensitive values and to tell who is in the data, and is "
        "judged by what succeeds beyond people who are not in the data.",
    )
    words: ClassVar[Words] = Words(
        "attack risk",
        "What the most successful of several attacks gets about people in the data, beyond what it gets "
        "about people who are not.",
        "0%: no attack that was tried gets anything. 100%: one of them always succeeds. Other attacks may "
        "exist.",
        CUT_OFF,
        "share",
        sentence="the most successful attack that was tried has a risk of {}",
        details={
            **ATTACK_DETAILS,
            "worst": Detail("the most successful attack"),
            "attacks": Detail("the risk of each attack"),
            "not-tried": Detail("attacks that could not be tried"),
        },
        ends=("no attack does better than chance", "an attack always succeeds"),
    )

    def tried(self, setting: Setting) -> Iterable[Measurement]:
        """Return the worst of all attacks."""
        measurements: list[Measurement] = []
        lacking: dict[str, str] = {}
        for attack in self._attacks(setting):
            try:
                measurements += attack.tried(setting)
            except NotApplicable as reason:
                lacking[attack.name] = str(reason)
        if not measurements:
            raise NotApplicable("; ".join(f"{name}: {reason}" for name, reason in lacking.items()))
        worst = max(measurements, key=lambda measurement: measurement.value or 0.0)
        detail = {
            "worst": _title(worst),
            **worst.detail,
            "attacks": {_title(measurement): measurement.value for measurement in measurements},
            **({"not-tried": lacking} if lacking else {}),
        }
        return [self.measurement(worst.value, interval=worst.interval, detail=detail)]

    def _attacks(self, setting: Setting) -> Iterator[AttackMeasure]:
        shared = (self.known, self.control, self.people, self.seed)
        yield SinglingOut(*shared)
        one, other = self.known[::2], self.known[1::2]
        if other or not self.known:
            yield Linkability(one, *shared[1:], other=other)
        if any(name in setting.release.cells for name in setting.release.schema.sensitive):
            yield Inference(*shared, miners=self.miners)
        yield Membership(*shared)


def _title(measurement: Measurement) -> str:
    return (
        measurement.measure
        if measurement.attribute is None
        else f"{measurement.measure} of {measurement.attribute}"
    )
