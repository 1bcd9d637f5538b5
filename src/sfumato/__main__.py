"""``python -m sfumato``: the command line."""

from __future__ import annotations

from sfumato.cli import main

if __name__ == "__main__":
    main()
