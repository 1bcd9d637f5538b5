"""Engines: from the records, where they are, to a table of distinct rows."""
