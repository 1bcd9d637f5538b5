"""How much of what researchers need is lost in a release."""
