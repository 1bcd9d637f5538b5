"""Operating-system services: processes, messages between them, limits, files and errors."""
