"""solve_dataset: every source gives the bits of solve_batch; bad input is refused by name."""

import pickle
from concurrent.futures import CancelledError
from threading import Event

import numpy as np
import pyarrow
import pytest
from pyarrow import csv, parquet

from jointwise import (
    Chain,
    DatasetOptions,
    InvalidInputError,
    Robot,
    Scene,
    Workers,
    robots,
    solve_dataset,
)
from jointwise.config import DEFAULT_SOLVE_CONFIG
from jointwise.datasets.solve import DEFAULT_OPTIONS, row_job
from jointwise.datasets.sources import open_source

ARM = robots.ur5e()
COUNT = 130
POINTS = np.random.default_rng(2).uniform(0.1, 0.6, (COUNT, 3))
STARTS = ARM.random(seed=3, count=COUNT)


def table(**extra):
    columns = dict(zip("xyz", POINTS.T, strict=True)) | {
        f"q{i + 1}": column for i, column in enumerate(STARTS.T)
    }
    return pyarrow.table({**extra, **columns})


def parquet_file(folder):
    parquet.write_table(table(), folder / "rows.parquet", row_group_size=48)


def parquet_folder(folder):
    (folder / "rows").mkdir()
    for number, first in enumerate(range(0, COUNT, 50)):
        part = table().slice(first, 50)
        parquet.write_table(part, folder / "rows" / f"{number}.parquet", row_group_size=30)
    (folder / "rows" / "_ignored.parquet").write_text("hidden")


def csv_file(folder):
    lines = (
        ",".join(table().column_names),
        *(",".join(map(repr, row.values())) for row in table().to_pylist()),
    )
    text = "# a comment\n" + "\n".join(lines[:40]) + "\n\n# another\n" + "\r\n".join(lines[40:])
    (folder / "rows.csv").write_text(text, newline="")


def npz_file(folder):
    np.savez(folder / "rows.npz", targets=POINTS, starts=STARTS)


def packed_npz_file(folder):
    np.savez_compressed(folder / "rows.npz", targets=POINTS, starts=np.asfortranarray(STARTS))


def zarr_folder(folder):
    zarr = pytest.importorskip("zarr")
    zarr.save_group(str(folder / "rows.zarr"), targets=POINTS, starts=STARTS)


@pytest.mark.parametrize("chunk", [37, 1000])
@pytest.mark.parametrize(
    "write", [parquet_file, parquet_folder, csv_file, npz_file, packed_npz_file, zarr_folder]
)
def test_every_source_gives_the_bits_of_solve_batch(tmp_path, write, chunk):
    write(tmp_path)
    (source,) = tmp_path.iterdir()
    solved = solve_dataset(
        ARM, source, tmp_path / "out", workers=Workers(chunk=chunk), progress=False
    )
    batch, found = ARM.solve_batch(POINTS, STARTS), parquet.read_table(tmp_path / "out")
    assert solved.rows == found.num_rows == COUNT
    q = np.stack([found[name].to_numpy() for name in ARM.joint_names], axis=1)
    assert q.tobytes() == batch.q.tobytes()
    assert found["converged"].to_pylist() == batch.converged.tolist()
    assert found["restarts"].to_pylist() == batch.restarts.tolist()
    assert (
        solved.counts.tolist() == np.bincount(batch.status, minlength=len(solved.counts)).tolist()
    )


def read_all(source, piece):
    read = source.read(piece)
    return read.rows(0, read.size)


@pytest.mark.parametrize("write", [parquet_file, csv_file, npz_file])
@pytest.mark.parametrize("chunk", [1, 7, 64, 130, 1000])
def test_pieces_are_all_rows_once_and_read_the_same_after_pickling(tmp_path, write, chunk):
    write(tmp_path)
    (path,) = tmp_path.iterdir()
    source = open_source(path, lambda of_links: ARM, False, chunk)
    sent = pickle.loads(pickle.dumps(source))
    pieces = list(source.pieces())
    assert [piece.number for piece in pieces] == list(range(len(pieces)))
    assert sum(piece.rows for piece in pieces) == source.rows
    points = np.concatenate([np.array(read_all(sent, piece).targets) for piece in pieces])
    assert points.tobytes() == POINTS.tobytes()


def test_extra_columns_and_targets_are_copied(tmp_path):
    ids = [f"row {i}" for i in range(COUNT)]
    parquet.write_table(table(id=ids), tmp_path / "rows.parquet")
    options = DatasetOptions(with_targets=True)
    solve_dataset(
        ARM,
        tmp_path / "rows.parquet",
        tmp_path / "out",
        options=options,
        workers=Workers(chunk=50),
        progress=False,
    )
    found = parquet.read_table(tmp_path / "out")
    assert found["id"].to_pylist() == ids
    assert found["x"].to_pylist() == POINTS[:, 0].tolist()


def test_rows_in_a_scene_have_clearances(tmp_path):
    robot = Robot.load("ur5e")
    arm = robot.chain().with_scene(Scene().box((0.2, 0.2, 0.2), (0.5, 0.5, 0.3)))
    np.savez(tmp_path / "rows.npz", targets=POINTS[:20])
    solve_dataset(
        arm, tmp_path / "rows.npz", tmp_path / "out", workers=Workers(chunk=9), progress=False
    )
    found, batch = parquet.read_table(tmp_path / "out"), arm.solve_batch(POINTS[:20])
    assert found["clearance"].to_numpy().tobytes() == batch.clearance.tobytes()
    assert found["status"].to_pylist() == [each.status.name for each in batch]


def test_a_source_without_rows_gives_a_part_without_rows(tmp_path):
    parquet.write_table(table().slice(0, 0), tmp_path / "rows.parquet")
    solved = solve_dataset(ARM, tmp_path / "rows.parquet", tmp_path / "out", progress=False)
    assert (solved.rows, solved.solved) == (0, 0)
    assert parquet.read_table(tmp_path / "out").column_names[: ARM.n] == list(ARM.joint_names)


def test_an_interrupted_piece_ends_after_a_few_rows(tmp_path, monkeypatch):
    np.savez(tmp_path / "rows.npz", targets=POINTS)
    job = row_job(
        tmp_path / "rows.npz",
        lambda of_links: ARM,
        "solve",
        DEFAULT_SOLVE_CONFIG,
        DEFAULT_OPTIONS,
        Workers(),
    )
    (piece,), stop, solved = job.indices(), Event(), []
    solve_batch = Chain.solve_batch

    def solve(self, targets, *arguments, **options):
        stop.set()  # while the first rows are solved
        solved.append(len(targets))
        return solve_batch(self, targets, *arguments, **options)

    monkeypatch.setattr(Chain, "solve_batch", solve)
    with pytest.raises(CancelledError):
        job.compute(piece, stop)
    assert len(solved) == 1
    assert solved[0] < COUNT


@pytest.mark.parametrize("change", ["value", "row"])
def test_a_changed_source_is_refused(tmp_path, change):
    rows = table()
    csv.write_csv(rows, tmp_path / "rows.csv")

    def solve():
        solve_dataset(ARM, tmp_path / "rows.csv", tmp_path / "out", progress=False)

    solve()
    text = (tmp_path / "rows.csv").read_text()
    changed = text.replace("0.1", "0.2", 1) if change == "value" else text.rpartition("\n0.")[0]
    (tmp_path / "rows.csv").write_text(changed)
    part = "crc32" if change == "value" else r"crc32 is .*; settings\.source\.rows"
    with pytest.raises(
        InvalidInputError, match=rf"holds another dataset: settings\.source\.{part}"
    ):
        solve()


def refused(tmp_path, **options):
    with pytest.raises(InvalidInputError) as caught:
        solve_dataset(**{"model": ARM, "store": tmp_path / "out", "progress": False, **options})
    assert not (tmp_path / "out").exists()
    return str(caught.value)


def test_bad_input_is_refused(tmp_path):
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "bad.parquet").write_text("no table")
    (tmp_path / "folder").mkdir()
    (tmp_path / "rows.txt").write_text("x,y,z\n1,2,3\n")
    np.savez(tmp_path / "shape.npz", targets=np.zeros((3, 2)))
    np.savez(tmp_path / "none.npz", starts=STARTS)
    np.savez(tmp_path / "uneven.npz", targets=POINTS, starts=STARTS[:9])
    np.savez(tmp_path / "good.npz", targets=POINTS)
    good = tmp_path / "good.npz"
    assert refused(tmp_path, source=tmp_path / "empty.csv") == (
        "empty.csv is empty: expected CSV with a header, such as x,y,z, or JSON lines."
    )
    assert refused(tmp_path, source=tmp_path / "bad.parquet").startswith(
        "bad.parquet is not a table of numbers: "
    )
    assert refused(tmp_path, source=tmp_path / "folder") == (
        f"{tmp_path / 'folder'} has no .parquet files: expected at least one."
    )
    assert refused(tmp_path, source=tmp_path / "nowhere.npz") == (
        f"{tmp_path / 'nowhere.npz'} cannot be read: No such file or directory."
    )
    assert refused(tmp_path, source=tmp_path / "rows.txt") == (
        f"{tmp_path / 'rows.txt'} cannot be read in pieces: expected a .parquet, .csv or .npz "
        "file, a folder of .parquet files or a Zarr folder."
    )
    assert "targets has shape" in refused(tmp_path, source=tmp_path / "shape.npz")
    assert refused(tmp_path, source=tmp_path / "none.npz").startswith("none.npz has no targets: ")
    assert refused(tmp_path, source=tmp_path / "uneven.npz") == (
        "uneven.npz has arrays of 9 and 130 rows: expected the same number in all."
    )
    assert refused(tmp_path, source=5) == "source is 5: expected a path."
    assert refused(tmp_path, source=good, options=3) == "options is 3: expected DatasetOptions."
    assert refused(tmp_path, source=good, workers=3) == (
        "workers is 3: expected Workers, such as Workers(threads=2)."
    )
    assert refused(tmp_path, source=good, model="panda") == (
        "model is 'panda': expected a Chain or a Robot, such as Chain.load('panda')."
    )
    assert refused(tmp_path, source=good, model=Robot.load("ur5e")) == (
        f"{good} has targets of an end effector, and the model is a robot: expected a Chain."
    )
    assert refused(tmp_path, source=good, workers=Workers(chunk=0)) == (
        "chunk is 0: expected at least 1 row."
    )
    assert "expected" in refused(tmp_path, source=good, options=DatasetOptions(start=[1.0]))


def test_a_bad_row_is_named_with_its_line(tmp_path):
    lines = ["x,y,z", *(["0.3,0.2,0.5"] * 20), "0.3,zero,0.5"]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    with pytest.raises(
        InvalidInputError, match=r"^y in line 22 of rows.csv is 'zero': expected a n"
    ):
        solve_dataset(
            ARM,
            tmp_path / "rows.csv",
            tmp_path / "out",
            workers=Workers(chunk=6, threads=1),
            progress=False,
        )
    assert len(list((tmp_path / "out").glob("part-*"))) == 3
