"""Commands of other packages are found by an entry point, and nothing else looks for entry points."""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest
from click.shell_completion import BashComplete

from sfumato.interfaces.cli import cli, command_group
from sfumato.results.json_schemas import SHAPES

Run = Callable[..., tuple[int, str, str]]

MODULE = '''
import click
from sfumato.results.json_schemas import Shape
from sfumato.interfaces.cli.terminal import print_json


class GreetShape(Shape):
    """`sfumato greet`: a greeting."""

    greeting: str


@click.command()
def greet():
    """Greet somebody."""
    print_json("greet", GreetShape("hello"))


no_command = greet.callback
'''


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Install a distribution that adds commands."""

    def install(**commands: str) -> None:
        (tmp_path / "added_for_tests.py").write_text(MODULE, encoding="utf-8")
        facts = tmp_path / "added-1.0.dist-info"
        facts.mkdir()
        (facts / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: added\nVersion: 1.0\n", encoding="utf-8"
        )
        lines = [f"{name} = {place}" for name, place in commands.items()]
        groups = ["[sfumato.commands]", *lines, "[sfumato.shapes]", "greet = added_for_tests:GreetShape"]
        (facts / "entry_points.txt").write_text("\n".join(groups) + "\n", encoding="utf-8")
        monkeypatch.syspath_prepend(str(tmp_path))

    return install


def test_a_command_of_another_package_runs_and_is_listed(
    installed: Callable[..., None], sfumato: Run
) -> None:
    installed(greet="added_for_tests:greet")
    assert sfumato("greet") == (0, '{\n  "format": "sfumato/greet/1",\n  "greeting": "hello"\n}\n', "")
    assert "  greet " in sfumato("--help")[1]
    assert "Greet somebody." in sfumato("greet", "--help")[1]
    offered = BashComplete(cli, {}, "sfumato", "_X").get_completions([], "gree")
    assert [item.value for item in offered] == ["greet"]


def test_the_shape_of_a_command_of_another_package_is_listed_and_described(
    installed: Callable[..., None], sfumato: Run
) -> None:
    installed(greet="added_for_tests:greet")
    assert "sfumato/greet/1          `sfumato greet`: a greeting.\n" in sfumato("shape")[1]
    assert '"const": "sfumato/greet/1"' in sfumato("shape", "greet")[1]
    assert "greet" not in SHAPES


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("a_module_that_is_not_there:greet", "it raises ModuleNotFoundError"),
        ("added_for_tests:not_there", "it raises AttributeError"),
        ("added_for_tests:no_command", "it is no click command"),
    ],
)
def test_a_command_that_does_not_load_is_named_in_one_line_and_left_out(
    installed: Callable[..., None], sfumato: Run, place: str, problem: str
) -> None:
    installed(greet=place)
    line = f"the command 'greet' of added is skipped: {problem}; repair or uninstall it\n"
    assert sfumato("greet") == (1, "", f"sfumato: {line}")
    code, listed, told = sfumato("--help")
    assert (code, told) == (0, f"warning: {line}")
    assert "  frontier " in listed
    assert "  greet " not in listed


def test_a_command_of_ours_is_not_replaced(installed: Callable[..., None], sfumato: Run) -> None:
    installed(frontier="added_for_tests:greet")
    assert "Greet" not in sfumato("frontier", "--help")[1]


def test_a_command_of_the_papers_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, sfumato: Run) -> None:
    monkeypatch.setattr(command_group, "_GROUP", "sfumato.no-such-group")
    said = "sfumato: no command 'reproduce'; it comes with sfumato-papers: pip install ./papers\n"
    assert sfumato("reproduce", "li") == (1, "", said)
    assert sfumato("reprodce")[2].startswith("sfumato: No such command 'reprodce'.")


@pytest.mark.parametrize("arguments", [["--version"], ["frontier", "--help"], ["frontier", "nothing.toml"]])
def test_a_command_of_ours_looks_for_no_other(
    monkeypatch: pytest.MonkeyPatch, sfumato: Run, arguments: list[str]
) -> None:
    def fail(**_: str) -> None:
        raise AssertionError("entry points were looked up")

    monkeypatch.setattr(metadata, "entry_points", fail)
    assert sfumato(*arguments)[0] == int("nothing.toml" in arguments)
