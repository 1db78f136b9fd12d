"""``jointwise batch``."""

import sys

from jointwise.cli.options import (
    Arm,
    Base,
    Degrees,
    Device,
    Json,
    Margin,
    Output,
    Restarts,
    SceneFile,
    Seed,
    TargetFile,
    Threads,
    Tip,
    Tolerance,
    WithTargets,
    load_surrounded,
    solve_config,
)


def batch(
    arm: Arm,
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
    scene: SceneFile = None,
    margin: Margin = 0.0,
    with_targets: WithTargets = False,
    json: Json = False,
) -> int:
    """Solve every target of a file or a stream.

    Columns: x, y, z for a position; also roll, pitch, yaw or qx, qy, qz, qw for a pose, or dx, dy,
    dz for the direction of the end effector's z axis. Starts have one column per joint, named as
    the joints or q1, q2, ... Extra columns, such as id, are copied to the results, which have one
    column per joint, then status and errors. An .npz file has an array targets, (m, 3) or
    (m, 4, 4), and optionally starts, always in metres and radians. With --scene, results have the
    clearance, too, and in contact what is nearest to what.

    \b
    jointwise batch panda targets.csv -o joints.csv
    produce | jointwise batch panda - | consume
    """
    import numpy as np

    from jointwise.cli.printing import print_json
    from jointwise.cli.tables.result_columns import ResultColumns, json_summary
    from jointwise.cli.tables.result_file import check_columns, open_results
    from jointwise.cli.tables.target_file import read_targets
    from jointwise.solvers.results import Status, status_report

    chain, around = load_surrounded(arm, base, tip, scene, margin)
    config = solve_config(tolerance, restarts)
    counts = np.zeros(len(Status), np.int64)
    progress = targets != "-" and sys.stderr.isatty()
    columns = ResultColumns(chain, deg, with_targets)
    rows: list[dict[str, object]] = []
    with open_results(None if json and output == "-" else output, targets, columns) as write:
        for number, table in enumerate(read_targets(targets, chain, deg)):
            if number == 0:
                check_columns(table, columns, targets, output)
            results = chain.solve_batch(
                table.targets,
                table.starts,
                config,
                seed,
                device,
                threads=threads,
                progress=progress,
                **around,
            )
            write(results, table)
            if json:
                rows += columns.json_rows(results, table)
            counts += np.bincount(results.status, minlength=len(Status))
    if json:
        print_json(json_summary(arm, chain, rows))
    print("\n".join(status_report(counts)), file=sys.stderr)
    return 1 if counts[1:].any() else 0
