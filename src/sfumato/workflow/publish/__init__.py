"""Publishing: write the chosen release into a folder, and verify it from its files alone."""
