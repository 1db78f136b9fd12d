"""roboplan's Cartesian planner: tool paths from a start, with the turns of the tool given."""

import sys

import numpy as np
from measured_paths import write_tool_paths
from roboplan.cartesian_planning import (
    CartesianPathPlanner,
    CartesianPlannerOptions,
    CartesianSpeedMode,
)
from roboplan.core import (
    CartesianPath,
    JointConfiguration,
    Scene,
    loadUrdfSceneDescriptionFromXml,
)

with np.load(sys.argv[1]) as asked:
    urdf, names = str(asked["urdf"]), [str(each) for each in asked["names"]]
    paths, starts = list(asked["turned"]), list(asked["starts"])

scene = Scene("arm", loadUrdfSceneDescriptionFromXml(urdf, []))
scene.importSrdf('<robot name="arm"/>')
scene.addGroup("arm", names)
options = CartesianPlannerOptions(group_name="arm", speed_mode=CartesianSpeedMode.Bounded)
numbers = iter(range(10**9))


def solve(poses):
    """(k, n) joint values along a path, sampled by time; an exception if it is not tracked."""
    start = next(s for p, s in zip(paths, starts, strict=True) if p is poses)
    path = CartesianPath(["base"], ["tcp"], [[np.asfortranarray(each) for each in poses]])
    scene.setJointPositions(start)
    planner = CartesianPathPlanner(scene, options)
    return np.array(planner.plan(path, JointConfiguration(names, start)).positions)


write_tool_paths(solve, paths)
