"""The only code that uses private interfaces of Numba and numba-cuda.

Where an interface is missing, the product works without it: no cache on disk, arrays on the heap
instead of the stack, rows solved one by one instead of in lanes, loops not unrolled. The versions
are bounded in ``pyproject.toml``.
"""
