"""The serial engine for one link of a robot."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from jointwise.engines.path_limits import PathLimits
from jointwise.engines.run_options import RunOptions
from jointwise.engines.serial.engine import SERIAL, arm_at_point
from jointwise.engines.tree.request import check_numbers, start_rows, valid_rows
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats, Ints
from jointwise.kernels.layout.task import Results
from jointwise.model import checks
from jointwise.model.arm import ArmModel, arm_model
from jointwise.model.kinematic_tree import TreeModel
from jointwise.model.tree_path import ChainOfRobot, chain_between, moved_links
from jointwise.path_options import PathOptions
from jointwise.posture import preferred_values
from jointwise.problem import Problem
from jointwise.results.batch import ARRAYS, Details, IKBatch, read_only
from jointwise.results.path import IKPath
from jointwise.results.result import IDENTITY, Check, IKResult

if TYPE_CHECKING:
    from jointwise.engines.tracking.motion import Moving, Stepper
    from jointwise.scene.collision_model import CollisionModel
    from jointwise.shape.geometry import Geometry

# Number of cached serial paths.
MAX_PATHS = 64


@dataclass(frozen=True, slots=True, eq=False)
class LinkArm:
    """The serial engine for one link of a robot: its arm, and the numbers of its joints.

    Attributes:
        model: The robot.
        arm: The arm from the root to the link, with the root at the pose of the base.
        variables: (k,) which joints of the robot move it, from the root on.
        is_whole: Whether these are all joints, in their order.
        joints: Their numbers among all joints of the robot, mimic joints included.
        base_pose: (4, 4) pose of the root.
    """

    model: TreeModel
    arm: ArmModel
    variables: Ints
    is_whole: bool
    joints: tuple[int, ...]
    base_pose: Floats

    def has_all_shapes(self, collision: "CollisionModel") -> bool:
        """Whether nothing outside the path can collide; tools and things at its end are on it."""
        from jointwise.scene.collision_model import is_for_arms
        from jointwise.shape.geometry import kernel_spheres, kernel_tree

        geometry = collision.geometry
        sizes = np.diff(kernel_spheres(geometry).first)
        on_path = {0, *(joint + 1 for joint in self.joints)}
        for thing in range(len(geometry.joints), len(kernel_tree(geometry).parents)):
            if kernel_tree(geometry).parents[thing] == self.joints[-1]:
                on_path.add(thing + 1)
        if not {int(group) for group in np.flatnonzero(sizes)} <= on_path:
            return False
        return is_for_arms(_collision_of_path(self, collision))

    def solve(self, problem: Problem) -> IKResult:
        """Joint values of the robot for one target."""
        reduced = self._reduced(problem)
        q = None if self.is_whole else self._starts(problem)[0]  # refuses an invalid start
        try:
            found = SERIAL.solve(reduced)
        except InvalidInputError:  # an error about the target names its link
            check_numbers(problem.links, problem.targets)
            raise
        if q is None:
            q = found.q
        else:
            q[self.variables] = found.q
            q.setflags(write=False)
        return tuple.__new__(
            IKResult, (q, *found[1:7], self.base_pose, problem.links[0], self._check(problem))
        )

    def solve_batch(self, problem: Problem, options: RunOptions) -> IKBatch:
        """Joint values of the robot for each of many targets."""
        if np.ndim(problem.start) == 2:  # NaN in a joint outside the path makes a row invalid, too
            valid = np.isfinite(self._starts(problem)).all(axis=1, keepdims=True)
            problem = problem._replace(start=np.where(valid, problem.start, np.nan))
        found = SERIAL.solve_batch(self._reduced(problem), options)
        return IKBatch(*self._lifted(problem, found), self._details(problem, found))

    def follow(self, problem: Problem, limits: PathLimits, options: PathOptions) -> IKPath:
        """Joint values of the robot along a path."""
        moved = limits._replace(by_velocity=limits.by_velocity[:, self.variables])
        found = SERIAL.follow(self._reduced(problem), moved, options)
        errors, poses, check, *_ = self._details(problem, found)
        details = found._details._replace(link_errors=errors, base_poses=poses, check=check)
        return IKPath(*self._lifted(problem, found), details)

    def stepper(self, problem: Problem, moving: "Moving") -> "Stepper":
        """A stepper that moves the joints of a tracker towards a target of the link."""
        from jointwise.engines.serial.stepper import PathStepper, SerialStepper

        links, (target,) = problem.links, problem.targets
        arm, number = arm_at_point(self.arm, target), crc32(links[0].encode()) + 1
        if self.is_whole:
            return SerialStepper(arm, target, moving, links, number)
        return PathStepper(arm, target, self.variables, moving, links, number)

    def _reduced(self, problem: Problem) -> Problem:
        """The problem of the arm."""
        _, names, links, targets, start, config, posture, collision, _ = problem
        if start is not None:
            start = checks.configurations("start", start, self.model.n, "a robot")
            start = valid_rows(start) if start.ndim == 2 else start
            if not self.is_whole:
                start = np.ascontiguousarray(start[..., self.variables])
        preferred = preferred_values(posture, self.model.n, "a robot")
        if posture is not None and preferred is not None:
            posture = replace(posture, q=preferred[self.variables])
        if collision is not None:
            collision = _collision_of_path(self, collision)
        if type(config.stiffness) is tuple:
            stiffness = checks.joint_values("stiffness", config.stiffness, self.model.n, "a robot")
            config = replace(config, stiffness=tuple(stiffness[self.variables].tolist()))
        fields = (self.arm, names, links, targets, start, config, posture, collision, None)
        return tuple.__new__(Problem, fields)

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

        # The serial engine has warned.
        return tree_check(self.model, problem.collision, self.base_pose, warn=False)


@lru_cache(MAX_PATHS)
def link_arm(model: TreeModel, link: str, base: bytes | None) -> LinkArm | None:
    """The arm from the root to a link; None if its joints are not independent.

    Args:
        model: The robot.
        link: The link.
        base: The numbers of the pose (4, 4) of the root; None for the identity.
    """
    if model.free_base or model.loops or model.links[link].joint < 0:
        return None
    try:
        found, tree = chain_between(model, model.root, link), model.tree
    except InvalidInputError:  # two of the joints move together
        return None
    joints = list(found.joints)
    if (tree.ratios[joints] != 1.0).any() or tree.offsets[joints].any():
        return None
    pose = IDENTITY if base is None else np.frombuffer(base).reshape(4, 4)
    links = found.links if base is None else moved_links(found.links, pose)
    arm = arm_model(links, found.prismatic, found.limits, found.home)
    variables = tree.variables[joints]
    is_whole = np.array_equal(variables, np.arange(model.n))
    return LinkArm(model, arm, variables, is_whole, found.joints, pose)


@lru_cache(MAX_PATHS)
def _collision_of_path(path: LinkArm, collision: "CollisionModel") -> "CollisionModel":
    """The collision model of the arm of a path; all shapes are on it."""
    return replace(collision, geometry=_shape_of_path(path, collision.geometry))


@lru_cache(MAX_PATHS)
def _shape_of_path(path: LinkArm, geometry: "Geometry") -> "Geometry":
    """The shape of the arm of a path, made once for all scenes."""
    from jointwise.shape.chain.geometry import chain_geometry

    names = tuple(path.model.all_joint_names[joint] for joint in path.joints)
    chain = ChainOfRobot(path.model, path.arm, names, path.model.root)
    return chain_geometry(geometry, chain)
