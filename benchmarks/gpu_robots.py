"""Whole robots on a GPU: the table ``robots`` of ``python -m benchmarks.gpu``.

``python -m benchmarks.gpu_robots FOLDER`` writes the robots into a folder first, as URDF files
without meshes, for a machine without the packages that they come from. The forward kinematics that
verifies the results is read from these files by the XML reader of Python.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from benchmarks.robots import CASES, Case
from jointwise import PathOptions, Robot
from jointwise.backends import cuda_trees
from jointwise.kernels.layout.tree import memory_size

# Robots of ``benchmarks.robots`` that are URDF files.
CHOSEN = {
    "G1, hands and feet": ("random", "home"),
    "G1, 14 poses": ("random", "home"),
    "Talos, hands and feet": ("random",),
    "Tiago, two hands": ("random",),
    "Allegro, four fingers": ("random",),
}
CASE_OF = {case.name: case for case in CASES}
TOLERANCE = 1e-6
# Rows of a batch and of those solved on the CPU; frames of a clip; rows of a piece of a check.
MOST, ON_CPU, FRAMES, PIECE = 1 << 17, 1 << 13, 100, 1 << 13
# Where another process finds the robots.
ROBOTS = "JOINTWISE_BENCHMARK_ROBOTS"
# What is left out of the files.
LEFT_OUT = "visual", "collision", "transmission", "gazebo"

# Poses of links by their names, (m, 4, 4).
Poses = dict[str, np.ndarray]


def prepare(folder: Path) -> None:
    """Write the robots into a folder."""
    folder.mkdir(exist_ok=True, parents=True)
    for name in CHOSEN:
        root = ElementTree.parse(CASE_OF[name].path()).getroot()
        for parent in (root, *root):
            for child in [each for each in parent if each.tag in LEFT_OUT]:
                parent.remove(child)
        ElementTree.ElementTree(root).write(folder / CASE_OF[name].file)


class Kinematics:
    """Poses of links by one matrix product per joint, as a URDF file describes them."""

    def __init__(self, file: Path, robot: Robot) -> None:
        joints = ElementTree.parse(file).getroot().findall("joint")
        self.by_child = {joint.find("child").get("link"): joint for joint in joints}
        self.columns = {name: i for i, name in enumerate(robot.joint_names)}

    def poses(self, q: np.ndarray, links: tuple[str, ...], base: np.ndarray) -> Poses:
        """Poses of some links; the base's are (m, 4, 4)."""
        known: Poses = {}

        def place(link: str) -> np.ndarray:
            if link not in known:
                joint = self.by_child.get(link)
                if joint is None:
                    known[link] = base
                else:
                    above = place(joint.find("parent").get("link"))
                    known[link] = above @ origin_of(joint) @ self.motion(joint, q)
            return known[link]

        return {link: place(link) for link in links}

    def motion(self, joint: ElementTree.Element, q: np.ndarray) -> np.ndarray:
        """(m, 4, 4) what a joint adds to its origin."""
        kind, result = joint.get("type"), np.tile(np.eye(4), (len(q), 1, 1))
        if kind == "fixed":
            return result
        mimic, name = joint.find("mimic"), joint.get("name")
        value = q[:, self.columns[name if mimic is None else mimic.get("joint")]]
        if mimic is not None:
            value = value * float(mimic.get("multiplier", "1")) + float(mimic.get("offset", "0"))
        axis = np.array(joint.find("axis").get("xyz").split(), float)
        axis /= np.linalg.norm(axis)
        if kind == "prismatic":
            result[:, :3, 3] = value[:, None] * axis
            return result
        x, y, z = axis
        cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        sin, cos = np.sin(value)[:, None, None], np.cos(value)[:, None, None]
        result[:, :3, :3] += sin * cross + (1.0 - cos) * (cross @ cross)
        return result


def origin_of(joint: ElementTree.Element) -> np.ndarray:
    """(4, 4) the frame in which a joint moves."""
    origin, result = joint.find("origin"), np.eye(4)
    if origin is None:
        return result
    a, b, c = map(float, origin.get("rpy", "0 0 0").split())
    roll = [[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]]
    pitch = [[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]]
    yaw = [[np.cos(c), -np.sin(c), 0], [np.sin(c), np.cos(c), 0], [0, 0, 1]]
    result[:3, :3] = np.array(yaw) @ np.array(pitch) @ np.array(roll)
    result[:3, 3] = list(map(float, origin.get("xyz", "0 0 0").split()))
    return result


class Model:
    """A robot of the table, its targets, and the check of its results."""

    def __init__(self, case: Case, folder: Path) -> None:
        self.case, self.links = case, case.links
        self.robot = Robot.from_urdf(folder / case.file, free_base=case.free_base)
        self.kinematics = Kinematics(folder / case.file, self.robot)

    def bases(self, count: int, seed: int) -> np.ndarray:
        """(m, 4, 4) random poses of a free base."""
        bases, rng = np.tile(np.eye(4), (count, 1, 1)), np.random.default_rng(seed)
        if self.case.free_base:
            rotations, _ = np.linalg.qr(rng.normal(size=(count, 3, 3)))
            bases[:, :3, :3] = rotations * np.linalg.det(rotations)[:, None, None]
            bases[:, :3, 3] = rng.normal(size=(count, 3))
        return bases

    def targets(self, q: np.ndarray, bases: np.ndarray) -> Poses:
        """The poses of the links, computed in pieces."""
        pieces = [slice(i, i + PIECE) for i in range(0, len(q), PIECE)]
        with ThreadPoolExecutor() as pool:
            found = pool.map(lambda i: self.kinematics.poses(q[i], self.links, bases[i]), pieces)
            found = list(found)
        return {link: np.concatenate([each[link] for each in found]) for link in self.links}

    def confirmed(self, q: np.ndarray, bases: np.ndarray, targets: Poses) -> np.ndarray:
        """(m,) which rows reach all targets within the tolerance and the limits."""
        lower, upper = self.robot.limits.T
        right = ((lower <= q) & (q <= upper)).all(axis=1)
        for link, reached in self.targets(np.nan_to_num(q), bases).items():
            wanted = targets[link]
            chord = np.linalg.norm(reached[:, :3, :3] - wanted[:, :3, :3], axis=(1, 2))
            right &= np.linalg.norm(reached[:, :3, 3] - wanted[:, :3, 3], axis=1) < TOLERANCE
            right &= chord / np.sqrt(2.0) < TOLERANCE
        return right


@contextmanager
def kernel_seconds() -> Iterator[list[float]]:
    """Seconds of every launch of a kernel in the block."""
    seconds: list[float] = []
    launch = cuda_trees._launch

    def timed(*arguments: object) -> None:
        began = time.perf_counter()
        launch(*arguments)
        seconds.append(time.perf_counter() - began)

    cuda_trees._launch = timed
    try:
        yield seconds
    finally:
        cuda_trees._launch = launch


def robots(rows: int, folder: Path) -> None:
    """Whole robots on a GPU: many poses at once, solved cold and followed."""
    if not folder.exists():
        sys.exit(f"no robots in {folder}: run python -m benchmarks.gpu_robots {folder} first.")
    rows = min(rows, MOST)
    models = {name: Model(CASE_OF[name], folder) for name in CHOSEN}
    one_kernel_for(models)
    first = models["G1, 14 poses"]
    print("\nWhole robots, float64, 1e-6 m and 1e-6 rad, limits on, at most 100 restarts; from and")
    print(
        "to NumPy. kernels: the time of the kernels alone. solved: by forward kinematics in NumPy"
    )
    print("that shares no code; false: rows called converged that are not. CPU: all cores")
    began = time.perf_counter()
    code = "from benchmarks import gpu_robots; gpu_robots.compile_following()"
    other = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, ROBOTS: str(folder)})
    cold(first, 2, "home", False)
    print(f"compiled the search: {time.perf_counter() - began:.1f} s", flush=True)
    print(f"{'':24}{'starts':>7}{'rows':>8}{'million/s':>11}{'kernels':>9}{'solved':>11}", end="")
    print(f"{'false':>7}{'restarts':>10}{'CPU':>9}")
    for name, model in models.items():
        for starts in CHOSEN[name]:
            cold(model, rows, starts)
    small(first, rows)
    other.wait()
    following(first, rows)


def compile_following() -> None:
    """Compile the kernel that follows clips, in another process at the same time."""
    folder = Path(os.environ[ROBOTS])
    models = {name: Model(CASE_OF[name], folder) for name in CHOSEN}
    one_kernel_for(models)
    model = models["G1, 14 poses"]
    poses, began = model.targets(model.robot.home[None], model.bases(1, 0)), time.perf_counter()
    given = {"start": model.robot.home, "times": 1.0}
    model.robot.solve_paths([poses], options=PathOptions(device="cuda"), **given)
    print(f"compiled the following: {time.perf_counter() - began:.1f} s, meanwhile", flush=True)


def one_kernel_for(models: dict[str, Model]) -> None:
    """Let all robots use the scratch of the largest, so that one kernel is compiled."""
    from jointwise.config import DEFAULT_SOLVE_CONFIG
    from jointwise.engines.tree.request import make_request

    sizes = {}
    for name, model in models.items():
        q = model.robot.home[None]
        targets = model.targets(q, model.bases(1, 0))
        problem = model.robot._problem(targets, True, None, None, DEFAULT_SOLVE_CONFIG)
        sizes[name] = memory_size(make_request(problem, True).tree.ints)
    print("numbers of scratch of a thread:", sizes)
    cuda_trees.MIN_SCRATCH = max(sizes.values())


def cold(model: Model, rows: int, starts: str, shown: bool = True) -> None:
    """A row of the table: random reachable poses."""
    robot, bases = model.robot, model.bases(rows, 3)
    targets = model.targets(robot.random(1, rows), bases)
    given = robot.random(2, rows) if starts == "random" else robot.home
    best = np.inf, np.inf
    for _ in range(2 if shown else 1):
        with kernel_seconds() as seconds:
            began = time.perf_counter()
            batch = robot.solve_batch(targets, given, device="cuda")
            best = min(best, (time.perf_counter() - began, sum(seconds)))
    if not shown:
        return
    right = model.confirmed(batch.q, batch.base_poses, targets)
    some = min(rows, ON_CPU)
    few = {link: poses[:some] for link, poses in targets.items()}
    given = given[:some] if given.ndim == 2 else given
    robot.solve_batch({link: poses[:64] for link, poses in few.items()}, robot.home)
    began = time.perf_counter()
    cpu = robot.solve_batch(few, given)
    on_cpu = some / (time.perf_counter() - began) / 1e6
    print(
        f"{model.case.name:24}{starts:>7}{rows:8}{rows / best[0] / 1e6:11.3f}"
        f"{rows / best[1] / 1e6:9.3f}{np.mean(right):11.4%}"
        f"{np.count_nonzero(batch.converged & ~right):7}{batch.restarts.mean():10.3f}{on_cpu:9.3f}"
        f"{cpu.converged.mean():10.3%} on the CPU",
        flush=True,
    )


def small(model: Model, rows: int) -> None:
    """The time of small batches."""
    print(f"\n{model.case.name}, from home, by the number of them: best and median of 5 calls")
    robot = model.robot
    for count in (1, 100, 10_000):
        if count > rows:
            continue
        targets, seconds = model.targets(robot.random(1, count), model.bases(count, 3)), []
        for _ in range(5):
            began = time.perf_counter()
            robot.solve_batch(targets, device="cuda")
            seconds.append(1e3 * (time.perf_counter() - began))
        began = time.perf_counter()
        robot.solve_batch(targets)
        cpu = 1e3 * (time.perf_counter() - began)
        print(
            f"{count:8}{min(seconds):10.2f} ms{np.median(seconds):10.2f} ms{cpu:10.2f} ms on CPU",
            flush=True,
        )


def following(model: Model, rows: int) -> None:
    """Clips that are followed: smooth motions of all joints and of the base."""
    robot = model.robot
    on_gpu = PathOptions(device="cuda")
    print(f"\n{model.case.name} followed, clips of {FRAMES} frames, reachable")
    print(
        f"{'clips':>8}{'frames/s':>12}{'kernels':>12}{'solved':>11}{'false':>7}{'steps':>7}", end=""
    )
    print(f"{'CPU frames/s':>14}")
    clips = clips_of(model, max(rows // 16, 2))
    began = time.perf_counter()
    robot.solve_paths(clips[:2], options=on_gpu)
    print(f"its first call: {time.perf_counter() - began:.1f} s", flush=True)
    for count in sorted({min(each, len(clips)) for each in (64, 1024, len(clips))}):
        some = clips[:count]
        with kernel_seconds() as seconds:
            began = time.perf_counter()
            paths = robot.solve_paths(some, options=on_gpu)
            whole = time.perf_counter() - began
        few = some[: min(count, 256)]
        began = time.perf_counter()
        robot.solve_paths(few)
        cpu = len(few) * FRAMES / (time.perf_counter() - began)
        checked = paths[: min(count, 1024)]
        q = np.concatenate([path.q for path in checked])
        bases = np.concatenate([path.base_poses for path in checked])
        wanted = {
            link: np.concatenate([clip[link] for clip in some[:1024]]) for link in model.links
        }
        right = model.confirmed(q, bases, wanted)
        false = np.concatenate([path.converged for path in checked]) & ~right
        steps = np.mean([path.iterations[1:].mean() for path in checked])
        frames = count * FRAMES
        print(
            f"{count:8}{frames / whole:12,.0f}{frames / sum(seconds):12,.0f}{right.mean():11.4%}"
            f"{np.count_nonzero(false):7}{steps:7.2f}{cpu:14,.0f}",
            flush=True,
        )


def clips_of(model: Model, count: int) -> list[Poses]:
    """Clips of smooth motions between random joint values near home, and of the base."""
    robot, rng = model.robot, np.random.default_rng(5)
    lower, upper = robot.limits.T
    share = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, FRAMES))[None, :, None]
    ends = robot.home + 0.3 * (robot.random(1, 2 * count) - robot.home)
    q = (1.0 - share) * ends[::2, None] + share * ends[1::2, None]
    q = np.clip(q, lower, upper).reshape(-1, robot.n)
    bases = np.tile(np.eye(4), (count, FRAMES, 1, 1))
    if model.case.free_base:
        turn = rng.uniform(-1.0, 1.0, (count, 1)) * share[..., 0]
        bases[..., 0, 0] = bases[..., 1, 1] = np.cos(turn)
        bases[..., 1, 0] = np.sin(turn)
        bases[..., 0, 1] = -np.sin(turn)
        bases[..., :3, 3] = rng.normal(size=(count, 1, 3)) * share
    targets = model.targets(q, bases.reshape(-1, 4, 4))
    return [
        {link: poses[i * FRAMES : (i + 1) * FRAMES] for link, poses in targets.items()}
        for i in range(count)
    ]


if __name__ == "__main__":
    prepare(Path(sys.argv[1]))
