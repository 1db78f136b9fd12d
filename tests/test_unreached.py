"""Targets that are not reached: the closest approach stays near the start and never gets worse."""

import numpy as np
import pytest

from jointwise import SolveConfig, Status, robots

# Targets are this far beyond the last pose on their ray that is reached [m].
BEYOND = 0.05


def measure(chain, result):
    """sqrt(E): the position error, and the chord of the orientation error at the angular scale."""
    chord = 2.0 * chain.arm.angular_scale * np.sin(0.5 * np.asarray(result.orientation_error))
    return np.hypot(result.position_error, chord)


def change(a, b):
    return np.abs(a - b).max(axis=1)


ARMS = ("panda", "ur5e", "iiwa14")
MANY = [pytest.param((name, 2000), marks=pytest.mark.long) for name in ARMS]


@pytest.fixture(scope="module", params=[*((name, 300) for name in ARMS), *MANY], ids=str)
def unreached(request):
    """(chain, targets, starts): random poses moved 5 cm out of reach, the arm at the boundary."""
    name, count = request.param
    chain = getattr(robots, name)()
    starts = chain.random(11, count)
    poses = chain.fk(starts)
    rays = poses[:, :3, 3] - chain.arm.base_origin
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    inside, outside = np.zeros(count), np.full(count, 2.0)
    quick = SolveConfig(max_restarts=3, search_unreached=False)

    def moved(distance):
        targets = poses.copy()
        targets[:, :3, 3] += distance[:, None] * rays
        return targets

    for _ in range(10):
        middle = 0.5 * (inside + outside)
        found = chain.solve_batch(moved(middle), starts, config=quick).converged
        inside, outside = np.where(found, middle, inside), np.where(found, outside, middle)
    at_boundary = chain.solve_batch(moved(inside), starts)
    assert at_boundary.converged.all()
    return chain, moved(inside + BEYOND), at_boundary.q


def test_more_restarts_never_make_it_worse_and_the_arm_does_not_leap(unreached):
    chain, targets, starts = unreached
    batches = [
        chain.solve_batch(targets, starts, config=SolveConfig(max_restarts=count))
        for count in (0, 10, 100)
    ]
    local, few, many = batches
    missed = ~many.converged
    assert missed.mean() > 0.9
    for fewer, more in ((local, few), (few, many)):
        both = missed & ~fewer.converged & ~more.converged
        assert (measure(chain, more) <= measure(chain, fewer) + 1e-9)[both].all()
    # Whoever leaves the local closest approach is closer by a tenth.
    left = missed & (change(many.q, local.q) > 1e-3)
    closer = measure(chain, many) < 0.91 * measure(chain, local)
    nearer = change(many.q, starts) < change(local.q, starts)
    assert (closer | nearer)[left].all()
    assert (many.restarts <= 100).all()
    assert (few.restarts <= 10).all()


def test_single_solves_are_the_rows_of_the_batch_and_a_second_solve_stays(unreached):
    chain, targets, starts = (each if i == 0 else each[:60] for i, each in enumerate(unreached))
    batch = chain.solve_batch(targets, starts)
    for target, start, row in zip(targets, starts, batch, strict=True):
        result = chain.solve(target, start)
        assert np.array_equal(result.q, row.q)
        if not result.converged:
            again = chain.solve(target, result.q)
            assert np.abs(again.q - result.q).max() < 1e-5
            proven = result.status in (Status.UNREACHABLE, Status.OUTSIDE_LIMITS) and chain.n == 6
            few = chain.solve(target, start, config=SolveConfig(max_restarts=5))
            assert few.restarts == (0 if proven else 5)


def test_dragging_a_target_beyond_reach_moves_the_joints_a_little(unreached):
    """Steps of 5 mm move no joint by more than 0.1 rad, unless that is closer by a tenth.

    In one step of a hundred the local closest approach itself ends, and the arm slides to the next.
    """
    chain, targets, starts = unreached
    large, steps = 0, 0
    for target, start in zip(targets[:12], starts[:12], strict=True):
        ray = target[:3, 3] - chain.arm.base_origin
        across = np.cross(ray, [0.3, 0.4, 0.866])
        across /= np.linalg.norm(across)
        before = chain.solve(target, start)
        for step in range(1, 21):
            moved = target.copy()
            moved[:3, 3] += (0.3 * ray / np.linalg.norm(ray) + across) * 0.005 * step
            result = chain.solve(moved, before.q)
            local = chain.solve(moved, before.q, config=SolveConfig(max_restarts=0))
            small = np.abs(result.q - before.q).max() < 0.1
            closer = measure(chain, result) < 0.91 * measure(chain, local)
            large += not (small or closer or result.converged)
            steps += 1
            before = result
    assert large <= 0.02 * steps
