"""The robot of a compiled MJCF model: its bodies, joints and sites."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model.checks import list_names, short
from jointwise.model.home import NAMES
from jointwise.model.kinematic_tree import LinkPlace, MovingJoint, TreeModel, tree_model
from jointwise.model.mjcf.constraints import closed_loops, joint_constraints
from jointwise.model.mjcf.poses import pose_matrix
from jointwise.model.rotation import rotations_to_axes
from jointwise.model.tree_poses import inverse, motions, square

# Types of joints, as MuJoCo numbers them.
FREE, BALL, SLIDE, HINGE = range(4)
WORLD = 0


class ModelReader:
    """Makes a robot from a compiled model.

    Args:
        model: A ``mujoco.MjModel``.
        title: Name of the file in errors.
    """

    def __init__(self, model: Any, title: str) -> None:
        self.model, self.title = model, title
        self.body_names = object_names(model.body, model.nbody, "body")
        self.joint_names = object_names(model.joint, model.njnt, "joint")
        self.mimics, self.held = joint_constraints(model, self.joint_names, title)
        self.moving: list[MovingJoint] = []
        self.places: dict[int, LinkPlace] = {}

    def robot(self) -> TreeModel:
        """The robot: all bodies below its root, and their sites."""
        model, root = self.model, self._root()
        objects = {*self._free_bodies(), *np.flatnonzero(model.body_mocapid >= 0).tolist()}
        self.places[root] = LinkPlace(-1, np.eye(4)[:3], None)
        for body in range(root + 1, model.nbody):  # a parent has a smaller number
            if int(model.body_parentid[body]) in self.places and body not in objects:
                self._add(body)
        links = {self.body_names[body]: place for body, place in self.places.items()}
        for site in range(model.nsite):
            carrier, name = int(model.site_bodyid[site]), model.site(site).name
            if carrier in self.places and name and name not in links:
                body, transform, _ = self.places[carrier]
                pose = square(transform) @ pose_matrix(model.site_pos[site], model.site_quat[site])
                links[name] = LinkPlace(body, pose[:3], self.body_names[carrier])
        name = model.names.split(b"\0", 1)[0].decode() or self.title
        free_base = root in self._free_bodies()
        found = tree_model(name, self.title, self.moving, links, free_base, self._home())
        return replace(found, loops=closed_loops(model, self.places)).with_masses(
            (place, float(model.body_mass[body]), np.array(model.body_ipos[body]))
            for body, place in self.places.items()
        )

    def _home(self) -> dict[str, float]:
        """The value of each joint in a keyframe: one whose name is in ``NAMES``, else the first.

        It is empty without keyframes.
        """
        model = self.model
        if not model.nkey:
            return {}
        names = [model.key(i).name.lower() for i in range(model.nkey)]
        chosen = next((names.index(name) for name in NAMES if name in names), 0)
        values = model.key_qpos[chosen, model.jnt_qposadr]
        return dict(zip(self.joint_names, values.tolist(), strict=True))

    def _free_bodies(self) -> list[int]:
        """Bodies with a free joint. They are children of the world."""
        bodies: list[int] = self.model.jnt_bodyid[self.model.jnt_type == FREE].tolist()
        return bodies

    def _root(self) -> int:
        """The free body that has joints below it, or the world."""
        model, free = self.model, self._free_bodies()
        tops = model.body_rootid[model.jnt_bodyid[model.jnt_type != FREE]].tolist()
        roots = sorted({top if top in free else WORLD for top in tops}) or free[:1] or [WORLD]
        if len(roots) > 1:
            bases = list_names(self.body_names[root] for root in roots)
            raise InvalidInputError(
                f"{self.title} has {len(roots)} robots: expected one, with a free joint or fixed "
                f"to the world. Their bases: {bases}"
            )
        return roots[0]

    def _add(self, body: int) -> None:
        """Add a body; it may have several joints, which move it one after the other."""
        model, parent = self.model, int(self.model.body_parentid[body])
        number, transform, _ = self.places[parent]
        pose = square(transform) @ pose_matrix(model.body_pos[body], model.body_quat[body])
        first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
        for joint in range(first, first + count):
            axis = self._axis_frame(joint)
            # At its reference value, a joint has not moved.
            pose = pose @ axis @ self._motion(joint, -self._reference(joint))
            if joint in self.held:
                pose = pose @ self._motion(joint, self.held[joint])
            else:
                self.moving.append(self._moving(joint, number, pose[:3]))
                number, pose = len(self.moving) - 1, np.eye(4)
            pose = pose @ inverse(axis)
        self.places[body] = LinkPlace(number, pose[:3], self.body_names[parent])

    def _axis_frame(self, joint: int) -> Floats:
        """(4, 4) a frame at the joint, with z along its axis, in the frame of its body."""
        if self.model.jnt_type[joint] not in (SLIDE, HINGE):
            raise InvalidInputError(
                f"joint {short(self.joint_names[joint])} of {self.title} is a ball joint: expected "
                "hinge, slide, or one free joint. Replace it by three hinges."
            )
        frame = np.eye(4)
        frame[:3, :3] = rotations_to_axes(self.model.jnt_axis[joint : joint + 1])[0]
        frame[:3, 3] = self.model.jnt_pos[joint]
        return frame

    def _motion(self, joint: int, value: float) -> Floats:
        return motions(np.array(self.model.jnt_type[joint] == SLIDE), np.array(value))

    def _reference(self, joint: int) -> float:
        return float(self.model.qpos0[self.model.jnt_qposadr[joint]])

    def _moving(self, joint: int, parent: int, placement: Floats) -> MovingJoint:
        model = self.model
        lower, upper = model.jnt_range[joint] if model.jnt_limited[joint] else (-np.inf, np.inf)
        return MovingJoint(
            self.joint_names[joint],
            parent,
            placement,
            bool(model.jnt_type[joint] == SLIDE),
            (float(lower), float(upper)),
            np.inf,  # MJCF has no velocity limits
            self.mimics.get(joint),
        )


def object_names(accessor: Callable[[int], Any], count: int, noun: str) -> tuple[str, ...]:
    """The names of all bodies or joints; those without get their number."""
    names = [accessor(i).name for i in range(count)]
    return tuple(name or f"{noun}{i}" for i, name in enumerate(names))
