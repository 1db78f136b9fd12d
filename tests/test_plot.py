"""Figures: what they show, where, in which units; and the errors for invalid input."""

import re
import sys
from itertools import pairwise

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from mpl_toolkits.mplot3d.art3d import Line3DCollection
from PIL import Image, ImageChops
from scipy.spatial.transform import RigidTransform

from jointwise import (
    Chain,
    DHJoint,
    InvalidInputError,
    JointwiseError,
    SolveConfig,
    Trace,
    plot,
    robots,
    scara,
    two_link_planar,
)
from jointwise.plot import animation, canvas, space
from jointwise.solvers.targets import KINDS

mpl.use("Agg")

PANDA, STANFORD, UR5E = robots.panda(), robots.stanford(), robots.ur5e()
PLANAR = Chain.from_dh(two_link_planar(0.6, 0.5))
SCARA = Chain.from_dh(scara(0.4, 0.3), limits=[[-2, 2], [-1, 3], [0, 0.3], [-np.inf, np.inf]])
POINT = Chain.from_dh([DHJoint()])
ARMS = {
    "panda": PANDA,
    "stanford": STANFORD,
    "ur5e": UR5E,
    "planar": PLANAR,
    "scara": SCARA,
    "point": POINT,
}
arms = pytest.mark.parametrize("chain", ARMS.values(), ids=ARMS)


@pytest.fixture(autouse=True)
def _settings_are_unchanged_and_figures_closed():
    settings = mpl.rcParams.copy()
    yield
    assert mpl.rcParams == settings
    plt.close("all")


def lines(ax, color, width=None):
    """The points, (k, 3) or (k, 2), of each line of a colour."""
    return [
        np.array(line.get_data_3d() if ax.name == "3d" else line.get_data()).T
        for line in ax.lines
        if line.get_color() == color and width in (None, line.get_linewidth())
    ]


def labelled(ax, label):
    (line,) = [line for line in ax.lines if line.get_label() == label]
    return np.array(line.get_data()).T


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


# An arm


@arms
def test_the_links_are_drawn_as_the_outline_of_the_arm(chain):
    q = chain.random(seed=1)
    ax = plot.arm(chain, q)
    ax.figure.canvas.draw()
    np.testing.assert_array_equal(lines(ax, canvas.AFTER)[0], chain.outline(q))
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_zlabel()) == ("x [m]", "y [m]", "z [m]")


@arms
def test_every_joint_has_a_body_and_a_line_along_its_axis(chain):
    q = chain.random(seed=2)
    ax = plot.arm(chain, q, limits=False)
    arrows = [each for each in ax.collections if isinstance(each, Line3DCollection)]
    assert len(arrows) == 3  # x, y and z of the end effector
    assert len(ax.collections) == chain.n + 1 + 3  # bodies of joints and base, and arrows
    axes = lines(ax, canvas.DARK)
    assert len(axes) == chain.n
    for ends, frame in zip(axes, chain.frames(q), strict=True):
        direction = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
        np.testing.assert_allclose(direction, frame[:3, 2], atol=1e-12)
        np.testing.assert_allclose(np.cross(ends[0] - frame[:3, 3], direction), 0.0, atol=1e-12)


@arms
def test_the_axes_contain_the_whole_arm_at_equal_scale(chain):
    ax = plot.arm(chain, chain.random(seed=3))
    limits = np.array([ax.get_xlim(), ax.get_ylim(), ax.get_zlim()])
    for line in ax.lines:
        points = np.array(line.get_data_3d())
        assert (limits[:, :1] <= points).all()
        assert (points <= limits[:, 1:]).all()
    stretch = ax._box_aspect / np.ptp(limits, axis=1)
    np.testing.assert_allclose(stretch, stretch[0])


@pytest.mark.parametrize("end", [0, 1], ids=["lower", "upper"])
def test_a_sector_ends_at_the_joint_limits(end):
    """The hand of a sector, at the present value, points there when the joint is at its limit."""
    q = PANDA.random(seed=4)
    sectors = lines(plot.arm(PANDA, q), canvas.RANGE, 0.8)
    assert len(sectors) == 7
    for joint, corners in enumerate(sectors):
        at_limit = q.copy()
        at_limit[joint] = PANDA.limits[joint, end]
        hand = lines(plot.arm(PANDA, at_limit), canvas.RANGE, 1.6)[joint]
        np.testing.assert_allclose(corners[0], hand[0], atol=1e-12)
        np.testing.assert_allclose(corners[-2 if end else 1], hand[1], atol=1e-12)
        plt.close("all")


def test_the_scale_of_a_prismatic_joint_has_the_length_of_its_range():
    q = np.array([0.4, 0.9, 0.7, 0.3, 0.5, 0.2])
    axis = STANFORD.frames(q)[2, :3, 2]
    scale = max(lines(plot.arm(STANFORD, q), canvas.RANGE, 1.6), key=np.ptp)
    np.testing.assert_allclose(scale[1] - scale[0], (1.27 - 0.305) * axis, atol=1e-3)


def test_a_joint_with_a_full_turn_has_no_sector():
    ax = plot.arm(UR5E, np.zeros(6))
    assert lines(ax, canvas.RANGE) == []
    limited = UR5E.with_limits([[-1, 1]] + [[-4, 4]] * 5)
    assert len(lines(plot.arm(limited, np.zeros(6)), canvas.RANGE)) == 2
    assert lines(plot.arm(limited, np.zeros(6), limits=False), canvas.RANGE) == []


def test_given_axes_are_drawn_into_and_keep_their_view():
    ax = plt.figure().add_subplot(projection="3d", azim=12, elev=34)
    assert plot.arm(PANDA, PANDA.home, ax) is ax
    assert plot.arm(UR5E, UR5E.home, ax, color="black") is ax
    assert (ax.azim, ax.elev) == (12, 34)
    assert len(plt.get_fignums()) == 1
    np.testing.assert_array_equal(lines(ax, canvas.AFTER)[0], PANDA.outline(PANDA.home))
    np.testing.assert_array_equal(lines(ax, "black")[0], UR5E.outline(UR5E.home))
    assert ax.get_xlim()[0] < UR5E.outline(UR5E.home)[:, 0].min()
    assert ax.get_zlim()[1] > PANDA.outline(PANDA.home)[:, 2].max()


# A motion


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_motion_shows_the_arm_before_between_and_after(kind):
    target = kind.at_pose(PANDA.fk(PANDA.random(seed=5)))
    trace = PANDA.trace(target)
    ax = plot.motion(PANDA, trace.joint_angles, target)
    ax.figure.canvas.draw()
    assert legend_texts(ax) == ["before", "between", "after", "target"]
    (first,), between = lines(ax, canvas.BEFORE), lines(ax, canvas.BETWEEN)
    np.testing.assert_array_equal(first, PANDA.outline(trace.joint_angles[0]))
    assert len(between) == len(trace) - 1
    last = lines(ax, canvas.AFTER)[0]
    np.testing.assert_array_equal(last, PANDA.outline(trace.joint_angles[-1]))
    (star,) = lines(ax, canvas.TARGET)
    np.testing.assert_allclose(star[0], last[-1], atol=1e-6)
    arrows = [each for each in ax.collections if isinstance(each, Line3DCollection)]
    assert len(arrows) == 3 + kind.directions  # of the end effector and of the target


def test_a_rigid_transform_is_drawn_as_its_matrix():
    pose = PANDA.fk(PANDA.random(seed=5))
    expected = space.describe_target(PANDA, pose)
    for name, value in space.describe_target(PANDA, RigidTransform.from_matrix(pose)).items():
        np.testing.assert_allclose(value, expected[name], atol=1e-12)


# Convergence


def test_convergence_shows_the_errors_and_methods_of_a_trace():
    trace = UR5E.trace(UR5E.fk(UR5E.random(seed=6)), UR5E.random(seed=7))
    ax = plot.convergence(trace, tolerance=1e-6)
    ax.figure.canvas.draw()
    assert ax.get_yscale() == "log"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("iteration", "error [m, rad]")
    assert legend_texts(ax) == ["position [m]", "orientation [rad]", "tolerance"]
    np.testing.assert_array_equal(labelled(ax, "position [m]")[:, 1], trace.position_error)
    np.testing.assert_array_equal(labelled(ax, "orientation [rad]")[:, 1], trace.orientation_error)
    (span,) = ax.patches
    assert span.get_x() == trace.sweeps > 0
    assert span.get_x() + span.get_width() == len(trace)
    assert [text.get_text() for text in ax.texts] == ["CCD", "Levenberg-Marquardt"]


def test_convergence_of_ccd_to_a_position_shows_neither_orientation_nor_lm_steps():
    trace = UR5E.trace([0.3, 0.2, 0.5], config=SolveConfig(method="ccd"))
    ax = plot.convergence(trace)
    assert ax.get_ylabel() == "position error [m]"
    assert (len(ax.lines), len(ax.patches), ax.get_legend()) == (1, 0, None)
    assert [text.get_text() for text in ax.texts] == ["CCD"]
    given = plt.figure().add_subplot()
    assert plot.convergence(trace, ax=given) is given


@pytest.mark.parametrize("errors", [[0.0], [1.0, 0.0], [0.0, 0.0, 0.0], [1e-300, 1.0, 0.0]])
def test_errors_of_zero_keep_the_log_scale_finite(errors):
    zeros = np.zeros((len(errors), 2))
    ax = plot.convergence(Trace(zeros, np.array(errors), np.zeros(len(errors)), 0, True))
    ax.figure.canvas.draw()
    low, high = ax.get_ylim()
    assert 0.0 < low < high < np.inf
    for error in errors:
        assert error == 0.0 or low < error < high


# A sweep


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("name", ["panda", "stanford", "ur5e", "planar", "scara"])
def test_in_a_sweep_every_joint_moves_the_end_effector_nearest_to_the_target(name, number):
    """In the view along its axis, no point of its range is nearer to the target."""
    chain = ARMS[name]
    target = chain.fk(chain.random(seed=8))[:3, 3]
    trace = chain.trace(target, chain.random(seed=9))
    panels = plot.sweep(chain, trace, target, number)
    assert len(panels) == chain.n
    moves = [move for move in trace.moves() if move.sweep == number]
    for ax, move in zip(panels, moves, strict=True):
        star, arc = labelled(ax, "target")[0], labelled(ax, "range of motion")
        before, after = labelled(ax, "before"), labelled(ax, "after")
        error = np.linalg.norm(after[-1] - star)
        assert error <= np.linalg.norm(arc - star, axis=1).min() + 1e-9
        assert error <= np.linalg.norm(before[-1] - star) + 1e-9
        assert ax.get_title().startswith(f"{chain.n - move.joint}. {chain.names[move.joint]}\n")
        assert re.search(r", error \d\.\d{3} m$", ax.get_title())
        assert ax.get_aspect() == 1.0
        assert np.ptp(ax.get_xlim()) == pytest.approx(np.ptp(panels[0].get_xlim()))


def test_the_error_never_increases_in_a_sweep():
    target = [0.4, -0.3, 0.4]
    trace = PANDA.trace(target, PANDA.random(seed=10))
    panels = plot.sweep(PANDA, trace, target)
    errors = [float(ax.get_title().split()[-2]) for ax in panels]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] == pytest.approx(trace.position_error[1], abs=1e-3)
    assert panels[-1].get_xlabel() == panels[0].get_ylabel() == "[m]"
    (legend,) = panels[0].figure.legends
    assert {text.get_text() for text in legend.get_texts()} == {
        "range of motion",
        "before",
        "after",
        "moving joint",
        "target",
    }


def test_without_limits_joint_end_effector_and_target_are_on_one_line():
    target = [0.3, 0.7, 0.0]
    before = PLANAR.outline([-0.4, 0.8])[:, :2]
    for ax in plot.sweep(PLANAR, PLANAR.trace(target, [-0.4, 0.8]), target):
        np.testing.assert_allclose(labelled(ax, "before"), before, atol=1e-12)
        before = labelled(ax, "after")  # the next joint continues from here
        (joint,), (star,) = labelled(ax, "moving joint"), labelled(ax, "target")
        to_tip, to_star = labelled(ax, "after")[-1] - joint, star - joint
        assert to_tip[0] * to_star[1] == pytest.approx(to_tip[1] * to_star[0], abs=1e-9)
        assert to_tip @ to_star > 0.0


# A path


def test_a_path_shows_the_values_and_limits_of_every_joint():
    q = STANFORD.random(seed=11)
    targets = STANFORD.fk(np.linspace(q, 0.9 * q + 0.1 * STANFORD.home, 12))
    path = STANFORD.solve_path(list(targets), start=q)
    assert path.converged
    panels = plot.path(STANFORD, path)
    panels[0].figure.canvas.draw()
    assert len(panels) == 6
    for i, ax in enumerate(panels):
        np.testing.assert_array_equal(labelled(ax, "joint value")[:, 1], path.joint_angles[:, i])
        below, above = ax.patches
        lower, upper = STANFORD.limits[i]
        np.testing.assert_allclose(below.get_bbox().intervaly.max(), lower)
        np.testing.assert_allclose(above.get_bbox().intervaly.min(), upper)
        assert ax.get_ylim()[0] < lower < upper < ax.get_ylim()[1]
        assert ax.get_ylabel() == ("[m]" if i == 2 else "[rad]")
        assert ax.get_title(loc="left") == STANFORD.names[i]
    assert panels[-1].get_xlabel() == "target"


def test_a_path_marks_jumps_and_missed_targets():
    fold = [[0.9, 0.1, 0.0], [0.9, 0.2, 0.0], [5.0, 0.0, 0.0], [0.9, 0.3, 0.0]]
    path = PLANAR.solve_path(fold, start=[0.5, -1.0])
    assert path.jumps == (2, 3)  # to the missed target, and away from it
    for i, ax in enumerate(plot.path(PLANAR, path)):
        assert len(ax.patches) == 0  # an arm without limits
        values = labelled(ax, "joint value")[:, 1]
        assert np.isnan(values).tolist() == [False, False, True, False]
        jumps = [line.get_xdata() for line in ax.lines if line.get_label() == "jump"]
        assert jumps == [[2, 2], [3, 3]]
        assert labelled(ax, "missed").tolist() == [[2, path.joint_angles[2, i]]]
        assert np.isfinite(ax.get_ylim()).all()


def test_given_panels_are_drawn_into():
    target = [0.3, 0.7, 0.0]
    figure, axes = plt.subplots(2, 2)
    upper = plot.sweep(PLANAR, PLANAR.trace(target, [-0.4, 0.8]), target, axes=axes[0])
    lower = plot.path(PLANAR, PLANAR.solve_path([target]), axes=axes[1])
    assert [*upper, *lower] == list(axes.ravel())
    assert [ax.get_ylabel() for ax in axes.ravel()] == ["[m]", "[m]", "[rad]", "[rad]"]
    assert all(ax.get_xlabel() for ax in axes.ravel())
    assert figure.legends == []
    assert len(plt.get_fignums()) == 1


# An animation


def test_an_animation_shows_every_visible_move(tmp_path):
    target = [0.3, 0.7, 0.0]
    trace = PLANAR.trace(target, [-0.4, 0.8])
    plot.gif(PLANAR, trace, target, tmp_path / "solve.gif")
    moves = [abs(move.after - move.before) for move in trace.moves()]
    moves += list(np.abs(np.diff(trace.joint_angles[trace.sweeps :], axis=0)).max(axis=1))
    visible = sum(move > animation.MIN_VISIBLE_MOVE for move in moves)
    assert visible >= 4
    with Image.open(tmp_path / "solve.gif") as image:
        assert image.n_frames == 2 + animation.FRAMES_PER_MOVE * visible
        assert image.info["loop"] == 0
        assert image.info["duration"] == animation.END_FRAME_MS
        frames = []
        for i in range(image.n_frames):
            image.seek(i)
            frames.append(image.convert("RGB"))
    assert {frame.getpixel((0, 0)) for frame in frames} == {(255, 255, 255)}
    for first, second in pairwise(frames):
        assert ImageChops.difference(first, second).getbbox()
    assert plt.get_fignums() == []


def test_an_animation_without_moves_has_two_frames(tmp_path):
    target = PLANAR.fk([0.3, 0.4])
    plot.gif(PLANAR, PLANAR.trace(target, [0.3, 0.4]), target, str(tmp_path / "still.gif"))
    with Image.open(tmp_path / "still.gif") as image:
        assert image.n_frames == 2


# Invalid input

TRACE = PLANAR.trace([0.3, 0.7, 0.0], [-0.4, 0.8])
PATH = PLANAR.solve_path([[0.3, 0.7, 0.0]])
TEXTS = {
    "a number as chain": (
        lambda: plot.arm(5, [0.0]),
        "chain is 5: expected a Chain, such as robots.panda() or Chain.from_dh(rows).",
    ),
    "too few values": (
        lambda: plot.arm(PLANAR, [0.0]),
        "q has 1 value for an arm of 2 joints: expected one value per joint, shape (2,).",
    ),
    "nan as value": (
        lambda: plot.arm(PLANAR, [0.0, float("nan")]),
        "q[1] is nan: expected finite numbers below 1e9.",
    ),
    "a motion of one configuration": (
        lambda: plot.motion(PLANAR, [[0.0, 0.0]], [1.0, 0.0, 0.0]),
        "configurations has shape (1, 2): expected (k, 2), k at least 2.",
    ),
    "a motion of no configurations": (
        lambda: plot.motion(PLANAR, np.empty((0, 2)), [1.0, 0.0, 0.0]),
        "configurations has shape (0, 2): expected (k, 2), k at least 2.",
    ),
    "a planar target": (
        lambda: plot.motion(PLANAR, np.zeros((2, 2)), [1.0, 0.0]),
        "target has shape (2,): expected (3,) for a position or (4, 4) for a pose. "
        "For a planar arm, add z = 0.",
    ),
    "numbers as trace": (
        lambda: plot.convergence([0.1, 0.01]),
        "trace is [0.1, 0.01]: expected the Trace that chain.trace(target) returns.",
    ),
    "a tolerance of zero": (
        lambda: plot.convergence(TRACE, tolerance=0.0),
        "tolerance is 0.0: expected a number above zero.",
    ),
    "the trace of another arm": (
        lambda: plot.sweep(UR5E, TRACE, [0.3, 0.7, 0.0]),
        "trace is of an arm of 2 joints and the chain has 6: expected a trace of this chain.",
    ),
    "a sweep that the trace does not have": (
        lambda: plot.sweep(PLANAR, TRACE, [0.3, 0.7, 0.0], TRACE.sweeps),
        f"number is {TRACE.sweeps}: expected less than {TRACE.sweeps}, the sweeps of this trace.",
    ),
    "too few panels": (
        lambda: plot.path(PLANAR, PATH, plt.subplots()[1]),
        "axes has length 1 for an arm of 2 joints: expected one per joint.",
    ),
    "numbers as panels": (
        lambda: plot.path(PLANAR, PATH, [1, 2]),
        "axes[0] is 1: expected 2D axes, as plt.subplots() makes them.",
    ),
    "the path of another arm": (
        lambda: plot.path(UR5E, PATH),
        "path is of an arm of 2 joints and the chain has 6: expected a path of this chain.",
    ),
    "points as path": (
        lambda: plot.path(PLANAR, np.zeros((2, 3))),
        "path is array([[0., 0., 0.], [0., 0., 0.]]): expected the IKPath that "
        "chain.solve_path(targets) returns.",
    ),
    "an animation without a trace": (
        lambda: plot.gif(PLANAR, None, [0.3, 0.7, 0.0], "solve.gif"),
        "trace is None: expected the Trace that chain.trace(target) returns.",
    ),
}


@pytest.mark.parametrize(("draw", "text"), TEXTS.values(), ids=TEXTS)
def test_error_texts(draw, text):
    with pytest.raises(InvalidInputError) as caught:
        draw()
    assert str(caught.value) == text


def test_an_error_names_the_axes_that_are_expected():
    flat, spatial = plt.figure().add_subplot(), plt.figure().add_subplot(projection="3d")
    with pytest.raises(InvalidInputError, match=r'^ax is <Axes.* 3D axes, as .*"projection": "3d"'):
        plot.arm(PLANAR, [0.0, 0.0], flat)
    with pytest.raises(InvalidInputError, match=r"^ax is <Axes3D.* 2D axes, as plt.subplots\(\)"):
        plot.convergence(TRACE, ax=spatial)
    with pytest.raises(InvalidInputError, match=r"^axes\[1\] is <Axes3D"):
        plot.path(PLANAR, PATH, [flat, spatial])


@pytest.mark.parametrize(
    "draw",
    [
        lambda: plot.arm(PLANAR, [0.0, 0.0]),
        lambda: plot.motion(PLANAR, np.zeros((2, 2)), [1.0, 0.0, 0.0]),
        lambda: plot.convergence(TRACE),
        lambda: plot.sweep(PLANAR, TRACE, [0.3, 0.7, 0.0]),
        lambda: plot.path(PLANAR, PATH),
        lambda: plot.gif(PLANAR, TRACE, [0.3, 0.7, 0.0], "solve.gif"),
    ],
    ids=["arm", "motion", "convergence", "sweep", "path", "gif"],
)
def test_without_matplotlib_the_error_says_how_to_install_it(draw, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(JointwiseError, match=r"pip install 'jointwise\[plot\]'"):
        draw()


def test_an_animation_needs_a_gif_file_in_an_existing_folder(tmp_path):
    chain = robots.panda()
    trace = chain.trace([0.4, 0.2, 0.5])
    for file in (tmp_path / "x.png", tmp_path / "nowhere" / "x.gif"):
        with pytest.raises(InvalidInputError, match=r"ends in \.gif, in an existing folder\.$"):
            plot.gif(chain, trace, [0.4, 0.2, 0.5], file)
