"""Hierarchy files: who may read them."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from sfumato import Hierarchy
from sfumato.interfaces.workbench.state.hierarchy_files import write_edited, write_imported

TOWNS = Hierarchy.nested({"north": ["a", "b"], "south": ["c"]})


@pytest.mark.parametrize("write", [write_edited, write_imported])
def test_only_the_owner_reads_a_hierarchy_whose_values_are_those_of_the_data(
    write: Callable[[Path, str, Hierarchy], str], tmp_path: Path
) -> None:
    place = tmp_path / write(tmp_path, "town", TOWNS)
    assert Hierarchy.read(place).labels == TOWNS.labels
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
