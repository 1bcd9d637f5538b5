"""Write src/sfumato/__init__.pyi: the public names with the module that each lives in, for type checkers.

The package imports its names when they are first used, which no type checker can follow; the stub says the
same in imports that it can.

python tools/public_names.py          write the stub
python tools/public_names.py --check  fail if the stub on disk is not what would be written
"""

from __future__ import annotations

import sys
from pathlib import Path

import sfumato

PLACE = Path(__file__).parents[1] / "src" / "sfumato" / "__init__.pyi"
_WIDTH = 110
_TABLES = ("_HOME: dict[str, str]", "_MODULES: dict[str, str]")
_HEAD = "# Written by tools/public_names.py from the table in __init__.py; do not edit."


def stub() -> str:
    """Return the text of the stub."""
    homes: dict[str, list[str]] = {}
    for name, home in sfumato._HOME.items():
        homes.setdefault(f"sfumato.{home}", []).append(name)
    for name, home in sfumato._MODULES.items():
        homes.setdefault(f"sfumato.{home.rpartition('.')[0]}", []).append(name)
    imports = [_import(home, names) for home, names in sorted(homes.items())]
    listed = "".join(f'    "{name}",\n' for name in sorted(sfumato.__all__, key=_listed))
    return "\n".join([_HEAD, "", *imports, "", "__version__: str", *_TABLES, f"__all__ = [\n{listed}]", ""])


def _rank(name: str) -> int:
    """Return where the formatter puts a name: capitals first, then classes, then the rest."""
    return 0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2


def _placed(name: str) -> tuple[int, str]:
    return _rank(name), name.lower()


def _listed(name: str) -> tuple[int, str]:
    return _rank(name), name


def _import(home: str, names: list[str]) -> str:
    """Import names as the formatter writes it: in one line if they fit, else one in each line."""
    ordered = sorted(names, key=_placed)
    line = f"from {home} import {', '.join(ordered)}"
    if len(line) <= _WIDTH:
        return line
    return f"from {home} import (\n" + "".join(f"    {name},\n" for name in ordered) + ")"


def main(arguments: list[str]) -> int:
    """Write the stub, or compare it with what is there."""
    if "--check" not in arguments:
        PLACE.write_text(stub(), encoding="utf-8")
    elif not PLACE.is_file() or PLACE.read_text(encoding="utf-8") != stub():
        print("stale: src/sfumato/__init__.pyi; run tools/public_names.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
