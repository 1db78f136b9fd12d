"""A small finished map, computed once; every test gets a copy of its own."""

import shutil

import pytest

from jointwise import ReachMap
from tests.support.reach import file_hashes, small_reach_map


@pytest.fixture(scope="session")
def original(tmp_path_factory):
    """The folder of a finished small map. Only to be copied."""
    folder = tmp_path_factory.mktemp("original") / "map.zarr"
    small_reach_map(folder)
    return folder


@pytest.fixture(scope="session")
def expected_hashes(original):
    """The hash of every file of the small map."""
    return file_hashes(original)


@pytest.fixture
def finished(original, tmp_path):
    """The folder of a finished small map, for one test."""
    return shutil.copytree(original, tmp_path / "finished.zarr")


@pytest.fixture
def small_map(finished):
    """The same map, opened."""
    return ReachMap(finished)
