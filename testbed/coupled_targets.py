"""Random problems whose targets couple branches, and a slow twin of what their solvers minimise.

The twin has poses from ``Robot.fk`` alone: masses, polygons and frames are computed again.
"""

from collections.abc import Callable

import numpy as np
from scipy.optimize import least_squares
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from jointwise import Robot, SolveConfig, above, aim, look_at, pose, position, relative
from jointwise.engines.tree.pruned import angular_scale
from jointwise.engines.tree.request import Request, make_request
from jointwise.kernels.layout.tree import TreeMemory, TreeProblem, unpack_memory, unpack_problem
from jointwise.targets import Target
from testbed.random_trees import moved_base, random_tree

# Mass [kg] and centre [m] of each link, in its frame.
Masses = dict[str, tuple[float, np.ndarray]]
Targets = dict[str, Target]
MASS = "center_of_mass"


def random_robot(seed: int, free_base: bool = False, **options: bool) -> tuple[Robot, Masses]:
    """A random tree with masses, and these."""
    robot = random_tree(seed, free_base=free_base, **options)
    masses = random_masses(robot, seed)
    return Robot.from_urdf(urdf_with_masses(robot, masses), free_base), masses


def random_masses(robot: Robot, seed: int) -> Masses:
    """Masses of all links."""
    rng = np.random.default_rng(seed)
    return {
        link: (float(rng.uniform(0.1, 2.0)), rng.uniform(-0.2, 0.2, 3)) for link in robot.link_names
    }


def urdf_with_masses(robot: Robot, masses: Masses) -> str:
    """The URDF of a robot with an inertial for each link; other readers want an inertia, too."""
    text, inertia = robot.to_urdf(), '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" '
    for link, (mass, centre) in masses.items():
        xyz = " ".join(map(repr, centre.tolist()))
        inertial = f'<inertial><origin xyz="{xyz}"/><mass value="{mass!r}"/>{inertia}iyz="0"/>'
        whole = f'<link name="{link}">{inertial}</inertial></link>'
        text = text.replace(f'<link name="{link}"/>', whole)
    return text


def mass_centre(robot: Robot, masses: Masses, q: np.ndarray, base: np.ndarray) -> np.ndarray:
    """(3,) the centre of mass from the poses of the links."""
    poses, total = robot.fk(q, base), sum(mass for mass, _ in masses.values())
    moments = [m * (poses[link] @ [*c, 1.0])[:3] for link, (m, c) in masses.items()]
    return np.sum(moments, axis=0) / total


def distance_to_polygon(corners: np.ndarray, at: np.ndarray) -> float:
    """From a point of the plane to the convex hull of some others."""
    hull = ConvexHull(corners)
    if (hull.equations[:, :2] @ at + hull.equations[:, 2] <= 0.0).all():
        return 0.0
    ring = corners[hull.vertices]
    least = np.inf
    for start, end in zip(ring, np.roll(ring, -1, axis=0), strict=True):
        share = np.clip((at - start) @ (end - start) / ((end - start) @ (end - start)), 0.0, 1.0)
        least = min(least, float(np.linalg.norm(start + share * (end - start) - at)))
    return least


def angle_between(a: np.ndarray, b: np.ndarray) -> float:
    """Of two directions [rad]."""
    return float(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))


def errors_of(
    robot: Robot, masses: Masses, link: str, target: Target, q: np.ndarray, base: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Residuals of position and orientation of one target; their lengths are the errors."""
    poses, nothing = robot.fk(q, base), np.zeros(0)
    frame = np.eye(4) if target.to is None else np.linalg.inv(poses[target.to])
    if link == MASS:
        place = np.eye(4)
        place[:3, 3] = mass_centre(robot, masses, q, base)
    else:
        place = poses[link]
    seen = frame @ place
    point = np.zeros(3) if target.point is None else target.point
    at, name = seen[:3, :3] @ point + seen[:3, 3], target.kind.name
    if name == "above":
        return np.array([distance_to_polygon(np.unique(target.values, axis=0), at[:2])]), nothing
    if name == "look at":
        ahead = target.values[0] - at
        return nothing, np.array([angle_between(seen[:3, :3] @ target.values[2], ahead)])
    moved = at - target.position if target.kind.has_position else nothing
    if target.kind.directions == 3:
        return moved, Rotation.from_matrix(seen[:3, :3].T @ target.matrix[:3, :3]).as_rotvec()
    if target.kind.directions == 1:
        _, wanted, axis = target.values
        return moved, np.array([angle_between(seen[:3, :3] @ axis, wanted)])
    return moved, nothing


def residuals(
    robot: Robot, masses: Masses, targets: Targets, q: np.ndarray, base: np.ndarray
) -> np.ndarray:
    """All weighted residuals; half their squared length is the cost."""
    scale, parts = angular_scale(robot.model.tree)[0], []
    for link, target in targets.items():
        moved, turned = errors_of(robot, masses, link, target, q, base)
        parts += [np.sqrt(target.weight[0]) * moved]
        parts += [np.sqrt(target.weight[1]) * scale * turned]
    return np.concatenate(parts)


def twin(
    robot: Robot, masses: Masses, targets: Targets, base: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """The residuals of unknowns: a twist of a free base about its origin, and the joint values."""

    def of_unknowns(x: np.ndarray) -> np.ndarray:
        moved = base.copy()
        if robot.free_base:
            moved[:3, :3] = Rotation.from_rotvec(x[:3]).as_matrix() @ base[:3, :3]
            moved[:3, 3] += x[3:6]
        return residuals(robot, masses, targets, x[-robot.n :], moved)

    return of_unknowns


def assembled(
    robot: Robot, targets: Targets, q: np.ndarray, base: np.ndarray
) -> tuple[Request, TreeProblem, TreeMemory]:
    """Targets as kernels take them, and their memory with gradient and rows."""
    from jointwise.kernels.tree.fk import evaluate  # needs Numba, unlike the rest of this file
    from jointwise.kernels.tree.moments import assemble

    asked = robot.with_base(base)._problem([targets], True, q, None, SolveConfig())
    request = make_request(asked, many=True)
    problem = unpack_problem(request.tree.ints, request.tree.floats)
    memory = unpack_memory(problem, request.tree.memory)
    memory.penalties[:] = memory.preferred[:] = 0.0
    memory.lower[:], memory.upper[:] = request.settings[:2]
    packed, state = request.targets[0], request.states[0]
    evaluate(problem, packed, state, memory)
    assemble(problem, state, memory)
    return request, problem, memory


def slopes(
    robot: Robot, masses: Masses, targets: Targets, q: np.ndarray, base: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The gradient of the cost by kernels, and by central differences of the twin."""
    from jointwise.kernels.tree.couplings import row_slope  # needs Numba

    request, _, memory = assembled(robot, targets, q, base)
    found = [memory.gradient[i] + row_slope(memory, i) for i in range(memory.gradient.size)]
    first, h, expected = 6 if robot.free_base else 0, 1e-6, []
    for unknown in range(len(found)):
        costs = []
        for step in (-h, h):
            values, twist = q.copy(), np.zeros(6)
            if unknown < first:  # in the axes of the base at the start
                twist[3 * (unknown // 3) :][:3] = step * base[:3, unknown % 3]
            else:
                values[request.tree.variables[unknown - first]] += step
            moved = moved_base(base, twist)
            costs.append(0.5 * np.square(residuals(robot, masses, targets, values, moved)).sum())
        expected.append((costs[0] - costs[1]) / (2.0 * h))
    return np.array(found), np.array(expected)


def improvement(
    robot: Robot, masses: Masses, targets: Targets, q: np.ndarray, base: np.ndarray
) -> tuple[float, float]:
    """The cost at a result, and what ``scipy.optimize.least_squares`` makes of it from there."""
    function, free = twin(robot, masses, targets, base), 6 if robot.free_base else 0
    ends = zip((-np.inf, np.inf), robot.limits.T, strict=True)
    lower, upper = (np.concatenate([np.full(free, end), each]) for end, each in ends)
    start = np.concatenate([np.zeros(free), q])
    inner = np.clip(start, lower + 1e-10, upper - 1e-10)
    found = least_squares(function, inner, bounds=(lower, upper), xtol=1e-14, ftol=1e-14)
    return 0.5 * float(np.square(function(start)).sum()), float(found.cost)


# Problems. Each is reached by a random configuration, unless it is moved away from it.


def seen_from(frame: np.ndarray, place: np.ndarray) -> np.ndarray:
    """(4, 4) a pose in the frame of another."""
    return np.linalg.inv(frame) @ place


def relative_targets(robot: Robot, masses: Masses, q: np.ndarray, seed: int) -> Targets:
    """A pose, a position or an aim of the last link in the frame of another, and a pose."""
    rng, poses, links = np.random.default_rng(seed), robot.fk(q), robot.link_names
    tip, other = links[-1], links[int(rng.integers(1, len(links) - 2))]
    seen, (a, b, c) = seen_from(poses[other], poses[tip]), rng.uniform(0.2, 2.0, 3)
    point = rng.uniform(-0.1, 0.1, 3)
    at = seen[:3, :3] @ point + seen[:3, 3]
    target = (
        pose(at, matrix=seen[:3, :3], weight=(a, b), point=point),
        position(at, weight=a, point=point),
        aim(at, seen[:3, 2], weight=(a, b), point=point),
    )[seed % 3]
    found = {tip: relative(target, to=other)}
    third = links[-2]
    if third != other:
        found[third] = position(poses[third][:3, 3], weight=c)
    return found


def mass_targets(robot: Robot, masses: Masses, q: np.ndarray, seed: int) -> Targets:
    """The centre of mass in the world or as a link sees it, and the position of a link."""
    rng, poses, links = np.random.default_rng(seed), robot.fk(q), robot.link_names
    centre, (a, b) = mass_centre(robot, masses, q, np.eye(4)), rng.uniform(0.2, 2.0, 2)
    target = position(centre, weight=a)
    if seed % 3 == 0:
        to = links[int(rng.integers(1, len(links)))]
        seen = seen_from(poses[to], np.vstack([np.c_[np.eye(3), centre], [0, 0, 0, 1]]))
        target = relative(position(seen[:3, 3], weight=a), to=to)
    return {MASS: target, links[-1]: position(poses[links[-1]][:3, 3], weight=b)}


def above_targets(robot: Robot, masses: Masses, q: np.ndarray, seed: int) -> Targets:
    """The centre of mass above a small polygon, and a position of a link."""
    rng, poses, link = np.random.default_rng(seed), robot.fk(q), robot.link_names[-1]
    corners = rng.uniform(-0.1, 0.1, (int(rng.integers(3, 9)), 2))
    centre, (a, b) = mass_centre(robot, masses, q, np.eye(4)), rng.uniform(0.2, 2.0, 2)
    polygon = above(centre[:2] + corners - corners.mean(axis=0), weight=a)
    return {MASS: polygon, link: position(poses[link][:3, 3], weight=b)}


def look_at_targets(robot: Robot, masses: Masses, q: np.ndarray, seed: int) -> Targets:
    """An axis of the last link towards a point, and the position of another link."""
    rng, poses, links = np.random.default_rng(seed), robot.fk(q), robot.link_names
    axis, (a, b) = rng.normal(size=3), rng.uniform(0.2, 2.0, 2)
    place, distance = poses[links[-1]], rng.uniform(0.3, 2.0)
    ahead = place[:3, 3] + distance * place[:3, :3] @ axis / np.linalg.norm(axis)
    found = {links[-1]: look_at(ahead, axis, weight=a)}
    return found | {links[-2]: position(poses[links[-2]][:3, 3], weight=b)}


PROBLEMS = {
    "relative": relative_targets,
    "centre of mass": mass_targets,
    "above": above_targets,
    "look at": look_at_targets,
}


def moved_away(targets: Targets, seed: int) -> Targets:
    """The same targets, with one more that cannot be reached: they end in a compromise."""
    far = position(np.random.default_rng(seed).normal(scale=3.0, size=3), weight=0.3)
    return targets | {"l2": far}
