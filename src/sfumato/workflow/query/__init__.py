"""Use a release as its recipient: query a published folder, and attack a challenge."""
