"""What a person reads when the input is wrong. The texts are part of the product."""

import numpy as np
import pytest
from scipy.spatial.transform import RigidTransform

from jointwise import (
    CCDConfig,
    DHJoint,
    DimensionMismatchError,
    InvalidInputError,
    JointwiseError,
    ccd_solve,
    forward_kinematics,
    puma560,
    two_link_planar,
)

ARM = two_link_planar(1.0, 1.0)
NAN, INF = float("nan"), float("inf")


def solve(joints=ARM, target=(1.0, 1.0, 0.0), start=(0.0, 0.0), **config):
    return ccd_solve(joints, target, start, CCDConfig(**config))


TEXTS = {
    "too few angles": (
        lambda: solve(start=[0.0]),
        "initial_angles has 1 value for an arm of 2 joints: expected one value per joint, "
        "shape (2,).",
    ),
    "too many angles": (
        lambda: solve(puma560(), start=np.zeros(7)),
        "initial_angles has 7 values for an arm of 6 joints: expected one value per joint, "
        "shape (6,).",
    ),
    "angles as a column": (
        lambda: solve(start=[[0.0], [0.0]]),
        "initial_angles has shape (2, 1) for an arm of 2 joints: expected one value per joint, "
        "shape (2,).",
    ),
    "angles of the wrong number to forward kinematics": (
        lambda: forward_kinematics(ARM, [1.0, 2.0, 3.0]),
        "joint_values has 3 values for an arm of 2 joints: expected one value per joint, "
        "shape (2,).",
    ),
    "angles in words": (
        lambda: solve(start=["left", "right"]),
        "initial_angles is ['left', 'right']: expected numbers.",
    ),
    "nan among the angles": (
        lambda: solve(start=[0.0, NAN]),
        "initial_angles[1] is nan: expected finite numbers below 1e9.",
    ),
    "infinite angle": (
        lambda: solve(start=[-INF, 0.0]),
        "initial_angles[0] is -inf: expected finite numbers below 1e9.",
    ),
    "nan in an angle that does not move the tip": (
        lambda: solve(puma560(), start=[0.0, 0.0, 0.0, 0.0, 0.0, NAN]),
        "initial_angles[5] is nan: expected finite numbers below 1e9.",
    ),
    "nan to forward kinematics": (
        lambda: forward_kinematics(ARM, [NAN, 0.0]),
        "joint_values[0] is nan: expected finite numbers below 1e9.",
    ),
    "planar target": (
        lambda: solve(target=[1.0, 1.0]),
        "target has shape (2,): expected (3,), a position x, y, z. For a planar arm, add z = 0.",
    ),
    "pose as target": (
        lambda: solve(target=np.eye(4)),
        "target has shape (4, 4): expected (3,), a position x, y, z. "
        "Of a pose, pass its position, target[:3, 3].",
    ),
    "several targets": (
        lambda: solve(target=np.zeros((5, 3))),
        "target has shape (5, 3): expected (3,), a position x, y, z.",
    ),
    "one number as target": (
        lambda: solve(target=1.0),
        "target has shape (): expected (3,), a position x, y, z.",
    ),
    "several transforms as target": (
        lambda: solve(target=RigidTransform.identity(2)),
        "target has shape (2, 3): expected (3,), a position x, y, z.",
    ),
    "target in words": (
        lambda: solve(target="there"),
        "target is 'there': expected numbers.",
    ),
    "nan in the target": (
        lambda: solve(target=[1.0, NAN, 0.0]),
        "target[1] is nan: expected finite numbers below 1e9.",
    ),
    "infinite target": (
        lambda: solve(target=[1.0, 1.0, INF]),
        "target[2] is inf: expected finite numbers below 1e9.",
    ),
    "target beyond reason": (
        lambda: solve(target=[1e200, 1.0, 0.0]),
        "target[0] is 1e+200: expected finite numbers below 1e9.",
    ),
    "angle beyond reason": (
        lambda: solve(start=[0.0, -1e9]),
        "initial_angles[1] is -1000000000.0: expected finite numbers below 1e9.",
    ),
    "nothing as target": (
        lambda: solve(target=None),
        "target is None: expected numbers.",
    ),
    "nothing among the angles": (
        lambda: solve(start=[None, 0.0]),
        "initial_angles is [None, 0.0]: expected numbers.",
    ),
    "numbers in quotes": (
        lambda: solve(target=["1", "1", "0"]),
        "target is ['1', '1', '0']: expected numbers.",
    ),
    "complex target": (
        lambda: solve(target=[1 + 1j, 1, 0]),
        "target is [(1+1j), 1, 0]: expected numbers.",
    ),
    "ragged target": (
        lambda: solve(target=[[1.0], [1.0, 0.0]]),
        "target is [[1.0], [1.0, 0.0]]: expected numbers.",
    ),
    "whole number that no float holds": (
        lambda: solve(target=[10**400, 1, 0]),
        f"target is {[10**400, 1, 0]}: expected numbers.",
    ),
    "no joints": (
        lambda: solve(joints=[], start=[]),
        "joints is empty: expected at least one DHJoint.",
    ),
    "joints of another kind": (
        lambda: solve(joints=[DHJoint(a=1.0), (0.0, 0.0, 1.0, 0.0)]),
        "joints[1] is (0.0, 0.0, 1.0, 0.0): expected DHJoint(theta, d, a, alpha, joint_type).",
    ),
    "joints that cannot be hashed": (
        lambda: solve(joints=[DHJoint(a=1.0), [0.0, 0.0, 1.0, 0.0]]),
        "joints[1] is [0.0, 0.0, 1.0, 0.0]: expected DHJoint(theta, d, a, alpha, joint_type).",
    ),
    "one joint instead of a sequence": (
        lambda: solve(joints=DHJoint(a=1.0)),
        "joints is DHJoint(theta=0.0, d=0.0, a=1.0, alpha=0.0, joint_type='revolute'): "
        "expected a sequence of DHJoint, base to tip.",
    ),
    "unknown joint type": (
        lambda: DHJoint(a=1.0, joint_type="hinge"),
        "joint_type is 'hinge': expected 'revolute' or 'prismatic'.",
    ),
    "joint type that cannot be hashed": (
        lambda: DHJoint(joint_type=["revolute"]),
        "joint_type is ['revolute']: expected 'revolute' or 'prismatic'.",
    ),
    "joint type in an array": (
        lambda: DHJoint(joint_type=np.array(["revolute", "prismatic"])),
        "joint_type is array(['revolute', 'prismatic'], dtype='<U9'): "
        "expected 'revolute' or 'prismatic'.",
    ),
    "nan in a row": (
        lambda: DHJoint(alpha=NAN),
        "alpha is nan: expected a finite number below 1e9.",
    ),
    "a word in a row": (
        lambda: DHJoint(d="0.4"),
        "d is '0.4': expected a number.",
    ),
    "nothing in a row": (
        lambda: DHJoint(theta=None),
        "theta is None: expected a number.",
    ),
    "a whole number too large for a float": (
        lambda: DHJoint(a=10**400),
        f"a is {10**400}: expected a finite number below 1e9.",
    ),
    "tolerance of zero": (
        lambda: solve(tolerance=0.0),
        "tolerance is 0.0: expected a number above zero.",
    ),
    "negative tolerance": (
        lambda: solve(tolerance=-1e-4),
        "tolerance is -0.0001: expected a number above zero.",
    ),
    "nan as tolerance": (
        lambda: solve(tolerance=NAN),
        "tolerance is nan: expected a finite number below 1e9.",
    ),
    "infinite tolerance": (
        lambda: solve(tolerance=INF),
        "tolerance is inf: expected a finite number below 1e9.",
    ),
    "negative iterations": (
        lambda: solve(max_iterations=-1),
        "max_iterations is -1: expected a whole number, 0 or more.",
    ),
    "half an iteration": (
        lambda: solve(max_iterations=2.5),
        "max_iterations is 2.5: expected a whole number, 0 or more.",
    ),
    "iterations as a word": (
        lambda: solve(max_iterations="many"),
        "max_iterations is 'many': expected a number.",
    ),
    "more iterations than a life has": (
        lambda: solve(max_iterations=2**63),
        "max_iterations is 9223372036854775808: expected a finite number below 1e9.",
    ),
    "a dictionary as configuration": (
        lambda: ccd_solve(ARM, [1, 1, 0], [0, 0], {"max_iterations": 3}),
        "config is {'max_iterations': 3}: expected a CCDConfig.",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_error_says_what_was_given_and_what_is_accepted(name):
    call, text = TEXTS[name]
    with pytest.raises(InvalidInputError) as caught:
        call()
    assert str(caught.value) == text


def test_every_error_is_a_jointwise_error_and_a_value_error():
    assert issubclass(DimensionMismatchError, InvalidInputError)
    assert issubclass(InvalidInputError, JointwiseError)
    assert issubclass(InvalidInputError, ValueError)
