"""The compiled inner loops, and nothing else: arrays and numbers in, arrays and numbers out.

Compiled by numba on first use and cached on disk between runs. Nothing here knows what a privacy
model, an attribute or a release is.
"""
