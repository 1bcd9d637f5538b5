"""Methods that change, swap or sample records and release single values."""
