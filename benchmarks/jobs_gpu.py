"""Jobs on a GPU: ``python -m benchmarks.jobs_gpu [--rows N] [--part stream | cluster]``.

Poses of a Panda that are made on the GPU piece by piece, solved there and reduced to statistics:
how many a second from end to end, and where the time goes. Then a reach map by one process, by two
Dask workers that share the GPU, and by a cluster with one worker that has the GPU and one that has
none: the bits are compared. Needs an NVIDIA GPU and the extras cuda, cluster and reach.
"""

import argparse
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.jobs import hashes
from jointwise import SolveConfig, Workers, reach_map, robots

# Poses of a piece of the stream.
PIECE = 1 << 24
# The map of the clusters: resolution [m] and orientations.
RESOLUTION, ORIENTATIONS = 0.05, 100
# Error of a pose that counts as reached by the check [m].
REACHED = 1e-5


def stream(rows: int) -> None:
    """Make, solve and reduce poses, and print where the time goes."""
    import cupy

    arm, random = robots.panda(), cupy.random.default_rng(1)
    lower, upper = map(cupy.asarray, arm.limits.T)
    config = SolveConfig(search_unreached=False)
    spent = dict.fromkeys(("joint values", "their poses", "solutions", "statistics"), 0.0)
    solved, attempts, worst, wrong = 0, 0.0, 0.0, 0

    def timed(what: str, work: Callable[[], Any]) -> Any:
        began = perf_counter()
        result = work()
        cupy.cuda.Device().synchronize()
        spent[what] += perf_counter() - began
        return result

    def reduce(targets: Any, batch: Any) -> tuple[int, float, float, int]:
        converged = cupy.asarray(batch.converged)
        reached = arm.fk(cupy.asarray(batch.q), device="cuda")[:, :3, 3]
        missed = cupy.abs(reached - targets[:, :3, 3]).max(axis=1)
        return (
            int(converged.sum()),
            float(cupy.asarray(batch.restarts).sum()),
            float(missed[converged].max()),
            int((converged & (missed > REACHED)).sum()),
        )

    arm.solve_batch(arm.fk(random.uniform(size=(1024, arm.n)), device="cuda"), config=config)
    began, done = perf_counter(), 0
    while done < rows:
        count = min(PIECE, rows - done)
        q = timed(
            "joint values", lambda n=count: lower + (upper - lower) * random.random((n, arm.n))
        )
        targets = timed("their poses", lambda q=q: arm.fk(q, device="cuda"))
        batch = timed("solutions", lambda t=targets: arm.solve_batch(t, config=config))
        found = timed("statistics", lambda t=targets, b=batch: reduce(t, b))
        solved, attempts = solved + found[0], attempts + found[1]
        worst, wrong = max(worst, found[2]), wrong + found[3]
        done += count
    seconds = perf_counter() - began
    print(f"\n{rows:,} poses of a Panda, made, solved and reduced on the GPU: {seconds:.2f} s,")
    print(
        f"{rows / seconds / 1e6:.0f} million/s; {solved / rows:.5%} solved, {attempts / rows:.2f}"
    )
    print(f"restarts a pose; worst error {worst:.1e} m, {wrong} of those solved miss")
    print("; ".join(f"{what} {time / seconds:.0%}" for what, time in spent.items()), flush=True)


def clusters() -> None:
    """Maps by one process and by clusters, with the same bits."""
    from distributed import Client, Scheduler, SpecCluster, Worker

    options = {"nthreads": 1, "dashboard": False}
    owner, other = {**options, "resources": {"GPU": 1}}, options
    kinds = {"two workers on one GPU": (owner, owner), "a GPU and a CPU": (owner, other)}
    scheduler = {"cls": Scheduler, "options": {"dashboard_address": ":0"}}
    print(f"\nA map of a Panda at {RESOLUTION} m with {ORIENTATIONS} orientations, on the GPU")
    with tempfile.TemporaryDirectory() as folder:
        alone = Path(folder) / "one process"
        print(f"  one process {_mapped(alone, Workers('cuda', chunk=8)):7.1f} s", flush=True)
        for name, members in kinds.items():
            workers = {str(i): {"cls": Worker, "options": own} for i, own in enumerate(members)}
            with SpecCluster(workers, scheduler) as cluster, Client(cluster) as client:
                client.wait_for_workers(2)
                store = Path(folder) / name
                seconds = _mapped(store, Workers("cuda", client=client, chunk=8))
            same = "equal" if hashes(store) == hashes(alone) else "DIFFERENT"
            print(f"  {name} {seconds:7.1f} s: bits {same}", flush=True)


def _mapped(store: Path, workers: Workers) -> float:
    """Compute the map; the time [s]."""
    began = perf_counter()
    arm = robots.panda()
    reach_map(arm, RESOLUTION, ORIENTATIONS, store=store, workers=workers, progress=False)
    return perf_counter() - began


def main() -> None:
    """Both parts, or the one that was asked for."""
    parts: dict[str, Callable[[int], None]] = {"stream": stream, "cluster": lambda _: clusters()}
    parser = argparse.ArgumentParser(prog="python -m benchmarks.jobs_gpu", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000_000, help="poses (1000000000)")
    parser.add_argument("--part", choices=parts, help="only this one")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for name, part in parts.items():
        if arguments.part in (None, name):
            part(arguments.rows)


if __name__ == "__main__":
    main()
