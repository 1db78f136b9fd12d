"""Planning: plans of arms and whole robots, proven free of collisions."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from numpy.typing import ArrayLike

from jointwise.config import DEFAULT_SOLVE_CONFIG, SolveConfig, check_config
from jointwise.jointed import Jointed, ModelTarget, ModelTargets
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.model.joint_values import JointValues
from jointwise.model.kinematic_tree import TreeModel
from jointwise.posture import Posture, check_posture
from jointwise.problem import Problem

if TYPE_CHECKING:
    from jointwise.engines.planning.tasks import PlanModel
    from jointwise.results.plan import Plan, PlanDetails

# One target, or alternatives of which any one is reached.
PlanTarget: TypeAlias = ModelTarget | ModelTargets
# Default limit of the samples of a plan.
MAX_SAMPLES = 100_000
# Number of models whose packed data for plans is cached.
MAX_PLANNED = 16


class Planning(Jointed):
    """A model that plans motions in its scene."""

    __slots__ = ()

    def plan(
        self,
        target: PlanTarget | None = None,
        start: JointValues | None = None,
        *,
        q: JointValues | None = None,
        posture: Posture | None = None,
        config: SolveConfig = DEFAULT_SOLVE_CONFIG,
        max_samples: int = MAX_SAMPLES,
        shortcuts: bool = True,
    ) -> Plan:
        """Plan a path from a start to a target, proven free of collisions.

        Two trees of configurations grow from the start and from the solutions of the target until
        they meet (RRT-Connect). Every edge, the straight motion between two configurations, is
        proven free, not only checked at sample points. The same seed gives the same path. In a
        robot, only the joints between the base and links with targets move; the base and all other
        joints stay.

        Args:
            target: As for ``solve``. Several in a list or an array, such as grasps, are
                alternatives: any one of them is reached, and ``target_index`` of the plan tells
                which. For a robot, a mapping of link names to targets, or a list of mappings.
            start: (n,) the current joint values [rad, m], or a mapping of some joint names; other
                joints start at ``home``. It must be inside the limits.
            q: Joint values to reach instead of a target: (n,), (k, n) alternatives, or a mapping of
                joint names; other joints then end where they start.
            posture: Only its ``active`` joints move; its joint values are preferred at the target.
            config: Tolerances of the target, and the seed.
            max_samples: Samples after which planning ends without a path. 0: only the straight
                edge to the nearest solution is tried.
            shortcuts: Whether to shorten the path by edges that are proven free.

        Returns:
            The path; ``found`` tells whether there is one, and ``status`` why not. A start or a
            target that collides does not raise.

        Raises:
            InvalidInputError: The model has no scene or has closed loops, the start is outside the
                limits, or other input is invalid; the text says which.

        Example:
            >>> from jointwise import Chain, Scene
            >>> table = Scene().box([1.0, 2.0, 0.04], [0.5, 0.0, -0.02], name="table")
            >>> arm = Chain.load("panda").with_scene(table)
            >>> plan = arm.plan([0.4, 0.3, 0.3], start=arm.home)
            >>> plan.found, bool((plan.waypoints[0] == arm.home).all())
            (True, True)
        """
        from jointwise.engines.planning.planner import make_plan

        model = self._plan_model(posture, config, max_samples, shortcuts)
        return make_plan(model.task(target, start, q))

    def plan_batch(
        self,
        targets: ModelTargets | None = None,
        starts: JointValues | None = None,
        *,
        q: ArrayLike | None = None,
        posture: Posture | None = None,
        config: SolveConfig = DEFAULT_SOLVE_CONFIG,
        max_samples: int = MAX_SAMPLES,
        shortcuts: bool = True,
        threads: int | None = None,
    ) -> list[Plan]:
        """Plan many motions on several threads; each is bit-for-bit the result of ``plan``.

        Args:
            targets: As for ``solve_batch``, one per plan; a list may also hold lists of
                alternatives.
            starts: (n,) for all, a mapping of joint names, or (m, n) one for each [rad, m].
            q: (m, n) joint values to reach instead of targets [rad, m].
            posture: As for ``plan``.
            config: As for ``plan``.
            max_samples: Samples after which each plan ends without a path.
            shortcuts: As for ``plan``.
            threads: Threads to use. None: one for every core.

        Returns:
            The plans, in order; an invalid row has the status ``INVALID``.

        Example:
            >>> from jointwise import Chain
            >>> arm = Chain.load("ur5e").with_scene()
            >>> targets = arm.fk(arm.home + [[0.1] * 6, [-0.1] * 6])
            >>> [plan.status.name for plan in arm.plan_batch(targets, arm.home)]
            ['PLANNED', 'PLANNED']
        """
        from jointwise.engines.planning.batch import make_plans
        from jointwise.engines.planning.tasks import batch_tasks

        model = self._plan_model(posture, config, max_samples, shortcuts)
        return make_plans(batch_tasks(model, targets, starts, q), threads)

    def _plan_model(
        self, posture: Posture | None, config: SolveConfig, max_samples: int, shortcuts: bool
    ) -> PlanModel:
        """The checked input that all plans of a call share."""
        from jointwise.engines.planning.planner import PlanOptions
        from jointwise.engines.planning.tasks import PlanModel

        samples, shortens = (
            checks.count("max_samples", max_samples),
            checks.flag("shortcuts", shortcuts),
        )
        options = PlanOptions(samples, shortens, config)
        check_config(config)
        check_posture(posture)
        self._check_open("plan")
        numbers, held = self._numbers, posture
        if isinstance(numbers, TreeModel) and numbers.free_base:  # the base stays
            held = replace(posture or Posture(), active=self.joint_names)

        def problem(target: Any, start: Floats) -> Problem:
            return self._problem(target, False, start, held, config)

        edges, details = _plan_parts(self)
        return PlanModel(
            numbers, self._noun, self._values, problem, edges, posture, options, details
        )


@lru_cache(MAX_PLANNED)
def _plan_parts(model: Planning) -> tuple[Floats, PlanDetails]:
    """A model and its scene packed for edge checks, and the details that its plans need."""
    from jointwise.engines.edges.packing import packed_edges
    from jointwise.results.plan import PlanDetails

    check, base_pose = model._check(), model._moved_base()
    edges = check.packed_edges
    if edges is None:  # a free base stays where it is
        assert model._collision_model is not None
        base = None if base_pose is None else tuple(base_pose.ravel().tolist())
        edges = packed_edges(model._collision_model, base)
    return edges, PlanDetails(model.joint_names, model.max_velocity, check, base_pose)
