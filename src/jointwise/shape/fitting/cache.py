"""A cache of fitted geometry on disk.

A file is named after a hash of all that decides its content: the shapes, the arm, the padding,
and the code that fits.
"""

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import numpy as np

from jointwise.errors import GeometryWarning, warn_caller
from jointwise.kernels.native.fingerprint import fingerprint
from jointwise.kernels.native.kept import cache_folder, replace

# The code that determines the result of a fit.
CODE = (
    "shape/files.py",
    "shape/fitting",
    "shape/pairs.py",
    "shape/solids",
    "shape/tables/mesh_distance.py",
    "shape/tables/table.py",
    "shape/tables/two_joints.py",
)


def cache_file(arrays: Iterable[np.ndarray], *settings: object) -> Path:
    """The cache file of the geometry of some shapes.

    Args:
        arrays: Numbers on which it depends.
        settings: Other values on which it depends; their repr counts.
    """
    digest = hashlib.sha256(repr((fingerprint(*CODE), settings)).encode())
    for array in arrays:
        digest.update(repr(array.shape).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return cache_folder() / "geometry" / f"{digest.hexdigest()[:24]}.json"


def read(file: Path) -> bytes | None:
    """The content of a file of ``write``; None if it cannot be used, with a warning if damaged."""
    try:
        digest, _, text = file.read_bytes().partition(b"\n")
    except OSError:
        return None
    if digest.decode(errors="replace") == hashlib.sha256(text).hexdigest():
        return text
    warn_caller(GeometryWarning(f"{file} is damaged: the spheres are fitted again."))
    return None


def write(file: Path, text: str) -> None:
    """Write a whole file, after its hash; do nothing if it cannot be written."""
    text = f"{hashlib.sha256(text.encode()).hexdigest()}\n{text}"
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        replace(file, text.encode())  # Windows refuses while another process reads it
