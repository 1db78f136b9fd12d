"""``jointwise retarget``."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from jointwise.cli.models import ModelOptions
from jointwise.cli.options import Cluster, SolverOptions, Threads
from jointwise.errors import InvalidInputError

if TYPE_CHECKING:
    from jointwise.contact import Contact


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
            help="A link of the robot and the link of the clips that it follows; repeat the option "
            "for more links. Default: links of the robot follow the links of the clips with the "
            "same names.",
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
    contact: Annotated[
        list[str] | None,
        typer.Option(
            help="A link, such as a foot, that stays in place in the frames in which a clip marks "
            "it as in contact. POINTS are optional points of the link, such as the corners of its "
            "sole: X,Y,Z:X,Y,Z in metres. Repeat the option for other links.",
            metavar="LINK[=POINTS]",
            show_default=False,
        ),
    ] = None,
    floor: Annotated[
        float | None,
        typer.Option(
            help="Height of the floor in metres; the links of --contact stay above it.",
            metavar="Z",
            show_default=False,
        ),
    ] = None,
    threads: Threads = None,
    cluster: Cluster = None,
) -> int:
    """Follow every clip of a folder with a whole robot.

    A clip is an .npz file with links, the names of its links; rate, frames per second; and poses
    (frames, links, 4, 4), or positions (frames, links, 3) in metres and optionally quaternions
    (frames, links, 4), w last. It may have contacts (frames, links), booleans that are true while a
    link stays in place. The solutions of a clip go to a file of the same name in the output folder.

    The same command resumes after an interruption.

    \b
    jointwise retarget robot.urdf clips/ -o out/
    jointwise retarget robot.urdf clips/ -o out/ --follow l_hand=LeftHand --follow r_hand=RightHand
    """
    from jointwise.datasets.retarget import ClipOptions, retarget_clips
    from jointwise.jobs.workers import Workers
    from jointwise.path_options import PathOptions

    robot = options.whole_robot("retarget")
    done = retarget_clips(
        robot,
        clips,
        output,
        config=solver.config(),
        options=ClipOptions(
            _links(follow), limit_velocity, path=PathOptions(contacts=_contacts(contact, floor))
        ),
        workers=Workers(threads=threads, client=cluster),
        progress=sys.stderr.isatty(),
    )
    print(done, file=sys.stderr)
    return 1 if done.counts[1:].any() else 0


def _contacts(given: list[str] | None, floor: float | None) -> "dict[str, Contact] | None":
    """The contacts of links, by name."""
    from jointwise.contact import Contact

    if floor is not None and not given:
        raise InvalidInputError("--floor limits the links of --contact: add --contact LINK.")
    contacts = {}
    for text in given or ():
        link, equals, points = text.partition("=")
        try:
            corners = [[float(each) for each in point.split(",")] for point in points.split(":")]
        except ValueError:
            corners = []
        if equals and not all(len(corner) == 3 for corner in corners or [[]]):
            raise InvalidInputError(
                f"--contact is {text!r}: expected a link, or a link and points, such as "
                "left_foot=0.1,0,-0.03:-0.1,0,-0.03."
            )
        contacts[link] = Contact(points=corners if equals else (0.0, 0.0, 0.0), floor=floor)
    return contacts or None


def _links(follow: list[str] | None) -> dict[str, str] | None:
    """The link of the clips that each link of the robot follows."""
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
