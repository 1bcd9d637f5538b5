"""How well an adversary can find a person's record in a release."""
