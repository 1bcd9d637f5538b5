"""What every comparison of records asks for."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pytest

from sfumato import Release, Schema, sanitize
from sfumato.measures import CorrelationDifference, KMarginal, Propensity, RegressionLoss, TransferLoss
from sfumato.results.inapplicable import NotApplicable
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers import AsIs

SCHEMA = Schema.of(age="quasi-identifying", town="quasi-identifying", ill="sensitive")


def release(ill: str = "xyxyxy", town: str = "AABBAB", ages: Sequence[int] = (2, 3, 4, 5, 6, 7)) -> Release:
    return sanitize(pa.table({"age": ages, "town": list(town), "ill": list(ill)}), SCHEMA, AsIs())


@pytest.mark.parametrize("kind", [CorrelationDifference, KMarginal, Propensity, RegressionLoss, TransferLoss])
def test_a_seed_is_0_or_more(kind: type[KMarginal]) -> None:
    assert kind() == kind(seed=0)
    assert (kind.axis, kind.better) == ("utility", "higher" if kind is KMarginal else "lower")
    with pytest.raises(ParameterError, match="seed must be at least 0, not -1"):
        kind(seed=-1)


def test_attributes_must_differ_between_people() -> None:
    constant = release("xxxxxx", "AAAAAA")
    # how one attribute differs can be told; what goes together takes two
    assert Propensity().measure(constant)[0].value == 0
    with pytest.raises(NotApplicable, match="compares 2 attributes or more, and 1 differ"):
        CorrelationDifference().measure(constant)
    with pytest.raises(NotApplicable, match="compares 1 attributes or more, and 0 differ"):
        Propensity().measure(release("xxxxxx", "AAAAAA", [1] * 6))
    assert CorrelationDifference().measure(release("xxxxxx"))[0].detail["pairs"] == 1
    with pytest.raises(NotApplicable, match="compares 3 attributes or more, and 2 differ"):
        KMarginal().measure(release("xxxxxx"))


def test_each_sensitive_attribute_is_the_target_unless_one_is_given() -> None:
    assert [each.attribute for each in TransferLoss().measure(release())] == ["ill"]
    # an attribute that is not sensitive is no attribute of the measurement
    assert [each.attribute for each in TransferLoss("town").measure(release())] == [None]
    assert [each.attribute for each in RegressionLoss().measure(release())] == ["ill"]
    assert [each.attribute for each in RegressionLoss("town").measure(release())] == [None]


def test_a_target_must_differ_between_people() -> None:
    with pytest.raises(NotApplicable, match="name a target"):
        TransferLoss().measure(release("xxxxxx"))
    with pytest.raises(ParameterError, match="target: no attribute 'ill' to learn"):
        TransferLoss("ill").measure(release("xxxxxx"))
