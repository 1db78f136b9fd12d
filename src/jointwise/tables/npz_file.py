"""NumPy's ``.npz``: arrays of targets and starts; of results, all their fields."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.results.batch import saved_arrays
from jointwise.results.plan import Plan
from jointwise.results.tracking import TrackRun
from jointwise.robot import Robot
from jointwise.tables.columns import ModelFor, TargetTable
from jointwise.tables.result_columns import Columns, Saved, Write
from jointwise.targets import pack_targets

TARGETS, STARTS, LINKS = "targets", "starts", "links"


def read(path: Path, model_for: ModelFor, in_degrees: bool) -> Iterator[TargetTable]:
    """The targets and starts of a file, always in metres and radians."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (ValueError, LookupError, TypeError, AttributeError, EOFError, BadZipFile):
        arrays = {}
    starts = arrays.pop(STARTS, None)
    model = model_for(TARGETS not in arrays and bool(arrays))
    if isinstance(model, Robot) and set(arrays) <= set(model.link_names):
        yield TargetTable(model, arrays, starts)
    elif TARGETS in arrays:
        pack_targets(arrays[TARGETS])  # raises if the shape is wrong
        yield TargetTable(model, arrays[TARGETS], starts)
    else:
        raise no_targets(path)


def no_targets(path: Path) -> InvalidInputError:
    """The error for a file without arrays of targets."""
    return InvalidInputError(
        f"{path.name} has no targets: expected an array of this name, (m, 3) or (m, 4, 4), or "
        "arrays named after links of the robot, saved with numpy.savez."
    )


@contextmanager
def write(path: Path) -> Iterator[Write]:
    """Write results to a file, all at the end."""
    batches: list[dict[str, Any]] = []

    def write_columns(results: Saved, columns: Columns) -> None:
        if isinstance(results, Plan):
            results.save(path)
        elif isinstance(results, TrackRun):
            batches.append(_run_arrays(results))
        else:
            batches.append(saved_arrays(results))

    yield write_columns
    if not batches:
        return
    arrays: dict[str, Any] = {
        name: first if name == LINKS else np.concatenate([batch[name] for batch in batches])
        for name, first in batches[0].items()
    }
    np.savez(path, **arrays)


def _run_arrays(run: TrackRun) -> dict[str, Any]:
    """The arrays of a run, named as those of a batch."""
    names = ("q", "velocities", "position_error", "orientation_error", "status")
    arrays: dict[str, Any] = {name: getattr(run, name) for name in names}
    if run.errors:
        errors = np.stack([np.stack(each, axis=-1) for each in run.errors.values()], axis=1)
        arrays |= {LINKS: np.array(list(run.errors)), "link_errors": errors}
    return arrays
