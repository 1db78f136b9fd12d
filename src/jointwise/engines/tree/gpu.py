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

# What is done on the CPU alone.
COLLISIONS, TOO_LARGE = "collisions are checked", "so many joints and targets are solved"


def runs_on_gpu(device: Device, reason: str) -> bool:
    """Whether a problem runs on a GPU.

    Args:
        device: The requested one.
        reason: What is done on the CPU alone, such as "collisions are checked"; "" for nothing.

    Raises:
        InvalidInputError: A GPU is requested for a problem that needs the CPU.
    """
    if reason and device == "cuda":
        raise InvalidInputError(
            f"device is 'cuda', but {reason} on the CPU: leave it out, or use device='auto'."
        )
    return not reason and wants_gpu(device)


def too_large(request: Request) -> str:
    """The reason if a robot needs more memory than a thread of a GPU has; else ""."""
    return "" if cuda_trees.fits(request.tree.ints) else TOO_LARGE


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
