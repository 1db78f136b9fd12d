"""``jointwise retarget``."""

import sys
from typing import Annotated

import typer

from jointwise.cli.models import ModelOptions
from jointwise.cli.options import Cluster, SolverOptions, Threads
from jointwise.errors import InvalidInputError


def retarget(
    options: ModelOptions,
    clips: Annotated[str, typer.Argument(help="Folder of clips, .npz files.", metavar="FOLDER")],
    output: Annotated[
        str,
        typer.Option("-o", help="Folder of the solutions; resumed if it exists.", metavar="FOLDER"),
    ],
    solver: SolverOptions,
    follow: Annotated[
        list[str] | None,
        typer.Option(
            help="A link of the robot and the link of the clips that it follows; repeat the "
            "option for more links. Default: each link of the clips leads the link of the "
            "robot with its name.",
            metavar="LINK=NAME",
            show_default=False,
        ),
    ] = None,
    limit_velocity: Annotated[
        bool,
        typer.Option(
            "--limit-velocity",
            help="Keep the velocity limits of the joints at the rate of each clip.",
        ),
    ] = False,
    threads: Threads = None,
    cluster: Cluster = None,
) -> int:
    """Follow every clip of a folder with a whole robot.

    A clip is an .npz file with links, the names of its links; rate, frames per second; and poses
    (frames, links, 4, 4), or positions (frames, links, 3) in metres and perhaps quaternions
    (frames, links, 4), w last. Its solutions go to a file of the same name in the output folder.

    The same command resumes after an interruption.

    \b
    jointwise retarget robot.urdf clips/ -o out/
    jointwise retarget robot.urdf clips/ -o out/ --follow l_hand=LeftHand --follow r_hand=RightHand
    """
    from jointwise.datasets.retarget import ClipOptions, retarget_clips
    from jointwise.jobs.workers import Workers

    robot = options.whole_robot("retarget")
    done = retarget_clips(
        robot,
        clips,
        output,
        config=solver.config(),
        options=ClipOptions(_links(follow), limit_velocity),
        workers=Workers(threads=threads, client=cluster),
        progress=sys.stderr.isatty(),
    )
    print(done, file=sys.stderr)
    return 1 if done.counts[1:].any() else 0


def _links(follow: list[str] | None) -> dict[str, str] | None:
    """The links of clips by those of the robot."""
    pairs = {}
    for text in follow or ():
        link, equals, name = text.partition("=")
        if not (link and equals and name):
            raise InvalidInputError(
                f"--follow is {text!r}: expected a link of the robot and one of the clips, such as "
                "left_hand=LeftHand."
            )
        pairs[link] = name
    return pairs or None
