"""Builds the native kernels into a wheel, and into the source tree for an editable install."""

import os
import sys
from pathlib import Path
from sysconfig import get_platform
from time import perf_counter
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = Path(__file__).parent / "src"
FOLDER = "jointwise/kernels/native"
NEEDED = ["lazy_loader>=0.4", "numpy>=2.0", "numba>=0.61,<0.69"]


class NativeKernels(BuildHookInterface):
    """A library that is there and fits the kernels is used again.

    ``JOINTWISE_KERNELS`` in the environment decides otherwise: ``none`` leaves it to ``make
    native``, ``linux-aarch64=FOLDER`` takes that of a target from a folder (``tools/wheels.py``).
    """

    def dependencies(self) -> list[str]:
        """Packages that compile the kernels, if they are compiled now."""
        compiles = self.target_name == "wheel" and "JOINTWISE_KERNELS" not in os.environ
        return NEEDED if compiles else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the library, or say in a sentence why there is none."""
        name, _, folder = os.environ.get("JOINTWISE_KERNELS", "").partition("=")
        if self.target_name != "wheel" or name == "none":
            return
        sys.path.insert(0, str(SOURCE))
        from jointwise.kernels.native import build, targets

        if name:
            library, tags = targets.TARGETS[name].library, targets.TARGETS[name].tags
        elif self._is_built(build):
            folder, library = str(SOURCE / FOLDER), targets.library_name(targets.this_machine())
            tags = get_platform().replace("-", "_").replace(".", "_")
        else:
            return
        if version == "standard":
            for file in (library, "_native.json"):
                build_data["force_include"][str(Path(folder, file))] = f"{FOLDER}/{file}"
            build_data["pure_python"] = False
            build_data["tag"] = f"cp311-abi3-{tags}"

    def _is_built(self, build: Any) -> bool:
        """Build the library for this machine, unless it is there; whether it is."""
        if build.is_current():
            return True
        reason = build.unavailable_reason()
        if not reason:
            self.app.display_info(build.DURATION)
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
        return not reason
