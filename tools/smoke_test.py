"""Smoke test of an installed jointwise: ``python tools/smoke_test.py [EXTRA ...]``.

Run it outside the repository with the Python of a clean environment. It imports nothing of the
repository, uses what the named extras add, and ends with an error if anything fails.
"""

import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

TARGETS = "x,y,z\n0.4,0.2,0.5\n0.3,0.1,0.4\n"


def core(folder: Path) -> None:
    """A solve, a batch, all solutions, a robot, a step of tracking and the command."""
    import jointwise
    from jointwise import Chain, Robot, robots

    assert "site-packages" in jointwise.__file__, f"not the installed one: {jointwise.__file__}"
    assert jointwise.__version__ == version("jointwise")
    print(jointwise.backend())
    arm = robots.panda()
    assert arm.solve([0.4, 0.2, 0.5]).converged
    assert arm.solve_batch(arm.fk(arm.random(seed=1, count=100))).converged.all()
    assert Chain.from_urdf(arm.to_urdf("arm")).n == 7
    ur5e = robots.ur5e()
    assert ur5e.solutions(ur5e.fk([0.1, -1.2, 1.5, -0.4, 1.0, 0.3])).complete
    assert Robot.load("panda").solve({"tip": [0.4, 0.2, 0.5]}).converged
    tracker = arm.track(arm.home, 0.001, max_velocity=1.0, max_acceleration=5.0)
    assert tracker.step(arm.fk(arm.home)).status.name == "FOLLOWING"
    assert "The target is reached" in command(folder, "solve", "panda", "--to", "0.4", "0.2", "0.5")
    (folder / "targets.csv").write_text(TARGETS)
    command(folder, "batch", "panda", "targets.csv", "-o", "joints.csv")
    assert (folder / "joints.csv").read_text().count("CONVERGED") == 2


def plot(folder: Path) -> None:
    """A picture, and the demo."""
    command(folder, "solve", "panda", "--to", "0.4", "0.2", "0.5", "--plot", "arm.png")
    command(folder, "demo")
    assert (folder / "arm.png").stat().st_size > 10_000


def view(folder: Path) -> None:
    """The page answers."""
    from urllib.request import urlopen

    from jointwise import robots
    from jointwise.view import Page

    with Page(robots.panda(), port=0) as page, urlopen(page.url, timeout=60) as answer:
        assert answer.status == 200


def reach(folder: Path) -> None:
    """A map."""
    from jointwise import reach_map, robots

    found = reach_map(robots.ur3e(), 0.2, 10, store=folder / "map.zarr", progress=False)
    assert found.finished
    assert found.volume() > 0.0


def cluster(folder: Path) -> None:
    """A map by the workers of a cluster."""
    from distributed import Client

    from jointwise import reach_map, robots
    from jointwise.reach import Workers

    with Client(n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
        workers = Workers(client=client)
        settings = {"store": folder / "map.zarr", "workers": workers, "progress": False}
        assert reach_map(robots.ur3e(), 0.4, 2, **settings).finished


def mjcf(folder: Path) -> None:
    """A robot from MJCF."""
    from jointwise import Robot

    joint = '<joint name="turn"/><geom size="0.1"/><site name="hand" pos="1 0 0"/>'
    model = f'<mujoco><worldbody><body name="arm">{joint}</body></worldbody></mujoco>'
    assert Robot.from_mjcf(model).solve({"hand": [0.6, 0.8, 0.0]}).converged


def geometry(folder: Path) -> None:
    """Spheres fitted to meshes, a table of their distances, and a solve that touches nothing."""
    import trimesh

    from jointwise import Chain, Scene

    trimesh.creation.box([0.1, 0.1, 0.1]).export(folder / "link.stl")
    mesh = '<collision><geometry><mesh filename="link.stl"/></geometry></collision>'
    urdf = Chain.load("panda").to_urdf("arm")
    for name in ("link2", "link4"):
        urdf = urdf.replace(f'<link name="{name}"/>', f'<link name="{name}">{mesh}</link>')
    (folder / "arm.urdf").write_text(urdf)
    scene = Scene().half_space([0, 0, 1], name="floor")
    arm = Chain.from_urdf(folder / "arm.urdf").with_scene(scene, margin=0.01)
    assert arm.solve([0.4, 0.2, 0.5]).clearance >= 0.01


def parquet(folder: Path) -> None:
    """Results as Parquet."""
    (folder / "targets.csv").write_text(TARGETS)
    command(folder, "batch", "panda", "targets.csv", "-o", "joints.parquet")


def jit(folder: Path) -> None:
    """Kernels that Numba compiles."""
    code = "from jointwise import *; print(ccd_solve([DHJoint(a=1.0)], [0, 1, 0], [0.0]).converged)"
    process = [sys.executable, "-c", code]
    environment = {"JOINTWISE_BACKEND": "numba", "PATH": ""}
    assert subprocess.check_output(process, text=True, env=environment, cwd=folder) == "True\n"


def command(folder: Path, *words: str) -> str:
    """What ``jointwise`` prints."""
    process = [sys.executable, "-m", "jointwise", *words]
    return subprocess.run(process, cwd=folder, check=True, capture_output=True, text=True).stdout


CHECKS: dict[str, Callable[[Path], None]] = {
    each.__name__: each for each in (core, plot, view, reach, cluster, mjcf, parquet, jit, geometry)
}


def main() -> None:
    """The core, then the extras that were named."""
    for name in ("core", *sys.argv[1:]):
        with TemporaryDirectory() as folder:
            CHECKS[name](Path(folder))
        print(f"{name}: ok", flush=True)


if __name__ == "__main__":
    main()
