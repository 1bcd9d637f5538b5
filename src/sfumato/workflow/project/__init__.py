"""Read and write the project file, which says what to read, try, measure and require."""
