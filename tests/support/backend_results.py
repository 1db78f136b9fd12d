"""Results of every entry point, by public calls: ``python -m tests.support.backend_results``.

Its arguments are the file to write, and the part of the entry points: a key of ``PARTS``. Whatever
``JOINTWISE_BACKEND`` is, the file that is written must hold the same numbers.
"""

import sys
from collections.abc import Iterator
from itertools import pairwise
from math import inf

import numpy as np

from jointwise import (
    Chain,
    Contact,
    PathOptions,
    Robot,
    Scene,
    SolveConfig,
    Status,
    above,
    aim,
    backend,
    look_at,
    relative,
    robots,
    stanford_arm,
    within,
)
from jointwise.backends import cpu
from jointwise.reach.base_search import measure
from jointwise.reach.chunks import REACH_CONFIG
from jointwise.reach.grid import within_reach
from jointwise.reach.levels import solve_levels
from jointwise.reach.orientations import uniform_rotations
from testbed.coupled_targets import random_robot
from testbed.random_trees import random_tree
from tests.support.scenes import everything, panda, table, ur5e
from tests.support.two_arms import two_arms

ROWS = 12
LIMITS = {"max_velocity": 2.0, "max_acceleration": 20.0, "max_jerk": 900.0}


def of_one(chain: Chain, target: object, start: np.ndarray) -> Iterator[np.ndarray]:
    ccd = [SolveConfig(method=method) for method in ("ccd", "ccd_anderson")]
    for config in (SolveConfig(max_restarts=10), *ccd):
        result = chain.solve(target, start, config=config)
        errors = result.position_error, result.orientation_error
        counts = result.iterations, result.restarts, list(Status).index(result.status)
        yield np.concatenate([result.q, errors, counts])
    trace = chain.trace(target, start)
    yield trace.q
    yield np.stack([trace.position_error, trace.orientation_error])
    for each in chain.solutions(target, 3):
        yield each.q


def forward(chain: Chain) -> Iterator[np.ndarray]:
    q = chain.random(1, count=ROWS)
    yield chain.fk(q)
    yield chain.jacobian(q[0])
    yield chain.joint_frames(q[0])


def of_an_arm(chain: Chain) -> Iterator[np.ndarray]:
    q, start = chain.random(1, count=ROWS), chain.random(2)
    poses = chain.fk(q)
    far = poses.copy()
    far[: ROWS // 2, :3, 3] *= 1.2  # at the limit of the reach and beyond
    for targets in (far, far[:, :3, 3], aim(far[:, :3, 3], far[:, :3, 2])):
        batch = chain.solve_batch(targets, start, config=SolveConfig(max_restarts=10))
        yield batch.q
        yield np.stack([batch.position_error, batch.orientation_error, batch.status])
    for target in (far[0], far[1, :3, 3], aim(far[2, :3, 3], far[2, :3, 2]), far[-1]):
        yield from of_one(chain, target, start)
    yield chain.solve_path(np.linspace(poses[0, :3, 3], poses[1, :3, 3], 5)).q
    for targets in (far, far[:, :3, 3], aim(far[:, :3, 3], far[:, :3, 2])):
        run = chain.track(start, 0.01, **LIMITS).run(targets)
        yield run.q
        yield np.stack([run.position_error, run.orientation_error, run.status])


def of_a_map(chain: Chain) -> Iterator[np.ndarray]:
    """Orientations come from sines of NumPy, which have other bits on another machine."""
    q, orientations = chain.random(1, count=ROWS), uniform_rotations(20)
    points = chain.fk(q)[:, :3, 3].copy()
    yield within_reach(chain.arm, points, 1e-4).astype(float)
    yield from solve_levels(chain.arm, orientations, REACH_CONFIG, False, points)
    yield measure(chain.arm, q, np.ones(ROWS, bool), 5, np.array([0.0, 0.0, 1.0]))


def among_obstacles(chain: Chain) -> Iterator[np.ndarray]:
    scene, q = everything(3), chain.random(3, count=ROWS)
    yield scene.distance(q[:, :3])
    yield chain.with_scene(scene).clearance(q)
    yield chain.with_scene(scene, margin=0.05).is_free(q).astype(float)
    yield chain.with_scene(scene).edge_is_free(q[:-1], q[1:]).astype(float)
    at_table, config = chain.with_scene(table()), SolveConfig(max_restarts=10)
    batch = at_table.solve_batch(chain.fk(q), config=config)
    yield batch.q
    yield np.stack([batch.position_error, batch.clearance, batch.status])
    free = q[at_table.is_free(q)]
    for start, end in pairwise(free):
        yield at_table.plan(q=end, start=start, max_samples=500).waypoints
    for plan in at_table.plan_batch(q=free, starts=free[::-1].copy(), max_samples=500):
        yield plan.waypoints
    states = np.empty(ROWS, np.int64)
    cpu.configuration_states(at_table._check().packed_edges, q, states)
    yield states
    run = at_table.track(free[0], 0.01, **LIMITS).run(chain.fk(np.repeat(free[1:2], ROWS, axis=0)))
    yield run.q
    yield run.velocities


def of_a_robot() -> Iterator[np.ndarray]:
    robot = random_tree(1, free_base=True)
    poses = robot.fk(robot.random(1, count=ROWS))
    targets = {link: poses[link] for link in ("l5", "l8", "l9")}
    targets["l9"] = targets["l9"][:, :3, 3] + 0.1  # some are out of reach
    config = SolveConfig(max_restarts=10)
    for found in (
        robot.solve_batch(targets, config=config),
        robot.solve_path(targets, config=config),
    ):
        yield found.q
        yield np.stack([*(each.position_error for each in found.errors.values()), found.iterations])
    run = robot.track(robot.mid_range, 0.01, **LIMITS).run(targets)
    yield run.q
    yield np.stack([*(each.position_error for each in run.errors.values()), run.status])


def of_a_robot_among_obstacles() -> Iterator[np.ndarray]:
    robot = Robot.load("panda")
    scene, q = everything(3), robot.random(3, count=ROWS)
    yield robot.with_scene(scene).clearance(q)
    yield robot.with_scene(scene, margin=0.05).is_free(q).astype(float)
    poses, config = robot.fk(q), SolveConfig(max_restarts=10)
    targets = {"tip": poses["tip"], "link4": poses["link4"][:, :3, 3]}
    batch = robot.with_scene(table()).solve_batch(targets, config=config)
    yield batch.q
    yield np.stack([batch.position_error, batch.clearance, batch.status])


def of_a_tracker_in_contact(model: Chain | Robot) -> Iterator[np.ndarray]:
    """An obstacle appears around the end effector, which moves out of it."""
    start = np.array([0.0, -0.8, 0.0, -2.3, 0.0, 1.5, 0.8])
    pose = Robot.load("panda").fk(start)["tip"]
    target = pose[:3, 3] + [0.1, 0.2, 0.0]
    tracker = model.with_scene(Scene()).track(start, 0.01, **LIMITS)
    tracker.scene = Scene().box([0.1, 0.6, 0.05], pose[:3, 3])
    for _ in range(100):
        result = tracker.step(target if isinstance(model, Chain) else {"tip": target})
        yield np.concatenate([result.q, result.velocities])


def of_a_whole_body() -> Iterator[np.ndarray]:
    """Targets that couple branches, boxes, contacts, and mimic joints with prismatic ones."""
    robot, _ = random_robot(3, free_base=True)
    poses = robot.fk(robot.random(1, count=ROWS))
    polygon = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]
    targets = {
        "l5": within(poses["l5"], 0.05, [inf, 0.2, 0.0]),
        "l8": relative(poses["l8"][:, :3, 3], to="l4"),
        "l9": look_at(poses["l8"][:, :3, 3]),
        "center_of_mass": [above(polygon, 0.1)] * ROWS,
    }
    config = SolveConfig(max_restarts=10)
    batch = robot.solve_batch(targets, config=config)
    yield batch.q
    yield batch.status
    contact = Contact(np.arange(ROWS) < ROWS // 2, floor=-1.0)
    path = robot.solve_path({"l5": poses["l5"]}, options=PathOptions(contacts={"l9": contact}))
    yield path.q
    hand = Robot.from_urdf(two_arms())
    poses = hand.fk(hand.random(1, count=ROWS))
    for links in (["jaw_1", "jaw_2"], ["right_6", "jaw_2"]):
        yield hand.solve_batch({link: poses[link] for link in links}, config=config).q
        yield hand.solve_path({link: poses[link] for link in links}, config=config).q


def of_a_tool_path() -> Iterator[np.ndarray]:
    """A line that the free angle of the tool completes, as a whole."""
    arm = robots.ur5e()
    line = np.tile(arm.fk([0.3, -1.2, 1.5, -0.6, 1.0, 0.0]), (ROWS, 1, 1))
    line[:, 1, 3] += np.linspace(0.0, 0.3, ROWS)
    path = arm.solve_path(within(line, rotation=[0.0, 0.0, inf], frame="tool"), max_step=0.3)
    yield path.q
    around = ur5e().with_scene(table())
    yield around.solve_path(line, max_step=0.3, options=PathOptions(detours=True)).q


SLIDER = Chain.from_dh(stanford_arm())  # with a prismatic joint
CHAINS = robots.panda(), robots.ur5(), SLIDER
PARTS = {
    "forward": lambda: [each for chain in CHAINS for each in forward(chain)],
    "arms": lambda: [each for chain in CHAINS for each in of_an_arm(chain)],
    "maps": lambda: [each for chain in CHAINS for each in of_a_map(chain)],
    "obstacles": lambda: [each for arm in (panda(), ur5e()) for each in among_obstacles(arm)],
    "contacts": lambda: [
        each
        for model in (robots.panda(), Robot.load("panda"))
        for each in of_a_tracker_in_contact(model)
    ],
    "bodies": lambda: [*of_a_whole_body()],
    "paths": lambda: [*of_a_tool_path()],
    "robots": lambda: [*of_a_robot(), *of_a_robot_among_obstacles()],
}

if __name__ == "__main__":
    np.savez(sys.argv[1], *PARTS[sys.argv[2]]())
    print(backend().name)
