"""Random arms of every structure that has a closed form."""

from itertools import pairwise

import numpy as np

from jointwise import Chain
from jointwise.model.arm import arm_model


def chain_of(directions, points, prismatic, tool=None):
    """An arm from its axes with all joints at 0: directions and points (n, 3), base frame."""
    frames = [np.eye(4)]
    for z, p in zip(np.array(directions, float), np.array(points, float), strict=True):
        z = z / np.linalg.norm(z)
        x = np.cross([0.31, 0.77, -0.55], z)
        x /= np.linalg.norm(x)
        frame = np.eye(4)
        frame[:3, 0], frame[:3, 1], frame[:3, 2], frame[:3, 3] = x, np.cross(z, x), z, p
        frames.append(frame)
    frames.append(frames[-1] @ tool if tool is not None else frames[-1])
    links = [np.linalg.solve(a, b)[:3] for a, b in pairwise(frames)]
    n = len(prismatic)
    model = arm_model(np.array(links), np.array(prismatic), np.tile([-np.inf, np.inf], (n, 1)))
    return Chain._from_arm(model, tuple(f"joint{i + 1}" for i in range(n)))


def _unit(rng):
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def _across(rng, h):
    v = np.cross(h, rng.normal(size=3))
    return v / np.linalg.norm(v)


def _axes(rng, n=6):
    return [_unit(rng) for _ in range(n)], [rng.uniform(-0.5, 0.5, 3) for _ in range(n)]


def _meet(rng, h, p, *joints):
    """Move axes so that they go through one point, somewhere on each of them."""
    center = rng.uniform(-0.5, 0.5, 3)
    for i in joints:
        p[i] = center + rng.uniform(-0.4, 0.4) * h[i]


def _wrist(rng, relation):
    h, p = _axes(rng)
    _meet(rng, h, p, 3, 4, 5)
    a, b = {"12": (0, 1), "23": (1, 2)}.get(relation[-2:], (0, 0))
    if relation.startswith("parallel"):
        h[b] = h[a].copy()
    elif relation.startswith("antiparallel"):
        h[b] = -h[a]
    elif relation.startswith("meet"):
        _meet(rng, h, p, a, b)
    return h, p, [False] * 6


def _sliding_wrist(rng, joint, right_angle):
    h, p = _axes(rng)
    _meet(rng, h, p, 3, 4, 5)
    if right_angle:
        other = 1 if joint != 1 else int(rng.choice([0, 2]))
        h[joint] = _across(rng, h[other])
    slides = [i == joint for i in range(6)]
    return h, p, slides


def _cylindrical(rng):
    """Revolute, then two prismatic joints, then a wrist."""
    h, p = _axes(rng)
    _meet(rng, h, p, 3, 4, 5)
    h[1] = h[0].copy()
    h[2] = _across(rng, h[0])
    return h, p, [False, True, True, False, False, False]


def _parallel(rng, relation):
    h, p = _axes(rng)
    h[2], h[3] = h[1].copy(), float(rng.choice([-1.0, 1.0])) * h[1]
    if relation == "meet":
        _meet(rng, h, p, 4, 5)
    elif relation == "parallel":
        h[5] = h[4].copy()
    return h, p, [relation == "prismatic", *[False] * 5]


def _parallel_base(rng):
    h, p = _axes(rng)
    h[1], h[2] = -h[0], h[0].copy()
    _meet(rng, h, p, 4, 5)
    return h, p, [False] * 6


STRUCTURES = {
    **{
        f"wrist, {relation}": lambda rng, relation=relation: _wrist(rng, relation)
        for relation in (
            "parallel 23",
            "antiparallel 23",
            "parallel 12",
            "meet 12",
            "meet 23",
            "general",
        )
    },
    **{
        f"wrist, joint {joint + 1} prismatic{', right angle' if right else ''}": (
            lambda rng, joint=joint, right=right: _sliding_wrist(rng, joint, right)
        )
        for joint in range(3)
        for right in (False, True)
    },
    "wrist, cylindrical": _cylindrical,
    **{
        f"parallel, {relation}": lambda rng, relation=relation: _parallel(rng, relation)
        for relation in ("meet", "parallel", "general", "prismatic")
    },
    "parallel base": _parallel_base,
}


def random_arm(structure, seed, backward=False):
    """A random arm of six joints with a structure, or with the same from the end effector."""
    rng = np.random.default_rng(seed)
    h, p, prismatic = STRUCTURES[structure](rng)
    if backward:
        h, p, prismatic = h[::-1], p[::-1], prismatic[::-1]
    tool = np.eye(4)
    tool[:3, 3] = rng.uniform(-0.2, 0.2, 3)
    return chain_of(h, p, prismatic, tool)
