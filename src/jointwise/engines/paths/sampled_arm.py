"""All solutions of an arm at samples of its redundancy and of its external axes."""

from functools import lru_cache
from math import inf
from typing import NamedTuple

import numpy as np

from jointwise.engines.closed_form.redundancy import closed_rows, redundancy_range
from jointwise.kernels.layout.arrays import Bools, Floats, Ints
from jointwise.model.arm import ArmModel, arm_model
from jointwise.model.closed_form import ClosedForm
from jointwise.model.tree_poses import inverse, motions

# Prefix of the names of parameters that are joints.
JOINT = "joint"
# Largest and smallest number of joints of an arm with a closed form.
MOST, LEAST = 7, 6


class SampledArm(NamedTuple):
    """An arm whose solutions are known for each value of its parameters.

    The parameters are the values of its first joints, the external axes, then the redundancy of
    seven joints that follow.

    Attributes:
        arm: The whole arm.
        inner: The part of it that has a closed form, without the external axes.
        form: The closed form.
        names: (p,) names of the parameters.
        low: (p,) least values of the parameters [rad, m].
        high: (p,) greatest values.
        turns: (p,) which of them are a full turn.
    """

    arm: ArmModel
    inner: ArmModel
    form: ClosedForm
    names: tuple[str, ...]
    low: Floats
    high: Floats
    turns: Bools

    @property
    def external(self) -> int:
        """Number of external axes."""
        return self.arm.n - self.inner.n

    def solutions(self, poses: Floats, parameters: Floats, near: Floats) -> tuple[Floats, Ints]:
        """All solutions within the limits.

        Args:
            poses: (k, 4, 4) poses of the end effector.
            parameters: (k, p) values of the parameters of each.
            near: (1, n) or (k, n) joint values near which full turns are chosen [rad, m].

        Returns:
            (k, b, n) solutions, and (k, 2) how many are inside the limits, and in total.
        """
        outer, values = parameters[:, : self.external], parameters[:, self.external :]
        redundancy = values[:, 0].copy() if values.shape[1] else np.zeros(1)
        if self.external:
            back = motions(self.arm.prismatic[: self.external], -outer)
            for k, link in enumerate(self.arm.links[: self.external]):
                poses = back[:, k] @ (inverse(link) @ poses)
        targets = np.ascontiguousarray(poses)
        starts = np.ascontiguousarray(near[:, self.external :])
        rows, counts = closed_rows(self.inner, self.form, targets, starts, redundancy)
        if self.external:
            shape = (*rows.shape[:2], self.external)
            rows = np.concatenate([np.broadcast_to(outer[:, None], shape), rows], axis=2)
        return rows, counts[:, :2]


@lru_cache(64)
def sampled_arm(arm: ArmModel) -> SampledArm | None:
    """An arm with a closed form, or one whose last joints have one; None if there is none."""
    for external in range(max(arm.n - LEAST + 1, 0)):
        inner = arm
        if external:
            links, prismatic = arm.links[external:], arm.prismatic[external:]
            inner = arm_model(links, prismatic, arm.limits[external:], arm.home[external:])
        form = inner.closed_form if inner.n <= MOST else None
        if form is None or not form.exact or form.fixed == 0:  # without that joint, there is one
            continue
        low, high = arm.limits[:external].T
        names = tuple(f"{JOINT} {k + 1}" for k in range(external))
        turns = ~arm.prismatic[:external] & (high - low >= 2.0 * np.pi)
        low, high = (np.where(turns, end, each) for end, each in ((-np.pi, low), (np.pi, high)))
        if form.redundant:
            ends = redundancy_range(inner, form)
            whole = ends[1] - ends[0] >= 2.0 * np.pi - 1e-9
            fixed = None if form.fixed is None else form.fixed + external + 1
            names = (*names, "arm angle" if fixed is None else f"{JOINT} {fixed}")
            low, high = np.append(low, ends[0]), np.append(high, ends[1])
            turns = np.append(turns, whole)
        if max(np.abs(low).max(initial=0.0), np.abs(high).max(initial=0.0)) == inf:
            return None
        return SampledArm(arm, inner, form, names, low, high, turns)
    return None
