"""Change a project file and keep its comments, its order and everything that was not edited.

A change is made in the text, read as a project before it replaces the file, and refused if the file has
changed since the page showed it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.runtime.errors import ProjectError, UserError
from sfumato.runtime.files import file_beside

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

    from sfumato.workflow.project.project_file import Project

# The mark that some editors put before a text in UTF-8; it stays where it is.
_MARK = b"\xef\xbb\xbf"
_one_at_a_time = threading.Lock()


class Changed(UserError):
    """Raised for a file that someone else changed in the meantime."""

    status = 409


@dataclass(frozen=True)
class Text:
    """The text of a project file, and a digest that reveals a later change."""

    written: str
    version: str


def read_text(path: Path) -> Text:
    """Read a project file's text."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ProjectError(f"cannot read {path.name}: {error.strerror}") from None
    try:
        return Text(raw.decode("utf-8-sig"), version_of(raw))
    except UnicodeDecodeError:
        raise ProjectError(f"cannot read {path.name}: not UTF-8; save it as UTF-8") from None


def version_of(raw: bytes) -> str:
    """Return a digest of a file's content."""
    return sha256(raw).hexdigest()[:24]


def edit(
    path: Path,
    version: str,
    change: Callable[[TOMLDocument], None],
    check: Callable[[Project], object] = lambda project: None,
) -> Project:
    """Change a project file in place and return the project that it now describes.

    Parameters
    ----------
    path
        The project file.
    version
        The digest that the page was made from.
    change
        Changes the document.
    check
        Raises an error for a project that must not be written, for instance one that its data contradicts.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    from sfumato.workflow.project.project_file import Project

    with _one_at_a_time:
        text = read_text(path)
        require_version(path, text.version, version)
        try:
            document = tomlkit.parse(text.written)
            change(document)
            written = tomlkit.dumps(document)
        except TOMLKitError:
            raise ProjectError(f"{path.name} cannot be changed here; edit it by hand") from None
        project = Project.parse(written, path)
        check(project)
        # the check may take a while
        require_version(path, read_text(path).version, version)
        mark = _MARK if path.read_bytes().startswith(_MARK) else b""
        with file_beside(path) as place:
            place.write_bytes(mark + written.encode())
    return project


def require_version(path: Path, now: str, then: str) -> None:
    """Raise an error if a file changed after the page was made."""
    if now != then:
        raise Changed(
            f"{path.name} was changed elsewhere since this page was shown; nothing was overwritten; "
            "load the page again and repeat the change"
        )


def set_attribute(document: TOMLDocument, name: str, key: str, value: Any) -> None:
    """Set one key of an attribute, or remove it where the value is ``None``."""
    block = document["attributes"][name]
    if value is None:
        block.pop(key, None)
    elif key not in block or block[key] != value:
        block[key] = inline(value) if isinstance(value, dict) else value


def inline(value: dict[str, Any]) -> Any:
    """Write a mapping on one line, ``{ intervals = [5, 10] }``."""
    import tomlkit

    table = tomlkit.inline_table()
    for key, inner in value.items():
        table[key] = list(inner) if isinstance(inner, Sequence) and not isinstance(inner, str) else inner
    return table
