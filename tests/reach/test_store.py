"""Reach maps on disk: what is stored, what is damaged, what is refused, who may write."""

import os
import shutil
import warnings
from dataclasses import replace
from pathlib import Path

import pytest

from jointwise import Chain, InvalidInputError, JointwiseError, ReachMap, robots
from jointwise.reach import empty_store
from jointwise.reach.chunks import REACH_CONFIG, versions
from tests.support.reach import (
    ROOT,
    file_hashes,
    small_reach_map,
    tiny_reach_map,
)


def test_xarray_opens_the_store(small_map, finished):
    xarray = pytest.importorskip("xarray")
    with xarray.open_zarr(finished, chunks=None) as dataset:
        assert dataset.dexterity.dims == ("x", "y", "z")
        assert dataset.q.dims == ("x", "y", "z", "joint")
        voxel, reach = dataset.sel(x=0.5, y=0.25, z=0.5), small_map.at([0.5, 0.25, 0.5])
        for name in ("dexterity", "manipulability", "limit_margin"):
            assert float(voxel[name]) == getattr(reach, name)
        assert voxel.q.values.tolist() == reach.q.tolist()
        description = dataset.attrs["jointwise"]
    assert list(description) == ["format", "arm", "settings", "exact", "versions"]
    assert description["exact"] is True
    assert description["arm"]["names"] == list(robots.ur5e().joint_names)
    assert description["settings"] == {
        "resolution": 0.25,
        "first": [-4, -4, -3],
        "shape": [9, 9, 8],
        "chunk": [2, 2, 2],
        "orientations": 12,
        "config": {
            "position_tolerance": 1e-4,
            "orientation_tolerance": 1e-4,
            "max_restarts": 20,
            "seed": 0,
            "stiffness": 0.0,
        },
        "device": "cpu",
        "scene": None,
    }
    assert set(description["versions"]) == {*versions(), "zarr"}


def test_dataset_has_the_arrays_of_the_map(small_map):
    pytest.importorskip("xarray")
    dataset = small_map.dataset()
    assert dataset.sizes == {"x": 9, "y": 9, "z": 8, "joint": 6}
    assert (dataset.dexterity.values == small_map.dexterity).all()
    assert (dataset.manipulability.values == small_map.manipulability).all()
    assert (dataset.limit_margin.values == small_map.limit_margin).all()


def test_stored_arm_is_the_arm_to_the_last_bit(small_map):
    assert small_map.chain.arm.packed.tobytes() == robots.ur5e().arm.packed.tobytes()
    assert small_map.chain.joint_names == robots.ur5e().joint_names


def old_map(folder):
    """A map of format 1, written by an earlier version of the code."""
    shutil.unpack_archive(ROOT / "tests" / "data" / "reach_map_format_1.zip", folder)
    return folder / "map.zarr"


@pytest.mark.parametrize("call", [ReachMap, small_reach_map])
def test_map_of_an_older_format_is_neither_read_nor_resumed(tmp_path, call):
    folder = old_map(tmp_path)
    before = file_hashes(folder)
    with pytest.raises(InvalidInputError) as caught:
        call(folder)
    assert str(caught.value) == (
        f"{str(folder)!r} has format 1, an older one, and can be neither read nor resumed: "
        "expected format 3. Compute it again, or read it with jointwise 0.1.0, which wrote it."
    )
    assert file_hashes(folder) == before


@pytest.mark.parametrize("name", ["dexterity", "manipulability", "limit_margin", "q"])
@pytest.mark.parametrize("damage", ["missing", "empty"])
def test_missing_or_empty_file_is_computed_again(finished, expected_hashes, name, damage):
    file = finished / name / "c" / "2" / "2" / "2"
    file = file / "0" if name == "q" else file
    if damage == "missing":
        file.unlink()
    else:
        file.write_bytes(b"")
    assert not ReachMap(finished).finished
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an empty file is damaged, as test_damage.py has it
        assert small_reach_map(finished).finished
    assert file_hashes(finished) == expected_hashes


@pytest.mark.parametrize("kept", [0, -3])
def test_every_way_to_read_a_damaged_file_names_it(finished, kept):
    opened, file = ReachMap(finished), finished / "dexterity" / "c" / "2" / "2" / "2"
    file.write_bytes(file.read_bytes()[:kept] or b"nonsense")
    damaged = r"/c/2/2/2' is damaged: its contents do not match its checksum\. Call reach_map "
    with pytest.raises(JointwiseError, match=damaged):
        opened.volume()
    with pytest.raises(JointwiseError, match=damaged):
        _ = opened.dexterity
    with pytest.raises(JointwiseError, match=damaged):
        opened.at([0.0, 0.0, 0.5])


def test_missing_metadata_is_named(finished):
    (finished / "limit_margin" / "zarr.json").unlink()
    with pytest.raises(InvalidInputError, match=r"limit_margin/zarr.json' is missing or damaged, "):
        ReachMap(finished)


def test_temporary_files_of_a_killed_process_are_removed(finished, expected_hashes):
    (finished / "limit_margin" / "c" / "0.1234.partial").write_text("half a chu")
    small_reach_map(finished)
    assert file_hashes(finished) == expected_hashes


def test_two_calls_may_create_a_store_at_once(tmp_path, monkeypatch):
    other_folder = tmp_path / "new.zarr.partial"
    other_folder.mkdir()
    (other_folder / "file").write_text("keep")
    write_empty, calls = empty_store.write_empty, []

    def write_slowly(*args):
        write_empty(*args)
        calls.append(args)
        if len(calls) == 1:
            tiny_reach_map(tmp_path, orientations=None)  # is faster

    monkeypatch.setattr("jointwise.reach.store.write_empty", write_slowly)
    assert tiny_reach_map(tmp_path, orientations=None).finished
    assert len(calls) == 2
    assert (other_folder / "file").read_text() == "keep"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["new.zarr", "new.zarr.partial"]


@pytest.mark.parametrize(
    ("options", "difference"),
    [
        ({"orientations": 9}, r"settings\.orientations is 12, not 9\. Expected the same"),
        (
            {"config": replace(REACH_CONFIG, seed=3)},
            r"settings\.config\.seed is 0, not 3\. Expected the same",
        ),
        (
            {"workers": {"chunk": 3}},
            r"settings\.chunk is \[2, 2, 2\], not \[3, 3, 3\]\. Expected the same",
        ),
    ],
)
def test_other_settings_are_refused(finished, expected_hashes, options, difference):
    with pytest.raises(InvalidInputError, match=rf"holds another map: {difference}"):
        small_reach_map(finished, **options)
    assert file_hashes(finished) == expected_hashes


def test_another_arm_is_refused(finished, expected_hashes):
    arm = robots.ur5e()
    narrow = arm.with_limits(arm.limits * 0.5)
    with pytest.raises(
        InvalidInputError, match=r"holds the map of another arm: limits differ\. Expect"
    ):
        small_reach_map(finished, narrow)
    assert file_hashes(finished) == expected_hashes


@pytest.mark.parametrize("name", ["map.csv", "map.npz", "map.JSON"])
def test_the_name_of_a_file_is_refused(tmp_path, name):
    with pytest.raises(InvalidInputError, match=r"a map is a folder .* such as 'map.zarr'"):
        small_reach_map(tmp_path / name)
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("name", ["file", "folder", "group"])
def test_folder_that_is_not_a_map_is_left_unchanged(tmp_path, name):
    zarr, path = empty_store.require_zarr(), tmp_path / name
    make = {
        "file": lambda: path.write_text("hello"),
        "folder": path.mkdir,
        "group": lambda: zarr.open_group(path, mode="w"),
    }
    make[name]()
    before = file_hashes(tmp_path)
    with pytest.raises(InvalidInputError, match=f"{name}' is not a map, .*: expected a folder th"):
        tiny_reach_map(tmp_path, store=path)
    assert file_hashes(tmp_path) == before


def test_newer_format_is_refused(tmp_path):
    group = {"jointwise": {"format": 4}}
    empty_store.require_zarr().open_group(tmp_path / "newer", mode="w", attributes=group)
    expected = (
        r"has format 4, a newer one, and can be neither read nor resumed: expected format 3\. "
    )
    for call in (ReachMap, lambda store: tiny_reach_map(tmp_path, store=store)):
        with pytest.raises(InvalidInputError, match=expected + "Update jointwise, or"):
            call(tmp_path / "newer")


def test_missing_map_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match=r"there is no '.*nowhere': expected a map that"):
        ReachMap(tmp_path / "nowhere")
    with pytest.raises(InvalidInputError, match=r"store is 5: expected the path of a folder\."):
        ReachMap(5)


def test_folders_above_the_store_are_created(tmp_path):
    store: Path = tmp_path / "new" / "folder" / "map.zarr"
    assert tiny_reach_map(tmp_path, orientations=None, store=store).finished
    assert isinstance(ReachMap(store).chain, Chain)


def test_an_abandoned_new_store_is_removed_by_the_next_call(tmp_path):
    """A process that was killed while it created the store."""
    old, young = (tmp_path / f"new.zarr.{name}.partial" for name in ("abcd", "efgh"))
    for folder in (old, young):
        (folder / "new.zarr").mkdir(parents=True)
    os.utime(old, (0.0, 0.0))
    tiny_reach_map(tmp_path, orientations=None)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["new.zarr", young.name]
