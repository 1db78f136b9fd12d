"""The examples of reach maps run."""

import re

from tests.support.reach import ROOT, run_python


def test_example_maps_two_arms_and_draws_a_slice(tmp_path):
    picture = tmp_path / "slice.png"
    printed = run_python(ROOT / "examples" / "05_reach_map.py", picture, MPLBACKEND="Agg")
    assert "the first reaches 3." in printed
    assert "5 of 5 poses reached" in printed
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_ninth_example_finds_a_base_from_which_all_poses_are_free(tmp_path):
    picture = tmp_path / "slice.png"
    printed = run_python(ROOT / "examples" / "09_obstacles.py", picture, MPLBACKEND="Agg")
    assert picture.stat().st_size > 10_000
    assert "one target:    CONVERGED with" in printed
    volumes = re.findall(r"(?:alone|walls): +([0-9.]+) m³ reached", printed)
    assert float(volumes[1]) < 0.5 * float(volumes[0])
    careless, free = printed.partition("without scene:")[2].split("in the scene:")
    assert "its origin is -100 mm from an obstacle" in careless
    assert "50 of 50 poses reached" in free
