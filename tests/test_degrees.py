"""Angles that look like degrees are warned about, with the remedy for where they came from."""

import pickle
import warnings
from math import inf, pi

import pytest

from jointwise import Chain, DHJoint, robots
from jointwise.errors import DegreesWarning
from tests.test_urdf import joint, robot

TURNS = "more than two turns: angles are in radians. If these are degrees,"
RAIL = DHJoint(joint_type="prismatic")


def table(name, text, angles=None):
    def load(folder):
        (folder / name).write_text(text)
        Chain.from_table(folder / name, angles=angles)

    return load


def with_joint(more, kind="revolute"):
    return lambda _: Chain.from_urdf(robot(joint(kind=kind, more=more), links="base one"))


SUSPECTED = {
    "alpha": (lambda _: DHJoint(alpha=90), f"alpha is 90, {TURNS} use math.radians."),
    "theta and alpha": (
        lambda _: DHJoint(theta=-180, alpha=90),
        f"theta is -180 (and 1 more), {TURNS} use math.radians.",
    ),
    "limits": (
        lambda _: Chain.from_dh([DHJoint(a=1), RAIL, DHJoint()], [[-1, 1], [0, 50], [-150, 150]]),
        f"limits of 'joint3' are -150 and 150, {TURNS} use numpy.radians.",
    ),
    "modified rows": (
        lambda _: Chain.from_mdh([DHJoint(a=1)], [[-inf, 170]]),
        f"limits of 'joint1' are -inf and 170, {TURNS} use numpy.radians.",
    ),
    "other limits": (
        lambda _: robots.panda().with_limits([[-90, 90]] * 7),
        f"limits of 'panda_joint1' are -90 and 90 (and 6 more), {TURNS} use numpy.radians.",
    ),
    "TOML": (
        table("arm.toml", "joints = [{ a = 0.4 }, { alpha = 90, lower = -150, upper = 150 }]"),
        f"alpha in row 2 of arm.toml is 90 (and 2 more), {TURNS} set angles = "
        '"degrees" in the file.',
    ),
    "TOML, rpy": (
        table("arm.toml", "joints = [{ a = 0.4 }]\ntool = { rpy = [0, 0, 90] }"),
        f'rpy of tool in arm.toml is 0 0 90, {TURNS} set angles = "degrees" in the file.',
    ),
    "CSV": (
        table("arm.csv", "theta,a,lower\n-90,1,-1\n"),
        f'theta in row 1 of arm.csv is -90, {TURNS} write a TOML file with angles = "degrees", or '
        'in Python use Chain.from_table(file, angles="degrees").',
    ),
    "URDF limits": (
        with_joint('<limit lower="-150" upper="150"/>'),
        f"limit of joint 'j' in the URDF is -150 150, {TURNS} convert them: angles in a URDF are "
        "in radians, such as 1.5708 for 90.",
    ),
    "URDF rpy": (
        with_joint('<limit/><origin rpy="0 90 0"/>'),
        f"rpy of joint 'j' in the URDF is 0 90 0, {TURNS} convert them: angles in a URDF are in "
        "radians, such as 1.5708 for 90.",
    ),
}


@pytest.mark.parametrize("name", SUSPECTED)
def test_degrees_are_warned_about_once_and_where_they_were_given(name, tmp_path):
    call, text = SUSPECTED[name]
    with pytest.warns(DegreesWarning) as caught:
        call(tmp_path)
    assert [str(warning.message) for warning in caught] == [text]
    assert caught[0].filename == __file__


ACCEPTED = {
    "two turns": lambda _: DHJoint(theta=4 * pi, alpha=-4 * pi),
    "prismatic": lambda _: Chain.from_dh([RAIL, DHJoint(d=150, a=90)], [[-150, 150], [-12, 12]]),
    "unlimited": lambda _: Chain.from_dh([DHJoint(a=1)], [[-1e6, inf]]),
    "TOML": table("a.toml", 'angles = "degrees"\njoints = [{ alpha = 90, upper = 150 }]'),
    "CSV": table("a.csv", "alpha,upper\n90,150\n", "degrees"),
    "CSV, prismatic": table("a.csv", "type,d,upper\nprismatic,90,150\n"),
    "URDF, continuous": with_joint('<limit lower="-150" upper="150"/>', "continuous"),
    "URDF, prismatic": with_joint('<limit lower="-150" upper="150"/>', "prismatic"),
    "URDF, unlimited": with_joint('<limit lower="-1e16" upper="1e16"/>'),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_other_numbers_are_not_warned_about(name, tmp_path):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ACCEPTED[name](tmp_path)
    assert [each for each in caught if each.category is DegreesWarning] == []


def test_the_warning_is_pickled():
    warning = DegreesWarning("alpha is 90", "use math.radians")
    text = "alpha is 90: angles are in radians. If these are degrees, use math.radians."
    assert str(pickle.loads(pickle.dumps(warning))) == text
