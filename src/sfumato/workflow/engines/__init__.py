"""Reduce records to a table of distinct rows with counts, wherever the records are."""
