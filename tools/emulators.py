"""Python for other machines, on this one: qemu runs that of Debian for ARM, wine that of Windows.

Each function returns the command that starts Python, and puts what it needs into a folder, where it
is found again. It needs Debian's apt-get and dpkg-deb, pip and ``ziglang``.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ABI = Path(__file__).parents[1] / "src/jointwise/kernels/native/python_abi.h"
# What a Python of Debian needs, with the C++ library that NumPy needs.
PACKAGES = ("python3", "libstdc++6")
# A wheel for Windows that carries a Python: there is none by itself among the packages of PyPI.
WINDOWS_PYTHON = "panda3d==1.10.16"
START = """#include <wchar.h>
int Py_Main(int, wchar_t **);
int wmain(int count, wchar_t **words) { return Py_Main(count, words); }
"""


class NoEmulatorError(Exception):
    """An emulator is not installed; the text says which."""


def arm(folder: Path, *packages: str) -> list[str]:
    """Python of Debian for 64-bit ARM, by qemu.

    Args:
        folder: Where it is unpacked.
        packages: Packages of PyPI that it gets, in ``arm/site``.
    """
    (qemu,) = _needed("qemu-aarch64-static")
    root, site = folder / "arm" / "root", folder / "arm" / "site"
    if not root.exists():
        _unpack_debian(folder / "arm" / "apt", root)
    if not site.exists() and packages:
        tags = [f"manylinux_2_{minor}_aarch64" for minor in (17, 27, 28)]
        _pip_install(site, "cp311", tags, packages)
    return [qemu, "-L", str(root), str(root / "usr/bin/python3.11")]


def windows(folder: Path) -> list[str]:
    """Python for Windows, by wine; its standard library is that of ``arm``, where Debian's is."""
    (wine,) = _needed("wine")
    home = folder / "windows"
    if not (home / "python.exe").exists():
        arm(folder)
        home.mkdir(exist_ok=True)
        _pip_install(home / "wheel", "cp311", ["win_amd64"], [WINDOWS_PYTHON])
        for file in (home / "wheel" / "deploy_libs").iterdir():
            if file.suffix in (".dll", ".pyd"):
                shutil.copy(file, home)
        shutil.rmtree(home / "wheel")
        standard = folder / "arm" / "root/usr/lib/python3.11"
        shutil.copytree(standard, home / "Lib", ignore_dangling_symlinks=True)
        _link_windows(home)
    variables = {
        "PYTHONHOME": f"Z:{home}".replace("/", "\\"),
        "PYTHONPATH": "",
        "WINEDEBUG": "-all",
        "WINEPREFIX": folder / "wine",
    }
    return ["env", *(f"{k}={v}" for k, v in variables.items()), wine, str(home / "python.exe")]


def _needed(*commands: str) -> Iterator[str]:
    for command in commands:
        found = shutil.which(command)
        if found is None:
            raise NoEmulatorError(f"{command} is not installed")
        yield found


def _unpack_debian(state: Path, root: Path) -> None:
    """Unpack packages for ARM; with a state of apt of its own, since this machine has another."""
    (state / "lists/partial").mkdir(parents=True)
    (state / "cache/archives/partial").mkdir(parents=True)
    (state / "status").touch()
    options = {
        "APT::Architecture": "arm64",
        "APT::Architectures": "arm64",
        "APT::Install-Recommends": "false",
        "Debug::NoLocking": "true",
        "Dir::State": state,
        "Dir::State::status": state / "status",
        "Dir::Cache": state / "cache",
    }
    apt = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in options.items())]
    subprocess.run([*apt, "update"], check=True)
    subprocess.run([*apt, "install", "-y", "--download-only", *PACKAGES], check=True)
    for package in (state / "cache/archives").glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", str(package), str(root)], check=True)


def _pip_install(folder: Path, python: str, platforms: list[str], packages: list[str]) -> None:
    """Unpack wheels for another machine into a folder."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--target", str(folder), "--only-binary=:all:", "--implementation", "cp"]
    command += ["--python-version", python[2:], "--abi", python, "--abi", "abi3", "--abi", "none"]
    command += [f"--platform={each}" for each in platforms]
    subprocess.run([*command, *packages], check=True)


def _link_windows(home: Path) -> None:
    """Link python.exe, and a python3.dll that passes the stable names on to python311.dll."""
    zig = [sys.executable, "-m", "ziglang"]
    names = re.findall(r"^IMPORT .*?(\w+)(?:\(.*\))?;$", ABI.read_text(), re.MULTILINE)
    forwards = [f"  {name} = python311.{name}" for name in names]
    (home / "forward.def").write_text("\n".join(["LIBRARY python3.dll", "EXPORTS", *forwards, ""]))
    (home / "start.def").write_text("LIBRARY python311.dll\nEXPORTS\n  Py_Main\n")
    (home / "start.c").write_text(START)
    (home / "empty.c").write_text("int empty;\n")
    compiler = [*zig, "cc", "-target", "x86_64-windows-gnu"]
    for command in (
        [*zig, "dlltool", "-m", "i386:x86-64", "-d", "start.def", "-l", "start.lib"],
        [*compiler, "-shared", "empty.c", "forward.def", "-o", "python3.dll"],
        [*compiler, "-municode", "start.c", "start.lib", "-o", "python.exe"],
    ):
        subprocess.run(command, cwd=home, check=True)
