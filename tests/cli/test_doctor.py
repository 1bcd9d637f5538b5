"""What is installed, what is missing, and where caches and stores are."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from sfumato.registry import methods
from sfumato.runtime.extras import EXTRAS
from sfumato.workflow.explore import warm_up
from sfumato.workflow.explore.warm_up import KernelState

Run = Callable[..., tuple[int, str, str]]
Printed = Callable[[str, str], dict[str, Any]]


def packages(facts: dict[str, Any]) -> dict[tuple[str, str | None], dict[str, Any]]:
    return {(each["name"], each["extra"]): each for each in facts["packages"]}


def test_it_lists_what_is_installed(sfumato: Run, printed: Printed) -> None:
    facts = printed("doctor", sfumato("doctor", "--json")[1])
    found = packages(facts)
    assert found["numba", None]["version"] == metadata.version("numba")
    assert found["scikit-learn", "learning"]["version"] == metadata.version("scikit-learn")
    assert {extra for _, extra in found} == {None, *EXTRAS}
    assert facts["python"] == ".".join(map(str, sys.version_info[:3]))


def test_it_says_how_to_get_what_is_missing(
    sfumato: Run, printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = metadata.version

    def version(name: str) -> str:
        if name == "opendp":
            raise metadata.PackageNotFoundError(name)
        return known(name)

    monkeypatch.setattr(metadata, "version", version)
    facts = printed("doctor", sfumato("doctor", "--json")[1])
    assert packages(facts)["opendp", "dp"]["version"] is None
    code, text, _ = sfumato("doctor")
    assert code == 0
    assert "missing: pip install 'sfumato[dp]'" in text


def test_it_lists_the_stores_of_this_folder(
    sfumato: Run, printed: Printed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("people.toml", "people.sqlite", "other.sqlite"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    assert printed("doctor", sfumato("doctor", "--json")[1])["stores"] == ["people.sqlite"]
    assert "people.sqlite" in sfumato("doctor")[1]


def test_it_counts_kernels_that_are_compiled_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    state = KernelState.now()
    assert 0 < state.compiled <= state.total
    assert state.folder is None or Path(state.folder).is_dir()
    monkeypatch.setattr("os.access", lambda place, mode: False)
    assert KernelState.now().folder is None


def test_it_compiles_on_request(sfumato: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr(warm_up, "compile_kernels", lambda: calls.append(1))
    assert sfumato("doctor", "--compile")[0] == 0
    assert calls == [1]


def test_small_tables_go_through_every_method(monkeypatch: pytest.MonkeyPatch) -> None:
    """The methods themselves are tested elsewhere; here each is only called."""
    seen: dict[str, set[str]] = {"sanitize": set(), "explore": set(), "measure": set()}

    def note(verb: str, at: int) -> Callable[..., None]:
        def called(*given: Any, **_: Any) -> None:
            (method,) = given[at] if isinstance(given[at], list) else [given[at]]
            seen[verb].add(method if isinstance(method, str) else methods.name_of(type(method)))

        return called

    for verb, at in {"sanitize": 2, "explore": 2, "measure": 1}.items():
        monkeypatch.setattr(warm_up, verb, note(verb, at))
    warm_up.compile_kernels()
    assert {*methods.registered("sanitizer")} - seen["sanitize"] <= {"aim"}
    assert {*methods.registered("search")} - seen["explore"] == {"sweep"}
    assert {"privacy-loss", "k-anonymity", "attack-risk"} <= seen["measure"]
