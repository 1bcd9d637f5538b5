"""Plan: what a project file explores, measures and requires, and how a page changes it.

Only the parts that a person changed are rewritten; comments, order and everything else in the file stay.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from starlette.exceptions import HTTPException

from sfumato.interfaces.workbench.forms.fields import Known
from sfumato.interfaces.workbench.forms.toml_text import toml_item
from sfumato.interfaces.workbench.state.project_edits import read_text
from sfumato.registry import methods
from sfumato.registry.declarations import Axis
from sfumato.registry.recipe import Recipe
from sfumato.results import formatting
from sfumato.runtime.errors import SfumatoError
from sfumato.searches.sweep import Sweep
from sfumato.workflow.project.project_file import Project

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

BlockKind = Literal["sanitizer", "search"]
SIDES: tuple[Axis, Axis] = ("privacy", "utility")
_MOST_LISTED = 12


@dataclass(frozen=True)
class CandidatesBlock:
    """One ``[[candidates]]`` block.

    Parameters
    ----------
    number
        Its place in the file, from 1.
    kind, name
        The sanitizer or the search.
    given
        Its parameters as they are written.
    """

    number: int
    kind: BlockKind
    name: str
    given: dict[str, Any]

    @property
    def words(self) -> str:
        """The block as a phrase, long lists of values shortened."""
        return formatting.recipe_in_words(Recipe(self.name, _shortened(self.given)))

    @property
    def summary(self) -> str:
        """What the method does."""
        return formatting.method_words(self.kind, self.name)

    @property
    def n_candidates(self) -> int | None:
        """The number of candidates it makes; ``None`` for a search, which decides that itself."""
        return None if self.kind == "search" else _n_recipes(self.name, json.dumps(self.given, default=str))


@dataclass(frozen=True)
class Plan:
    """The plan in a project file as it is written: what to try, measure and require."""

    project: Project
    version: str
    written: Mapping[str, Any]

    @classmethod
    def of(cls, path: Path) -> Plan:
        """Read a project file and check it."""
        text = read_text(path)
        return cls(Project.parse(text.written, path), text.version, tomllib.loads(text.written))

    @property
    def blocks(self) -> tuple[CandidatesBlock, ...]:
        """The blocks, in the order of the file."""
        blocks = []
        for number, block in enumerate(self.written.get("candidates", []), start=1):
            kind: BlockKind = "search" if "search" in block else "sanitizer"
            given = {key: value for key, value in block.items() if key != kind}
            blocks.append(CandidatesBlock(number, kind, block[kind], given))
        return tuple(blocks)

    def block(self, number: int) -> CandidatesBlock:
        """Return one block by its number."""
        for block in self.blocks:
            if block.number == number:
                return block
        raise HTTPException(404, "There is no such block in the project file.")

    @property
    def measures(self) -> dict[Axis, list[Any]]:
        """The measures of both sides as they are written, or the defaults."""
        written = self.written.get("measure", {})
        usual: dict[Axis, list[Any]] = {
            "privacy": [*self.project.privacy],
            "utility": [*self.project.utility],
        }
        return {side: written.get(side) or usual[side] for side in SIDES}

    @property
    def policy(self) -> dict[str, Any]:
        """The policy as it is written."""
        return dict(self.written.get("policy", {}))

    @property
    def known(self) -> Known:
        """The names that forms offer."""
        return Known(tuple(self.written["attributes"]), tuple(self.written.get("scenarios", {})))


@lru_cache(maxsize=256)
def _n_recipes(sanitizer: str, written: str) -> int:
    try:
        return len({recipe.key for recipe in Sweep(sanitizer, json.loads(written)).recipes()})
    except SfumatoError:
        return 0


def _shortened(given: Any) -> Any:
    """Leave out the middle of long lists."""
    if isinstance(given, Mapping):
        return {key: _shortened(inner) for key, inner in given.items()}
    if isinstance(given, list) and len(given) > _MOST_LISTED:
        return [*given[:3], "…", given[-1]]
    return given


def check_block(kind: BlockKind, name: str, given: Mapping[str, Any]) -> None:
    """Raise an error, in the library's words, for a block that cannot be tried."""
    if kind == "search":
        methods.build("search", name, given)
        return
    Sweep(name, given).recipes()


def put_block(document: TOMLDocument, block: CandidatesBlock) -> None:
    """Write a block at its place, or after the last one if the file has no block with its number."""
    import tomlkit

    blocks = document.get("candidates")
    if blocks is None:
        document["candidates"] = blocks = tomlkit.aot()
    if block.number > len(blocks):
        table = tomlkit.table()
        table[block.kind] = block.name
        for key, value in block.given.items():
            table[key] = toml_item(value)
        table.add(tomlkit.nl())
        blocks.append(table)
        return
    table = blocks[block.number - 1]
    for key in [key for key in table if key != block.kind and key not in block.given]:
        del table[key]
    for key, value in block.given.items():
        if key not in table or table[key] != value:
            table[key] = toml_item(value)


def remove_block(document: TOMLDocument, number: int) -> None:
    """Remove a block; comments that stand behind it speak of the next one and stay."""
    blocks: Any = document["candidates"]
    behind: list[Any] = []
    for key, item in reversed(blocks[number - 1].value.body):
        if key is not None:
            break
        behind.insert(0, item)
    del blocks[number - 1]
    if not len(blocks):
        del document["candidates"]
        for item in behind:
            document.add(item)
        return
    neighbour = blocks[max(number - 2, 0)]
    if number == 1:
        neighbour.value.body[0:0] = [(None, item) for item in behind if item.as_string().strip()]
        return
    for item in behind:
        neighbour.add(item)


def put_measures(
    document: TOMLDocument, measures: Mapping[Axis, Sequence[Any]], by: Sequence[str] = ()
) -> None:
    """Write the measures of both sides, and the groups, if they differ from the file."""
    import tomlkit

    if "measure" not in document:
        document["measure"] = tomlkit.table()
    section: Any = document["measure"]
    for side in SIDES:
        listed = list(measures[side])
        if section.get(side) != listed:
            section[side] = toml_item(listed)
    if by and section.get("by") != list(by):
        section["by"] = toml_item(list(by))
    elif not by and "by" in section:
        del section["by"]


def put_policy(document: TOMLDocument, policy: Mapping[str, Any]) -> None:
    """Write the policy if it differs from the file."""
    import tomlkit

    if "policy" not in document:
        if not policy:
            return
        document["policy"] = tomlkit.table()
    section: Any = document["policy"]
    for key in [key for key in section if key not in policy]:
        del section[key]
    for key, value in policy.items():
        if key not in section or section[key] != value:
            section[key] = toml_item(value)


def put_first(listed: Sequence[Any], place: int) -> list[Any]:
    """Return a list with one of its elements moved to the front."""
    return [listed[place], *(value for i, value in enumerate(listed) if i != place)]
