"""What every registered miner must do, whatever it is."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato import Schema, Table, sanitize
from sfumato.miners import original_view, predict
from sfumato.miners.cross_validation import forget
from sfumato.models import KAnonymity
from sfumato.registry import methods
from sfumato.runtime.errors import DataError
from sfumato.sanitizers import Mondrian

Bound = tuple[Table, Schema]

MINERS = methods.registered("miner")


@pytest.mark.parametrize("name", MINERS)
def test_a_miner_declares_its_facts(name: str) -> None:
    cls = MINERS[name]
    assert cls.predicts in ("category", "number")
    assert getattr(cls, "encoding", "columns") in ("columns", "bins", "codes")


@pytest.mark.parametrize("name", MINERS)
def test_a_miner_has_an_answer_for_every_record_of_any_table(name: str, example: Bound) -> None:
    table, schema = example
    target = schema.sensitive[0] if MINERS[name].predicts == "category" else "age"
    if table.n_records < 2:
        with pytest.raises(DataError, match="at least two records"):
            predict(original_view(table, schema), target, name, folds=3)
        return
    for release in (original_view(table, schema), sanitize(table, schema, Mondrian(KAnonymity(2)))):
        found = predict(release, target, name, folds=3)
        assert found.finished, found.trouble
        assert found.n_records == release.n_records
        if found.predicts == "category":
            assert 0 <= found.predicted.min() <= found.predicted.max() < len(found.domain)
        else:
            assert np.isfinite(found.predicted).all()


@pytest.mark.parametrize("name", MINERS)
def test_a_miner_does_the_same_with_the_same_seed(name: str, hospital: Bound) -> None:
    target = "diagnosis" if MINERS[name].predicts == "category" else "age"
    view = original_view(*hospital)
    first = predict(view, target, name, folds=2, seed=3)
    forget()
    assert predict(view, target, name, folds=2, seed=3).predicted.tolist() == first.predicted.tolist()
