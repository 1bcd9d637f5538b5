"""The owner's memory of a project: candidates, measurements, decisions, and what made them."""
