"""A robot pruned to the joints that move a target, packed; kept for the next solve."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import UNLIMITED, Bools, Floats, Ints
from jointwise.kernels.layout.tree import (
    SETTING_LOWER,
    SETTING_MAX_CHANGE,
    SETTING_UPPER,
    SETTINGS_SIZE,
    Tree,
    memory_size,
    pack_limbs,
    pack_problem,
)
from jointwise.model import checks
from jointwise.model.arm import kronecker_strides
from jointwise.model.kinematic_tree import TreeModel

# Of the longest path from the base to a link: the position error that counts like 1 rad.
ANGULAR_SHARE = 0.3


@dataclass(frozen=True, slots=True, eq=False)
class PrunedTree:
    """A robot, pruned to the joints that move a target.

    Attributes:
        model: The robot.
        links: The links that have targets.
        variables: (v,) which of the robot's variables are left.
        ints: Packed integers; see ``kernels.layout.tree``.
        floats: Packed floats.
        free_settings: (6, v) settings with which all variables are free; a joint that can turn
            fully has no limits.
        wrapped: (v,) variables without such limits, whose values are brought near the start.
        has_wrapped: Whether there are any.
        angular_scale: Position error that counts like 1 rad of orientation error [m].
        memory_size: Numbers in the scratch of a kernel.
        moves_base: Whether the base moves.
        limbs: Its limbs; none if all targets are one.
    """

    model: TreeModel
    links: tuple[str, ...]
    variables: Ints
    ints: Ints
    floats: Floats
    free_settings: Floats
    wrapped: Bools
    has_wrapped: bool
    angular_scale: float
    memory_size: int
    moves_base: bool
    limbs: "tuple[Limb, ...]"

    @property
    def memory(self) -> Floats:
        """New scratch for a kernel."""
        return np.empty(self.memory_size)

    @property
    def scales(self) -> Floats:
        """(v,) what a unit of each variable weighs against a squared metre."""
        revolute = ~self.model.prismatic[self.variables]
        return np.where(revolute, self.angular_scale**2, 1.0)

    def settings(self, held: Bools | None, start: Floats) -> Floats:
        """(6, v) settings of the variables; those that are held stay at the start.

        Args:
            held: (n,) which of all variables are held; None for none.
            start: (n,) values of all variables [rad, m].
        """
        settings = self.free_settings.copy()
        if held is not None:
            self.hold(settings, held, start)
        return settings

    def hold(self, settings: Floats, held: Bools, start: Floats) -> None:
        """Write limits into the settings (6, v) that hold some variables at the start."""
        stay = held[self.variables]
        settings[: SETTING_UPPER + 1, stay] = start[self.variables][stay]

    def keep_turns(self, settings: Floats) -> None:
        """Write the limits of joints that can turn fully into the settings (6, v).

        Full turns count along a path, so such a joint must stay inside its limits.
        """
        lower, upper = np.clip(self.model.limits[self.variables].T, -UNLIMITED, UNLIMITED)
        moves = self.wrapped & (settings[SETTING_LOWER] < settings[SETTING_UPPER])
        settings[SETTING_LOWER, moves], settings[SETTING_UPPER, moves] = lower[moves], upper[moves]

    def unwrap(self, x: Floats, start: Floats) -> Floats:
        """Full turns of the variables (..., v) chosen to be near the start, inside the limits."""
        if not self.has_wrapped:
            return x
        turn = 2.0 * np.pi
        lower, upper = self.model.limits[self.variables].T
        near = x - turn * np.round((x - start) / turn)
        near = np.where(near < lower, near + turn, np.where(near > upper, near - turn, near))
        return np.where(self.wrapped, np.clip(near, lower, upper), x)


@lru_cache(maxsize=64)
def pruned_tree(
    model: TreeModel, links: tuple[str, ...], free_base: bool, held: bytes = b""
) -> PrunedTree:
    """The robot with targets for these links; the last ones are kept.

    Args:
        model: The robot.
        links: The links.
        free_base: Whether the base moves.
        held: The bytes of (n,) booleans: which variables do not move; empty for none.
    """
    tree = model.tree
    carriers = [model.links[link].joint for link in links]
    used: set[int] = set()
    for carrier in carriers:
        body = carrier
        while body >= 0:
            used.add(body)
            body = int(tree.parents[body])
    bodies = sorted(used)
    variables = list(dict.fromkeys(tree.variables[bodies].tolist()))
    index = {-1: -1} | {body: i for i, body in enumerate(bodies)}
    pruned = Tree(
        np.array([index[parent] for parent in tree.parents[bodies].tolist()], np.int64),
        tree.placements[bodies],
        tree.kinds[bodies],
        np.array([variables.index(each) for each in tree.variables[bodies].tolist()], np.int64),
        tree.ratios[bodies],
        tree.offsets[bodies],
        *(values[variables] for values in (tree.lower, tree.upper, tree.velocity)),
    )
    revolute = ~model.prismatic[variables]
    counts = np.bincount(pruned.variables, minlength=len(variables))
    wrapped = revolute & (counts == 1) & (pruned.upper - pruned.lower >= 2.0 * np.pi)
    scale, longest = angular_scale(tree)
    spreads = np.where(revolute, np.pi, longest)
    places = np.array([index[carrier] for carrier in carriers], np.int64)
    packed = pack_problem(pruned, places, kronecker_strides(len(variables)), spreads, free_base)
    limbs = () if free_base else _limbs(model, links, variables, held)
    parts = [(own.ints, own.floats, targets, at) for own, targets, at in limbs]
    ints, floats = pack_limbs(packed, parts)
    settings = np.zeros((SETTINGS_SIZE, len(variables)))
    settings[SETTING_LOWER] = np.where(wrapped, -UNLIMITED, pruned.lower)
    settings[SETTING_UPPER] = np.where(wrapped, UNLIMITED, pruned.upper)
    settings[SETTING_MAX_CHANGE] = UNLIMITED
    return PrunedTree(
        model=model,
        links=links,
        variables=np.array(variables, np.int64),
        ints=ints,
        floats=floats,
        free_settings=settings,
        wrapped=wrapped,
        has_wrapped=bool(wrapped.any()),
        angular_scale=scale,
        memory_size=memory_size(ints),
        moves_base=free_base,
        limbs=limbs,
    )


class Limb(NamedTuple):
    """Targets that share moving variables with each other, and none with other targets.

    Attributes:
        tree: The robot, pruned to the joints that move them.
        targets: Which of all targets they are.
        variables: Which of the variables of all targets move them.
    """

    tree: PrunedTree
    targets: Ints
    variables: Ints


def _limbs(
    model: TreeModel, links: tuple[str, ...], variables: list[int], held: bytes
) -> tuple[Limb, ...]:
    """The limbs of a robot with a fixed base; see ``pruned_tree``."""
    tree, found = model.tree, list[tuple[list[int], set[int]]]()  # targets and moving variables
    moves = ~np.frombuffer(held, np.bool_) if held else np.ones(model.n, np.bool_)
    for k, link in enumerate(links):
        targets, moved_by, joint = [k], set[int](), model.links[link].joint
        while joint >= 0:
            moved_by.add(int(tree.variables[joint]))
            joint = int(tree.parents[joint])
        moved_by = {variable for variable in moved_by if moves[variable]}
        for limb in [each for each in found if each[1] & moved_by]:
            found.remove(limb)
            targets, moved_by = limb[0] + targets, limb[1] | moved_by
        found.append((sorted(targets), moved_by))
    if len(found) == 1:
        return ()
    limbs = []
    for targets, _ in found:
        own = pruned_tree(model, tuple(links[k] for k in targets), False, held)
        at = [variables.index(variable) for variable in own.variables.tolist()]
        limbs.append(Limb(own, np.array(targets), np.array(at)))
    return tuple(limbs)


def angular_scale(tree: Tree) -> tuple[float, float]:
    """Position error that counts like 1 rad, and the longest path from the base to a body [m]."""
    lengths = np.linalg.norm(tree.placements[:, :, 3], axis=1)
    for body, parent in enumerate(tree.parents.tolist()):
        lengths[body] += lengths[parent] if parent >= 0 else 0.0
    longest = float(lengths.max(initial=0.0)) or 1.0
    return ANGULAR_SHARE * longest, longest


def active_variables(model: TreeModel, active: Collection[str] | None) -> tuple[Bools | None, bool]:
    """(n,) which variables are held, None for none; and whether the base moves.

    Args:
        model: The robot.
        active: Names of the joints that may move; the root link's name stands for a free base.
            None: all, and the base if it is free.

    Raises:
        InvalidInputError: A name is unknown.
    """
    if active is None:
        return None, model.free_base
    names = set(active)
    known = (*model.joint_names, *((model.root,) if model.free_base else ()))
    for name in sorted(names, key=str):
        checks.known_name("joint", name, known, model.name)
    held = np.array([name not in names for name in model.joint_names])
    return held, model.free_base and model.root in names


def check_movable(
    model: TreeModel, links: tuple[str, ...], held: Bools | None, free_base: bool
) -> None:
    """Refuse a target on a link that no active joint moves."""
    for link in () if free_base else links:
        body, movable = model.links[link].joint, False
        while body >= 0 and not movable:
            movable = held is None or not held[model.tree.variables[body]]
            body = int(model.tree.parents[body])
        if not movable:
            hint = "no joint is between it and the base"
            if held is not None and held.any():
                hint = "all joints between it and the base are held by the posture's active"
            raise InvalidInputError(f"no active joint moves {link!r}: {hint}. Remove its target.")
