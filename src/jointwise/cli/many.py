"""Many targets: ``jointwise batch`` and ``path``."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from jointwise.cli import pictures
from jointwise.cli.options import (
    Arm,
    Base,
    Degrees,
    Device,
    Output,
    Plot,
    Restarts,
    Seed,
    Start,
    Table,
    Threads,
    Tip,
    Tolerance,
    chain_of,
    config_of,
)

if TYPE_CHECKING:
    from jointwise.solvers.path import IKPath
    from jointwise.solvers.results import IKBatch


def batch(
    arm: Arm,
    targets: Table,
    output: Output = "-",
    deg: Degrees = False,
    tolerance: Tolerance = None,
    restarts: Restarts = None,
    seed: Seed = 0,
    device: Device = "cpu",
    threads: Threads = None,
    base: Base = None,
    tip: Tip = None,
) -> int:
    """Solve every target of a file or a stream.

    Columns are x, y, z; roll, pitch, yaw or qx, qy, qz, qw for poses, or dx, dy, dz for where the
    tip's z axis points; and where to start, under the names of the joints or as q1, q2, ...
    Answers have a column for each joint and for how it went. An .npz has an array targets,
    (m, 3) or (m, 4, 4), and may have starts: in metres and radians always.

    \b
    jointwise batch panda targets.csv -o joints.csv
    produce | jointwise batch panda - | consume
    """
    import numpy as np

    from jointwise.cli.answerfile import writing
    from jointwise.cli.targetfile import read
    from jointwise.solvers.results import Status, status_report

    chain, config = chain_of(arm, base, tip), config_of(tolerance, restarts)
    counts = np.zeros(len(Status), np.int64)
    progress = targets != "-" and sys.stderr.isatty()
    with writing(output, chain, deg, targets) as write:
        for asked in read(targets, chain, deg):
            answers = chain.solve_batch(
                asked.targets,
                asked.starts,
                config,
                seed,
                device,
                threads=threads,
                progress=progress,
            )
            write(answers)
            counts += np.bincount(answers.status, minlength=len(Status))
    print("\n".join(status_report(counts)), file=sys.stderr)
    return 1 if counts[1:].any() else 0


def path(
    arm: Arm,
    waypoints: Table,
    output: Output = "-",
    start: Start = None,
    deg: Degrees = False,
    max_step: Annotated[
        float | None,
        typer.Option(
            help="Largest change of a joint between neighbours [rad, m].", metavar="NUMBER"
        ),
    ] = None,
    plot: Plot = None,
    tolerance: Tolerance = None,
    restarts: Restarts = None,
    seed: Seed = 0,
    base: Base = None,
    tip: Tip = None,
) -> int:
    """Solve targets in turn, without jumps between.

    Each goes on from the one before; where that takes a jump, it is said. The file is as for batch;
    of columns for where to start, the first row counts.

    \b
    jointwise path panda waypoints.csv -o joints.csv
    """
    import numpy as np

    from jointwise.cli import degrees
    from jointwise.cli.answerfile import writing
    from jointwise.cli.columns import one_by_one
    from jointwise.cli.targetfile import read

    chain, config = chain_of(arm, base, tip), config_of(tolerance, restarts)
    begin = degrees.given(chain, start, deg) if start else None
    if plot is not None:
        pictures.check(plot)
    with writing(output, chain, deg, waypoints) as write:
        targets = []
        for asked in read(waypoints, chain, deg):
            if begin is None and asked.starts is not None:
                begin = np.reshape(asked.starts, (-1, chain.n))[0]
            targets += one_by_one(asked.targets)
        progress = sys.stderr.isatty()
        found = chain.solve_path(targets, begin, config, max_step, seed, progress)
        write(_as_batch(found))
    print(found, file=sys.stderr)
    if plot is not None:
        pictures.draw_path(plot, chain, found)
    return 0 if found.converged else 1


def _as_batch(found: "IKPath") -> "IKBatch":

    from jointwise.solvers.results import IKBatch

    return IKBatch.from_list(found.results, found.joint_angles.shape[1])
