"""mink: one differential step a target, with limits of position and velocity."""

import json
import sys
from pathlib import Path
from time import perf_counter_ns

import mink
import mujoco
import numpy as np

with np.load(sys.argv[1]) as asked:
    urdf, start, targets, dt = (asked[each] for each in ("urdf", "start", "targets", "dt"))
    velocity = asked["velocity"]
compiler = '<mujoco><compiler boundmass="0.1" boundinertia="0.01" fusestatic="false"/></mujoco>'
text = str(urdf).replace("</robot>", f"{compiler}</robot>")
model = mujoco.MjModel.from_xml_string(text)
configuration = mink.Configuration(model)
configuration.update(start)
task = mink.FrameTask("tip", "body", position_cost=1.0, orientation_cost=1.0)
names = [model.joint(i).name for i in range(model.njnt)]
limits = [
    mink.ConfigurationLimit(model),
    mink.VelocityLimit(model, dict(zip(names, velocity.tolist(), strict=True))),
]
poses = [mink.SE3.from_matrix(target) for target in targets]
joints, times = [], []
for pose in poses:
    began = perf_counter_ns()
    task.set_target(pose)
    rates = mink.solve_ik(configuration, [task], float(dt), "daqp", limits=limits)
    configuration.integrate_inplace(rates, float(dt))
    times.append(1e-3 * (perf_counter_ns() - began))
    joints.append(configuration.q.tolist())
Path(sys.argv[2]).write_text(json.dumps({"q": joints, "µs": times}))
