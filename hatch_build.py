"""Builds the native kernels into a wheel, and into the source tree for an editable install."""

import os
import sys
from pathlib import Path
from sysconfig import get_platform
from time import perf_counter
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = Path(__file__).parent / "src"
FOLDER = "src/jointwise/kernels/native"
FILES = (f"{FOLDER}/_native.abi3.so", f"{FOLDER}/_native.json")
NEEDED = ["lazy_loader>=0.4", "numpy>=2.0", "numba>=0.61,<0.69"]


class NativeKernels(BuildHookInterface):
    """A library that is there and fits the kernels is used again.

    ``JOINTWISE_KERNELS=none`` in the environment leaves it to ``make native``.
    """

    def dependencies(self) -> list[str]:
        """Packages that compile the kernels, unless that is left to ``make native``."""
        return NEEDED if self._builds() else []

    def _builds(self) -> bool:
        return self.target_name == "wheel" and os.environ.get("JOINTWISE_KERNELS") != "none"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the library, or say in a sentence why there is none."""
        if not self._builds():
            return
        sys.path.insert(0, str(SOURCE))
        from jointwise.kernels.native import build

        current = build.is_current()
        reason = "" if current else build.unavailable_reason()
        if not reason and not current:
            self.app.display_info("Compiling the kernels takes about a minute.")
            begin = perf_counter()
            try:
                build.build()
            except (RuntimeError, OSError) as error:
                reason = str(error)
            else:
                self.app.display_info(f"Compiled in {perf_counter() - begin:.0f} s.")
        if reason:
            self.app.display_warning(
                f"No native kernels, since {reason}. Numba compiles them on their first call: "
                "pip install 'jointwise[jit]'."
            )
        elif version == "standard":
            build_data["artifacts"] += FILES
            build_data["pure_python"] = False
            platform = get_platform().replace("-", "_").replace(".", "_")
            build_data["tag"] = f"cp311-abi3-{platform}"
