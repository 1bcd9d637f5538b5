"""A published page owes nothing to the libraries that draw elsewhere, nor to how others print numbers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PUBLISH = """
import sys

class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "matplotlib":
            raise ImportError(f"{name} must not be needed")

sys.meta_path.insert(0, Refused())
from pathlib import Path
from tools.golden import RELEASES

RELEASES["profiles"](Path(sys.argv[1]))
"""


def test_no_page_of_a_published_folder_needs_matplotlib(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", PUBLISH, str(tmp_path / "out")],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.stderr == ""
    assert "<svg " in (tmp_path / "out" / "report.html").read_text("utf-8")
