"""Receiving: what somebody does who is given a release: ask it questions, and try to break it."""
