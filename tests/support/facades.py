"""An arm and a whole robot as the same thing, for tests that both must pass."""

import numpy as np
import pytest

from jointwise import Chain, Robot, Scene, pose

FACADES = [Chain, Robot]
both = pytest.mark.parametrize("facade", FACADES, ids=["chain", "robot"])

UR5E = Chain.load("ur5e")
Q = np.array([0.3, -1.2, 1.4, -0.6, 1.1, 0.2])
TABLE = Scene().box([1.0, 2.0, 0.04], [0.5, 0.0, -0.1], name="table")
PILLAR = TABLE.cylinder(0.1, 2.0, [0.35, 0.25, 0.5], name="pillar")
TOOL = pose([0.02, 0.03, 0.1], rpy=[0.2, -0.1, 0.4])
BASE = pose([0.1, -0.2, 0.3], rpy=[0.1, 0.0, 1.0])


def to(model, target, link="tip"):
    """A target, or many, as a model takes it."""
    return target if isinstance(model, Chain) else {link: target}


def tip(model, q, link="tip"):
    """The pose of the end effector, or many."""
    return model.fk(q) if isinstance(model, Chain) else model.fk(q)[link].copy()


def jacobian(model, q):
    return model.jacobian(q) if isinstance(model, Chain) else model.jacobian(q, "tip")


def with_tool(model, *arguments):
    return model.with_tool(*(() if isinstance(model, Chain) else ("tip",)), *arguments)


def attach(model, *arguments, **solid):
    name, *others = arguments
    link = None if isinstance(model, Chain) else "tip"
    return model.attach(name, *others, link=link, **solid)
