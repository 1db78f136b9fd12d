"""Verbs: the methods that arms and whole robots share."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from jointwise.backends.device_arrays import is_on_gpu
from jointwise.config import DEFAULT_SOLVE_CONFIG, SolveConfig
from jointwise.engines.choice import engine_for, path_engine
from jointwise.engines.run_options import Device, RunOptions
from jointwise.engines.tree.pruned import active_variables
from jointwise.errors import InvalidInputError
from jointwise.jointed import ModelTarget, ModelTargets
from jointwise.model import checks, millimetres
from jointwise.model.joint_values import JointValues, full_turns, joint_velocities
from jointwise.model.kinematic_tree import TreeModel
from jointwise.path_options import (
    DEFAULT_PATH_OPTIONS,
    PathOptions,
    check_path_options,
    path_options,
)
from jointwise.planning import Planning
from jointwise.posture import Posture, check_posture
from jointwise.problem import Problem

if TYPE_CHECKING:
    from jointwise.engines.tracking.tracker import Tracker
    from jointwise.engines.valid_path import PathProblem
    from jointwise.results.batch import IKBatch
    from jointwise.results.path import IKPath
    from jointwise.results.result import IKResult


class Moving(NamedTuple):
    """How fast a path is; see ``Verbs.solve_path``."""

    times: ArrayLike | None
    max_velocity: JointValues | None
    max_step: float | None


@contextmanager
def naming_path(i: int) -> Iterator[None]:
    """Errors about one of many paths name it."""
    try:
        yield
    except InvalidInputError as error:
        raise type(error)(f"paths[{i}]: {error}") from None


class Verbs(Planning):
    """The methods that ``Chain`` and ``Robot`` share."""

    __slots__ = ()

    # Inverse kinematics

    def solve(
        self,
        target: ModelTarget,
        start: JointValues | None = None,
        *,
        posture: Posture | None = None,
        config: SolveConfig = DEFAULT_SOLVE_CONFIG,
    ) -> IKResult:
        """Inverse kinematics: joint values that bring the end effector, or links, to targets.

        Args:
            target: For an arm, a target of its end effector in the base frame: (3,) a position [m],
                (4, 4) a pose, a SciPy ``RigidTransform``, or a target made by ``pose``,
                ``position``, ``aim``, ``direction`` or ``within``. For a robot, a mapping of link
                names to such targets, in the world frame or in the frame of a link (``relative``).
                The name ``"center_of_mass"`` is for a target of the centre of mass. If targets of a
                robot conflict or are out of reach, the result has the smallest weighted squared
                errors near the start.
            start: (n,) the current joint values [rad, m], or a mapping of some joint names; other
                joints are at ``home``. The start is tried first, then its neighbourhood, then all
                of the joint ranges, so the solution is near the start if possible. Values outside
                the limits are clamped. None: ``home``.
            posture: Preferred joint values, and which joints may move.
            config: Tolerances, and how to search.

        Returns:
            The best result found, inside the limits. ``converged`` tells whether the targets are
            reached, and ``status`` why not. An unreachable target does not raise.

        Raises:
            InvalidInputError: Something about the input is wrong; the text says what.

        Example:
            >>> from jointwise import Chain, Robot
            >>> arm = Chain.load("panda")
            >>> result = arm.solve([0.4, 0.2, 0.5])
            >>> result.converged, arm.fk(result.q)[:3, 3].round(3)
            (True, array([0.4, 0.2, 0.5]))
            >>> Robot.load("ur5e").solve({"tip": [0.3, 0.2, 0.5]}).converged
            True
        """
        if posture is None and type(config) is SolveConfig:  # the most frequent case, and fast
            problem = self._plain_problem(target, start, config)
        else:
            problem = self._problem(target, False, start, posture, config)
        found = engine_for(problem).solve(problem)
        if not found.converged:
            millimetres.check_miss(found.position_error, self._numbers)
        return found

    def solve_batch(
        self,
        targets: ModelTargets,
        starts: JointValues | None = None,
        *,
        posture: Posture | None = None,
        config: SolveConfig = DEFAULT_SOLVE_CONFIG,
        device: Device = "cpu",
        dtype: DTypeLike = np.float64,
        threads: int | None = None,
        progress: bool = False,
    ) -> IKBatch:
        """Solve for many targets at once, with the same results as ``solve``.

        Each row is bit-for-bit the result of a single ``solve``, independent of the rest of the
        batch and of the number of threads. A GPU rounds differently, so in float64 one result in a
        thousand may differ.

        Args:
            targets: For an arm, (m, 3) positions [m], (m, 4, 4) poses, a SciPy ``RigidTransform``
                or a target of many rows, or a list of targets of one kind. For a robot, such
                targets for each of some links, by their names; or m mappings of the same links. An
                invalid row gets ``Status.INVALID`` and NaN as joint values; the others are solved.
                Arrays of CuPy, PyTorch or JAX on a GPU are solved there, and the results are arrays
                of the same library.
            starts: (n,) for all, a mapping of joint names, or (m, n) one for each [rad, m]. None:
                ``home``.
            posture: As for ``solve``.
            config: As for ``solve``.
            device: ``"cpu"``, ``"cuda"`` for a GPU, or ``"auto"`` for a GPU if there is one.
                Preferred joint values, CCD alone, and several targets of a robot with a scene need
                the CPU.
            dtype: Precision on a GPU, float64 or float32; several targets of a robot are solved in
                float64. Convergence is always checked in float64.
            threads: Threads on a CPU. None: one for every core.
            progress: Whether to show progress on standard error.

        Raises:
            InvalidInputError: Something about the input is wrong; the text says what.

        Example:
            >>> from jointwise import Chain
            >>> arm = Chain.load("panda")
            >>> batch = arm.solve_batch(arm.fk(arm.random(seed=1, count=100)))
            >>> batch.q.shape, bool(batch.converged.all())
            ((100, 7), True)
        """
        problem = self._problem(targets, True, starts, posture, config)
        options = RunOptions(device, dtype, threads, progress)
        found = engine_for(problem).solve_batch(problem, options)
        self._check_misses(found)
        return found

    def _check_misses(self, found: IKBatch) -> None:
        """Warn if targets that were not reached look like millimetres."""
        if is_on_gpu(found.status):
            return
        missed = found.position_error[~found.converged]
        if len(missed):
            millimetres.check_miss(float(np.fmax.reduce(missed)), self._numbers)

    def solve_path(
        self,
        targets: ModelTargets,
        start: JointValues | None = None,
        *,
        times: ArrayLike | None = None,
        max_velocity: JointValues | None = None,
        max_step: float | None = None,
        options: PathOptions = DEFAULT_PATH_OPTIONS,
        posture: Posture | None = None,
        config: SolveConfig = DEFAULT_SOLVE_CONFIG,
    ) -> IKPath:
        """Solve a path of targets as a whole, so that joints do not jump.

        An arm with a closed form is solved globally. For every target, all solutions are computed
        at samples of its free directions (``aim``, ``within``), of the redundancy of a seven-joint
        arm, and of external axes. The search finds a path with the fewest breaks and, among paths
        with equally many breaks, the least joint motion. Then it smooths this path. Other arms,
        targets with a posture, and several targets of a robot are followed one by one, each from
        the previous solution. A global path is never worse than one that is followed in this way.
        If a robot misses targets, a few of them are solved again with restarts, and the path
        changes to another branch if it reaches more targets.

        Args:
            targets: Targets in order, as for ``solve_batch``. An invalid one gets
                ``Status.INVALID`` and NaN; the path continues from the last valid one, after a
                break.
            start: As for ``solve``; for a robot with ``times``, the joint values one step before
                the first target. None: an arm starts at the solution of the first target from which
                it follows the path best.
            times: Time between targets [s], or (m,) the time of each. The velocities of the joints
                are then limited. The path of one link breaks where a joint would have to be
                faster; several links of a robot lag behind their targets instead.
            max_velocity: Largest velocity of the joints [rad/s, m/s]: one for all, (n,) or a
                mapping of joint names. None: those of the model.
            max_step: Largest change of any joint between neighbours, and from a given start to the
                first target [rad, m]. If no solution found keeps this limit, the path breaks.
            options: Whether the path is closed, detours around obstacles, samples of free
                directions, progress, links in contact with the ground, and the device.
            posture: As for ``solve``. Its ``smoothness`` weighs the change of the joints.
            config: As for ``solve``. For several targets of a robot, the first set of targets is
                solved with at most 16 restarts, and missed ones with at most 8.

        Returns:
            The results. ``breaks`` lists where the path is interrupted, ``break_reasons`` has the
            reasons, and ``colliding`` lists the targets for which the motion from the previous
            target collides. ``resolution`` has the spacing of samples: a break means that no better
            path was found at this resolution.

        Raises:
            InvalidInputError: Something about the input is wrong, or the path has more solutions
                than fit in memory; the text says what.

        Example:
            >>> from jointwise import Chain
            >>> arm = Chain.load("panda")
            >>> path = arm.solve_path([[0.4, 0.0, 0.4], [0.4, 0.1, 0.4], [0.4, 0.2, 0.4]])
            >>> bool(path.converged.all()), path.breaks
            (True, ())
        """
        from jointwise.engines.valid_path import follow_on_gpu, follow_valid

        moving = Moving(times, max_velocity, max_step)
        problem = self._path_problem(targets, start, moving, options, posture, config)
        followed = follow_on_gpu([problem])[0]
        path = follow_valid(problem) if followed is None else followed
        return self._solved_path(path, moving, options)

    def _path_problem(
        self,
        targets: ModelTargets,
        start: JointValues | None,
        moving: Moving,
        options: PathOptions,
        posture: Posture | None,
        config: SolveConfig,
    ) -> PathProblem:
        """Check a path, and choose its engine."""
        from jointwise.engines.path_limits import check_closed, path_limits
        from jointwise.engines.valid_path import PathProblem

        check_path_options(options)
        problem = self._problem(targets, True, start, posture, config, path=True)
        times, max_velocity, max_step = moving
        if times is None and max_velocity is not None:
            raise InvalidInputError("max_velocity needs times, the time between targets [s].")
        count, known = len(problem.targets[0].values), self.max_velocity
        if not count:
            raise InvalidInputError("targets is empty: expected at least one target.")
        velocities = joint_velocities(self.joint_names, known, max_velocity)
        limits = path_limits(velocities, count, times, max_step)
        if limits.is_timed:
            self._check_velocities(velocities)
        if options.closed:
            check_closed(problem.targets)
        if options.detours:
            self._check_detours(posture)
        return PathProblem(path_engine(problem, options), problem, limits, options)

    def _solved_path(self, path: IKPath, moving: Moving, options: PathOptions) -> IKPath:
        """A path as it is returned: with its rate, and its detours."""
        self._check_misses(path)
        if moving.times is not None and np.ndim(moving.times) == 0:
            rate = 1.0 / float(np.asarray(moving.times))
            path = replace(path, _details=path._details._replace(rate=rate))
        return self._with_detours(path) if options.detours else path

    def _check_detours(self, posture: Posture | None) -> None:
        """Refuse detours without a scene, or with a base that moves along the path."""
        model = self._numbers
        if self._collision_model is None:
            raise InvalidInputError(
                "detours is True, but there is no scene: call with_scene first."
            )
        active = None if posture is None else posture.active
        if isinstance(model, TreeModel) and active_variables(model, active)[1]:
            raise InvalidInputError(
                "detours is True, but the base of the robot is free, and plans are for a base that "
                "stays: leave detours out, or hold the base with posture=Posture(active=joints)."
            )

    def _with_detours(self, path: IKPath) -> IKPath:
        """The path, with plans where the motion from target to target collides or breaks."""
        between = {*path.colliding, *path.breaks} - {0}
        known = [i for i in sorted(between) if path.converged[i - 1] and path.converged[i]]
        plans = tuple((i, self.plan(q=path.q[i], start=path.q[i - 1])) for i in known)
        return replace(path, _details=path._details._replace(detours=plans))

    def solve_paths(
        self,
        paths: Sequence[ModelTargets],
        start: JointValues | None = None,
        *,
        times: ArrayLike | None = None,
        max_velocity: JointValues | None = None,
        options: PathOptions | Sequence[PathOptions] = DEFAULT_PATH_OPTIONS,
        posture: Posture | None = None,
        config: SolveConfig = DEFAULT_SOLVE_CONFIG,
        threads: int | None = None,
    ) -> list[IKPath]:
        """Solve many paths on several threads or a GPU, each as ``solve_path`` solves one.

        Args:
            paths: The targets of each path; paths may differ in length.
            start: As for ``solve_path``.
            times: Time between targets [s].
            max_velocity: As for ``solve_path``.
            options: As for ``solve_path``: one for all, or a list with one for each path, for
                example with contacts of its own.
            posture: As for ``solve_path``.
            config: As for ``solve_path``.
            threads: Threads to use, each for one path at a time. None: one for every core.

        Returns:
            The solved paths in order, each bit-for-bit the result of ``solve_path``, except on a
            GPU, which rounds differently.

        Example:
            >>> from jointwise import Robot
            >>> robot = Robot.load("ur5e")
            >>> clip = {"tip": [[0.3, 0.2, 0.5], [0.3, 0.21, 0.5]]}
            >>> [len(path) for path in robot.solve_paths([clip, clip])]
            [2, 2]
        """
        if isinstance(paths, Mapping) or not np.iterable(paths):
            raise InvalidInputError(
                f"paths is {checks.short(paths)}: expected a list of paths. For one, use "
                "solve_path."
            )
        from concurrent.futures import ThreadPoolExecutor

        from jointwise.backends.progress import reporting
        from jointwise.backends.threads import thread_count
        from jointwise.engines.valid_path import follow_on_gpu, follow_valid

        every = list(paths)
        each = path_options(options, len(every))
        moving, shown = Moving(times, max_velocity, None), any(one.progress for one in each)

        def problem_of(i: int) -> PathProblem:
            own = replace(each[i], progress=False)
            return self._path_problem(every[i], start, moving, own, posture, config)

        def follow(i: int) -> IKPath:
            with naming_path(i):
                path = followed[i]
                path = follow_valid(problem_of(i)) if path is None else path
                return self._solved_path(path, moving, each[i])

        followed: list[IKPath | None] = [None] * len(every)
        if any(one.device != "cpu" for one in each):
            problems = []
            for i in range(len(every)):
                with naming_path(i):
                    problems.append(problem_of(i))
            followed = follow_on_gpu(problems)
        pool, found = ThreadPoolExecutor(thread_count(threads)), []
        try:
            with reporting(shown, "solving paths", len(every), False) as report:
                for solved in pool.map(follow, range(len(every))):
                    found.append(solved)
                    report(len(found), len(found))
        finally:  # Ctrl-C does not wait for paths that are being followed
            pool.shutdown(wait=False, cancel_futures=True)
        return found

    def track(
        self,
        start: JointValues,
        dt: float,
        *,
        max_velocity: JointValues | None = None,
        max_acceleration: ArrayLike,
        max_jerk: ArrayLike | None = None,
        posture: Posture | None = None,
        switch_branches: bool = False,
    ) -> Tracker:
        """A tracker that follows moving targets step by step, within motion limits.

        The base does not move, even if it is free, because its motion has no limits. With a scene,
        the joints slow down and stop before the model collides with an obstacle or with itself, and
        slide along an obstacle where this brings them closer to the target. A step is made only if
        the joints can provably brake in time after it, so they never collide.

        Args:
            start: (n,) the current joint values, at rest [rad, m], or a mapping of some joint
                names. Joints outside their limits are moved inside.
            dt: Time of a step [s].
            max_velocity: Limit of the velocity of all joints, (n,) of each, or a mapping of joint
                names [rad/s, m/s]. None: those of the model.
            max_acceleration: Limit of the acceleration of all joints, or (n,) [rad/s², m/s²].
            max_jerk: Limit of the jerk of all joints, or (n,) [rad/s³, m/s³]. None: no limit.
            posture: A redundant model uses its self-motion to approach these joint values, and
                only the ``active`` joints may move. A tracker refuses ``weight`` and
                ``smoothness``. None: the start, or the nearest values that are away from the
                limits.
            switch_branches: If the joints have stopped short of a target at rest, and another
                branch reaches it, move there, as after ``switch_branch()``. If False, the status
                reports that there is such a branch.

        Raises:
            InvalidInputError: Something about the input is wrong.

        Example:
            >>> from jointwise import robots
            >>> arm = robots.panda()
            >>> tracker = arm.track(arm.mid_range, 0.001, max_velocity=2.0, max_acceleration=10.0)
            >>> tracker.step([0.4, 0.2, 0.5]).status.name
            'APPROACHING'
        """
        from jointwise.engines.tracking.motion import motion_limits
        from jointwise.engines.tracking.tracker import Tracker, active_joints, away_from_limits

        self._check_open("track")
        check_posture(posture)
        switching = checks.flag("switch_branches", switch_branches)
        first = checks.joint_values("start", self._values("start", start), self.n, self._noun)
        known = self.max_velocity
        velocity = joint_velocities(self.joint_names, known, max_velocity)
        self._check_velocities(velocity)
        limits, turns = self.limits, full_turns(self._numbers)
        motion = motion_limits(limits, turns, dt, velocity, max_acceleration, max_jerk, self._noun)
        preferred = away_from_limits(motion, checks.all_finite("start", first))
        if posture is not None and posture.q is not None:
            given = self._values("posture", posture.q)
            preferred = checks.joint_values("posture", given, self.n, self._noun)
            checks.all_finite("posture", preferred)
        active = active_joints(posture, self._numbers, self.joint_names)
        fields = (self._numbers, self.joint_names, (), (), None, DEFAULT_SOLVE_CONFIG, active)
        problem = Problem(*fields, self._collision_model, self._moved_base())
        return Tracker(problem, self._packed, first, motion, preferred, switching)
