"""The machines that the native library is built for."""

import platform
import sys
from typing import NamedTuple


class Target(NamedTuple):
    """A kind of machine.

    Attributes:
        machine: As ``this_machine`` names it: the system, and the processor by its name there.
        triple: As LLVM names it.
        cpus: Levels of processors, as LLVM names them. The first has all entry points, the second
            those that gain there.
        zig: As ``zig cc`` names it, with the oldest C library that will do.
        tags: Platforms of its wheel; "" if it has none.
        features: What its processors have beyond their level, as LLVM names it.
    """

    machine: str
    triple: str
    cpus: tuple[str, ...]
    zig: str
    tags: str = ""
    features: str = ""

    @property
    def architecture(self) -> str:
        """The instructions of its processors; systems that share them share optimised bitcode."""
        return self.triple.partition("-")[0].replace("arm64", "aarch64")

    @property
    def has_long_addresses(self) -> bool:
        """Whether addresses have 64 bits, as on the machine that compiles."""
        return self.architecture != "wasm32"

    @property
    def library(self) -> str:
        """The name of the library's file; Python loads it by its suffix."""
        return library_name(self.machine)


_X86_64 = ("x86-64-v3", "x86-64-v4")
_ARM64 = ("generic",)

TARGETS = {
    "linux-x86_64": Target(
        "linux-x86_64",
        "x86_64-unknown-linux-gnu",
        _X86_64,
        "x86_64-linux-gnu.2.17",
        "manylinux_2_17_x86_64.manylinux2014_x86_64",
    ),
    "linux-aarch64": Target(
        "linux-aarch64",
        "aarch64-unknown-linux-gnu",
        _ARM64,
        "aarch64-linux-gnu.2.17",
        "manylinux_2_17_aarch64.manylinux2014_aarch64",
    ),
    "musl-x86_64": Target(
        "linux-x86_64",
        "x86_64-unknown-linux-gnu",
        _X86_64,
        "x86_64-linux-musl",
        "musllinux_1_2_x86_64",
    ),
    "musl-aarch64": Target(
        "linux-aarch64",
        "aarch64-unknown-linux-gnu",
        _ARM64,
        "aarch64-linux-musl",
        "musllinux_1_2_aarch64",
    ),
    "macos-arm64": Target(
        "darwin-arm64",
        "arm64-apple-macosx11.0.0",
        _ARM64,
        "aarch64-macos.11.0",
        "macosx_11_0_arm64",
    ),
    "windows-x86_64": Target(
        "win32-AMD64",
        "x86_64-pc-windows-gnu",
        _X86_64,
        "x86_64-windows-gnu",
        "win_amd64",
    ),
    "wasm32": Target(
        "wasm32",
        "wasm32-unknown-unknown",
        ("generic",),
        "wasm32-freestanding",
        features="+simd128,+bulk-memory,+nontrapping-fptoint,+sign-ext,+mutable-globals",
    ),
}


def this_machine() -> str:
    """The system and the processor that Python runs on, such as ``"linux-x86_64"``."""
    return f"{sys.platform}-{platform.machine()}"


def library_name(machine: str) -> str:
    """The name of the native library's file on a machine."""
    return "_native.pyd" if machine.startswith("win32-") else "_native.abi3.so"
