"""compas_fab with PyBullet: points and axes, the turn about the axis free; no collisions."""

import sys
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from compas.geometry import Point, Vector
from compas_fab.backends import PyBulletClient, PyBulletPlanner
from compas_fab.robots import PointAxisWaypoints, RobotCell, RobotCellState, TargetMode
from measured_paths import write_tool_paths

SRDF = (
    '<robot name="arm"><group name="arm"><chain base_link="base" tip_link="tcp"/></group></robot>'
)

with np.load(sys.argv[1]) as asked:
    urdf, paths, starts = str(asked["urdf"]), list(asked["paths"]), list(asked["starts"])

with TemporaryDirectory() as folder:
    file = Path(folder) / "arm.urdf"
    file.write_text(urdf)
    cell = RobotCell.from_urdf_and_srdf(str(file), StringIO(SRDF))
client = PyBulletClient(connection_type="direct", verbose=False)
client.__enter__()
planner = PyBulletPlanner(client)
planner.set_robot_cell(cell)


def solve(poses):
    """(k, n) joint values along a path; an exception if there is none."""
    start = next(s for p, s in zip(paths, starts, strict=True) if p is poses)
    state = RobotCellState.from_robot_cell(cell)
    state.robot_configuration.joint_values = start.tolist()
    pairs = [(Point(*pose[:3, 3]), Vector(*pose[:3, 2])) for pose in poses]
    waypoints = PointAxisWaypoints(pairs, TargetMode.ROBOT)
    options = {"check_collision": False}
    found = planner.plan_cartesian_motion(waypoints, state, "arm", options)
    return np.array([point.joint_values for point in found.points])


write_tool_paths(solve, paths)
