"""How a solve, a plan or a step of a tracker ended, as a sentence and as a code in arrays."""

from collections.abc import Mapping
from enum import Enum
from operator import index
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from typing import Self


class CodedStatus(int, Enum):
    """A status whose value is a sentence, and that compares equal to its code in an array."""

    def __new__(cls, sentence: str) -> "Self":
        """A member whose integer is its place in the order of its class."""
        member = int.__new__(cls, len(cls.__members__))
        member._value_ = sentence
        return member

    @classmethod
    def _missing_(cls, value: object) -> "Self | None":
        """The status of a code."""
        code = index(value) if isinstance(value, (int, np.integer)) else -1
        return tuple(cls)[code] if 0 <= code < len(cls) else None

    def __bool__(self) -> bool:  # a code of 0 is a status, too
        return True

    def __str__(self) -> str:  # the name, not the code
        return f"{type(self).__name__}.{self.name}"

    def __repr__(self) -> str:
        return f"<{self}: {self.value!r}>"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


class Status(CodedStatus):
    """How a solve ended; the value is a sentence, with a remedy where one is needed.

    ``UNREACHABLE`` and ``COLLIDES_ALWAYS`` are proofs, for the tolerances of the call. The others
    report what was found: despite ``OUTSIDE_LIMITS``, a solution inside the limits may exist.

    As an integer, a status is its code in ``IKBatch.status``: ``batch.status == Status.STALLED`` is
    a mask, and ``Status(batch.status[3])`` is a status.

    Example:
        >>> from jointwise import robots
        >>> result = robots.panda().solve([5.0, 0.0, 0.0])
        >>> result.status.name
        'UNREACHABLE'
        >>> Status(0).value
        'The target is reached, within the tolerances.'
    """

    CONVERGED = "The target is reached, within the tolerances."
    ITERATION_LIMIT = (
        "The iteration limit was reached before the target. Allow more iterations, or check that "
        "the target is within reach."
    )
    STALLED = (
        "No attempt converged; the target is probably unreachable. Relax it (an aim or a position "
        "instead of a pose, a larger tolerance), or try other starts."
    )
    OUTSIDE_LIMITS = (
        "A solution was found only outside the joint limits. Widen the limits, or move the target "
        "or the base."
    )
    UNREACHABLE = (
        "The target is provably out of reach; the closest configuration is returned. Move the "
        "target or the base."
    )
    INVALID = (
        "The target or the start is invalid, and nothing was solved: expected finite numbers below "
        "1e9 and, in a pose, a rotation."
    )
    COLLIDES = (
        "Every solution found collides (see contact). Allow more restarts, or move the target, the "
        "base or the obstacle."
    )
    COLLIDES_ALWAYS = (
        "Every solution of the target provably collides (see contact). Move the target, the base "
        "or the obstacle."
    )


# The sentence of ``Status.STALLED`` for a position, which cannot be relaxed to another kind.
STALLED_POSITION = (
    "No attempt converged; the target is probably unreachable. Move the target or the base, allow "
    "a larger tolerance, or try other starts."
)

# The sentence of ``Status.STALLED`` on the path of a robot, where few targets are searched for.
STALLED_ON_PATH = (
    "The path does not reach the target. The target may be out of reach or conflict with other "
    "targets, or joint or velocity limits may be in the way. Solve for the target separately to "
    "see whether it is within reach."
)


class TrackStatus(CodedStatus):
    """How a step of a tracker ended; the value is a sentence, with a remedy where one helps.

    As an integer, a status is its code in ``TrackRun.status``.

    Example:
        >>> from jointwise import Chain
        >>> arm = Chain.load("ur5e")
        >>> start = [0.0, -1.2, 1.8, -0.6, 1.5, 0.0]
        >>> tracker = arm.track(start, dt=0.001, max_velocity=3.0, max_acceleration=20.0)
        >>> TrackStatus(tracker.run([arm.fk(start)] * 3).status[2]).name
        'FOLLOWING'
    """

    FOLLOWING = "The target is reached, within 0.1 mm and 0.1 mrad."
    APPROACHING = (
        "The joints are moving to the target as fast as their velocity, acceleration and jerk "
        "limits allow."
    )
    AT_LIMIT = (
        "A joint limit is in the way; the joints stop at the closest point of this branch. Move "
        "the target back, or call switch_branch()."
    )
    STUCK = (
        "No small motion comes closer to the target, so the joints stop. Move the target back, "
        "relax it (an aim or a position), or call switch_branch()."
    )
    INVALID = (
        "The target is invalid, so the joints continue to the last valid target: expected finite "
        "numbers below 1e9 and, in a pose, a rotation."
    )
    OTHER_BRANCH = (
        "The joints have stopped; the target is at rest, and another branch reaches it. Call "
        "switch_branch(), or track with switch_branches=True."
    )
    AT_OBSTACLE = (
        "An obstacle or another link is in the way (see contact), so the joints slow down, slide "
        "along it or stop before it. Move the target or the obstacle."
    )
    COLLIDES = (
        "The current configuration collides (see contact), so the joints move out of contact if "
        "they can, and stop otherwise. Move the obstacle, or track again from a free start."
    )


class PlanStatus(CodedStatus):
    """How planning ended; the value is a sentence, with a remedy where one is needed.

    ``UNREACHABLE`` and ``GOAL_COLLIDES_ALWAYS`` are proofs, for the tolerances of the call. No
    status claims that there is no path: ``SAMPLE_LIMIT`` reports that none was found.

    Example:
        >>> from jointwise import Chain
        >>> arm = Chain.load("ur5e").with_scene()
        >>> arm.plan([5.0, 0.0, 0.0], start=arm.home).status.name
        'UNREACHABLE'
    """

    PLANNED = "A path was found; every edge is provably free of collisions."
    ALREADY_THERE = "The start is already at the target, so nothing moves."
    START_COLLIDES = (
        "The start collides or is within the margin (see contact). Move the robot or the "
        "obstacle first; nearest_free_start is a free configuration close by."
    )
    GOAL_COLLIDES = (
        "Every solution found collides (see contact). Move the target, the base or the obstacle."
    )
    GOAL_COLLIDES_ALWAYS = (
        "Every solution of the target provably collides (see contact). Move the target, the base "
        "or the obstacle."
    )
    UNREACHABLE = "The target is provably out of reach. Move the target or the base."
    NOT_REACHED = (
        "No solution of the target was found, so there is no goal to plan to. Relax the target, or "
        "move it or the base."
    )
    SAMPLE_LIMIT = (
        "No path was found within the sample limit, but one may exist. Raise max_samples, try "
        "another seed, or lower the margin."
    )
    INVALID = "The start or the target is invalid, and nothing was planned."


class SolutionsStatus(CodedStatus):
    """What is known about the solutions of a pose of a dataset."""

    FOUND = "The pose has solutions."
    PROVABLY_NONE = "The pose provably has no solution that is within the limits and free."
    NOT_FOUND = "No solution was found; one may exist, unless the pose is invalid."


class BreakReason(CodedStatus):
    """Why a path is interrupted; the value is a sentence.

    ``IKPath.break_reasons`` has them. A break is a finding at the resolution of the path, not a
    proof that no other path exists.

    Example:
        >>> from jointwise import Chain
        >>> arm = Chain.load("ur5e")
        >>> path = arm.solve_path(arm.fk(arm.random(seed=1, count=2)), max_step=0.1)
        >>> path.break_reasons[1].name
        'STEP_TOO_LARGE'
    """

    NO_SOLUTION = "No solution was found for this target or the previous one."
    OUTSIDE_LIMITS = (
        "Solutions for this target or the previous one were found only outside the joint limits."
    )
    COLLIDES = "Every solution found for this target or the previous one collides."
    INVALID = "The previous target is invalid."
    STEP_TOO_LARGE = (
        "No path found at this resolution keeps every joint within the largest step. Allow "
        "larger steps, more time, more freedom or more samples."
    )
    OTHER_BRANCH = (
        "The arm changes to another branch, or a joint makes a full turn: no path found at this "
        "resolution avoids that."
    )
    NOT_CLOSED = "The joints do not end where they begin: no closed path was found."


# Sentences other than those of a status.
NO_SENTENCES: Mapping[CodedStatus, str] = MappingProxyType({})
ON_PATH: Mapping[CodedStatus, str] = MappingProxyType({Status.STALLED: STALLED_ON_PATH})

# By the codes of kernels.
STATUS_BY_CODE = tuple(Status)
TRACK_STATUS_BY_CODE = tuple(TrackStatus)
STOPPED = (TrackStatus.AT_LIMIT, TrackStatus.STUCK)
COLLISIONS = (Status.COLLIDES, Status.COLLIDES_ALWAYS)


def status_lines(
    codes: NDArray[np.uint8],
    statuses: type[CodedStatus],
    done: str,
    sentences: Mapping[CodedStatus, str] = NO_SENTENCES,
) -> list[str]:
    """The number of each status, one line each, with the sentences of all but the first.

    Args:
        codes: (m,) codes of statuses.
        statuses: The class of the statuses.
        done: What the first status means, such as ``"solved"``.
        sentences: Replacements for those of some statuses.
    """
    counts = np.bincount(codes, minlength=len(statuses))
    return count_lines(counts, statuses, done, sentences)


def count_lines(
    counts: NDArray[np.int64],
    statuses: type[CodedStatus],
    done: str,
    sentences: Mapping[CodedStatus, str] = NO_SENTENCES,
) -> list[str]:
    """As ``status_lines``, from the number of each status in order.

    ``sentences`` replaces those of some statuses.
    """
    first, total = int(counts[0]), int(counts.sum())
    lines = [f"{first:,} of {total:,} {done} ({first / max(total, 1):.3%})"]
    for count, status in zip(counts.tolist()[1:], list(statuses)[1:], strict=True):
        if count:
            sentence = sentences.get(status, status.value)
            lines.append(f"{count:,} {status.name}: {sentence}")
    return lines
