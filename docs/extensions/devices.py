"""Calls with ``device="cuda"`` by the kind of their model, for the table of what runs where."""

import numpy as np

from jointwise import Chain, InvalidInputError, JointwiseError, PathOptions, Posture, Robot, Scene

ARM, ROBOT = Chain.load("ur5e"), Robot.load("ur5e")
POSES = ARM.fk(np.tile([0.1, -1.0, 1.0, 0.2, 0.3, 0.4], (2, 1)))
BOTH = {"tip": POSES, "link3": POSES[:, :3, 3]}
SCENE = Scene().box([0.1, 0.1, 0.1], [5.0, 5.0, 5.0])
NEAR, FEWER = Posture(np.zeros(6)), Posture(active=ARM.joint_names[1:])
GPU, PATH = {"device": "cuda"}, {"options": PathOptions(device="cuda")}
LANES, THREADS = "eight rows in the lanes of each core", "a row a core"

# Call, model, how the CPU runs it, and the call on a GPU.
CALLS = (
    ("solve_batch", "an arm", LANES, lambda: ARM.solve_batch(POSES, **GPU)),
    ("solve_batch", "one link of a robot", LANES, lambda: ROBOT.solve_batch({"tip": POSES}, **GPU)),
    (
        "solve_batch",
        "an arm with a scene",
        LANES,
        lambda: ARM.with_scene(SCENE).solve_batch(POSES, **GPU),
    ),
    ("solve_batch", "several links of a robot", THREADS, lambda: ROBOT.solve_batch(BOTH, **GPU)),
    (
        "solve_batch",
        "the same, joints that do not move",
        THREADS,
        lambda: ROBOT.solve_batch(BOTH, posture=FEWER, **GPU),
    ),
    (
        "solve_batch",
        "the same, preferred joint values",
        THREADS,
        lambda: ROBOT.solve_batch(BOTH, posture=NEAR, **GPU),
    ),
    (
        "solve_batch",
        "the same, with a scene",
        THREADS,
        lambda: ROBOT.with_scene(SCENE).solve_batch(BOTH, **GPU),
    ),
    (
        "solve_batch",
        "an arm, preferred joint values",
        THREADS,
        lambda: ARM.solve_batch(POSES, posture=NEAR, **GPU),
    ),
    ("solve_paths", "an arm", "a path a core", lambda: ARM.solve_paths([POSES], **PATH)),
    (
        "solve_paths",
        "several links of a robot",
        "a path a core",
        lambda: ROBOT.solve_paths([BOTH], **PATH),
    ),
    (
        "solve_paths",
        "the same, preferred joint values",
        "a path a core",
        lambda: ROBOT.solve_paths([BOTH], posture=NEAR, **PATH),
    ),
    (
        "solve_paths",
        "the same, with a scene",
        "a path a core",
        lambda: ROBOT.with_scene(SCENE).solve_paths([BOTH], **PATH),
    ),
    ("solutions_batch", "an arm", THREADS, lambda: ARM.solutions_batch(POSES, **GPU)),
)


def devices() -> str:
    """The table."""
    rows = [
        f"| `{call}` | {model} | {cpu} | {'yes' if runs_on_gpu(attempt) else 'no'} |"
        for call, model, cpu, attempt in CALLS
    ]
    return "\n".join(["| call | model | CPU | GPU |", "|---|---|---|---|", *rows])


def runs_on_gpu(call) -> bool:
    """Whether a call with ``device="cuda"`` runs on a GPU, also on a machine without one."""
    try:
        call()
    except InvalidInputError:
        return False
    except JointwiseError as error:  # there is no GPU
        if "device is 'cuda'" not in str(error):
            raise
    return True
