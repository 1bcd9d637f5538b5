"""How a method declares itself, is found by name and is written down as a recipe."""
