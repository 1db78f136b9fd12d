"""A robot pruned to the joints that move a target, packed and cached for the next solve."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import UNLIMITED, Bools, Floats, Ints
from jointwise.kernels.layout.tree import (
    BASE_POSE,
    CENTRE_OF_MASS,
    IN_BOX,
    IN_POLYGON,
    PLAIN,
    SETTING_LOWER,
    SETTING_MAX_CHANGE,
    SETTING_UPPER,
    SETTINGS_SIZE,
    WORLD,
    Couplings,
    Tree,
    memory_size,
    pack_limbs,
    pack_problem,
)
from jointwise.model import checks
from jointwise.model.arm import kronecker_strides
from jointwise.model.kinematic_tree import LinkPlace, Loop, TreeModel
from jointwise.targets import TargetKind, Weight

# Position error that counts like 1 rad, as a share of the longest path from the base to a link.
ANGULAR_SHARE = 0.3


class Placed(NamedTuple):
    """The link of a target, and its frame.

    Attributes:
        link: The link, or ``MASS_CENTRE``.
        to: The link in whose frame the target is; None for the world.
        rows: Number of rows of its Jacobian in kernels; 0 if its moments are enough.
    """

    link: str
    to: str | None
    rows: int


def row_count(place: LinkPlace, kind: TargetKind, weight: Weight, to: str | None) -> int:
    """The number of rows of a target: 0 if it is fixed in the world, on a link; see ``Placed``."""
    is_plain = kind.form in (PLAIN, IN_BOX)
    if is_plain and to is None and place.joint != CENTRE_OF_MASS:
        return 0
    of_position = 1 if kind.form == IN_POLYGON else 3
    rows = of_position if kind.point_weights(1.0)[0] and weight[0] else 0
    return rows + (3 if kind.directions and weight[1] else 0)


@dataclass(frozen=True, slots=True, eq=False)
class PrunedTree:
    """A robot, pruned to the joints that move a target.

    Attributes:
        model: The robot.
        links: The links that have targets.
        variables: (v,) the remaining variables of the robot.
        ints: Packed integers; see ``kernels.layout.tree``.
        floats: Packed floats.
        free_settings: (6, v) settings with which all variables are free; a joint that can turn
            fully has no limits.
        wrapped: (v,) variables without such limits, whose values are brought near the start.
        has_wrapped: Whether there are any such variables.
        angular_scale: Position error that counts like 1 rad of orientation error [m].
        memory_size: Numbers in the scratch of a kernel.
        moves_base: Whether the base moves.
        limbs: Its limbs; none if all targets form a single one.
        target_count: Number of targets of the links and of loops, which follow them.
        is_relative: (k,) which targets are in the frame of a link.
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
    target_count: int
    is_relative: Bools

    @property
    def memory(self) -> Floats:
        """New scratch for a kernel."""
        return np.empty(self.memory_size)

    @property
    def scales(self) -> Floats:
        """(v,) the weight of a unit of each variable, relative to a squared metre."""
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
    model: TreeModel, targets: tuple[Placed | Loop, ...], free_base: bool, held: bytes = b""
) -> PrunedTree:
    """The robot with targets for some links; the last ones are cached.

    Args:
        model: The robot.
        targets: The links and frames of the targets; the loops of the robot follow them.
        free_base: Whether the base moves.
        held: The bytes of (n,) booleans: which variables do not move; empty for none.
    """
    tree = model.tree
    bodies = sorted(set().union(*(moving_joints(model, target) for target in targets)))
    variables = list(dict.fromkeys(tree.variables[bodies].tolist()))
    index = {CENTRE_OF_MASS: CENTRE_OF_MASS, -1: -1} | {body: i for i, body in enumerate(bodies)}
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
    places = np.array([index[ends_of(model, each)[0]] for each in targets], np.int64)
    couplings = _couplings(model, targets, bodies, index)
    strides = kronecker_strides(len(variables))
    packed = pack_problem(pruned, places, strides, spreads, free_base, couplings)
    limbs = () if free_base else _limbs(model, targets, variables, held)
    parts = [(own.ints, own.floats, targets, at) for own, targets, at in limbs]
    ints, floats = pack_limbs(packed, parts)
    settings = np.zeros((SETTINGS_SIZE, len(variables)))
    settings[SETTING_LOWER] = np.where(wrapped, -UNLIMITED, pruned.lower)
    settings[SETTING_UPPER] = np.where(wrapped, UNLIMITED, pruned.upper)
    settings[SETTING_MAX_CHANGE] = UNLIMITED
    return PrunedTree(
        model=model,
        links=tuple([each.link for each in targets if isinstance(each, Placed)]),
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
        target_count=len(targets),
        is_relative=np.array([isinstance(each, Loop) or each.to is not None for each in targets]),
    )


def ends_of(model: TreeModel, target: Placed | Loop) -> tuple[int, int]:
    """The joint that moves a target, and the joint that carries its frame; see ``TreeProblem``."""
    if isinstance(target, Loop):
        return target.link.joint, target.to.joint
    to = WORLD if target.to is None else model.links[target.to].joint
    return model.place(target.link).joint, to


def moving_joints(model: TreeModel, target: Placed | Loop) -> set[int]:
    """The joints that move a target, or the frame in which it is."""
    joint, frame = ends_of(model, target)
    if joint == CENTRE_OF_MASS:
        return set(range(len(model.tree.parents)))
    return {*model.path(joint), *([] if frame == WORLD else model.path(frame))}


def _couplings(
    model: TreeModel, targets: tuple[Placed | Loop, ...], bodies: list[int], index: dict[int, int]
) -> Couplings:
    """The couplings between branches of a robot that is pruned to some joints."""
    ends = [ends_of(model, each) for each in targets]
    references = [WORLD if to == WORLD else index[to] for _, to in ends]
    masses = np.zeros((len(bodies) + 1, 4))
    if any(joint == CENTRE_OF_MASS for joint, _ in ends) and model.masses is not None:
        masses = model.masses / model.masses[:, 0].sum()
    counts = [each.rows if isinstance(each, Placed) else 3 + 3 * each.is_weld for each in targets]
    loops = sum(isinstance(each, Loop) for each in targets)
    return Couplings(np.array(references, np.int64), np.array(counts, np.int64), masses, loops)


class Limb(NamedTuple):
    """Targets that share moving variables with each other, and none with other targets.

    Attributes:
        tree: The robot, pruned to the joints that move them.
        targets: Their indices among all targets.
        variables: The indices of the variables that move them.
    """

    tree: PrunedTree
    targets: Ints
    variables: Ints

    @property
    def columns(self) -> Ints:
        """The columns of a state of all limbs that are the state of this limb."""
        return np.append(self.variables, np.arange(-BASE_POSE, 0))


def _limbs(
    model: TreeModel, placed: tuple[Placed | Loop, ...], variables: list[int], held: bytes
) -> tuple[Limb, ...]:
    """The limbs of a robot with a fixed base; see ``pruned_tree``."""
    tree, found = model.tree, list[tuple[list[int], set[int]]]()  # targets and moving variables
    moves = ~np.frombuffer(held, np.bool_) if held else np.ones(model.n, np.bool_)
    for k, target in enumerate(placed):
        joints = [*moving_joints(model, target)]
        targets, moved_by = [k], {int(each) for each in tree.variables[joints] if moves[each]}
        for limb in [each for each in found if each[1] & moved_by]:
            found.remove(limb)
            targets, moved_by = limb[0] + targets, limb[1] | moved_by
        found.append((sorted(targets), moved_by))
    if len(found) == 1:
        return ()
    limbs = []
    for targets, _ in found:
        own = pruned_tree(model, tuple(placed[k] for k in targets), False, held)
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
    model: TreeModel, targets: tuple[Placed, ...], held: Bools | None, free_base: bool
) -> None:
    """Refuse a target on a link that no active joint moves."""
    for target in targets:
        if free_base and target.to is None:
            continue
        link, joints = target.link, moving_joints(model, target)
        if target.to is not None and model.place(link).joint != CENTRE_OF_MASS:
            own, frame = model.place(link).joint, model.links[target.to].joint
            joints -= {*model.path(own)} & {*model.path(frame)}  # these move both alike
        if not any(held is None or not held[model.tree.variables[each]] for each in joints):
            hint = "no joint is between it and the base"
            if target.to is not None:
                hint = f"no joint is between it and {target.to!r}"
            if held is not None and held.any():
                where = "the base" if target.to is None else repr(target.to)
                hint = f"posture.active lists none of the joints between it and {where}"
            raise InvalidInputError(f"no active joint moves {link!r}: {hint}. Remove its target.")
