"""Ask questions about candidates, and compare releases."""
