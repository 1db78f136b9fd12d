"""mink: steps until relative frames, the centre of mass and positions are reached."""

import json
import sys
from time import process_time

import mink
import mujoco
import numpy as np

STEPS, END = 300, 1e-7
COMPILER = '<mujoco><compiler fusestatic="false"/></mujoco>'


def tasks_of(problem):
    """The tasks of a problem."""
    tasks = []
    if problem["mass"] is not None:
        tasks.append(mink.ComTask(cost=1.0))
        tasks[-1].set_target(np.array(problem["mass"]))
    for link, to, values in problem["targets"]:
        at, is_pose = np.array(values), len(values) == 4
        pose = mink.SE3.from_matrix(at) if is_pose else mink.SE3.from_translation(at[0])
        costs = {"position_cost": 1.0, "orientation_cost": 1.0 if is_pose else 0.0}
        if to is None:
            tasks.append(mink.FrameTask(link, "body", **costs))
        else:
            tasks.append(mink.RelativeFrameTask(link, "body", to, "body", **costs))
        tasks[-1].set_target(pose)
    return tasks


with np.load(sys.argv[1]) as asked:
    problems = [json.loads(str(each)) for each in asked["problems"]]
answers, seconds = [], []
for problem in problems:
    text = problem["urdf"].replace("</robot>", f"{COMPILER}</robot>")
    model = mujoco.MjModel.from_xml_string(text)
    start, order = np.zeros(model.nq), []
    for name, value in zip(problem["joints"], problem["start"], strict=True):
        order.append(int(model.joint(name).qposadr[0]))
        start[order[-1]] = value
    configuration = mink.Configuration(model)
    configuration.update(start)
    tasks, limits = tasks_of(problem), [mink.ConfigurationLimit(model)]
    began = process_time()
    try:
        for _ in range(STEPS):
            rates = mink.solve_ik(configuration, tasks, 1.0, "daqp", damping=1e-9, limits=limits)
            configuration.integrate_inplace(rates, 1.0)
            if np.abs(rates).max() < END:
                break
    except Exception as problem_found:  # the program of a step has no solution
        print(problem_found, file=sys.stderr)
    seconds.append(process_time() - began)
    answers.append(configuration.q[order])
np.savez(sys.argv[2], answers=np.array([np.resize(each, 9) for each in answers]), seconds=seconds)
