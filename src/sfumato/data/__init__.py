"""The table, its schema, hierarchies, ordered ranges and equivalence classes."""
