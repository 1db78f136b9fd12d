"""What works on one system only: found by reading the source, or by taking it away."""

import ast
import errno
import os
import socket
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.markers import Marker

from jointwise import Scene
from jointwise.backends import locks
from jointwise.kernels.native.targets import TARGETS, library_name
from jointwise.shape.fitting import cache, processes
from jointwise.view import server

ROOT = Path(__file__).parents[1]
# Methods and functions that open a file as text, unless they are told otherwise, and the place of
# the encoding or mode among their arguments.
TEXT = {"read_text": 0, "write_text": 1, "open": None}


def opens_text_without_encoding(call):
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    owner = getattr(getattr(function, "value", None), "id", "")
    if name not in TEXT or owner in ("os", "webbrowser", "zarr"):
        return False
    if any(each.arg == "encoding" for each in call.keywords):
        return False
    if name == "open":
        modes = [each.value for each in call.args if isinstance(each, ast.Constant)]
        modes += [each.value.value for each in call.keywords if each.arg == "mode"]
        return not any("b" in str(mode) for mode in modes) and "devnull" not in ast.dump(call)
    return len(call.args) <= TEXT[name]


def test_no_file_is_read_or_written_in_the_encoding_of_the_system():
    """On Windows that is not UTF-8."""
    found = [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for file in (ROOT / "src").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_bytes()))
        if isinstance(node, ast.Call) and opens_text_without_encoding(node)
    ]
    assert found == []


def test_stubs_of_lazy_imports_are_ascii():
    """lazy_loader reads them in the encoding of the system."""
    for file in (ROOT / "src").rglob("__init__.pyi"):
        assert file.read_bytes().isascii(), file


def test_scene_with_any_name_is_written_and_read(tmp_path):
    scene = Scene().sphere(0.1, name="Kugel ö 球")
    code = (
        "import sys, warnings; from jointwise import Scene\n"
        "warnings.filterwarnings('error', category=EncodingWarning)\n"
        "Scene.from_toml(sys.argv[1]).to_toml(sys.argv[2])"
    )
    (tmp_path / "one.toml").write_text(scene.to_toml(), encoding="utf-8")
    files = [str(tmp_path / name) for name in ("one.toml", "two.toml")]
    python = [sys.executable, "-X", "warn_default_encoding"]
    subprocess.run([*python, "-c", code, *files], cwd=ROOT / "src", check=True)
    assert (tmp_path / "two.toml").read_text(encoding="utf-8") == scene.to_toml()


def test_without_file_locks_nothing_is_removed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)  # as on Windows
    with locks.locked(tmp_path) as taken:
        assert taken is None
    monkeypatch.setattr(locks, "MIN_AGE_S", -1.0)
    (tmp_path / "partial").touch()
    locks.remove_abandoned([tmp_path / "partial"])
    assert (tmp_path / "partial").exists()


def test_output_in_the_encoding_of_another_system_is_printed():
    """Windows redirects to a file in an encoding of its own, which lacks most characters."""
    words = ["solve", "panda", "--to", "0.4", "0.2", "0.5", "--deg"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "jointwise", *words]
    done = subprocess.run(command, cwd=ROOT / "src", env=environment, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"panda_joint1" in done.stdout
    assert b"?" in done.stdout  # the degree sign


def test_port_that_windows_has_reserved_is_passed_over(monkeypatch):
    create, refused = socket.create_server, []

    def create_server(address, **options):
        if not refused:
            refused.append(address)
            raise OSError(errno.EACCES, "forbidden")
        return create(("127.0.0.1", 0), **options)

    monkeypatch.setattr(socket, "create_server", create_server)
    monkeypatch.setattr(server, "TAKEN", {errno.EADDRINUSE, errno.EACCES})
    assert server.free_port("127.0.0.1", 4000) == 4001
    assert refused == [("127.0.0.1", 4000)]


def test_processes_on_windows_do_not_get_ctrl_c(monkeypatch):
    class StartedError(Exception):
        pass

    def start(command, **options):
        raise StartedError(options["creationflags"])

    monkeypatch.setattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0x200, raising=False)
    monkeypatch.setattr(subprocess, "Popen", start)
    with pytest.raises(StartedError) as started:
        list(processes.results([int, int], 2))
    assert started.value.args == (0x200,)


def test_file_that_another_process_reads_is_not_replaced_and_nothing_is_left(tmp_path, monkeypatch):
    def refuse(path, target):
        raise PermissionError(f"{target} is open")  # as on Windows

    monkeypatch.setattr(Path, "replace", refuse)
    cache.write(tmp_path / "spheres.json", "{}")
    assert list(tmp_path.iterdir()) == []


MACHINES = {  # what a wheel with kernels exists for
    "linux-x86_64": ("linux", "x86_64"),
    "linux-aarch64": ("linux", "aarch64"),
    "musl-x86_64": ("linux", "x86_64"),
    "musl-aarch64": ("linux", "aarch64"),
    "macos-arm64": ("darwin", "arm64"),
    "windows-x86_64": ("win32", "AMD64"),
}
OTHERS = [("darwin", "x86_64"), ("linux", "armv7l"), ("linux", "ppc64le"), ("win32", "ARM64")]


def test_numba_is_installed_only_where_no_wheel_has_kernels():
    assert {name for name, target in TARGETS.items() if target.tags} == set(MACHINES)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (needed,) = [each for each in project["dependencies"] if each.startswith("numba")]
    marker = Marker(needed.partition(";")[2])

    def is_needed(system, machine):
        return marker.evaluate({"sys_platform": system, "platform_machine": machine})

    assert not any(is_needed(*each) for each in MACHINES.values())
    assert all(is_needed(*each) for each in OTHERS)
    for name, (system, machine) in MACHINES.items():
        assert TARGETS[name].machine == f"{system}-{machine}"


@pytest.mark.parametrize(
    ("machine", "name"),
    [("win32-AMD64", "_native.pyd"), ("darwin-arm64", "_native.abi3.so")],
)
def test_python_loads_the_library_by_its_suffix(machine, name):
    assert library_name(machine) == name
