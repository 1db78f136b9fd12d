"""A hash of source text, to notice when code has changed."""

import hashlib
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]


@cache
def fingerprint(*paths: str) -> str:
    """A short hash of the contents of all Python files in some folders of the package.

    Args:
        paths: Folders or files below ``jointwise``, such as ``"kernels"`` or ``"reach/grid.py"``.
    """
    digest = hashlib.sha256()
    for path in sorted(paths):
        root = PACKAGE / path
        for file in sorted(root.rglob("*.py")) if root.is_dir() else [root]:
            digest.update(file.relative_to(PACKAGE).as_posix().encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
