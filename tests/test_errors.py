"""Error texts, which are part of the product."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import RigidTransform

from jointwise import (
    CCDConfig,
    Chain,
    DHJoint,
    DimensionMismatchError,
    InvalidInputError,
    JointwiseError,
    Posture,
    Robot,
    SolveConfig,
    Status,
    aim,
    ccd_solve,
    forward_kinematics,
    puma560,
    robots,
    two_link_planar,
)
from jointwise.extras import install
from jointwise.model import data

ARM = two_link_planar(1.0, 1.0)
NAN, INF = float("nan"), float("inf")
SHEARED = np.eye(4) + 0.1 * np.eye(4, k=1) * [1, 1, 0, 0]


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
    "text as angles": (
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
    "nan in an angle that does not move the end effector": (
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
        "For a pose, pass its position, target[:3, 3].",
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
    "text as target": (
        lambda: solve(target="left"),
        "target is 'left': expected numbers.",
    ),
    "nan in the target": (
        lambda: solve(target=[1.0, NAN, 0.0]),
        "target[1] is nan: expected finite numbers below 1e9.",
    ),
    "infinite target": (
        lambda: solve(target=[1.0, 1.0, INF]),
        "target[2] is inf: expected finite numbers below 1e9.",
    ),
    "target of 1e200": (
        lambda: solve(target=[1e200, 1.0, 0.0]),
        "target[0] is 1e+200: expected finite numbers below 1e9.",
    ),
    "angle of -1e9": (
        lambda: solve(start=[0.0, -1e9]),
        "initial_angles[1] is -1000000000.0: expected finite numbers below 1e9.",
    ),
    "None as target": (
        lambda: solve(target=None),
        "target is None: expected numbers.",
    ),
    "None among the angles": (
        lambda: solve(start=[None, 0.0]),
        "initial_angles is [None, 0.0]: expected numbers.",
    ),
    "strings as target": (
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
    "integer too large for a float as target": (
        lambda: solve(target=[10**400, 1, 0]),
        f"target is {[10**400, 1, 0]}: expected numbers.",
    ),
    "no joints": (
        lambda: solve(joints=[], start=[]),
        "joints is empty: expected at least one DHJoint.",
    ),
    "three numbers as joint": (
        lambda: solve(joints=[DHJoint(a=1.0), [0.0, 0.0, 1.0]]),
        "joints[1] is [0.0, 0.0, 1.0]: expected DHJoint(theta, d, a, alpha, joint_type), or these "
        "as a tuple.",
    ),
    "one joint instead of a sequence": (
        lambda: solve(joints=DHJoint(a=1.0)),
        "joints is DHJoint(theta=0.0, d=0.0, a=1.0, alpha=0.0, joint_type='revolute'): "
        "expected a sequence of DHJoint, base to end effector.",
    ),
    "unknown joint type": (
        lambda: DHJoint(a=1.0, joint_type="hinge"),
        "joint_type is 'hinge': expected 'revolute' or 'prismatic'.",
    ),
    "joint type in a list": (
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
    "text in a row": (
        lambda: DHJoint(d="0.4"),
        "d is '0.4': expected a number.",
    ),
    "None in a row": (
        lambda: DHJoint(theta=None),
        "theta is None: expected a number.",
    ),
    "integer too large for a float in a row": (
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
    "text as iterations": (
        lambda: solve(max_iterations="many"),
        "max_iterations is 'many': expected a number.",
    ),
    "too many iterations": (
        lambda: solve(max_iterations=2**63),
        "max_iterations is 9223372036854775808: expected a finite number below 1e9.",
    ),
    "crossed limits": (
        lambda: Chain.from_dh(ARM, [[-1.0, 1.0], [1.0, -1.0]], names=["shoulder", "elbow"]),
        "Joint 'elbow': lower limit 1 is above upper limit -1.",
    ),
    "nan as limit": (
        lambda: Chain.from_dh(ARM, [[-1.0, 1.0], [NAN, 1.0]]),
        "limits of 'joint2' are nan and 1.0: expected a lower and an upper value, "
        "-inf and inf where unlimited.",
    ),
    "limits for another arm": (
        lambda: Chain.from_dh(ARM, [[-1.0, 1.0]]),
        "limits has shape (1, 2) for an arm of 2 joints: "
        "expected (2, 2), a lower and an upper value per joint.",
    ),
    "limits None for one joint": (
        lambda: Chain.from_dh(ARM).with_limits([[-1.0, 1.0], None]),
        "limits is [[-1.0, 1.0], None]: expected numbers.",
    ),
    "names for another arm": (
        lambda: Chain.from_dh(ARM, names=["elbow"]),
        "names has 1 name for an arm of 2 joints: expected one name per joint.",
    ),
    "the same name twice": (
        lambda: Chain.from_dh(ARM, names=["elbow", "elbow"]),
        "names has 'elbow' twice: expected a unique name per joint.",
    ),
    "a number among the names": (
        lambda: Chain.from_dh(ARM, names=["elbow", 5]),
        "names[1] is 5: expected a string.",
    ),
    "a chain without joints": (
        lambda: Chain.from_mdh([]),
        "joints is empty: expected at least one DHJoint.",
    ),
    "a tool of the wrong shape": (
        lambda: Chain.from_dh(ARM, tool=np.eye(3)),
        "tool has shape (3, 3): expected (4, 4), a pose.",
    ),
    "a shear as base": (
        lambda: Chain.from_dh(ARM, base=SHEARED),
        "base is not a pose: its rotation part deviates from a rotation by 0.1. "
        "SciPy's Rotation.from_matrix gives the nearest rotation.",
    ),
    "a shear as target": (
        lambda: Chain.from_dh(ARM).solve(SHEARED),
        "target is not a pose: its rotation part deviates from a rotation by 0.1. "
        "SciPy's Rotation.from_matrix gives the nearest rotation.",
    ),
    "a reflection as target": (
        lambda: Chain.from_dh(ARM).solve(np.diag([1.0, 1.0, -1.0, 1.0])),
        "target is not a pose: its rotation part is a reflection. Negate one of its axes to make "
        "it right-handed.",
    ),
    "a target with another last row": (
        lambda: Chain.from_dh(ARM).solve(np.diag([1.0, 1.0, 1.0, 2.0])),
        "target has the last row [0. 0. 0. 2.]: expected [0, 0, 0, 1] in a pose.",
    ),
    "a target of two numbers": (
        lambda: Chain.from_dh(ARM).solve([1.0, 1.0]),
        "target has shape (2,): expected (3,) for a position or (4, 4) for a pose. "
        "For a planar arm, add z = 0.",
    ),
    "a rotation as target": (
        lambda: Chain.from_dh(ARM).solve(np.eye(3)),
        "target has shape (3, 3): expected (3,) for a position or (4, 4) for a pose. "
        "A rotation alone is not enough: jointwise.pose(position, matrix=rotation).",
    ),
    "many targets at once": (
        lambda: Chain.from_dh(ARM).solve(np.zeros((7, 3))),
        "target has shape (7, 3): expected (3,) for a position or (4, 4) for a pose. "
        "For many targets, use solve_batch.",
    ),
    "nan in the target of a chain": (
        lambda: Chain.from_dh(ARM).solve([NAN, 1.0, 0.0]),
        "target[0] is nan: expected finite numbers below 1e9.",
    ),
    "nan in the start of a chain": (
        lambda: Chain.from_dh(ARM).solve([1.0, 1.0, 0.0], [0.0, NAN]),
        "start[1] is nan: expected finite numbers below 1e9.",
    ),
    "a start for another arm": (
        lambda: Chain.from_dh(ARM).solve([1.0, 1.0, 0.0], [0.0, 0.0, 0.0]),
        "start has 3 values for an arm of 2 joints: expected one value per joint, shape (2,).",
    ),
    "a CCDConfig for a chain": (
        lambda: Chain.from_dh(ARM).solve([1.0, 1.0, 0.0], config=CCDConfig()),
        "config is CCDConfig(max_iterations=100, tolerance=0.0001): expected a SolveConfig.",
    ),
    "an unknown method": (
        lambda: SolveConfig(method="newton"),
        "method is 'newton': expected 'combined' or 'ccd' or 'ccd_anderson'.",
    ),
    "negative stiffness": (
        lambda: SolveConfig(stiffness=-1.0),
        "stiffness is -1.0: expected 0 or more.",
    ),
    "stiffness for another arm": (
        lambda: Chain.from_dh(ARM).solve([1, 1, 0], config=SolveConfig(stiffness=[1, 2, 3])),
        "stiffness has 3 values for an arm of 2 joints: expected one value per joint, shape (2,).",
    ),
    "a posture of another arm": (
        lambda: Chain.from_dh(ARM).solve([1, 1, 0], posture=Posture([1, 2, 3])),
        "posture has 3 values for an arm of 2 joints: expected one value per joint, shape (2,).",
    ),
    "a zero direction": (
        lambda: aim([1.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
        "direction has no length: expected three numbers, not all zero.",
    ),
    "a limit of 1e300": (
        lambda: Chain.from_dh(ARM, [[0.0, 1e300], [0.0, 1.0]]),
        "limits of 'joint1' are 0.0 and 1e+300: expected a lower and an upper value, "
        "-inf and inf where unlimited.",
    ),
    "a number as names": (
        lambda: Chain.from_dh(ARM, names=5),
        "names has 1 name for an arm of 2 joints: expected one name per joint.",
    ),
    "nan in the start, with a posture": (
        lambda: Chain.from_dh(ARM).solve([1, 1, 0], [NAN, 0], posture=Posture([0, 0])),
        "start[0] is nan: expected finite numbers below 1e9.",
    ),
    "text as search_unreached": (
        lambda: SolveConfig(search_unreached="no"),
        "search_unreached is 'no': expected True or False.",
    ),
    "text as all_turns": (
        lambda: Chain.load("ur5e").solutions(np.eye(4), all_turns="no"),
        "all_turns is 'no': expected True or False.",
    ),
    "text as free_base": (
        lambda: Robot.load("ur5e", free_base="no"),
        "free_base is 'no': expected True or False.",
    ),
    "a number as switch_branches": (
        lambda: Chain.load("ur5e").track(
            np.zeros(6), 0.01, max_acceleration=1.0, switch_branches=1
        ),
        "switch_branches is 1: expected True or False.",
    ),
    "text as switch_branches of a robot": (
        lambda: Robot.load("ur5e").track(
            np.zeros(6), 0.01, max_acceleration=1.0, switch_branches="no"
        ),
        "switch_branches is 'no': expected True or False.",
    ),
    "a number as the name of a tool": (
        lambda: Chain.load("ur5e").with_tool([0, 0, 0.1], name=1),
        "name is 1: expected a string that is not empty.",
    ),
    "None as the name of a tool of a robot": (
        lambda: Robot.load("ur5e").with_tool("tip", [0, 0, 0.1], name=None),
        "name is None: expected a string that is not empty.",
    ),
    "a number as the name of something held": (
        lambda: Chain.load("ur5e").attach(1, sphere=0.1),
        "name is 1: expected a string that is not empty.",
    ),
    "an empty name of something held by a robot": (
        lambda: Robot.load("ur5e").attach("", link="tip", sphere=0.1),
        "name is '': expected a string that is not empty.",
    ),
    "a matrix as posture": (
        lambda: Chain.from_dh(ARM).solve([1, 1, 0], posture=Posture([[1, 2], [3, 4]])),
        "posture has shape (2, 2) for an arm of 2 joints: expected one value per joint, "
        "shape (2,).",
    ),
    "nan in a posture": (
        lambda: Chain.from_dh(ARM).solve([1, 1, 0], posture=Posture([0, NAN])),
        "posture[1] is nan: expected finite numbers below 1e9.",
    ),
    "joint values as posture": (
        lambda: Chain.from_dh(ARM).solve([1, 1, 0], posture=[0, 0]),
        "posture is [0, 0]: expected a Posture, such as Posture(q).",
    ),
    "a negative weight of a posture": (
        lambda: Posture([0, 0], weight=-1.0),
        "weight is -1: expected 0 or more.",
    ),
    "text as active joints": (
        lambda: Posture(active="elbow"),
        "active is 'elbow': expected a list of joint names.",
    ),
    "a negative seed": (
        lambda: SolveConfig(seed=-1),
        "seed is -1: expected a whole number, 0 or more.",
    ),
    "a trace with acceleration": (
        lambda: Chain.from_dh(ARM).trace([1, 1, 0], config=SolveConfig(method="ccd_anderson")),
        "config has the method 'ccd_anderson': expected 'combined' or 'ccd' for a trace.",
    ),
    "a number as path": (
        lambda: Chain.from_dh(ARM).solve_path(5),
        "targets has shape (): expected (m, 3) for positions or (m, 4, 4) for poses.",
    ),
    "an empty path": (
        lambda: Chain.from_dh(ARM).solve_path([]),
        "targets is empty: expected at least one target.",
    ),
    "a path of mixed kinds": (
        lambda: Chain.from_dh(ARM).solve_path([[1.0, 0.0, 0.0], np.eye(4)]),
        "targets mix poses and positions: expected one kind in a batch or a path.",
    ),
    "a bad target in a path": (
        lambda: Chain.from_dh(ARM).solve_path([[1.0, 0.0, 0.0], [1.0, 0.0]]),
        "targets[1] has shape (2,): expected (3,) for a position or (4, 4) for a pose. "
        "For a planar arm, add z = 0.",
    ),
    "configurations of the wrong width": (
        lambda: Chain.from_dh(ARM).fk(np.zeros((5, 3))),
        "q has shape (5, 3) for an arm of 2 joints: expected one value per joint, shape (2,).",
    ),
    "a dictionary as config": (
        lambda: ccd_solve(ARM, [1, 1, 0], [0, 0], {"max_iterations": 3}),
        "config is {'max_iterations': 3}: expected a CCDConfig.",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_error_texts(name):
    call, text = TEXTS[name]
    with pytest.raises(InvalidInputError) as caught:
        call()
    assert str(caught.value) == text


def test_input_errors_are_jointwise_errors_and_value_errors():
    assert issubclass(DimensionMismatchError, InvalidInputError)
    assert issubclass(InvalidInputError, JointwiseError)
    assert issubclass(InvalidInputError, ValueError)


def test_a_transposed_pose_is_recognised():
    pose = robots.ur5e().fk([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    with pytest.raises(InvalidInputError) as caught:
        robots.ur5e().solve(pose.T)
    assert str(caught.value).endswith("expected [0, 0, 0, 1] in a pose. Transposed? Pass target.T.")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (([[1, 2, 3], [4, 5]], [0, 0, 1]), "position is [[1, 2, 3], [4, 5]]: expected numbers."),
        (
            ([[1, 2, 3], [4, 5, 6]], [[0, 0, 1], [0, 0]]),
            "direction is [[0, 0, 1], [0, 0]]: expected numbers.",
        ),
        (
            ([[1, 2, 3], [4, 5, 6]], [[0, 0, 1]] * 3),
            "direction has shape (3, 3) for 2 positions: expected (3,) for all or (2, 3), one for "
            "each.",
        ),
        (([1, 2, 3], [0, [1]]), "direction is [0, [1]]: expected numbers."),
    ],
)
def test_ragged_aims_are_refused(arguments, text):
    with pytest.raises(InvalidInputError) as caught:
        aim(*arguments)
    assert str(caught.value) == text


def test_an_xml_file_without_links_is_no_urdf():
    with pytest.raises(InvalidInputError) as caught:
        Chain.from_urdf("<robot name='r'><material name='m'/></robot>")
    assert str(caught.value) == (
        "the URDF has no links: expected <link> and <joint> elements inside <robot>."
    )


def test_nothing_says_that_jointwise_is_on_a_package_index():
    """Until it is released, extras are installed in a clone; ``extras.INSTALL`` says so."""
    root = Path(__file__).parent.parent
    folders = ("src", "docs", "examples")
    files = [root / "README.md", *(file for each in folders for file in (root / each).rglob("*"))]
    texts = [f for f in files if f.suffix in (".py", ".md", ".ipynb") and f.name != "extras.py"]
    found = [
        f.name for f in texts if re.search(r"pip install '?\"?jointwise", f.read_text("utf-8"))
    ]
    assert not found
    assert install("plot") == "in a clone of jointwise, run pip install '.[plot]'"


def test_a_position_is_not_advised_to_be_one():
    result = Chain.load("ur5e").solve([0.0, 0.0, 0.2])
    assert result.status is Status.STALLED
    assert "instead of a pose" not in result.message
    assert result.message.endswith("allow a larger tolerance, or try other starts.")
    posed = Chain.load("gen3").solve(Chain.load("gen3").fk([0.0] * 7) + np.eye(4, k=3) * [[0.3]])
    assert "instead of a pose" in posed.message or posed.status is not Status.STALLED


def test_a_beginning_of_names_is_completed(monkeypatch):
    names = ("talos_full_v2", "talos_full_v2_box", "talos_reduced", "tiago")
    monkeypatch.setattr(data, "example_files", lambda: dict.fromkeys(names, Path("robot.urdf")))
    for given, meant in (
        ("talos", "'talos_full_v2' or 'talos_reduced'"),
        ("UR", "'ur10e', 'ur3e' or 'ur5'"),
        ("talso_full_v2", "'talos_full_v2'"),
    ):
        with pytest.raises(InvalidInputError) as error:
            Robot.load(given)
        assert str(error.value).startswith(
            f"no robot named '{given}'; did you mean {meant}? Robots"
        )
