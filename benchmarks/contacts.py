"""Foot sliding and floor penetration of a G1 that follows mocap, with and without contacts."""

from pathlib import Path
from time import process_time

import numpy as np

from benchmarks.mocap import SCALE as BODY_SCALE
from benchmarks.mocap import g1_poses
from benchmarks.robot_fk import _installed
from benchmarks.robot_follow import PACKAGE, SCALE, weighted_poses
from jointwise import Contact, IKPath, PathOptions, Robot
from jointwise.engines.tree.pruned import angular_scale

FEET = ("left_ankle_roll_link", "right_ankle_roll_link")
# The corners of a sole, in the frame of a foot [m].
SOLE = np.array([[x, y, -0.035] for x, w in ((-0.05, 0.025), (0.12, 0.03)) for y in (w, -w)])
# Frames per second; a foot that is slower is in contact [m/s].
RATE, SLOW = 120.0, 0.15
BLEND = 10
# Faces of a hull that are upright.
UPRIGHT = 1e-6


def contacts_table(count: int, with_rivals: bool) -> None:
    """How fast feet in contact slide, how deep soles are in the floor, and the cost of both."""
    folder = _installed(PACKAGE) / "holosoma_retargeting"
    robot = Robot.from_mjcf(folder / "models/g1/g1_29dof.xml")
    share = (SCALE / angular_scale(robot.model.tree)[0]) ** 2
    print(
        "\nA Unitree G1 climbs boxes and a ramp after mocap: 14 poses a frame, the corners of its"
    )
    print(f"soles in contact while the person's foot is slower than {SLOW} m/s. Sliding: speed of")
    print("the fastest corner in contact, mean and largest; depth: of the lowest corner in the")
    print("floor, mean and largest; step: largest move of a corner from frame to frame; error:")
    print("mean distance to the 14 positions")
    print(
        f"{'clip':>4}{'frames':>8}  {'':9}{'sliding [mm/s]':>17}{'depth [mm]':>17}"
        f"{'step [mm]':>11}{'error [mm]':>12}{'µs/frame':>10}"
    )
    for i, file in enumerate(sorted(folder.glob("demo_data/climb/*/*.npy"))):
        clip = {link: poses[:count] for link, poses in g1_poses(file).items()}
        targets = {link: weighted_poses(poses, share) for link, poses in clip.items()}
        down = {foot: _is_slow(clip[foot]) for foot in FEET}
        floors = {foot: _floor(file.parent, clip[foot]) for foot in FEET}
        feet = {foot: Contact(down[foot], SOLE, floors[foot], BLEND) for foot in FEET}
        for name, options in (("without", PathOptions()), ("with", PathOptions(contacts=feet))):
            began = process_time()
            path = robot.solve_path(targets, options=options)
            micro = 1e6 * (process_time() - began) / len(path)
            print(f"{i:4}{len(path):8}  {name:9}{_figures(robot, path, down, floors)}{micro:10.1f}")


def _is_slow(poses: np.ndarray) -> np.ndarray:
    """(m,) where a foot (m, 4, 4) is slow."""
    speeds = np.linalg.norm(np.gradient(poses[:, :3, 3], 1.0 / RATE, axis=0), axis=1)
    return speeds < SLOW


def _floor(folder: Path, poses: np.ndarray) -> np.ndarray:
    """(m, 4) the height below each corner of a sole of the highest box below the ankle [m]."""
    from scipy.spatial import ConvexHull

    ankles, corners = poses[:, :2, 3], (poses @ np.insert(SOLE, 3, 1.0, axis=1).T)[:, :2]
    height, floor = np.zeros(len(poses)), np.zeros((len(poses), len(SOLE)))
    for file in sorted((folder / "box_models").glob("*.obj")):
        lines = [line.split()[1:4] for line in file.read_text().splitlines() if line[:2] == "v "]
        faces = ConvexHull(BODY_SCALE * np.array(lines, float)).equations
        sides, tops = faces[np.abs(faces[:, 2]) < UPRIGHT], faces[faces[:, 2] > UPRIGHT]
        inside = (ankles @ sides[:, :2].T + sides[:, 3] <= 0.0).all(axis=1)
        planes = -(ankles @ tops[:, :2].T + tops[:, 3]) / tops[:, 2]
        top, face = planes.min(axis=1), tops[planes.argmin(axis=1)]
        below = inside & (top > height)
        slope = -(corners.swapaxes(1, 2) @ face[:, :2, None])[..., 0] - face[:, 3:]
        floor[below] = (slope / face[:, 2:3])[below]
        height[below] = top[below]
    return floor


def _figures(
    robot: Robot, path: IKPath, down: dict[str, np.ndarray], floors: dict[str, np.ndarray]
) -> str:
    """Sliding, depth, the largest step and the mean error, as text."""
    slides, depths, steps = [], [], []
    frames = [robot.fk(q, base) for q, base in zip(path.q, path.base_poses, strict=True)]
    for foot in FEET:
        poses = np.array([frame[foot] for frame in frames])
        corners = SOLE @ poses[:, :3, :3].swapaxes(1, 2) + poses[:, None, :3, 3]
        moves = np.linalg.norm(np.diff(corners, axis=0), axis=2).max(axis=1)
        slides.append(RATE * moves[down[foot][1:] & down[foot][:-1]])
        depths.append((floors[foot] - corners[..., 2]).max(axis=1).clip(0.0))
        steps.append(moves.max())
    slide, depth = 1e3 * np.concatenate(slides), 1e3 * np.concatenate(depths)
    error = 1e3 * np.mean([each.position_error.mean() for each in path.errors.values()])
    return (
        f"{slide.mean():9.3f}{slide.max():8.1f}{depth.mean():9.3f}{depth.max():8.3f}"
        f"{1e3 * max(steps):11.1f}{error:12.1f}"
    )
