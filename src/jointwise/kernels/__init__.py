"""Numerical kernels: floats and arrays only, no checks, no input or output.

``docs/explain/kernels.md`` states the rules that a kernel line must follow. ``entry_points`` lists
what Python calls, and ``backends.cpu`` calls it. Only ``entry_points``, ``fingerprint``, ``shapes``
and ``thresholds`` do not import Numba, so each module is imported when it is first used.
"""

import lazy_loader

# The modules are listed in ``__init__.pyi``.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
