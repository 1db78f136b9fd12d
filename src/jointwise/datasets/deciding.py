"""Files and folders whose code decides the bits of the results of every dataset."""

DECIDING = (
    "backends",
    "config.py",
    "datasets",
    "engines",
    "jointed.py",
    "kernels",
    "model",
    "planning.py",
    "posture.py",
    "problem.py",
    "results",
    "robot.py",
    "scene",
    "shape",
    "shaped.py",
    "targets",
    "verbs.py",
)
