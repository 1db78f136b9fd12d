"""``jointwise place``."""

import sys
from typing import Annotated

import typer

from jointwise.cli.models import SceneOptions
from jointwise.cli.options import Degrees, Json, TargetFile
from jointwise.cli.printing import SOLVING, print_json, spinner
from jointwise.errors import InvalidInputError


def place(
    options: SceneOptions,
    targets: TargetFile,
    step: Annotated[float, typer.Option(help="Grid spacing of the candidate bases [m].")] = 0.1,
    height: Annotated[float, typer.Option(help="Height of the base, z [m].")] = 0.0,
    deg: Degrees = False,
    json: Json = False,
) -> int:
    """Find the base position from which an arm reaches all targets.

    Candidates are upright bases on a grid around the targets. Of those that reach the most targets,
    the one farthest from the joint limits is chosen. The file has targets in the same format as for
    batch. Targets and the obstacles of --scene are in the world frame.

    \b
    jointwise place ur5e poses.csv
    jointwise place ur5e poses.csv --scene shelf.toml --height 0.4
    """
    from jointwise.chain import Chain
    from jointwise.reach import base_candidates, best_base
    from jointwise.tables.columns import list_extra
    from jointwise.tables.target_file import read_targets, source_name
    from jointwise.targets import pack_targets

    (table,) = read_targets(targets, options.of_targets, deg, as_they_arrive=False)
    arm = table.model
    if not isinstance(arm, Chain):
        raise InvalidInputError(f"{targets} has targets of links: expected those of an arm.")
    if table.extra:
        names = list_extra(table)
        print(f"columns of {source_name(targets)} not used: {names}", file=sys.stderr)
    poses = table.targets
    count = len(pack_targets(poses).values)
    if not count:
        raise InvalidInputError(f"{targets} has no targets: expected at least one.")
    with spinner(SOLVING):
        candidates = base_candidates(poses, arm.max_reach, step, height)
        placement = best_base(arm, poses, candidates)
    reached = int(placement.reached[placement.best])
    if json:
        print_json(
            {
                "robot": options.robot,
                "base_pose": placement.base_pose,
                "reached": reached,
                "targets": count,
                "limit_margin": placement.limit_margin[placement.best],
                "joint_names": arm.joint_names,
                "q": placement.q,
                **({} if arm.scene is None else {"clearance": placement.clearance}),
            }
        )
    else:
        print(placement)
    if reached == count:
        return 0
    print(f"{count - reached} of {count} targets are not reached.", file=sys.stderr)
    return 1
