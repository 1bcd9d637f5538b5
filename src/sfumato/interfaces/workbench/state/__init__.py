"""State: what the workbench knows and has under way: projects, candidates, explorations, folders."""
