"""Figures: what they show, where, in which units; and the errors for invalid input."""

import re
import sys
from collections import Counter
from itertools import combinations, pairwise

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection
from PIL import Image, ImageChops
from scipy.spatial.transform import RigidTransform

from jointwise import (
    Chain,
    DHJoint,
    InvalidInputError,
    JointwiseError,
    Robot,
    Scene,
    SolveConfig,
    Trace,
    aim,
    direction,
    plot,
    robots,
    scara,
    two_link_planar,
)
from jointwise.plot import animation, arm3d, canvas, space
from jointwise.targets import KINDS

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
# Kinds of targets that a serial arm is searched for.
placed = pytest.mark.parametrize(
    "kind", [kind for kind in KINDS.values() if kind.has_position], ids=lambda kind: kind.name
)
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
    for ends, frame in zip(axes, chain.joint_frames(q), strict=True):
        direction = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
        np.testing.assert_allclose(direction, frame[:3, 2], atol=1e-12)
        np.testing.assert_allclose(np.cross(ends[0] - frame[:3, 3], direction), 0.0, atol=1e-12)


@pytest.mark.parametrize("name", robots.names())
def test_the_bodies_of_neighbouring_joints_are_apart(name):
    """Those of a spherical wrist, too, whose axes meet in one point."""
    chain = Chain.load(name)
    for seed in range(5):
        joints = arm3d.joint_geometry(chain, chain.random(seed=seed))
        for first, second in pairwise(joints):
            distance = np.linalg.norm(second.center - first.center)
            assert distance > 0.999 * arm3d.SPACING * max(first.size, second.size)


@pytest.mark.parametrize("name", ["puma560", "stanford", "kr6_r900", "irb120"])
def test_all_joints_of_a_spherical_wrist_are_visible(name):
    """No joint of the wrist is inside the body of another; they may only fold onto each other."""
    chain = Chain.load(name)
    q = chain.mid_range.copy()
    q[4] = 0.5
    wrist = arm3d.joint_geometry(chain, q)[3:]
    for first, second in combinations(wrist, 2):
        assert np.linalg.norm(second.center - first.center) > 0.5 * arm3d.joint_size(chain)


def frame_arrows(ax):
    """The arrows of frames: (name, colour, direction) of each."""
    arrows = [each for each in ax.collections if isinstance(each, Line3DCollection)]
    names = [text.get_text() for text in ax.texts]
    found = []
    for name, arrow in zip(names, arrows, strict=True):
        (end, start), *_ = arrow._segments3d
        direction = np.subtract(end, start) / np.linalg.norm(np.subtract(end, start))
        found.append((name, to_hex(arrow.get_color()[0]), direction))
    return found


@arms
def test_axes_of_the_end_effector_are_red_green_and_blue_and_have_names(chain):
    q = chain.random(seed=2)
    ax = plot.arm(chain, q, limits=False)
    expected = {"x": canvas.RED, "y": canvas.GREEN, "z": canvas.BLUE}
    arrows = frame_arrows(ax)
    assert {name: color.upper() for name, color, _ in arrows} == expected
    for (_, _, along), axis in zip(arrows, chain.fk(q)[:3, :3].T, strict=True):
        np.testing.assert_allclose(along, axis, atol=1e-12)
    for text, (name, color) in zip(ax.texts, expected.items(), strict=True):
        assert (text.get_text(), text.get_color()) == (name, color)


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
    axis = STANFORD.joint_frames(q)[2, :3, 2]
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
    assert plot.arm(PANDA, PANDA.mid_range, ax) is ax
    assert plot.arm(UR5E, UR5E.mid_range, ax, color="black") is ax
    assert (ax.azim, ax.elev) == (12, 34)
    assert len(plt.get_fignums()) == 1
    np.testing.assert_array_equal(lines(ax, canvas.AFTER)[0], PANDA.outline(PANDA.mid_range))
    np.testing.assert_array_equal(lines(ax, "black")[0], UR5E.outline(UR5E.mid_range))
    assert ax.get_xlim()[0] < UR5E.outline(UR5E.mid_range)[:, 0].min()
    assert ax.get_zlim()[1] > PANDA.outline(PANDA.mid_range)[:, 2].max()


# A motion


@placed
def test_a_motion_shows_the_arm_before_between_and_after(kind):
    target = kind.at_pose(PANDA.fk(PANDA.random(seed=5)))
    trace = PANDA.trace(target)
    ax = plot.motion(PANDA, trace.q, target)
    ax.figure.canvas.draw()
    assert legend_texts(ax) == ["before", "between", "after", "target"]
    (first,), between = lines(ax, canvas.BEFORE), lines(ax, canvas.BETWEEN)
    np.testing.assert_array_equal(first, PANDA.outline(trace.q[0]))
    assert len(between) == len(trace) - 1
    last = lines(ax, canvas.AFTER)[0]
    np.testing.assert_array_equal(last, PANDA.outline(trace.q[-1]))
    (star,) = lines(ax, canvas.TARGET)
    np.testing.assert_allclose(star[0], last[-1], atol=1e-6)
    arrows = [each for each in ax.collections if isinstance(each, Line3DCollection)]
    assert len(arrows) == 3 + kind.directions  # of the end effector and of the target


def test_the_axes_of_a_target_pose_are_drawn_as_those_of_the_end_effector():
    pose = PANDA.fk(PANDA.random(seed=5))
    ax = plot.motion(PANDA, [PANDA.mid_range, PANDA.mid_range], pose)
    at_tip, at_target = frame_arrows(ax)[:3], frame_arrows(ax)[3:]
    assert [arrow[:2] for arrow in at_tip] == [arrow[:2] for arrow in at_target]
    for (_, _, along), axis in zip(at_target, pose[:3, :3].T, strict=True):
        np.testing.assert_allclose(along, axis, atol=1e-12)


def test_a_rigid_transform_is_drawn_as_its_matrix():
    pose = PANDA.fk(PANDA.random(seed=5))
    expected = space.describe_target(pose)
    for name, value in space.describe_target(RigidTransform.from_matrix(pose)).items():
        np.testing.assert_allclose(value, expected[name], atol=1e-12)


def test_a_direction_is_an_arrow_at_the_end_effector():
    found = PANDA.solve(direction([0, 0, -1]))
    ax = plot.motion(PANDA, [PANDA.mid_range, found.q], direction([0, 0, -1]))
    assert legend_texts(ax) == ["before", "after", "target"]
    arrow = [each for each in ax.collections if isinstance(each, Line3DCollection)][-1]
    (end, start), *_ = arrow._segments3d
    np.testing.assert_allclose(start, PANDA.fk(found.q)[:3, 3], atol=1e-12)
    assert np.subtract(end, start)[2] < 0.0
    assert not lines(ax, canvas.TARGET)  # no star
    with pytest.raises(InvalidInputError, match="target is a direction: expected a target with"):
        PANDA.trace(direction([0, 0, -1]))


# Several solutions


def solutions_of(chain, target, count):
    return [solution.q for solution in chain.solutions(target, count=count)]


@placed
def test_the_legend_names_every_solution_and_the_target(kind):
    target = kind.at_pose(UR5E.fk(UR5E.random(seed=5)))
    solutions = solutions_of(UR5E, target, 4)
    ax = plot.solutions(UR5E, solutions, target)
    ax.figure.canvas.draw()
    names = [f"solution {i + 1}" for i in range(4)]
    assert legend_texts(ax) == [*names, "target", "shared joint"]
    colors = [handle.get_color() for handle in ax.get_legend().legend_handles]
    assert len(set(colors)) == 6
    for color, q in zip(colors, solutions, strict=False):
        assert any(np.array_equal(line, UR5E.outline(q)) for line in lines(ax, color))
    (star,) = lines(ax, canvas.TARGET)
    np.testing.assert_array_equal(star[0], space.describe_target(target)["position"])
    assert ax.get_legend().legend_handles[4].get_marker() == "*"


def test_joints_have_the_colour_of_their_solution_unless_several_share_them():
    """The two solutions of a planar arm share its first joint."""
    target = [0.7, 0.3, 0.0]
    first, second = solutions_of(PLANAR, target, 2)
    ax = plot.solutions(PLANAR, [first, second], target)
    for q, color in ((first, canvas.SERIES[0]), (second, canvas.SERIES[1])):
        _, axis = lines(ax, color)  # after the outline
        np.testing.assert_allclose(axis.mean(axis=0), PLANAR.joint_frames(q)[1, :3, 3], atol=1e-12)
    axes = lines(ax, canvas.DARK, 0.8)
    assert len(axes) == 2
    np.testing.assert_allclose([axis.mean(axis=0) for axis in axes], 0.0, atol=1e-12)


def test_one_solution_shares_no_joint():
    ax = plot.solutions(UR5E, [UR5E.mid_range], UR5E.fk(UR5E.mid_range))
    assert legend_texts(ax) == ["solution 1", "target"]
    assert plot.solutions(UR5E, [UR5E.mid_range], UR5E.fk(UR5E.mid_range), ax) is ax


@pytest.mark.parametrize("count", [6, 7, 16])
def test_every_one_of_many_solutions_looks_different(count):
    target = [0.4, 0.2, 0.5]
    ax = plot.solutions(PANDA, solutions_of(PANDA, target, count), target)
    handles = ax.get_legend().legend_handles[:count]
    assert len({tuple(np.atleast_1d(each.get_color())) for each in handles}) == count


def test_many_solutions_are_numbered_lines_and_only_the_joint_of_all_has_a_body():
    target = [0.4, 0.2, 0.5]
    found = solutions_of(PANDA, target, 16)
    ax = plot.solutions(PANDA, found, target)
    ax.figure.canvas.draw()
    numbers = [f"{i + 1}" for i in range(16)]
    assert legend_texts(ax) == [*numbers, "target", "shared joint"]
    assert len(ax.collections) == 2  # the base, and the first joint
    labels = [text for text in ax.texts if text.get_text() in numbers]
    assert [label.get_text() for label in labels] == numbers
    for label, q in zip(labels, found, strict=True):
        place = np.array(label.get_position_3d())
        assert distance_to_polyline(place, PANDA.outline(q)) < 1e-9
    boxes = [label.get_window_extent() for label in labels]
    centers = np.array([0.5 * (box.p0 + box.p1) for box in boxes])
    distances = np.linalg.norm(centers[:, None] - centers, axis=-1) + 1e9 * np.eye(16)
    assert distances.min() > max(box.height for box in boxes)  # none hides another


def distance_to_polyline(point, corners):
    """Distance of a point (3,) from a line through corners (k, 3) [m]."""
    starts, links = corners[:-1], np.diff(corners, axis=0)
    lengths = np.maximum((links**2).sum(axis=1), 1e-12)
    shares = np.clip(((point - starts) * links).sum(axis=1) / lengths, 0.0, 1.0)
    return np.linalg.norm(starts + shares[:, None] * links - point, axis=1).min()


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


@pytest.mark.parametrize("free", [0.0, np.nan])
def test_the_orientation_error_is_left_out_where_orientation_is_free(free):
    errors = np.array([0.3, 0.01, 1e-7])
    ax = plot.convergence(Trace(np.zeros((3, 2)), errors, np.full(3, free), 1, True))
    ax.figure.canvas.draw()
    (line,) = ax.lines
    assert line.get_label() == "position [m]"
    assert ax.get_ylabel() == "position error [m]"
    assert ax.get_ylim() == pytest.approx((1e-7 / 3.0, 0.9))


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
        assert ax.get_title().startswith(
            f"{chain.n - move.joint}. {chain.joint_names[move.joint]}\n"
        )
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
    targets = STANFORD.fk(np.linspace(q, 0.9 * q + 0.1 * STANFORD.mid_range, 12))
    path = STANFORD.solve_path(list(targets), start=q)
    assert path.converged.all()
    panels = plot.path(STANFORD, path)
    panels[0].figure.canvas.draw()
    assert len(panels) == 6
    for i, ax in enumerate(panels):
        np.testing.assert_array_equal(labelled(ax, "joint value")[:, 1], path.q[:, i])
        below, above = ax.patches
        lower, upper = STANFORD.limits[i]
        np.testing.assert_allclose(below.get_bbox().intervaly.max(), lower)
        np.testing.assert_allclose(above.get_bbox().intervaly.min(), upper)
        assert ax.get_ylim()[0] < lower < upper < ax.get_ylim()[1]
        assert ax.get_ylabel() == ("[m]" if i == 2 else "[rad]")
        assert ax.get_title(loc="left") == STANFORD.joint_names[i]
    assert panels[-1].figure.axes[-1].get_xlabel() == "target"
    assert {ax.get_xlabel() for ax in panels} == {""}


def test_a_path_in_degrees_has_metres_for_prismatic_joints():
    path = STANFORD.solve_path([STANFORD.fk(STANFORD.mid_range)] * 2)
    limits = np.where(STANFORD.prismatic, STANFORD.limits.T, np.degrees(STANFORD.limits.T))
    values = np.where(STANFORD.prismatic, path.q, np.degrees(path.q))
    for i, ax in enumerate(plot.path(STANFORD, path, degrees=True)):
        assert ax.get_ylabel() == ("[m]" if STANFORD.prismatic[i] else "[°]")
        np.testing.assert_allclose(labelled(ax, "joint value")[:, 1], values[:, i])
        below, above = ax.patches
        np.testing.assert_allclose(below.get_bbox().intervaly.max(), limits[0, i])
        np.testing.assert_allclose(above.get_bbox().intervaly.min(), limits[1, i])


def test_a_path_marks_breaks_and_missed_targets():
    fold = [[0.9, 0.1, 0.0], [0.9, 0.2, 0.0], [5.0, 0.0, 0.0], [0.9, 0.3, 0.0]]
    path = PLANAR.solve_path(fold, start=[0.5, -1.0])
    assert path.breaks == (2, 3)  # to the missed target, and away from it
    for i, ax in enumerate(plot.path(PLANAR, path)):
        assert len(ax.patches) == 0  # an arm without limits
        line = labelled(ax, "joint value")
        is_gap = np.isnan(line[:, 0])  # before each break
        assert np.flatnonzero(is_gap).tolist() == [2, 4]
        assert np.isnan(line[~is_gap, 1]).tolist() == [False, False, True, False]
        breaks = [line.get_xdata() for line in ax.lines if line.get_label() == "break"]
        assert breaks == [[2, 2], [3, 3]]
        assert labelled(ax, "missed").tolist() == [[2, path.q[2, i]]]
        assert np.isfinite(ax.get_ylim()).all()


@pytest.mark.parametrize("n", range(1, 10))
def test_the_panels_of_a_path_leave_no_hole_in_the_grid(n):
    chain = Chain.from_dh([DHJoint(a=0.3)] * n)
    panels = plot.path(chain, chain.solve_path([[0.2, 0.1, 0.0]] * 2))
    figure = panels[0].figure
    assert len(panels) == n
    assert figure.axes[:n] == list(panels)
    covered = Counter()
    for ax in figure.axes:
        spec = ax.get_subplotspec()
        covered.update((row, column) for row in spec.rowspan for column in spec.colspan)
    grid = figure.axes[0].get_gridspec()
    assert len(covered) == grid.nrows * grid.ncols
    assert set(covered.values()) == {1}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_the_last_panel_of_a_path_shows_its_errors(kind):
    targets = [kind.at_pose(UR5E.fk(UR5E.random(seed=seed))) for seed in (1, 2, 3)]
    path = UR5E.solve_path(targets)
    ax = plot.path(UR5E, path)[0].figure.axes[-1]
    expected = {}
    if kind.has_position:
        expected["position [m]"] = [result.position_error for result in path]
    if kind.directions:
        expected["orientation [rad]"] = [result.orientation_error for result in path]
    assert legend_texts(ax) == list(expected)
    for label, errors in expected.items():
        np.testing.assert_array_equal(labelled(ax, label)[:, 1], errors)
    assert (ax.get_yscale(), ax.get_xlabel()) == ("log", "target")
    units = {("position [m]",): "[m]", ("orientation [rad]",): "[rad]"}
    assert ax.get_ylabel() == units.get(tuple(expected), "[m, rad]")


def test_the_path_of_a_robot_is_drawn_like_that_of_an_arm():
    robot = Robot.load("ur5e")
    poses = robot.fk(np.linspace(UR5E.mid_range + 0.5, np.ones(6), 4))
    path = robot.solve_path({"tip": poses["tip"], "link2": poses["link2"][:, :3, 3]})
    for i, ax in enumerate(plot.path(robot, path)):
        assert ax.get_title(loc="left") == robot.joint_names[i]
        drawn = labelled(ax, "joint value")[:, 1]
        np.testing.assert_array_equal(drawn, np.where(path.converged, path.q[:, i], np.nan))
    with pytest.raises(InvalidInputError, match="path has 2 joints and the robot has 6: expected"):
        plot.path(robot, PATH)


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
    moves += list(np.abs(np.diff(trace.q[trace.sweeps :], axis=0)).max(axis=1))
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


# Whole robots


@pytest.mark.parametrize("name", ["panda", "talos_full_v2"])
def test_a_robot_is_lines_between_its_links_and_dots_at_its_joints(name):
    robot, base = Robot.load(name), np.diag([-1.0, -1.0, 1.0, 1.0])
    base[:3, 3] = 0.1, 0.2, 0.3
    q = robot.random(3)
    poses = robot.fk(q, base)
    ax = plot.robot(robot, q, base)
    segments, dots = (np.array(line.get_data_3d()).T for line in ax.lines)
    assert (np.isnan(segments[2::3])).all()
    expected = [
        (poses[place.parent][:3, 3], poses[link][:3, 3])
        for link, place in robot.model.links.items()
        if place.parent
    ]
    np.testing.assert_array_equal(segments.reshape(-1, 3, 3)[:, :2], expected)
    assert len(dots) == len(robot.joint_names) + len(robot.mimics)
    for (low, high), axis in zip(
        (ax.get_xlim(), ax.get_ylim(), ax.get_zlim()), dots.T, strict=True
    ):
        assert low <= axis.min() <= axis.max() <= high


def test_stars_are_targets_and_thin_lines_lead_to_them():
    robot = Robot.load("ur5e")
    pose, spatial = robot.fk(robot.random(1))["tip"], plt.figure().add_subplot(projection="3d")
    targets = {
        "tip": pose,
        "link2": aim([0.1, 0.2, 0.3], [0, 0, 1]),
        "link4": direction([0, 0, 1]),  # has no position
    }
    ax = plot.robot(robot, dict.fromkeys(robot.joint_names, 0.2), None, targets, spatial, "black")
    assert ax is spatial
    _, _, missing, stars = (np.array(line.get_data_3d()).T for line in ax.lines)
    np.testing.assert_array_equal(stars, [pose[:3, 3], [0.1, 0.2, 0.3]])
    tip = robot.fk(np.full(6, 0.2))["tip"][:3, 3]
    np.testing.assert_array_equal(missing[:2], [tip, pose[:3, 3]])
    assert to_hex(ax.lines[0].get_color()) == "#000000"


# Invalid input

TRACE = PLANAR.trace([0.3, 0.7, 0.0], [-0.4, 0.8])
PATH = PLANAR.solve_path([[0.3, 0.7, 0.0]])
TEXTS = {
    "a number as chain": (
        lambda: plot.arm(5, [0.0]),
        "chain is 5: expected a Chain, such as robots.panda() or Chain.from_dh(rows).",
    ),
    "a number as model": (
        lambda: plot.path(5, PATH),
        "model is 5: expected a Chain or a Robot, such as robots.panda().",
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
    "no solutions": (
        lambda: plot.solutions(PLANAR, np.empty((0, 2)), [1.0, 0.0, 0.0]),
        "configurations has shape (0, 2): expected (k, 2), k at least 1.",
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
        "trace has 2 joints and the chain has 6: expected a trace of this chain.",
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
        "path has 2 joints and the chain has 6: expected a path of this chain.",
    ),
    "points as path": (
        lambda: plot.path(PLANAR, np.zeros((2, 3))),
        "path is array([[0., 0., 0.], [0., 0., 0.]]): expected the IKPath that solve_path returns.",
    ),
    "an arm as robot": (
        lambda: plot.robot(5, [0.0]),
        "robot is 5: expected a Robot, such as Robot.load('panda').",
    ),
    "many configurations of a robot": (
        lambda: plot.robot(Robot.load("ur5e"), np.zeros((2, 6))),
        "q has shape (2, 6): expected (6,), one configuration.",
    ),
    "a target of a link that the robot lacks": (
        lambda: plot.robot(Robot.load("ur5e"), np.zeros(6), targets={"tap": [0.0, 0.0, 0.0]}),
        "no link named 'tap' in ur5e; did you mean 'tip'? Links: base_link, link1, link2, link3, "
        "link4, link5, link6, tip.",
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
        lambda: plot.solutions(PLANAR, np.zeros((2, 2)), [1.0, 0.0, 0.0]),
        lambda: plot.convergence(TRACE),
        lambda: plot.sweep(PLANAR, TRACE, [0.3, 0.7, 0.0]),
        lambda: plot.path(PLANAR, PATH),
        lambda: plot.gif(PLANAR, TRACE, [0.3, 0.7, 0.0], "solve.gif"),
    ],
    ids=["arm", "motion", "solutions", "convergence", "sweep", "path", "gif"],
)
def test_without_matplotlib_the_error_says_how_to_install_it(draw, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(JointwiseError, match=r"run pip install '.\[plot\]'"):
        draw()


def test_an_animation_needs_a_gif_file_in_an_existing_folder(tmp_path):
    chain = robots.panda()
    trace = chain.trace([0.4, 0.2, 0.5])
    for file in (tmp_path / "x.png", tmp_path / "nowhere" / "x.gif"):
        with pytest.raises(InvalidInputError, match=r"ends in \.gif, in an existing folder\.$"):
            plot.gif(chain, trace, [0.4, 0.2, 0.5], file)


@pytest.mark.parametrize("facade", [Chain, Robot])
def test_every_picture_of_a_model_has_its_obstacles_where_they_are(facade):
    near = Scene().box([0.2, 0.2, 0.2], [1.2, 2.0, 0.5], name="near")
    bare = facade.load("ur5e").with_base([1.0, 2.0, 0.0])
    model, q, target = bare.with_scene(near), bare.home, [1.3, 2.3, 0.4]
    planned = model.plan(q=q + 0.01, start=q)
    pictures = [plot.robot, lambda model, q: plot.plan(model, planned)]
    if facade is Chain:
        pictures[0] = plot.arm
        pictures += [
            lambda arm, q: plot.motion(arm, [q, q + 0.01], target),
            lambda arm, q: plot.solutions(arm, [q, q + 0.01], target),
        ]
    for draw in pictures:
        found = []
        for each in (bare, model):
            axes = draw(each, q)
            found.append(Counter(type(artist) for artist in axes.collections))
        more = found[1] - found[0]
        assert more == {Poly3DCollection: 1, Line3DCollection: 1}
        assert axes.xy_dataLim.contains(1.15, 2.05)
