"""Which folders are handed on to children: absolute ones that exist, of this process's own environment."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from sfumato.runtime import import_path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with another one in it."""
    (tmp_path / "within").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    return tmp_path


def started_as(monkeypatch: pytest.MonkeyPatch, *, module: str = "", script: Path | None = None) -> None:
    main = ModuleType("__main__")
    if module:
        main.__spec__ = type(sys.__spec__)(module, None)
    if script is not None:
        main.__file__ = str(script)
    monkeypatch.setitem(sys.modules, "__main__", main)


def test_neither_relative_nor_missing_folders_are_handed_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = str(Path(os.__file__).parent)
    places = ["", ".", "within", str(folder / "nowhere"), own]
    monkeypatch.setattr(sys, "path", places)
    assert import_path.folders_to_hand_on() == [own]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(places))
    made = import_path.environment_of_children()
    assert (made["PYTHONPATH"], made["PYTHONSAFEPATH"]) == (own, "1")
    monkeypatch.setenv("PYTHONPATH", os.pathsep)
    assert "PYTHONPATH" not in import_path.environment_of_children()


def test_what_a_relative_entry_of_the_environment_has_become_is_not_handed_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python makes the entries of PYTHONPATH absolute when it starts."""
    monkeypatch.setattr(sys, "path", [str(folder), str(folder / "within"), "/usr"])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", "within"]))
    assert import_path.folders_to_hand_on() == ["/usr"]
    import_path.leave_current_folder()
    assert sys.path == ["/usr"]


def test_the_current_folder_is_handed_on_where_a_script_lies_there_and_not_with_m(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(folder), "/usr"])
    started_as(monkeypatch, script=folder / "script.py")
    assert import_path.folders_to_hand_on() == [str(folder), "/usr"]
    assert import_path.main_of_user() == (str(folder / "script.py"), False)
    started_as(monkeypatch, module="experiment")
    assert import_path.folders_to_hand_on() == ["/usr"]
    assert import_path.main_of_user() == ("experiment", True)
    started_as(monkeypatch, module="sfumato.__main__")
    assert import_path.main_of_user() == (None, False)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    assert import_path.folders_to_hand_on() == [str(folder), "/usr"], "it was named"
