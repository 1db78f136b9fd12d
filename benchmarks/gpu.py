"""GPU throughput, printed as tables: ``python -m benchmarks.gpu [TABLE] [--rows N]``.

Every result is verified by forward kinematics in NumPy, which shares no code with the kernels.
"""

import argparse
import csv
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.kept import add_keep, kept
from benchmarks.scenes import SCENES
from benchmarks.tolerance import ARMS, BOXES, tolerance_row
from jointwise import Chain, DHJoint, IKBatch, SolveConfig, robots

# Poses and starts.
Given = tuple[np.ndarray, np.ndarray]

# Metrics of Nsight Compute: of a kernel, of its operations, and why its warps stall.
TIME, CYCLES, PROCESSORS = (
    "gpu__time_duration.sum",
    "sm__cycles_elapsed.max",
    "device__attribute_multiprocessor_count",
)
REGISTERS, WARPS, LANES, BYTES = (
    "launch__registers_per_thread",
    "sm__warps_active.avg.per_cycle_active",
    "smsp__thread_inst_executed_per_inst_executed.ratio",
    "dram__bytes.sum",
)
OPERATION = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
WAITING = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
OPERATIONS = {f"{t}{name}": 1 + (name == "fma") for t in "df" for name in ("add", "mul", "fma")}
WAITS = {
    "wait": "for the operation before",
    "long_scoreboard": "for memory",
    "no_instruction": "for instructions",
    "short_scoreboard": "for functions",
    "math_pipe_throttle": "for a unit",
    "branch_resolving": "for branches",
    "not_selected": "for other warps",
    "selected": "",
}


def poses(chain: Chain, q: np.ndarray) -> np.ndarray:
    """(k, 4, 4) poses of the end effector, by one matrix product per joint."""
    result = np.broadcast_to(np.eye(4), (len(q), 4, 4))
    for i, link in enumerate(chain.arm.links):
        square = np.vstack([link, [0.0, 0.0, 0.0, 1.0]])
        result = result @ square
        if i < chain.n:
            turn = np.tile(np.eye(4), (len(q), 1, 1))
            c, s = np.cos(q[:, i]), np.sin(q[:, i])
            turn[:, 0, 0], turn[:, 0, 1], turn[:, 1, 0], turn[:, 1, 1] = c, -s, s, c
            result = result @ turn
    return result


def solved(chain: Chain, q: np.ndarray, targets: np.ndarray, tolerance: float) -> float:
    """The share of results within the tolerance and the limits, in pieces."""
    lower, upper = chain.limits.T
    size, whole = 1 << 16, targets.ndim == 3

    def good(begin: int) -> int:
        values, wanted = q[begin : begin + size].astype(float), targets[begin : begin + size]
        reached = poses(chain, values)
        point = wanted[:, :3, 3] if whole else wanted
        right = np.linalg.norm(reached[:, :3, 3] - point, axis=1) < tolerance
        if whole:
            turn = np.swapaxes(reached[:, :3, :3], 1, 2) @ wanted[:, :3, :3]
            skew = 0.5 * (turn - np.swapaxes(turn, 1, 2))
            right &= np.linalg.norm(skew[:, [2, 0, 1], [1, 2, 0]], axis=1) < tolerance
            right &= turn[:, [0, 1, 2], [0, 1, 2]].sum(axis=1) > 2.0
        return np.count_nonzero(right & ((values >= lower) & (values <= upper)).all(axis=1))

    with ThreadPoolExecutor() as pool:
        return sum(pool.map(good, range(0, len(q), size))) / len(q)


def random_problems(chain: Chain, rows: int) -> Given:
    """Reachable poses and random starts."""
    return chain.fk(chain.random(1, rows), device="cuda"), chain.random(2, rows)


class Problem:
    """Reachable targets and random starts on the GPU, in the precision to compute with."""

    def __init__(self, chain: Chain, given: Given, whole: bool, dtype: type) -> None:
        from numba import cuda

        self.chain, self.cuda, self.dtype = chain, cuda, dtype
        poses, starts = given
        targets = poses if whole else poses[:, :3, 3]
        self.targets = np.ascontiguousarray(targets, dtype)
        self.asked, self.starts = cuda.to_device(self.targets), cuda.to_device(starts.astype(dtype))

    def seconds(self, close: float, rows: int, passes: int = 5) -> float:
        """The quickest of some passes over so many rows, arrays on the GPU."""
        asked, starts, config = self.asked[:rows], self.starts[:rows], without_search(close)
        best = np.inf
        for _ in range(passes):
            self.cuda.synchronize()
            began = time.perf_counter()
            self.batch = self.chain.solve_batch(asked, starts, config=config, dtype=self.dtype)
            self.cuda.synchronize()
            best = min(best, time.perf_counter() - began)
        return float(best)

    def share(self, close: float) -> float:
        """The share solved, by NumPy's forward kinematics."""
        return solved(self.chain, self.batch.numpy().q, self.targets, close)


def chain_of(joints: int) -> Chain:
    """A snake of so many joints."""
    rows = [DHJoint(a=1.0 / joints, alpha=np.pi / 2 * (-1) ** i) for i in range(joints)]
    return Chain.from_dh(rows, [[-2.5, 2.5]] * joints)


def draw(by_size: dict[int, float], by_joints: dict[int, float], path: str) -> None:
    """Throughput by batch size and by number of joints."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    axes[0].loglog(list(by_size), list(by_size.values()), "o-", color="#0072B2")
    axes[0].set(xlabel="Panda poses in a batch, float64", ylabel="million poses/s")
    axes[1].loglog(list(by_joints), list(by_joints.values()), "o-", color="#D55E00")
    axes[1].set(xlabel="joints of a snake, positions, float64", ylabel="million positions/s")
    axes[1].set_xticks(list(by_joints), map(str, by_joints), minor=False)
    axes[1].xaxis.set_tick_params(which="minor", labelbottom=False)
    for ax in axes:
        ax.grid(alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


def rates(rows: int) -> None:
    """Million a second and the share solved, of poses and positions."""
    print(f"{'':8}{'':10}{'':9}{'within':>8}{'solved':>12}{'million/s':>11}{'first call s':>14}")
    for name in ("panda", "ur5e"):
        chain = Chain.load(name)
        these = random_problems(chain, rows)
        for whole, dtype, close in (
            (True, np.float64, 1e-6),
            (True, np.float32, 1e-5),
            (False, np.float64, 1e-5),
            (False, np.float32, 1e-5),
        ):
            problem = Problem(chain, these, whole, dtype)
            first, seconds = problem.seconds(close, rows, 1), problem.seconds(close, rows)
            what = "poses" if whole else "positions"
            print(
                f"{name:8}{what:10}{dtype.__name__:9}{close:8.0e}{problem.share(close):12.5%}"
                f"{rows / seconds / 1e6:11.1f}{first:14.1f}",
                flush=True,
            )


def growth(rows: int, picture: str | None) -> None:
    """Throughput against the size of a batch, and against joints."""
    by_size: dict[int, float] = {}
    by_joints: dict[int, float] = {}
    panda = robots.panda()
    problem = Problem(panda, random_problems(panda, rows), True, np.float64)
    print("\nPanda, poses, float64, by the number of them")
    sizes = [8**k for k in range(12) if 8**k < rows]
    for size in (*sizes, rows):
        seconds = problem.seconds(1e-6, size)
        by_size[size] = size / seconds / 1e6
        print(f"{size:10}{1e6 * seconds:14.0f} µs{by_size[size]:12.3f} million/s", flush=True)
    some = min(rows, 1 << 20)
    print(f"\nPositions, float64, 1e-5, a snake by its number of joints, {some:,} of them")
    for joints in (3, 7, 12, 20, 30, 64):
        chain = chain_of(joints)
        snake = Problem(chain, random_problems(chain, some), False, np.float64)
        first, seconds = snake.seconds(1e-5, some, 1), snake.seconds(1e-5, some, 2)
        rate = by_joints[joints] = some / seconds / 1e6
        share = snake.share(1e-5)
        print(f"{joints:10}{rate:12.1f} million/s{share:12.5%}{first:10.1f} s first", flush=True)
    if picture:
        draw(by_size, by_joints, picture)


def end_to_end(rows: int) -> None:
    """From and to NumPy arrays, and how many results are those of a CPU."""
    chain = robots.panda()
    targets, starts = random_problems(chain, rows)
    for dtype, config in ((np.float64, without_search(1e-6)), (np.float32, without_search(1e-5))):
        best = np.inf
        for _ in range(3):
            began = time.perf_counter()
            batch = chain.solve_batch(targets, starts, config=config, device="cuda", dtype=dtype)
            best = min(best, time.perf_counter() - began)
        share = solved(chain, batch.q, targets, config.position_tolerance)
        print(
            f"\nPanda, from and to NumPy, {dtype.__name__}: {rows / best / 1e6:.1f} million/s, "
            f"{share:.5%} solved"
        )
    some = slice(0, 100_000)
    for asked, what in ((targets[some], "poses"), (targets[some, :3, 3].copy(), "positions")):
        cpu = chain.solve_batch(asked, starts[some])
        gpu = chain.solve_batch(asked, starts[some], device="cuda")
        alike = np.abs(cpu.q - gpu.q).max(axis=1) < 1e-8
        print(f"the same result as on a CPU, to 1e-8: {alike.mean():.3%} of 100,000 {what}")


def solutions(rows: int) -> None:
    """All solutions of UR5e poses in closed form: the rate, and the bytes that are moved."""
    from numba import cuda

    chain = robots.ur5e()
    q = chain.random(1, rows)
    targets = chain.fk(q, device="cuda")
    asked = cuda.to_device(targets)
    cpu = chain.solutions_batch(targets[:100_000])
    # A pose is read, and eight solutions, a count and two flags are written.
    read, written = 16 * 8, 8 * 6 * 8 + 4 + 2
    bandwidth = _copy_bandwidth()
    print("\nAll solutions of UR5e, float64, limits on, arrays on the GPU; a pose is")
    print(f"{read} bytes read and {written} written; copying moves {bandwidth / 1e9:.0f} GB/s")
    print(f"{'poses':>10}{'million/s':>11}{'kernel':>9}{'GB/s':>7}{'of a copy':>11}{'on CPU':>9}")
    for size in sorted({min(10**k, rows) for k in range(3, 8)} | {rows}):
        some, best = asked[:size], np.inf
        for _ in range(5):
            cuda.synchronize()
            began = time.perf_counter()
            found = chain.solutions_batch(some)
            cuda.synchronize()
            best = min(best, time.perf_counter() - began)
        alone, left = _kernel_alone(chain, some)
        moved = (read + written) * size / alone
        print(
            f"{size:10}{size / best / 1e6:11.1f}{size / alone / 1e6:9.1f}{moved / 1e9:7.0f}"
            f"{moved / bandwidth:11.1%}{left / size:9.3%}",
            flush=True,
        )
    few = min(rows, len(cpu))
    counts = found.counts.copy_to_host()
    angles = found.q[:few].copy_to_host()
    apart = np.abs(angles - cpu.q[:few, :8])
    close = ~(apart > 1e-9).any(axis=(1, 2)) & (counts[:few] == np.minimum(cpu.counts[:few], 8))
    print(f"the same solutions as on a CPU, to 1e-9: {close.mean():.4%} of {few}")
    some = chain.solutions_batch(asked[: min(rows, 1 << 20)])
    share = solved(chain, some.q.copy_to_host()[:, 0], targets[: len(some)], 1e-9)
    print(f"first solutions within 1e-9: {share:.5%}; {counts.mean():.2f} solutions a pose")


def obstacles(rows: int) -> None:
    """Answers that touch nothing, each checked by the CPU; all poses have a known free answer."""
    rows = min(rows, 1 << 22)
    print(f"\n{rows:,} poses with a known free answer from the middle of the ranges, arrays on the")
    print("GPU, no self-motion; no scene: the same poses, nothing is looked at. free: answers that")
    print("the CPU finds free, too; touching: answers called free that are not")
    print(
        f"{'':8}{'':14}{'':9}{'no scene':>10}{'scene':>8}  million/s{'solved':>12}{'free':>12}",
        end="",
    )
    print(f"{'touching':>10}{'restarts':>10}")
    for name in ("panda", "ur5"):
        bare = Chain.load(name)
        for place in ("table", "shelf", "cage", "pigeon-holes"):
            chain = bare.with_scene(SCENES[place]())
            targets = chain.fk(free_configurations(chain, rows), device="cuda")
            for dtype, close in ((np.float64, 1e-6), (np.float32, 1e-5)):
                rate, _ = _rate(bare, targets, dtype, close)
                within, batch = _rate(chain, targets, dtype, close)
                q = batch.q[batch.converged].astype(float)
                free = np.count_nonzero(chain.is_free(q))
                print(
                    f"{name:8}{place:14}{dtype.__name__:9}{rate:10.1f}{within:8.1f}{'':11}"
                    f"{len(q) / rows:12.5%}{free:12,}{len(q) - free:10}"
                    f"{batch.restarts.mean():10.2f}",
                    flush=True,
                )


def free_configurations(chain: Chain, count: int) -> np.ndarray:
    """(count, n) random joint values that collide with nothing in the scene of the arm."""
    kept: list[np.ndarray] = []
    while sum(map(len, kept)) < count:
        q = chain.random(100 + len(kept), count)
        kept.append(q[chain.is_free(q)])
    return np.concatenate(kept)[:count]


def without_search(close: float) -> SolveConfig:
    """A tolerance of position and orientation, without a search for poses that are not reached."""
    return SolveConfig(close, close, search_unreached=False)


def _rate(chain: Chain, targets: np.ndarray, dtype: type, close: float) -> tuple[float, IKBatch]:
    """Million poses a second in the quickest of some passes, and the results."""
    from numba import cuda

    asked, config = cuda.to_device(targets.astype(dtype)), without_search(close)
    best = np.inf
    for _ in range(4):
        cuda.synchronize()
        began = time.perf_counter()
        batch = chain.solve_batch(asked, config=config, dtype=dtype)
        cuda.synchronize()
        best = min(best, time.perf_counter() - began)
    return len(targets) / best / 1e6, batch.numpy()


def _copy_bandwidth() -> float:
    """Bytes a second that the GPU moves when it copies 1 GB, read and written."""
    from numba import cuda

    a, b = cuda.device_array(1 << 27), cuda.device_array(1 << 27)
    best = np.inf
    for _ in range(5):
        cuda.synchronize()
        began = time.perf_counter()
        b.copy_to_device(a)
        cuda.synchronize()
        best = min(best, time.perf_counter() - began)
    return 2.0 * 8.0 * (1 << 27) / best


def _kernel_alone(chain: Chain, targets: Any) -> tuple[float, int]:
    """Seconds of the kernel without allocation and doubtful poses, and how many these are."""
    from numba import cuda

    from jointwise.kernels.cuda.solutions import solutions_kernel

    kernel = solutions_kernel(chain.arm.packed.tobytes(), chain.arm.closed_form.packed.tobytes())
    count, near = len(targets), cuda.to_device(chain.mid_range[None].copy())
    results = cuda.device_array((count, 8, 6)), cuda.device_array(count, np.int32)
    flags = cuda.device_array(count, np.bool_), cuda.device_array(count, np.bool_)
    doubtful, best = cuda.device_array(count, np.int32), np.inf
    for _ in range(5):
        counter = cuda.to_device(np.zeros(1, np.int32))
        cuda.synchronize()
        began = time.perf_counter()
        kernel[-(-count // 128), 128](targets, near, 8, *results, *flags, doubtful, counter)
        cuda.synchronize()
        best = min(best, time.perf_counter() - began)
    return float(best), int(counter.copy_to_host()[0])


def once(rows: int, name: str) -> None:
    """One batch of Panda poses, for the profiler."""
    panda, dtype = robots.panda(), np.dtype(name).type
    Problem(panda, random_problems(panda, rows), True, dtype).seconds(
        1e-6 if name == "float64" else 1e-5, rows, 1
    )


def roofline(rows: int) -> None:
    """What limits the kernels, by Nsight Compute, in the first attempt at every pose."""
    print(f"\nNsight Compute: the first attempt at {rows:,} poses of a Panda")
    print(f"{'':25}{'ms':>7}{'registers':>11}{'warps':>7}{'threads':>9}{'bytes':>7}", end="")
    print(f"{'operations':>12}{'of peak':>9}  waiting")
    names = [TIME, CYCLES, PROCESSORS, REGISTERS, WARPS, LANES, BYTES]
    names += [OPERATION.format(name) for name in OPERATIONS]
    names += [WAITING.format(name) for name in WAITS]
    if not shutil.which("ncu"):
        sys.exit("ncu is not on the PATH: expected NVIDIA's Nsight Compute.")
    # Peak operations per cycle of one multiprocessor of an H100 or H200.
    for dtype, peak in (("float64", 128), ("float32", 256)):
        ncu = ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base"]
        ncu += [
            "-c",
            "3",
            "-k",
            "regex:sweep_attempts|step_attempts|select_results",
            "--metrics",
            ",".join(names),
        ]
        code = f"from benchmarks.gpu import once; once({rows}, {dtype!r})"
        process = subprocess.run(
            [*ncu, sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
        if process.returncode:
            sys.exit(process.stdout + process.stderr)
        head, _, *lines = csv.reader(
            line for line in process.stdout.splitlines() if line.startswith('"')
        )
        for line in lines:
            text = dict(zip(head, line, strict=True))
            seen = {name: float(text[name].replace(",", "")) for name in names}
            done = sum(k * seen[OPERATION.format(name)] for name, k in OPERATIONS.items())
            share = done / (peak * seen[CYCLES] * seen[PROCESSORS])
            waits = {why: seen[WAITING.format(name)] for name, why in WAITS.items()}
            whole = sum(waits.values())
            longest = sorted((why for why in waits if why), key=waits.__getitem__)[:-4:-1]
            print(
                f"{text['Kernel Name'].split('[')[0]:16}{dtype:9}{seen[TIME] / 1e6:7.2f}"
                f"{seen[REGISTERS]:11.0f}{seen[WARPS]:7.1f}{seen[LANES]:9.1f}"
                f"{seen[BYTES] / rows:7.0f}{done / rows:12.0f}{share:9.1%}  "
                + ", ".join(f"{why} {waits[why] / whole:.0%}" for why in longest),
                flush=True,
            )


def tolerance(rows: int) -> None:
    """Poses with tolerance boxes on a GPU, from and to NumPy."""
    count = min(rows, 10_000)
    print(f"\n{count} random reachable poses an arm with a box, random starts, 1e-6, limits on;")
    print("solved: inside the box, by NumPy; honest: every flag true to NumPy's errors")
    print(f"{'':8}{'':14}{'solved':>10}{'honest':>9}{'restarts':>10}{'million/s':>11}")
    for name in ARMS:
        for kind, box in {"exact pose": {}, **BOXES}.items():
            row, seconds = tolerance_row(name, kind, box, count, "cuda")
            print(f"{row}{1e-6 / seconds:11.2f}", flush=True)


def robots_table(rows: int, folder: Path) -> None:
    """Whole robots on a GPU: many poses at once, solved cold and followed."""
    from benchmarks.gpu_robots import robots as table

    table(rows, folder)


TABLES = {
    "rates": rates,
    "growth": growth,
    "end": end_to_end,
    "tolerance": tolerance,
    "solutions": solutions,
    "obstacles": obstacles,
    "robots": robots_table,
    "roofline": roofline,
}


def main() -> None:
    """All tables, or one; the roofline only when it is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("table", nargs="?", choices=list(TABLES))
    parser.add_argument("--rows", type=int, default=1 << 24)
    parser.add_argument("--plot", help="draw throughput by batch size and joints to this file")
    where = Path(__file__).parent / "robots"
    parser.add_argument(
        "--robots",
        type=Path,
        default=where,
        metavar="FOLDER",
        help="URDF files that python -m benchmarks.gpu_robots FOLDER wrote",
    )
    add_keep(parser)
    arguments = parser.parse_args()
    rows = arguments.rows
    import numba
    from numba import cuda

    device = cuda.get_current_device()
    more = {"growth": [arguments.plot], "robots": [arguments.robots]}
    asked = [arguments.table] if arguments.table else list(TABLES)[:-1]
    for name in asked:
        with kept(f"gpu_{name}", TABLES[name].__doc__ or name, arguments.keep):
            print(f"{device.name}, numba {numba.__version__}, {rows} reachable targets, limits on")
            TABLES[name](rows, *more.get(name, ()))


if __name__ == "__main__":
    main()
