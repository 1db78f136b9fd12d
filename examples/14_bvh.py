"""Retarget a BVH recording.

BVH files hold a skeleton and, for each frame, angles of its joints. The clip that
``retarget_clips`` reads has positions instead. Here the hand of a person leads a UR5e.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy.spatial.transform import Rotation

from jointwise import ClipOptions, IKBatch, Robot, retarget_clips

# %%
# A recording, in centimetres with y upward, as most are: an arm of two segments.
angles = np.linspace(0.0, 40.0, 60)
motion = "\n".join(f"30 60 0 0 0 {a:.3f} {-2 * a:.3f} 0 0" for a in angles)
recording = f"""HIERARCHY
ROOT Shoulder {{ OFFSET 0 0 0
CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
JOINT Elbow {{ OFFSET 25 0 0
CHANNELS 3 Zrotation Xrotation Yrotation
End Site {{ OFFSET 8 0 0 }} }} }}
MOTION
Frames: 60
Frame Time: 0.033333
{motion}
"""

# %%
# Parents come first, so one pass over the words finds the poses of all joints.


def read_bvh(text, scale=0.01):
    """The names, positions (frames, joints, 3) [m], z upward, and the frames per second."""
    hierarchy, _, motion = text.partition("MOTION")
    _, time, *rows = motion.strip().splitlines()
    values = iter(np.array([row.split() for row in rows], float).T)
    upward = np.eye(4)
    upward[:3, :3] = Rotation.from_euler("x", 90, degrees=True).as_matrix()
    stack, found, words = [np.tile(upward, (len(rows), 1, 1))], {}, iter(hierarchy.split())
    for word in words:
        if word in ("ROOT", "JOINT", "End"):
            name = next(words)
            name = f"{[*found][-1]} end" if word == "End" else name
            found[name] = stack[-1].copy()
            stack.append(found[name])
        elif word == "OFFSET":
            move(stack[-1], np.array([[float(next(words)) * scale for _ in range(3)]]))
        elif word == "CHANNELS":
            for channel in [next(words) for _ in range(int(next(words)))]:
                if channel.endswith("position"):
                    axis = np.eye(3)["XYZ".index(channel[0])]
                    move(stack[-1], np.outer(next(values) * scale, axis))
                else:
                    turn = Rotation.from_euler(channel[0], next(values)[:, None], degrees=True)
                    stack[-1][:, :3, :3] = stack[-1][:, :3, :3] @ turn.as_matrix()
        elif word == "}":
            stack.pop()
    positions = np.stack([pose[:, :3, 3] for pose in found.values()], axis=1)
    return list(found), positions, 1.0 / float(time.split()[-1])


def move(poses, offsets):
    """Move poses by offsets in their own frames."""
    poses[:, :3, 3] += (poses[:, :3, :3] @ offsets[:, :, None])[:, :, 0]


# %%
# A folder of clips, followed by the robot. The same call resumes if it is interrupted.

with TemporaryDirectory() as folder:
    links, positions, rate = read_bvh(recording)
    np.savez(f"{folder}/wave.npz", links=links, positions=positions, rate=rate)
    options, store = ClipOptions(links={"tip": "Elbow end"}), Path(folder, "followed")
    print(retarget_clips(Robot.load("ur5e"), folder, store, options=options, progress=False))
    followed = IKBatch.load(store / "wave.npz")
print(f"joints move by at most {np.abs(np.diff(followed.q, axis=0)).max():.3f} rad a frame")
