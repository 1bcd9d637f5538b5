"""Write the chosen release into a folder with its evidence, and verify a folder from its files alone."""
