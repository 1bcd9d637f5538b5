"""Compute what pages show from the state of the workbench."""
