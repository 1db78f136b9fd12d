"""pink: steps until relative frames, the centre of mass and positions are reached."""

import json
import sys
from time import process_time

import numpy as np
import pink
import pinocchio

STEPS, END = 300, 1e-7


def tasks_of(problem):
    """The tasks of a problem."""
    tasks = []
    if problem["mass"] is not None:
        tasks.append(pink.tasks.ComTask(cost=1.0))
        tasks[-1].set_target(np.array(problem["mass"]))
    for link, to, values in problem["targets"]:
        at, is_pose = np.array(values), len(values) == 4
        pose = pinocchio.SE3(at) if is_pose else pinocchio.SE3(np.eye(3), at[0])
        costs = {"position_cost": 1.0, "orientation_cost": 1.0 if is_pose else 0.0}
        if to is None:
            tasks.append(pink.tasks.FrameTask(link, **costs))
            tasks[-1].set_target(pose)
        else:
            tasks.append(pink.tasks.RelativeFrameTask(link, to, **costs))
            tasks[-1].set_target(pose)
    return tasks


with np.load(sys.argv[1]) as asked:
    problems = [json.loads(str(each)) for each in asked["problems"]]
answers, seconds = [], []
for problem in problems:
    model = pinocchio.buildModelFromXML(problem["urdf"])
    model.velocityLimit[:] = 1e3
    start, order = np.zeros(model.nq), []
    for name, value in zip(problem["joints"], problem["start"], strict=True):
        order.append(model.joints[model.getJointId(name)].idx_q)
        start[order[-1]] = value
    configuration = pink.Configuration(model, model.createData(), start)
    tasks = tasks_of(problem)
    began = process_time()
    try:
        for _ in range(STEPS):
            rates = pink.solve_ik(configuration, tasks, 1.0, solver="daqp", damping=1e-9)
            configuration.integrate_inplace(rates, 1.0)
            if np.abs(rates).max() < END:
                break
    except Exception as problem_found:  # the program of a step has no solution
        print(problem_found, file=sys.stderr)
    seconds.append(process_time() - began)
    answers.append(configuration.q[order])
np.savez(sys.argv[2], answers=np.array([np.resize(each, 9) for each in answers]), seconds=seconds)
