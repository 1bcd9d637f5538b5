"""Write the stubs of the lazy packages: each public name with its module, for type checkers.

These packages import their names when they are first used, which no type checker can follow. A stub says the
same in plain imports.

python tools/public_names.py          write the stubs
python tools/public_names.py --check  fail if a stub on disk is not what would be written
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "sfumato"
PACKAGES = ("", "measures", "miners", "models", "results", "sanitizers", "searches")
_WIDTH = 110
_HEAD = "# Written by tools/public_names.py from the table in __init__.py; do not edit."


def place_of(package: str) -> Path:
    """Return where the stub of a package lies."""
    return SOURCE / package / "__init__.pyi"


def stub(package: str) -> str:
    """Return the text of the stub of a package below sfumato, or of sfumato itself."""
    module = import_module(f"sfumato.{package}" if package else "sfumato")
    homes: dict[str, list[str]] = {}
    for name, home in module._HOMES.items():
        within = home.rstrip(".").rpartition(".")[0] if home.endswith(".") else home
        homes.setdefault(f"sfumato.{within}" if within else "sfumato", []).append(name)
    imports = [_import(home, names) for home, names in sorted(homes.items())]
    version = [] if package else ["__version__: str"]
    listed = "".join(f'    "{name}",\n' for name in sorted(module.__all__, key=_listed))
    return "\n".join(
        [_HEAD, "", *imports, "", *version, "_HOMES: dict[str, str]", f"__all__ = [\n{listed}]", ""]
    )


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
    """Write the stubs, or compare them with what is there."""
    stubs = {place_of(package): stub(package) for package in PACKAGES}
    if "--check" not in arguments:
        for place, text in stubs.items():
            place.write_text(text, encoding="utf-8")
        return 0
    stale = [
        place for place, text in stubs.items() if not place.is_file() or place.read_text("utf-8") != text
    ]
    for place in stale:
        print(f"stale: {place.relative_to(SOURCE.parents[1])}; run tools/public_names.py", file=sys.stderr)
    return int(bool(stale))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
