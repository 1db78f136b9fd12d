"""Paths checked again: by NumPy with the same spheres, and by coal with the original meshes.

The check by NumPy reads the numbers of the arm, the spheres and the obstacles, and shares no code
with jointwise: forward kinematics are products of matrices, and every distance is a formula.
"""

from itertools import pairwise

import numpy as np

from benchmarks.motion_problems import Problem
from benchmarks.obstacle_answers import count_colliding
from jointwise import Chain, Robot, Scene
from jointwise.shape.geometry import group_spheres, kernel_spheres
from testbed import twin
from testbed.scene_twin import frames_of

# Distance of configurations along a path, by the norm of the joint values [rad].
STEP = 1e-3
# Greater clearances are not computed [m].
FAR = 0.02
# Configurations that are checked at once.
BLOCK = 128


def resampled(waypoints: np.ndarray, step: float = STEP) -> np.ndarray:
    """(m, n) configurations along a path, its waypoints among them."""
    rows = [waypoints[:1]]
    for one, other in pairwise(waypoints):
        share = np.linspace(0.0, 1.0, 1 + int(np.ceil(np.linalg.norm(other - one) / step)))[1:]
        rows.append(one + share[:, None] * (other - one))
    return np.concatenate(rows)


class SphereCheck:
    """The spheres of an arm, or a robot with a fixed base, among the obstacles of its scene."""

    def __init__(self, model: Chain | Robot) -> None:
        self.model, self.parts = model, group_spheres(model.geometry)
        self.bounds = [_bound(part) for part in self.parts]
        self.pairs = kernel_spheres(model.geometry).pairs.tolist()
        self.scene = model.scene or Scene()

    def least_clearance(self, q: np.ndarray) -> float:
        """The least of (m, n) configurations [m]; at most `FAR`."""
        return min(self._least(block) for block in np.array_split(q, 1 + len(q) // BLOCK))

    def _least(self, q: np.ndarray) -> float:
        frames, least = self._frames(q), FAR
        for k in range(1, len(self.parts)):
            if not len(self.parts[k]):
                continue
            centre = _placed(frames[:, k], self.bounds[k][None, :3])[:, 0]
            for thing in self.scene:
                near = distances(centre, thing) - self.bounds[k][3] < least
                if near.any():
                    points = _placed(frames[near, k], self.parts[k][:, :3])
                    gaps = distances(points, thing) - self.parts[k][:, 3]
                    least = min(least, gaps.min())
        for a, b in self.pairs:
            least = min(least, self._between(frames[:, a], a, frames[:, b], b, least))
        return float(least)

    def _between(
        self, frames: np.ndarray, a: int, others: np.ndarray, b: int, least: float
    ) -> float:
        """The least gap of two link groups; of spheres that come near to the other group only."""
        one, other = (
            _placed(each, self.bounds[k][None, :3]) for each, k in ((frames, a), (others, b))
        )
        reach = self.bounds[a][3] + self.bounds[b][3]
        near = np.linalg.norm(one - other, axis=2)[:, 0] - reach < least
        if not near.any():
            return np.inf
        sides = []
        for each, k, bound, j in ((frames, a, other, b), (others, b, one, a)):
            points, radii = _placed(each[near], self.parts[k][:, :3]), self.parts[k][:, 3]
            gaps = np.linalg.norm(points - bound[near], axis=2) - radii - self.bounds[j][3]
            close = gaps.min(axis=0) < least
            sides += [points[:, close], radii[close]]
        return _least_between(*sides) if sides[1].size and sides[3].size else np.inf

    def _frames(self, q: np.ndarray) -> np.ndarray:
        """(m, k, 4, 4) the frames of the link groups: base, joints, and what is attached."""
        if isinstance(self.model, Robot):
            return np.stack(frames_of(self.model.geometry, q, self.model.base_pose), axis=1)
        frames = [np.broadcast_to(np.eye(4), (len(q), 4, 4))]
        links = [np.vstack([link, [0.0, 0.0, 0.0, 1.0]]) for link in self.model.arm.links]
        for link, angles in zip(links, q.T, strict=False):
            turn = np.tile(np.eye(4), (len(q), 1, 1))
            turn[:, 0, 0] = turn[:, 1, 1] = np.cos(angles)
            turn[:, 1, 0], turn[:, 0, 1] = np.sin(angles), -np.sin(angles)
            frames.append(frames[-1] @ link @ turn)
        frames += frames[-1:] * (len(self.parts) - len(frames))
        return np.stack(frames, axis=1)


def _bound(spheres: np.ndarray) -> np.ndarray:
    """(4,) a sphere around spheres (k, 4)."""
    if not len(spheres):
        return np.array([0.0, 0.0, 0.0, -1.0])
    centre = 0.5 * (spheres[:, :3].min(axis=0) + spheres[:, :3].max(axis=0))
    return np.append(
        centre, (np.linalg.norm(spheres[:, :3] - centre, axis=1) + spheres[:, 3]).max()
    )


def _placed(frames: np.ndarray, points: np.ndarray) -> np.ndarray:
    """(m, k, 3) points (k, 3) in frames (m, 4, 4)."""
    return points @ frames[:, :3, :3].swapaxes(1, 2) + frames[:, None, :3, 3]


def _least_between(one: np.ndarray, r: np.ndarray, other: np.ndarray, s: np.ndarray) -> float:
    """The least gap of spheres (m, k, 3) and (m, l, 3)."""
    squares = (one**2).sum(axis=2)[:, :, None] + (other**2).sum(axis=2)[:, None, :]
    squares -= 2.0 * one @ other.swapaxes(1, 2)
    return float((np.sqrt(np.maximum(squares, 0.0)) - r[:, None] - s).min())


def distances(points: np.ndarray, thing) -> np.ndarray:
    """(...) distance of points (..., 3) from an obstacle of four kinds; negative inside."""
    if thing.kind == "half_space":
        normal = np.asarray(thing.sizes()["normal"], float)
        return points @ normal / np.linalg.norm(normal) - thing.sizes()["offset"]
    sizes, local = thing.sizes(), (points - thing.pose[:3, 3]) @ thing.pose[:3, :3]
    if thing.kind == "sphere":
        return np.linalg.norm(local, axis=-1) - sizes["radius"]
    if thing.kind == "box":
        beyond = np.abs(local) - 0.5 * np.asarray(sizes["size"])
    elif thing.kind == "cylinder":
        across = np.hypot(local[..., 0], local[..., 1]) - sizes["radius"]
        beyond = np.stack([across, np.abs(local[..., 2]) - 0.5 * sizes["length"]], axis=-1)
    else:
        raise ValueError(f"no formula for {thing.kind}")
    outside = np.linalg.norm(np.maximum(beyond, 0.0), axis=-1)
    return np.where(outside > 0.0, outside, beyond.max(axis=-1))


def is_path_of(problem: Problem, waypoints: np.ndarray, pose_goal: bool) -> bool:
    """Whether a path begins at the start, ends at the goal, and stays inside the limits."""
    lower, upper = problem.arm.limits.T
    if (waypoints[0] != problem.start).any() or not (
        (lower <= waypoints) & (waypoints <= upper)
    ).all():
        return False
    if not pose_goal:
        return bool((waypoints[-1] == problem.goal).all())
    arm = problem.arm.arm
    target = twin.tip_pose(arm.links, arm.prismatic, problem.goal)
    errors = twin.pose_errors(arm.links, arm.prismatic, waypoints[-1], target)
    return max(errors) < 1e-6


def mesh_collisions(robot: str, problem: Problem, waypoints: np.ndarray) -> int | None:
    """Configurations along a path that collide by the meshes of the URDF; None if not installed."""
    return count_colliding(robot, problem.arm, problem.arm.scene, resampled(waypoints))
