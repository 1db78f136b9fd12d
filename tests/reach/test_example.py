"""The example of reach maps runs."""

from tests.support.reach import ROOT, run_python


def test_example_maps_two_arms_and_draws_a_slice(tmp_path):
    picture = tmp_path / "slice.png"
    printed = run_python(ROOT / "examples" / "05_reach_map.py", picture, MPLBACKEND="Agg")
    assert "the first reaches 3." in printed
    assert "5 of 5 poses reached" in printed
    assert picture.read_bytes().startswith(b"\x89PNG")
