"""A G1 that follows mocap, 14 poses a frame, beside mink."""

import subprocess
import tempfile
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from benchmarks.mocap import g1_poses
from benchmarks.rivals import HERE, Rival
from benchmarks.robot_fk import _installed
from jointwise import IKPath, Robot, pose
from jointwise.engines.tree.pruned import angular_scale
from jointwise.targets import Target

PACKAGE = "holosoma-retargeting==0.1.0"
MINK = Rival("mink 1.3", "mink_follow", ("mink==1.3.0", "mujoco", "daqp"))
PASSES = 5
# What a radian counts as [m], for both.
SCALE = 0.3


def follow_table(count: int, with_rivals: bool) -> None:
    """Time of a frame, steps of a frame, and the cost of both results by both measures."""
    folder = _installed(PACKAGE) / "holosoma_retargeting"
    model = folder / "models/g1/g1_29dof.xml"
    robot = Robot.from_mjcf(model)
    clips = [g1_poses(file) for file in sorted(folder.glob("demo_data/climb/*/*.npy"))]
    clips = [{link: poses[:count] for link, poses in clip.items()} for clip in clips]
    share = (SCALE / angular_scale(robot.model.tree)[0]) ** 2
    weighted = [
        {link: weighted_poses(poses, share) for link, poses in clip.items()} for clip in clips
    ]
    print(
        "\nA Unitree G1 follows mocap: 29 joints and a free base, 14 poses a frame, no smoothing;"
    )
    print(
        "CPU time on one core. Costs: half the weighted squared errors, means over frames, by two"
    )
    print("measures: mink's (logarithm of the pose) and ours (position and rotation vector)")
    print(
        f"{'clip':>4}{'frames':>8}{'':10}{'µs/frame':>10}{'steps':>7}{'mink cost':>12}"
        f"{'our cost':>12}{'×':>8}"
    )
    for i, (clip, targets) in enumerate(zip(clips, weighted, strict=True)):
        _compare(i, robot, model, clip, targets, with_rivals)
    began = perf_counter()
    robot.solve_paths(weighted)
    frames = sum(len(next(iter(clip.values()))) for clip in clips)
    print(f"all clips, a thread each: {1e6 * (perf_counter() - began) / frames:.1f} µs/frame")


def _compare(
    i: int,
    robot: Robot,
    model: Path,
    clip: dict[str, np.ndarray],
    targets: dict[str, Target],
    with_rivals: bool,
) -> None:
    """A row for us, and one for mink, which starts at our first frame."""
    robot.solve_path({link: poses[:2] for link, poses in clip.items()})
    seconds = []
    for _ in range(PASSES):
        began = process_time()
        path = robot.solve_path(targets)
        seconds.append(process_time() - began)
    ours, frames = 1e6 * min(seconds) / len(path), len(path)
    steps = path.iterations[1:].mean()
    if not with_rivals:
        print(f"{i:4}{frames:8}  jointwise{ours:9.1f}{steps:7.1f}{our_cost(path):24.6f}")
        return
    theirs = _mink(robot, model, clip, path)
    found = [robot.fk(q, base) for q, base in zip(theirs["q"], theirs["base"], strict=True)]
    cost = np.mean([cost_of(poses, clip, frame) for frame, poses in enumerate(found)])
    micro = 1e6 * theirs["seconds"].mean()
    print(
        f"{i:4}{frames:8}  jointwise{ours:9.1f}{steps:7.1f}{theirs['other_costs'].mean():12.6f}"
        f"{our_cost(path):12.6f}"
    )
    print(
        f"{'':12}  {MINK.name:9}{micro:9.1f}{theirs['steps'].mean():7.1f}"
        f"{theirs['costs'].mean():12.6f}{cost:12.6f}{micro / ours:8.1f}",
        flush=True,
    )


def weighted_poses(poses: np.ndarray, share: float) -> Target:
    """Poses (f, 4, 4) whose orientation counts so much beside their position."""
    return pose(poses[:, :3, 3], matrix=poses[:, :3, :3], weight=(1.0, share))


def our_cost(path: IKPath) -> float:
    """Half the weighted squared errors, the mean over frames."""
    squares = (
        each.position_error**2 + (SCALE * each.orientation_error) ** 2
        for each in path.errors.values()
    )
    return float(0.5 * sum(squares).mean())


def cost_of(poses: dict[str, np.ndarray], clip: dict[str, np.ndarray], frame: int) -> float:
    """The same for the poses of all links in a frame."""
    total = 0.0
    for link, targets in clip.items():
        distance = np.linalg.norm(poses[link][:3, 3] - targets[frame, :3, 3])
        chord = np.linalg.norm(poses[link][:3, :3] - targets[frame, :3, :3])
        total += 0.5 * (distance**2 + (SCALE * 2.0 * np.arcsin(chord / np.sqrt(8.0))) ** 2)
    return total


def _mink(
    robot: Robot, model: Path, clip: dict[str, np.ndarray], path: IKPath
) -> dict[str, np.ndarray]:
    """What mink's adaptor wrote, its joint values in our order."""
    from scipy.spatial.transform import Rotation

    quaternions = Rotation.from_matrix(path.base_poses[:, :3, :3]).as_quat(scalar_first=True)
    qpos = np.concatenate([path.base_poses[:, :3, 3], quaternions, path.q], axis=1)
    with tempfile.TemporaryDirectory() as folder:
        asked, given = f"{folder}/asked.npz", f"{folder}/given.npz"
        targets = np.stack(list(clip.values()), axis=1)
        np.savez(
            asked,
            model=str(model),
            links=list(clip),
            targets=targets,
            start=qpos[0],
            others=qpos,
            scale=SCALE,
            joints=robot.joint_names,
        )
        script = HERE / "adaptors" / f"{MINK.adaptor}.py"
        subprocess.run([MINK.python(), script, asked, given], check=True)
        with np.load(given) as results:
            found = dict(results)
    bases = np.tile(np.eye(4), (len(found["found"]), 1, 1))
    bases[:, :3, 3] = found["found"][:, :3]
    rotations = Rotation.from_quat(found["found"][:, 3:7], scalar_first=True)
    bases[:, :3, :3] = rotations.as_matrix()
    return found | {"q": found["found"][:, 7:], "base": bases}
