"""Batches: bit for bit the single solves, whatever the other rows and the threads."""

import signal
import subprocess
import sys
from math import inf, pi

import numpy as np
import pytest
from scipy.spatial.transform import RigidTransform

from jointwise import (
    Chain,
    DHJoint,
    DimensionMismatchError,
    IKBatch,
    InvalidInputError,
    Posture,
    SolveConfig,
    Status,
    aim,
    robots,
)
from jointwise.backends import cpu
from jointwise.engines.serial.batch import MIN_ROWS
from testbed import twin
from testbed.named_arms import ARMS

COUNT = 150
NAMES = ["Panda", "UR5", "PUMA 560", "one prismatic joint", "Jaco2-like", "so101"]


def problems(name, kind, count=COUNT):
    chain = ARMS[name]
    poses, starts = chain.fk(chain.random(5, count)), chain.random(6, count)
    if kind == "poses":
        return chain, poses, starts
    if kind == "positions":
        return chain, np.ascontiguousarray(poses[:, :3, 3]), starts
    return chain, aim(poses[:, :3, 3], poses[:, :3, 2]), starts


def assert_same_as_single(chain, targets, starts, batch, config=None):
    for i, result in enumerate(batch):
        start = None if starts is None else starts if np.ndim(starts) == 1 else starts[i]
        single = chain.solve(targets[i], start, config=config or SolveConfig())
        assert np.array_equal(result.q, single.q)
        assert (result.converged, result.status) == (single.converged, single.status)
        assert result.position_error == single.position_error
        assert np.array_equal(result.orientation_error, single.orientation_error, equal_nan=True)
        assert (result.iterations, result.restarts) == (single.iterations, single.restarts)


def test_without_a_search_a_missed_target_keeps_its_start():
    chain, targets, starts = problems("UR5", "poses")
    targets[0, :3, 3], targets[1, :3, 3], targets[2, 0, 3] = 0.05, 9.0, np.nan
    config = SolveConfig(max_restarts=3, search_unreached=False)
    batch = chain.solve_batch(targets, starts, config=config)
    closest = chain.solve_batch(targets, starts, config=SolveConfig(max_restarts=3))
    statuses = [Status.UNREACHABLE, Status.UNREACHABLE, Status.INVALID]
    assert [batch[i].status for i in range(3)] == statuses
    assert batch[0].restarts == 0  # proven in closed form
    solved = batch.converged
    assert closest.converged[solved].all()  # the longer search may solve more
    assert np.array_equal(batch.q[solved], closest.q[solved])
    assert np.array_equal(np.isnan(batch.position_error), ~batch.converged)
    lower, upper = chain.limits.T
    assert np.isnan(batch.q[2]).all()
    missed = ~batch.converged & (batch.status != Status.INVALID)
    assert np.array_equal(batch.q[missed], np.clip(starts[missed], lower, upper))


@pytest.mark.parametrize("kind", ["poses", "positions", "aims"])
@pytest.mark.parametrize("name", NAMES)
def test_every_row_is_bit_for_bit_the_single_solve(name, kind):
    chain, targets, starts = problems(name, kind)
    batch = chain.solve_batch(targets, starts)
    assert batch.converged.all()
    assert_same_as_single(chain, targets, starts, batch)
    lower, upper = chain.limits.T
    assert ((batch.q >= lower) & (batch.q <= upper)).all()


def test_one_start_for_all_no_start_and_another_seed():
    chain, targets, _ = problems("Panda", "poses", 40)
    for starts in (None, chain.random(9)):
        for config in (SolveConfig(), SolveConfig(seed=3)):
            batch = chain.solve_batch(targets, starts, config=config)
            assert_same_as_single(chain, targets, starts, batch, config)


def test_tolerances_restarts_and_stiffness_are_honoured():
    chain, targets, starts = problems("Panda", "poses", 60)
    for config in (
        SolveConfig(position_tolerance=1e-3, orientation_tolerance=1e-2),
        SolveConfig(max_restarts=0),
        SolveConfig(max_restarts=2, stiffness=0.5),
    ):
        batch = chain.solve_batch(targets, starts, config=config)
        assert_same_as_single(chain, targets, starts, batch, config)
    no_restarts = SolveConfig(max_restarts=0)
    assert not chain.solve_batch(targets, starts, config=no_restarts).converged.all()


@pytest.mark.parametrize("method", ["ccd", "ccd_anderson"])
def test_ccd_alone_and_a_posture_are_honoured(method):
    chain, targets, starts = problems("Panda", "positions", 20)
    targets[3, 0] = np.nan
    config, posture = SolveConfig(1e-3, method=method), Posture(chain.mid_range + 0.2)
    for options in ({"config": config}, {"posture": posture}):
        for given in (None, starts[0], starts):
            batch = chain.solve_batch(targets, given, **options)
            assert (np.flatnonzero(batch.status == Status.INVALID) == [3]).all()
            assert np.isnan(batch.q[3]).all()
            for i in (0, 2, 19):
                start = given[i] if np.ndim(given) == 2 else given
                assert batch[i] == chain.solve(targets[i], start, **options)
    stiff = SolveConfig(method=method, stiffness=[1.0] * 6)
    with pytest.raises(DimensionMismatchError, match="stiffness has 6 values for an arm of 7"):
        chain.solve_batch(targets, config=stiff)


def test_already_there_takes_no_iterations():
    chain = robots.ur5e()
    q = chain.random(1, 20)
    batch = chain.solve_batch(chain.fk(q), q)
    assert batch.converged.all()
    assert not batch.iterations.any()
    assert np.array_equal(batch.q, q)


def test_unreachable_rows_end_as_single_solves_do():
    chain, targets, starts = problems("UR5", "poses", 12)
    targets[3, :3, 3] *= 9.0
    targets[7, :3, 3] = [0.0, 0.0, 0.05]
    batch = chain.solve_batch(targets, starts)
    assert_same_as_single(chain, targets, starts, batch)
    assert batch[3].status is Status.UNREACHABLE
    assert batch[7].status is Status.UNREACHABLE  # by the closed form
    assert batch.converged.sum() == 10
    assert "2 UNREACHABLE: The target is provably out of reach" in batch.summary()


def test_results_do_not_depend_on_other_rows_chunks_or_threads():
    chain, targets, starts = problems("Panda", "poses", 9 * MIN_ROWS)
    whole = chain.solve_batch(targets, starts)
    for threads in (1, 2, 3, 7):
        again = chain.solve_batch(targets, starts, threads=threads)
        assert np.array_equal(again.q, whole.q)
        assert np.array_equal(again.iterations, whole.iterations)
    order = np.random.default_rng(0).permutation(len(targets))
    mixed = chain.solve_batch(targets[order], starts[order])
    assert np.array_equal(mixed.q, whole.q[order])
    for size in (1, 2, 7, 8, 9, 23, 25):
        part = chain.solve_batch(targets[:size], starts[:size])
        assert np.array_equal(part.q, whole.q[:size])


def test_converged_agrees_with_the_twins_forward_kinematics():
    chain, targets, starts = problems("one prismatic joint", "poses")
    batch = chain.solve_batch(targets, starts)
    for q, target in zip(batch.q, targets, strict=True):
        distance, angle = twin.pose_errors(chain.arm.links, chain.prismatic, q, target)
        assert distance < 1e-6
        assert angle < 1e-6


def test_invalid_rows_are_marked_and_the_others_solved():
    chain, targets, starts = problems("Panda", "poses", 10)
    targets[2, 0, 3] = np.nan
    targets[4, :3, :3] *= 1.1
    targets[5, 1, 3] = inf
    starts[6, 0] = np.nan
    starts[7, 1] = 1e12
    batch = chain.solve_batch(targets, starts)
    invalid = [2, 4, 5, 6, 7]
    assert [i for i, each in enumerate(batch) if each.status is Status.INVALID] == invalid
    assert np.isnan(batch.position_error[invalid]).all()
    assert np.isnan(batch.q[invalid]).all()
    assert batch.converged.sum() == 5
    lower, upper = chain.limits.T
    valid = np.delete(batch.q, invalid, axis=0)
    assert ((valid >= lower) & (valid <= upper)).all()


def test_an_empty_batch_is_empty():
    chain = robots.panda()
    for nothing in ([], np.empty((0, 3)), np.empty((0, 4, 4))):
        batch = chain.solve_batch(nothing)
        assert len(batch) == 0
        assert batch.q.shape == (0, 7)
        assert batch.summary() == "no targets"


def test_inputs_are_not_modified_and_results_are_read_only():
    chain, targets, starts = problems("UR5", "poses", 9)
    before = targets.copy(), starts.copy()
    for array in (targets, starts):
        array.setflags(write=False)
    batch = chain.solve_batch(targets, starts)
    assert np.array_equal(targets, before[0])
    assert np.array_equal(starts, before[1])
    for name in ("q", "converged", "position_error", "status", "iterations"):
        assert not getattr(batch, name).flags.writeable
    again = chain.solve_batch(RigidTransform.from_matrix(targets), starts.tolist())
    assert np.allclose(again.q, batch.q, atol=1e-6)


@pytest.mark.parametrize("joints", [1, 2, 20, 70])
def test_any_number_of_joints(joints):
    chain = Chain.from_dh(
        [DHJoint(a=1.0 / joints, alpha=0.5 * (i % 3 - 1)) for i in range(joints)],
        [[-2.0, 2.0]] * joints,
    )
    targets = chain.fk(chain.random(1, 12))[:, :3, 3].copy()
    batch = chain.solve_batch(targets, chain.random(2, 12))
    assert batch.converged.all()
    assert_same_as_single(chain, targets, chain.random(2, 12), batch)


def test_unlimited_joints_and_angles_near_pi():
    chain = robots.gen3()
    q = chain.random(3, 50)
    q[:, ::2] = np.sign(q[:, ::2]) * (pi - 1e-9)
    batch = chain.solve_batch(chain.fk(q), q + 7.0 * pi)
    assert batch.converged.all()
    assert_same_as_single(chain, chain.fk(q), q + 7.0 * pi, batch)


def test_a_saved_batch_loads_unchanged(tmp_path):
    chain, targets, starts = problems("UR5", "poses", 9)
    batch = chain.solve_batch(targets, starts)
    batch.save(tmp_path / "batch.npz")
    again = IKBatch.load(tmp_path / "batch.npz")
    assert np.array_equal(again.q, batch.q)
    assert again.summary() == batch.summary()
    assert not again.status.flags.writeable
    (tmp_path / "text.npz").write_text("no batch")
    for file, text in (("text.npz", "is not a saved batch"), ("nowhere.npz", "cannot be read")):
        with pytest.raises(InvalidInputError, match=text):
            IKBatch.load(tmp_path / file)
    for file in ("x.parquet", "x.csv"):
        text = f"'{file}' has an unsupported suffix: expected .npz"
        with pytest.raises(InvalidInputError, match=text):
            batch.save(tmp_path / file)
        assert not (tmp_path / file).exists()
    batch.save(tmp_path / "without_suffix")
    assert len(IKBatch.load(tmp_path / "without_suffix")) == len(batch)


def test_progress_goes_to_standard_error(capsys):
    chain, targets, starts = problems("UR5", "poses", 200)
    chain.solve_batch(targets, starts, progress=True)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "solving" in printed.err
    assert "200/200" in printed.err
    assert "100.00% solved" in printed.err


TEXTS = {
    "a single position": (
        lambda arm: arm.solve_batch([1.0, 2.0, 3.0]),
        "targets has shape (3,): expected (m, 3) for positions or (m, 4, 4) for poses.",
    ),
    "a single aim": (
        lambda arm: arm.solve_batch(aim([1, 0, 0], [0, 0, 1])),
        "targets is a single aim: expected many, a list or aim(...) of arrays (m, 3).",
    ),
    "many aims for one solve": (
        lambda arm: arm.solve(aim([[1, 0, 0]], [0, 0, 1])),
        "target is many aims: expected one. Use solve_batch.",
    ),
    "words": (lambda arm: arm.solve_batch("up"), "targets is 'up': expected numbers."),
    "starts of another arm": (
        lambda arm: arm.solve_batch(np.zeros((5, 3)), np.zeros((5, 6))),
        "starts has shape (5, 6) for 5 targets of an arm of 7 joints: expected (7,) for all or "
        "(5, 7), one for each.",
    ),
    "too few starts": (
        lambda arm: arm.solve_batch(np.zeros((5, 3)), np.zeros((4, 7))),
        "starts has shape (4, 7) for 5 targets of an arm of 7 joints: expected (7,) for all or "
        "(5, 7), one for each.",
    ),
    "no threads": (
        lambda arm: arm.solve_batch(np.zeros((5, 3)), threads=0),
        "threads is 0: expected at least 1, or None for all cores.",
    ),
    "a direction of no length": (
        lambda arm: aim(np.ones((2, 3)), [[0, 0, 1], [0, 0, 0]]),
        "direction[1] has no length: expected three numbers, not all zero.",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_errors_say_what_was_given_and_what_is_accepted(name):
    call, text = TEXTS[name]
    with pytest.raises(InvalidInputError) as caught:
        call(robots.panda())
    assert str(caught.value) == text


def test_ctrl_c_stops_a_batch():
    endless = """
from threading import Thread
from time import process_time, sleep
import numpy as np
from jointwise import robots

def announce(begin):
    while process_time() < begin + 0.5:
        sleep(0.01)
    print("solving", flush=True)

arm = robots.panda()
arm.solve_batch(arm.fk(arm.random(1, 10)))
poses = np.tile(arm.fk(arm.random(1, 1)), (1_000_000, 1, 1))
poses[:, :3, 3] = [5.0, 0.0, 0.1]  # out of reach: every one takes a millisecond
Thread(target=announce, args=(process_time(),), daemon=True).start()
arm.solve_batch(poses)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", endless], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "solving\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=300)
    finally:
        process.kill()
        process.communicate()
    assert "KeyboardInterrupt" in errors
    assert process.returncode != 0


@pytest.mark.parametrize("name", ["UR5", "Panda"])
def test_without_lanes_rows_are_solved_one_by_one(monkeypatch, name):
    """As with a version of Numba that lacks what lanes need."""
    chain, targets, starts = problems(name, "poses", 20)
    targets[3, 0, 3] = np.nan
    wanted = chain.solve_batch(targets, starts)
    monkeypatch.setattr(cpu, "HAS_LANES", False)
    monkeypatch.setattr(cpu, "solve_rows", None)
    for searched in (True, False):
        config = SolveConfig(search_unreached=searched)
        batch = chain.solve_batch(targets, starts, config=config)
        assert np.array_equal(batch.q, wanted.q, equal_nan=True)
        assert np.array_equal(batch.status, wanted.status)
