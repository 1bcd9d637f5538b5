"""Compute every claim a second time, for readers who do not trust the first. `check` says how it works.

This room shares nothing with the code that makes and measures releases, and a test keeps it so. It compares
distributions value by value, as the definitions write them, and it is meant to be read.
"""
