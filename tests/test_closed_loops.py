"""Closed loops of MJCF models stay closed, by MuJoCo's own residuals of its constraints."""

from math import pi

import numpy as np
import pytest

from jointwise import InvalidInputError, Robot, SolveConfig, above, direction, relative
from testbed.coupled_targets import distance_to_polygon

mujoco = pytest.importorskip("mujoco")
CLOSED = 1e-9
# A four-bar linkage in the plane of x and z: crank, coupler with a pen, rocker.
BAR = '<geom type="capsule" size="0.01" fromto="0 0 0 {}"/>'
JOINT = '<joint name="{}" axis="0 1 0" range="-3 3" limited="true"/>'
CRANK = f'<body name="crank">{JOINT.format("a")}{BAR.format("0 0 0.2")}'
COUPLER = f'<body name="coupler" pos="0 0 0.2">{JOINT.format("b")}{BAR.format("0.4 0 0")}'
ROCKER = f'<body name="rocker" pos="0.4 0 0">{JOINT.format("c")}{BAR.format("0 0 0.25")}'
SITES = {
    "pen": '<site name="pen" pos="0.2 0 0.15"/><site name="pin" pos="0.4 0 0.05"/>',
    "end": '<site name="end" pos="0 0 0.25"/>',
}
FOUR_BAR = f"{CRANK}{COUPLER}{SITES['pen']}</body></body>{ROCKER}{SITES['end']}</body>"
# The same constraint, written in several ways; a weld needs a joint that turns the coupler's pin.
PIN = f'<body name="turned" pos="0.4 0 0.05">{JOINT.format("d")}<geom size="0.01"/></body>'
WELDED = FOUR_BAR.replace(SITES["pen"], SITES["pen"] + PIN)
LOOPS = {
    "connect": (FOUR_BAR, '<connect body1="coupler" body2="rocker" anchor="0.4 0 0.05"/>'),
    "connect of sites": (FOUR_BAR, '<connect site1="pin" site2="end"/>'),
    "weld": (
        WELDED,
        '<weld body1="turned" body2="rocker" anchor="0 0 0.25" relpose="0 0 0 1 0 0 0"/>',
    ),
}
kinds = pytest.mark.parametrize("kind", LOOPS)


def model_of(bodies, constraint):
    """The text of a model whose angles are radians."""
    return (
        f'<mujoco><compiler angle="radian"/><worldbody>{bodies}</worldbody>'
        f"<equality>{constraint}</equality></mujoco>"
    )


class Linkage:
    """A robot with loops, and MuJoCo's model of it."""

    def __init__(self, text):
        self.robot = Robot.from_mjcf(text)
        self.model = mujoco.MjModel.from_xml_string(text)
        self.data = mujoco.MjData(self.model)

    def opening(self, q, base=None):
        """The largest residual of MuJoCo's equality constraints [m, rad]."""
        data, model = self.data, self.model
        first = 0
        if base is not None:
            first = 7
            data.qpos[:3] = base[:3, 3]
            mujoco.mju_mat2Quat(data.qpos[3:7], base[:3, :3].ravel().copy())
        joints = [model.joint(i).name for i in range(model.njnt)][1 if first else 0 :]
        data.qpos[first:] = [q[self.robot.joint_names.index(name)] for name in joints]
        mujoco.mj_forward(model, data)
        return float(np.abs(data.efc_pos[: data.ne]).max())

    def closed(self, seed):
        """A random closed configuration."""
        rng = np.random.default_rng(seed)
        angle = rng.uniform(-1.0, 1.0)
        target = {"crank": direction([np.sin(angle), 0.0, np.cos(angle)])}
        result = self.robot.solve(target, self.robot.random(seed))
        assert result.converged
        return result


@kinds
def test_targets_are_reached_with_closed_loops(kind):
    linkage = Linkage(model_of(*LOOPS[kind]))
    robot = linkage.robot
    for seed in range(8):
        known = linkage.closed(seed)
        assert linkage.opening(known.q) < CLOSED
        pen = robot.fk(known.q)["pen"][:3, 3]
        result = robot.solve({"pen": pen}, robot.random(seed + 100))
        assert result.converged
        assert linkage.opening(result.q) < CLOSED
        np.testing.assert_allclose(robot.fk(result.q)["pen"][:3, 3], pen, rtol=0.0, atol=1.1e-6)
        assert ((robot.limits[:, 0] <= result.q) & (result.q <= robot.limits[:, 1])).all()


@kinds
def test_loops_stay_closed_along_a_path(kind):
    linkage = Linkage(model_of(*LOOPS[kind]))
    robot, start = linkage.robot, linkage.closed(1).q
    angles = np.linspace(0.0, 0.8, 60)
    crank = robot.fk(start)["crank"][:3, 2]
    first = np.arctan2(crank[0], crank[2])
    ways = np.column_stack([np.sin(first + angles), 0.0 * angles, np.cos(first + angles)])
    path = robot.solve_path({"crank": direction(ways)}, start)
    assert path.converged.all()
    assert max(map(linkage.opening, path.q)) < CLOSED
    assert np.abs(np.diff(path.q, axis=0)).max() < 0.2
    again = robot.solve_paths([{"crank": direction(ways)}] * 2, start, threads=1)
    assert (again[1].q == path.q).all()


ARM = f'<body name="arm" pos="0 0.5 0">{JOINT.format("d")}{BAR.format("0 0 0.2")}</body>'


@pytest.mark.parametrize("tolerance", [1e-6, 0.02, 0.5])
def test_loops_that_cannot_close_are_no_solution_whatever_the_tolerances(tolerance):
    """The limits keep the loop open by a centimetre; the second arm is a limb of its own."""
    linkage = Linkage(model_of(FOUR_BAR + ARM, LOOPS["connect"][1]))
    closed = linkage.closed(1).q
    limits = closed[:, None] + np.array([-5e-4, 5e-4])
    limits[0] += 0.02
    robot = linkage.robot.with_limits(limits)
    poses = robot.fk(closed)
    targets = {link: np.tile(poses[link][:3, 3], (3, 1)) for link in ("coupler", "arm")}
    options = {"config": SolveConfig(tolerance, tolerance, max_restarts=5)}
    path = robot.solve_path(targets, **options)
    assert 1e-3 < linkage.opening(path.q[0]) < 0.02
    assert not path.converged.any()
    assert not robot.solve_batch(targets, **options).converged.any()
    assert not robot.solve({link: each[0] for link, each in targets.items()}, **options).converged


def test_a_compromise_is_the_nearest_point_of_the_closed_linkage():
    linkage = Linkage(model_of(*LOOPS["connect"]))
    robot, far = linkage.robot, np.array([1.0, 0.2, 1.0])
    pens = []
    for seed in range(6):
        start = linkage.closed(seed).q
        result = robot.solve({"pen": far}, start, config=SolveConfig(max_restarts=20))
        assert not result.converged
        assert linkage.opening(result.q) < CLOSED
        distance = np.linalg.norm(robot.fk(result.q)["pen"][:3, 3] - far)
        assert result.position_error == pytest.approx(distance, abs=1e-9)
        pens.append(distance)
    # All configurations of the linkage, by its crank, in both branches.
    nearest = np.inf
    for crank in np.linspace(-pi, pi, 2001):
        pin = 0.2 * np.array([np.sin(crank), np.cos(crank)])  # x, z
        between, coupler = np.array([0.4, 0.0]) - pin, np.hypot(0.4, 0.05)
        size = np.linalg.norm(between)
        along = (size**2 + coupler**2 - 0.25**2) / (2.0 * size)
        height = coupler**2 - along**2
        for sign in (-1.0, 1.0) if height >= 0.0 else ():
            ahead = between / size
            across = np.array([-ahead[1], ahead[0]])
            end = pin + along * ahead + sign * np.sqrt(height) * across
            turned = np.arctan2(*(end - pin)[::-1]) - np.arctan2(0.05, 0.4)
            c, s = np.cos(turned), np.sin(turned)
            pen = pin + np.array([c * 0.2 - s * 0.15, s * 0.2 + c * 0.15])
            nearest = min(nearest, np.linalg.norm([pen[0] - 1.0, 0.2, pen[1] - 1.0]))
    assert min(pens) == pytest.approx(nearest, abs=1e-5)


def test_rows_of_a_batch_are_single_solves():
    linkage = Linkage(model_of(*LOOPS["weld"]))
    robot, start = linkage.robot, linkage.robot.random(3)
    pens = np.array([robot.fk(linkage.closed(seed).q)["pen"][:3, 3] for seed in range(4)])
    batch = robot.solve_batch({"pen": pens}, start)
    for row, pen in enumerate(pens):
        assert (batch.q[row] == robot.solve({"pen": pen}, start).q).all()
        assert linkage.opening(batch.q[row]) < CLOSED


def legs():
    """A free body on two legs, each a four-bar linkage with a foot that turns."""
    parts = []
    for side, y in (("left", 0.1), ("right", -0.1)):
        leg = FOUR_BAR.replace('<body name="crank">', f'<body name="crank" pos="0 {y} 0">')
        leg = leg.replace('pos="0.4 0 0"', f'pos="0.4 {y} 0"')
        for name in ("crank", "coupler", "rocker", "pen", "pin", "end"):
            leg = leg.replace(f'name="{name}"', f'name="{side}_{name}"')
        for name in "abc":
            leg = leg.replace(f'joint name="{name}"', f'joint name="{side}_{name}"')
        parts.append(leg)
    body = f'<body name="body"><freejoint/><geom size="0.1"/>{"".join(parts)}</body>'
    loops = [f'<connect site1="{side}_pin" site2="{side}_end"/>' for side in ("left", "right")]
    return model_of(body, "".join(loops))


def test_two_loops_below_a_free_base_and_other_rows_together():
    linkage = Linkage(legs())
    robot, start = linkage.robot, linkage.robot.home
    known = robot.solve({"body": np.eye(4)}, start)
    assert known.converged
    poses = robot.fk(known.q, known.base_pose)
    pens = {f"{side}_pen": poses[f"{side}_pen"][:3, 3] for side in ("left", "right")}
    seen = np.linalg.inv(poses["left_crank"]) @ poses["right_crank"]
    feet = np.vstack([pen[:2] + d for pen in pens.values() for d in 0.2 * np.eye(4)[:, :2] - 0.05])
    targets = pens | {
        "right_crank": relative(seen[:3, 3], to="left_crank"),
        "center_of_mass": above(feet),
    }
    for seed in range(4):
        result = robot.solve(targets, robot.random(seed))
        assert result.converged
        assert linkage.opening(result.q, result.base_pose) < CLOSED
        centre = robot.center_of_mass(result.q, result.base_pose)
        assert distance_to_polygon(feet, centre[:2]) < 1.1e-6


def test_a_loop_on_a_rail_is_the_same_loop():
    linkage = Linkage(model_of(*LOOPS["connect"]))
    rail = linkage.robot.with_external_axis([0, 0, 1], [-1.0, 1.0])
    pen = linkage.robot.fk(linkage.closed(2).q)["pen"][:3, 3] + [0.0, 0.0, 0.5]
    result = rail.solve({"pen": pen}, rail.random(1))
    assert result.converged
    assert linkage.opening(result.q[1:]) < CLOSED


def test_a_loop_that_cannot_be_closed_is_not_solved():
    text = model_of(*LOOPS["connect of sites"]).replace('range="-3 3"', 'range="-0.1 0.1"')
    text = text.replace('name="pin" pos="0.4', 'name="pin" pos="0.9')
    robot = Robot.from_mjcf(text)
    result = robot.solve({"pen": [0.2, 0.0, 0.35]})
    assert not result.converged
    assert np.isfinite(result.q).all()


REFUSED = {
    "track": (
        lambda robot: robot.track(robot.home, 0.001, max_velocity=1.0, max_acceleration=1.0),
        "MuJoCo Model has closed loops, which track would open, because it moves each joint "
        "independently: expected a robot without loops. Use solve_path.",
    ),
    "plan": (
        lambda robot: robot.with_scene().plan({"pen": [0.2, 0, 0.3]}, robot.home),
        "MuJoCo Model has closed loops, which plan would open, because it moves each joint "
        "independently: expected a robot without loops. Use solve_path.",
    ),
    "chain": (
        lambda robot: robot.chain("world", "pen"),
        "joint 'a' is part of a closed loop, so a chain to 'pen' cannot move it: expected joints "
        "that move independently. Solve for the link with Robot.solve.",
    ),
}


@pytest.mark.parametrize("verb", REFUSED)
def test_what_would_open_a_loop_is_refused(verb):
    robot = Robot.from_mjcf(model_of(*LOOPS["connect"]))
    call, text = REFUSED[verb]
    with pytest.raises(InvalidInputError) as error:
        call(robot)
    assert str(error.value) == text
