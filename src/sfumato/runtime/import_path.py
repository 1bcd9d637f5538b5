"""Which folders this process, and those that it starts, may import modules from: never the current one.

Python puts a folder first on ``sys.path`` when it starts: the script's folder for ``python script.py`` and
for an installed command, the current folder for ``python -m``, and ``""``, which is whatever folder is
current at the moment, for ``python -c``, at a prompt and in a notebook. ``PYTHONPATH`` may name a relative
folder too: an empty entry, as in ``PYTHONPATH=:/opt/lib``, is the current folder. The folder of a script is
its author's choice. The current folder is nobody's choice: it is often the one with the data.
"""

from __future__ import annotations

import os
import sys


def _current() -> str:
    try:
        return os.getcwd()
    except OSError:  # somebody has removed it
        return ""


_FIRST = _current()
"""Where this process was when this was imported: ``python -m`` looks there, wherever it goes later."""


def folders_to_hand_on() -> list[str]:
    """Return the folders of this process's own environment, in which its children look for modules, too."""
    unwanted = _unwanted()
    return [place for place in sys.path if _is_own(place) and place not in unwanted]


def leave_current_folder() -> None:
    """Import nothing more from the current folder, if Python was started so that it would."""
    unwanted = _unwanted()
    sys.path[:] = [place for place in sys.path if os.path.isabs(place) and place not in unwanted]


def environment_of_children() -> dict[str, str]:
    """Return this process's environment for a child: in safe mode, without relative folders.

    The processes that a child starts in turn, such as those of a library, inherit the safe mode.
    """
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    places = [place for place in environment.pop("PYTHONPATH", "").split(os.pathsep) if _is_own(place)]
    return {**environment, "PYTHONPATH": os.pathsep.join(places)} if places else environment


def main_of_user() -> tuple[str | None, bool]:
    """Return the script, or the module, that the user has started Python with, and whether it is a module.

    A method that is defined there can be unpickled in a child only once the child has run it, too. There is
    none where Python was started with a command of ours or of a package, at a prompt or by a notebook.
    """
    if module := _module():
        return (None, False) if module.endswith("__main__") else (module, True)
    path = _script()
    main = getattr(sys.modules["__main__"], "main", None)
    is_ours = getattr(main, "__module__", None) == "sfumato.interfaces.cli"
    return (None, False) if is_ours or not path or "ipython" in os.path.basename(path) else (path, False)


def _module() -> str | None:
    """Return what ``python -m`` was given; a folder or an archive that Python runs is no module."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    return None if spec is None or spec.name == "__main__" else str(spec.name)


def _script() -> str | None:
    path = getattr(sys.modules.get("__main__"), "__file__", None)
    return None if path is None else os.path.normpath(os.path.join(_FIRST, path))


def _is_own(place: str) -> bool:
    return os.path.isabs(place) and os.path.exists(place)


def _unwanted() -> set[str]:
    """Return the absolute folders that are on the path only because they were the current one."""
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep) if "PYTHONPATH" in os.environ else []
    current = {place for place in (_FIRST, _current()) if place}
    unwanted = {
        os.path.normpath(os.path.join(base, p)) for p in given if not os.path.isabs(p) for base in current
    }
    chosen = {place for place in given if os.path.isabs(place)}
    if _module() is not None and not sys.flags.safe_path:
        unwanted |= current
    elif script := _script():
        chosen.add(os.path.dirname(os.path.realpath(script)))
    return unwanted - chosen
