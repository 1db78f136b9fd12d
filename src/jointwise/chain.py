"""Chain: a robot arm to ask things of."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Union, cast

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from jointwise import checks, data, dhfile, gpu, kernels, urdf
from jointwise.arm import Arm, arm_from, chained, check_rows, dh_halves, kinds_of, rows_of
from jointwise.batch import Device, solve_batch, wants_gpu
from jointwise.config import DEFAULT_SOLVE_CONFIG, SolveConfig
from jointwise.errors import DimensionMismatchError, InvalidInputError
from jointwise.joints import DHJoint
from jointwise.kernels import LOWER, REVOLUTE, UPPER, Floats
from jointwise.path import IKPath, solve_path
from jointwise.results import IKBatch, IKResult
from jointwise.solve import solutions, solve
from jointwise.table import table
from jointwise.targets import Target, Targets
from jointwise.trace import Trace, trace
from jointwise.urdf_xml import Source

if TYPE_CHECKING:
    from scipy.spatial.transform import RigidTransform

Pose = Union[ArrayLike, "RigidTransform"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Chain:
    """A robot arm: joints in a row, from base to tip. Made by ``Chain.from_dh`` and its like.

    Attributes:
        arm: The arm in numbers.
        names: One name per joint.
        rows: The DH rows it was made of; of another origin, none.
        modified: Whether the rows are Craig's.

    Example:
        >>> from jointwise import Chain, puma560
        >>> arm = Chain.from_dh(puma560())
        >>> target = arm.fk([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
        >>> arm.solve(target).converged
        True
    """

    arm: Arm
    names: tuple[str, ...]
    rows: tuple[DHJoint, ...] = ()
    modified: bool = False

    @classmethod
    def from_dh(
        cls,
        rows: Iterable[DHJoint],
        limits: ArrayLike | None = None,
        base: Pose | None = None,
        tool: Pose | None = None,
        names: Sequence[str] | None = None,
    ) -> "Chain":
        """An arm of standard Denavit-Hartenberg rows.

        Args:
            rows: From base to tip; a row is ``Rz(theta) · Tz(d) · Tx(a) · Rx(alpha)``.
            limits: (n, 2) lower and upper value of each joint [rad, m]; infinite where free.
                None: all free.
            base: Pose of the first row's frame in the base frame, (4, 4) or ``RigidTransform``.
            tool: Pose of the tip in the last row's frame.
            names: One name per joint; ``joint1``, ``joint2``, ... if not given.

        Raises:
            InvalidInputError: Something does not fit; the text says what.
        """
        joints = rows_of(rows)
        check_rows(joints)
        along_z, along_x = dh_halves(joints)
        links = chained(along_z, along_x)
        return cls._from_rows(links, joints, False, limits, base, tool, names)

    @classmethod
    def from_mdh(
        cls,
        rows: Iterable[DHJoint],
        limits: ArrayLike | None = None,
        base: Pose | None = None,
        tool: Pose | None = None,
        names: Sequence[str] | None = None,
    ) -> "Chain":
        """An arm of modified Denavit-Hartenberg rows, Craig's convention.

        A row is ``Rx(alpha) · Tx(a) · Rz(theta) · Tz(d)``: its ``a`` and ``alpha`` act before its
        motion. Everything else as in ``from_dh``.
        """
        joints = rows_of(rows)
        check_rows(joints)
        along_z, along_x = dh_halves(joints)
        nothing = np.broadcast_to(np.eye(4), along_z.shape)
        links = chained(along_x @ along_z, nothing)
        return cls._from_rows(links, joints, True, limits, base, tool, names)

    @classmethod
    def from_table(
        cls,
        path: str | PathLike[str],
        convention: dhfile.Convention | None = None,
        angles: dhfile.Angles | None = None,
    ) -> "Chain":
        """An arm of the DH table in a file, as textbooks and data sheets print it.

        A CSV file has a line of titles and a row a joint; the titles are some of ``name``,
        ``type``, ``theta``, ``d``, ``a``, ``alpha``, ``lower``, ``upper``. A TOML file has the
        same as ``joints``, a list of tables, and may say ``convention`` and ``angles`` itself,
        and ``base`` and ``tool``, each by ``xyz`` and ``rpy``. Numbers left out are 0, limits
        left out are none; lengths are metres.

        Args:
            path: A ``.toml`` or ``.csv`` file.
            convention: ``"standard"`` or ``"modified"`` rows; standard if nothing is said.
            angles: ``"radians"`` or ``"degrees"``; radians if nothing is said.

        Raises:
            InvalidInputError: The file cannot be read; the text says which row and what is wrong.
        """
        rows, modified, limits, base, tool, names = dhfile.read(path, convention, angles)
        make = cls.from_mdh if modified else cls.from_dh
        return make(rows, limits, base, tool, names)

    @classmethod
    def from_urdf(cls, source: Source, base: str | None = None, tip: str | None = None) -> "Chain":
        """An arm from a URDF: the joints between two of its links.

        Fixed joints are folded, meshes and masses are not looked at. Joints that mimic others,
        ``floating`` and ``planar`` ones are refused if they stand between base and tip.

        Args:
            source: A path, an open file, or the text itself.
            base: The link that stands still. None: the only choice there is.
            tip: The link to be moved about. None: the only choice there is.

        Raises:
            InvalidInputError: It is no URDF, or there is more than one choice; the text names them.
        """
        links, kinds, limits, names = urdf.read(source, base, tip)
        called = checks.names(names, len(names))
        return cls(arm_from(links, kinds, *checks.limits(limits, called)), called)

    @classmethod
    def load(
        cls, name: str | PathLike[str], base: str | None = None, tip: str | None = None
    ) -> "Chain":
        """A robot by its name, as ``jointwise.robots`` lists them, or an arm from a file.

        Args:
            name: A robot's name, or the path of a ``.urdf``, ``.toml`` or ``.csv`` file.
            base: For a URDF: as for ``from_urdf``.
            tip: Likewise.

        Example:
            >>> Chain.load("panda").n
            7
        """
        file = data.find(name)
        if file.suffix.lower() not in (".toml", ".csv"):
            return cls.from_urdf(file, base, tip)
        if base is not None or tip is not None:
            raise InvalidInputError(f"base and tip are for a URDF: {file.name} is a DH table.")
        return cls.from_table(file)

    @classmethod
    def _from_rows(
        cls,
        links: Floats,
        rows: tuple[DHJoint, ...],
        modified: bool,
        limits: ArrayLike | None,
        base: Pose | None,
        tool: Pose | None,
        names: Sequence[str] | None,
    ) -> "Chain":
        if base is not None:
            links[0] = checks.frame("base", base)[:3] @ _square(links[0])
        if tool is not None:
            links[-1] = links[-1] @ checks.frame("tool", tool)
        called = checks.names(names, len(rows))
        lower, upper = checks.limits(limits, called)
        return cls(arm_from(links, kinds_of(rows), lower, upper), called, rows, modified)

    @property
    def n(self) -> int:
        """How many joints it has."""
        return len(self.names)

    @property
    def limits(self) -> Floats:
        """(n, 2) lower and upper value of each joint [rad, m]; infinite where free. Read-only."""
        limits = self.arm.bounds[:, [LOWER, UPPER]]
        limits.setflags(write=False)
        return limits

    @property
    def reach(self) -> float:
        """No point farther than this from the first joint can be reached [m]; an upper bound."""
        return self.arm.reach

    @property
    def home(self) -> Floats:
        """(n,) the middle of each joint's range, 0 where it has none. Read-only."""
        return self.arm.home

    def with_limits(self, limits: ArrayLike | None) -> "Chain":
        """The same arm with other limits, given as in ``from_dh``."""
        lower, upper = checks.limits(limits, self.names)
        return replace(self, arm=arm_from(self.arm.links, self.arm.kinds, lower, upper))

    def with_tool(self, tool: Pose) -> "Chain":
        """The same arm with something more at its tip: ``tool`` is the new tip in the old one."""
        links = self.arm.links.copy()
        links[-1] = links[-1] @ checks.frame("tool", tool)
        return replace(self, arm=arm_from(links, self.arm.kinds, *self.limits.T))

    def to_urdf(self, name: str = "arm") -> str:
        """The arm as the text of a URDF, for other tools: joints and limits from base to tip.

        Its links are ``base_link``, ``link1``, ``link2``, ... and ``tip``. Numbers are written in
        full, so ``Chain.from_urdf`` gives the same arm back. Effort and velocity, of which nothing
        is known here, are large.

        Args:
            name: The robot's name.
        """
        return urdf.write(self.arm, self.names, name)

    def random(self, seed: int, count: int | None = None) -> Floats:
        """Joint values drawn evenly between the limits, from within a turn where there are none.

        Args:
            seed: The same seed gives the same values.
            count: None for one configuration, (n,); else (count, n).
        """
        rng = np.random.default_rng(checks.seed(seed))
        lower, upper = self.limits.T
        half = np.where(self.arm.kinds == REVOLUTE, np.pi, 5.0 * self.arm.length)
        free = np.isinf(upper - lower)
        low = np.where(free, np.maximum(lower, self.home - half), lower)
        high = np.where(free, np.minimum(upper, self.home + half), upper)
        shape = (self.n,) if count is None else (checks.count("count", count), self.n)
        return rng.uniform(low, high, shape)

    def fk(self, q: ArrayLike, device: Device = "cpu") -> Floats:
        """Where the tip is: ``T_base_tip``.

        Args:
            q: (n,) one value per joint [rad, m], or (k, n) for many configurations.
            device: For many, as for ``solve_batch``: what is on a GPU stays there.

        Returns:
            (4, 4) the tip's pose in the base frame, or (k, 4, 4).
        """
        if checks.on_gpu(q):
            values = gpu.array("q", q)
            if values.ndim != 2 or values.shape[1] != self.n:
                raise DimensionMismatchError(
                    f"q is on the GPU with shape {values.shape}: expected (k, {self.n})."
                )
            return cast(Floats, gpu.handed_back(gpu.poses(self.arm.block, values), q))
        values = checks.workable("q", checks.configurations("q", q, self.n))
        many = values.reshape(-1, self.n)
        poses = np.empty((len(many), 4, 4))
        if wants_gpu(device):
            gpu.poses(self.arm.block, gpu.there(many)).copy_to_host(poses)
        else:
            kernels.fk.tip_poses(self.arm.block, many, poses)
        return poses if values.ndim == 2 else poses[0]

    def frames(self, q: ArrayLike) -> Floats:
        """(n, 4, 4) the frame that each joint carries, in the base frame; z is the joint's axis.

        Args:
            q: (n,) one value per joint [rad, m].
        """
        values = checks.workable("q", checks.joint_values("q", q, self.n))
        frames = np.zeros((self.n, 4, 4))
        links, kinds, _, _ = kernels.parts(self.arm.block, self.n)[0]
        kernels.fk.joint_frames(links, kinds, values, frames[:, :3])
        frames[:, 3, 3] = 1.0
        return frames

    def jacobian(self, q: ArrayLike) -> Floats:
        """(6, n) how each joint moves the tip: velocity over turning velocity, base frame.

        Args:
            q: (n,) one value per joint [rad, m].
        """
        frames = self.frames(q)
        axes, origins = frames[:, :3, 2], frames[:, :3, 3]
        turns = (self.arm.kinds == REVOLUTE)[:, None]
        linear = np.where(turns, np.cross(axes, self.fk(q)[:3, 3] - origins), axes)
        return np.concatenate([linear, np.where(turns, axes, 0.0)], axis=1).T

    def solve(
        self,
        target: Target,
        start: ArrayLike | None = None,
        config: SolveConfig = DEFAULT_SOLVE_CONFIG,
        seed: int = 0,
    ) -> IKResult:
        """Where the joints must go so that the tip is at the target.

        Args:
            target: (3,) a position [m], (4, 4) a pose, a SciPy ``RigidTransform``, or an ``aim``;
                in the base frame.
            start: (n,) where the arm is [rad, m]: the answer stays near it if it can, as it is
                tried first, then its neighbourhood, then everywhere. Values outside the limits
                are brought inside first. None: begin in the middle of the ranges.
            config: What is good enough, and how to get there.
            seed: Where the sequence of fresh starts begins.

        Returns:
            The best answer found, inside the limits. Look at ``converged`` and ``status``: a
            target that cannot be reached is an answer, not an exception.

        Raises:
            InvalidInputError: Something about the input is wrong; the text says what.
        """
        return solve(self.arm, target, start, config, seed)

    def solve_batch(
        self,
        targets: Targets,
        starts: ArrayLike | None = None,
        config: SolveConfig = DEFAULT_SOLVE_CONFIG,
        seed: int = 0,
        device: Device = "cpu",
        dtype: DTypeLike = np.float64,
        threads: int | None = None,
        progress: bool = False,
        closest: bool = True,
    ) -> IKBatch:
        """Where the joints must go for each of many targets: the same answers as ``solve`` gives.

        An answer depends on its own row and the seed alone: bit for bit the same whatever stands
        in the other rows, and on any number of threads. A GPU rounds in another way, so that in
        float64 one answer in a thousand may be another. The first call compiles for a while.

        Args:
            targets: (m, 3) positions [m], (m, 4, 4) poses, a SciPy ``RigidTransform`` of many, or
                an ``aim`` of many; in the base frame. A row that cannot be computed with is marked
                ``Status.INVALID``; the others are solved. Arrays of CuPy, PyTorch or JAX that are
                on a GPU are solved there, and the answers come back as such arrays.
            starts: (n,) for all or (m, n) one for each [rad, m]. None: the middle of the ranges.
            config: As for ``solve``, without a rest posture and the method ``"ccd"``.
            seed: As for ``solve``.
            device: ``"cpu"``, ``"cuda"`` for a GPU, or ``"auto"`` for a GPU if there is one.
            dtype: What a GPU computes with, float64 or float32. Whether an answer has converged is
                looked at in float64 always.
            threads: How many cores to use. None: all.
            progress: Whether to show how far it is, on standard error.
            closest: Whether a target that is not reached gets its closest approach and the reason,
                as ``solve`` gives them: one such takes as long as a thousand that are reached.
                Else its joint values are its start, brought inside the limits, its errors NaN, and
                ``STALLED`` stands for ``BLOCKED``, too.

        Raises:
            InvalidInputError: Something about the input is wrong; the text says what.
        """
        return solve_batch(
            self.arm, targets, starts, config, seed, device, dtype, threads, progress, closest
        )

    def solutions(
        self,
        target: Target,
        count: int = 8,
        config: SolveConfig = DEFAULT_SOLVE_CONFIG,
        seed: int = 0,
    ) -> list[IKResult]:
        """Distinct answers: first the one nearest to home, then each the farthest from the rest.

        Answers that differ only by whole turns are the same. An arm with six joints has at most
        sixteen, one with more has any number.

        Args:
            target: As for ``solve``.
            count: How many at most.
            config: As for ``solve``.
            seed: Where the sequence of starts begins.

        Returns:
            At most ``count`` converged results; none if none was found.
        """
        return solutions(self.arm, target, count, config, seed)

    def solve_path(
        self,
        targets: Sequence[Target],
        start: ArrayLike | None = None,
        config: SolveConfig = DEFAULT_SOLVE_CONFIG,
        max_step: float | None = None,
        seed: int = 0,
        progress: bool = False,
    ) -> IKPath:
        """Joint values along a path, each answer going on from the one before.

        Args:
            targets: What to reach in turn, all of one kind, each as for ``solve``.
            start: (n,) where the arm is [rad, m]. None: the path begins where it can be
                followed best.
            config: As for ``solve``.
            max_step: The largest change of any joint between neighbours, and from a given start
                to the first target [rad, m]. Where no answer found keeps to it, that counts as a
                jump.
            seed: As for ``solve``.
            progress: Whether to show how far it is, on standard error; of a path without a start,
                several times over, for the ways to begin it.

        Returns:
            The answers, and at which targets a jump was forced.
        """
        return solve_path(self.arm, targets, start, config, max_step, seed, progress)

    def trace(
        self,
        target: Target,
        start: ArrayLike | None = None,
        config: SolveConfig = DEFAULT_SOLVE_CONFIG,
    ) -> Trace:
        """The first attempt of a solve in slow motion: every joint's move of every sweep.

        Args:
            target: As for ``solve``.
            start: As for ``solve``.
            config: As for ``solve``.
        """
        return trace(self.arm, target, start, config)

    def __repr__(self) -> str:
        return f"<Chain of {self.n} joints: {', '.join(self.names)}>"

    def __str__(self) -> str:
        return table(self.arm, self.names, self.rows, self.modified)


def _square(link: Floats) -> Floats:
    return np.vstack([link, [0.0, 0.0, 0.0, 1.0]])
