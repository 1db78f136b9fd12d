"""What proof costs beside sampling, and how the cost of plans grows."""

from time import perf_counter

import numpy as np

from benchmarks.edges import sampled_states, times_of
from benchmarks.motion_problems import Problem
from benchmarks.plan_checks import distances
from jointwise import Chain, Geometry, Scene
from jointwise.kernels.collision.edges import edge_states
from jointwise.kernels.layout.edges import EDGE_FREE, EDGE_UNDECIDED
from jointwise.shape.geometry import group_spheres, group_tables, make_geometry
from jointwise.shape.pairs import NEIGHBOURS

# Lengths of edges [rad], by robot.
EDGES = {"panda": 1.0, "ur5": 1.5}
# Edges a scene, and passes of which the quickest counts.
EDGES_A_SCENE, PASSES = 200, 5
# Obstacles, spheres and points that cost is measured for; problems of each.
OBSTACLES, SPHERES, POINTS = (1, 10, 100, 1000), (50, 100, 200, 500), (1_000, 10_000, 100_000)
GROWTH_PROBLEMS = 50


def print_proof(fine: dict[str, list[Problem]], count: int) -> None:
    """What a proven edge costs beside one that is sampled every 1/32 rad."""
    print("\nEdges near the goals of the problems, random directions, µs on one core; sampled:")
    print("every 1/32 rad by the same code; missed: edges that are free by samples and not proven;")
    print("undecided: of all edges, those whose proof ended without a result")
    print(f"{'':14}{'rad':>5}{'edges':>9}{'free':>8}{'proven, free':>14}{'sampled':>9}", end="")
    print(f"{'proven, blocked':>17}{'sampled':>9}{'missed':>9}{'undecided':>11}")
    for name, some in fine.items():
        if not some:
            continue
        length, every = EDGES[name.split()[0]], -(-len(some) // max(1, min(count // 10, 35)))
        sums = np.array([_edge_costs(each, length) for each in some[::every]]).sum(axis=0)
        free, blocked, free_micro, blocked_micro, missed, undecided = np.split(
            sums, (1, 2, 4, 6, 7)
        )
        total = (free + blocked).item()
        times = [*(free_micro / free), *(blocked_micro / blocked)]
        print(
            f"{name:14}{length:5}{int(total):9,}{free.item() / total:8.1%}{times[0]:14.2f}"
            f"{times[1]:9.2f}{times[2]:17.2f}{times[3]:9.2f}{missed.item() / total:9.2%}"
            f"{undecided.item() / total:11.3%}",
            flush=True,
        )


def _edge_costs(problem: Problem, length: float) -> tuple[float, ...]:
    """Numbers of free and blocked edges, µs of each proven and sampled, missed and undecided."""
    q0, q1 = random_edges(problem.arm, problem.goal, length, np.random.default_rng(0))
    packed = problem.arm._check().packed_edges
    assert packed is not None
    proven, sampled = np.empty(len(q0), np.int64), np.empty(len(q0), np.int64)
    edge_states(packed, q0, q1, proven)
    sampled_states(packed, q0, q1, sampled)
    free, micro = proven == EDGE_FREE, []
    for some in (free, ~free):
        times = times_of(packed, q0[some], q1[some])
        micro += [each * some.sum() if some.any() else 0.0 for each in times]
    missed, undecided = (sampled == EDGE_FREE) & ~free, proven == EDGE_UNDECIDED
    return free.sum(), (~free).sum(), *micro, missed.sum(), undecided.sum()


def random_edges(
    arm: Chain, q: np.ndarray, length: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """(m, n) both ends of edges of one length inside the limits, from random walks from q."""
    lower, upper = arm.limits.T
    step = rng.normal(size=(4 * EDGES_A_SCENE, 2, arm.n))
    step *= length / np.linalg.norm(step, axis=2, keepdims=True)
    q0 = q + step[:, 0] * rng.uniform(0.0, 2.0, (len(step), 1))
    ends = np.stack([q0, q0 + step[:, 1]], axis=1)
    fine = ((lower <= ends) & (ends <= upper)).all(axis=(1, 2))
    fine &= np.asarray(arm.is_free(q0))
    kept = ends[fine][:EDGES_A_SCENE]
    return np.ascontiguousarray(kept[:, 0]), np.ascontiguousarray(kept[:, 1])


def print_growth(fine: dict[str, list[Problem]], count: int) -> None:
    """How cost grows with obstacles, spheres and points."""
    few = min(count, GROWTH_PROBLEMS)
    print(
        f"\nHow cost grows: {few} problems each, joint goals with shortcuts, one seed; packed: ms"
    )
    print("of the first call in a new scene; edge: µs of a random edge of 1 rad, many in a call")
    print(f"{'':34}{'valid':>7}{'solved':>9}{'packed':>9}{'edge':>8}{'median µs':>11}", end="")
    print(f"{'mean':>12}{'95 %':>12}")
    _print_obstacles(few)
    some = fine["ur5"][:: -(-len(fine["ur5"]) // few)]
    for number in (*SPHERES, some[0].arm.geometry.count):
        shape = fewer_spheres(Chain.load("ur5").with_scene(), number)
        arm = Chain.load("ur5").with_geometry(shape).with_base(some[0].arm.base_pose)
        thinner = [each._replace(arm=arm.with_scene(each.arm.scene)) for each in some]
        _print_growth_row(f"ur5, {shape.count} of its spheres", thinner)
    some = fine["panda"][:: -(-len(fine["panda"]) // few)]
    _print_growth_row("panda, primitives", some)
    for number in POINTS:
        clouds = [_as_points(each, number) for each in some]
        _print_growth_row(f"panda, clouds of {number:,} points", clouds)


def _print_obstacles(few: int) -> None:
    arm, rng = Chain.load("panda").with_scene(), np.random.default_rng(5)
    free = arm.random(seed=3, count=8 * few)
    ends = free[np.asarray(arm.is_free(free))][: 2 * few]
    spheres = np.concatenate([arm.geometry.spheres(q) for q in ends])
    for number in OBSTACLES:
        boxes, edge = [], 0.3 / np.cbrt(number)
        while len(boxes) < number:
            at = rng.normal(size=3)
            at *= rng.uniform(0.35, 1.1) / np.linalg.norm(at)
            place = np.add(at, [0.0, 0.0, 0.333])
            (box,) = Scene().box([edge] * 3, place, name=f"box{len(boxes)}")
            if (distances(spheres[:, :3], box) - spheres[:, 3]).min() > 0.01:
                boxes.append(box)
        around = arm.with_scene(Scene(tuple(boxes)))
        pairs = [Problem("boxes", around, a, b) for a, b in ends.reshape(few, 2, -1)]
        _print_growth_row(f"panda, {number:,} boxes of {1e3 * edge:.0f} mm", pairs)


def _print_growth_row(name: str, some: list[Problem]) -> None:
    fine, packed = [each for each in some if not each.fault], []
    micro, solved, edge = [], 0, []
    for problem in fine:
        arm = problem.arm.with_scene(Scene(problem.arm.scene.obstacles))
        began = perf_counter()
        arm.edge_is_free(problem.start, problem.start)
        packed.append(1e3 * (perf_counter() - began))
        q0, q1 = random_edges(arm, problem.goal, 1.0, np.random.default_rng(0))
        edge.append(quickest(lambda: arm.edge_is_free(q0, q1, threads=1), 3) / max(1, len(q0)))  # noqa: B023
        best = quickest(lambda: arm.plan(start=problem.start, q=problem.goal), 3)  # noqa: B023
        micro.append(best)
        solved += arm.plan(start=problem.start, q=problem.goal).found
    if not micro:
        print(f"{name:34}{f'0/{len(some)}':>7}", flush=True)
        return
    print(
        f"{name:34}{f'{len(fine)}/{len(some)}':>7}{f'{solved}/{len(fine)}':>9}"
        f"{np.median(packed):9.2f}{np.median(edge):8.2f}{np.median(micro):11,.0f}"
        f"{np.mean(micro):12,.0f}{np.percentile(micro, 95):12,.0f}",
        flush=True,
    )


def quickest(call, passes: int = PASSES) -> float:
    """The time of the quickest call [µs]."""
    best = np.inf
    for _ in range(passes):
        began = perf_counter()
        call()
        best = min(best, 1e6 * (perf_counter() - began))
    return best


def fewer_spheres(arm: Chain, number: int) -> Geometry:
    """The shape of an arm with about so many of its spheres, evenly from each link group."""
    shape = arm.geometry
    parts = []
    for part in group_spheres(shape)[:-1]:
        kept = min(len(part), -(-len(part) * number // shape.count))
        parts.append(part[np.linspace(0, len(part) - 1, kept).round().astype(int)])
    skipped = {(a, b): why for a, b, why in shape.skipped if why != NEIGHBOURS}
    names, tables = shape.links[:-1], group_tables(shape)
    source = f"{number} spheres"
    return make_geometry(arm.arm, arm.joint_names, parts, names, None, source, tables, skipped)


def _as_points(problem: Problem, number: int) -> Problem:
    """The same problem with a cloud of points on the obstacles instead of them."""
    things, rng = list(problem.arm.scene), np.random.default_rng(0)
    sizes = [_faces(thing) for thing in things]
    areas = np.array([sum(area for area, _ in faces) for faces in sizes])
    cloud = []
    for thing, faces, share in zip(things, sizes, areas / areas.sum(), strict=True):
        for area, sample in faces:
            count = int(np.ceil(number * share * area / sum(each for each, _ in faces)))
            cloud.append(sample(rng.uniform(-1.0, 1.0, (count, 2))) @ thing.pose[:3, :3].T)
            cloud[-1] += thing.pose[:3, 3]
    scene = Scene.from_points(np.concatenate(cloud)[:number])
    return problem._replace(arm=problem.arm.with_scene(scene))


def _faces(thing):
    """(area, points of (k, 2) numbers from -1 to 1) of each face of a box or a cylinder."""
    numbers = thing.sizes()
    if thing.kind == "box":
        half, faces = 0.5 * np.asarray(numbers["size"]), []
        for axis in range(3):
            others = [k for k in range(3) if k != axis]
            for side in (-1.0, 1.0):

                def sample(u, axis=axis, others=others, side=side):
                    points = np.full((len(u), 3), side * half[axis])
                    points[:, others] = u * half[others]
                    return points

                faces.append((4.0 * half[others].prod(), sample))
        return faces
    radius, length = numbers["radius"], numbers["length"]

    def around(u):
        angles = np.pi * u[:, 0]
        x, y = radius * np.cos(angles), radius * np.sin(angles)
        return np.column_stack([x, y, 0.5 * length * u[:, 1]])

    return [(2.0 * np.pi * radius * length, around)]
