"""Estimate the original from a release, as an honest researcher would, and answer queries."""
