"""``jointwise batch``."""

import sys

from jointwise.cli.options import (
    Base,
    Degrees,
    Device,
    FreeBase,
    Json,
    Margin,
    Output,
    Restarts,
    RobotName,
    SceneFile,
    Seed,
    TargetFile,
    Threads,
    Tip,
    Tolerance,
    WithTargets,
    solve_config,
)


def batch(
    robot: RobotName,
    targets: TargetFile,
    output: Output = "-",
    deg: Degrees = False,
    tolerance: Tolerance = None,
    restarts: Restarts = None,
    seed: Seed = 0,
    device: Device = "cpu",
    threads: Threads = None,
    base: Base = None,
    tip: Tip = None,
    free_base: FreeBase = False,
    scene: SceneFile = None,
    margin: Margin = 0.0,
    with_targets: WithTargets = False,
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

    from jointwise.cli.models import ModelOptions
    from jointwise.cli.printing import print_json
    from jointwise.cli.tables.result_columns import ResultColumns, json_summary
    from jointwise.cli.tables.result_file import check_columns, open_results
    from jointwise.cli.tables.target_file import read_targets
    from jointwise.results.status import Status, count_lines

    options = ModelOptions(robot, base, tip, free_base, scene, margin)
    config = solve_config(tolerance, restarts, seed)
    counts = np.zeros(len(Status), np.int64)
    progress = targets != "-" and sys.stderr.isatty()
    columns = None
    rows: list[dict[str, object]] = []
    with open_results(None if json and output == "-" else output, targets) as write:
        for table in read_targets(targets, options, deg):
            if columns is None:
                columns = ResultColumns(table.model, table.links, deg, with_targets)
                check_columns(table, columns, targets, output)
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
        print_json(json_summary(robot, table.model, rows))
    print("\n".join(count_lines(counts, Status, "solved")), file=sys.stderr)
    return 1 if counts[1:].any() else 0
