"""``jointwise place``."""

import sys
from typing import Annotated

import typer

from jointwise.cli.options import (
    Arm,
    Base,
    Degrees,
    Json,
    Margin,
    SceneFile,
    TargetFile,
    Tip,
    load_surrounded,
)
from jointwise.cli.printing import SOLVING, print_json, spinner
from jointwise.errors import InvalidInputError


def place(
    arm: Arm,
    targets: TargetFile,
    step: Annotated[float, typer.Option(help="Grid spacing of the candidate bases [m].")] = 0.1,
    height: Annotated[float, typer.Option(help="Height of the base, z [m].")] = 0.0,
    deg: Degrees = False,
    base: Base = None,
    tip: Tip = None,
    scene: SceneFile = None,
    margin: Margin = 0.0,
    json: Json = False,
) -> int:
    """Find the base position from which an arm reaches all targets.

    Candidates are upright bases on a grid around the targets. Of those that reach most targets,
    the one farthest from the joint limits is chosen. The file has positions or poses in the world
    frame, as for batch, and so are the obstacles of --scene, which the arm must not touch.

    \b
    jointwise place ur5e poses.csv
    jointwise place ur5e poses.csv --scene shelf.toml --height 0.4
    """
    import numpy as np

    from jointwise.cli.tables.columns import list_extra
    from jointwise.cli.tables.target_file import read_targets, source_name
    from jointwise.reach import base_candidates, best_base
    from jointwise.solvers.targets import KINDS

    chain, around = load_surrounded(arm, base, tip, scene, margin)
    arrays = [np.empty((0, 3))]
    for table in read_targets(targets, chain, deg):
        if table.extra and len(arrays) == 1:
            names = list_extra(table, chain)
            print(f"columns of {source_name(targets)} not used: {names}", file=sys.stderr)
        if table.kind.array_shape is None:
            accepted = " or ".join(kind.plural for kind in KINDS.values() if kind.array_shape)
            raise InvalidInputError(f"{targets} has {table.kind.plural}: expected {accepted}.")
        arrays.append(np.asarray(table.targets, np.float64))
    poses = np.concatenate(arrays[1:] or arrays)
    if not len(poses):
        raise InvalidInputError(f"{targets} has no targets: expected at least one.")
    with spinner(SOLVING):
        candidates = base_candidates(poses, chain.reach, step, height)
        placement = best_base(chain, poses, candidates, **around)
    reached = int(placement.reached[placement.best])
    if json:
        print_json(
            {
                "robot": arm,
                "base": placement.base,
                "reached": reached,
                "targets": len(poses),
                "margin": placement.margin[placement.best],
                "joint_names": chain.names,
                "joint_angles": placement.joint_angles,
                **({} if chain.geometry is None else {"clearance": placement.clearance}),
            }
        )
    else:
        print(placement)
    if reached == len(poses):
        return 0
    print(f"{len(poses) - reached} of {len(poses)} targets are not reached.", file=sys.stderr)
    return 1
