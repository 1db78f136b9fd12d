"""Hashes of source text and of the native library, to notice when one has changed."""

import hashlib
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
        files = [each for each in root.rglob("*.*") if each.suffix in (".c", ".h", ".py")]
        names = {each.relative_to(PACKAGE).as_posix(): each for each in files or [root]}
        for name in sorted(names):  # as text: Windows would order paths in another way
            digest.update(name.encode())
            digest.update(names[name].read_bytes())
    return digest.hexdigest()[:12]


def describe_library(content: bytes, cpu: str, machine: str) -> dict[str, str]:
    """What is stored beside a native library, to tell whether it can be used.

    Args:
        content: The file.
        cpu: The level of processors that it needs, such as ``"x86-64-v3"``.
        machine: The system and the processor, as ``this_machine`` names them.
    """
    return {
        "kernels": fingerprint("kernels"),
        "sha256": hashlib.sha256(content).hexdigest(),
        "machine": machine,
        "cpu": cpu,
    }
