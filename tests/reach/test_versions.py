"""The fingerprint of a map's versions changes with every file that decides its bits."""

import shutil
from pathlib import Path

import grimp
import pytest

import jointwise
from jointwise.reach.chunks import FINGERPRINTED, versions
from tests.support.reach import run_python

DECIDING = [
    "backends/threads.py",
    "backends/cuda.py",
    "config.py",
    "engines/serial/batch.py",
    "kernels/kinematics/fk.py",
    "kernels/_numba/jit.py",
    "model/arm.py",
    "reach/chunks.py",
    "reach/grid.py",
    "reach/levels.py",
    "reach/orientations.py",
    "scene/box.py",
    "shape/geometry.py",
    "targets/pose.py",
]
OTHERS = ["chain.py", "cli/__init__.py", "plot/__init__.py", "reach/pictures.py", "robots.py"]

# Prints the fingerprint of a copy of the package, and of that copy with one file changed.
CODE = """
import sys
from pathlib import Path
import jointwise
from jointwise.kernels.native.fingerprint import fingerprint
from jointwise.backends.versions import versions_of
from jointwise.reach.chunks import versions

package = Path(jointwise.__file__).parent
assert package == Path(sys.argv[1]) / "jointwise", package


def print_fingerprint(name):
    versions_of.cache_clear()
    fingerprint.cache_clear()
    print(name, versions()["kernels"])


print_fingerprint("unchanged")
for name in sys.argv[2:]:
    file = package / name
    content = file.read_bytes()
    file.write_bytes(content + b"# changed\\n")
    print_fingerprint(name)
    file.write_bytes(content)
new = package / "engines" / "new.py"
new.write_text("")
print_fingerprint("new")
"""


@pytest.fixture(scope="module")
def fingerprints(tmp_path_factory):
    """The fingerprint of a copy of the package, by the file that is changed in it."""
    folder = tmp_path_factory.mktemp("copy")
    source = Path(jointwise.__file__).parent
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(source, folder / "jointwise", ignore=ignored)
    printed = run_python("-c", CODE, folder, *DECIDING, *OTHERS, PYTHONPATH=str(folder))
    return dict(line.split() for line in printed.splitlines())


def test_fingerprint_does_not_depend_on_where_the_package_is(fingerprints):
    assert fingerprints["unchanged"] == versions()["kernels"]


@pytest.mark.parametrize("name", DECIDING)
def test_file_that_decides_the_bits_changes_the_fingerprint(fingerprints, name):
    assert fingerprints[name] != fingerprints["unchanged"]


@pytest.mark.parametrize("name", OTHERS)
def test_other_file_does_not_change_the_fingerprint(fingerprints, name):
    assert fingerprints[name] == fingerprints["unchanged"]


def test_new_file_changes_the_fingerprint(fingerprints):
    assert fingerprints["new"] != fingerprints["unchanged"]


def test_everything_that_computes_a_chunk_is_fingerprinted():
    """Every module that chunks.py imports, directly or not, but errors and hints about extras."""
    graph = grimp.build_graph("jointwise", cache_dir=None)
    imported = graph.find_upstream_modules("jointwise.reach.chunks") | {"jointwise.reach.chunks"}
    parts = tuple(
        f"jointwise.{part.removesuffix('.py').replace('/', '.')}" for part in FINGERPRINTED
    )
    others = {
        module
        for module in imported
        if not any(module == part or module.startswith(f"{part}.") for part in parts)
    }
    assert others == {"jointwise.errors", "jointwise.extras"}
