"""Planning problems: those of MotionBenchMaker, from a folder, or seeded ones of our own."""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.obstacle_arms import free_configurations
from benchmarks.scenes import SCENES
from jointwise import Chain, Scene
from tools.build_geometry import DATA, find_file

ROBOTS = ("panda", "ur5")
# Scenes of our own, for lack of a folder, and problems in each.
OWN_SCENES, OWN_COUNT = ("table", "shelf", "cage", "pigeon-holes"), 50
# The base of the UR5 in the world. It is turned by 1.57, not by half of pi. The problems are for
# ``base_link`` of its URDF; our base is its link ``base``, which is turned by half a turn.
UR5_HEIGHT, UR5_TURN = 0.9144, 1.57 + np.pi
# The hand of the Panda: its turn at the flange, where its fingers are, and how far they are open.
HAND_TURN, FINGER_HEIGHT, FINGER_OPEN = -0.25 * np.pi, 0.0584, 0.065
# A box around the collision boxes of a finger [m], and how far spheres may extend beyond it.
FINGER_SIZE, HAND_PADDING = (0.022, 0.026, 0.0545), 0.005


class Problem(NamedTuple):
    """A start and a goal among obstacles.

    Attributes:
        scene: The name of the scene.
        arm: The arm in it.
        start: (n,) joint values [rad].
        goal: (n,) joint values [rad].
    """

    scene: str
    arm: Chain
    start: np.ndarray
    goal: np.ndarray

    @property
    def fault(self) -> str:
        """What is wrong with it for this arm; "" if it is valid."""
        ends, (lower, upper) = np.array([self.start, self.goal]), self.arm.limits.T
        if not ((lower <= ends) & (ends <= upper)).all():
            return "limits"
        return "" if np.all(self.arm.is_free(ends)) else "collides"


def problems(robot: str, folder: Path | None, count: int, hand: bool = False) -> list[Problem]:
    """At most so many problems of a robot, spread over its scenes, valid or not.

    Args:
        robot: "panda" or "ur5".
        folder: Has ``panda.json.gz`` and ``ur5.json.gz``; None: random free pairs in our scenes.
        count: The most problems.
        hand: Whether the Panda has its hand.
    """
    found = list(_read(robot, folder, hand) if folder else _own(robot, hand))
    return found[:: max(1, -(-len(found) // max(count, 1)))]


def valid(given: list[Problem]) -> list[Problem]:
    """The problems whose start and goal are free and inside the limits."""
    return [problem for problem in given if not problem.fault]


def print_valid(given: dict[str, list[Problem]]) -> None:
    """Which share of the problems of each arm is valid, by scene."""
    scenes = list(dict.fromkeys(each.scene for each in next(iter(given.values()))))
    print(
        f"{'':14}{'spheres':>8}", "".join(f"{scene:>17}" for scene in scenes), f"{'all':>9}", end=""
    )
    print(f"{'outside limits':>16}")
    for name, some in given.items():
        faults = [each.fault for each in some]
        asked = Counter(each.scene for each in some)
        fine = Counter(each.scene for each, fault in zip(some, faults, strict=True) if not fault)
        print(f"{name:14}{some[0].arm.geometry.count:8}", end=" ")
        print("".join(f"{f'{fine[scene]}/{asked[scene]}':>17}" for scene in scenes), end=" ")
        print(f"{f'{fine.total()}/{len(some)}':>9}{faults.count('limits'):16}", flush=True)


@cache
def arm(robot: str, hand: bool = False) -> Chain:
    """A robot where the problems have it.

    Raises:
        SystemExit: The hand is asked for, and the package that has its mesh is not installed.
    """
    if robot == "ur5":
        place = np.eye(4)
        place[:3, :3], place[2, 3] = _turn(UR5_TURN), UR5_HEIGHT
        return Chain.load(robot).with_scene().with_base(place)
    bare = Chain.load(robot).with_scene()
    return with_hand(bare) if hand else bare


def with_hand(panda: Chain) -> Chain:
    """The Panda with its hand, and with open fingers."""
    mesh, T_tip_hand = find_file(f"{DATA}/panda_description/meshes/collision/hand.stl"), np.eye(4)
    T_tip_hand[:3, :3] = _turn(HAND_TURN)
    panda = panda.attach("hand", T_tip_hand, mesh=mesh, padding=HAND_PADDING)
    for name, side in {"left finger": 1.0, "right finger": -1.0}.items():
        T_hand_finger = np.eye(4)
        away, up = FINGER_OPEN + 0.5 * FINGER_SIZE[1], FINGER_HEIGHT + 0.5 * FINGER_SIZE[2]
        T_hand_finger[:3, 3] = 0.0, side * away, up
        place = T_tip_hand @ T_hand_finger
        panda = panda.attach(name, place, box=FINGER_SIZE, padding=HAND_PADDING)
    return panda


def _turn(angle: float) -> np.ndarray:
    return Rotation.from_euler("z", angle).as_matrix()


def _read(robot: str, folder: Path, hand: bool) -> Iterator[Problem]:
    with gzip.open(folder / f"{robot}.json.gz") as file:
        records = json.load(file)
    for each in records:
        model = arm(robot, hand).with_scene(_scene(each))
        yield Problem(each["scene"], model, np.array(each["start"]), np.array(each["goal"]))


def _scene(record: dict[str, Any]) -> Scene:
    scene = Scene()
    for each in record["boxes"]:
        scene = scene.box(each["size"], _pose(each), name=each["name"])
    for each in record["cylinders"]:
        scene = scene.cylinder(each["radius"], each["length"], _pose(each), name=each["name"])
    for each in record["spheres"]:
        scene = scene.sphere(each["radius"], each["position"], name=each["name"])
    return scene


def _pose(record: dict[str, Any]) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_quat(record["quaternion_xyzw"]).as_matrix()
    pose[:3, 3] = record["position"]
    return pose


def _own(robot: str, hand: bool) -> Iterator[Problem]:
    bare = with_hand(Chain.load(robot)) if hand else Chain.load(robot)
    for name in OWN_SCENES:
        model = bare.with_scene(SCENES[name]())
        ends = free_configurations(model, 2 * OWN_COUNT, 1).reshape(OWN_COUNT, 2, -1)
        for start, goal in ends:
            yield Problem(name, model, start, goal)
