"""Numerical kernels: floats and arrays only, no checks, no input or output.

``docs/kernels.md`` states the rules that a kernel line must follow. Every module here but
``shapes`` imports Numba, which takes longer than everything else together, so each is imported
when it is first used.
"""

import lazy_loader

# The modules are listed in ``__init__.pyi``.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
