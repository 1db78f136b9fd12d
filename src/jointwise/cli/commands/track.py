"""``jointwise track``."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from jointwise.cli.commands.path import first_start
from jointwise.cli.models import SceneOptions
from jointwise.cli.options import Start, TableOptions, TargetFile
from jointwise.cli.printing import in_words

if TYPE_CHECKING:
    from jointwise.kernels.layout.arrays import Floats
    from jointwise.tables.columns import TargetTable
    from jointwise.verbs import Verbs

# Velocity limit of joints if neither the user nor the robot has one [rad/s, m/s].
DEFAULT_VELOCITY = 1.0


def track(
    options: SceneOptions,
    targets: TargetFile,
    files: TableOptions,
    rate: Annotated[float, typer.Option(help="Targets per second [Hz].", metavar="HZ")] = 1000.0,
    max_velocity: Annotated[
        float | None,
        typer.Option(
            help="Velocity limit of all joints [rad/s, m/s]; default: the robot's, 1 if unknown.",
            metavar="NUMBER",
        ),
    ] = None,
    max_acceleration: Annotated[
        float, typer.Option(help="Acceleration limit [rad/s², m/s²].", metavar="NUMBER")
    ] = 10.0,
    max_jerk: Annotated[
        float | None,
        typer.Option(help="Jerk limit [rad/s³, m/s³]; default: none.", metavar="NUMBER"),
    ] = None,
    switch_branches: Annotated[
        bool,
        typer.Option(
            "--switch-branches",
            help="Switch branches if only another branch reaches a target at rest.",
        ),
    ] = False,
    start: Start = None,
) -> int:
    """Follow moving targets within motion limits.

    Each row has the target of one step of 1 / --rate seconds. The output has one row of joint
    values per step, which keep the limits of position, velocity, acceleration and jerk. These
    limits are in radians even with --deg. The file has the same format as for batch. The joints
    start at --start, else at the first start of the file, else at a solution of the first target.
    With --scene, the joints stop before they collide. The exit code is 1 if a joint limit, the
    reach or an obstacle stops the joints, or if a target is invalid.

    \b
    jointwise track panda targets.csv --rate 1000 -o joints.csv
    produce | jointwise track panda - --rate 500 --start 0 -0.5 0 -2 0 1.6 0.8 | consume
    """
    import numpy as np

    from jointwise.cli.result_file import checked_columns, open_results
    from jointwise.model import checks
    from jointwise.results.status import TrackStatus, count_lines
    from jointwise.tables.target_file import read_targets
    from jointwise.tables.units import to_radians

    dt = 1.0 / checks.positive("--rate", rate)
    counts, tracker = np.zeros(len(TrackStatus), np.int64), None
    with open_results(files.output, targets) as write:
        for table in read_targets(targets, options.of_targets, files.deg):
            if tracker is None:
                model = table.model
                columns = checked_columns(table, files, targets, tracked=True)
                tracker = model.track(
                    to_radians(model, start, files.deg) if start else _start(table),
                    dt,
                    max_velocity=_velocities(model) if max_velocity is None else max_velocity,
                    max_acceleration=max_acceleration,
                    max_jerk=max_jerk,
                    switch_branches=switch_branches,
                )
            run = tracker.run(table.targets)
            write(run, table, columns)
            counts += np.bincount(run.status, minlength=len(counts))
    text = "\n".join(count_lines(counts, TrackStatus, "steps followed"))
    print(in_words(text), file=sys.stderr)
    return 1 if counts[TrackStatus.AT_LIMIT :].any() else 0


def _velocities(model: "Verbs") -> "Floats":
    """(n,) the velocity limits of the joints; a default where they are unknown [rad/s, m/s]."""
    import numpy as np

    return np.where(np.isfinite(model.max_velocity), model.max_velocity, DEFAULT_VELOCITY)


def _start(table: "TargetTable") -> "Floats":
    """(n,) the first start of the table, else a solution of its first target [rad, m]."""
    import numpy as np

    given = first_start(table)
    if given is not None:
        return given
    solved = table.model.solve_batch(table.first).q
    return solved[0] if np.isfinite(solved).all() and len(solved) else table.model.home
