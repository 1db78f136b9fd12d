"""Numerical kernels: floats and arrays only, no checks, no input or output.

``docs/explain/kernels.md`` states the rules that a kernel line must follow.
``native.entry_points`` lists what Python calls, and ``backends.cpu`` calls it. Only ``layout``,
``native.entry_points`` and ``native.fingerprint`` do not import Numba.
"""
