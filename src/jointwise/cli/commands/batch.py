"""``jointwise batch``."""

import sys

from jointwise.cli.models import ModelOptions
from jointwise.cli.options import Device, Json, SolverOptions, TableOptions, TargetFile, Threads


def batch(
    options: ModelOptions,
    targets: TargetFile,
    files: TableOptions,
    solver: SolverOptions,
    device: Device = "cpu",
    threads: Threads = None,
    json: Json = False,
) -> int:
    """Solve every target of a file or a stream.

    Columns of targets are x, y, z for a position. Add roll, pitch, yaw or qx, qy, qz, qw for a
    pose, or dx, dy, dz for the direction of the end effector's z axis. Put the name of a link in
    front for targets of several links: left_hand.x, left_hand.y, ...

    Starts have one column per joint, named as the joints or q1, q2, ... Extra columns, such as id,
    are copied to the results, which have one column per joint, then status and errors. With
    --scene, results also have the clearance, and in contact the two nearest things.

    An .npz file has an array targets, (m, 3) or (m, 4, 4), or one array per link, and optionally
    starts, always in metres and radians.

    \b
    jointwise batch panda targets.csv -o joints.csv
    produce | jointwise batch panda - | consume
    """
    import numpy as np

    from jointwise.cli.printing import print_json
    from jointwise.cli.tables.result_columns import json_summary
    from jointwise.cli.tables.result_file import checked_columns, open_results
    from jointwise.cli.tables.target_file import read_targets
    from jointwise.results.status import Status, count_lines

    config, counts = solver.config(), np.zeros(len(Status), np.int64)
    progress = targets != "-" and sys.stderr.isatty()
    columns = None
    rows: list[dict[str, object]] = []
    with open_results(files.output, targets, json) as write:
        for table in read_targets(targets, options, files.deg):
            columns = columns or checked_columns(table, files, targets)
            results = table.model.solve_batch(
                table.targets,
                table.starts,
                config=config,
                device=device,
                threads=threads,
                progress=progress,
            )
            write(results, table, columns)
            if json:
                rows += columns.json_rows(results, table)
            counts += np.bincount(results.status, minlength=len(Status))
    if json:
        print_json(json_summary(options.robot, table.model, rows))
    print("\n".join(count_lines(counts, Status, "solved")), file=sys.stderr)
    return 1 if counts[1:].any() else 0
