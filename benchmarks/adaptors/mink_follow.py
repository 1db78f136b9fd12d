"""mink: follow poses of links frame by frame, with the fewest steps that reach its converged cost.

A first pass steps each frame to convergence, and finds after how many steps the cost is within
1e-6 of that. The second pass makes so many, and is timed. Costs of other results are computed too.
"""

import sys
from time import process_time

import mink
import mujoco
import numpy as np

MAX_STEPS, SAME = 30, 1e-6


def pose(matrix):
    """A pose of mink."""
    return mink.SE3.from_matrix(matrix)


def cost(configuration, tasks):
    """Half the weighted squared errors, as mink minimises them."""
    errors = [task.cost * task.compute_error(configuration) for task in tasks]
    return 0.5 * float(np.square(errors).sum())


def step(configuration, tasks, limits):
    """One step."""
    velocity = mink.solve_ik(configuration, tasks, 1.0, "daqp", damping=1e-9, limits=limits)
    configuration.integrate_inplace(velocity, 1.0)


def follow(model, links, targets, start, counts=None):
    """(joint values, costs, steps, seconds a frame); so many steps a frame, or until converged."""
    configuration = mink.Configuration(model, start)
    tasks = [mink.FrameTask(link, "body", 1.0, SCALE) for link in links]
    limits = [mink.ConfigurationLimit(model)]
    found, costs, used, seconds = [], [], [], []
    for frame, poses in enumerate(targets):
        began = process_time()
        for task, each in zip(tasks, poses, strict=True):
            task.set_target(pose(each))
        if counts is None:
            history = [cost(configuration, tasks)]
            for _ in range(MAX_STEPS):
                step(configuration, tasks, limits)
                history.append(cost(configuration, tasks))
                if abs(history[-2] - history[-1]) < 1e-9 * history[-1]:
                    break
            least = min(history)
            used.append(max(1, next(i for i, c in enumerate(history) if c <= (1 + SAME) * least)))
        else:
            for _ in range(counts[frame]):
                step(configuration, tasks, limits)
        seconds.append(process_time() - began)
        costs.append(cost(configuration, tasks))
        found.append(configuration.q.copy())
    return np.array(found), np.array(costs), np.array(used), np.array(seconds)


with np.load(sys.argv[1]) as asked:
    model = mujoco.MjModel.from_xml_path(str(asked["model"]))
    links, targets, start = asked["links"].tolist(), asked["targets"], asked["start"]
    names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, i) for i in range(model.njnt)]
    assert names[1:] == asked["joints"].tolist()  # after the free joint, in our order
    others, SCALE = asked["others"], float(asked["scale"])
_, _, counts, _ = follow(model, links, targets, start)
found, costs, _, seconds = follow(model, links, targets, start, counts)
configuration = mink.Configuration(model)
tasks = [mink.FrameTask(link, "body", 1.0, SCALE) for link in links]
other_costs = []
for q, poses in zip(others, targets, strict=True):
    configuration.update(q)
    for task, each in zip(tasks, poses, strict=True):
        task.set_target(pose(each))
    other_costs.append(cost(configuration, tasks))
np.savez(
    sys.argv[2], found=found, costs=costs, steps=counts, seconds=seconds, other_costs=other_costs
)
