"""Methods that publish exact quasi-identifiers and sensitive values per group only."""
