"""Many paths of a robot, followed on a GPU at once; the CPU repairs frames that are missed."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from jointwise.backends import cuda_trees
from jointwise.backends.threads import thread_count
from jointwise.config import SolveConfig, criteria_of
from jointwise.engines.path_limits import PathLimits
from jointwise.engines.tree.follow import Begun, begin, finish, first_criteria, turn_near
from jointwise.engines.tree.frames import FRAME_LIMITS
from jointwise.engines.tree.request import Request
from jointwise.engines.tree.solve import result_arrays, some_rows
from jointwise.kernels.layout.arrays import Floats, Ints
from jointwise.kernels.layout.tree import SETTING_MAX_CHANGE, TreeResults, TreeRows
from jointwise.posture import Posture
from jointwise.problem import Problem


class Clips(NamedTuple):
    """Paths with targets of the same links.

    Attributes:
        request: The targets of all paths, one path after the other; of each, at least one.
        rows: Those of each path.
        limits: Velocity limits of each path.
        config: Tolerances, and restarts of the first set of a path.
        smoothness: Weight of the change of the joints.
        has_start: Whether a start was given.
    """

    request: Request
    rows: list[slice]
    limits: list[PathLimits]
    config: SolveConfig
    smoothness: float
    has_start: bool

    def of(self, i: int) -> Request:
        """The targets of a path."""
        return self.request._replace(targets=self.request.targets[self.rows[i]])

    @property
    def is_timed(self) -> bool:
        """Whether velocities are limited, in all paths or in none."""
        return self.limits[0].is_timed


def joined(problems: Sequence[Problem]) -> tuple[Problem, list[slice]]:
    """Problems with targets of the same links as one, and the rows of each."""
    ends = np.cumsum([0, *(len(each.targets[0].values) for each in problems)]).tolist()
    targets = tuple(
        target._replace(values=np.concatenate([each.targets[k].values for each in problems]))
        for k, target in enumerate(problems[0].targets)
    )
    rows = [slice(*pair) for pair in pairwise(ends)]
    return problems[0]._replace(targets=targets), rows


def alike(problem: Problem, limits: PathLimits) -> object:
    """A key that is equal for paths that can be joined."""
    kinds = [
        (each.kind, each.weight, None if each.point is None else tuple(each.point), each.to)
        for each in problem.targets
    ]
    start, base = map(_bytes_of, (problem.start, problem.base_pose))
    same = id(problem.model), id(problem.config), _key_of(problem.posture)
    return *same, problem.links, tuple(kinds), start, base, limits.is_timed


def _key_of(posture: Posture | None) -> object:
    """A key that is equal for equal postures."""
    if posture is None:
        return None
    active = None if posture.active is None else tuple(posture.active)
    return _bytes_of(posture.q), posture.weight, active, posture.smoothness


def _bytes_of(values: Any) -> bytes | None:
    return None if values is None else np.asarray(values).tobytes()


def follow_clips(clips: Clips) -> TreeResults:
    """Follow paths, each as ``follow`` does: the results of all, one after the other."""
    begun, tree = _begun(clips), clips.request.tree
    results = result_arrays(clips.request)
    settings = np.array([_settings(each) for each in begun])
    for rows, each in zip(clips.rows, begun, strict=True):
        results.states[rows.start] = each.state
    if (settings == settings[0]).all():
        settings = settings[:1]
    criteria, offsets = begun[0].frames.criteria, np.array([0, *(s.stop for s in clips.rows)])
    packed = TreeRows(tree.ints, tree.floats, clips.request.targets, criteria, settings)
    cuda_trees.follow_clips(packed, offsets, (*FRAME_LIMITS, begun[0].from_start), results)

    def repair(i: int) -> None:
        part = some_rows(results, clips.rows[i])
        better = finish(begun[i], part, clips.config, clips.limits[i], None)
        for own, found in zip(part, better, strict=True):
            if found is not own:
                own[...] = found

    with ThreadPoolExecutor(thread_count(None)) as pool:
        list(pool.map(repair, range(len(begun))))
    return results


def _begun(clips: Clips) -> list[Begun]:
    """The first state of each path."""
    more = clips.smoothness, clips.has_start, None
    if (clips.has_start and clips.is_timed) or clips.request.has_preference:
        return [
            begin(clips.of(i), clips.config, limits, *more, None)
            for i, limits in enumerate(clips.limits)
        ]
    states, restarts = _first_states(clips)
    return [
        begin(clips.of(i), clips.config, limits, *more, states[i])._replace(
            restarts=int(restarts[i])
        )
        for i, limits in enumerate(clips.limits)
    ]


def _first_states(clips: Clips) -> tuple[Floats, Ints]:
    """(c, v+12) the state near which the first set of each path is followed, and its restarts."""
    request, tree = clips.request, clips.request.tree
    criteria = first_criteria(criteria_of(clips.config, clips.has_start))
    firsts = request._replace(targets=request.targets[[rows.start for rows in clips.rows]])
    results = result_arrays(firsts)
    packed = TreeRows(tree.ints, tree.floats, firsts.targets, criteria, request.settings[None])
    cuda_trees.solve_rows(packed, request.states, results)
    for state in results.states:
        turn_near(request, state)
    return results.states, results.outcomes[:, 2]


def _settings(begun: Begun) -> Floats:
    """(6, v) the settings of a path, with the largest change between its frames."""
    settings = begun.frames.settings.copy()
    settings[SETTING_MAX_CHANGE] = begun.frames.largest_change(0)
    return settings
