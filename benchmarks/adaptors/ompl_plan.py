"""OMPL: RRT-Connect with the check of jointwise as its Python check, one call a problem.

Unlike other adaptors, it imports jointwise, from the tree of this file.
"""

import json
import sys
from pathlib import Path

import numpy as np

sys.path[1:1] = [str(Path(__file__).parents[2] / "src")]
from ompl import base, geometric, util  # noqa: E402
from timed import write_paths  # noqa: E402

from jointwise import Chain, Scene  # noqa: E402

LIMIT = 10.0  # seconds a call
STEP = 1.0 / 32.0  # between checked configurations along an edge [rad]

util.setLogLevel(util.LogLevel.LOG_ERROR)
with np.load(sys.argv[1]) as asked:
    arm = Chain.load(str(asked["robot"])).with_scene()
    problems, shorten = json.loads(str(asked["problems"])), bool(asked["shorten"])
lower, upper = arm.limits.T


def make_planner(problem):
    """A planner among the obstacles of a problem."""
    scene = Scene()
    for kind, sizes, pose in problem["obstacles"]:
        scene = scene.box(sizes, pose) if kind == "box" else scene.cylinder(*sizes, pose)
    around, n = arm.with_scene(scene), arm.n
    space, bounds = base.RealVectorStateSpace(n), base.RealVectorBounds(n)
    for i in range(n):
        bounds.setLow(i, lower[i])
        bounds.setHigh(i, upper[i])
    space.setBounds(bounds)
    setup = geometric.SimpleSetup(space)
    setup.setStateValidityChecker(lambda state: around.is_free([state[i] for i in range(n)]))
    information = setup.getSpaceInformation()
    information.setStateValidityCheckingResolution(STEP / space.getMaximumExtent())
    setup.setPlanner(geometric.RRTConnect(information))
    ends = [space.allocState() for _ in range(2)]
    for state, values in zip(ends, (problem["start"], problem["goal"]), strict=True):
        for i in range(n):
            state[i] = values[i]
    setup.setStartAndGoalStates(*ends)

    def plan():
        if not setup.solve(LIMIT) or not setup.haveExactSolutionPath():
            return None
        if shorten:
            setup.simplifySolution()
        states = setup.getSolutionPath().getStates()
        return np.array([[state[i] for i in range(n)] for state in states])

    return plan


write_paths(make_planner, problems)
