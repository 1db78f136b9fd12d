"""All solutions in closed form: none missed, as many as EAIK's, and the time of both."""

import json
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.rivals import ALL_SOLUTIONS, HERE
from jointwise import Chain, robots
from testbed import twin
from testbed.closed_arms import STRUCTURES, random_arm

# Poses an arm of which each is solved by a call, and passes of which the quickest counts.
POSES, PASSES = 2000, 20
# Poses whose solutions are checked by the slow twin too.
TWIN_POSES = 200


def closed_form_table(count: int, with_rivals: bool) -> None:
    """Every arm with six joints and random arms of every structure; then the time of a pose."""
    print(f"\nAll solutions, {count} poses over full turns and {count} inside the limits an arm;")
    print(f"missed: the generating configuration is not found; twin: error of {TWIN_POSES} poses")
    print(f"{'':48}{'solutions':>10}{'missed':>8}{'complete':>10}{'worst error':>13}{'twin':>11}")
    named = {name: Chain.load(name) for name in robots.names()}
    for name, chain in named.items():
        if chain.n == 6:
            _print_missed(name, chain.with_limits(None), _over_full_turns(chain, count))
            _print_missed(f"{name}, limits", chain, chain.random(1, count))
    for structure in STRUCTURES:
        for backward in (False, True):
            chain = random_arm(structure, count, backward)
            name = f"{structure}{', reversed' if backward else ''}"
            _print_missed(name, chain, _over_full_turns(chain, count))
    six = {name: chain for name, chain in named.items() if chain.n == 6 and chain.closed_form}
    _print_times(six, with_rivals)


def _over_full_turns(chain: Chain, count: int) -> np.ndarray:
    q = np.random.default_rng(2).uniform(-np.pi, np.pi, (count, chain.n))
    q[:, chain.prismatic] /= 2.0 * np.pi
    return q


def _print_missed(name: str, chain: Chain, q: np.ndarray) -> None:
    targets = chain.fk(q)
    found = chain.solutions_batch(targets)
    difference = found.q - q[:, None]
    wrapped = (difference + np.pi) % (2.0 * np.pi) - np.pi
    apart = np.abs(np.where(chain.prismatic, difference, wrapped)).max(axis=2)
    missed = np.count_nonzero(~(np.nanmin(apart, axis=1, initial=9.0) < 1e-5))
    worst = 0.0
    for k in range(min(TWIN_POSES, len(q))):
        for each in found.q[k, : found.counts[k]]:
            errors = twin.pose_errors(chain.arm.links, chain.prismatic, each, targets[k])
            worst = max(worst, *errors)
    off = 0.0
    for k in range(found.q.shape[1]):
        rows = found.counts > k
        off = max(off, np.abs(chain.fk(found.q[rows, k]) - targets[rows]).max(initial=0.0))
    mean, complete = found.counts.mean(), found.complete.mean()
    print(f"{name:48}{mean:10.2f}{missed:8}{complete:10.3%}{off:13.1e}{worst:11.1e}", flush=True)


def _print_times(chains: dict[str, Chain], with_rivals: bool) -> None:
    print(f"\nµs a pose, {POSES} poses without limits, the quickest of {PASSES} passes, one core;")
    print("a call and a batch: all solutions; solve: the nearest to the middle of the ranges;")
    print("differ: poses with another number of solutions than EAIK finds")
    print(f"{'':12}{'a call':>8}{'a batch':>9}{'solve':>8}{'EAIK':>8}{'a batch':>9}{'differ':>8}")
    for name, limited in chains.items():
        chain = limited.with_limits(None)
        targets = chain.fk(_over_full_turns(chain, POSES))
        batch = chain.solutions_batch(targets, threads=1)
        blocks = np.array_split(targets, 20)
        call = _quickest(lambda block: [chain.solutions(each, None) for each in block], blocks)  # noqa: B023
        solve = _quickest(lambda block: [chain.solve(each) for each in block], blocks)  # noqa: B023
        many = _quickest(lambda block: chain.solutions_batch(block, threads=1), [targets])  # noqa: B023
        theirs = _eaik(chain, targets) if with_rivals else None
        text = f"{name:12}{call:8.2f}{many:9.2f}{solve:8.2f}"
        if theirs:
            differ = np.count_nonzero(np.array(theirs["counts"]) != batch.counts)
            text += f"{theirs['call']:8.2f}{theirs['batch']:9.2f}{differ:8}"
        print(text, flush=True)


def _quickest(run: Callable[[np.ndarray], object], blocks: list[np.ndarray]) -> float:
    """The time of a pose, each block of poses in its quickest pass [µs], as in ``eaik_all``."""
    total = 0.0
    for block in blocks:
        seconds = []
        for _ in range(PASSES):
            began = perf_counter()
            run(block)
            seconds.append(perf_counter() - began)
        total += min(seconds)
    return 1e6 * total / sum(map(len, blocks))


def _eaik(chain: Chain, targets: np.ndarray) -> dict | None:
    with tempfile.TemporaryDirectory() as folder:
        asked, given = Path(folder, "asked.npz"), Path(folder, "given.json")
        np.savez(asked, links=chain.arm.links, targets=targets, passes=PASSES)
        script = HERE / "adaptors" / f"{ALL_SOLUTIONS.adaptor}.py"
        subprocess.run([ALL_SOLUTIONS.python(), script, asked, given], check=True)
        found: dict | None = json.loads(given.read_text())
        return found
