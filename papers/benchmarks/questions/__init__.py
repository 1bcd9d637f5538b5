"""The open questions of the four papers: one module for each, and the tables that they share."""
