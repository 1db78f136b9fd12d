"""A robot as a table: its links as a tree, with the joints that move them."""

from collections.abc import Iterator
from typing import TypedDict

from jointwise.kernels.layout.arm import PRISMATIC
from jointwise.model.checks import quantity
from jointwise.model.kinematic_tree import TreeModel
from jointwise.model.mimics import Mimic
from jointwise.model.table import align, format_limit


class Row(TypedDict):
    """A link and a joint that moves it; if there are several joints, as in MJCF, each has a row.

    Attributes:
        link: Name of the link.
        parent: The link that carries it; None for the root.
        joint: Name of the joint; None if there is none.
        type: ``"revolute"``, ``"prismatic"`` or ``"fixed"``; None for the root.
        lower: Lower limit of the joint [rad, m].
        upper: Upper limit.
        mimic: The joint that it follows, with ratio and offset.
    """

    link: str
    parent: str | None
    joint: str | None
    type: str | None
    lower: float | None
    upper: float | None
    mimic: Mimic | None


def tree_rows(model: TreeModel) -> Iterator[tuple[str, Row]]:
    """The rows of all links, each after its parent, and the text of each in the first column."""
    for cell, indent, link in _branches(model):
        last, _, parent = model.links[link]
        joints = [] if parent is None else model.path(last, model.links[parent].joint)
        for i, joint in enumerate(joints or (None,)):
            yield indent if i else cell, _row(model, link, joint)


def tree_cells(model: TreeModel) -> tuple[list[list[str]], list[str]]:
    """The header and the lines of a table, and the notes below it."""
    lines = [["link", "joint", "type", "lower", "upper", "mimics"]]
    for cell, row in tree_rows(model):
        is_prismatic = row["type"] == "prismatic"
        ends = (row["lower"], row["upper"])
        limits = ["" if end is None else format_limit(end, is_prismatic) for end in ends]
        names = [cell, row["joint"] or "", row["type"] or ""]
        lines.append([*names, *limits, _format_mimic(row["mimic"])])
    if not model.mimics:
        lines = [line[:-1] for line in lines]
    counts = [quantity(len(model.links), "link"), quantity(model.n, "independent joint")]
    counts += [quantity(len(model.mimics), "mimic joint")] if model.mimics else []
    counts += [quantity(len(model.loops), "closed loop")] if model.loops else []
    counts += ["free base"] if model.free_base else []
    return lines, [f"{model.name}: {', '.join(counts)}"]


def tree_table(model: TreeModel) -> str:
    """The robot as text."""
    lines, notes = tree_cells(model)
    return "\n".join([*align(lines, "lllrrl"[: len(lines[0])]), *notes])


def _row(model: TreeModel, link: str, joint: int | None) -> Row:
    """The row of a link and of a joint that moves it, if any."""
    tree, parent = model.tree, model.links[link].parent
    row = Row(link=link, parent=parent, joint=None, type=None, lower=None, upper=None, mimic=None)
    if joint is None:
        row["type"] = None if parent is None else "fixed"
        return row
    name = row["joint"] = model.all_joint_names[joint]
    row["type"] = "prismatic" if tree.kinds[joint] == PRISMATIC else "revolute"
    ends = model.limits[tree.variables[joint]] * tree.ratios[joint] + tree.offsets[joint]
    row["lower"], row["upper"] = float(ends.min()), float(ends.max())
    row["mimic"] = model.mimics.get(name)
    return row


def _format_mimic(mimic: Mimic | None) -> str:
    """A mimic joint as a formula, such as ``-0.5 thumb + 0.1``."""
    if mimic is None:
        return ""
    offset = f" {'-' if mimic.offset < 0.0 else '+'} {abs(mimic.offset):g}" if mimic.offset else ""
    ratio = {1.0: "", -1.0: "-"}.get(mimic.ratio, f"{mimic.ratio:g} ")
    return f"{ratio}{mimic.joint}{offset}"


def _branches(model: TreeModel) -> Iterator[tuple[str, str, str]]:
    """(line, lines below it, link) of every link; indented only where the tree forks."""
    below: dict[str, list[str]] = {link: [] for link in model.links}
    for link, place in model.links.items():
        if place.parent is not None:
            below[place.parent].append(link)
    pending = [("", "", model.root)]
    while pending:
        lead, indent, link = pending.pop()
        yield lead + link, indent, link
        children = below[link]
        marks = [("├─ ", "│  ")] * (len(children) - 1) + [("└─ ", "   ")]
        if len(children) == 1:
            marks = [("", "")]
        for child, (first, further) in reversed([*zip(children, marks, strict=False)]):
            pending.append((indent + first, indent + further, child))
