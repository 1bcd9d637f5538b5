"""What everything that can be named must have: a docstring, a page, plain parameters, a public name."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest

import sfumato
from sfumato.registry import methods
from sfumato.runtime.errors import ParameterError

ROOT = Path(__file__).parents[2]
KINDS = get_args(methods.Kind)
REGISTERED = [(kind, name) for kind in KINDS for name in methods.registered(kind)]
EVERYTHING = pytest.mark.parametrize(("kind", "name"), REGISTERED)
METHODS = pytest.mark.parametrize(("kind", "name"), [pair for pair in REGISTERED if pair[0] != "search"])


def sections(cls: type[Any]) -> set[str]:
    """Return the titles of the numpydoc sections of a class."""
    return set(re.findall(r"^(\w+)\n-{3,}$", inspect.getdoc(cls) or "", flags=re.MULTILINE))


@pytest.mark.parametrize("kind", ["sanitizer", "model", "measure", "miner"])
def test_there_is_something_of_every_kind(kind: Any) -> None:
    assert methods.registered(kind)


@METHODS
def test_it_is_a_frozen_dataclass_that_can_be_made_without_parameters(kind: Any, name: str) -> None:
    cls = methods.look_up(kind, name)
    assert dataclasses.is_dataclass(cls)
    assert methods.build(kind, name) == cls()
    for field in dataclasses.fields(cls):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(cls(), field.name, None)


@EVERYTHING
def test_its_docstring_says_what_it_is_and_shows_an_example(kind: Any, name: str) -> None:
    cls = methods.look_up(kind, name)
    summary = (inspect.getdoc(cls) or "").partition("\n")[0]
    assert summary.endswith(".")
    assert "Examples" in sections(cls)
    assert ">>>" in (inspect.getdoc(cls) or "")


@EVERYTHING
def test_its_docstring_explains_every_parameter(kind: Any, name: str) -> None:
    cls = methods.look_up(kind, name)
    parameters = [field.name for field in dataclasses.fields(cls)]
    if parameters:
        assert "Parameters" in sections(cls)
        explained = re.split(r"^\w+\n-{3,}$", inspect.getdoc(cls) or "", flags=re.MULTILINE)
        assert [
            p
            for p in parameters
            if not any(re.search(rf"^(\w+, )*{p}\b", s, re.MULTILINE) for s in explained)
        ] == []


@METHODS
def test_its_parameters_are_plain_and_survive_json(kind: Any, name: str) -> None:
    instance = methods.build(kind, name)
    written = json.loads(json.dumps(methods.describe(instance)))
    assert written[0] == name
    assert methods.build(kind, *written) == instance


@EVERYTHING
def test_an_unknown_parameter_is_refused(kind: Any, name: str) -> None:
    with pytest.raises(ParameterError, match="no parameter 'colour'"):
        methods.build(kind, name, {"colour": "red"})


@EVERYTHING
def test_a_misspelt_name_brings_a_suggestion(kind: Any, name: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(repr(name))):
        methods.look_up(kind, name + "z")


@EVERYTHING
def test_the_documentation_has_a_page_for_it(kind: Any, name: str) -> None:
    pages = sorted((ROOT / "docs" / "reference").glob("*.md"))
    assert pages, "docs/reference has no pages"
    headings = {line.strip() for page in pages for line in page.read_text(encoding="utf-8").splitlines()}
    assert f"## `{name}`" in headings, f"no heading '## `{name}`' in docs/reference/*.md"


@METHODS
def test_it_is_a_public_name(kind: Any, name: str) -> None:
    cls = methods.look_up(kind, name)
    if cls.__module__.startswith("sfumato."):
        namespace = getattr(sfumato, {"search": "searches"}.get(kind, f"{kind}s"))
        assert cls.__name__ in namespace.__all__
        assert getattr(namespace, cls.__name__) is cls


@pytest.mark.parametrize(("kind", "name"), [pair for pair in REGISTERED if pair[0] in ("model", "measure")])
def test_it_has_words_of_its_own(kind: Any, name: str) -> None:
    words = vars(methods.look_up(kind, name))["words"]
    assert words.title
    assert words.meaning.endswith(".")
    assert all(detail.title for detail in words.details.values())


@pytest.mark.parametrize("name", methods.registered("sanitizer"))
def test_a_sanitizer_says_what_it_does(name: str) -> None:
    assert vars(methods.look_up("sanitizer", name))["does"].endswith(".")


@EVERYTHING
def test_what_its_parameters_name_can_be_offered(kind: Any, name: str) -> None:
    named = methods.named_in(methods.look_up(kind, name))
    assert set(named.values()) <= {"file", "attribute", "measure", "sanitizer", "miner", "distance"}
