"""Jobs on a cluster of simulated GPUs: ``python -m tests.support.gpu_cluster FOLDER``.

Each job is computed on the GPU of this process, and by a cluster of a worker with a GPU and one
without. Prints the names of the workers that computed something, and whether the bits are equal.
"""

import sys
from pathlib import Path

import numpy as np

from jointwise import Workers, reach_map, robots, solve_dataset
from jointwise.backends import cuda
from jointwise.datasets.row_job import RowJob
from jointwise.reach.chunks import Job
from jointwise.reach.store import MapStore
from tests.support.reach import TWO_LINKS, file_hashes

REGION = (0.4, 0.4), (0.0, 0.4), (0.0, 0.0)


def solve_rows(folder, workers):
    """A few positions."""
    file = folder.parent / "rows.npz"
    np.savez(file, targets=np.linspace([0.3, 0.2, 0.3], [0.4, 0.3, 0.4], 5))
    solve_dataset(robots.ur5e(), file, folder, workers=workers, progress=False)


def map_voxels(folder, workers):
    """A map of three voxels."""
    reach_map(TWO_LINKS, 0.2, None, REGION, store=folder, workers=workers, progress=False)


def record_workers(job, names):
    """Have a kind of job add the name of each worker that computes a chunk."""
    from distributed import get_worker

    compute = job.compute

    def recorded(self, index, stop=None):
        names.add(get_worker().name)
        return compute(self, index, stop)

    job.compute = recorded


def main(folder):
    """Compute every job twice."""
    from distributed import Client, Scheduler, SpecCluster, Worker

    cuda.BLOCK_THREADS, cuda.FULL_GPU = 4, 8
    options = {"nthreads": 1, "dashboard": False}
    workers = {
        "with_gpu": {"cls": Worker, "options": {**options, "resources": {"GPU": 1}}},
        "without": {"cls": Worker, "options": options},
    }
    scheduler = {"cls": Scheduler, "options": {"dashboard_address": ":0"}}
    kinds = ((RowJob, solve_rows), (Job, map_voxels))
    for _, run in kinds:
        run(folder / f"{run.__name__}_here", Workers("cuda", chunk=2))
    names = set()
    with SpecCluster(workers, scheduler) as cluster, Client(cluster) as client:
        client.wait_for_workers(2)
        for job, run in kinds:
            record_workers(job, names)
            run(folder / f"{run.__name__}_there", Workers("cuda", client=client, chunk=2))
    for _, run in kinds:
        here, there = (file_hashes(folder / f"{run.__name__}_{at}") for at in ("here", "there"))
        print(run.__name__, len(here), here == there)
    print(*names)
    print(MapStore(folder / "map_voxels_there").description["versions"]["gpu"])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
