"""roboplan: RRT-Connect and shortcuts with collisions checked by meshes, one call a problem."""

import json
import sys

import numpy as np
from roboplan.core import (
    Box,
    Cylinder,
    JointConfiguration,
    PathShortcutter,
    PathShortcuttingOptions,
    Scene,
    loadUrdfSceneDescriptionFromXml,
)
from roboplan.rrt import RRT, RRTOptions
from timed import write_paths

LIMIT = 10.0  # seconds a call

with np.load(sys.argv[1]) as asked:
    packages, urdf = [str(each) for each in asked["packages"]], str(asked["urdf"])
    srdf, names = str(asked["srdf"]), [str(each) for each in asked["names"]]
    root, fixed = asked["root"], [str(each) for each in asked["fixed"]]
    problems, shorten = json.loads(str(asked["problems"])), bool(asked["shorten"])


def make_planner(problem):
    """A planner among the obstacles of a problem."""
    scene = Scene("arm", loadUrdfSceneDescriptionFromXml(urdf, packages))
    scene.importSrdf(srdf)
    scene.addGroup("arm", names)
    pairs = []
    for k, (kind, sizes, pose) in enumerate(problem["obstacles"]):
        place, white = np.asfortranarray(root @ np.array(pose)), np.ones(4)
        if kind == "box":
            scene.addBoxGeometry(f"obstacle{k}", "universe", Box(*sizes), place, white)
        else:
            scene.addCylinderGeometry(f"obstacle{k}", "universe", Cylinder(*sizes), place, white)
        pairs += [(f"obstacle{k}", other) for other in [f"obstacle{i}" for i in range(k)] + fixed]
    scene.setCollisions(pairs, False)  # obstacles may touch each other and the base
    options = RRTOptions(
        group_name="arm",
        max_nodes=1_000_000,
        max_connection_distance=1.0,
        max_planning_time=LIMIT,
        rrt_connect=True,
    )
    planner = RRT(scene, options)
    planner.setRngSeed(0)
    shortcutter = PathShortcutter(scene, PathShortcuttingOptions(group_name="arm"))
    start = JointConfiguration(names, np.array(problem["start"]))
    goal = JointConfiguration(names, np.array(problem["goal"]))

    def plan():
        path = planner.plan(start, goal)
        return np.array((shortcutter.shortcut(path) if shorten else path).positions)

    return plan


write_paths(make_planner, problems)
