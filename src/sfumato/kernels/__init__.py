"""The compiled inner loops: arrays and numbers in, arrays and numbers out.

numba compiles each kernel when it is first called and caches the result on disk. Kernels hold no policy:
they know nothing about privacy models, attributes or releases.
"""
