"""Tesseract's Descartes: tool paths whose turn about z is free, one thread, without collisions."""

import sys
import tempfile
from pathlib import Path

import numpy as np
from measured_paths import write_tool_paths
from tesseract_robotics.tesseract_command_language import (
    CartesianWaypoint,
    CartesianWaypointPoly_wrap_CartesianWaypoint,
    CompositeInstruction,
    InstructionPoly_as_MoveInstructionPoly,
    MoveInstruction,
    MoveInstructionPoly_wrap_MoveInstruction,
    MoveInstructionType_LINEAR,
    ProfileDictionary,
    WaypointPoly_as_StateWaypointPoly,
)
from tesseract_robotics.tesseract_common import GeneralResourceLocator, Isometry3d, ManipulatorInfo
from tesseract_robotics.tesseract_environment import Environment
from tesseract_robotics.tesseract_motion_planners import PlannerRequest
from tesseract_robotics.tesseract_motion_planners_descartes import (
    DescartesDefaultPlanProfileD,
    DescartesMotionPlannerD,
    cast_DescartesPlanProfileD,
)

NAMESPACE, PROFILE = "DescartesMotionPlannerTask", "SEAM"
PLUGINS = """kinematic_plugins:
  search_libraries: [tesseract_kinematics_kdl_factories, tesseract_kinematics_opw_factory]
  fwd_kin_plugins:
    arm:
      default: KDLFwdKinChain
      plugins:
        KDLFwdKinChain:
          class: KDLFwdKinChainFactory
          config: {{base_link: base, tip_link: flange}}
  inv_kin_plugins:
    arm:
      default: OPWInvKin
      plugins:
        OPWInvKin:
          class: OPWInvKinFactory
          config:
            base_link: base
            tip_link: flange
            params: {{{lengths}, offsets: {offsets}, sign_corrections: [1, 1, 1, 1, 1, 1]}}
"""
SRDF = """<robot name="arm">
<kinematics_plugin_config filename="file://{plugins}"/>
<group name="arm"><chain base_link="base" tip_link="flange"/></group>
</robot>"""

with np.load(sys.argv[1]) as asked:
    urdf, spacing = str(asked["urdf"]), float(asked["spacing"])
    lengths, offsets = asked["lengths"].tolist(), asked["offsets"].tolist()
    paths = list(asked["paths"])

names = ("a1", "a2", "b", "c1", "c2", "c3", "c4")
with tempfile.NamedTemporaryFile("w", suffix=".yaml", delete=False) as file:
    pairs = ", ".join(f"{name}: {value}" for name, value in zip(names, lengths, strict=True))
    file.write(PLUGINS.format(lengths=pairs, offsets=offsets))
environment, locator = Environment(), GeneralResourceLocator()
assert environment.init(urdf, SRDF.format(plugins=file.name), locator)
Path(file.name).unlink()
manipulator = ManipulatorInfo()
manipulator.manipulator, manipulator.manipulator_ik_solver = "arm", "OPWInvKin"
manipulator.tcp_frame, manipulator.working_frame = "tcp", "base"


def solve(poses):
    """(m, n) joint values of a path; None if there is none."""
    program = CompositeInstruction()
    program.setManipulatorInfo(manipulator)
    for pose in poses:
        waypoint = CartesianWaypointPoly_wrap_CartesianWaypoint(CartesianWaypoint(Isometry3d(pose)))
        move = MoveInstruction(waypoint, MoveInstructionType_LINEAR, PROFILE, manipulator)
        program.appendMoveInstruction(MoveInstructionPoly_wrap_MoveInstruction(move))
    profile = DescartesDefaultPlanProfileD()
    profile.target_pose_fixed = False
    profile.target_pose_sample_axis = np.array([0.0, 0.0, 1.0])
    profile.target_pose_sample_resolution = spacing
    profile.target_pose_sample_min, profile.target_pose_sample_max = -np.pi, np.pi - spacing
    profile.enable_collision = profile.enable_edge_collision = False
    profile.allow_collision = True
    profiles = ProfileDictionary()
    profiles.addProfile(NAMESPACE, PROFILE, cast_DescartesPlanProfileD(profile))
    request = PlannerRequest()
    request.instructions, request.env, request.profiles = program, environment, profiles
    planner = DescartesMotionPlannerD(NAMESPACE)
    response = planner.solve(request)
    if not response.successful:
        return None
    moves = [InstructionPoly_as_MoveInstructionPoly(each) for each in response.results.flatten()]
    return [WaypointPoly_as_StateWaypointPoly(m.getWaypoint()).getPosition().ravel() for m in moves]


write_tool_paths(solve, paths)
