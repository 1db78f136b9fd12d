"""mink: one differential step a target, with limits of position, velocity and collision."""

import json
import sys
from pathlib import Path
from time import perf_counter_ns

import mink
import mujoco
import numpy as np

KINDS = {"sphere": "sphere", "box": "box", "cylinder": "cylinder", "half_space": "plane"}


def numbers(values):
    """A list as an attribute of MJCF."""
    return " ".join(repr(float(each)) for each in np.ravel(values))


def place(matrix):
    """Position and quaternion of a pose (3, 4) or (4, 4)."""
    quat = np.empty(4)
    mujoco.mju_mat2Quat(quat, np.ascontiguousarray(matrix[:3, :3]).ravel())
    return f'pos="{numbers(matrix[:3, 3])}" quat="{numbers(quat)}"'


def obstacle(k, thing):
    """A geom for an obstacle."""
    kind, sizes = thing["kind"], thing["sizes"]
    if kind == "half_space":
        normal = np.asarray(sizes["normal"], float)
        pose = np.eye(4)
        pose[:3, 2] = normal / np.linalg.norm(normal)
        pose[:3, 0] = np.linalg.svd(pose[:3, 2][None])[2][1]
        pose[:3, 1] = np.cross(pose[:3, 2], pose[:3, 0])
        pose[:3, 3] = sizes["offset"] * pose[:3, 2]
        size = [0.0, 0.0, 1.0]
    else:
        pose = np.array(thing["pose"])
        size = {
            "sphere": lambda: [sizes["radius"]],
            "box": lambda: 0.5 * np.asarray(sizes["size"]),
            "cylinder": lambda: [sizes["radius"], 0.5 * sizes["length"]],
        }[kind]()
    return f'<geom name="o{k}" type="{KINDS[kind]}" size="{numbers(size)}" {place(pose)}/>'


def model_text(links, limits, spheres, obstacles):
    """The arm with its spheres, and the obstacles, as MJCF."""
    geoms = [[] for _ in range(len(limits) + 1)]
    for k, (group, x, y, z, radius) in enumerate(spheres.tolist()):
        geom = f'<geom name="s{k}" size="{radius!r}" pos="{x!r} {y!r} {z!r}"/>'
        geoms[min(int(group), len(limits))].append(geom)
    lines = ['<mujoco><compiler angle="radian"/><worldbody>']
    lines += [obstacle(k, thing) for k, thing in enumerate(obstacles)] + geoms[0]
    for i, (lower, upper) in enumerate(limits.tolist()):
        lines.append(f'<body name="b{i}" {place(links[i])}>')
        lines.append('<inertial pos="0 0 0" mass="1" diaginertia="0.01 0.01 0.01"/>')
        lines.append(f'<joint name="j{i}" axis="0 0 1" range="{lower!r} {upper!r}"/>')
        lines += geoms[i + 1]
    lines.append(f'<body name="tip" {place(links[-1])}/>')
    return "".join([*lines, "</body>" * len(limits), "</worldbody></mujoco>"])


with np.load(sys.argv[1]) as file:
    asked = dict(file)
obstacles, spheres, dt = json.loads(str(asked["obstacles"])), asked["spheres"], float(asked["dt"])
model = mujoco.MjModel.from_xml_string(
    model_text(asked["links"], asked["limits"], spheres, obstacles)
)
configuration = mink.Configuration(model)
configuration.update(asked["start"])
groups = [[f"s{k}" for k in np.flatnonzero(spheres[:, 0] == i)] for i in range(len(asked["links"]))]
moving = [name for names in groups[1:] for name in names]
pairs = [(moving, [f"o{k}" for k in range(len(obstacles))])]
pairs += [(groups[a], groups[b]) for a, b in asked["pairs"].tolist() if groups[a] and groups[b]]
limits = [
    mink.ConfigurationLimit(model),
    mink.VelocityLimit(model, {f"j{i}": each for i, each in enumerate(asked["velocity"].tolist())}),
    mink.CollisionAvoidanceLimit(
        model,
        pairs,
        minimum_distance_from_collisions=float(asked["margin"]),
        collision_detection_distance=float(asked["seen"]),
    ),
]
task = mink.FrameTask("tip", "body", position_cost=1.0, orientation_cost=1.0)
joints, times, gave_up = [], [], 0
for target in asked["targets"]:
    began = perf_counter_ns()
    task.set_target(mink.SE3.from_matrix(target))
    try:
        rates = mink.solve_ik(configuration, [task], dt, "daqp", limits=limits)
        configuration.integrate_inplace(rates, dt)
    except mink.NoSolutionFound:
        gave_up += 1
    times.append(1e-3 * (perf_counter_ns() - began))
    joints.append(configuration.q.tolist())
Path(sys.argv[2]).write_text(json.dumps({"q": joints, "µs": times, "gave up": gave_up}))
