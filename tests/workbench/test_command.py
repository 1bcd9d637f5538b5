"""The command ``sfumato workbench``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.interfaces.cli import run


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What would be served."""
    calls: list[Any] = []
    monkeypatch.setattr(
        "sfumato.interfaces.workbench.server.serve",
        lambda folder, project, **options: calls.append((folder, project, options)),
    )
    return calls


def test_a_folder_is_served(folder: Path, served: list[Any]) -> None:
    assert run(["workbench", str(folder)]) == 0
    ((place, project, options),) = served
    assert (place, project) == (folder, None)
    assert (options["address"], options["port"], options["browser"]) == ("127.0.0.1", 0, True)


def test_a_project_is_served_with_its_folder(folder: Path, served: list[Any]) -> None:
    assert run(["workbench", str(folder / "people.toml"), "--no-browser", "--port", "8123"]) == 0
    ((place, project, options),) = served
    assert (place, project) == (folder, "people")
    assert (options["port"], options["browser"]) == (8123, False)


def test_this_folder_is_served_by_default(
    folder: Path, served: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert run(["workbench"]) == 0
    assert served[0][0].resolve() == folder


@pytest.mark.parametrize("name", ["people.csv", "nothing", "nothing.toml"])
def test_what_is_no_project_is_refused_in_one_line(
    folder: Path, served: list[Any], capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert run(["workbench", str(folder / name)]) == 1
    assert "neither a folder nor a project file" in capsys.readouterr().err
    assert served == []


def test_the_address_is_told_to_people_and_to_programs(
    folder: Path,
    served: list[Any],
    capsys: pytest.CaptureFixture[str],
    printed: Callable[[str, str], dict[str, Any]],
) -> None:
    run(["workbench", str(folder)])
    run(["workbench", str(folder), "--json"])
    for _, _, options in served:
        options["tell"]("http://127.0.0.1:1/?token=x")
    said = capsys.readouterr()
    assert printed("workbench", said.out)["address"] == "http://127.0.0.1:1/?token=x"
    assert "The workbench is open: http://127.0.0.1:1/?token=x" in said.err
