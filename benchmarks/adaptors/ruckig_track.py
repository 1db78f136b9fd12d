"""ruckig: follows joint values with their velocities and accelerations; joint values and µs."""

import json
import sys
from pathlib import Path
from time import perf_counter_ns

import numpy as np
from ruckig import InputParameter, OutputParameter, Ruckig

with np.load(sys.argv[1]) as asked:
    start, targets, dt, limits = (asked[each] for each in ("start", "targets", "dt", "limits"))
n = len(start)
generator, state, output = Ruckig(n, float(dt)), InputParameter(n), OutputParameter(n)
state.max_velocity, state.max_acceleration, state.max_jerk = limits.tolist()
state.current_position = start.tolist()
# From the samples before and after, which a tracker does not know: the best for ruckig.
velocities = np.gradient(targets, dt, axis=0)
accelerations = np.gradient(velocities, dt, axis=0)
joints, times = [], []
for target, velocity, acceleration in zip(targets, velocities, accelerations, strict=True):
    began = perf_counter_ns()
    state.target_position = target.tolist()
    # ruckig refuses a target from which it cannot stop within the limits.
    state.target_velocity = np.clip(velocity, -0.95 * limits[0], 0.95 * limits[0]).tolist()
    state.target_acceleration = np.clip(acceleration, -0.5 * limits[1], 0.5 * limits[1]).tolist()
    generator.update(state, output)
    output.pass_to_input(state)
    times.append(1e-3 * (perf_counter_ns() - began))
    joints.append(list(output.new_position))
Path(sys.argv[2]).write_text(json.dumps({"q": joints, "µs": times}))
