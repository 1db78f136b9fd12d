"""``jointwise track``."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from jointwise.cli.commands.path import first_start
from jointwise.cli.options import (
    Arm,
    Base,
    Degrees,
    Output,
    Start,
    TargetFile,
    Tip,
    WithTargets,
    load_chain,
)

if TYPE_CHECKING:
    from jointwise.chain import Chain
    from jointwise.cli.tables.columns import TargetTable
    from jointwise.kernels.shapes import Floats


def track(
    arm: Arm,
    targets: TargetFile,
    output: Output = "-",
    rate: Annotated[float, typer.Option(help="Targets per second [Hz].", metavar="HZ")] = 1000.0,
    max_velocity: Annotated[
        float, typer.Option(help="Velocity limit of all joints [rad/s, m/s].", metavar="NUMBER")
    ] = 1.0,
    max_acceleration: Annotated[
        float, typer.Option(help="Acceleration limit [rad/s², m/s²].", metavar="NUMBER")
    ] = 10.0,
    max_jerk: Annotated[
        float | None,
        typer.Option(help="Jerk limit [rad/s³, m/s³]; default: none.", metavar="NUMBER"),
    ] = None,
    start: Start = None,
    deg: Degrees = False,
    base: Base = None,
    tip: Tip = None,
    with_targets: WithTargets = False,
) -> int:
    """Follow a target that moves, within limits of the motion.

    Each row is the target of one step of 1 / --rate seconds, and gets one row of joint values,
    which keep the limits of position, velocity, acceleration and jerk. The limits are in radians
    also with --deg. The file is as for batch; the arm starts at --start, else at the first start of
    the file, else at a solution of the first target. The exit code is 1 if a target is blocked, out
    of reach or invalid.

    \b
    jointwise track panda targets.csv --rate 1000 -o joints.csv
    produce | jointwise track panda - --rate 500 --start 0 -0.5 0 -2 0 1.6 0.8 | consume
    """
    import numpy as np

    from jointwise.cli.tables.result_columns import ResultColumns
    from jointwise.cli.tables.result_file import check_columns, open_results
    from jointwise.cli.tables.target_file import read_targets
    from jointwise.cli.units import to_radians
    from jointwise.model import checks
    from jointwise.solvers.track_results import TrackStatus, track_report

    chain, dt = load_chain(arm, base, tip), 1.0 / checks.positive("--rate", rate)
    limits = {"max_velocity": max_velocity, "max_acceleration": max_acceleration}
    q0 = to_radians(chain, start, deg) if start else None
    counts, tracker = np.zeros(len(TrackStatus), np.int64), None
    columns = ResultColumns(chain, deg, with_targets, tracked=True)
    with open_results(output, targets, columns) as write:
        for table in read_targets(targets, chain, deg):
            if tracker is None:
                check_columns(table, columns, targets, output)
                first = _start(chain, table) if q0 is None else q0
                tracker = chain.track(first, dt, **limits, max_jerk=max_jerk)
            run = tracker.run(table.targets)
            write(run, table)
            counts += np.bincount(run.status, minlength=len(counts))
    print("\n".join(track_report(counts.tolist())), file=sys.stderr)
    return 1 if counts[TrackStatus.BLOCKED :].any() else 0


def _start(chain: "Chain", table: "TargetTable") -> "Floats":
    """(n,) the first start of the table, else a solution of its first target [rad, m]."""
    import numpy as np

    given = first_start(table, chain)
    if given is not None:
        return given
    solved = chain.solve_batch(table.kind.split(table.targets)[:1]).joint_angles
    return solved[0] if np.isfinite(solved).all() and len(solved) else chain.home
