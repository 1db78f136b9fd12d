"""EAIK: how many exact solutions each pose has, and the time of a call and of a batch [µs]."""

import json
import sys
from pathlib import Path
from time import perf_counter

import numpy as np
import timed
from eaik.IK_Homogeneous import HomogeneousRobot


def quickest(run, blocks, passes):
    """The time of a pose, each block of poses in its quickest pass [µs]."""
    total = 0.0
    for block in blocks:
        seconds = []
        for _ in range(passes):
            began = perf_counter()
            run(block)
            seconds.append(perf_counter() - began)
        total += min(seconds)
    return 1e6 * total / sum(map(len, blocks))


def measure(links, targets, passes):
    """Counts and times, or None if EAIK has no decomposition of this arm."""
    frame, frames = np.eye(4), []
    for link in links:
        frame = frame @ timed.square(link)
        frames.append(frame)
    arm = HomogeneousRobot(np.array(frames))
    counts = [sum(not each for each in arm.IK(target).is_LS) for target in targets]
    if not arm.hasKnownDecomposition() or not any(counts):  # prismatic joints are unknown to it
        return None
    blocks = np.array_split(targets, 20)
    return {
        "counts": counts,
        "call": quickest(lambda block: [arm.IK(target) for target in block], blocks, passes),
        "batch": quickest(arm.IK_batched, [targets], passes),
    }


with np.load(sys.argv[1]) as asked:
    found = measure(asked["links"], asked["targets"], int(asked["passes"]))
Path(sys.argv[2]).write_text(json.dumps(found))
