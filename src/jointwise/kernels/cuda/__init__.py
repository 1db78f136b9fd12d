"""Kernels for an NVIDIA GPU, each imported on first use."""

import lazy_loader

# The modules are listed in ``__init__.pyi``.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
