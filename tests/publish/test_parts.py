"""A large release is written part by part, and is the same release."""

from __future__ import annotations

from collections import Counter
from functools import partialmethod
from pathlib import Path

import numpy as np
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.models.anonymity import KAnonymity
from sfumato.reading import datasets
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.release import Release
from sfumato.sanitizers.base import sanitize
from sfumato.sanitizers.generalize.full_domain import FullDomain
from sfumato.sanitizers.generalize.mondrian import Mondrian
from sfumato.workflow.publish.publish import publish
from sfumato.workflow.publish.verify import verify


def released() -> dict[str, LinkedRelease]:
    """Return a release whose ages are exact, seldom missing, and one whose ages are ranges but for a few."""
    generator = np.random.default_rng(5)
    ages = [
        None if place == 7 else 1.5 if place == 11 else int(n)
        for place, n in enumerate(generator.integers(0, 9, 600))
    ]
    table = Table.from_arrow({"age": ages, "sex": ["f", "m"] * 300, "ill": ["a", "b", "c"] * 200})
    schema = Schema.of(age="insensitive", sex="quasi-identifying", ill="sensitive")
    return {
        "numbers": sanitize(table, schema, FullDomain({"sex": 1}, KAnonymity(2))),
        "ranges": sanitize(*datasets.adult("train"), Mondrian(KAnonymity(40))),
    }


@pytest.mark.parametrize("what", ["numbers", "ranges"])
def test_the_parts_together_are_the_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    release = released()[what]
    n_at_once = release.n_records // 20
    monkeypatch.setattr(Release, "orders", partialmethod(Release.orders, n_at_once=n_at_once))
    publish(release, tmp_path / "out", ["k-anonymity"], policy="none", allow_singling_out=True)
    assert verify(tmp_path / "out")
    parquet = pq.read_table(tmp_path / "out" / "data.parquet")
    assert pq.read_metadata(tmp_path / "out" / "data.parquet").num_row_groups > 20
    whole = release.to_arrow()
    assert parquet.schema.equals(whole.schema.remove_metadata())
    assert Counter(map(repr, parquet.to_pylist())) == Counter(map(repr, whole.to_pylist()))
    assert arrow_csv.read_csv(tmp_path / "out" / "data.csv").num_rows == release.n_records
