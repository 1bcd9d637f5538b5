"""Methods that keep quasi-identifiers exact and publish sensitive values per group only."""
