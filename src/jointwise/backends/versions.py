"""Versions of everything that decides the bits of a result."""

import sys
from functools import cache

from jointwise.backends import cpu
from jointwise.kernels.native.fingerprint import fingerprint


@cache
def versions_of(*paths: str) -> dict[str, str]:
    """Versions of jointwise and of the libraries that it computes with, by name.

    Args:
        paths: Files and folders below ``jointwise`` whose code decides the bits; the key of their
            fingerprint is ``kernels``.
    """
    from importlib.metadata import version  # a slow import

    dependencies = {name: version(name) for name in ("numpy", "scipy")} | cpu.versions()
    jointwise = sys.modules["jointwise"].__version__  # importing it here would be circular
    return {"jointwise": jointwise, "kernels": fingerprint(*paths), **dependencies}
