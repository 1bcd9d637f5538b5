"""Read files that any program wrote as a release of a table."""

from sfumato.workflow.external.external_release import read_release, untrue_cells

__all__ = ["read_release", "untrue_cells"]
