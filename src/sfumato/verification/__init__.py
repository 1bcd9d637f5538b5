"""Verifying: a second, simple implementation of every claim, for whoever does not trust the first.

Nothing here is shared with what makes and measures releases: no model, measure, sanitizer, kernel, class or
release is imported, and a test keeps it so. Records are counted with dictionaries and distributions compared
value by value, as the definitions write them. It is slow beside the kernels, and meant to be read.
"""
