"""``python -m sfumato``: the command line."""

from __future__ import annotations

from sfumato.runtime.import_path import leave_current_folder

if __name__ == "__main__":
    # Python has put the current folder first; everything else comes from where it is installed
    leave_current_folder()

    from sfumato.interfaces.cli import main

    main()
