"""Estimation: how an honest researcher reads a release, and what is asked of it."""
