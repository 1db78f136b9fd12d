"""pink: one differential step a target, with limits of position and velocity."""

import json
import sys
from pathlib import Path
from time import perf_counter_ns

import numpy as np
import pink
import pinocchio

with np.load(sys.argv[1]) as asked:
    urdf, start, targets, dt = (asked[each] for each in ("urdf", "start", "targets", "dt"))
    velocity = asked["velocity"]
model = pinocchio.buildModelFromXML(str(urdf))
model.velocityLimit[:] = velocity
data = model.createData()
task = pink.tasks.FrameTask("tip", position_cost=1.0, orientation_cost=1.0)
configuration = pink.Configuration(model, data, start)
poses = [pinocchio.SE3(target) for target in targets]
joints, times = [], []
for pose in poses:
    began = perf_counter_ns()
    task.set_target(pose)
    rates = pink.solve_ik(configuration, [task], float(dt), solver="daqp")
    configuration.integrate_inplace(rates, float(dt))
    times.append(1e-3 * (perf_counter_ns() - began))
    joints.append(configuration.q.tolist())
Path(sys.argv[2]).write_text(json.dumps({"q": joints, "µs": times}))
