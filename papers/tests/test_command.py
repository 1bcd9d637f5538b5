"""The command is one of sfumato's for everyone who has installed the papers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
from click.testing import CliRunner
from tools.reference import command_section, context_of, shape_section

from sfumato.interfaces.cli import cli
from sfumato_papers.command import reproduce
from sfumato_papers.json_schema import ReproduceShape

README = Path(__file__).parents[1] / "README.md"


def test_it_is_listed_explained_and_described() -> None:
    ways = (["--help"], ["reproduce", "--help"], ["shape", "reproduce"])
    listed, explained, described = (CliRunner().invoke(cli, asked) for asked in ways)
    assert "  reproduce  " in listed.stdout
    assert "--against" in explained.stdout
    schema = json.loads(described.stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["properties"]["format"] == {"const": "sfumato/reproduce/1"}


def test_the_readme_says_what_the_command_does_and_prints() -> None:
    sections = [
        *command_section("reproduce", reproduce, context_of(cli)),
        *shape_section("reproduce", ReproduceShape),
    ]
    written = "\n\n".join(sections)
    assert written in README.read_text("utf-8"), f"stale; the README must have\n{written}"


def test_listing_the_commands_loads_none_of_the_papers() -> None:
    code = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from sfumato.interfaces.cli import cli\n"
        "assert '  reproduce ' in CliRunner().invoke(cli, ['--help']).stdout\n"
        "print(*sorted(name for name in sys.modules if name.startswith('sfumato_papers')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["sfumato_papers", "sfumato_papers.command"]
