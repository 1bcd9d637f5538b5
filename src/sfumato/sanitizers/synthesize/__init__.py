"""Methods that release synthetic records drawn from a model of the table."""
