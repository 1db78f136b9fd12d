"""mplib: Planner.IK with collisions checked by meshes, 1e-3, one call a target."""

import sys
import tempfile
import types
from pathlib import Path

import numpy as np

sys.modules.setdefault("toppra", types.ModuleType("toppra"))  # times trajectories, not needed here
for name in ("algorithm", "constraint"):
    sys.modules.setdefault(f"toppra.{name}", types.ModuleType(f"toppra.{name}"))
from mplib import Planner, Pose  # noqa: E402
from mplib.collision_detection.fcl import Box, CollisionObject, FCLObject  # noqa: E402
from timed import write_quickest  # noqa: E402

folder = Path(tempfile.mkdtemp())
with np.load(sys.argv[1]) as asked:
    for package in Path(str(asked["packages"][0])).iterdir():
        (folder / package.name).symlink_to(package)  # it reads meshes beside the URDF only
    (folder / "arm.urdf").write_text(str(asked["urdf"]).replace("package://", ""))
    (folder / "arm.srdf").write_text(str(asked["srdf"]))
    names, start, targets = [str(each) for each in asked["names"]], asked["start"], asked["targets"]
    planner = Planner(
        str(folder / "arm.urdf"),
        str(asked["tip"]),
        srdf=str(folder / "arm.srdf"),
        user_joint_names=names,
    )
    T_root_base = asked["root"]
    for k, (pose, size) in enumerate(zip(asked["poses"], asked["sizes"], strict=True)):
        place = Pose(T_root_base @ pose)
        shape = CollisionObject(Box(size), place)
        planner.planning_world.add_object(FCLObject(f"obstacle{k}", Pose(), [shape], [place]))
    allowed = planner.planning_world.get_allowed_collision_matrix()
    for k in range(len(asked["sizes"])):
        for fixed in asked["fixed"]:
            allowed.set_entry(f"obstacle{k}", str(fixed), True)


def solve(target, first):
    """A free answer, or None."""
    goal = Pose(T_root_base @ target)
    for _ in range(1000):  # n_init_qpos would search on after the first solution
        status, found = planner.IK(goal, first, n_init_qpos=1, return_closest=True)
        if status == "Success":
            return np.array(found)[: len(start)]
        first = planner.pinocchio_model.get_random_configuration()
    return None


write_quickest(solve, targets, np.tile(start, (len(targets), 1)))
