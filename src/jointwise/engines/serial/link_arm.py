"""The serial engine for one link of a robot."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from jointwise.engines.path_limits import PathLimits
from jointwise.engines.run_options import RunOptions
from jointwise.engines.serial.engine import SERIAL
from jointwise.engines.tree.request import refuse, start_rows, valid_rows
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats, Ints
from jointwise.kernels.layout.task import Results
from jointwise.model import checks
from jointwise.model.arm import ArmModel, arm_model
from jointwise.model.kinematic_tree import TreeModel
from jointwise.model.tree_path import chain_between
from jointwise.posture import preferred_values
from jointwise.problem import Problem
from jointwise.results.batch import ARRAYS, Details, IKBatch, IKPath, read_only
from jointwise.results.result import IDENTITY, Check, IKResult

if TYPE_CHECKING:
    from jointwise.scene.collision_model import CollisionModel

# Serial paths that are kept.
MAX_PATHS = 64


@dataclass(frozen=True, slots=True, eq=False)
class LinkArm:
    """The serial engine for one link of a robot: its arm, and where its joints are in the robot.

    Attributes:
        model: The robot.
        arm: The arm from the root to the link, with the root at the pose of the base.
        variables: (k,) which joints of the robot move it, from the root on.
        bodies: The bodies of the robot that they move.
        base_pose: (4, 4) pose of the root.
    """

    model: TreeModel
    arm: ArmModel
    variables: Ints
    bodies: tuple[int, ...]
    base_pose: Floats

    def has_all_shapes(self, collision: "CollisionModel") -> bool:
        """Whether nothing beside the path can collide."""
        from jointwise.shape.geometry import kernel_spheres

        sizes = np.diff(kernel_spheres(collision.geometry).first)
        on_path = {0, *(body + 1 for body in self.bodies)}
        return {int(group) for group in np.flatnonzero(sizes)} <= on_path

    def solve(self, problem: Problem) -> IKResult:
        """Joint values of the robot for one target."""
        q = self._starts(problem)[0].copy()  # refuses an invalid start
        try:
            found = SERIAL.solve(self._reduced(problem))
        except InvalidInputError:  # an error about the target names its link
            (target,) = problem.targets
            refuse(problem.links, (target._replace(values=target.values[None]),), many=False)
            raise
        q[self.variables] = found.q
        q.setflags(write=False)
        return tuple.__new__(
            IKResult, (q, *found[1:7], self.base_pose, problem.links[0], self._check(problem))
        )

    def solve_batch(self, problem: Problem, options: RunOptions) -> IKBatch:
        """Joint values of the robot for each of many targets."""
        if np.ndim(problem.start) == 2:  # NaN in a joint beside the path makes a row invalid, too
            valid = np.isfinite(self._starts(problem)).all(axis=1, keepdims=True)
            problem = problem._replace(start=np.where(valid, problem.start, np.nan))
        found = SERIAL.solve_batch(self._reduced(problem), options)
        return IKBatch(*self._lifted(problem, found), self._details(problem, found))

    def follow(self, problem: Problem, limits: PathLimits, progress: bool) -> IKPath:
        """Joint values of the robot along a path."""
        moved = limits._replace(by_velocity=limits.by_velocity[:, self.variables])
        try:
            found = SERIAL.follow(self._reduced(problem), moved, progress)
        except InvalidInputError:
            refuse(problem.links, problem.targets, many=True)
            raise
        details = self._details(problem, found)
        details = details._replace(breaks=found.breaks, colliding=found.colliding)
        return IKPath(*self._lifted(problem, found), details)

    def _reduced(self, problem: Problem) -> Problem:
        """The problem of the arm."""
        start, posture, collision = problem.start, problem.posture, problem.collision
        config = problem.config
        if start is not None:
            start = checks.configurations("start", start, self.model.n, "a robot")
            start = valid_rows(start) if start.ndim == 2 else start
            start = np.ascontiguousarray(start[..., self.variables])
        preferred = preferred_values(posture, self.model.n, "a robot")
        if posture is not None and preferred is not None:
            posture = replace(posture, q=preferred[self.variables])
        if collision is not None:
            collision = _collision_of_path(self, collision)
        if isinstance(config.stiffness, tuple):
            stiffness = checks.joint_values("stiffness", config.stiffness, self.model.n, "a robot")
            config = replace(config, stiffness=tuple(stiffness[self.variables].tolist()))
        return problem._replace(
            config=config,
            model=self.arm,
            start=start,
            posture=posture,
            collision=collision,
            base_pose=None,
        )

    def _starts(self, problem: Problem) -> Floats:
        """(1, n) or (m, n) joint values of the robot, for joints that are not on the path."""
        preferred = preferred_values(problem.posture, self.model.n, "a robot")
        return start_rows(self.model, problem.start, preferred, len(problem.targets[0].values))

    def _lifted(self, problem: Problem, found: IKBatch) -> Results:
        q = np.empty((len(found), self.model.n))
        q[:] = self._starts(problem)
        q[:, self.variables] = found.q
        q[np.isnan(found.q).any(axis=1)] = np.nan
        return read_only(Results(q, *(getattr(found, name) for name in ARRAYS[1:])))

    def _details(self, problem: Problem, found: IKBatch) -> Details:
        poses = np.broadcast_to(self.base_pose, (len(found), 4, 4))
        return Details(problem.links[0], poses, self._check(problem))

    def _check(self, problem: Problem) -> Check | None:
        if problem.collision is None:
            return None
        from jointwise.engines.tree.check import tree_check

        return tree_check(self.model, problem.collision, self.base_pose)


@lru_cache(MAX_PATHS)
def link_arm(model: TreeModel, link: str, base: bytes | None) -> LinkArm | None:
    """The arm from the root to a link; None if its joints are not independent.

    Args:
        model: The robot.
        link: The link.
        base: The numbers of the pose (4, 4) of the root; None for the identity.
    """
    tree, body = model.tree, model.links[link].body
    if model.free_base or body < 0:
        return None
    bodies: list[int] = []
    while body >= 0:
        bodies.insert(0, body)
        body = int(tree.parents[body])
    variables = tree.variables[bodies]
    independent = (tree.ratios[bodies] == 1.0) & (tree.offsets[bodies] == 0.0)
    if len(set(variables.tolist())) < len(bodies) or not independent.all():
        return None
    found, pose = chain_between(model, model.root, link), IDENTITY
    links = found.links
    if base is not None:
        pose, links = np.frombuffer(base).reshape(4, 4), links.copy()
        links[0] = pose[:3] @ np.vstack([links[0], [0.0, 0.0, 0.0, 1.0]])
    arm = arm_model(links, found.prismatic, found.limits)
    return LinkArm(model, arm, variables, tuple(bodies), pose)


@lru_cache(MAX_PATHS)
def _collision_of_path(path: LinkArm, collision: "CollisionModel") -> "CollisionModel":
    """The collision model of the arm of a path; all shapes are on it."""
    from jointwise.shape.chain.geometry import chain_geometry

    names = tuple(path.model.body_names[body] for body in path.bodies)
    root = path.model.root
    shape = chain_geometry(collision.geometry, path.model, path.arm, names, root)
    return replace(collision, geometry=shape)
