"""Other planners of tool paths on the same poses: each in an environment of its own."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np

from benchmarks.rivals import HERE, Rival
from jointwise import Chain, Target
from jointwise.model.rotation import roll_pitch_yaw
from testbed.tool_paths import bent_torch, with_torch

# The spherical-wrist parameters (OPW) of an IRB 120: a1, a2, b, c1 to c4 [m], and offsets [rad].
LENGTHS = (0.0, -0.070, 0.0, 0.290, 0.270, 0.302, 0.072)
OFFSETS = (0.0, 0.0, -0.5 * np.pi, 0.0, 0.0, 0.0)
# Distance of tool angles [rad], as far as a planner samples them.
SPACING = np.pi / 36.0
# Larger steps of a joint between rows are jumps [rad].
LARGEST = 0.5
RIVALS = [
    Rival(
        "Tesseract 0.5, Descartes",
        "tesseract_tool_paths",
        ("tesseract-robotics==0.5.1", "numpy"),
    ),
    Rival("roboplan 0.7, turns given", "roboplan_tool_paths", ("roboplan==0.7.0",)),
    Rival(
        "compas_fab 2.0, PyBullet", "compas_tool_paths", ("compas_fab==2.0.1", "pybullet==3.2.7")
    ),
]


class Measured(NamedTuple):
    """What a planner did.

    Attributes:
        q: Joint values of each path (k, n), as many rows as it returned; none where it found none.
        seconds: Processor time of each path [s].
        megabytes: Memory above what the process had before the first path.
    """

    q: list[np.ndarray]
    seconds: np.ndarray
    megabytes: float


def tool_path_rivals(paths: list[Target]) -> None:
    """A row for each planner of the same paths of an IRB 120 with a bent torch."""
    arm, torch = Chain.load("irb120"), with_torch("irb120")
    print(f"\n{len(paths)} paths of an IRB 120 with a bent torch, {len(paths[0])} waypoints, turn")
    print("free, no collisions, one thread. Whole: every waypoint within 5 mm and 0.02 rad of the")
    print(f"motion between rows, and no joint moves by more than {LARGEST:g} rad from row to row.")
    print("Motion: median of the sum of joint changes. roboplan gets the start and the turns that")
    print("jointwise found, compas_fab the start; both choose their rows themselves. roboplan has")
    print("tolerances of 5 mm and 0.01 rad, compas_fab of 1 mm; Tesseract does not limit steps.")
    print(f"{'':32}{'whole':>8}{'CPU ms':>10}{'MB':>7}{'motion':>9}{'off, mm':>10}")
    solved = [torch.solve_path(each, max_step=LARGEST) for each in paths]
    asked: dict[str, Any] = {
        "urdf": arm_urdf(arm),
        "names": arm.joint_names,
        "lengths": LENGTHS,
        "offsets": OFFSETS,
        "spacing": SPACING,
        "max_step": LARGEST,
        "paths": np.array([poses_of(each) for each in paths]),
        "turned": np.array([torch.fk(each.q) for each in solved]),
        "starts": np.array([each.q[0] for each in solved]),
    }
    for samples in (round(2.0 * np.pi / SPACING), 2048):
        asked["samples"] = samples
        title = f"jointwise, {samples if samples < 2048 else 'all'} tool angles"
        _print(title, torch, paths, _measure(Path(sys.executable), "jointwise_tool_paths", asked))
    for rival in RIVALS:
        try:
            measured = _measure(rival.python(), rival.adaptor, asked)
        except subprocess.CalledProcessError as fault:
            print(f"{rival.name:32}did not run: {' '.join(map(str, fault.cmd))}", flush=True)
            continue
        _print(rival.name, torch, paths, measured)


def _measure(python: Path, adaptor: str, asked: dict[str, Any]) -> Measured:
    """Let a planner solve all paths, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        problems, answers = f"{folder}/problems.npz", f"{folder}/answers.npz"
        np.savez(problems, **asked)
        script = HERE / "adaptors" / f"{adaptor}.py"
        command, environment = [python, script, problems, answers], {"PYTHONPATH": HERE.parent}
        subprocess.run(
            command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, **environment}
        )
        with np.load(answers) as given:
            rows = [each[np.isfinite(each).all(axis=1)] for each in given["answers"]]
            return Measured(rows, given["seconds"], float(given["megabytes"]))


def _print(title: str, torch: Chain, paths: list[Target], measured: Measured) -> None:
    whole, motions, off = 0, [], []
    for q, path in zip(measured.q, paths, strict=True):
        if len(q) < 2:
            continue
        step, (distance, angle) = np.abs(np.diff(q, axis=0)).max(), _misses(torch, q, path)
        motions.append(np.abs(np.diff(q, axis=0)).sum())
        off.append(1e3 * distance)
        whole += bool(step <= LARGEST and distance <= 5e-3 and angle <= 0.02)
    text = f"{title:32}{f'{whole}/{len(paths)}':>8}{1e3 * np.median(measured.seconds):10.1f}"
    text += f"{measured.megabytes:7.0f}"
    if motions:
        text += f"{np.median(motions):9.2f}{max(off):10.3g}"
    print(text, flush=True)


def _misses(torch: Chain, q: np.ndarray, path: Target) -> tuple[float, float]:
    """How far the waypoints are from the motion between rows: largest distance, and angle there."""
    count = max(2000 // len(q), 4)
    share = np.arange(count) / count
    dense = (q[:-1, None] + share[:, None] * np.diff(q, axis=0)[:, None]).reshape(-1, q.shape[1])
    tips = torch.fk(np.concatenate([dense, q[-1:]]))
    apart = np.linalg.norm(tips[None, :, :3, 3] - path.values[:, None, 0], axis=2)
    nearest = apart.argmin(axis=1)
    cosines = np.einsum("mi,mi->m", tips[nearest, :3, 2], path.values[:, 1])
    rows = np.arange(len(nearest))
    return float(apart[rows, nearest].max()), float(np.arccos(np.clip(cosines, -1, 1)).max())


def opw_fk(q: np.ndarray) -> np.ndarray:
    """(4, 4) the flange of an arm with these parameters, by Brandstötter, Angerer and Hofbaur."""
    a1, a2, b, c1, c2, c3, c4 = LENGTHS
    t = q - np.array(OFFSETS)
    psi, k = np.arctan2(a2, c3), np.hypot(a2, c3)
    x = c2 * np.sin(t[1]) + k * np.sin(t[1] + t[2] + psi) + a1
    z = c2 * np.cos(t[1]) + k * np.cos(t[1] + t[2] + psi) + c1
    turns = [("z", t[0]), ("y", t[1] + t[2]), ("z", t[3]), ("y", t[4]), ("z", t[5])]
    rotation = np.eye(3)
    for axis, angle in turns:
        rotation = rotation @ _turn(axis, angle)
    pose = np.eye(4)
    pose[:3, :3] = rotation
    pose[:3, 3] = _turn("z", t[0]) @ [x, b, z] + c4 * rotation[:, 2]
    return pose


def _turn(axis: str, angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    if axis == "z":
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def arm_urdf(arm: Chain) -> str:
    """The URDF of an IRB 120 from link base, and the links flange (by these numbers) and tcp."""
    q = arm.random(seed=0, count=3)
    flanges = np.array([opw_fk(each) for each in q])
    to_flange = np.linalg.inv(arm.fk(q)) @ flanges
    assert np.abs(to_flange - to_flange[0]).max() < 1e-9, "these are not the parameters of the arm"
    robot = ElementTree.fromstring(arm.to_urdf())
    base, tip = (robot.findall("link")[end].get("name", "") for end in (0, -1))
    to_tcp = np.linalg.inv(to_flange[0]) @ bent_torch()
    for parent, child, pose in ((tip, "flange", to_flange[0]), ("flange", "tcp", to_tcp)):
        ElementTree.SubElement(robot, "link", name=child)
        joint = ElementTree.SubElement(robot, "joint", name=f"{child}_fixed", type="fixed")
        xyz, rpy = pose[:3, 3], roll_pitch_yaw(pose)
        numbers = {"xyz": " ".join(map(repr, map(float, xyz)))}
        numbers["rpy"] = " ".join(map(repr, map(float, rpy)))
        ElementTree.SubElement(joint, "origin", numbers)
        ElementTree.SubElement(joint, "parent", link=parent)
        ElementTree.SubElement(joint, "child", link=child)
    text = ElementTree.tostring(robot, encoding="unicode")
    return text.replace(f'"{base}"', '"base"')


def poses_of(targets: Target) -> np.ndarray:
    """(m, 4, 4) poses whose z axis aims; the turn about it is arbitrary."""
    z = targets.values[:, 1]
    x = np.cross(np.where(np.abs(z[:, :1]) < 0.9, [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]]), z)
    x /= np.linalg.norm(x, axis=1)[:, None]
    poses = np.tile(np.eye(4), (len(z), 1, 1))
    poses[:, :3, 0], poses[:, :3, 1], poses[:, :3, 2] = x, np.cross(z, x), z
    poses[:, :3, 3] = targets.values[:, 0]
    return poses
