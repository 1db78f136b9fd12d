"""mplib: plan_qpos with collisions checked by meshes, without timing, one call a problem."""

import json
import sys
import tempfile
import types
from pathlib import Path

import numpy as np

# It times trajectories, which is left out here: a path is a path.
toppra = sys.modules.setdefault("toppra", types.ModuleType("toppra"))
toppra.setup_logging = lambda level: None
for name in ("algorithm", "constraint"):
    sys.modules.setdefault(f"toppra.{name}", types.ModuleType(f"toppra.{name}"))
from mplib import Planner, Pose  # noqa: E402
from mplib.collision_detection.fcl import Box, CollisionObject, Cylinder, FCLObject  # noqa: E402
from timed import write_paths  # noqa: E402

LIMIT = 10.0  # seconds a call
Planner.TOPP = lambda self, path, step=0.1, verbose=False: (None, path, None, None, 0.0)

folder = Path(tempfile.mkdtemp())
with np.load(sys.argv[1]) as asked:
    for package in Path(str(asked["packages"][0])).iterdir():
        (folder / package.name).symlink_to(package)  # it reads meshes beside the URDF only
    (folder / "arm.urdf").write_text(str(asked["urdf"]).replace("package://", ""))
    (folder / "arm.srdf").write_text(str(asked["srdf"]))
    names, tip = [str(each) for each in asked["names"]], str(asked["tip"])
    root, fixed = asked["root"], [str(each) for each in asked["fixed"]]
    problems = json.loads(str(asked["problems"]))


def make_planner(problem):
    """A planner among the obstacles of a problem."""
    planner = Planner(
        str(folder / "arm.urdf"), tip, srdf=str(folder / "arm.srdf"), user_joint_names=names
    )
    allowed = planner.planning_world.get_allowed_collision_matrix()
    for k, (kind, sizes, pose) in enumerate(problem["obstacles"]):
        place = Pose(root @ np.array(pose))
        shape = CollisionObject(Box(sizes) if kind == "box" else Cylinder(*sizes), place)
        planner.planning_world.add_object(FCLObject(f"obstacle{k}", Pose(), [shape], [place]))
        for link in fixed:
            allowed.set_entry(f"obstacle{k}", link, True)
    start, goal = np.array(problem["start"]), np.array(problem["goal"])

    def plan():
        found = planner.plan_qpos([goal], start, planning_time=LIMIT)
        return found["position"] if found["status"] == "Success" else None

    return plan


write_paths(make_planner, problems)
