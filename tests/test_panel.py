"""The panel of the page without a browser: which values its controls show, in which unit."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import Chain, DHJoint
from jointwise.view.controls.error_plot import ErrorPlot
from jointwise.view.controls.joint_sliders import JointSliders, slider_state
from jointwise.view.controls.page_controls import status_lines
from jointwise.view.controls.target_fields import TargetFields
from jointwise.view.server import free_port, open_server
from jointwise.view.session import Session
from jointwise.view.state.units import DEGREES, RADIANS

ARMS = {name: Chain.load(name) for name in ("panda", "ur5e", "stanford")}
# A revolute and a prismatic joint without limits, and both with a lower limit alone.
ROWS = [DHJoint(a=1.0), DHJoint(joint_type="prismatic")]
UNLIMITED = Chain.from_dh(ROWS)
ABOVE = Chain.from_dh(ROWS, limits=[[-1.0, np.inf]] * 2)

NO_ACTIONS = SimpleNamespace(apply=lambda *_: None)


@pytest.fixture
def gui():
    """The GUI of a server without visitors."""
    server = open_server("127.0.0.1", free_port("127.0.0.1", 0), "arm")
    yield server.gui
    server.stop()


@given(st.floats(-40.0, 40.0))
def test_a_slider_of_an_unlimited_joint_wraps_an_angle_but_not_a_distance(value):
    low, high, shown = slider_state(UNLIMITED, 0, value)
    assert (low, high) == (-np.pi, np.pi)
    assert low <= shown <= high
    turns = (value - shown) / (2.0 * np.pi)
    assert turns == pytest.approx(round(turns), abs=1e-9)
    low, high, shown = slider_state(UNLIMITED, 1, value)
    assert shown == value
    assert low <= shown <= high
    assert high - low >= UNLIMITED.arm.angular_scale


@given(st.floats(-1.0, 40.0), st.sampled_from([0, 1]))
def test_a_slider_with_one_limit_ends_there_and_extends_to_its_value(value, joint):
    low, high, shown = slider_state(ABOVE, joint, value)
    assert (low, shown) == (-1.0, value)
    assert high >= value


@pytest.mark.parametrize("name", ARMS)
def test_a_slider_of_a_limited_joint_has_its_limits_and_its_value(name):
    chain = ARMS[name]
    for q in chain.random(seed=6, count=5):
        for joint, value in enumerate(q):
            assert slider_state(chain, joint, value) == (*chain.limits[joint], value)


def test_sliders_show_metres_as_they_are_and_angles_in_the_chosen_unit(gui):
    session = Session(UNLIMITED)
    sliders = JointSliders(gui, session, NO_ACTIONS)
    session.set_joints([2.0 * np.pi + 0.5, 7.5])
    sliders.refresh()
    assert [slider.value for slider in sliders._sliders] == [0.5, 7.5]
    assert sliders._folder.label == "Joints [rad, m]"
    session.set_angle_unit("degrees")
    sliders.refresh()
    assert [slider.value for slider in sliders._sliders] == [28.6, 7.5]
    assert (sliders._sliders[0].min, sliders._sliders[0].max) == (-180.0, 180.0)
    assert sliders._folder.label == "Joints [°, m]"
    assert sliders._sliders[0].hint == "revolute, unlimited"


def test_the_hint_of_a_slider_has_the_limits_in_the_chosen_unit(gui):
    session = Session(ARMS["stanford"])
    sliders = JointSliders(gui, session, NO_ACTIONS)
    sliders.refresh()
    assert sliders._sliders[1].hint == "revolute, -2.967 to 2.967 rad"
    assert sliders._sliders[2].hint == "prismatic, 0.305 to 1.270 m"
    session.set_angle_unit("degrees")
    sliders.refresh()
    assert sliders._sliders[1].hint == "revolute, -170.0 to 170.0°"
    assert sliders._sliders[2].hint == "prismatic, 0.305 to 1.270 m"


def test_the_fields_of_a_pose_show_roll_pitch_yaw_and_keep_what_was_typed(gui):
    session = Session(ARMS["ur5e"])
    controls = TargetFields(gui, session, lambda *_: None)
    controls.refresh()
    assert not controls._rpy.visible
    session.set_target_kind("pose")
    session.move_target(rpy=[0.1, 0.2, 0.3])
    controls.refresh()
    assert controls._rpy.visible
    assert controls._rpy.label == "rpy [rad]"
    assert controls._rpy.value == (0.1, 0.2, 0.3)
    typed = (0.1, 2.0, 0.3)  # the same rotation has a pitch of less than 90°, too
    controls._rpy.value = typed
    controls._rotate_to(typed)
    controls.refresh()
    assert controls._rpy.value == typed
    session.move_target(rpy=[0.1, 0.2, -0.3])
    controls.refresh()
    assert controls._rpy.value == (0.1, 0.2, -0.3)
    session.set_angle_unit("degrees")
    controls.refresh()
    assert controls._rpy.label == "rpy [°]"
    assert controls._rpy.value == (5.7, 11.5, -17.2)


def test_the_status_has_the_orientation_error_only_where_there_is_one():
    session = Session(ARMS["ur5e"])
    assert "orientation" not in str(status_lines(session))
    assert "nan" not in str(status_lines(session))
    session.set_target_kind("pose")
    session.set_follows(False)
    session.move_target(rpy=np.add(session.target_rpy, [0.0, 0.0, 0.5]))
    assert "orientation error 500 mrad" in str(status_lines(session))
    session.set_angle_unit("degrees")
    assert "orientation error 28.6°" in str(status_lines(session))


def test_the_error_plot_leaves_out_a_free_orientation(gui):
    session, plot = Session(ARMS["ur5e"]), ErrorPlot(gui)
    session.step_sweep()
    plot.show(session.steps, RADIANS)
    assert np.isfinite(plot._plot.data).all()
    assert not plot._plot.series[2]["show"]
    session.set_target_kind("pose")
    session.step_sweep()
    plot.show(session.steps, DEGREES)
    errors = np.degrees(session.steps.orientation_error[: session.steps.index + 1])
    assert 10.0 ** plot._plot.data[2] == pytest.approx(errors)
    assert plot._plot.series[2]["label"] == "orientation [°]"
    assert plot._plot.series[2]["show"]
