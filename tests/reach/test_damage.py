"""One flipped bit or a truncated file anywhere in a map: reading names it, resuming repairs it."""

import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import JointwiseError, ReachMap
from jointwise.reach.chunks import Chunk
from jointwise.reach.grid import AXES
from tests.support.damage import damage
from tests.support.examples import examples
from tests.support.reach import TWO_LINKS, file_hashes, small_reach_map

ARRAYS = (*Chunk._fields, *AXES)
REGION = (-1.6, 1.6), (-1.6, 1.6), (0.0, 0.0)


def planar_map(folder):
    """A map of few chunks, computed or resumed."""
    workers = {"chunk": 8, "threads": 1}
    return small_reach_map(folder, TWO_LINKS, workers, orientations=3, region=REGION)


@pytest.fixture(scope="module")
def intact(tmp_path_factory):
    """The folder of a finished map. Only to be copied."""
    folder = tmp_path_factory.mktemp("intact") / "map.zarr"
    planar_map(folder)
    return folder


def read_everything(folder):
    """Read every value of a map."""
    opened = ReachMap(folder)
    opened.dataset()
    _ = opened.dexterity, opened.manipulability, opened.limit_margin
    for index in opened.grid.chunks():
        opened._store.read("q", index)


def damaged_file(data, folder, name):
    """Flip one bit of a file of an array, or truncate the file; its path."""
    files = sorted(file for file in (folder / name / "c").rglob("*") if file.is_file())
    file = data.draw(st.sampled_from(files))
    damage(data, file)
    return file


@pytest.mark.parametrize("name", ARRAYS)
@given(data=st.data())
@examples(6)
def test_a_damaged_chunk_is_named_when_read_and_computed_again_when_resumed(
    intact, tmp_path_factory, name, data
):
    folder = shutil.copytree(intact, tmp_path_factory.mktemp("damaged") / "map.zarr")
    file = damaged_file(data, folder, name)
    with pytest.raises(JointwiseError) as caught:
        read_everything(folder)
    assert str(caught.value) == (
        f"{str(file)!r} is damaged: its contents do not match its checksum. Call reach_map as "
        "before: damaged and missing chunks are computed again."
    )
    with pytest.warns(UserWarning, match=f"damaged and will be computed again: {str(file)!r}$"):
        planar_map(folder)
    assert file_hashes(folder) == file_hashes(intact)
    read_everything(folder)


def test_several_damaged_chunks_are_counted_in_one_warning(intact, tmp_path):
    folder = shutil.copytree(intact, tmp_path / "map.zarr")
    files = sorted(file for file in (folder / "q" / "c").rglob("*") if file.is_file())
    for file in files:
        file.write_bytes(file.read_bytes()[1:])
    with pytest.warns(
        UserWarning, match=f"^{len(files)} files of .* are damaged and will be computed"
    ):
        planar_map(folder)
    assert file_hashes(folder) == file_hashes(intact)


@pytest.mark.parametrize("name", ARRAYS)
def test_a_damaged_map_is_not_finished(intact, tmp_path, name):
    folder = shutil.copytree(intact, tmp_path / "map.zarr")
    file = next(file for file in (folder / name / "c").rglob("*") if file.is_file())
    file.write_bytes(file.read_bytes()[:-1])
    assert ReachMap(folder).finished == (name in AXES)  # all values can be computed without them
