"""Code blocks of the documentation, in order, and the files that they read."""

import re
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from jointwise import Robot, robots
from tests.support.cli import ROOT, straight_line, write_csv, xyz
from tests.support.two_arms import two_arms

BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<reason>.+?) -->\n)?"
    r"(?P<indent> *)```(?P<language>[^\n]*)\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)


class Block(NamedTuple):
    """A fenced block.

    Attributes:
        language: What follows the fence; empty for output.
        text: What is between the fences.
        line: Its first line in the file, from 1.
        reason: Why it is not run; empty if it is.
    """

    language: str
    text: str
    line: int
    reason: str


def pages():
    """Every Markdown page that people read, except what is generated."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in found if not {"_build", "gallery"} & set(page.parts)]


def blocks(page: Path):
    """The blocks of a page."""
    text = page.read_text("utf-8")
    for match in BLOCK.finditer(text):
        line = text[: match.start("text")].count("\n") + 1
        code = dedent(match["text"])
        yield Block(match["language"].strip(), code, line, match["reason"] or "")


def write_files(folder: Path):
    """The files that the pages read: an arm, a robot with two of them, and tables of targets."""
    panda = robots.panda()
    (folder / "arm.urdf").write_text(panda.to_urdf("arm").replace('"tip"', '"tool0"'))
    hands = two_arms().replace("left_6", "left_hand").replace("right_6", "right_hand")
    (folder / "robot.urdf").write_text(hands)
    for name in ("targets.csv", "waypoints.csv", "poses.csv"):
        write_csv(folder / name, xyz(straight_line(5)))
    seam = robots.ur5e().fk([[0.3, -1.2, 1.5, -1.9, -1.5 + 0.01 * k, 0.0] for k in range(5)])
    turned = Rotation.from_matrix(seam[:, :3, :3]).as_quat().T
    quaternions = dict(zip(("qx", "qy", "qz", "qw"), turned, strict=True))
    write_csv(folder / "seam.csv", xyz(seam[:, :3, 3]) | quaternions)
    np.savez(folder / "targets.npz", targets=straight_line(5))
    robot = Robot.from_urdf(hands)
    left = robot.fk(robot.mid_range)["left_hand"][:3, 3] + np.linspace(0.0, 0.01, 5)[:, None]
    columns = {f"left_hand.{name}": column for name, column in xyz(left).items()}
    write_csv(folder / "motion.csv", columns)
