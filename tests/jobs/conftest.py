"""Every kind of job, computed once without a disturbance."""

import shutil

import pytest

from tests.support.jobs import KINDS
from tests.support.reach import file_hashes


@pytest.fixture(scope="session", params=KINDS, ids=repr)
def kind(request):
    """A kind of job."""
    return request.param


@pytest.fixture(scope="session")
def source(kind, tmp_path_factory):
    """The source of a job. Only to be read."""
    folder = tmp_path_factory.mktemp("source")
    kind.prepare(folder)
    return folder


@pytest.fixture(scope="session")
def original(kind, source, tmp_path_factory):
    """The folder of a finished job. Only to be copied."""
    folder = tmp_path_factory.mktemp("original") / "store"
    kind.run(folder, source)
    return folder


@pytest.fixture(scope="session")
def expected_hashes(original):
    """The hash of every file of the finished job."""
    return file_hashes(original)


@pytest.fixture
def finished(original, tmp_path):
    """The folder of a finished job, for one test."""
    return shutil.copytree(original, tmp_path / "finished")


@pytest.fixture
def store(tmp_path):
    """A path for a new store."""
    return tmp_path / "store"
