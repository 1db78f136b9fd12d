"""Chain: a serial robot arm, with its kinematics and its solvers."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import Bools, Floats
from jointwise.model import checks, data, degrees, dhfile, urdf
from jointwise.model.arm import ArmModel, arm_model
from jointwise.model.dh import Row, as_rows, modified_links, prismatic_rows, standard_links
from jointwise.model.joint_values import ordered_values, random_values
from jointwise.model.joints import DHJoint
from jointwise.model.outline import outline
from jointwise.model.table import table
from jointwise.model.urdf import Source
from jointwise.model.working_radius import working_radius
from jointwise.solvers.batch import BatchOptions, Device, solve_batch
from jointwise.solvers.branches import branch_name
from jointwise.solvers.config import DEFAULT_SOLVE_CONFIG, SolveConfig
from jointwise.solvers.forward import jacobian, joint_frames, manipulability, tip_poses
from jointwise.solvers.motion_limits import motion_limits
from jointwise.solvers.path import IKPath, solve_path
from jointwise.solvers.redundancy import redundancy_intervals
from jointwise.solvers.results import IKBatch, IKResult
from jointwise.solvers.single import solve
from jointwise.solvers.solution_lists import Solutions, SolutionsBatch
from jointwise.solvers.solutions import all_solutions
from jointwise.solvers.solutions_batch import solutions_batch
from jointwise.solvers.targets import Pose, Target, Targets
from jointwise.solvers.trace import Trace, trace
from jointwise.solvers.tracking import Tracker, track

if TYPE_CHECKING:
    from jointwise.model.geometry.geometry import Geometry
    from jointwise.scene.scene import Scene
    from jointwise.solvers.collision import CollisionCheck

# One value per joint [rad, m], in the order of the joints or by their names.
JointValues: TypeAlias = ArrayLike | Mapping[str, float]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Chain:
    """A serial robot arm, from base to end effector. Made by ``Chain.from_dh`` and the like.

    Attributes:
        arm: The arm in numbers.
        names: One name per joint.
        rows: The DH rows it was made of; empty if it was made of something else.
        modified: Whether the rows are modified (Craig) DH rows.
        geometry: Its shape, by which collisions are found; None if unknown.

    Example:
        >>> from jointwise import Chain, puma560
        >>> arm = Chain.from_dh(puma560())
        >>> target = arm.fk([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
        >>> arm.solve(target).converged
        True
    """

    arm: ArmModel
    names: tuple[str, ...]
    rows: tuple[DHJoint, ...] = ()
    modified: bool = False
    geometry: Geometry | None = None

    @classmethod
    def from_dh(
        cls,
        rows: Iterable[Row],
        limits: ArrayLike | None = None,
        base: Pose | None = None,
        tool: Pose | None = None,
        names: Sequence[str] | None = None,
    ) -> Chain:
        """An arm of standard Denavit-Hartenberg rows.

        Args:
            rows: From base to end effector; a row is ``Rz(theta) · Tz(d) · Tx(a) · Rx(alpha)``: a
                ``DHJoint`` or a tuple (theta, d, a, alpha). An array (n, 4) is such rows.
            limits: (n, 2) lower and upper limit of each joint [rad, m]; infinite where unlimited.
                None: no limits.
            base: Pose of the first row's frame in the base frame, (4, 4) or ``RigidTransform``, or
                its position (3,) [m].
            tool: Pose of the end effector in the last row's frame.
            names: One name per joint; ``joint1``, ``joint2``, ... if not given.

        Raises:
            InvalidInputError: Something does not fit; the text says what.

        Example:
            >>> from jointwise import DHJoint
            >>> rows = [DHJoint(a=0.4), DHJoint(a=0.3)]
            >>> arm = Chain.from_dh(rows, limits=[[-2.0, 2.0], [-2.5, 2.5]])
            >>> arm.fk([0.0, 0.0])[:3, 3]
            array([0.7, 0. , 0. ])
        """
        return cls._from_rows(as_rows(rows), False, limits, base, tool, names)._checked()

    @classmethod
    def from_mdh(
        cls,
        rows: Iterable[Row],
        limits: ArrayLike | None = None,
        base: Pose | None = None,
        tool: Pose | None = None,
        names: Sequence[str] | None = None,
    ) -> Chain:
        """An arm of modified (Craig) Denavit-Hartenberg rows.

        A row is ``Rx(alpha) · Tx(a) · Rz(theta) · Tz(d)``: its ``a`` and ``alpha`` act before its
        motion. Everything else as in ``from_dh``.

        Example:
            >>> from jointwise import DHJoint
            >>> arm = Chain.from_mdh([DHJoint(d=0.3), DHJoint(a=0.4)], tool=[0.2, 0.0, 0.0])
            >>> arm.fk([0.0, 0.0])[:3, 3].round(6)
            array([0.6, 0. , 0.3])
        """
        return cls._from_rows(as_rows(rows), True, limits, base, tool, names)._checked()

    @classmethod
    def from_table(
        cls,
        path: str | PathLike[str],
        convention: dhfile.Convention | None = None,
        angles: dhfile.Angles | None = None,
    ) -> Chain:
        """An arm of the DH table in a file, as textbooks and data sheets print it.

        A CSV file has a header and one row per joint; its columns are some of ``name``, ``type``,
        ``theta``, ``d``, ``a``, ``alpha``, ``lower``, ``upper``. A TOML file has the same as
        ``joints``, a list of tables, and may set ``convention`` and ``angles`` itself, and
        ``base`` and ``tool``, each by ``xyz`` and ``rpy``. Missing numbers are 0, missing limits
        are infinite; lengths are metres.

        Args:
            path: A ``.toml`` or ``.csv`` file.
            convention: ``"standard"`` or ``"modified"`` rows; None: as the file says, else
                standard.
            angles: ``"radians"`` or ``"degrees"``; None: as the file says, else radians.

        Raises:
            InvalidInputError: The file cannot be read; the text says which row and what is wrong.

        Example:
            >>> from pathlib import Path
            >>> from tempfile import TemporaryDirectory
            >>> with TemporaryDirectory() as folder:
            ...     file = Path(folder) / "arm.toml"
            ...     _ = file.write_text("joints = [{ a = 0.4 }, { a = 0.3 }]")
            ...     arm = Chain.from_table(file)
            >>> arm.names, arm.fk([0.0, 0.0])[:3, 3]
            (('joint1', 'joint2'), array([0.7, 0. , 0. ]))
        """
        rows, modified, limits, base, tool, names = dhfile.read(path, convention, angles)
        return cls._from_rows(tuple(rows), modified, limits, base, tool, names)

    @classmethod
    def from_urdf(
        cls,
        source: Source,
        base: str | None = None,
        tip: str | None = None,
        geometry: bool | str | PathLike[str] = False,
        overshoot: float = 0.015,
        srdf: Source | None = None,
    ) -> Chain:
        """An arm from a URDF: the joints between two of its links.

        Fixed joints are folded; masses are ignored. Floating and planar joints between
        base and tip are refused. Where the path leads up to a common ancestor, joints are
        reversed; their values and limits keep their meaning. A mimic joint is a joint like others,
        unless another joint between base and tip moves with it: that needs a ``Robot``.

        Args:
            source: A path, an open file, or the text itself.
            base: The link that does not move. None: the root.
            tip: The link of the end effector. None: the tool frame or the hand of the only arm; a
                link of a finger, a camera or a wheel is never the default.
            geometry: Whether to fit spheres to the collision shapes of all links, which takes up
                to a minute, and is kept on disk; joints that are not in the chain are at zero. Or
                a JSON file of spheres, as ``Geometry.save`` writes it.
            overshoot: How far a sphere is outside of the shapes, at most [m].
            srdf: An SRDF for the geometry: its disabled pairs of links, and its spheres.

        Raises:
            InvalidInputError: It is no URDF, or there are several candidates; the text names them,
                the likeliest first. Or a shape cannot be read.

        Example:
            >>> urdf = Chain.load("panda").to_urdf("panda")  # or the path of a file
            >>> Chain.from_urdf(urdf, base="base_link", tip="link4").n
            4
        """
        checks.geometry_option(geometry)
        tree = urdf.Tree(source)
        links, prismatic, limits, names, base, _ = urdf.read(tree, base, tip)
        joint_names = checks.names(names, len(names))
        arm = arm_model(links, prismatic, checks.limits(limits, joint_names))
        if geometry is False:
            return cls(arm, joint_names)
        from jointwise.model.geometry.from_urdf import FitOptions, links_of_arm, urdf_geometry
        from jointwise.model.geometry.mesh_files import folder_of

        options = FitOptions(overshoot, None if geometry is True else geometry, srdf)
        carried = links_of_arm(tree, base, arm, joint_names)
        shape = urdf_geometry(tree, folder_of(source), carried, arm, joint_names, options)
        return cls(arm, joint_names, geometry=shape)

    @classmethod
    def load(
        cls,
        name: str | PathLike[str],
        base: str | None = None,
        tip: str | None = None,
        geometry: bool | str | PathLike[str] = False,
    ) -> Chain:
        """A robot by its name, as ``jointwise.robots`` lists them, or an arm from a file.

        Args:
            name: A robot's name, or the path of a ``.urdf``, ``.toml`` or ``.csv`` file.
            base: For a URDF: as for ``from_urdf``.
            tip: Likewise.
            geometry: Whether to load the shape of the robot as well, or to fit it for a URDF;
                an error lists the robots whose shapes come with jointwise. Or a JSON file of
                spheres, as ``Geometry.save`` writes it.

        Example:
            >>> Chain.load("panda").n
            7
            >>> Chain.load("panda", geometry=True).geometry.links[1]
            ('panda_link1',)
        """
        file = data.find(name)
        checks.geometry_option(geometry)
        kept = data.geometry_file(file) if geometry is True else None
        if file.suffix.lower() not in (".toml", ".csv"):
            chain = cls.from_urdf(file, base, tip, geometry if kept is None else False)
            return chain if kept is None else chain.with_geometry(kept)
        if base is not None or tip is not None:
            raise InvalidInputError(f"base and tip are for a URDF: {file.name} is a DH table.")
        spheres = geometry if kept is None else kept
        if spheres is True:
            raise data.no_shapes(file)
        chain = cls.from_table(file)
        return chain if spheres is False else chain.with_geometry(spheres)

    @classmethod
    def _from_rows(
        cls,
        rows: tuple[DHJoint, ...],
        modified: bool,
        limits: ArrayLike | None,
        base: Pose | None,
        tool: Pose | None,
        names: Sequence[str] | None,
    ) -> Chain:
        links = modified_links(rows) if modified else standard_links(rows)
        if base is not None:
            links[0] = checks.frame("base", base)[:3] @ np.vstack([links[0], [0, 0, 0, 1]])
        if tool is not None:
            links[-1] = links[-1] @ checks.frame("tool", tool)
        joint_names = checks.names(names, len(rows))
        model = arm_model(links, prismatic_rows(rows), checks.limits(limits, joint_names))
        return cls(model, joint_names, rows, modified)

    def _checked(self) -> Chain:
        """The arm itself, after a warning if its limits look like degrees."""
        degrees.check_limits(self.limits, self.prismatic, self.names)
        return self

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.arm.n

    @property
    def prismatic(self) -> Bools:
        """(n,) which joints are prismatic; the others are revolute. Read-only."""
        return self.arm.prismatic

    @property
    def limits(self) -> Floats:
        """(n, 2) lower and upper limit of each joint [rad, m]; infinite where none. Read-only."""
        return self.arm.limits

    @property
    def reach(self) -> float:
        """Upper bound of the distance from the first joint to the end effector [m]."""
        return self.arm.reach

    @property
    def home(self) -> Floats:
        """(n,) the middle of each joint's range, 0 where it has none [rad, m]. Read-only."""
        return self.arm.home

    @property
    def closed_form(self) -> str | None:
        """The structure by which all solutions are computed in closed form, or None.

        Example:
            >>> from jointwise import robots
            >>> robots.ur5e().closed_form
            'axes 2, 3 and 4 parallel, axes 5 and 6 meet'
        """
        form = self.arm.closed_form
        return None if form is None else form.description

    def with_limits(self, limits: ArrayLike | None) -> Chain:
        """The same arm with other limits, given as in ``from_dh``.

        Example:
            >>> arm = Chain.load("panda")
            >>> narrow = arm.with_limits(0.5 * arm.limits)
            >>> narrow.limits[0]
            array([-1.44865,  1.44865])
        """
        checked = checks.limits(limits, self.names)
        arm = arm_model(self.arm.links, self.prismatic, checked)
        geometry = None if self.geometry is None else self.geometry.for_limits(checked)
        return replace(self, arm=arm, geometry=geometry)._checked()

    def with_tool(self, tool: Pose) -> Chain:
        """The same arm with a tool.

        Args:
            tool: Pose of the new end effector in the old one, or its position (3,) [m] there.

        Example:
            >>> arm = Chain.load("ur5e")
            >>> longer = arm.with_tool([0.0, 0.0, 0.1])
            >>> round(longer.reach - arm.reach, 3) > 0
            True
        """
        links = self.arm.links.copy()
        links[-1] = links[-1] @ checks.frame("tool", tool)
        return replace(self, arm=arm_model(links, self.prismatic, self.limits))

    def with_base(self, base: Pose) -> Chain:
        """The same arm at another place, such as on a table; targets are then in the new frame.

        Its ``geometry`` moves along, also what is fixed to the base.

        Args:
            base: Pose of the old base frame in the new one, or its position (3,) [m] there.

        Example:
            >>> arm = Chain.load("ur5e", geometry=True)
            >>> on_table = arm.with_base([0.0, 0.0, 0.8])
            >>> float((on_table.fk(arm.home) - arm.fk(arm.home))[2, 3].round(6))
            0.8
        """
        pose, links = checks.frame("base", base), self.arm.links.copy()
        links[0] = pose[:3] @ np.vstack([links[0], [0.0, 0.0, 0.0, 1.0]])
        arm = arm_model(links, self.prismatic, self.limits)
        return replace(self, arm=arm, geometry=self.geometry and self.geometry.moved(pose))

    def with_geometry(self, source: str | PathLike[str] | Geometry | None) -> Chain:
        """The same arm with a shape, by which collisions are found.

        Args:
            source: A JSON file of spheres, as ``Geometry.save`` writes it, the name of a robot with
                these joints, or the ``geometry`` of another chain with the same joints, also if
                its base is elsewhere. None: no geometry.

        Raises:
            InvalidInputError: It cannot be read, or it is of another arm.

        Example:
            >>> Chain.load("panda").with_geometry("panda").geometry.count
            187
        """
        if source is None:
            return replace(self, geometry=None)
        from jointwise.model.geometry.files import from_text, read_file, to_text
        from jointwise.model.geometry.geometry import Geometry

        if isinstance(source, Geometry):
            shape = from_text(to_text(source), "the geometry", self.arm, self.names)
        else:
            shape = read_file(data.find_geometry(source), self.arm, self.names)
        return replace(self, geometry=shape)

    def attach(
        self,
        name: str,
        pose: Pose | None = None,
        *,
        box: ArrayLike | None = None,
        cylinder: ArrayLike | None = None,
        sphere: float | None = None,
        mesh: str | PathLike[str] | None = None,
        overshoot: float = 0.01,
    ) -> Chain:
        """The same arm with something attached to its end effector, such as a grasped box.

        It is checked for collisions with everything but the last link. ``detach`` takes it off.

        Args:
            name: What it is, for results.
            pose: Pose of its centre in the end effector, or its position (3,) [m] there.
            box: (3,) lengths along x, y and z [m].
            cylinder: (radius, length) [m]; its axis is z.
            sphere: Radius [m].
            mesh: A file with its surface [m].
            overshoot: How far a sphere is outside of it, at most [m].

        Raises:
            InvalidInputError: The arm has no geometry, or none or several solids are given.

        Example:
            >>> arm = Chain.load("panda", geometry=True)
            >>> arm.attach("parcel", [0.0, 0.0, 0.06], box=[0.1, 0.06, 0.1]).geometry.names[-1]
            'parcel'
        """
        if self.geometry is None:
            raise InvalidInputError(
                "the arm has no geometry, to which something could be attached: expected a chain "
                "with one. Read it with geometry=True."
            )
        from jointwise.model.geometry.attached import solid_spheres
        from jointwise.model.geometry.geometry import move_spheres

        given = {"box": box, "cylinder": cylinder, "sphere": sphere, "mesh": mesh}
        spheres = solid_spheres(given, overshoot)
        T_joint_tip = np.vstack([self.arm.links[-1], [0.0, 0.0, 0.0, 1.0]])
        T_tip_solid = np.eye(4) if pose is None else checks.frame("pose", pose)
        moved = move_spheres(T_joint_tip @ T_tip_solid, spheres)
        return replace(self, geometry=self.geometry.attach(moved, name))

    def detach(self) -> Chain:
        """The same arm with nothing attached.

        Example:
            >>> arm = Chain.load("panda", geometry=True)
            >>> holding = arm.attach("ball", sphere=0.05)
            >>> holding.detach().geometry.count == arm.geometry.count
            True
        """
        return replace(self, geometry=self.geometry and self.geometry.detach())

    def to_urdf(self, name: str = "arm") -> str:
        """The arm as the text of a URDF: joints and limits from base to end effector.

        Its links are ``base_link``, ``link1``, ``link2``, ... and ``tip``. Numbers are written in
        full, so ``Chain.from_urdf`` gives the same arm. Effort and velocity limits, which are
        unknown here, are large.

        Args:
            name: The robot's name.

        Example:
            >>> print(Chain.load("panda").to_urdf("panda")[:42])
            <?xml version="1.0"?>
            <robot name="panda">
        """
        return urdf.write(self.arm, self.names, name)

    def random(self, seed: int, count: int | None = None) -> Floats:
        """Joint values drawn uniformly between the limits; within a full turn where there are none.

        Args:
            seed: Seed of the generator; the same seed gives the same values.
            count: None for one configuration, (n,); else (count, n).

        Example:
            >>> Chain.load("panda").random(seed=1, count=3).shape
            (3, 7)
        """
        return random_values(self.arm, 5.0 * self.arm.angular_scale, seed, count)

    def fk(self, q: JointValues, device: Device = "cpu") -> Floats:
        """Forward kinematics: the pose of the end effector, ``T_base_tip``.

        Args:
            q: (n,) one value per joint [rad, m], or a mapping of joint names to values; (k, n)
                for many configurations.
            device: For many, as for ``solve_batch``; arrays on a GPU stay there.

        Returns:
            (4, 4) the pose of the end effector in the base frame, or (k, 4, 4).

        Example:
            >>> arm = Chain.load("panda")
            >>> arm.fk([0.0, 0.0, 0.0, -1.5, 0.0, 1.5, 0.0])[:3, 3].round(3)
            array([ 0.548, -0.   ,  0.651])
        """
        return tip_poses(self.arm, self._values("q", q), device)

    def frames(self, q: JointValues) -> Floats:
        """(n, 4, 4) the frame that each joint carries, base frame; z is the joint's axis.

        Args:
            q: As for ``fk``, one configuration.

        Example:
            >>> Chain.load("panda").frames([0.0, 0.0, 0.0, -1.5, 0.0, 1.5, 0.0]).shape
            (7, 4, 4)
        """
        return joint_frames(self.arm, self._values("q", q))

    def jacobian(self, q: JointValues) -> Floats:
        """(6, n) geometric Jacobian of the end effector, base frame: linear, then angular part.

        Args:
            q: As for ``fk``, one configuration.

        Example:
            >>> Chain.load("panda").jacobian([0.0, 0.0, 0.0, -1.5, 0.0, 1.5, 0.0]).shape
            (6, 7)
        """
        return jacobian(self.arm, self._values("q", q))

    def manipulability(self, q: JointValues) -> float:
        """Yoshikawa's manipulability: the product of the singular values of the Jacobian.

        It is sqrt(det(J Jᵀ)) for six joints or more, and vanishes at a singularity. Metres and
        radians are mixed, so compare configurations of one arm only.

        Args:
            q: As for ``fk``, one configuration.

        Example:
            >>> arm = Chain.load("ur5e")
            >>> arm.manipulability([0.0, -1.0, 0.0, 0.0, 1.0, 0.0]) < 1e-6  # a straight elbow
            True
        """
        return manipulability(self.arm, self._values("q", q))

    def outline(self, q: JointValues) -> Floats:
        """(k, 3) corners of a polyline from base to end effector [m], base frame, for drawing.

        From joint to joint it goes straight to the axis of the next one, then along it: of a DH
        row these are the lengths a and d. The travel of a prismatic joint is a segment of its own.

        Args:
            q: As for ``fk``, one configuration.

        Example:
            >>> from jointwise import DHJoint
            >>> Chain.from_dh([DHJoint(d=0.5), DHJoint(a=1.0)]).outline([0.0, 0.0])
            array([[0. , 0. , 0. ],
                   [0. , 0. , 0.5],
                   [1. , 0. , 0.5]])
        """
        values = self._values("q", q)
        return outline(self.arm, np.asarray(values, float), self.frames(values), self.fk(values))

    def working_radius(self) -> float:
        """Greatest distance of the end effector from the first revolute axis [m], within limits.

        The reach that data sheets print, for the end effector of this chain; many data sheets
        measure to the centre of the wrist. Infinite with an unlimited prismatic joint.

        Example:
            >>> round(Chain.load("panda").working_radius(), 3)
            0.858
        """
        return working_radius(self.arm)

    def solve(
        self,
        target: Target,
        start: JointValues | None = None,
        config: SolveConfig = DEFAULT_SOLVE_CONFIG,
        seed: int = 0,
        *,
        scene: Scene | None = None,
        margin: float = 0.0,
        self_collision: bool = True,
    ) -> IKResult:
        """Inverse kinematics: joint values that bring the end effector to a target.

        Args:
            target: (3,) a position [m], (4, 4) a pose, a SciPy ``RigidTransform`` such as ``pose``
                makes, or an ``aim``; base frame.
            start: (n,) where the arm is [rad, m], or a mapping of joint names. It is tried first,
                then its neighbourhood, then all of the joint ranges, so the solution is near it if
                possible. Values outside the limits are clamped. None: the middle of the ranges.
            config: Tolerances, and how to search.
            seed: Seed of the restarts.
            scene: Obstacles that the arm must not touch; its ``geometry`` must be known. Solutions
                that touch something are not ``converged``, and another is searched for.
            margin: The least distance to keep from obstacles and from itself [m]. Links two apart
                are always close to each other: they must not touch, whatever the margin is.
            self_collision: Whether the arm must not touch itself, either; only where its
                ``geometry`` is known.

        Returns:
            The best result found, inside the limits. ``converged`` and ``status`` tell whether the
            target is reached, and why not. An unreachable target does not raise.

        Raises:
            InvalidInputError: Something about the input is wrong; the text says what.

        Example:
            >>> arm = Chain.load("panda")
            >>> result = arm.solve([0.4, 0.2, 0.5])
            >>> result.converged, arm.fk(result.joint_angles)[:3, 3].round(3)
            (True, array([0.4, 0.2, 0.5]))
        """
        check = self._check(scene, margin, self_collision)
        return solve(self.arm, target, self._values("start", start), config, seed, check)

    def solve_batch(
        self,
        targets: Targets,
        starts: JointValues | None = None,
        config: SolveConfig = DEFAULT_SOLVE_CONFIG,
        seed: int = 0,
        device: Device = "cpu",
        dtype: DTypeLike = np.float64,
        threads: int | None = None,
        progress: bool = False,
        closest: bool = True,
        *,
        scene: Scene | None = None,
        margin: float = 0.0,
        self_collision: bool = True,
    ) -> IKBatch:
        """Solve for many targets at once, with the same results as ``solve``.

        A result depends on its own row and the seed alone: it is bit for bit the same whatever
        the other rows are, and on any number of threads. A GPU rounds differently, so that in
        float64 one result in a thousand may differ.

        Args:
            targets: (m, 3) positions [m], (m, 4, 4) poses, a SciPy ``RigidTransform`` of many, an
                ``aim`` of many, or a list of targets of one kind; base frame. An invalid row gets
                ``Status.INVALID`` and NaN as joint values; the others are solved. Arrays of CuPy,
                PyTorch or JAX on a GPU are solved there, and the results are arrays of the same
                library.
            starts: (n,) for all, a mapping of joint names, or (m, n) one for each [rad, m]. None:
                the middle of the ranges.
            config: As for ``solve``, without ``rest`` and the method ``"ccd"``.
            seed: As for ``solve``.
            device: ``"cpu"``, ``"cuda"`` for a GPU, or ``"auto"`` for a GPU if there is one.
            dtype: Precision on a GPU, float64 or float32. Convergence is always checked in
                float64.
            threads: Threads on a CPU. None: one for every core.
            progress: Whether to show progress on standard error.
            closest: Whether targets that are not reached get their closest approach and its
                status, as from ``solve``; one of them takes as long as a thousand that are
                reached. False skips that search: their joint values are the start, clamped to the
                limits, their errors are NaN, and ``STALLED`` also stands for ``BLOCKED``.
            scene: As for ``solve``, and so are the next two. A GPU checks solutions, too; those
                that touch after all its restarts count as not reached.
            margin: The least distance to keep [m].
            self_collision: Whether the arm must not touch itself.

        Raises:
            InvalidInputError: Something about the input is wrong; the text says what.

        Example:
            >>> arm = Chain.load("panda")
            >>> batch = arm.solve_batch(arm.fk(arm.random(seed=1, count=100)))
            >>> batch.joint_angles.shape, bool(batch.converged.all())
            ((100, 7), True)
        """
        options = BatchOptions(device, dtype, threads, progress, closest)
        values, check = self._values("starts", starts), self._check(scene, margin, self_collision)
        return solve_batch(self.arm, targets, values, config, seed, options, check)

    def solutions(
        self,
        target: Target,
        count: int | None = 8,
        config: SolveConfig = DEFAULT_SOLVE_CONFIG,
        seed: int = 0,
        *,
        near: JointValues | None = None,
        redundancy: ArrayLike | None = None,
        all_turns: bool = False,
        scene: Scene | None = None,
        margin: float = 0.0,
        self_collision: bool = True,
    ) -> Solutions:
        """Distinct solutions, and whether there are others.

        Poses of an arm with a closed form get all solutions, and ``complete`` tells that it is
        proven. An arm with seven joints has infinitely many; of these, solutions at many values of
        its ``redundancy`` are found. Other arms and targets are searched, without such a proof.
        Solutions that differ by full turns only are one.

        Args:
            target: As for ``solve``.
            count: How many at most; None: all that are found.
            config: As for ``solve``.
            seed: Seed of the restarts, where a search is needed.
            near: Joint values as for ``fk``: the solutions come in the order of their largest joint
                change from there. None: first the nearest to home, then each the farthest from the
                others.
            redundancy: A value or (k,) values of the arm angle or of the fixed joint [rad, m], as
                ``closed_form`` says: all solutions at these. For seven joints only.
            all_turns: Whether to list a solution once for each full turn of its joints inside the
                limits, instead of once; ``count`` counts these.
            scene: As for ``solve``, and so are the next two: only free solutions are listed. If
                the list is empty and ``complete``, it is proven that none is free.
            margin: The least distance to keep [m].
            self_collision: Whether the arm must not touch itself.

        Returns:
            A sequence of converged results; empty if none was found.

        Example:
            >>> from jointwise import robots
            >>> arm = robots.puma560()
            >>> arm.solutions(arm.fk([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]))
            <4 solutions, complete>
        """
        first = None if near is None else self._values("near", near)
        check = self._check(scene, margin, self_collision)
        return all_solutions(
            self.arm, target, count, first, config, seed, redundancy, all_turns, check
        )

    def branch(self, q: JointValues) -> str:
        """Which of the solutions of its pose a configuration is, in words.

        - Shoulder: seen from the first axis towards the wrist, axis 2 points to the left or to the
          right.
        - Elbow: above or below the line from shoulder to wrist, base frame; to its left or right
          if the arm moves in a horizontal plane. A prismatic joint 3 has no elbow.
        - Wrist: flipped where axis 4 · (axis 5 x axis 6) is negative, else straight.

        Args:
            q: Joint values as for ``fk``.

        Returns:
            The name; empty for an arm whose solutions are not told apart like that: it has no
            closed form, or seven joints, or another structure.

        Example:
            >>> from jointwise import robots
            >>> robots.ur5e().branch([0.1, -1.2, 1.5, -0.4, 1.0, 0.3])
            'shoulder left, elbow up, wrist flipped'
        """
        return branch_name(self.arm, self._values("q", q))

    def solutions_batch(
        self,
        targets: Targets,
        *,
        near: JointValues | None = None,
        redundancy: ArrayLike | None = None,
        threads: int | None = None,
        device: Device = "cpu",
        scene: Scene | None = None,
        margin: float = 0.0,
        self_collision: bool = True,
    ) -> SolutionsBatch:
        """All solutions of many poses at once, in closed form.

        Args:
            targets: (m, 4, 4) poses or a SciPy ``RigidTransform`` of many; base frame. An invalid
                row has no solutions and is not ``complete``.
            near: (n,) for all or (m, n) one for each [rad, m]: full turns are chosen so that joint
                values are close to these. None: the middle of the ranges.
            redundancy: For seven joints: the arm angle or the value of the fixed joint, one for all
                or (m,) one for each [rad, m].
            threads: Threads to use. None: one for every core.
            device: As for ``solve_batch``; poses on a GPU stay there, and so do their solutions. Of
                a continuum it gives eight solutions at most. Arms with another structure than a
                spherical wrist with axes 2 and 3 parallel, or axes 2, 3 and 4 parallel, are solved
                on the CPU.
            scene: As for ``solve``: only solutions that touch nothing are listed.
            margin: As for ``solve``.
            self_collision: As for ``solve``.

        Raises:
            InvalidInputError: The arm has no closed form, or something about the input is wrong.

        Example:
            >>> arm = Chain.load("ur5e")
            >>> found = arm.solutions_batch(arm.fk(arm.random(seed=1, count=10)))
            >>> bool(found.complete.all()), bool((found.counts > 0).all())
            (True, True)
        """
        values = self._values("near", near)
        check = self._check(scene, margin, self_collision)
        return solutions_batch(self.arm, targets, values, redundancy, threads, device, check)

    def redundancy_intervals(self, target: Target) -> Floats:
        """(k, 2) intervals of the redundancy in which solutions inside the limits exist [rad, m].

        The redundancy of an arm with seven joints is its arm angle or the value of a joint that is
        fixed, as ``closed_form`` says. Values within one turn are looked at: others that differ by
        full turns reach the same. Gaps shorter than a 256th of the range may be overlooked.

        Args:
            target: A pose.

        Raises:
            InvalidInputError: The arm or the target has no redundancy.

        Example:
            >>> arm = Chain.load("iiwa14")
            >>> arm.redundancy_intervals(arm.fk(arm.random(seed=1))).shape[1]
            2
        """
        return redundancy_intervals(self.arm, target)

    def solve_path(
        self,
        targets: Targets,
        start: JointValues | None = None,
        config: SolveConfig = DEFAULT_SOLVE_CONFIG,
        max_step: float | None = None,
        seed: int = 0,
        progress: bool = False,
        *,
        scene: Scene | None = None,
        margin: float = 0.0,
        self_collision: bool = True,
    ) -> IKPath:
        """Joint values along a path, each solve starting at the solution before.

        Args:
            targets: Targets in order, all of one kind: a list, or many as for ``solve_batch``.
            start: As for ``solve``. None: the solution of the first target from
                which the path can be followed best.
            config: As for ``solve``.
            max_step: Largest change of any joint between neighbours, and from a given start to
                the first target [rad, m]. Where no solution found keeps to it, that is a jump.
            seed: As for ``solve``.
            progress: Whether to show progress on standard error; without a start several times,
                once for each start that is tried.
            scene: As for ``solve``, and so are the next two.
            margin: The least distance to keep [m].
            self_collision: Whether the arm must not touch itself.

        Returns:
            The results, at which targets a jump was forced, and on which ways between targets
            something touches.

        Example:
            >>> arm = Chain.load("panda")
            >>> path = arm.solve_path([[0.4, 0.0, 0.4], [0.4, 0.1, 0.4], [0.4, 0.2, 0.4]])
            >>> path.converged, path.jumps
            (True, ())
        """
        first, check = self._values("start", start), self._check(scene, margin, self_collision)
        return solve_path(self.arm, targets, first, config, max_step, seed, progress, check)

    def clearance(
        self,
        q: JointValues,
        scene: Scene | None = None,
        *,
        self_collision: bool = True,
        threads: int | None = None,
    ) -> float | Floats:
        """Least distance of the arm from obstacles and from itself [m]; negative if it touches.

        It is the distance of its spheres. What is fixed to the base is not compared with obstacles,
        and links two apart, which are always close, count only where they touch.

        Args:
            q: As for ``fk``: (n,) one configuration, or (k, n) many.
            scene: Obstacles; None: the arm itself only.
            self_collision: Whether the arm's distance from itself counts.
            threads: For many configurations; None: one for every core.

        Returns:
            A number, or (k,) for many; infinite if there is nothing to touch.

        Raises:
            InvalidInputError: The arm's ``geometry`` is unknown, or ``q`` does not fit.

        Example:
            >>> from jointwise import Scene
            >>> arm = Chain.load("panda", geometry=True)
            >>> wall = Scene().box([0.1, 2.0, 2.0], [0.8, 0.0, 0.0], name="wall")
            >>> round(arm.clearance(arm.home, wall, self_collision=False), 3)
            0.091
        """
        from jointwise.solvers.collision import clearance

        check = self._required_check(scene, 0.0, self_collision)
        return clearance(check, self.arm, self._values("q", q), threads)

    def free(
        self,
        q: JointValues,
        scene: Scene | None = None,
        margin: float = 0.0,
        *,
        self_collision: bool = True,
        threads: int | None = None,
    ) -> bool | Bools:
        """Whether the clearance is no less than the margin; several times as fast as to compute it.

        Args:
            q: As for ``clearance``.
            scene: Likewise.
            margin: The least distance to keep [m].
            self_collision: Likewise.
            threads: Likewise.

        Returns:
            A boolean, or (k,) for many.

        Example:
            >>> from jointwise import Scene
            >>> arm = Chain.load("panda", geometry=True)
            >>> wall = Scene().box([0.1, 2.0, 2.0], [0.8, 0.0, 0.0], name="wall")
            >>> arm.free(arm.home, wall), arm.free(arm.random(seed=1, count=4), wall)
            (True, array([False,  True,  True,  True]))
        """
        from jointwise.solvers.collision import is_free

        check = self._required_check(scene, margin, self_collision)
        return is_free(check, self.arm, self._values("q", q), threads)

    def _check(
        self, scene: Scene | None, margin: float, self_collision: bool
    ) -> CollisionCheck | None:
        """What a solution must not touch; collisions are imported only if there may be any."""
        nothing = scene is None and self.geometry is None
        if nothing and type(margin) is float and margin == 0.0 and self_collision is True:
            return None
        from jointwise.solvers.collision import collision_check

        return collision_check(self.arm, self.geometry, scene, margin, self_collision)

    def _required_check(
        self, scene: Scene | None, margin: float, self_collision: bool
    ) -> CollisionCheck | None:
        if scene is None and self.geometry is None:
            raise InvalidInputError(
                "the arm has no geometry, by which collisions are found: expected an arm whose "
                "spheres are known, such as Chain.load(name, geometry=True) or "
                "Chain.from_urdf(source, geometry=True)."
            )
        from jointwise.solvers.collision import NO_OBSTACLES, collision_check

        given = NO_OBSTACLES if scene is None else scene
        return collision_check(self.arm, self.geometry, given, margin, self_collision)

    def trace(
        self,
        target: Target,
        start: JointValues | None = None,
        config: SolveConfig = DEFAULT_SOLVE_CONFIG,
    ) -> Trace:
        """The first attempt of a solve, with every joint's move of every sweep.

        Args:
            target: As for ``solve``.
            start: As for ``solve``.
            config: As for ``solve``.

        Example:
            >>> trace = Chain.load("panda").trace([0.4, 0.2, 0.5])
            >>> trace.sweeps, trace.converged
            (3, True)
        """
        return trace(self.arm, target, self._values("start", start), config)

    def track(
        self,
        start: JointValues,
        dt: float,
        *,
        max_velocity: ArrayLike,
        max_acceleration: ArrayLike,
        max_jerk: ArrayLike | None = None,
        rest: JointValues | None = None,
    ) -> Tracker:
        """A tracker: follows a target that moves, step by step, within limits of the motion.

        Args:
            start: (n,) where the arm is, at rest [rad, m], or a mapping of joint names. From
                outside the limits it is brought in.
            dt: Time of a step [s].
            max_velocity: Limit of the velocity of all joints, or (n,) of each [rad/s, m/s].
            max_acceleration: Limit of the change of velocity, likewise [rad/s², m/s²].
            max_jerk: Limit of the change of acceleration, likewise [rad/s³, m/s³]. None: no limit.
            rest: Joint values that the spare motion of a redundant arm goes to [rad, m]. None: the
                start, or the nearest values that are away from the limits.

        Raises:
            InvalidInputError: Something about the input is wrong; the text says what.

        Example:
            >>> from jointwise import robots
            >>> arm = robots.panda()
            >>> tracker = arm.track(arm.home, 0.001, max_velocity=2.0, max_acceleration=10.0)
            >>> tracker.step([0.4, 0.2, 0.5]).status.name
            'SLOWED'
        """
        first, last = self._values("start", start), self._values("rest", rest)
        motion = motion_limits(self.limits, dt, max_velocity, max_acceleration, max_jerk)
        return track(self.arm, first, motion, last)

    def _values(self, name: str, values: JointValues | None) -> Any:
        """Joint values in the order of the joints; a mapping is by their names."""
        return ordered_values(name, values, self.arm, self.names)

    def __repr__(self) -> str:
        return f"<Chain of {checks.quantity(self.n, 'joint')}: {', '.join(self.names)}>"

    def __str__(self) -> str:
        return table(self.arm, self.names, self.rows, self.modified)
