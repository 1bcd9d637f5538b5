"""A release whose owner has the original but does not know which original record a released one is."""

from __future__ import annotations

from dataclasses import replace

from sfumato.results.linked_release import LinkedRelease


def with_unknown_rows(release: LinkedRelease) -> LinkedRelease:
    """Return the release with the original table, but without the original row of each released one."""
    return replace(release, origin=replace(release.origin, linked_rows=None))
