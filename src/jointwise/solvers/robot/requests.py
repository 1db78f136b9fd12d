"""What a user asks of a robot, checked and packed: targets, weights, offsets, start and base."""

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import MAX_VALUE, UNLIMITED, Bools, Floats
from jointwise.kernels.tree_shapes import (
    AXES,
    DIRECTIONS,
    ORIENTATION_WEIGHT,
    POINT,
    REST,
    SPRING,
    TARGET_AXES,
    TARGET_POINT,
    TARGET_SIZE,
)
from jointwise.model import checks
from jointwise.model.joint_values import ordered_values
from jointwise.model.kinematic_tree import TreeModel
from jointwise.solvers.config import DEFAULT_SOLVE_CONFIG, SolveConfig, check_config
from jointwise.solvers.robot.problem import (
    RobotProblem,
    active_variables,
    check_movable,
    robot_problem,
)
from jointwise.solvers.targets import KINDS, Target, TargetKind, kind_and_value, split_targets

# A weight for position and orientation, or one for each.
LinkWeight = float | Sequence[float]
# Weight of the rest values if none is given; a target weighs 1.
REST_WEIGHT = 0.01
# The pose of a base that is not given. Read-only.
IDENTITY = np.eye(4)
IDENTITY.setflags(write=False)


class Options(NamedTuple):
    """How to weigh the targets, and what may move; see ``solve_robot``."""

    weights: Mapping[str, LinkWeight] | None = None
    offsets: Mapping[str, ArrayLike] | None = None
    rest: Any = None
    rest_weight: float = REST_WEIGHT
    active: Collection[str] | None = None


DEFAULT_OPTIONS = Options()


class RobotRequest(NamedTuple):
    """A checked request for m sets of targets.

    Attributes:
        problem: Robot and links, packed.
        targets: (m, k, 27) packed targets, in the frame of ``base``.
        settings: (6, v) settings of the variables.
        start: (n,) start values of all variables [rad, m].
        base: (4, 4) pose of the base at the start.
        has_rest: Whether there are rest values, with a weight.
    """

    problem: RobotProblem
    targets: Floats
    settings: Floats
    start: Floats
    base: Floats
    has_rest: bool

    @property
    def state(self) -> Floats:
        """(v + 12,) the state at the start."""
        return np.concatenate([self.start[self.problem.variables], IDENTITY[:3].ravel()])


def check_robot_config(config: SolveConfig) -> None:
    """Refuse what is no SolveConfig, or asks for what only an arm has."""
    if config is DEFAULT_SOLVE_CONFIG:
        return
    check_config(config)
    for name in ("method", "stiffness", "rest"):
        if getattr(config, name) != getattr(DEFAULT_SOLVE_CONFIG, name):
            hint = "pass rest to the solve itself" if name == "rest" else "leave it out"
            raise InvalidInputError(f"config has {name}, which is for one arm: {hint}.")


def make_request(
    model: TreeModel,
    columns: Mapping[str, tuple[TargetKind, Floats]],
    start: Any,
    base: Any,
    options: Options,
) -> RobotRequest:
    """Check everything beside the targets, and pack it with them."""
    links, active, count = tuple(columns), options.active, len(next(iter(columns.values()))[1])
    kinds = tuple([kind for kind, _ in columns.values()])
    names = active if active is None or isinstance(active, str) else tuple(active)
    problem, held, constant = _prepare(model, links, kinds, names)
    T_world_base = IDENTITY if base is None else checks.frame("base", base)
    rest = None if options.rest is None else joint_values("rest", options.rest, model)
    first = start_values(model, start, rest)
    settings, weight = problem.settings(held, first), 0.0
    if rest is not None:
        settings[REST] = rest[problem.variables]
        weight = checks.number("rest_weight", options.rest_weight)
        if weight < 0.0:
            raise InvalidInputError(f"rest_weight is {weight:g}: expected 0 or more.")
        settings[SPRING] = weight * problem.scales
    if options.weights is not None or options.offsets is not None:
        weights = link_weights(links, options.weights, problem.angular_scale)
        constant = _constants(model, links, kinds, weights, link_offsets(links, options.offsets))
    targets = np.empty((count, *constant.shape))
    targets[:] = constant
    for i, (link, (kind, values)) in enumerate(columns.items()):
        pack_values(kind, values, model.links[link].transform, targets[:, i])
    if base is not None:
        into_frame(targets, T_world_base)
    return RobotRequest(problem, targets, settings, first, T_world_base, weight > 0.0)


@lru_cache(maxsize=64)
def _prepare(
    model: TreeModel,
    links: tuple[str, ...],
    kinds: tuple[TargetKind, ...],
    active: tuple[str, ...] | str | None,
) -> tuple[RobotProblem, Bools | None, Floats]:
    """What does not depend on numbers: the problem, held variables, and (k, 27) ``_constants``."""
    held, free_base = active_variables(model, active)
    check_movable(model, links, held, free_base)
    problem = robot_problem(model, links, free_base)
    weights = link_weights(links, None, problem.angular_scale)
    return problem, held, _constants(model, links, kinds, weights, link_offsets(links, None))


def one_target_each(
    model: TreeModel, targets: Mapping[str, Target], name: str = "targets"
) -> dict[str, tuple[TargetKind, Floats]]:
    """The kind and the packed values (1, ...) of each link's target; numbers are not checked."""
    check_links(model, targets, name)
    columns = {}
    for link, target in targets.items():
        kind, value = kind_and_value(target, f"{name}[{link!r}]")
        columns[link] = kind, kind.pack(value)[None]
    return columns


def many_targets_each(model: TreeModel, targets: Any) -> dict[str, tuple[TargetKind, Floats]]:
    """The kind and the packed values (m, ...) of each link's targets; numbers are not checked.

    Args:
        model: The robot.
        targets: A mapping of link names to m targets of one kind each, or m mappings of link names
            to targets.
    """
    if not isinstance(targets, Mapping):
        return _joined(
            [
                one_target_each(model, each, f"targets[{i}]")
                for i, each in enumerate(_as_list(targets))
            ]
        )
    check_links(model, targets, "targets")
    columns = {link: _many(f"targets[{link!r}]", value) for link, value in targets.items()}
    counts = {link: len(values) for link, (_, values) in columns.items()}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{link!r} has {count}" for link, count in counts.items())
        raise InvalidInputError(f"targets differ in number, {listed}: expected as many for each.")
    return columns


def check_links(model: TreeModel, targets: Any, name: str) -> None:
    """Refuse anything but a mapping of link names to targets."""
    if not isinstance(targets, Mapping):
        raise InvalidInputError(
            f"{name} is {checks.short(targets)}: expected a mapping of link names to targets, "
            "such as {'left_hand': pose}."
        )
    if not targets:
        raise InvalidInputError(f"{name} is empty: expected a target for at least one link.")
    for link in targets:
        if link not in model.links:
            checks.known_name("link", link, model.links, model.name)


def link_weights(
    links: tuple[str, ...], weights: Mapping[str, LinkWeight] | None, angular_scale: float
) -> Floats:
    """(k, 2) weights of position [1/m²] and orientation [1/rad²] of each link, 1 by default."""
    checked = np.ones((len(links), 2))
    _check_names("weights", weights, links)
    for link, value in (weights or {}).items():
        title = f"weights[{link!r}]"
        given = checks.floats(title, value)
        if given.shape not in ((), (2,)):
            raise InvalidInputError(
                f"{title} has shape {given.shape}: expected a number, or two: of position and "
                "orientation."
            )
        if not (given >= 0.0).all() or not (given < MAX_VALUE).all():
            raise InvalidInputError(f"{title} is {value}: expected 0 or more, below 1e9.")
        checked[links.index(link)] = given
    if not checked.any():
        raise InvalidInputError("weights are all 0: expected one above 0.")
    checked[:, 1] *= angular_scale**2
    return checked


def link_offsets(links: tuple[str, ...], offsets: Mapping[str, ArrayLike] | None) -> Floats:
    """(k, 3) the point of each link that should be at its target [m], in the link's frame."""
    points = np.zeros((len(links), 3))
    _check_names("offsets", offsets, links)
    for link, value in (offsets or {}).items():
        title = f"offsets[{link!r}]"
        points[links.index(link)] = checks.all_finite(title, checks.position(title, value))
    return points


def joint_values(name: str, values: Any, model: TreeModel) -> Floats:
    """(n,) a value for every joint; a mapping may leave some out, which are then at home."""
    if type(values) is not np.ndarray and isinstance(values, Mapping):
        for joint in values:
            checks.known_name("joint", joint, model.joint_names, model.name)
        values = dict(zip(model.joint_names, model.home.tolist(), strict=True)) | dict(values)
    ordered = ordered_values(name, values, model, model.joint_names)
    array = checks.joint_values(name, ordered, model.n, "a robot")
    return checks.all_finite(name, array)


def start_values(model: TreeModel, start: Any, rest: Floats | None) -> Floats:
    """(n,) where a solve starts, inside the limits: at ``start``, else at rest, else at home."""
    if start is None:
        values = model.home.copy() if rest is None else rest.copy()
    else:
        values = joint_values("start", start, model)
    turn, lower, upper = 2.0 * np.pi, model.tree.lower, model.tree.upper
    if ((lower <= values) & (values <= upper)).all():
        return values
    lowest = np.where(lower > -UNLIMITED, lower, upper - turn)
    shifted = values + turn * np.ceil((lowest - values) / turn)  # the first above the limit
    fits = ~model.prismatic & ((values < lower) | (values > upper)) & (shifted <= upper)
    return np.clip(np.where(fits, shifted, values), lower, upper)


def _check_names(name: str, values: Any, links: tuple[str, ...]) -> None:
    if values is None:
        return
    if not isinstance(values, Mapping):
        raise InvalidInputError(
            f"{name} is {checks.short(values)}: expected a mapping of link names."
        )
    for link in values:
        checks.known_name("link", link, links, "targets")


def _as_list(targets: Any) -> list[Any]:
    """Many targets, or many mappings of them, as a list."""
    return list(split_targets(targets))


def _many(name: str, value: Any) -> tuple[TargetKind, Floats]:
    """Targets of one link: an array (m, 3) or (m, 4, 4), an ``Aim`` of many, or a sequence."""
    array = checks.as_array(value)
    if isinstance(array, np.ndarray) and array.shape[1:] in ((3,), (4, 4)):
        kind = KINDS["position" if array.ndim == 2 else "pose"]
        return kind, kind.pack_many(checks.contiguous(name, array))
    singles = [kind_and_value(each, f"{name}[{i}]") for i, each in enumerate(split_targets(value))]
    return _one_kind(name, [(kind, kind.pack(each)) for kind, each in singles])


def _joined(rows: list[dict[str, tuple[TargetKind, Floats]]]) -> dict[str, Any]:
    if not rows:
        raise InvalidInputError("targets is empty: expected at least one mapping.")
    for i, row in enumerate(rows):
        if row.keys() != rows[0].keys():
            raise InvalidInputError(
                f"targets[{i}] is for {', '.join(row)} and targets[0] for {', '.join(rows[0])}: "
                "expected the same links in all."
            )
    return {
        link: _one_kind(f"targets of {link!r}", [(row[link][0], row[link][1][0]) for row in rows])
        for link in rows[0]
    }


def _one_kind(name: str, packed: list[tuple[TargetKind, Floats]]) -> tuple[TargetKind, Floats]:
    kinds = sorted({kind.plural for kind, _ in packed})
    if len(kinds) != 1:
        what = f"mix {' and '.join(kinds)}" if kinds else "are none"
        raise InvalidInputError(f"{name} {what}: expected targets of one kind.")
    return packed[0][0], np.stack([values for _, values in packed])


def refuse(columns: Mapping[str, tuple[TargetKind, Floats]], many: bool) -> None:
    """Say what is wrong with the numbers of targets that a kernel refused."""
    for link, (kind, values) in columns.items():
        for i, each in enumerate(values):
            kind.check(each, f"targets[{link!r}]" + (f"[{i}]" if many else ""))


def _constants(
    model: TreeModel,
    links: tuple[str, ...],
    kinds: tuple[TargetKind, ...],
    weights: Floats,
    points: Floats,
) -> Floats:
    """(k, 27) packed targets without the numbers of the targets: weights, and what is on links."""
    packed = np.zeros((len(links), TARGET_SIZE))
    packed[:, :DIRECTIONS] = weights
    for row, link, kind, point in zip(packed, links, kinds, points, strict=True):
        rotation, origin = np.hsplit(model.links[link].transform, [3])
        row[DIRECTIONS] = kind.directions
        row[POINT:AXES] = origin[:, 0] + rotation @ point
        if kind.name == "pose":
            row[AXES:TARGET_POINT] = rotation.T.ravel()
        elif kind.name == "position":
            row[ORIENTATION_WEIGHT] = 0.0
    return packed


def pack_values(kind: TargetKind, values: Floats, transform: Floats, packed: Floats) -> None:
    """Write the numbers of one link's targets into ``packed (m, 27)``, which has the constants.

    Args:
        kind: What the targets are.
        values: (m, ...) the targets, as the kind packs them.
        transform: (3, 4) the link's frame in that of its body.
        packed: (m, 27) what is written.
    """
    if kind.name == "pose":
        packed[:, TARGET_POINT:TARGET_AXES] = values[:, :3, 3]
        packed[:, TARGET_AXES:] = values[:, :3, :3].swapaxes(1, 2).reshape(-1, 9)
        return
    packed[:, TARGET_POINT:TARGET_AXES] = values[:, 0]
    if kind.name == "aim":
        packed[:, AXES : AXES + 3] = values[:, 2] @ transform[:, :3].T
        packed[:, TARGET_AXES : TARGET_AXES + 3] = values[:, 1]


def into_frame(targets: Floats, frame: Floats) -> None:
    """Express targets (..., 27) of the world in a frame (4, 4); kernels refuse invalid ones."""
    targets[..., TARGET_POINT : TARGET_POINT + 3] -= frame[:3, 3]
    vectors = targets[..., TARGET_POINT:].reshape(-1, 3)  # the point and the directions
    with np.errstate(invalid="ignore", over="ignore"):
        rotated = vectors @ frame[:3, :3]
    targets[..., TARGET_POINT:] = rotated.reshape((*targets.shape[:-1], 12))
