"""roboplan: SimpleIk with collisions checked by meshes, 1e-3, one call a target."""

import sys

import numpy as np
from roboplan.core import (
    Box,
    CartesianConfiguration,
    JointConfiguration,
    Scene,
    loadUrdfSceneDescriptionFromXml,
)
from roboplan.simple_ik import SimpleIk, SimpleIkOptions
from timed import write_quickest

with np.load(sys.argv[1]) as asked:
    packages = [str(each) for each in asked["packages"]]
    scene = Scene("arm", loadUrdfSceneDescriptionFromXml(str(asked["urdf"]), packages))
    scene.importSrdf(str(asked["srdf"]))
    base, tip, names = str(asked["base"]), str(asked["tip"]), [str(each) for each in asked["names"]]
    targets, start = asked["targets"], asked["start"]
    for k, (pose, size) in enumerate(zip(asked["poses"], asked["sizes"], strict=True)):
        place = np.asfortranarray(asked["root"] @ pose)
        scene.addBoxGeometry(f"obstacle{k}", "universe", Box(*size), place, np.ones(4))
    for k in range(len(asked["sizes"])):  # obstacles may touch each other and the base
        for other in [f"obstacle{i}" for i in range(k)] + [str(each) for each in asked["fixed"]]:
            scene.setCollisions(f"obstacle{k}", other, False)

scene.addGroup("arm", names)
options = SimpleIkOptions(group_name="arm", max_restarts=1000, max_time=1.0)
solver = SimpleIk(scene, options)


def solve(target, first):
    """A free answer, or None."""
    goal = CartesianConfiguration(base, tip, np.asfortranarray(target))
    solution = JointConfiguration(names, first)
    found = solver.solveIk(goal, JointConfiguration(names, first), solution)
    return np.array(solution.positions) if found else None


write_quickest(solve, targets, np.tile(start, (len(targets), 1)))
