"""The progress bar of a map."""

import pytest

from jointwise.jobs import dispatch
from jointwise.reach.chunks import Job
from tests.support.reach import small_reach_map

# On a UR5e, in an octant near its base.
REGION = ((0, 0.5),) * 3


class Stop(Exception):  # noqa: N818
    """Raised instead of computing."""


def stop(*_):
    raise Stop


@pytest.mark.parametrize(
    ("module", "function", "text"),
    [
        (Job, "items", "checking chunks"),
        (Job, "compute", "starting"),
    ],
)
def test_a_bar_is_shown_before_the_first_chunk(
    capsys, monkeypatch, tmp_path, module, function, text
):
    """Compiling may take a minute, and counting the voxels of a large map even longer."""
    shown = []
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    monkeypatch.setenv("TERM", "xterm")

    def show(*_):
        shown.append(capsys.readouterr().err)
        raise Stop

    monkeypatch.setattr(module, function, show)
    with pytest.raises(Stop):
        small_reach_map(tmp_path / "map.zarr", region=REGION, progress=True)
    assert text in shown[0]


def test_chunks_are_listed_as_they_are_needed(monkeypatch, tmp_path):
    """A list of all would not fit into memory for a large map."""
    opened, listed = small_reach_map(tmp_path / "map.zarr", region=REGION), []
    for file in (tmp_path / "map.zarr" / "dexterity" / "c").rglob("*"):
        if file.is_file():
            file.unlink()
    items = Job.items
    monkeypatch.setattr(Job, "items", lambda job, i: listed.append(i) or items(job, i))
    chunks = len(list(opened.grid.chunks()))
    monkeypatch.setattr(Job, "compute", stop)
    with pytest.raises(Stop):
        small_reach_map(tmp_path / "map.zarr", region=REGION, workers={"threads": 1})
    assert chunks > 2 * dispatch.CHUNKS_PER_THREAD
    assert len(listed) == chunks + dispatch.CHUNKS_PER_THREAD
