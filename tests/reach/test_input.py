"""Arguments of reach_map and ReachMap that are refused, and why."""

import numpy as np
import pytest

from jointwise import Chain, DHJoint, InvalidInputError, SolveConfig
from jointwise.reach import Workers
from tests.support.reach import tiny_reach_map

WORKERS = "The workers of a cluster compute with the threads they were started with."
REFUSED = {
    "resolution is 0.0: expected a number above zero.": {"resolution": 0.0},
    "resolution is nan: expected a finite number below 1e9.": {"resolution": np.nan},
    "resolution is 1e-06 for a region of 3200001 by 3200001 by 3200001 voxels: expected 1 to "
    "100000 along each axis. Centres are multiples of the resolution.": {"resolution": 1e-6},
    "resolution is 1e-309: expected voxels that can be counted, at most 100000 along each axis.": {
        "resolution": 1e-309
    },
    "resolution is 0.5 for a region of 0 by 1 by 1 voxels: expected 1 to 100000 along each axis. "
    "Centres are multiples of the resolution.": {"region": ((0.1, 0.2), (0, 0), (0, 0))},
    "region goes from 1.0 to -1.0 along y: expected the lower end first.": {
        "region": ((0, 1), (1, -1), (0, 1))
    },
    "region has shape (2,): expected ((x0, x1), (y0, y1), (z0, z1)).": {"region": (0, 1)},
    "region[0, 1] is nan: expected finite numbers below 1e9.": {
        "region": ((0, np.nan), (0, 1), (0, 1))
    },
    "orientations is 0: expected at least 1, or None for positions only.": {"orientations": 0},
    "orientations is 'all': expected a number of rotations, an AimCone, or None for positions "
    "only.": {"orientations": "all"},
    "arm is 'ur5e': expected a Chain.": {"arm": "ur5e"},
    "chunk is 0: expected at least 1 voxel along each edge.": {"workers": Workers(chunk=0)},
    "workers is 4: expected Workers, such as Workers(threads=2).": {"workers": 4},
    "config is {}: expected a SolveConfig.": {"config": {}},
    "config has method='ccd': expected 'combined', the search of reach_map and best_base.": {
        "config": SolveConfig(method="ccd")
    },
    "the arm has a prismatic joint without limits, and its reach is unbounded: expected a region, "
    "((x0, x1), (y0, y1), (z0, z1)), or limits.": {
        "arm": Chain.from_dh([DHJoint(joint_type="prismatic"), DHJoint(a=1.0)])
    },
    "store is 5: expected the path of a folder.": {"store": 5},
    "client is 'nonsense', missing port number in address 'nonsense': expected the address that "
    "dask scheduler prints, such as 'tcp://10.0.0.5:8786'.": {
        "workers": Workers(client="nonsense")
    },
    "client is 5: expected a Dask Client or the address of its scheduler.": {
        "workers": Workers(client=5)
    },
}
REFUSED_WORKERS = {
    "device is 'tpu': expected 'cpu' or 'cuda' or 'auto'.": {"device": "tpu"},
    "threads is 0: expected at least 1, or None for all cores.": {"threads": 0},
    "client is given with device='auto': expected 'cpu' or 'cuda', which all chunks are computed "
    f"on. {WORKERS}": {"client": "tcp://10.0.0.5:8786", "device": "auto"},
    f"client is given with threads=2: expected None. {WORKERS}": {
        "client": "tcp://10.0.0.5:8786",
        "threads": 2,
    },
}


@pytest.mark.parametrize("message", REFUSED_WORKERS)
def test_invalid_workers_are_refused(message):
    with pytest.raises(InvalidInputError) as caught:
        Workers(**REFUSED_WORKERS[message])
    assert str(caught.value) == message


@pytest.mark.parametrize("message", REFUSED)
def test_invalid_argument_is_refused_before_anything_is_written(message, tmp_path):
    if message.startswith("client"):
        pytest.importorskip("distributed")
    with pytest.raises(InvalidInputError) as caught:
        tiny_reach_map(tmp_path, **REFUSED[message])
    assert str(caught.value) == message
    assert not list(tmp_path.iterdir())


NO_POSE = np.diag([1.0, 1.0, 2.0, 1.0])


@pytest.mark.parametrize(
    ("pose", "message"),
    [
        ([1.0, 2.0], "pose has shape (2,): expected (3,), a position x, y, z."),
        (NO_POSE, "pose is not a pose: its rotation part "),
        ([0.0, np.inf, 0.0], "pose[1] is inf: expected finite numbers below 1e9."),
    ],
)
def test_invalid_pose_is_refused(small_map, pose, message):
    with pytest.raises(InvalidInputError) as caught:
        small_map.at(pose)
    assert str(caught.value).startswith(message)
