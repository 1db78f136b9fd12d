"""What a GPU does, printed as tables: ``python -m benchmarks.gpu [--rows N]``.

Every answer is looked at by forward kinematics in NumPy that no kernel shares.
"""

import argparse
import time

import numpy as np

from jointwise import Chain, DHJoint, SolveConfig, gpu, robots


def poses(chain: Chain, q: np.ndarray) -> np.ndarray:
    """(k, 4, 4) where the tip is, a matrix a joint."""
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


def solved(chain: Chain, q: np.ndarray, targets: np.ndarray, close: float, whole: bool) -> float:
    """The share of answers within the tolerance and the limits, looked at in pieces."""
    lower, upper = chain.limits.T
    good, size = 0, 1 << 18
    for begin in range(0, len(q), size):
        values, wanted = q[begin : begin + size].astype(float), targets[begin : begin + size]
        there = poses(chain, values)
        distance = np.linalg.norm(there[:, :3, 3] - wanted[:, :3, 3], axis=1)
        turn = np.swapaxes(there[:, :3, :3], 1, 2) @ wanted[:, :3, :3]
        skew = 0.5 * (turn - np.swapaxes(turn, 1, 2))
        sine = np.linalg.norm(skew[:, [2, 0, 1], [1, 2, 0]], axis=1)
        inside = ((values >= lower - 1e-6) & (values <= upper + 1e-6)).all(axis=1)
        close_by = (distance < close) & inside
        good += np.count_nonzero(close_by & (sine < close) if whole else close_by)
    return good / len(q)


class Problem:
    """Reachable targets on the GPU, and room for their answers."""

    def __init__(self, chain: Chain, rows: int, whole: bool, dtype: type) -> None:
        from numba import cuda

        self.chain, self.whole, self.cuda = chain, whole, cuda
        self.targets, starts = chain.fk(chain.random(1, rows)), chain.random(2, rows)
        asked = self.targets if whole else self.targets[:, None, :3, 3]
        weights = chain.arm.weights if whole else (1.0,)
        self.solver = gpu.Solver(chain.arm.block, chain.n, weights, dtype, rows)
        asked = np.ascontiguousarray(asked, dtype)
        self.given = cuda.to_device(asked), cuda.to_device(starts.astype(dtype))
        shapes = ((rows, chain.n), dtype), ((rows, 2), dtype), ((rows, 3), np.int64)
        self.found = tuple(cuda.device_array(*shape) for shape in shapes)

    def seconds(self, close: float, rows: int, passes: int = 5) -> float:
        """The quickest of some passes over so many rows, arrays on the GPU; compiled before."""
        asked, starts = (array[:rows] for array in self.given)
        best = np.inf
        for _ in range(passes + 1):
            self.cuda.synchronize()
            began = time.perf_counter()
            self.left = self.solver.solve(asked, starts, True, close, close, 101, self.found)
            self.cuda.synchronize()
            best = min(best, time.perf_counter() - began)
        return float(best)

    def share(self, close: float) -> float:
        """The share solved, by NumPy's forward kinematics; what is left counts as not."""
        q = self.found[0].copy_to_host()
        q[self.left] = np.nan
        q = np.nan_to_num(q, nan=99.0)
        return solved(self.chain, q, self.targets, 1.05 * close, self.whole)


def chain_of(joints: int) -> Chain:
    """A snake of so many joints."""
    rows = [DHJoint(a=1.0 / joints, alpha=np.pi / 2 * (-1) ** i) for i in range(joints)]
    return Chain.from_dh(rows, [[-2.5, 2.5]] * joints)


def draw(by_size: dict[int, float], by_joints: dict[int, float], path: str) -> None:
    """How it grows: million a second against the size of a batch, and against joints."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    axes[0].loglog(list(by_size), list(by_size.values()), "o-", color="#0072B2")
    axes[0].set(xlabel="Panda poses in a batch, float64", ylabel="million poses/s")
    axes[1].plot(list(by_joints), list(by_joints.values()), "o-", color="#D55E00")
    axes[1].set(
        xlabel="joints of a snake, positions, float64", ylabel="million positions/s", ylim=0
    )
    for ax in axes:
        ax.grid(alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


def main() -> None:
    """All tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--rows", type=int, default=1 << 23)
    parser.add_argument("--plot", help="draw how it grows to this file")
    arguments = parser.parse_args()
    rows, by_size, by_joints = arguments.rows, {}, {}
    import numba
    from numba import cuda

    device = cuda.get_current_device()
    print(f"{device.name}, numba {numba.__version__}, {rows} reachable targets, limits on")
    print(f"{'':8}{'':10}{'':9}{'within':>8}{'solved':>12}{'million/s':>11}{'compiling s':>13}")
    for whole, dtype, close in (
        (True, np.float64, 1e-6),
        (True, np.float32, 1e-5),
        (False, np.float64, 1e-5),
        (False, np.float32, 1e-5),
    ):
        for name in ("panda", "ur5e"):
            problem = Problem(Chain.load(name), rows, whole, dtype)
            first = time.perf_counter()
            problem.seconds(close, rows, 0)
            first = time.perf_counter() - first
            seconds = problem.seconds(close, rows)
            what = "poses" if whole else "positions"
            print(
                f"{name:8}{what:10}{dtype.__name__:9}{close:8.0e}{problem.share(close):12.5%}"
                f"{rows / seconds / 1e6:11.1f}{first:13.1f}",
                flush=True,
            )
    problem = Problem(robots.panda(), rows, True, np.float64)
    print("\nPanda, poses, float64, by the number of them")
    size = 1
    while size <= rows:
        seconds = problem.seconds(1e-6, size)
        print(
            f"{size:10}{1e6 * seconds:14.0f} µs{size / seconds / 1e6:12.3f} million/s", flush=True
        )
        size *= 8
    print("\nPositions, float64, 1e-5, a snake by its number of joints")
    for joints in (3, 7, 12, 20, 30):
        snake = Problem(chain_of(joints), min(rows, 1 << 20), False, np.float64)
        seconds = snake.seconds(1e-5, min(rows, 1 << 20), 2)
        rate = by_joints[joints] = min(rows, 1 << 20) / seconds / 1e6
        print(f"{joints:10}{rate:12.1f} million/s", flush=True)
    if arguments.plot:
        draw(by_size, by_joints, arguments.plot)
    chain = robots.panda()
    targets, starts = chain.fk(chain.random(1, rows // 4)), chain.random(2, rows // 4)
    for dtype, config in ((np.float64, SolveConfig()), (np.float32, SolveConfig(1e-5, 1e-5))):
        chain.solve_batch(targets[:100], starts[:100], config, device="cuda", dtype=dtype)
        began = time.perf_counter()
        batch = chain.solve_batch(targets, starts, config, device="cuda", dtype=dtype)
        rate = len(targets) / (time.perf_counter() - began) / 1e6
        print(f"\nPanda, from and to NumPy, {dtype.__name__}: {rate:.1f} million/s")
        print(f"{batch.converged.mean():.4%} solved")
    some = slice(0, 100_000)
    alike = np.abs(
        chain.solve_batch(targets[some], starts[some]).joint_angles
        - chain.solve_batch(targets[some], starts[some], device="cuda").joint_angles
    ).max(axis=1)
    print(f"the same answer as a CPU's, to 1e-8: {np.mean(alike < 1e-8):.3%} of 100,000")


if __name__ == "__main__":
    main()
