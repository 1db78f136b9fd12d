"""CCD step by step: every joint move of every sweep, and how many are done."""

from dataclasses import dataclass

from jointwise.chain import Chain
from jointwise.kernels.layout.arrays import Floats
from jointwise.results.status import Status
from jointwise.view.state.units import METRES, Unit


@dataclass(slots=True, eq=False)
class CCDSteps:
    """CCD from a start to a target. A step moves one joint; a sweep is n steps, last joint first.

    Attributes:
        chain: The arm.
        q: (m+1, n) joint values at the start and after each step [rad, m].
        position_error: (m+1,) at the start and after each step [m].
        orientation_error: (m+1,) at the start and after each step [rad]; NaN where orientation is
            free.
        status: Why CCD stopped after the last step.
        index: How many steps are done.
    """

    chain: Chain
    q: Floats
    position_error: Floats
    orientation_error: Floats
    status: Status
    index: int = 0

    def __len__(self) -> int:
        return len(self.q) - 1

    @property
    def current_q(self) -> Floats:
        """(n,) joint values after the steps that are done [rad, m]."""
        q: Floats = self.q[self.index]
        return q

    @property
    def moved_joint(self) -> int | None:
        """The joint that the latest step moved, from 0 at the base; None before the first step."""
        if self.index == 0:
            return None
        return self.chain.n - 1 - (self.index - 1) % self.chain.n

    @property
    def left_in_sweep(self) -> int:
        """Steps to the end of the current sweep; n between two sweeps."""
        return self.chain.n - self.index % self.chain.n

    def advance(self, count: int) -> bool:
        """Do ``count`` steps, or all that remain if there are fewer; False if there were none."""
        before, self.index = self.index, min(self.index + count, len(self))
        return self.index > before

    def message(self, angle_unit: Unit) -> str:
        """A description of the latest step; after the last one, the reason why CCD stopped."""
        joint = self.moved_joint
        if joint is None or self.index == len(self):
            return str(self.status.value)
        unit = METRES if self.chain.prismatic[joint] else angle_unit
        change = unit.per_si * (self.q[self.index, joint] - self.q[self.index - 1, joint])
        sweep = (self.index - 1) // self.chain.n + 1
        return (
            f"Sweep {sweep}: {self.chain.joint_names[joint]} moved by "
            f"{change:+.{unit.decimals + 1}f}{unit.suffix}."
        )
