"""Documentation that cannot rot: examples run, the reference is generated, links lead somewhere."""

from __future__ import annotations

import doctest
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from sfumato.interfaces.cli import cli
from sfumato.registry import methods
from sfumato.workflow.project.project_file import Project

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])


def reference() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference", ROOT / "tools" / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text("utf-8"), re.DOTALL)


def test_the_reference_is_what_would_be_generated_now() -> None:
    for name, text in reference().pages().items():
        place = ROOT / "docs" / "reference" / name
        assert place.read_text("utf-8") == text, f"{name} is stale; run tools/reference.py"


@pytest.mark.parametrize("kind", ["sanitizer", "model", "measure", "search", "miner"])
def test_everything_registered_has_its_section(kind: methods.Kind) -> None:
    text = (ROOT / "docs" / "reference" / reference().HEADS[kind][0]).read_text("utf-8")
    for name, cls in methods.registered(kind).items():
        assert f"## `{name}`" in text
        for parameter in methods.parameters_of(cls):
            row = re.search(rf"^\| `{parameter}` \| .* \| (.+) \|$", text, re.MULTILINE)
            assert row, f"{name} does not say what {parameter} means"


@pytest.mark.parametrize("kind", ["sanitizer", "model", "measure", "search"])
def test_the_definitions_name_everything_that_is_ours(kind: methods.Kind) -> None:
    text = (ROOT / "docs" / "definitions.md").read_text("utf-8").partition("## 9.")[2].partition("## 10.")[0]
    ours = [name for name, cls in methods.registered(kind).items() if cls.__module__.startswith("sfumato.")]
    assert [name for name in ours if f"`{name}`" not in text] == []


def test_every_command_has_its_section() -> None:
    text = (ROOT / "docs" / "reference" / "command-line.md").read_text("utf-8")
    for name, command in cli.commands.items():
        assert f"## `sfumato {name}`" in text
        for parameter in command.params:
            for option in parameter.opts:
                assert not option.startswith("--") or option in text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_run(page: Path) -> None:
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    assert doctest.testfile(str(page), module_relative=False, optionflags=flags).failed == 0


def test_the_readme_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = blocks(ROOT / "README.md", "python")
    exec(compile(code, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert printed.startswith(
        "<Frontier: 3 efficient of 3 candidates, 3 of which keep the policy (public), on "
    )


def test_the_project_file_of_the_page_is_accepted(tmp_path: Path) -> None:
    (code,) = blocks(ROOT / "docs" / "project-file.md", "toml")
    (tmp_path / "hierarchies").mkdir()
    (tmp_path / "hierarchies" / "work.csv").write_text("a;x;*\nb;x;*\n", "utf-8")
    (tmp_path / "admissions.toml").write_text(code, "utf-8")
    project = Project.load(tmp_path / "admissions.toml")
    assert project.axes == ("privacy-loss", "utility-loss")
    assert len(project.searches) == 2


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target
