"""The house itself: what an import costs, how kernels run, that examples and benchmarks work."""

import os
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

import jointwise
from benchmarks.problems import positions
from jointwise import InvalidInputError, ccd_solve, plot, three_link_spatial

ROOT = Path(__file__).parent.parent


def run(*arguments, cwd=ROOT, **environment):
    process = subprocess.run(
        [sys.executable, *map(str, arguments)],
        env={**os.environ, **environment},
        cwd=cwd,
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


def test_importing_jointwise_imports_numpy_and_nothing_heavy():
    heavy = {"numba", "scipy", "matplotlib"}
    code = f"import sys, jointwise; print({heavy} & set(sys.modules))"
    assert run("-c", code).strip() == "set()"


def test_the_front_door_opens_on_everything_it_names():
    for name in jointwise.__all__:
        assert getattr(jointwise, name) is not None


def test_an_unknown_kernel_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'quantum'"):
        jointwise.kernels.quantum  # noqa: B018


def test_kernels_run_uncompiled():
    tests = [f"tests/test_{name}.py" for name in ("seed", "oracle", "laws", "errors", "forward")]
    printed = run("-m", "pytest", "-q", *tests, NUMBA_DISABLE_JIT="1")
    assert "passed" in printed


def test_kernels_run_where_nothing_can_be_written(tmp_path):
    """No cache for compiled code is slower, not an error."""
    a_file = tmp_path / "file"
    a_file.touch()
    code = (
        "import jointwise as jw; print(jw.ccd_solve(jw.two_link_planar(1, 1), [1, 1, 0], [0, 0]))"
    )
    printed = run("-c", code, NUMBA_CACHE_DIR=str(a_file / "nowhere"))
    assert "converged=True" in printed


def test_the_first_example_prints_falling_errors_and_draws(tmp_path):
    printed = run(ROOT / "examples" / "01_reach.py", tmp_path / "reach.png", MPLBACKEND="Agg")
    rows = [line.split() for line in printed.splitlines() if line[:5].strip().isdigit()]
    errors = [float(row[1]) for row in rows]
    assert len(errors) > 5
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 1e-4
    assert "converged: True" in printed
    assert (tmp_path / "reach.png").read_bytes().startswith(b"\x89PNG")


def test_the_benchmark_runs(tmp_path):
    printed = run("-m", "benchmarks", "--targets", 3, "--no-rivals")
    assert "jointwise ccd_solve" in printed
    assert "the slow twin" in printed
    assert "already there" in printed


def test_problem_sets_are_the_same_every_time_and_failures_count():
    problems = positions("puma560", 5)
    assert (problems.targets == positions("puma560", 5).targets).all()
    assert (problems.errors(problems.starts) > 0.0).all()
    assert (problems.errors(problems.starts * float("nan")) == float("inf")).all()


def test_a_motion_is_drawn_before_between_and_after():
    arm, target = three_link_spatial(), [0.8, 0.3, 0.7]
    answer = ccd_solve(arm, target, [0.0, 0.0, 0.0]).joint_angles
    figure, ax = plt.subplots(subplot_kw={"projection": "3d"})
    plot.motion(ax, arm, [[0.0, 0.0, 0.0], answer / 3, answer / 2, answer], target)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["before", "between", "after", "target"]
    assert len(ax.lines) == 5
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_zlabel()) == ("x [m]", "y [m]", "z [m]")
    tip = [data[-1] for data in ax.lines[3].get_data_3d()]
    assert tip == pytest.approx(target, abs=1e-4)
    plt.close(figure)


def test_a_picture_says_what_it_needs():
    arm = three_link_spatial()
    figure, ax = plt.subplots()
    with pytest.raises(InvalidInputError, match="ax is not in 3D: make it with"):
        plot.arm(ax, arm, [0.0, 0.0, 0.0])
    with pytest.raises(InvalidInputError, match="has length 1: expected a first and a last"):
        plot.motion(ax, arm, [[0.0, 0.0, 0.0]], [1.0, 0.0, 0.0])
    plt.close(figure)
