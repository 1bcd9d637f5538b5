"""What the rows of a release stand for decides which measures have something to say about it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from sfumato import Schema, Table, measure, publish, sanitize, verify
from sfumato.measures.utility.estimation.reconstruction import uniform_estimate
from sfumato.reading import datasets
from sfumato.registry.declarations import EVERY_TYPE, ReleaseType
from sfumato.results.linked_release import LinkedRelease, released, synthetic_release
from sfumato.results.origin import Origin
from sfumato.runtime.arrays import Integers
from sfumato.runtime.errors import DataError, MethodFailed
from sfumato.sanitizers import MST, AsIs, CartSynthesis, Laplace
from sfumato.sanitizers.base import Sanitizer
from sfumato.sanitizers.perturb.changed_records import with_codes
from sfumato.verification.documents import read_manifest
from sfumato.workflow.external import read_release

Bound = tuple[Table, Schema]
OF_CLASSES = ["k-anonymity", "reidentification-risk", "privacy-loss", "t-closeness", "discernibility"]


@pytest.fixture
def hospital() -> Bound:
    table, schema = datasets.hospital()
    return schema.bind(table)


def drawn(bound: Bound, n_records: int = 30, seed: int = 0) -> LinkedRelease:
    table, schema = bound
    rng = np.random.default_rng(seed)
    codes = {name: rng.integers(0, len(table[name].domain), n_records) for name in schema.released}
    return with_values(bound, codes)


def with_values(bound: Bound, codes: Mapping[str, Integers]) -> LinkedRelease:
    table, schema = bound
    return synthetic_release(
        table, schema, {name: with_codes(table[name], codes[name]) for name in schema.released}
    )


class TestSyntheticRecords:
    def test_equal_ones_are_put_together_and_none_is_lost(self, hospital: Bound) -> None:
        table, schema = hospital
        codes = {name: np.array([0, 1, 0, 0]) % len(table[name].domain) for name in schema.released}
        release = with_values(hospital, codes)
        assert (release.n_rows, release.n_records, release.weights.tolist()) == (2, 4, [3, 1])

    def test_nobody_is_suppressed_however_many_there_are(self, hospital: Bound) -> None:
        assert drawn(hospital, 5).n_suppressed == drawn(hospital, 50).n_suppressed == 0

    def test_class_measures_do_not_apply_and_say_why(self, hospital: Bound) -> None:
        for taken in measure(drawn(hospital), OF_CLASSES):
            assert taken.value is None
            assert "made up" in taken.detail["reason"]

    def test_a_researcher_counts_each_for_as_many_as_there_were(self, hospital: Bound) -> None:
        table, _ = hospital
        for n_records in (6, 12, 60):
            estimate = uniform_estimate(drawn(hospital, n_records), "diagnosis")
            assert estimate.weights.sum() == pytest.approx(table.n_records)

    def test_twice_the_original_loses_nothing(self, hospital: Bound) -> None:
        table, schema = hospital
        rows = np.tile(np.repeat(np.arange(table.n_rows), table.weights), 2)
        twice = with_values(hospital, {name: table[name].codes[rows] for name in schema.released})
        names: list[Any] = ["utility-loss", {"query-error": {"queries": 50}}]
        assert [taken.value for taken in measure(twice, names)] == pytest.approx([0, 0])
        assert np.isfinite(measure(twice, ["kl-divergence"])[0].value or 0.0)


class TestSamples:
    def test_a_sample_counts_for_all(self, hospital: Bound) -> None:
        table, schema = hospital
        half = np.arange(0, table.n_rows, 2)
        release = released(table, schema, {}, half, sampled=True)
        assert release.scale == table.n_records / release.n_records
        assert uniform_estimate(release, "diagnosis").weights.sum() == pytest.approx(table.n_records)
        assert released(table, schema, {}, half).scale == 1.0


@dataclass(frozen=True)
class _Liar:
    """Declares people and makes them up."""

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        return drawn((table, schema))


@dataclass(frozen=True)
class _Knowing:
    """Makes records up and says whose they are."""

    release_type: ClassVar[ReleaseType] = "synthetic"

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        release = drawn((table, schema))
        return replace(release, origin=Origin(table, np.zeros(release.n_rows, dtype=np.int64)))


class TestSoundness:
    @pytest.mark.parametrize(
        ("method", "why"), [(_Liar, "of type 'synthetic'"), (_Knowing, "which original")]
    )
    def test_a_method_must_say_what_it_makes(self, method: type, why: str, hospital: Bound) -> None:
        from sfumato.sanitizers.soundness import check_sound

        made = method().sanitize(*hospital, np.random.default_rng(0))
        with pytest.raises(MethodFailed, match=why):
            check_sound(made, method(), *hospital)


class TestFilesOfOtherPrograms:
    def exact(self, bound: Bound, n_records: int) -> dict[str, list[object]]:
        return drawn(bound, n_records).to_arrow().to_pydict()

    def test_more_rows_than_the_original_are_refused_with_the_remedy(self, hospital: Bound) -> None:
        with pytest.raises(DataError, match="--type synthetic"):
            read_release(self.exact(hospital, 30), *datasets.hospital())

    @pytest.mark.parametrize("n_records", [5, 30])
    def test_a_synthetic_file_has_any_number_of_rows(self, n_records: int, hospital: Bound) -> None:
        release = read_release(
            self.exact(hospital, n_records), *datasets.hospital(), release_type="synthetic"
        )
        assert (release.type, release.n_records, release.origin.linked_rows) == ("synthetic", n_records, None)
        assert measure(release, ["k-anonymity"])[0].value is None
        assert measure(release, ["utility-loss"])[0].value is not None

    def test_exact_values_make_one_ask_what_rows_are(self, hospital: Bound) -> None:
        release = read_release(self.exact(hospital, 8), *datasets.hospital())
        assert release.type == "people"
        assert "--type synthetic" in release.notes[-1]

    def test_numbers_of_nobody_are_changed_values(self, hospital: Bound) -> None:
        changed = self.exact(hospital, 8)
        changed["age"] = [200 + place for place in range(8)]
        release = read_release(changed, *datasets.hospital())
        assert release.type == "perturbed"
        assert "'age'" in release.notes[-1]

    def test_a_changed_sensitive_number_counts_as_the_nearest(self) -> None:
        table = {"town": ["A", "A", "B", "B"], "pay": [10, 20, 30, 40]}
        schema = Schema.of(town="quasi-identifying", pay="sensitive")
        release = read_release({**table, "pay": [11, 19, 32, 44]}, table, schema)
        assert [taken.value for taken in measure(release, ["utility-loss"])] == [0.0]

    def test_made_up_records_match_nobody(self, hospital: Bound) -> None:
        with pytest.raises(DataError, match="match no original"):
            read_release(self.exact(hospital, 8), *datasets.hospital(), release_type="synthetic", match="age")


class TestPublished:
    @pytest.mark.parametrize("release_type", EVERY_TYPE)
    def test_the_folder_says_what_rows_stand_for(self, release_type: ReleaseType, tmp_path: Path) -> None:
        table, schema = datasets.hospital()
        methods: dict[ReleaseType, Sanitizer] = {
            "people": AsIs(),
            "perturbed": Laplace(1.0),
            "synthetic": CartSynthesis(),
        }
        publish(
            sanitize(table, schema, methods[release_type]),
            tmp_path / "out",
            policy="none",
            allow_singling_out=True,
        )
        assert all(check.holds for check in verify(tmp_path / "out"))
        manifest = read_manifest(tmp_path / "out")
        assert manifest.layout.type == release_type
        (claim,) = [claim for claim in manifest.claims if claim.measure == "k-anonymity"]
        assert claim.applicable == (release_type == "people")
        assert read_release(tmp_path / "out", table, schema).type == release_type

    def test_with_differential_privacy_the_number_of_people_is_told_with_noise(self, tmp_path: Path) -> None:
        table, schema = datasets.hospital()
        release = sanitize(table, schema, MST(epsilon=0.5, n_records=20))
        assert release.n_original == table.n_records
        publish(release, tmp_path / "out", policy="none", allow_singling_out=True)
        assert read_manifest(tmp_path / "out").layout.n_original == release.reported_original
        assert all(check.holds for check in verify(tmp_path / "out"))
        assert read_release(tmp_path / "out", table, schema).type == "synthetic"

    def test_the_report_of_made_up_records_speaks_of_nobody(self, tmp_path: Path) -> None:
        release = sanitize(*datasets.hospital(), MST(epsilon=100.0, n_records=20))  # enough to tell ages
        publish(
            release,
            tmp_path / "out",
            ["epsilon", "utility-loss", "population-uniqueness"],
            policy="none",
            allow_singling_out=True,
        )
        page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
        assert "its 20 records are made up and stand for nobody" in re.sub("<[^>]*>", "", page)
        assert "The original has about <strong>" in page
        assert "how many of them look alike says nothing of people" in page
        assert "(promised by the method)" in page
        assert "drawn from the model" in page
        for wrong in ("nobody can tell them apart by these", "Homogeneity", "released as they are.</strong>"):
            assert wrong not in page
        assert all(check.holds for check in verify(tmp_path / "out"))
