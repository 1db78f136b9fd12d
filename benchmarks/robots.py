"""Whole robots: cold solves of many links at once, checked by Pinocchio and MuJoCo."""

import warnings
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path
from time import process_time

import numpy as np

from benchmarks.robot_fk import PACKAGES, _installed
from jointwise import DegreesWarning, GeometryWarning, IKResult, Robot, Scene, robots
from jointwise.config import DEFAULT_SOLVE_CONFIG
from jointwise.engines.tree.engine import TREE
from testbed.whole_robots import mujoco_poses, pinocchio_poses, random_base

TOLERANCE = 1e-6
SHADOW = "gymnasium-robotics==1.4.2"


@dataclass(frozen=True)
class Case:
    """A robot and the links that have targets."""

    name: str
    file: str
    links: tuple[str, ...]
    package: str = ""
    free_base: bool = False

    def path(self) -> Path:
        """Of its file."""
        if self.package:
            return _installed(self.package) / PACKAGES[self.package] / self.file
        files = distribution("example-robot-data").files or []
        return Path(next(each.locate() for each in files if each.name == self.file))

    def load(self) -> Robot:
        """The robot."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegreesWarning)
            if self.package:
                return Robot.from_mjcf(self.path())
            return Robot.from_urdf(self.path(), self.free_base)


G1, SIDES = "g1_29dof_rev_1_0.urdf", ("left", "right")
FINGERS = ("Thumb3", "Finger13", "Finger23", "Finger33")
CASES = (
    Case(
        "G1, hands and feet",
        G1,
        tuple(f"{side}_{link}" for side in SIDES for link in ("rubber_hand", "ankle_roll_link")),
        free_base=True,
    ),
    Case(
        "G1, 14 poses",
        G1,
        (
            "pelvis",
            "torso_link",
            *(
                f"{side}_{link}_link"
                for side in SIDES
                for link in ("hip_roll", "knee", "ankle_roll", "shoulder_roll", "elbow")
            ),
            *(f"{side}_wrist_yaw_link" for side in SIDES),
        ),
        free_base=True,
    ),
    Case(
        "Talos, hands and feet",
        "talos_full_v2.urdf",
        tuple(
            link for side in SIDES for link in (f"gripper_{side}_base_link", f"{side}_sole_link")
        ),
        free_base=True,
    ),
    Case("Baxter, two hands", "baxter.urdf", ("left_gripper", "right_gripper")),
    Case("Tiago, two hands", "tiago_dual.urdf", ("hand_left_tool_link", "hand_right_tool_link")),
    Case(
        "Allegro, four fingers",
        "allegro_right_hand.urdf",
        tuple(f"link_{i}.0_tip" for i in (3, 7, 11, 15)),
    ),
    Case(
        "Shadow, five fingers",
        "reach.xml",
        tuple(f"robot0:S_{finger}tip" for finger in ("ff", "mf", "rf", "lf", "th")),
        SHADOW,
    ),
    Case(
        "Romeo, mimic fingers",
        "romeo.urdf",
        tuple(f"{side}{tip}Link" for side in "LR" for tip in FINGERS),
    ),
)


# Columns of the table of one arm.
SOLVED_BY = ("chain solved", "robot solved", "tree solved")
# Targets for which spheres are fitted; the case among obstacles, and the SRDF of its robot.
FEWEST = 50
OBSTACLES_CASE = (CASES[3], "baxter_manipulation.srdf")


def robots_table(count: int, with_rivals: bool) -> None:
    """Share of cold solves within 1e-6 m, 1e-6 rad and the limits, and the time of a call."""
    count = min(count, 2000)
    print(f"\nWhole robots, {count} sets of reachable poses each, random starts, limits on;")
    print("solved: by the forward kinematics of Pinocchio or MuJoCo, within 1e-6 m and 1e-6 rad")
    print(
        f"{'':24}{'joints':>7}{'poses':>6}{'solved':>10}{'restarts':>10}{'mean µs':>9}{'median':>8}"
        f"{'worst':>9}"
    )
    for case in CASES:
        robot = case.load()
        results, seconds, solved = _solve_all(case, robot, count)
        micro, restarts = 1e6 * seconds, np.mean([each.restarts for each in results])
        print(
            f"{case.name:24}{robot.n:7}{len(case.links):6}{solved:10.2%}{restarts:10.2f}"
            f"{micro.mean():9.0f}{np.median(micro):8.0f}{micro.max():9.0f}",
            flush=True,
        )


def _solve_all(case: Case, robot: Robot, count: int) -> tuple[list[IKResult], np.ndarray, float]:
    """Results, CPU seconds each, and the share that an independent library confirms."""
    q, starts = robot.random(1, count), robot.random(2, count)
    bases = [random_base(i) if robot.free_base else np.eye(4) for i in range(count)]
    targets = [
        {link: poses[link] for link in case.links}
        for poses in (robot.fk(*each) for each in zip(q, bases, strict=True))
    ]
    results, seconds = [], []
    robot.solve(targets[0], starts[0])
    for row, start in zip(targets, starts, strict=True):
        began = process_time()
        results.append(robot.solve(row, start))
        seconds.append(process_time() - began)
    errors = np.array(_errors(case, robot, targets, results))
    lower, upper = robot.limits.T
    found = np.array([each.q for each in results])
    inside = ((lower <= found) & (found <= upper)).all(axis=1)
    solved = (errors < TOLERANCE).all(axis=(1, 2)) & inside
    wrong = solved != [each.converged for each in results]
    if wrong.any():
        print(f"  {int(wrong.sum())} flags differ from {case.path().name}'s own kinematics")
    return results, np.array(seconds), float(solved.mean())


def _errors(
    case: Case, robot: Robot, targets: list[dict[str, np.ndarray]], results: list[IKResult]
) -> list[list[tuple[float, float]]]:
    """(position [m], orientation error [rad]) of each link, by another library's kinematics."""
    if case.package:
        import mujoco

        model = mujoco.MjModel.from_xml_path(str(case.path()))
        found = [mujoco_poses(model, robot, each.q, each.base_pose) for each in results]
    else:
        by_link = pinocchio_poses(str(case.path()), robot, np.array([each.q for each in results]))
        found = [
            {link: each.base_pose @ by_link[link][i] for link in targets[0]}
            for i, each in enumerate(results)
        ]
    return [
        [_pose_error(poses[link], target) for link, target in row.items()]
        for poses, row in zip(found, targets, strict=True)
    ]


def _pose_error(pose: np.ndarray, target: np.ndarray) -> tuple[float, float]:
    chord = np.linalg.norm(pose[:3, :3] - target[:3, :3])
    angle = 2.0 * np.arcsin(min(1.0, chord / np.sqrt(8.0)))
    return float(np.linalg.norm(pose[:3, 3] - target[:3, 3])), float(angle)


def two_hands_scenes() -> dict[str, Scene]:
    """What is in front of a robot with two arms, whose shoulders are about 0.4 m above its root."""
    table = Scene().box([0.8, 1.6, 0.04], [0.9, 0.0, -0.1], name="table")
    shelf = table
    for k, height in enumerate((0.3, 0.7)):
        shelf = shelf.box([0.3, 1.4, 0.03], [0.95, 0.0, height], name=f"board{k + 1}")
    for k, side in enumerate((-0.7, 0.0, 0.7)):
        shelf = shelf.box([0.3, 0.03, 0.9], [0.95, side, 0.35], name=f"side{k + 1}")
    return {"itself": Scene(), "table": table, "shelf": shelf}


def robots_obstacles_table(count: int, with_rivals: bool) -> None:
    """Both hands of Baxter among obstacles, beside the same solves without a look at them."""
    from benchmarks.obstacle_answers import CoalSpheres

    count, (case, srdf) = min(count, 500), OBSTACLES_CASE
    if count < FEWEST:
        print(
            f"\nRobots among obstacles: left out below {FEWEST} targets, as the fit takes minutes"
        )
        return
    files = distribution("example-robot-data").files or []
    srdf_path = Path(next(each.locate() for each in files if each.name == srdf))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GeometryWarning)  # one of its meshes is not closed
        bare = Robot.from_urdf(case.path())
        robot = bare.with_geometry(padding=0.03, srdf=srdf_path)
    print(f"\n{case.name} among obstacles, {count} pairs of poses that free joint values reach,")
    print(f"random starts; {robot.geometry.count} spheres; free: by coal, with the same spheres")
    print(f"{'':10}{'solved':>9}{'free':>9}{'restarts':>10}{'mean µs':>9}{'median':>8}", end="")
    print(f"{'not looking: free':>20}{'mean µs':>9}{'median':>8}")
    for name, scene in two_hands_scenes().items():
        looking = robot.with_scene(scene)
        q, starts = robot.random(1, 20 * count), robot.random(2, count)
        poses = robot.fk(q[looking.is_free(q)][:count])
        targets = [{link: poses[link][i] for link in case.links} for i in range(count)]
        coal, row = CoalSpheres(robot, scene), f"{name:10}"
        for model in (looking, bare):
            results, micro = _timed(model, targets, starts)
            solved = [each.q for each in results if each.converged]
            free = np.mean([coal.clearance(each) >= -1e-9 for each in solved])
            if model is looking:
                restarts = np.mean([each.restarts for each in results])
                row += f"{len(solved) / count:9.1%}{free:9.1%}{restarts:10.2f}"
            else:
                row += f"{free:20.1%}"
            row += f"{micro.mean():9.0f}{np.median(micro):8.0f}"
        print(row, flush=True)


def _timed(
    robot: Robot, targets: list[dict[str, np.ndarray]], starts: np.ndarray
) -> tuple[list[IKResult], np.ndarray]:
    """Results of single solves, and the CPU time of each [µs]."""
    results, seconds = [], []
    robot.solve(targets[0], starts[0])
    for target, start in zip(targets, starts, strict=True):
        began = process_time()
        results.append(robot.solve(target, start))
        seconds.append(process_time() - began)
    return results, 1e6 * np.array(seconds)


def chain_robot_table(count: int, with_rivals: bool) -> None:
    """One arm as a chain, as a robot with one target, and by the engine of whole robots."""
    count = min(count, 2000)
    print(f"\nAn arm as a Chain and as a Robot with one target, {count} poses, random starts;")
    print("tree: the engine that solves for several targets of a robot")
    print(f"{'':12}" + "".join(f"{name:>14}{'mean µs':>9}" for name in SOLVED_BY))
    for name in ("panda", "ur5", "iiwa14", "puma560"):
        chain, robot = getattr(robots, name)(), Robot.load(name)
        q, starts = chain.random(1, count), chain.random(2, count)
        tip = robot.link_names[-1]
        row = f"{name:12}"
        for solve in (
            chain.solve,
            lambda t, s, r=robot, tip=tip: r.solve({tip: t}, s),
            lambda t, s, r=robot, tip=tip: TREE.solve(
                r._problem({tip: t}, False, s, None, DEFAULT_SOLVE_CONFIG)
            ),
        ):
            poses, found = chain.fk(q), []
            solve(poses[0], starts[0])
            began = process_time()
            for pose, start in zip(poses, starts, strict=True):
                found.append(solve(pose, start))
            micro = 1e6 * (process_time() - began) / count
            reached = chain.fk(np.array([each.q for each in found]))
            errors = [_pose_error(*pair) for pair in zip(reached, poses, strict=True)]
            solved = (np.array(errors) < TOLERANCE).all(axis=1).mean()
            row += f"{solved:14.2%}{micro:9.1f}"
        print(row, flush=True)
