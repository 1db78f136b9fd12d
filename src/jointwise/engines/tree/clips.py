"""Many paths of robots, followed on a GPU at once; what is missed is recovered on the CPU."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from jointwise.backends import cuda_trees
from jointwise.config import SolveConfig, criteria_of
from jointwise.engines.path_limits import PathLimits
from jointwise.engines.tree.follow import Begun, begin, finish, first_criteria, turn_near
from jointwise.engines.tree.frames import FRAME_LIMITS
from jointwise.engines.tree.request import Request
from jointwise.engines.tree.solve import result_arrays, some_rows
from jointwise.kernels.layout.arrays import Floats, Ints
from jointwise.kernels.layout.tree import SETTING_MAX_CHANGE, TreeResults, TreeRows


class Clip(NamedTuple):
    """A path of a robot.

    Attributes:
        request: Its targets, at least one.
        config: Tolerances, and restarts of the first set.
        limits: Velocity limits.
        smoothness: Weight of the change of the joints.
        has_start: Whether a start was given.
    """

    request: Request
    config: SolveConfig
    limits: PathLimits
    smoothness: float
    has_start: bool

    @property
    def is_searched(self) -> bool:
        """Whether the first state is found by a search on the GPU."""
        from_start = self.has_start and self.limits.is_timed
        return not from_start and not self.request.has_preference


def follow_clips(clips: Sequence[Clip]) -> list[TreeResults]:
    """Follow paths, each as ``follow`` does."""
    followed: list[TreeResults | None] = [None] * len(clips)
    groups: dict[object, list[int]] = {}
    for i, clip in enumerate(clips):
        key = id(clip.request.tree), clip.config.tolerances, clip.config.seed, clip.has_start
        more = clip.config.max_restarts, clip.limits.is_timed, clip.is_searched
        groups.setdefault((key, more), []).append(i)
    for members in groups.values():
        found = _follow_group([clips[i] for i in members])
        for i, results in zip(members, found, strict=True):
            followed[i] = results
    return [each for each in followed if each is not None]


def _follow_group(clips: Sequence[Clip]) -> list[TreeResults]:
    """Follow paths of one robot, with targets of the same links."""
    begun = _begun(clips)
    offsets = np.cumsum([0, *(each.frames.size for each in begun)])
    slices = [slice(*pair) for pair in pairwise(offsets)]
    all_targets = np.concatenate([each.frames.request.targets for each in begun])
    tree = begun[0].frames.request.tree
    results = result_arrays(begun[0].frames.request._replace(targets=all_targets))
    settings = np.array([_settings(each) for each in begun])
    for rows, each in zip(slices, begun, strict=True):
        results.states[rows.start] = each.state
    if (settings == settings[0]).all():
        settings = settings[:1]
    packed = TreeRows(tree.ints, tree.floats, all_targets, begun[0].frames.criteria, settings)
    cuda_trees.follow_clips(packed, offsets, (*FRAME_LIMITS, begun[0].from_start), results)
    return [
        finish(each, some_rows(results, rows), clip.config, clip.limits, None)
        for clip, each, rows in zip(clips, begun, slices, strict=True)
    ]


def _begun(clips: Sequence[Clip]) -> list[Begun]:
    """The first state of each path."""
    if not clips[0].is_searched:
        return [begin(*clip, None, None) for clip in clips]
    states, restarts = _first_states(clips)
    return [
        begin(*clip, None, state)._replace(restarts=int(count))
        for clip, state, count in zip(clips, states, restarts, strict=True)
    ]


def _first_states(clips: Sequence[Clip]) -> tuple[Floats, Ints]:
    """(c, v+12) the state near which the first set of each path is followed, and its restarts."""
    first, tree = clips[0], clips[0].request.tree
    criteria = first_criteria(criteria_of(first.config, first.has_start))
    targets = np.concatenate([clip.request.targets[:1] for clip in clips])
    starts = np.concatenate([clip.request.states[:1] for clip in clips])
    settings = np.array([clip.request.settings for clip in clips])
    results = result_arrays(first.request._replace(targets=targets))
    packed = TreeRows(tree.ints, tree.floats, targets, criteria, settings)
    cuda_trees.solve_rows(packed, starts, results)
    for clip, state in zip(clips, results.states, strict=True):
        turn_near(clip.request, state)
    return results.states, results.outcomes[:, 2]


def _settings(begun: Begun) -> Floats:
    """(6, v) the settings of a path, with the largest change between its frames."""
    settings = begun.frames.settings.copy()
    settings[SETTING_MAX_CHANGE] = begun.frames.largest_change(0)
    return settings
