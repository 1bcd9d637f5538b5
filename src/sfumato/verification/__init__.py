"""A second, simple implementation of every claim, for readers who do not trust the first.

This room shares nothing with the code that makes and measures releases: it imports no model, measure,
sanitizer, kernel, class or release, and a test keeps it so. It counts records with dictionaries and compares
distributions value by value, as the definitions write them. It is slow compared with the kernels, and meant
to be read.
"""
