"""The first call: what is imported, and what is said while kernels are compiled."""

import os
import subprocess
import sys

import pytest

from jointwise import backend
from jointwise.kernels._numba.notice import NOTICE

SHORT = """
import sys
from jointwise import kernels
from jointwise.kernels.algebra import trig
trig.polar_angle(1.0, 1.0)
trig.polar_angle(1.0, 2.0)
"""

LIBRARIES = {"numba", "llvmlite", "scipy", "matplotlib", "rich", "typer", "trimesh", "concurrent"}
SCENES = {"jointwise.scene", "jointwise.shape"}
TREE, TRACKING = {"jointwise.engines.tree.engine"}, {"jointwise.engines.tracking"}
OTHERS = {"jointwise.reach", "jointwise.plot", "jointwise.view", "jointwise.cli"}

# First solves, and what none of them needs.
FIRST_SOLVES = {
    "DH rows": (
        "jw.Chain.from_dh(jw.two_link_planar(1, 1)).solve([1, 1, 0])",
        SCENES | TREE | TRACKING,
    ),
    "an arm": ("jw.Chain.load('ur5e').solve([0.3, 0.2, 0.5])", SCENES | TREE | TRACKING),
    "one link of a robot": (
        "jw.Robot.load('ur5e').solve({'tip': [0.3, 0.2, 0.5]})",
        SCENES | TREE | TRACKING | {"jointwise.chain"},
    ),
    "two links of a robot": (
        "jw.Robot.load('ur5e').solve({'tip': [0.3, 0.2, 0.5], 'link1': [0, 0, 0.1625]})",
        SCENES | TRACKING | {"jointwise.chain"},
    ),
    "a batch": ("jw.Chain.load('ur5e').solve_batch([[0.3, 0.2, 0.5]])[0]", SCENES | TREE),
    "an arm in a scene": ("jw.Chain.load('ur5e').with_scene().solve([0.3, 0.2, 0.5])", TREE),
}


def run(code, cache):
    """(standard output, standard error) of Python code with kernels cached in a folder."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", code]
    finished = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=300, check=True
    )
    return finished.stdout, finished.stderr


def test_compiling_is_announced_once_and_a_cache_is_silent(tmp_path):
    assert run(SHORT, tmp_path) == ("", f"{NOTICE}\n")
    assert run(SHORT, tmp_path) == ("", "")


@pytest.mark.skipif(backend().name != "native", reason="needs the native library")
@pytest.mark.parametrize("name", FIRST_SOLVES)
def test_the_first_solve_imports_only_what_it_needs(name, tmp_path):
    call, unneeded = FIRST_SOLVES[name]
    code = f"import sys, jointwise as jw\nprint({call}.status.name, *sys.modules)"
    status, *modules = run(code, tmp_path)[0].split()
    imported = {".".join(name.split(".")[: i + 1]) for name in modules for i in range(3)}
    assert status == "CONVERGED"
    assert {"jointwise.engines.serial", "numpy"} <= imported
    assert imported & (LIBRARIES | OTHERS | unneeded) == set()


@pytest.mark.skipif(backend().name != "native", reason="needs the native library")
def test_what_is_unneeded_has_these_names(tmp_path):
    """Or the test above would pass for names that no module has."""
    code = (
        "import sys, jointwise as jw\n"
        "robot = jw.Robot.load('ur5e').with_scene()\n"
        "robot.solve({'tip': [0.3, 0.2, 0.5], 'link1': [0, 0, 0.1625]})\n"
        "jw.Tracker, robot.chain().solve_paths([[[0.3, 0.2, 0.5]]])\n"
        "print(*sys.modules)\n"
    )
    modules = set(run(code, tmp_path)[0].split())
    assert modules >= SCENES | TREE | TRACKING | {"jointwise.chain", "concurrent"}
