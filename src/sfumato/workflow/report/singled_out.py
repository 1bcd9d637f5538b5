"""Say first of a published folder how many people can be singled out, or how that is limited."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.results import formatting
from sfumato.verification.documents import Band, Manifest, numeral
from sfumato.verification.page_statements import pointer, singled_out_statement


@dataclass(frozen=True)
class SingledOut:
    """A sentence with figures of the manifest in it.

    Parameters
    ----------
    sentence
        The sentence, with ``{}`` for each figure.
    figures
        For each figure the pointer to it, its value and its text.
    is_checked
        Whether a reader can check the figures, if there are any.
    """

    sentence: str
    figures: tuple[tuple[str, int | float | str, str], ...] = ()
    is_checked: bool = False

    def __str__(self) -> str:
        return self.sentence.format(*(text for _, _, text in self.figures))


def singled_out(manifest: Manifest, n_records: int) -> SingledOut:
    """Return how many people can be singled out, by the evidence that the type of release allows."""
    kind, place = singled_out_statement(manifest)
    people, figures = manifest.unverified.people, manifest.unverified.figures
    if kind == "people" and people is not None:
        sentence = "In this release, {} of {} people are alone in their class and can be singled out."
        counts = {name: getattr(people, name) for name in ("alone", "released")}
        figures_of = [(pointer("unverified", "people", name), n, f"{n:,}") for name, n in counts.items()]
        return SingledOut(sentence, tuple(figures_of))
    if kind == "records":
        n = int(manifest.claims[place].detail["uniques"])
        return SingledOut(
            "In this release, {} of {} records are alone in their class and can be singled out.",
            (
                (pointer("claims", place, "detail", "uniques"), n, f"{n:,}"),
                ("/cells/n_records", n_records, f"{n_records:,}"),
            ),
            is_checked=True,
        )
    if kind == "attack":
        start, band = "Attacks single people out of this release with a risk", figures[place].band
        return SingledOut(f"{start} {_ends(band)}.", _band_of("singling-out", place, band))
    if kind == "guarantee":
        limit, band = (
            "limits what anybody can learn about a single person from this release",
            figures[place].band,
        )
        return SingledOut(
            f"Differential privacy with epsilon {_ends(band)} {limit}.", _band_of("epsilon", place, band)
        )
    return SingledOut("How many people can be singled out of this release was not measured.", is_checked=True)


def _ends(band: Band | None) -> str:
    return "of {}" if band is None or band.low == band.high else "between {} and {}"


def _band_of(measure: str, place: int, band: Band | None) -> tuple[tuple[str, int | float | str, str], ...]:
    assert band is not None
    ends = {"low": band.low} if band.low == band.high else {"low": band.low, "high": band.high}
    return tuple(
        (
            pointer("unverified", "figures", place, "band", name),
            end,
            formatting.value_of(measure, numeral(end)),
        )
        for name, end in ends.items()
    )
