"""How much of what researchers need a release loses."""
