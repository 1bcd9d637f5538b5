"""Methods that change, swap or sample records and keep single values."""
