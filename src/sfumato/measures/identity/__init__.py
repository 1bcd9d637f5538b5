"""How well a person's record can be found in a release."""
