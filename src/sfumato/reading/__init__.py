"""Read tables about people from files, databases and frames, and guess what each column holds."""
