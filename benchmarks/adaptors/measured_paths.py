"""What the adaptors of tool paths share. Runs in the rival's environment."""

import sys
from pathlib import Path
from time import process_time

import numpy as np


def write_tool_paths(solve, paths):
    """Solve each path, and write joint values, CPU seconds and megabytes to argv[2].

    ``solve(poses)`` returns (m, n) joint values of a path (m, 4, 4), or None. An exception is a
    path of NaN: failures stay in the statistics. Each path is solved twice, and the quicker counts.
    Megabytes are those above what the process had before the first path.
    """
    before, answers, seconds = megabytes(), [], []
    for number, path in enumerate(paths):
        answer, least = None, np.inf
        for _ in range(2):
            began = process_time()
            try:
                answer = solve(path)
            except Exception as fault:
                print(f"path {number}: {fault!r}", file=sys.stderr)
            least = min(least, process_time() - began)
        seconds.append(least)
        answers.append(answer)
    joints = next((np.shape(each)[1] for each in answers if each is not None), 1)
    longest = max((len(each) for each in answers if each is not None), default=1)
    q = np.full((len(paths), longest, joints), np.nan)
    for row, answer in zip(q, answers, strict=True):
        if answer is not None:
            row[: len(answer)] = answer
    np.savez(sys.argv[2], answers=q, seconds=np.array(seconds), megabytes=megabytes() - before)


def megabytes():
    """The largest memory of this process so far.

    Not ``ru_maxrss``: that of a new process begins with the memory of its parent.
    """
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024
