"""The state of the workbench: projects, candidates, running explorations and published folders."""
