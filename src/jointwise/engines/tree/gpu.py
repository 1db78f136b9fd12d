"""Which problems of whole robots run on a GPU, and their batches there."""

import numpy as np

from jointwise.backends import cuda_trees
from jointwise.backends.progress import Report
from jointwise.config import Device, SolveConfig
from jointwise.engines.run_options import precision, wants_gpu
from jointwise.engines.tree.request import Request
from jointwise.engines.tree.solve import packed_rows
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.task import PackedCriteria
from jointwise.kernels.layout.tree import TreeResults
from jointwise.problem import Problem


def runs_on_gpu(device: Device, problem: Problem, needs_cpu: str = "") -> bool:
    """Whether a problem of a robot runs on a GPU.

    Args:
        device: The requested one.
        problem: The problem.
        needs_cpu: Why the call needs the CPU; "" if it does not.

    Raises:
        InvalidInputError: A GPU is requested for a problem that needs the CPU.
    """
    if not wants_gpu(device):
        return False
    if problem.collision is not None:
        needs_cpu = "a scene, collisions are"
    if not needs_cpu:
        return True
    if device == "cuda":
        raise InvalidInputError(
            f"device is 'cuda', but for {needs_cpu} solved on the CPU: leave it out, or use "
            "device='auto'."
        )
    return False


def check_precision(dtype: object, config: SolveConfig) -> None:
    """Refuse single precision."""
    if precision(dtype, config) is not np.float64:  # type: ignore[arg-type]
        raise InvalidInputError(
            "dtype is float32, which is for one target of a serial arm: whole robots are solved "
            "in float64. Leave it out."
        )


def solve_batch(
    request: Request, criteria: PackedCriteria, results: TreeResults, report: Report
) -> None:
    """Solve all rows of a request on a GPU.

    Args:
        request: The sets of targets.
        criteria: When to stop.
        results: The states at the start; the results are written.
        report: Called with the rows done and solved.
    """
    settings = request.settings[None]
    if request.held is not None and len(request.starts) > 1:
        each = [request.row(i).settings for i in range(len(request.targets))]
        settings = np.array(each).reshape(-1, *request.settings.shape)
    packed = packed_rows(request, criteria, settings)
    if len(request.targets):
        cuda_trees.solve_rows(packed, request.states, results, report)
