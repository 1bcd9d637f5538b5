"""Read and write the hierarchy files next to a project file, whether edited by hand or imported."""

from __future__ import annotations

import io
from hashlib import sha256
from pathlib import Path

from sfumato.data.hierarchy import Hierarchy
from sfumato.interfaces.workbench.addresses import slug
from sfumato.interfaces.workbench.state.uploads import free_place
from sfumato.runtime.errors import HierarchyError
from sfumato.runtime.files import file_beside, write_rows

FOLDER = "hierarchies"
_EDITED = ".edited.csv"


def listed(folder: Path) -> list[str]:
    """Return the hierarchy files of a project folder, as the project file names them."""
    return sorted(f"{FOLDER}/{path.name}" for path in (folder / FOLDER).glob("*.csv") if path.is_file())


def as_csv(hierarchy: Hierarchy) -> str:
    """Write a hierarchy in ARX's format."""
    written = io.StringIO(newline="")
    write_rows(written, hierarchy.rows(), separator=";")
    return written.getvalue()


def write_edited(folder: Path, attribute: str, hierarchy: Hierarchy) -> str:
    """Write an edited hierarchy to the attribute's own file and return its name in the project file.

    Only what was edited here is replaced; files that people brought are left as they are.
    """
    return _written(folder, _place(folder) / f"{_stem(attribute)}{_EDITED}", hierarchy)


def write_imported(folder: Path, attribute: str, hierarchy: Hierarchy) -> str:
    """Write an imported hierarchy to a new file and return its name in the project file."""
    return _written(folder, free_place(_place(folder), f"{_stem(attribute)}.csv"), hierarchy)


def _written(folder: Path, target: Path, hierarchy: Hierarchy) -> str:
    # the values of a hierarchy are those of the data, which only its owner reads
    with file_beside(target, private=True) as place:
        place.write_text(as_csv(hierarchy), encoding="utf-8", newline="")
    return target.relative_to(folder).as_posix()


def _place(folder: Path) -> Path:
    place = folder / FOLDER
    try:
        place.mkdir(exist_ok=True)
    except OSError as error:
        raise HierarchyError(
            f"cannot create the folder {FOLDER}: {error.strerror}; make room for it"
        ) from None
    if not place.resolve().is_relative_to(folder.resolve()):
        raise HierarchyError(
            f"the folder {FOLDER} leads outside the project's folder; make it a plain folder"
        )
    return place


def _stem(attribute: str) -> str:
    """Return a file name that is unique to this attribute."""
    whole = slug(attribute)
    return whole if len(whole) <= 80 else f"{whole[:60]}-{sha256(whole.encode()).hexdigest()[:10]}"
