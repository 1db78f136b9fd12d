"""Kernels on the CPU: ``cpu.search(...)`` and every other name of ``kernels.native.entry_points``.

They come from the native library, which is built with jointwise. It is checked before it is loaded:
it must be undamaged, built from these kernels, and for this processor. Otherwise a sentence gives
the reason, and Numba compiles the kernels on their first call.
"""

import json
import os
import warnings
from functools import cache
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from typing import Any, NamedTuple, cast

from jointwise.errors import JointwiseError
from jointwise.extras import install
from jointwise.kernels.native.entry_points import ENTRY_POINTS
from jointwise.kernels.native.fingerprint import PACKAGE, describe_library
from jointwise.kernels.native.targets import library_name, this_machine

# The library, and what it was built from and for.
LIBRARY = PACKAGE / "kernels" / "native" / library_name(this_machine())
DESCRIPTION = LIBRARY.with_name("_native.json")
# Names a backend in the environment: "native" or "numba".
VARIABLE = "JOINTWISE_BACKEND"
# Settings of Numba that request kernels in Python, for debugging.
PYTHON_KERNELS = ("NUMBA_DISABLE_JIT", "NUMBA_ENABLE_CUDASIM")


class Backend(NamedTuple):
    """The backend that runs the kernels on the CPU.

    Attributes:
        name: ``"native"``, the library that is built with jointwise, or ``"numba"``, which compiles
            the kernels on their first call.
        reason: Why it is used, in a sentence.

    Example:
        >>> from jointwise import backend
        >>> used = backend()
        >>> used.name in ("native", "numba"), used.reason.endswith(".")
        (True, True)
    """

    name: str
    reason: str


class NativeLibraryWarning(UserWarning):
    """The native library cannot be used; the text says why."""


def backend() -> Backend:
    """Return the backend that runs the kernels on the CPU, and the reason.

    Raises:
        JointwiseError: The native library cannot be used, and Numba is not installed.

    Example:
        >>> backend().name in ("native", "numba")
        True
    """
    return _choose()[1]


def versions() -> dict[str, str]:
    """Versions of the compilers of the kernels, which decide the bits of results."""
    from importlib.metadata import version  # a slow import

    if backend().name == "native":
        return {"native library": json.loads(DESCRIPTION.read_text("utf-8"))["sha256"][:12]}
    return {name: version(name) for name in ("numba", "llvmlite")}


def __getattr__(name: str) -> Any:
    """The function of an entry point, or ``HAS_LANES``; cached, so that later lookups are fast."""
    if name == "HAS_LANES":
        value = _choose()[0] is not None or import_module("jointwise.kernels.batch.rows").HAS_LANES
    elif name in ENTRY_POINTS:
        module = f"jointwise.kernels.{ENTRY_POINTS[name].module}"
        value = getattr(_choose()[0] or import_module(module), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


@cache
def _choose() -> tuple[Any, Backend]:
    """The module of the native library, or None; and the backend."""
    wanted = os.environ.get(VARIABLE, "")
    if wanted not in ("", "native", "numba"):
        raise JointwiseError(f"{VARIABLE} is {wanted!r}: expected 'native' or 'numba'.")
    debugged = [name for name in PYTHON_KERNELS if os.environ.get(name, "0") not in ("", "0")]
    if wanted == "numba" or debugged:
        return None, _numba(f"{debugged[0] if debugged else VARIABLE} is set in the environment.")
    library, reason = load()
    if library is not None:
        return library, Backend("native", reason)
    if wanted == "native":
        raise JointwiseError(f"{VARIABLE} is 'native'. {reason}")
    chosen = _numba(reason)
    if LIBRARY.exists():
        text = f"{reason} Numba compiles the kernels instead, on their first call."
        warnings.warn(text, NativeLibraryWarning, stacklevel=2)
    return None, chosen


def _numba(reason: str) -> Backend:
    if find_spec("numba") is None:
        raise JointwiseError(
            f"{reason} Numba would compile the kernels instead, but it is not installed: "
            f"{install('jit')}."
        )
    return Backend("numba", reason)


def load() -> tuple[Any, str]:
    """The module of the native library, or None if it cannot be used; and why, in a sentence."""
    try:
        content = LIBRARY.read_bytes()
        built: dict[str, str] = json.loads(DESCRIPTION.read_text("utf-8"))
        here = describe_library(content, built["cpu"], this_machine())
        other = [each for each in here if built[each] != here[each]]
    except FileNotFoundError:
        return None, "This installation has no native library."
    except (OSError, ValueError, KeyError, TypeError) as error:
        return None, f"The native library cannot be read ({error}): install jointwise again."
    if "machine" in other:
        return None, f"The native library is for {built['machine']}, not for {here['machine']}."
    if "sha256" in other:
        return None, "The native library is damaged: install jointwise again."
    if "kernels" in other:
        return None, "The native library was built from other kernels: install jointwise again."
    try:
        library = _import_library()
    except ImportError as error:
        return None, f"The native library cannot be loaded: {error}."
    missing = library.missing_feature()
    if missing:
        return None, f"The native library is for {built['cpu']}; this processor lacks {missing}."
    return library, f"The native library for {built['cpu']} processors is in use."


def _import_library() -> Any:
    """Import the module from the checked file, not by its name."""
    spec = cast(ModuleSpec, spec_from_file_location("jointwise.kernels.native._native", LIBRARY))
    library = module_from_spec(spec)
    cast(Loader, spec.loader).exec_module(library)
    return library
