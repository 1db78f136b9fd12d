"""Hashes of source text and of the native library, to notice when one has changed."""

import hashlib
import platform
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2]


@cache
def fingerprint(*paths: str) -> str:
    """A short hash of the contents of all Python and C files in some folders of the package.

    Args:
        paths: Folders or files below ``jointwise``, such as ``"kernels"`` or ``"reach/grid.py"``.
    """
    digest = hashlib.sha256()
    for path in sorted(paths):
        root = PACKAGE / path
        for file in sorted(root.rglob("*.[cp]*")) if root.is_dir() else [root]:
            if file.suffix not in (".c", ".py"):
                continue
            digest.update(file.relative_to(PACKAGE).as_posix().encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def describe_library(content: bytes, cpu: str) -> dict[str, str]:
    """What is stored beside a native library, to tell whether it can be used.

    Args:
        content: The file.
        cpu: The level of processors that it needs, such as ``"x86-64-v3"``.
    """
    return {
        "kernels": fingerprint("kernels"),
        "sha256": hashlib.sha256(content).hexdigest(),
        "machine": platform.machine(),
        "cpu": cpu,
    }
