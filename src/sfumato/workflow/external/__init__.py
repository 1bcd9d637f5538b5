"""External releases: take files that any program wrote as a release of a table."""

from sfumato.external.base import read_release, untrue_cells

__all__ = ["read_release", "untrue_cells"]
