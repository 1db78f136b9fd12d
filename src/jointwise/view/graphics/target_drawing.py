"""The targets of links in a 3D scene."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal

from jointwise.chain import Chain
from jointwise.robot import Robot
from jointwise.view.graphics.target_gizmo import TargetGizmo
from jointwise.view.state.link_target import LinkTarget
from jointwise.view.state.workspace import drawing_size, target_links

if TYPE_CHECKING:
    import viser

CENTRED: Literal["center-center"] = "center-center"
# How far above a target its label is, relative to the size of the drawing.
LABEL_HEIGHT = 0.22


class TargetDrawing:
    """A gizmo for each target, and a label if several links can have targets.

    Args:
        scene: The visitor's scene.
        model: The arm or robot.
        dragged: Called with the name of a link whose target is dragged.

    Attributes:
        gizmos: The gizmo of each target, by the link's name.
    """

    def __init__(
        self, scene: "viser.SceneApi", model: Chain | Robot, dragged: Callable[[str], None]
    ) -> None:
        self._scene, self._dragged, self._size = scene, dragged, drawing_size(model)
        self._numbers = {link: number for number, link in enumerate(target_links(model))}
        self.gizmos: dict[str, TargetGizmo] = {}
        self._labels: dict[str, viser.LabelHandle] = {}

    def show(self, targets: Mapping[str, LinkTarget], with_poses: bool) -> None:
        """Show the targets of links; they keep their poses while the visitor drags one."""
        for link in self.gizmos.keys() - targets.keys():
            self.gizmos.pop(link).handle.remove()
            self._labels.pop(link).remove()
        for link, target in targets.items():
            added = link not in self.gizmos
            if added:
                self._add(link)
            if added or with_poses:
                self.gizmos[link].show(target.pose)
            self.gizmos[link].show_kind(target.kind)
            if link in self._labels:
                height = LABEL_HEIGHT * self._size
                self._labels[link].position = target.pose[:3, 3] + [0.0, 0.0, height]

    def _add(self, link: str) -> None:
        number = self._numbers[link]  # a name may have slashes
        gizmo = TargetGizmo(self._scene, f"/targets/{number}", self._size)
        self.gizmos[link] = gizmo
        if len(self._numbers) > 1:
            self._labels[link] = self._scene.add_label(f"/labels/{number}", link, anchor=CENTRED)

        async def dragged(_: object) -> None:
            self._dragged(link)

        gizmo.handle.on_update(dragged)
