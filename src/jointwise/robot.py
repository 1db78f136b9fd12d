"""Robot: a whole robot with many links, with its kinematics and its solvers."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from jointwise.chain import Chain, JointValues
from jointwise.errors import GeometryWarning, InvalidInputError, warn_caller
from jointwise.kernels.shapes import Bools, Floats
from jointwise.model import checks, data, mjcf, urdf
from jointwise.model.arm import arm_model
from jointwise.model.geometry.files import from_text, read_file, to_text
from jointwise.model.geometry.from_urdf import FitOptions, links_of_robot, urdf_geometry
from jointwise.model.geometry.geometry import Geometry
from jointwise.model.geometry.mesh_files import folder_of
from jointwise.model.joint_values import ordered_values, random_values
from jointwise.model.kinematic_tree import Mimic, TreeModel
from jointwise.model.tree_path import chain_between
from jointwise.model.tree_poses import link_poses
from jointwise.model.tree_table import tree_table
from jointwise.model.urdf import Source
from jointwise.scene.scene import Scene
from jointwise.solvers.config import DEFAULT_SOLVE_CONFIG, SolveConfig
from jointwise.solvers.robot.batch import solve_robot_batch
from jointwise.solvers.robot.collision import RobotCheck, clearance, is_free, robot_check
from jointwise.solvers.robot.path import Motion, solve_robot_path, solve_robot_paths
from jointwise.solvers.robot.requests import REST_WEIGHT, LinkWeight, Options
from jointwise.solvers.robot.results import RobotBatch, RobotPath, RobotResult
from jointwise.solvers.robot.single import solve_robot
from jointwise.solvers.robot.track import RobotTracker, track_robot
from jointwise.solvers.targets import Pose, Target, Targets

# How far prismatic joints without limits are drawn from home by ``random``, at most [m].
RANDOM_TRAVEL = 1.0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Robot:
    """A whole robot: arms, legs, hands. Made by ``Robot.from_urdf`` and the like. Immutable.

    Mimic joints follow others, so that they have no values of their own: ``joint_names`` has the
    independent joints, in whose order joint values are.

    Attributes:
        model: The robot in numbers.
        geometry: Its shape, by which collisions are found; None if unknown.

    Example:
        >>> from jointwise import Robot
        >>> robot = Robot.load("panda")
        >>> robot.fk(robot.home)["tip"].shape
        (4, 4)
    """

    model: TreeModel
    geometry: Geometry | None = None

    @classmethod
    def from_urdf(
        cls,
        source: Source,
        free_base: bool = False,
        geometry: bool | str | PathLike[str] = False,
        overshoot: float = 0.015,
        srdf: Source | None = None,
    ) -> Robot:
        """A robot from a URDF: all its links and joints.

        Fixed joints are folded; masses are ignored. The limits of a mimic joint narrow those of the
        joint that it follows.

        Args:
            source: A path, an open file, or the text itself.
            free_base: Whether the root link moves freely, as that of a humanoid does. A floating
                joint below the root says so too.
            geometry: Whether to fit spheres to the collision shapes of all links, which takes
                minutes, and is kept on disk. Or a JSON file of spheres, as ``Geometry.save`` writes
                it.
            overshoot: How far a sphere is outside of the shapes, at most [m].
            srdf: An SRDF for the geometry: its disabled pairs of links, and its spheres.

        Raises:
            InvalidInputError: It is no URDF, or no tree, or a joint is of another type; the text
                says which. Or a shape cannot be read.

        Example:
            >>> from jointwise import robots
            >>> Robot.from_urdf(robots.panda().to_urdf("arm")).n
            7
        """
        checks.geometry_option(geometry)
        tree = urdf.Tree(source)
        model = urdf.read_robot(tree, free_base)
        if geometry is False:
            return cls(model)
        options = FitOptions(overshoot, None if geometry is True else geometry, srdf)
        links, folder = links_of_robot(model), folder_of(source)
        return cls(model, urdf_geometry(tree, folder, links, model, model.body_names, options))

    @classmethod
    def from_mjcf(cls, source: Source) -> Robot:
        """A robot from an MJCF model, as the compiler of MuJoCo reads it: ``jointwise[mjcf]``.

        Bodies and sites are links. A free joint makes the base free; bodies that move freely and
        have no joints of their own are objects, which are left out. Equality constraints between
        two joints, or of a tendon that connects two, are mimic joints.

        Args:
            source: A path, an open file, or the text itself. Only a path leads to files that the
                model includes, such as meshes.

        Raises:
            InvalidInputError: MuJoCo cannot read it, or it has ball joints, closed loops or
                several robots; the text says which.

        Example:
            >>> hinge = '<joint name="turn"/><geom size="0.1"/><site name="hand" pos="1 0 0"/>'
            >>> body = f'<worldbody><body name="arm">{hinge}</body></worldbody>'
            >>> Robot.from_mjcf(f"<mujoco>{body}</mujoco>").joint_names
            ('turn',)
        """
        return cls(mjcf.read_robot(source))

    @classmethod
    def load(
        cls,
        name: str | PathLike[str],
        free_base: bool = False,
        geometry: bool | str | PathLike[str] = False,
    ) -> Robot:
        """A robot by its name, or from a file.

        Args:
            name: A name that ``jointwise.robots`` lists; the name of a URDF of the package
                example-robot-data if it is installed, such as ``"talos_full_v2"``; or the path of a
                ``.urdf`` file, of a ``.xml`` file with MJCF, or of a DH table.
            free_base: As for ``from_urdf``.
            geometry: Whether to load its shape as well, or to fit it for a URDF; an error lists the
                robots whose shapes come with jointwise. Or a JSON file of spheres, as
                ``Geometry.save`` writes it.

        Example:
            >>> Robot.load("ur5e").n
            6
        """
        file = data.find(name)
        checks.geometry_option(geometry)
        spheres = data.geometry_file(file) if geometry is True else geometry
        if spheres:
            return cls.load(name, free_base).with_geometry(spheres)
        if geometry and file.suffix.lower() != ".urdf":
            raise data.no_shapes(file)
        if file.suffix.lower() in (".toml", ".csv"):
            return cls.from_urdf(Chain.from_table(file).to_urdf(file.stem), free_base)
        if mjcf.is_mjcf(file):
            if free_base:
                raise InvalidInputError(
                    f"free_base is for a URDF: {file.name} is MJCF, where a free joint says so."
                )
            return cls.from_mjcf(file)
        return cls.from_urdf(file, free_base, geometry)

    def with_geometry(self, source: str | PathLike[str] | Geometry | None) -> Robot:
        """The same robot with a shape, by which collisions are found.

        Args:
            source: A JSON file of spheres, as ``Geometry.save`` writes it, the name of a robot with
                these joints, or the ``geometry`` of another robot or chain with the same joints. A
                file may name links as well as joints. None: no geometry.

        Raises:
            InvalidInputError: It cannot be read, or it is of another robot.

        Example:
            >>> Robot.load("panda").with_geometry("panda").geometry.count
            187
        """
        if source is None:
            return replace(self, geometry=None)
        names, links = self.model.body_names, links_of_robot(self.model)
        if isinstance(source, Geometry):
            shape = from_text(to_text(source), "the geometry", self.model, names)
        else:
            shape = read_file(data.find_geometry(source), self.model, names, links)
        return replace(self, geometry=shape)

    @property
    def name(self) -> str:
        """The robot's name, as its file has it."""
        return self.model.name

    @property
    def link_names(self) -> tuple[str, ...]:
        """The names of all links; the root first, parents before children."""
        return tuple(self.model.links)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The names of the independent joints, in the order of joint values."""
        return self.model.joint_names

    @property
    def n(self) -> int:
        """Number of independent joints."""
        return self.model.n

    @property
    def mimics(self) -> Mapping[str, Mimic]:
        """Which joint each mimic joint follows, by its name: (joint, ratio, offset)."""
        return MappingProxyType(self.model.mimics)

    @property
    def prismatic(self) -> Bools:
        """(n,) which independent joints are prismatic; the others are revolute. Read-only."""
        return self.model.prismatic

    @property
    def limits(self) -> Floats:
        """(n, 2) lower and upper limit of each joint [rad, m]; infinite where none. Read-only.

        Inside them all mimic joints are inside their own limits too.
        """
        return self.model.limits

    @property
    def max_velocity(self) -> Floats:
        """(n,) greatest velocity of each joint [rad/s, m/s]; infinite if unknown. Read-only."""
        return self.model.max_velocity

    @property
    def home(self) -> Floats:
        """(n,) the middle of each joint's range, 0 where it has none [rad, m]. Read-only."""
        return self.model.home

    @property
    def free_base(self) -> bool:
        """Whether the root link moves freely."""
        return self.model.free_base

    def random(self, seed: int, count: int | None = None) -> Floats:
        """Joint values drawn uniformly between the limits; within a full turn where there are none.

        Args:
            seed: Seed of the generator; the same seed gives the same values.
            count: None for one configuration, (n,); else (count, n).

        Example:
            >>> robot = Robot.load("panda")
            >>> robot.random(seed=1, count=10).shape
            (10, 7)
        """
        return random_values(self.model, RANDOM_TRAVEL, seed, count)

    def fk(self, q: JointValues, base: Pose | None = None) -> dict[str, Floats]:
        """Forward kinematics: the pose of every link.

        Args:
            q: (n,) one value per independent joint [rad, m], or a mapping of joint names to
                values; (k, n) for many configurations.
            base: Pose of the root link, (4, 4) or ``RigidTransform``, or its position (3,) [m].
                None: the identity.

        Returns:
            (4, 4) the pose of each link by its name, or (k, 4, 4). Read-only.

        Example:
            >>> robot = Robot.load("panda")
            >>> poses = robot.fk(robot.home, base=[0.0, 0.0, 0.5])
            >>> poses["tip"].shape, float(poses["base_link"][2, 3])
            ((4, 4), 0.5)
        """
        ordered = ordered_values("q", q, self.model, self.joint_names)
        values = checks.configurations("q", ordered, self.n, "a robot")
        T_world_root = np.eye(4) if base is None else checks.frame("base", base)
        return link_poses(self.model, checks.all_finite("q", values), T_world_root)

    def chain(self, base: str, tip: str) -> Chain:
        """The arm between two links, also if the path leads up to a common ancestor and down.

        A mimic joint is a joint like others in it, with its own name and value, unless another
        joint between base and tip moves with it, which is refused. The arm has no geometry, which
        a warning says if the robot has one.

        Args:
            base: The link that does not move.
            tip: The link of the end effector.

        Example:
            >>> robot = Robot.load("panda")
            >>> robot.chain(robot.link_names[0], "tip").n
            7
        """
        for link in (base, tip):
            checks.known_name("link", link, self.model.links, self.name)
        links, prismatic, limits, names, *_ = chain_between(self.model, base, tip)
        if self.geometry is not None:
            warn_caller(
                GeometryWarning(
                    "the chain has no geometry, although the robot has: its collisions are not "
                    "checked. Give it a shape by with_geometry, or read it by "
                    "Chain.from_urdf(source, base, tip, geometry=True)."
                )
            )
        return Chain(arm_model(links, prismatic, limits), names)

    def solve(
        self,
        targets: Mapping[str, Target],
        start: JointValues | None = None,
        base: Pose | None = None,
        *,
        weights: Mapping[str, LinkWeight] | None = None,
        offsets: Mapping[str, ArrayLike] | None = None,
        rest: JointValues | None = None,
        rest_weight: float = REST_WEIGHT,
        active: Collection[str] | None = None,
        config: SolveConfig = DEFAULT_SOLVE_CONFIG,
        seed: int = 0,
        scene: Scene | None = None,
        margin: float = 0.0,
        self_collision: bool = True,
    ) -> RobotResult:
        """Inverse kinematics: joint values that bring links to their targets, all at once.

        Targets that are out of reach, or that conflict, end in the least weighted squared errors
        near the start.

        Args:
            targets: A target for each of some links, by their names: (3,) a position [m], (4, 4) a
                pose, a SciPy ``RigidTransform`` such as ``pose`` makes, or an ``aim``.
            start: (n,) where the joints are [rad, m], or a mapping of some joint names; the other
                joints are at ``rest`` if it is given, else at home. It is tried first.
            base: Pose of the root link, (4, 4) or ``RigidTransform``, or its position (3,) [m]; a
                free base starts there. None: the identity.
            weights: How much links count, by their names: a number for both, or one for position
                and one for orientation. 1 for those that are not named; 0 leaves it free.
            offsets: (3,) points of links that should be at the target, by the links' names [m],
                instead of their origins.
            rest: Preferred joint values; among the solutions one near them is found.
            rest_weight: How much they count; a target counts 1.
            active: Names of the joints that may move; the others stay at the start. The name of the
                root link stands for a free base. None: all.
            config: Tolerances, and how to search.
            seed: Seed of the restarts.
            scene: Obstacles that the robot must not touch, world frame; its ``geometry`` must be
                known. Solutions that touch are not ``converged``.
            margin: The least distance to keep [m].
            self_collision: Whether the robot must not touch itself, either; only where its
                ``geometry`` is known.

        Returns:
            The best result found, inside the limits; it has the errors of each target by name.

        Raises:
            InvalidInputError: Something about the input is wrong; the text says what.

        Example:
            >>> robot = Robot.load("ur5e")
            >>> robot.solve({"tip": [0.3, 0.2, 0.5]}).converged
            True
        """
        options = Options(weights, offsets, rest, rest_weight, active)
        check = self._check(scene, margin, self_collision, base)
        return solve_robot(self.model, targets, start, base, options, config, seed, check)

    def solve_batch(
        self,
        targets: Mapping[str, Targets] | Sequence[Mapping[str, Target]],
        start: JointValues | None = None,
        base: Pose | None = None,
        *,
        weights: Mapping[str, LinkWeight] | None = None,
        offsets: Mapping[str, ArrayLike] | None = None,
        rest: JointValues | None = None,
        rest_weight: float = REST_WEIGHT,
        active: Collection[str] | None = None,
        config: SolveConfig = DEFAULT_SOLVE_CONFIG,
        seed: int = 0,
        threads: int | None = None,
        progress: bool = False,
        scene: Scene | None = None,
        margin: float = 0.0,
        self_collision: bool = True,
    ) -> RobotBatch:
        """Solve for many sets of targets, each from the same start, as ``solve`` does.

        Args:
            targets: m targets for each of some links, such as (m, 4, 4), by their names; or m
                mappings of the same links.
            start: As for ``solve``.
            base: As for ``solve``.
            weights: As for ``solve``.
            offsets: As for ``solve``.
            rest: As for ``solve``.
            rest_weight: As for ``solve``.
            active: As for ``solve``.
            config: As for ``solve``.
            seed: As for ``solve``.
            threads: Threads to use. None: one for every core.
            progress: Whether to show progress on standard error.
            scene: As for ``solve``.
            margin: As for ``solve``.
            self_collision: As for ``solve``.

        Example:
            >>> robot = Robot.load("panda")
            >>> batch = robot.solve_batch({"tip": [[0.4, 0.2, 0.5], [0.4, 0.3, 0.5]]})
            >>> int(batch.converged.sum()), batch.joint_angles.shape
            (2, (2, 7))
        """
        options = Options(weights, offsets, rest, rest_weight, active)
        check = self._check(scene, margin, self_collision, base)
        return solve_robot_batch(
            self.model, targets, start, base, options, config, seed, threads, progress, check
        )

    def clearance(
        self,
        q: JointValues,
        scene: Scene | None = None,
        base: Pose | None = None,
        *,
        self_collision: bool = True,
        threads: int | None = None,
    ) -> float | Floats:
        """Least distance of the robot from obstacles and from itself [m]; negative if it touches.

        It is the distance of its spheres. What is fixed to the root is compared with obstacles only
        if the base is free; otherwise it stands on one. Links two joints apart, which are always
        close, count only where they touch.

        Args:
            q: As for ``fk``: (n,) one configuration, or (k, n) many.
            scene: Obstacles, world frame; None: the robot itself only.
            base: Pose of the root link, as for ``fk``.
            self_collision: Whether the robot's distance from itself counts.
            threads: For many configurations; None: one for every core.

        Returns:
            A number, or (k,) for many; infinite if there is nothing to touch.

        Raises:
            InvalidInputError: The robot's ``geometry`` is unknown, or ``q`` does not fit.

        Example:
            >>> from jointwise import Scene
            >>> robot = Robot.load("panda", geometry=True)
            >>> wall = Scene().box([0.1, 2.0, 2.0], [0.8, 0.0, 0.0], name="wall")
            >>> round(robot.clearance(robot.home, wall, self_collision=False), 3)
            0.091
        """
        check = self._required_check(scene, 0.0, self_collision, base)
        return clearance(check, *self._placed(q, base), threads)

    def free(
        self,
        q: JointValues,
        scene: Scene | None = None,
        margin: float = 0.0,
        base: Pose | None = None,
        *,
        self_collision: bool = True,
        threads: int | None = None,
    ) -> bool | Bools:
        """Whether the clearance is no less than the margin; faster than to compute it.

        Args:
            q: As for ``clearance``.
            scene: Likewise.
            margin: The least distance to keep [m].
            base: As for ``clearance``.
            self_collision: Likewise.
            threads: Likewise.

        Returns:
            A boolean, or (k,) for many.

        Example:
            >>> from jointwise import Scene
            >>> robot = Robot.load("panda", geometry=True)
            >>> wall = Scene().box([0.1, 2.0, 2.0], [0.8, 0.0, 0.0], name="wall")
            >>> robot.free(robot.home, wall), robot.free(robot.home, wall, base=[0.2, 0.0, 0.0])
            (True, False)
        """
        check = self._required_check(scene, margin, self_collision, base)
        return is_free(check, *self._placed(q, base), threads)

    def _placed(self, q: JointValues, base: Pose | None) -> tuple[Floats, Floats]:
        """Joint values and the pose of the root, checked."""
        ordered = ordered_values("q", q, self.model, self.joint_names)
        values = checks.configurations("q", ordered, self.n, "a robot")
        pose = np.eye(4) if base is None else checks.frame("base", base)
        return checks.all_finite("q", values), pose

    def _check(
        self, scene: Scene | None, margin: float, self_collision: bool, base: Pose | None
    ) -> RobotCheck | None:
        return robot_check(self.model, self.geometry, scene, margin, self_collision, base)

    def _required_check(
        self, scene: Scene | None, margin: float, self_collision: bool, base: Pose | None
    ) -> RobotCheck:
        if scene is None and self.geometry is None:
            raise InvalidInputError(
                "the robot has no geometry, by which collisions are found: expected a robot whose "
                "spheres are known, such as Robot.load(name, geometry=True) or "
                "Robot.from_urdf(source, geometry=True)."
            )
        empty = Scene() if scene is None else scene
        check = self._check(empty, margin, self_collision, base)
        assert check is not None  # since there is a scene
        return check

    def solve_path(
        self,
        frames: Mapping[str, Targets] | Sequence[Mapping[str, Target]],
        start: JointValues | None = None,
        base: Pose | None = None,
        *,
        weights: Mapping[str, LinkWeight] | None = None,
        offsets: Mapping[str, ArrayLike] | None = None,
        rest: JointValues | None = None,
        rest_weight: float = REST_WEIGHT,
        active: Collection[str] | None = None,
        max_velocity: JointValues | bool | None = None,
        dt: float | None = None,
        smooth: float = 0.0,
        config: SolveConfig = DEFAULT_SOLVE_CONFIG,
        seed: int = 0,
        scene: Scene | None = None,
        margin: float = 0.0,
        self_collision: bool = True,
    ) -> RobotPath:
        """Follow targets that move, each frame from the one before, without leaps.

        Args:
            frames: As the targets of ``solve_batch``, one set per frame.
            start: As for ``solve``, for the first frame. With ``max_velocity``: where the joints
                are one frame before it.
            base: As for ``solve``.
            weights: As for ``solve``.
            offsets: As for ``solve``.
            rest: As for ``solve``.
            rest_weight: As for ``solve``.
            active: As for ``solve``.
            max_velocity: Greatest velocity of the joints [rad/s, m/s]: True for those of the model,
                one for all, (n,) or a mapping of joint names. None: no limit.
            dt: Time between frames [s]; needed with ``max_velocity``.
            smooth: How much the change of the joints from frame to frame counts; a target counts 1.
            config: As for ``solve``; restarts are made for the first frame only.
            seed: As for ``solve``.
            scene: As for ``solve``. The first frame is solved for free of contact; the others
                follow it without detours, and those that touch are not ``converged``.
            margin: As for ``solve``.
            self_collision: As for ``solve``.

        Example:
            >>> robot = Robot.load("panda")
            >>> path = robot.solve_path({"tip": [[0.4, 0.2, 0.5], [0.4, 0.21, 0.5]]})
            >>> bool(path.converged.all()), path.largest_step < 0.1
            (True, True)
        """
        options = Options(weights, offsets, rest, rest_weight, active)
        motion = Motion(max_velocity, dt, smooth)
        check = self._check(scene, margin, self_collision, base)
        return solve_robot_path(
            self.model, frames, start, base, options, motion, config, seed, check
        )

    def solve_paths(
        self,
        clips: Sequence[Mapping[str, Targets] | Sequence[Mapping[str, Target]]],
        start: JointValues | None = None,
        base: Pose | None = None,
        *,
        weights: Mapping[str, LinkWeight] | None = None,
        offsets: Mapping[str, ArrayLike] | None = None,
        rest: JointValues | None = None,
        rest_weight: float = REST_WEIGHT,
        active: Collection[str] | None = None,
        max_velocity: JointValues | bool | None = None,
        dt: float | None = None,
        smooth: float = 0.0,
        config: SolveConfig = DEFAULT_SOLVE_CONFIG,
        seed: int = 0,
        threads: int | None = None,
    ) -> list[RobotPath]:
        """Follow many clips at once, each as ``solve_path`` follows one, on threads.

        Args:
            clips: The frames of each clip, as for ``solve_path``; clips may differ in length.
            start: As for ``solve_path``.
            base: As for ``solve_path``.
            weights: As for ``solve_path``.
            offsets: As for ``solve_path``.
            rest: As for ``solve_path``.
            rest_weight: As for ``solve_path``.
            active: As for ``solve_path``.
            max_velocity: As for ``solve_path``.
            dt: As for ``solve_path``.
            smooth: As for ``solve_path``.
            config: As for ``solve_path``.
            seed: As for ``solve_path``.
            threads: Threads to use, each for one clip at a time. None: one for every core.

        Returns:
            The path of each clip, in the same order and with the same bits as ``solve_path``.

        Example:
            >>> robot = Robot.load("ur5e")
            >>> clip = {"tip": [[0.3, 0.2, 0.5], [0.3, 0.21, 0.5]]}
            >>> [len(path) for path in robot.solve_paths([clip, clip])]
            [2, 2]
        """
        return solve_robot_paths(
            self.model,
            clips,
            threads,
            start=start,
            base=base,
            options=Options(weights, offsets, rest, rest_weight, active),
            motion=Motion(max_velocity, dt, smooth),
            config=config,
            seed=seed,
        )

    def track(
        self,
        start: JointValues,
        dt: float,
        *,
        max_velocity: JointValues | bool,
        max_acceleration: ArrayLike,
        max_jerk: ArrayLike | None = None,
        base: Pose | None = None,
        weights: Mapping[str, LinkWeight] | None = None,
        offsets: Mapping[str, ArrayLike] | None = None,
        rest: JointValues | None = None,
        active: Collection[str] | None = None,
    ) -> RobotTracker:
        """A tracker: follows targets that move, step by step, within limits of the motion.

        The base does not move, also if it is free: its motion has no limits. Where it is moved by
        something else, leave out ``base`` and give targets in the frame of the root link.

        Args:
            start: Where the joints are, at rest: (n,) [rad, m], or a mapping of some joint names;
                the others are at home. From outside the limits they are brought in.
            dt: Time of a step [s].
            max_velocity: Limit of the velocity [rad/s, m/s]: True for those of the model, one for
                all, (n,) or a mapping of joint names.
            max_acceleration: Limit of the change of velocity of all joints, or (n,) of each
                [rad/s², m/s²].
            max_jerk: Limit of the change of acceleration, likewise [rad/s³, m/s³]. None: no limit.
            base: Pose of the root link, (4, 4) or ``RigidTransform``, or its position (3,) [m].
                None: the identity.
            weights: How much links count, as for ``solve``.
            offsets: Points of links that should be at the target, as for ``solve`` [m].
            rest: Joint values that spare motion goes to, as ``start``. None: the start, or the
                nearest values that are away from the limits.
            active: Names of the joints that may move. None: all.

        Raises:
            InvalidInputError: Something about the input is wrong; the text says what.

        Example:
            >>> robot = Robot.load("ur5e")
            >>> tracker = robot.track(robot.home, 0.001, max_velocity=3.0, max_acceleration=20.0)
            >>> tracker.step({"tip": [0.3, 0.2, 0.5]}).status.name
            'SLOWED'
        """
        options = Options(weights, offsets, rest, REST_WEIGHT, active)
        limits = dt, max_velocity, max_acceleration, max_jerk
        return track_robot(self.model, start, limits, base, options)

    def __repr__(self) -> str:
        return f"<Robot {self.name}: {checks.quantity(self.n, 'joint')}>"

    def __str__(self) -> str:
        return tree_table(self.model)
