"""Project: the one file that says what to read, try, measure and require."""
