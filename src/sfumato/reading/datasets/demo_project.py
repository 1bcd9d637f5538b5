"""Write the embedded example as a project folder, with the files a publisher would have."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from sfumato.reading.datasets import FOLDER, QUASI_IDENTIFIERS, adult_records
from sfumato.runtime.errors import UserError
from sfumato.runtime.files import file_beside


def write_demo(folder: Path) -> Path:
    """Write data, hierarchies and project file into a folder unless they exist; return the project file."""
    import pyarrow.parquet as pq

    project = folder / "adult.toml"
    if os.path.isfile(project):
        return project
    try:
        (folder / "hierarchies").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot create the folder {folder}: {error.strerror}") from None
    for source in sorted((FOLDER / "hierarchies" / "adult").glob("*.csv")):
        _copy(source, folder / "hierarchies" / source.name)
    with file_beside(folder / "adult.parquet") as place:
        pq.write_table(adult_records("complete", (*QUASI_IDENTIFIERS, "occupation")), place)
    # the project file comes last: where it lies, the folder is complete
    _copy(FOLDER / "demo.toml", project)
    return project


def _copy(source: Path, target: Path) -> None:
    with file_beside(target) as place:
        shutil.copyfile(source, place)
