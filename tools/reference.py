"""Write docs/reference/*.md from what is registered and from the command line itself.

python tools/reference.py          write the pages
python tools/reference.py --check  fail if a page on disk is not what would be written
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

import click

from sfumato.interfaces.cli import cli
from sfumato.interfaces.cli.catalogue import catalogue
from sfumato.results.json_schemas import SHAPES, MethodShape, Shape, form

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
HEADS = {
    "sanitizer": ("sanitizers.md", "Sanitizers", "Each turns a table into a release."),
    "model": ("models.md", "Privacy models", "Each gives one score for each class of a release."),
    "measure": (
        "measures.md",
        "Measures",
        "Each gives one number about one release. Every privacy model is a measure too: the level that a "
        "release reached.",
    ),
    "search": ("searches.md", "Searches", "Each proposes the recipes to try."),
    "miner": (
        "miners.md",
        "Miners",
        "Each predicts one attribute from the others: for an honest user, or for an adversary.",
    ),
}


def pages() -> dict[str, str]:
    """Return every page by its file name."""
    written = {"command-line.md": _command_line(), "json.md": _json()}
    for kind, (name, title, what) in HEADS.items():
        entries = [_entry(entry) for entry in catalogue() if entry.kind == kind]
        written[name] = "\n\n".join([f"# {title}", what, *entries]) + "\n"
    return written


def _entry(entry: MethodShape) -> str:
    documentation = re.split(r"\n(?:Parameters|References|Examples|Attributes)\n-+\n", entry.documentation)[0]
    parts = [f"## `{entry.name}`", documentation.strip()]
    if entry.parameters:
        rows = [
            f"| `{p.name}` | `{p.default}` | {p.bounds} | {_meaning(entry, p.name)} |"
            for p in entry.parameters
        ]
        parts.append("\n".join(["| parameter | default | allowed | meaning |", "|---|---|---|---|", *rows]))
    if entry.facts:
        parts.append("Facts: " + ", ".join(f"{name} = {value}" for name, value in entry.facts.items()) + ".")
    if entry.reference:
        parts.append(f"Source: {entry.reference}")
    return "\n\n".join(parts)


def _meaning(entry: MethodShape, parameter: str) -> str:
    """Return what the docstring says of a parameter."""
    name = parameter.replace("-", "_")
    found = re.search(rf"^(?:\w+, )*{name}(?:, \w+)*\n((?:    .*\n?)+)", entry.documentation, re.MULTILINE)
    return " ".join(found.group(1).split()).replace("``", "`") if found else ""


def _command_line() -> str:
    # without the commands that other packages add
    own = click.Group("sfumato", cli.commands, params=cli.params, help=cli.help)
    whole = context_of(own)
    parts = ["# The command line", f"```text\n{own.get_help(whole).rstrip()}\n```"]
    for name, command in sorted(cli.commands.items()):
        parts += command_section(name, command, whole)
    return "\n\n".join(parts) + "\n"


def context_of(group: click.Group) -> click.Context:
    """Return what the help of a group is written with."""
    return click.Context(group, info_name="sfumato", terminal_width=100, **cli.context_settings)


def command_section(name: str, command: click.Command, whole: click.Context) -> list[str]:
    """Return what a command says of itself."""
    # a command inherits its ways to ask for help from the whole, as it does when it is typed
    text = command.get_help(click.Context(command, info_name=name, parent=whole)).rstrip()
    return [f"## `sfumato {name}`", f"```text\n{text}\n```"]


def _json() -> str:
    """Return what is printed with --json, key by key."""
    parts = [
        "# What programs read",
        "Every command with `--json` prints one document on standard output. Its `format` names its shape "
        "and the version of that: a key that is added leaves the number as it is, one that goes away or "
        "means something else raises it. `sfumato shape NAME` prints the JSON Schema. Infinite figures are "
        "the texts `Infinity` and `-Infinity`, what does not apply is `null`. How to use this: "
        "[pipelines](../pipelines.md).",
    ]
    printed = dict.fromkeys(SHAPES.values())
    for name, kind in SHAPES.items():
        parts += shape_section(name, kind)
    inner = [
        each for each in _subclasses(Shape) if each not in printed and each.__module__ == Shape.__module__
    ]
    parts += ["## Parts", "What stands inside of these, by the names that the JSON Schema gives them."]
    for kind in sorted(inner, key=lambda kind: kind.__name__):
        parts += [f"### `{kind.__name__}`", *_keys(kind)]
    return "\n\n".join(parts) + "\n"


def _subclasses(kind: type[Shape]) -> list[type[Shape]]:
    return [each for child in kind.__subclasses__() for each in (child, *_subclasses(child))]


def shape_section(name: str, kind: type[Shape]) -> list[str]:
    """Return what a shape is, and its keys."""
    return [f"## `{form(name)}`", *_keys(kind)]


def _keys(kind: type[Shape]) -> list[str]:
    """Return what a shape is, and a table of its keys; those that it shares with another come first."""
    summary = (inspect.getdoc(kind) or "").partition("\n")[0]
    documented = (inspect.getdoc(each) or "" for each in reversed(kind.__mro__) if issubclass(each, Shape))
    rows = []
    for names, meaning in re.findall(
        r"^([a-z][\w, ]*)\n((?:    .*\n?)+)", "\n".join(documented), re.MULTILINE
    ):
        keys = ", ".join(f"`{name.strip('_').replace('_', '-')}`" for name in names.split(", "))
        rows.append(f"| {keys} | {' '.join(meaning.split()).replace('``', '`')} |")
    return [summary.replace("``", "`"), "\n".join(["| keys | meaning |", "|---|---|", *rows])]


def main(arguments: list[str]) -> int:
    """Write the pages, or compare them with what is there."""
    stale = []
    for name, text in pages().items():
        place = FOLDER / name
        if "--check" not in arguments:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        elif not place.is_file() or place.read_text(encoding="utf-8") != text:
            stale.append(name)
    if stale:
        print(f"stale: {', '.join(stale)}; run tools/reference.py", file=sys.stderr)
    return bool(stale)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
