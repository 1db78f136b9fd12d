"""pytorch-kinematics' pseudo-inverse solver, a thousand poses a call, ten retries, on one core."""

import sys
import time
from pathlib import Path

import numpy as np
import pytorch_kinematics as pk
import timed
import torch

torch.set_num_threads(1)
SIZE = 1000


def make_solver(links, limits):
    """All poses of a call are solved together; of its retries the first that converged counts."""
    text = Path(timed.urdf_file(links, limits)).read_text()
    arm = pk.build_serial_chain_from_urdf(text, "tip", "base").to(dtype=torch.float64)
    bounds = torch.tensor(limits, dtype=torch.float64)

    def solve(targets):
        torch.manual_seed(0)
        solver = pk.PseudoInverseIK(
            arm,
            max_iterations=100,
            num_retries=10,
            joint_limits=bounds,
            pos_tolerance=9e-7,
            rot_tolerance=9e-7,
            early_stopping_any_converged=True,
            early_stopping_no_improvement="all",
            debug=False,
            lr=1.0,
        )
        poses = pk.Transform3d(matrix=torch.tensor(targets), dtype=torch.float64)
        found = solver.solve(poses)
        first = found.converged.numpy().argmax(axis=1)
        return found.solutions.numpy()[np.arange(len(targets)), first]

    return solve


def run():
    """As ``timed.run`` does, with the time of a call shared by its poses."""
    problems = np.load(sys.argv[1])
    solve = make_solver(problems["links"], problems["limits"])
    solve(problems["targets"][:SIZE])  # to warm up
    answers, seconds = [], []
    for begin in range(0, len(problems["targets"]), SIZE):
        targets = problems["targets"][begin : begin + SIZE]
        began = time.perf_counter()
        answers.append(solve(targets))
        seconds.append(np.full(len(targets), (time.perf_counter() - began) / len(targets)))
    np.savez(sys.argv[2], answers=np.concatenate(answers), seconds=np.concatenate(seconds))


run()
