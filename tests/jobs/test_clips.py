"""retarget_clips: the bits of solve_path for every form of a clip; bad clips are named."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from jointwise import (
    ClipOptions,
    Contact,
    IKBatch,
    InvalidInputError,
    PathOptions,
    Robot,
    Workers,
    retarget_clips,
)

ROBOT = Robot.load("ur5e")
POINTS = np.linspace([0.3, 0.2, 0.5], [0.4, 0.3, 0.5], 15)
POSES = np.tile(np.eye(4), (15, 1, 1))
POSES[:, :3, :3] = Rotation.from_euler("x", 170, degrees=True).as_matrix()
POSES[:, :3, 3] = POINTS
QUATERNIONS = np.tile(Rotation.from_matrix(POSES[0, :3, :3]).as_quat(), (15, 1, 1))


def follow(folder, **options):
    return retarget_clips(ROBOT, folder, folder / "out", progress=False, **options)


@pytest.mark.parametrize(
    ("arrays", "targets"),
    [
        ({"positions": POINTS[:, None]}, POINTS),
        ({"poses": POSES[:, None]}, POSES),
        ({"positions": POINTS[:, None], "quaternions": QUATERNIONS}, POSES),
    ],
)
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_solutions_have_the_bits_of_solve_path(tmp_path, arrays, targets, save):
    (tmp_path / "deep").mkdir()
    save(tmp_path / "deep" / "one.npz", links=["tip"], rate=30, **arrays)
    done, path = follow(tmp_path), ROBOT.solve_path({"tip": targets})
    found = IKBatch.load(tmp_path / "out" / "deep" / "one.npz")
    assert np.allclose(found.q, path.q, atol=1e-9)  # quaternions are rounded
    if "quaternions" not in arrays:
        assert found.q.tobytes() == path.q.tobytes()
    assert (done.clips, done.frames) == (1, 15)
    with np.load(tmp_path / "out" / "deep" / "one.npz") as saved:
        assert saved["joint_names"].tolist() == list(ROBOT.joint_names)
        assert saved["rate"] == 30.0


def test_an_invalid_frame_is_reported_and_the_others_are_followed(tmp_path):
    points = POINTS[:, None].copy()
    points[4] = np.nan
    np.savez(tmp_path / "one.npz", links=["tip"], rate=30, positions=points)
    follow(tmp_path)
    found = IKBatch.load(tmp_path / "out" / "one.npz")
    assert np.flatnonzero(~found.converged).tolist() == [4]


GOOD = {"links": ["tip"], "rate": 30.0, "positions": POINTS[:, None]}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"rate": None}, "one.npz has no array rate: expected links, rate and either poses or "),
        ({"positions": None}, "one.npz has no array positions: expected links, rate and either p"),
        ({"rate": 0.0}, "rate of one.npz is 0"),
        ({"links": ["a", "a"]}, "links of one.npz are ('a', 'a'): expected different names."),
        ({"positions": POINTS}, "positions of one.npz has shape (15, 3): expected numbers of sha"),
        ({"quaternions": QUATERNIONS[1:]}, "quaternions of one.npz has shape (14, 1, 4): expect"),
        (
            {"links": ["hand"]},
            "one.npz has targets of 'hand', which is not a link of the robot: exp",
        ),
    ],
)
def test_bad_clips_are_refused_before_anything_is_written(tmp_path, change, text):
    arrays = {name: value for name, value in (GOOD | change).items() if value is not None}
    np.savez(tmp_path / "one.npz", **arrays)
    with pytest.raises(InvalidInputError) as caught:
        follow(tmp_path)
    assert str(caught.value).startswith(text)
    assert not (tmp_path / "out").exists()


def test_bad_arguments_are_refused(tmp_path):
    np.savez(tmp_path / "one.npz", **GOOD)

    def refused(**options):
        with pytest.raises(InvalidInputError) as caught:
            follow(tmp_path, **options)
        return str(caught.value)

    assert refused(options=ClipOptions(links={"tip": "Hand"})) == (
        "one.npz has no link 'Hand': expected one of tip."
    )
    assert refused(options=3) == "options is 3: expected ClipOptions."
    assert refused(workers=Workers(chunk=-1)).startswith("chunk is -1")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInputError, match=r"empty has no \.npz files: expected at least one"):
        follow(tmp_path / "empty")
    with pytest.raises(InvalidInputError, match=r"nowhere is not a folder: expected a folder of "):
        follow(tmp_path / "nowhere")
    with pytest.raises(InvalidInputError, match=r"robot is .*: expected a Robot\. For an arm,"):
        retarget_clips(ROBOT.chain(), tmp_path, tmp_path / "out", progress=False)
    with pytest.raises(InvalidInputError, match=r"links is 'tip': expected the names of links of"):
        ClipOptions(links="tip")


def test_a_clip_says_where_its_links_are_in_contact(tmp_path):
    down = np.arange(15) % 8 < 4
    np.savez(tmp_path / "one.npz", **GOOD, contacts=down[:, None])
    floor = {"tip": Contact(floor=POINTS[7, 2])}
    follow(tmp_path, options=ClipOptions(path=PathOptions(contacts=floor)))
    held = {"tip": Contact(down, floor=POINTS[7, 2])}
    path = ROBOT.solve_path({"tip": POINTS}, options=PathOptions(contacts=held))
    assert IKBatch.load(tmp_path / "out" / "one.npz").q.tobytes() == path.q.tobytes()


def test_bad_contacts_are_refused(tmp_path):
    np.savez(tmp_path / "one.npz", **GOOD, contacts=np.ones((3, 1), bool))
    with pytest.raises(InvalidInputError, match=r"contacts of one.npz has shape \(3, 1\)"):
        follow(tmp_path)
    np.savez(tmp_path / "one.npz", **GOOD)
    options = ClipOptions(path=PathOptions(contacts={"foot": Contact()}))
    with pytest.raises(InvalidInputError, match="contacts has 'foot', which is not a link of the"):
        follow(tmp_path, options=options)
